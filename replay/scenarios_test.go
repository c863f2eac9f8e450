package replay_test

import (
	"crypto/sha256"
	"slices"
	"strings"

	"ludger/engine"
	"ludger/ledger/event"
	"ludger/replay"
)

// scenarios are the vectors by file: what honest halls log, here, and what others do, in forged.
var scenarios = func() map[string][]scenario {
	all := map[string][]scenario{
		"valid": slices.Concat(valid, joinedValid, sealedValid), "witnessed": witnessed, "unwitnessed": unwitnessed,
		"incomplete": slices.Concat(incomplete, sealedIncomplete), "unchecked": slices.Concat(unchecked, joinedUnchecked, sealedUnchecked),
	}
	for file, list := range forged {
		all[file] = list
	}
	all["consent"] = slices.Concat(all["consent"], forgedJoins)
	return all
}()

// whole is the text of the match's bundle.
func whole(tb *table) string { return string(tb.bundle().Bytes()) }

// played lets two agents play a match of the given moves.
func played(moves string) func(*world) string {
	return func(w *world) string {
		tb := w.duel()
		tb.moves(moves)
		tb.end()
		return whole(tb)
	}
}

// shuffle brings the start position back after four plies.
const shuffle = "Nf3 Nf6 Ng1 Ng8 "

var valid = []scenario{
	{name: "mate", make: played("f3 e5 g4 Qh4#")},
	{name: "moves in canonical notation", make: played("f2f3 e7e5 g2g4 d8h4")},
	{name: "resignation", make: func(w *world) string {
		tb := w.duel()
		tb.moves("e4")
		tb.resign(1)
		tb.end()
		return whole(tb)
	}},
	{name: "resignation off turn", make: func(w *world) string {
		tb := w.duel()
		tb.moves("e4")
		tb.resign(0)
		tb.end()
		return whole(tb)
	}},
	{name: "draw agreed", make: func(w *world) string {
		tb := w.duel()
		tb.move(offer("e4"))
		tb.say(&event.DrawAgreed{Seat: 1, Signed: tb.signed(1, accept)})
		tb.end()
		return whole(tb)
	}},
	{name: "draw agreed by a body that also moves", make: func(w *world) string {
		tb := w.duel()
		tb.move(offer("e4"))
		tb.say(&event.DrawAgreed{Seat: 1, Signed: tb.signed(1, offer("e5"))})
		tb.end()
		return whole(tb)
	}},
	{name: "draw offered, passed over, offered by the other and agreed", make: func(w *world) string {
		tb := w.duel()
		tb.move(offer("e4"))
		tb.moves("e5 Nf3")
		tb.move(offer("Nc6"))
		tb.say(&event.DrawAgreed{Seat: 0, Signed: tb.signed(0, accept)})
		tb.end()
		return whole(tb)
	}},
	{name: "threefold claimed on the board", make: played(shuffle + shuffle + "claim")},
	{name: "threefold claimed with a move", make: played(shuffle + "Nf3 Nf6 Ng1 claim:Ng8")},
	{name: "fivefold", make: played(shuffle + shuffle + shuffle + shuffle)},
	{name: "chess960", notes: "start", make: func(w *world) string {
		tb := w.open(func(o *event.MatchOpened) { o.Variant, o.Start = "chess960", "518" }, w.register("alice"), w.register("bob"))
		tb.ack(0)
		tb.ack(1)
		tb.moves("e4 e5 Nf3 Nc6 Bb5 a6 e1h1")
		tb.resign(1)
		tb.end()
		return whole(tb)
	}},
	{name: "moves by index", make: func(w *world) string {
		tb := w.duel()
		for range 3 {
			tb.move(func(s *event.SignedMove) {
				i := int64(4)
				s.Index = &i
			})
		}
		tb.resign(0)
		tb.end()
		return whole(tb)
	}},
	{name: "commentary", make: func(w *world) string {
		tb := w.duel()
		tb.move(func(s *event.SignedMove) { s.Move, s.Commentary = "e4", "“best by test”, \\ \U0001F600 é" })
		tb.resign(1)
		tb.end()
		return whole(tb)
	}},
	{name: "out of time", notes: "time-forfeit", make: func(w *world) string {
		tb := w.duel()
		tb.moves("e4 e5")
		w.now += moveMS
		tb.say(&event.MatchForfeited{Seat: 0, Reason: engine.OutOfTime})
		tb.end()
		return whole(tb)
	}},
	{name: "out of time against a king alone", notes: "start time-forfeit", make: func(w *world) string {
		tb := w.open(func(o *event.MatchOpened) { o.Start = "4k3/8/8/8/8/8/8/4K2R w K - 0 1" }, w.register("alice"), w.register("bob"))
		tb.ack(0)
		tb.ack(1)
		w.now += moveMS
		tb.say(&event.MatchForfeited{Seat: 0, Reason: engine.OutOfTime})
		tb.end()
		return whole(tb)
	}},
	{name: "move at the last moment", make: func(w *world) string {
		tb := w.duel()
		tb.moves("e4")
		w.now += moveMS - 1000
		tb.moves("e5")
		tb.resign(0)
		tb.end()
		return whole(tb)
	}},
	{name: "no clock", make: func(w *world) string {
		tb := w.open(func(o *event.MatchOpened) { o.MoveMS = 0 }, w.register("alice"), w.register("bob"))
		tb.ack(0)
		tb.ack(1)
		w.now += 1000 * moveMS
		tb.moves("f3 e5 g4 Qh4")
		tb.end()
		return whole(tb)
	}},
	{name: "adjudicated", notes: "adjudicated", make: func(w *world) string {
		tb := w.duel()
		tb.moves("e4")
		tb.say(&event.MatchAdjudicated{Returns: []int64{1, -1}, Rule: "house rule 7: who does not come loses"})
		tb.end()
		return whole(tb)
	}},
	{name: "aborted", notes: "aborted", make: func(w *world) string {
		tb := w.duel()
		tb.moves("e4")
		tb.say(&event.MatchAborted{Reason: "the hall closed"})
		tb.say(&event.MatchSealed{})
		return whole(tb)
	}},
	{name: "imported", notes: "imported", make: func(w *world) string {
		tb := w.open(func(o *event.MatchOpened) {
			o.MoveMS, o.Imported = 0, &event.Imported{Format: "pgn", Record: sha256.Sum256([]byte("1. f3 e5 2. g4 Qh4# 0-1\n"))}
		}, w.register("alice"), w.register("bob"))
		tb.ack(0)
		tb.ack(1)
		tb.moves("f3 e5 g4 Qh4")
		tb.end()
		return whole(tb)
	}},
	{name: "house bot", notes: "house-bot", make: func(w *world) string {
		bot := w.register("bot")
		bot.house = true
		tb := w.open(nil, w.register("alice"), bot)
		tb.ack(0)
		tb.ack(1)
		tb.moves("f3 e5 g4 Qh4")
		tb.end()
		return whole(tb)
	}},
	{name: "nobody says what it saw", notes: "unbound-moves", make: func(w *world) string {
		tb := w.duel()
		for _, m := range []string{"f3", "e5", "g4", "Qh4"} {
			tb.move(func(s *event.SignedMove) { s.Move, s.Seen = m, nil })
		}
		tb.end()
		return whole(tb)
	}},
	{name: "everybody says it saw the opening", notes: "unbound-moves", make: func(w *world) string {
		tb := w.duel()
		opening := tb.events[0].Leaf()
		for _, m := range []string{"f3", "e5", "g4", "Qh4"} {
			tb.move(func(s *event.SignedMove) { s.Move, s.Seen = m, &opening })
		}
		tb.end()
		return whole(tb)
	}},
	{name: "without registrations and acknowledgements", hidden: "identity consent", make: func(w *world) string {
		tb := w.open(nil, unregistered("alice"), unregistered("bob"))
		tb.moves("f3 e5 g4 Qh4")
		tb.end()
		return whole(tb)
	}},
	{name: "unknown kind of event", notes: "unknown-kind", make: func(w *world) string {
		tb := w.duel()
		tb.moves("f3")
		tb.raw(tb.frame(), "spectator.cheered", `{"text":["bravo",1,null,true]}`)
		tb.moves("e5 g4 Qh4")
		tb.end()
		return whole(tb)
	}},
	{name: "two matches of the same players", make: func(w *world) string {
		alice, bob := w.register("alice"), w.register("bob")
		one, two := w.open(nil, alice, bob), w.open(nil, bob, alice)
		for _, tb := range []*table{one, two} {
			tb.ack(0)
			tb.ack(1)
			tb.moves("f3 e5 g4 Qh4")
			tb.end()
		}
		w.log(one.events...)
		return whole(two)
	}},
}

// cosigned gives every proof of the bundle a note that the witnesses cosigned.
func (tb *table) cosigned(b *replay.Bundle, names ...string) []byte {
	note := tb.w.note(tb.w.size())
	for i, name := range names {
		note = newWitness(tb.w.t, name).cosign(tb.w.t, note, first/1000+int64(i))
	}
	b.Proof = tb.sealProof(tb.w.size(), note)
	tb.agentProofs(b, note)
	return note
}

func cosigned(names ...string) func(*world) string {
	return func(w *world) string {
		tb := w.duel()
		tb.resign(0)
		tb.end()
		b := tb.bundle()
		tb.cosigned(b, names...)
		return string(b.Bytes())
	}
}

var witnessed = []scenario{
	{name: "cosigned by both", make: cosigned("w1.example", "w2.example")},
	{name: "cosigned by a stranger too", notes: "unknown-signatures", make: cosigned("w1.example", "stranger.example", "w2.example")},
	{name: "no registrations", hidden: "identity", make: func(w *world) string {
		tb := w.open(nil, unregistered("alice"), unregistered("bob"))
		tb.ack(0)
		tb.ack(1)
		tb.resign(0)
		tb.end()
		b := tb.bundle()
		tb.cosigned(b, "w2.example", "w1.example")
		return string(b.Bytes())
	}},
}

var unwitnessed = []scenario{
	{name: "cosigned by nobody", catch: "witnesses/", make: cosigned()},
	{name: "cosigned by one of two", catch: "witnesses/", make: cosigned("w1.example")},
	{name: "cosigned by a stranger", catch: "witnesses/", notes: "unknown-signatures", make: cosigned("stranger.example")},
}

var incomplete = []scenario{
	{name: "only opened", hidden: "consent closure inclusion", make: func(w *world) string {
		return whole(w.open(nil, w.register("alice"), w.register("bob")))
	}},
	{name: "under way", hidden: "closure inclusion", make: func(w *world) string {
		tb := w.duel()
		tb.moves("e4 e5")
		return whole(tb)
	}},
	{name: "decided", hidden: "closure inclusion", make: func(w *world) string {
		tb := w.duel()
		tb.moves("f3 e5 g4 Qh4")
		return whole(tb)
	}},
	{name: "ended and not sealed", hidden: "closure inclusion", make: func(w *world) string {
		tb := w.duel()
		tb.moves("f3 e5 g4 Qh4")
		tb.say(&event.MatchEnded{})
		return whole(tb)
	}},
}

// resigned is the text of the bundle of a short match.
func resigned(w *world) string {
	tb := w.duel()
	tb.resign(0)
	tb.end()
	return whole(tb)
}

// replaced returns the bundle of a short match with the first old behind mark in its text replaced.
func replaced(mark, old, new string) func(*world) string {
	return func(w *world) string {
		text := resigned(w)
		at := strings.Index(text, mark)
		if at < 0 || !strings.Contains(text[at:], old) {
			w.t.Fatalf("no %s behind %s in %s", old, mark, text)
		}
		return text[:at] + strings.Replace(text[at:], old, new, 1)
	}
}

var unchecked = []scenario{
	{name: "one registration left out of the bundle", catch: "identity/registration-missing@0", make: func(w *world) string {
		tb := w.duel()
		tb.resign(0)
		tb.end()
		b := tb.bundle()
		b.Agents = b.Agents[:1]
		return string(b.Bytes())
	}},
	{name: "chance of a mode not known", catch: "format/body@0", hidden: unread, make: opened(`"mode":"none"`, `"mode":"whim"`, resignedAndSealed)},
	{name: "a seat that acts in a way not known", catch: "format/body@0", hidden: unread, make: opened(`"acts":"signed"`, `"acts":"silent"`, resignedAndSealed)},
	{name: "sealed without a proof", catch: "inclusion/", make: func(w *world) string {
		tb := w.duel()
		tb.resign(0)
		tb.end()
		b := tb.bundle()
		b.Proof = ""
		return string(b.Bytes())
	}},
	{name: "format of bundles not known", catch: "format/unknown-format", hidden: but("format"),
		make: replaced("", `"ludger/bundle/v1"`, `"ludger/bundle/v2"`)},
	{name: "version of events not known", catch: "format/event@4", hidden: but("format"),
		make: replaced(`"kind":"match.ended"`, `"v":1`, `"v":2`)},
	{name: "version of an agent's event not known", catch: "format/agent", hidden: but("format"),
		make: replaced(`"agents"`, `"v":1`, `"v":2`)},
	{name: "game not known", catch: "rules/unknown-game@0", hidden: "chance clock", make: func(w *world) string {
		tb := w.open(func(o *event.MatchOpened) { o.Game = "chess@99" }, w.register("alice"), w.register("bob"))
		tb.ack(0)
		tb.ack(1)
		for i, m := range []string{"e2e4", "e7e5", "g1f3"} {
			seat := engine.Seat(i % 2)
			tb.force(tb.played(seat, tb.signed(seat, text(m))))
		}
		tb.force(tb.resigned(1))
		tb.forceEnd()
		return whole(tb)
	}},
	{name: "game not known, aborted", catch: "rules/unknown-game@0", hidden: "chance clock consent", notes: "aborted", make: func(w *world) string {
		tb := w.open(func(o *event.MatchOpened) { o.Game = "chess@99" }, w.register("alice"), w.register("bob"))
		tb.say(&event.MatchAborted{Reason: "rain"})
		tb.say(&event.MatchSealed{})
		return whole(tb)
	}},
	{name: "log not known to the policy", catch: "inclusion/unknown-log@5", hidden: "identity", make: func(w *world) string {
		return resigned(newWorld(w.t, "other.example/log"))
	}},
	{name: "registrations by a log not known to the policy, match not sealed", catch: "identity/registration@0", hidden: "closure inclusion",
		make: func(w *world) string { return whole(newWorld(w.t, "other.example/log").duel()) }},
	{name: "moves do not fit after an unknown kind of event", catch: "rules/turn@4", hidden: "signatures", notes: "unknown-kind", make: func(w *world) string {
		tb := w.duel()
		tb.raw(tb.frame(), "move.whispered", `{"move":"e2e4","seat":0,"turn":0}`)
		b := tb.played(1, tb.signed(1, func(s *event.SignedMove) { s.Move, s.TurnIndex = "e7e5", 1 }))
		b.Turn = 1
		tb.force(b)
		s := tb.signed(0, func(s *event.SignedMove) { s.Resign, s.TurnIndex = true, 2 })
		tb.force(&event.MatchForfeited{Seat: 0, Reason: engine.Resigned, Signed: &s})
		tb.forceEnd()
		return whole(tb)
	}},
	{name: "late after an unknown kind of event", catch: "clock/late@4", notes: "unknown-kind", make: func(w *world) string {
		tb := w.duel()
		w.now += 2 * moveMS
		tb.raw(tb.frame(), "clock.paused", `{}`)
		tb.force(tb.played(0, tb.signed(0, text("e4"))))
		tb.force(tb.resigned(1))
		tb.forceEnd()
		return whole(tb)
	}},
	{name: "in time after an unknown kind of event", catch: "clock/not-late@4", notes: "time-forfeit unknown-kind", make: func(w *world) string {
		tb := w.duel()
		tb.raw(tb.frame(), "clock.shortened", `{}`)
		tb.force(&event.MatchForfeited{Seat: 0, Reason: engine.OutOfTime})
		tb.forceEnd()
		return whole(tb)
	}},
	{name: "sealed after an unknown kind of end", catch: "closure/seal-early@4", notes: "unknown-kind", make: func(w *world) string {
		tb := w.duel()
		tb.raw(tb.frame(), "match.adjourned", `{"until":null}`)
		tb.force(tb.sealed())
		return whole(tb)
	}},
}

// edited returns an event of a known kind with a change that package event would not make.
func (tb *table) edited(body event.Body, old, new string) {
	tb.w.t.Helper()
	f := tb.frame()
	e, err := event.New(f.at, f.stream, f.seq, f.prev, body)
	if err != nil {
		tb.w.t.Fatal(err)
	}
	raw := string(e.Raw())
	if strings.Count(raw, old) != 1 {
		tb.w.t.Fatalf("%d times %s in %s", strings.Count(raw, old), old, raw)
	}
	tb.checked(event.Parse([]byte(strings.Replace(raw, old, new, 1))))
}
