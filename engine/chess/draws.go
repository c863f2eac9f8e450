package chess

import "math/bits"

// drawable returns the reason for which a position that has occurred so often, with this clock, may
// be claimed a draw, or "".
func drawable(count int, clock uint16) string {
	switch {
	case count >= 3:
		return Threefold
	case clock >= 100:
		return FiftyMove
	}
	return ""
}

// dark squares; a1 is one.
const dark = 0xaa55aa55aa55aa55

// dead tells whether the position is one of the recognised dead ones: no series of legal moves
// leads to checkmate (FIDE 5.2.2). What is recognised is listed in the package comment.
func (b *board) dead() bool {
	if b.by[rook]|b.by[queen] != 0 {
		return false
	}
	minor := b.by[knight] | b.by[bishop]
	if b.by[pawn] == 0 {
		return bits.OnesCount64(minor) <= 1 ||
			b.by[knight] == 0 && (minor&dark == 0 || minor&^dark == 0)
	}
	return minor == 0 && b.passing == noSquare && b.walled()
}

// walled tells, in a position of kings and pawns, whether no pawn can ever move or be taken. Every
// pawn stands before another pawn and attacks none, and neither king can walk to a pawn that no
// pawn guards. Then no check can ever be given again, since a king cannot and a pawn does so only
// by moving.
func (b *board) walled() bool {
	pawns := b.by[pawn]
	w, bl := pawns&b.of[white], pawns&b.of[black]
	if w<<8&^pawns != 0 || bl>>8&^pawns != 0 {
		return false
	}
	guarded := [2]uint64{pawnSpan(w, white), pawnSpan(bl, black)}
	if guarded[white]&bl != 0 || guarded[black]&w != 0 {
		return false
	}
	for c := range guarded {
		open := ^(pawns & b.of[c]) &^ guarded[c^1]
		reach := b.by[king] & b.of[c]
		for grown := uint64(0); grown != reach; {
			grown = reach
			for set := grown; set != 0; set &= set - 1 {
				reach |= kingSteps[first(set)&63] & open
			}
		}
		if reach&pawns != 0 {
			return false
		}
	}
	return true
}

// pawnSpan returns the squares that pawns of a colour attack.
func pawnSpan(pawns uint64, c colour) (set uint64) {
	for ; pawns != 0; pawns &= pawns - 1 {
		set |= pawnTakes[c][first(pawns)&63]
	}
	return set
}

// canMate tells whether the colour's material can give checkmate by some series of legal moves, the
// opponent's help included. It says no only of a king alone; of a king and one knight against
// nothing but queens; and of a king and bishops on squares of one colour, where all bishops on the
// board stand on that colour and there is no knight and no pawn.
func (b *board) canMate(c colour) bool {
	own, their := b.of[c], b.of[c^1]
	if own&(b.by[pawn]|b.by[rook]|b.by[queen]) != 0 {
		return true
	}
	bishops := b.by[bishop]
	switch knights := own & b.by[knight]; {
	case knights != 0 && own&bishops == 0:
		return bits.OnesCount64(knights) > 1 || their&^(b.by[king]|b.by[queen]) != 0
	case knights == 0 && own&bishops != 0:
		return bishops&dark != 0 && bishops&^dark != 0 || b.by[knight]|b.by[pawn] != 0
	default:
		return knights != 0
	}
}
