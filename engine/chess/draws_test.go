package chess

import (
	"math/bits"
	"os"
	"testing"

	"ludger/engine/enginetest"
)

// placed returns a position of such pieces on random squares, with the king to move in a corner or
// on an edge more often than elsewhere, or nil if the squares make no position.
func placed(random *enginetest.Random, pieces string) *board {
	b := &board{passing: noSquare, number: 1, turn: colour(random.Intn(2))}
	for c := range b.castling {
		b.castling[c] = [2]square{noSquare, noSquare}
	}
	for i := range len(pieces) {
		s := square(random.Intn(64))
		if random.Intn(2) == 0 {
			s = at(uint8(random.Intn(2)*7), uint8(random.Intn(8)))
		}
		for code := range letters {
			if letters[code] == pieces[i] && b.pieces[s] == 0 {
				b.put(s, uint8(code)>>3, uint8(code)&7)
			}
		}
	}
	if bits.OnesCount64(b.occupied()) != len(pieces) || b.by[pawn]&0xff000000000000ff != 0 ||
		b.attackers(b.king(b.turn^1), b.occupied(), b.turn) != 0 {
		return nil
	}
	return b
}

// What is called dead, or unable to mate, never is a mate on any of many random boards.
func TestNeverMate(t *testing.T) {
	tries := 60_000
	if os.Getenv("LUDGER_LONG") != "" {
		tries = 10_000_000
	}
	random := enginetest.Random(3)
	for _, row := range []struct {
		pieces string
		never  colour // that cannot mate, or both
	}{
		{"KkB", 2}, {"Kkn", 2}, {"KkBB", 2}, {"KkBb", 2}, {"KkBBbb", 2},
		{"KkNq", white}, {"KkNqq", white}, {"KkNqqq", white}, {"KkBr", white}, {"KkBrq", white}, {"KkBBrr", white},
		{"Kkqrbnp", white}, {"KQRBNk", black},
	} {
		tested := 0
		for range tries {
			b := placed(&random, row.pieces)
			if b == nil || row.never == 2 && !b.dead() || row.never != 2 && b.canMate(row.never) {
				continue
			}
			tested++
			// Two bishops of one colour never give check at once: a bishop that leaves one of the
			// king's two diagonals does not arrive on the other.
			c := b.checks()
			if bits.OnesCount64(c.givers) == 1 && b.stuck(&c) && (row.never == 2 || b.turn != row.never) {
				t.Fatalf("mate: %s", b.appendFEN(nil, false))
			}
		}
		if tested < tries/50 {
			t.Errorf("%s: only %d positions", row.pieces, tested)
		}
	}
}

// A blocked position stays what it is: over all positions that can follow, the pawns stand and
// nobody is mated. Random boards of kings and pawns give both answers.
func TestWalled(t *testing.T) {
	random := enginetest.Random(4)
	walls := 0
	try := func(b *board) {
		if !b.dead() {
			return
		}
		walls++
		type kings struct {
			white, black square
			turn         colour
		}
		seen := make(map[kings]bool)
		var walk func(b *board)
		walk = func(b *board) {
			at := kings{b.king(white), b.king(black), b.turn}
			if seen[at] {
				return
			}
			seen[at] = true
			c := b.checks()
			moves := b.moves(nil, &c)
			if len(moves) == 0 && c.givers != 0 {
				t.Fatalf("mate in a dead position: %s", b.appendFEN(nil, false))
			}
			for _, m := range moves {
				next := *b
				if next.make(m) {
					t.Fatalf("%s%s in a dead position: %s", name(m.from), name(m.to), b.appendFEN(nil, false))
				}
				walk(&next)
			}
		}
		walk(b)
	}
	for range 60_000 {
		b := placed(&random, "Kk")
		if b == nil {
			continue
		}
		for range 4 + random.Intn(6) {
			// A pair of pawns face to face, with a third behind it now and then.
			low := at(uint8(random.Intn(8)), uint8(1+random.Intn(5)))
			if b.occupied()&(bit(low)|bit(low+8)) == 0 {
				b.put(low, white, pawn)
				b.put(low+8, black, pawn)
				if low+16 < 56 && random.Intn(8) == 0 && b.pieces[low+16] == 0 {
					b.put(low+16, black, pawn)
				}
			}
		}
		if b.attackers(b.king(b.turn^1), b.occupied(), b.turn) == 0 {
			try(b)
		}
	}
	t.Logf("%d dead walls", walls)
	if walls < 20 {
		t.Errorf("only %d dead walls", walls)
	}
}
