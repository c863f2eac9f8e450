package chess

import (
	"strconv"
	"strings"

	"ludger/engine"
)

func name(s square) string { return string(appendSquare(nil, s)) }

func appendSquare(dst []byte, s square) []byte {
	return append(dst, 'a'+file(s), '1'+rank(s))
}

func readSquare(text string) (square, bool) {
	if len(text) != 2 || text[0]-'a' > 7 || text[1]-'1' > 7 {
		return noSquare, false
	}
	return at(text[0]-'a', text[1]-'1'), true
}

func decimal(n int) string { return strconv.Itoa(n) }

// readMove reads the canonical notation of a move on the board, legal or not. It tells false for
// anything else.
func (p *Position) readMove(text string) (m move, ok bool) {
	if len(text) != 4 && len(text) != 5 {
		return m, false
	}
	from, ok1 := readSquare(text[:2])
	to, ok2 := readSquare(text[2:4])
	m = move{from: from, to: to}
	if len(text) == 5 {
		switch text[4] {
		case 'q':
			m.promote = queen
		case 'r':
			m.promote = rook
		case 'b':
			m.promote = bishop
		case 'n':
			m.promote = knight
		default:
			return m, false
		}
	}
	if !ok1 || !ok2 {
		return m, false
	}
	if p.chess960 || p.board.pieces[from] != p.board.turn<<3|king {
		return m, true
	}
	// Standard castling is written as the king's two steps, and inside as the way to the rook.
	own := p.board.turn<<3 | rook
	if p.board.pieces[to] == own {
		m.to = from // Chess960's way to write it is no move here
	} else if home := 7 * p.board.turn; from == at(4, home) {
		switch corner := [2]square{at(0, home), at(7, home)}; {
		case to == at(2, home) && p.board.pieces[corner[aWing]] == own:
			m.to = corner[aWing]
		case to == at(6, home) && p.board.pieces[corner[hWing]] == own:
			m.to = corner[hWing]
		}
	}
	return m, true
}

// appendMove prints the canonical notation of a move on the board.
func (p *Position) appendMove(dst []byte, m move) []byte {
	to := m.to
	if wing, yes := p.board.castles(m); yes && !p.chess960 {
		to, _ = homes(p.board.turn, wing)
	}
	dst = appendSquare(appendSquare(dst, m.from), to)
	if m.promote != 0 {
		dst = append(dst, letters[black<<3|m.promote])
	}
	return dst
}

// appendSAN prints a legal move in standard algebraic notation (PGN standard 8.2.3).
func (p *Position) appendSAN(dst []byte, m move) []byte {
	b := &p.board
	k := b.pieces[m.from] & 7
	if wing, yes := b.castles(m); yes {
		dst = append(dst, [2]string{"O-O-O", "O-O"}[wing]...)
	} else {
		if k == pawn {
			if b.captures(m) {
				dst = append(dst, 'a'+file(m.from))
			}
		} else {
			dst = append(dst, letters[k])
			var others, sameFile, sameRank bool
			for set := b.by[k] & b.of[b.turn] &^ bit(m.from); set != 0; set &= set - 1 {
				if s := first(set); b.targets(s, &p.checks)&bit(m.to) != 0 {
					others = true
					sameFile = sameFile || file(s) == file(m.from)
					sameRank = sameRank || rank(s) == rank(m.from)
				}
			}
			if others && (!sameFile || sameRank) {
				dst = append(dst, 'a'+file(m.from))
			}
			if sameFile {
				dst = append(dst, '1'+rank(m.from))
			}
		}
		if b.captures(m) {
			dst = append(dst, 'x')
		}
		dst = appendSquare(dst, m.to)
		if m.promote != 0 {
			dst = append(dst, '=', letters[m.promote])
		}
	}
	switch check, mate := b.gives(m); {
	case mate:
		dst = append(dst, '#')
	case check:
		dst = append(dst, '+')
	}
	return dst
}

// gives tells whether a legal move gives check, and whether it gives checkmate.
func (b *board) gives(m move) (check, mate bool) {
	next := *b
	next.make(m)
	c := next.checks()
	return c.givers != 0, c.givers != 0 && next.stuck(&c)
}

// A san is what a text in algebraic notation says, before the board is looked at.
type san struct {
	kind     kind
	castling int // a wing, or -1
	file     int // of origin, or -1
	rank     int // of origin, or -1
	takes    bool
	passing  bool // marked e.p.
	to       square
	promote  kind
}

// splitSAN reads algebraic notation. It tells false for anything outside the grammar.
func splitSAN(text string) (s san, ok bool) {
	s = san{castling: -1, file: -1, rank: -1, kind: pawn}
	for i := 0; i < 2; i++ {
		if n := len(text); n > 0 && (text[n-1] == '!' || text[n-1] == '?') {
			text = text[:n-1]
		}
	}
	if cut := strings.TrimSuffix(text, "#"); cut != text {
		text = cut
	} else {
		text = strings.TrimSuffix(strings.TrimSuffix(text, "+"), "+")
	}
	if cut := strings.TrimSuffix(text, "e.p."); cut != text {
		s.passing = true
		text = strings.TrimSuffix(cut, " ")
	}
	switch text {
	case "O-O", "0-0":
		s.castling = hWing
		return s, !s.passing
	case "O-O-O", "0-0-0":
		s.castling = aWing
		return s, !s.passing
	case "":
		return s, false
	}
	if i := strings.IndexByte("NBRQK", text[0]); i >= 0 {
		s.kind = knight + kind(i)
		text = text[1:]
	}
	if n := len(text); n > 0 {
		if i := strings.IndexByte("NBRQ", text[n-1]); i >= 0 {
			s.promote = knight + kind(i)
			text = strings.TrimSuffix(text[:n-1], "=")
		}
	}
	if len(text) < 2 {
		return s, false
	}
	if s.to, ok = readSquare(text[len(text)-2:]); !ok {
		return s, false
	}
	text = text[:len(text)-2]
	if cut := strings.TrimSuffix(text, "x"); cut != text {
		s.takes = true
		text = cut
	}
	if len(text) > 0 && text[0]-'a' <= 7 {
		s.file = int(text[0] - 'a')
		text = text[1:]
	}
	if len(text) > 0 && text[0]-'1' <= 7 {
		s.rank = int(text[0] - '1')
		text = text[1:]
	}
	if s.kind == pawn {
		// A pawn is named by its file when it takes, and not at all otherwise.
		return s, text == "" && s.takes == (s.file >= 0) && (s.takes || s.rank < 0 && !s.passing)
	}
	return s, text == "" && s.promote == 0 && !s.passing
}

// findSAN returns the one legal move that the text means, or why there is none.
func (p *Position) findSAN(s san) (move, error, string) {
	b := &p.board
	if s.castling >= 0 {
		m := move{from: b.king(b.turn), to: b.castling[b.turn][s.castling]}
		if m.to == noSquare {
			return m, engine.ErrIllegal, "the right to castle there is lost"
		}
		if !b.legal(m, &p.checks) {
			return m, engine.ErrIllegal, p.refusal(m)
		}
		return m, nil, ""
	}
	var found, tried []move
	if b.of[b.turn]&bit(s.to) == 0 { // else the king would castle
		for set := b.by[s.kind] & b.of[b.turn]; set != 0; set &= set - 1 {
			m := move{from: first(set), to: s.to, promote: s.promote}
			if s.file >= 0 && int(file(m.from)) != s.file || s.rank >= 0 && int(rank(m.from)) != s.rank ||
				s.kind == pawn && (file(m.from) != file(m.to)) != s.takes {
				continue
			}
			tried = append(tried, m)
			if b.legal(m, &p.checks) {
				found = append(found, m)
			}
		}
	}
	switch {
	case len(found) > 1:
		return move{}, engine.ErrAmbiguous, string(p.appendMove(append(p.appendMove(nil, found[0]), " and "...), found[1]))
	case len(found) == 0 && len(tried) == 1:
		return move{}, engine.ErrIllegal, p.refusal(tried[0])
	case len(found) == 0:
		return move{}, engine.ErrIllegal, "no " + kindNames[s.kind] + " of " + colourNames[b.turn] + " can go to " + name(s.to) + " so"
	case s.takes && !b.captures(found[0]):
		return move{}, engine.ErrIllegal, "there is nothing to capture on " + name(s.to)
	case !s.takes && b.captures(found[0]):
		return move{}, engine.ErrIllegal, "it would capture on " + name(s.to) + ", which is written with x"
	case s.passing && !b.enPassant(found[0]):
		return move{}, engine.ErrIllegal, "it is no capture en passant"
	}
	return found[0], nil, ""
}

// summary says a legal move in one sentence.
func (p *Position) summary(m move) string {
	b := &p.board
	var text string
	if wing, yes := b.castles(m); yes {
		kingTo, rookTo := homes(b.turn, wing)
		text = "Castles, king from " + name(m.from) + " to " + name(kingTo) + " and rook from " + name(m.to) + " to " + name(rookTo)
	} else {
		moved := kindNames[b.pieces[m.from]&7]
		text = strings.ToUpper(moved[:1]) + moved[1:] + " from " + name(m.from)
		switch {
		case b.enPassant(m):
			text += " takes the pawn on " + name(m.to^8) + " en passant, to " + name(m.to)
		case b.captures(m):
			text += " takes the " + kindNames[b.pieces[m.to]&7] + " on " + name(m.to)
		default:
			text += " to " + name(m.to)
		}
		if m.promote != 0 {
			text += ", promotes to " + kindNames[m.promote]
		}
	}
	switch check, mate := b.gives(m); {
	case mate:
		text += ", checkmate"
	case check:
		text += ", check"
	}
	return text + "."
}
