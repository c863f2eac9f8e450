package replay

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"ludger/checkpoint/tiles"
	"ludger/ledger/event"
	"ludger/testvectors"
)

type rootVectors struct {
	Rule  string       `json:"rule"`
	Roots []rootVector `json:"roots"`
}

type rootVector struct {
	Entries []string `json:"entries"` // of the match, in order
	Root    string   `json:"root"`
}

const rootFile = "matchroot/roots.json"

// rootSizes are every small tree, and the places around which larger ones change their shape.
func rootSizes() []int {
	var sizes []int
	for n := 1; n <= 20; n++ {
		sizes = append(sizes, n)
	}
	return append(sizes, 31, 32, 33, 63, 64, 65, 100, 127, 128, 129, 255, 256, 257, 1000)
}

func buildRoots(t *testing.T) rootVectors {
	v := rootVectors{Rule: "root is the RFC 6962 tree hash over the entries' bytes; of a match they are the events before match.sealed"}
	for _, n := range rootSizes() {
		raws := make([][]byte, n)
		c := rootVector{Entries: make([]string, n)}
		for i := range raws {
			c.Entries[i] = fmt.Sprintf("event %d", i)
			raws[i] = []byte(c.Entries[i])
		}
		r, err := root(raws)
		if err != nil {
			t.Fatal(err)
		}
		c.Root = hex.EncodeToString(r[:])
		v.Roots = append(v.Roots, c)
	}
	return v
}

func TestVectorsRoots(t *testing.T) {
	var want bytes.Buffer
	if err := json.NewEncoder(&want).Encode(buildRoots(t)); err != nil {
		t.Fatal(err)
	}
	if os.Getenv("LUDGER_UPDATE") != "" {
		if err := os.MkdirAll("../testvectors/matchroot", 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("../testvectors/"+rootFile, want.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := testvectors.FS.ReadFile(rootFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want.Bytes()) {
		t.Errorf("%s is not what the code makes: run make vectors and explain the difference", rootFile)
	}
}

type hashList []tlog.Hash

func (h hashList) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	out := make([]tlog.Hash, len(indexes))
	for i, x := range indexes {
		out[i] = h[x]
	}
	return out, nil
}

// TestRoots holds the roots, which merkletree made, against the tree of package tiles, by which a
// seal is checked, and against golang.org/x/mod.
func TestRoots(t *testing.T) {
	data, err := testvectors.FS.ReadFile(rootFile)
	if err != nil {
		t.Fatal(err)
	}
	var v rootVectors
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	if len(v.Roots) < 20 {
		t.Fatalf("%d roots", len(v.Roots))
	}
	for _, c := range v.Roots {
		var edge tiles.Edge
		var sumdb hashList
		for i, e := range c.Entries {
			edge.Append(event.LeafHash([]byte(e)), nil)
			more, err := tlog.StoredHashes(int64(i), []byte(e), sumdb)
			if err != nil {
				t.Fatal(err)
			}
			sumdb = append(sumdb, more...)
		}
		theirs, err := tlog.TreeHash(int64(len(c.Entries)), sumdb)
		if err != nil {
			t.Fatal(err)
		}
		if r := edge.Root(); hex.EncodeToString(r[:]) != c.Root || [32]byte(theirs) != r {
			t.Errorf("root of %d entries: tiles has %x, sumdb %x, merkletree %s", len(c.Entries), r, theirs, c.Root)
		}
	}
}

func TestRootOfNothing(t *testing.T) {
	if r, err := root(nil); err == nil {
		t.Errorf("the root of no events is %x, want an error", r)
	}
}
