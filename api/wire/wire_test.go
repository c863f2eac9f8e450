package wire

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"

	"ludger/checkpoint"
	"ludger/engine"
	"ludger/ledger"
	"ludger/ledger/event"
	"ludger/ledger/sign"
	"ludger/replay"
)

var key = sign.DeriveKey([]byte("keys of the wire's tests"), "ann")

func openRequest() *Open {
	statement := key.Sign([]byte("statement"))
	return &Open{Game: "chess@1", Variant: "standard", Start: "", Division: "unassisted", MoveMS: 60000, Seats: []Seat{
		{Handle: "ann", Key: key.Public(), Statement: &statement},
		{Handle: "bob", Key: sign.DeriveKey([]byte("seed"), "bob").Public(), House: true},
	}}
}

func appendRequest(t testing.TB) *Append {
	seen := event.Leaf{7}
	signed, err := event.SignedMove{GameID: event.MatchID{1}, TurnIndex: 3, Move: "e2e4", Commentary: "a \"plan\"", Seen: &seen}.Sign(key)
	if err != nil {
		t.Fatal(err)
	}
	resigned, err := event.SignedMove{GameID: event.MatchID{1}, TurnIndex: 3, Resign: true}.Sign(key)
	if err != nil {
		t.Fatal(err)
	}
	return &Append{Length: 5, Events: []event.Body{
		&event.SeatAcked{Seat: 1, Signature: key.Sign([]byte("ack"))},
		&event.MovePlayed{Seat: 0, Signed: signed},
		&event.DrawAgreed{Seat: 1, Signed: signed},
		&event.MatchForfeited{Seat: 0, Reason: engine.Resigned, Signed: &resigned},
		&event.MatchForfeited{Seat: 1, Reason: engine.OutOfTime},
		&event.MatchAdjudicated{Returns: []int64{1, -1}, Rule: "rule 9"},
		&event.MatchAborted{Reason: "the arena stops"},
	}}
}

// body returns a request's bytes.
func (a *Append) body(t testing.TB) []byte {
	t.Helper()
	b, err := a.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestRequests(t *testing.T) {
	o := openRequest()
	got, err := ParseOpen(o.Bytes())
	if err != nil || !reflect.DeepEqual(got, o) {
		t.Errorf("ParseOpen(%s) = %+v, %v", o.Bytes(), got, err)
	}
	a := appendRequest(t)
	back, err := ParseAppend(a.body(t))
	if err != nil || !bytes.Equal(back.body(t), a.body(t)) {
		t.Errorf("ParseAppend(%s) = %+v, %v", a.body(t), back, err)
	}
	// What a player signed stays as it is, whatever form it comes in.
	loose := strings.Replace(string(a.body(t)), `"commentary":"a`, ` "commentary" : "\u0061`, 1)
	back, err = ParseAppend([]byte(loose))
	if err != nil || !bytes.Equal(back.body(t), a.body(t)) || back.Events[1].(*event.MovePlayed).Signed.Digest != a.Events[1].(*event.MovePlayed).Signed.Digest {
		t.Errorf("ParseAppend(%s) = %+v, %v", loose, back, err)
	}
	if _, err := (&Append{Events: []event.Body{&event.MatchEnded{}}}).Bytes(); err == nil {
		t.Error("an end that an arena states")
	}
}

func TestRequestsRefused(t *testing.T) {
	o, a := string(openRequest().Bytes()), string(appendRequest(t).body(t))
	for _, test := range []struct{ text, old, new, reason string }{
		{o, `"game":"chess@1",`, ``, "game"},
		{o, `"division"`, `"x":1,"division"`, "/x"},
		{o, `"move_ms":60000`, `"move_ms":-1`, "move_ms"},
		{o, `"move_ms":60000`, `"move_ms":1e3`, "exponent"},
		{o, `"bob"`, `"ann"`, "another seat too"},
		{o, `"bob"`, `"BOB"`, "handle"},
		{o, `"house":true`, `"house":1`, "house"},
		{o, `"variant":"standard"`, `"variant":"` + strings.Repeat("x", 41) + `"`, "variant"},
		{a, `"length":5`, `"length":20001`, "length"},
		{a, `"length":5`, `"length":5,"length":5`, "length"},
		{a, `"kind":"match.aborted"`, `"kind":"match.sealed"`, "event 6 of the request"},
		{a, `"kind":"match.aborted"`, `"kind":"x"`, "event 6 of the request"},
		{a, `"kind":"seat.acked"`, `"kind":"seat.acked","x":0`, "event 0 of the request"},
		{a, `"seat":1`, `"seat":9`, "seat"},
		{a, `"turn_index":3`, `"turn_index":3,"x":0`, "signed"},
		{a, `"commentary":"a`, `"commentary":"` + strings.Repeat("a", event.MaxCommentary), "commentary"},
		{a, `"returns":[1,-1]`, `"returns":[1,"2"]`, "returns"},
	} {
		text := strings.Replace(test.text, test.old, test.new, 1)
		if text == test.text {
			t.Fatalf("%q is not in the request", test.old)
		}
		var err error
		if test.text == o {
			_, err = ParseOpen([]byte(text))
		} else {
			_, err = ParseAppend([]byte(text))
		}
		if err == nil || !strings.Contains(err.Error(), test.reason) {
			t.Errorf("%s for %s: %v, want %q", test.new, test.old, err, test.reason)
		}
	}
	if _, err := ParseOpen(append([]byte(o), bytes.Repeat([]byte(" "), MaxOpen)...)); err == nil {
		t.Error("a request beyond its bound")
	}
}

// The largest batch that the bounds of its events allow fits into a request.
func TestLargest(t *testing.T) {
	text := func(n int) string { return strings.Repeat(`"`, n) } // a quote takes two bytes
	signed, err := event.SignedMove{GameID: event.MatchID{1}, TurnIndex: 20000, Move: text(engine.MaxMove), Commentary: text(event.MaxCommentary),
		DrawOffer: true, Seen: &event.Leaf{1}}.Sign(key)
	if err != nil {
		t.Fatal(err)
	}
	a := &Append{Length: 20000}
	for range MaxEvents {
		a.Events = append(a.Events, &event.MovePlayed{Seat: 7, Signed: signed})
	}
	body := a.body(t)
	if len(body) > MaxAppend {
		t.Errorf("%d bytes exceed %d", len(body), MaxAppend)
	}
	if _, err := ParseAppend(body); err != nil {
		t.Error(err)
	}
	a.Events = append(a.Events, a.Events[0])
	if _, err := ParseAppend(a.body(t)); err == nil {
		t.Error("a batch of one too many")
	}
}

func TestCheckKey(t *testing.T) {
	for key, ok := range map[string]bool{
		"a": true, "01939f2c-5d5e_7.A": true, strings.Repeat("x", MaxKey): true,
		"": false, strings.Repeat("x", MaxKey+1): false, "a b": false, "a:b": false, `"a"`: false, "ä": false, "a\n": false,
	} {
		if err := CheckKey(key); (err == nil) != ok {
			t.Errorf("CheckKey(%q) = %v", key, err)
		}
	}
}

func match(t testing.TB) (opening, ack event.Event) {
	body := &event.MatchOpened{Number: 1, Game: "chess@1", Variant: "standard", Division: "unassisted",
		Seats: []event.Seat{{Handle: "ann", Key: key.Public()}}}
	s := event.MatchStream(body.ID("example.com/log"))
	opening, err := event.New(1, s, 0, event.Leaf{}, body)
	if err != nil {
		t.Fatal(err)
	}
	ack, err = event.New(2, s, 1, opening.Leaf(), &event.SeatAcked{Seat: 0, Signature: key.Sign([]byte("x"))})
	if err != nil {
		t.Fatal(err)
	}
	return opening, ack
}

func answers(t testing.TB) (*Appended, *Page, *View, *Checkpoint, []*Problem) {
	signer, err := checkpoint.NewSigner("example.com/log", [32]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	opening, ack := match(t)
	id, _ := opening.Stream.Match()
	r := Receipt{Origin: "example.com/log", Index: 8, Leaf: ack.Leaf(), Level: sign.Durable, HeadSize: 3}
	if r.Signature, err = signer.Receipt(r.Index, r.Leaf, r.Level, r.HeadSize); err != nil {
		t.Fatal(err)
	}
	a := &Appended{Match: id, First: 7, Events: []event.Event{opening, ack}, Keys: map[int64]event.BoxKey{1: {9}}, Length: 2, Stage: "playing", Receipt: r, Before: true}
	p := &Page{Match: id, From: 0, Events: a.Events, Length: 4}
	body, err := opening.Body()
	if err != nil {
		t.Fatal(err)
	}
	v := &View{Match: id, Opened: *body.(*event.MatchOpened), Stage: "sealed", Length: 4, Last: ack.Leaf(), At: 5, Turn: 2, OnTurn: []engine.Seat{0},
		State: "state", Text: "two\nlines", Outcome: &engine.Outcome{Returns: []int64{1, -1}, Reason: "checkmate"}, Awaits: 9, Imported: true}
	v.Opened.Arena = &event.Arena{Name: "chess-hall", Admitted: event.Leaf{4}}
	v.Opened.Seats = append(v.Opened.Seats, event.Seat{Handle: "bob", House: true, Registered: &event.Leaf{5}})
	note := signer.Sign(3, [32]byte{6})
	c := &Checkpoint{Checkpoint: checkpoint.Checkpoint{Origin: "example.com/log", Size: 3, Root: [32]byte{6}}, Note: note, Key: signer.Verifier().String()}
	return a, p, v, c, []*Problem{
		{Status: 404, Code: "no-match", Title: "No such match", Detail: "…", Request: "00ff", Event: -1},
		{Status: 409, Code: CodeLength, Title: "x", Detail: "y", Expected: 1, Actual: 2, ActualLeaf: event.Leaf{3}, Event: -1},
		{Status: 422, Code: CodeRules, Title: "x", Detail: "y", Event: 2, Fault: &replay.Fault{Step: replay.StepRules, Code: "late", Event: 5, Reason: "z", Expected: "1", Got: "", Missing: true}},
	}
}

func TestAnswers(t *testing.T) {
	a, p, v, c, problems := answers(t)
	same := func(what string, want []byte, got interface{ Bytes() []byte }, err error) {
		t.Helper()
		if err != nil {
			t.Errorf("%s: %v\n%s", what, err, want)
		} else if !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%s: parsed\n%s\nprinted\n%s", what, want, got.Bytes())
		}
	}
	appended, err := ParseAppended(a.Bytes())
	same("appended", a.Bytes(), appended, err)
	page, err := ParsePage(p.Bytes())
	same("page", p.Bytes(), page, err)
	view, err := ParseView(v.Bytes())
	same("view", v.Bytes(), view, err)
	check, err := ParseCheckpoint(c.Bytes())
	same("checkpoint", c.Bytes(), check, err)
	for _, want := range problems {
		got, err := ParseProblem(want.Bytes())
		same("problem", want.Bytes(), got, err)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("problem %+v, want %+v", got, want)
		}
	}
	// A client of today reads an answer of tomorrow.
	if _, err := ParsePage(bytes.Replace(p.Bytes(), []byte(`"from"`), []byte(`"era":1,"from"`), 1)); err != nil {
		t.Error(err)
	}
	var conflict *ledger.ConflictError
	if !errors.As(problems[1], &conflict) || conflict.Actual != 2 || errors.Is(problems[0], ledger.ErrReused) {
		t.Errorf("conflict %+v", conflict)
	}
	var fault *replay.Fault
	if !errors.As(problems[2], &fault) || fault.Code != "late" {
		t.Errorf("fault %+v", fault)
	}
	signer, err := checkpoint.NewSigner("example.com/log", [32]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Receipt.Check(signer.Verifier()); err != nil {
		t.Error(err)
	}
	for _, change := range []func(r *Receipt){
		func(r *Receipt) { r.Origin = "example.com/other" }, func(r *Receipt) { r.Index++ }, func(r *Receipt) { r.Leaf[0]++ },
		func(r *Receipt) { r.Level = sign.Published }, func(r *Receipt) { r.HeadSize++ }, func(r *Receipt) { r.Signature[0]++ }, func(r *Receipt) { r.Level = "x" },
	} {
		r := a.Receipt
		if change(&r); r.Check(signer.Verifier()) == nil {
			t.Errorf("a changed receipt passes: %+v", r)
		}
	}
}

func FuzzParseOpen(f *testing.F) {
	f.Add(openRequest().Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		o, err := ParseOpen(data)
		if err != nil {
			return
		}
		again, err := ParseOpen(o.Bytes())
		if err != nil || !reflect.DeepEqual(o, again) {
			t.Errorf("%s: %+v printed and read again: %+v, %v", data, o, again, err)
		}
	})
}

func FuzzParseAppend(f *testing.F) {
	f.Add(appendRequest(f).body(f))
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := ParseAppend(data)
		if err != nil {
			return
		}
		text := a.body(t)
		again, err := ParseAppend(text)
		if err != nil || !bytes.Equal(again.body(t), text) {
			t.Errorf("%s printed as %s: %v", data, text, err)
		}
	})
}

func FuzzParseAnswers(f *testing.F) {
	a, p, v, c, problems := answers(f)
	for _, b := range [][]byte{a.Bytes(), p.Bytes(), v.Bytes(), c.Bytes(), problems[1].Bytes(), problems[2].Bytes()} {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		same := func(got interface{ Bytes() []byte }, parse func([]byte) (interface{ Bytes() []byte }, error)) {
			t.Helper()
			text := got.Bytes()
			again, err := parse(text)
			if err != nil || !bytes.Equal(again.Bytes(), text) {
				t.Errorf("%s printed as %s: %v", data, text, err)
			}
		}
		if a, err := ParseAppended(data); err == nil {
			same(a, func(b []byte) (interface{ Bytes() []byte }, error) { return ParseAppended(b) })
		}
		if p, err := ParsePage(data); err == nil {
			same(p, func(b []byte) (interface{ Bytes() []byte }, error) { return ParsePage(b) })
		}
		if v, err := ParseView(data); err == nil {
			same(v, func(b []byte) (interface{ Bytes() []byte }, error) { return ParseView(b) })
		}
		if c, err := ParseCheckpoint(data); err == nil {
			same(c, func(b []byte) (interface{ Bytes() []byte }, error) { return ParseCheckpoint(b) })
		}
		if p, err := ParseProblem(data); err == nil {
			same(p, func(b []byte) (interface{ Bytes() []byte }, error) { return ParseProblem(b) })
		}
	})
}
