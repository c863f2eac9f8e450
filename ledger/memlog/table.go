package memlog

import (
	"bytes"
	"slices"
	"sort"

	"ludger/ledger"
)

// A table is an ordered map: a row of chunks, each a sorted list of pairs, none empty. An insertion
// moves at most a chunk and the row.
type table struct {
	chunks [][]pair
}

type pair struct {
	key   string
	value []byte
}

const maxChunk = 512

// find returns the place of the first key >= key.
func (t *table) find(key string) (chunk, at int, found bool) {
	chunk = sort.Search(len(t.chunks), func(i int) bool {
		c := t.chunks[i]
		return c[len(c)-1].key >= key
	})
	if chunk == len(t.chunks) {
		return chunk, 0, false
	}
	c := t.chunks[chunk]
	at = sort.Search(len(c), func(i int) bool { return c[i].key >= key })
	return chunk, at, c[at].key == key
}

func (t *table) get(key string) ([]byte, bool) {
	chunk, at, found := t.find(key)
	if !found {
		return nil, false
	}
	return t.chunks[chunk][at].value, true
}

func (t *table) set(key string, value []byte) {
	chunk, at, found := t.find(key)
	if found {
		t.chunks[chunk][at].value = value
		return
	}
	if chunk == len(t.chunks) {
		if chunk == 0 {
			t.chunks = append(t.chunks, nil)
		} else {
			chunk--
		}
		at = len(t.chunks[chunk])
	}
	c := slices.Insert(t.chunks[chunk], at, pair{key, value})
	t.chunks[chunk] = c
	if len(c) > maxChunk {
		half := len(c) / 2
		t.chunks[chunk] = slices.Clone(c[:half])
		t.chunks = slices.Insert(t.chunks, chunk+1, slices.Clone(c[half:]))
	}
}

func (t *table) scan(lo, hi string, max int, reverse bool) []ledger.KV {
	var list []ledger.KV
	take := func(p pair) { list = append(list, ledger.KV{Key: []byte(p.key), Value: bytes.Clone(p.value)}) }
	if !reverse {
		for chunk, at, _ := t.find(lo); chunk < len(t.chunks) && len(list) < max; chunk, at = chunk+1, 0 {
			for c := t.chunks[chunk]; at < len(c) && len(list) < max; at++ {
				if c[at].key >= hi {
					return list
				}
				take(c[at])
			}
		}
		return list
	}
	chunk, at, _ := t.find(hi)
	for len(list) < max {
		if at--; at < 0 {
			if chunk--; chunk < 0 {
				break
			}
			at = len(t.chunks[chunk]) - 1
		}
		if p := t.chunks[chunk][at]; p.key < lo {
			break
		} else {
			take(p)
		}
	}
	return list
}
