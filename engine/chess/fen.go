package chess

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// The bounds of a FEN's counters.
const (
	maxClock  = 150  // plies: at 75 moves of each player the game is over (FIDE 9.6.2)
	maxNumber = 9999 // of the first move; no game lasts 9000 moves
)

const startFEN = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"

// parseFEN reads a position in FEN. Castling rights may be written as in FEN and X-FEN (K, Q, k, q:
// the outermost rook on that side of the king) or as in Shredder-FEN (the rook's file, A to H and a
// to h), in any order. An en passant square where no capture is legal is read and left out.
func parseFEN(text string) (*board, error) {
	fields := strings.Split(text, " ")
	if len(fields) != 6 {
		return nil, fmt.Errorf("FEN of %d fields separated by single spaces, want 6", len(fields))
	}
	b := &board{passing: noSquare}
	b.castling[white] = [2]square{noSquare, noSquare}
	b.castling[black] = b.castling[white]
	if err := b.readPieces(fields[0]); err != nil {
		return nil, err
	}
	switch fields[1] {
	case "w":
	case "b":
		b.turn = black
	default:
		return nil, fmt.Errorf("FEN side to move %q, want w or b", fields[1])
	}
	if err := b.readCastling(fields[2]); err != nil {
		return nil, err
	}
	clock, err := readCount(fields[4], 0, maxClock)
	if err != nil {
		return nil, fmt.Errorf("FEN halfmove clock %w", err)
	}
	number, err := readCount(fields[5], 1, maxNumber)
	if err != nil {
		return nil, fmt.Errorf("FEN move number %w", err)
	}
	b.clock, b.number = clock, number
	if k := b.king(b.turn ^ 1); b.attackers(k, b.occupied(), b.turn) != 0 {
		return nil, fmt.Errorf("FEN with %s to move, but the king on %s could be taken", colourNames[b.turn], name(k))
	}
	if err := b.readPassing(fields[3]); err != nil {
		return nil, err
	}
	return b, nil
}

func (b *board) readPieces(field string) error {
	ranks := strings.Split(field, "/")
	if len(ranks) != 8 {
		return fmt.Errorf("FEN board of %d ranks, want 8", len(ranks))
	}
	for i, text := range ranks {
		r := uint8(7 - i)
		f := uint8(0)
		gap := false
		for j := 0; j < len(text); j++ {
			c := text[j]
			if c >= '1' && c <= '8' {
				if gap {
					return fmt.Errorf("FEN rank %d: two numbers in a row", r+1)
				}
				gap = true
				f += c - '0'
			} else {
				code := strings.IndexByte(letters, c)
				if c == ' ' || code < 0 {
					return fmt.Errorf("FEN rank %d: %q is no piece", r+1, c)
				}
				gap = false
				if f < 8 {
					b.put(at(f, r), uint8(code)>>3, uint8(code)&7)
				}
				f++
			}
			if f > 8 {
				return fmt.Errorf("FEN rank %d has more than 8 squares", r+1)
			}
		}
		if f != 8 {
			return fmt.Errorf("FEN rank %d has %d squares, want 8", r+1, f)
		}
	}
	return b.checkPieces()
}

// checkPieces refuses what no game can reach by counting: each piece beyond the first set is a
// pawn that was promoted.
func (b *board) checkPieces() error {
	for c, own := range b.of {
		count := func(k kind) int { return bits.OnesCount64(b.by[k] & own) }
		if n := count(king); n != 1 {
			return fmt.Errorf("FEN with %d kings of %s, want 1", n, colourNames[c])
		}
		promoted := max(0, count(knight)-2) + max(0, count(bishop)-2) + max(0, count(rook)-2) + max(0, count(queen)-1)
		if n := count(pawn) + promoted; n > 8 {
			return fmt.Errorf("FEN with %d pawns and promoted pieces of %s, more than 8", n, colourNames[c])
		}
	}
	if set := b.by[pawn] & 0xff000000000000ff; set != 0 {
		return fmt.Errorf("FEN with a pawn on %s", name(first(set)))
	}
	return nil
}

func (b *board) readCastling(field string) error {
	if field == "-" {
		return nil
	}
	if field == "" || len(field) > 4 {
		return fmt.Errorf("FEN castling rights %q, want - or one to four letters", field)
	}
	for i := 0; i < len(field); i++ {
		c, letter := white, field[i]
		if letter >= 'a' {
			c, letter = black, letter-'a'+'A'
		}
		k := b.king(c)
		rooks := b.by[rook] & b.of[c] & between(at(0, 7*c), at(7, 7*c))
		r := noSquare
		switch {
		case rank(k) != 7*c:
			return fmt.Errorf("FEN castling right %q, but the king of %s is on %s", field[i], colourNames[c], name(k))
		case letter == 'K':
			if rooks != 0 {
				r = square(63 - bits.LeadingZeros64(rooks))
			}
			if r < k {
				r = noSquare
			}
		case letter == 'Q':
			if r = first(rooks); r > k {
				r = noSquare
			}
		case letter >= 'A' && letter <= 'H':
			if r = at(letter-'A', 7*c); rooks&bit(r) == 0 {
				r = noSquare
			}
		default:
			return fmt.Errorf("FEN castling right %q is none of K, Q, A to H", field[i])
		}
		if r == noSquare {
			return fmt.Errorf("FEN castling right %q, but no such rook of %s", field[i], colourNames[c])
		}
		wing := aWing
		if r > k {
			wing = hWing
		}
		if b.castling[c][wing] != noSquare {
			return fmt.Errorf("FEN castling right %q repeats one for the same side", field[i])
		}
		b.castling[c][wing] = r
	}
	return nil
}

// readPassing wants an en passant square that a double step can have left (PGN standard 16.1.3.4).
func (b *board) readPassing(field string) error {
	if field == "-" {
		return nil
	}
	s, ok := readSquare(field)
	if !ok || rank(s) != 5-3*b.turn {
		return fmt.Errorf("FEN en passant square %q, want - or a square of rank %d", field, 6-3*b.turn)
	}
	them := b.turn ^ 1
	stands := bit(s ^ 8)
	came := bit(s + 8)
	if b.turn == black {
		came = bit(s - 8)
	}
	if b.by[pawn]&b.of[them]&stands == 0 || (bit(s)|came)&b.occupied() != 0 || b.clock != 0 {
		return fmt.Errorf("FEN en passant square %s, but no pawn can just have passed it", field)
	}
	b.offerPassing(s)
	return nil
}

// readCount reads a number without sign or leading zeros.
func readCount(text string, low, high uint16) (uint16, error) {
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil || len(text) > 1 && text[0] == '0' || n < uint64(low) || n > uint64(high) {
		return 0, fmt.Errorf("%q, want a number from %d to %d", text, low, high)
	}
	return uint16(n), nil
}

// ordinary tells whether every castling right is one of standard chess.
func (b *board) ordinary() error {
	for c, rooks := range b.castling {
		for wing, r := range rooks {
			if r == noSquare {
				continue
			}
			home := at(uint8(7*wing), 7*uint8(c))
			if k := b.king(uint8(c)); r != home || file(k) != 4 {
				return fmt.Errorf("castling with king on %s and rook on %s is not standard chess but chess960", name(k), name(r))
			}
		}
	}
	return nil
}

// appendFEN prints a board: the form of castling rights is the variant's.
func (b *board) appendFEN(dst []byte, chess960 bool) []byte {
	for r := 7; r >= 0; r-- {
		gap := byte('0')
		for _, p := range b.pieces[8*r : 8*r+8] {
			if p == 0 {
				gap++
				continue
			}
			if gap > '0' {
				dst = append(dst, gap)
				gap = '0'
			}
			dst = append(dst, letters[p])
		}
		if gap > '0' {
			dst = append(dst, gap)
		}
		if r > 0 {
			dst = append(dst, '/')
		}
	}
	dst = append(dst, ' ', "wb"[b.turn], ' ')
	none := len(dst)
	for c, rooks := range b.castling {
		for _, wing := range [2]int{hWing, aWing} {
			if rooks[wing] == noSquare {
				continue
			}
			letter := "QK"[wing]
			if chess960 {
				letter = 'A' + file(rooks[wing])
			}
			dst = append(dst, letter+byte(c)*('a'-'A'))
		}
	}
	if len(dst) == none {
		dst = append(dst, '-')
	}
	dst = append(dst, ' ')
	if b.passing == noSquare {
		dst = append(dst, '-')
	} else {
		dst = appendSquare(dst, b.passing)
	}
	dst = strconv.AppendUint(append(dst, ' '), uint64(b.clock), 10)
	return strconv.AppendUint(append(dst, ' '), uint64(b.number), 10)
}

// startNumber returns the FEN of a Chess960 start position by its number of the Scharnagl scheme:
// the bishops first, on light then on dark squares, then the queen, then the knights on the squares
// left, and rook, king, rook on the last three. 518 is the start of standard chess.
func startNumber(n int) string {
	var row [8]byte
	row[n%4*2+1] = 'B'
	n /= 4
	row[n%4*2] = 'B'
	n /= 4
	place := func(free int, piece byte) {
		for f := range row {
			if row[f] != 0 {
				continue
			}
			if free == 0 {
				row[f] = piece
				return
			}
			free--
		}
	}
	place(n%6, 'Q')
	n /= 6
	pairs := [10][2]int{{0, 1}, {0, 2}, {0, 3}, {0, 4}, {1, 2}, {1, 3}, {1, 4}, {2, 3}, {2, 4}, {3, 4}}
	place(pairs[n][1], 'N') // the later first, so that the earlier keeps its number
	place(pairs[n][0], 'N')
	for _, piece := range []byte("RKR") {
		place(0, piece)
	}
	back := string(row[:])
	h, a := strings.LastIndexByte(back, 'R'), strings.IndexByte(back, 'R')
	rights := string([]byte{'A' + byte(h), 'A' + byte(a), 'a' + byte(h), 'a' + byte(a)})
	return strings.ToLower(back) + "/pppppppp/8/8/8/8/PPPPPPPP/" + back + " w " + rights + " - 0 1"
}
