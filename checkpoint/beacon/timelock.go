package beacon

import (
	"bytes"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"golang.org/x/crypto/chacha20poly1305"

	"ludger/ledger/canon"
)

// A timelock box is what drand's tlock makes of a 32-byte secret for a chain of the scheme
// UnchainedG1: a file of age (age-encryption.org/v1) with one stanza and no armor. Anybody makes one
// with the chain's public key; nobody opens it, who made it aside, before the signature of its round
// is out. Without line ends inside the stanza's body:
//
//	age-encryption.org/v1⏎
//	-> tlock <round> <hash of the chain>⏎
//	<base64 of U:96 ‖ V:16 ‖ W:16, in lines of 64 characters>⏎
//	--- <base64 of M:32>⏎
//	<nonce:16> <sealed secret:48>
//
// Round and hash are printed in one way only, base64 is without padding, and there is nothing else:
// the boxes of a round all have the same number of bytes.
//
// With H = SHA-256, e the optimal ate pairing with the final exponent 3·(p¹²−1)/r, G the generator of
// G2 and S the round's signature, it opens so:
//
//	sigma = V ⊕ H("IBE-H2" ‖ e(S, U))[:16], e(S, U) as the twelve coordinates of the tower w² = v,
//	        v³ = u+1, u² = −1, of 48 bytes each, big-endian, from that of w·v²·u down to that of 1
//	key   = W ⊕ H("IBE-H4" ‖ sigma)[:16]
//	r     = the first of H(i:2, little-endian ‖ H("IBE-H3" ‖ sigma ‖ key)) for i = 1, 2, …, with its
//	        first byte halved, that is below the order of the group; then U must be r·G
//	M     = HMAC-SHA-256 of all up to "---" with the key HKDF-SHA-256(key, no salt, "header")
//	secret: ChaCha20-Poly1305 with the key HKDF-SHA-256(key, salt nonce, "payload") and the nonce
//	        00 00 00 00 00 00 00 00 00 00 00 01
type timelock struct {
	text    []byte // up to "---"
	u       bls12381.G2Affine
	v, w    [fileKey]byte
	mac     [sha256.Size]byte
	nonce   [fileKey]byte
	payload [32 + chacha20poly1305.Overhead]byte
}

// MaxTimelock is the number of bytes of the longest timelock box, one for a round of 16 digits.
const MaxTimelock = len(ageIntro) + len(tlockStanza) + 16 + len(" ") + 2*len(Hash{}) + timelockRest

const (
	fileKey     = 16 // bytes of what age calls the file key, and of its nonce
	ageIntro    = "age-encryption.org/v1\n"
	tlockStanza = "-> tlock "
	ageMAC      = "---"

	stanzaBody = bls12381.SizeOfG2AffineCompressed + 2*fileKey
	// What follows the hash of the chain: the body's 171 characters in three lines, the MAC's 43, and
	// what is not text.
	timelockRest = len("\n") + 171 + len("\n\n\n") + len(ageMAC) + len(" ") + 43 + len("\n") + fileKey + 32 + chacha20poly1305.Overhead
)

// The steps of the rule for timelock boxes that beacons do not have, in the order after StepScheme,
// StepLength, StepRound, StepHash, StepEncoding, StepIdentity, StepSubgroup, and the steps of the
// beacon that opens the box.
const (
	StepProof   Step = "proof"   // U is not r·G: changed, or made with another key
	StepMAC     Step = "mac"     // the text is not the one that was sealed
	StepPayload Step = "payload" // the sealed secret is not the one that was sealed
)

// SealTimelock returns the timelock box of a secret, which must be 32 random bytes: whoever could guess
// the secret can tell that the box is its. It is a function of chain, round and secret: sigma, the key
// and the nonce are the first 16 bytes of D("ludger/vault/v1", secret, hash of the chain, round, what),
// with the round as eight bytes, big-endian, and "sigma", "key" or "nonce". So who is told the secret can
// check the box without the signature of its round. drand's tools open it like their own.
func (c *Chain) SealTimelock(round int64, secret [32]byte) ([]byte, error) {
	if c.info.Scheme != UnchainedG1 {
		return nil, c.timelockError(round, StepScheme, "there are boxes for scheme %s only, and this chain's is %s", UnchainedG1, c.info.Scheme)
	}
	if _, err := c.info.TimeOf(round); err != nil {
		return nil, err
	}
	part := func(what string) (b [fileKey]byte) {
		d := canon.Digest("ludger/vault/v1", secret[:], c.info.Hash[:], number(round), []byte(what))
		copy(b[:], d[:])
		return b
	}
	sigma, key, nonce := part("sigma"), part("key"), part("nonce")
	r := scalar(sigma[:], key[:])
	var u bls12381.G2Affine
	u.ScalarMultiplicationBase(r)
	pair, err := c.mask(round, r)
	if err != nil {
		return nil, err
	}
	v, w := mask(sigma, "IBE-H2", pair), mask(key, "IBE-H4", sigma[:])
	point := u.Bytes()
	body := base64.RawStdEncoding.EncodeToString(bytes.Join([][]byte{point[:], v[:], w[:]}, nil))
	box := fmt.Appendf(nil, "%s%s%d %s\n%s\n%s\n%s\n%s", ageIntro, tlockStanza, round, c.info.Hash, body[:64], body[64:128], body[128:], ageMAC)
	mac := hmac.New(sha256.New, derive(key[:], nil, "header"))
	mac.Write(box)
	box = fmt.Appendf(box, " %s\n%s", base64.RawStdEncoding.EncodeToString(mac.Sum(nil)), nonce[:])
	aead, err := chacha20poly1305.New(derive(key[:], nonce[:], "payload"))
	if err != nil {
		return nil, err
	}
	box = aead.Seal(box, onlyChunk[:], secret[:], nil)
	return box, c.CheckTimelock(round, box)
}

// mask returns the coordinates of e(r·Q, P), with which sigma is masked: Q is what the chain signs for
// the round, P its key.
func (c *Chain) mask(round int64, r *big.Int) ([]byte, error) {
	key := make([]byte, c.info.Scheme.KeySize())
	if !canon.DecodeHex(key, c.info.PublicKey) {
		return nil, c.timelockError(round, StepEncoding, "the chain's key is not lowercase hex")
	}
	p, f := pointG2(key)
	if f != nil {
		return nil, c.timelockError(round, f.step, "the chain's key %s", f.reason)
	}
	digest := sha256.Sum256(number(round))
	q, err := bls12381.HashToG1(digest[:], []byte(tagG1))
	if err != nil {
		return nil, err
	}
	q.ScalarMultiplication(&q, r)
	pair, err := bls12381.Pair([]bls12381.G1Affine{q}, []bls12381.G2Affine{p})
	if err != nil {
		return nil, err
	}
	coordinates := pair.Bytes()
	return coordinates[:], nil
}

// onlyChunk is age's nonce of chunk 0 that is also the last.
var onlyChunk = [chacha20poly1305.NonceSize]byte{chacha20poly1305.NonceSize - 1: 1}

// CheckTimelock checks what can be seen of a timelock box before its round: that it is one, and for
// this round of this chain. Whether it opens, and to what, shows only then.
func (c *Chain) CheckTimelock(round int64, box []byte) error {
	_, err := c.parseTimelock(round, box)
	return err
}

// OpenTimelock opens a timelock box with the signature of its round, which it checks first. There is
// one text of a box that opens: no bit of it can change.
func (c *Chain) OpenTimelock(round int64, signature, box []byte) (secret [32]byte, err error) {
	t, err := c.parseTimelock(round, box)
	if err != nil {
		return secret, err
	}
	if _, err := c.Verify(round, signature); err != nil {
		return secret, err
	}
	key, ok := t.key(signature)
	if !ok {
		return secret, c.timelockError(round, StepProof, "what it holds was not sealed for this round, or was changed")
	}
	mac := hmac.New(sha256.New, derive(key, nil, "header"))
	mac.Write(t.text)
	if !hmac.Equal(mac.Sum(nil), t.mac[:]) {
		return secret, c.timelockError(round, StepMAC, "its text is not the one that was sealed")
	}
	aead, err := chacha20poly1305.New(derive(key, t.nonce[:], "payload"))
	if err != nil {
		panic("beacon.OpenTimelock: " + err.Error())
	}
	plain, err := aead.Open(nil, onlyChunk[:], t.payload[:], nil)
	if err != nil {
		return secret, c.timelockError(round, StepPayload, "the secret in it is not the one that was sealed")
	}
	return [32]byte(plain), nil
}

func (c *Chain) timelockError(round int64, step Step, format string, args ...any) error {
	return &Error{fmt.Sprintf("timelock box for round %d of chain %s", round, c.info.Name), step, fmt.Sprintf(format, args...)}
}

func (c *Chain) parseTimelock(round int64, box []byte) (*timelock, error) {
	refuse := func(step Step, format string, args ...any) (*timelock, error) {
		return nil, c.timelockError(round, step, format, args...)
	}
	if c.info.Scheme != UnchainedG1 {
		return refuse(StepScheme, "there are boxes for scheme %s only, and this chain's is %s", UnchainedG1, c.info.Scheme)
	}
	if _, err := c.info.TimeOf(round); err != nil {
		return nil, err
	}
	if len(box) > MaxTimelock {
		return refuse(StepLength, "%d bytes exceed %d", len(box), MaxTimelock)
	}
	rest, ok := bytes.CutPrefix(box, []byte(ageIntro+tlockStanza))
	args, rest, ok2 := bytes.Cut(rest, []byte("\n"))
	if !ok || !ok2 {
		return refuse(StepEncoding, "it does not begin with a stanza of tlock in a file of age")
	}
	// A box for something else is still one: it is told apart from what is none.
	number, hash, ok := strings.Cut(string(args), " ")
	if r, err := strconv.ParseInt(number, 10, 64); !ok || err != nil || strconv.FormatInt(r, 10) != number || !isHash(hash) {
		return refuse(StepEncoding, "its stanza does not name a round and a chain by its hash: %q", args)
	} else if r != round {
		return refuse(StepRound, "it is for round %d", r)
	}
	if hash != c.info.Hash.String() {
		return refuse(StepHash, "it is for the chain %s", hash)
	}
	if want := len(box) - len(rest) - len("\n") + timelockRest; len(box) != want {
		return refuse(StepLength, "%d bytes are not the %d of a box of 32 bytes for this round", len(box), want)
	}
	// From here on every part has its place.
	t := new(timelock)
	next := func(n int) []byte { part := rest[:n]; rest = rest[n:]; return part }
	lines := next(64 + 1 + 64 + 1 + 43 + 1)
	tail := next(len(ageMAC) + 1 + 43 + 1)
	copy(t.nonce[:], next(len(t.nonce)))
	copy(t.payload[:], next(len(t.payload)))
	t.text = box[:len(box)-len(t.payload)-len(t.nonce)-len(tail)+len(ageMAC)]

	body := bytes.Join([][]byte{lines[:64], lines[65:129], lines[130:173]}, nil)
	if lines[64] != '\n' || lines[129] != '\n' || lines[173] != '\n' || !bytes.HasPrefix(tail, []byte(ageMAC+" ")) || tail[len(tail)-1] != '\n' {
		return refuse(StepEncoding, "its lines are not those of one stanza and the MAC")
	}
	b, ok := decode64(body, stanzaBody)
	mac, ok2 := decode64(tail[len(ageMAC)+1:len(tail)-1], len(t.mac))
	if !ok || !ok2 {
		return refuse(StepEncoding, "its base64 is not canonical")
	}
	copy(t.mac[:], mac)
	const size = bls12381.SizeOfG2AffineCompressed
	copy(t.v[:], b[size:])
	copy(t.w[:], b[size+fileKey:])
	var f *fault
	if t.u, f = pointG2(b[:size]); f != nil {
		return refuse(f.step, "its point %s", f.reason)
	}
	return t, nil
}

func isHash(s string) bool {
	return len(s) == 2*len(Hash{}) && strings.Trim(s, "0123456789abcdef") == ""
}

// decode64 decodes n bytes, and only what they are printed as. The decoder skips line ends.
func decode64(text []byte, n int) ([]byte, bool) {
	b, err := base64.RawStdEncoding.Strict().AppendDecode(nil, text)
	return b, err == nil && len(b) == n && !bytes.ContainsAny(text, "\r\n")
}

// key decrypts the file key: Boneh and Franklin's identity-based encryption, with the transform of
// Fujisaki and Okamoto, as drand's kyber has it in encrypt/ibe. False says that U is not what the
// sealer must have made.
func (t *timelock) key(signature []byte) ([]byte, bool) {
	var s bls12381.G1Affine
	if _, err := s.SetBytes(signature); err != nil {
		panic("beacon.timelock.key: " + err.Error()) // verified before
	}
	pair, err := bls12381.Pair([]bls12381.G1Affine{s}, []bls12381.G2Affine{t.u})
	if err != nil {
		panic("beacon.timelock.key: " + err.Error())
	}
	coordinates := pair.Bytes()
	sigma := mask(t.v, "IBE-H2", coordinates[:])
	key := mask(t.w, "IBE-H4", sigma[:])
	r := scalar(sigma[:], key[:])
	var u bls12381.G2Affine
	return key[:], u.ScalarMultiplicationBase(r).Equal(&t.u)
}

// mask returns b ⊕ H(tag ‖ data)[:16].
func mask(b [fileKey]byte, tag string, data []byte) [fileKey]byte {
	h := sha256.Sum256(append([]byte(tag), data...))
	for i := range b {
		b[i] ^= h[i]
	}
	return b
}

// scalar is r of the box. Of the numbers of 255 bits nine in ten are below the order of the group.
func scalar(sigma, key []byte) *big.Int {
	seed := sha256.Sum256(bytes.Join([][]byte{[]byte("IBE-H3"), sigma, key}, nil))
	r, order := new(big.Int), fr.Modulus()
	for i := uint16(1); ; i++ {
		h := sha256.Sum256(append(binary.LittleEndian.AppendUint16(nil, i), seed[:]...))
		h[0] >>= 1
		if r.SetBytes(h[:]); r.Cmp(order) < 0 {
			return r
		}
	}
}

func derive(key, salt []byte, info string) []byte {
	b, err := hkdf.Key(sha256.New, key, salt, info, sha256.Size)
	if err != nil {
		panic("beacon.derive: " + err.Error())
	}
	return b
}
