package replay_test

import (
	"encoding/hex"
	"math/big"
	"slices"
	"strings"

	"ludger/checkpoint"
	"ludger/checkpoint/proof"
	"ludger/engine"
	"ludger/ledger/canon"
	"ludger/ledger/event"
	"ludger/ledger/sign"
	"ludger/replay"
)

// after lets a hall log what forge says in a match of two agents, then end it as if nothing were
// wrong. Events 0 to 2 are the opening and the acknowledgements.
func after(moves string, forge func(*table)) func(*world) string {
	return func(w *world) string {
		tb := w.duel()
		tb.moves(moves)
		forge(tb)
		if _, decided := tb.m.Outcome(); !decided {
			tb.force(tb.resigned(0))
		}
		tb.forceEnd()
		return whole(tb)
	}
}

// forges is after with one forged body.
func forges(moves string, body func(*table) event.Body) func(*world) string {
	return after(moves, func(tb *table) { tb.force(body(tb)) })
}

// frames is after with a rightful resignation in a frame that edit spoils.
func frames(edit func(*table, *frame)) func(*world) string {
	return after("", func(tb *table) {
		body, f := tb.resigned(0), tb.frame()
		edit(tb, &f)
		tb.put(f, body)
	})
}

// registered lets a player named alice, of an odd registration, resign against an honest bob.
func registered(odd func(*world) *agent) func(*world) string {
	return func(w *world) string {
		tb := w.open(nil, odd(w), w.register("bob"))
		tb.ack(0)
		tb.ack(1)
		tb.resign(0)
		tb.end()
		return whole(tb)
	}
}

// bundled is the bundle of a short match, changed by edit.
func bundled(edit func(*table, *replay.Bundle)) func(*world) string {
	return func(w *world) string {
		tb := w.duel()
		tb.resign(0)
		tb.end()
		b := tb.bundle()
		edit(tb, b)
		return string(b.Bytes())
	}
}

// reproved is bundled with another proof of the seal.
func reproved(edit func(*table, *proof.Proof)) func(*world) string {
	return bundled(func(tb *table, b *replay.Bundle) {
		p, err := proof.Parse([]byte(b.Proof))
		if err != nil {
			tb.w.t.Fatal(err)
		}
		edit(tb, p)
		b.Proof = string(p.Format())
	})
}

// cheat signs with the key of another seat or another agent.
func (tb *table) cheat(k sign.PrivateKey, edit func(*event.SignedMove)) event.SignedMove {
	tb.w.t.Helper()
	seen := tb.m.Last()
	s := event.SignedMove{GameID: tb.m.ID(), TurnIndex: tb.m.Turn(), Seen: &seen}
	edit(&s)
	s, err := s.Sign(k)
	if err != nil {
		tb.w.t.Fatal(err)
	}
	return s
}

// moved returns the move of seat 0 with what it signed, and edit applied to what the hall logs.
func moved(signed func(*event.SignedMove), edit func(*table, *event.MovePlayed)) func(*table) event.Body {
	return func(tb *table) event.Body {
		b := tb.played(0, tb.signed(0, signed))
		if edit != nil {
			edit(tb, b)
		}
		return b
	}
}

// as makes the hall log another move than the signed one, with the right state.
func as(move string) func(*table, *event.MovePlayed) {
	return func(tb *table, b *event.MovePlayed) {
		p := tb.m.Position().Clone()
		if err := p.Play(b.Seat, move); err != nil {
			tb.w.t.Fatal(err)
		}
		b.Move, b.State = move, digest(p)
	}
}

// unopened lets f log whatever it likes where a match of two agents should begin.
func unopened(w *world, f func(*table, *event.MatchOpened)) string {
	alice, bob := w.register("alice"), w.register("bob")
	tb := w.table(alice, bob)
	f(tb, w.opening(nil, alice, bob))
	return whole(tb)
}

var order, _ = new(big.Int).SetString("7237005577332262213973186563042994240857116359379907606001950938285454250989", 10)

// unread are the steps that cannot be taken after an opening with terms that are not known; the chain,
// the seal and its proof still can be, if only to refute.
const unread = "format chain identity consent signatures chance rules clock closure"

// opened lets two agents begin with an opening of which a part was changed, and the hall log the rest.
func opened(old, new string, rest func(*table)) func(*world) string {
	return func(w *world) string {
		return unopened(w, func(tb *table, o *event.MatchOpened) {
			body := tb.changed(o, old, new)
			f := tb.first(canon.Digest("ludger/match/v1", []byte(w.origin), []byte(body)))
			tb.raw(f, "match.opened", body)
			rest(tb)
		})
	}
}

// changed returns the text of an opening of which a part was changed.
func (tb *table) changed(o *event.MatchOpened, old, new string) string {
	tb.w.t.Helper()
	e := tb.w.event(event.MatchStream(o.ID(tb.w.origin)), 0, event.Leaf{}, o)
	v, ok := e.Value().Get("body")
	body := string(v.Bytes())
	if !ok || !strings.Contains(body, old) {
		tb.w.t.Fatalf("no %s in %s", old, body)
	}
	return strings.Replace(body, old, new, 1)
}

func resignedAndSealed(tb *table) {
	tb.force(tb.resigned(0))
	tb.forceEnd()
}

// strange is the text of an opening with terms that are not known.
func (tb *table) strange() string {
	return tb.changed(tb.w.opening(nil, tb.players...), `"mode":"none"`, `"mode":"whim"`)
}

// addOrder returns the signature with the group order L added to S, which makes no difference to the
// equation.
func addOrder(s sign.Signature) sign.Signature {
	le := slices.Clone(s[32:])
	slices.Reverse(le)
	sum := new(big.Int).Add(new(big.Int).SetBytes(le), order).FillBytes(make([]byte, 32))
	slices.Reverse(sum)
	copy(s[32:], sum)
	return s
}

var forged = map[string][]scenario{
	"format": {
		{name: "nothing", catch: "format/json", hidden: allSteps, make: func(*world) string { return "" }},
		{name: "cut short", catch: "format/json", hidden: allSteps, make: func(w *world) string {
			text := resigned(w)
			return text[:len(text)-1]
		}},
		{name: "not canonical", catch: "format/json", hidden: allSteps, make: replaced("", `"events":`, `"events": `)},
		{name: "name twice", catch: "format/json", hidden: allSteps, make: replaced("", `"origin":`, `"origin":"vectors.example/log","origin":`)},
		{name: "member that means nothing", catch: "format/bundle", hidden: allSteps, make: replaced("", `"format":`, `"formal":true,"format":`)},
		{name: "empty proof", catch: "format/bundle", hidden: allSteps, make: func(w *world) string {
			text := resigned(w)
			return text[:strings.LastIndex(text, `"proof":`)] + `"proof":""}`
		}},
		{name: "origin that is an address", catch: "format/bundle", hidden: allSteps, make: replaced("", `"origin":"`, `"origin":"https://`)},
		{name: "event out of shape", catch: "format/event@4", hidden: allSteps, make: replaced(`"kind":"match.ended"`, `"seq":4`, `"seq":"4"`)},
		{name: "agent's event out of shape", catch: "format/agent", hidden: allSteps, make: replaced(`"agents":`, `"kind":"agent.registered"`, `"kind":"agent"`)},
		{name: "arena's event out of shape", catch: "format/arena", hidden: allSteps, make: func(w *world) string {
			return strings.Replace(admitted(w, nil), `"kind":"arena.admitted"`, `"kind":"arena"`, 1)
		}},
		{name: "agent with a member that means nothing", catch: "format/agent", hidden: allSteps, make: replaced(`"agents":`, `"proof":`, `"more":0,"proof":`)},
		{name: "no events", catch: "format/no-events", hidden: allSteps, make: func(w *world) string {
			return string((&replay.Bundle{Origin: w.origin}).Bytes())
		}},
		{name: "no events but a proof", catch: "format/no-events", hidden: allSteps, make: bundled(func(_ *table, b *replay.Bundle) {
			b.Events, b.Agents = nil, nil
		})},
		{name: "body out of shape", catch: "format/body@3", make: after("", func(tb *table) { tb.raw(tb.frame(), "match.aborted", `{"reason":""}`) })},
		{name: "body with a member too many", catch: "format/body@3", make: after("", func(tb *table) {
			tb.edited(tb.resigned(0), `"reason":"resigned"`, `"reason":"resigned","score":1`)
		})},
		{name: "second opening", catch: "format/body@3", make: after("", func(tb *table) {
			f := tb.frame()
			tb.take(tb.w.bend(tb.w.event(f.stream, 0, event.Leaf{}, tb.w.opening(nil, tb.players...)), f.stream, f.seq, f.prev))
		})},
		{name: "second opening, with terms that are not known", catch: "format/body@3", make: after("", func(tb *table) {
			tb.raw(tb.frame(), "match.opened", tb.strange())
		})},
		{name: "second opening as if it were the first, with terms that are not known", catch: "format/body@3", fails: "chain", make: after("", func(tb *table) {
			f := tb.frame()
			f.seq, f.prev = 0, event.Leaf{}
			tb.raw(f, "match.opened", tb.strange())
		})},
		{name: "no opening", catch: "format/body@0", hidden: allSteps, make: func(w *world) string {
			return unopened(w, func(tb *table, o *event.MatchOpened) {
				e := w.event(event.MatchStream(o.ID(w.origin)), 1, event.Leaf{7}, &event.MatchAborted{Reason: "it never began"})
				tb.take(w.bend(e, e.Stream, 0, event.Leaf{}))
			})
		}},
		{name: "kind of another stream", catch: "format/body@3", make: after("", func(tb *table) {
			tb.raw(tb.frame(), "agent.registered", `{"handle":"alice","key":"`+key("alice").Public().String()+`"}`)
		})},
	},
	"chain": {
		{name: "event of another match", catch: "chain/stream@3", make: frames(func(_ *table, f *frame) { f.stream = event.MatchStream(event.MatchID{7}) })},
		{name: "event of another match after an opening with terms that are not known", catch: "chain/stream@1", hidden: unread,
			make: opened(`"mode":"none"`, `"mode":"whim"`, func(tb *table) {
				body, f := tb.resigned(0), tb.frame()
				f.stream = event.MatchStream(event.MatchID{7})
				tb.put(f, body)
				tb.forceEnd()
			})},
		{name: "number left out", catch: "chain/seq@3", make: frames(func(_ *table, f *frame) { f.seq++ })},
		{name: "number given twice", catch: "chain/seq@3", make: frames(func(_ *table, f *frame) { f.seq-- })},
		{name: "names another event as the one before", catch: "chain/prev@3", make: frames(func(tb *table, f *frame) { f.prev = tb.events[1].Leaf() })},
		{name: "nothing but an unknown kind of event", catch: "chain/opening@0", hidden: allSteps, make: func(w *world) string {
			return unopened(w, func(tb *table, o *event.MatchOpened) {
				tb.raw(tb.first(o.ID(w.origin)), "match.whispered", `{}`)
			})
		}},
		{name: "unknown kind of event before the opening", catch: "chain/opening@0", fails: "format", hidden: but("inclusion"), make: func(w *world) string {
			return unopened(w, func(tb *table, o *event.MatchOpened) {
				f := tb.first(o.ID(w.origin))
				tb.raw(f, "match.whispered", `{}`)
				tb.take(w.bend(w.event(f.stream, 0, event.Leaf{}, o), f.stream, 1, tb.m.Last()))
				tb.force(tb.resigned(0))
				tb.forceEnd()
			})
		}},
		{name: "stream of no match", catch: "chain/stream@0", hidden: allSteps, make: func(w *world) string {
			return unopened(w, func(tb *table, _ *event.MatchOpened) {
				f := tb.frame()
				f.stream = event.LogStream
				tb.raw(f, "log.whispered", `{}`)
			})
		}},
		{name: "id of no opening", catch: "chain/match-id@0", hidden: "consent", make: func(w *world) string {
			return unopened(w, func(tb *table, o *event.MatchOpened) {
				tb.put(tb.first(event.MatchID{7}), o)
				tb.force(tb.resigned(0))
				tb.forceEnd()
			})
		}},
		{name: "id of the same opening in another log", catch: "chain/match-id@0", hidden: "consent", make: func(w *world) string {
			return unopened(w, func(tb *table, o *event.MatchOpened) {
				tb.put(tb.first(o.ID("other.example/log")), o)
				tb.force(tb.resigned(0))
				tb.forceEnd()
			})
		}},
	},
	"identity": {
		{name: "admission of no arena", catch: "identity/stray-admission", make: func(w *world) string {
			tb := w.duel()
			tb.resign(0)
			tb.end()
			b := tb.bundle()
			b.Arena = &replay.Proven{Event: *tb.players[0].event, Proof: b.Agents[0].Proof}
			return string(b.Bytes())
		}},
		{name: "admission of another arena", catch: "identity/admission@0", notes: "arena", make: func(w *world) string {
			other := w.event(event.ArenaStream("south-hall"), 0, event.Leaf{}, &event.ArenaAdmitted{Name: "south-hall", Key: key("south-hall").Public()})
			index := w.log(other)
			tb := w.open(func(o *event.MatchOpened) { o.Arena = &event.Arena{Name: "north-hall", Admitted: other.Leaf()} }, w.register("alice"), w.register("bob"))
			tb.ack(0)
			tb.ack(1)
			tb.resign(0)
			tb.end()
			b := tb.bundle()
			b.Arena = &replay.Proven{Event: other, Proof: w.prove(index, w.size(), w.note(w.size()))}
			return string(b.Bytes())
		}},
		{name: "admission behind the match", catch: "identity/admission@0", notes: "arena", make: func(w *world) string {
			e := w.event(event.ArenaStream("north-hall"), 0, event.Leaf{}, &event.ArenaAdmitted{Name: "north-hall", Key: key("north-hall").Public()})
			tb := w.open(func(o *event.MatchOpened) { o.Arena = &event.Arena{Name: "north-hall", Admitted: e.Leaf()} }, w.register("alice"), w.register("bob"))
			tb.ack(0)
			tb.ack(1)
			tb.resign(0)
			tb.end()
			tb.index = w.log(tb.events...)
			index := w.log(e)
			note := w.note(w.size())
			b := tb.proven(note)
			b.Arena = &replay.Proven{Event: e, Proof: w.prove(index, w.size(), note)}
			return string(b.Bytes())
		}},
		{name: "key for which anyone can sign", catch: "identity/weak-key@0", hidden: "consent", make: func(w *world) string {
			tb := w.open(func(o *event.MatchOpened) { o.Seats[1].Key = sign.PublicKey{1} }, unregistered("alice"), unregistered("bob"))
			tb.force(tb.resigned(0))
			tb.forceEnd()
			return whole(tb)
		}},
		{name: "registration signed by another key", catch: "identity/registration@0", make: registered(func(w *world) *agent {
			e := w.event(event.AgentStream("alice"), 0, event.Leaf{}, w.registration("alice", key("alice"), key("bob")))
			return &agent{handle: "alice", key: key("alice"), event: &e, index: w.log(e)}
		})},
		{name: "registration that nobody signed", catch: "identity/registration@0", make: registered(func(w *world) *agent {
			e := w.event(event.AgentStream("alice"), 0, event.Leaf{}, &event.AgentRegistered{Handle: "alice", Key: key("alice").Public()})
			return &agent{handle: "alice", key: key("alice"), event: &e, index: w.log(e)}
		})},
		{name: "registration signed for another log", catch: "identity/registration@0", make: registered(func(w *world) *agent {
			e := w.event(event.AgentStream("alice"), 0, event.Leaf{}, newWorld(w.t, "other.example/log").registration("alice", key("alice"), key("alice")))
			return &agent{handle: "alice", key: key("alice"), event: &e, index: w.log(e)}
		})},
		{name: "second registration of the handle", catch: "identity/registration@0", make: registered(func(w *world) *agent {
			owner := w.register("alice")
			e := w.event(event.AgentStream("alice"), 0, event.Leaf{}, w.registration("alice", key("thief"), key("thief")))
			e = w.bend(e, e.Stream, 1, owner.event.Leaf())
			return &agent{handle: "alice", key: key("thief"), event: &e, index: w.log(e)}
		})},
		{name: "registration in the stream of another handle", catch: "identity/registration@0", make: registered(func(w *world) *agent {
			e := w.event(event.AgentStream("alice"), 0, event.Leaf{}, w.registration("alice", key("alice"), key("alice")))
			e = w.bend(e, event.AgentStream("mallory"), 0, event.Leaf{})
			return &agent{handle: "alice", key: key("alice"), event: &e, index: w.log(e)}
		})},
		{name: "registration of another handle", catch: "identity/registration@0", make: registered(func(w *world) *agent {
			a := w.register("mallory")
			a.handle = "alice"
			return a
		})},
		{name: "registration of another key", catch: "identity/registration@0", make: registered(func(w *world) *agent {
			a := w.register("alice")
			a.key = key("thief")
			return a
		})},
		{name: "registration that is none", catch: "identity/registration@0", make: registered(func(w *world) *agent {
			e := w.event(event.AgentStream("alice"), 0, event.Leaf{}, w.registration("alice", key("alice"), key("alice")))
			e, err := event.Parse([]byte(strings.Replace(string(e.Raw()), "agent.registered", "agent.remembered", 1)))
			if err != nil {
				w.t.Fatal(err)
			}
			return &agent{handle: "alice", key: key("alice"), event: &e, index: w.log(e)}
		})},
		{name: "registration logged after the match", catch: "identity/registration@0", make: func(w *world) string {
			tb := w.duel()
			tb.resign(0)
			tb.end()
			w.leaves, w.raws = nil, nil
			tb.index = w.log(tb.events...)
			for _, p := range tb.players {
				p.index = w.log(*p.event)
			}
			return string(tb.proven(w.note(w.size())).Bytes())
		}},
		{name: "registration that was never logged", catch: "identity/registration@0", make: registered(func(w *world) *agent {
			e := w.event(event.AgentStream("alice"), 0, event.Leaf{}, w.registration("alice", key("alice"), key("alice")))
			return &agent{handle: "alice", key: key("alice"), event: &e, index: 2}
		})},
		{name: "proof of another registration", catch: "identity/registration@0", make: bundled(func(_ *table, b *replay.Bundle) {
			b.Agents[0].Proof = b.Agents[1].Proof
		})},
		{name: "registration of no seat", catch: "identity/stray-registration", make: bundled(func(tb *table, b *replay.Bundle) {
			e, err := event.Parse(tb.w.raws[1])
			if err != nil {
				tb.w.t.Fatal(err)
			}
			b.Agents = append(b.Agents, replay.Proven{Event: e, Proof: tb.w.prove(1, tb.w.size(), tb.w.note(tb.w.size()))})
		})},
		{name: "registration twice in the bundle", catch: "identity/stray-registration", make: bundled(func(_ *table, b *replay.Bundle) {
			b.Agents = append(b.Agents, b.Agents[0])
		})},
	},
	"consent": {
		{name: "acknowledgement of a match that is over", catch: "consent/ack-late@3", make: func(w *world) string {
			tb := w.open(nil, w.register("alice"), w.register("bob"))
			tb.ack(0)
			tb.force(tb.resigned(0))
			tb.force(tb.acked(1))
			tb.forceEnd()
			return whole(tb)
		}},
		{name: "acknowledgement twice", catch: "consent/ack-twice@3", make: forges("", func(tb *table) event.Body { return tb.acked(1) })},
		{name: "acknowledgement signed by the opponent", catch: "consent/ack-signature@1", make: func(w *world) string {
			tb := w.open(nil, w.register("alice"), w.register("bob"))
			ack := tb.acked(1)
			ack.Seat = 0
			tb.force(ack)
			tb.ack(1)
			tb.force(tb.resigned(0))
			tb.forceEnd()
			return whole(tb)
		}},
		{name: "acknowledgement of another match", catch: "consent/ack-signature@1", make: func(w *world) string {
			alice, bob := w.register("alice"), w.register("bob")
			other, tb := w.open(nil, alice, bob), w.open(nil, alice, bob)
			tb.force(other.acked(0))
			tb.ack(1)
			tb.force(tb.resigned(0))
			tb.forceEnd()
			return whole(tb)
		}},
	},
	"signatures": {
		{name: "move signed for another match", catch: "signatures/other-match@3",
			make: forges("", moved(func(s *event.SignedMove) { s.Move, s.GameID = "e4", event.MatchID{7} }, nil))},
		{name: "move signed for another turn", catch: "signatures/other-turn@3",
			make: forges("", moved(func(s *event.SignedMove) { s.Move, s.TurnIndex = "e4", 2 }, nil))},
		{name: "move played before, replayed", catch: "signatures/other-turn@7", notes: "unbound-moves", make: func(w *world) string {
			tb := w.duel()
			tb.moves("Nf3 Nf6 Ng1 Ng8")
			body, err := tb.events[3].Body()
			if err != nil {
				w.t.Fatal(err)
			}
			tb.force(tb.played(0, body.(*event.MovePlayed).Signed))
			tb.force(tb.resigned(1))
			tb.forceEnd()
			return whole(tb)
		}},
		{name: "move signed by the opponent", catch: "signatures/bad-signature@3",
			make: forges("", func(tb *table) event.Body { return tb.played(0, tb.cheat(key("bob"), text("e4"))) })},
		{name: "resignation signed by the opponent", catch: "signatures/bad-signature@3", make: forges("", func(tb *table) event.Body {
			s := tb.cheat(key("bob"), resign)
			return &event.MatchForfeited{Seat: 0, Reason: engine.Resigned, Signed: &s}
		})},
		{name: "acceptance of a draw signed by the one who offers", catch: "signatures/bad-signature@4", make: func(w *world) string {
			tb := w.duel()
			tb.move(offer("e4"))
			tb.force(&event.DrawAgreed{Seat: 1, Signed: tb.cheat(key("alice"), accept)})
			tb.forceEnd()
			return whole(tb)
		}},
		{name: "move changed after it was signed", catch: "signatures/bad-signature@3", make: after("", func(tb *table) {
			tb.edited(moved(text("Nf3"), as("b1c3"))(tb), `"move":"Nf3"`, `"move":"Nc3"`)
		})},
		{name: "commentary added after it was signed", catch: "signatures/bad-signature@3", make: after("", func(tb *table) {
			tb.edited(moved(text("e4"), nil)(tb), `"signed":{`, `"signed":{"commentary":"I saw that coming",`)
		})},
		{name: "signature with the group order added", catch: "signatures/bad-signature@3", make: after("", func(tb *table) {
			b := tb.played(0, tb.signed(0, text("e4")))
			other := addOrder(b.Signed.Signature)
			tb.edited(b, b.Signed.Signature.String(), hex.EncodeToString(other[:]))
		})},
		{name: "player saw an event of another history", catch: "signatures/other-history@3", notes: "unbound-moves",
			make: forges("", moved(func(s *event.SignedMove) { s.Move, s.Seen = "e4", &event.Leaf{7} }, nil))},
		{name: "player saw the opening of another match", catch: "signatures/other-history@3", notes: "unbound-moves", make: forges("", func(tb *table) event.Body {
			leaf := tb.w.open(nil, tb.players...).events[0].Leaf()
			return moved(func(s *event.SignedMove) { s.Move, s.Seen = "e4", &leaf }, nil)(tb)
		})},
	},
	"chance": forgedChance,
	"rules":  forgedRules,
	"clock": {
		{name: "time runs back", catch: "clock/time-runs-back@3", make: frames(func(tb *table, f *frame) { f.at = tb.events[2].At - 1 })},
		{name: "move after the time was over", catch: "clock/late@4", make: forges("e4", func(tb *table) event.Body {
			tb.w.now += moveMS
			return tb.played(1, tb.signed(1, text("e5")))
		})},
		{name: "draw accepted after the time was over", catch: "clock/late@4", make: func(w *world) string {
			tb := w.duel()
			tb.move(offer("e4"))
			w.now += moveMS
			tb.force(&event.DrawAgreed{Seat: 1, Signed: tb.signed(1, accept)})
			tb.forceEnd()
			return whole(tb)
		}},
		{name: "time-out before the time was over", catch: "clock/not-late@3", notes: "time-forfeit", make: forges("", func(tb *table) event.Body {
			tb.w.now = tb.events[0].At + moveMS - 1000
			return &event.MatchForfeited{Seat: 0, Reason: engine.OutOfTime}
		})},
		{name: "time-out without a clock", catch: "clock/no-clock@1", hidden: "consent", notes: "time-forfeit", make: func(w *world) string {
			tb := w.open(func(o *event.MatchOpened) { o.MoveMS = 0 }, w.register("alice"), w.register("bob"))
			w.now += 1000 * moveMS
			tb.force(&event.MatchForfeited{Seat: 0, Reason: engine.OutOfTime})
			tb.forceEnd()
			return whole(tb)
		}},
	},
	"closure": {
		{name: "event after the seal", catch: "closure/after-seal@6", hidden: "inclusion", make: func(w *world) string {
			tb := w.duel()
			tb.resign(0)
			tb.end()
			tb.force(&event.MatchAborted{Reason: "too late"})
			return whole(tb)
		}},
		{name: "unknown kind of event after the seal", catch: "closure/after-seal@6", hidden: "inclusion", make: func(w *world) string {
			tb := w.duel()
			tb.resign(0)
			tb.end()
			tb.raw(tb.frame(), "match.whispered", `{}`)
			return whole(tb)
		}},
		{name: "sealed before its end", catch: "closure/seal-early@4", make: func(w *world) string {
			tb := w.duel()
			tb.resign(0)
			tb.force(tb.sealed())
			return whole(tb)
		}},
		{name: "sealed twice", catch: "closure/after-seal@6", make: func(w *world) string {
			tb := w.duel()
			tb.resign(0)
			tb.end()
			tb.force(tb.sealed())
			return whole(tb)
		}},
		{name: "seal counts one event less", catch: "closure/count@5", make: func(w *world) string {
			tb := w.duel()
			tb.resign(0)
			tb.force(tb.ended())
			b := tb.sealed()
			b.Count--
			tb.force(b)
			return whole(tb)
		}},
		{name: "seal's root is of other events, after an opening with terms that are not known", catch: "closure/match-root@2", hidden: unread,
			make: opened(`"mode":"none"`, `"mode":"whim"`, func(tb *table) {
				b := tb.sealed()
				tb.force(tb.resigned(0))
				b.Count = tb.m.Len()
				tb.force(b)
			})},
		{name: "seal's root is of other events", catch: "closure/match-root@5", make: func(w *world) string {
			tb := w.duel()
			tb.resign(0)
			b := tb.sealed()
			tb.force(tb.ended())
			b.Count = tb.m.Len()
			tb.force(b)
			return whole(tb)
		}},
	},
	"inclusion": {
		{name: "proof of another entry", catch: "inclusion/proof@5", make: bundled(func(tb *table, b *replay.Bundle) {
			b.Proof = tb.w.prove(tb.w.size()-2, tb.w.size(), tb.w.note(tb.w.size()))
		})},
		{name: "proof of an entry that the checkpoint does not reach", catch: "inclusion/proof@5", make: reproved(func(tb *table, p *proof.Proof) {
			p.Checkpoint = tb.w.note(tb.w.size() - 1)
		})},
		{name: "registrations under another checkpoint", catch: "inclusion/two-checkpoints@5", make: bundled(func(tb *table, b *replay.Bundle) {
			tb.w.register("late")
			tb.agentProofs(b, tb.w.note(tb.w.size()))
		})},
		{name: "only the seal was logged", catch: "inclusion/index@3", hidden: "identity consent", make: func(w *world) string {
			tb := w.open(nil, unregistered("alice"), unregistered("bob"))
			tb.resign(0)
			tb.end()
			w.leaves, w.raws = nil, nil
			index := w.log(tb.events[len(tb.events)-1])
			b := &replay.Bundle{Origin: w.origin, Events: tb.events, Proof: w.prove(index, w.size(), w.note(w.size()))}
			return string(b.Bytes())
		}},
		{name: "checkpoint of another size", catch: "inclusion/proof@5", make: reproved(func(tb *table, p *proof.Proof) {
			tb.w.register("late")
			p.Checkpoint = tb.w.note(tb.w.size())
		})},
		{name: "checkpoint of another log", catch: "inclusion/proof@5", make: reproved(func(tb *table, p *proof.Proof) {
			other := newWorld(tb.w.t, "other.example/log")
			other.leaves = tb.w.leaves
			p.Checkpoint = other.note(tb.w.size())
		})},
		{name: "checkpoint in the log's name by another key", catch: "inclusion/proof@5", make: reproved(func(tb *table, p *proof.Proof) {
			fake := *tb.w
			fake.signer = newSigner(tb.w, seed("fake"))
			p.Checkpoint = fake.note(tb.w.size())
		})},
		{name: "checkpoint changed after it was signed", catch: "inclusion/proof@5", make: reproved(func(tb *table, p *proof.Proof) {
			n, err := checkpoint.ParseNote(p.Checkpoint)
			if err != nil {
				tb.w.t.Fatal(err)
			}
			c, err := checkpoint.Parse(n.Text)
			if err != nil {
				tb.w.t.Fatal(err)
			}
			c.Root[0] ^= 1
			n.Text = c.Text()
			p.Checkpoint = n.Format()
		})},
		{name: "proof with extra data", catch: "inclusion/proof@5", make: reproved(func(_ *table, p *proof.Proof) { p.Extra = []byte("hello") })},
		{name: "proof of another index", catch: "inclusion/proof@5", make: reproved(func(_ *table, p *proof.Proof) { p.Index-- })},
		{name: "proof with a hash left out", catch: "inclusion/proof@5", make: reproved(func(_ *table, p *proof.Proof) { p.Hashes = p.Hashes[1:] })},
		{name: "proof with a hash too many", catch: "inclusion/proof@5", make: reproved(func(_ *table, p *proof.Proof) { p.Hashes = append(p.Hashes, [32]byte{}) })},
		{name: "proof that is none", catch: "inclusion/proof@5", make: bundled(func(_ *table, b *replay.Bundle) { b.Proof = "trust me\n" })},
		{name: "match that was never logged", catch: "inclusion/proof@5", make: func(w *world) string {
			tb := w.duel()
			tb.resign(0)
			tb.end()
			tb.index = w.size() - 1
			note := w.note(w.size())
			b := &replay.Bundle{Origin: w.origin, Events: tb.events, Proof: w.prove(tb.index, w.size(), note)}
			for _, p := range tb.players {
				b.Agents = append(b.Agents, replay.Proven{Event: *p.event, Proof: w.prove(p.index, w.size(), note)})
			}
			return string(b.Bytes())
		}},
		{name: "proof of a match that is not sealed", catch: "inclusion/not-the-seal@3", hidden: "closure", make: func(w *world) string {
			tb := w.duel()
			tb.moves("e4")
			b := tb.bundle()
			b.Proof = tb.sealProof(w.size(), w.note(w.size()))
			return string(b.Bytes())
		}},
	},
}

func newSigner(w *world, seed [32]byte) *checkpoint.Signer {
	s, err := checkpoint.NewSigner(w.origin, seed)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}
