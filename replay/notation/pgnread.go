package notation

import (
	"bufio"
	"fmt"
	"io"
)

// A PGNReader reads the games of one PGN file, one at a time and in bounded memory.
type PGNReader struct {
	br   *bufio.Reader
	fail error // a failed read; the reader is at its end

	line int  // of the next byte, from 1
	bol  bool // the next byte starts a line
	game int  // number of the game being read

	text int      // what the comments and annotations of the game cost so far
	next *pending // a tag already read that belongs to the next game
	lost section  // where the last game broke
}

type pending struct {
	tag  Tag
	line int
}

// A section is the part of a game that the reader is in.
type section int

const (
	whole section = iota // nothing is broken
	inTags
	inMoves
)

// NewPGNReader returns a reader of the games in r.
func NewPGNReader(r io.Reader) *PGNReader {
	return &PGNReader{br: bufio.NewReaderSize(&sticky{r: r}, 4096), line: 1, bol: true}
}

// sticky repeats an error for ever: looking ahead must not hide one.
type sticky struct {
	r   io.Reader
	err error
}

func (s *sticky) Read(p []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	var n int
	n, s.err = s.r.Read(p)
	return n, s.err
}

// Next returns the next game. A *PGNError says that this game is broken; the call after it goes on
// with the game behind it. Any other error is final: io.EOF at the end of the file, or what the
// underlying reader said.
func (r *PGNReader) Next() (*PGN, error) {
	if r.lost != whole {
		r.resync()
	}
	g := &PGN{}
	if r.next == nil {
		more, err := r.gap()
		if err != nil {
			return nil, r.broken(err, inMoves)
		}
		if !more {
			return nil, r.end()
		}
	}
	r.game++
	r.text = 0
	g.Game, g.Line = r.game, r.line
	if err := r.tags(g); err != nil {
		return nil, r.broken(err, inTags)
	}
	if r.next == nil {
		if err := r.moves(g); err != nil {
			return nil, r.broken(err, inMoves)
		}
	} else {
		g.Cut = true
	}
	if r.fail != nil {
		return nil, r.end()
	}
	if g.Cut {
		g.Result = "*"
		if result := g.Tag("Result"); isResult(result) {
			g.Result = result
		}
	}
	return g, nil
}

// broken remembers where to look for the next game.
func (r *PGNReader) broken(err error, where section) error {
	if r.fail != nil { // the file broke, not the game
		return r.end()
	}
	r.lost = where
	return err
}

func (r *PGNReader) end() error {
	if r.fail != nil {
		return fmt.Errorf("reading PGN, line %d: %w", r.line, r.fail)
	}
	return io.EOF
}

func (r *PGNReader) errorf(line int, format string, args ...any) error {
	return &PGNError{Game: max(r.game, 1), Line: line, Reason: fmt.Sprintf(format, args...)}
}

// peek returns the next byte without taking it; every kind of line end is '\n'.
func (r *PGNReader) peek() (byte, bool) {
	b, err := r.br.Peek(1)
	if len(b) == 0 {
		if err != io.EOF && r.fail == nil {
			r.fail = err
		}
		return 0, false
	}
	if b[0] == '\r' {
		return '\n', true
	}
	return b[0], true
}

// take consumes the byte that peek returned.
func (r *PGNReader) take() {
	b, err := r.br.ReadByte()
	if err != nil {
		return
	}
	if b == '\r' {
		b = '\n'
		if after, _ := r.br.Peek(1); len(after) == 1 && after[0] == '\n' {
			r.br.Discard(1)
		}
	}
	r.bol = b == '\n'
	if r.bol {
		r.line++
	}
}

func (r *PGNReader) skipLine() {
	for c, ok := r.peek(); ok; c, ok = r.peek() {
		r.take()
		if c == '\n' {
			return
		}
	}
}

// atTag tells whether a tag pair starts here, as far as one can see without reading it.
func (r *PGNReader) atTag() (name string, ok bool) {
	b, _ := r.br.Peek(MaxTagName + 16)
	if len(b) == 0 || b[0] != '[' {
		return "", false
	}
	skip := func(i int) int {
		for i < len(b) && (b[i] == ' ' || b[i] == '\t') {
			i++
		}
		return i
	}
	start := skip(1)
	end := start
	for end < len(b) && isName(b[end]) {
		end++
	}
	quote := skip(end)
	return string(b[start:end]), end > start && quote < len(b) && b[quote] == '"'
}

// resync skips the rest of a broken game. If its tags broke, the other tags of the same section
// belong to it too.
func (r *PGNReader) resync() {
	where, blank := r.lost, false
	r.lost = whole
	if !r.bol {
		r.skipLine()
	}
	for {
		c, ok := r.peek()
		if !ok {
			return
		}
		name, tag := r.atTag()
		switch {
		case tag && (where == inMoves || blank && name == "Event"):
			return
		case c == '\n':
			blank = true
		case !tag:
			where = inMoves
		}
		r.skipLine()
	}
}

// gap skips what stands between games and tells whether another one follows.
func (r *PGNReader) gap() (bool, error) {
	for {
		c, ok := r.peek()
		switch {
		case !ok:
			return false, nil
		case isSpace(c):
			r.take()
		case c == '%' && r.bol:
			r.skipLine()
		case c == '{' || c == ';':
			if _, err := r.comment(false); err != nil {
				return false, err
			}
		case c == 0xEF && r.bol && r.mark():
		default:
			return true, nil
		}
	}
}

// mark skips a byte order mark. What follows still starts its line.
func (r *PGNReader) mark() bool {
	if b, _ := r.br.Peek(3); string(b) != "\uFEFF" {
		return false
	}
	r.br.Discard(3)
	return true
}

// tags reads the tag section (section 8.1). It leaves r.next set if the next game began.
func (r *PGNReader) tags(g *PGN) error {
	if r.next != nil {
		g.Tags, g.Line = append(g.Tags, r.next.tag), r.next.line
		r.next = nil
	}
	blank := false
	for {
		start := r.bol
		c, ok := r.peek()
		switch {
		case !ok:
			return nil
		case isSpace(c):
			blank = blank || start && c == '\n'
			r.take()
		case c == '%' && r.bol:
			r.skipLine()
		case c == '{' || c == ';':
			if err := r.keep(&g.Comments); err != nil {
				return err
			}
		case c == '[':
			line := r.line
			t, err := r.tag()
			if err != nil {
				return err
			}
			old, have := lookup(g.Tags, t.Name)
			switch {
			case have && blank:
				r.next = &pending{t, line}
				return nil
			case have && old != t.Value:
				return r.errorf(line, "tag %s has two values, %q and %q", t.Name, old, t.Value)
			case have:
			case len(g.Tags) == MaxTags:
				return r.errorf(line, "more than %d tags", MaxTags)
			default:
				g.Tags = append(g.Tags, t)
			}
			blank = false
		default:
			return nil
		}
	}
}

func lookup(tags []Tag, name string) (string, bool) {
	for _, t := range tags {
		if t.Name == name {
			return t.Value, true
		}
	}
	return "", false
}

// tag reads one tag pair (section 8.1.1), which stands on one line.
func (r *PGNReader) tag() (Tag, error) {
	line := r.line
	r.take() // [
	r.blanks()
	var name []byte
	for c, ok := r.peek(); ok && isName(c); c, ok = r.peek() {
		if len(name) == MaxTagName {
			return Tag{}, r.errorf(line, "tag name of more than %d bytes", MaxTagName)
		}
		name = append(name, c)
		r.take()
	}
	if len(name) == 0 {
		return Tag{}, r.errorf(line, "tag without a name")
	}
	r.blanks()
	if c, ok := r.peek(); !ok || c != '"' {
		return Tag{}, r.errorf(line, "tag %s without a quoted value", name)
	}
	r.take()
	var value []byte
	for {
		c, ok := r.peek()
		if !ok || c == '\n' {
			return Tag{}, r.errorf(line, "value of tag %s is not closed", name)
		}
		r.take()
		if c == '"' {
			break
		}
		if c == '\\' {
			if e, ok := r.peek(); ok && (e == '"' || e == '\\') {
				c = e
				r.take()
			}
		}
		if len(value) == MaxTagValue {
			return Tag{}, r.errorf(line, "value of tag %s exceeds %d bytes", name, MaxTagValue)
		}
		value = append(value, c)
	}
	r.blanks()
	if c, ok := r.peek(); !ok || c != ']' {
		return Tag{}, r.errorf(line, "tag %s is not closed behind its value", name)
	}
	r.take()
	text, err := decode(value)
	if err == nil && len(text) > MaxTagValue {
		err = fmt.Errorf("%d bytes as UTF-8 exceed %d", len(text), MaxTagValue)
	}
	if err != nil {
		return Tag{}, r.errorf(line, "value of tag %s: %v", name, err)
	}
	return Tag{string(name), text}, nil
}

// blanks skips white space within a line.
func (r *PGNReader) blanks() {
	for c, ok := r.peek(); ok && (c == ' ' || c == '\t'); c, ok = r.peek() {
		r.take()
	}
}

// keep reads a comment into list and counts its cost.
func (r *PGNReader) keep(list *[]string) error {
	line := r.line
	s, err := r.comment(true)
	if err != nil || s == "" {
		return err
	}
	*list = append(*list, s)
	return r.cost(len(s)+textCost, line)
}

func (r *PGNReader) cost(n, line int) error {
	if r.text += n; r.text > MaxText {
		return r.errorf(line, "comments and annotations of more than %d bytes", MaxText)
	}
	return nil
}

// comment reads a comment of either kind (section 5). Runs of white space become one space.
func (r *PGNReader) comment(keep bool) (string, error) {
	line := r.line
	open, _ := r.peek()
	r.take()
	var raw []byte
	space := false
	for {
		c, ok := r.peek()
		if open == ';' && (!ok || c == '\n') || open == '{' && ok && c == '}' {
			break
		}
		if ok && r.bol {
			_, tag := r.atTag()
			ok = !tag
		}
		if !ok {
			return "", r.errorf(line, "comment is not closed")
		}
		r.take()
		if !keep {
			continue
		}
		if isSpace(c) {
			space = true
			continue
		}
		if space && len(raw) > 0 {
			raw = append(raw, ' ')
		}
		space = false
		if raw = append(raw, c); len(raw) > MaxComment {
			return "", r.errorf(line, "comment of more than %d bytes", MaxComment)
		}
	}
	if open == '{' {
		r.take()
	}
	s, err := decode(raw)
	if err == nil && len(s) > MaxComment {
		err = fmt.Errorf("%d bytes as UTF-8 exceed %d", len(s), MaxComment)
	}
	if err != nil {
		return "", r.errorf(line, "comment: %v", err)
	}
	return s, nil
}
