package main

import (
	"context"
	"errors"
	"fmt"

	"ludger/api/client"
	"ludger/api/wire"
	"ludger/checkpoint/beacon"
	"ludger/engine"
	"ludger/engine/catalog"
	"ludger/engine/chance"
	"ludger/ledger/event"
	"ludger/ledger/sign"
)

// A bot plays any game: one of the legal moves, each as likely as the other.
type bot struct {
	handle string
	key    sign.PrivateKey
	random *chance.Stream
}

func newBot(seed []byte, handle string) *bot {
	key := sign.DeriveKey(seed, handle)
	return &bot{handle, key, chance.New([32]byte(key.Public()), "bot")}
}

// choose returns the bot's move in canonical notation.
func (b *bot) choose(p engine.Position, seat engine.Seat) string {
	if s, ok := p.(engine.Sampler); ok && s.Unlisted(seat) {
		return s.Sample(seat, b.random)
	}
	legal := p.Legal(seat)
	return legal[b.random.Intn(len(legal))].Move
}

// A contest is a match that an arena plays over HTTP: it knows the rules and what its players hide.
type contest struct {
	*client.Client
	origin string
	live   bool // rolls are called
	chain  beacon.Info
	bots   []*bot
	id     event.MatchID
	opened event.Leaf
	last   event.Leaf
	length int64
	turn   int64
	pos    engine.Position
	beacon bool // the round that the match waits for is recorded
	over   bool // the match is sealed
}

// play plays a match to its end and returns its id. The bots state that they want their handles,
// acknowledge the match, and sign every move.
func play(ctx context.Context, c *client.Client, origin, id, variant string, bots ...*bot) (event.MatchID, error) {
	game, err := catalog.Game(id)
	if err != nil {
		return event.MatchID{}, err
	}
	m := &contest{Client: c, origin: origin, bots: bots}
	if m.pos, err = game.New(engine.Setup{Variant: variant, Seats: len(bots)}); err != nil {
		return event.MatchID{}, err
	}
	if err := m.open(ctx, id, variant); err != nil {
		return event.MatchID{}, err
	}
	if err := m.begin(ctx); err != nil {
		return event.MatchID{}, err
	}
	for !m.over {
		seats := m.pos.Turn().Seats()
		if len(seats) == 0 {
			return event.MatchID{}, fmt.Errorf("match %v: nobody is on turn, and the hall does not end it", m.id)
		}
		seat := seats[0]
		b := m.bots[seat]
		signed, err := event.SignedMove{GameID: m.id, TurnIndex: m.turn, Move: b.choose(m.pos, seat), Seen: &m.last}.Sign(b.key)
		if err != nil {
			return event.MatchID{}, err
		}
		if err := m.say(ctx, &event.MovePlayed{Seat: seat, Signed: signed}); err != nil {
			return event.MatchID{}, err
		}
	}
	return m.id, nil
}

func (m *contest) open(ctx context.Context, game, variant string) error {
	o := &wire.Open{Game: game, Variant: variant, Division: "assisted", Live: m.live}
	for _, b := range m.bots {
		msg, err := sign.AgentMessage(m.origin, b.handle, b.key.Public())
		if err != nil {
			return err
		}
		statement := b.key.Sign(msg)
		o.Seats = append(o.Seats, wire.Seat{Handle: b.handle, Key: b.key.Public(), Statement: &statement, House: true})
	}
	a, err := m.Client.Open(ctx, "", o)
	if err != nil {
		return err
	}
	m.id, m.opened = a.Match, a.Events[0].Leaf()
	return m.follow(a.Events[0], nil)
}

// begin acknowledges the match for every seat, and waits for what the hall adds before the first move:
// the beacon, and what it decides.
func (m *contest) begin(ctx context.Context) error {
	for i, b := range m.bots {
		a, err := m.Ack(ctx, m.id, &event.SeatAcked{Seat: engine.Seat(i), Signature: b.key.Sign(sign.AckMessage(m.id, m.opened))})
		if err != nil {
			return err
		}
		for _, e := range a.Events {
			if err := m.follow(e, nil); err != nil {
				return err
			}
		}
	}
	if m.beacon && len(m.pos.Turn().Seats()) > 0 {
		return nil
	}
	began := errors.New("play has begun")
	err := m.Follow(ctx, m.id, m.length, 0, func(e event.Event) error {
		if err := m.follow(e, nil); err != nil {
			return err
		}
		if m.beacon && len(m.pos.Turn().Seats()) > 0 {
			return began
		}
		return nil
	})
	if errors.Is(err, began) {
		return nil
	}
	return err
}

// say appends what the players said, and follows what the hall made of it.
func (m *contest) say(ctx context.Context, bodies ...event.Body) error {
	a, err := m.Append(ctx, "", m.id, m.length, bodies...)
	if err != nil {
		return err
	}
	for i, e := range a.Events {
		var own event.Body
		if i < len(bodies) {
			own = bodies[i]
		}
		if err := m.follow(e, own); err != nil {
			return err
		}
	}
	return nil
}

// follow takes an event up. own is what the arena sent, if it sent this one: of a hidden move the event
// tells nothing.
func (m *contest) follow(e event.Event, own event.Body) error {
	m.length, m.last = e.Seq+1, e.Leaf()
	body, err := e.Body()
	if err != nil {
		return err
	}
	switch b := body.(type) {
	case *event.MatchOpened:
		m.chain = b.Chance.Chain
	case *event.BeaconRecorded:
		m.beacon = true
	case *event.ChanceDrawn:
		return m.pos.Play(engine.Chance, b.Outcome)
	case *event.MovePlayed:
		m.turn++
		move := b.Move
		if sent, ok := own.(*event.MovePlayed); ok {
			move = sent.Signed.Move
		}
		return m.pos.Play(b.Seat, move)
	case *event.MatchSealed:
		m.over = true
	}
	return nil
}
