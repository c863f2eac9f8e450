// Package publish signs the heads of a log and shows them, and never signs a fork.
//
// Open compares what was published before with the log, and refuses to start on a contradiction.
// Publish signs the log's head of now; Latest tells what may be shown.
//
//	p, err := publish.Open(ctx, publish.Config{Log: log, Cells: cells, Signer: signer})
//	… append to the log …
//	note, err := p.Publish(ctx)
//
// # The write order
//
//  1. The log has committed the head: its entries are durable.
//  2. Publish follows the last published tree by the leaf hashes of the entries since, arrives at
//     the committed root, and signs. The cost is that of the new entries, whatever the log's size.
//  3. The signed note replaces the one in the cell "head/<origin>", by compare-and-swap. The cells
//     live outside the log's folder.
//  4. Only then Latest returns it.
//
// A crash before step 3 leaves the older note in the cell, and the next Publish goes on from it; a
// crash after it leaves the new one, which Open makes visible. Ed25519 is deterministic: signing
// the same head twice gives the same note.
//
// # The guard
//
// The cell says how far the log was published. A data folder that was put back from an older copy
// is shorter, or has other entries in the same places; signing on from there would be a fork that
// anyone can prove. So every note is a successor of the one in the cell, and Open stores the note
// of the empty log before anything is committed: an empty cell beside a log with entries is a
// contradiction too, never a first start. What the guard cannot see is a folder and cells that were
// both put back; witnesses can.
package publish

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"ludger/checkpoint"
	"ludger/checkpoint/tiles"
	"ludger/ledger"
)

// Config is what a Publisher works with. All fields are needed.
type Config struct {
	Log    ledger.Log         // the log to publish; it is only read
	Cells  ledger.Cells       // hold the newest note; keep them outside the log's folder
	Signer *checkpoint.Signer // the log's key; its name is the origin
}

// A HeadError says that the log contradicts what was published before. Nothing was signed, and the
// Publisher signs nothing more.
type HeadError struct {
	Origin    string
	Published ledger.Head // of the newest checkpoint known; its size is -1 if there is none on record
	Log       ledger.Head // of the log as it is now
	Reason    string      // what is wrong, with both sizes, and what to do
}

func (e *HeadError) Error() string {
	return fmt.Sprintf("refusing to sign checkpoints of %s: %s", e.Origin, e.Reason)
}

// A Publisher signs the heads of one log. It is safe for concurrent use, and several publishers of
// one log may run at once.
type Publisher struct {
	Config
	cell string

	mu       sync.Mutex  // held while publishing; guards what follows
	edge     *tiles.Edge // of the tree that latest has the head of
	revision uint64      // of the cell when it held latest
	stopped  error       // the contradiction that ended it

	latest atomic.Pointer[published] // changed under mu
}

type published struct {
	note []byte
	head ledger.Head
}

// Cell returns the key of the cell that holds the newest note of the log with the given origin.
func Cell(origin string) string { return "head/" + origin }

// Open checks the log against the note in the cell and returns a Publisher that shows this note. On
// an empty log that was never published it signs the empty head and stores it: call Open before the
// first append. Contradictions are a *HeadError.
func Open(ctx context.Context, c Config) (*Publisher, error) {
	p := &Publisher{Config: c, cell: Cell(c.Signer.Verifier().Name())}
	for {
		// The cell first, the log second: what was published is in the log by then.
		note, revision, err := c.Cells.Get(ctx, p.cell)
		if err != nil {
			return nil, fmt.Errorf("reading the published checkpoint: %w", err)
		}
		head, err := c.Log.Head(ctx)
		if err != nil {
			return nil, fmt.Errorf("reading the log's head: %w", err)
		}
		if revision == 0 {
			if head.Size > 0 {
				return nil, p.missing(head)
			}
			first := c.Signer.Sign(0, tiles.EmptyRoot())
			_, err := c.Cells.Swap(ctx, p.cell, 0, first)
			var moved *ledger.RevisionError
			if err != nil && !errors.As(err, &moved) {
				return nil, fmt.Errorf("storing the checkpoint of the empty log: %w", err)
			}
			continue // and look at what is there now, ours or another's
		}
		last, err := p.read(note)
		if err != nil {
			return nil, err
		}
		if last.head.Size > head.Size {
			return nil, p.shorter(last.head, head)
		}
		p.edge, err = p.load(ctx, last.head.Size)
		if err != nil {
			return nil, err
		}
		if p.edge.Root() != last.head.Root {
			return nil, p.forked(last.head, head, p.edge.Root())
		}
		now, err := p.load(ctx, head.Size)
		if err != nil {
			return nil, err
		}
		if now.Root() != head.Root {
			return nil, p.corrupt(last.head, head, now.Root())
		}
		p.revision = revision
		p.latest.Store(last)
		return p, nil
	}
}

// Latest returns the newest note that may be shown, and its head. The caller must not change the
// note.
func (p *Publisher) Latest() (note []byte, head ledger.Head) {
	l := p.latest.Load()
	return l.note, l.head
}

// Publish signs the log's head of now and returns the note when it is stored and visible. If the
// head was published already, by whomever, it returns that note. The caller must not change it.
//
// After a *HeadError every call returns the same error. After any other error nothing contradicts;
// call again.
func (p *Publisher) Publish(ctx context.Context) ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped != nil {
		return nil, p.stopped
	}
	note, err := p.publish(ctx)
	var contradiction *HeadError
	if errors.As(err, &contradiction) {
		p.stopped = err
	}
	return note, err
}

func (p *Publisher) publish(ctx context.Context) ([]byte, error) {
	for {
		head, err := p.Log.Head(ctx)
		if err != nil {
			return nil, fmt.Errorf("reading the log's head: %w", err)
		}
		last := p.latest.Load()
		if head == last.head {
			return last.note, nil
		}
		if head.Size < last.head.Size {
			return nil, p.shorter(last.head, head)
		}
		edge, err := p.follow(ctx, head.Size)
		if err != nil {
			return nil, err
		}
		if edge.Root() != head.Root {
			return nil, p.corrupt(last.head, head, edge.Root())
		}
		next := &published{p.Signer.Sign(head.Size, head.Root), head}
		revision, err := p.Cells.Swap(ctx, p.cell, p.revision, next.note)
		if err == nil {
			p.accept(next, edge, revision)
			return next.note, nil
		}
		// The cell moved, or nobody knows: look what is there. It may be our own note.
		if err := p.adopt(ctx, err); err != nil {
			return nil, err
		}
	}
}

// adopt makes the note that another publisher, or a Swap of ours that seemed to fail, put into the
// cell the latest, if it is a successor of the one before. cause is the error of our Swap.
func (p *Publisher) adopt(ctx context.Context, cause error) error {
	note, revision, err := p.Cells.Get(ctx, p.cell)
	if err != nil {
		return fmt.Errorf("storing a checkpoint: %w; reading back what is stored: %w", cause, err)
	}
	if revision == p.revision {
		return fmt.Errorf("storing a checkpoint, which did not happen: %w", cause)
	}
	head, err := p.Log.Head(ctx) // after the cell, so never behind it
	if err != nil {
		return fmt.Errorf("reading the log's head: %w", err)
	}
	if revision == 0 {
		return p.missing(head)
	}
	next, err := p.read(note)
	if err != nil {
		return err
	}
	last := p.latest.Load()
	switch {
	case next.head.Size > head.Size:
		return p.shorter(next.head, head)
	case next.head.Size < last.head.Size:
		return p.contradict(last.head, head, "a checkpoint of %d entries was already published, but the one of %d entries stands in its place now, in a log of %d entries: an older copy of the cells was put back; put the newest back and start again", last.head.Size, next.head.Size, head.Size)
	}
	edge, err := p.follow(ctx, next.head.Size)
	if err != nil {
		return err
	}
	if edge.Root() != next.head.Root {
		return p.forked(next.head, head, edge.Root())
	}
	p.accept(next, edge, revision)
	return nil
}

func (p *Publisher) accept(next *published, edge *tiles.Edge, revision uint64) {
	p.edge, p.revision = edge, revision
	p.latest.Store(next)
}

// read opens a note from the cell.
func (p *Publisher) read(note []byte) (*published, error) {
	c, err := checkpoint.Open(note, p.Signer.Verifier())
	if err != nil {
		return nil, fmt.Errorf("the cell %q does not hold a checkpoint signed with this log's key: %w; put the cell back, or start with the key that signed it", p.cell, err)
	}
	return &published{note, ledger.Head{Size: c.Size, Root: c.Root}}, nil
}

// load returns the edge of the log's first size entries, from its tree hashes.
func (p *Publisher) load(ctx context.Context, size int64) (*tiles.Edge, error) {
	hashes := ledger.Hashes{Log: p.Log}
	return tiles.LoadEdge(size,
		func(level int, n int64) ([32]byte, error) {
			row, err := hashes.Row(ctx, level, n, 1)
			if err != nil {
				return [32]byte{}, err
			}
			return row[0], nil
		},
		func(first, count int64) ([][32]byte, error) { return hashes.Leaves(ctx, first, count) })
}

// chunk bounds the leaf hashes that follow holds at a time.
const chunk = 64 * tiles.Width

// follow returns the edge of the published tree grown to size by the log's leaf hashes.
func (p *Publisher) follow(ctx context.Context, size int64) (*tiles.Edge, error) {
	edge := p.edge.Clone()
	for edge.Size() < size {
		leaves, err := ledger.Hashes{Log: p.Log}.Leaves(ctx, edge.Size(), min(chunk, size-edge.Size()))
		if err != nil {
			return nil, fmt.Errorf("reading the leaf hashes since the last checkpoint: %w", err)
		}
		for _, h := range leaves {
			edge.Append(h, nil)
		}
	}
	return edge, nil
}

func (p *Publisher) contradict(last, log ledger.Head, format string, args ...any) *HeadError {
	return &HeadError{p.Signer.Verifier().Name(), last, log, fmt.Sprintf(format, args...)}
}

func (p *Publisher) shorter(last, log ledger.Head) *HeadError {
	return p.contradict(last, log, "the log has %d entries, but a checkpoint of %d entries was already published: an older copy of the data folder was put back; put the newest copy back, or begin a new log under another origin", log.Size, last.Size)
}

func (p *Publisher) forked(last, log ledger.Head, root [32]byte) *HeadError {
	return p.contradict(last, log, "the log has %d entries, of which the first %d have the root %x, but a checkpoint of %d entries with the root %x was already published: the entries are not those that were published; put the newest copy of the data folder back, or begin a new log under another origin", log.Size, last.Size, root, last.Size, last.Root)
}

func (p *Publisher) corrupt(last, log ledger.Head, root [32]byte) *HeadError {
	return p.contradict(last, log, "the log's head says %d entries with the root %x, but following the published checkpoint of %d entries its tree hashes give the root %x: the data folder was changed or damaged; check it with fsck, and put a good copy back", log.Size, log.Root, last.Size, root)
}

func (p *Publisher) missing(log ledger.Head) *HeadError {
	return p.contradict(ledger.Head{Size: -1}, log, "the log has %d entries, but no checkpoint is on record, not even that of 0 entries which every log begins with: the cell %q was lost, and with it how far the log was published; put the cells back, or begin a new log under another origin", log.Size, p.cell)
}
