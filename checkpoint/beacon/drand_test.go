package beacon_test

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/drand/drand/v2/crypto"

	"ludger/checkpoint/beacon"
)

// theirBeacon is what drand's library checks.
type theirBeacon struct {
	round               uint64
	previous, signature []byte
}

func (b theirBeacon) GetPreviousSignature() []byte { return b.previous }
func (b theirBeacon) GetRound() uint64             { return b.round }
func (b theirBeacon) GetSignature() []byte         { return b.signature }

// A theirs checks beacons with drand's library.
type theirs func(theirBeacon) error

func newTheirs(t testing.TB, i beacon.Info) theirs {
	t.Helper()
	scheme, err := crypto.SchemeFromName(string(i.Scheme))
	if err != nil {
		t.Fatal(err)
	}
	key := scheme.KeyGroup.Point()
	if err := key.UnmarshalBinary(unhex(t, i.PublicKey)); err != nil {
		t.Fatal(err)
	}
	return func(b theirBeacon) error { return scheme.VerifyBeacon(b, key) }
}

// TestAgainstDrand holds our vectors against drand's own library: it takes all we take.
func TestAgainstDrand(t *testing.T) {
	var v beaconVectors
	readVectors(t, "beacons.json", &v)
	all, check := chains(t), make(map[string]theirs)
	for label, c := range all {
		check[label] = newTheirs(t, c.Info())
	}
	bytesOf := func(s *string) []byte {
		if s == nil {
			return nil
		}
		return unhex(t, *s)
	}
	for _, b := range v.Valid {
		if err := check[b.Chain](theirBeacon{uint64(b.Round), bytesOf(b.Previous), unhex(t, b.Signature)}); err != nil {
			t.Errorf("%s round %d: drand refuses it: %v", b.Chain, b.Round, err)
		}
	}
	taken := 0
	for _, b := range v.Invalid {
		err := check[b.Chain](theirBeacon{uint64(b.Round), bytesOf(b.Previous), unhex(t, b.Signature)})
		switch {
		case b.Step == "equation" && err == nil:
			t.Errorf("%s round %d: drand takes it; %s", b.Chain, b.Round, b.Why)
		case err == nil:
			taken++
			t.Logf("%s round %d: drand takes what we refuse: %s", b.Chain, b.Round, b.Why)
		}
	}
	if taken < 3 {
		t.Errorf("drand takes %d invalid cases: the forms that only we refuse are not among them", taken)
	}
}

// TestLocalAgainstDrand: drand's library takes the beacons of our own key.
func TestLocalAgainstDrand(t *testing.T) {
	l, err := beacon.NewLocal([32]byte{5}, 1_700_000_000, 1)
	if err != nil {
		t.Fatal(err)
	}
	check := newTheirs(t, l.Chain().Info())
	for round := int64(1); round <= 5; round++ {
		sig, err := l.Sign(round)
		if err != nil {
			t.Fatal(err)
		}
		if err := check(theirBeacon{uint64(round), nil, sig}); err != nil {
			t.Errorf("round %d: %v", round, err)
		}
	}
}

// TestOutsideVectors: of the outside vectors every valid beacon passes here and in drand's library,
// and every invalid beacon and bad chain fails here.
func TestOutsideVectors(t *testing.T) {
	text, err := os.ReadFile("../../../shared/drand/vectors.json")
	if err != nil {
		t.Skipf("SKIPPED, outside test data is not here: %v", err)
	}
	type info struct {
		BeaconID, GroupHash, Hash, SchemeID string
		Genesis                             int64 `json:"genesis_time"`
		Period                              int64
		PublicKey                           string `json:"public_key"`
	}
	type row struct {
		Name, Chain, Why, Signature, Randomness string
		Round                                   int64
		Due                                     int64    `json:"due_time"`
		Previous                                *string  `json:"previous_signature"`
		Library                                 string   `json:"drand_go_signature_check"`
		Bad                                     []string `json:"bad_fields"`
	}
	var file struct {
		Chains []struct {
			Name string
			Info info
		}
		BadChains []struct {
			Name, Why string
			Info      info
			Round     int64
			Signature string
		} `json:"bad_chains"`
		Rounds, Invalid []row
		Times           []struct {
			Chain   string
			Unix    int64
			Current int64 `json:"current_round"`
			Next    int64 `json:"next_round"`
			NextAt  int64 `json:"next_time"`
		}
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	ours := func(i info, test bool) beacon.Info {
		return beacon.Info{
			Name: i.BeaconID, Hash: beacon.Hash(unhex(t, i.Hash)), Scheme: beacon.Scheme(i.SchemeID), PublicKey: i.PublicKey,
			Period: i.Period, Genesis: i.Genesis, GroupHash: beacon.Hash(unhex(t, i.GroupHash)), Test: test,
		}
	}
	chains, check := make(map[string]*beacon.Chain), make(map[string]theirs)
	for _, c := range file.Chains {
		if chains[c.Name], err = beacon.NewChain(ours(c.Info, false)); err != nil {
			t.Fatal(err)
		}
		check[c.Name] = newTheirs(t, chains[c.Name].Info())
	}
	if chains["quicknet"].Info() != beacon.Quicknet() {
		t.Errorf("quicknet is %+v, compiled in %+v", chains["quicknet"].Info(), beacon.Quicknet())
	}
	for _, c := range file.BadChains {
		if chain, err := beacon.NewChain(ours(c.Info, false)); err == nil {
			t.Errorf("%s: taken as %+v; %s", c.Name, chain.Info(), c.Why)
		} else {
			t.Logf("%s: %v", c.Name, err)
		}
	}
	// checked does what a reader of the beacon does: the random number is computed, and one that is
	// stated must be that.
	checked := func(r row) error {
		sig, err := chains[r.Chain].Info().Scheme.ParseSignature(r.Signature)
		if err != nil {
			return err
		}
		got, err := verify(t, chains[r.Chain], r.Round, r.Previous, sig)
		if err == nil && hex.EncodeToString(got[:]) != r.Randomness {
			return errors.New("another random number is stated")
		}
		return err
	}
	library := func(r row) error {
		b := theirBeacon{round: uint64(r.Round), signature: unhex(t, r.Signature)}
		if r.Previous != nil {
			b.previous = unhex(t, *r.Previous)
		}
		return check[r.Chain](b)
	}
	for _, r := range file.Rounds {
		if err := checked(r); err != nil {
			t.Errorf("%s round %d: %v", r.Chain, r.Round, err)
		}
		if err := library(r); err != nil {
			t.Errorf("%s round %d: drand refuses it: %v", r.Chain, r.Round, err)
		}
		if at, err := chains[r.Chain].Info().TimeOf(r.Round); err != nil || at != r.Due*1000 {
			t.Errorf("%s round %d is due at %d, %v, want %d", r.Chain, r.Round, at, err, r.Due*1000)
		}
	}
	for _, r := range file.Invalid {
		if err := checked(r); err == nil {
			t.Errorf("%s: taken; %s", r.Name, r.Why)
		}
		if err := library(r); (err == nil) != (r.Library == "accepts") {
			t.Errorf("%s: drand's library says %v, and the file that it %s it", r.Name, err, r.Library)
		}
	}
	// drand calls round 1 current before genesis; here there is none.
	for _, c := range file.Times {
		i := chains[c.Chain].Info()
		got, err := i.RoundAt(c.Unix * 1000)
		if c.Unix < i.Genesis {
			if !errors.Is(err, beacon.ErrBeforeGenesis) {
				t.Errorf("%s at %d: round %d, %v, want none", c.Chain, c.Unix, got, err)
			}
		} else if err != nil || got != c.Current {
			t.Errorf("%s at %d: round %d, %v, want %d", c.Chain, c.Unix, got, err, c.Current)
		}
		if at, err := i.TimeOf(got + 1); err != nil || got+1 != c.Next || at != c.NextAt*1000 {
			t.Errorf("%s after %d: round %d at %d, %v, want %d at %d", c.Chain, c.Unix, got+1, at, err, c.Next, c.NextAt*1000)
		}
	}
	t.Logf("%d valid and %d invalid beacons, %d chains, %d bad chains, %d times", len(file.Rounds), len(file.Invalid), len(file.Chains), len(file.BadChains), len(file.Times))
}

// BenchmarkVerify: one beacon of each chain, by this package and by drand's library.
func BenchmarkVerify(b *testing.B) {
	var v beaconVectors
	readVectors(b, "beacons.json", &v)
	all, seen := chains(b), make(map[string]bool)
	for _, r := range v.Valid {
		if seen[r.Chain] {
			continue
		}
		seen[r.Chain] = true
		c, sig, check := all[r.Chain], unhex(b, r.Signature), newTheirs(b, all[r.Chain].Info())
		their := theirBeacon{round: uint64(r.Round), signature: sig}
		if r.Previous != nil {
			their.previous = unhex(b, *r.Previous)
		}
		b.Run(r.Chain+"/ludger", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := verify(b, c, r.Round, r.Previous, sig); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(r.Chain+"/drand", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := check(their); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkNewChain(b *testing.B) {
	for b.Loop() {
		if _, err := beacon.NewChain(beacon.Quicknet()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFigureBeaconCheck: checking a beacon of quicknet, by drand's own library in the same run.
func BenchmarkFigureBeaconCheck(b *testing.B) {
	var v beaconVectors
	readVectors(b, "beacons.json", &v)
	c := chains(b)["quicknet"]
	check := newTheirs(b, c.Info())
	for b.Loop() {
		var ratios []float64
		for range 51 {
			var ours, theirs time.Duration
			for _, r := range v.Valid {
				if r.Chain != "quicknet" {
					continue
				}
				sig := unhex(b, r.Signature)
				start := time.Now()
				_, err := c.Verify(r.Round, sig)
				ours += time.Since(start)
				start = time.Now()
				err = errors.Join(err, check(theirBeacon{round: uint64(r.Round), signature: sig}))
				theirs += time.Since(start)
				if err != nil {
					b.Fatal(err)
				}
			}
			ratios = append(ratios, ours.Seconds()/theirs.Seconds())
		}
		slices.Sort(ratios)
		b.ReportMetric(ratios[len(ratios)/2], "ratio")
	}
	b.ReportMetric(1.0, "max")
}
