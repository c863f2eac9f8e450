// Package drand gets the rounds of a beacon when they are out.
//
//	source, err := drand.NewLocal(seed, genesis)
//	round, signature, err := source.Newest(ctx)
//	signature, err = source.Round(ctx, round+2) // returns when that round is out
//
// There are two kinds of Source. HTTP asks the servers of a drand network, which it does not trust.
// Local is an embedded beacon for demonstrations and tests: whoever runs it knows its rounds
// beforehand, and its chain says that it is a test.
//
// SealTimelock closes a secret into a box that opens with a coming round. That and the checks of
// beacons, offline, are the business of package beacon; what is here needs a clock or a network.
package drand

import (
	"context"
	"fmt"
	"time"

	"ludger/checkpoint/beacon"
)

// A Source gives the rounds of one chain. It is safe for concurrent use.
type Source interface {
	// Chain describes the chain.
	Chain() beacon.Info
	// Newest returns the newest round that is out, and its signature.
	Newest(ctx context.Context) (round int64, signature []byte, err error)
	// Round returns the signature of a round, and waits until it is out. It never returns another
	// round's.
	Round(ctx context.Context, round int64) ([]byte, error)
}

// Local is the embedded beacon with a key of our own: quicknet's scheme, a round every second.
type Local struct {
	key *beacon.Local
}

// NewLocal returns the beacon of a seed whose round 1 is at genesis, in Unix seconds, not in the
// future. The same arguments give the same chain after a restart.
func NewLocal(seed [32]byte, genesis int64) (*Local, error) {
	key, err := beacon.NewLocal(seed, genesis, 1)
	if err != nil {
		return nil, fmt.Errorf("local beacon: %w", err)
	}
	return &Local{key}, nil
}

// Chain describes the chain.
func (l *Local) Chain() beacon.Info { return l.key.Chain().Info() }

// Newest returns the newest round that is out.
func (l *Local) Newest(context.Context) (int64, []byte, error) {
	round, err := l.Chain().RoundAt(time.Now().UnixMilli())
	if err != nil {
		return 0, nil, err
	}
	signature, err := l.key.Sign(round)
	return round, signature, err
}

// Round waits for a round's time and signs it.
func (l *Local) Round(ctx context.Context, round int64) ([]byte, error) {
	at, err := l.Chain().TimeOf(round)
	if err != nil {
		return nil, err
	}
	if wait := time.Until(time.UnixMilli(at)); wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for round %d of chain %s: %w", round, l.Chain().Name, ctx.Err())
		}
	}
	return l.key.Sign(round)
}
