// Package proof makes and checks the two proofs of an RFC 6962 tree, and reads and writes the C2SP
// tlog-proof text that carries one of them with its checkpoint.
//
// An inclusion proof shows that a leaf stands at an index of a tree whose root is known; a
// consistency proof, that a tree with one root is the beginning of a larger tree with another.
// Inclusion and Consistency make them from a reader of tree nodes, CheckInclusion and
// CheckConsistency check them without one. A proof has one form only: the checks know its exact
// length from the sizes, and refuse a hash too few or too many.
//
// Proof is the file an auditor gets. Its checkpoint is only text until package checkpoint has
// verified it against a policy, and its index and hashes say nothing until CheckInclusion has held
// them against that checkpoint's size and root.
//
// See RFC 6962 section 2.1, RFC 9162 sections 2.1.3.2 and 2.1.4.2, and https://c2sp.org/tlog-proof.
package proof

import (
	"fmt"
	"math/bits"
	"slices"

	"ludger/checkpoint/tiles"
)

// Nodes returns the root of the complete subtree of 2^height leaves that is number n from the
// left, counted from 0. It is asked only for subtrees that the tree has.
type Nodes = func(height int, n int64) ([32]byte, error)

// Root computes the root of the tree of the given size, in at most 63 reads.
func Root(nodes Nodes, size int64) ([32]byte, error) {
	if size < 0 {
		return [32]byte{}, fmt.Errorf("a tree of %d leaves cannot be", size)
	}
	if size == 0 {
		return tiles.EmptyRoot(), nil
	}
	return subtree(nodes, 0, size)
}

// subtree computes the tree hash of the leaves from lo up to hi, MTH(D[lo:hi]); lo must be a
// multiple of the largest power of two that is not above hi − lo.
func subtree(nodes Nodes, lo, hi int64) (hash [32]byte, err error) {
	for end := hi; end > lo; {
		height := bits.TrailingZeros64(uint64(end - lo))
		left, err := nodes(height, (end-1)>>height)
		if err != nil {
			return hash, fmt.Errorf("reading tree node %d of height %d: %w", (end-1)>>height, height, err)
		}
		if end == hi {
			hash = left
		} else {
			hash = tiles.NodeHash(left, hash)
		}
		end -= 1 << height
	}
	return hash, nil
}

// split returns the largest power of two below n, which is at least 2.
func split(n int64) int64 { return 1 << (bits.Len64(uint64(n-1)) - 1) }

// Inclusion makes the proof that a leaf stands at index in the tree of the given size: PATH of RFC
// 6962 section 2.1.1, from the leaf's sibling up. It reads at most two nodes for each level.
func Inclusion(nodes Nodes, index, size int64) ([][32]byte, error) {
	if index < 0 || index >= size {
		return nil, fmt.Errorf("index %d is not in a tree of %d leaves", index, size)
	}
	var path [][32]byte
	for lo, hi := int64(0), size; hi-lo > 1; {
		var sibling [32]byte
		var err error
		if mid := lo + split(hi-lo); index < mid {
			sibling, err = subtree(nodes, mid, hi)
			hi = mid
		} else {
			sibling, err = subtree(nodes, lo, mid)
			lo = mid
		}
		if err != nil {
			return nil, err
		}
		path = append(path, sibling)
	}
	slices.Reverse(path)
	return path, nil
}

// Consistency makes the proof that the tree of size old is the beginning of the tree of the given
// size: PROOF of RFC 6962 section 2.1.2. It is empty if old is 0 or size. It reads at most two
// nodes for each level.
func Consistency(nodes Nodes, old, size int64) ([][32]byte, error) {
	if old < 0 || old > size {
		return nil, fmt.Errorf("a tree of %d leaves is not the beginning of one of %d", old, size)
	}
	if old == 0 || old == size {
		return nil, nil
	}
	var path [][32]byte
	lo, hi := int64(0), size
	for hi != old {
		var sibling [32]byte
		var err error
		if mid := lo + split(hi-lo); old <= mid {
			sibling, err = subtree(nodes, mid, hi)
			hi = mid
		} else {
			sibling, err = subtree(nodes, lo, mid)
			lo = mid
		}
		if err != nil {
			return nil, err
		}
		path = append(path, sibling)
	}
	if lo > 0 { // else what is left is the old tree itself, whose root the checker has
		h, err := subtree(nodes, lo, hi)
		if err != nil {
			return nil, err
		}
		path = append(path, h)
	}
	slices.Reverse(path)
	return path, nil
}

// CheckInclusion checks that the leaf hash stands at index in the tree of the given size and root
// (RFC 9162 section 2.1.3.2).
func CheckInclusion(leaf [32]byte, index, size int64, root [32]byte, proof [][32]byte) error {
	if index < 0 || index >= size {
		return fmt.Errorf("index %d is not in a tree of %d leaves", index, size)
	}
	hash := leaf
	fn, sn := index, size-1
	for _, p := range proof {
		if sn == 0 {
			return tooLong(len(proof), size)
		}
		if fn&1 == 1 || fn == sn {
			hash = tiles.NodeHash(p, hash)
			for fn&1 == 0 && fn != 0 {
				fn, sn = fn>>1, sn>>1
			}
		} else {
			hash = tiles.NodeHash(hash, p)
		}
		fn, sn = fn>>1, sn>>1
	}
	if sn != 0 {
		return tooShort(len(proof), size)
	}
	if hash != root {
		return fmt.Errorf("the inclusion proof of index %d leads to root %x, not to %x of the tree of %d leaves", index, hash, root, size)
	}
	return nil
}

// CheckConsistency checks that the tree of size old and root oldRoot is the beginning of the tree
// of the given size and root (RFC 9162 section 2.1.4.2). The tree without leaves is the beginning
// of every tree.
func CheckConsistency(old int64, oldRoot [32]byte, size int64, root [32]byte, proof [][32]byte) error {
	switch {
	case old < 0 || old > size:
		return fmt.Errorf("a tree of %d leaves is not the beginning of one of %d", old, size)
	case old == 0 || old == size:
		if len(proof) > 0 {
			return tooLong(len(proof), size)
		}
		if old == 0 {
			root = tiles.EmptyRoot()
		}
		if oldRoot != root {
			return fmt.Errorf("two roots for a tree of %d leaves: %x and %x", old, oldRoot, root)
		}
		return nil
	case len(proof) == 0:
		return tooShort(0, size)
	}
	fn, sn := old-1, size-1
	for fn&1 == 1 {
		fn, sn = fn>>1, sn>>1
	}
	oldHash, hash := proof[0], proof[0]
	rest := proof[1:]
	if old&(old-1) == 0 { // a complete tree: the proof leaves its root out
		oldHash, hash = oldRoot, oldRoot
		rest = proof
	}
	for _, c := range rest {
		if sn == 0 {
			return tooLong(len(proof), size)
		}
		if fn&1 == 1 || fn == sn {
			oldHash = tiles.NodeHash(c, oldHash)
			hash = tiles.NodeHash(c, hash)
			for fn&1 == 0 && fn != 0 {
				fn, sn = fn>>1, sn>>1
			}
		} else {
			hash = tiles.NodeHash(hash, c)
		}
		fn, sn = fn>>1, sn>>1
	}
	switch {
	case sn != 0:
		return tooShort(len(proof), size)
	case oldHash != oldRoot:
		return fmt.Errorf("the consistency proof from %d to %d leaves leads to the old root %x, not to %x", old, size, oldHash, oldRoot)
	case hash != root:
		return fmt.Errorf("the consistency proof from %d to %d leaves leads to the new root %x, not to %x", old, size, hash, root)
	}
	return nil
}

func tooLong(n int, size int64) error {
	return fmt.Errorf("a proof of %d hashes is too long for this place in a tree of %d leaves", n, size)
}

func tooShort(n int, size int64) error {
	return fmt.Errorf("a proof of %d hashes is too short for this place in a tree of %d leaves", n, size)
}
