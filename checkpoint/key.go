package checkpoint

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"ludger/ledger/sign"
)

// An Algorithm is the signature type byte of C2SP signed-note.
type Algorithm byte

const (
	Ed25519     Algorithm = 1 // a log's signature over the note's text
	Cosignature Algorithm = 4 // a witness's timestamped signature (C2SP tlog-cosignature)
)

func (a Algorithm) String() string {
	switch a {
	case Ed25519:
		return "Ed25519"
	case Cosignature:
		return "Ed25519 cosignature"
	}
	return fmt.Sprintf("algorithm 0x%02x", byte(a))
}

// A Verifier is the public key of a log or a witness with its name. It is safe for concurrent use.
type Verifier struct {
	name string
	id   uint32
	alg  Algorithm
	key  *sign.Verifier
}

// NewVerifier names a public key. The key must be one that package sign accepts.
func NewVerifier(alg Algorithm, name string, key sign.PublicKey) (*Verifier, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	if alg != Ed25519 && alg != Cosignature {
		return nil, fmt.Errorf("key of %s: %v is not supported, only 0x01 (Ed25519) and 0x04 (Ed25519 cosignature)", name, alg)
	}
	v, err := sign.NewVerifier(key)
	if err != nil {
		return nil, fmt.Errorf("key of %s: %w", name, err)
	}
	return &Verifier{name, keyID(name, alg, key), alg, v}, nil
}

// Name returns the key's name; a log's is its origin.
func (v *Verifier) Name() string { return v.name }

// ID returns the four bytes that signature lines name the key by.
func (v *Verifier) ID() uint32 { return v.id }

// Algorithm tells whether the key is a log's or a witness's.
func (v *Verifier) Algorithm() Algorithm { return v.alg }

// Key returns the public key.
func (v *Verifier) Key() sign.PublicKey { return v.key.Key() }

// String returns the key as a vkey, the text that golang.org/x/mod/sumdb/note reads too:
//
//	<name>+<id, 8 hex digits>+<base64 of the algorithm byte and the public key>
func (v *Verifier) String() string {
	key := v.Key()
	return keyText(v.name, v.id, v.alg, key)
}

func keyText(name string, id uint32, alg Algorithm, key [32]byte) string {
	return fmt.Sprintf("%s+%08x+%s", name, id, base64.StdEncoding.EncodeToString(append([]byte{byte(alg)}, key[:]...)))
}

// keyID is the key ID of C2SP signed-note: the first bytes of
// SHA-256(name ‖ 0x0A ‖ algorithm ‖ public key).
func keyID(name string, alg Algorithm, key sign.PublicKey) uint32 {
	sum := sha256.Sum256(append(append([]byte(name), '\n', byte(alg)), key[:]...))
	return binary.BigEndian.Uint32(sum[:])
}

// checkName refuses what cannot name a key: C2SP signed-note allows neither Unicode spaces nor a
// plus, and the first line of a note no control character.
func checkName(name string) error {
	switch {
	case name == "":
		return errors.New("a key needs a name")
	case len(name) > MaxName:
		return fmt.Errorf("key name of %d bytes exceeds %d", len(name), MaxName)
	case !utf8.ValidString(name):
		return fmt.Errorf("key name %q is not UTF-8", name)
	}
	for _, r := range name {
		if r < 0x20 || r == '+' || unicode.IsSpace(r) {
			return fmt.Errorf("key name %q holds %q: spaces, control characters and plus are not allowed", name, r)
		}
	}
	return nil
}

// ParseVerifier reads a vkey. Its ID must fit its name and key, and its hex and base64 must be in
// the one form that String prints.
func ParseVerifier(vkey string) (*Verifier, error) {
	name, id, alg, key, err := parseKey("vkey", vkey)
	if err != nil {
		return nil, err
	}
	v, err := NewVerifier(alg, name, key)
	if err != nil {
		return nil, err
	}
	if v.id != id {
		return nil, fmt.Errorf("vkey of %s: it says its key ID is %08x, but name and key give %08x: one of the three was changed", name, id, v.id)
	}
	return v, nil
}

// parseKey splits <name>+<id>+<base64>. It never repeats the last part, which may be secret.
func parseKey(what, text string) (name string, id uint32, alg Algorithm, key [32]byte, err error) {
	parts := strings.Split(text, "+")
	if len(parts) > 3 { // base64 may hold a plus
		parts = append(parts[:2:2], strings.Join(parts[2:], "+"))
	}
	if len(parts) != 3 {
		return "", 0, 0, key, fmt.Errorf("%s is not of the form <name>+<key ID>+<base64>", what)
	}
	name = parts[0]
	if err := checkName(name); err != nil {
		return "", 0, 0, key, fmt.Errorf("%s: %w", what, err)
	}
	n, err := strconv.ParseUint(parts[1], 16, 32)
	if err != nil || fmt.Sprintf("%08x", n) != parts[1] {
		return "", 0, 0, key, fmt.Errorf("%s of %s: its key ID is not 8 lowercase hex digits", what, name)
	}
	b, ok := decodeBase64(parts[2])
	if !ok || len(b) == 0 {
		return "", 0, 0, key, fmt.Errorf("%s of %s: its last part is not canonical base64", what, name)
	}
	if len(b) != 1+len(key) {
		return "", 0, 0, key, fmt.Errorf("%s of %s: %v with a key of %d bytes; only Ed25519 keys of 32 bytes are supported", what, name, Algorithm(b[0]), len(b)-1)
	}
	return name, uint32(n), Algorithm(b[0]), [32]byte(b[1:]), nil
}

// decodeBase64 reads base64 in its one canonical form. The encoding's Strict mode refuses stray
// bits but skips line ends; the length rules those out.
func decodeBase64(s string) ([]byte, bool) {
	b, err := base64.StdEncoding.Strict().DecodeString(s)
	return b, err == nil && base64.StdEncoding.EncodedLen(len(b)) == len(s)
}

// A Signer is a log's private key with its name. Printing one shows its public key only.
type Signer struct {
	verifier *Verifier
	seed     [32]byte
	key      sign.PrivateKey
}

// NewSigner names the key of an RFC 8032 seed. The name is the origin of the log it signs for.
func NewSigner(name string, seed [32]byte) (*Signer, error) {
	key := sign.NewPrivateKey(seed)
	v, err := NewVerifier(Ed25519, name, key.Public())
	if err != nil {
		return nil, err
	}
	return &Signer{v, seed, key}, nil
}

// ParseSigner reads what Secret prints. Its errors do not repeat the secret.
func ParseSigner(skey string) (*Signer, error) {
	rest, ok := strings.CutPrefix(skey, "PRIVATE+KEY+")
	if !ok {
		return nil, errors.New("private key does not begin with PRIVATE+KEY+")
	}
	name, id, alg, seed, err := parseKey("private key", rest)
	if err != nil {
		return nil, err
	}
	if alg != Ed25519 {
		return nil, fmt.Errorf("private key of %s: %v cannot sign checkpoints, only 0x01 (Ed25519)", name, alg)
	}
	s, err := NewSigner(name, seed)
	if err != nil {
		return nil, err
	}
	if s.verifier.id != id {
		return nil, fmt.Errorf("private key of %s: it says its key ID is %08x, but name and key give %08x: one of the three was changed", name, id, s.verifier.id)
	}
	return s, nil
}

// Secret returns the private key as a text, which golang.org/x/mod/sumdb/note reads too:
//
//	PRIVATE+KEY+<name>+<id, 8 hex digits>+<base64 of 0x01 and the seed>
func (s *Signer) Secret() string {
	return "PRIVATE+KEY+" + keyText(s.verifier.name, s.verifier.id, Ed25519, s.seed)
}

// Receipt signs the promise that the event with the leaf stands at an index of the log: the message
// of sign.ReceiptMessage with the signer's name as the origin.
func (s *Signer) Receipt(index int64, leaf [32]byte, level string, size int64) (sign.Signature, error) {
	msg, err := sign.ReceiptMessage(s.verifier.name, index, leaf, level, size)
	if err != nil {
		return sign.Signature{}, err
	}
	return s.key.Sign(msg), nil
}

// CheckReceipt checks what Receipt signed.
func (v *Verifier) CheckReceipt(index int64, leaf [32]byte, level string, size int64, signature sign.Signature) error {
	msg, err := sign.ReceiptMessage(v.name, index, leaf, level, size)
	if err != nil {
		return err
	}
	if v.alg != Ed25519 || !v.key.Verify(msg, signature) {
		return fmt.Errorf("receipt for entry %d is not signed by %v", index, v)
	}
	return nil
}

// Verifier returns the public key.
func (s *Signer) Verifier() *Verifier { return s.verifier }

// Format prints the public key whatever the verb, so that no log line ever shows a secret.
func (s Signer) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "signer of %v", s.verifier) }
