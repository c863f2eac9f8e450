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
// or without an id because the very same events already stand at their places.
//
// # Group commit
//
// One goroutine takes all appends that wait, up to a bound, checks them in their order, and commits
// them as one batch with one sync: entries, index (drawn in package ledger), and the next tree head.
// So throughput does not hang on the latency of the disk. The tree grows by O(log n) hashes for each
// entry and is never rebuilt; opening reads a few hundred hashes however long the log is.
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
	// Events are appended in this order. Those of one stream follow one another.
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

	// The committer's own, from here on.
	epoch uint64
	head  ledger.Head
	edge  *tiles.Edge
	tail  [][32]byte // leaf hashes of the last, partial tile
	heads headCache
	group group
	late  []*request // wait for the group under way, since it touches their streams
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

// A request is an append under way. The committer owns it until it has sent its answer.
type request struct {
	Append
	streams []*head // of each event, the cached head of its stream
	first   int64   // index that the group gives its first event
	size    int     // bytes of its entries
	answer  chan answer
}

type answer struct {
	receipts []ledger.Receipt
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
	select {
	case <-s.done: // else the select below might still find room in the queue
		return nil, s.stopped()
	default:
	}
	select {
	case s.queue <- r:
	case <-ctx.Done():
		return nil, fmt.Errorf("waiting to append: %w", ctx.Err())
	case <-s.done:
		return nil, s.stopped()
	}
	select {
	case got := <-r.answer:
		return got.receipts, got.err
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %w", ErrUnclear, ctx.Err())
	case <-s.done:
	}
	select {
	case got := <-r.answer: // the committer's last
		return got.receipts, got.err
	default:
		return nil, s.stopped() // it came too late to be seen
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
	var last map[event.Stream]int
	for i := range r.Events {
		e := &r.Events[i]
		r.size += len(e.Raw())
		if n == 1 {
			break
		}
		if last == nil {
			last = make(map[event.Stream]int, 1)
		}
		if j, ok := last[e.Stream]; ok {
			if before := &r.Events[j]; e.Seq != before.Seq+1 || e.Prev != before.Leaf() {
				return fmt.Errorf("append: event %d does not follow event %d of the stream %s", i, j, e.Stream)
			}
		}
		last[e.Stream] = i
	}
	return nil
}

// run is the committer.
func (s *Sequencer) run() {
	err := errClosed
	for {
		r := s.wait()
		if r == nil {
			break
		}
		if err = s.commit(r); err != nil {
			break
		}
		err = errClosed
	}
	s.err = err
	for _, r := range s.late {
		r.answer <- answer{err: s.stopped()}
	}
	close(s.done)
	for { // those that were queued before done was closed
		select {
		case r := <-s.queue:
			r.answer <- answer{err: s.stopped()}
		default:
			return
		}
	}
}

// wait returns the next request; nil after Close.
func (s *Sequencer) wait() *request {
	select {
	case <-s.quit:
		return nil
	default:
	}
	if len(s.late) > 0 {
		r := s.late[0]
		s.late = append(s.late[:0], s.late[1:]...)
		return r
	}
	select {
	case r := <-s.queue:
		return r
	case <-s.quit:
		return nil
	}
}

// commit makes a group of the request and those that wait behind it, and commits it. Its error stops
// the sequencer.
func (s *Sequencer) commit(r *request) error {
	ctx := context.Background() // a group outlives the callers that it serves
	s.group.reset()
	waiting := s.late
	s.late = nil
	for r != nil {
		s.place(ctx, r)
		r = nil
		if s.group.full() {
			break
		}
		if len(waiting) > 0 {
			r, waiting = waiting[0], waiting[1:]
			continue
		}
		select {
		case r = <-s.queue:
		default:
		}
	}
	s.late = append(s.late, waiting...)
	if len(s.group.requests) == 0 {
		return nil
	}
	next := ledger.Head{Size: s.edge.Size(), Root: s.edge.Root()}
	err := s.log.Commit(ctx, s.epoch, s.head, ledger.Batch{Entries: s.group.entries, Index: s.group.index()}, next)
	if err != nil {
		told := fmt.Errorf("%w: %w", ErrUnclear, err)
		if errors.Is(err, ledger.ErrFenced) {
			told = fmt.Errorf("%w: %w", ErrStopped, err)
		}
		for _, r := range s.group.requests {
			r.answer <- answer{err: told}
		}
		return err
	}
	s.head = next
	for _, r := range s.group.requests {
		r.answer <- answer{receipts: r.receipts()}
	}
	return nil
}

// receipts of a request that was placed.
func (r *request) receipts() []ledger.Receipt {
	list := make([]ledger.Receipt, len(r.Events))
	for i := range list {
		list[i] = ledger.Receipt{Index: r.first + int64(i), Leaf: r.Events[i].Leaf()}
	}
	return list
}

// place gives a request its place in the group, or answers it, or puts it off to the next group.
func (s *Sequencer) place(ctx context.Context, r *request) {
	receipts, verdict, err := s.judge(ctx, r)
	switch {
	case err != nil:
		r.answer <- answer{err: err}
	case verdict == again:
		r.answer <- answer{receipts: receipts}
	case verdict == later:
		s.late = append(s.late, r)
	default:
		s.add(r)
	}
}

type verdict int

const (
	fresh verdict = iota // can be placed
	again                // was appended before
	later                // can be judged only after the group under way
)

// judge compares a request with the log and the group.
func (s *Sequencer) judge(ctx context.Context, r *request) ([]ledger.Receipt, verdict, error) {
	if r.ID != "" {
		if s.group.ids[r.ID] {
			return nil, later, nil
		}
		done, ok, err := ledger.FindID(ctx, s.log, r.ID)
		if err != nil {
			return nil, 0, err
		}
		if ok {
			receipts, err := s.repeat(ctx, r, done)
			return receipts, again, err
		}
	}
	r.streams = r.streams[:0]
	for i := range r.Events {
		e := &r.Events[i]
		var h *head
		for j := i - 1; j >= 0 && h == nil; j-- { // appends hold few streams, and runs of one
			if r.Events[j].Stream == e.Stream {
				h = r.streams[j]
			}
		}
		if h != nil {
			r.streams = append(r.streams, h)
			continue
		}
		h, err := s.heads.get(ctx, s.log, e.Stream)
		if err != nil {
			return nil, 0, err
		}
		r.streams = append(r.streams, h)
		if e.Seq == h.length && e.Prev == h.leaf {
			continue
		}
		if h.group == s.group.number {
			return nil, later, nil // what is not durable must not be told
		}
		receipts, ok, err := s.stands(ctx, r)
		if err != nil {
			return nil, 0, err
		}
		if ok {
			return receipts, again, nil
		}
		return nil, 0, &ledger.ConflictError{Stream: e.Stream, Expected: e.Seq, Actual: h.length, ActualLeaf: h.leaf}
	}
	return nil, fresh, nil
}

// repeat returns the receipts of an append whose id was used before.
func (s *Sequencer) repeat(ctx context.Context, r *request, done ledger.Done) ([]ledger.Receipt, error) {
	if done.Digest != r.Digest {
		return nil, ledger.ErrReused
	}
	leaves, err := ledger.Hashes{Log: s.log}.Leaves(ctx, done.First, done.Count)
	if err != nil {
		return nil, err
	}
	list := make([]ledger.Receipt, len(leaves))
	for i, leaf := range leaves {
		list[i] = ledger.Receipt{Index: done.First + int64(i), Leaf: leaf}
	}
	return list, nil
}

// stands tells whether the very events of a request are in the log already, as neighbours in their
// order, and returns their receipts.
func (s *Sequencer) stands(ctx context.Context, r *request) ([]ledger.Receipt, bool, error) {
	first := &r.Events[0]
	places, err := ledger.ReadPlaces(ctx, s.log, first.Stream, first.Seq, 1)
	if err != nil || len(places) == 0 {
		return nil, false, err
	}
	count := int64(len(r.Events))
	if places[0].Index > s.head.Size-count {
		return nil, false, nil
	}
	leaves, err := ledger.Hashes{Log: s.log}.Leaves(ctx, places[0].Index, count)
	if err != nil {
		return nil, false, err
	}
	for i, leaf := range leaves {
		if leaf != r.Events[i].Leaf() {
			return nil, false, nil
		}
	}
	r.first = places[0].Index
	return r.receipts(), true, nil
}

// add puts a request into the group.
func (s *Sequencer) add(r *request) {
	g := &s.group
	r.first = s.edge.Size()
	g.requests = append(g.requests, r)
	for i := range r.Events {
		e, h := &r.Events[i], r.streams[i]
		index := s.edge.Size()
		if h.length == 0 {
			h.first = index
			start := g.start()
			g.slab = ledger.AppendStreamKey(g.slab, e.Stream)
			g.pair(start, ledger.AppendIndex(nil, index))
		}
		start := g.start()
		g.slab = ledger.AppendPlaceKey(g.slab, h.first, h.length)
		g.value(start, index)
		h.length, h.leaf, h.group = h.length+1, e.Leaf(), g.number

		s.tail = append(s.tail, e.Leaf())
		s.edge.Append(e.Leaf(), func(level int, n int64, hash [32]byte) {
			start := g.start()
			g.slab = ledger.AppendHashKey(g.slab, level, n)
			g.pair(start, append([]byte(nil), hash[:]...))
		})
		if len(s.tail) == tiles.Width {
			tile := make([]byte, 0, tiles.Width*32)
			for i := range s.tail {
				tile = append(tile, s.tail[i][:]...)
			}
			start := g.start()
			g.slab = ledger.AppendHashKey(g.slab, 0, index/tiles.Width)
			g.pair(start, tile)
			s.tail = s.tail[:0]
		}
		g.entries = append(g.entries, e.Raw())
	}
	g.bytes += r.size
	if r.ID != "" {
		if g.ids == nil {
			g.ids = make(map[string]bool)
		}
		g.ids[r.ID] = true
		start := g.start()
		g.slab = ledger.AppendIDKey(g.slab, r.ID)
		done := ledger.Done{First: r.first, Count: int64(len(r.Events)), Digest: r.Digest}
		g.pair(start, done.Append(nil))
	}
}
