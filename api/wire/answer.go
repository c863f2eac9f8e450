package wire

import (
	"fmt"

	"ludger/checkpoint"
	"ludger/engine"
	"ludger/ledger/canon"
	"ludger/ledger/event"
	"ludger/ledger/sign"
)

// A Receipt promises that an event stands in the log:
//
//	{"head_size":20,"index":24,"leaf":"<64 hex>","level":"durable","origin":"example.com/log",
//	 "signature":"<128 hex>"}
//
// The signature is by the log's own key over sign.ReceiptMessage. head_size is that of the newest
// published head then: at the level "published" it is beyond the index.
type Receipt struct {
	Origin    string
	Index     int64 // in the log
	Leaf      event.Leaf
	Level     string // sign.Durable or sign.Published
	HeadSize  int64
	Signature sign.Signature
}

// Check checks that the log with the key signed the receipt.
func (r *Receipt) Check(log *checkpoint.Verifier) error {
	if r.Origin != log.Name() {
		return fmt.Errorf("receipt of the log %q, not of %q", r.Origin, log.Name())
	}
	return log.CheckReceipt(r.Index, r.Leaf, r.Level, r.HeadSize, r.Signature)
}

func (r *Receipt) value() canon.Value {
	return canon.NewObject(
		member("head_size", canon.NewInt(r.HeadSize)),
		member("index", canon.NewInt(r.Index)),
		member("leaf", hexValue(r.Leaf[:])),
		member("level", canon.NewString(r.Level)),
		member("origin", canon.NewString(r.Origin)),
		member("signature", hexValue(r.Signature[:])),
	)
}

func readReceipt(v canon.Value) (r Receipt, err error) {
	f := v.Fields()
	r = Receipt{
		Origin:   f.String("origin", event.MaxOrigin),
		Index:    f.Int("index", 0, canon.MaxInt),
		Level:    f.String("level", event.MaxWord),
		HeadSize: f.Int("head_size", 0, canon.MaxInt),
	}
	f.Hex("leaf", r.Leaf[:])
	f.Hex("signature", r.Signature[:])
	return r, f.Err()
}

// Appended is what a request of an arena added to its match:
//
//	{"before":true,"events":[…],"first":17,"keys":[{"key":"<64 hex>","seq":3},…],"length":9,
//	 "match":"<64 hex>","receipt":{…},"stage":"playing"}
//
// events are verbatim; in the log they are neighbours, and the receipt is for the last of them.
// A key opens the box of the hidden move at seq, and nothing else. "before" stands there if the same
// request had been made before, so that nothing was added now; length and stage are of the match after
// the events, whatever was added since.
type Appended struct {
	Match   event.MatchID
	First   int64 // index of the first event in the log
	Events  []event.Event
	Keys    map[int64]event.BoxKey // by seq
	Length  int64
	Stage   string
	Receipt Receipt
	Before  bool
}

// Bytes returns the answer's body.
func (a *Appended) Bytes() []byte {
	keys := []canon.Value{}
	for i := range a.Events {
		if key, ok := a.Keys[a.Events[i].Seq]; ok {
			keys = append(keys, canon.NewObject(member("key", hexValue(key[:])), member("seq", canon.NewInt(a.Events[i].Seq))))
		}
	}
	m := []canon.Member{
		member("events", events(a.Events)),
		member("first", canon.NewInt(a.First)),
		member("keys", canon.NewArray(keys...)),
		member("length", canon.NewInt(a.Length)),
		member("match", hexValue(a.Match[:])),
		member("receipt", a.Receipt.value()),
		member("stage", canon.NewString(a.Stage)),
	}
	if a.Before {
		m = append(m, member("before", canon.NewBool(true)))
	}
	return canon.NewObject(m...).Bytes()
}

// ParseAppended reads what Bytes prints.
func ParseAppended(data []byte) (*Appended, error) {
	f, err := answer(data)
	if err != nil {
		return nil, err
	}
	a := &Appended{
		First:  f.Int("first", 0, canon.MaxInt),
		Keys:   map[int64]event.BoxKey{},
		Length: f.Int("length", 1, event.MaxMatchEvents),
		Stage:  f.String("stage", event.MaxWord),
		Before: f.Has("before") && f.Bool("before"),
	}
	f.Hex("match", a.Match[:])
	for _, k := range f.Array("keys", event.MaxMatchEvents) {
		kf := k.Value.Fields()
		seq := kf.Int("seq", 0, event.MaxMatchEvents)
		var key event.BoxKey
		kf.Hex("key", key[:])
		a.Keys[seq] = key
		inside(&f, "keys", kf.Err())
	}
	if v := f.Object("receipt"); f.Err() == nil {
		a.Receipt, err = readReceipt(v)
		inside(&f, "receipt", err)
	}
	a.Events = readEvents(&f)
	if f.Err() == nil && len(a.Events) == 0 {
		f.Fail("events", "is empty")
	}
	return a, f.Err()
}

func events(list []event.Event) canon.Value {
	values := make([]canon.Value, len(list))
	for i := range list {
		values[i] = list[i].Value()
	}
	return canon.NewArray(values...)
}

func readEvents(f *canon.Fields) []event.Event {
	list := f.Array("events", event.MaxMatchEvents)
	read := make([]event.Event, len(list))
	for i, m := range list {
		var err error
		read[i], err = event.FromValue(m.Value)
		inside(f, "events", err)
	}
	return read
}

// A Page is a run of a match's events, verbatim:
//
//	{"events":[…],"from":0,"length":300,"level":"durable","match":"<64 hex>","next":256}
//
// length is how many events the match has now, and next the from of the next page. The events are durable
// in the log, and need not be under a published head yet.
type Page struct {
	Match  event.MatchID
	From   int64 // seq of the first event
	Events []event.Event
	Length int64
}

// Next returns the seq of the first event of the next page.
func (p *Page) Next() int64 { return p.From + int64(len(p.Events)) }

// Bytes returns the answer's body.
func (p *Page) Bytes() []byte {
	return canon.NewObject(
		member("events", events(p.Events)),
		member("from", canon.NewInt(p.From)),
		member("length", canon.NewInt(p.Length)),
		member("level", canon.NewString(sign.Durable)),
		member("match", hexValue(p.Match[:])),
		member("next", canon.NewInt(p.Next())),
	).Bytes()
}

// ParsePage reads what Bytes prints.
func ParsePage(data []byte) (*Page, error) {
	f, err := answer(data)
	if err != nil {
		return nil, err
	}
	p := &Page{From: f.Int("from", 0, event.MaxMatchEvents), Length: f.Int("length", 0, event.MaxMatchEvents), Events: readEvents(&f)}
	f.Hex("match", p.Match[:])
	return p, f.Err()
}

// A View is what anyone may know of a match now:
//
//	{"arena":{"admitted":"<64 hex>","name":"chess-hall"},"at":1735424400123,"awaits":7,
//	 "chance":"sealed","division":"unassisted","game":"chess@1","imported":true,"last":"<64 hex>",
//	 "length":9,"match":"<64 hex>","move_ms":0,"number":1,"on_turn":[0],"outcome":{"reason":"checkmate",
//	 "returns":[1,-1]},"seats":[{"handle":"ann","house":true,"key":"<64 hex>","registered":"<64 hex>"},…],
//	 "stage":"playing","start":"","state":"…","text":"…","turn":6,"variant":"standard"}
//
// arena, awaits, imported and outcome, and of a seat house and registered, stand there where they apply.
type View struct {
	Match    event.MatchID
	Opened   event.MatchOpened // its Chance holds the mode only, and its Imported no more than that it is
	Stage    string
	Length   int64
	Last     event.Leaf // of the newest event
	At       int64      // time of it in Unix milliseconds
	Turn     int64      // index that the next signed move names
	OnTurn   []engine.Seat
	State    string // the spectator's canonical state string
	Text     string // the position for people
	Outcome  *engine.Outcome
	Awaits   int64 // beacon round without which play cannot begin; 0 if there is none
	Imported bool
}

// Bytes returns the answer's body.
func (v *View) Bytes() []byte {
	o := &v.Opened
	seats := make([]canon.Value, len(o.Seats))
	for i, s := range o.Seats {
		m := []canon.Member{member("handle", canon.NewString(s.Handle)), member("key", hexValue(s.Key[:]))}
		if s.House {
			m = append(m, member("house", canon.NewBool(true)))
		}
		if s.Registered != nil {
			m = append(m, member("registered", hexValue(s.Registered[:])))
		}
		seats[i] = canon.NewObject(m...)
	}
	mode := o.Chance.Mode
	if mode == "" {
		mode = event.ChanceNone
	}
	m := []canon.Member{
		member("at", canon.NewInt(v.At)),
		member("chance", canon.NewString(string(mode))),
		member("division", canon.NewString(o.Division)),
		member("game", canon.NewString(o.Game)),
		member("last", hexValue(v.Last[:])),
		member("length", canon.NewInt(v.Length)),
		member("match", hexValue(v.Match[:])),
		member("move_ms", canon.NewInt(o.MoveMS)),
		member("number", canon.NewInt(o.Number)),
		member("on_turn", ints(v.OnTurn)),
		member("seats", canon.NewArray(seats...)),
		member("stage", canon.NewString(v.Stage)),
		member("start", canon.NewString(o.Start)),
		member("state", canon.NewString(v.State)),
		member("text", canon.NewString(v.Text)),
		member("turn", canon.NewInt(v.Turn)),
		member("variant", canon.NewString(o.Variant)),
	}
	if o.Arena != nil {
		m = append(m, member("arena", canon.NewObject(member("admitted", hexValue(o.Arena.Admitted[:])), member("name", canon.NewString(o.Arena.Name)))))
	}
	if v.Awaits > 0 {
		m = append(m, member("awaits", canon.NewInt(v.Awaits)))
	}
	if v.Imported {
		m = append(m, member("imported", canon.NewBool(true)))
	}
	if v.Outcome != nil {
		m = append(m, member("outcome", canon.NewObject(member("reason", canon.NewString(v.Outcome.Reason)), member("returns", ints(v.Outcome.Returns)))))
	}
	return canon.NewObject(m...).Bytes()
}

// ParseView reads what Bytes prints.
func ParseView(data []byte) (*View, error) {
	f, err := answer(data)
	if err != nil {
		return nil, err
	}
	v := &View{
		Opened: event.MatchOpened{
			Number: f.Int("number", 1, canon.MaxInt), Game: f.String("game", event.MaxWord),
			Variant: f.String("variant", event.MaxWord), Start: f.String("start", engine.MaxStart),
			Division: f.String("division", event.MaxWord), MoveMS: f.Int("move_ms", 0, event.MaxClock),
			Chance: event.Chance{Mode: event.ChanceMode(f.String("chance", event.MaxWord))},
		},
		Stage:  f.String("stage", event.MaxWord),
		Length: f.Int("length", 0, event.MaxMatchEvents), At: f.Int("at", 0, canon.MaxInt),
		Turn: f.Int("turn", 0, event.MaxMatchEvents), OnTurn: readInts[engine.Seat](&f, "on_turn", engine.MaxSeats),
		State: f.String("state", MaxAnswer), Text: f.String("text", MaxAnswer),
		Imported: f.Has("imported") && f.Bool("imported"),
	}
	f.Hex("match", v.Match[:])
	f.Hex("last", v.Last[:])
	for _, m := range f.Array("seats", engine.MaxSeats) {
		sf := m.Value.Fields()
		s := event.Seat{Handle: sf.String("handle", event.MaxHandle), House: sf.Has("house") && sf.Bool("house")}
		sf.Hex("key", s.Key[:])
		if sf.Has("registered") {
			s.Registered = new(event.Leaf)
			sf.Hex("registered", s.Registered[:])
		}
		inside(&f, "seats", sf.Err())
		v.Opened.Seats = append(v.Opened.Seats, s)
	}
	if f.Has("arena") {
		af := f.Object("arena").Fields()
		v.Opened.Arena = &event.Arena{Name: af.String("name", event.MaxHandle)}
		af.Hex("admitted", v.Opened.Arena.Admitted[:])
		inside(&f, "arena", af.Err())
	}
	if f.Has("awaits") {
		v.Awaits = f.Int("awaits", 1, event.MaxRound)
	}
	if f.Has("outcome") {
		of := f.Object("outcome").Fields()
		v.Outcome = &engine.Outcome{Reason: of.String("reason", event.MaxWord), Returns: readInts[int64](&of, "returns", engine.MaxSeats)}
		inside(&f, "outcome", of.Err())
	}
	return v, f.Err()
}

// A Checkpoint is the newest published head:
//
//	{"key":"example.com/log+…","note":"…","origin":"example.com/log","root":"<64 hex>","size":25}
//
// note is the signed note that says the same, and key the log's verifier key. Whoever does not know
// the key from elsewhere learns from it nothing about whom to trust.
type Checkpoint struct {
	checkpoint.Checkpoint
	Note []byte
	Key  string
}

// Bytes returns the answer's body.
func (c *Checkpoint) Bytes() []byte {
	return canon.NewObject(
		member("key", canon.NewString(c.Key)),
		member("note", canon.NewString(string(c.Note))),
		member("origin", canon.NewString(c.Origin)),
		member("root", hexValue(c.Root[:])),
		member("size", canon.NewInt(c.Size)),
	).Bytes()
}

// ParseCheckpoint reads what Bytes prints, and believes it.
func ParseCheckpoint(data []byte) (*Checkpoint, error) {
	f, err := answer(data)
	if err != nil {
		return nil, err
	}
	c := &Checkpoint{Note: []byte(f.String("note", event.MaxProof)), Key: f.String("key", event.MaxVerifier)}
	c.Origin, c.Size = f.String("origin", event.MaxOrigin), f.Int("size", 0, canon.MaxInt)
	f.Hex("root", c.Root[:])
	return c, f.Err()
}
