// Package replay turns the events of a match into the match, and a bundle of them into a report
// that says what was proved.
//
// Match is the one fold from events to a match: the arena feeds it an event before appending it,
// the auditor feeds it events from a file. What it refuses cannot be in an honest log. A Verifier
// checks a Bundle, the file an auditor is given, against a trust policy, offline, and returns a
// Report:
//
//	policy, err := checkpoint.ParsePolicy(text)
//	report := replay.NewVerifier(policy).Verify(bundle)
//	fmt.Println(report.Verdict) // "verified"
//
// Everything here is pure: no clock, disk, network or randomness.
package replay

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"ludger/checkpoint/tiles"
	"ludger/engine"
	"ludger/engine/catalog"
	"ludger/ledger/event"
	"ludger/ledger/sign"
)

// A Step is one part of what is checked about a match.
type Step string

// The steps in the order of a report.
const (
	StepFormat     Step = "format"     // the texts are what they claim to be
	StepChain      Step = "chain"      // events follow one another, from the opening that gives the match its id
	StepIdentity   Step = "identity"   // the seats' keys belong to their handles
	StepConsent    Step = "consent"    // the seats agreed to play
	StepSignatures Step = "signatures" // players signed what is logged as theirs
	StepChance     Step = "chance"     // nothing was dealt by anyone's choice
	StepRules      Step = "rules"      // turns, moves and the result follow the game's rules
	StepClock      Step = "clock"      // the logged times are consistent
	StepClosure    Step = "closure"    // the match is whole
	StepInclusion  Step = "inclusion"  // the log's signed checkpoint holds it
	StepWitnesses  Step = "witnesses"  // others saw that checkpoint
)

// Steps lists all steps in the order of a report.
func Steps() []Step {
	return []Step{StepFormat, StepChain, StepIdentity, StepConsent, StepSignatures, StepChance, StepRules,
		StepClock, StepClosure, StepInclusion, StepWitnesses}
}

// A Fault is one thing found wrong, or not decidable, in a step.
type Fault struct {
	Step     Step   `json:"step"`
	Code     string `json:"code"`  // stable word
	Event    int64  `json:"event"` // seq of the event in the match; -1 if it is no single event
	Reason   string `json:"reason"`
	Expected string `json:"expected,omitempty"`
	Got      string `json:"got,omitempty"`
	// Missing says that nothing was shown to be wrong, but something needed to decide is not there
	// or not known to this program.
	Missing bool `json:"missing,omitempty"`
}

func (f *Fault) Error() string { return string(f.Step) + ": " + f.Text() }

// Text says what Error says, without the step.
func (f *Fault) Text() string {
	s := f.Reason
	if f.Event >= 0 {
		s = fmt.Sprintf("event %d: %s", f.Event, s)
	}
	if f.Expected != "" || f.Got != "" {
		s += fmt.Sprintf(" (expected %s, got %s)", f.Expected, f.Got)
	}
	return s
}

// A Stage is how far a match has come.
type Stage int

// The stages in order.
const (
	StageNone    Stage = iota // no opening yet
	StagePlaying              // moves are expected
	StageDecided              // the outcome is known but not stated
	StageEnded                // the outcome is stated, or the match was aborted
	StageSealed               // nothing may follow
)

// nobody is the seat of no standing draw offer.
const nobody = engine.Spectator

// A Match is the state that a match's events add up to. It is not safe for concurrent use.
type Match struct {
	origin string
	known  *Keys

	id      event.MatchID
	stream  event.Stream // of id
	opened  *event.MatchOpened
	info    engine.Info
	pos     engine.Position // nil when the game is not known to this program
	keys    []*sign.Verifier
	stage   Stage
	outcome *engine.Outcome // nil while playing, and for an aborted match
	turn    int64           // moves played so far
	offer   engine.Seat     // whose draw offer stands
	at      int64           // time of the newest event
	came    []arrival       // of each seat that is on turn
	acked   []bool
	chance  fate

	leaves  []event.Leaf // of every event applied
	raws    [][]byte     // their bytes
	edge    tiles.Edge   // RFC 6962 tree over them
	state   []byte       // room for state strings
	changed int          // seq of the newest move; 0 if there is none
	unbound int64        // signed bodies that name nothing from the newest move on
	signed  int64        // signed bodies
	skipped []event.Kind // kinds not known to this program
	rule    string       // what an adjudication rests on
	late    bool         // a seat's clock decided
	missed  int64        // moves that were played for seats whose time was over
	offered int          // seq of the move that made the standing offer
	foreign bool         // the opening has terms not known to this program
	aborted string       // why the match was aborted
	faults  []*Fault     // of the event being applied
}

// An arrival is when a seat that is on turn came on turn.
type arrival struct {
	on   bool
	at   int64 // Unix milliseconds
	turn int64 // turn index then
	seq  int   // of the event that brought it
}

// ID returns the id of the match; zero before the opening.
func (m *Match) ID() event.MatchID { return m.id }

// Opened returns the opening; nil before it. The caller must not change it.
func (m *Match) Opened() *event.MatchOpened { return m.opened }

// Stage returns how far the match has come.
func (m *Match) Stage() Stage { return m.stage }

// Turn returns the number of moves played so far, which the next signed body must name.
func (m *Match) Turn() int64 { return m.turn }

// Late returns the seats whose time for their move is over at the given time, in Unix milliseconds, in
// ascending order, and the time at which the next seat is late; 0 if none will be.
func (m *Match) Late(now int64) (seats []engine.Seat, next int64) {
	if m.opened == nil || m.opened.MoveMS == 0 {
		return nil, 0
	}
	for i, came := range m.came {
		switch over := came.at + m.opened.MoveMS + 1; {
		case !came.on:
		case over <= now:
			seats = append(seats, engine.Seat(i))
		case next == 0 || over < next:
			next = over
		}
	}
	return seats, next
}

// OnTurn returns the seats that may act now, in ascending order.
func (m *Match) OnTurn() (seats []engine.Seat) {
	for i, came := range m.came {
		if came.on {
			seats = append(seats, engine.Seat(i))
		}
	}
	return seats
}

// Len returns the number of events applied.
func (m *Match) Len() int64 { return int64(len(m.leaves)) }

// At returns the time of the newest event in Unix milliseconds.
func (m *Match) At() int64 { return m.at }

// Last returns the leaf hash of the newest event; zero if there is none.
func (m *Match) Last() event.Leaf {
	if len(m.leaves) == 0 {
		return event.Leaf{}
	}
	return m.leaves[len(m.leaves)-1]
}

// Position returns the position; nil before the opening. The caller must not play on it.
func (m *Match) Position() engine.Position { return m.pos }

// Outcome returns the result once it is known.
func (m *Match) Outcome() (engine.Outcome, bool) {
	if m.outcome == nil {
		return engine.Outcome{}, false
	}
	return *m.outcome, true
}

// Fork returns a copy for one try. m stays as it is while the copy goes on, but only one of the two
// may be used after that: both append to the same lists.
func (m *Match) Fork() *Match {
	c := *m
	if m.pos != nil {
		c.pos = m.pos.Clone()
	}
	c.acked, c.came = slices.Clone(m.acked), slices.Clone(m.came)
	return &c
}

func (m *Match) fail(step Step, code, reason string) *Fault {
	f := &Fault{Step: step, Code: code, Event: int64(len(m.leaves)), Reason: reason}
	if len(m.skipped) > 0 {
		// What contradicts the course of the match may follow from an event that this program
		// cannot read.
		switch code {
		case "other-turn", "late", "not-late", "both-late", "seal-early", "ack-late",
			"beacon-twice", "roll-twice", "not-called", "not-boxed", "boxed", "draw", "other-draw", "outcome-shown", "revealed-early", "beacon-late":
			f.Missing = true
		default:
			f.Missing = step == StepRules
		}
	}
	m.faults = append(m.faults, f)
	return f
}

func (f *Fault) want(expected, got any) {
	f.Expected, f.Got = fmt.Sprint(expected), fmt.Sprint(got)
}

// Apply adds the next event and returns what is wrong with it; nothing for an event that an honest
// log may hold. After a fault the match goes on as well as it can, so that a verifier finds what
// else is wrong; an arena instead tries an event on a Fork. The returned slice is valid until the
// next call.
func (m *Match) Apply(e *event.Event) []*Fault {
	m.faults = m.faults[:0]
	m.apply(e)
	m.arrive(e.At)
	m.leaves = append(m.leaves, e.Leaf())
	m.raws = append(m.raws, e.Raw())
	m.edge.Append(e.Leaf(), nil)
	m.at = max(m.at, e.At)
	return m.faults
}

func (m *Match) apply(e *event.Event) {
	m.chain(e)
	if e.At < m.at {
		m.fail(StepClock, "time-runs-back", "the event is older than the one before it").want(m.at, e.At)
	}
	if m.stage == StageSealed {
		m.fail(StepClosure, "after-seal", "an event follows match.sealed")
		return
	}
	if len(m.leaves) >= event.MaxMatchEvents {
		m.fail(StepFormat, "too-many-events", "the match has too many events").want(event.MaxMatchEvents, len(m.leaves)+1)
		return
	}
	body, err := e.Body()
	if m.foreign {
		// What follows rests on an opening that was not read; only the seal does not.
		if b, ok := body.(*event.MatchSealed); ok {
			m.seal(b)
		}
		return
	}
	switch unknown := errors.Is(err, event.ErrUnknownKind); {
	case errors.Is(err, event.ErrVersion) && m.opened == nil: // a second opening is wrong in any version
		m.fail(StepFormat, "body", err.Error()).Missing = true
		m.foreign = true
		return
	case unknown && m.opened != nil:
		m.skipped = append(m.skipped, e.Kind)
		return
	case err != nil && !unknown:
		m.fail(StepFormat, "body", err.Error())
		return
	}
	opened, isOpening := body.(*event.MatchOpened)
	if (m.opened == nil) != isOpening {
		m.fail(StepChain, "opening", fmt.Sprintf("the first event of a match is its only match.opened, here stands %s", e.Kind))
		return
	}
	m.inSecret(e)
	switch b := body.(type) {
	case *event.MatchOpened:
		m.open(e, opened)
	case *event.SeatAcked:
		m.ack(e, b)
	case *event.BeaconRecorded:
		m.record(e, b)
	case *event.RollCalled:
		m.roll(e, b)
	case *event.ChanceDrawn:
		m.draw(b)
	case *event.MovePlayed:
		m.move(e, b)
	case *event.MoveDefaulted:
		m.defaulted(e, b)
	case *event.DrawAgreed:
		m.agree(e, b)
	case *event.MatchForfeited:
		m.forfeit(e, b)
	case *event.MatchAdjudicated:
		m.adjudicate(b)
	case *event.MatchAborted:
		if m.playing(); m.stage == StagePlaying {
			m.stage, m.aborted = StageEnded, b.Reason
		}
	case *event.MatchEnded:
		m.end(b)
	case *event.MatchRevealed:
		m.reveal(b)
	case *event.MatchSealed:
		m.seal(b)
	default:
		m.fail(StepChain, "stream", fmt.Sprintf("%s does not belong in a match", e.Kind))
	}
}

// chain checks that e continues the stream.
func (m *Match) chain(e *event.Event) {
	if len(m.leaves) == 0 { // also when the opening cannot be read, what follows stays in its stream
		id, ok := e.Stream.Match()
		if !ok {
			m.fail(StepChain, "stream", "the stream is not that of a match").want("match/<id>", e.Stream)
		}
		m.id, m.stream = id, e.Stream
	} else if e.Stream != m.stream {
		m.fail(StepChain, "stream", "the event belongs to another stream").want(m.stream, e.Stream)
	}
	if e.Seq != m.Len() {
		m.fail(StepChain, "seq", "the event is not the next of its stream").want(m.Len(), e.Seq)
	}
	if e.Prev != m.Last() {
		m.fail(StepChain, "prev", "the event does not name the one before it").want(m.Last(), e.Prev)
	}
}

func (m *Match) open(e *event.Event, b *event.MatchOpened) {
	m.opened, m.stage = b, StagePlaying
	m.acked, m.came = make([]bool, len(b.Seats)), make([]arrival, len(b.Seats))
	if id := b.ID(m.origin); id != m.id {
		m.fail(StepChain, "match-id", "the id is not the digest of the opening in this log").want(id, m.id)
	}
	m.keys = make([]*sign.Verifier, len(b.Seats))
	for i, s := range b.Seats {
		v, err := m.known.get(s.Key)
		if err != nil {
			m.fail(StepIdentity, "weak-key", fmt.Sprintf("the key of seat %d (%s): %v", i, s.Handle, err))
		}
		m.keys[i] = v
	}
	m.terms(e, &b.Chance)
	game, err := catalog.Game(b.Game)
	if err != nil {
		m.fail(StepRules, "unknown-game", err.Error()).Missing = true
		return
	}
	pos, err := game.New(engine.Setup{Variant: b.Variant, Seats: len(b.Seats), Start: b.Start})
	if err != nil {
		m.fail(StepRules, "setup", err.Error())
		return
	}
	m.info, m.pos = game.Info(), pos
	if _, over := pos.Outcome(); over {
		m.fail(StepRules, "setup", "the position that the match starts from is already over")
		m.decide()
	}
	m.suits()
}

// arrive notes which seats came on turn by the event at the given time, and which are no more.
func (m *Match) arrive(at int64) {
	var turn engine.Turn
	if m.stage == StagePlaying && m.ready() && m.pos != nil {
		if turn = m.pos.Turn(); turn.Has(engine.Chance) {
			turn = m.callers()
		}
	}
	for i := range m.came {
		switch on := turn.Has(engine.Seat(i)); {
		case !on:
			m.came[i] = arrival{}
		case !m.came[i].on:
			m.came[i] = arrival{true, at, m.turn, len(m.leaves)}
		}
	}
}

// decide takes over the outcome that the position states.
func (m *Match) decide() {
	if o, over := m.pos.Outcome(); over {
		m.outcome, m.stage = &engine.Outcome{Returns: o.Returns, Reason: o.Reason}, StageDecided
	}
}

// playing checks that the match is not over, and that its rules are known.
func (m *Match) playing() bool {
	if m.stage != StagePlaying {
		m.fail(StepRules, "match-over", "the match is over, only its end and its seal may follow")
		return false
	}
	return m.pos != nil
}

func (m *Match) seated(s engine.Seat) bool {
	if int(s) >= len(m.opened.Seats) {
		m.fail(StepRules, "no-seat", "the match has no such seat").want(fmt.Sprintf("0 to %d", len(m.opened.Seats)-1), int(s))
		return false
	}
	return true
}

func (m *Match) ack(e *event.Event, b *event.SeatAcked) {
	if !m.seated(b.Seat) {
		return
	}
	if m.stage != StagePlaying {
		m.fail(StepConsent, "ack-late", "a seat acknowledges a match that is over")
	}
	if m.acked[b.Seat] {
		m.fail(StepConsent, "ack-twice", fmt.Sprintf("%v acknowledges the match again", b.Seat))
	}
	m.acked[b.Seat] = true
	if c := &m.opened.Chance; c.Mode != event.ChanceNone {
		if at, err := c.Chain.TimeOf(c.Round()); err == nil && e.At < at {
			m.chance.acked++
		}
	}
	key := m.keys[b.Seat]
	if key == nil || !key.Verify(sign.AckMessage(m.id, m.leaves[0]), b.Signature) {
		m.fail(StepConsent, "ack-signature", fmt.Sprintf("the signature is not that of %v over this opening", b.Seat))
	}
}

// checkSigned checks what a player signed: that it is theirs, for this match and this turn, and that
// the history they saw is this one.
func (m *Match) checkSigned(seat engine.Seat, s *event.SignedMove) bool {
	if !m.seated(seat) {
		return false
	}
	m.signed++
	if s.GameID != m.id {
		m.fail(StepSignatures, "other-match", "the signed body is for another match").want(m.id, s.GameID)
	}
	// Where several seats act at once, a signature names any turn since its seat may act.
	since, changed := m.turn, m.changed
	if came := m.came[seat]; came.on {
		since, changed = came.turn, came.seq
	}
	if s.TurnIndex > m.turn || s.TurnIndex < since && !m.chance.blind { // of a blind match the turns are not known
		f := m.fail(StepSignatures, "other-turn", "the signed body is for another turn")
		f.want(m.turn, s.TurnIndex)
		f.Missing = f.Missing || m.pos == nil && s.TurnIndex < m.turn // since when the seat may act is not known
	}
	if key := m.keys[seat]; key == nil || !key.Verify(s.Message(), s.Signature) {
		m.fail(StepSignatures, "bad-signature", fmt.Sprintf("the signature is not that of %v (%s) over this body",
			seat, m.opened.Seats[seat].Handle)).want("a signature by "+m.opened.Seats[seat].Key.String(), s.Signature)
	}
	seen := -1
	if s.Seen != nil {
		if seen = m.find(*s.Seen); seen < 0 {
			m.fail(StepSignatures, "other-history", "the player saw an event that is not in this history").want("the leaf of an earlier event", *s.Seen)
		}
	}
	if seen < changed {
		m.unbound++
	}
	return true
}

// find returns the seq of the event with the leaf; -1 if there is none.
func (m *Match) find(leaf event.Leaf) int {
	for i := len(m.leaves) - 1; i >= 0; i-- {
		if m.leaves[i] == leaf {
			return i
		}
	}
	return -1
}

// inTime checks a player's act against the clock of the move.
func (m *Match) inTime(e *event.Event, seat engine.Seat) {
	if came := m.came[seat]; m.opened.MoveMS > 0 && came.on && e.At-came.at > m.opened.MoveMS {
		m.fail(StepClock, "late", fmt.Sprintf("%v acted after its time for this move was over", seat)).
			want(fmt.Sprintf("at most %d ms", m.opened.MoveMS), fmt.Sprintf("%d ms", e.At-came.at))
	}
}

func (m *Match) move(e *event.Event, b *event.MovePlayed) {
	if !m.seated(b.Seat) {
		return
	}
	seat := b.Seat
	defer func() { // also of a game not known here: the next signature names the next turn
		m.turn++
		m.came[seat].on = false // if it stays on turn, that begins anew
		m.changed = len(m.leaves)
	}()
	b = m.unbox(e, b)
	if b == nil || !m.checkSigned(b.Seat, &b.Signed) {
		return
	}
	if b.Turn != m.turn {
		m.fail(StepRules, "turn", "the move is logged for another turn").want(m.turn, b.Turn)
	}
	if !m.playing() || !m.started() {
		return
	}
	m.inTime(e, b.Seat)
	if b.Signed.DrawOffer {
		switch {
		case !m.info.Agreement || len(m.opened.Seats) != 2:
			m.fail(StepRules, "no-agreement", "this game knows no draw by agreement")
		case m.offer != nobody && m.offer != b.Seat:
			m.fail(StepRules, "agreement-ignored", "a draw was offered and accepted here, but the match went on")
		}
	}
	if b.Signed.Move != b.Move { // an alias, an index or no move; Play takes canonical notation only
		switch signed, err := m.canonical(b.Seat, &b.Signed); {
		case err != nil:
			m.fail(StepRules, "signed-move", err.Error())
		case signed != b.Move:
			m.fail(StepRules, "other-move", "the logged move is not the one that was signed").want(signed, b.Move)
		}
	}
	if err := m.pos.Play(b.Seat, b.Move); err != nil {
		m.fail(StepRules, "illegal-move", err.Error())
		return
	}
	if d := m.digest(); d != b.State {
		m.fail(StepRules, "state", "the position after the move is not the one the hall logged").want(d, b.State)
	}
	if b.Signed.DrawOffer {
		m.offer, m.offered = b.Seat, len(m.leaves)
	} else if m.offer != b.Seat {
		m.offer = nobody // an offer stands until the opponent's next move
	}
	m.decide()
}

// defaulted takes up the move that the rules card gives a seat whose time is over.
func (m *Match) defaulted(e *event.Event, b *event.MoveDefaulted) {
	if !m.seated(b.Seat) {
		return
	}
	came := m.came[b.Seat]
	defer func() {
		m.turn++
		m.missed++
		m.came[b.Seat].on = false
		m.changed = len(m.leaves)
	}()
	if b.Turn != m.turn {
		m.fail(StepRules, "turn", "the move is logged for another turn").want(m.turn, b.Turn)
	}
	if !m.playing() || !m.started() {
		return
	}
	m.overdue(e, b.Seat, came)
	d, ok := m.pos.(engine.Defaulter)
	want := ""
	if ok {
		want, ok = d.Default(b.Seat)
	}
	if !ok {
		m.fail(StepRules, "no-default", "the rules card gives no move to a seat that is late here")
		return
	}
	if b.Move != want {
		m.fail(StepRules, "other-move", "the logged move is not the one that the rules card gives").want(want, b.Move)
	}
	if err := m.pos.Play(b.Seat, b.Move); err != nil {
		m.fail(StepRules, "illegal-move", err.Error())
		return
	}
	if d := m.digest(); d != b.State {
		m.fail(StepRules, "state", "the position after the move is not the one the hall logged").want(d, b.State)
	}
	if m.offer != b.Seat {
		m.offer = nobody
	}
	m.decide()
}

// overdue checks that the seat's time is over, and that it is on turn.
func (m *Match) overdue(e *event.Event, seat engine.Seat, came arrival) {
	if !came.on {
		m.fail(StepRules, "not-on-turn", fmt.Sprintf("%v is out of time but not on turn", seat))
	}
	switch {
	case m.opened.MoveMS == 0:
		m.fail(StepClock, "no-clock", "a seat is out of time in a match without a clock")
	case came.on && e.At-came.at <= m.opened.MoveMS:
		m.fail(StepClock, "not-late", "the seat's time was not over").
			want(fmt.Sprintf("more than %d ms", m.opened.MoveMS), fmt.Sprintf("%d ms", e.At-came.at))
	}
}

// canonical returns the canonical notation of the move in a signed body.
func (m *Match) canonical(seat engine.Seat, s *event.SignedMove) (string, error) {
	switch {
	case s.Move != "":
		return m.pos.Parse(seat, s.Move)
	case s.Index != nil:
		legal := m.pos.Legal(seat)
		if *s.Index >= int64(len(legal)) {
			return "", fmt.Errorf("index %d is not below the number of legal moves, %d", *s.Index, len(legal))
		}
		return legal[*s.Index].Move, nil
	}
	return "", errors.New("the signed body holds no move")
}

// digest is the StateDigest of the position.
func (m *Match) digest() event.StateDigest {
	m.state = m.pos.AppendState(m.state[:0], engine.Spectator)
	sum := sha256.Sum256(m.state)
	return event.StateDigest(sum[:16])
}

func (m *Match) agree(e *event.Event, b *event.DrawAgreed) {
	if !m.checkSigned(b.Seat, &b.Signed) || !m.playing() {
		return
	}
	m.inTime(e, b.Seat)
	if !b.Signed.DrawOffer {
		m.fail(StepRules, "no-acceptance", "the signed body does not accept a draw")
	}
	if m.offer == nobody || m.offer == b.Seat {
		m.fail(StepRules, "no-offer", "no offer of the opponent stands")
	} else if s := b.Signed.Seen; s != nil && m.find(*s) < m.offered {
		m.fail(StepRules, "unseen-offer", "the player had not seen the offer that it is said to accept").want("event "+fmt.Sprint(m.offered)+" or a later one", *s)
	}
	m.outcome = &engine.Outcome{Returns: make([]int64, len(m.opened.Seats)), Reason: engine.Agreed}
	m.stage = StageDecided
}

func (m *Match) forfeit(e *event.Event, b *event.MatchForfeited) {
	if b.Signed != nil {
		if !m.checkSigned(b.Seat, b.Signed) {
			return
		}
		if !b.Signed.Resign {
			m.fail(StepRules, "no-resignation", "the signed body does not resign")
		}
	} else if !m.seated(b.Seat) {
		return
	}
	if !m.playing() {
		return
	}
	if b.Reason == engine.OutOfTime {
		m.late = true
		came := m.came[b.Seat]
		m.overdue(e, b.Seat, came)
		for i, other := range m.came {
			if came.on && i != int(b.Seat) && other.on && e.At-other.at > m.opened.MoveMS {
				m.fail(StepClock, "both-late", fmt.Sprintf("%v is out of time too, so that nobody may choose who loses; the match is aborted or adjudicated", engine.Seat(i)))
			}
		}
	}
	o := m.pos.Forfeit(b.Seat, b.Reason)
	m.outcome, m.stage = &o, StageDecided
}

func (m *Match) adjudicate(b *event.MatchAdjudicated) {
	if !m.playing() {
		return
	}
	if len(b.Returns) != len(m.opened.Seats) {
		m.fail(StepRules, "outcome", "an outcome has one number for each seat").want(len(m.opened.Seats), len(b.Returns))
	}
	m.outcome = &engine.Outcome{Returns: b.Returns, Reason: engine.Adjudicated}
	m.stage, m.rule = StageDecided, b.Rule
}

func (m *Match) end(b *event.MatchEnded) {
	if m.pos == nil {
		m.stage = StageEnded
		return
	}
	if m.stage != StageDecided {
		m.fail(StepRules, "not-decided", "the match is declared ended, but nothing decided it")
	} else if !slices.Equal(m.outcome.Returns, b.Outcome.Returns) || m.outcome.Reason != b.Outcome.Reason {
		m.fail(StepRules, "outcome", "the stated outcome is not the one that follows").want(outcomeText(*m.outcome), outcomeText(b.Outcome))
	}
	if d := m.digest(); d != b.State {
		m.fail(StepRules, "state", "the final position is not the one the hall logged").want(d, b.State)
	}
	m.stage = StageEnded
}

func outcomeText(o engine.Outcome) string { return fmt.Sprintf("%v %s", o.Returns, o.Reason) }

func (m *Match) seal(b *event.MatchSealed) {
	if m.stage != StageEnded && !m.foreign {
		m.fail(StepClosure, "seal-early", "the match is sealed before it ended")
	}
	if m.secret() && !m.chance.revealed {
		m.fail(StepChance, "not-revealed", "the match is sealed, but its secret was never told")
	}
	if b.Count != m.Len() {
		m.fail(StepClosure, "count", "the seal counts other events than there are").want(m.Len(), b.Count)
	}
	// The hall built the root with another implementation (see root): two must agree.
	if root := m.edge.Root(); root != b.Root {
		m.fail(StepClosure, "match-root", "the seal's root is not that of the events").
			want(event.Leaf(root), event.Leaf(b.Root))
	}
	m.stage = StageSealed
}
