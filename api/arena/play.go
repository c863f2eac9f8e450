package arena

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"

	"ludger/checkpoint/beacon"
	"ludger/engine"
	"ludger/engine/catalog"
	"ludger/ledger"
	"ludger/ledger/event"
	"ludger/ledger/sequencer"
	"ludger/ledger/sign"
	"ludger/replay"
)

// delay is how many rounds after the newest one a match's chance comes from: the one after the next,
// so that the opening is logged before that round even if the next is just coming out.
const delay = 2

// longest is how long a match with a secret may last, in seconds: after that anybody can open the secret
// with a beacon round, also if the hall has vanished.
const longest = 7 * 24 * 3600

// Terms are what an arena asks for to open a match.
type Terms struct {
	Game     string // engine and version
	Setup    engine.Setup
	Division string // "assisted" or "unassisted"
	MoveMS   int64  // milliseconds for each move; 0 is no clock
	Seats    []Seat // Setup.Seats is taken from here
	// Live asks that each outcome of chance after the first comes from a beacon round that the player
	// on roll calls, which nobody can foresee, the hall included.
	Live bool
}

// A Seat is who sits where.
type Seat struct {
	Handle string
	Key    sign.PublicKey
	// Statement is the key's signature over sign.AgentMessage. With it a handle that is new is
	// registered; without it, that the handle has the key is the arena's word, unless the log knows.
	Statement *sign.Signature
	House     bool // a bot of the arena itself
}

// A Request names the call of an arena. The same request again returns what the first one did.
type Request struct {
	Arena  string
	Key    string   // idempotency key, chosen by the arena
	Digest [32]byte // of all that is asked for
}

func (r Request) id() string {
	if r.Key == "" {
		return ""
	}
	return "arena/" + r.Arena + "/" + r.Key
}

// Appended is what a call added to the log.
type Appended struct {
	Match  event.MatchID
	First  int64          // index of the first of Events in the log
	Events []event.Event  // of the match, in order; registrations that came with them are not here
	Keys   []event.BoxKey // of each of Events that is a hidden move; zero for others
	Length int64          // of the match's stream then
	Before bool           // the same request had been made before; nothing was appended now
	Stage  replay.Stage   // of the match now
}

// Errors of a request, for errors.Is.
var (
	ErrNoArena   = errors.New("no arena of this name is admitted")
	ErrSecret    = errors.New("the secret of this hall is not the one that the match is committed to: put the right one back")
	ErrNotYours  = errors.New("another arena runs the match")
	ErrBeacon    = errors.New("no beacon round can be had now, which the game needs: open the match later")
	ErrNoBeacons = errors.New("this log has no source of beacons, or no secret, which the game needs")
)

// A TermsError says why no match can be opened on the terms asked for. What it wraps is a *replay.Fault
// where the opening itself would not stand.
type TermsError struct{ Err error }

func (e *TermsError) Error() string { return "the terms of the match: " + e.Err.Error() }

func (e *TermsError) Unwrap() error { return e.Err }

// Admit lets an arena append matches, and returns the leaf of its admission. A name that was admitted
// with another key is ErrTaken.
func (a *Arena) Admit(ctx context.Context, name string, key sign.PublicKey) (event.Leaf, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch known, leaf, err := a.Admitted(ctx, name); {
	case err == nil && known == key:
		return leaf, nil
	case err == nil:
		return event.Leaf{}, fmt.Errorf("%w: the arena %s", ErrTaken, name)
	case !errors.Is(err, ErrNoArena):
		return event.Leaf{}, err
	}
	if _, err := sign.NewVerifier(key); err != nil {
		return event.Leaf{}, err
	}
	e, err := event.New(a.Now(), event.ArenaStream(name), 0, event.Leaf{}, &event.ArenaAdmitted{Name: name, Key: key})
	if err != nil {
		return event.Leaf{}, err
	}
	_, err = a.append(ctx, sequencer.Append{Events: []event.Event{e}})
	return e.Leaf(), err
}

// Admitted returns an arena's key and the leaf of its admission; ErrNoArena if there is none.
func (a *Arena) Admitted(ctx context.Context, name string) (sign.PublicKey, event.Leaf, error) {
	if err := event.CheckHandle(name); err != nil {
		return sign.PublicKey{}, event.Leaf{}, fmt.Errorf("%w: %w", ErrNoArena, err)
	}
	e, body, err := a.first(ctx, event.ArenaStream(name))
	if err != nil || body == nil {
		return sign.PublicKey{}, event.Leaf{}, errors.Join(err, fmt.Errorf("%w: %q", ErrNoArena, name))
	}
	b, ok := body.(*event.ArenaAdmitted)
	if !ok {
		return sign.PublicKey{}, event.Leaf{}, fmt.Errorf("%w: the stream of the arena %s begins with %s", ledger.ErrCorrupt, name, e.Kind)
	}
	return b.Key, e.Leaf(), nil
}

// first returns the first event of a stream with its body, which is nil if the stream is empty.
func (a *Arena) first(ctx context.Context, s event.Stream) (event.Event, event.Body, error) {
	places, err := ledger.ReadStream(ctx, a.log, s, 0, 1)
	if err != nil || len(places) == 0 {
		return event.Event{}, nil, err
	}
	e, err := event.Parse(places[0].Entry)
	if err == nil {
		var body event.Body
		if body, err = e.Body(); err == nil {
			return e, body, nil
		}
	}
	return event.Event{}, nil, fmt.Errorf("reading entry %d: %w", places[0].Index, err)
}

// secret returns the secret of a match from the salt in its opening: HMAC-SHA-256 (RFC 2104) under
// the key that only the hall has. So nothing has to be kept for a match but what the log holds.
func (a *Arena) secret(salt [16]byte) [32]byte {
	mac := hmac.New(sha256.New, a.Secret[:])
	mac.Write([]byte("ludger/secret/v1"))
	mac.Write(salt[:])
	return [32]byte(mac.Sum(nil))
}

// Begin opens a match for an admitted arena. What it needs of chance follows from the game: a secret
// if something is hidden or drawn while it is played, a beacon alone if only the start is drawn.
func (a *Arena) Begin(ctx context.Context, r Request, t Terms) (Appended, error) {
	_, admitted, err := a.Admitted(ctx, r.Arena)
	if err != nil {
		return Appended{}, err
	}
	a.mu.Lock() // openings are appended in the order of their numbers
	defer a.mu.Unlock()
	if before, ok, err := a.before(ctx, r.id(), r.Digest); ok || err != nil {
		return before, err
	}
	chance, secret, err := a.chance(ctx, t)
	if err != nil {
		return Appended{}, err
	}
	now := a.Now()
	opened := &event.MatchOpened{
		Number: a.number + 1, Game: t.Game, Variant: t.Setup.Variant, Start: t.Setup.Start,
		Division: t.Division, MoveMS: t.MoveMS, Chance: chance,
		Arena: &event.Arena{Name: r.Arena, Admitted: admitted},
	}
	var events []event.Event
	for _, s := range t.Seats {
		leaf, registration, err := a.seat(ctx, s, events, now)
		if err != nil {
			return Appended{}, err
		}
		if registration != nil {
			events = append(events, *registration)
		}
		opened.Seats = append(opened.Seats, event.Seat{Handle: s.Handle, Key: s.Key, House: s.House, Registered: leaf})
	}
	m := replay.NewKeys().NewMatch(a.Origin)
	if chance.Mode == event.ChanceSealed {
		m.Disclose(secret)
	}
	e, err := m.Propose(now, opened)
	if err != nil {
		return Appended{}, &TermsError{err}
	}
	registrations := len(events)
	receipts, err := a.append(ctx, sequencer.Append{ID: r.id(), Digest: r.Digest, Events: append(events, e)})
	if err != nil {
		return Appended{}, err
	}
	a.number = opened.Number
	l := a.table.take(m.ID())
	defer a.table.give(l)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.match == nil {
		l.match = m
		a.follow(l)
	}
	return Appended{Match: m.ID(), First: receipts[registrations].Index, Events: []event.Event{e},
		Keys: make([]event.BoxKey, 1), Length: 1, Stage: m.Stage()}, nil
}

// chance returns terms of chance that suit the game, and the secret if they have one.
func (a *Arena) chance(ctx context.Context, t Terms) (c event.Chance, secret [32]byte, err error) {
	c.Mode = event.ChanceNone
	game, err := catalog.Game(t.Game)
	if err != nil {
		return c, secret, &TermsError{err}
	}
	setup := t.Setup
	setup.Seats = len(t.Seats)
	pos, err := game.New(setup)
	if err != nil {
		return c, secret, &TermsError{err}
	}
	c.Mode = replay.Needs(game.Info(), setup.Variant, pos)
	if t.Live {
		c.Mode = event.ChanceLive // the fold refuses it for a game that it does not suit
	}
	if c.Mode == event.ChanceNone {
		return c, secret, nil
	}
	if a.Beacons == nil || a.Secret == [32]byte{} {
		return c, secret, ErrNoBeacons
	}
	c.Chain, c.Delay = a.Beacons.Chain(), delay
	if c.Base.Round, c.Base.Signature, err = a.Beacons.Newest(ctx); err != nil {
		return c, secret, fmt.Errorf("%w: %w", ErrBeacon, err)
	}
	if c.Mode != event.ChanceSealed {
		return c, secret, nil
	}
	rand.Read(c.Salt[:])
	secret = a.secret(c.Salt)
	c.Commitment = beacon.Commitment(secret)
	c.Opens = c.Base.Round + (longest+c.Chain.Period-1)/c.Chain.Period
	chain, err := beacon.NewChain(c.Chain)
	if err != nil {
		return c, secret, err
	}
	c.Vault, err = chain.SealTimelock(c.Opens, secret)
	return c, secret, err
}

// seat returns the leaf of the registration that ties a seat's handle to its key, nil if there is
// none, and the registration itself if it is new and not among the events that come first.
func (a *Arena) seat(ctx context.Context, s Seat, events []event.Event, now int64) (*event.Leaf, *event.Event, error) {
	known, body, err := a.first(ctx, event.AgentStream(s.Handle))
	if err != nil {
		return nil, nil, err
	}
	leaf := known.Leaf()
	if body == nil {
		if s.Statement == nil {
			return nil, nil, nil
		}
		e, err := event.New(now, event.AgentStream(s.Handle), 0, event.Leaf{},
			&event.AgentRegistered{Handle: s.Handle, Key: s.Key, Statement: s.Statement})
		if err != nil {
			return nil, nil, &TermsError{err}
		}
		if _, err := replay.CheckRegistration(a.Origin, &e, a.keys); err != nil {
			return nil, nil, &TermsError{fmt.Errorf("seat of %s: %w", s.Handle, err)}
		}
		leaf = e.Leaf()
		return &leaf, &e, nil
	}
	if r, ok := body.(*event.AgentRegistered); !ok || r.Key != s.Key {
		return nil, nil, fmt.Errorf("%w: %s", ErrTaken, s.Handle)
	} else if r.Statement == nil {
		return nil, nil, nil // a registration without proof is no more than the hall's word
	}
	return &leaf, nil, nil
}

// Append adds to a match what its arena says: acknowledgements, moves and agreements that players
// signed, forfeits, an adjudication, an abortion; all of it or nothing. length is how many events
// the arena knows the match to have; if it has others, the error is a *ledger.ConflictError. What
// follows from the events by themselves, such as dice, the outcome, the secret and the seal, is added
// with them. A body that the rules forbid is a *BodyError.
func (a *Arena) Append(ctx context.Context, r Request, id event.MatchID, length int64, bodies []event.Body) (done Appended, err error) {
	err = a.with(ctx, id, func(l *live) error {
		m := l.match
		if o := m.Opened(); o.Arena == nil || o.Arena.Name != r.Arena {
			return ErrNotYours
		}
		if length == m.Len() {
			if done, err = a.say(ctx, l, r.id(), r.Digest, bodies); err == nil {
				return nil
			}
		} else {
			err = &ledger.ConflictError{Stream: event.MatchStream(id), Expected: length, Actual: m.Len(), ActualLeaf: m.Last()}
		}
		// A request that was done before made the match longer, or has used its key up.
		before, ok, beforeErr := a.before(ctx, r.id(), r.Digest)
		switch {
		case ok && before.Match != id:
			return ledger.ErrReused
		case ok:
			done, err = before, nil
		case beforeErr != nil:
			err = beforeErr
		}
		return err
	})
	return done, err
}

// Ack adds a seat's own acknowledgement of a match, whoever brings it. One that is there already is
// answered as it was before.
func (a *Arena) Ack(ctx context.Context, id event.MatchID, b *event.SeatAcked) (done Appended, err error) {
	err = a.with(ctx, id, func(l *live) error {
		// The seat signs always the same, so its acknowledgement is its own idempotency key.
		key := fmt.Sprintf("ack/%v/%d/%v", id, b.Seat, b.Signature)
		var ok bool
		if done, ok, err = a.before(ctx, key, [32]byte{}); ok || err != nil {
			return err
		}
		done, err = a.say(ctx, l, key, [32]byte{}, []event.Body{b})
		return err
	})
	return done, err
}

// A BodyError says which of several bodies cannot be appended, and why.
type BodyError struct {
	Body int // from 0
	Err  error
}

func (e *BodyError) Error() string { return fmt.Sprintf("event %d of the request: %v", e.Body, e.Err) }

func (e *BodyError) Unwrap() error { return e.Err }

// say appends bodies to a live match, each followed by what is due after it. The caller holds the
// match's lock.
func (a *Arena) say(ctx context.Context, l *live, id string, digest [32]byte, bodies []event.Body) (Appended, error) {
	m := l.match.Fork()
	now := max(a.Now(), m.At()) // a clock that was set back does not stop a match
	var events []event.Event
	for i, body := range bodies {
		for ; body != nil; body = m.Due() {
			e, err := m.Propose(now, body)
			if err != nil {
				return Appended{}, &BodyError{i, err}
			}
			events = append(events, e)
		}
	}
	receipts, err := a.append(ctx, sequencer.Append{ID: id, Digest: digest, Events: events})
	if err != nil {
		// What the log has is not what is here: it must be loaded again.
		l.match = nil
		l.added()
		return Appended{}, err
	}
	_, before, _ := l.match.AwaitsBeacon()
	l.match = m
	l.added()
	if _, round, waits := m.AwaitsBeacon(); waits && round != before {
		a.follow(l)
	}
	return a.appended(m, receipts[0].Index, events), nil
}

func (a *Arena) appended(m *replay.Match, first int64, events []event.Event) Appended {
	keys := make([]event.BoxKey, len(events))
	for i := range events {
		keys[i], _ = m.BoxKey(&events[i])
	}
	return Appended{Match: m.ID(), First: first, Events: events, Keys: keys, Length: events[len(events)-1].Seq + 1, Stage: m.Stage()}
}

// before returns what an earlier request of the same id appended; ok is false if there was none. One
// with another digest is ledger.ErrReused.
func (a *Arena) before(ctx context.Context, id string, digest [32]byte) (done Appended, ok bool, err error) {
	if id == "" {
		return done, false, nil
	}
	d, ok, err := ledger.FindID(ctx, a.log, id)
	if err != nil || !ok {
		return done, false, err
	}
	if d.Digest != digest {
		return done, false, ledger.ErrReused
	}
	var events []event.Event
	for int64(len(events)) < d.Count {
		entries, err := a.log.Scan(ctx, d.First+int64(len(events)), int(d.Count)-len(events))
		if err != nil {
			return done, false, err
		}
		for _, entry := range entries {
			e, err := event.Parse(entry)
			if err != nil {
				return done, false, fmt.Errorf("reading entry %d: %w", d.First+int64(len(events)), err)
			}
			events = append(events, e)
		}
	}
	for len(events) > 1 && events[0].Kind == event.KindAgentRegistered {
		events, d.First = events[1:], d.First+1
	}
	// Fold what the request made of the match, for the keys of its boxes and its stage then.
	match, isMatch := events[0].Stream.Match()
	if !isMatch {
		return done, false, fmt.Errorf("%w: the idempotency id of a match leads to %s", ledger.ErrCorrupt, events[0].Stream)
	}
	m, err := a.load(ctx, match)
	if err != nil {
		return done, false, err
	}
	done = a.appended(m, d.First, events)
	done.Before = true
	return done, true, nil
}
