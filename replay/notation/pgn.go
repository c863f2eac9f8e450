// Package notation reads and writes the files in which the world keeps games: PGN for chess and .mat for
// backgammon (see Mat).
//
// A reader knows the syntax of its format and no rules. What a move means is asked of the
// engine.Position that the caller gives to Replay, so one reader serves every variant that the
// format is used for.
//
//	r := notation.NewPGNReader(file)
//	for {
//		g, err := r.Next()
//		var broken *notation.PGNError
//		if errors.As(err, &broken) {
//			continue // broken.Line says where; the next call goes on with the next game
//		}
//		if err != nil {
//			break // io.EOF at the end, anything else from the file
//		}
//		setup, err := g.Setup()
//		position, err := game.New(setup)
//		moves, err := g.Replay(position) // canonical notation, as the log holds it
//	}
//
// # PGN
//
// The format is the "Portable Game Notation Specification and Implementation Guide" of 1994; the
// numbers of sections below are its own. The reader takes import format and what real files add
// to it:
//
//	line ends     LF, CRLF and CR; a byte order mark at the start of a game is skipped
//	text          tag values and comments are kept if they are valid UTF-8; otherwise each of them
//	              is read as ISO 8859-1 (section 4.1), with the letters of Windows-1252 where
//	              ISO 8859-1 has none. Control characters are refused
//	tags          in any order; the same pair twice counts once, two values for one name are an
//	              error. A backslash escapes a quote or a backslash and otherwise stands for itself
//	games         follow each other with or without empty lines. Tags that begin anew, after moves
//	              or after an empty line with a name the game already has, begin the next game.
//	              Comments between games belong to none
//	moves         1.e4 and 1. e4, 1... and 1. ..., with or without dots; the numbers are not
//	              checked. 0-0 is O-O, "e.p." is dropped, ! and ? are annotations $1 to $6
//	variations    are skipped; their brackets and comments must close
//	comments      in braces and from a semicolon to the line's end; runs of white space count as
//	              one space. Commands such as [%clk 0:03:00] are ordinary comments
//	escape        a line that starts with % outside a comment is skipped (section 6)
//	result        the token in the movetext. Where it is missing, the game is marked Cut and takes
//	              the result of its tag
//
// Null moves (-- and Z0), the reserved < and >, and unknown characters are errors: a game is read
// as it stands or refused. An error costs one game. The reader goes on at the next line that
// starts a section of tags; a line that looks like a tag pair also ends a brace or a bracket that
// was never closed, so that one cannot swallow the games behind it.
//
// The writer prints export format (section 3.2): the seven tags of the roster first, in order and
// with "?" for what is unknown, the other tags by name, then the movetext in lines of at most 79
// characters. It writes UTF-8. What it prints reads back as the same game, and prints again as the
// same bytes.
package notation

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Tag is one pair of a PGN header.
type Tag struct {
	Name  string
	Value string
}

// A PGN is one game as its file tells it.
type PGN struct {
	Tags     []Tag     // in the order of the file
	Comments []string  // before the first move
	Moves    []PGNMove // the main line
	Result   string    // "1-0", "0-1", "1/2-1/2" or "*"; the Result tag may say something else

	// Cut tells that the movetext ended without its result token. Result is the tag's then, or
	// "*". The record may have been cut short: a caller that cares about the end must ask.
	Cut bool

	Game int // the game's number in its file, from 1; the writer ignores it
	Line int // where it starts, from 1; the writer ignores it
}

// A PGNMove is one half-move of the main line and what stands behind it.
type PGNMove struct {
	SAN      string   // as written, without annotation suffix
	NAGs     []int    // numeric annotation glyphs, 0 to MaxNAG
	Comments []string // single spaces between words, never empty
	Line     int      // where it stands, from 1; the writer ignores it
}

// Tag returns the value of the named tag, or "".
func (g *PGN) Tag(name string) string {
	for _, t := range g.Tags {
		if t.Name == name {
			return t.Value
		}
	}
	return ""
}

// A PGNError says what is wrong with one game of a file. The games after it can still be read.
type PGNError struct {
	Game   int    // the game's number in the file, from 1
	Line   int    // from 1
	Reason string // ends without a period
	Err    error  // what the engine said of a move; nil for syntax
}

func (e *PGNError) Error() string {
	return fmt.Sprintf("game %d, line %d: %s", e.Game, e.Line, e.Reason)
}

func (e *PGNError) Unwrap() error { return e.Err }

// isResult tells whether a token ends a game (section 8.2.6).
func isResult(s string) bool {
	return s == "1-0" || s == "0-1" || s == "1/2-1/2" || s == "*"
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isSpace(c byte) bool {
	return c == ' ' || c == '\n' || c == '\t' || c == '\v' || c == '\f' || c == '\r'
}

// isName tells the characters of a tag's name (section 8.1.1).
func isName(c byte) bool { return isLetter(c) || isDigit(c) || c == '_' }

// isSymbol tells the characters of a movetext token (section 7), with the slash of a draw.
func isSymbol(c byte) bool {
	return isName(c) || strings.IndexByte("+#=:-/", c) >= 0
}

// checkSAN says why a token cannot be a move. It asks only for the characters of SAN (section
// 8.2.3) and for a rank or castling among them: the engine may know words that are no moves.
func checkSAN(s string) error {
	switch {
	case s == "--" || s == "Z0" || s == "0000":
		return fmt.Errorf("%q is a null move", s)
	case len(s) > MaxSAN:
		return fmt.Errorf("move of %d bytes exceeds %d", len(s), MaxSAN)
	case s == "" || !isLetter(s[0]) || !strings.HasPrefix(s, "O-O") && !strings.ContainsAny(s, "12345678"):
		return fmt.Errorf("%q is not a move", s)
	}
	for i := range len(s) {
		if !isLetter(s[i]) && !isDigit(s[i]) && strings.IndexByte("+#=-", s[i]) < 0 {
			return fmt.Errorf("%q is not a move", s)
		}
	}
	return nil
}

// checkText refuses what must not stand in a tag value or a comment.
func checkText(s string) error {
	if !utf8.ValidString(s) {
		return fmt.Errorf("%q is not UTF-8", s)
	}
	for _, c := range s {
		if unicode.IsControl(c) {
			return fmt.Errorf("control character %U", c)
		}
	}
	return nil
}

// windows1252 is where Windows-1252 differs from ISO 8859-1: bytes 0x80 to 0x9F, which
// ISO 8859-1 leaves empty. Real files that claim the latter use the former's quotes and dashes.
// Five bytes mean nothing in either and are control characters.
var windows1252 = [32]rune{
	'€', 0x81, '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', 0x8d, 'Ž', 0x8f,
	0x90, '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', 0x9d, 'ž', 'Ÿ',
}

// decode turns the bytes of a tag value or a comment into text.
func decode(raw []byte) (string, error) {
	if utf8.Valid(raw) {
		s := string(raw)
		return s, checkText(s)
	}
	var b strings.Builder
	for _, c := range raw {
		if 0x80 <= c && c < 0xa0 {
			b.WriteRune(windows1252[c-0x80])
		} else {
			b.WriteRune(rune(c))
		}
	}
	s := b.String()
	return s, checkText(s)
}
