package beacon

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/big"

	"github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"ludger/ledger/canon"
)

// A Local is a beacon with one key, in quicknet's scheme, for tests and demonstrations. Whoever has
// its seed knows every round beforehand; its chain is marked as a test, and its name, LocalName, which
// its hash covers, is refused without the mark. It has no clock: it signs any round at any time. It is
// safe for concurrent use. How long it takes to sign tells something about the key.
//
// The secret key is 1 + (a mod (r−1)), where a is the 64 bytes D("ludger/local-beacon/v1", seed, 0) ‖
// D("ludger/local-beacon/v1", seed, 1), big-endian, with 0 and 1 as one byte each, and r is the order
// of the group. The group hash is D("ludger/local-beacon/group/v1", public key).
type Local struct {
	chain  *Chain
	secret *big.Int
}

// NewLocal returns the beacon of a seed whose round 1 is at genesis, in Unix seconds, with a round
// every period seconds. The same arguments always give the same chain and signatures.
func NewLocal(seed [32]byte, genesis, period int64) (*Local, error) {
	low, high := canon.Digest("ludger/local-beacon/v1", seed[:], []byte{0}), canon.Digest("ludger/local-beacon/v1", seed[:], []byte{1})
	secret, one := new(big.Int).SetBytes(append(low[:], high[:]...)), big.NewInt(1)
	secret.Mod(secret, new(big.Int).Sub(fr.Modulus(), one)).Add(secret, one)
	var point bls12381.G2Affine
	key := point.ScalarMultiplicationBase(secret).Bytes()
	info := Info{
		Name:      LocalName,
		Scheme:    UnchainedG1,
		PublicKey: hex.EncodeToString(key[:]),
		Period:    period,
		Genesis:   genesis,
		GroupHash: canon.Digest("ludger/local-beacon/group/v1", key[:]),
		Test:      true,
	}
	info.Hash = info.hash(key[:])
	chain, err := NewChain(info)
	if err != nil {
		return nil, err
	}
	return &Local{chain, secret}, nil
}

// Chain returns the chain that checks the beacon's rounds.
func (l *Local) Chain() *Chain { return l.chain }

// Sign returns the signature of a round. The error is that of TimeOf.
func (l *Local) Sign(round int64) ([]byte, error) {
	if _, err := l.chain.info.TimeOf(round); err != nil {
		return nil, err
	}
	digest := sha256.Sum256(number(round))
	point, err := bls12381.HashToG1(digest[:], []byte(tagG1))
	if err != nil {
		panic("beacon.Local.Sign: " + err.Error())
	}
	signature := point.ScalarMultiplication(&point, l.secret).Bytes()
	return signature[:], nil
}

// Format prints the chain whatever the verb, so that no log line ever shows the secret.
func (l *Local) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "local test beacon of chain %v", l.chain.info.Hash)
}
