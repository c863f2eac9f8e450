package notation

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"ludger/engine"
)

// matWidth is the width of a row's left entry.
const matWidth = 28

// WriteMat prints a match. It refuses what would not read back as the same, such as a name with a line
// end in it or two turns of one seat in a row.
func WriteMat(w io.Writer, m *Mat) error {
	var b strings.Builder
	if len(m.Comments) > MaxMatComments || len(m.Games) > MaxMatGames || m.Length < 0 || m.Length > maxMatCount {
		return m.errorf(nil, m.Line, nil, "%d comments, %d games and %d points, want at most %d, %d and %d",
			len(m.Comments), len(m.Games), m.Length, MaxMatComments, MaxMatGames, maxMatCount)
	}
	for _, c := range m.Comments {
		if strings.TrimSpace(c) != c || checkText(c) != nil || len(c) > MaxMatComment {
			return m.errorf(nil, m.Line, nil, "comment %q is no line of text", c)
		}
		b.WriteString(strings.TrimRight("; "+c, " ") + "\n")
	}
	if len(m.Comments) > 0 {
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, " %d point match\n\n", m.Length)
	turns := 0
	for i := range m.Games {
		g := &m.Games[i]
		if g.Number != i+1 {
			return m.errorf(g, g.Line, nil, "game %d in the place of game %d", g.Number, i+1)
		}
		if turns += len(g.Turns); turns > MaxMoves {
			return m.errorf(g, g.Line, nil, "more than %d turns", MaxMoves)
		}
		if missing := g.Winner != 0 && g.Winner != 1; missing != (m.Cut && i == len(m.Games)-1) {
			return m.errorf(g, g.Line, nil, "result missing: %v, in game %d of %d, cut: %v", missing, i+1, len(m.Games), m.Cut)
		}
		if err := m.writeGame(&b, g); err != nil {
			return err
		}
	}
	if len(m.Games) == 0 {
		return m.errorf(nil, m.Line, nil, "a match without games")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (m *Mat) writeGame(b *strings.Builder, g *MatGame) error {
	left := fmt.Sprintf("%s : %d", g.Players[0], g.Score[0])
	names := fmt.Sprintf(" %s  %s : %d", pad(left, 29), g.Players[1], g.Score[1])
	again, score, ok := matNames(names)
	_, comment := matComment(names)
	if comment || max(len(g.Players[0]), len(g.Players[1])) > MaxMatName || !ok || again != g.Players || score != g.Score || checkText(names) != nil || g.Players != m.Games[0].Players {
		return m.errorf(g, g.Line, nil, "players %q with scores %d cannot be written", g.Players, g.Score)
	}
	fmt.Fprintf(b, " Game %d\n%s\n", g.Number, names)
	row, open := 0, "" // open is a row whose right entry is to come
	for i := range g.Turns {
		t := &g.Turns[i]
		if t.Seat != 0 && t.Seat != 1 || i > 0 && t.Seat == g.Turns[i-1].Seat {
			return m.errorf(g, t.Line, nil, "turn %d of %v, want the seats by turns", i+1, t.Seat)
		}
		text, err := m.turn(g, t)
		if err != nil {
			return err
		}
		if t.Seat == 0 || i == 0 {
			row++
			open = fmt.Sprintf("%3d) ", row)
		}
		if t.Seat == 0 {
			open += pad(text, matWidth)
			continue
		}
		if i == 0 {
			open += pad("", matWidth)
		}
		b.WriteString(strings.TrimRight(open+text, " ") + "\n")
		open = ""
	}
	result := ""
	if g.Winner == 0 || g.Winner == 1 {
		if g.Points < 1 || g.Points > maxMatCount {
			return m.errorf(g, g.Line, nil, "%d points", g.Points)
		}
		result = fmt.Sprintf(" Wins %d point", g.Points)
		if g.Points > 1 {
			result += "s"
		}
		if g.Match {
			result += " and the match"
		}
	}
	if g.Winner == 0 && open != "" {
		b.WriteString(strings.TrimRight(open, " ") + "\n")
		open = ""
	}
	switch {
	case open != "":
		b.WriteString(strings.TrimRight(open+result, " ") + "\n")
	case g.Winner == 1:
		b.WriteString(pad("", 5+matWidth) + result + "\n")
	case g.Winner == 0:
		b.WriteString(pad("", 5) + result + "\n")
	}
	b.WriteString("\n")
	return nil
}

// turn prints one entry.
func (m *Mat) turn(g *MatGame, t *MatTurn) (string, error) {
	switch t.Action {
	case MatDouble:
		if t.Cube < 0 || t.Cube > maxMatCount {
			return "", m.errorf(g, t.Line, nil, "cube %d", t.Cube)
		}
		return fmt.Sprintf(" Doubles => %d", t.Cube), nil
	case MatTake:
		return " Takes", nil
	case MatDrop:
		return " Drops", nil
	}
	text := t.Dice + ":"
	if t.Play != "" {
		text += " " + t.Play
	}
	r := MatReader{}
	var again MatGame
	s := matScanner{text: text}
	_, word := s.next()
	_, err := r.entry(&again, &s, word, t.Seat)
	if err != nil || t.Action != MatRoll || s.at != len(text) || len(again.Turns) != 1 ||
		again.Turns[0].Dice != t.Dice || again.Turns[0].Play != t.Play || checkText(text) != nil {
		return "", m.errorf(g, t.Line, nil, "turn %q of %v cannot be written", text, engine.Seat(t.Seat))
	}
	return text, nil
}

// pad adds spaces up to a width in characters, at least one behind a text.
func pad(s string, width int) string {
	n := width - utf8.RuneCountInString(s)
	if s != "" {
		n = max(n, 1)
	}
	return s + strings.Repeat(" ", max(n, 0))
}
