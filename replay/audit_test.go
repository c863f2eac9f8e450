package replay_test

import (
	"slices"
	"strings"
	"testing"

	"ludger/engine"
	"ludger/ledger/canon"
	"ludger/ledger/event"
	"ludger/ledger/sign"
	"ludger/replay/audit"
)

// audited runs the audit over the world's log and checks its findings: "index: part of the reason"
// for each, in order.
func audited(w *world, want ...string) *audit.Audit {
	w.t.Helper()
	a := audit.New(origin)
	var got []string
	for i, raw := range w.raws {
		for _, f := range a.Apply(raw) {
			if f.Index != int64(i) {
				w.t.Errorf("finding %v at entry %d", f, i)
			}
			got = append(got, f.String())
		}
	}
	ok := slices.EqualFunc(got, want, func(g, w string) bool {
		at, part, _ := strings.Cut(w, ": ")
		return (strings.HasPrefix(g, "entry "+at+" (") || strings.HasPrefix(g, "entry "+at+":")) && strings.Contains(g, part)
	})
	if !ok {
		w.t.Errorf("found\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if a.Size() != w.size() {
		w.t.Errorf("size %d, want %d", a.Size(), w.size())
	}
	return a
}

// begin is the index of the first entry after those of a new world with alice and bob.
const begin = 6

// cheer logs an event of a kind not known here in the stream of a registration.
func (w *world) cheer(e *event.Event, seq int64, prev event.Leaf) {
	bent := w.bend(*e, e.Stream, seq, prev)
	cheer, err := event.Parse([]byte(strings.Replace(string(bent.Raw()), "agent.registered", "agent.applauded", 1)))
	if err != nil {
		w.t.Fatal(err)
	}
	w.log(cheer)
}

// pair registers two agents, at begin-2 and begin-1.
func (w *world) pair() (alice, bob *agent) { return w.register("alice"), w.register("bob") }

func TestAuditHonest(t *testing.T) {
	w := newWorld(t, origin)
	alice, bob := w.pair()
	one, two, three := w.open(nil, alice, bob), w.open(nil, bob, alice), w.open(nil, alice, unregistered("guest"))
	one.moves("f3 e5 g4 Qh4")
	one.end()
	two.moves("e4")
	two.say(&event.MatchAborted{Reason: "rain"})
	two.say(&event.MatchSealed{})
	three.moves("e4")
	var lists [][]event.Event
	for _, tb := range []*table{one, two, three} {
		lists = append(lists, tb.events)
	}
	for i := 0; len(lists[0])+len(lists[1])+len(lists[2]) > 0; i++ { // interleaved
		if l := &lists[i%3]; len(*l) > 0 {
			w.log((*l)[0])
			*l = (*l)[1:]
		}
	}
	e := w.event(event.AgentStream("zoe"), 0, event.Leaf{}, w.registration("zoe", key("zoe"), key("zoe")))
	w.log(e)
	w.cheer(&e, 1, e.Leaf())
	a := audited(w)
	if a.Counts().Sealed != 2 || a.Counts().Open != 1 {
		t.Errorf("%d matches sealed and %d open, want 2 and 1", a.Counts().Sealed, a.Counts().Open)
	}
}

// TestAuditSealed: matches with hidden moves and dice, and one of an arena, are judged whole.
func TestAuditSealed(t *testing.T) {
	w := newWorld(t, origin)
	arena := w.admit()
	alice, bob := w.pair()
	for _, kind := range []string{"hidden", "chess"} {
		w.log(targets[kind](w, alice, bob).events...)
	}
	off := w.dealt("battleship@1", "standard", event.ChanceSealed, nil, alice, bob).record()
	resigned := off.signed(1, resign) // of turn 0, while the other lays out
	off.by(0, fleetA)
	off.say(&event.MatchForfeited{Seat: 1, Reason: engine.Resigned, Signed: &resigned})
	off.due()
	w.log(off.events...)
	tb := w.dealt("backgammon@1", "single", event.ChanceSealed, func(o *event.MatchOpened) {
		o.Arena = &event.Arena{Name: "north-hall", Admitted: arena.Event.Leaf()}
	}, alice, bob).record()
	tb.roll(3)
	w.log(tb.events...)
	if a := audited(w); a.Counts().Sealed != 3 || a.Counts().Open != 1 {
		t.Errorf("%d matches sealed and %d open, want 3 and 1", a.Counts().Sealed, a.Counts().Open)
	}
}

// TestAuditAborted: matches that were aborted when their dice could be known are counted and noted.
func TestAuditAborted(t *testing.T) {
	w := newWorld(t, origin)
	alice, bob := w.pair()
	abort := func(tb *table) {
		tb.say(&event.MatchAborted{Reason: "the hall wishes so"})
		tb.due()
		w.log(tb.events...)
	}
	deal := func() *table { return w.dealt("backgammon@1", "single", event.ChanceSealed, nil, alice, bob) }
	early := w.dealt("backgammon@1", "single", event.ChanceSealed, func(o *event.MatchOpened) { o.Chance.Delay = 100 }, alice, bob)
	abort(early)
	abort(deal())
	abort(deal().record())
	drawn := deal().record()
	drawn.roll(1)
	abort(drawn)
	a := audit.New(origin)
	var notes []string
	for _, raw := range w.raws {
		for _, f := range a.Apply(raw) {
			t.Error(f)
		}
		for _, f := range a.Notes() {
			notes = append(notes, f.Reason)
		}
	}
	c := a.Counts()
	if c.Aborted != 4 || c.Drawn != 2 || c.Voided != 1 || len(notes) != 5 || !strings.Contains(notes[0], "not recorded") || !strings.Contains(notes[2], "was drawn, which the seed gives") {
		t.Errorf("%+v, notes %q", c, notes)
	}
}

func TestAudit(t *testing.T) {
	for name, c := range map[string]struct {
		forge func(*world)
		want  []string
	}{
		"two matches with one number": {func(w *world) {
			alice, bob := w.pair()
			for range 2 {
				tb := w.open(func(o *event.MatchOpened) { o.Division = []string{"assisted", "unassisted"}[w.number-1]; o.Number = 1 }, alice, bob)
				w.log(tb.events...)
			}
		}, []string{"7: the number 1, after 1"}},
		"opening with terms that are not known": {func(w *world) {
			alice, bob := w.pair()
			tb := w.table(alice, bob)
			body := tb.strange()
			tb.raw(tb.first(canon.Digest("ludger/match/v1", []byte(origin), []byte(body))), "match.opened", body)
			resignedAndSealed(tb)
			w.log(tb.events...)
			w.log(w.open(nil, alice, bob).events...)
		}, nil}, // it cannot be judged here, which is nothing found
		"arena that was not admitted": {func(w *world) {
			alice, bob := w.pair()
			w.log(w.open(func(o *event.MatchOpened) { o.Arena = &event.Arena{Name: "north-hall", Admitted: alice.event.Leaf()} }, alice, bob).events...)
		}, []string{"6: admission of the arena north-hall"}},
		"fleet that its player did not sign, found when the secret is told": {func(w *world) {
			alice, bob := w.pair()
			tb := w.dealt("battleship@1", "standard", event.ChanceSealed, nil, alice, bob).record()
			tb.force(tb.seal(0, fleetA, tb.cheat(key("bob"), text(fleetA))))
			tb.shut()
		}, []string{"13: event 4: the signature is not that of seat 0"}},
		"dice that the seed does not give, found when the secret is told": {func(w *world) {
			alice, bob := w.pair()
			tb := w.dealt("backgammon@1", "single", event.ChanceSealed, nil, alice, bob).record()
			tb.force(tb.otherRoll())
			tb.shut()
		}, []string{"13: event 4: the outcome is not the one"}},
		"beacons that anchor the log": {func(w *world) {
			alice, bob := w.pair()
			w.log(targets["hidden"](w, alice, bob).events...) // it describes the chain
			chain := w.beacons().Chain().Info()
			prev, err := event.Parse(w.raws[0])
			if err != nil {
				w.t.Fatal(err)
			}
			newest, err := chain.RoundAt(w.now)
			if err != nil {
				w.t.Fatal(err)
			}
			late := w.event(event.AgentStream("zoe"), 0, event.Leaf{}, w.registration("zoe", key("zoe"), key("zoe")))
			leaf, seq := prev.Leaf(), int64(1)
			anchor := func(b event.Beacon) {
				e := w.event(event.LogStream, seq, leaf, &event.BeaconRecorded{Chain: chain.Hash, Beacon: b})
				w.log(e)
				leaf, seq = e.Leaf(), seq+1
			}
			anchor(w.round(newest))
			anchor(w.round(newest + 100)) // not out yet
			wrong := w.round(newest + 1)
			wrong.Signature = w.round(newest).Signature
			anchor(wrong)
			w.now += 10_000
			anchor(w.round(newest + 10))
			w.log(late) // made long before
		}, []string{"18: before it came out", "19: signature is not of this key and round", "21: behind a beacon"}},
		"two matches with one secret": {func(w *world) {
			alice, bob := w.pair()
			w.same = true
			for range 2 {
				w.log(targets["hidden"](w, alice, bob).events...)
			}
		}, []string{"17: the secret of match/"}},
		"number left out": {func(w *world) {
			alice, bob := w.pair()
			w.number++
			w.log(w.open(nil, alice, bob).events...)
			w.log(w.open(nil, alice, bob).events...)
		}, []string{"6: the number 2, after 0"}},
		"registration that was never logged": {func(w *world) {
			alice, bob := w.pair()
			w.leaves, w.raws = w.leaves[:begin-1], w.raws[:begin-1]
			w.log(w.open(nil, alice, bob).events...)
		}, []string{"5: seat 1 names a registration of bob"}},
		"registration logged after the opening": {func(w *world) {
			alice, bob := w.pair()
			w.leaves, w.raws = w.leaves[:begin-1], w.raws[:begin-1]
			w.log(w.open(nil, alice, bob).events...)
			w.log(*bob.event)
		}, []string{"5: seat 1 names a registration of bob"}},
		"registration of another": {func(w *world) {
			alice, bob := w.pair()
			bob.event = alice.event
			w.log(w.open(nil, alice, bob).events...)
		}, []string{"6: seat 1 names a registration of bob"}},
		"registration of another handle": {func(w *world) {
			alice, bob := w.pair()
			bob.handle = "robert"
			w.log(w.open(nil, alice, bob).events...)
		}, []string{"6: seat 1 names a registration of robert"}},
		"event that names another as the one before": {func(w *world) {
			w.cheer(w.register("alice").event, 1, event.Leaf{7})
		}, []string{"5: event 1 does not continue a stream of 1 events"}},
		"event that leaves out a number": {func(w *world) {
			e := w.register("alice").event
			w.cheer(e, 2, e.Leaf())
		}, []string{"5: event 2 does not continue a stream of 1 events"}},
		"registration of another key": {func(w *world) {
			alice, bob := w.pair()
			bob.key = key("thief")
			w.log(w.open(nil, alice, bob).events...)
		}, []string{"6: seat 1 names a registration of bob"}},
		"registration signed by another": {func(w *world) {
			w.log(w.event(event.AgentStream("zoe"), 0, event.Leaf{}, w.registration("zoe", key("zoe"), key("mallory"))))
		}, []string{"4: not signed by its key"}},
		"registration of a key that proves nothing": {func(w *world) {
			b := w.registration("zoe", key("zoe"), key("zoe"))
			b.Key = sign.PublicKey{1}
			w.log(w.event(event.AgentStream("zoe"), 0, event.Leaf{}, b))
		}, []string{"4: small order"}},
		"handle registered again": {func(w *world) {
			alice := w.register("alice")
			e := w.event(event.AgentStream("alice"), 0, event.Leaf{}, w.registration("alice", key("thief"), key("thief")))
			w.log(w.bend(e, e.Stream, 1, alice.event.Leaf()))
		}, []string{"5: does not belong at 1"}},
		"handle registered anew": {func(w *world) {
			w.register("alice")
			w.log(w.event(event.AgentStream("alice"), 0, event.Leaf{}, w.registration("alice", key("thief"), key("thief"))))
		}, []string{"5: event 0 does not continue a stream of 1 events"}},
		"event left out of a stream": {func(w *world) {
			tb := w.duel()
			w.log(tb.events[0])
			w.log(tb.events[2])
		}, []string{"7: not the next of its stream", "7: does not name the one before"}},
		"event of a stream twice": {func(w *world) {
			tb := w.duel()
			w.log(tb.events[0], tb.events[1], tb.events[1])
		}, []string{"8: not the next of its stream", "8: does not name the one before", "8: acknowledges the match again"}},
		"match opened twice": {func(w *world) {
			tb := w.duel()
			w.log(tb.events[0], tb.events[0])
		}, []string{"7: not the next of its stream", "7: does not name the one before", "7: only match.opened", "7: the number 1, after 1"}},
		"match without its opening": {func(w *world) {
			tb := w.duel()
			w.log(tb.events[1:]...)
		}, []string{"6: before the opening", "7: before the opening"}},
		"event after the seal": {func(w *world) {
			tb := w.duel()
			tb.resign(0)
			tb.end()
			tb.force(&event.MatchAborted{Reason: "too late"})
			w.log(tb.events...)
		}, []string{"12: after the seal"}},
		"sealed match opened again": {func(w *world) {
			tb := w.duel()
			tb.resign(0)
			tb.end()
			w.log(tb.events...)
			w.log(tb.events[0])
		}, []string{"12: after the seal"}},
		"forged move": {func(w *world) {
			tb := w.duel()
			tb.force(tb.played(0, tb.cheat(key("mallory"), text("e4"))))
			w.log(tb.events...)
		}, []string{"9: not that of seat 0"}},
		"log opened again": {func(w *world) {
			e, err := event.Parse(w.raws[0])
			if err != nil {
				w.t.Fatal(err)
			}
			w.log(e)
		}, []string{"4: only that", "4: does not continue a stream of 1 events"}},
		"log opened late": {func(w *world) { w.leaves, w.raws = w.leaves[1:], w.raws[1:] }, []string{"0: log.opened is the first entry"}},
		"log of another origin": {func(w *world) { *w = *newWorld(w.t, "other.example/log") },
			[]string{`0: the log was opened as "other.example/log"`, "1: not signed by its key", "2: not signed by its key", "3: not signed by its key"}},
		"entry that is no event": {func(w *world) {
			w.raws = append(w.raws, []byte(`{"at": 1}`))
			w.leaves = append(w.leaves, event.Leaf{})
		}, []string{"4: json"}},
		"body out of shape": {func(w *world) {
			e := w.event(event.AgentStream("zoe"), 0, event.Leaf{}, w.registration("zoe", key("zoe"), key("zoe")))
			e, err := event.Parse([]byte(strings.Replace(string(e.Raw()), `"handle":"zoe"`, `"handle":"zo"`, 1)))
			if err != nil {
				w.t.Fatal(err)
			}
			w.log(e)
		}, []string{"4: handle"}},
		"kind in a stream where it does not belong": {func(w *world) {
			e := w.event(event.MatchStream(event.MatchID{1}), 1, event.Leaf{1}, &event.MatchAborted{Reason: "rain"})
			w.log(w.bend(e, event.AgentStream("zoe"), 0, event.Leaf{}))
		}, []string{"4: does not belong"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, origin)
			c.forge(w)
			audited(w, c.want...)
		})
	}
}
