package drand

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/drand/drand/v2/crypto"
	"github.com/drand/kyber"
	"github.com/drand/tlock"

	"ludger/checkpoint/beacon"
)

// SealTimelock seals a secret so that it opens with the signature of a round, which must not be due
// yet at now, in Unix milliseconds. It asks nobody: the chain's key is enough. What it returns is the
// box that beacon.Chain.OpenTimelock opens, and a file that drand's own tools open.
func SealTimelock(chain *beacon.Chain, round int64, secret [32]byte, now int64) ([]byte, error) {
	info := chain.Info()
	at, err := info.TimeOf(round)
	if err != nil {
		return nil, fmt.Errorf("sealing: %w", err)
	}
	if at <= now {
		return nil, fmt.Errorf("sealing: round %d of chain %s is due at %d ms, which is not after %d ms: anybody could open the box", round, info.Name, at, now)
	}
	pinned, err := newPinned(info)
	if err != nil {
		return nil, fmt.Errorf("sealing: %w", err)
	}
	var box bytes.Buffer
	if err := tlock.New(pinned).Strict().Encrypt(&box, bytes.NewReader(secret[:]), uint64(round)); err != nil {
		return nil, fmt.Errorf("sealing: %w", err)
	}
	// Encrypt hides some errors, and a box that does not open costs a match its end.
	if err := chain.CheckTimelock(round, box.Bytes()); err != nil {
		return nil, fmt.Errorf("sealing: %w", err)
	}
	return box.Bytes(), nil
}

// pinned is a chain in the words of drand's libraries. As a network of tlock it has no signatures and
// is no other chain.
type pinned struct {
	info   beacon.Info
	scheme *crypto.Scheme
	key    kyber.Point
}

func newPinned(info beacon.Info) (*pinned, error) {
	// A signature of a chained scheme says nothing without the one before it, which a Source does not
	// give; tlock cannot seal for it nor for BN254.
	if info.Scheme != beacon.UnchainedG1 {
		return nil, fmt.Errorf("chain %s has scheme %s, and only %s is supported", info.Name, info.Scheme, beacon.UnchainedG1)
	}
	scheme, err := crypto.SchemeFromName(string(info.Scheme))
	if err != nil {
		return nil, fmt.Errorf("chain %s: %w", info.Name, err)
	}
	b, err := hex.DecodeString(info.PublicKey)
	if err != nil {
		return nil, fmt.Errorf("chain %s: %w", info.Name, err)
	}
	key := scheme.KeyGroup.Point()
	if err := key.UnmarshalBinary(b); err != nil {
		return nil, fmt.Errorf("chain %s: %w", info.Name, err)
	}
	return &pinned{info, scheme, key}, nil
}

func (p *pinned) ChainHash() string      { return p.info.Hash.String() }
func (p *pinned) PublicKey() kyber.Point { return p.key }
func (p *pinned) Scheme() crypto.Scheme  { return *p.scheme }

func (p *pinned) Current(now time.Time) uint64 {
	round, err := p.info.RoundAt(now.UnixMilli())
	if err != nil {
		return 0
	}
	return uint64(round)
}

var errOffline = errors.New("this network only seals")

func (p *pinned) Signature(uint64) ([]byte, error)  { return nil, errOffline }
func (p *pinned) SwitchChainHash(hash string) error { return errOffline }
