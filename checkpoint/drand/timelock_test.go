package drand

import (
	"bytes"
	"strings"
	"testing"

	"github.com/drand/tlock"

	"ludger/checkpoint/beacon"
	"ludger/ledger/canon"
)

func TestSealTimelock(t *testing.T) {
	key, err := beacon.NewLocal([32]byte{3}, 1_700_000_000, 1)
	if err != nil {
		t.Fatal(err)
	}
	chain := key.Chain()
	secret := canon.Digest("test secret")
	const round = 1000
	at, err := chain.Info().TimeOf(round)
	if err != nil {
		t.Fatal(err)
	}
	box, err := SealTimelock(chain, round, secret, at-1)
	if err != nil {
		t.Fatal(err)
	}
	signature, err := key.Sign(round)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := chain.OpenTimelock(round, signature, box); err != nil || got != secret {
		t.Errorf("it opens to %x, %v", got, err)
	}
	early, err := key.Sign(round - 1)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := chain.OpenTimelock(round, early, box); err == nil || got != [32]byte{} {
		t.Errorf("it opens a round early: %x, %v", got, err)
	}
	if again, err := SealTimelock(chain, round, secret, at-1); err != nil || bytes.Equal(again, box) {
		t.Errorf("sealed again, the same box: %v", err)
	}
	if got := len(box); got > beacon.MaxTimelock {
		t.Errorf("box of %d bytes", got)
	}
	// As a network of tlock the chain opens nothing.
	p, err := newPinned(chain.Info())
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := tlock.New(p).Decrypt(&out, bytes.NewReader(box)); err == nil || out.Len() > 0 {
		t.Errorf("tlock opens it without a signature: %x, %v", out.Bytes(), err)
	}
	other, err := newPinned(beacon.Quicknet())
	if err != nil {
		t.Fatal(err)
	}
	if err := tlock.New(other).Decrypt(&out, bytes.NewReader(box)); err == nil || other.ChainHash() != beacon.Quicknet().Hash.String() {
		t.Errorf("another chain opens it: %x, %v", out.Bytes(), err)
	}

	for _, c := range []struct {
		round, now int64
		want       string
	}{
		{round, at, "anybody could open"},
		{round, at + 1, "anybody could open"},
		{1, at, "anybody could open"},
		{0, 0, "round 0 is not from 1"},
		{-1, 0, "round -1 is not from 1"},
		{1 << 53, 0, "is not from 1"},
	} {
		if box, err := SealTimelock(chain, c.round, secret, c.now); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("round %d at %d: %q, %v, want %s", c.round, c.now, box, err, c.want)
		}
	}
}
