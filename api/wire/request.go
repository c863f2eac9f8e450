package wire

import (
	"fmt"

	"ludger/engine"
	"ludger/ledger/canon"
	"ludger/ledger/event"
	"ludger/ledger/sign"
)

// Open asks for a new match:
//
//	{"division":"unassisted","game":"chess@1","move_ms":60000,"seats":[{"handle":"ann","house":true,
//	 "key":"<64 hex>","statement":"<128 hex>"},…],"start":"","variant":"standard"}
//
// move_ms and start may be left out, and of a seat house and statement. "live":true asks for a match whose
// rolls are called: each outcome of chance after the first comes from a beacon round that the player on
// roll names, before it is out, in a roll.called.
type Open struct {
	Game     string // engine and version
	Variant  string
	Start    string // engine.Setup.Start
	Division string // "assisted" or "unassisted"
	MoveMS   int64  // milliseconds for each move; 0 is no clock
	Live     bool
	Seats    []Seat
}

// A Seat is who sits in a match that Open asks for.
type Seat struct {
	Handle string
	Key    sign.PublicKey
	// Statement is the key's signature over sign.AgentMessage for the log's origin. It registers a
	// handle that is new; nil if there is none.
	Statement *sign.Signature
	House     bool // a bot of the arena itself
}

// Bytes returns the request's body.
func (o *Open) Bytes() []byte {
	seats := make([]canon.Value, len(o.Seats))
	for i, s := range o.Seats {
		m := []canon.Member{member("handle", canon.NewString(s.Handle)), member("key", hexValue(s.Key[:]))}
		if s.House {
			m = append(m, member("house", canon.NewBool(true)))
		}
		if s.Statement != nil {
			m = append(m, member("statement", hexValue(s.Statement[:])))
		}
		seats[i] = canon.NewObject(m...)
	}
	m := []canon.Member{
		member("division", canon.NewString(o.Division)),
		member("game", canon.NewString(o.Game)),
		member("move_ms", canon.NewInt(o.MoveMS)),
		member("seats", canon.NewArray(seats...)),
		member("start", canon.NewString(o.Start)),
		member("variant", canon.NewString(o.Variant)),
	}
	if o.Live {
		m = append(m, member("live", canon.NewBool(true)))
	}
	return canon.NewObject(m...).Bytes()
}

// ParseOpen reads what Bytes prints, in any form of JSON that package canon reads.
func ParseOpen(data []byte) (*Open, error) {
	v, err := canon.Parse(data, canon.Limits{Bytes: MaxOpen, Depth: 3, Values: 16 + 8*engine.MaxSeats})
	if err != nil {
		return nil, err
	}
	f := v.Fields()
	o := &Open{
		Game:     f.String("game", event.MaxWord),
		Variant:  f.String("variant", event.MaxWord),
		Division: f.String("division", event.MaxWord),
	}
	if f.Has("start") {
		o.Start = f.String("start", engine.MaxStart)
	}
	if f.Has("move_ms") {
		o.MoveMS = f.Int("move_ms", 0, event.MaxClock)
	}
	o.Live = f.Has("live") && f.Bool("live")
	handles := map[string]bool{}
	for _, m := range f.Array("seats", engine.MaxSeats) {
		sf := m.Value.Fields()
		s := Seat{Handle: sf.String("handle", event.MaxHandle), House: sf.Has("house") && sf.Bool("house"), Statement: readSignature(&sf, "statement")}
		sf.Hex("key", s.Key[:])
		if err := event.CheckHandle(s.Handle); err != nil && sf.Err() == nil {
			sf.Fail("handle", err.Error())
		}
		if handles[s.Handle] {
			sf.Fail("handle", "sits in another seat too")
		}
		handles[s.Handle] = true
		inside(&f, "seats", sf.Done())
		o.Seats = append(o.Seats, s)
	}
	return o, f.Done()
}

// AckBytes returns the body of a seat's own acknowledgement: {"seat":0,"signature":"<128 hex>"}, the
// signature over sign.AckMessage.
func AckBytes(b *event.SeatAcked) []byte {
	return canon.NewObject(seat(b.Seat), member("signature", hexValue(b.Signature[:]))).Bytes()
}

// ParseAck reads what AckBytes prints, in any form of JSON that package canon reads.
func ParseAck(data []byte) (*event.SeatAcked, error) {
	v, err := canon.Parse(data, canon.Limits{Bytes: MaxAck, Depth: 1, Values: 3})
	if err != nil {
		return nil, err
	}
	f := v.Fields()
	b := &event.SeatAcked{Seat: readSeat(&f)}
	f.Hex("signature", b.Signature[:])
	return b, f.Done()
}

// Append asks to add to a match:
//
//	{"events":[…],"length":7}
//
// length is how many events the arena knows the match to have. There are 1 to MaxEvents events; each says one
// thing in one of these forms, with the signed body of package event verbatim:
//
//	{"kind":"seat.acked","seat":0,"signature":"<128 hex>"}
//	{"kind":"move.played","seat":0,"signed":{…}}
//	{"kind":"roll.called","seat":1,"signed":{…}}
//	{"kind":"draw.agreed","seat":1,"signed":{…}}
//	{"kind":"match.forfeited","reason":"resigned","seat":0,"signed":{…}}
//	{"kind":"match.forfeited","reason":"out-of-time","seat":0}
//	{"kind":"match.adjudicated","returns":[1,-1],"rule":"…"}
//	{"kind":"match.aborted","reason":"…"}
//
// What follows from them by itself the log adds: dice, the outcome, the secret, the seal.
type Append struct {
	Length int64
	Events []event.Body // of the kinds above
}

// Bytes returns the request's body. A body of another kind is an error.
func (a *Append) Bytes() ([]byte, error) {
	events := make([]canon.Value, len(a.Events))
	for i, body := range a.Events {
		m := []canon.Member{member("kind", canon.NewString(string(body.Kind())))}
		switch b := body.(type) {
		case *event.SeatAcked:
			m = append(m, seat(b.Seat), member("signature", hexValue(b.Signature[:])))
		case *event.MovePlayed:
			m = append(m, seat(b.Seat), member("signed", b.Signed.Value()))
		case *event.RollCalled:
			m = append(m, seat(b.Seat), member("signed", b.Signed.Value()))
		case *event.DrawAgreed:
			m = append(m, seat(b.Seat), member("signed", b.Signed.Value()))
		case *event.MatchForfeited:
			m = append(m, seat(b.Seat), member("reason", canon.NewString(b.Reason)))
			if b.Signed != nil {
				m = append(m, member("signed", b.Signed.Value()))
			}
		case *event.MatchAdjudicated:
			m = append(m, member("returns", ints(b.Returns)), member("rule", canon.NewString(b.Rule)))
		case *event.MatchAborted:
			m = append(m, member("reason", canon.NewString(b.Reason)))
		default:
			return nil, fmt.Errorf("event %d of the request is %s, which the log adds itself", i, body.Kind())
		}
		events[i] = canon.NewObject(m...)
	}
	return canon.NewObject(member("events", canon.NewArray(events...)), member("length", canon.NewInt(a.Length))).Bytes(), nil
}

// ParseAppend reads what Bytes prints, in any form of JSON that package canon reads.
func ParseAppend(data []byte) (*Append, error) {
	v, err := canon.Parse(data, canon.Limits{Bytes: MaxAppend, Depth: 5, Values: 8 + 32*MaxEvents})
	if err != nil {
		return nil, err
	}
	f := v.Fields()
	a := &Append{Length: f.Int("length", 0, event.MaxMatchEvents)}
	list := f.Array("events", MaxEvents)
	if len(list) == 0 {
		f.Fail("events", "is empty")
	}
	if err := f.Done(); err != nil {
		return nil, err
	}
	a.Events = make([]event.Body, len(list))
	for i, m := range list {
		if a.Events[i], err = readBody(m.Value); err != nil {
			return nil, fmt.Errorf("event %d of the request: %w", i, err)
		}
	}
	return a, nil
}

func readBody(v canon.Value) (event.Body, error) {
	f := v.Fields()
	var body event.Body
	switch kind := event.Kind(f.String("kind", event.MaxKind)); kind {
	case event.KindSeatAcked:
		b := &event.SeatAcked{Seat: readSeat(&f)}
		f.Hex("signature", b.Signature[:])
		body = b
	case event.KindMovePlayed:
		body = &event.MovePlayed{Seat: readSeat(&f), Signed: readSigned(&f)}
	case event.KindRollCalled:
		body = &event.RollCalled{Seat: readSeat(&f), Signed: readSigned(&f)}
	case event.KindDrawAgreed:
		body = &event.DrawAgreed{Seat: readSeat(&f), Signed: readSigned(&f)}
	case event.KindMatchForfeited:
		b := &event.MatchForfeited{Seat: readSeat(&f), Reason: f.String("reason", event.MaxWord)}
		if f.Has("signed") {
			signed := readSigned(&f)
			b.Signed = &signed
		}
		body = b
	case event.KindMatchAdjudicated:
		body = &event.MatchAdjudicated{Returns: readInts[int64](&f, "returns", engine.MaxSeats), Rule: f.String("rule", event.MaxRule)}
	case event.KindMatchAborted:
		body = &event.MatchAborted{Reason: f.String("reason", event.MaxRule)}
	default:
		f.Fail("kind", "is none that an arena may say")
	}
	return body, f.Done()
}

func seat(s engine.Seat) canon.Member { return member("seat", canon.NewInt(int64(s))) }

func readSeat(f *canon.Fields) engine.Seat { return engine.Seat(f.Int("seat", 0, engine.MaxSeats-1)) }

func readSigned(f *canon.Fields) event.SignedMove {
	v := f.Object("signed")
	if f.Err() != nil {
		return event.SignedMove{}
	}
	m, err := event.SignedOf(v)
	inside(f, "signed", err)
	return m
}

func readSignature(f *canon.Fields, name string) *sign.Signature {
	if !f.Has(name) {
		return nil
	}
	s := new(sign.Signature)
	f.Hex(name, s[:])
	return s
}
