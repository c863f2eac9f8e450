package chess_test

import (
	"strings"
	"testing"

	"ludger/engine"
	"ludger/engine/chess"
)

func TestStartRefused(t *testing.T) {
	const rest = " w - - 0 1"
	for _, row := range []struct{ variant, start, err string }{
		{"standard", "8/8/8/8/8/8/8/8" + rest, "FEN with 0 kings of White, want 1"},
		{"standard", "4k3/8/8/8/8/8/8/3KK3" + rest, "FEN with 2 kings of White, want 1"},
		{"standard", "4k3/8/8/8/8/8/8/4K3 w - - 0", "FEN of 5 fields separated by single spaces, want 6"},
		{"standard", "4k3/8/8/8/8/8/8/4K3  w - - 0 1", "FEN of 7 fields separated by single spaces, want 6"},
		{"standard", "4k3/8/8/8/8/8/4K3" + rest, "FEN board of 7 ranks, want 8"},
		{"standard", "4k3/8/8/8/8/8/8/4K2" + rest, "FEN rank 1 has 7 squares, want 8"},
		{"standard", "4k3/8/8/8/8/8/8/4K4" + rest, "FEN rank 1 has more than 8 squares"},
		{"standard", "4k3/8/8/8/8/8/44/4K3" + rest, "FEN rank 2: two numbers in a row"},
		{"standard", "4k3/8/8/8/8/8/9/4K3" + rest, "FEN rank 2: '9' is no piece"},
		{"standard", "4k3/8/8/8/8/8/7x/4K3" + rest, "FEN rank 2: 'x' is no piece"},
		{"standard", "4k2P/8/8/8/8/8/8/4K3" + rest, "FEN with a pawn on h8"},
		{"standard", "4k3/p7/pppppppp/8/8/8/8/4K3" + rest, "FEN with 9 pawns and promoted pieces of Black, more than 8"},
		{"standard", "4k3/8/8/8/8/8/PPPPPPPP/QQ2K3" + rest, "FEN with 9 pawns and promoted pieces of White, more than 8"},
		{"standard", "4k3/8/8/8/8/8/8/4K3 W - - 0 1", `FEN side to move "W", want w or b`},
		{"standard", "4k3/8/8/8/8/8/4R3/4K3" + rest, "FEN with White to move, but the king on e8 could be taken"},
		{"standard", "4k3/8/8/8/8/8/8/4K3 w K - 0 1", "FEN castling right 'K', but no such rook of White"},
		{"standard", "4k3/8/8/8/8/8/8/4K3 w Q - 0 1", "FEN castling right 'Q', but no such rook of White"},
		{"standard", "4k3/8/8/8/8/8/4K3/7R w K - 0 1", "FEN castling right 'K', but the king of White is on e2"},
		{"standard", "4k3/8/8/8/8/8/8/4K2R w KK - 0 1", "FEN castling right 'K' repeats one for the same side"},
		{"standard", "4k3/8/8/8/8/8/8/4K2R w KH - 0 1", "FEN castling right 'H' repeats one for the same side"},
		{"standard", "4k3/8/8/8/8/8/8/4K2R w X - 0 1", "FEN castling right 'X' is none of K, Q, A to H"},
		{"standard", "4k3/8/8/8/8/8/8/4K2R w  - 0 1", `FEN castling rights ""`},
		{"standard", "4k3/8/8/8/8/8/8/4K1R1 w K - 0 1", "castling with king on e1 and rook on g1 is not standard chess but chess960"},
		{"standard", "4k3/8/8/8/8/8/8/3K3R w H - 0 1", "castling with king on d1 and rook on h1 is not standard chess but chess960"},
		{"standard", "4k3/8/8/3pP3/8/8/8/4K3 w - d5 0 1", `FEN en passant square "d5", want - or a square of rank 6`},
		{"standard", "4k3/8/8/3pP3/8/8/8/4K3 b - d6 0 1", `FEN en passant square "d6", want - or a square of rank 3`},
		{"standard", "4k3/8/8/4P3/8/8/8/4K3 w - d6 0 1", "FEN en passant square d6, but no pawn can just have passed it"},
		{"standard", "4k3/3p4/8/3pP3/8/8/8/4K3 w - d6 0 1", "FEN en passant square d6, but no pawn can just have passed it"},
		{"standard", "4k3/8/8/3pP3/8/8/8/4K3 w - d6 1 1", "FEN en passant square d6, but no pawn can just have passed it"},
		{"standard", "4k3/8/8/8/8/8/8/4K3 w - - 151 1", `FEN halfmove clock "151", want a number from 0 to 150`},
		{"standard", "4k3/8/8/8/8/8/8/4K3 w - - 01 1", `FEN halfmove clock "01", want a number from 0 to 150`},
		{"standard", "4k3/8/8/8/8/8/8/4K3 w - - 0 0", `FEN move number "0", want a number from 1 to 9999`},
		{"standard", "4k3/8/8/8/8/8/8/4K3 w - - 0 10000", `FEN move number "10000", want a number from 1 to 9999`},
		{"standard", "518", "FEN of 1 fields"},
		{"standard", strings.Repeat("8", 300), "start position of 300 bytes exceeds 256"},
		{"chess960", "960", `start number "960", want a number from 0 to 959`},
		{"chess960", "007", `start number "007", want a number from 0 to 959`},
		{"chess960", "-1", `start number "-1", want a number from 0 to 959`},
		{"Standard", "", `unknown variant "Standard" of chess@1`},
	} {
		p, err := chess.New(engine.Setup{Variant: row.variant, Seats: 2, Start: row.start})
		if err == nil || p != nil || !strings.HasPrefix(err.Error(), row.err) {
			t.Errorf("%s %q: %v, want %q", row.variant, row.start, err, row.err)
		}
	}
	for _, seats := range []int{-1, 0, 1, 3} {
		if _, err := chess.New(engine.Setup{Variant: chess.Standard, Seats: seats}); err == nil {
			t.Errorf("%d seats pass", seats)
		}
	}
}

// One position, several spellings, one printed form.
func TestStartForms(t *testing.T) {
	for _, row := range []struct{ variant, start, fen string }{
		{"standard", "", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"},
		{"standard", "r3k2r/8/8/8/8/8/8/R3K2R w qkQK - 0 1", "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"},
		{"standard", "r3k2r/8/8/8/8/8/8/R3K2R w HAha - 0 1", "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"},
		{"chess960", "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "r3k2r/8/8/8/8/8/8/R3K2R w HAha - 0 1"},
		{"chess960", "4k3/8/8/8/8/8/8/RR2K3 w Q - 0 1", "4k3/8/8/8/8/8/8/RR2K3 w A - 0 1"},
		{"chess960", "4k3/8/8/8/8/8/8/RR2K3 w B - 0 1", "4k3/8/8/8/8/8/8/RR2K3 w B - 0 1"},
		{"standard", "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1"},
		{"standard", "4k3/8/8/3p4/8/8/8/4K3 w - d6 0 1", "4k3/8/8/3p4/8/8/8/4K3 w - - 0 1"},
		{"standard", "8/8/8/K2pP2r/8/8/8/4k3 w - d6 0 1", "8/8/8/K2pP2r/8/8/8/4k3 w - - 0 1"},
		{"standard", "4k3/8/8/8/8/8/8/4K2R b K - 7 40", "4k3/8/8/8/8/8/8/4K2R b K - 7 40"},
	} {
		p := setup(t, row.variant, row.start)
		if got := p.FEN(); got != row.fen {
			t.Errorf("%s %q prints %q, want %q", row.variant, row.start, got, row.fen)
		}
		if want := strings.Fields(row.fen)[1] == "b"; p.Turn().Has(1) != want || p.Turn().Has(0) == want {
			t.Errorf("%q: seats on turn %v", row.fen, p.Turn().Seats())
		}
	}
}
