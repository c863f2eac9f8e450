package arena

import (
	"container/list"
	"context"
	"fmt"
	"sync"
	"time"

	"ludger/checkpoint/beacon"
	"ludger/engine"
	"ludger/ledger"
	"ludger/ledger/event"
	"ludger/replay"
)

// maxLive bounds the matches in memory that nobody is busy with, sealed ones first to go. One takes
// some 100 KiB; a match that is not there is folded from the log again.
const maxLive = 2048

// A live match is one in memory. It holds its lock from load to append, so that what is decided on it
// is what is appended.
type live struct {
	id event.MatchID

	// Guarded by table.mu.
	users int           // who are busy with it
	idle  *list.Element // in table.idle; nil while there are users

	mu      sync.Mutex    // guards what follows
	match   *replay.Match // nil until it is loaded, and after an append of unclear end
	changed chan struct{} // closed when an event is added
}

// A table holds the live matches. The zero table is empty.
type table struct {
	mu   sync.Mutex
	live map[event.MatchID]*live
	idle *list.List // of those without users, the next to go first
}

// take returns the live match of an id, loaded or not. The caller gives it back.
func (t *table) take(id event.MatchID) *live {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.live == nil {
		t.live, t.idle = make(map[event.MatchID]*live), list.New()
	}
	l, ok := t.live[id]
	if !ok {
		l = &live{id: id, changed: make(chan struct{})}
		t.live[id] = l
	}
	if l.idle != nil {
		t.idle.Remove(l.idle)
		l.idle = nil
	}
	l.users++
	return l
}

// give returns a match that take returned.
func (t *table) give(l *live) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l.users--; l.users > 0 {
		return
	}
	// Nobody else has it now, so its own lock is free.
	switch {
	case l.match == nil:
		delete(t.live, l.id)
	case l.match.Stage() == replay.StageSealed:
		l.idle = t.idle.PushFront(l) // only readers come back to it
	default:
		l.idle = t.idle.PushBack(l)
	}
	if t.idle.Len() > maxLive {
		oldest := t.idle.Remove(t.idle.Front()).(*live)
		delete(t.live, oldest.id)
	}
}

// with runs do with the match of an id, loaded and locked.
func (a *Arena) with(ctx context.Context, id event.MatchID, do func(l *live) error) error {
	l := a.table.take(id)
	defer a.table.give(l)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.match == nil {
		m, err := a.load(ctx, id)
		if err != nil {
			return err
		}
		l.match = m
		a.follow(l)
	}
	return do(l)
}

// load folds a match from the log.
func (a *Arena) load(ctx context.Context, id event.MatchID) (*replay.Match, error) {
	places, err := ledger.ReadStream(ctx, a.log, event.MatchStream(id), 0, event.MaxMatchEvents)
	if err != nil {
		return nil, err
	}
	if len(places) == 0 {
		return nil, fmt.Errorf("%w: %v", ErrNoMatch, id)
	}
	m := replay.NewKeys().NewMatch(a.Origin)
	for i, p := range places {
		e, err := event.Parse(p.Entry)
		if err != nil {
			return nil, fmt.Errorf("reading entry %d: %w", p.Index, err)
		}
		if i == 0 {
			if err := a.disclose(m, &e); err != nil {
				return nil, err
			}
		}
		if faults := m.Apply(&e); len(faults) > 0 {
			return nil, fmt.Errorf("%w: entry %d: %w", ledger.ErrCorrupt, p.Index, faults[0])
		}
	}
	return m, nil
}

// disclose tells a match its secret, if its opening has one.
func (a *Arena) disclose(m *replay.Match, opening *event.Event) error {
	body, err := opening.Body()
	o, ok := body.(*event.MatchOpened)
	if err != nil || !ok || o.Chance.Mode != event.ChanceSealed {
		return nil // not an opening that can be read: the fold says so
	}
	secret := a.secret(o.Chance.Salt)
	if beacon.Commitment(secret) != o.Chance.Commitment {
		return ErrSecret
	}
	m.Disclose(secret)
	return nil
}

// added tells those who wait that the match has grown. The caller holds the match's lock.
func (l *live) added() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// Events returns up to max events of a match from seq on, each durable, and a channel that is closed
// when there is more; it is nil if the match is sealed and these are the last. The caller calls done
// when it waits no longer.
func (a *Arena) Events(ctx context.Context, id event.MatchID, seq int64, max int) (places []ledger.Place, changed <-chan struct{}, done func(), err error) {
	l := a.table.take(id)
	done = sync.OnceFunc(func() { a.table.give(l) })
	defer func() {
		if err != nil {
			done()
		}
	}()
	l.mu.Lock()
	changed = l.changed // whatever is added from now on closes it
	l.mu.Unlock()
	stream := event.MatchStream(id)
	if places, err = ledger.ReadStream(ctx, a.log, stream, seq, max); err != nil {
		return nil, nil, done, err
	}
	head, err := ledger.ReadStreamHead(ctx, a.log, stream)
	if err == nil && head.Length == 0 {
		err = fmt.Errorf("%w: %v", ErrNoMatch, id)
	}
	if err != nil {
		return nil, nil, done, err
	}
	if seq+int64(len(places)) < head.Length {
		return places, changed, done, nil // there is more already
	}
	sealed, err := a.isSeal(ctx, head.Last)
	if sealed {
		changed = nil
	} else if err == nil { // so that what it waits for is waited for, also after a restart
		err = a.with(ctx, id, func(*live) error { return nil })
	}
	return places, changed, done, err
}

// isSeal tells whether the entry of an index seals a match.
func (a *Arena) isSeal(ctx context.Context, index int64) (bool, error) {
	entries, err := a.log.Scan(ctx, index, 1)
	if err != nil {
		return false, err
	}
	e, err := event.Parse(entries[0])
	if err != nil {
		return false, fmt.Errorf("reading entry %d: %w", index, err)
	}
	return e.Kind == event.KindMatchSealed, nil
}

// follow waits for the beacon that a match cannot begin without, records it, and adds what follows
// from it; it tries again until that is done. The caller holds the match's lock.
func (a *Arena) follow(l *live) {
	chain, round, ok := l.match.AwaitsBeacon()
	if !ok {
		return
	}
	if a.Beacons == nil || chain != a.Beacons.Chain() {
		a.Log.Error("match waits for a beacon that this hall does not have", "match", l.id, "chain", chain.Name, "round", round)
		return
	}
	a.table.take(l.id)
	a.tasks.Go(func() {
		defer a.table.give(l)
		for pause := firstPause; ; pause = min(2*pause, lastPause) {
			err := a.record(l, chain.Hash, round)
			if err == nil || a.alive.Err() != nil {
				return
			}
			a.Log.Error("match waits for its beacon", "match", l.id, "round", round, "error", err)
			select {
			case <-time.After(pause):
			case <-a.alive.Done():
			}
		}
	})
}

// Pauses between tries to record a beacon.
const (
	firstPause = 200 * time.Millisecond
	lastPause  = 30 * time.Second
)

// record gets a round when it is out and records it.
func (a *Arena) record(l *live, chain beacon.Hash, round int64) error {
	signature, err := a.Beacons.Round(a.alive, round)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return a.begin(l, &event.BeaconRecorded{Chain: chain, Beacon: event.Beacon{Round: round, Signature: signature}})
}

// begin records the beacon of a match that still waits for it. The caller holds the match's lock.
func (a *Arena) begin(l *live, b *event.BeaconRecorded) error {
	if l.match == nil {
		return nil // whoever loads it again follows it again
	}
	if _, round, _ := l.match.AwaitsBeacon(); round != b.Round {
		return nil // recorded by another, or over
	}
	_, err := a.say(a.alive, l, "", [32]byte{}, []event.Body{b})
	return err
}

// A View is what anyone may know of a match now.
type View struct {
	Match   event.MatchID
	Opened  *event.MatchOpened
	Stage   replay.Stage
	Length  int64           // events
	Last    event.Leaf      // of the newest event
	At      int64           // time of it in Unix milliseconds
	Turn    int64           // index that the next signed move names
	OnTurn  []engine.Seat   // who may act
	State   string          // the spectator's canonical state string
	Text    string          // the position for people, as the spectator sees it
	Outcome *engine.Outcome // nil while unknown
	Awaits  int64           // beacon round without which play cannot begin; 0 if there is none
}

// View returns what anyone may know of a match.
func (a *Arena) View(ctx context.Context, id event.MatchID) (v View, err error) {
	err = a.with(ctx, id, func(l *live) error {
		m := l.match
		v = View{Match: id, Opened: m.Opened(), Stage: m.Stage(), Length: m.Len(), Last: m.Last(), At: m.At(), Turn: m.Turn(), OnTurn: m.OnTurn()}
		if p := m.Position(); p != nil {
			v.State, v.Text = string(p.AppendState(nil, engine.Spectator)), p.Text(engine.Spectator)
		}
		if o, ok := m.Outcome(); ok {
			v.Outcome = &o
		}
		_, v.Awaits, _ = m.AwaitsBeacon()
		return nil
	})
	return v, err
}
