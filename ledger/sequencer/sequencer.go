// Package sequencer is the one committer of a log: it gives appended events their places, all or
// nothing, and answers when they are durable. It is written once, above every storage engine.
//
//	s, err := sequencer.Open(ctx, log, sequencer.Config{Owner: "hall"})
//	receipts, err := s.Append(ctx, sequencer.Append{Events: events})
//
// # What an append is
//
// An append holds events of one or several streams. They become neighbours in the log, in their
// order, and are durable when Append returns. For each stream the first of them says, by its seq and
// prev, how long the append expects the stream to be; if it is not, nothing is written and a
// *ledger.ConflictError tells the actual length.
//
// The same append again, whether the first is still under way, done, or done before a restart,
// returns the first receipts: by its idempotency id, which is bound to the digest of the request,
// or if it has no id because the very same events already stand at their places.
//
// # Group commit
//
// All appends that wait, up to a bound, are checked in their order and committed as one batch with
// one sync: entries, index (drawn in package ledger), and the next tree head. So throughput does not
// hang on the latency of the disk. The tree grows by O(log n) hashes for each entry and is never
// rebuilt; opening reads a few hundred hashes however long the log is.
//
// One goroutine does all that, a group at a time. To gather one group while the one before is synced
// was tried: where writers wait for their answers it only halves the groups.
//
// The first commit that fails stops the sequencer. There is no retry: whoever opens the log again
// finds what the disk has.
//
// Not checked here: signatures and rules. Package replay does, before anything is appended.
package sequencer

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"ludger/checkpoint/tiles"
	"ludger/ledger"
	"ludger/ledger/event"
)

// Bounds of one group, which is also what the queue in front of it holds. An append that is larger
// than a group is a group of its own.
const (
	maxGroupEvents = 1024
	maxGroupBytes  = 4 << 20
	maxQueue       = 1024 // appends that wait
)

// Config says how a sequencer is opened.
type Config struct {
	// Owner names this sequencer to the others of the same log, in their errors and logs.
	Owner string
}

// An Append is what one call adds to the log.
type Append struct {
	// ID is the idempotency id, made unique among callers by the caller; "" is none. Digest is that
	// of the request which the id stands for.
	ID     string
	Digest [32]byte
	// Events are appended in this order. Those of one stream follow one another. The sequencer reads
	// the slice until Append has returned, and after ErrUnclear beyond that.
	Events []event.Event
}

// Errors of a sequencer, for errors.Is.
var (
	ErrUnclear = errors.New("the append may or may not be in the log; open it again and look")
	ErrStopped = errors.New("the sequencer has stopped; nothing was appended")
)

// A Sequencer appends to one log. It is safe for concurrent use.
type Sequencer struct {
	log   ledger.Log
	queue chan *request
	quit  chan struct{} // closed by Close
	done  chan struct{} // closed when the committer has ended
	once  sync.Once     // closes quit
	err   error         // why the committer ended; written before done is closed

	durable atomic.Int64 // number of the newest group that was committed

	// The committer's own, from here on.
	epoch uint64
	head  ledger.Head
	edge  *tiles.Edge
	tail  [][32]byte // leaf hashes of the last, partial tile
	heads headCache
	ids   idCache
	group group
	late  []*request // wait until the group under way is durable, since it has to do with them
}

// Open makes a sequencer the owner of the log; every older one is fenced. The caller closes it
// before the log.
func Open(ctx context.Context, log ledger.Log, c Config) (*Sequencer, error) {
	s := &Sequencer{
		log:   log,
		queue: make(chan *request, maxQueue),
		quit:  make(chan struct{}),
		done:  make(chan struct{}),
	}
	var err error
	if s.epoch, s.head, err = log.Open(ctx, c.Owner); err != nil {
		return nil, fmt.Errorf("opening the log: %w", err)
	}
	hashes := ledger.Hashes{Log: log}
	s.edge, err = tiles.LoadEdge(s.head.Size,
		func(level int, n int64) ([32]byte, error) { return hashes.Subtree(ctx, tiles.Height*level, n) },
		func(first, count int64) ([][32]byte, error) {
			s.tail, err = hashes.Leaves(ctx, first, count)
			return s.tail, err
		})
	if err != nil {
		return nil, fmt.Errorf("opening the log: %w", err)
	}
	if root := s.edge.Root(); root != s.head.Root {
		return nil, fmt.Errorf("%w: its head of %d entries has root %x, its hashes give %x", ledger.ErrCorrupt, s.head.Size, s.head.Root, root)
	}
	s.tail = append(make([][32]byte, 0, tiles.Width), s.tail...)
	go s.run()
	return s, nil
}

// Close stops the sequencer after the group under way. Appends that wait get ErrStopped. It does not
// close the log. Its error is the one that had stopped the sequencer before, if any.
func (s *Sequencer) Close() error {
	s.once.Do(func() { close(s.quit) })
	<-s.done
	if errors.Is(s.err, errClosed) {
		return nil
	}
	return s.err
}

var errClosed = errors.New("closed")

// A request is an append under way. The committer owns it until it has sent its one answer.
type request struct {
	Append
	before  []int    // for each event, the one before it in its stream, or -1; nil for one event alone
	streams []*head  // for each event, the cached head of its stream
	room    [1]*head // for streams: most requests hold one event
	first   int64    // index of its first event, once it has a place
	known   bool     // its id was in the log before it was queued
	since   int64    // number of a group up to which its id was not, if it was not known
	size    int      // bytes of its entries
	answer  chan answer
}

type answer struct {
	receipts []ledger.Receipt // nil if the request was placed and is durable: it can tell them
	err      error
}

// Append adds events to the log and returns one receipt for each. Its errors are
//
//   - *ledger.ConflictError or ledger.ErrReused: nothing was appended;
//   - ErrStopped: nothing was appended, and nothing will be;
//   - ErrUnclear: the commit failed, or ctx ended, while the append was under way;
//   - any other: the append is malformed, or the log could not be read; nothing was appended.
func (s *Sequencer) Append(ctx context.Context, a Append) ([]ledger.Receipt, error) {
	r := &request{Append: a, answer: make(chan answer, 1)}
	if err := r.check(); err != nil {
		return nil, err
	}
	if r.ID != "" { // here, where many look at once, and not in the committer
		r.since = s.durable.Load()
		var err error
		if _, r.known, err = ledger.FindID(ctx, s.log, r.ID); err != nil {
			return nil, err
		}
	}
	if err := s.send(ctx, r); err != nil {
		return nil, err
	}
	select {
	case got := <-r.answer:
		if got.err == nil && got.receipts == nil {
			return r.receipts(), nil
		}
		return got.receipts, got.err
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %w", ErrUnclear, ctx.Err())
	}
}

// send puts a request into the queue. It will be answered.
func (s *Sequencer) send(ctx context.Context, r *request) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("waiting to append: %w", err)
	}
	select {
	case s.queue <- r: // a wait on done, which all share, costs more
	default:
		select {
		case s.queue <- r:
		case <-ctx.Done():
			return fmt.Errorf("waiting to append: %w", ctx.Err())
		case <-s.done:
			return s.stopped()
		}
	}
	select {
	case <-s.done: // perhaps the committer did not see it any more
		s.refuse()
	default:
	}
	return nil
}

// refuse answers what is left in the queue after done is closed.
func (s *Sequencer) refuse() {
	for {
		select {
		case r := <-s.queue:
			r.answer <- answer{err: s.stopped()}
		default:
			return
		}
	}
}

// Err returns why the sequencer has stopped, an ErrStopped; nil while it runs.
func (s *Sequencer) Err() error {
	select {
	case <-s.done:
		return s.stopped()
	default:
		return nil
	}
}

func (s *Sequencer) stopped() error { return fmt.Errorf("%w: %w", ErrStopped, s.err) }

// check refuses an append whose events could not follow one another in any log.
func (r *request) check() error {
	n := len(r.Events)
	if n == 0 {
		return errors.New("append of no events")
	}
	if n > event.MaxMatchEvents {
		return fmt.Errorf("append of %d events exceeds %d", n, event.MaxMatchEvents)
	}
	r.streams = r.room[:0]
	if n == 1 && len(r.Events[0].Raw()) > 0 { // as the loop below, for less
		r.size = len(r.Events[0].Raw())
		return nil
	}
	newest := make(map[event.Stream]int, 1)
	r.before = make([]int, n)
	for i := range r.Events {
		e := &r.Events[i]
		if len(e.Raw()) == 0 {
			return fmt.Errorf("append: event %d is not one that package event made", i)
		}
		r.size += len(e.Raw())
		j, ok := newest[e.Stream]
		if !ok {
			j = -1
		} else if b := &r.Events[j]; e.Seq != b.Seq+1 || e.Prev != b.Leaf() {
			return fmt.Errorf("append: event %d does not follow event %d of the stream %s", i, j, e.Stream)
		}
		r.before[i], newest[e.Stream] = j, i
	}
	return nil
}

// receipts of a request that was placed or stands in the log.
func (r *request) receipts() []ledger.Receipt {
	list := make([]ledger.Receipt, len(r.Events))
	for i := range list {
		list[i] = ledger.Receipt{Index: r.first + int64(i), Leaf: r.Events[i].Leaf()}
	}
	return list
}
