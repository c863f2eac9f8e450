package chess_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	second "github.com/corentings/chess/v2"

	"ludger/engine/chess"
	"ludger/engine/enginetest"
)

// Random games against another implementation: the same legal moves in every position.
func TestSecondOpinion(t *testing.T) {
	random := enginetest.Random(2)
	plies := 0
	for game := range 40 {
		p := setup(t, chess.Standard, "")
		for !p.Turn().Over() {
			moves := boardMoves(p)
			var got, want []string
			for _, m := range moves {
				got = append(got, m.Move)
			}
			option, err := second.FEN(p.FEN())
			if err != nil {
				t.Fatalf("%s: %v", p.FEN(), err)
			}
			other := second.NewGame(option)
			for _, m := range other.ValidMoves() {
				want = append(want, m.String())
			}
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Fatalf("game %d, %s:\nmoves %v\nwant  %v", game, p.FEN(), got, want)
			}
			if err := p.Play(onTurn(p), moves[random.Intn(len(moves))].Move); err != nil {
				t.Fatal(err)
			}
			plies++
		}
	}
	t.Logf("%d positions", plies)
}

// All 960 starts are different, mirrored between the sides, and print back; some are well known.
func TestStarts960(t *testing.T) {
	seen := make(map[string]bool)
	for n := range 960 {
		p := setup(t, chess.Chess960, fmt.Sprint(n))
		fen := p.FEN()
		if seen[fen] {
			t.Errorf("start %d repeats %s", n, fen)
		}
		seen[fen] = true
		if again := setup(t, chess.Chess960, fen).FEN(); again != fen {
			t.Errorf("start %d is %s, printed back as %s", n, fen, again)
		}
		row := fen[:8]
		r1, k, r2 := strings.IndexByte(row, 'r'), strings.IndexByte(row, 'k'), strings.LastIndexByte(row, 'r')
		b1, b2 := strings.IndexByte(row, 'b'), strings.LastIndexByte(row, 'b')
		if r1 > k || k > r2 || (b1+b2)%2 == 0 || strings.ToUpper(row) != fen[35:43] {
			t.Errorf("start %d is %s", n, fen)
		}
	}
	for n, row := range map[string]string{"0": "bbqnnrkr", "518": "rnbqkbnr", "959": "rkrnnqbb", "534": "rnbkqbnr"} {
		if got := setup(t, chess.Chess960, n).FEN()[:8]; got != row {
			t.Errorf("start %s is %s, want %s", n, got, row)
		}
	}
}
