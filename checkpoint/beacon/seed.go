package beacon

import (
	"encoding/binary"

	"ludger/ledger/canon"
)

// The functions below make what a match draws from. D is canon.Digest. Match ids, secrets and chain
// hashes are their 32 bytes, rounds and turns eight bytes, big-endian, signatures the bytes that
// Chain.Verify accepted. The signature stands for the random number of its round, and nobody has it
// before.

// Commitment is what is published of a secret before the round that goes into a seed with it:
// D("ludger/commit/v1", secret). The secret must be 32 bytes that nobody can guess.
func Commitment(secret [32]byte) [32]byte {
	return canon.Digest("ludger/commit/v1", secret[:])
}

// PublicSeed is the seed of a match without secrets:
// D("ludger/seed/v1", match id, chain, round, signature).
func PublicSeed(match [32]byte, chain Hash, round int64, signature []byte) [32]byte {
	return canon.Digest("ludger/seed/v1", match[:], chain[:], number(round), signature)
}

// SealedSeed is the seed of a match whose operator keeps a secret until the end:
// D("ludger/seed/v1", match id, secret, chain, round, signature). If the
// commitment was out before the round, nobody chose the seed, the operator included.
func SealedSeed(match, secret [32]byte, chain Hash, round int64, signature []byte) [32]byte {
	return canon.Digest("ludger/seed/v1", match[:], secret[:], chain[:], number(round), signature)
}

// RollSeed is the seed of one live roll: D("ludger/roll/v1", match id, turn, chain, round, signature).
func RollSeed(match [32]byte, turn int64, chain Hash, round int64, signature []byte) [32]byte {
	return canon.Digest("ludger/roll/v1", match[:], number(turn), chain[:], number(round), signature)
}

func number(n int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }
