package chess_test

import (
	"crypto/sha256"
	"fmt"
	"testing"

	"ludger/engine"
	"ludger/engine/chess"
)

type recorded struct {
	ID, Variant, Start string
	Plies              [][3]string // canonical notation, SAN, state after it
}

func readGames(t testing.TB) []recorded {
	var file struct{ Rows []recorded }
	readVector(t, "games.json", &file)
	if len(file.Rows) == 0 || len(file.Rows[0].Plies) != 100 {
		t.Fatal("want games, the first of 100 plies")
	}
	return file.Rows
}

func TestGames(t *testing.T) {
	for _, g := range readGames(t) {
		p := setup(t, g.Variant, g.Start)
		for i, ply := range g.Plies {
			if san, err := p.SAN(ply[0]); err != nil || san != ply[1] {
				t.Fatalf("%s, ply %d: SAN %q, %v; want %q", g.ID, i, san, err, ply[1])
			}
			if move, err := p.Parse(onTurn(p), ply[1]); err != nil || move != ply[0] {
				t.Fatalf("%s, ply %d: Parse(%q) = %q, %v; want %q", g.ID, i, ply[1], move, err, ply[0])
			}
			if err := p.Play(onTurn(p), ply[0]); err != nil {
				t.Fatalf("%s, ply %d: %v", g.ID, i, err)
			}
			if got := string(p.AppendState(nil, engine.Spectator)); got != ply[2] {
				t.Fatalf("%s, ply %d: state %s, want %s", g.ID, i, got, ply[2])
			}
		}
	}
}

func ExampleNew() {
	p, err := chess.New(engine.Setup{Variant: chess.Standard, Seats: 2})
	if err != nil {
		panic(err)
	}
	for i, text := range []string{"e4", "e5", "Qh5", "Nc6", "Bc4", "Nf6", "Qxf7#"} {
		seat := engine.Seat(i % 2)
		move, err := p.Parse(seat, text)
		if err != nil {
			panic(err)
		}
		if err := p.Play(seat, move); err != nil {
			panic(err)
		}
	}
	fmt.Print(p.Text(engine.Spectator))
	// Output:
	//   a b c d e f g h
	// 8 r . b q k b . r 8
	// 7 p p p p . Q p p 7
	// 6 . . n . . n . . 6
	// 5 . . . . p . . . 5
	// 4 . . B . P . . . 4
	// 3 . . . . . . . . 3
	// 2 P P P P . P P P 2
	// 1 R N B . K . N R 1
	//   a b c d e f g h
	// White is in capitals. FEN: r1bqkb1r/pppp1Qpp/2n2n2/4p3/2B1P3/8/PPPP1PPP/RNB1K1NR b KQkq - 0 4
	// Last move: h5f7
	// Checkmate: White wins.
}

// Playing allocates nothing but the growing history.
func TestPlyAllocations(t *testing.T) {
	plies := readGames(t)[0].Plies
	perGame := testing.AllocsPerRun(10, func() { replay(t, plies) })
	if perGame > 12 {
		t.Errorf("a game of %d plies allocates %v times", len(plies), perGame)
	}
}

var digests [sha256.Size]byte

func replay(t testing.TB, plies [][3]string) {
	p, err := chess.New(engine.Setup{Variant: chess.Standard, Seats: 2})
	if err != nil {
		t.Fatal(err)
	}
	var state [128]byte
	for i := range plies {
		seat := engine.Seat(i & 1)
		move, err := p.Parse(seat, plies[i][0])
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Play(seat, move); err != nil {
			t.Fatal(err)
		}
		digests = sha256.Sum256(p.AppendState(state[:0], engine.Spectator))
	}
}

// BenchmarkPly is what replay pays for a ply: parse, play, print the state and digest it.
func BenchmarkPly(b *testing.B) {
	plies := readGames(b)[0].Plies
	b.ReportAllocs()
	for n := 0; n < b.N; n += len(plies) {
		replay(b, plies[:min(len(plies), b.N-n)])
	}
}

func BenchmarkPerft(b *testing.B) {
	p := setup(b, chess.Standard, "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1")
	var nodes uint64
	for b.Loop() {
		nodes += p.Perft(4)
	}
	b.ReportMetric(float64(nodes)/b.Elapsed().Seconds(), "nodes/s")
}
