package sequencer

import (
	"context"
	"strings"

	"ludger/ledger"
	"ludger/ledger/event"
)

// A group is what one commit writes. Its memory is used again by the next one.
type group struct {
	number   int64 // tells the groups of one sequencer apart, from 1
	requests []*request
	judged   int // events of the requests that were looked at, placed or not
	entries  [][]byte
	bytes    int // of the entries
	ids      map[string]bool

	pairs []pair
	slab  []byte // keys and small values, one after the other
	kvs   []ledger.KV
}

// A pair is an index key and value. They lie in the slab until the group is whole, since the slab
// moves as it grows.
type pair struct {
	start, mid, end int
	large           []byte // the value, if it is not in the slab
}

func (g *group) reset() {
	g.number++
	clear(g.requests) // so that answered requests can go
	clear(g.entries)
	clear(g.pairs)
	clear(g.ids)
	g.requests, g.entries, g.pairs, g.slab = g.requests[:0], g.entries[:0], g.pairs[:0], g.slab[:0]
	g.bytes, g.judged = 0, 0
}

// full counts what was refused too: a group must not wait while refusals go on, nor the heads it
// changed leave the headCache.
func (g *group) full() bool { return g.judged >= maxGroupEvents || g.bytes >= maxGroupBytes }

// start marks where a key begins that the caller appends to the slab; value or pair ends it.
func (g *group) start() int { return len(g.slab) }

// value adds the pair of the key from start on and an index as its value.
func (g *group) value(start int, index int64) {
	mid := len(g.slab)
	g.slab = ledger.AppendIndex(g.slab, index)
	g.pairs = append(g.pairs, pair{start: start, mid: mid, end: len(g.slab)})
}

// pair adds the pair of the key from start on and a value of any size.
func (g *group) pair(start int, value []byte) {
	g.pairs = append(g.pairs, pair{start: start, mid: len(g.slab), end: len(g.slab), large: value})
}

// index returns the group's pairs, valid until reset.
func (g *group) index() []ledger.KV {
	g.kvs = g.kvs[:0]
	for _, p := range g.pairs {
		kv := ledger.KV{Key: g.slab[p.start:p.mid], Value: p.large}
		if p.large == nil {
			kv.Value = g.slab[p.mid:p.end]
		}
		g.kvs = append(g.kvs, kv)
	}
	return g.kvs
}

// A head is the newest end of a stream, with the group under way included.
type head struct {
	first  int64 // index of the stream's first event, if it has one
	length int64
	leaf   event.Leaf
	group  int64 // that last changed it
}

// maxHeads bounds the streams in each half of a headCache; a head takes some 250 bytes.
const maxHeads = 1 << 15

// What one group uses fits into a half, so none of its heads is lost before the log has them.
const _ = uint(maxHeads - maxGroupEvents - event.MaxMatchEvents)

// A headCache remembers the heads of streams that were used lately: those used since the younger
// half was begun, and those of the half before.
type headCache struct {
	young, old map[event.Stream]*head
}

func (c *headCache) get(ctx context.Context, log ledger.Log, stream event.Stream) (*head, error) {
	if h, ok := c.young[stream]; ok {
		return h, nil
	}
	h, ok := c.old[stream]
	if !ok {
		stored, err := ledger.ReadStreamHead(ctx, log, stream)
		if err != nil {
			return nil, err
		}
		h = &head{first: stored.First, length: stored.Length, leaf: stored.Leaf}
	}
	if c.young == nil || len(c.young) >= maxHeads {
		c.young, c.old = make(map[event.Stream]*head), c.young
	}
	c.young[event.Stream(strings.Clone(string(stream)))] = h // stream is a part of its event's text
	return h, nil
}

// An idCache remembers the idempotency ids that were committed lately, so that an id which its caller
// has looked for in the log is not looked for again by the committer, which nobody can help.
type idCache struct {
	young, old map[string]bool
	began      [2]int64 // the first group whose ids are in young, and in old
}

// maxIDs bounds the ids in each half of an idCache.
const maxIDs = 1 << 14

// add remembers the ids of a group that was committed.
func (c *idCache) add(group int64, ids map[string]bool) {
	if len(c.young) >= maxIDs || c.young == nil {
		c.young, c.old = make(map[string]bool), c.young
		c.began = [2]int64{group, c.began[0]}
	}
	for id := range ids {
		c.young[id] = true
	}
}

// maybe tells whether an id may have come into the log with a group after the one given.
func (c *idCache) maybe(id string, since int64) bool {
	return since+1 < c.began[1] || c.young[id] || c.old[id]
}
