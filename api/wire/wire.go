// Package wire holds what the server and its clients say to each other over HTTP: the shapes of
// requests and answers, the names of headers and paths, and every bound.
//
// All bodies are JSON of the profile of package canon: whole numbers, no name twice, and in a request no
// member that is not named here. Keys, signatures and hashes are lowercase hex. An answer may grow
// members; a client skips those it does not know.
//
// # Requests of an arena
//
// An arena signs its requests with the key it was admitted with:
//
//	POST /api/ledger/matches HTTP/1.1
//	Content-Type: application/json
//	Ludger-Arena: chess-hall
//	Idempotency-Key: 01939f2c-5d5e
//	Ludger-Signature: <128 hex>
//
// The signature is over sign.ArenaMessage of the arena's name, the method, the path as it stands in
// the request line, the idempotency key as it stands in its header, and the body's bytes. A signed request
// has no query. The idempotency key is 1 to MaxKey letters, digits, hyphens, underscores and periods,
// without quotes around. The same request under the same key appends once, and gets the same events
// again with "before":true; another request under it is refused (draft-ietf-httpapi-idempotency-key-header
// section 2.6). A request that was refused left nothing behind, and its key is free.
package wire

import (
	"encoding/hex"
	"fmt"

	"ludger/ledger/canon"
	"ludger/ledger/event"
	"ludger/replay"
)

// Names of headers.
const (
	HeaderArena     = "Ludger-Arena"
	HeaderSignature = "Ludger-Signature"
	HeaderKey       = "Idempotency-Key"
	HeaderRequest   = "X-Request-Id" // of an answer; the server's log has it too
)

// Media types.
const (
	TypeJSON    = "application/json"
	TypeProblem = "application/problem+json" // RFC 9457
	TypeStream  = "text/event-stream"
)

// Paths that take no parameter.
const (
	PathMatches    = "/api/ledger/matches"
	PathCheckpoint = "/api/checkpoint"
	PathLog        = "/log/" // prefix of "checkpoint" and of the paths of package tiles
	PathHealth     = "/healthz"
	PathReady      = "/readyz"
)

// PathAppend is where an arena appends to a match.
func PathAppend(id event.MatchID) string { return PathMatches + "/" + id.String() + "/events" }

// PathGame is what anyone may know of a match; below it are "/events" and "/replay".
func PathGame(id event.MatchID) string { return "/api/games/" + id.String() }

// Bounds.
const (
	MaxKey    = 64                                          // characters of an idempotency key
	MaxOpen   = 16 << 10                                    // bytes of a request that opens a match
	MaxAck    = 1 << 10                                     // bytes of an acknowledgement
	MaxEvents = 256                                         // things said in one request
	MaxAppend = MaxEvents*(event.MaxSignedMove+256) + 1<<10 // bytes of a request that appends
	MaxPage   = 256                                         // events in one page
	MaxAnswer = 32 << 20                                    // bytes of an answer
)

// CheckKey refuses an idempotency key of another form than that of the package's comment.
func CheckKey(key string) error {
	if key == "" || len(key) > MaxKey {
		return fmt.Errorf("idempotency key of %d characters is not from 1 to %d long", len(key), MaxKey)
	}
	for i := 0; i < len(key); i++ {
		switch c := key[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_', c == '.':
		default:
			return fmt.Errorf("idempotency key holds byte 0x%02x at %d: letters, digits, hyphens, underscores and periods are allowed, and no quotes around", c, i)
		}
	}
	return nil
}

// stages are the words for how far a match has come.
var stages = [...]string{
	replay.StageNone:    "none",
	replay.StagePlaying: "playing",
	replay.StageDecided: "decided",
	replay.StageEnded:   "ended",
	replay.StageSealed:  "sealed",
}

// StageSealed is the stage of a match to which nothing is added any more.
const StageSealed = "sealed"

// StageWord returns the word for a stage: "playing", "decided", "ended" or "sealed".
func StageWord(s replay.Stage) string { return stages[s] }

func member(name string, v canon.Value) canon.Member { return canon.Member{Name: name, Value: v} }

func hexValue(b []byte) canon.Value { return canon.NewString(hex.EncodeToString(b)) }

func ints[T ~int | ~int64](list []T) canon.Value {
	values := make([]canon.Value, len(list))
	for i, n := range list {
		values[i] = canon.NewInt(int64(n))
	}
	return canon.NewArray(values...)
}

func readInts[T ~int | ~int64](f *canon.Fields, name string, max int) []T {
	var list []T
	for _, n := range f.Array(name, max) {
		if n.Value.Kind() != canon.Int {
			f.Fail(name, "holds something that is not a number")
		}
		list = append(list, T(n.Value.Int()))
	}
	return list
}

// inside carries a refusal of a nested object outwards; err is what its Err or Done returns.
func inside(f *canon.Fields, name string, err error) {
	if err != nil {
		f.Fail(name, err.Error())
	}
}

// answer reads the text of an answer.
func answer(data []byte) (canon.Fields, error) {
	v, err := canon.Parse(data, canon.Limits{Bytes: MaxAnswer, Depth: event.MaxDepth + 2, Values: event.MaxBundleValues})
	return v.Fields(), err
}
