// Package arena is the application without HTTP: it loads a match from the log, lets package replay
// decide what may follow, and appends it.
//
//	a, err := arena.Open(ctx, log, seq, arena.Config{Origin: "example.com/log", …})
//	m, err := a.Import(ctx, record, now)      // a whole match at once
//	m, err := a.Begin(ctx, request, terms, now)
//	m, err = a.Append(ctx, request, m.Match, m.Length, bodies, now)
//	b, err := a.Bundle(ctx, m.ID, head, note) // what an auditor is given
//
// Nothing reaches the log that replay.Match has not accepted. An Arena is safe for concurrent use.
package arena

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"ludger/checkpoint"
	"ludger/checkpoint/drand"
	"ludger/checkpoint/proof"
	"ludger/engine/catalog"
	"ludger/ledger"
	"ludger/ledger/event"
	"ludger/ledger/sequencer"
	"ludger/ledger/sign"
	"ludger/replay"
)

// Config is what an arena works with besides its log.
type Config struct {
	Origin  string       // of the log
	Keys    []string     // the log's note verifier keys
	Beacons drand.Source // nil if no game that needs one is played
	// Secret is the key from which the secrets of matches are made. It is kept outside the log; without
	// it, matches with hidden moves that have not ended cannot go on.
	Secret [32]byte
	Log    *slog.Logger // of what goes wrong in the background; nil is slog.Default
	Now    func() int64 // the clock, in Unix milliseconds
	// Anchor is how often a log that grew gets a beacon round of its own; 0 is never.
	Anchor time.Duration
}

// An Arena writes matches to one log.
type Arena struct {
	Config
	log   ledger.Log
	seq   *sequencer.Sequencer
	table table
	alive context.Context // ends with Close
	stop  func()
	tasks sync.WaitGroup // in the background

	mu     sync.Mutex
	number int64        // of the newest match; guarded by mu
	keys   *replay.Keys // guarded by mu
}

// Errors of an arena, for errors.Is.
var (
	ErrOrigin  = errors.New("the log belongs to another origin")
	ErrNoMatch = errors.New("the log has no such match")
	ErrTaken   = errors.New("the handle is registered with another key")
)

// Open returns an arena over a log and its sequencer. A log without entries is opened in the name
// of the origin. The caller closes the arena before both.
func Open(ctx context.Context, log ledger.Log, seq *sequencer.Sequencer, c Config) (*Arena, error) {
	if c.Log == nil {
		c.Log = slog.Default()
	}
	a := &Arena{Config: c, log: log, seq: seq, keys: replay.NewKeys()}
	a.alive, a.stop = context.WithCancel(context.Background())
	head, err := log.Head(ctx)
	if err != nil {
		return nil, err
	}
	if head.Size == 0 {
		e, err := event.New(c.Now(), event.LogStream, 0, event.Leaf{},
			&event.LogOpened{Origin: c.Origin, Keys: c.Keys, Catalogue: catalogue()})
		if err != nil {
			return nil, err
		}
		if _, err = seq.Append(ctx, sequencer.Append{Events: []event.Event{e}}); err == nil {
			a.anchoring()
		}
		return a, err
	}
	first, err := log.Scan(ctx, 0, 1)
	if err != nil {
		return nil, err
	}
	e, err := event.Parse(first[0])
	if err != nil {
		return nil, fmt.Errorf("reading entry 0: %w", err)
	}
	body, err := e.Body()
	if err != nil {
		return nil, fmt.Errorf("reading entry 0: %w", err)
	}
	if opened, ok := body.(*event.LogOpened); !ok || opened.Origin != c.Origin {
		return nil, fmt.Errorf("%w: its first entry is %s, this key signs for %q", ErrOrigin, first[0], c.Origin)
	}
	if a.number, err = lastNumber(ctx, log, head.Size); err == nil {
		a.anchoring()
	}
	return a, err
}

// anchoring records beacons in the log's own stream from now on.
func (a *Arena) anchoring() {
	if a.Anchor == 0 || a.Beacons == nil {
		return
	}
	a.tasks.Go(func() {
		tick := time.NewTicker(a.Anchor)
		defer tick.Stop()
		for size := int64(0); ; {
			select {
			case <-a.alive.Done():
				return
			case <-tick.C:
			}
			next, err := a.anchor(a.alive, size)
			if err != nil && a.alive.Err() == nil {
				a.Log.Warn("no beacon anchors the log", "error", err)
			} else {
				size = next
			}
		}
	})
}

// anchor records the newest beacon in the log's own stream, unless the log has still the size given, and
// returns the log's size.
func (a *Arena) anchor(ctx context.Context, size int64) (int64, error) {
	head, err := a.log.Head(ctx)
	if err != nil || head.Size == size {
		return size, err
	}
	round, signature, err := a.Beacons.Newest(ctx)
	if err != nil {
		return 0, err
	}
	stream, err := ledger.ReadStreamHead(ctx, a.log, event.LogStream)
	if err != nil {
		return 0, err
	}
	e, err := event.New(a.Now(), event.LogStream, stream.Length, stream.Leaf,
		&event.BeaconRecorded{Chain: a.Beacons.Chain().Hash, Beacon: event.Beacon{Round: round, Signature: signature}})
	if err != nil {
		return 0, err
	}
	receipts, err := a.append(ctx, sequencer.Append{Events: []event.Event{e}})
	if err != nil {
		return 0, err
	}
	return receipts[0].Index + 1, nil
}

// append appends and waits for the answer, whatever becomes of the caller: who goes on without it does
// not know what the log holds.
func (a *Arena) append(ctx context.Context, r sequencer.Append) ([]ledger.Receipt, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return a.seq.Append(context.WithoutCancel(ctx), r)
}

// Close ends what the arena does in the background.
func (a *Arena) Close() {
	a.stop()
	a.tasks.Wait()
}

// catalogue is the digest of the games this program knows.
func catalogue() [32]byte {
	ids := catalog.IDs()
	slices.Sort(ids)
	return sha256.Sum256([]byte(strings.Join(ids, "\n") + "\n"))
}

// lastNumber returns the number of the newest match: openings are appended in the order of their
// numbers, so it is the one nearest to the end.
func lastNumber(ctx context.Context, log ledger.Log, size int64) (int64, error) {
	const step = 1024
	for end := size; end > 0; {
		first := max(end-step, 0)
		entries, err := log.Scan(ctx, first, int(end-first))
		if err != nil {
			return 0, err
		}
		if len(entries) == 0 {
			return 0, fmt.Errorf("%w: entry %d is missing", ledger.ErrCorrupt, first)
		}
		if first+int64(len(entries)) < end {
			end = first + int64(len(entries)) // a shorter answer: take it, then what is before
		}
		for i := len(entries) - 1; i >= 0; i-- {
			e, err := event.Parse(entries[i])
			if err != nil {
				return 0, fmt.Errorf("reading entry %d: %w", first+int64(i), err)
			}
			if e.Kind != event.KindMatchOpened {
				continue
			}
			body, err := e.Body()
			if err != nil {
				return 0, fmt.Errorf("reading entry %d: %w", first+int64(i), err)
			}
			return body.(*event.MatchOpened).Number, nil
		}
		end = first
	}
	return 0, nil
}

// Register makes sure that the handle is registered with the key, and returns the leaf of the
// registration. A handle that has another key is ErrTaken.
func (a *Arena) Register(ctx context.Context, handle string, key sign.PrivateKey, now int64) (event.Leaf, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.register(ctx, handle, key, now)
}

// register is Register for a caller that holds mu.
func (a *Arena) register(ctx context.Context, handle string, key sign.PrivateKey, now int64) (event.Leaf, error) {
	known, body, err := a.first(ctx, event.AgentStream(handle))
	if err != nil {
		return event.Leaf{}, err
	}
	if body != nil {
		if r, ok := body.(*event.AgentRegistered); !ok || r.Key != key.Public() {
			return event.Leaf{}, fmt.Errorf("%w: %s", ErrTaken, handle)
		}
		return known.Leaf(), nil
	}
	msg, err := sign.AgentMessage(a.Origin, handle, key.Public())
	if err != nil {
		return event.Leaf{}, err
	}
	statement := key.Sign(msg)
	e, err := event.New(now, event.AgentStream(handle), 0, event.Leaf{},
		&event.AgentRegistered{Handle: handle, Key: key.Public(), Statement: &statement})
	if err != nil {
		return event.Leaf{}, err
	}
	if _, err = replay.CheckRegistration(a.Origin, &e, a.keys); err != nil {
		return event.Leaf{}, err
	}
	_, err = a.append(ctx, sequencer.Append{Events: []event.Event{e}})
	return e.Leaf(), err
}

// Bundle returns what an auditor is given about a match, with proofs for the given checkpoint, a
// signed note of this log. The proof is left out while the match is not sealed or the checkpoint
// does not reach its seal; so are registrations that the checkpoint does not reach.
func (a *Arena) Bundle(ctx context.Context, id event.MatchID, head checkpoint.Checkpoint, note []byte) (*replay.Bundle, error) {
	places, err := ledger.ReadStream(ctx, a.log, event.MatchStream(id), 0, event.MaxMatchEvents)
	if err != nil {
		return nil, err
	}
	if len(places) == 0 {
		return nil, fmt.Errorf("%w: %v", ErrNoMatch, id)
	}
	b := &replay.Bundle{Origin: a.Origin}
	for _, p := range places {
		e, err := event.Parse(p.Entry)
		if err != nil {
			return nil, fmt.Errorf("reading entry %d: %w", p.Index, err)
		}
		b.Events = append(b.Events, e)
	}
	if last := places[len(places)-1]; b.Events[len(b.Events)-1].Kind == event.KindMatchSealed && last.Index < head.Size {
		if b.Proof, err = a.prove(ctx, last.Index, head, note); err != nil {
			return nil, err
		}
	}
	body, err := b.Events[0].Body()
	if err != nil {
		return nil, err
	}
	opened, ok := body.(*event.MatchOpened)
	if !ok {
		return nil, fmt.Errorf("%w: match %v begins with %s", ledger.ErrCorrupt, id, b.Events[0].Kind)
	}
	for _, s := range opened.Seats {
		if s.Registered == nil {
			continue
		}
		p, err := a.proven(ctx, event.AgentStream(s.Handle), *s.Registered, head, note)
		if err != nil {
			return nil, err
		}
		if p != nil {
			b.Agents = append(b.Agents, *p)
		}
	}
	if opened.Arena != nil {
		b.Arena, err = a.proven(ctx, event.ArenaStream(opened.Arena.Name), opened.Arena.Admitted, head, note)
	}
	return b, err
}

// proven returns the first event of a stream, if it is the one with the leaf, with its proof; nil if
// the checkpoint does not reach it.
func (a *Arena) proven(ctx context.Context, s event.Stream, leaf event.Leaf, head checkpoint.Checkpoint, note []byte) (*replay.Proven, error) {
	places, err := ledger.ReadStream(ctx, a.log, s, 0, 1)
	if err != nil || len(places) == 0 || places[0].Index >= head.Size {
		return nil, err
	}
	e, err := event.Parse(places[0].Entry)
	if err != nil {
		return nil, fmt.Errorf("reading entry %d: %w", places[0].Index, err)
	}
	if e.Leaf() != leaf {
		return nil, nil
	}
	text, err := a.prove(ctx, places[0].Index, head, note)
	return &replay.Proven{Event: e, Proof: text}, err
}

func (a *Arena) prove(ctx context.Context, index int64, head checkpoint.Checkpoint, note []byte) (string, error) {
	hashes, err := proof.Inclusion(ledger.Hashes{Log: a.log}.Reader(ctx), index, head.Size)
	if err != nil {
		return "", fmt.Errorf("proving entry %d in a log of %d: %w", index, head.Size, err)
	}
	p := proof.Proof{Index: index, Hashes: hashes, Checkpoint: note}
	return string(p.Format()), nil
}
