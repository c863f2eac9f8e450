package chess_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"ludger/engine"
	"ludger/engine/chess"
)

var sentinels = map[string]error{
	"syntax":    engine.ErrSyntax,
	"illegal":   engine.ErrIllegal,
	"ambiguous": engine.ErrAmbiguous,
	"turn":      engine.ErrTurn,
	"over":      engine.ErrOver,
}

type game struct {
	ID, Variant, Start string
	Moves              []string
}

func (g game) play(t *testing.T) *chess.Position {
	t.Helper()
	p := setup(t, g.Variant, g.Start)
	for _, move := range g.Moves {
		if err := p.Play(onTurn(p), move); err != nil {
			t.Fatalf("%s: %v", p.AppendState(nil, 0), err)
		}
	}
	return p
}

func TestEndings(t *testing.T) {
	var file struct {
		Rows []struct {
			game
			Outcome *engine.Outcome
			Claims  []string
			State   string
		}
	}
	readVector(t, "draws.json", &file)
	reasons := make(map[string]bool)
	for _, row := range file.Rows {
		t.Run(row.ID, func(t *testing.T) {
			p := row.play(t)
			state := string(p.AppendState(nil, engine.Spectator))
			if row.State != "" && state != row.State {
				t.Errorf("state %s, want %s", state, row.State)
			}
			outcome, over := p.Outcome()
			if row.Outcome == nil {
				if over {
					t.Fatalf("over: %+v", outcome)
				}
				claims := []string{}
				for _, m := range p.Legal(onTurn(p)) {
					if strings.HasPrefix(m.Move, "claim") {
						claims = append(claims, m.Move)
					}
				}
				if !slices.Equal(claims, row.Claims) {
					t.Errorf("%s: claims %q, want %q", state, claims, row.Claims)
				}
				return
			}
			if !over || outcome.Reason != row.Outcome.Reason || !slices.Equal(outcome.Returns, row.Outcome.Returns) {
				t.Errorf("%s: %+v, %v; want %+v", state, outcome, over, *row.Outcome)
			}
			if !strings.HasSuffix(state, " over:"+outcome.Reason) {
				t.Errorf("state %s does not say %s", state, outcome.Reason)
			}
			reasons[outcome.Reason] = true
		})
	}
	for _, reason := range []string{chess.Checkmate, chess.Stalemate, chess.DeadPosition, chess.Threefold, chess.FiftyMove, chess.Fivefold, chess.SeventyFiveMove} {
		if !reasons[reason] {
			t.Errorf("no game ends by %s", reason)
		}
	}
}

func TestIllegal(t *testing.T) {
	var file struct {
		Rows []struct {
			game
			Seat  engine.Seat
			Move  string
			Error string
		}
	}
	readVector(t, "illegal.json", &file)
	for _, row := range file.Rows {
		t.Run(row.ID, func(t *testing.T) {
			p := row.play(t)
			before := string(p.AppendState(nil, 0))
			err := p.Play(row.Seat, row.Move)
			var refused *engine.MoveError
			if !errors.As(err, &refused) || refused.Err != sentinels[row.Error] || refused.Reason == "" {
				t.Errorf("%s: Play(%v, %q): %v, want %s", before, row.Seat, row.Move, err, row.Error)
			}
			if after := string(p.AppendState(nil, 0)); after != before {
				t.Errorf("refused %q, but %s became %s", row.Move, before, after)
			}
		})
	}
}

func TestNotation(t *testing.T) {
	var file struct {
		Rows []struct{ Variant, Start, Text, Move, Error string }
	}
	readVector(t, "notation.json", &file)
	for _, row := range file.Rows {
		p := setup(t, row.Variant, row.Start)
		got, err := p.Parse(onTurn(p), row.Text)
		if got != row.Move || !errors.Is(err, sentinels[row.Error]) {
			t.Errorf("%s: Parse(%q) = %q, %v; want %q, %s", p.FEN(), row.Text, got, err, row.Move, row.Error)
		}
	}
}

// The reasons are for people and no format, but each kind of mistake has its own.
func TestReasons(t *testing.T) {
	const kiwi = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"
	for _, row := range []struct{ variant, start, move, reason string }{
		{"standard", "", "e4e5", "no piece on e4"},
		{"standard", "", "e7e5", "the pawn on e7 is Black's"},
		{"standard", "", "e2e2", "a move goes to another square"},
		{"standard", "", "g1e2", "White's own pawn stands on e2"},
		{"standard", "", "g1g3", "a knight does not move from g1 to g3"},
		{"standard", "", "f1c4", "the way from f1 to c4 is blocked"},
		{"standard", "", "e2d3", "a pawn moves there only to capture, and there is nothing to capture on d3"},
		{"standard", "", "e2e5", "a pawn does not move from e2 to e5"},
		{"standard", "4k3/8/8/8/8/4n3/4P3/4K3 w - - 0 1", "e2e4", "the way from e2 to e4 is blocked"},
		{"standard", "8/P6k/8/8/8/8/8/K7 w - - 0 1", "a7a8", "a pawn on the last rank must promote: add q, r, b or n"},
		{"standard", "", "g1f3q", "only a pawn that reaches the last rank promotes"},
		{"standard", "3r2k1/8/8/8/8/8/8/4K3 w - - 0 1", "e1d1", "the king would be in check on d1"},
		{"standard", "4r1k1/8/8/8/4N3/8/8/4K3 w - - 0 1", "e4c5", "the king on e1 would be in check"},
		{"standard", "4r1k1/8/8/8/8/8/8/R3K3 w Q - 0 1", "a1b1", "the king on e1 is in check and would stay in check"},
		{"standard", "4r1k1/8/8/8/8/8/8/4K2R w K - 0 1", "e1g1", "the king may not castle out of check"},
		{"standard", "5rk1/8/8/8/8/8/8/4K2R w K - 0 1", "e1g1", "the king may not castle through check on f1"},
		{"standard", "k5r1/8/8/8/8/8/8/4K2R w K - 0 1", "e1g1", "the king would be in check on g1"},
		{"standard", "4k3/8/8/8/8/8/8/RN2K3 w Q - 0 1", "e1c1", "the knight on b1 stands in the way of castling"},
		{"standard", "4k3/8/8/8/8/8/8/4K2R w - - 0 1", "e1g1", "the right to castle there is lost"},
		{"standard", "4k3/8/8/8/8/8/8/4K2R w - - 0 1", "e1c1", "a king does not move from e1 to c1"},
		{"standard", kiwi, "e1h1", "castling is written as the king's two steps, such as e1g1"},
		{"chess960", kiwi, "e1g1", "a king does not move from e1 to g1; castling is written as the king taking its own rook"},
		{"chess960", "4k3/8/8/8/8/8/8/qRK5 w B - 0 1", "c1b1", "the king would be in check on c1"},
		{"standard", "", "claim", "a claim needs the position for the third time, or 50 moves of each player without a capture or a pawn's move; it occurs once, after 0 such plies"},
	} {
		p := setup(t, row.variant, row.start)
		var refused *engine.MoveError
		if err := p.Play(0, row.move); !errors.As(err, &refused) || refused.Reason != row.reason {
			t.Errorf("%s: %s is refused with %v, want %q", p.FEN(), row.move, err, row.reason)
		}
	}
}

func TestForfeit(t *testing.T) {
	for _, row := range []struct {
		fen     string
		seat    engine.Seat
		returns int64 // of the seat that runs out of time
	}{
		{"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 0, -1},
		{"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 1, -1},
		{"4k3/8/8/8/8/8/8/Q3K3 w - - 0 1", 0, 0}, // a king alone never mates
		{"4k3/8/8/8/8/8/8/Q3K3 w - - 0 1", 1, -1},
		{"4kn2/8/8/8/8/8/8/Q3K3 w - - 0 1", 0, 0}, // a knight against queens
		{"4kn2/8/8/8/8/8/8/R3K3 w - - 0 1", 0, -1},
		{"4knn1/8/8/8/8/8/8/Q3K3 w - - 0 1", 0, -1},
		{"4kb2/8/8/8/8/8/8/R3K3 w - - 0 1", 0, 0}, // a bishop against a rook
		{"4kb2/8/8/8/8/8/P7/4K3 w - - 0 1", 0, -1},
		{"4kb2/8/8/8/8/8/8/4KB2 w - - 0 1", 0, -1}, // bishops on both colours
		{"4kb2/8/8/8/8/8/8/Q3K1B1 w - - 0 1", 0, 0},
		{"4kbn1/8/8/8/8/8/8/Q3K3 w - - 0 1", 0, -1},
		{"4k3/p7/8/8/8/8/8/Q3K3 w - - 0 1", 0, -1},
	} {
		p := setup(t, chess.Standard, row.fen)
		got := p.Forfeit(row.seat, engine.OutOfTime)
		if got.Reason != engine.OutOfTime || got.Returns[row.seat] != row.returns || got.Returns[row.seat]+got.Returns[1-row.seat] != 0 {
			t.Errorf("%s: %v out of time: %+v, want %d", row.fen, row.seat, got, row.returns)
		}
		if got := p.Forfeit(row.seat, engine.Resigned); got.Reason != engine.Resigned || got.Returns[row.seat] != -1 {
			t.Errorf("%s: %v resigns: %+v", row.fen, row.seat, got)
		}
	}
	over := setup(t, chess.Standard, "7k/8/6Q1/8/8/8/8/K7 b - - 1 1")
	if got := over.Forfeit(1, engine.Resigned); got.Reason != chess.Stalemate || got.Returns[1] != 0 {
		t.Errorf("resigned after stalemate: %+v", got)
	}
}
