package main

import (
	"context"
	"slices"
	"testing"
	"time"

	"ludger/checkpoint/drand"
	"ludger/checkpoint/drand/drandtest"
	"ludger/ledger/sign"
)

// BenchmarkFigureLiveRoll measures how long after the due time of the round that a player called the dice
// are in the log and at the player, over HTTP and with a real drand network on this machine: the median.
func BenchmarkFigureLiveRoll(b *testing.B) {
	network := drandtest.Start(b)
	source, err := drand.NewHTTP(network.Chain(), network.URLs(), drand.HTTPOptions{})
	if err != nil {
		b.Fatal(err)
	}
	defer source.Close()
	x := newDrandHall(b, source)
	defer x.stop()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	for b.Loop() {
		var late []float64
		m := x.live(ctx)
		for len(late) < 15 && !m.over {
			if d := m.rollAndMove(ctx); d > 0 {
				late = append(late, d.Seconds())
			}
		}
		slices.Sort(late)
		b.ReportMetric(late[len(late)/2], "s")
	}
	b.ReportMetric((time.Duration(network.Chain().Period)*time.Second + 500*time.Millisecond).Seconds(), "max")
}

// newDrandHall makes a hall that takes its beacons from a network, and serves it.
func newDrandHall(t testing.TB, source drand.Source) *drandHall {
	t.Helper()
	x := &drandHall{t: t, dir: t.TempDir(), arena: sign.DeriveKey([]byte("network"), "arena")}
	x.ludger("keygen", "--origin", "network.example/log", "--data", "hall")
	x.ludger("arena", "admit", "north", x.arena.Public().String(), "--data", "hall")
	x.serve(source)
	return x
}
