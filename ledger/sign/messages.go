package sign

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
)

// The functions below build the strings that are signed, and nothing else builds them. Each starts
// with a name of its own that ends in a colon; none of the names is the beginning of another.
//
// Fields are joined by colons without escapes, so a field may hold a colon only where the string
// can still be cut in one way: everything before the field ends at a known colon from the left,
// everything after it at a known colon from the right. Where that needs a refusal, the function
// returns an error; a function without one is unambiguous for every input.

// RequestMessage is what an agent signs to make a request:
//
//	ludus.auth.v1:<handle>:<challenge>:<METHOD>:<path>
//	ludus.auth.v1:<handle>:<challenge>:POST:<path>:<sha256 hex of the body>
//
// Handle and challenge are visible ASCII without a colon, method is uppercase letters, path begins
// with a slash and is visible ASCII; colons may stand in it, since the method says whether a digest
// of fixed length follows. A body with another method than POST is refused, since the signature
// would not cover it. A POST without a body has the digest of no bytes.
func RequestMessage(handle, challenge, method, path string, body []byte) ([]byte, error) {
	if err := checkFields(
		field{"handle", handle, word},
		field{"challenge", challenge, word},
		field{"method", method, letters},
		field{"path", path, rooted},
	); err != nil {
		return nil, err
	}
	if method != "POST" {
		if len(body) > 0 {
			return nil, fmt.Errorf("signed string: a body of %d bytes with %s, which signs none", len(body), method)
		}
		return join("ludus.auth.v1", handle, challenge, method, path), nil
	}
	digest := sha256.Sum256(body)
	return join("ludus.auth.v1", handle, challenge, method, path, hex.EncodeToString(digest[:])), nil
}

// ChallengePrefix is how every challenge of the hall with a log of the given origin begins: the first 8
// bytes of SHA-256(origin), in hex. An agent that checks it signs no challenge that one hall passes on
// for another.
func ChallengePrefix(origin string) string {
	sum := sha256.Sum256([]byte(origin))
	return hex.EncodeToString(sum[:8])
}

// MoveMessage is what an agent signs to move, to accept a draw or to resign:
//
//	ludus.move.v1:<game_id>:<turn_index>:<sha256 hex of the canonical body without "signature">
//
// The digest and the number hold no colon, so game_id may be any string.
func MoveMessage(gameID string, turnIndex int64, bodyDigest [32]byte) []byte {
	const name = "ludus.move.v1:"
	b := make([]byte, 0, len(name)+len(gameID)+len(":-9223372036854775808:")+2*len(bodyDigest)) // checked most of all
	b = append(append(b, name...), gameID...)
	b = strconv.AppendInt(append(b, ':'), turnIndex, 10)
	return hex.AppendEncode(append(b, ':'), bodyDigest[:])
}

// DoorbellMessage is what an agent signs to say where it is called:
//
//	ludus.doorbell-endpoint.v1:<handle>:<challenge>:<sha256 hex of the URL>
//
// Handle and challenge are visible ASCII without a colon.
func DoorbellMessage(handle, challenge, url string) ([]byte, error) {
	if err := checkFields(field{"handle", handle, word}, field{"challenge", challenge, word}); err != nil {
		return nil, err
	}
	digest := sha256.Sum256([]byte(url))
	return join("ludus.doorbell-endpoint.v1", handle, challenge, hex.EncodeToString(digest[:])), nil
}

// AckMessage is what a seat signs to acknowledge a match before it begins:
//
//	ludger.ack.v1:<match id>:<leaf of match.opened>
func AckMessage(match, opened [32]byte) []byte {
	return join("ludger.ack.v1", hex.EncodeToString(match[:]), hex.EncodeToString(opened[:]))
}

// The levels of a receipt: how far its event has come.
const (
	Durable   = "durable"   // in the synced log
	Published = "published" // under a signed checkpoint
	Witnessed = "witnessed" // under a cosigned checkpoint
)

// ReceiptMessage is what the hall signs to promise an agent the place of an event:
//
//	ludger.receipt.v1:<origin>:<index>:<leaf>:<level>:<size of the last published head>
//
// Origin is visible ASCII; it may hold a colon, as in a host with a port, since all fields after it
// have none. Index and size are not negative, level is Durable, Published or Witnessed.
func ReceiptMessage(origin string, index int64, leaf [32]byte, level string, size int64) ([]byte, error) {
	if err := checkFields(field{"origin", origin, visible}); err != nil {
		return nil, err
	}
	switch {
	case index < 0 || size < 0:
		return nil, fmt.Errorf("signed string: index %d or size %d is negative", index, size)
	case level != Durable && level != Published && level != Witnessed:
		return nil, fmt.Errorf("signed string: level %q is not %s, %s or %s", level, Durable, Published, Witnessed)
	}
	return join("ludger.receipt.v1", origin, strconv.FormatInt(index, 10), hex.EncodeToString(leaf[:]), level,
		strconv.FormatInt(size, 10)), nil
}

// ArenaMessage is what an arena signs to make a request:
//
//	ludger.arena.v1:<arena>:<METHOD>:<path>:<idempotency key>:<sha256 hex of the body>
//
// Arena and idempotency key are visible ASCII without a colon, method is uppercase letters, path
// begins with a slash and is visible ASCII. The digest stands for every method; without a body it
// is that of no bytes.
func ArenaMessage(arena, method, path, idempotencyKey string, body []byte) ([]byte, error) {
	if err := checkFields(
		field{"arena", arena, word},
		field{"method", method, letters},
		field{"path", path, rooted},
		field{"idempotency key", idempotencyKey, word},
	); err != nil {
		return nil, err
	}
	digest := sha256.Sum256(body)
	return join("ludger.arena.v1", arena, method, path, idempotencyKey, hex.EncodeToString(digest[:])), nil
}

// AgentMessage is what an agent signs, without any secret, to state that it wants a handle in a
// log:
//
//	ludger.agent.v1:<origin>:<handle>:<public key>
//
// Origin and handle are visible ASCII, handle without a colon.
func AgentMessage(origin, handle string, key PublicKey) ([]byte, error) {
	if err := checkFields(field{"origin", origin, visible}, field{"handle", handle, word}); err != nil {
		return nil, err
	}
	return join("ludger.agent.v1", origin, handle, key.String()), nil
}

func join(name string, fields ...string) []byte {
	n := len(name)
	for _, f := range fields {
		n += 1 + len(f)
	}
	b := append(make([]byte, 0, n), name...)
	for _, f := range fields {
		b = append(append(b, ':'), f...)
	}
	return b
}

// A form is what a field may hold. No field is empty.
type form int

const (
	visible form = iota // visible ASCII, U+0021 to U+007E
	word                // visible ASCII without a colon
	rooted              // visible ASCII that begins with a slash
	letters             // A to Z
)

type field struct {
	name, text string
	form       form
}

func checkFields(fields ...field) error {
	for _, f := range fields {
		if f.text == "" {
			return fmt.Errorf("signed string: %s is empty", f.name)
		}
		if f.form == rooted && f.text[0] != '/' {
			return fmt.Errorf("signed string: %s does not begin with a slash", f.name)
		}
		for i := 0; i < len(f.text); i++ {
			c := f.text[i]
			switch {
			case c <= ' ' || c > '~':
				return fmt.Errorf("signed string: %s holds byte 0x%02x at %d, which is not visible ASCII", f.name, c, i)
			case f.form == word && c == ':':
				return fmt.Errorf("signed string: %s holds a colon at %d", f.name, i)
			case f.form == letters && (c < 'A' || c > 'Z'):
				return fmt.Errorf("signed string: %s holds byte 0x%02x at %d, which is not an uppercase letter", f.name, c, i)
			}
		}
	}
	return nil
}
