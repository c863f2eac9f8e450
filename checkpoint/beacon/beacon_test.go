package beacon_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"sync"
	"testing"

	"ludger/checkpoint/beacon"
	"ludger/ledger/canon"
	"ludger/testvectors"
)

func readVectors(t testing.TB, name string, v any) {
	t.Helper()
	text, err := testvectors.FS.ReadFile("beacon/" + name)
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

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
		if err := os.WriteFile("../../testvectors/beacon/"+name, text.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := testvectors.FS.ReadFile("beacon/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(text.Bytes(), want) {
		t.Errorf("beacon/%s differs from what is computed now; run make vectors and explain the difference", name)
	}
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func step(err error) beacon.Step {
	var e *beacon.Error
	var j *canon.Error
	switch {
	case errors.As(err, &e):
		return e.Step
	case errors.As(err, &j):
		return "json"
	}
	return ""
}

type chainVectors struct {
	About string
	Valid []struct{ Chain, Text string }
	// Descriptions that must be refused.
	Invalid []struct{ Text, Step, Why string }
}

// chains returns those of the vectors by their label.
func chains(t testing.TB) map[string]*beacon.Chain {
	t.Helper()
	var v chainVectors
	readVectors(t, "chains.json", &v)
	m := make(map[string]*beacon.Chain)
	for _, c := range v.Valid {
		chain, err := beacon.ParseChain([]byte(c.Text))
		if err != nil {
			t.Fatalf("%s: %v", c.Chain, err)
		}
		m[c.Chain] = chain
	}
	return m
}

func TestChains(t *testing.T) {
	var v chainVectors
	readVectors(t, "chains.json", &v)
	schemes := make(map[beacon.Scheme]bool)
	for _, c := range v.Valid {
		chain, err := beacon.ParseChain([]byte(c.Text))
		if err != nil {
			t.Errorf("%s: %v", c.Text, err)
			continue
		}
		if got := string(chain.Info().Value().Bytes()); got != c.Text {
			t.Errorf("%s prints as %s", c.Text, got)
		}
		if (chain.Info() == beacon.Quicknet()) != (c.Chain == "quicknet") {
			t.Errorf("%s: equal to the chain compiled in: %v", c.Text, chain.Info() == beacon.Quicknet())
		}
		schemes[chain.Info().Scheme] = true
	}
	if len(schemes) != 5 {
		t.Errorf("chains of %d schemes, want all 5", len(schemes))
	}
	steps := make(map[string]int)
	for _, c := range v.Invalid {
		chain, err := beacon.ParseChain([]byte(c.Text))
		if err == nil {
			t.Errorf("%s: taken as %+v, want a refusal by %s: %s", c.Text, chain.Info(), c.Step, c.Why)
			continue
		}
		if string(step(err)) != c.Step {
			t.Errorf("%s: refused with %v (%q), want it by %q: %s", c.Text, err, step(err), c.Step, c.Why)
		}
		steps[c.Step]++
	}
	for _, s := range []string{"json", "bounds", "scheme", "chain hash", "pin", "length", "encoding", "identity", "subgroup"} {
		if steps[s] == 0 {
			t.Errorf("no case is refused by %s", s)
		}
	}
}

// A chain need not come from a text: what parsing cannot give is refused too.
func TestChainsFromNoText(t *testing.T) {
	for want, change := range map[string]func(*beacon.Info){
		"name \"\" is not":            func(i *beacon.Info) { i.Name = "" },
		"name \"aaaa":                 func(i *beacon.Info) { i.Name = strings.Repeat("a", 1000) },
		"period of 0 s":               func(i *beacon.Info) { i.Period = 0 },
		"period of 86401 s":           func(i *beacon.Info) { i.Period = 86_401 },
		"period of -1 s":              func(i *beacon.Info) { i.Period = -1 },
		"genesis at 0 s":              func(i *beacon.Info) { i.Genesis = 0 },
		"genesis at 9007199254741 s":  func(i *beacon.Info) { i.Genesis = 9007199254741 },
		"is not the 192 hex digits":   func(i *beacon.Info) { i.PublicKey = strings.Repeat("a", 1000) },
		"scheme \"xxxx":               func(i *beacon.Info) { i.Scheme = beacon.Scheme(strings.Repeat("x", 1000)) },
		"public key is not lowercase": func(i *beacon.Info) { i.PublicKey = strings.Repeat("g", 192) },
	} {
		i := beacon.Quicknet()
		change(&i)
		if _, err := beacon.NewChain(i); err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 300 {
			t.Errorf("%+v: %v, want %s", i, err, want)
		}
	}
	var zero beacon.Info
	if _, err := zero.TimeOf(1); step(err) != beacon.StepBounds {
		t.Errorf("time of no chain: %v", err)
	}
	if _, err := zero.RoundAt(1); step(err) != beacon.StepBounds {
		t.Errorf("round of no chain: %v", err)
	}
	if s := beacon.Scheme(""); s.KeySize() != 0 || s.SignatureSize() != 0 || s.Chained() {
		t.Error("no scheme has sizes")
	}
}

type beaconVectors struct {
	About string
	Valid []struct {
		Chain                 string
		Round, At             int64
		Previous              *string
		Signature, Randomness string
	}
	Invalid []struct {
		Chain                string
		Round                int64
		Previous             *string
		Signature, Step, Why string
	}
}

func verify(t testing.TB, c *beacon.Chain, round int64, previous *string, signature []byte) ([32]byte, error) {
	t.Helper()
	if previous != nil {
		return c.VerifyLinked(round, unhex(t, *previous), signature)
	}
	return c.Verify(round, signature)
}

func TestBeacons(t *testing.T) {
	all := chains(t)
	var v beaconVectors
	readVectors(t, "beacons.json", &v)
	valid, steps := make(map[string]int), make(map[string]int)
	for _, b := range v.Valid {
		c := all[b.Chain]
		sig, err := c.Info().Scheme.ParseSignature(b.Signature)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // checking one must not change the chain
			got, err := verify(t, c, b.Round, b.Previous, sig)
			if err != nil || hex.EncodeToString(got[:]) != b.Randomness {
				t.Errorf("%s round %d: %x, %v, want %s", b.Chain, b.Round, got, err, b.Randomness)
			}
		}
		if at, err := c.Info().TimeOf(b.Round); err != nil || at != b.At {
			t.Errorf("%s round %d is due at %d, %v, want %d", b.Chain, b.Round, at, err, b.At)
		}
		if _, err := c.Info().Scheme.ParseSignature(strings.ToUpper(b.Signature)); step(err) != beacon.StepEncoding {
			t.Errorf("uppercase %s: %v", b.Signature, err)
		}
		valid[b.Chain]++
	}
	for name := range all {
		if valid[name] < 2 {
			t.Errorf("%d beacons of chain %s, want 2 at least", valid[name], name)
		}
	}
	for _, b := range v.Invalid {
		got, err := verify(t, all[b.Chain], b.Round, b.Previous, unhex(t, b.Signature))
		if err == nil {
			t.Errorf("%s round %d, %s: taken; %s", b.Chain, b.Round, b.Signature, b.Why)
		} else if string(step(err)) != b.Step {
			t.Errorf("%s round %d, %s: refused with %v (%q), want it by %q: %s", b.Chain, b.Round, b.Signature, err, step(err), b.Step, b.Why)
		}
		if got != [32]byte{} {
			t.Errorf("%s round %d, %s: refused, but with randomness %x", b.Chain, b.Round, b.Signature, got)
		}
		steps[b.Step]++
	}
	for _, s := range []beacon.Step{beacon.StepRound, beacon.StepPrevious, beacon.StepLength, beacon.StepEncoding, beacon.StepIdentity, beacon.StepSubgroup, beacon.StepEquation} {
		if steps[string(s)] == 0 {
			t.Errorf("no case is refused by %s", s)
		}
	}
}

// TestBits: no bit of a signature can change.
func TestBits(t *testing.T) {
	var v beaconVectors
	readVectors(t, "beacons.json", &v)
	all, seen := chains(t), make(map[string]bool)
	for _, b := range v.Valid {
		if seen[b.Chain] {
			continue
		}
		seen[b.Chain] = true
		sig := unhex(t, b.Signature)
		for i := range 8 * len(sig) {
			sig[i/8] ^= 1 << (i % 8)
			if _, err := verify(t, all[b.Chain], b.Round, b.Previous, sig); err == nil {
				t.Errorf("%s round %d: bit %d flipped and taken", b.Chain, b.Round, i)
			}
			sig[i/8] ^= 1 << (i % 8)
		}
	}
}

func TestConcurrent(t *testing.T) {
	l, err := beacon.NewLocal([32]byte{1}, 1000, 1)
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	for g := range 4 {
		wait.Go(func() {
			for r := range 20 {
				round := int64(1 + g*20 + r)
				sig, err := l.Sign(round)
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := l.Chain().Verify(round, sig); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
}

type timeVectors struct {
	About string      `json:"about"`
	Times []timeCase  `json:"times"`
	Nows  []nowCase   `json:"nows"`
	Wrong []roundCase `json:"refused"`
}

type timeCase struct {
	Chain string `json:"chain"`
	Round int64  `json:"round"`
	At    int64  `json:"at"`
}

type nowCase struct {
	Chain string `json:"chain"`
	Now   int64  `json:"now"`
	Round int64  `json:"round"` // 0: before genesis
}

type roundCase struct {
	Chain string `json:"chain"`
	Round int64  `json:"round"`
}

func TestVectorsTimes(t *testing.T) {
	v := timeVectors{About: "when rounds are due, in Unix milliseconds, and the newest round due at a time, 0 before round 1; chains are those of chains.json. Rounds that are refused have no time"}
	all := chains(t)
	for _, label := range []string{"default", "quicknet", "local-test"} {
		i := all[label].Info()
		last := (int64(canon.MaxInt)-i.Genesis*1000)/(i.Period*1000) + 1
		for _, r := range []int64{1, 2, 3, 1000, 1 << 32, last - 1, last} {
			at, err := i.TimeOf(r)
			if err != nil {
				t.Fatal(err)
			}
			v.Times = append(v.Times, timeCase{label, r, at})
			for _, now := range []int64{at - 1, at, at + 1, at + 1000*i.Period - 1} {
				if now > canon.MaxInt {
					continue
				}
				got, err := i.RoundAt(now)
				if err != nil && !errors.Is(err, beacon.ErrBeforeGenesis) {
					t.Fatal(err)
				}
				v.Nows = append(v.Nows, nowCase{label, now, got})
			}
		}
		for _, r := range []int64{math.MinInt64, -1, 0, last + 1, math.MaxInt64} {
			if at, err := i.TimeOf(r); step(err) != beacon.StepRound {
				t.Errorf("%s round %d is due at %d, %v", label, r, at, err)
			}
			if r > -1<<53 && r < 1<<53 {
				v.Wrong = append(v.Wrong, roundCase{label, r})
			}
		}
		for _, now := range []int64{math.MinInt64, -1, 0, i.Genesis*1000 - 1} {
			if r, err := i.RoundAt(now); r != 0 || !errors.Is(err, beacon.ErrBeforeGenesis) {
				t.Errorf("%s at %d: round %d, %v", label, now, r, err)
			}
		}
		for _, now := range []int64{canon.MaxInt + 1, math.MaxInt64} {
			if r, err := i.RoundAt(now); step(err) != beacon.StepBounds {
				t.Errorf("%s at %d: round %d, %v", label, now, r, err)
			}
		}
	}
	// What was computed must also be so by the definition.
	for _, c := range v.Nows {
		i := all[c.Chain].Info()
		if c.Round == 0 {
			if c.Now >= i.Genesis*1000 {
				t.Errorf("%s at %d: no round after genesis", c.Chain, c.Now)
			}
			continue
		}
		if at := (i.Genesis + (c.Round-1)*i.Period) * 1000; at > c.Now || c.Now-at >= i.Period*1000 {
			t.Errorf("%s at %d: round %d, due at %d", c.Chain, c.Now, c.Round, at)
		}
	}
	compareVectors(t, "times.json", v)
}

type seedVectors struct {
	About string     `json:"about"`
	Cases []seedCase `json:"cases"`
}

type seedCase struct {
	Match      string `json:"match"`
	Secret     string `json:"secret"`
	Turn       int64  `json:"turn"`
	Chain      string `json:"chain"`
	Round      int64  `json:"round"`
	Signature  string `json:"signature"`
	Commitment string `json:"commitment"`
	Public     string `json:"public"`
	Sealed     string `json:"sealed"`
	Roll       string `json:"roll"`
}

func TestVectorsSeeds(t *testing.T) {
	v := seedVectors{About: "what a match draws from: commitment of the secret, seeds of the chance modes public and sealed, seed of the live roll of a turn. chain is the chain's hash"}
	var beacons beaconVectors
	readVectors(t, "beacons.json", &beacons)
	all := chains(t)
	different := make(map[string]bool)
	for n, b := range beacons.Valid {
		hash, sig := all[b.Chain].Info().Hash, unhex(t, b.Signature)
		match, secret, turn := canon.Digest("test match", []byte{byte(n)}), canon.Digest("test secret", []byte{byte(n)}), int64(n*n*100_000)
		commitment, roll := beacon.Commitment(secret), beacon.RollSeed(match, turn, hash, b.Round, sig)
		public, sealed := beacon.PublicSeed(match, hash, b.Round, sig), beacon.SealedSeed(match, secret, hash, b.Round, sig)
		for _, d := range [][32]byte{commitment, public, sealed, roll} {
			different[string(d[:])] = true
		}
		v.Cases = append(v.Cases, seedCase{
			Match: hex.EncodeToString(match[:]), Secret: hex.EncodeToString(secret[:]), Turn: turn,
			Chain: hash.String(), Round: b.Round, Signature: b.Signature,
			Commitment: hex.EncodeToString(commitment[:]), Public: hex.EncodeToString(public[:]),
			Sealed: hex.EncodeToString(sealed[:]), Roll: hex.EncodeToString(roll[:]),
		})
	}
	if len(different) != 4*len(v.Cases) {
		t.Errorf("%d different digests of %d", len(different), 4*len(v.Cases))
	}
	compareVectors(t, "seeds.json", v)
}

type localVectors struct {
	About  string      `json:"about"`
	Locals []localCase `json:"locals"`
}

type localCase struct {
	Seed    string      `json:"seed"`
	Chain   string      `json:"chain"`
	Beacons []localSign `json:"beacons"`
}

type localSign struct {
	Round     int64  `json:"round"`
	Signature string `json:"signature"`
}

func TestVectorsLocal(t *testing.T) {
	v := localVectors{About: "local test beacons: the chain that a seed gives, in canonical JSON with its genesis and period, and some of its signatures"}
	for _, c := range []struct {
		seed            [32]byte
		genesis, period int64
	}{
		{[32]byte{}, 1_700_000_000, 1},
		{[32]byte{31: 1}, 1_700_000_000, 1},
		{canon.Digest("seed"), 1, beacon.MaxPeriod},
	} {
		l, err := beacon.NewLocal(c.seed, c.genesis, c.period)
		if err != nil {
			t.Fatal(err)
		}
		chain, err := beacon.ParseChain(l.Chain().Info().Value().Bytes()) // what a stranger has
		if err != nil {
			t.Fatal(err)
		}
		if i := chain.Info(); !i.Test || i.Name != beacon.LocalName || i != l.Chain().Info() {
			t.Errorf("local chain is %+v", i)
		}
		row := localCase{Seed: hex.EncodeToString(c.seed[:]), Chain: string(chain.Info().Value().Bytes())}
		for _, r := range []int64{1, 2, 1_000_000} {
			sig, err := l.Sign(r)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := chain.Verify(r, sig); err != nil {
				t.Error(err)
			}
			if _, err := chain.Verify(r+1, sig); step(err) != beacon.StepEquation {
				t.Errorf("signature of round %d for round %d: %v", r, r+1, err)
			}
			row.Beacons = append(row.Beacons, localSign{r, hex.EncodeToString(sig)})
		}
		v.Locals = append(v.Locals, row)
	}
	compareVectors(t, "local.json", v)
}

func TestLocal(t *testing.T) {
	for _, r := range []int64{-1, 0, math.MaxInt64} {
		l, err := beacon.NewLocal([32]byte{1}, 1000, 1)
		if err != nil {
			t.Fatal(err)
		}
		if sig, err := l.Sign(r); step(err) != beacon.StepRound {
			t.Errorf("round %d is signed with %x, %v", r, sig, err)
		}
		if text := fmt.Sprintf("%v %+v %#v %s", l, l, l, l); strings.Contains(text, "secret") || strings.Contains(text, "{") {
			t.Errorf("prints as %s", text)
		}
	}
	for _, c := range [][2]int64{{0, 1}, {1, 0}, {-1, 1}, {1, beacon.MaxPeriod + 1}, {beacon.MaxSeconds + 1, 1}} {
		if _, err := beacon.NewLocal([32]byte{1}, c[0], c[1]); step(err) != beacon.StepBounds {
			t.Errorf("genesis %d, period %d: %v", c[0], c[1], err)
		}
	}
	a, _ := beacon.NewLocal([32]byte{1}, 1000, 1)
	for _, other := range []struct {
		seed            [32]byte
		genesis, period int64
	}{{[32]byte{2}, 1000, 1}, {[32]byte{1}, 1001, 1}, {[32]byte{1}, 1000, 2}} {
		b, err := beacon.NewLocal(other.seed, other.genesis, other.period)
		if err != nil || a.Chain().Info().Hash == b.Chain().Info().Hash {
			t.Errorf("%v has the same chain, %v", other, err)
		}
	}
}

// FuzzChain: what parses prints back to the same bytes, and nothing panics.
func FuzzChain(f *testing.F) {
	var v chainVectors
	readVectors(f, "chains.json", &v)
	for _, c := range v.Valid {
		f.Add([]byte(c.Text))
	}
	for _, c := range v.Invalid {
		f.Add([]byte(c.Text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		info, err := beacon.ParseInfo(text)
		if err != nil {
			return
		}
		if got := info.Value().Bytes(); !bytes.Equal(got, text) {
			t.Fatalf("%q prints as %q", text, got)
		}
		if _, err := info.RoundAt(1); err != nil && !errors.Is(err, beacon.ErrBeforeGenesis) {
			t.Fatal(err)
		}
		if _, err := info.TimeOf(1); err != nil {
			t.Fatalf("%s: round 1: %v", text, err)
		}
		if c, err := beacon.NewChain(info); err == nil && c.Info() != info {
			t.Fatalf("%+v became %+v", info, c.Info())
		}
	})
}

// FuzzSignature: of the signatures of one round at most one is taken, and nothing panics.
func FuzzSignature(f *testing.F) {
	all := chains(f)
	var v beaconVectors
	readVectors(f, "beacons.json", &v)
	genuine := make(map[string]string)
	for _, b := range v.Valid {
		genuine[fmt.Sprint(b.Chain, b.Round)] = b.Signature
		f.Add(b.Chain, b.Round, b.Signature)
	}
	for _, b := range v.Invalid {
		f.Add(b.Chain, b.Round, b.Signature)
	}
	f.Fuzz(func(t *testing.T, label string, round int64, text string) {
		c := all[label]
		if c == nil {
			return
		}
		sig, err := c.Info().Scheme.ParseSignature(text)
		if err != nil {
			return
		}
		if hex.EncodeToString(sig) != text {
			t.Fatalf("%q is read as %x", text, sig)
		}
		// The fuzzer does not forge signatures, so one that passes is one of the vectors.
		if _, err := c.Verify(round, sig); err == nil && genuine[fmt.Sprint(label, round)] != text {
			t.Fatalf("%s round %d: %s is taken", label, round, text)
		}
	})
}

func Example() {
	chain, err := beacon.NewChain(beacon.Quicknet())
	if err != nil {
		fmt.Println(err)
		return
	}
	signature, err := chain.Info().Scheme.ParseSignature("b44679b9a59af2ec876b1a6b1ad52ea9b1615fc3982b19576350f93447cb1125e342b73a8dd2bacbe47e4b6b63ed5e39")
	if err != nil {
		fmt.Println(err)
		return
	}
	randomness, err := chain.Verify(1000, signature)
	fmt.Printf("%x %v\n", randomness, err)
	_, err = chain.Verify(1001, signature)
	fmt.Println(err)
	// Output:
	// fe290beca10872ef2fb164d2aa4442de4566183ec51c56ff3cd603d930e54fdd <nil>
	// round 1001 of chain quicknet: signature is not of this key and round
}
