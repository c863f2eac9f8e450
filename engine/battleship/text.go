package battleship

import (
	"strconv"

	"ludger/engine"
)

// Text draws the waters of both seats as the viewer sees them.
func (p *Position) Text(viewer engine.Seat) string {
	text := make([]byte, 0, 1024)
	for s := range p.waters {
		text = p.appendWaters(text, viewer, s)
	}
	for _, seat := range p.Turn().Seats() {
		switch {
		case p.laying():
			text = append(text, "Seat "+strconv.Itoa(int(seat))+" has to lay out its fleet: ships of 5, 4, 3, 3 and 2 squares.\n"...)
		default:
			text = append(text, "Shot "+strconv.Itoa(p.fired+1)+": seat "+strconv.Itoa(int(seat))+" fires.\n"...)
		}
	}
	if w := p.winner(); w >= 0 {
		text = append(text, "Seat "+strconv.Itoa(int(w))+" has sunk the whole fleet and wins.\n"...)
	}
	return string(text)
}

func (p *Position) appendWaters(text []byte, viewer engine.Seat, seat int) []byte {
	w := &p.waters[seat]
	text = append(text, "Waters of seat "+strconv.Itoa(seat)...)
	if viewer == engine.Seat(seat) {
		text = append(text, " (yours)"...)
	}
	if !w.laid {
		return append(text, ": no fleet yet.\n"...)
	}
	seen := p.sees(viewer, seat)
	if seen {
		text = append(text, ", a digit is the length of the ship that lies there, X a hit, o a miss:\n"...)
	} else {
		text = append(text, ", a fleet unseen, X a hit, o a miss, . not fired at:\n"...)
	}
	text = append(text, "   1 2 3 4 5 6 7 8 9 10\n"...)
	for square := range uint8(squares) {
		if square%side == 0 {
			text = append(text, 'A'+square/side, ' ')
		}
		mark := byte('.')
		switch i := w.at[square]; {
		case w.shot[square] && i != 0:
			mark = 'X'
		case w.shot[square]:
			mark = 'o'
		case seen && i != 0:
			mark = '0' + sizes[i-1]
		}
		text = append(text, ' ', mark)
		if square%side == side-1 {
			text = append(text, '\n')
		}
	}
	// Seat 0 fires the even shots, at the waters of seat 1.
	for n, s := range p.shots[:p.fired] {
		if n&1 != seat && s.answer > hit {
			text = append(text, "Sunk: "+shipName(s.answer)+" ("+number(s.answer)+"), by the shot at "+squareName(s.square)+".\n"...)
		}
	}
	last := p.fired - 1
	if last&1 == seat {
		last--
	}
	if last < 0 {
		return text
	}
	shot := p.shots[last]
	text = append(text, "Last shot here: "+squareName(shot.square)+", "...)
	switch shot.answer {
	case miss:
		return append(text, "miss.\n"...)
	case hit:
		return append(text, "hit.\n"...)
	}
	return append(text, "hit, and sunk.\n"...)
}
