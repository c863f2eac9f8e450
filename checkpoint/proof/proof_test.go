package proof_test

import (
	"encoding/hex"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/transparency-dev/merkle/proof"
	"github.com/transparency-dev/merkle/rfc6962"
	"golang.org/x/mod/sumdb/tlog"

	. "ludger/checkpoint/proof"
	"ludger/checkpoint/tiles"
	"ludger/ledger/event"
)

// tree holds every node of a log whose entry n is n in decimal: row h, the nodes of height h.
type tree [][][32]byte

func grow(size int64) tree {
	var t tree
	row := make([][32]byte, size)
	for n := range row {
		row[n] = event.LeafHash(strconv.AppendInt(nil, int64(n), 10))
	}
	for ; len(row) > 0; row = row[:len(row)/2] {
		t = append(t, slices.Clone(row))
		for i := range len(row) / 2 {
			row[i] = tiles.NodeHash(row[2*i], row[2*i+1])
		}
	}
	return t
}

// nodes reads the tree as it was at the given size: a later subtree does not exist.
func (t tree) nodes(size int64, reads *int) Nodes {
	return func(height int, n int64) ([32]byte, error) {
		if height < 0 || n < 0 || (n+1)<<height > size {
			return [32]byte{}, errors.New("no such node")
		}
		if reads != nil {
			*reads++
		}
		return t[height][n], nil
	}
}

// root is MTH of RFC 6962 section 2.1, the recursion as it stands there.
func (t tree) root(lo, hi int64) [32]byte {
	switch {
	case lo == hi:
		return tiles.EmptyRoot()
	case hi-lo == 1:
		return t[0][lo]
	}
	k := int64(1)
	for k*2 < hi-lo {
		k *= 2
	}
	return tiles.NodeHash(t.root(lo, lo+k), t.root(lo+k, hi))
}

func slicesOf(hashes [][32]byte) [][]byte {
	out := make([][]byte, len(hashes))
	for i := range hashes {
		out[i] = hashes[i][:]
	}
	return out
}

func sumdbOf(hashes [][32]byte) []tlog.Hash {
	out := make([]tlog.Hash, len(hashes))
	for i := range hashes {
		out[i] = hashes[i]
	}
	return out
}

// reader gives the nodes to golang.org/x/mod/sumdb/tlog under its own numbers.
type reader tree

func (t reader) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	out := make([]tlog.Hash, len(indexes))
	for i, index := range indexes {
		level, n := tlog.SplitStoredHashIndex(index)
		out[i] = t[level][n]
	}
	return out, nil
}

const small = 100 // every tree up to this size is tried

// mutants calls f with every proof that differs from p by one hash changed in one bit, left out,
// doubled or added, or by two neighbours swapped.
func mutants(p [][32]byte, f func(what string, p [][32]byte)) {
	for i := range p {
		m := slices.Clone(p)
		m[i][i%32] ^= 1 << (i % 8)
		f("a bit of hash "+strconv.Itoa(i), m)
		f("without hash "+strconv.Itoa(i), slices.Delete(slices.Clone(p), i, i+1))
		f("hash doubled "+strconv.Itoa(i), slices.Insert(slices.Clone(p), i, p[i]))
		if i > 0 {
			m := slices.Clone(p)
			m[i-1], m[i] = m[i], m[i-1]
			f("swapped "+strconv.Itoa(i), m)
		}
	}
	f("a hash more", append(slices.Clone(p), [32]byte{1}))
	f("a zero hash more", append(slices.Clone(p), [32]byte{}))
}

func TestInclusionExhaustive(t *testing.T) {
	full := grow(small)
	for size := int64(1); size <= small; size++ {
		root := full.root(0, size)
		var reads int
		if got, err := Root(full.nodes(size, &reads), size); err != nil || got != root || reads > 7 {
			t.Fatalf("root of %d leaves: %x, %v in %d reads; want %x", size, got, err, reads, root)
		}
		for index := range size {
			reads = 0
			p, err := Inclusion(full.nodes(size, &reads), index, size)
			if err != nil {
				t.Fatalf("index %d of %d: %v", index, size, err)
			}
			if reads > 14 {
				t.Errorf("index %d of %d: %d reads", index, size, reads)
			}
			theirs, err := tlog.ProveRecord(size, index, reader(full))
			if err != nil || !slices.Equal(sumdbOf(p), theirs) {
				t.Fatalf("index %d of %d: got %x, sumdb makes %x (%v)", index, size, p, theirs, err)
			}
			leaf := full[0][index]
			if err := CheckInclusion(leaf, index, size, root, p); err != nil {
				t.Fatalf("index %d of %d: %v", index, size, err)
			}
			if err := proof.VerifyInclusion(rfc6962.DefaultHasher, uint64(index), uint64(size), leaf[:], slicesOf(p), root[:]); err != nil {
				t.Fatalf("index %d of %d: merkle refuses: %v", index, size, err)
			}
			mutants(p, func(what string, m [][32]byte) {
				if err := CheckInclusion(leaf, index, size, root, m); err == nil {
					t.Errorf("index %d of %d: taken with %s", index, size, what)
				}
			})
			for other := int64(-1); other <= size; other++ {
				if err := CheckInclusion(leaf, other, size, root, p); other != index && err == nil {
					t.Errorf("index %d of %d: proves index %d too", index, size, other)
				}
			}
			bad := leaf
			bad[31] ^= 1
			if CheckInclusion(bad, index, size, root, p) == nil {
				t.Errorf("index %d of %d: taken with another leaf", index, size)
			}
			bad = root
			bad[0] ^= 0x80
			if CheckInclusion(leaf, index, size, bad, p) == nil {
				t.Errorf("index %d of %d: taken with another root", index, size)
			}
		}
	}
}

func TestConsistencyExhaustive(t *testing.T) {
	full := grow(small)
	roots := make([][32]byte, small+1)
	for size := range roots {
		roots[size] = full.root(0, int64(size))
	}
	for size := int64(0); size <= small; size++ {
		for old := int64(0); old <= size; old++ {
			var reads int
			p, err := Consistency(full.nodes(size, &reads), old, size)
			if err != nil {
				t.Fatalf("%d to %d: %v", old, size, err)
			}
			if reads > 14 {
				t.Errorf("%d to %d: %d reads", old, size, reads)
			}
			if old > 0 {
				theirs, err := tlog.ProveTree(size, old, reader(full))
				if err != nil || !slices.Equal(sumdbOf(p), theirs) {
					t.Fatalf("%d to %d: got %x, sumdb makes %x (%v)", old, size, p, theirs, err)
				}
				if err := proof.VerifyConsistency(rfc6962.DefaultHasher, uint64(old), uint64(size), slicesOf(p), roots[old][:], roots[size][:]); err != nil {
					t.Fatalf("%d to %d: merkle refuses: %v", old, size, err)
				}
			}
			if err := CheckConsistency(old, roots[old], size, roots[size], p); err != nil {
				t.Fatalf("%d to %d: %v", old, size, err)
			}
			mutants(p, func(what string, m [][32]byte) {
				if err := CheckConsistency(old, roots[old], size, roots[size], m); err == nil {
					t.Errorf("%d to %d: taken with %s", old, size, what)
				}
			})
			for other := int64(-1); other <= size+1; other++ {
				if other != old && CheckConsistency(other, roots[old], size, roots[size], p) == nil {
					t.Errorf("%d to %d: proves the old size %d too", old, size, other)
				}
			}
			bad := roots[old]
			bad[31] ^= 1
			if CheckConsistency(old, bad, size, roots[size], p) == nil {
				t.Errorf("%d to %d: taken with another old root", old, size)
			}
			bad = roots[size]
			bad[0] ^= 0x80
			if old > 0 && CheckConsistency(old, roots[old], size, bad, p) == nil {
				t.Errorf("%d to %d: taken with another new root", old, size)
			}
		}
	}
}

// TestLargeTree makes proofs about a tree near the largest size, all of whose leaves are equal.
func TestLargeTree(t *testing.T) {
	var node [64][32]byte
	node[0] = event.LeafHash(nil)
	for h := range 63 {
		node[h+1] = tiles.NodeHash(node[h], node[h])
	}
	var reads int
	nodes := func(height int, n int64) ([32]byte, error) { reads++; return node[height], nil }
	for _, size := range []int64{1<<63 - 1, 1<<62 + 1, 1 << 62, 1<<40 - 1} {
		root, err := Root(nodes, size)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int64{0, 1, size / 3, size / 2, size - 1} {
			reads = 0
			p, err := Inclusion(nodes, n, size)
			if err == nil {
				err = CheckInclusion(node[0], n, size, root, p)
			}
			if err != nil || reads > 126 {
				t.Errorf("index %d of %d: %v in %d reads", n, size, err, reads)
			}
			old, err := Root(nodes, n)
			if err != nil {
				t.Fatal(err)
			}
			reads = 0
			p, err = Consistency(nodes, n, size)
			if err == nil {
				err = CheckConsistency(n, old, size, root, p)
			}
			if err != nil || reads > 126 {
				t.Errorf("%d to %d: %v in %d reads", n, size, err, reads)
			}
		}
	}
}

func TestMakersRefuse(t *testing.T) {
	full := grow(small)
	for _, c := range []struct{ index, size int64 }{{-1, 5}, {5, 5}, {0, 0}, {0, -1}} {
		if _, err := Inclusion(full.nodes(small, nil), c.index, c.size); err == nil {
			t.Errorf("inclusion of %d in %d was proved", c.index, c.size)
		}
	}
	for _, c := range []struct{ old, size int64 }{{-1, 5}, {6, 5}, {0, -1}} {
		if _, err := Consistency(full.nodes(small, nil), c.old, c.size); err == nil {
			t.Errorf("consistency from %d to %d was proved", c.old, c.size)
		}
	}
	if _, err := Root(full.nodes(small, nil), -1); err == nil {
		t.Error("a tree of -1 leaves has a root")
	}
	broken := errors.New("disk gone")
	nodes := func(int, int64) ([32]byte, error) { return [32]byte{}, broken }
	if _, err := Inclusion(nodes, 3, 7); !errors.Is(err, broken) {
		t.Errorf("inclusion with a broken reader: %v", err)
	}
	if _, err := Consistency(nodes, 3, 7); !errors.Is(err, broken) {
		t.Errorf("consistency with a broken reader: %v", err)
	}
	if _, err := Root(nodes, 7); !errors.Is(err, broken) {
		t.Errorf("root with a broken reader: %v", err)
	}
}

type inclusionCase struct {
	Index int64    `json:"index"`
	Size  int64    `json:"size"`
	Leaf  string   `json:"leaf"`
	Root  string   `json:"root"`
	Proof []string `json:"proof"`
	Why   string   `json:"why,omitempty"` // what is wrong with an invalid case
}

type consistencyCase struct {
	Old     int64    `json:"old"`
	OldRoot string   `json:"oldRoot"`
	Size    int64    `json:"size"`
	Root    string   `json:"root"`
	Proof   []string `json:"proof"`
	Why     string   `json:"why,omitempty"`
}

type proofVectors[T any] struct {
	About   string `json:"about"`
	Valid   []T    `json:"valid"`
	Invalid []T    `json:"invalid"`
}

func hexes(hashes [][32]byte) []string {
	out := []string{}
	for _, h := range hashes {
		out = append(out, hex.EncodeToString(h[:]))
	}
	return out
}

// unhex reads 32 bytes; hashes of vectors always have them.
func unhex(t testing.TB, s string) (h [32]byte) {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != 32 {
		t.Fatalf("%q is not 32 bytes of hex", s)
	}
	return [32]byte(b)
}

func unhexes(t testing.TB, list []string) [][32]byte {
	var out [][32]byte
	for _, s := range list {
		out = append(out, unhex(t, s))
	}
	return out
}

func TestVectorsProofs(t *testing.T) {
	full := grow(300)
	in := proofVectors[inclusionCase]{About: "RFC 9162 section 2.1.3.2; the trees are those of tree/roots.json"}
	for _, c := range []struct{ index, size int64 }{{0, 1}, {0, 2}, {1, 2}, {2, 3}, {4, 7}, {6, 7}, {7, 8}, {5, 13}, {255, 256}, {256, 257}, {100, 300}, {299, 300}} {
		p, err := Inclusion(full.nodes(c.size, nil), c.index, c.size)
		if err != nil {
			t.Fatal(err)
		}
		root, leaf := full.root(0, c.size), full[0][c.index]
		valid := inclusionCase{Index: c.index, Size: c.size, Leaf: hex.EncodeToString(leaf[:]), Root: hex.EncodeToString(root[:]), Proof: hexes(p)}
		in.Valid = append(in.Valid, valid)
		if c.size != 7 && c.size != 13 && c.size != 1 {
			continue
		}
		spoil := func(why string, f func(*inclusionCase)) {
			bad := valid
			bad.Proof, bad.Why = slices.Clone(valid.Proof), why
			f(&bad)
			in.Invalid = append(in.Invalid, bad)
		}
		spoil("a hash too many", func(c *inclusionCase) { c.Proof = append(c.Proof, c.Root) })
		spoil("another leaf", func(c *inclusionCase) { c.Leaf = strings.Repeat("ab", 32) })
		spoil("another root", func(c *inclusionCase) { c.Root = strings.Repeat("cd", 32) })
		spoil("index beyond the tree", func(c *inclusionCase) { c.Index = c.Size })
		spoil("negative index", func(c *inclusionCase) { c.Index = -1 })
		if c.size > 1 {
			spoil("a hash too few", func(c *inclusionCase) { c.Proof = c.Proof[1:] })
			spoil("hashes in reverse", func(c *inclusionCase) { slices.Reverse(c.Proof) })
			spoil("index of the neighbour", func(c *inclusionCase) { c.Index ^= 1 })
			spoil("no proof", func(c *inclusionCase) { c.Proof = []string{} })
		}
	}
	compareVectors(t, "proof/inclusion.json", in)

	con := proofVectors[consistencyCase]{About: "RFC 9162 section 2.1.4.2, and the empty tree as the beginning of every tree; the trees are those of tree/roots.json"}
	for _, c := range []struct{ old, size int64 }{{0, 0}, {0, 5}, {1, 1}, {1, 2}, {2, 3}, {3, 7}, {4, 7}, {6, 7}, {7, 7}, {8, 13}, {6, 8}, {255, 256}, {256, 300}, {257, 300}} {
		p, err := Consistency(full.nodes(c.size, nil), c.old, c.size)
		if err != nil {
			t.Fatal(err)
		}
		old, root := full.root(0, c.old), full.root(0, c.size)
		valid := consistencyCase{Old: c.old, OldRoot: hex.EncodeToString(old[:]), Size: c.size, Root: hex.EncodeToString(root[:]), Proof: hexes(p)}
		con.Valid = append(con.Valid, valid)
		if c.size != 7 && c.old != 0 {
			continue
		}
		spoil := func(why string, f func(*consistencyCase)) {
			bad := valid
			bad.Proof, bad.Why = slices.Clone(valid.Proof), why
			f(&bad)
			con.Invalid = append(con.Invalid, bad)
		}
		spoil("a hash too many", func(c *consistencyCase) { c.Proof = append(c.Proof, c.Root) })
		spoil("another old root", func(c *consistencyCase) { c.OldRoot = strings.Repeat("ab", 32) })
		spoil("old size beyond the new", func(c *consistencyCase) { c.Old = c.Size + 1 })
		spoil("negative old size", func(c *consistencyCase) { c.Old = -1 })
		if c.old > 0 {
			spoil("another root", func(c *consistencyCase) { c.Root = strings.Repeat("cd", 32) })
		}
		if len(p) > 1 {
			spoil("a hash too few", func(c *consistencyCase) { c.Proof = c.Proof[1:] })
			spoil("hashes in reverse", func(c *consistencyCase) { slices.Reverse(c.Proof) })
			spoil("no proof", func(c *consistencyCase) { c.Proof = []string{} })
		}
	}
	compareVectors(t, "proof/consistency.json", con)

	// The file is read back, so that it proves what it says without the code that made it.
	readVectors(t, "proof/inclusion.json", &in)
	for _, c := range in.Valid {
		if err := CheckInclusion(unhex(t, c.Leaf), c.Index, c.Size, unhex(t, c.Root), unhexes(t, c.Proof)); err != nil {
			t.Errorf("valid %+v: %v", c, err)
		}
	}
	for _, c := range in.Invalid {
		if CheckInclusion(unhex(t, c.Leaf), c.Index, c.Size, unhex(t, c.Root), unhexes(t, c.Proof)) == nil {
			t.Errorf("taken, but %s: %+v", c.Why, c)
		}
	}
	readVectors(t, "proof/consistency.json", &con)
	for _, c := range con.Valid {
		if err := CheckConsistency(c.Old, unhex(t, c.OldRoot), c.Size, unhex(t, c.Root), unhexes(t, c.Proof)); err != nil {
			t.Errorf("valid %+v: %v", c, err)
		}
	}
	for _, c := range con.Invalid {
		if CheckConsistency(c.Old, unhex(t, c.OldRoot), c.Size, unhex(t, c.Root), unhexes(t, c.Proof)) == nil {
			t.Errorf("taken, but %s: %+v", c.Why, c)
		}
	}
}
