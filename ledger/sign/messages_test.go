package sign_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"ludger/ledger/sign"
)

// args are the inputs of any of the signed strings, as testvectors/sign/messages.json has them.
type args struct {
	Handle, Challenge, Method, Path, URL, Origin, Level, Arena, Match, Opened, Leaf, Key string

	Body           *string
	GameID         string `json:"game_id"`
	TurnIndex      int64  `json:"turn_index"`
	BodyDigest     string `json:"body_digest"`
	IdempotencyKey string `json:"idempotency_key"`
	Index, Size    int64
}

// build makes the string of the given name.
func (a args) build(name string) ([]byte, error) {
	digest := func(s string) (d [32]byte) {
		if n, err := hex.Decode(d[:], []byte(s)); err != nil || n != 32 {
			panic(fmt.Sprintf("vector digest %q: %d bytes, %v", s, n, err))
		}
		return d
	}
	var body []byte
	if a.Body != nil {
		body = []byte(*a.Body)
	}
	switch name {
	case "request":
		return sign.RequestMessage(a.Handle, a.Challenge, a.Method, a.Path, body)
	case "move":
		return sign.MoveMessage(a.GameID, a.TurnIndex, digest(a.BodyDigest)), nil
	case "doorbell":
		return sign.DoorbellMessage(a.Handle, a.Challenge, a.URL)
	case "acknowledgement":
		return sign.AckMessage(digest(a.Match), digest(a.Opened)), nil
	case "receipt":
		return sign.ReceiptMessage(a.Origin, a.Index, digest(a.Leaf), a.Level, a.Size)
	case "arena request":
		return sign.ArenaMessage(a.Arena, a.Method, a.Path, a.IdempotencyKey, body)
	case "registration statement":
		return sign.AgentMessage(a.Origin, a.Handle, sign.PublicKey(digest(a.Key)))
	}
	panic("vector of an unknown string " + name)
}

func TestMessages(t *testing.T) {
	var all struct {
		About string
		Cases []struct {
			Name, String, Message, Seed, Key, Signature string
			Args                                        args
		}
		Refused []struct {
			String, Why string
			Args        args
		}
		Derived []struct{ Seed, Name, Key string }
	}
	vectors(t, "sign/messages.json", &all)
	seen := map[string]bool{}
	for _, c := range all.Cases {
		seen[c.String] = true
		msg, err := c.Args.build(c.String)
		if err != nil || string(msg) != c.Message {
			t.Errorf("%s: %q, %v, want %q", c.Name, msg, err, c.Message)
		}
		key := sign.NewPrivateKey([32]byte(unhex(t, c.Seed)))
		if key.Public().String() != c.Key || key.Sign(msg).String() != c.Signature {
			t.Errorf("%s: key %v signs %v, want %s and %s", c.Name, key.Public(), key.Sign(msg), c.Key, c.Signature)
		}
		if err := verify(c.Key, c.Signature, msg); err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
	}
	if len(seen) != 7 {
		t.Errorf("vectors for %d strings, want all 7: %v", len(seen), seen)
	}
	if len(all.Refused) == 0 || len(all.Derived) == 0 {
		t.Errorf("%d refusals, %d derived keys: want some", len(all.Refused), len(all.Derived))
	}
	for _, c := range all.Refused {
		if msg, err := c.Args.build(c.String); err == nil {
			t.Errorf("%s with %s gives %q, want a refusal", c.String, c.Why, msg)
		}
	}
	for _, c := range all.Derived {
		if got := sign.DeriveKey(unhex(t, c.Seed), c.Name).Public().String(); got != c.Key {
			t.Errorf("key %q under %s is %s, want %s", c.Name, c.Seed, got, c.Key)
		}
	}
}

// parse cuts a signed string by the rules that the functions state: the fields before the one that
// may hold a colon from the left, those after it from the right, which come out in reverse.
func parse(msg string) []string {
	name, rest, _ := strings.Cut(msg, ":")
	left := func() string {
		var f string
		f, rest, _ = strings.Cut(rest, ":")
		return f
	}
	right := func() string {
		i := strings.LastIndexByte(rest, ':')
		f := rest[i+1:]
		rest = rest[:max(i, 0)]
		return f
	}
	out := []string{name}
	switch name {
	case "ludus.auth.v1":
		handle, challenge, method := left(), left(), left()
		out = append(out, handle, challenge, method)
		if method == "POST" {
			out = append(out, right())
		}
		return append(out, rest)
	case "ludus.move.v1":
		return append(out, right(), right(), rest)
	case "ludus.doorbell-endpoint.v1":
		return append(out, left(), left(), rest)
	case "ludger.receipt.v1":
		return append(out, right(), right(), right(), right(), rest)
	case "ludger.arena.v1":
		return append(out, left(), left(), right(), right(), rest)
	case "ludger.agent.v1":
		return append(out, right(), right(), rest)
	}
	return nil
}

// FuzzMessages: whatever is built can be cut into its fields again, so no two inputs give one string.
func FuzzMessages(f *testing.F) {
	f.Add("alpha", "5f0c", "POST", "/a:b", "key", "body", int64(7))
	f.Add("a:b", "c", "GET", "/", ":", "", int64(-1))
	f.Add("host:8443/log", "alpha", "GET", "/x\x00", "k", "", int64(0))
	f.Fuzz(func(t *testing.T, a, b, method, path, key, body string, n int64) {
		sum := sha256.Sum256([]byte(body))
		hexSum := hex.EncodeToString(sum[:])
		check := func(msg []byte, err error, want ...string) {
			t.Helper()
			if err != nil {
				return
			}
			got := parse(string(msg))
			if strings.Join(got, "\x00") != strings.Join(want, "\x00") || len(got) != len(want) {
				t.Errorf("%q is cut into %q, built from %q", msg, got, want)
			}
		}
		num := fmt.Sprint(n)
		msg, err := sign.RequestMessage(a, b, method, path, []byte(body))
		if method == "POST" {
			check(msg, err, "ludus.auth.v1", a, b, method, hexSum, path)
		} else {
			check(msg, err, "ludus.auth.v1", a, b, method, path)
		}
		check(sign.MoveMessage(a, n, sum), nil, "ludus.move.v1", hexSum, num, a)
		msg, err = sign.ReceiptMessage(a, n, sum, b, n)
		check(msg, err, "ludger.receipt.v1", num, b, hexSum, num, a)
		msg, err = sign.ReceiptMessage(a, n, sum, sign.Durable, n)
		check(msg, err, "ludger.receipt.v1", num, sign.Durable, hexSum, num, a)
		msg, err = sign.ArenaMessage(a, method, path, key, []byte(body))
		check(msg, err, "ludger.arena.v1", a, method, hexSum, key, path)
		msg, err = sign.AgentMessage(a, b, sign.PublicKey(sum))
		check(msg, err, "ludger.agent.v1", hexSum, b, a)
		msg, err = sign.DoorbellMessage(a, b, body)
		check(msg, err, "ludus.doorbell-endpoint.v1", a, b, hexSum)
	})
}
