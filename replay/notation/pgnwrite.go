package notation

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// lineWidth is the length of a movetext line: "less than 80 printing characters" (section 8.2.1).
const lineWidth = 79

// roster is the Seven Tag Roster (section 8.1.1) with what stands for an unknown value.
var roster = [...]Tag{
	{"Event", "?"}, {"Site", "?"}, {"Date", "????.??.??"}, {"Round", "?"},
	{"White", "?"}, {"Black", "?"}, {"Result", "*"},
}

// WritePGN writes one game in export format, with an empty line behind it. It refuses what the
// reader would not read back as the same game. Comments may be wrapped: a run of white space in
// them counts as one space.
func WritePGN(w io.Writer, g *PGN) error {
	tags := exportTags(g)
	if err := check(g, tags); err != nil {
		return fmt.Errorf("writing PGN: %w", err)
	}
	var dst []byte
	for _, t := range tags {
		dst = fmt.Appendf(dst, "[%s \"%s\"]\n", t.Name, escape.Replace(t.Value))
	}
	dst = append(dst, '\n')

	p := printer{dst: dst}
	number, black := firstMove(g)
	dots := true // the next half-move of Black needs its number
	for i := range g.Comments {
		p.comment(g.Comments[i])
	}
	for i := range g.Moves {
		m := &g.Moves[i]
		if !black {
			p.word(strconv.Itoa(number) + ".")
		} else if dots {
			p.word(strconv.Itoa(number) + "...")
		}
		p.word(m.SAN)
		for _, n := range m.NAGs {
			p.word("$" + strconv.Itoa(n))
		}
		for _, s := range m.Comments {
			p.comment(s)
		}
		dots = len(m.Comments) > 0
		if black {
			number++
		}
		black = !black
	}
	p.word(g.Result)
	if _, err := w.Write(append(p.dst, "\n\n"...)); err != nil {
		return fmt.Errorf("writing PGN: %w", err)
	}
	return nil
}

var escape = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// exportTags returns the tags as export format orders them: the roster, then the rest by name
// (section 8.1.2).
func exportTags(g *PGN) []Tag {
	var tags []Tag
	for _, t := range roster {
		if value, have := lookup(g.Tags, t.Name); have {
			t.Value = value
		} else if t.Name == "Result" {
			t.Value = g.Result
		}
		tags = append(tags, t)
	}
	for _, t := range g.Tags {
		if _, have := lookup(roster[:], t.Name); !have {
			tags = append(tags, t)
		}
	}
	slices.SortFunc(tags[len(roster):], func(a, b Tag) int { return cmp.Compare(a.Name, b.Name) })
	return tags
}

// check holds a game against the bounds and the grammar of the reader.
func check(g *PGN, tags []Tag) error {
	if len(tags) > MaxTags {
		return fmt.Errorf("%d tags with those of the roster exceed %d", len(tags), MaxTags)
	}
	for i, t := range g.Tags {
		if len(t.Name) == 0 || len(t.Name) > MaxTagName || strings.ContainsFunc(t.Name, func(c rune) bool {
			return c >= utf8.RuneSelf || !isName(byte(c))
		}) {
			return fmt.Errorf("tag name %q is not 1 to %d letters, digits and underscores", t.Name, MaxTagName)
		}
		if len(t.Value) > MaxTagValue {
			return fmt.Errorf("value of tag %s: %d bytes exceed %d", t.Name, len(t.Value), MaxTagValue)
		}
		if err := checkText(t.Value); err != nil {
			return fmt.Errorf("value of tag %s: %w", t.Name, err)
		}
		if _, have := lookup(g.Tags[:i], t.Name); have {
			return fmt.Errorf("tag %s stands twice", t.Name)
		}
	}
	text := 0
	comments := func(list []string) error {
		for _, s := range list {
			s = strings.Join(words(s), " ")
			if len(s) > MaxComment {
				return fmt.Errorf("comment of %d bytes exceeds %d", len(s), MaxComment)
			}
			if err := checkText(s); err != nil {
				return fmt.Errorf("comment: %w", err)
			}
			text += len(s) + textCost
		}
		return nil
	}
	if err := comments(g.Comments); err != nil {
		return err
	}
	if len(g.Moves) > MaxMoves {
		return fmt.Errorf("%d half-moves exceed %d", len(g.Moves), MaxMoves)
	}
	for i := range g.Moves {
		m := &g.Moves[i]
		if err := checkSAN(m.SAN); err != nil {
			return fmt.Errorf("half-move %d: %w", i+1, err)
		}
		for _, n := range m.NAGs {
			if n < 0 || n > MaxNAG {
				return fmt.Errorf("half-move %d: annotation $%d is not $0 to $%d", i+1, n, MaxNAG)
			}
			text += textCost
		}
		if err := comments(m.Comments); err != nil {
			return fmt.Errorf("half-move %d: %w", i+1, err)
		}
	}
	if text > MaxText {
		return fmt.Errorf("comments and annotations of %d bytes exceed %d", text, MaxText)
	}
	if !isResult(g.Result) {
		return fmt.Errorf("result %q is none of 1-0, 0-1, 1/2-1/2 and *", g.Result)
	}
	return nil
}

// firstMove returns the number of the first move and whether Black makes it, by the FEN tag where
// there is one (section 9.7.2).
func firstMove(g *PGN) (number int, black bool) {
	number = 1
	fen := strings.Fields(g.Tag("FEN"))
	if len(fen) > 1 {
		black = fen[1] == "b"
	}
	if len(fen) > 5 {
		if n, err := strconv.Atoi(fen[5]); err == nil && 0 < n && n < 1_000_000 {
			number = n
		}
	}
	return number, black
}

// words splits a comment where the reader sees white space, which is ASCII only: a no-break space
// stays what it is.
func words(s string) []string {
	return strings.FieldsFunc(s, func(c rune) bool { return c < utf8.RuneSelf && isSpace(byte(c)) })
}

// A printer lays out movetext.
type printer struct {
	dst   []byte
	width int // characters on the current line
}

// word puts a unit that must not be broken on the current line or on the next.
func (p *printer) word(s string) {
	n := utf8.RuneCountInString(s)
	switch {
	case p.width == 0:
	case p.width+1+n <= lineWidth:
		p.dst = append(p.dst, ' ')
		p.width++
	default:
		p.dst = append(p.dst, '\n')
		p.width = 0
	}
	p.dst = append(p.dst, s...)
	p.width += n
}

// comment prints a comment in braces, or to the line's end if it holds a closing brace, which
// nothing can escape. A word that would mean something else at the start of a line, an escape or a
// tag, stays behind the word before it.
func (p *printer) comment(s string) {
	list := words(s)
	if len(list) == 0 {
		return
	}
	s = strings.Join(list, " ")
	if strings.Contains(s, "}") {
		p.word("; " + s)
		p.dst = append(p.dst, '\n')
		p.width = 0
		return
	}
	var unit bytes.Buffer
	unit.WriteString("{" + list[0])
	for _, w := range list[1:] {
		if w[0] == '%' || w[0] == '[' {
			unit.WriteByte(' ')
		} else {
			p.word(unit.String())
			unit.Reset()
		}
		unit.WriteString(w)
	}
	p.word(unit.String() + "}")
}
