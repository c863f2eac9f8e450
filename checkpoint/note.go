package checkpoint

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"unicode/utf8"

	"ludger/ledger/sign"
)

// A Note is a C2SP signed note: a text and the signatures that were put under it. What ParseNote
// returns is not verified: anyone can write it.
type Note struct {
	Text       []byte // ends in a newline
	Signatures []Signature
}

// A Signature is one line under a note. Name and ID together name the key it claims to be of.
type Signature struct {
	Name  string
	ID    uint32
	Bytes []byte // what follows the key ID
}

const linePrefix = "— " // em dash, space

// Format returns the note as bytes:
//
//	<text>
//
//	— <name> <base64 of the key ID, big-endian, and the signature>
//	…
func (n *Note) Format() []byte {
	b := append(bytes.Clone(n.Text), '\n')
	for _, s := range n.Signatures {
		b = append(append(append(b, linePrefix...), s.Name...), ' ')
		b = base64.StdEncoding.AppendEncode(b, append(binary.BigEndian.AppendUint32(nil, s.ID), s.Bytes...))
		b = append(b, '\n')
	}
	return b
}

// ParseNote reads a note in the one form that Format prints. It refuses, beyond what C2SP
// signed-note demands, base64 that is not canonical and two signatures of one key, so that nothing
// in a note can be changed or repeated without changing what is read. The result shares no memory
// with data.
func ParseNote(data []byte) (*Note, error) {
	if len(data) > MaxNote {
		return nil, fmt.Errorf("note of %d bytes exceeds %d", len(data), MaxNote)
	}
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			return nil, fmt.Errorf("note: byte %d (0x%02x) is not UTF-8", i, data[i])
		}
		if r < 0x20 && r != '\n' {
			return nil, fmt.Errorf("note: byte %d is the control character %q; only newline is allowed", i, r)
		}
		i += size
	}
	split := bytes.LastIndex(data, []byte("\n\n"))
	if split < 0 {
		return nil, errors.New("note has no empty line between text and signatures")
	}
	n := &Note{Text: bytes.Clone(data[:split+1])}
	rest := data[split+2:]
	if len(rest) == 0 {
		return nil, errors.New("note has no signature")
	}
	for len(rest) > 0 {
		line, after, ok := bytes.Cut(rest, []byte{'\n'})
		if !ok {
			return nil, errors.New("note ends inside a signature line: it was cut short")
		}
		rest = after
		if len(n.Signatures) == MaxSignatures {
			return nil, fmt.Errorf("note has more than %d signatures", MaxSignatures)
		}
		s, err := parseSignature(line)
		if err != nil {
			return nil, fmt.Errorf("signature line %d of the note %w", len(n.Signatures)+1, err)
		}
		for _, other := range n.Signatures {
			if other.Name == s.Name && other.ID == s.ID {
				return nil, fmt.Errorf("note has two signatures of key %s+%08x", s.Name, s.ID)
			}
		}
		n.Signatures = append(n.Signatures, s)
	}
	return n, nil
}

func parseSignature(line []byte) (Signature, error) {
	rest, ok := bytes.CutPrefix(line, []byte(linePrefix))
	if !ok {
		return Signature{}, errors.New("does not begin with an em dash and a space")
	}
	name, b64, _ := bytes.Cut(rest, []byte{' '})
	if err := checkName(string(name)); err != nil {
		return Signature{}, fmt.Errorf("is not right: %w", err)
	}
	b, ok := decodeBase64(string(b64))
	if !ok {
		return Signature{}, fmt.Errorf("by %s does not end in canonical base64", name)
	}
	if len(b) < 5 {
		return Signature{}, fmt.Errorf("by %s holds %d bytes; a key ID and a signature have 5 at least", name, len(b))
	}
	return Signature{string(name), binary.BigEndian.Uint32(b), b[4:]}, nil
}

// A SignatureError says that a signature by a key that is known does not hold: the note was changed
// after it was signed, or signed by somebody without the key.
type SignatureError struct {
	Name string
	ID   uint32
}

func (e *SignatureError) Error() string {
	return fmt.Sprintf("the signature of key %s+%08x does not fit the note", e.Name, e.ID)
}

// verify checks the signature line that names the key v. seconds is the time of a cosignature.
func (v *Verifier) verify(text []byte, s Signature) (seconds int64, err error) {
	b := s.Bytes
	if v.alg == Cosignature {
		if len(b) != 8+64 || b[0]&0x80 != 0 {
			return 0, &SignatureError{s.Name, s.ID}
		}
		seconds = int64(binary.BigEndian.Uint64(b))
		b = b[8:]
		text = cosigned(text, seconds)
	}
	if len(b) != 64 || !v.key.Verify(text, sign.Signature(b)) {
		return 0, &SignatureError{s.Name, s.ID}
	}
	return seconds, nil
}

// cosigned is the message of C2SP tlog-cosignature, Ed25519 signed message.
func cosigned(text []byte, seconds int64) []byte {
	return append(fmt.Appendf(nil, "cosignature/v1\ntime %d\n", seconds), text...)
}
