package chess

import "math/bits"

// checks is what the side to move must answer: computed once per position, it turns the test of
// any single move into a few set operations.
type checks struct {
	king   square
	givers uint64 // enemy pieces that give check
	answer uint64 // squares where another piece than the king must go: all, without check
	pinned uint64 // own pieces that shield the king
}

func (b *board) checks() checks {
	us, them := b.turn, b.turn^1
	k := b.king(us)
	occupied := b.occupied()
	c := checks{king: k, givers: b.attackers(k, occupied, them), answer: ^uint64(0)}
	for i := range lines[k&63] {
		l := &lines[k&63][i]
		sliders := b.of[them] & (b.by[queen] | b.by[rook])
		if i >= 2 {
			sliders = b.of[them] & (b.by[queen] | b.by[bishop])
		}
		if sliders &= l.below | l.above; sliders == 0 {
			continue
		}
		// Own pieces the king sees, and the sliders seen once they are taken away.
		shields := l.attacks(occupied) & b.of[us]
		if shields == 0 {
			continue
		}
		for set := l.attacks(occupied&^shields) & sliders; set != 0; set &= set - 1 {
			half := l.below
			if bit(first(set))&l.above != 0 {
				half = l.above
			}
			c.pinned |= shields & half
		}
	}
	switch bits.OnesCount64(c.givers) {
	case 0:
	case 1:
		c.answer = c.givers
		if g := first(c.givers); b.pieces[g]&7 >= bishop && b.pieces[g]&7 <= queen {
			for i := range lines[k&63] {
				if l := &lines[k&63][i]; (l.below|l.above)&c.givers != 0 {
					c.answer |= l.attacks(c.givers) & lines[g&63][i].attacks(bit(k))
				}
			}
		}
	default:
		c.answer = 0
	}
	return c
}

// targets returns every square that the piece on s, one of the side to move, may legally go to.
// It is the one place that knows what is legal.
func (b *board) targets(s square, c *checks) uint64 {
	us := b.turn
	own, enemy := b.of[us], b.of[us^1]
	occupied := own | enemy
	var set uint64
	switch b.pieces[s] & 7 {
	case king:
		return b.kingTargets(s, c)
	case pawn:
		set = b.pawnPushes(s, occupied) | pawnTakes[us][s&63]&enemy
	case knight:
		set = knightSteps[s&63]
	case bishop:
		set = bishopAttacks(s, occupied)
	case rook:
		set = rookAttacks(s, occupied)
	case queen:
		set = bishopAttacks(s, occupied) | rookAttacks(s, occupied)
	}
	set &= c.answer &^ own
	if c.pinned&bit(s) != 0 {
		for i := range lines[s&63] {
			if l := &lines[s&63][i]; (l.below|l.above)&bit(c.king) != 0 {
				set &= l.below | l.above
			}
		}
	}
	if b.pieces[s]&7 == pawn && b.passing != noSquare &&
		pawnTakes[us][s&63]&bit(b.passing) != 0 && b.passingSafe(s, b.passing) {
		set |= bit(b.passing)
	}
	return set
}

func (b *board) pawnPushes(s square, occupied uint64) uint64 {
	if b.turn == white {
		one := bit(s) << 8 &^ occupied
		return one | one&(0xff<<16)<<8&^occupied
	}
	one := bit(s) >> 8 &^ occupied
	return one | one&(0xff<<40)>>8&^occupied
}

func (b *board) kingTargets(s square, c *checks) uint64 {
	us, them := b.turn, b.turn^1
	without := b.occupied() &^ bit(s)
	var safe uint64
	for set := kingSteps[s&63] &^ b.of[us]; set != 0; set &= set - 1 {
		if b.attackers(first(set), without, them) == 0 {
			safe |= set & -set
		}
	}
	for wing, r := range b.castling[us] {
		if r != noSquare && c.givers == 0 && b.castleObstacle(s, r, wing) == 0 && b.castleAttacked(s, r, wing) == noSquare {
			safe |= bit(r)
		}
	}
	return safe
}

// castleObstacle returns the pieces that stand in the way of castling (FIDE 3.8.2.2.2, and
// Guidelines II.3 for Chess960).
func (b *board) castleObstacle(k, r square, wing int) uint64 {
	kingTo, rookTo := homes(b.turn, wing)
	return (between(k, kingTo) | between(r, rookTo)) &^ bit(k) &^ bit(r) & b.occupied()
}

// castleAttacked returns the first square of the king's way that is attacked (FIDE 3.8.2.2.1), or
// noSquare. The square of arrival is looked at once more after the rook has left its own, which
// in Chess960 may have shielded the king.
func (b *board) castleAttacked(k, r square, wing int) square {
	kingTo, rookTo := homes(b.turn, wing)
	without := b.occupied() &^ bit(k)
	for set := between(k, kingTo) &^ bit(k); set != 0; set &= set - 1 {
		if b.attackers(first(set), without, b.turn^1) != 0 {
			return first(set)
		}
	}
	after := without&^bit(r) | bit(kingTo) | bit(rookTo)
	if b.attackers(kingTo, after, b.turn^1) != 0 {
		return kingTo
	}
	return noSquare
}

// legal tells whether a move is legal, promotion included.
func (b *board) legal(m move, c *checks) bool {
	p := b.pieces[m.from]
	if p == 0 || p>>3 != b.turn || b.mustPromote(m) != (m.promote != 0) {
		return false
	}
	return b.targets(m.from, c)&bit(m.to) != 0
}

func (b *board) mustPromote(m move) bool {
	return b.pieces[m.from]&7 == pawn && (rank(m.to) == 0 || rank(m.to) == 7)
}

// stuck tells whether the side to move has no legal move. It stops at the first one it finds.
func (b *board) stuck(c *checks) bool {
	for set := b.of[b.turn]; set != 0; set &= set - 1 {
		if b.targets(first(set), c) != 0 {
			return false
		}
	}
	return true
}

// promotions in the order they are listed.
var promotions = [4]kind{queen, rook, bishop, knight}

// moves appends all legal moves by origin, then target, then promotion.
func (b *board) moves(dst []move, c *checks) []move {
	for set := b.of[b.turn]; set != 0; set &= set - 1 {
		from := first(set)
		for t := b.targets(from, c); t != 0; t &= t - 1 {
			m := move{from: from, to: first(t)}
			if !b.mustPromote(m) {
				dst = append(dst, m)
				continue
			}
			for _, m.promote = range promotions {
				dst = append(dst, m)
			}
		}
	}
	return dst
}

// perft counts the leaves of the tree of legal moves.
func (b *board) perft(depth int) uint64 {
	if depth == 0 {
		return 1
	}
	c := b.checks()
	var n uint64
	for set := b.of[b.turn]; set != 0; set &= set - 1 {
		from := first(set)
		targets := b.targets(from, &c)
		if depth == 1 {
			n += uint64(bits.OnesCount64(targets))
			if b.pieces[from]&7 == pawn {
				n += 3 * uint64(bits.OnesCount64(targets&0xff000000000000ff))
			}
			continue
		}
		for ; targets != 0; targets &= targets - 1 {
			m := move{from: from, to: first(targets)}
			choices := promotions[:1]
			if b.mustPromote(m) {
				choices = promotions[:]
			}
			for i := range choices {
				if len(choices) > 1 {
					m.promote = choices[i]
				}
				next := *b
				next.make(m)
				n += next.perft(depth - 1)
			}
		}
	}
	return n
}
