package notation

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"

	"ludger/engine"
)

// A MatReader reads the matches of one .mat file, one at a time and in bounded memory.
type MatReader struct {
	br   *bufio.Reader
	fail error // a failed read; the reader is at its end

	line     int    // of text, from 1
	text     string // the line read last
	long     bool   // that line was too long, or no text
	held     bool   // it is to be read again
	number   int    // of the match being read
	comments []string
}

// NewMatReader returns a reader of the matches in r.
func NewMatReader(r io.Reader) *MatReader {
	return &MatReader{br: bufio.NewReaderSize(&sticky{r: r}, 4096)}
}

// Next returns the next match. A *MatError says that this match is broken; the call after it goes on
// with the match behind it. Any other error is final: io.EOF at the end of the file, or what the
// underlying reader said.
func (r *MatReader) Next() (*Mat, error) {
	m := &Mat{}
	err := r.read(m)
	if r.fail != nil {
		return nil, fmt.Errorf("reading .mat, line %d: %w", r.line, r.fail)
	}
	if err != nil && err != io.EOF {
		r.resync()
	}
	if err != nil {
		return nil, err
	}
	return m, nil
}

// next takes the next line that is not empty, without its end and the spaces there.
func (r *MatReader) next() bool {
	if r.held {
		r.held = false
		return true
	}
	for {
		raw, more := r.take()
		if !more {
			return false
		}
		r.line++
		if r.line == 1 {
			raw = bytes.TrimPrefix(raw, []byte("\uFEFF"))
		}
		r.long = len(raw) > MaxMatLine
		text, err := decode(expandTabs(raw[:min(len(raw), MaxMatLine)]))
		r.long = r.long || err != nil
		if r.text = strings.TrimRight(text, " "); r.text != "" || r.long {
			return true
		}
	}
}

// take reads the bytes of one line; of a longer one no more than the limit and one.
func (r *MatReader) take() (raw []byte, more bool) {
	for {
		c, err := r.br.ReadByte()
		if err != nil {
			if err != io.EOF {
				r.fail = err
				return nil, false
			}
			return raw, more
		}
		more = true
		if c == '\r' {
			if after, _ := r.br.Peek(1); len(after) == 1 && after[0] == '\n' {
				r.br.Discard(1)
			}
			return raw, true
		}
		if c == '\n' {
			return raw, true
		}
		if len(raw) <= MaxMatLine {
			raw = append(raw, c)
		}
	}
}

func expandTabs(raw []byte) []byte {
	if bytes.IndexByte(raw, '\t') < 0 {
		return raw
	}
	var out []byte
	for _, c := range raw {
		if c != '\t' {
			out = append(out, c)
			continue
		}
		for out = append(out, ' '); len(out)%8 != 0; {
			out = append(out, ' ')
		}
	}
	return out
}

// resync skips to the line that starts the next match.
func (r *MatReader) resync() {
	r.held = false
	r.comments = nil
	for r.next() {
		if _, ok := matLength(r.text); ok && !r.long {
			r.held = true
			return
		}
		r.comment()
	}
}

// comment takes up a line that starts with a semicolon. What is too much is dropped.
func (r *MatReader) comment() bool {
	text, ok := matComment(r.text)
	if ok && len(text) <= MaxMatComment && len(r.comments) < MaxMatComments {
		r.comments = append(r.comments, text)
	}
	return ok
}

func matComment(line string) (text string, ok bool) {
	text, ok = strings.CutPrefix(strings.TrimSpace(line), ";")
	return strings.TrimSpace(text), ok
}

// matLength reads the line that starts a match: "7 point match".
func matLength(line string) (int, bool) {
	word := strings.Fields(line)
	if len(word) != 3 || !strings.EqualFold(word[1], "point") || !strings.EqualFold(word[2], "match") {
		return 0, false
	}
	return matCount(word[0])
}

// matGame reads the line that starts a game: "Game 3".
func matGame(line string) (int, bool) {
	word := strings.Fields(line)
	if len(word) != 2 || !strings.EqualFold(word[0], "game") {
		return 0, false
	}
	return matCount(word[1])
}

func (r *MatReader) errorf(g *MatGame, format string, args ...any) error {
	e := &MatError{Match: max(1, r.number), Line: r.line, Reason: fmt.Sprintf(format, args...)}
	if g != nil {
		e.Game = g.Number
	}
	return e
}

func (r *MatReader) read(m *Mat) error {
	r.number++
	for {
		if !r.next() {
			return io.EOF
		}
		if err := r.sound(nil); err != nil {
			return err
		}
		n, ok := matLength(r.text)
		if ok {
			m.Length, m.Number, m.Line = n, r.number, r.line
			m.Comments, r.comments = r.comments, nil
			break
		}
		if !r.comment() {
			return r.errorf(nil, "%q, want a line such as \"7 point match\"", r.text)
		}
	}
	var g *MatGame
	turns := 0
	for r.next() {
		if err := r.sound(g); err != nil {
			return err
		}
		if r.comment() {
			continue
		}
		if _, ok := matLength(r.text); ok {
			r.held = true
			break
		}
		r.comments = nil
		if n, ok := matGame(r.text); ok {
			if g != nil && g.Winner == engine.Spectator {
				return r.errorf(g, "game %d begins, but game %d has no result", n, g.Number)
			}
			if n != len(m.Games)+1 || n > MaxMatGames {
				return r.errorf(g, "game %d, want %d of at most %d", n, len(m.Games)+1, MaxMatGames)
			}
			m.Games = append(m.Games, MatGame{Number: n, Winner: engine.Spectator, Line: r.line})
			g = &m.Games[n-1]
			continue
		}
		if g == nil {
			return r.errorf(nil, "%q, want a line such as \"Game 1\"", r.text)
		}
		if g.Players[0] == "" {
			var ok bool
			if g.Players, g.Score, ok = matNames(r.text); !ok {
				return r.errorf(g, "%q, want both players with their scores, such as \"alpha : 0   beta : 2\"", r.text)
			}
			for i := range g.Players {
				if len(g.Players[i]) > MaxMatName {
					return r.errorf(g, "player's name of %d bytes exceeds %d", len(g.Players[i]), MaxMatName)
				}
			}
			if g.Players != m.Games[0].Players {
				return r.errorf(g, "players %q, but game 1 has %q", g.Players, m.Games[0].Players)
			}
			continue
		}
		if g.Winner != engine.Spectator {
			return r.errorf(g, "%q stands behind the result", r.text)
		}
		before := len(g.Turns)
		if err := r.row(g); err != nil {
			return err
		}
		if turns += len(g.Turns) - before; turns > MaxMoves {
			return r.errorf(g, "more than %d turns", MaxMoves)
		}
	}
	switch {
	case r.fail != nil:
		return nil
	case g == nil:
		return r.errorf(nil, "a match without games")
	case g.Players[0] == "":
		return r.errorf(g, "the game ends before its players")
	}
	m.Cut = g.Winner == engine.Spectator
	return nil
}

// sound refuses a line that is too long or no text.
func (r *MatReader) sound(g *MatGame) error {
	if r.long {
		return r.errorf(g, "a line of control characters or of more than %d bytes", MaxMatLine)
	}
	return nil
}

// row reads a numbered row, or the result in a line of its own.
func (r *MatReader) row(g *MatGame) error {
	behind, wide := 0, 20 // where the row's entries begin, and how far from there the right ones do
	if at := strings.IndexByte(r.text, ')'); at >= 0 {
		if _, ok := matCount(strings.TrimSpace(r.text[:at])); ok {
			behind, wide = at+1, 10
		}
	}
	s := matScanner{text: r.text, at: behind}
	column, word := s.next()
	seat := engine.Seat(0)
	if column-behind > wide {
		seat = 1
	}
	for ; word != ""; _, word = s.next() {
		if seat > 1 {
			return r.errorf(g, "%q behind both players' entries", word)
		}
		result, err := r.entry(g, &s, word, seat)
		switch {
		case err != nil:
			return err
		case !result && behind == 0:
			return r.errorf(g, "%q, want a numbered row or a result", r.text)
		case result:
			if _, word := s.next(); word != "" {
				return r.errorf(g, "%q stands behind the result", word)
			}
			return nil
		}
		seat++
	}
	return nil
}

// entry reads what a player does, from its first word on.
func (r *MatReader) entry(g *MatGame, s *matScanner, word string, seat engine.Seat) (result bool, err error) {
	t := MatTurn{Seat: seat, Line: r.line}
	dice, rest, isDice := strings.Cut(word, ":")
	switch lower := strings.ToLower(word); {
	case isDice && len(dice) == 2 && strings.Trim(dice, "123456") == "":
		t.Dice = dice
		if rest != "" {
			s.at -= len(rest)
		}
		if t.Play, err = r.plays(g, s); err != nil {
			return false, err
		}
	case lower == "doubles":
		t.Action = MatDouble
		_, word := s.next()
		if word == "=>" {
			_, word = s.next()
		}
		var ok bool
		if t.Cube, ok = matCount(strings.TrimPrefix(word, "=>")); !ok {
			return false, r.errorf(g, "%q behind a double, want the cube's value", word)
		}
	case lower == "takes":
		t.Action = MatTake
	case lower == "drops":
		t.Action = MatDrop
	case lower == "wins":
		return true, r.result(g, s, seat)
	default:
		return false, r.errorf(g, "%q, want dice such as 31:, Doubles, Takes, Drops or Wins", word)
	}
	g.Turns = append(g.Turns, t)
	return false, nil
}

// plays reads the words behind dice that are checkers' moves.
func (r *MatReader) plays(g *MatGame, s *matScanner) (string, error) {
	var list []string
	for {
		at := s.at
		_, word := s.next()
		switch lower := strings.ToLower(word); {
		case strings.Contains(word, "/") && !strings.Contains(word, ":"):
			list = append(list, word)
		case lower == "cannot" && list == nil:
			if _, word = s.next(); !strings.EqualFold(word, "move") {
				return "", r.errorf(g, "Cannot %q, want Cannot Move", word)
			}
			return "", nil
		case strings.HasPrefix(word, "?"):
			return "", r.errorf(g, "the file does not say what was played")
		default:
			s.at = at
			text := strings.Join(list, " ")
			if len(text) > MaxMatPlay {
				return "", r.errorf(g, "play of %d bytes exceeds %d", len(text), MaxMatPlay)
			}
			return text, nil
		}
	}
}

// result reads what stands behind "Wins".
func (r *MatReader) result(g *MatGame, s *matScanner, seat engine.Seat) error {
	_, count := s.next()
	_, unit := s.next()
	n, ok := matCount(count)
	if unit = strings.ToLower(strings.TrimSuffix(unit, ".")); !ok || n == 0 || unit != "point" && unit != "points" {
		return r.errorf(g, "Wins %q %q, want a number of points", count, unit)
	}
	g.Winner, g.Points = seat, n
	if _, word := s.next(); word != "" {
		_, the := s.next()
		_, match := s.next()
		if !strings.EqualFold(word+" "+the+" "+match, "and the match") {
			return r.errorf(g, "%q stands behind the result", word)
		}
		g.Match = true
	}
	return nil
}

// A matScanner takes the words of a line.
type matScanner struct {
	text string
	at   int
}

// next returns the next word and the column it starts in, from 0.
func (s *matScanner) next() (column int, word string) {
	for s.at < len(s.text) && s.text[s.at] == ' ' {
		s.at++
	}
	column = s.at
	for s.at < len(s.text) && s.text[s.at] != ' ' {
		s.at++
	}
	return column, s.text[column:s.at]
}
