package backgammon_test

import (
	"crypto/sha256"
	"slices"
	"testing"

	"ludger/engine"
	"ludger/engine/backgammon"
	"ludger/engine/enginetest"
)

type ply struct {
	seat engine.Seat
	move string
}

// match plays a match of random moves and lists them.
func match(t testing.TB, variant, start string, seed uint64) (plies []ply) {
	random := enginetest.Random(seed)
	p := setup(t, variant, start)
	for !p.Turn().Over() {
		seat := onTurn(p)
		var move string
		if seat == engine.Chance {
			move = p.Draw(&random)
		} else if list := p.Legal(seat); p.Playing() {
			move = list[random.Intn(len(list))].Move
		} else {
			move = list[0].Move
		}
		if err := p.Play(seat, move); err != nil {
			t.Fatal(err)
		}
		plies = append(plies, ply{seat, move})
	}
	return plies
}

var digests [sha256.Size]byte

func replay(t testing.TB, plies []ply) {
	p := setup(t, backgammon.Match, "7")
	var state [128]byte
	for i := range plies {
		move, err := p.Parse(plies[i].seat, plies[i].move)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Play(plies[i].seat, move); err != nil {
			t.Fatal(err)
		}
		digests = sha256.Sum256(p.AppendState(state[:0], engine.Spectator))
	}
}

// Playing allocates nothing.
func TestPlyAllocations(t *testing.T) {
	plies := match(t, backgammon.Match, "7", 1)
	if n := testing.AllocsPerRun(5, func() { replay(t, plies) }); n > 2 {
		t.Errorf("a match of %d plies allocates %v times", len(plies), n)
	}
}

// BenchmarkPly is what replay pays for a ply, throws included: parse, play, print the state and digest it.
func BenchmarkPly(b *testing.B) {
	plies := match(b, backgammon.Match, "7", 1)
	b.ReportAllocs()
	for n := 0; n < b.N; n += len(plies) {
		replay(b, plies[:min(len(plies), b.N-n)])
	}
}

// BenchmarkForced plays what needs a search for more, as BenchmarkPly does not often: positions in which only
// a part of the dice can be used.
func BenchmarkForced(b *testing.B) {
	var starts []backgammon.Position
	var moves []string
	for _, row := range readPlays(b) {
		if slices.Contains(row.Tags, "partial") {
			p := setup(b, backgammon.Single, row.Start)
			throw(b, p, row.Dice)
			starts = append(starts, *p)
			moves = append(moves, row.Plays[0])
		}
	}
	b.ReportAllocs()
	for n := 0; n < b.N; n++ {
		p := starts[n%len(starts)]
		if err := p.Play(onTurn(&p), moves[n%len(moves)]); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkLegal lists the plays of all those positions.
func BenchmarkLegal(b *testing.B) {
	var list []*backgammon.Position
	for _, row := range readPlays(b) {
		if len(row.Plays) > 0 {
			p := setup(b, backgammon.Single, row.Start)
			throw(b, p, row.Dice)
			list = append(list, p)
		}
	}
	plays := 0
	for n := 0; b.Loop(); n++ {
		p := list[n%len(list)]
		plays += len(p.Legal(onTurn(p)))
	}
	b.ReportMetric(float64(plays)/float64(b.N), "plays/op")
}
