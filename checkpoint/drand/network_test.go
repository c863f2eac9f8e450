package drand

import (
	"errors"
	"slices"
	"testing"
	"time"

	"ludger/checkpoint/beacon"
	"ludger/checkpoint/drand/drandtest"
	"ludger/ledger/canon"
)

// TestNetwork: a real network, and what a source makes of it while its nodes go and come back.
func TestNetwork(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED, -short: a drand network takes half a minute")
	}
	t.Parallel()
	network := drandtest.Start(t)
	info := network.Chain()
	chain, err := beacon.NewChain(info)
	if err != nil {
		t.Fatal(err)
	}
	h := newHTTP(t, info, HTTPOptions{}, network.URLs()...)
	get := func(round int64) time.Duration {
		t.Helper()
		signature, err := h.Round(within(t, 30*time.Second), round)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := chain.Verify(round, signature); err != nil {
			t.Fatal(err)
		}
		at, err := info.TimeOf(round)
		if err != nil {
			t.Fatal(err)
		}
		return time.Since(time.UnixMilli(at))
	}
	newest := func() int64 {
		t.Helper()
		round, signature, err := h.Newest(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := chain.Verify(round, signature); err != nil {
			t.Fatal(err)
		}
		if due := dueNow(t, info); round < due-newestRounds || round > due {
			t.Errorf("newest round %d, and %d is due", round, due)
		}
		return round
	}

	// Box and secret outlive the network.
	sealedTo := newest() + 8
	secret := canon.Digest("test secret of a network")
	box, err := chain.SealTimelock(sealedTo, secret)
	if err != nil {
		t.Fatal(err)
	}

	var late []time.Duration
	for range 5 {
		late = append(late, get(newest()+1))
	}
	slices.Sort(late)
	t.Logf("rounds come %v after they are due", late)
	get(1)

	network.StopNode(0) // the server that is asked first, perhaps
	r := newest()
	for i := range int64(3) {
		if d := get(r + 1 + i); d > 5*time.Second {
			t.Errorf("with a node less, round %d comes after %v", r+1+i, d)
		}
	}
	opener, err := h.Round(within(t, 30*time.Second), sealedTo)
	if err != nil {
		t.Fatal(err)
	}

	network.StopNode(1)
	halted := time.Now()
	missing := dueNow(t, info) + 2
	came := make(chan error, 1)
	go func() {
		_, err := h.Round(within(t, time.Minute), missing)
		came <- err
	}()
	for time.Since(halted) < 7*time.Second { // until no round near is out
		time.Sleep(100 * time.Millisecond)
	}
	v := h.Health(t.Context())
	if !errors.Is(v.Err, ErrOverdue) || v.Late < 2*time.Second || v.Round == 0 || v.Round >= missing {
		t.Errorf("health of a halted network: %+v", v)
	}
	t.Logf("halted: %v", v.Err)
	select {
	case err := <-came:
		t.Errorf("round %d came from a halted network: %v", missing, err)
	default:
	}

	back := time.Now()
	for i := range 2 {
		if err := network.StartNode(t.Context(), i); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-came; err != nil {
		t.Fatal(err)
	}
	t.Logf("the network was halted for %v, and the missing round came %v after its return", back.Sub(halted), time.Since(back))
	get(missing)
	for r := v.Round + 1; r <= missing+3; r++ { // none is left out
		get(r)
	}
	for end := time.Now().Add(20 * time.Second); ; {
		_, _, err := h.Newest(t.Context())
		if err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("after the network's return: %v", err)
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Logf("health %v after the return: %+v", time.Since(back), h.Health(t.Context()))

	network.Close()
	if got, err := chain.OpenTimelock(sealedTo, opener, box); err != nil || got != secret {
		t.Errorf("the box opens to %x, %v", got, err)
	}
}
