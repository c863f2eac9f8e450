// Package event holds the events of the ledger: their kinds, their canonical bytes, the checks of
// their shape, and every bound.
//
// An event is one canonical JSON object (package canon):
//
//	{"at":1735424400123,"body":{…},"kind":"move.played","prev":"<64 hex>","seq":7,"stream":"match/<64 hex>","v":1}
//
// stream is the list the event belongs to and seq its place there, from 0; prev is the leaf hash of
// the stream's event before it, 64 zeros for the first; at is the writer's clock in Unix
// milliseconds, which nobody else vouches for. body depends on kind; see the types below, each
// documented with the members it prints.
//
// The identity of an event is its leaf hash, SHA-256(0x00 ‖ bytes), which is also its leaf in the
// log's tree and in the match's own (RFC 6962 section 2.1).
//
// New builds an event, Parse reads one. A kind this package does not know is no error in Parse, so
// that old readers can follow newer logs: Body then returns ErrUnknownKind.
package event

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"ludger/ledger/canon"
)

// Version is the format of events that this package writes and reads.
const Version = 1

// A Leaf is the leaf hash of an event: its one identity.
type Leaf [32]byte

func (l Leaf) String() string { return hex.EncodeToString(l[:]) }

// LeafHash returns the RFC 6962 leaf hash of an entry.
func LeafHash(entry []byte) Leaf {
	var buf [1024]byte // most events fit
	return sha256.Sum256(append(append(buf[:0], 0), entry...))
}

// A Stream is the name of a list of events: "match/<match id>", "agent/<handle>", "arena/<name>"
// or "log".
type Stream string

// LogStream holds what concerns the log as a whole.
const LogStream Stream = "log"

// MatchStream returns the stream of a match.
func MatchStream(id MatchID) Stream { return Stream("match/" + id.String()) }

// AgentStream returns the stream of an agent.
func AgentStream(handle string) Stream { return Stream("agent/" + handle) }

// ArenaStream returns the stream of an arena.
func ArenaStream(name string) Stream { return Stream("arena/" + name) }

// Match returns the id of the match whose stream s is.
func (s Stream) Match() (MatchID, bool) {
	var id MatchID
	hex, ok := strings.CutPrefix(string(s), "match/")
	ok = ok && canon.DecodeHex(id[:], hex)
	return id, ok
}

func (s Stream) check() bool {
	if s == LogStream {
		return true
	}
	if _, ok := s.Match(); ok {
		return true
	}
	for _, prefix := range []string{"agent/", "arena/"} {
		if name, ok := strings.CutPrefix(string(s), prefix); ok {
			return CheckHandle(name) == nil
		}
	}
	return false
}

// CheckHandle refuses a name that is not 3 to 32 characters of a–z, 0–9, hyphen and underscore,
// with a letter or digit at both ends.
func CheckHandle(name string) error {
	if len(name) < MinHandle || len(name) > MaxHandle {
		return fmt.Errorf("handle %q of %d characters is not from %d to %d long", clip(name), len(name), MinHandle, MaxHandle)
	}
	for i := 0; i < len(name); i++ {
		c := name[i]
		switch {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9':
		case (c == '-' || c == '_') && i > 0 && i < len(name)-1:
		default:
			return fmt.Errorf("handle %q: only a to z, 0 to 9, and inside it hyphens and underscores are allowed", name)
		}
	}
	return nil
}

func clip(s string) string {
	if len(s) > 64 {
		return s[:64] + "…"
	}
	return s
}

// An Event is one event. New and Parse make it; its fields must not be changed afterwards, since
// they belong to the bytes.
type Event struct {
	At     int64 // Unix milliseconds, by the writer's clock
	Kind   Kind
	Prev   Leaf // of the event before in the stream; zero at seq 0
	Seq    int64
	Stream Stream

	value canon.Value
	body  canon.Value
	raw   []byte
	leaf  Leaf
}

// Raw returns the canonical bytes. The caller must not change them.
func (e *Event) Raw() []byte { return e.raw }

// Leaf returns the leaf hash.
func (e *Event) Leaf() Leaf { return e.leaf }

// Value returns the event as an object to stand inside a larger canonical text.
func (e *Event) Value() canon.Value { return e.value }

// ErrVersion says that an event is in a format of another version.
var ErrVersion = errors.New("not known to this version of the program")

// New builds the event that follows prev in the stream. Its errors are those of Parse: a body out
// of its bounds, a stream that is no name.
func New(at int64, stream Stream, seq int64, prev Leaf, body Body) (Event, error) {
	v := canon.NewObject(
		canon.Member{Name: "at", Value: canon.NewInt(at)},
		canon.Member{Name: "body", Value: body.value()},
		canon.Member{Name: "kind", Value: canon.NewString(string(body.Kind()))},
		canon.Member{Name: "prev", Value: canon.NewString(prev.String())},
		canon.Member{Name: "seq", Value: canon.NewInt(seq)},
		canon.Member{Name: "stream", Value: canon.NewString(string(stream))},
		canon.Member{Name: "v", Value: canon.NewInt(Version)},
	)
	e, err := Parse(v.Bytes())
	if err != nil {
		return Event{}, err
	}
	_, err = e.Body()
	return e, err
}

// Parse reads the canonical bytes of an event and checks all that does not depend on its kind. It
// keeps raw.
func Parse(raw []byte) (Event, error) {
	v, err := canon.ParseCanonical(raw, canon.Limits{Bytes: MaxEvent, Depth: MaxDepth, Values: MaxValues})
	if err != nil {
		return Event{}, err
	}
	return fromValue(v, raw)
}

// FromValue is Parse for an event that stands as an object inside a larger text. Both give the same
// verdict, whatever bounds the larger text has.
func FromValue(v canon.Value) (Event, error) {
	values, depth := measure(v)
	raw := v.Bytes()
	switch {
	case len(raw) > MaxEvent:
		return Event{}, fmt.Errorf("event of %d bytes exceeds %d", len(raw), MaxEvent)
	case depth > MaxDepth:
		return Event{}, fmt.Errorf("event nested %d deep exceeds %d arrays and objects", depth, MaxDepth)
	case values > MaxValues:
		return Event{}, fmt.Errorf("event of %d values exceeds %d", values, MaxValues)
	}
	return fromValue(v, raw)
}

// measure counts the values in v, itself included, and the most arrays and objects around one.
func measure(v canon.Value) (values, depth int) {
	for _, m := range v.Members() {
		n, d := measure(m.Value)
		values += n
		depth = max(depth, d)
	}
	if k := v.Kind(); k == canon.Array || k == canon.Object {
		depth++
	}
	return values + 1, depth
}

func fromValue(v canon.Value, raw []byte) (Event, error) {
	f := v.Fields()
	if version := f.Int("v", 0, canon.MaxInt); f.Err() == nil && version != Version {
		return Event{}, fmt.Errorf("%w: %d, this program reads %d", ErrVersion, version, Version)
	}
	e := Event{
		At:     f.Int("at", 0, canon.MaxInt),
		Kind:   Kind(f.String("kind", MaxKind)),
		Seq:    f.Int("seq", 0, canon.MaxInt),
		Stream: Stream(f.String("stream", MaxStream)),
		value:  v,
		body:   f.Object("body"),
		raw:    raw,
	}
	f.Hex("prev", e.Prev[:])
	if f.Err() == nil && !e.Stream.check() {
		f.Fail("stream", "is not the name of a stream")
	}
	if f.Err() == nil && !e.Kind.check() {
		f.Fail("kind", "is not two lowercase words with a dot")
	}
	if f.Err() == nil && (e.Seq == 0) != (e.Prev == Leaf{}) {
		f.Fail("prev", "is 64 zeros exactly at seq 0")
	}
	if err := f.Done(); err != nil {
		return Event{}, err
	}
	e.leaf = LeafHash(raw)
	return e, nil
}
