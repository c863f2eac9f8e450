package backgammon

const (
	off      = 0  // where checkers go that are borne off
	bar      = 25 // where hit checkers wait
	home     = 6  // the highest point of the home board
	checkers = 15
)

// A side holds where one seat's checkers stand, by that seat's own numbers: its points 1 to 24, off
// and bar.
type side [26]uint8

// A board holds both sides. Point n of one seat is point 25-n of the other.
type board [2]side

func startBoard() board {
	s := side{24: 2, 13: 5, 8: 3, 6: 5}
	return board{s, s}
}

// highest returns where the side's hindmost checker stands, off if it has none left.
func (s *side) highest() int {
	p := bar
	for p > off && s[p] == 0 {
		p--
	}
	return p
}

func (s *side) pips() (n int) {
	for p, count := range s {
		n += p * int(count)
	}
	return n
}

// blot tells whether the seat hits by landing on its point.
func (b *board) blot(seat, point int) bool { return point != off && b[seat^1][25-point] == 1 }

// blocked tells whether the opponent holds the seat's point.
func (b *board) blocked(seat, point int) bool { return point != off && b[seat^1][25-point] > 1 }

// shut tells whether the seat has a checker on the bar and no point to enter at.
func (b *board) shut(seat int) bool {
	for die := 1; die <= 6; die++ {
		if !b.blocked(seat, bar-die) {
			return false
		}
	}
	return b[seat][bar] > 0
}

// step returns where a checker of the seat goes with one die, and whether it may.
func (b *board) step(seat, from, die int) (to int, ok bool) {
	own := &b[seat]
	if own[from] == 0 || from != bar && own[bar] > 0 {
		return 0, false
	}
	if to = from - die; to > off {
		return to, !b.blocked(seat, to)
	}
	high := own.highest()
	return off, high <= home && (to == off || high == from)
}

// make moves a checker and hits what stands alone where it lands.
func (b *board) make(seat, from, to int) {
	if b.blot(seat, to) {
		b[seat^1][25-to] = 0
		b[seat^1][bar]++
	}
	b[seat][from]--
	b[seat][to]++
}

// canMove tells whether the seat can play the die at all.
func (b *board) canMove(seat, die int) bool {
	if b[seat][bar] > 0 {
		return !b.blocked(seat, bar-die)
	}
	for from := bar - 1; from > off; from-- {
		if _, ok := b.step(seat, from, die); ok {
			return true
		}
	}
	return false
}

// canBoth tells whether the seat can play two different dice, in either order.
func (b *board) canBoth(seat int, dice [2]int) bool {
	for range 2 {
		for from := bar; from > off; from-- {
			if to, ok := b.step(seat, from, dice[0]); ok {
				after := *b
				after.make(seat, from, to)
				if after.canMove(seat, dice[1]) {
					return true
				}
			}
		}
		dice[0], dice[1] = dice[1], dice[0]
	}
	return false
}

// most returns how many times the seat can play one die, at most limit, with no checker from above
// top. Steps of one die that can be made in some order can be made from the highest origin down: a
// step only opens the way to lower ones. So no other order is tried.
func (b board) most(seat, die, top, limit int) (n int) {
	for from := top; from > off && n < limit; from-- {
		if to, ok := b.step(seat, from, die); ok {
			after := b
			after.make(seat, from, to)
			n = max(n, 1+after.most(seat, die, from, limit-1))
		}
	}
	return n
}

// stuck tells whether the seat can play neither die.
func (b *board) stuck(seat int, dice [2]int) bool {
	return !b.canMove(seat, dice[0]) && !b.canMove(seat, dice[1])
}

// contact tells whether a checker of either seat may still hit one of the other.
func (b *board) contact() bool { return b[0].highest()+b[1].highest() > 25 }

// multiple returns what a game costs that the seat loses now: 1, 2 for a gammon, 3 for a backgammon.
func (b *board) multiple(loser int) int {
	switch own := &b[loser]; {
	case own[off] > 0:
		return 1
	case own.highest() > 18: // on the bar or in the winner's home board
		return 3
	}
	return 2
}

// worst returns what the seat can still lose at most.
func (b *board) worst(loser int) int {
	if b[loser][off] == 0 && b.contact() {
		return 3
	}
	return b.multiple(loser)
}
