package beacon

import (
	"bytes"
	"crypto/sha256"
	"slices"

	"github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fp"
	"golang.org/x/crypto/sha3"
)

// A Scheme is drand's name of the way a chain signs. The empty Scheme and names not listed here have
// the sizes zero.
type Scheme string

// The schemes.
const (
	Chained       Scheme = "pedersen-bls-chained"      // BLS12-381, keys on G1, signatures on G2
	UnchainedG2   Scheme = "pedersen-bls-unchained"    // the same without the previous signature
	UnchainedG1   Scheme = "bls-unchained-g1-rfc9380"  // BLS12-381, keys on G2, signatures on G1
	UnchainedG1V0 Scheme = "bls-unchained-on-g1"       // the same with the tag of G2; retired
	BN254         Scheme = "bls-bn254-unchained-on-g1" // keys on G2, signatures on G1, uncompressed
)

// KeySize returns the number of bytes of a public key, 0 for an unknown scheme.
func (s Scheme) KeySize() int { k, _ := s.sizes(); return k }

// SignatureSize returns the number of bytes of a signature, 0 for an unknown scheme.
func (s Scheme) SignatureSize() int { _, sig := s.sizes(); return sig }

// Chained tells whether a signature covers the one of the round before.
func (s Scheme) Chained() bool { return s == Chained }

const maxKey = 128

func (s Scheme) sizes() (key, signature int) {
	switch s {
	case Chained, UnchainedG2:
		return bls12381.SizeOfG1AffineCompressed, bls12381.SizeOfG2AffineCompressed
	case UnchainedG1, UnchainedG1V0:
		return bls12381.SizeOfG2AffineCompressed, bls12381.SizeOfG1AffineCompressed
	case BN254:
		return 4 * fp.Bytes, 2 * fp.Bytes
	}
	return 0, 0
}

// Tags of RFC 9380 section 3.1, as the BLS draft's section 4.2 forms them.
const (
	tagG1    = "BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_NUL_"
	tagG2    = "BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_NUL_"
	tagBN254 = "BLS_SIG_BN254G1_XMD:KECCAK-256_SVDW_RO_NUL_"
)

// A fault is why a key or a signature is f; the reason goes on from "signature" or "public key".
type fault struct {
	step   Step
	reason string
}

// A key checks signatures of the scheme's size over the bytes that the scheme hashes first.
type key interface {
	verify(message, signature []byte) *fault
}

// newKey prepares a public key of the scheme's size.
func newKey(s Scheme, b []byte) (key, *fault) {
	switch s {
	case UnchainedG1:
		return newG1Signed(b, tagG1)
	case UnchainedG1V0:
		return newG1Signed(b, tagG2)
	case BN254:
		return newBN254Signed(b)
	default:
		return newG2Signed(b)
	}
}

var (
	noPoint     = &fault{StepEncoding, "is not the canonical encoding of a point on the curve"}
	neutral     = &fault{StepIdentity, "is the neutral element"}
	outside     = &fault{StepSubgroup, "is not in the subgroup of prime order"}
	otherSigner = &fault{StepEquation, "is not of this key and round"}
)

func pointG1(b []byte) (p bls12381.G1Affine, f *fault) {
	// The decoder reads the uncompressed form too: then it finds too few bytes.
	err := bls12381.NewDecoder(bytes.NewReader(b), bls12381.NoSubgroupChecks()).Decode(&p)
	switch again := p.Bytes(); {
	case err != nil || !bytes.Equal(again[:], b):
		return p, noPoint
	case p.IsInfinity():
		return p, neutral
	case !p.IsInSubGroup():
		return p, outside
	}
	return p, nil
}

func pointG2(b []byte) (p bls12381.G2Affine, f *fault) {
	err := bls12381.NewDecoder(bytes.NewReader(b), bls12381.NoSubgroupChecks()).Decode(&p)
	switch again := p.Bytes(); {
	case err != nil || !bytes.Equal(again[:], b):
		return p, noPoint
	case p.IsInfinity():
		return p, neutral
	case !p.IsInSubGroup():
		return p, outside
	}
	return p, nil
}

// g1Signed has its signatures on G1 of BLS12-381. The pairings' second arguments never change, so
// their lines are computed once.
type g1Signed struct {
	tag   []byte
	lines [][2][len(bls12381.LoopCounter) - 1]bls12381.LineEvaluationAff // of −generator and key
}

func newG1Signed(b []byte, tag string) (key, *fault) {
	p, f := pointG2(b)
	if f != nil {
		return nil, f
	}
	_, _, _, g2 := bls12381.Generators()
	g2.Neg(&g2)
	k := &g1Signed{tag: []byte(tag)}
	k.lines = append(k.lines, bls12381.PrecomputeLines(g2), bls12381.PrecomputeLines(p))
	return k, nil
}

func (k *g1Signed) verify(message, signature []byte) *fault {
	sig, f := pointG1(signature)
	if f != nil {
		return f
	}
	digest := sha256.Sum256(message)
	point, err := bls12381.HashToG1(digest[:], k.tag)
	if err != nil {
		panic("beacon.g1Signed.verify: " + err.Error())
	}
	// The loop writes into the lines it is given, so it gets its own.
	return equation(bls12381.PairingCheckFixedQ([]bls12381.G1Affine{sig, point}, slices.Clone(k.lines)))
}

// equation turns the answer of a pairing check of our own lengths, which knows no other errors.
func equation(holds bool, err error) *fault {
	if err != nil {
		panic("beacon.equation: " + err.Error())
	}
	if !holds {
		return otherSigner
	}
	return nil
}

// g2Signed has its signatures on G2 of BLS12-381.
type g2Signed struct {
	points []bls12381.G1Affine // key and −generator
}

func newG2Signed(b []byte) (key, *fault) {
	p, f := pointG1(b)
	if f != nil {
		return nil, f
	}
	_, _, g1, _ := bls12381.Generators()
	g1.Neg(&g1)
	return &g2Signed{[]bls12381.G1Affine{p, g1}}, nil
}

func (k *g2Signed) verify(message, signature []byte) *fault {
	sig, f := pointG2(signature)
	if f != nil {
		return f
	}
	digest := sha256.Sum256(message)
	point, err := bls12381.HashToG2(digest[:], []byte(tagG2))
	if err != nil {
		panic("beacon.g2Signed.verify: " + err.Error())
	}
	return equation(bls12381.PairingCheck(k.points, []bls12381.G2Affine{point, sig}))
}

// bn254Signed has its signatures on G1 of BN254. Points are uncompressed, each coordinate 32 bytes,
// big-endian and below the field's modulus, of G2 the imaginary part first. The neutral element is
// all zeros.
type bn254Signed struct {
	lines [][2][len(bn254.LoopCounter)]bn254.LineEvaluationAff // of −generator and key
}

func newBN254Signed(b []byte) (key, *fault) {
	var p bn254.G2Affine
	switch again := readCoordinates(b, &p.X.A1, &p.X.A0, &p.Y.A1, &p.Y.A0); {
	case !bytes.Equal(again, b):
		return nil, noPoint
	case p.IsInfinity():
		return nil, neutral
	case !p.IsOnCurve():
		return nil, noPoint
	case !p.IsInSubGroup():
		return nil, outside
	}
	_, _, _, g2 := bn254.Generators()
	g2.Neg(&g2)
	k := new(bn254Signed)
	k.lines = append(k.lines, bn254.PrecomputeLines(g2), bn254.PrecomputeLines(p))
	return k, nil
}

// readCoordinates fills the coordinates from b and returns them printed again, which is b exactly if
// each was below the modulus.
func readCoordinates(b []byte, coordinates ...*fp.Element) []byte {
	var again []byte
	for i, c := range coordinates {
		c.SetBytes(b[i*fp.Bytes : (i+1)*fp.Bytes])
		printed := c.Bytes()
		again = append(again, printed[:]...)
	}
	return again
}

func (k *bn254Signed) verify(message, signature []byte) *fault {
	var sig bn254.G1Affine
	switch again := readCoordinates(signature, &sig.X, &sig.Y); {
	case !bytes.Equal(again, signature):
		return noPoint
	case sig.IsInfinity():
		return neutral
	case !sig.IsOnCurve(): // every point of this curve is in the group
		return noPoint
	}
	point := hashToBN254(keccak(message))
	// As above: the loop writes into the lines it is given.
	return equation(bn254.PairingCheckFixedQ([]bn254.G1Affine{sig, point}, slices.Clone(k.lines)))
}

// hashToBN254 is hash_to_curve of RFC 9380 section 3 with the map of section 6.6.1 and, as the tag
// says, with expand_message_xmd of section 5.3.1 over Keccak-256.
func hashToBN254(message []byte) bn254.G1Affine {
	const length = 48 // of the bytes of one field element: 254 bits of the field and 128 of security
	tag := append([]byte(tagBN254), byte(len(tagBN254)))
	const rate = 136 // of Keccak-256
	first := keccak(make([]byte, rate), message, []byte{0, 2 * length, 0}, tag)
	var uniform []byte
	block := make([]byte, len(first))
	for i := byte(1); len(uniform) < 2*length; i++ {
		for j := range block {
			block[j] ^= first[j]
		}
		block = keccak(block, []byte{i}, tag)
		uniform = append(uniform, block...)
	}
	var u fp.Element
	a := bn254.MapToG1(*u.SetBytes(uniform[:length]))
	b := bn254.MapToG1(*u.SetBytes(uniform[length : 2*length]))
	return *a.Add(&a, &b)
}

// keccak is Keccak-256 with the padding from before SHA-3, over all parts.
func keccak(parts ...[]byte) []byte {
	h := sha3.NewLegacyKeccak256()
	for _, p := range parts {
		h.Write(p)
	}
	return h.Sum(nil)
}
