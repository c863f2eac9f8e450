package sequencer

import (
	"context"

	"ludger/checkpoint/tiles"
	"ludger/ledger"
)

// place gives a request its place in the group, or answers it, or puts it off to the next group.
func (s *Sequencer) place(ctx context.Context, r *request) {
	s.group.judged += len(r.Events)
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
	later                // can be judged only when the group under way is durable
)

// judge compares a request with the log and the group under way. What it tells is durable.
func (s *Sequencer) judge(ctx context.Context, r *request) ([]ledger.Receipt, verdict, error) {
	if r.ID != "" {
		if s.group.ids[r.ID] {
			return nil, later, nil
		}
		if r.known || s.ids.maybe(r.ID, r.since) {
			done, ok, err := ledger.FindID(ctx, s.log, r.ID)
			if err != nil {
				return nil, 0, err
			}
			if ok {
				receipts, err := s.repeat(ctx, r, done)
				return receipts, again, err
			}
		}
	}
	r.streams = r.streams[:0]
	for i := range r.Events {
		e := &r.Events[i]
		if r.before != nil && r.before[i] >= 0 {
			r.streams = append(r.streams, r.streams[r.before[i]])
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
			return nil, later, nil
		}
		if r.ID == "" {
			receipts, ok, err := s.stands(ctx, r)
			if err != nil {
				return nil, 0, err
			}
			if ok {
				return receipts, again, nil
			}
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
