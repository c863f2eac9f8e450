package tiles_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/transparency-dev/merkle/compact"
	"github.com/transparency-dev/merkle/rfc6962"
	"golang.org/x/mod/sumdb/tlog"

	"ludger/checkpoint/tiles"
	"ludger/ledger/event"
	"ludger/testvectors"
)

// entry is the test log's n-th entry: n in decimal.
func entry(n int64) []byte { return strconv.AppendInt(nil, n, 10) }

func leaf(n int64) [32]byte { return event.LeafHash(entry(n)) }

// node computes the root of a complete subtree from its leaves, by the recursion of RFC 6962.
func node(height int, n int64) [32]byte {
	if height == 0 {
		return leaf(n)
	}
	return tiles.NodeHash(node(height-1, 2*n), node(height-1, 2*n+1))
}

// TestEdgeAgainstOthers grows a tree past two levels of tiles and compares every root with two
// other implementations, and every reported subtree with one.
func TestEdgeAgainstOthers(t *testing.T) {
	const size = 66_000
	var e tiles.Edge
	rf := compact.RangeFactory{Hash: rfc6962.DefaultHasher.HashChildren}
	theirs := rf.NewEmptyRange(0)
	want := map[compact.NodeID][]byte{}
	var reported int
	var sumdb []tlog.Hash
	for n := int64(0); n < size; n++ {
		l := leaf(n)
		theirs.Append(l[:], func(id compact.NodeID, hash []byte) { want[id] = hash })
		e.Append(l, func(level int, n int64, hash [32]byte) {
			reported++
			id := compact.NewNodeID(uint(8*level), uint64(n))
			if !bytes.Equal(want[id], hash[:]) {
				t.Fatalf("subtree %d of level %d: got %x, want %x", n, level, hash, want[id])
			}
		})
		if e.Size() != n+1 {
			t.Fatalf("after %d leaves Size is %d", n+1, e.Size())
		}
		if n < 3000 || n%911 == 0 || n > size-300 {
			root, err := theirs.GetRootHash(nil)
			if got := e.Root(); err != nil || !bytes.Equal(got[:], root) {
				t.Fatalf("root of %d leaves: got %x, want %x (%v)", n+1, got, root, err)
			}
		}
		if n < 600 {
			more, err := tlog.StoredHashesForRecordHash(n, tlog.Hash(l), hashList(sumdb))
			if err != nil {
				t.Fatal(err)
			}
			sumdb = append(sumdb, more...)
			root, err := tlog.TreeHash(n+1, hashList(sumdb))
			if got := e.Root(); err != nil || got != root {
				t.Fatalf("root of %d leaves: got %x, sumdb has %x (%v)", n+1, got, root, err)
			}
		}
	}
	if want := size/256 + size/65536; reported != want {
		t.Errorf("%d subtrees reported, want %d", reported, want)
	}
}

type hashList []tlog.Hash

func (l hashList) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	out := make([]tlog.Hash, len(indexes))
	for i, n := range indexes {
		out[i] = l[n]
	}
	return out, nil
}

// TestLoadEdge brings the edge back at every size of a small tree and at the borders of a larger
// one, and lets it grow on.
func TestLoadEdge(t *testing.T) {
	type place struct {
		level int
		n     int64
	}
	kept := map[place][32]byte{}
	var leaves [][32]byte
	var e tiles.Edge
	for n := int64(0); n < 66_100; n++ {
		if n < 1100 || n%256 < 2 && n > 65_000 {
			var asked int
			back, err := tiles.LoadEdge(n,
				func(level int, n int64) ([32]byte, error) {
					asked++
					h, ok := kept[place{level, n}]
					if !ok {
						return h, errors.New("never reported")
					}
					return h, nil
				},
				func(first, count int64) ([][32]byte, error) { return leaves[first : first+count], nil })
			if err != nil {
				t.Fatalf("size %d: %v", n, err)
			}
			if back.Size() != n || back.Root() != e.Root() {
				t.Fatalf("size %d: loaded size %d and root %x, want %x", n, back.Size(), back.Root(), e.Root())
			}
			if asked > 2*255 {
				t.Fatalf("size %d: asked for %d hashes", n, asked)
			}
			grown := e.Clone()
			for m := n; m < n+3; m++ {
				back.Append(leaf(m), nil)
				grown.Append(leaf(m), nil)
			}
			if back.Root() != grown.Root() || e.Size() != n {
				t.Fatalf("size %d: the loaded edge grows to %x, its clone to %x", n, back.Root(), grown.Root())
			}
		}
		leaves = append(leaves, leaf(n))
		e.Append(leaf(n), func(level int, n int64, hash [32]byte) { kept[place{level, n}] = hash })
	}
}

func TestLoadEdgeRefuses(t *testing.T) {
	broken := errors.New("disk gone")
	hash := func(int, int64) ([32]byte, error) { return [32]byte{}, nil }
	leaves := func(first, count int64) ([][32]byte, error) { return make([][32]byte, count), nil }
	if _, err := tiles.LoadEdge(-1, hash, leaves); err == nil {
		t.Error("a negative size was taken")
	}
	if _, err := tiles.LoadEdge(300, func(int, int64) ([32]byte, error) { return [32]byte{}, broken }, leaves); !errors.Is(err, broken) {
		t.Errorf("error of the hash reader: %v", err)
	}
	if _, err := tiles.LoadEdge(300, hash, func(int64, int64) ([][32]byte, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("error of the leaf reader: %v", err)
	}
	if _, err := tiles.LoadEdge(300, hash, func(first, count int64) ([][32]byte, error) { return make([][32]byte, count-1), nil }); err == nil {
		t.Error("one leaf too few was taken")
	}
}

func TestAppendDoesNotAllocate(t *testing.T) {
	var e tiles.Edge
	var h [32]byte
	done := func(_ int, _ int64, hash [32]byte) { h = hash }
	if n := testing.AllocsPerRun(2000, func() { e.Append(h, done); h = e.Root() }); n != 0 {
		t.Errorf("an append and a root allocate %v times", n)
	}
}

type treeVectors struct {
	Entries string     `json:"entries"`
	Roots   []rootCase `json:"roots"`
	Nodes   []nodeCase `json:"nodes"`
}

type rootCase struct {
	Size int64  `json:"size"`
	Root string `json:"root"`
}

type nodeCase struct {
	Level int    `json:"level"`
	N     int64  `json:"n"`
	Hash  string `json:"hash"`
}

func TestVectorsTree(t *testing.T) {
	got := treeVectors{Entries: "entry n is n in ASCII decimal digits; a leaf is SHA-256(00 || entry), a node SHA-256(01 || left || right)"}
	var e tiles.Edge
	for n := int64(0); n <= 65_540; n++ {
		if n < 20 || n >= 255 && n < 260 || n >= 510 && n < 514 || n > 65_534 {
			root := e.Root()
			got.Roots = append(got.Roots, rootCase{n, hex.EncodeToString(root[:])})
		}
		e.Append(leaf(n), func(level int, n int64, hash [32]byte) {
			if n < 4 {
				got.Nodes = append(got.Nodes, nodeCase{level, n, hex.EncodeToString(hash[:])})
			}
		})
	}
	for _, c := range got.Nodes {
		if h := node(8*c.Level, c.N); c.Hash != hex.EncodeToString(h[:]) {
			t.Errorf("node %d of level %d: got %s, the recursion has %x", c.N, c.Level, c.Hash, h)
		}
	}
	compareVectors(t, "tree/roots.json", got)
}

// compareVectors compares a vector file with what the package computes now, and writes it instead
// if LUDGER_UPDATE is set (make vectors).
func compareVectors(t *testing.T, name string, v any) {
	t.Helper()
	text, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	text = append(text, '\n')
	if os.Getenv("LUDGER_UPDATE") != "" {
		if err := os.WriteFile("../../testvectors/"+name, text, 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := testvectors.FS.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(text, want) {
		t.Errorf("%s differs from what is computed now; run make vectors and explain the difference", name)
	}
}

func readVectors(t testing.TB, name string, v any) {
	t.Helper()
	text, err := testvectors.FS.ReadFile(name)
	if os.Getenv("LUDGER_UPDATE") != "" { // just written, not yet embedded
		text, err = os.ReadFile("../../testvectors/" + name)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

func ExampleEdge() {
	var e tiles.Edge
	for _, entry := range []string{"first", "second", "third"} {
		e.Append(event.LeafHash([]byte(entry)), nil)
	}
	fmt.Printf("%d leaves, root %x\n", e.Size(), e.Root())
	// Output: 3 leaves, root c3651e541714c53d648ecc7baeca7fe2c36ef4fa65bcce24b1d71286437de566
}

func BenchmarkAppend(b *testing.B) {
	var e tiles.Edge
	h := leaf(1)
	b.ReportAllocs()
	for b.Loop() {
		e.Append(h, nil)
	}
}
