package backgammon

import (
	"strconv"
	"strings"

	"ludger/engine"
)

// Text draws the position as seat 1 sees it for seat 1, and for everyone else as seat 0 does: own
// points 1 to 12 below, home to the right.
func (p *Position) Text(viewer engine.Seat) string {
	me := 0
	if viewer == 1 {
		me = 1
	}
	var s strings.Builder
	p.draw(&s, me)
	for seat := range p.board {
		own := &p.board[seat]
		s.WriteString("Seat " + strconv.Itoa(seat) + " is " + letter(seat) + ", by its own points:")
		for at := bar; at > off; at-- {
			if own[at] > 0 {
				s.WriteString(" " + pointName(at) + ":" + strconv.Itoa(int(own[at])))
			}
		}
		s.WriteString(", " + strconv.Itoa(int(own[off])) + " off, pip count " + strconv.Itoa(own.pips()) + "\n")
	}
	if p.length > 0 {
		s.WriteString("Match to " + points(p.length) + ", score " + strconv.Itoa(p.score[0]) + ":" + strconv.Itoa(p.score[1]))
		if p.crawford {
			s.WriteString(", Crawford game: no doubling")
		}
		s.WriteString("\n")
	}
	if p.cube > 0 {
		s.WriteString("Cube at " + strconv.Itoa(p.cube))
		if p.owner == middle {
			s.WriteString(" in the middle\n")
		} else {
			s.WriteString(", owned by seat " + strconv.Itoa(p.owner) + "\n")
		}
	}
	if p.last != "" {
		s.WriteString("Last: " + p.last + " of " + p.mover.String() + "\n")
	}
	switch p.phase {
	case opening:
		s.WriteString("The opening roll is to be thrown.\n")
	case rolling:
		s.WriteString("Dice are to be thrown for seat " + strconv.Itoa(p.turn) + ".\n")
	case ended:
		if p.winner == nobody {
			s.WriteString("Draw: " + p.reason + ".\n")
		} else {
			s.WriteString("Seat " + strconv.Itoa(p.winner) + " wins " + points(p.points) + ": " + p.reason + ".\n")
		}
	default:
		s.WriteString("Seat " + strconv.Itoa(p.turn) + " (" + letter(p.turn) + ") is to " + p.task() + ".\n")
	}
	return s.String()
}

func letter(seat int) string { return "XO"[seat : seat+1] }

// draw draws the board with the seat's home at the lower right.
func (p *Position) draw(s *strings.Builder, me int) {
	const rows = 5
	line := func(from, by int) {
		s.WriteString("+")
		for i := range 12 {
			if i == 6 {
				s.WriteString("---+")
			}
			n := strconv.Itoa(from + i*by)
			s.WriteString(strings.Repeat("-", 3-len(n)) + n)
		}
		s.WriteString("-+\n")
	}
	// cell writes one place of a row: a checker, or in the row by the middle how many there are more.
	cell := func(row, mine, theirs int) {
		count, who := mine, me
		if theirs > 0 {
			count, who = theirs, me^1
		}
		switch {
		case row == rows && count > rows:
			n := strconv.Itoa(count)
			s.WriteString(strings.Repeat(" ", 3-len(n)) + n)
		case row < rows && row < count:
			s.WriteString("  " + letter(who))
		case row < rows:
			s.WriteString("  .")
		default:
			s.WriteString("   ")
		}
	}
	own, other := &p.board[me], &p.board[me^1]
	half := func(from, by, row, whose int) {
		s.WriteString("|")
		for i := range 12 {
			if i == 6 {
				mark := "   "
				if waiting := int(p.board[whose][bar]); row == 0 && waiting > 0 {
					mark = letter(whose) + strconv.Itoa(waiting)
					mark = strings.Repeat(" ", 3-len(mark)) + mark
				}
				s.WriteString(mark + "|")
			}
			at := from + i*by
			cell(row, int(own[at]), int(other[25-at]))
		}
		s.WriteString(" |\n")
	}
	line(13, 1)
	for row := range rows + 1 {
		half(13, 1, row, me)
	}
	s.WriteString("|" + strings.Repeat(" ", 18) + "bar|" + strings.Repeat(" ", 19) + "|\n")
	for row := rows; row >= 0; row-- {
		half(12, -1, row, me^1)
	}
	line(12, -1)
}
