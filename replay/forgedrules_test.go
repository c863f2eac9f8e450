package replay_test

import (
	"ludger/engine"
	"ludger/ledger/event"
)

var forgedRules = []scenario{
	{name: "variant that the game has not", catch: "rules/setup@0", hidden: "chance clock consent", make: func(w *world) string {
		tb := w.open(func(o *event.MatchOpened) { o.Variant = "losers" }, w.register("alice"), w.register("bob"))
		tb.forceEnd()
		return whole(tb)
	}},
	{name: "start position without a king", catch: "rules/setup@0", hidden: "chance clock consent", notes: "start", make: func(w *world) string {
		tb := w.open(func(o *event.MatchOpened) { o.Start = "4k3/8/8/8/8/8/8/7R w - - 0 1" }, w.register("alice"), w.register("bob"))
		tb.forceEnd()
		return whole(tb)
	}},
	{name: "start position that is over", catch: "rules/setup@0", hidden: "consent", notes: "start", make: func(w *world) string {
		tb := w.open(func(o *event.MatchOpened) { o.Start = "k7/8/1Q6/8/8/8/8/K7 b - - 0 1" }, w.register("alice"), w.register("bob"))
		tb.forceEnd()
		return whole(tb)
	}},
	{name: "acceptance of an offer that was not seen", catch: "rules/unseen-offer@4", notes: "unbound-moves", make: after("", func(tb *table) {
		before := tb.m.Last()
		tb.move(offer("e4"))
		tb.force(&event.DrawAgreed{Seat: 1, Signed: tb.signed(1, func(s *event.SignedMove) { s.DrawOffer, s.Seen = true, &before })})
	})},
	{name: "default move in a game that knows none", catch: "rules/no-default@3", notes: "default-moves", make: after("", func(tb *table) {
		tb.w.now += 2 * moveMS
		tb.force(&event.MoveDefaulted{Seat: 0, Move: "e2e4"})
	})},
	{name: "three seats", catch: "rules/setup@0", hidden: "chance clock consent", make: func(w *world) string {
		tb := w.open(nil, w.register("alice"), w.register("bob"), w.register("trent"))
		tb.forceEnd()
		return whole(tb)
	}},
	{name: "move after a resignation", catch: "rules/match-over@4", make: func(w *world) string {
		tb := w.duel()
		tb.resign(1)
		tb.force(tb.played(0, tb.signed(0, text("e4"))))
		tb.forceEnd()
		return whole(tb)
	}},
	{name: "resignation after mate", catch: "rules/match-over@7", make: forges("f3 e5 g4 Qh4", func(tb *table) event.Body { return tb.resigned(1) })},
	{name: "aborted after its end", catch: "rules/match-over@5", make: func(w *world) string {
		tb := w.duel()
		tb.resign(0)
		tb.force(tb.ended())
		tb.force(&event.MatchAborted{Reason: "the loser asked for it"})
		tb.force(tb.sealed())
		return whole(tb)
	}},
	{name: "adjudicated against the board", catch: "rules/match-over@7", make: forges("f3 e5 g4 Qh4", func(*table) event.Body {
		return &event.MatchAdjudicated{Returns: []int64{1, -1}, Rule: "the hall's favourite wins"}
	})},
	{name: "move of a seat that is not there", catch: "rules/no-seat@3", make: forges("", func(tb *table) event.Body {
		return &event.MovePlayed{Seat: 2, Move: "e2e4", Signed: tb.signed(0, text("e4"))}
	})},
	{name: "time-out of a seat that is not there", catch: "rules/no-seat@3", make: forges("", func(*table) event.Body {
		return &event.MatchForfeited{Seat: 2, Reason: engine.OutOfTime}
	})},
	{name: "acknowledgement of a seat that is not there", catch: "rules/no-seat@3", make: forges("", func(tb *table) event.Body {
		return &event.SeatAcked{Seat: 7, Signature: tb.acked(0).Signature}
	})},
	{name: "move logged for another turn", catch: "rules/turn@3",
		make: forges("", moved(text("e4"), func(_ *table, b *event.MovePlayed) { b.Turn = 1 }))},
	{name: "draw offered and accepted, but played on", catch: "rules/agreement-ignored@4", make: func(w *world) string {
		tb := w.duel()
		tb.move(offer("e4"))
		tb.force(tb.played(1, tb.signed(1, offer("e5"))))
		tb.force(tb.resigned(0))
		tb.forceEnd()
		return whole(tb)
	}},
	{name: "signed text is no move here", catch: "rules/signed-move@3", make: forges("", moved(text("Nd4"), as("e2e4")))},
	{name: "signed text fits two moves", catch: "rules/signed-move@7", make: forges("Nf3 Nf6 d3 d6", moved(text("Nd2"), as("b1d2")))},
	{name: "signed index is not in the list", catch: "rules/signed-move@3", make: forges("", moved(func(s *event.SignedMove) {
		i := int64(20)
		s.Index = &i
	}, as("e2e4")))},
	{name: "signed body without a move", catch: "rules/signed-move@3", make: forges("", moved(accept, as("e2e4")))},
	{name: "resignation logged as a move", catch: "rules/signed-move@3", make: forges("", moved(resign, as("e2e4")))},
	{name: "another move than the signed one", catch: "rules/other-move@3", make: forges("", moved(text("e2e4"), as("d2d4")))},
	{name: "another move than the signed index", catch: "rules/other-move@3", make: forges("", moved(func(s *event.SignedMove) {
		i := int64(0)
		s.Index = &i
	}, as("d2d4")))},
	{name: "illegal move", catch: "rules/illegal-move@3", make: forges("", moved(text("e2e5"), nil))},
	{name: "king left in check", catch: "rules/illegal-move@8", make: forges("e4 f6 a3 a6 Qh5", func(tb *table) event.Body {
		return tb.played(1, tb.signed(1, text("a6a5")))
	})},
	{name: "move in a player's notation logged as it is", catch: "rules/illegal-move@3",
		make: forges("", moved(text("Nf3"), func(_ *table, b *event.MovePlayed) { b.Move = "Nf3" }))},
	{name: "move of the seat not on turn", catch: "rules/illegal-move@3", make: forges("", func(tb *table) event.Body {
		return tb.played(1, tb.signed(1, text("e7e5")))
	})},
	{name: "claim that is not right", catch: "rules/illegal-move@3", make: forges("", moved(text("claim"), nil))},
	{name: "another position than the move's", catch: "rules/state@3",
		make: forges("", moved(text("e4"), func(_ *table, b *event.MovePlayed) { b.State[15] ^= 1 }))},
	{name: "another final position", catch: "rules/state@4", make: func(w *world) string {
		tb := w.duel()
		tb.resign(0)
		b := tb.ended()
		b.State[0] ^= 1
		tb.force(b)
		tb.force(tb.sealed())
		return whole(tb)
	}},
	{name: "draw accepted by a body that does not", catch: "rules/no-acceptance@4", make: func(w *world) string {
		tb := w.duel()
		tb.move(offer("e4"))
		tb.force(&event.DrawAgreed{Seat: 1, Signed: tb.signed(1, text("e5"))})
		tb.forceEnd()
		return whole(tb)
	}},
	{name: "draw that nobody offered", catch: "rules/no-offer@4", make: forges("e4", func(tb *table) event.Body {
		return &event.DrawAgreed{Seat: 1, Signed: tb.signed(1, accept)}
	})},
	{name: "own offer accepted", catch: "rules/no-offer@4", make: func(w *world) string {
		tb := w.duel()
		tb.move(offer("e4"))
		tb.force(&event.DrawAgreed{Seat: 0, Signed: tb.signed(0, accept)})
		tb.forceEnd()
		return whole(tb)
	}},
	{name: "offer accepted after the opponent moved on", catch: "rules/no-offer@6", make: func(w *world) string {
		tb := w.duel()
		tb.move(offer("e4"))
		tb.moves("e5 Nf3")
		tb.force(&event.DrawAgreed{Seat: 1, Signed: tb.signed(1, accept)})
		tb.forceEnd()
		return whole(tb)
	}},
	{name: "resignation by a body that moves", catch: "rules/no-resignation@3", make: forges("", func(tb *table) event.Body {
		s := tb.signed(0, text("e4"))
		return &event.MatchForfeited{Seat: 0, Reason: engine.Resigned, Signed: &s}
	})},
	{name: "time-out of the seat not on turn", catch: "rules/not-on-turn@3", notes: "time-forfeit", make: forges("", func(tb *table) event.Body {
		tb.w.now += moveMS
		return &event.MatchForfeited{Seat: 1, Reason: engine.OutOfTime}
	})},
	{name: "winner and loser swapped", catch: "rules/outcome@4", make: func(w *world) string {
		tb := w.duel()
		tb.resign(0)
		b := tb.ended()
		b.Outcome.Returns = []int64{1, -1}
		tb.force(b)
		tb.force(tb.sealed())
		return whole(tb)
	}},
	{name: "another reason than the board's", catch: "rules/outcome@7", make: func(w *world) string {
		tb := w.duel()
		tb.moves("f3 e5 g4 Qh4")
		b := tb.ended()
		b.Outcome.Reason = engine.Resigned
		tb.force(b)
		tb.force(tb.sealed())
		return whole(tb)
	}},
	{name: "outcome for three", catch: "rules/outcome@3", notes: "adjudicated", make: forges("", func(*table) event.Body {
		return &event.MatchAdjudicated{Returns: []int64{1, 0, -1}, Rule: "the hall's favourite wins"}
	})},
	{name: "ended before anything decided it", catch: "rules/not-decided@4", make: func(w *world) string {
		tb := w.duel()
		tb.moves("e4")
		tb.forceEnd()
		return whole(tb)
	}},
	{name: "ended twice", catch: "rules/not-decided@5", make: func(w *world) string {
		tb := w.duel()
		tb.resign(0)
		tb.force(tb.ended())
		tb.forceEnd()
		return whole(tb)
	}},
	{name: "aborted and then won", catch: "rules/not-decided@4", notes: "aborted", make: func(w *world) string {
		tb := w.duel()
		tb.force(&event.MatchAborted{Reason: "rain"})
		tb.force(&event.MatchEnded{Outcome: engine.Outcome{Returns: []int64{1, -1}, Reason: engine.Resigned}, State: digest(tb.m.Position())})
		tb.force(tb.sealed())
		return whole(tb)
	}},
}
