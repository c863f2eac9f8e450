package replay_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"ludger/engine"
	"ludger/ledger/event"
	"ludger/ledger/sign"
	"ludger/replay"
)

// state is all that a match shows of itself.
func state(m *replay.Match) string {
	s := fmt.Sprint(m.ID(), m.Stage(), m.Turn(), m.Len(), m.Last())
	if o := m.Opened(); o != nil {
		s += fmt.Sprint(*o)
	}
	if p := m.Position(); p != nil {
		s += string(p.AppendState(nil, engine.Spectator))
	}
	o, ok := m.Outcome()
	return s + fmt.Sprint(o, ok)
}

// refuse proposes a body that the match must refuse, by the code of the fault; it must stay as it is
// and go on as if nothing had been proposed.
func (tb *table) refuse(code string, body event.Body) {
	tb.w.t.Helper()
	before := state(tb.m)
	_, err := tb.m.Propose(tb.w.now+1000, body)
	var f *replay.Fault
	if !errors.As(err, &f) || f.Code != code || f.Event != tb.m.Len() {
		tb.w.t.Errorf("%s %+v: %v, want the fault %s at %d", body.Kind(), body, err, code, tb.m.Len())
	}
	if after := state(tb.m); after != before {
		tb.w.t.Errorf("%s %+v was refused and changed the match from\n%s to\n%s", body.Kind(), body, before, after)
	}
}

// replayed checks that the events, read again from their bytes, give the match that made them.
func (tb *table) replayed() {
	tb.w.t.Helper()
	m := replay.NewKeys().NewMatch(tb.w.origin)
	for i := range tb.events {
		e, err := event.Parse(tb.events[i].Raw())
		if err != nil {
			tb.w.t.Fatal(err)
		}
		if f := m.Apply(&e); len(f) > 0 {
			tb.w.t.Fatalf("event %d: %v", i, f[0])
		}
	}
	if got, want := state(m), state(tb.m); got != want {
		tb.w.t.Errorf("replayed:\n%s, want\n%s", got, want)
	}
}

func move(seat engine.Seat, s event.SignedMove) *event.MovePlayed {
	return &event.MovePlayed{Seat: seat, Signed: s}
}

func accepts(tb *table, seat engine.Seat) *event.DrawAgreed {
	return &event.DrawAgreed{Seat: seat, Signed: tb.signed(seat, accept)}
}

func timeout(seat engine.Seat) *event.MatchForfeited {
	return &event.MatchForfeited{Seat: seat, Reason: engine.OutOfTime}
}

func TestProposeRefuses(t *testing.T) {
	w := newWorld(t, origin)
	tb := w.table(w.register("alice"), w.register("bob"))
	o := w.opening(nil, tb.players...)

	none := w.table()
	for _, body := range []event.Body{&event.MatchAborted{Reason: "early"}, &event.MatchSealed{}} {
		before := state(none.m)
		if _, err := none.m.Propose(first, body); err == nil || state(none.m) != before {
			t.Errorf("%s before the opening: %v", body.Kind(), err)
		}
	}
	none.refuse("match-over", move(0, event.SignedMove{}))
	none.refuse("not-decided", &event.MatchEnded{})

	bad := *o
	bad.Variant = "losers"
	tb.refuse("setup", &bad)
	bad = *o
	bad.Game = "ludo@1"
	tb.refuse("unknown-game", &bad)
	bad = *o
	bad.Seats = slices.Clone(o.Seats)
	bad.Seats[0].Key = sign.PublicKey{1}
	tb.refuse("weak-key", &bad)

	tb.say(o)
	if _, err := tb.m.Propose(w.now+1000, o); err == nil {
		t.Error("a second opening was taken")
	}
	ack := tb.acked(1)
	ack.Seat = 0
	tb.refuse("ack-signature", ack)
	tb.ack(1)
	tb.refuse("ack-twice", tb.acked(1))
	tb.ack(0)

	tb.refuse("signed-move", move(0, tb.signed(0, text("e5"))))
	tb.refuse("signed-move", move(0, tb.signed(0, resign)))
	tb.refuse("signed-move", move(1, tb.signed(1, text("e5"))))
	tb.refuse("bad-signature", move(0, tb.cheat(key("bob"), text("e4"))))
	tb.refuse("other-turn", move(0, tb.signed(0, func(s *event.SignedMove) { s.Move, s.TurnIndex = "e4", 1 })))
	tb.refuse("other-match", move(0, tb.signed(0, func(s *event.SignedMove) { s.Move, s.GameID = "e4", event.MatchID{1} })))
	tb.refuse("other-history", move(0, tb.signed(0, func(s *event.SignedMove) { s.Move, s.Seen = "e4", &event.Leaf{1} })))
	tb.refuse("no-offer", accepts(tb, 0))
	tb.refuse("no-seat", timeout(2))
	tb.refuse("not-late", timeout(0))
	tb.refuse("not-decided", &event.MatchEnded{})
	tb.refuse("seal-early", &event.MatchSealed{})
	tb.refuse("outcome", &event.MatchAdjudicated{Returns: []int64{1}, Rule: "none"})
	w.now = first
	tb.refuse("time-runs-back", &event.MatchAborted{Reason: "yesterday"})
	w.now = first + moveMS

	tb.moves("e4")
	w.now += 2 * moveMS
	tb.refuse("late", move(1, tb.signed(1, text("e5"))))
	tb.refuse("not-on-turn", timeout(0))
	tb.say(timeout(1))
	tb.refuse("match-over", move(1, tb.signed(1, text("e5"))))
	tb.refuse("match-over", tb.resigned(0))
	tb.refuse("match-over", &event.MatchAborted{Reason: "too late"})
	tb.say(&event.MatchEnded{})
	tb.refuse("not-decided", &event.MatchEnded{})
	tb.say(&event.MatchSealed{})
	tb.refuse("after-seal", &event.MatchSealed{})
	tb.refuse("after-seal", &event.MatchAborted{Reason: "too late"})
	tb.replayed()
}

func TestOutcomes(t *testing.T) {
	for _, c := range []struct {
		name  string
		play  func(*table)
		want  string // outcome
		stage replay.Stage
	}{
		{"checkmate", func(tb *table) { tb.moves("f3 e5 g4 Qh4") }, "[-1 1] checkmate", replay.StageDecided},
		{"on turn resigned", func(tb *table) { tb.resign(0) }, "[-1 1] resigned", replay.StageDecided},
		{"off turn resigned", func(tb *table) { tb.resign(1) }, "[1 -1] resigned", replay.StageDecided},
		{"out of time", func(tb *table) {
			tb.moves("e4")
			tb.w.now += moveMS
			tb.say(timeout(1))
		}, "[1 -1] out-of-time", replay.StageDecided},
		{"resigned after the time was over", func(tb *table) {
			tb.w.now += moveMS
			tb.resign(0)
		}, "[-1 1] resigned", replay.StageDecided},
		{"agreed", func(tb *table) {
			tb.move(offer("e4"))
			tb.say(accepts(tb, 1))
		}, "[0 0] agreed", replay.StageDecided},
		{"claimed", func(tb *table) { tb.moves(shuffle + shuffle + "claim") }, "[0 0] threefold", replay.StageDecided},
		{"by itself", func(tb *table) { tb.moves(shuffle + shuffle + shuffle + shuffle) }, "[0 0] fivefold", replay.StageDecided},
		{"adjudicated", func(tb *table) {
			tb.say(&event.MatchAdjudicated{Returns: []int64{0, 0}, Rule: "nobody came"})
		}, "[0 0] adjudicated", replay.StageDecided},
		{"aborted", func(tb *table) { tb.say(&event.MatchAborted{Reason: "rain"}) }, "", replay.StageEnded},
	} {
		t.Run(c.name, func(t *testing.T) {
			tb := newWorld(t, origin).duel()
			if tb.m.Stage() != replay.StagePlaying {
				t.Errorf("stage %d of a new match", tb.m.Stage())
			}
			c.play(tb)
			got := ""
			o, ok := tb.m.Outcome()
			if ok {
				got = fmt.Sprint(o.Returns, " ", o.Reason)
			}
			if got != c.want || tb.m.Stage() != c.stage {
				t.Errorf("outcome %q at stage %d, want %q at %d", got, tb.m.Stage(), c.want, c.stage)
			}
			if ok {
				tb.say(&event.MatchEnded{})
			} else {
				tb.refuse("not-decided", &event.MatchEnded{})
			}
			tb.say(&event.MatchSealed{})
			if tb.m.Stage() != replay.StageSealed {
				t.Errorf("stage %d of a sealed match", tb.m.Stage())
			}
			tb.replayed()
		})
	}
}

// TestOffers: an offer stands until the opponent has moved.
func TestOffers(t *testing.T) {
	tb := newWorld(t, origin).duel()
	tb.refuse("no-offer", accepts(tb, 0))
	tb.move(offer("e4"))
	tb.refuse("no-offer", accepts(tb, 0)) // one's own
	tb.refuse("agreement-ignored", move(1, tb.signed(1, offer("e5"))))
	tb.refuse("no-acceptance", &event.DrawAgreed{Seat: 1, Signed: tb.signed(1, text("e5"))})
	tb.moves("e5")
	tb.refuse("no-offer", accepts(tb, 0))
	tb.refuse("no-offer", accepts(tb, 1))
	tb.move(offer("Nf3"))
	tb.move(text("Nc6"))
	tb.move(text("Bb5"))
	tb.move(offer("a6"))
	if o, ok := tb.m.Outcome(); ok {
		t.Fatalf("the outcome is %v before anybody agreed", o)
	}
	tb.say(&event.DrawAgreed{Seat: 0, Signed: tb.signed(0, offer("Ba4"))}) // accepts, and does not move
	if p := string(tb.m.Position().AppendState(nil, engine.Spectator)); !strings.Contains(p, " w ") || tb.m.Turn() != 6 {
		t.Errorf("the accepting body was played: turn %d, %s", tb.m.Turn(), p)
	}
	tb.end()
	tb.replayed()
}

func TestClock(t *testing.T) {
	tb := newWorld(t, origin).duel()
	opened := tb.events[0].At
	tb.w.now = opened + moveMS - 1000 // acknowledgements do not count
	tb.refuse("not-late", timeout(0))
	tb.moves("e4") // at the last moment
	moved := tb.w.now
	tb.w.now = moved + moveMS
	tb.refuse("late", move(1, tb.signed(1, text("e5"))))
	tb.w.now = moved + moveMS - 1000
	tb.refuse("not-late", timeout(1))
	tb.w.now = moved + moveMS
	tb.refuse("not-on-turn", timeout(0))
	tb.say(timeout(1))
	tb.end()
	tb.replayed()

	free := newWorld(t, origin)
	tb = free.open(func(o *event.MatchOpened) { o.MoveMS = 0 }, unregistered("alice"), unregistered("bob"))
	free.now += 1 << 40
	tb.refuse("no-clock", timeout(0))
	tb.moves("e4")
	tb.replayed()
}

func TestNotations(t *testing.T) {
	want := []string{"g1f3", "e7e5", "f3e5", "d7d6", "e1g1"}
	tb := newWorld(t, origin).open(func(o *event.MatchOpened) {
		o.Start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQK1NR w KQkq - 0 1"
	}, unregistered("alice"), unregistered("bob"))
	index := func(move string) func(*event.SignedMove) {
		return func(s *event.SignedMove) {
			for i, m := range tb.m.Position().Legal(engine.Seat(tb.m.Turn() % 2)) {
				if m.Move == move {
					n := int64(i)
					s.Index = &n
				}
			}
		}
	}
	for _, edit := range []func(*event.SignedMove){text("Nf3"), index("e7e5"), text("Nxe5"), text("d7d6"), index("e2e4")} {
		tb.move(edit)
	}
	want[4] = "e2e4"
	for i, e := range tb.events[1:] {
		body, err := e.Body()
		if err != nil {
			t.Fatal(err)
		}
		if b := body.(*event.MovePlayed); b.Move != want[i] || b.Turn != int64(i) {
			t.Errorf("move %d is logged as %d %s, want %s", i, b.Turn, b.Move, want[i])
		}
	}
	n := int64(len(tb.m.Position().Legal(1)))
	tb.refuse("signed-move", move(1, tb.signed(1, func(s *event.SignedMove) { s.Index = &n })))
	tb.replayed()
}

// TestFork: a try that is given up leaves no trace in the match, and one that is kept goes on from it.
func TestFork(t *testing.T) {
	for n := range 9 { // so that the lists have room at their ends, or none
		w := newWorld(t, origin)
		one := w.duel()
		one.moves(strings.Join(strings.Fields(shuffle + shuffle)[:n], " "))
		try := *one
		try.m = one.m.Fork()
		try.events = slices.Clone(one.events)
		if state(try.m) != state(one.m) {
			t.Fatalf("the fork is\n%s, want\n%s", state(try.m), state(one.m))
		}
		before := state(one.m)
		try.resign(0)
		if got := state(one.m); got != before {
			t.Fatalf("the fork went on, and the match is\n%s, before\n%s", got, before)
		}
		for range 2 {
			one.moves(one.m.Position().Legal(engine.Seat(one.m.Turn() % 2))[0].Move)
		}
		one.m = one.m.Fork()
		one.resign(1)
		one.end()
		one.replayed()
	}
}

// TestRefusedLeavesNoTrace: what a refused try left in shared room is never read again.
func TestRefusedLeavesNoTrace(t *testing.T) {
	tb := newWorld(t, origin).duel()
	for _, m := range strings.Fields(shuffle + shuffle) {
		seat := engine.Seat(tb.m.Turn() % 2)
		tb.refuse("bad-signature", move(seat, tb.cheat(key("mallory"), text(m))))
		tb.moves(m)
		tb.refuse("not-late", timeout(1-seat))
	}
	tb.resign(0)
	tb.end() // counts all, and roots all, by both implementations
	tb.replayed()
}

// TestKnownKeys: a Keys that has seen many keys still judges each by itself.
func TestKnownKeys(t *testing.T) {
	keys := replay.NewKeys()
	w := newWorld(t, origin)
	tb := w.open(nil, unregistered("alice"), unregistered("bob"))
	tb.resign(0)
	for range 3 {
		for _, weak := range []bool{false, true} {
			m := keys.NewMatch(origin)
			e := tb.events[0]
			if weak {
				o := *tb.m.Opened()
				o.Seats = slices.Clone(o.Seats)
				o.Seats[0].Key = sign.PublicKey{1}
				e = w.event(event.MatchStream(o.ID(origin)), 0, event.Leaf{}, &o)
			}
			f := m.Apply(&e)
			if weak != (len(f) == 1 && f[0].Code == "weak-key") {
				t.Errorf("weak is %t, faults %v", weak, f)
			}
		}
	}
}

// TestKnownRegistrations: a registration that was found right is right only in its own log.
func TestKnownRegistrations(t *testing.T) {
	keys := replay.NewKeys()
	e := newWorld(t, origin).register("alice").event
	for range 2 {
		if r, err := replay.CheckRegistration(origin, e, keys); err != nil || r.Handle != "alice" {
			t.Errorf("%v, %v", r, err)
		}
		if r, err := replay.CheckRegistration("other.example/log", e, keys); err == nil {
			t.Errorf("%v is registered in another log", r)
		}
	}
}

// TestTimeRunsBack: after a time that ran back, the newest time there was still counts.
func TestTimeRunsBack(t *testing.T) {
	tb := newWorld(t, origin).open(func(o *event.MatchOpened) { o.MoveMS = 0 }, unregistered("alice"), unregistered("bob"))
	opened := tb.events[0].At
	for i, c := range []struct {
		at   int64
		back bool
	}{{opened - 2, true}, {opened - 1, true}, {opened, false}, {opened, false}, {opened + 5, false}, {opened + 4, true}} {
		e, err := event.New(c.at, event.MatchStream(tb.m.ID()), tb.m.Len(), tb.m.Last(), tb.played(engine.Seat(i%2),
			tb.signed(engine.Seat(i%2), text([]string{"e4", "e5", "d4", "d5", "c4", "c5"}[i]))))
		if err != nil {
			t.Fatal(err)
		}
		f := tb.m.Apply(&e)
		if back := len(f) == 1 && f[0].Code == "time-runs-back"; back != c.back || len(f) > 1 {
			t.Errorf("event %d: %v", i, f)
		}
	}
}

func TestFault(t *testing.T) {
	f := replay.Fault{Step: replay.StepRules, Code: "turn", Event: 7, Reason: "the move is logged for another turn", Expected: "4", Got: "5"}
	if got, want := f.Error(), "rules: event 7: the move is logged for another turn (expected 4, got 5)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	f = replay.Fault{Step: replay.StepFormat, Event: -1, Reason: "the bundle holds no events"}
	if got, want := f.Error(), "format: the bundle holds no events"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestWrongBehindUnknown: what is wrong is not hidden by any number of things that are not known.
func TestWrongBehindUnknown(t *testing.T) {
	w := newWorld(t, origin)
	tb := w.duel()
	tb.raw(tb.frame(), "move.whispered", `{}`)
	for range 9 { // each names a turn that this program cannot follow
		seat := engine.Seat(tb.m.Turn() % 2)
		s := tb.signed(seat, func(s *event.SignedMove) { s.Move, s.TurnIndex = "e2e4", s.TurnIndex+1 })
		tb.force(tb.played(seat, s))
	}
	v := replay.NewVerifier(parsePolicy(t, w.policy()))
	if r := v.Verify(tb.bundle().Bytes()); r.Verdict != replay.Unchecked {
		t.Fatal(show(r))
	}
	tb.force(tb.played(0, tb.cheat(key("mallory"), text("e2e4"))))
	r := v.Verify(tb.bundle().Bytes())
	if l := line(r, replay.StepSignatures); r.Verdict != replay.Refuted || l.Status != replay.Fail {
		t.Error(show(r))
	}
}
