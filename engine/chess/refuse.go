package chess

// refusal says why a move that legal refuses is not legal. It is asked only after that.
func (p *Position) refusal(m move) string {
	b := &p.board
	code := b.pieces[m.from]
	k := code & 7
	switch {
	case code == 0:
		return "no piece on " + name(m.from)
	case code>>3 != b.turn:
		return "the " + kindNames[k] + " on " + name(m.from) + " is " + colourNames[code>>3] + "'s"
	case m.from == m.to:
		return "a move goes to another square"
	}
	if _, yes := b.castles(m); yes {
		return p.castlingRefusal(m)
	}
	if on := b.pieces[m.to]; on != 0 && on>>3 == b.turn {
		return colourNames[b.turn] + "'s own " + kindNames[on&7] + " stands on " + name(m.to)
	}
	if why := b.wayRefusal(m, k); why != "" {
		return why
	}
	if must := b.mustPromote(m); must != (m.promote != 0) {
		if must {
			return "a pawn on the last rank must promote: add q, r, b or n"
		}
		return "only a pawn that reaches the last rank promotes"
	}
	switch {
	case k == king:
		return "the king would be in check on " + name(m.to)
	case b.attackers(p.checks.king, b.occupied(), b.turn^1) != 0:
		return "the king on " + name(p.checks.king) + " is in check and would stay in check"
	}
	return "the king on " + name(p.checks.king) + " would be in check"
}

// wayRefusal says what is wrong with the way the piece would go, or "".
func (b *board) wayRefusal(m move, k kind) string {
	var empty, now uint64 // where the piece could go on an empty board, and on this one
	occupied := b.occupied()
	switch k {
	case pawn:
		return b.pawnRefusal(m)
	case knight:
		empty = knightSteps[m.from]
		now = empty
	case bishop:
		empty, now = bishopAttacks(m.from, 0), bishopAttacks(m.from, occupied)
	case rook:
		empty, now = rookAttacks(m.from, 0), rookAttacks(m.from, occupied)
	case queen:
		empty = bishopAttacks(m.from, 0) | rookAttacks(m.from, 0)
		now = bishopAttacks(m.from, occupied) | rookAttacks(m.from, occupied)
	case king:
		empty = kingSteps[m.from]
		now = empty
	}
	switch {
	case empty&bit(m.to) == 0:
		return "a " + kindNames[k] + " does not move from " + name(m.from) + " to " + name(m.to)
	case now&bit(m.to) == 0:
		return "the way from " + name(m.from) + " to " + name(m.to) + " is blocked"
	}
	return ""
}

func (b *board) pawnRefusal(m move) string {
	switch {
	case pawnTakes[b.turn][m.from]&bit(m.to) != 0:
		if b.captures(m) {
			return ""
		}
		return "a pawn moves there only to capture, and there is nothing to capture on " + name(m.to)
	case b.pawnPushes(m.from, 0)&bit(m.to) == 0:
		return "a pawn does not move from " + name(m.from) + " to " + name(m.to)
	case b.pawnPushes(m.from, b.occupied())&bit(m.to) == 0:
		return "the way from " + name(m.from) + " to " + name(m.to) + " is blocked"
	}
	return ""
}

func (p *Position) castlingRefusal(m move) string {
	b := &p.board
	wing, _ := b.castles(m)
	if b.castling[b.turn][wing] != m.to {
		return "the right to castle there is lost"
	}
	if b.attackers(m.from, b.occupied(), b.turn^1) != 0 {
		return "the king may not castle out of check"
	}
	if set := b.castleObstacle(m.from, m.to, wing); set != 0 {
		return "the " + kindNames[b.pieces[first(set)]&7] + " on " + name(first(set)) + " stands in the way of castling"
	}
	if kingTo, _ := homes(b.turn, wing); b.castleAttacked(m.from, m.to, wing) == kingTo {
		return "the king would be in check on " + name(kingTo)
	}
	return "the king may not castle through check on " + name(b.castleAttacked(m.from, m.to, wing))
}

// claimRefusal says why a draw cannot be claimed in a position that has occurred so many times,
// with so many plies since a capture or a pawn's move.
func claimRefusal(count int, clock uint16) string {
	times := "once"
	if count > 1 {
		times = decimal(count) + " times"
	}
	return "a claim needs the position for the third time, or 50 moves of each player without a capture or a pawn's move; it occurs " +
		times + ", after " + decimal(int(clock)) + " such plies"
}
