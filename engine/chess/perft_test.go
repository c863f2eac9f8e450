package chess_test

import (
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"

	"ludger/engine"
	"ludger/engine/chess"
	"ludger/testvectors"
)

const shared = "../../../shared/games/"

// readShared reads a file beside the repository, or skips loudly.
func readShared(t testing.TB, name string, into any) {
	t.Helper()
	data, err := os.ReadFile(shared + name)
	if err != nil {
		t.Skipf("SKIPPED, not compared with %s: %v", name, err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// readVector reads a vector file of this area.
func readVector(t testing.TB, name string, into any) {
	t.Helper()
	data, err := testvectors.FS.ReadFile("chess/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

func setup(t testing.TB, variant, start string) *chess.Position {
	t.Helper()
	p, err := chess.New(engine.Setup{Variant: variant, Seats: 2, Start: start})
	if err != nil {
		t.Fatalf("%s %q: %v", variant, start, err)
	}
	return p
}

type perftRow struct {
	ID      string            `json:"id"`
	Variant string            `json:"variant"`
	FEN     string            `json:"fen"`
	Nodes   map[string]uint64 `json:"nodes"`
}

// checkPerft compares all counts up to the budget of nodes each, and returns how many it compared.
func checkPerft(t *testing.T, row perftRow, budget uint64) (compared int) {
	p := setup(t, row.Variant, row.FEN)
	for text, want := range row.Nodes {
		depth, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		if want > budget {
			continue
		}
		compared++
		if got := p.Perft(depth); got != want {
			t.Errorf("%s: perft %d of %s = %d, want %d", row.ID, depth, row.FEN, got, want)
		}
	}
	return compared
}

func TestPerftVectors(t *testing.T) {
	var file struct{ Rows []perftRow }
	readVector(t, "perft.json", &file)
	if len(file.Rows) == 0 {
		t.Fatal("no rows")
	}
	for _, row := range file.Rows {
		if checkPerft(t, row, 1_000_000) == 0 {
			t.Errorf("%s: nothing compared", row.ID)
		}
	}
}

// With LUDGER_LONG=1 the shared tables are compared to 200 million nodes a count.
func TestPerftShared(t *testing.T) {
	budget := uint64(500_000)
	if os.Getenv("LUDGER_LONG") != "" {
		budget = 200_000_000
	}
	rows, compared := 0, 0
	for _, f := range []struct{ name, variant string }{
		{"chess", chess.Standard}, {"chess_random", chess.Standard}, {"chess960", chess.Chess960},
	} {
		var file struct{ Rows []perftRow }
		readShared(t, "perft/"+f.name+".json", &file)
		for _, row := range file.Rows {
			row.Variant = f.variant
			for _, prefix := range []string{"xfen-", "hside-", "asymmetrical-"} {
				if strings.HasPrefix(row.ID, prefix) {
					row.Variant = chess.Chess960 // these carry castling rights of Chess960
				}
			}
			compared += checkPerft(t, row, budget)
			rows++
		}
	}
	t.Logf("%d positions, %d counts", rows, compared)
	if rows == 0 {
		t.Error("the tables are empty")
	}
}
