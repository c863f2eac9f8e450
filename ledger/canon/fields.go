package canon

import (
	"strconv"
)

// Fields reads the members of one object by name, in any order, and refuses what is missing, of
// the wrong kind, or left over. The first refusal is kept; after it every read returns a zero
// value, so a caller reads all it wants and asks Done once:
//
//	f := v.Fields()
//	seat, move := f.Int("seat", 0, 7), f.String("move", 256)
//	if err := f.Done(); err != nil { … }
//
// A Fields has at most 64 members; an object with more is refused.
type Fields struct {
	list []Member
	used uint64
	err  *Error
}

// Fields starts reading the object v; for any other kind Done reports it.
func (v Value) Fields() Fields {
	f := Fields{list: v.list}
	switch {
	case v.kind != Object:
		f.list = nil
		f.err = &Error{-1, "", "is " + v.kind.article() + ", not an object"}
	case len(v.list) > 64:
		f.err = &Error{-1, "", strconv.Itoa(len(v.list)) + " members in one object exceed 64"}
	}
	return f
}

// Fail records a refusal of the named member, unless there is one already. Callers use it for what
// only they can see, such as an unknown word.
func (f *Fields) Fail(name, reason string) {
	if f.err == nil {
		f.err = within(&Error{Offset: -1, Reason: reason}, name)
	}
}

// Has tells whether the object has the named member.
func (f *Fields) Has(name string) bool {
	for i := range f.list {
		if f.list[i].Name == name {
			return true
		}
	}
	return false
}

// Value returns the named member, of any kind.
func (f *Fields) Value(name string) Value {
	if f.err != nil {
		return Value{}
	}
	for i := range f.list {
		if f.list[i].Name == name {
			f.used |= 1 << uint(i)
			return f.list[i].Value
		}
	}
	f.Fail(name, "is missing")
	return Value{}
}

func (f *Fields) kind(name string, k Kind) Value {
	v := f.Value(name)
	if f.err == nil && v.kind != k {
		f.Fail(name, "is "+v.kind.article()+", not "+k.article())
		return Value{}
	}
	return v
}

// String returns the named string of at most max bytes.
func (f *Fields) String(name string, max int) string {
	s := f.kind(name, String).text
	if len(s) > max {
		f.Fail(name, "of "+strconv.Itoa(len(s))+" bytes exceeds "+strconv.Itoa(max))
		return ""
	}
	return s
}

// Int returns the named number, which must lie from min to max.
func (f *Fields) Int(name string, min, max int64) int64 {
	n := f.kind(name, Int).num
	if f.err == nil && (n < min || n > max) {
		f.Fail(name, strconv.FormatInt(n, 10)+" is not from "+strconv.FormatInt(min, 10)+" to "+strconv.FormatInt(max, 10))
		return 0
	}
	return n
}

// Bool returns the named boolean.
func (f *Fields) Bool(name string) bool { return f.kind(name, Bool).num == 1 }

// Flag returns an optional boolean that is only written when true.
func (f *Fields) Flag(name string) bool {
	if !f.Has(name) {
		return false
	}
	if !f.Bool(name) {
		f.Fail(name, "is written only when true")
		return false
	}
	return true
}

// Object returns the named object.
func (f *Fields) Object(name string) Value { return f.kind(name, Object) }

// Array returns the elements of the named array, at most max.
func (f *Fields) Array(name string, max int) []Member {
	l := f.kind(name, Array).list
	if len(l) > max {
		f.Fail(name, "of "+strconv.Itoa(len(l))+" elements exceeds "+strconv.Itoa(max))
		return nil
	}
	return l
}

// Hex fills dst from the named string of exactly 2·len(dst) lowercase hex digits.
func (f *Fields) Hex(name string, dst []byte) {
	s := f.kind(name, String).text
	if f.err == nil && !DecodeHex(dst, s) {
		f.Fail(name, "is not "+strconv.Itoa(2*len(dst))+" lowercase hex digits")
	}
}

// Err returns the first refusal so far.
func (f *Fields) Err() error {
	if f.err == nil {
		return nil
	}
	return f.err
}

// Done returns the first refusal; a member that nobody read is one.
func (f *Fields) Done() error {
	if f.err == nil {
		for i := range f.list {
			if f.used&(1<<uint(i)) == 0 {
				f.Fail(f.list[i].Name, "is not a member known here")
				break
			}
		}
	}
	return f.Err()
}

// DecodeHex fills dst from exactly 2·len(dst) lowercase hex digits and tells whether s was that.
func DecodeHex(dst []byte, s string) bool {
	if len(s) != 2*len(dst) {
		return false
	}
	bad := byte(0)
	for i := range dst {
		hi, lo := digits[s[2*i]], digits[s[2*i+1]]
		bad |= hi | lo
		dst[i] = hi<<4 | lo
	}
	return bad < 16
}

// digits holds the value of each lowercase hex digit, and 255 for any other byte.
var digits = func() (table [256]byte) {
	for i := range table {
		table[i] = 255
	}
	for i, c := range []byte(hexDigits) {
		table[c] = byte(i)
	}
	return table
}()
