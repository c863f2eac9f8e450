package sequencer

import (
	"bytes"
	"context"
	"fmt"

	"ludger/checkpoint/tiles"
	"ludger/ledger"
	"ludger/ledger/event"
)

// Check computes the tree and the index of a log again from its entries and compares both with what
// the log has. Its error is ledger.ErrCorrupt with the first difference, or that of a read. Nothing
// may be appended meanwhile. It keeps one small record for each stream.
func Check(ctx context.Context, log ledger.Log) error {
	head, err := log.Head(ctx)
	if err != nil {
		return err
	}
	c := checker{log: log, streams: make(map[event.Stream]*run)}
	for c.edge.Size() < head.Size {
		entries, err := log.Scan(ctx, c.edge.Size(), maxGroupEvents)
		if err != nil {
			return err
		}
		for _, entry := range entries {
			if err := c.entry(ctx, entry); err != nil {
				return err
			}
		}
	}
	if root := c.edge.Root(); root != head.Root {
		return fmt.Errorf("%w: its head of %d entries has root %x, the entries give %x", ledger.ErrCorrupt, head.Size, head.Root, root)
	}
	return c.count(ctx, head.Size)
}

type checker struct {
	log     ledger.Log
	edge    tiles.Edge
	tile    []byte // leaf hashes of the last, partial tile
	streams map[event.Stream]*run
	pairs   int64 // index pairs that must be there, without idempotency ids
}

// A run is how far a stream has come.
type run struct {
	first, length int64
	leaf          event.Leaf // of its newest event
}

func (c *checker) entry(ctx context.Context, entry []byte) error {
	index := c.edge.Size()
	e, err := event.Parse(entry)
	if err != nil {
		return fmt.Errorf("%w: entry %d is no event: %w", ledger.ErrCorrupt, index, err)
	}
	h := c.streams[e.Stream]
	if h == nil {
		h = &run{first: index}
		c.streams[e.Stream] = h
		if err := c.want(ctx, ledger.AppendStreamKey(nil, e.Stream), ledger.AppendIndex(nil, index)); err != nil {
			return err
		}
	}
	if e.Seq != h.length {
		return fmt.Errorf("%w: entry %d is event %d of the stream %s, which has %d", ledger.ErrCorrupt, index, e.Seq, e.Stream, h.length)
	}
	if e.Prev != h.leaf {
		return fmt.Errorf("%w: entry %d does not name the event before it in the stream %s: %s, not %s", ledger.ErrCorrupt, index, e.Stream, e.Prev, h.leaf)
	}
	if err := c.want(ctx, ledger.AppendPlaceKey(nil, h.first, h.length), ledger.AppendIndex(nil, index)); err != nil {
		return err
	}
	leaf := e.Leaf()
	h.length, h.leaf = h.length+1, leaf
	if c.tile = append(c.tile, leaf[:]...); len(c.tile) == tiles.Width*len(leaf) {
		if err := c.want(ctx, ledger.AppendHashKey(nil, 0, index/tiles.Width), c.tile); err != nil {
			return err
		}
		c.tile = c.tile[:0]
	}
	c.edge.Append(leaf, func(level int, n int64, hash [32]byte) {
		if err == nil {
			err = c.want(ctx, ledger.AppendHashKey(nil, level, n), hash[:])
		}
	})
	return err
}

// want compares one index pair.
func (c *checker) want(ctx context.Context, key, value []byte) error {
	c.pairs++
	got, ok, err := c.log.Get(ctx, key)
	if err != nil {
		return err
	}
	if !ok || !bytes.Equal(got, value) {
		return fmt.Errorf("%w: index key %q has the value %x, the entries give %x", ledger.ErrCorrupt, key, got, value)
	}
	return nil
}

// count goes through the whole index: idempotency ids must name entries, and nothing else may be
// there than what the entries gave.
func (c *checker) count(ctx context.Context, size int64) error {
	var lo []byte
	hi := bytes.Repeat([]byte{0xff}, 256)
	pairs := int64(0)
	for {
		kvs, err := c.log.Range(ctx, lo, hi, maxGroupEvents, false)
		if err != nil {
			return err
		}
		for _, kv := range kvs {
			if len(kv.Key) != 1+32 || kv.Key[0] != 'i' {
				pairs++
				continue
			}
			done, err := ledger.ParseDone(kv.Value)
			if err != nil {
				return fmt.Errorf("%w: index key %q: %w", ledger.ErrCorrupt, kv.Key, err)
			}
			if done.Count > size || done.First > size-done.Count {
				return fmt.Errorf("%w: index key %q names %d entries from %d on, the log has %d", ledger.ErrCorrupt, kv.Key, done.Count, done.First, size)
			}
		}
		if len(kvs) < maxGroupEvents {
			break
		}
		lo = append(kvs[len(kvs)-1].Key, 0)
	}
	if pairs != c.pairs {
		return fmt.Errorf("%w: its index has %d keys, the entries give %d", ledger.ErrCorrupt, pairs, c.pairs)
	}
	return nil
}
