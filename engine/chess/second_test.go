package chess_test

import (
	"fmt"
	"os"
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

// Every move of the recorded games, read from SAN and written back.
func TestRecords(t *testing.T) {
	for name, games := range map[string]int{"chess_lichess_1": 25, "chess_kasparov_deepblue_1997": 6, "chess960_cutechess": 2} {
		data, err := os.ReadFile(shared + "records/" + name + ".pgn")
		if err != nil {
			t.Skipf("SKIPPED, not compared with recorded games: %v", err)
		}
		played, plies := 0, 0
		var p *chess.Position
		inComment := false
		for line := range strings.SplitSeq(strings.TrimPrefix(string(data), "\ufeff"), "\n") {
			line = strings.TrimSpace(line)
			if fen, ok := strings.CutPrefix(line, "[FEN \""); ok {
				p = setup(t, chess.Chess960, strings.TrimSuffix(fen, "\"]"))
			} else if strings.HasPrefix(line, "[Event ") {
				p = setup(t, chess.Standard, "")
				played++
			}
			if strings.HasPrefix(line, "[") {
				continue
			}
			for word := range strings.FieldsSeq(line) {
				comment := inComment || word[0] == '{'
				inComment = comment && !strings.HasSuffix(word, "}")
				word = word[strings.LastIndexByte(word, '.')+1:]
				switch word {
				case "", "1-0", "0-1", "1/2-1/2", "*":
					continue
				}
				if comment || word[0] == '$' {
					continue
				}
				if word = strings.TrimRight(word, "!?"); p.Turn().Over() {
					t.Fatalf("%s, game %d: %s after the end: %s", name, played, word, p.AppendState(nil, 0))
				}
				playSAN(t, p, word)
				plies++
			}
		}
		t.Logf("%s: %d games, %d plies", name, played, plies)
		if played != games || plies < 30*games {
			t.Errorf("%s: %d games, want %d", name, played, games)
		}
	}
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
