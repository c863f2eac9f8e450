package event

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"golang.org/x/crypto/chacha20poly1305"

	"ludger/engine"
	"ludger/ledger/canon"
)

// boxSizes are the sizes that what a box holds is padded to, in bytes, so that the size of a box
// tells little of the move and the commentary in it.
var boxSizes = [...]int{1 << 10, 2 << 10, 4 << 10, MaxBox}

// A Box is where a hidden move stands. All of it is bound to the box, so that none can be opened
// anywhere else.
type Box struct {
	Match MatchID
	Seq   int64 // of the move.played that carries the box
	Prev  Leaf
	Seat  engine.Seat
	Turn  int64
}

// A BoxKey opens one box.
type BoxKey [chacha20poly1305.KeySize]byte

// fields are the place as bytes: integers as eight bytes, big-endian.
func (b Box) fields() [][]byte {
	number := func(n int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }
	return [][]byte{b.Match[:], number(b.Seq), b.Prev[:], number(int64(b.Seat)), number(b.Turn)}
}

// Key returns the key of the box under the match's secret:
// D("ludger/box/v1", secret, match id, seq, prev, seat, turn). Whoever holds it can open this box
// and no other.
func (b Box) Key(secret [32]byte) BoxKey {
	return canon.Digest("ludger/box/v1", append([][]byte{secret[:]}, b.fields()...)...)
}

// Seal returns the box of a signed move. What it holds is the canonical text
//
//	{"match":"<64 hex>","move":"…","prev":"<64 hex>","seat":0,"seq":3,"signed":{…},"turn":0}
//
// behind its length as four bytes, big-endian, and with zeros up to the smallest of the sizes 1,024,
// 2,048, 4,096 and MaxBox bytes that it fits, under ChaCha20-Poly1305 (RFC 8439) with a nonce of zeros:
// a key is used once. The associated data is match id ‖ seq ‖ prev ‖ seat ‖ turn.
func (b Box) Seal(key BoxKey, move string, signed *SignedMove) ([]byte, error) {
	text := boxText(b, move, signed)
	plain := append(binary.BigEndian.AppendUint32(nil, uint32(len(text))), text...)
	size := boxSize(len(plain))
	if size == 0 {
		return nil, fmt.Errorf("a hidden move of %d bytes does not fit into a box of %d", len(plain), MaxBox)
	}
	plain = append(plain, make([]byte, size-len(plain))...)
	aead, err := chacha20poly1305.New(key[:])
	if err != nil {
		return nil, err
	}
	return aead.Seal(nil, make([]byte, chacha20poly1305.NonceSize), plain, bytes.Join(b.fields(), nil)), nil
}

// boxText is what the box of a move says.
func boxText(b Box, move string, signed *SignedMove) []byte {
	return canon.NewObject(
		canon.Member{Name: "match", Value: hexValue(b.Match[:])},
		canon.Member{Name: "move", Value: canon.NewString(move)},
		canon.Member{Name: "prev", Value: hexValue(b.Prev[:])},
		canon.Member{Name: "seat", Value: canon.NewInt(int64(b.Seat))},
		canon.Member{Name: "seq", Value: canon.NewInt(b.Seq)},
		canon.Member{Name: "signed", Value: signed.value},
		canon.Member{Name: "turn", Value: canon.NewInt(b.Turn)},
	).Bytes()
}

// boxSize returns the smallest size that holds n bytes; 0 if none does.
func boxSize(n int) int {
	for _, size := range boxSizes {
		if n <= size {
			return size
		}
	}
	return 0
}

// errBox says that a box is not what Seal makes with this key for this place.
var errBox = errors.New("the box does not open here under the match's secret")

// Open opens a box. What it takes is exactly what Seal makes.
func (b Box) Open(key BoxKey, box []byte) (move string, signed SignedMove, err error) {
	if !isBoxSize(len(box)) {
		return "", signed, fmt.Errorf("box of %d bytes is of no size that there is", len(box))
	}
	aead, err := chacha20poly1305.New(key[:])
	if err != nil {
		return "", signed, err
	}
	plain, err := aead.Open(nil, make([]byte, chacha20poly1305.NonceSize), box, bytes.Join(b.fields(), nil))
	if err != nil {
		return "", signed, errBox
	}
	length := binary.BigEndian.Uint32(plain)
	n := int(min(length, MaxBox))
	if length > uint32(len(plain)-4) || boxSize(4+n) != len(plain) || len(bytes.Trim(plain[4+n:], "\x00")) > 0 {
		return "", signed, fmt.Errorf("box holds %d bytes padded in another way than to the next size", n)
	}
	v, err := canon.ParseCanonical(plain[4:4+n], canon.Limits{Bytes: MaxBox, Depth: MaxDepth, Values: MaxValues})
	if err != nil {
		return "", signed, fmt.Errorf("box: %w", err)
	}
	f := v.Fields()
	inner := Box{Seq: f.Int("seq", 1, MaxMatchEvents), Seat: readSeat(&f), Turn: f.Int("turn", 0, MaxMatchEvents)}
	f.Hex("match", inner.Match[:])
	f.Hex("prev", inner.Prev[:])
	move = readText(&f, "move", engine.MaxMove)
	signed = readSigned(&f)
	if err := f.Done(); err != nil {
		return "", signed, fmt.Errorf("box: %w", err)
	}
	if inner != b {
		return "", signed, errBox
	}
	return move, signed, nil
}

// isBoxSize tells whether a box can have n bytes.
func isBoxSize(n int) bool {
	return boxSize(n-chacha20poly1305.Overhead) == n-chacha20poly1305.Overhead && n > chacha20poly1305.Overhead
}
