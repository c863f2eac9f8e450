// Package beacon checks drand beacons: public random numbers that nobody knows before their time and
// everybody can check afterwards, offline.
//
// An Info describes one chain of beacons. NewChain checks it and prepares its key, and the Chain
// checks beacons:
//
//	chain, err := beacon.NewChain(beacon.Quicknet())
//	randomness, err := chain.Verify(1000, signature)
//
// Package beacon also makes the seeds that a match draws from (Commitment, PublicSeed, SealedSeed,
// RollSeed), and Local, a beacon with a key of our own for tests.
//
// # The rule for beacons
//
// Whoever hands over a beacon would choose the random number if two texts of one signature passed.
// So, in this order, each with the Step that an Error names:
//
//	round       from 1, and its time within the numbers of the ledger
//	previous    chained schemes only: 96 bytes; in round 1 the chain's group hash
//	length      exactly the scheme's number of bytes
//	encoding    a point on the curve, and encoding it again gives the same bytes
//	identity    not the neutral element
//	subgroup    in the subgroup of prime order
//	equation    e(signature, generator) = e(H(message), key), with the sides changed where keys are
//	            on G1
//
// The message of round R is SHA-256(previous ‖ R) with a chained scheme, SHA-256(R) with the others,
// Keccak-256(R) on BN254; R is eight bytes, big-endian. H is hash_to_curve of RFC 9380 with the tag of
// the scheme. The random number is SHA-256(signature): it is computed and never read.
//
// # The rule for chains
//
// A chain is named by its hash, SHA-256(u32(period) ‖ u64(genesis) ‖ public key ‖ group hash ‖ name),
// big-endian, without the name where that is "default". The hash is recomputed. It does not cover the
// scheme, so a chain that shares the name, hash or key of one compiled in must equal it in everything.
// Public keys are held to length, encoding, identity and subgroup like signatures: under the neutral
// element as a key everyone can sign.
//
// # What is not promised
//
// A chain that calls itself public is not public by that: whoever has a key of their own can write
// any Info. The reader says which chains it believes; only Quicknet is compiled in.
package beacon

import (
	"encoding/hex"
	"errors"
)

// A Step is the part of the rule that refused.
type Step string

// The steps of the rule for chains.
const (
	StepBounds Step = "bounds"     // name, period or genesis, or a time
	StepScheme Step = "scheme"     // not one known here
	StepHash   Step = "chain hash" // not that of the chain's description
	StepPin    Step = "pin"        // contradicts what is known of the chain
)

// The steps of the rule for beacons; those from StepLength to StepSubgroup are of public keys too.
const (
	StepRound    Step = "round"
	StepPrevious Step = "previous"
	StepLength   Step = "length"
	StepEncoding Step = "encoding"
	StepIdentity Step = "identity"
	StepSubgroup Step = "subgroup"
	StepEquation Step = "equation"
)

// An Error says which step refused a chain or a beacon, and why.
type Error struct {
	Subject string // "chain quicknet" or "round 7 of chain quicknet"
	Step    Step
	Reason  string
}

func (e *Error) Error() string { return e.Subject + ": " + e.Reason }

// ErrBeforeGenesis says that a time is before the first round of a chain.
var ErrBeforeGenesis = errors.New("before the first round")

// A Hash is the hash of a chain, or the hash of the group that began one.
type Hash [32]byte

func (h Hash) String() string { return hex.EncodeToString(h[:]) }
