package event

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"ludger/engine"
	"ludger/ledger/canon"
	"ludger/ledger/sign"
)

// A Kind names what an event says: a noun and a past participle.
type Kind string

// The kinds this package reads and writes.
const (
	KindLogOpened        Kind = "log.opened"
	KindAgentRegistered  Kind = "agent.registered"
	KindMatchOpened      Kind = "match.opened"
	KindSeatAcked        Kind = "seat.acked"
	KindMovePlayed       Kind = "move.played"
	KindDrawAgreed       Kind = "draw.agreed"
	KindMatchForfeited   Kind = "match.forfeited"
	KindMatchAdjudicated Kind = "match.adjudicated"
	KindMatchAborted     Kind = "match.aborted"
	KindMatchEnded       Kind = "match.ended"
	KindMatchSealed      Kind = "match.sealed"
)

func (k Kind) check() bool {
	noun, verb, ok := strings.Cut(string(k), ".")
	for _, word := range []string{noun, verb} {
		ok = ok && isWord(word)
	}
	return ok
}

// isWord tells whether s is lowercase letters with single inner hyphens.
func isWord(s string) bool {
	if s == "" || len(s) > MaxWord {
		return false
	}
	for i := 0; i < len(s); i++ {
		if c := s[i]; !('a' <= c && c <= 'z' || c == '-' && i > 0 && i < len(s)-1 && s[i-1] != '-') {
			return false
		}
	}
	return true
}

// ErrUnknownKind says that a body is of a kind this program does not know.
var ErrUnknownKind = errors.New("unknown kind of event")

// A Body is what an event of one kind says.
type Body interface {
	Kind() Kind
	value() canon.Value
}

// Body reads the event's body by its kind. The error of a kind this program does not know wraps
// ErrUnknownKind, and that of an opening with terms it does not know ErrVersion; any other means that
// the body is not of its kind's shape.
func (e *Event) Body() (Body, error) {
	f := e.body.Fields()
	var b Body
	switch e.Kind {
	case KindLogOpened:
		b = readLogOpened(&f)
	case KindAgentRegistered:
		b = readAgentRegistered(&f)
	case KindMatchOpened:
		b = readMatchOpened(&f)
	case KindSeatAcked:
		b = readSeatAcked(&f)
	case KindMovePlayed:
		b = readMovePlayed(&f)
	case KindDrawAgreed:
		b = readDrawAgreed(&f)
	case KindMatchForfeited:
		b = readMatchForfeited(&f)
	case KindMatchAdjudicated:
		b = readMatchAdjudicated(&f)
	case KindMatchAborted:
		b = &MatchAborted{Reason: readText(&f, "reason", MaxRule)}
	case KindMatchEnded:
		b = readMatchEnded(&f)
	case KindMatchSealed:
		b = readMatchSealed(&f)
	default:
		return nil, fmt.Errorf("%w: %s", ErrUnknownKind, e.Kind)
	}
	if o, ok := b.(*MatchOpened); ok && f.Err() == nil && o.foreign != "" {
		return nil, fmt.Errorf("%w: the match has %s", ErrVersion, o.foreign)
	}
	if err := f.Done(); err != nil {
		return nil, fmt.Errorf("body of %s: %w", e.Kind, err)
	}
	if !e.belongs(b) {
		return nil, fmt.Errorf("%s does not belong at %d of the stream %s", e.Kind, e.Seq, e.Stream)
	}
	return b, nil
}

// belongs tells whether the event stands where its body may.
func (e *Event) belongs(b Body) bool {
	switch b := b.(type) {
	case *LogOpened:
		return e.Stream == LogStream && e.Seq == 0
	case *AgentRegistered:
		return e.Stream == AgentStream(b.Handle) && e.Seq == 0
	case *MatchOpened:
		_, ok := e.Stream.Match()
		return ok && e.Seq == 0
	}
	_, ok := e.Stream.Match()
	return ok && e.Seq > 0
}

// LogOpened is the first event of a log: {"catalogue","keys","origin"}.
type LogOpened struct {
	Origin    string
	Keys      []string // the log's note verifier keys
	Catalogue [32]byte // SHA-256 over the sorted ids of its games, each with a newline
}

// Kind returns KindLogOpened.
func (b *LogOpened) Kind() Kind { return KindLogOpened }

func (b *LogOpened) value() canon.Value {
	keys := make([]canon.Value, len(b.Keys))
	for i, k := range b.Keys {
		keys[i] = canon.NewString(k)
	}
	return canon.NewObject(
		canon.Member{Name: "catalogue", Value: hexValue(b.Catalogue[:])},
		canon.Member{Name: "keys", Value: canon.NewArray(keys...)},
		canon.Member{Name: "origin", Value: canon.NewString(b.Origin)},
	)
}

func readLogOpened(f *canon.Fields) *LogOpened {
	b := &LogOpened{Origin: readText(f, "origin", MaxOrigin)}
	if f.Err() == nil {
		if err := CheckOrigin(b.Origin); err != nil {
			f.Fail("origin", err.Error())
		}
	}
	f.Hex("catalogue", b.Catalogue[:])
	for _, k := range f.Array("keys", MaxKeys) {
		if k.Value.Kind() != canon.String || len(k.Value.Str()) > MaxVerifier || !printable(k.Value.Str()) {
			f.Fail("keys", "holds something that is not a note verifier key")
		}
		b.Keys = append(b.Keys, k.Value.Str())
	}
	return b
}

// CheckOrigin refuses a log's origin that is not 1 to MaxOrigin visible ASCII characters without plus,
// or that has a scheme: it is a name and not an address.
func CheckOrigin(origin string) error {
	switch {
	case origin == "" || len(origin) > MaxOrigin:
		return fmt.Errorf("origin of %d characters is not from 1 to %d long", len(origin), MaxOrigin)
	case !printable(origin) || strings.ContainsAny(origin, " +"):
		return fmt.Errorf("origin %q is not visible ASCII without spaces and plus", origin)
	case strings.Contains(origin, "://"):
		return fmt.Errorf("origin %q has a scheme: leave it out, as in example.com/log", origin)
	}
	return nil
}

// AgentRegistered says that an agent exists: {"handle","key"}, and where known "model" and
// "statement".
type AgentRegistered struct {
	Handle string
	Key    sign.PublicKey
	Model  string // "" if not told
	// Statement is the agent's signature over sign.AgentMessage, which proves without any secret
	// that the holder of the key wanted this handle in this log; nil if not given.
	Statement *sign.Signature
}

// Kind returns KindAgentRegistered.
func (b *AgentRegistered) Kind() Kind { return KindAgentRegistered }

func (b *AgentRegistered) value() canon.Value {
	m := []canon.Member{
		{Name: "handle", Value: canon.NewString(b.Handle)},
		{Name: "key", Value: hexValue(b.Key[:])},
	}
	if b.Model != "" {
		m = append(m, canon.Member{Name: "model", Value: canon.NewString(b.Model)})
	}
	if b.Statement != nil {
		m = append(m, canon.Member{Name: "statement", Value: hexValue(b.Statement[:])})
	}
	return canon.NewObject(m...)
}

func readAgentRegistered(f *canon.Fields) *AgentRegistered {
	b := &AgentRegistered{Handle: readHandle(f)}
	f.Hex("key", b.Key[:])
	if f.Has("model") {
		b.Model = readText(f, "model", MaxModel)
	}
	b.Statement = readSignature(f, "statement")
	return b
}

// MatchOpened fixes everything about a match before it begins; its digest is the match's id, so
// every signature that names the id covers all of it. Printed as {"chance","clock","division",
// "game","number","seats","start","variant"}, and "imported" where a record was brought in.
type MatchOpened struct {
	Number   int64  // running number of the match in its log, from 1
	Game     string // engine and version, such as "chess@1"
	Variant  string
	Start    string // engine.Setup.Start
	Division string // "assisted": players are shown legal moves; "unassisted": they are not
	MoveMS   int64  // milliseconds for each move; 0 is no clock
	Seats    []Seat
	Imported *Imported // nil for a match that was played here

	foreign string // what this program does not know of it, and so did not read on; "" if all
}

// A Seat is one seat's terms: {"acts","handle","key"}, and where it applies "house" and
// "registered".
type Seat struct {
	Handle     string
	Key        sign.PublicKey
	House      bool  // a bot of the hall itself
	Registered *Leaf // of the agent.registered that ties the handle to the key; nil is the hall's word
}

// Imported says that a match was not played here: {"format","record"}. Its times are of the import,
// and its keys were made by the importer.
type Imported struct {
	Format string   // "pgn"
	Record [32]byte // SHA-256 of the record as its format's own export form prints it
}

// Kind returns KindMatchOpened.
func (b *MatchOpened) Kind() Kind { return KindMatchOpened }

func (b *MatchOpened) value() canon.Value {
	seats := make([]canon.Value, len(b.Seats))
	for i, s := range b.Seats {
		m := []canon.Member{
			{Name: "acts", Value: canon.NewString("signed")},
			{Name: "handle", Value: canon.NewString(s.Handle)},
		}
		if s.House {
			m = append(m, canon.Member{Name: "house", Value: canon.NewBool(true)})
		}
		m = append(m, canon.Member{Name: "key", Value: hexValue(s.Key[:])})
		if s.Registered != nil {
			m = append(m, canon.Member{Name: "registered", Value: hexValue(s.Registered[:])})
		}
		seats[i] = canon.NewObject(m...)
	}
	m := []canon.Member{
		{Name: "chance", Value: canon.NewObject(canon.Member{Name: "mode", Value: canon.NewString("none")})},
		{Name: "clock", Value: canon.NewObject(canon.Member{Name: "move_ms", Value: canon.NewInt(b.MoveMS)})},
		{Name: "division", Value: canon.NewString(b.Division)},
		{Name: "game", Value: canon.NewString(b.Game)},
		{Name: "number", Value: canon.NewInt(b.Number)},
		{Name: "seats", Value: canon.NewArray(seats...)},
		{Name: "start", Value: canon.NewString(b.Start)},
		{Name: "variant", Value: canon.NewString(b.Variant)},
	}
	if b.Imported != nil {
		m = append(m, canon.Member{Name: "imported", Value: canon.NewObject(
			canon.Member{Name: "format", Value: canon.NewString(b.Imported.Format)},
			canon.Member{Name: "record", Value: hexValue(b.Imported.Record[:])},
		)})
	}
	return canon.NewObject(m...)
}

func readMatchOpened(f *canon.Fields) *MatchOpened {
	b := &MatchOpened{
		Number:   f.Int("number", 1, canon.MaxInt),
		Game:     readText(f, "game", MaxWord),
		Variant:  readText(f, "variant", MaxWord),
		Start:    f.String("start", engine.MaxStart),
		Division: f.String("division", MaxWord),
	}
	if f.Err() == nil && !printable(b.Start) {
		f.Fail("start", "holds a character outside printable ASCII")
	}
	if f.Err() == nil && b.Division != "assisted" && b.Division != "unassisted" {
		f.Fail("division", "is neither assisted nor unassisted")
	}
	clock := f.Object("clock").Fields()
	b.MoveMS = clock.Int("move_ms", 0, MaxClock)
	inside(f, "clock", &clock)
	chance := f.Object("chance").Fields()
	if mode := chance.String("mode", MaxWord); chance.Err() == nil && mode != "none" {
		b.foreign = fmt.Sprintf("the chance mode %q", mode)
		return b
	}
	inside(f, "chance", &chance)
	if f.Has("imported") {
		imported := f.Object("imported").Fields()
		b.Imported = &Imported{Format: readText(&imported, "format", MaxWord)}
		imported.Hex("record", b.Imported.Record[:])
		inside(f, "imported", &imported)
	}
	seats := f.Array("seats", engine.MaxSeats)
	if f.Err() == nil && len(seats) == 0 {
		f.Fail("seats", "is empty")
	}
	for _, m := range seats {
		sf := m.Value.Fields()
		seat := Seat{Handle: readHandle(&sf), House: sf.Flag("house")}
		sf.Hex("key", seat.Key[:])
		if sf.Has("registered") {
			seat.Registered = new(Leaf)
			sf.Hex("registered", seat.Registered[:])
		}
		if acts := sf.String("acts", MaxWord); sf.Err() == nil && acts != "signed" {
			b.foreign = fmt.Sprintf("a seat that acts in the way %q", acts)
			return b
		}
		for _, other := range b.Seats {
			if other.Key == seat.Key {
				sf.Fail("key", "is the key of another seat")
			}
		}
		inside(f, "seats", &sf)
		b.Seats = append(b.Seats, seat)
	}
	return b
}

// A MatchID is the hash of a match's opening.
type MatchID [32]byte

func (id MatchID) String() string { return hex.EncodeToString(id[:]) }

// ID returns the id of the match in the log of the given origin:
// D("ludger/match/v1", origin, canonical body). D is canon.Digest.
func (b *MatchOpened) ID(origin string) MatchID {
	return canon.Digest("ludger/match/v1", []byte(origin), b.value().Bytes())
}

// SeatAcked is a seat's own signature over the opening: {"seat","signature"}, over
// sign.AckMessage.
type SeatAcked struct {
	Seat      engine.Seat
	Signature sign.Signature
}

// Kind returns KindSeatAcked.
func (b *SeatAcked) Kind() Kind { return KindSeatAcked }

func (b *SeatAcked) value() canon.Value {
	return canon.NewObject(
		canon.Member{Name: "seat", Value: canon.NewInt(int64(b.Seat))},
		canon.Member{Name: "signature", Value: hexValue(b.Signature[:])},
	)
}

func readSeatAcked(f *canon.Fields) *SeatAcked {
	b := &SeatAcked{Seat: readSeat(f)}
	f.Hex("signature", b.Signature[:])
	return b
}

// MovePlayed is one move: {"move","seat","signed","state","turn"}.
type MovePlayed struct {
	Seat   engine.Seat
	Turn   int64      // moves played or defaulted before this one
	Move   string     // in the engine's canonical notation
	Signed SignedMove // what the player signed, verbatim
	State  StateDigest
}

// A StateDigest is the first 16 bytes of SHA-256 over the public view's canonical state string
// after a move. A digest of the full state would let anyone search hidden cards.
type StateDigest [16]byte

func (d StateDigest) String() string { return hex.EncodeToString(d[:]) }

// Kind returns KindMovePlayed.
func (b *MovePlayed) Kind() Kind { return KindMovePlayed }

func (b *MovePlayed) value() canon.Value {
	return canon.NewObject(
		canon.Member{Name: "move", Value: canon.NewString(b.Move)},
		canon.Member{Name: "seat", Value: canon.NewInt(int64(b.Seat))},
		canon.Member{Name: "signed", Value: b.Signed.value},
		canon.Member{Name: "state", Value: hexValue(b.State[:])},
		canon.Member{Name: "turn", Value: canon.NewInt(b.Turn)},
	)
}

func readMovePlayed(f *canon.Fields) *MovePlayed {
	b := &MovePlayed{
		Seat: readSeat(f),
		Turn: f.Int("turn", 0, MaxMatchEvents),
		Move: readText(f, "move", engine.MaxMove),
	}
	f.Hex("state", b.State[:])
	b.Signed = readSigned(f)
	return b
}

// DrawAgreed accepts the standing offer of a draw: {"seat","signed"}. The signed body has
// draw_offer; a move in it is not made.
type DrawAgreed struct {
	Seat   engine.Seat // who accepts
	Signed SignedMove
}

// Kind returns KindDrawAgreed.
func (b *DrawAgreed) Kind() Kind { return KindDrawAgreed }

func (b *DrawAgreed) value() canon.Value {
	return canon.NewObject(
		canon.Member{Name: "seat", Value: canon.NewInt(int64(b.Seat))},
		canon.Member{Name: "signed", Value: b.Signed.value},
	)
}

func readDrawAgreed(f *canon.Fields) *DrawAgreed {
	return &DrawAgreed{Seat: readSeat(f), Signed: readSigned(f)}
}

// MatchForfeited says that a seat gave the match up: {"reason","seat"}, and for a resignation
// "signed".
type MatchForfeited struct {
	Seat   engine.Seat
	Reason string      // engine.Resigned or engine.OutOfTime
	Signed *SignedMove // the resignation; nil when the clock decided
}

// Kind returns KindMatchForfeited.
func (b *MatchForfeited) Kind() Kind { return KindMatchForfeited }

func (b *MatchForfeited) value() canon.Value {
	m := []canon.Member{
		{Name: "reason", Value: canon.NewString(b.Reason)},
		{Name: "seat", Value: canon.NewInt(int64(b.Seat))},
	}
	if b.Signed != nil {
		m = append(m, canon.Member{Name: "signed", Value: b.Signed.value})
	}
	return canon.NewObject(m...)
}

func readMatchForfeited(f *canon.Fields) *MatchForfeited {
	b := &MatchForfeited{Seat: readSeat(f), Reason: f.String("reason", MaxWord)}
	if f.Has("signed") {
		s := readSigned(f)
		b.Signed = &s
	}
	switch {
	case f.Err() != nil:
	case b.Reason != engine.Resigned && b.Reason != engine.OutOfTime:
		f.Fail("reason", "is neither "+engine.Resigned+" nor "+engine.OutOfTime)
	case (b.Reason == engine.Resigned) != (b.Signed != nil):
		f.Fail("signed", "stands with a resignation, and only there")
	}
	return b
}

// MatchAdjudicated is an outcome that the arena decided: {"returns","rule"}. Its reason is always
// engine.Adjudicated, so that it cannot pass for one of the game's own.
type MatchAdjudicated struct {
	Returns []int64 // as engine.Outcome
	Rule    string  // what the decision rests on, in words
}

// Kind returns KindMatchAdjudicated.
func (b *MatchAdjudicated) Kind() Kind { return KindMatchAdjudicated }

func (b *MatchAdjudicated) value() canon.Value {
	return canon.NewObject(
		canon.Member{Name: "returns", Value: returnsValue(b.Returns)},
		canon.Member{Name: "rule", Value: canon.NewString(b.Rule)},
	)
}

func readMatchAdjudicated(f *canon.Fields) *MatchAdjudicated {
	return &MatchAdjudicated{Returns: readReturns(f), Rule: readText(f, "rule", MaxRule)}
}

// MatchAborted ends a match without a result: {"reason"}.
type MatchAborted struct {
	Reason string
}

// Kind returns KindMatchAborted.
func (b *MatchAborted) Kind() Kind { return KindMatchAborted }

func (b *MatchAborted) value() canon.Value {
	return canon.NewObject(canon.Member{Name: "reason", Value: canon.NewString(b.Reason)})
}

// MatchEnded states the result: {"outcome","state"}.
type MatchEnded struct {
	Outcome engine.Outcome
	State   StateDigest // of the final position
}

// Kind returns KindMatchEnded.
func (b *MatchEnded) Kind() Kind { return KindMatchEnded }

func (b *MatchEnded) value() canon.Value {
	return canon.NewObject(
		canon.Member{Name: "outcome", Value: outcomeValue(b.Outcome)},
		canon.Member{Name: "state", Value: hexValue(b.State[:])},
	)
}

func readMatchEnded(f *canon.Fields) *MatchEnded {
	b := &MatchEnded{Outcome: readOutcome(f)}
	f.Hex("state", b.State[:])
	return b
}

// MatchSealed closes the stream: {"count","root"}. One proof of it proves every event of the match.
type MatchSealed struct {
	Count int64    // events before this one
	Root  [32]byte // RFC 6962 root over their bytes
}

// Kind returns KindMatchSealed.
func (b *MatchSealed) Kind() Kind { return KindMatchSealed }

func (b *MatchSealed) value() canon.Value {
	return canon.NewObject(
		canon.Member{Name: "count", Value: canon.NewInt(b.Count)},
		canon.Member{Name: "root", Value: hexValue(b.Root[:])},
	)
}

func readMatchSealed(f *canon.Fields) *MatchSealed {
	b := &MatchSealed{Count: f.Int("count", 1, MaxMatchEvents)}
	f.Hex("root", b.Root[:])
	return b
}

func hexValue(b []byte) canon.Value { return canon.NewString(hex.EncodeToString(b)) }

func returnsValue(returns []int64) canon.Value {
	list := make([]canon.Value, len(returns))
	for i, n := range returns {
		list[i] = canon.NewInt(n)
	}
	return canon.NewArray(list...)
}

func readReturns(f *canon.Fields) []int64 {
	var returns []int64
	for _, n := range f.Array("returns", engine.MaxSeats) {
		if n.Value.Kind() != canon.Int {
			f.Fail("returns", "holds something that is not a number")
		}
		returns = append(returns, n.Value.Int())
	}
	return returns
}

func outcomeValue(o engine.Outcome) canon.Value {
	return canon.NewObject(
		canon.Member{Name: "reason", Value: canon.NewString(o.Reason)},
		canon.Member{Name: "returns", Value: returnsValue(o.Returns)},
	)
}

func readOutcome(f *canon.Fields) engine.Outcome {
	of := f.Object("outcome").Fields()
	o := engine.Outcome{Reason: of.String("reason", MaxWord), Returns: readReturns(&of)}
	if of.Err() == nil && !isWord(o.Reason) {
		of.Fail("reason", "is not a lowercase word")
	}
	inside(f, "outcome", &of)
	return o
}

// inside carries a refusal of a nested object outwards.
func inside(f *canon.Fields, name string, nested *canon.Fields) {
	if err := nested.Done(); err != nil && f.Err() == nil {
		var e *canon.Error
		if errors.As(err, &e) {
			f.Fail(name, strings.TrimSpace(strings.TrimPrefix(e.Path, "/")+" "+e.Reason))
		}
	}
}

func readHandle(f *canon.Fields) string {
	h := f.String("handle", MaxHandle)
	if f.Err() == nil {
		if err := CheckHandle(h); err != nil {
			f.Fail("handle", err.Error())
		}
	}
	return h
}

func readSeat(f *canon.Fields) engine.Seat {
	return engine.Seat(f.Int("seat", 0, engine.MaxSeats-1))
}

func readSignature(f *canon.Fields, name string) *sign.Signature {
	if !f.Has(name) {
		return nil
	}
	s := new(sign.Signature)
	f.Hex(name, s[:])
	return s
}

// readText reads a string of 1 to max bytes without characters that control how text is shown
// (Unicode categories Cc, Cf, Zl and Zp): reports print it.
func readText(f *canon.Fields, name string, max int) string {
	s := f.String(name, max)
	switch {
	case f.Err() != nil:
	case s == "":
		f.Fail(name, "is empty")
	case strings.ContainsFunc(s, func(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) }):
		f.Fail(name, "holds a control character, or one that is not seen or turns the text around")
	}
	return s
}

func printable(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < 0x20 || s[i] > 0x7e {
			return false
		}
	}
	return true
}
