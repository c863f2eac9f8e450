package notation

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ludger/engine"
)

// A Mat is one match of backgammon as its file tells it.
//
// The text format of backgammon matches, .mat, is the one that JellyFish began and GNU Backgammon,
// eXtreme Gammon and the servers write; no specification of it exists. A file holds a line with the
// length of the match and then its games, each with a line of the players and their scores, numbered
// rows of one turn of each, and who wins how many points:
//
//	; [EventDate "2026.12.01"]
//
//	 3 point match
//
//	 Game 1
//	 alpha : 0                      beta : 0
//	  1) 53: 8/3 6/3                 31: 8/5 6/5
//	  2) 42: 25/23                   65:
//	  3)  Doubles => 2                Drops
//	      Wins 1 point
//
// The player on the left is seat 0. Plays are the mover's own points, with 25 for the bar and 0 for
// checkers borne off. The reader knows no rules, and takes what real files add:
//
//	line ends   LF, CRLF and CR; a byte order mark; tabs, to the next eighth column; spaces at a line's end
//	text        names and comments in UTF-8, or else ISO 8859-1 as in PGN
//	comments    lines that start with a semicolon; kept before the line with the length, else skipped
//	columns     a row with one entry belongs to the right if it starts more than ten columns behind its
//	            bracket; a result in a line of its own, if it starts behind the twentieth column
//	plays       in any notation that the engine reads; nothing, or "Cannot Move", where there is none
//	cube        "Doubles => 2", "Takes", "Drops"
//	result      "Wins 1 point", with "and the match" behind it or not. A game without its result is
//	            only read if it is the last: the match is then Cut
//	matches     follow each other, each from its line with the length on; a length of 0 is a session of
//	            games for money
//
// An error costs one match: the reader goes on at the next line with a length. The writer prints the
// columns of the example. What it prints reads back as the same match, and prints again as the same bytes.
type Mat struct {
	Comments []string // what stands behind the semicolons before the length
	Length   int      // points to win; 0 for a session of games
	Games    []MatGame

	// Cut tells that the last game ends without a result. The record may have been cut short.
	Cut bool

	Number int // the match's number in its file, from 1; the writer ignores it
	Line   int // where it starts, from 1; the writer ignores it
}

// A MatGame is one game of a match.
type MatGame struct {
	Number  int
	Players [2]string // by seat: the left one is seat 0
	Score   [2]int    // before the game
	Turns   []MatTurn
	Winner  engine.Seat // who wins by the result, a seat or Spectator if it is missing
	Points  int
	Match   bool // the result says "and the match"
	Line    int  // where it starts, from 1; the writer ignores it
}

// A MatAction is what a player does in a turn.
type MatAction uint8

// The actions of a turn.
const (
	MatRoll MatAction = iota // throws dice and plays them
	MatDouble
	MatTake
	MatDrop
)

// A MatTurn is one entry of a row.
type MatTurn struct {
	Seat   engine.Seat
	Action MatAction
	Dice   string // two digits as written
	Play   string // as written, with single spaces; "" where nothing is played
	Cube   int    // of a double: what the cube shall show
	Line   int    // where it stands, from 1; the writer ignores it
}

// A Ply is a move with the seat that makes it, in an engine's canonical notation.
type Ply struct {
	Seat engine.Seat
	Move string
}

// A MatError says what is wrong with one match of a file. The matches after it can still be read.
type MatError struct {
	Match  int    // the match's number in the file, from 1
	Game   int    // the game's number in the match, from 1; 0 before the first
	Line   int    // from 1
	Reason string // ends without a period
	Err    error  // what the engine said of a move; nil for syntax
}

func (e *MatError) Error() string {
	if e.Game == 0 {
		return fmt.Sprintf("match %d, line %d: %s", e.Match, e.Line, e.Reason)
	}
	return fmt.Sprintf("match %d, game %d, line %d: %s", e.Match, e.Game, e.Line, e.Reason)
}

func (e *MatError) Unwrap() error { return e.Err }

// Tag returns the value of the first comment of the form [Name "Value"], or "".
func (m *Mat) Tag(name string) string {
	for _, c := range m.Comments {
		rest, ok := strings.CutPrefix(strings.TrimSpace(c), "["+name+" \"")
		if value, closed := strings.CutSuffix(rest, "\"]"); ok && closed {
			return value
		}
	}
	return ""
}

// Split returns a session's games each as a session of its own, since an engine plays one, with the
// scores at 0. A match stays whole.
func (m *Mat) Split() []*Mat {
	if m.Length > 0 {
		return []*Mat{m}
	}
	var list []*Mat
	for i, g := range m.Games {
		g.Score = [2]int{}
		g.Number = 1
		list = append(list, &Mat{Comments: slices.Clone(m.Comments), Games: []MatGame{g},
			Cut: m.Cut && i == len(m.Games)-1, Number: m.Number, Line: g.Line})
	}
	return list
}

// Returns is the result that the record states, one number per seat as the engine of its Setup counts
// them: in a match 1 and -1, in a session of one game its points. It is nil if none is stated, or if the
// last game does not decide the match.
func (m *Mat) Returns() []int64 {
	if len(m.Games) == 0 {
		return nil
	}
	g := &m.Games[len(m.Games)-1]
	n := int64(g.Points)
	switch {
	case g.Winner != 0 && g.Winner != 1, m.Length == 0 && len(m.Games) > 1:
		return nil
	case m.Length > 0 && g.Score[g.Winner]+g.Points < m.Length:
		return nil
	case m.Length > 0:
		n = 1
	}
	returns := []int64{-n, -n}
	returns[g.Winner] = n
	return returns
}

func (m *Mat) errorf(g *MatGame, line int, err error, format string, args ...any) error {
	e := &MatError{Match: max(m.Number, 1), Line: line, Reason: fmt.Sprintf(format, args...), Err: err}
	if g != nil {
		e.Game = g.Number
	}
	return e
}

// matNames reads the line of a game's players: each name, a colon and a score, the players at least one space apart.
func matNames(line string) (names [2]string, score [2]int, ok bool) {
	line = strings.TrimSpace(line)
	at := strings.LastIndexByte(line, ':')
	if at < 0 {
		return names, score, false
	}
	if score[1], ok = matCount(strings.TrimSpace(line[at+1:])); !ok {
		return names, score, false
	}
	left := line[:at]
	// A name may hold a colon: the first that looks like a score before a wide gap counts, else before any.
	for _, gap := range []string{"  ", " "} {
		for i := range len(left) {
			if left[i] != ':' {
				continue
			}
			rest := strings.TrimLeft(left[i+1:], " ")
			digits := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
			second := strings.TrimSpace(rest[len(digits):])
			n, isScore := matCount(digits)
			if isScore && strings.HasPrefix(rest[len(digits):], gap) && second != "" && strings.TrimSpace(left[:i]) != "" {
				names = [2]string{strings.TrimSpace(left[:i]), second}
				score[0] = n
				return names, score, true
			}
		}
	}
	return names, score, false
}

// matCount reads a number of one to six digits.
func matCount(text string) (int, bool) {
	if text == "" || len(text) > 6 || strings.TrimLeft(text, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(text)
	return n, err == nil
}
