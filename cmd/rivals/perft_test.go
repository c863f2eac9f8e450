package rivals

import (
	"slices"
	"testing"
	"time"

	corentings "github.com/corentings/chess/v2"
	"github.com/dylhunn/dragontoothmg"

	"ludger/engine"
	"ludger/engine/chess"
)

// counts are known: a generator that skips work does not get to the number.
var counts = []struct {
	fen   string
	depth int
	nodes uint64
}{
	{"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 4, 197281},
	{"r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1", 3, 97862},
}

// A counter counts the positions a number of half-moves below one.
type counter func(fen string, depth int) (uint64, error)

func ludger(fen string, depth int) (uint64, error) {
	p, err := chess.New(engine.Setup{Variant: chess.Standard, Seats: 2, Start: fen})
	if err != nil {
		return 0, err
	}
	return p.Perft(depth), nil
}

func dragontooth(fen string, depth int) (uint64, error) {
	b := dragontoothmg.ParseFen(fen)
	return uint64(dragontoothmg.Perft(&b, depth)), nil
}

func coren(fen string, depth int) (uint64, error) {
	option, err := corentings.FEN(fen)
	if err != nil {
		return 0, err
	}
	return corenPerft(corentings.NewGame(option).Position(), depth), nil
}

func corenPerft(p *corentings.Position, depth int) (n uint64) {
	moves := p.ValidMoves()
	if depth == 1 {
		return uint64(len(moves))
	}
	for i := range moves {
		n += corenPerft(p.Update(&moves[i]), depth-1)
	}
	return n
}

// pace returns how many positions a generator counts per second.
func pace(b *testing.B, count counter) float64 {
	start := time.Now()
	total := uint64(0)
	for time.Since(start) < time.Second/4 {
		for _, c := range counts {
			n, err := count(c.fen, c.depth)
			if err != nil || n != c.nodes {
				b.Fatalf("%s at depth %d: %d, %v, want %d", c.fen, c.depth, n, err, c.nodes)
			}
			total += n
		}
	}
	return float64(total) / time.Since(start).Seconds()
}

func comparePace(b *testing.B, rival counter) {
	for range b.N {
		ratios := make([]float64, pairs)
		for i := range ratios {
			us, them := pace(b, ludger), pace(b, rival)
			ratios[i] = us / them
			b.Logf("ours %.1f million/s, theirs %.1f million/s, ratio %.2f", us/1e6, them/1e6, ratios[i])
		}
		slices.Sort(ratios)
		b.ReportMetric(ratios[pairs/2], "ratio")
	}
}

func BenchmarkFigurePerft(b *testing.B) {
	b.Run("against_dragontoothmg", func(b *testing.B) { comparePace(b, dragontooth) })
	b.Run("against_corentings", func(b *testing.B) { comparePace(b, coren) })
}
