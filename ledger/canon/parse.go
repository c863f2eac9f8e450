package canon

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Parse reads a text of the profile in any form: white space, members in any order, any escapes.
// It does not keep data.
func Parse(data []byte, lim Limits) (Value, error) { return parse(data, lim, false) }

// ParseCanonical reads a text that is in canonical form, and refuses any other.
// It does not keep data.
func ParseCanonical(data []byte, lim Limits) (Value, error) { return parse(data, lim, true) }

func parse(data []byte, lim Limits, canonical bool) (Value, error) {
	if len(data) > lim.Bytes {
		return Value{}, &Error{lim.Bytes, "", "text of " + strconv.Itoa(len(data)) + " bytes exceeds " + strconv.Itoa(lim.Bytes)}
	}
	p := parser{s: string(data), lim: lim, canonical: canonical}
	p.space()
	v, err := p.value()
	if err != nil {
		return Value{}, err
	}
	p.space()
	if p.i < len(p.s) {
		return Value{}, p.fail("text goes on after the value")
	}
	return v, nil
}

type parser struct {
	s         string
	i         int
	lim       Limits
	depth     int // of the value being read
	values    int // read so far
	canonical bool
}

// An entry is a member and where its name begins.
type entry struct {
	Member
	at int
}

func (p *parser) fail(reason string) *Error { return &Error{p.i, "", reason} }

// space skips white space; in canonical form there is none, and the caller then meets the
// character it does not expect.
func (p *parser) space() {
	if p.canonical {
		return
	}
	for p.i < len(p.s) {
		switch p.s[p.i] {
		case ' ', '\t', '\n', '\r':
			p.i++
		default:
			return
		}
	}
}

// unexpected describes the next character as not what.
func (p *parser) unexpected(what string) *Error {
	if p.i >= len(p.s) {
		return p.fail("text ends where " + what + " should be")
	}
	c := p.s[p.i]
	if p.canonical && (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
		return p.fail("white space is not canonical")
	}
	r, n := utf8.DecodeRuneInString(p.s[p.i:])
	if r == utf8.RuneError && n == 1 {
		return p.fail("invalid UTF-8 where " + what + " should be")
	}
	return p.fail(strconv.QuoteRune(r) + " where " + what + " should be")
}

func (p *parser) value() (Value, *Error) {
	if p.values++; p.values > p.lim.Values {
		return Value{}, p.fail("more than " + strconv.Itoa(p.lim.Values) + " values in one text")
	}
	if p.i < len(p.s) {
		switch c := p.s[p.i]; c {
		case '{':
			return p.object()
		case '[':
			return p.array()
		case '"':
			s, err := p.str()
			return Value{kind: String, text: s}, err
		case 't':
			if p.word("true") {
				return Value{kind: Bool, num: 1}, nil
			}
		case 'f':
			if p.word("false") {
				return Value{kind: Bool}, nil
			}
		case 'n':
			if p.word("null") {
				return Value{}, nil
			}
		case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
			return p.number()
		}
	}
	return Value{}, p.unexpected("a value")
}

func (p *parser) word(w string) bool {
	if !strings.HasPrefix(p.s[p.i:], w) {
		return false
	}
	p.i += len(w)
	return true
}

// number reads a whole number. What may follow it is left to the caller; fraction and exponent are
// named here, since they are valid JSON.
func (p *parser) number() (Value, *Error) {
	start := p.i
	neg := p.s[p.i] == '-'
	if neg {
		p.i++
	}
	var n int64
	digits := p.i
	for p.i < len(p.s) && '0' <= p.s[p.i] && p.s[p.i] <= '9' {
		if n = n*10 + int64(p.s[p.i]-'0'); n > MaxInt {
			p.i = start
			return Value{}, p.fail("number outside ±(2^53−1)")
		}
		p.i++
	}
	switch {
	case p.i == digits:
		return Value{}, p.unexpected("a digit")
	case p.s[digits] == '0' && p.i-digits > 1:
		p.i = start
		return Value{}, p.fail("number with a leading zero")
	case p.i < len(p.s) && (p.s[p.i] == '.' || p.s[p.i] == 'e' || p.s[p.i] == 'E'):
		p.i = start
		return Value{}, p.fail("number with a fraction or an exponent: only whole numbers are allowed")
	case neg && n == 0:
		p.i = start
		return Value{}, p.fail("negative zero")
	}
	if neg {
		n = -n
	}
	return Value{kind: Int, num: n}, nil
}

// str reads a string. Without escapes the result shares p.s.
func (p *parser) str() (string, *Error) {
	p.i++
	start := p.i
	var buf []byte // what was unescaped so far, nil while there was no escape
	for {
		if p.i >= len(p.s) {
			return "", p.fail("text ends inside a string")
		}
		switch c := p.s[p.i]; {
		case c == '"':
			s := p.s[start:p.i]
			p.i++
			if buf != nil {
				return string(append(buf, s...)), nil
			}
			return s, nil
		case c == '\\':
			buf = append(buf, p.s[start:p.i]...)
			r, err := p.escape()
			if err != nil {
				return "", err
			}
			buf = utf8.AppendRune(buf, r)
			start = p.i
		case c < 0x20:
			return "", p.fail("control character in a string must be escaped")
		case c < utf8.RuneSelf:
			for p.i++; p.i < len(p.s) && plain[p.s[p.i]]; p.i++ {
			}
		default:
			r, n := utf8.DecodeRuneInString(p.s[p.i:])
			if r == utf8.RuneError && n == 1 {
				return "", p.fail("invalid UTF-8 in a string")
			}
			p.i += n
		}
	}
}

// escape reads one escape sequence, of a surrogate pair both halves.
func (p *parser) escape() (rune, *Error) {
	at := p.i
	if p.i+1 >= len(p.s) {
		return 0, p.fail("text ends inside an escape")
	}
	c := p.s[p.i+1]
	p.i += 2
	var r rune
	switch c {
	case '"', '\\':
		return rune(c), nil
	case 'b':
		return '\b', nil
	case 't':
		return '\t', nil
	case 'n':
		return '\n', nil
	case 'f':
		return '\f', nil
	case 'r':
		return '\r', nil
	case '/':
		r = '/'
	case 'u':
		var ok bool
		if r, ok = p.hex4(); !ok {
			p.i = at
			return 0, p.fail(`\u must be followed by four hex digits`)
		}
		if r >= 0xD800 && r < 0xE000 {
			low, ok := rune(0), false
			if r < 0xDC00 && strings.HasPrefix(p.s[p.i:], `\u`) {
				p.i += 2
				low, ok = p.hex4()
			}
			if !ok || low < 0xDC00 || low > 0xDFFF {
				p.i = at
				return 0, p.fail("lone surrogate in a string")
			}
			r = 0x10000 + (r-0xD800)<<10 + (low - 0xDC00)
		}
	default:
		p.i = at
		return 0, p.fail("unknown escape")
	}
	if p.canonical {
		// Only control characters without a short form keep \u, with lowercase digits.
		canon := r < 0x20 && r != '\b' && r != '\t' && r != '\n' && r != '\f' && r != '\r'
		if !canon || p.s[at:p.i] != `\u00`+string(hexDigits[r>>4])+string(hexDigits[r&15]) {
			p.i = at
			return 0, p.fail("escape is not canonical")
		}
	}
	return r, nil
}

func (p *parser) hex4() (rune, bool) {
	if p.i+4 > len(p.s) {
		return 0, false
	}
	var r rune
	for _, c := range []byte(p.s[p.i : p.i+4]) {
		switch {
		case '0' <= c && c <= '9':
			r = r<<4 | rune(c-'0')
		case 'a' <= c && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case 'A' <= c && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	p.i += 4
	return r, true
}

func (p *parser) enter() *Error {
	if p.depth == p.lim.Depth {
		return p.fail("nested deeper than " + strconv.Itoa(p.lim.Depth) + " arrays and objects")
	}
	p.depth++
	p.i++
	p.space()
	return nil
}

// leave closes the array or object that began at start and holds the entries of list, and keeps its
// text if that is its canonical form.
func (p *parser) leave(kind Kind, start int, list []entry) Value {
	p.depth--
	p.i++
	v := Value{kind: kind}
	if len(list) > 0 {
		v.list = make([]Member, len(list))
		for i := range list {
			v.list[i] = list[i].Member
		}
	}
	if p.canonical {
		v.text = p.s[start:p.i]
	}
	return v
}

func (p *parser) peek(c byte) bool { return p.i < len(p.s) && p.s[p.i] == c }

func (p *parser) array() (Value, *Error) {
	start := p.i
	var few [8]entry // on the stack: only what was closed is kept, in its exact size
	list := few[:0]
	if err := p.enter(); err != nil {
		return Value{}, err
	}
	if p.peek(']') {
		return p.leave(Array, start, list), nil
	}
	for {
		e, err := p.value()
		if err != nil {
			return Value{}, within(err, strconv.Itoa(len(list)))
		}
		list = append(list, entry{Member: Member{Value: e}})
		p.space()
		switch {
		case p.peek(','):
			p.i++
			p.space()
		case p.peek(']'):
			return p.leave(Array, start, list), nil
		default:
			return Value{}, p.unexpected("',' or ']'")
		}
	}
}

func (p *parser) object() (Value, *Error) {
	start := p.i
	var few [8]entry // on the stack: only what was closed is kept, in its exact size
	list := few[:0]
	if err := p.enter(); err != nil {
		return Value{}, err
	}
	if p.peek('}') {
		return p.leave(Object, start, list), nil
	}
	sorted := true
	for {
		if !p.peek('"') {
			return Value{}, p.unexpected("a name")
		}
		at := p.i
		name, err := p.str()
		if err != nil {
			return Value{}, err
		}
		if n := len(list); n > 0 {
			order := compare(list[n-1].Name, name)
			if order == 0 {
				return Value{}, twice(name, at)
			}
			if order > 0 && p.canonical {
				return Value{}, &Error{at, "", "name " + quote(name) + " is not in canonical order"}
			}
			sorted = sorted && order < 0
		}
		p.space()
		if !p.peek(':') {
			return Value{}, p.unexpected("':'")
		}
		p.i++
		p.space()
		v, err := p.value()
		if err != nil {
			return Value{}, within(err, name)
		}
		list = append(list, entry{Member{name, v}, at})
		p.space()
		switch {
		case p.peek(','):
			p.i++
			p.space()
		case p.peek('}'):
			if !sorted {
				if err := sortEntries(list); err != nil {
					return Value{}, err
				}
			}
			return p.leave(Object, start, list), nil
		default:
			return Value{}, p.unexpected("',' or '}'")
		}
	}
}

// sortEntries puts the entries of an object in canonical order and refuses a name that occurs twice.
func sortEntries(list []entry) *Error {
	slices.SortStableFunc(list, func(a, b entry) int { return compare(a.Name, b.Name) })
	for i := 1; i < len(list); i++ {
		if list[i-1].Name == list[i].Name {
			return twice(list[i].Name, list[i].at)
		}
	}
	return nil
}

func twice(name string, at int) *Error {
	return &Error{at, "", "name " + quote(name) + " twice in one object"}
}

// within adds one step to the path of an error on its way out.
func within(err *Error, name string) *Error {
	token := clip(name)
	for _, r := range token {
		if !strconv.IsPrint(r) {
			token = strconv.Quote(token)
			token = token[1 : len(token)-1]
			break
		}
	}
	token = strings.ReplaceAll(token, "~", "~0")
	token = strings.ReplaceAll(token, "/", "~1")
	err.Path = "/" + token + err.Path
	return err
}

// clip shortens a name for an error to at most 64 bytes and an ellipsis: a name may be as long as
// the text.
func clip(name string) string {
	if len(name) <= 64 {
		return name
	}
	n := 64
	for !utf8.RuneStart(name[n]) {
		n--
	}
	return name[:n] + "…"
}

func quote(name string) string { return strconv.Quote(clip(name)) }
