// Package canon reads and writes the one form of JSON that the ledger hashes and signs.
//
// Two parties can sign the same JSON value only if both write it as the same bytes. Canon fixes
// those bytes: RFC 8785 (JSON Canonicalization Scheme) restricted to whole numbers within
// ±(2^53−1). Parse reads any text of that profile, ParseCanonical only its canonical form; both
// build a Value, and Value.Append prints it. For every text that ParseCanonical accepts, Append
// prints the same bytes.
//
// # The profile
//
//	text      UTF-8 without byte order mark, one value, at most Limits.Bytes long
//	numbers   whole, without fraction or exponent, within ±9007199254740991; no -0
//	strings   valid UTF-8; no lone surrogates, neither raw nor escaped
//	objects   no name twice; canonical order is by UTF-16 code units (RFC 8785 section 3.2.3)
//	nesting   at most Limits.Depth arrays and objects around any value
//	values    at most Limits.Values in the whole text
//
// Everything else is refused with an *Error that says where. Nothing is repaired: a text that two
// readers could understand differently must never become a value.
package canon

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"sort"
	"strconv"
	"unicode/utf8"
)

// MaxInt is the largest whole number a Value can hold; the smallest is -MaxInt.
// It is the largest integer that every JSON reader holds exactly (RFC 8785 section 3.2.2.3).
const MaxInt = 1<<53 - 1

// Kind tells what a Value is.
type Kind uint8

// The kinds of values.
const (
	Null Kind = iota
	Bool
	Int
	String
	Array
	Object
)

func (k Kind) String() string {
	switch k {
	case Null:
		return "null"
	case Bool:
		return "boolean"
	case Int:
		return "number"
	case String:
		return "string"
	case Array:
		return "array"
	case Object:
		return "object"
	}
	return "unknown"
}

// article returns the kind as a sentence names one of it; null is one of a kind.
func (k Kind) article() string {
	switch k {
	case Null:
		return "null"
	case Array, Object:
		return "an " + k.String()
	}
	return "a " + k.String()
}

// A Value is one JSON value. Values are immutable and may be shared; the zero Value is null.
type Value struct {
	kind Kind
	num  int64    // Bool: 0 or 1; Int
	text string   // String: its text; Array, Object: the source text if ParseCanonical read it
	list []Member // Array: elements with empty names; Object: members in canonical order
}

// A Member is one name and value of an object.
type Member struct {
	Name  string
	Value Value
}

// Limits bound what Parse reads, and so the memory it takes. All must be positive.
type Limits struct {
	Bytes  int // longest text
	Depth  int // deepest nesting of arrays and objects
	Values int // most values in the text, at every depth
}

// An Error says where and why a text was refused. It is one line of printable characters whatever
// the text holds: names may be megabytes long, or commands to a terminal.
type Error struct {
	Offset int    // byte offset in the text, or -1 when only the value is known
	Path   string // JSON Pointer (RFC 6901) of the innermost value being read, "" for the whole text;
	// a name over 64 bytes is cut, one that does not print is escaped as in Go
	Reason string
}

func (e *Error) Error() string {
	at := e.Path
	if at == "" {
		at = "/"
	}
	if e.Offset < 0 {
		return fmt.Sprintf("json at %s: %s", at, e.Reason)
	}
	return fmt.Sprintf("json at %s (byte %d): %s", at, e.Offset, e.Reason)
}

// NewBool returns a boolean.
func NewBool(b bool) Value {
	if b {
		return Value{kind: Bool, num: 1}
	}
	return Value{kind: Bool}
}

// NewInt returns a number. What is printed of one outside ±MaxInt, Parse refuses.
func NewInt(n int64) Value { return Value{kind: Int, num: n} }

// NewString returns a string. What is printed of one that is not valid UTF-8, Parse refuses.
func NewString(s string) Value { return Value{kind: String, text: s} }

// NewArray returns an array. It keeps no reference to elems.
func NewArray(elems ...Value) Value {
	list := make([]Member, len(elems))
	for i, e := range elems {
		list[i].Value = e
	}
	return Value{kind: Array, list: list}
}

// NewObject returns an object of the given members, in any order. It takes ownership of members
// and panics if a name occurs twice. Names are held to what NewString says.
func NewObject(members ...Member) Value {
	for i := 1; i < len(members); i++ {
		if compare(members[i-1].Name, members[i].Name) > 0 {
			sort.SliceStable(members, func(i, j int) bool { return compare(members[i].Name, members[j].Name) < 0 })
			break
		}
	}
	for i := range members {
		if i > 0 && members[i-1].Name == members[i].Name {
			panic("canon.NewObject: name " + strconv.Quote(members[i].Name) + " twice")
		}
	}
	return Value{kind: Object, list: members}
}

// Kind returns the kind of v.
func (v Value) Kind() Kind { return v.kind }

// Bool returns the truth of a boolean; false for any other kind.
func (v Value) Bool() bool { return v.kind == Bool && v.num == 1 }

// Int returns the number; 0 for any other kind.
func (v Value) Int() int64 {
	if v.kind != Int {
		return 0
	}
	return v.num
}

// Str returns the text of a string; "" for any other kind.
func (v Value) Str() string {
	if v.kind != String {
		return ""
	}
	return v.text
}

// Members returns the members of an object, or the elements of an array with empty names. The
// caller must not change the slice.
func (v Value) Members() []Member { return v.list }

// Get returns the member of an object with the given name.
func (v Value) Get(name string) (Value, bool) {
	if v.kind == Object {
		for i := range v.list {
			if v.list[i].Name == name {
				return v.list[i].Value, true
			}
		}
	}
	return Value{}, false
}

// Without returns the object v without the named member; v itself if there is none.
func (v Value) Without(name string) Value {
	if _, ok := v.Get(name); !ok {
		return v
	}
	list := make([]Member, 0, len(v.list)-1)
	for _, m := range v.list {
		if m.Name != name {
			list = append(list, m)
		}
	}
	return Value{kind: Object, list: list}
}

// Bytes returns the canonical form of v in a new slice.
func (v Value) Bytes() []byte { return v.Append(nil) }

// Append appends the canonical form of v to dst: no white space, members in order, numbers in
// decimal, and only the escapes of RFC 8785 section 3.2.2.2.
func (v Value) Append(dst []byte) []byte {
	switch v.kind {
	case Null:
		return append(dst, "null"...)
	case Bool:
		return strconv.AppendBool(dst, v.num == 1)
	case Int:
		return strconv.AppendInt(dst, v.num, 10)
	case String:
		return appendString(dst, v.text)
	}
	if v.text != "" {
		return append(dst, v.text...)
	}
	if v.kind == Array {
		dst = append(dst, '[')
		for i := range v.list {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = v.list[i].Value.Append(dst)
		}
		return append(dst, ']')
	}
	dst = append(dst, '{')
	for i := range v.list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendString(dst, v.list[i].Name)
		dst = append(dst, ':')
		dst = v.list[i].Value.Append(dst)
	}
	return append(dst, '}')
}

const hexDigits = "0123456789abcdef"

// plain holds the bytes that stand in a canonical string as they are, and need no look: ASCII
// without control characters, quote and backslash.
var plain = func() (t [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if plain[c] || c >= utf8.RuneSelf {
			continue
		}
		dst = append(dst, s[start:i]...)
		start = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\b':
			dst = append(dst, '\\', 'b')
		case '\t':
			dst = append(dst, '\\', 't')
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\f':
			dst = append(dst, '\\', 'f')
		case '\r':
			dst = append(dst, '\\', 'r')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

// compare orders names as RFC 8785 section 3.2.3 does: by UTF-16 code units. That differs from
// the order of UTF-8 bytes only between U+E000–U+FFFF and the code points above, whose first
// unit is a surrogate below U+E000.
func compare(a, b string) int {
	n := min(len(a), len(b))
	i := 0
	for i < n && a[i] == b[i] {
		i++
	}
	if i == n {
		return len(a) - len(b)
	}
	ca, cb := a[i], b[i]
	if ca >= 0xEE && cb >= 0xEE && (ca >= 0xF0) != (cb >= 0xF0) {
		// One is the first byte of a code point above U+FFFF, the other of one from U+E000 up:
		// both bytes differ, so i is at the start of both code points.
		if ca >= 0xF0 {
			return -1
		}
		return 1
	}
	return int(ca) - int(cb)
}

// Digest is D of the ledger's formats: SHA-256 over the label and the fields, each preceded by its
// length as eight bytes, big-endian. The label separates uses; the lengths keep fields apart.
func Digest(label string, fields ...[]byte) [32]byte {
	size := 8 + len(label)
	for _, f := range fields {
		size += 8 + len(f)
	}
	buf := make([]byte, 0, size)
	buf = binary.BigEndian.AppendUint64(buf, uint64(len(label)))
	buf = append(buf, label...)
	for _, f := range fields {
		buf = binary.BigEndian.AppendUint64(buf, uint64(len(f)))
		buf = append(buf, f...)
	}
	return sha256.Sum256(buf)
}
