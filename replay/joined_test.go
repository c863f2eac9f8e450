package replay_test

import (
	"ludger/ledger/event"
	"ludger/ledger/sign"
	"ludger/replay"
)

// wish is the request of an agent to play; signer signs it.
func (w *world) wish(a *agent, signer sign.PrivateKey, body string) *event.LobbyJoined {
	w.t.Helper()
	msg, err := sign.RequestMessage(a.handle, challenge, "POST", event.JoinPath, []byte(body))
	if err != nil {
		w.t.Fatal(err)
	}
	join, err := event.ParseJoin([]byte(body))
	if err != nil {
		w.t.Fatal(err)
	}
	return &event.LobbyJoined{Join: join, Request: event.Request{Path: event.JoinPath, Challenge: challenge, Body: body, Signature: signer.Sign(msg)}}
}

var challenge = sign.ChallengePrefix(origin) + "c0ffee"

const wishesChess = `{"game":"chess","variant":"standard","division":"assisted"}`

// A joined match is one whose seats asked to play.
type joined struct {
	*table
	wishes  []event.Event
	indexes []int64
}

// join begins a match of two agents that asked for it and do not acknowledge it; edit may change what each
// of them asked for.
func (w *world) join(edit func(seat int, a *agent) *event.LobbyJoined) joined {
	w.t.Helper()
	j := joined{}
	players := []*agent{w.register("alice"), w.register("bob")}
	for i, p := range players {
		wish := w.wish(p, p.key, wishesChess)
		if edit != nil {
			if other := edit(i, p); other != nil {
				wish = other
			}
		}
		e := w.event(event.AgentStream(p.handle), 1, p.event.Leaf(), wish)
		j.wishes = append(j.wishes, e)
		j.indexes = append(j.indexes, w.log(e))
	}
	j.table = w.open(func(o *event.MatchOpened) {
		for i := range o.Seats {
			leaf := j.wishes[i].Leaf()
			o.Seats[i].Joined = &leaf
		}
	}, players...)
	return j
}

// bundle is table.bundle with the wishes.
func (j joined) bundle() *replay.Bundle {
	b := j.table.bundle()
	note := j.w.note(j.w.size())
	for i, e := range j.wishes {
		b.Joins = append(b.Joins, replay.Proven{Event: e, Proof: j.w.prove(j.indexes[i], j.w.size(), note)})
	}
	return b
}

// resignedJoin plays a short joined match; edit may change its bundle.
func resignedJoin(wish func(w *world, seat int, a *agent) *event.LobbyJoined, edit func(j joined, b *replay.Bundle)) func(*world) string {
	return func(w *world) string {
		j := w.join(func(seat int, a *agent) *event.LobbyJoined {
			if wish == nil {
				return nil
			}
			return wish(w, seat, a)
		})
		j.resign(0)
		j.end()
		b := j.bundle()
		if edit != nil {
			edit(j, b)
		}
		return string(b.Bytes())
	}
}

var joinedValid = []scenario{
	{name: "seats that asked to play", make: resignedJoin(nil, nil)},
	{name: "a seat without a registration that asked to play", make: anonymous},
	{name: "a seat that asked to play this version, and one that acknowledged too", make: func(w *world) string {
		j := w.join(func(seat int, a *agent) *event.LobbyJoined {
			if seat == 1 {
				return w.wish(a, a.key, `{"division": "assisted", "game": "chess@1", "variant": "standard"}`)
			}
			return nil
		})
		j.ack(1)
		j.resign(0)
		j.end()
		return string(j.bundle().Bytes())
	}},
}

// anonymous is a seat that nobody registered with a statement: its request to play shows whose it is.
func anonymous(w *world) string {
	alice, guest := w.register("alice"), unregistered("guest")
	e := w.event(event.AgentStream("guest"), 0, event.Leaf{}, &event.AgentRegistered{Handle: "guest", Key: guest.key.Public(), Operator: &[32]byte{1}})
	w.log(e)
	wish := w.event(event.AgentStream("guest"), 1, e.Leaf(), w.wish(guest, guest.key, wishesChess))
	j := joined{wishes: []event.Event{wish}, indexes: []int64{w.log(wish)}}
	leaf := wish.Leaf()
	j.table = w.open(func(o *event.MatchOpened) { o.Seats[1].Joined = &leaf }, alice, guest)
	j.ack(0)
	j.resign(0)
	j.end()
	return string(j.bundle().Bytes())
}

var joinedUnchecked = []scenario{
	{name: "request to play left out of the bundle", catch: "consent/join-missing@0", make: resignedJoin(nil, func(_ joined, b *replay.Bundle) { b.Joins = b.Joins[:1] })},
}

var forgedJoins = []scenario{
	{name: "request to play another variant", catch: "consent/join@0", make: resignedJoin(func(w *world, seat int, a *agent) *event.LobbyJoined {
		return w.wish(a, a.key, `{"game":"chess","variant":"chess960","division":"assisted"}`)
	}, nil)},
	{name: "request to play in another division", catch: "consent/join@0", make: resignedJoin(func(w *world, seat int, a *agent) *event.LobbyJoined {
		return w.wish(a, a.key, `{"game":"chess","variant":"standard","division":"unassisted"}`)
	}, nil)},
	{name: "request to play for a challenge of another hall", catch: "consent/join@0", make: resignedJoin(func(w *world, seat int, a *agent) *event.LobbyJoined {
		wish := w.wish(a, a.key, wishesChess)
		wish.Request.Challenge = sign.ChallengePrefix("other.example/log") + "c0ffee"
		msg, err := sign.RequestMessage(a.handle, wish.Request.Challenge, "POST", event.JoinPath, []byte(wishesChess))
		if err != nil {
			w.t.Fatal(err)
		}
		wish.Request.Signature = a.key.Sign(msg)
		return wish
	}, nil)},
	{name: "request to play signed by another", catch: "consent/join@0", make: resignedJoin(func(w *world, seat int, a *agent) *event.LobbyJoined {
		return w.wish(a, key("mallory"), wishesChess)
	}, nil)},
	{name: "request to play of another agent", catch: "consent/join@0", make: func(w *world) string {
		carol := w.register("zoe")
		e := w.event(event.AgentStream("zoe"), 1, carol.event.Leaf(), w.wish(carol, carol.key, wishesChess))
		index := w.log(e)
		leaf := e.Leaf()
		tb := w.open(func(o *event.MatchOpened) { o.Seats[0].Joined = &leaf }, w.register("alice"), w.register("bob"))
		tb.ack(0)
		tb.ack(1)
		tb.resign(0)
		tb.end()
		b := tb.bundle()
		b.Joins = []replay.Proven{{Event: e, Proof: w.prove(index, w.size(), w.note(w.size()))}}
		return string(b.Bytes())
	}},
	{name: "registration in the place of a request to play", catch: "consent/join@0", make: func(w *world) string {
		tb := w.open(func(o *event.MatchOpened) { o.Seats[0].Joined = o.Seats[0].Registered }, w.register("alice"), w.register("bob"))
		tb.ack(0)
		tb.ack(1)
		tb.resign(0)
		tb.end()
		b := tb.bundle()
		b.Joins = b.Agents[:1:1]
		return string(b.Bytes())
	}},
	{name: "proof of another request to play", catch: "consent/join@0", make: resignedJoin(nil, func(_ joined, b *replay.Bundle) { b.Joins[0].Proof = b.Joins[1].Proof })},
	{name: "request to play that no seat names", catch: "consent/stray-join", make: resignedJoin(nil, func(_ joined, b *replay.Bundle) { b.Joins = append(b.Joins, b.Joins[1]) })},
}
