package chess

import "math/bits"

// A square counts from a1 = 0 along the ranks to h8 = 63. noSquare stands where there is none.
type square = uint8

const noSquare square = 64

func bit(s square) uint64        { return 1 << s }
func first(set uint64) square    { return square(bits.TrailingZeros64(set)) }
func file(s square) uint8        { return s & 7 }
func rank(s square) uint8        { return s >> 3 }
func at(file, rank uint8) square { return rank<<3 | file }

// between returns the squares of one rank from a to b, both included.
func between(a, b square) uint64 {
	if a > b {
		a, b = b, a
	}
	return 2<<b - 1<<a
}

// A line is one of the four lines through a square, without the square itself: below holds its
// squares with a lower number, above those with a higher one.
type line struct{ below, above uint64 }

// attacks returns the squares a slider sees on the line up to and including the first piece on
// either side. Subtracting the nearest piece above from the nearest below leaves exactly the bits
// between them, which the line's own mask then picks (the obstruction difference).
func (l *line) attacks(occupied uint64) uint64 {
	below, above := l.below&occupied, l.above&occupied
	nearestBelow := ^uint64(0) << (63 - bits.LeadingZeros64(below|1))
	nearestAbove := above & -above
	return (2*nearestAbove + nearestBelow) & (l.below | l.above)
}

// The four lines of a square: two that rooks go, then two that bishops go.
var lines = makeLines()

var (
	knightSteps = makeSteps(1, 2)
	kingSteps   = makeKingSteps()
	// pawnTakes[c] are the squares that a pawn of colour c attacks.
	pawnTakes = makePawnTakes()
)

func makeLines() (t [64][4]line) {
	ways := [4][2]int{{1, 0}, {0, 1}, {1, 1}, {-1, 1}} // file, rank; always towards higher numbers
	for s := range t {
		for i, w := range ways {
			for step := 1; step < 8; step++ {
				t[s][i].above |= target(s, step*w[0], step*w[1])
				t[s][i].below |= target(s, -step*w[0], -step*w[1])
			}
		}
	}
	return t
}

func makeSteps(a, b int) (t [64]uint64) {
	for s := range t {
		for _, w := range [4][2]int{{a, b}, {a, -b}, {-a, b}, {-a, -b}} {
			t[s] |= target(s, w[0], w[1]) | target(s, w[1], w[0])
		}
	}
	return t
}

func makeKingSteps() [64]uint64 {
	t, diagonal := makeSteps(0, 1), makeSteps(1, 1)
	for s := range t {
		t[s] |= diagonal[s]
	}
	return t
}

func makePawnTakes() (t [2][64]uint64) {
	for s := range t[white] {
		t[white][s] = target(s, 1, 1) | target(s, -1, 1)
		t[black][s] = target(s, 1, -1) | target(s, -1, -1)
	}
	return t
}

// target is the square so many files and ranks away, or nothing beyond the edge.
func target(s, files, ranks int) uint64 {
	f, r := s&7+files, s>>3+ranks
	if f < 0 || f > 7 || r < 0 || r > 7 {
		return 0
	}
	return 1 << (r<<3 | f)
}

func rookAttacks(s square, occupied uint64) uint64 {
	l := &lines[s&63]
	return l[0].attacks(occupied) | l[1].attacks(occupied)
}

func bishopAttacks(s square, occupied uint64) uint64 {
	l := &lines[s&63]
	return l[2].attacks(occupied) | l[3].attacks(occupied)
}
