// Package chess plays chess by the FIDE Laws of 2023, standard and Chess960, as "chess@1".
//
//	p, err := chess.New(engine.Setup{Variant: "standard", Seats: 2})
//	move, err := p.Parse(0, "Nf3") // "g1f3"
//	err = p.Play(0, move)
//
// Seat 0 is White and seat 1 is Black, also where a start position has Black to move.
//
// # Moves
//
// Canonical notation is that of the Universal Chess Interface in lower case: the two squares, and
// for a promotion one of q, r, b and n.
//
//	e2e4  e7e8q           any move of a piece
//	e1g1  e1c1  e8g8  e8c8  castling in standard chess: the king's two steps
//	e1h1  b1a1            castling in Chess960: the king takes its own rook
//	claim                 a draw, by the position on the board
//	claim:g1f3            a draw, by the position that this move would bring about
//
// Parse also reads standard algebraic notation (SAN): the letter K, Q, R, B or N (none for a pawn),
// file and rank of origin as far as they are needed or further, x where and only where the move
// captures, the square, the promotion with or without =, "e.p." or " e.p." after a capture en
// passant, then one of +, ++ and #, then at most two of ! and ?. The marks after the move are not
// checked. Castling is O-O and O-O-O, with the letter or with zeros. "claim:" goes before either
// notation. Nothing else is an alias.
//
// Legal lists the moves on the board by square of origin (a1, b1, ... h8), then by target, then by
// promotion (q, r, b, n); castling has the same place by either of its notations. Then comes "claim",
// then the claims with a move in the order of the moves, each if the position entitles to it.
//
// # How a game ends
//
// These reasons are recognised, in this order, after each move and in the start position:
//
//	checkmate           FIDE 5.1.1; it comes before every other reason (9.6.2)
//	stalemate           FIDE 5.2.1
//	dead-position       FIDE 5.2.2, as below
//	fivefold            FIDE 9.6.1: the position occurs for the fifth time
//	seventy-five-move   FIDE 9.6.2: 75 moves of each player without a capture or a pawn's move
//
// and when the player on turn claims a draw, with or without a move; the move itself is not made:
//
//	threefold           FIDE 9.2: the position occurs at least for the third time
//	fifty-move          FIDE 9.3: 50 moves of each player without a capture or a pawn's move
//
// Resignation, time and agreement are no matter of the engine, but Forfeit knows what they cost: who
// resigns loses (FIDE 5.1.2), and so does who runs out of time, unless the opponent's material can
// never give checkmate (FIDE 6.9): a king alone; one knight against nothing but queens; bishops,
// where all bishops on the board are on squares of one colour and no knight or pawn is left.
//
// Two positions are the same by FIDE 9.2.2 and 9.2.3: player to move, pieces, squares, rights to castle, and
// an en passant capture if it is legal. Whole positions are compared, no hashes.
//
// A position is called dead only if no series of legal moves can end in checkmate. Recognised are:
// kings alone; kings and one knight or bishop; kings and any number of bishops of either side that
// all stand on squares of one colour; kings and pawns where every pawn is blocked by a pawn, none
// can capture, and neither king can reach an enemy pawn that no pawn guards. Other dead positions
// play on until another rule ends them.
//
// # Drawn start
//
// Chess960 without a start position begins with a move of Chance: the number of the start, 0 to 959 in
// decimal, each with the same probability. It is Intn(960) of the source.
//
// # State
//
// AppendState gives every viewer the same: the FEN, a space, how many times this position has
// occurred, and when the game is over " over:" and the reason.
//
//	rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1 1
//
// Castling rights are K, Q, k, q in standard chess, and in Chess960 the files of the rooks
// (Shredder-FEN), the one towards h first. The en passant square is there only if a capture on it is
// legal. Before the start is drawn, it is "undrawn".
package chess

import (
	"fmt"

	"ludger/engine"
)

// ID names the game and the version of its rules.
const ID = "chess@1"

// The variants.
const (
	Standard = "standard"
	Chess960 = "chess960"
)

// The reasons that end a game.
const (
	Checkmate       = "checkmate"
	Stalemate       = "stalemate"
	DeadPosition    = "dead-position"
	Threefold       = "threefold"
	FiftyMove       = "fifty-move"
	Fivefold        = "fivefold"
	SeventyFiveMove = "seventy-five-move"
)

// Game is chess as an engine.Game.
type Game struct{}

// Info describes chess.
func (Game) Info() engine.Info {
	return engine.Info{
		ID:   ID,
		Name: "chess",
		Variants: []engine.Variant{
			{Name: Standard, MinSeats: 2, MaxSeats: 2, Settled: true,
				Start: "empty for the usual start, or a FEN whose castling rights are those of standard chess"},
			{Name: Chess960, MinSeats: 2, MaxSeats: 2, Settled: true,
				Start: "empty to draw one of the 960 starts, a start number from 0 to 959, or a FEN, X-FEN or Shredder-FEN"},
		},
		Chance:    true,
		Agreement: true,
		Grammar: `A move is the square it leaves and the square it goes to, such as g1f3; a promotion adds q, r, b or n, such as e7e8q.
Castling is the king's two steps, e1g1 or e1c1; in chess960 the king takes its own rook, such as e1h1.
"claim" claims a draw by the position on the board (third occurrence, or 50 moves of each player without capture or pawn's move);
"claim:g1f3" claims it by the position after that move, which is then not made.
Standard algebraic notation is read too: Nf3, exd6, e8=Q, O-O, claim:Nf3.`,
		Examples: []string{"e2e4", "g1f3", "e7e8q", "e1g1", "claim", "claim:g1f3"},
		Rules: `Chess by the FIDE Laws of Chess in force from 1 January 2023, with the Guidelines II for Chess960. Seat 0 is White.
The game ends by checkmate, stalemate, a dead position, the fifth occurrence of a position and 75 moves of each player without capture
or pawn's move. The player on turn may claim a draw by the third occurrence or by 50 such moves; a correct claim ends the game.
Dead positions recognised: kings alone; kings and one knight or bishop; kings and bishops on squares of one colour;
kings and pawns blocked for good. A wrong claim is refused without penalty. Who runs out of time
loses, or draws if the opponent's material can never give checkmate. Legal moves are listed by square of origin from a1 to h8,
then target, then promotion q, r, b, n; then claims.`,
	}
}

// New returns the start of a match.
func (Game) New(s engine.Setup) (engine.Position, error) {
	p, err := New(s)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// New returns the position a match starts from.
func New(s engine.Setup) (*Position, error) {
	if s.Variant != Standard && s.Variant != Chess960 {
		return nil, fmt.Errorf("unknown variant %q of %s, want %s or %s", s.Variant, ID, Standard, Chess960)
	}
	if s.Seats != 2 {
		return nil, fmt.Errorf("%d seats of %s, want 2", s.Seats, ID)
	}
	if len(s.Start) > engine.MaxStart {
		return nil, fmt.Errorf("start position of %d bytes exceeds %d", len(s.Start), engine.MaxStart)
	}
	chess960 := s.Variant == Chess960
	start := s.Start
	if start == "" {
		start = startFEN
	} else if chess960 && len(start) <= 3 {
		n, err := readCount(start, 0, starts-1)
		if err != nil {
			return nil, fmt.Errorf("start number %w", err)
		}
		start = startNumber(int(n))
	}
	b, err := parseFEN(start)
	if err != nil {
		return nil, err
	}
	if !chess960 {
		if err := b.ordinary(); err != nil {
			return nil, err
		}
	}
	p := &Position{board: *b, chess960: chess960, undrawn: chess960 && s.Start == ""}
	p.arrive()
	return p, nil
}
