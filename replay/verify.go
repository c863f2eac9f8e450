package replay

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"ludger/checkpoint"
	"ludger/checkpoint/proof"
	"ludger/ledger/event"
	"ludger/ledger/sign"
)

// A Status is how a step came out.
type Status string

// The three ways a step can come out.
const (
	Pass     Status = "pass"
	Fail     Status = "fail"
	NotShown Status = "not shown"
)

// A Verdict sums a report up.
type Verdict string

// The verdicts.
const (
	Verified   Verdict = "verified"   // nothing is wrong and nothing the policy demands is missing
	Refuted    Verdict = "refuted"    // something was shown to be wrong
	Unchecked  Verdict = "unchecked"  // something needed to decide is missing or not known here
	Incomplete Verdict = "incomplete" // right so far, but the match is not over
)

// ReportSchema names the format of reports.
const ReportSchema = "ludger/report/v1"

// A Report says what was checked about one match, step by step.
type Report struct {
	Schema   string   `json:"schema"`
	Verdict  Verdict  `json:"verdict"`
	Match    string   `json:"match"` // id in hex; "" if it could not be read
	Origin   string   `json:"origin"`
	Game     string   `json:"game"`
	Variant  string   `json:"variant"`
	Number   int64    `json:"number"`
	Seats    []string `json:"seats"`    // handles
	Start    string   `json:"start"`    // position the match started from; "" is the variant's own
	Division string   `json:"division"` // "assisted" or "unassisted"
	MoveMS   int64    `json:"move_ms"`  // milliseconds for each move; 0 is no clock
	Events   int64    `json:"events"`
	Moves    int64    `json:"moves"`
	Result   *Result  `json:"result,omitempty"` // nil while unknown, and for an aborted match
	Steps    []Line   `json:"steps"`
	Notes    []Note   `json:"notes"`
}

// A Result is the outcome of a match.
type Result struct {
	Returns []int64 `json:"returns"`
	Reason  string  `json:"reason"`
	// Adjudicated says that the arena decided it, and not the moves.
	Adjudicated bool `json:"adjudicated,omitempty"`
}

// A Line is one step of a report.
type Line struct {
	Step   Step     `json:"step"`
	Status Status   `json:"status"`
	Detail string   `json:"detail"`           // what was proved, or what is missing, in words
	Faults []*Fault `json:"faults,omitempty"` // the first few, in the order they were met
}

// A Note is something true that a reader must know to weigh the report. Code is a stable word.
type Note struct {
	Code string `json:"code"`
	Text string `json:"text"`
}

// maxFaults is how many faults of one step a report lists; one forged event can spoil all after it.
const maxFaults = 5

// A Verifier checks bundles against one trust policy. It is not safe for concurrent use.
type Verifier struct {
	policy *checkpoint.Policy
	keys   *Keys
	note   []byte            // the newest checkpoint that was accepted: proofs of one log share it
	head   checkpoint.Result // what it says
	rounds map[int64][]byte  // signatures of beacons, with which vaults are opened
}

// Beacon gives the Verifier the signature of a beacon round, of any chain. A match whose vault opens with
// it is judged as if its secret had been told.
func (v *Verifier) Beacon(round int64, signature []byte) {
	if v.rounds == nil {
		v.rounds = make(map[int64][]byte)
	}
	v.rounds[round] = signature
}

// NewVerifier returns a Verifier for the policy, which says whose checkpoints and witnesses count.
func NewVerifier(policy *checkpoint.Policy) *Verifier {
	return &Verifier{policy: policy, keys: NewKeys()}
}

func (v *Verifier) check(note []byte) (checkpoint.Result, error) {
	if v.note != nil && bytes.Equal(note, v.note) {
		return v.head, nil
	}
	head, err := v.policy.Check(note)
	if err == nil {
		v.note, v.head = bytes.Clone(note), head
	}
	return head, err
}

// Verify checks the text of a bundle. It always returns a report; what cannot be read is a fault of
// the step "format".
func (v *Verifier) Verify(data []byte) *Report {
	c := check{v: v, faults: make(map[Step][]*Fault), details: make(map[Step]string)}
	b, err := ParseBundle(data)
	if err != nil {
		var f *Fault
		if !errors.As(err, &f) {
			f = formatFault("bundle", -1, err)
		}
		c.add(f)
		return c.report()
	}
	c.bundle = b
	c.replay()
	c.inclusion()
	c.identity()
	c.describe()
	return c.report()
}

// formatFault makes an error of a text's form into a fault. An event of a newer version is not
// wrong, only not known.
func formatFault(code string, seq int64, err error) *Fault {
	return &Fault{Step: StepFormat, Code: code, Event: seq, Reason: err.Error(), Missing: errors.Is(err, event.ErrVersion)}
}

// check is one run of Verify.
type check struct {
	v       *Verifier
	bundle  *Bundle
	match   *Match
	faults  map[Step][]*Fault
	details map[Step]string
	missing map[Step]bool // steps with something not shown that no fault stands for
	notes   []Note
	under   []byte            // the checkpoint that holds the match; all proofs are under it
	head    checkpoint.Result // what it says
	sealed  int64             // index of match.sealed in the log
	unmet   bool              // the policy demands something that is not shown
	joined  []bool            // seats whose request to play is carried and right
}

func (c *check) add(f *Fault) {
	switch list := c.faults[f.Step]; {
	case len(list) < maxFaults:
		c.faults[f.Step] = append(list, f)
	case !f.Missing && list[maxFaults-1].Missing:
		list[maxFaults-1] = f // what is wrong must not hide behind what is not known
	}
}

func (c *check) notShown(s Step, detail string) {
	if c.missing == nil {
		c.missing = make(map[Step]bool)
	}
	c.missing[s] = true
	c.details[s] = detail
}

func (c *check) note(code, text string) { c.notes = append(c.notes, Note{code, text}) }

func (c *check) replay() {
	c.match = c.v.keys.NewMatch(c.bundle.Origin)
	if secret, ok := revealedSecret(c.bundle.Events); ok {
		c.match.Disclose(secret)
	} else {
		c.unlock()
	}
	for i := range c.bundle.Events {
		for _, f := range c.match.Apply(&c.bundle.Events[i]) {
			c.add(f)
		}
	}
	if len(c.bundle.Events) == 0 {
		c.add(&Fault{Step: StepFormat, Code: "no-events", Event: -1, Reason: "the bundle holds no events"})
	}
}

// unlock opens the match's vault, if the round is known that opens it.
func (c *check) unlock() {
	_, round, err := VaultRound(c.bundle)
	signature, ok := c.v.rounds[round]
	if err != nil || !ok {
		return
	}
	switch o, err := Open(c.bundle, signature); {
	case err == nil:
		c.match.Disclose(o.Secret)
		c.note("vault-opened", fmt.Sprintf("the hall has not told the secret; it comes from the timelock box, which round %d opens", round))
	case errors.Is(err, ErrVaultEmpty):
		c.add(&Fault{Step: StepChance, Code: "vault-secret", Event: 0, Reason: err.Error()})
	default:
		c.note("vault-closed", fmt.Sprintf("the timelock box does not open with the beacon that was given: %v", err))
	}
}

// errUnknownLog says that a checkpoint can be neither proved nor refuted.
var errUnknownLog = errors.New("the policy names no log of this origin")

// prove checks the tlog-proof of one event and returns its index in the log. All proofs of a bundle
// are under one checkpoint: two could be of two histories.
func (c *check) prove(text string, e *event.Event) (index int64, head checkpoint.Result, err error) {
	p, err := proof.Parse([]byte(text))
	if err != nil {
		return 0, head, err
	}
	if len(p.Extra) > 0 {
		return 0, head, errors.New("the proof carries extra data, which means nothing here")
	}
	if c.under == nil {
		c.under = p.Checkpoint
	} else if !bytes.Equal(p.Checkpoint, c.under) {
		c.add(&Fault{Step: StepInclusion, Code: "two-checkpoints", Event: c.match.Len() - 1, Reason: "the proofs of the bundle are not all under one checkpoint"})
	}
	head, err = c.v.check(p.Checkpoint)
	if err != nil {
		if !c.v.policy.Knows(c.bundle.Origin) {
			err = fmt.Errorf("%w, %q: %w", errUnknownLog, c.bundle.Origin, err)
		}
		return 0, head, err
	}
	if head.Checkpoint.Origin != c.bundle.Origin {
		return 0, head, fmt.Errorf("the checkpoint is of the log %q, the bundle of %q", head.Checkpoint.Origin, c.bundle.Origin)
	}
	return p.Index, head, proof.CheckInclusion(e.Leaf(), p.Index, head.Checkpoint.Size, head.Checkpoint.Root, p.Hashes)
}

func (c *check) inclusion() {
	events := c.bundle.Events
	switch sealed := c.match.Stage() == StageSealed; {
	case c.bundle.Proof == "" && sealed:
		c.notShown(StepInclusion, "the bundle carries no proof that the log holds the match")
		c.notShown(StepWitnesses, "there is no checkpoint")
		c.unmet = true
		return
	case c.bundle.Proof == "":
		c.notShown(StepInclusion, "the match is not sealed yet, so there is no proof of the whole")
		c.notShown(StepWitnesses, "there is no checkpoint")
		return
	case len(events) == 0:
		return
	}
	last := &events[len(events)-1]
	index, head, err := c.prove(c.bundle.Proof, last)
	if err != nil {
		f := &Fault{Step: StepInclusion, Code: "proof", Event: last.Seq, Reason: err.Error()}
		if errors.Is(err, errUnknownLog) {
			f.Code, f.Missing = "unknown-log", true
		}
		c.add(f)
		c.notShown(StepWitnesses, "no checkpoint was accepted")
		return
	}
	if last.Kind != event.KindMatchSealed {
		c.add(&Fault{Step: StepInclusion, Code: "not-the-seal", Event: last.Seq,
			Reason: "the proof must be of match.sealed, since only that covers every event", Expected: string(event.KindMatchSealed), Got: string(last.Kind)})
	}
	if before := int64(len(events)) - 1; index < before {
		c.add(&Fault{Step: StepInclusion, Code: "index", Event: last.Seq, Reason: "the log has fewer entries before the seal than the match has events",
			Expected: fmt.Sprintf("at least %d", before), Got: fmt.Sprint(index)})
	}
	c.head, c.sealed = head, index
	c.details[StepInclusion] = fmt.Sprintf("the checkpoint of %d entries, signed by %s, holds match.sealed, whose root covers all %d events before it",
		head.Checkpoint.Size, head.Checkpoint.Origin, len(events)-1)
	c.witnesses()
}

func (c *check) witnesses() {
	var seen []string
	for _, w := range c.head.Cosigned {
		seen = append(seen, fmt.Sprintf("%s at Unix time %d", w.Witness, w.Seconds))
	}
	list := strings.Join(seen, ", ")
	if c.head.Unknown > 0 {
		c.note("unknown-signatures", fmt.Sprintf("the checkpoint carries %d signatures by keys the policy does not name; they prove nothing", c.head.Unknown))
	}
	switch {
	case !c.head.QuorumMet:
		c.notShown(StepWitnesses, fmt.Sprintf("the policy's quorum %q is not met; cosigned by: %s; not by: %s", c.head.Quorum, orNone(list), strings.Join(c.head.Missing, ", ")))
		c.unmet = true
	case list == "":
		c.notShown(StepWitnesses, "the policy asks for no witness, so that everyone sees the same log rests on its operator")
	default:
		c.details[StepWitnesses] = "the policy's quorum is met: cosigned by " + list
	}
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// identity looks up the registrations that the opening's seats name.
func (c *check) identity() {
	opened := c.match.Opened()
	if opened == nil {
		return
	}
	c.joins(opened)
	agents := c.bundle.Agents // those not yet met; they stand in the order of the seats
	var word, wished []string
	for i, s := range opened.Seats {
		if s.Registered == nil {
			if c.joined[i] { // the key itself signed, for this handle in this log
				wished = append(wished, s.Handle)
			} else {
				word = append(word, s.Handle)
			}
			continue
		}
		if len(agents) == 0 || agents[0].Event.Leaf() != *s.Registered {
			c.add(&Fault{Step: StepIdentity, Code: "registration-missing", Event: 0, Missing: true,
				Reason: fmt.Sprintf("seat %d (%s): the bundle does not carry the registration that the opening names", i, s.Handle)})
			continue
		}
		err := c.registered(&agents[0], s)
		agents = agents[1:]
		if err != nil {
			c.add(&Fault{Step: StepIdentity, Code: "registration", Event: 0, Reason: fmt.Sprintf("seat %d (%s): %v", i, s.Handle, err),
				Missing: errors.Is(err, errUnknownLog)})
		}
	}
	for i := range agents {
		c.add(&Fault{Step: StepIdentity, Code: "stray-registration", Event: -1,
			Reason: fmt.Sprintf("registration %d of the bundle is of no seat, or not in the order of the seats", len(c.bundle.Agents)-len(agents)+i)})
	}
	c.arena(opened)
	switch {
	case len(word) > 0:
		c.notShown(StepIdentity, "that these handles own their keys rests on the hall's word: "+strings.Join(word, ", "))
	case len(wished) > 0:
		c.details[StepIdentity] = "each seat's key signed for its handle in this log, by its registration or its request to play (" + strings.Join(wished, ", ") +
			"); that no other key did, only the whole log shows"
	default:
		c.details[StepIdentity] = "each seat's key was registered for its handle, in this log and by the key's own signature; that no other key was, only the whole log shows"
	}
}

// joins looks up the requests to play that the opening's seats name: each is the consent of a seat.
func (c *check) joins(opened *event.MatchOpened) {
	c.joined = make([]bool, len(opened.Seats))
	joins := c.bundle.Joins
	for i, s := range opened.Seats {
		if s.Joined == nil {
			continue
		}
		if len(joins) == 0 || joins[0].Event.Leaf() != *s.Joined {
			c.add(&Fault{Step: StepConsent, Code: "join-missing", Event: 0, Missing: true,
				Reason: fmt.Sprintf("seat %d (%s): the bundle does not carry the request to play that the opening names", i, s.Handle)})
			continue
		}
		err := c.wished(&joins[0], s, opened)
		joins = joins[1:]
		if err != nil {
			c.add(&Fault{Step: StepConsent, Code: "join", Event: 0, Reason: fmt.Sprintf("seat %d (%s): %v", i, s.Handle, err),
				Missing: errors.Is(err, errUnknownLog)})
		}
		c.joined[i] = err == nil
	}
	for i := range joins {
		c.add(&Fault{Step: StepConsent, Code: "stray-join", Event: -1,
			Reason: fmt.Sprintf("request to play %d of the bundle is of no seat, or not in the order of the seats", len(c.bundle.Joins)-len(joins)+i)})
	}
}

func (c *check) wished(p *Proven, s event.Seat, opened *event.MatchOpened) error {
	if err := CheckJoin(c.bundle.Origin, &p.Event, s, opened, c.v.keys); err != nil {
		return err
	}
	return c.before(p)
}

// CheckJoin checks that an event is the wish of a seat's agent to play what an opening opens, signed with
// the seat's key for its handle and for a challenge of the log with the given origin.
func CheckJoin(origin string, e *event.Event, s event.Seat, opened *event.MatchOpened, keys *Keys) error {
	body, err := e.Body()
	if err != nil {
		return err
	}
	j, ok := body.(*event.LobbyJoined)
	switch {
	case !ok:
		return fmt.Errorf("a request to play is lobby.joined, this event is %s", e.Kind)
	case e.Stream != event.AgentStream(s.Handle):
		return fmt.Errorf("the request to play stands in %s", e.Stream)
	case !j.Join.Allows(opened):
		return fmt.Errorf("the agent asked for %s %s %s, not for %s %s %s", j.Join.Game, j.Join.Variant, j.Join.Division, opened.Game, opened.Variant, opened.Division)
	case !strings.HasPrefix(j.Request.Challenge, sign.ChallengePrefix(origin)):
		return fmt.Errorf("the challenge of the request to play is none of the log %s", origin)
	}
	key, err := keys.get(s.Key)
	if err != nil {
		return err
	}
	if !j.Request.Verify(s.Handle, key) {
		return errors.New("the request to play is not signed by the seat's key")
	}
	return nil
}

// arena checks the admission of the arena that the opening names.
func (c *check) arena(opened *event.MatchOpened) {
	a, carried := opened.Arena, c.bundle.Arena
	switch {
	case a == nil && carried == nil:
		return
	case a == nil || carried != nil && carried.Event.Leaf() != a.Admitted:
		c.add(&Fault{Step: StepIdentity, Code: "stray-admission", Event: -1, Reason: "the bundle carries an arena's admission that the opening does not name"})
		return
	case carried == nil:
		c.add(&Fault{Step: StepIdentity, Code: "admission-missing", Event: 0, Missing: true,
			Reason: fmt.Sprintf("the bundle does not carry the admission of the arena %s that the opening names", a.Name)})
		return
	}
	c.note("arena", fmt.Sprintf("the arena %s runs the match: what its players did not sign rests on its word", a.Name))
	body, err := carried.Event.Body()
	if b, ok := body.(*event.ArenaAdmitted); err == nil && (!ok || b.Name != a.Name) {
		err = fmt.Errorf("the event is not the admission of %s", a.Name)
	}
	if err == nil {
		err = c.before(carried)
	}
	if err != nil {
		c.add(&Fault{Step: StepIdentity, Code: "admission", Event: 0, Reason: fmt.Sprintf("arena %s: %v", a.Name, err), Missing: errors.Is(err, errUnknownLog)})
	}
}

// before proves that the log holds an event, and before the end of the match.
func (c *check) before(p *Proven) error {
	index, _, err := c.prove(p.Proof, &p.Event)
	if err == nil && c.sealed > 0 && index >= c.sealed {
		err = fmt.Errorf("the %s stands at index %d of the log, behind the end of the match at %d", p.Event.Kind, index, c.sealed)
	}
	return err
}

func (c *check) registered(a *Proven, s event.Seat) error {
	r, err := CheckRegistration(c.bundle.Origin, &a.Event, c.v.keys)
	if err != nil {
		return err
	}
	if r.Handle != s.Handle || r.Key != s.Key {
		return fmt.Errorf("the registration is of %s with the key %s", r.Handle, r.Key)
	}
	return c.before(a)
}

// CheckRegistration checks that an event registers an agent in the log of the given origin, with a
// statement signed by the key it registers. Its body stands only at the beginning of the agent's own
// stream, so that a handle has one key. The caller must not change what is returned.
func CheckRegistration(origin string, e *event.Event, keys *Keys) (*event.AgentRegistered, error) {
	if r, ok := keys.registered[registration{origin, e.Leaf()}]; ok {
		return r, nil
	}
	body, err := e.Body()
	if err != nil {
		return nil, err
	}
	r, ok := body.(*event.AgentRegistered)
	switch {
	case !ok:
		return nil, fmt.Errorf("a registration is agent.registered, this event is %s", e.Kind)
	case r.Statement == nil:
		return nil, errors.New("the registration carries no statement signed by its key")
	}
	msg, err := sign.AgentMessage(origin, r.Handle, r.Key)
	if err != nil {
		return nil, err
	}
	key, err := keys.get(r.Key)
	if err != nil {
		return nil, err
	}
	if !key.Verify(msg, *r.Statement) {
		return nil, errors.New("the registration's statement is not signed by its key")
	}
	if len(keys.registered) >= maxKeys {
		clear(keys.registered)
	}
	keys.registered[registration{origin, e.Leaf()}] = r
	return r, nil
}

// describe says in words what the steps of the fold proved, and what the reader must know.
func (c *check) describe() {
	m := c.match
	o := m.Opened()
	if o == nil {
		return
	}
	c.details[StepFormat] = fmt.Sprintf("%d events in canonical form", m.Len())
	c.details[StepChain] = "every event names the one before it, from the opening whose digest is the match's id"
	c.details[StepSignatures] = fmt.Sprintf("%d bodies, each signed by its seat's key for this match and turn", m.signed)
	if out, ok := m.Outcome(); ok && m.rule != "" {
		c.details[StepRules] = fmt.Sprintf("%d moves legal by %s; the arena adjudicated the result %v", m.turn, o.Game, out.Returns)
	} else if ok {
		c.details[StepRules] = fmt.Sprintf("%d moves legal by %s; result %v: %s", m.turn, o.Game, out.Returns, out.Reason)
	} else {
		c.details[StepRules] = fmt.Sprintf("%d moves legal by %s", m.turn, o.Game)
	}
	limit := "times never run back; the match had no clock"
	if o.MoveMS > 0 {
		limit = fmt.Sprintf("times never run back and no limit is broken, of %d ms for each move", o.MoveMS)
	}
	bound := "bounded by no beacon"
	if at, err := o.Chance.Chain.TimeOf(o.Chance.Round()); m.chance.recorded && err == nil {
		bound = fmt.Sprintf("but that play began at Unix time %d or later is proved by the beacon", at/1000)
	}
	c.details[StepClock] = limit + "; they are the hall's word, " + bound
	c.chanceDetail()
	if m.pos == nil && !m.chance.blind {
		c.notShown(StepChance, "the game is not known here, so what it leaves to chance or hides is not either")
		c.notShown(StepClock, "times never run back; whether a limit was broken only the game's turns can tell")
	}
	c.details[StepClosure] = "the match is sealed, and count and root of the seal are those of its events"
	if m.Stage() != StageSealed {
		c.notShown(StepClosure, "the bundle shows no end, and no checkpoint vouches for what it shows")
	}
	var silent, asked []string
	for i, s := range o.Seats {
		switch {
		case m.acked[i]:
		case i < len(c.joined) && c.joined[i]:
			asked = append(asked, s.Handle)
		default:
			silent = append(silent, s.Handle)
		}
	}
	c.details[StepConsent] = "each seat signed the opening"
	switch {
	case len(silent) > 0:
		c.notShown(StepConsent, "these seats signed neither the opening nor a request to play: "+strings.Join(silent, ", "))
	case len(asked) == len(o.Seats):
		c.details[StepConsent] = "each seat signed a request to play this game, in this log before the match; none signed the opening itself"
	case len(asked) > 0:
		c.details[StepConsent] = "each seat signed the opening, or a request to play this game: the latter " + strings.Join(asked, ", ")
	}
	for _, s := range o.Seats {
		if s.House {
			c.note("house-bot", s.Handle+" is a bot of those who run the match")
		}
	}
	if o.Imported != nil {
		c.note("imported", fmt.Sprintf("imported from a record (%s, SHA-256 %x): the keys were made by the importer and the times are of the import, so signatures prove the record's text and not who played",
			o.Imported.Format, o.Imported.Record))
	}
	if o.Start != "" {
		c.note("start", fmt.Sprintf("the match started from %q", o.Start))
	}
	if m.late {
		c.note("time-forfeit", "a seat lost by its clock, which only the hall's times show")
	}
	if m.missed > 0 {
		c.note("default-moves", fmt.Sprintf("%d moves were played by the rules card for seats whose time was over, which only the hall's times show", m.missed))
	}
	if m.rule != "" {
		c.note("adjudicated", fmt.Sprintf("the result does not follow from the moves: the arena decided it, giving as rule: %q", m.rule))
	}
	if m.aborted != "" {
		c.note("aborted", fmt.Sprintf("the match was aborted without a result, giving as reason: %q", m.aborted))
	}
	if m.unbound > 0 {
		c.note("unbound-moves", fmt.Sprintf("%d of %d signed bodies do not name the move before them or anything after it; that they answer it rests on the hall", m.unbound, m.signed))
	}
	noted := make(map[event.Kind]bool)
	for _, k := range m.skipped {
		if !noted[k] {
			noted[k] = true
			c.note("unknown-kind", fmt.Sprintf("events of the kind %q were skipped: this program does not know it", k))
		}
	}
}

func (c *check) report() *Report {
	r := &Report{Schema: ReportSchema, Verdict: Verified, Seats: []string{}, Notes: c.notes}
	if r.Notes == nil {
		r.Notes = []Note{}
	}
	over := true
	if m := c.match; m != nil {
		r.Origin, r.Events, r.Moves = c.bundle.Origin, m.Len(), m.turn
		over = m.Stage() == StageSealed
		if o := m.Opened(); o != nil {
			r.Match, r.Game, r.Variant, r.Number = m.ID().String(), o.Game, o.Variant, o.Number
			r.Start, r.Division, r.MoveMS = o.Start, o.Division, o.MoveMS
			for _, s := range o.Seats {
				r.Seats = append(r.Seats, s.Handle)
			}
		}
		if out, ok := m.Outcome(); ok {
			r.Result = &Result{out.Returns, out.Reason, m.rule != ""}
		}
	}
	failed, unknown := false, c.unmet
	for _, s := range Steps() {
		line := Line{Step: s, Status: Pass, Detail: c.details[s], Faults: c.faults[s]}
		if c.missing[s] {
			line.Status = NotShown
		}
		for _, f := range line.Faults {
			if f.Missing && line.Status != Fail {
				line.Status, unknown = NotShown, true
			} else if !f.Missing {
				line.Status, failed = Fail, true
			}
		}
		if line.Detail == "" && line.Status == Pass {
			line.Status, line.Detail = NotShown, "what comes before could not be read"
		}
		if len(line.Faults) > 0 {
			line.Detail = line.Faults[0].Text()
		}
		r.Steps = append(r.Steps, line)
	}
	switch {
	case failed:
		r.Verdict = Refuted
	case unknown:
		r.Verdict = Unchecked
	case !over:
		r.Verdict = Incomplete
	}
	return r
}
