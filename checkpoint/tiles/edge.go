// Package tiles holds the arithmetic of an RFC 6962 Merkle tree as C2SP tlog-tiles lays it out: its
// growing right edge, the paths of its tiles, and the form of its entry bundles.
//
// Edge is the tree while it grows: append leaf hashes, ask for the root. It remembers one hash for
// each complete subtree along the right edge, at most 63, so an append costs one to 63 hashes (two
// on average), a root as many, and nothing is ever computed twice:
//
//	size 7 = 4 + 2 + 1         root = H(a, H(b, c))
//	       a       b   c
//	     /   \    / \  |
//	    ·     ·  5  6  7
//	   1 2   3 4
//
// A tile is 256 hashes in a row: at level 0 leaf hashes, at level L roots of complete subtrees of
// 256^L leaves. Append reports each such root once, when it is complete; a store that keeps them
// and the leaf hashes of the last tile can bring the Edge back with LoadEdge after reading only
// the rightmost tile of each level.
//
// See https://c2sp.org/tlog-tiles and RFC 6962 section 2.1.
package tiles

import (
	"crypto/sha256"
	"fmt"
	"math/bits"
)

// Height is the number of tree levels in a tile, Width the number of hashes in a full one.
const (
	Height = 8
	Width  = 1 << Height
)

// NodeHash returns the hash of an inner node, SHA-256(0x01 ‖ left ‖ right).
func NodeHash(left, right [32]byte) [32]byte {
	var buf [65]byte
	buf[0] = 1
	copy(buf[1:], left[:])
	copy(buf[33:], right[:])
	return sha256.Sum256(buf[:])
}

// EmptyRoot returns the root of the tree without leaves, SHA-256 of nothing.
func EmptyRoot() [32]byte { return sha256.Sum256(nil) }

// An Edge is the right edge of a tree. The zero Edge is the tree without leaves. It is not safe
// for concurrent use.
type Edge struct {
	size int64
	node [63][32]byte // node[h] is the root of the complete subtree of 2^h leaves if size has bit h
}

// Size returns the number of leaves.
func (e *Edge) Size() int64 { return e.size }

// Clone returns a copy that grows on its own.
func (e *Edge) Clone() *Edge {
	c := *e
	return &c
}

// Append adds a leaf hash. For every subtree of height 8·level, level 1 and up, that the leaf
// completes it calls done, lowest first; n is the subtree's number from the left, counted from 0.
// done may be nil.
func (e *Edge) Append(leaf [32]byte, done func(level int, n int64, hash [32]byte)) {
	e.push(0, leaf, done)
}

// push adds the root of a complete subtree of 2^h leaves; size is a multiple of that.
func (e *Edge) push(h int, hash [32]byte, done func(level int, n int64, hash [32]byte)) {
	low := h
	for ; e.size>>h&1 == 1; h++ {
		hash = NodeHash(e.node[h], hash)
		if done != nil && (h+1)%Height == 0 {
			done((h+1)/Height, e.size>>(h+1), hash)
		}
	}
	e.node[h] = hash
	e.size += 1 << low
}

// Root returns the Merkle tree hash of RFC 6962 section 2.1.
func (e *Edge) Root() [32]byte {
	if e.size == 0 {
		return EmptyRoot()
	}
	h := bits.TrailingZeros64(uint64(e.size))
	hash := e.node[h]
	for h++; e.size>>h != 0; h++ {
		if e.size>>h&1 == 1 {
			hash = NodeHash(e.node[h], hash)
		}
	}
	return hash
}

// LoadEdge brings back the Edge of a tree of the given size. hash returns the root that Append
// reported for (level, n); leaves returns count leaf hashes from index first on. They are asked
// only for what the rightmost, partial tiles hold: at most 255 hashes of each level.
func LoadEdge(size int64, hash func(level int, n int64) ([32]byte, error), leaves func(first, count int64) ([][32]byte, error)) (*Edge, error) {
	if size < 0 {
		return nil, fmt.Errorf("a tree of %d leaves cannot be", size)
	}
	e := new(Edge)
	for level := (bits.Len64(uint64(size)) - 1) / Height; level > 0; level-- {
		for n := size >> (Height * level) &^ (Width - 1); n < size>>(Height*level); n++ {
			h, err := hash(level, n)
			if err != nil {
				return nil, fmt.Errorf("reading tree hash %d of level %d: %w", n, level, err)
			}
			e.push(Height*level, h, nil)
		}
	}
	count := size % Width
	if count == 0 {
		return e, nil
	}
	list, err := leaves(size-count, count)
	if err != nil {
		return nil, fmt.Errorf("reading %d leaf hashes from %d on: %w", count, size-count, err)
	}
	if int64(len(list)) != count {
		return nil, fmt.Errorf("reading %d leaf hashes from %d on: got %d", count, size-count, len(list))
	}
	for _, h := range list {
		e.push(0, h, nil)
	}
	return e, nil
}
