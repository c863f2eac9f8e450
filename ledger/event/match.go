package event

import (
	"encoding/hex"
	"fmt"

	"golang.org/x/crypto/chacha20poly1305"

	"ludger/engine"
	"ludger/ledger/canon"
	"ludger/ledger/sign"
)

// MatchOpened fixes everything about a match before it begins; its digest is the match's id, so
// every signature that names the id covers all of it. Printed as {"chance","clock","division",
// "game","number","seats","start","variant"}, "arena" where one runs the match, and "imported" where
// a record was brought in.
type MatchOpened struct {
	Number   int64  // running number of the match in its log, from 1
	Game     string // engine and version, such as "chess@1"
	Variant  string
	Start    string // engine.Setup.Start
	Division string // "assisted": players are shown legal moves; "unassisted": they are not
	MoveMS   int64  // milliseconds for each move; 0 is no clock
	Chance   Chance
	Seats    []Seat
	Arena    *Arena    // nil for a match of the hall itself
	Imported *Imported // nil for a match that was played here

	foreign string // what this program does not know of it, and so did not read on; "" if all
}

// A Seat is one seat's terms: {"acts","handle","key"}, and where it applies "house", "joined" and
// "registered".
type Seat struct {
	Handle     string
	Key        sign.PublicKey
	House      bool  // a bot of the hall itself
	Registered *Leaf // of the agent.registered that ties the handle to the key; nil is the hall's word
	Joined     *Leaf // of the lobby.joined with which the agent asked to play; nil if it did not
}

// An Arena runs a match: {"admitted","name"}. What its players did is known here by its word, as far
// as they did not sign it.
type Arena struct {
	Name     string
	Admitted Leaf // of its arena.admitted
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
		if s.Joined != nil {
			m = append(m, canon.Member{Name: "joined", Value: hexValue(s.Joined[:])})
		}
		m = append(m, canon.Member{Name: "key", Value: hexValue(s.Key[:])})
		if s.Registered != nil {
			m = append(m, canon.Member{Name: "registered", Value: hexValue(s.Registered[:])})
		}
		seats[i] = canon.NewObject(m...)
	}
	m := []canon.Member{
		{Name: "chance", Value: b.Chance.value()},
		{Name: "clock", Value: canon.NewObject(canon.Member{Name: "move_ms", Value: canon.NewInt(b.MoveMS)})},
		{Name: "division", Value: canon.NewString(b.Division)},
		{Name: "game", Value: canon.NewString(b.Game)},
		{Name: "number", Value: canon.NewInt(b.Number)},
		{Name: "seats", Value: canon.NewArray(seats...)},
		{Name: "start", Value: canon.NewString(b.Start)},
		{Name: "variant", Value: canon.NewString(b.Variant)},
	}
	if b.Arena != nil {
		m = append(m, canon.Member{Name: "arena", Value: canon.NewObject(
			canon.Member{Name: "admitted", Value: hexValue(b.Arena.Admitted[:])},
			canon.Member{Name: "name", Value: canon.NewString(b.Arena.Name)},
		)})
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
	if f.Err() == nil && !isDivision(b.Division) {
		f.Fail("division", notDivision)
	}
	clock := f.Object("clock").Fields()
	b.MoveMS = clock.Int("move_ms", 0, MaxClock)
	inside(f, "clock", &clock)
	chance := f.Object("chance").Fields()
	var known bool
	if b.Chance, known = readChance(&chance); !known && chance.Err() == nil {
		b.foreign = fmt.Sprintf("the chance mode %q", b.Chance.Mode)
		return b
	}
	inside(f, "chance", &chance)
	if f.Has("arena") {
		arena := f.Object("arena").Fields()
		b.Arena = &Arena{Name: readName(&arena, "name")}
		arena.Hex("admitted", b.Arena.Admitted[:])
		inside(f, "arena", &arena)
	}
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
		seat := Seat{Handle: readName(&sf, "handle"), House: sf.Flag("house")}
		sf.Hex("key", seat.Key[:])
		if sf.Has("registered") {
			seat.Registered = new(Leaf)
			sf.Hex("registered", seat.Registered[:])
		}
		if sf.Has("joined") {
			seat.Joined = new(Leaf)
			sf.Hex("joined", seat.Joined[:])
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

// MovePlayed is one move: {"move","seat","signed","state","turn"}, or if others must not see it,
// {"box","seat","state","turn"}.
type MovePlayed struct {
	Seat   engine.Seat
	Turn   int64      // moves played or defaulted before this one
	Move   string     // in the engine's canonical notation
	Signed SignedMove // what the player signed, verbatim
	State  StateDigest
	Box    []byte // holds Move and Signed, which are not printed then; nil for a move that all may see
}

// A StateDigest is the first 16 bytes of SHA-256 over the public view's canonical state string
// after a move. A digest of the full state would let anyone search hidden cards.
type StateDigest [16]byte

func (d StateDigest) String() string { return hex.EncodeToString(d[:]) }

// Kind returns KindMovePlayed.
func (b *MovePlayed) Kind() Kind { return KindMovePlayed }

func (b *MovePlayed) value() canon.Value {
	if b.Box != nil {
		return canon.NewObject(
			canon.Member{Name: "box", Value: hexValue(b.Box)},
			canon.Member{Name: "seat", Value: canon.NewInt(int64(b.Seat))},
			canon.Member{Name: "state", Value: hexValue(b.State[:])},
			canon.Member{Name: "turn", Value: canon.NewInt(b.Turn)},
		)
	}
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
	}
	f.Hex("state", b.State[:])
	if f.Has("box") {
		text := f.String("box", 2*(MaxBox+chacha20poly1305.Overhead))
		if b.Box = make([]byte, len(text)/2); f.Err() == nil && !(canon.DecodeHex(b.Box, text) && isBoxSize(len(b.Box))) {
			f.Fail("box", fmt.Sprintf("of %d characters is not lowercase hex of a box", len(text)))
		}
		return b
	}
	b.Move = readText(f, "move", engine.MaxMove)
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
