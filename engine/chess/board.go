package chess

// A colour numbers the sides like the seats.
type colour = uint8

const (
	white colour = 0
	black colour = 1
)

// A kind of piece; 0 is an empty square.
type kind = uint8

const (
	pawn   kind = 1
	knight kind = 2
	bishop kind = 3
	rook   kind = 4
	queen  kind = 5
	king   kind = 6
)

var (
	colourNames = [2]string{"White", "Black"}
	kindNames   = [7]string{"", "pawn", "knight", "bishop", "rook", "queen", "king"}
)

// letters holds the FEN letter of every piece code (colour<<3 | kind).
const letters = " PNBRQK  pnbrqk"

// The two wings a king castles to. In Chess960 they are named by where the king arrives.
const (
	aWing = 0 // to the c-file, O-O-O
	hWing = 1 // to the g-file, O-O
)

// A board is what the rules know of a position except what happened before it.
type board struct {
	by       [7]uint64    // squares by kind; by[0] is unused
	of       [2]uint64    // squares by colour
	pieces   [64]uint8    // colour<<3 | kind, 0 where empty
	castling [2][2]square // the rook that may still castle, by colour and wing; or noSquare
	passing  square       // where a legal en passant capture would land, or noSquare
	turn     colour
	clock    uint16 // plies since a capture or a pawn's move
	number   uint16 // of the move, counted up after Black's
}

// A move goes from one square to another. Castling goes from the king's square to the rook's.
type move struct {
	from, to square
	promote  kind // 0 unless a pawn reaches the last rank
}

func (b *board) occupied() uint64 { return b.of[white] | b.of[black] }

func (b *board) put(s square, c colour, k kind) {
	b.by[k] |= bit(s)
	b.of[c] |= bit(s)
	b.pieces[s] = c<<3 | k
}

func (b *board) lift(s square) {
	b.by[b.pieces[s]&7] &^= bit(s)
	b.of[b.pieces[s]>>3] &^= bit(s)
	b.pieces[s] = 0
}

func (b *board) king(c colour) square { return first(b.by[king] & b.of[c]) }

// attackers returns the pieces of a colour that attack the square if the board were occupied so.
// Pieces on squares that are not occupied do not attack.
func (b *board) attackers(s square, occupied uint64, c colour) uint64 {
	diagonal, straight := b.by[bishop]|b.by[queen], b.by[rook]|b.by[queen]
	set := pawnTakes[c^1][s&63]&b.by[pawn] | knightSteps[s&63]&b.by[knight] | kingSteps[s&63]&b.by[king]
	set |= bishopAttacks(s, occupied) & diagonal
	set |= rookAttacks(s, occupied) & straight
	return set & b.of[c] & occupied
}

// homes returns where king and rook of a colour arrive by castling to a wing.
func homes(c colour, wing int) (kingTo, rookTo square) {
	if wing == aWing {
		return at(2, 7*c), at(3, 7*c)
	}
	return at(6, 7*c), at(5, 7*c)
}

// castles tells whether the move, from the king to a piece of its own, is castling, and where to.
func (b *board) castles(m move) (wing int, yes bool) {
	wing = aWing
	if m.to > m.from {
		wing = hWing
	}
	own := b.turn<<3 | rook
	return wing, b.pieces[m.from] == b.turn<<3|king && b.pieces[m.to] == own
}

// captures tells whether the move takes something, en passant included.
func (b *board) captures(m move) bool {
	p := b.pieces[m.to]
	return p != 0 && p>>3 != b.turn || b.enPassant(m)
}

func (b *board) enPassant(m move) bool {
	return m.to == b.passing && b.pieces[m.from]&7 == pawn
}

// make makes a legal move. It tells whether it was one that cannot be taken back, a capture or a
// pawn's move: no earlier position can recur after it.
func (b *board) make(m move) (final bool) {
	us := b.turn
	k := b.pieces[m.from] & 7
	passing := b.passing
	b.passing = noSquare
	b.clock++
	if wing, yes := b.castles(m); yes {
		kingTo, rookTo := homes(us, wing)
		b.lift(m.from)
		b.lift(m.to)
		b.put(kingTo, us, king)
		b.put(rookTo, us, rook)
	} else {
		final = k == pawn
		if b.pieces[m.to] != 0 {
			b.lift(m.to)
			final = true
		} else if k == pawn && m.to == passing {
			b.lift(m.to ^ 8)
		}
		b.lift(m.from)
		if m.promote != 0 {
			k = m.promote
		}
		b.put(m.to, us, k)
	}
	if k == king {
		b.castling[us] = [2]square{noSquare, noSquare}
	}
	for c := range b.castling {
		for wing, r := range b.castling[c] {
			if r == m.from || r == m.to {
				b.castling[c][wing] = noSquare
			}
		}
	}
	if final {
		b.clock = 0
	}
	b.turn ^= 1
	if us == black {
		b.number++
	}
	if k == pawn && m.from^m.to == 16 {
		b.offerPassing((m.from + m.to) / 2)
	}
	return final
}

// offerPassing sets the en passant square if a capture there is legal, since only then it is part
// of the position (FIDE 9.2.3.1).
func (b *board) offerPassing(s square) {
	for set := pawnTakes[b.turn^1][s&63] & b.by[pawn] & b.of[b.turn]; set != 0; set &= set - 1 {
		if b.passingSafe(first(set), s) {
			b.passing = s
			return
		}
	}
}

// passingSafe tells whether the king stays out of check when the pawn captures en passant. Two
// pawns leave the rank at once, so pins do not tell.
func (b *board) passingSafe(from, to square) bool {
	after := b.occupied()&^bit(from)&^bit(to^8) | bit(to)
	return b.attackers(b.king(b.turn), after, b.turn^1) == 0
}

// A record is a position as repetition compares it (FIDE 9.2.2, 9.2.3): the same player to move, the same
// pieces on the same squares, the same rights to castle and to capture en passant. It is the exact
// position, not a hash, so no collision can decide a game.
type record struct {
	planes [4]uint64 // White's pieces, then the three bits of the kind
	rest   uint64    // turn, en passant, the four rooks
}

func (b *board) record() record {
	odd := b.by[pawn] | b.by[bishop] | b.by[queen]
	second := b.by[knight] | b.by[bishop] | b.by[king]
	third := b.by[rook] | b.by[queen] | b.by[king]
	rest := uint64(b.turn)<<8 | uint64(b.passing)
	for _, rooks := range b.castling {
		rest = rest<<16 | uint64(rooks[aWing])<<8 | uint64(rooks[hWing])
	}
	return record{[4]uint64{b.of[white], odd, second, third}, rest}
}
