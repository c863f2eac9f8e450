package chess_test

import (
	"strings"
	"testing"

	"ludger/engine"
	"ludger/engine/chess"
	"ludger/engine/enginetest"
)

// FuzzFEN: whatever is read prints to a FEN that reads as the same, and the position is sound.
func FuzzFEN(f *testing.F) {
	var perft struct{ Rows []perftRow }
	readVector(f, "perft.json", &perft)
	var ends struct{ Rows []game }
	readVector(f, "draws.json", &ends)
	if len(perft.Rows) == 0 || len(ends.Rows) == 0 {
		f.Fatal("no seeds")
	}
	for _, row := range perft.Rows {
		f.Add(row.FEN, row.Variant == chess.Chess960)
	}
	for _, row := range ends.Rows {
		f.Add(row.Start, row.Variant == chess.Chess960)
	}
	f.Fuzz(func(t *testing.T, start string, chess960 bool) {
		variant := chess.Standard
		if chess960 {
			variant = chess.Chess960
		}
		p, err := chess.New(engine.Setup{Variant: variant, Seats: 2, Start: start})
		if err != nil {
			return
		}
		fen := p.FEN()
		if again := setup(t, variant, fen).FEN(); again != fen {
			t.Fatalf("%q reads as %q, and that as %q", start, fen, again)
		}
		if _, over := p.Outcome(); over {
			return
		}
		moves := boardMoves(p)
		if uint64(len(moves)) != p.Perft(1) || len(moves) == 0 {
			t.Fatalf("%s: %d moves, perft %d", fen, len(moves), p.Perft(1))
		}
		for _, m := range moves {
			q := p.Clone().(*chess.Position)
			if err := q.Play(onTurn(q), m.Move); err != nil {
				t.Fatalf("%s: %v", fen, err)
			}
			if after := q.FEN(); !strings.HasSuffix(after, " 10000") && setup(t, variant, after).FEN() != after {
				t.Fatalf("%s: after %s %s does not read as itself", fen, m.Move, after)
			}
		}
	})
}

// FuzzParse: no text of moves, one a line, breaks a position or gets past Play.
func FuzzParse(f *testing.F) {
	var notation struct {
		Rows []struct{ Variant, Start, Text string }
	}
	readVector(f, "notation.json", &notation)
	var ends struct{ Rows []game }
	readVector(f, "draws.json", &ends)
	if len(notation.Rows) == 0 || len(ends.Rows) == 0 {
		f.Fatal("no seeds")
	}
	for _, row := range notation.Rows {
		f.Add(row.Start, row.Variant == chess.Chess960, row.Text)
	}
	for _, row := range ends.Rows {
		f.Add(row.Start, row.Variant == chess.Chess960, strings.Join(row.Moves, "\n"))
	}
	f.Fuzz(func(t *testing.T, start string, chess960 bool, text string) {
		variant := chess.Standard
		if chess960 {
			variant = chess.Chess960
		}
		p, err := chess.New(engine.Setup{Variant: variant, Seats: 2, Start: start})
		if err != nil {
			return
		}
		enginetest.FuzzMoves(t, p, text)
	})
}
