package proof_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"filippo.io/torchwood"
	theirproof "github.com/transparency-dev/formats/proof"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"ludger/checkpoint"
	. "ludger/checkpoint/proof"
	"ludger/ledger/event"
	"ludger/testvectors"
)

// compareVectors compares a vector file with what the package computes now, and writes it instead
// if LUDGER_UPDATE is set (make vectors).
func compareVectors(t *testing.T, name string, v any) {
	t.Helper()
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	if os.Getenv("LUDGER_UPDATE") != "" {
		if err := os.WriteFile("../../testvectors/"+name, text.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := testvectors.FS.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(text.Bytes(), want) {
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

type textVectors struct {
	About string `json:"about"`
	Valid []struct {
		Text       string   `json:"text"`
		Index      int64    `json:"index"`
		Extra      string   `json:"extra"` // hex
		Hashes     []string `json:"hashes"`
		Checkpoint string   `json:"checkpoint"`
	} `json:"valid"`
	Invalid []struct {
		Text string `json:"text"`
		Why  string `json:"why"`
	} `json:"invalid"`
}

func TestTextVectors(t *testing.T) {
	var v textVectors
	readVectors(t, "proof/text.json", &v)
	if len(v.Valid) == 0 || len(v.Invalid) == 0 {
		t.Fatal("no cases")
	}
	for _, c := range v.Valid {
		p, err := Parse([]byte(c.Text))
		if err != nil {
			t.Errorf("%q: %v", c.Text, err)
			continue
		}
		if p.Index != c.Index || fmt.Sprintf("%x", p.Extra) != c.Extra || string(p.Checkpoint) != c.Checkpoint || !reflect.DeepEqual(hexes(p.Hashes), c.Hashes) {
			t.Errorf("%q is read as %+v", c.Text, p)
		}
		if got := p.Format(); string(got) != c.Text {
			t.Errorf("%q prints %q", c.Text, got)
		}
	}
	for _, c := range v.Invalid {
		if p, err := Parse([]byte(c.Text)); err == nil {
			t.Errorf("%q is read as %+v, but: %s", c.Text, p, c.Why)
		}
	}
	if _, err := Parse(make([]byte, event.MaxProof+1)); err == nil || !strings.Contains(err.Error(), "exceeds") {
		t.Errorf("a text too long: %v", err)
	}
	long := "c2sp.org/tlog-proof@v1\nindex 0\n" + strings.Repeat(strings.Repeat("A", 43)+"=\n", 64) + "\nnote"
	if _, err := Parse([]byte(long)); err == nil || !strings.Contains(err.Error(), "more than 63") {
		t.Errorf("a proof of 64 hashes: %v", err)
	}
}

// signedTree returns a proof text about entry 5 of a log of 11, as another's reader wants it.
func signedTree(t testing.TB) (p *Proof, leaf [32]byte, vkey string) {
	full := grow(11)
	signer, err := checkpoint.NewSigner("example.com/log", [32]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	hashes, err := Inclusion(full.nodes(11, nil), 5, 11)
	if err != nil {
		t.Fatal(err)
	}
	return &Proof{Index: 5, Hashes: hashes, Checkpoint: signer.Sign(11, full.root(0, 11))}, full[0][5], signer.Verifier().String()
}

// TestOthersReadOurs prints a proof and has two other implementations read it.
func TestOthersReadOurs(t *testing.T) {
	p, leaf, vkey := signedTree(t)
	for _, extra := range [][]byte{nil, []byte("more"), make([]byte, 1000)} {
		p.Extra = extra
		text := p.Format()
		policy, err := torchwood.ParsePolicy([]byte("log " + vkey + "\nquorum none\n"))
		if err != nil {
			t.Fatal(err)
		}
		if err := torchwood.VerifyProof(policy, tlog.Hash(leaf), text); err != nil {
			t.Errorf("torchwood refuses %q: %v", text, err)
		}
		var theirs theirproof.TLogProof
		if err := theirs.Unmarshal(text); err != nil {
			t.Errorf("formats refuses %q: %v", text, err)
		} else if theirs.Index != 5 || len(theirs.Hashes) != len(p.Hashes) || !bytes.Equal(theirs.Checkpoint, p.Checkpoint) {
			t.Errorf("formats reads %+v from %q", theirs, text)
		}
	}
	v, err := note.NewVerifier(vkey)
	if err != nil {
		t.Fatal(err)
	}
	full := grow(11)
	sumdb, err := tlog.ProveRecord(11, 5, reader(full))
	if err != nil {
		t.Fatal(err)
	}
	p.Extra = nil
	if theirs := torchwood.FormatProof(5, sumdb, p.Checkpoint); !bytes.Equal(theirs, p.Format()) {
		t.Errorf("torchwood with key %s prints %q, we %q", v.Name(), theirs, p.Format())
	}
}

// TestEveryBitOfAProof flips every bit of a proof text: it is refused while reading, or leads to
// another root, or falls into the checkpoint, whose signature is checked elsewhere.
func TestEveryBitOfAProof(t *testing.T) {
	p, leaf, vkey := signedTree(t)
	text := p.Format()
	v, err := checkpoint.ParseVerifier(vkey)
	if err != nil {
		t.Fatal(err)
	}
	check := func(text []byte) error {
		p, err := Parse(text)
		if err != nil {
			return err
		}
		c, err := checkpoint.Open(p.Checkpoint, v)
		if err != nil {
			return err
		}
		return CheckInclusion(leaf, p.Index, c.Size, c.Root, p.Hashes)
	}
	if err := check(text); err != nil {
		t.Fatal(err)
	}
	for i := range text {
		for bit := range 8 {
			bad := bytes.Clone(text)
			bad[i] ^= 1 << bit
			if check(bad) == nil {
				t.Errorf("bit %d of byte %d flipped: %q was taken", bit, i, bad)
			}
		}
		if check(text[:i]) == nil {
			t.Errorf("cut to %d bytes: taken", i)
		}
		if check(append(bytes.Clone(text[:i]), text[i+1:]...)) == nil {
			t.Errorf("without byte %d: taken", i)
		}
		if i < len(text)-1 && check(append(bytes.Clone(text[:i+1]), text[i:]...)) == nil {
			t.Errorf("byte %d doubled: taken", i)
		}
	}
}

func FuzzParse(f *testing.F) {
	var v textVectors
	readVectors(f, "proof/text.json", &v)
	for _, c := range v.Valid {
		f.Add([]byte(c.Text))
	}
	for _, c := range v.Invalid {
		f.Add([]byte(c.Text))
	}
	p, _, _ := signedTree(f)
	f.Add(p.Format())
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := Parse(text)
		if err != nil {
			return
		}
		if again := p.Format(); !bytes.Equal(again, text) {
			t.Errorf("%q prints %q", text, again)
		}
		if len(p.Extra) > 0 {
			extra, err := torchwood.ProofExtraData(text)
			if err != nil || !bytes.Equal(extra, p.Extra) {
				t.Errorf("torchwood reads the extra data %x, %v from %q", extra, err, text)
			}
		}
		var theirs theirproof.TLogProof
		if err := theirs.Unmarshal(text); err != nil {
			t.Errorf("formats refuses %q: %v", text, err)
		}
	})
}

func ExampleCheckInclusion() {
	tree := grow(11) // a log of eleven entries, "0" to "10"
	hashes, _ := Inclusion(tree.nodes(11, nil), 5, 11)
	root, _ := Root(tree.nodes(11, nil), 11)
	fmt.Println(CheckInclusion(event.LeafHash([]byte("5")), 5, 11, root, hashes))
	fmt.Println(CheckInclusion(event.LeafHash([]byte("5")), 11, 11, root, hashes))
	// Output:
	// <nil>
	// index 11 is not in a tree of 11 leaves
}
