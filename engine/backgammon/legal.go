package backgammon

import (
	"strconv"
	"strings"

	"ludger/engine"
)

// Legal lists the moves of the seat in the order of the package comment.
func (p *Position) Legal(seat engine.Seat) []engine.Move {
	if !p.Turn().Has(seat) {
		return nil
	}
	switch p.phase {
	case opening, rolling:
		return p.throws()
	case acting:
		list := []engine.Move{{Move: roll, Notation: roll, Summary: "Throws the dice."}}
		if p.mayDouble(p.turn) {
			list = append(list, engine.Move{Move: double, Notation: double,
				Summary: "Offers to double the stake from " + strconv.Itoa(p.cube) + " to " + strconv.Itoa(2*p.cube) + "."})
		}
		most := p.board.worst(p.turn)
		for n := 1; n <= most; n++ {
			text := resign + strconv.Itoa(n)
			summary := "Offers to give this game up for " + points(n*p.cube) + "."
			if n == most {
				summary = "Gives this game up for " + points(n*p.cube) + "."
			}
			list = append(list, engine.Move{Move: text, Notation: text, Summary: summary})
		}
		return list
	case answer:
		return []engine.Move{
			{Move: take, Notation: take, Summary: "Plays on for " + strconv.Itoa(2*p.cube) + " and owns the cube."},
			{Move: drop, Notation: drop, Summary: "Gives the game up for " + points(p.cube) + "."},
		}
	case offered:
		return []engine.Move{
			{Move: accept, Notation: accept, Summary: "Ends this game with " + points(p.offer*p.cube) + "."},
			{Move: decline, Notation: decline, Summary: "Plays on: the other seat throws."},
		}
	}
	choices := p.board.choices(p.turn, p.dice)
	list := make([]engine.Move, len(choices))
	for i := range choices {
		c := &choices[i]
		list[i] = engine.Move{Move: c.text, Notation: c.text, Summary: p.summary(&c.play)}
	}
	return list
}

// throws lists the outcomes of the dice.
func (p *Position) throws() []engine.Move {
	var list []engine.Move
	for first := 1; first <= 6; first++ {
		for second := 1; second <= 6; second++ {
			text := diceText([2]int{first, second})
			switch {
			case p.phase == rolling && first >= second:
				list = append(list, engine.Move{Move: text, Notation: text,
					Summary: "Seat " + strconv.Itoa(p.turn) + " throws " + strconv.Itoa(first) + " and " + strconv.Itoa(second) + "."})
			case p.phase == opening && first != second:
				begins := "0"
				if second > first {
					begins = "1"
				}
				list = append(list, engine.Move{Move: text, Notation: text,
					Summary: "Seat 0 throws " + strconv.Itoa(first) + ", seat 1 throws " + strconv.Itoa(second) + "; seat " + begins + " begins."})
			}
		}
	}
	return list
}

func points(n int) string {
	if n == 1 {
		return "1 point"
	}
	return strconv.Itoa(n) + " points"
}

// summary says in a sentence what a legal play does.
func (p *Position) summary(m *play) string {
	var s strings.Builder
	parts, n := m.parts(&p.board, p.turn)
	var hits []string
	borne := 0
	for i := range parts[:n] {
		t := &parts[i]
		if i == 0 {
			s.WriteString("Moves ")
		} else if i == n-1 {
			s.WriteString(" and ")
		} else {
			s.WriteString(", ")
		}
		s.WriteString(pointName(t.from()) + " to " + pointName(t.to()))
		for j := 1; j < t.n; j++ {
			if t.stars&(1<<j) != 0 {
				hits = append(hits, pointName(int(t.points[j])))
			}
		}
		if t.to() == off {
			borne++
		}
	}
	if len(hits) > 0 {
		s.WriteString(", hitting on " + strings.Join(hits, " and "))
	}
	if int(p.board[p.turn][off])+borne == checkers {
		s.WriteString(", which bears off the last checker")
	}
	s.WriteString(".")
	return s.String()
}
