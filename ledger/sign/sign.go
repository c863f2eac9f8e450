// Package sign holds the Ed25519 keys of the ledger, the one rule by which a signature is checked,
// and one function for each string that is ever signed.
//
// Whoever checks signatures makes a Verifier once per key, builds the signed string with the
// function of its name, and asks Verify:
//
//	v, err := sign.NewVerifier(key)                   // refuses keys that prove nothing
//	ok := v.Verify(sign.AckMessage(match, opened), sig)
//
// # The rule
//
// It is the strictest in use, so that whatever passes here passes in every library, and two honest
// auditors never disagree about crafted signatures:
//
//	key        canonically encoded, on the curve, in the prime-order subgroup, not the identity
//	S          below the group order L
//	R          equal, byte for byte, to the canonical encoding of [S]B − [k]A,
//	           k = SHA-512(R ‖ A ‖ message) mod L: the cofactorless equation of RFC 8032
//	           section 5.1.7
//	R          not of small order
//
// Signatures are checked one at a time: batch verification gives other verdicts on crafted
// signatures.
//
// # Text form
//
// Keys and signatures are lowercase hex, 64 and 128 digits; nothing else is read.
package sign

import (
	stded25519 "crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"

	"filippo.io/edwards25519"
	"github.com/oasisprotocol/curve25519-voi/primitives/ed25519"

	"ludger/ledger/canon"
)

// A PublicKey is an Ed25519 public key as it is written. It may be one that NewVerifier refuses.
type PublicKey [32]byte

// String returns 64 lowercase hex digits.
func (k PublicKey) String() string { return hex.EncodeToString(k[:]) }

// ParsePublicKey reads exactly 64 lowercase hex digits. It does not judge the key: NewVerifier
// does.
func ParsePublicKey(s string) (PublicKey, error) {
	var k PublicKey
	err := decode(k[:], "public key", s)
	return k, err
}

// A Signature is an Ed25519 signature as it is written, R then S.
type Signature [64]byte

// String returns 128 lowercase hex digits.
func (s Signature) String() string { return hex.EncodeToString(s[:]) }

// ParseSignature reads exactly 128 lowercase hex digits.
func ParseSignature(text string) (Signature, error) {
	var s Signature
	err := decode(s[:], "signature", text)
	return s, err
}

func decode(dst []byte, what, s string) error {
	if len(s) != 2*len(dst) {
		return fmt.Errorf("%s of %d characters is not %d lowercase hex digits", what, len(s), 2*len(dst))
	}
	if !canon.DecodeHex(dst, s) {
		clear(dst)
		return fmt.Errorf("%s %q is not lowercase hex", what, s)
	}
	return nil
}

// A PrivateKey signs. Printing one shows its public key only.
type PrivateKey struct {
	key stded25519.PrivateKey
}

// NewPrivateKey returns the key of an RFC 8032 seed. Every seed is a key; whoever knows the seed
// is its holder.
func NewPrivateKey(seed [32]byte) PrivateKey {
	return PrivateKey{stded25519.NewKeyFromSeed(seed[:])}
}

// DeriveKey returns the key of the given name under a master seed, with the RFC 8032 seed
// D("ludger/key/v1", seed, name); D is canon.Digest. Names give unrelated keys, and no key tells
// the seed, provided the seed is at least 16 bytes that nobody can guess: derived keys are exactly
// as secret as the seed.
func DeriveKey(seed []byte, name string) PrivateKey {
	return NewPrivateKey(canon.Digest("ludger/key/v1", seed, []byte(name)))
}

// Public returns the public key.
func (k PrivateKey) Public() PublicKey { return PublicKey(k.key[32:]) }

// Sign signs a message. The same key and message always give the same signature.
func (k PrivateKey) Sign(msg []byte) Signature {
	return Signature(stded25519.Sign(k.key, msg))
}

// Format prints the public key whatever the verb, so that no log line ever shows a secret.
func (k PrivateKey) Format(s fmt.State, _ rune) {
	if len(k.key) == 0 {
		fmt.Fprint(s, "no private key")
		return
	}
	fmt.Fprintf(s, "private key of %v", k.Public())
}

// Why NewVerifier refuses a key, for errors.Is.
var (
	ErrEncoding   = errors.New("is not the canonical encoding of a point on the curve")
	ErrSmallOrder = errors.New("is a point of small order, for which anyone can sign")
	ErrSubgroup   = errors.New("is not in the prime-order subgroup")
)

// A Verifier checks signatures of one key. It holds about 1.5 KiB of precomputed multiples and is
// safe for concurrent use.
type Verifier struct {
	key      PublicKey
	expanded *ed25519.ExpandedPublicKey
}

// NewVerifier checks a public key by the package's rule and prepares it. The error wraps
// ErrEncoding, ErrSmallOrder or ErrSubgroup.
func NewVerifier(key PublicKey) (*Verifier, error) {
	if err := check(key); err != nil {
		return nil, fmt.Errorf("public key %v %w", key, err)
	}
	expanded, err := ed25519.NewExpandedPublicKey(key[:])
	if err != nil {
		return nil, fmt.Errorf("public key %v %w: %v", key, ErrEncoding, err)
	}
	return &Verifier{key, expanded}, nil
}

func check(key PublicKey) error {
	p, err := new(edwards25519.Point).SetBytes(key[:])
	// SetBytes reduces y and takes a sign bit at x = 0 (both RFC 8032 section 5.1.3 refuses).
	if err != nil || [32]byte(p.Bytes()) != key {
		return ErrEncoding
	}
	if new(edwards25519.Point).MultByCofactor(p).Equal(edwards25519.NewIdentityPoint()) == 1 {
		return ErrSmallOrder
	}
	// [L]p is the identity exactly if [L−1]p is −p; scalars are below L.
	order := edwards25519.NewScalar()
	order.Negate(scalarOne())
	if new(edwards25519.Point).ScalarMult(order, p).Equal(new(edwards25519.Point).Negate(p)) != 1 {
		return ErrSubgroup
	}
	return nil
}

func scalarOne() *edwards25519.Scalar {
	one, err := edwards25519.NewScalar().SetCanonicalBytes(append([]byte{1}, make([]byte, 31)...))
	if err != nil {
		panic("sign.scalarOne: " + err.Error())
	}
	return one
}

// Key returns the verifier's key.
func (v *Verifier) Key() PublicKey { return v.key }

// Verify tells whether sig is the key's signature over msg.
func (v *Verifier) Verify(msg []byte, sig Signature) bool {
	// A and B lie in the prime-order subgroup, so the recomputed R does too. Of the eight points of
	// small order only the identity is there: this one comparison refuses them all.
	if [32]byte(sig[:32]) == identity {
		return false
	}
	return ed25519.VerifyExpandedWithOptions(v.expanded, msg, sig[:], &options)
}

// identity is the encoding of the neutral element, y = 1.
var identity = [32]byte{1}

// options select the cofactorless equation with R compared as bytes and S below L.
var options = ed25519.Options{Verify: ed25519.VerifyOptionsStdLib}
