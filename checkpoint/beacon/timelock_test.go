package beacon_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/drand/drand/v2/crypto"
	"github.com/drand/kyber"
	"github.com/drand/tlock"

	"ludger/checkpoint/beacon"
	"ludger/ledger/canon"
)

type timelockVectors struct {
	About string
	Valid []struct {
		Chain                  string
		Round                  int64
		Signature, Secret, Box string
	}
	Invalid []struct {
		Chain                     string
		Round                     int64
		Signature, Box, Step, Why string
	}
}

func TestTimelocks(t *testing.T) {
	all := chains(t)
	var v timelockVectors
	readVectors(t, "timelock.json", &v)
	names := make(map[string]bool)
	for _, b := range v.Valid {
		c, box := all[b.Chain], unhex(t, b.Box)
		if err := c.CheckTimelock(b.Round, box); err != nil {
			t.Errorf("%s round %d: %v", b.Chain, b.Round, err)
		}
		secret, err := c.OpenTimelock(b.Round, unhex(t, b.Signature), box)
		if err != nil || hex.EncodeToString(secret[:]) != b.Secret {
			t.Errorf("%s round %d: %x, %v, want %s", b.Chain, b.Round, secret, err, b.Secret)
		}
		names[b.Chain] = true
	}
	if len(names) < 2 {
		t.Errorf("boxes of the chains %v only", names)
	}
	steps := make(map[string]int)
	for _, b := range v.Invalid {
		secret, err := all[b.Chain].OpenTimelock(b.Round, unhex(t, b.Signature), unhex(t, b.Box))
		if err == nil {
			t.Errorf("%s round %d, opens: %s", b.Chain, b.Round, b.Why)
		} else if string(step(err)) != b.Step || len(err.Error()) > 300 {
			t.Errorf("%s round %d: refused with %v (%q), want it by %q: %s", b.Chain, b.Round, err, step(err), b.Step, b.Why)
		}
		if secret != [32]byte{} {
			t.Errorf("%s round %d, %s: refused, but with the secret %x", b.Chain, b.Round, b.Why, secret)
		}
		// What shows before the round is refused before it, and only that.
		early := all[b.Chain].CheckTimelock(b.Round, unhex(t, b.Box))
		switch beacon.Step(b.Step) {
		case beacon.StepProof, beacon.StepMAC, beacon.StepPayload, beacon.StepEquation:
			if early != nil {
				t.Errorf("%s, refused before the round already: %v", b.Why, early)
			}
		default:
			if step(early) != step(err) && !strings.Contains(b.Why, "a signature") {
				t.Errorf("%s: refused with %v, before the round with %v", b.Why, err, early)
			}
		}
		steps[b.Step]++
	}
	for _, s := range []beacon.Step{beacon.StepScheme, beacon.StepLength, beacon.StepRound, beacon.StepHash, beacon.StepEncoding, beacon.StepIdentity,
		beacon.StepSubgroup, beacon.StepEquation, beacon.StepProof, beacon.StepMAC, beacon.StepPayload} {
		if steps[string(s)] == 0 {
			t.Errorf("no case is refused by %s", s)
		}
	}
}

// TestTimelockBits: a box with any bit changed, and any part of it, does not open.
func TestTimelockBits(t *testing.T) {
	var v timelockVectors
	readVectors(t, "timelock.json", &v)
	b := v.Valid[0]
	c, sig, box := chains(t)[b.Chain], unhex(t, b.Signature), unhex(t, b.Box)
	for i := range 8 * len(box) {
		box[i/8] ^= 1 << (i % 8)
		if _, err := c.OpenTimelock(b.Round, sig, box); err == nil {
			t.Errorf("bit %d flipped, and it opens", i)
		}
		box[i/8] ^= 1 << (i % 8)
	}
	for n := range box {
		if c.CheckTimelock(b.Round, box[:n]) == nil || c.CheckTimelock(b.Round, box[n+1:]) == nil {
			t.Errorf("%d bytes of %d are a box", n, len(box))
		}
	}
}

// sealer is a network of tlock: a chain, and the signature that it knows.
type sealer struct {
	info      beacon.Info
	scheme    *crypto.Scheme
	key       kyber.Point
	signature []byte
}

func newSealer(t testing.TB, i beacon.Info, signature []byte) *sealer {
	t.Helper()
	s, err := crypto.SchemeFromName(string(i.Scheme))
	if err != nil {
		t.Fatal(err)
	}
	key := s.KeyGroup.Point()
	if err := key.UnmarshalBinary(unhex(t, i.PublicKey)); err != nil {
		t.Fatal(err)
	}
	return &sealer{i, s, key, signature}
}

func (s *sealer) ChainHash() string                { return s.info.Hash.String() }
func (s *sealer) Current(time.Time) uint64         { return 0 }
func (s *sealer) PublicKey() kyber.Point           { return s.key }
func (s *sealer) Scheme() crypto.Scheme            { return *s.scheme }
func (s *sealer) Signature(uint64) ([]byte, error) { return s.signature, nil }
func (s *sealer) SwitchChainHash(string) error     { return errors.New("another chain") }

// TestSealTimelock: what we seal opens with the signature of its round and no other, here and in drand's
// own tool, and is the same every time.
func TestSealTimelock(t *testing.T) {
	l, err := beacon.NewLocal([32]byte{7}, 1_600_000_000, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		secret, round := sha256.Sum256([]byte{byte(i)}), int64(1+i*i*1_000_003)
		box, err := l.Chain().SealTimelock(round, secret)
		if err != nil {
			t.Fatal(err)
		}
		again, err := l.Chain().SealTimelock(round, secret)
		if err != nil || !bytes.Equal(again, box) {
			t.Fatalf("sealed again it is another box: %v", err)
		}
		signature, err := l.Sign(round)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := l.Chain().OpenTimelock(round, signature, box); err != nil || got != secret {
			t.Fatalf("round %d: %x, %v, want %x", round, got, err, secret)
		}
		if i > 2 {
			continue
		}
		var plain bytes.Buffer
		if err := tlock.New(newSealer(t, l.Chain().Info(), signature)).Strict().Decrypt(&plain, bytes.NewReader(box)); err != nil || !bytes.Equal(plain.Bytes(), secret[:]) {
			t.Errorf("drand's tool opens it to %x, %v", plain.Bytes(), err)
		}
	}
	if _, err := l.Chain().SealTimelock(0, [32]byte{}); err == nil {
		t.Error("sealed for round 0")
	}
}

// TestTimelocksAgainstTlock: drand's tool opens our vectors, and we open what it seals.
func TestTimelocksAgainstTlock(t *testing.T) {
	all := chains(t)
	var v timelockVectors
	readVectors(t, "timelock.json", &v)
	for _, b := range v.Valid {
		var secret bytes.Buffer
		s := newSealer(t, all[b.Chain].Info(), unhex(t, b.Signature))
		if err := tlock.New(s).Strict().Decrypt(&secret, bytes.NewReader(unhex(t, b.Box))); err != nil || hex.EncodeToString(secret.Bytes()) != b.Secret {
			t.Errorf("%s round %d: tlock finds %x, %v, want %s", b.Chain, b.Round, secret.Bytes(), err, b.Secret)
		}
	}
	taken := 0
	for _, b := range v.Invalid {
		c := all[b.Chain]
		if c.Info().Scheme != beacon.UnchainedG1 || b.Round == 0 {
			continue
		}
		var secret bytes.Buffer
		s := newSealer(t, c.Info(), unhex(t, b.Signature))
		if tlock.New(s).Strict().Decrypt(&secret, bytes.NewReader(unhex(t, b.Box))) == nil {
			taken++
			t.Logf("tlock takes what we refuse: %s", b.Why)
		}
	}
	if taken < 3 {
		t.Errorf("tlock takes %d invalid cases: the forms that only we refuse are not among them", taken)
	}
	l, err := beacon.NewLocal([32]byte{7}, 1_700_000_000, 1)
	if err != nil {
		t.Fatal(err)
	}
	// The search for the scalar takes another turn with one box in ten.
	for round := int64(1); round <= 40; round++ {
		sig, err := l.Sign(round)
		if err != nil {
			t.Fatal(err)
		}
		want := canon.Digest("test secret", []byte{byte(round)})
		var box bytes.Buffer
		if err := tlock.New(newSealer(t, l.Chain().Info(), nil)).Strict().Encrypt(&box, bytes.NewReader(want[:]), uint64(round)); err != nil {
			t.Fatal(err)
		}
		if got, err := l.Chain().OpenTimelock(round, sig, box.Bytes()); err != nil || got != want {
			t.Fatalf("%q: %x, %v, want %x", box.Bytes(), got, err, want)
		}
	}
}

// TestOutsideTimelocks: the boxes of the outside vectors open as they say, at the rounds they are for
// and at those they claim.
func TestOutsideTimelocks(t *testing.T) {
	text, err := os.ReadFile("../../../shared/drand/vectors.json")
	if err != nil {
		t.Skipf("SKIPPED, outside test data is not here: %v", err)
	}
	type box struct {
		Chain, Name, Why string
		Text             []byte `json:"ciphertext_base64"`
		Round            int64
		Plaintext        string `json:"plaintext_hex"`
		OpensTo          string `json:"opens_to"`
	}
	var file struct {
		Valid   []box `json:"tlock"`
		Invalid []box `json:"tlock_invalid"`
		Rounds  []struct {
			Chain     string
			Round     int64
			Signature string
		}
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	all := chains(t)
	opened := func(b box, want string) (n int) {
		for _, r := range file.Rounds {
			if r.Chain != b.Chain {
				continue
			}
			secret, err := all[b.Chain].OpenTimelock(r.Round, unhex(t, r.Signature), b.Text)
			if err == nil && hex.EncodeToString(secret[:]) != want {
				t.Errorf("%s opens in round %d to %x, want %q; %s", b.Name, r.Round, secret, want, b.Why)
			}
			if err == nil {
				n++
			}
		}
		return n
	}
	for _, b := range file.Valid {
		if n := opened(b, b.Plaintext); n != 1 {
			t.Errorf("the box for round %d opens in %d rounds", b.Round, n)
		}
	}
	for _, b := range file.Invalid {
		if n := opened(b, b.OpensTo); n > 0 && b.OpensTo == "" {
			t.Errorf("%s: opens; %s", b.Name, b.Why)
		} else if n != 1 && b.OpensTo != "" {
			t.Errorf("%s: opens in %d rounds; %s", b.Name, n, b.Why)
		}
	}
	t.Logf("%d valid and %d invalid boxes", len(file.Valid), len(file.Invalid))
}

// TestTimelockLongest: the bound is the size of the box for the last round that there can be.
func TestTimelockLongest(t *testing.T) {
	l, err := beacon.NewLocal([32]byte{7}, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	const last = canon.MaxInt / 1000
	sig, err := l.Sign(last)
	if err != nil {
		t.Fatal(err)
	}
	var box bytes.Buffer
	if err := tlock.New(newSealer(t, l.Chain().Info(), nil)).Strict().Encrypt(&box, bytes.NewReader(make([]byte, 32)), uint64(last)); err != nil {
		t.Fatal(err)
	}
	if got, err := l.Chain().OpenTimelock(last, sig, box.Bytes()); err != nil || got != [32]byte{} || box.Len() > beacon.MaxTimelock || box.Len() < beacon.MaxTimelock-16 {
		t.Errorf("box of %d bytes, at most %d: %v", box.Len(), beacon.MaxTimelock, err)
	}
}

// FuzzTimelock: of all texts the vectors only open, and nothing panics.
func FuzzTimelock(f *testing.F) {
	all := chains(f)
	var v timelockVectors
	readVectors(f, "timelock.json", &v)
	genuine, signature := make(map[string]bool), make(map[string][]byte)
	for _, b := range v.Valid {
		place := fmt.Sprint(b.Chain, b.Round)
		genuine[place+b.Box], signature[place] = true, unhex(f, b.Signature)
		f.Add(b.Chain, b.Round, unhex(f, b.Box))
	}
	for _, b := range v.Invalid {
		if b.Step == string(beacon.StepEquation) { // there the signature is wrong, and the box is not
			genuine[fmt.Sprint(b.Chain, b.Round)+b.Box] = true
		}
		f.Add(b.Chain, b.Round, unhex(f, b.Box))
	}
	f.Fuzz(func(t *testing.T, label string, round int64, box []byte) {
		c := all[label]
		if c == nil {
			return
		}
		place := fmt.Sprint(label, round)
		_, err := c.OpenTimelock(round, signature[place], box)
		if err == nil && !genuine[place+hex.EncodeToString(box)] {
			t.Fatalf("%s round %d: %q opens", label, round, box)
		}
		if early := c.CheckTimelock(round, box); early != nil && err == nil {
			t.Fatalf("%s round %d: %q opens, and is no box: %v", label, round, box, early)
		}
	})
}

func BenchmarkOpenTimelock(b *testing.B) {
	var v timelockVectors
	readVectors(b, "timelock.json", &v)
	first := v.Valid[0]
	c, sig, box := chains(b)[first.Chain], unhex(b, first.Signature), unhex(b, first.Box)
	for b.Loop() {
		if _, err := c.OpenTimelock(first.Round, sig, box); err != nil {
			b.Fatal(err)
		}
	}
}
