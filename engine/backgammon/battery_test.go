package backgammon_test

import (
	"slices"
	"testing"

	"ludger/engine"
	"ludger/engine/backgammon"
	"ludger/engine/enginetest"
)

func TestBattery(t *testing.T) {
	enginetest.Run(t, backgammon.Game{}, enginetest.Options{
		Setups: []engine.Setup{
			{Variant: backgammon.Single, Seats: 2},
			{Variant: backgammon.Single, Seats: 2, Start: "-b----E-C---eE---c-e----B- 0:64 - - 1"},
			{Variant: backgammon.Money, Seats: 2},
			{Variant: backgammon.Money, Seats: 2, Start: "-b----E-C---eE---c-e----B- 1:act 1 - 8990"},
			{Variant: backgammon.Money, Seats: 2, Start: "-BBB----------------a---bA 1:answer 2@0 - 7"},
			{Variant: backgammon.Money, Seats: 2, Start: "-b----E-C---eE---c-e----B- 1:offer1 1 - 7"},
			{Variant: backgammon.Match, Seats: 2, Start: "1"},
			{Variant: backgammon.Match, Seats: 2, Start: "3"},
			{Variant: backgammon.FreeMatch, Seats: 2, Start: "2"},
			{Variant: backgammon.Match, Seats: 2, Start: "-b----E-C---eE---c-e----B- opening 1 3-4/5p 80"},
		},
		Games: 2, Plies: backgammon.MaxPlies + 1, Every: 17, Seed: 1,
	})
}

// TestRandom holds the plays of random games against those of a search that tries everything.
func TestRandom(t *testing.T) {
	random := enginetest.Random(7)
	positions := 0
	for positions < 3000 {
		p := setup(t, backgammon.Single, "")
		for !p.Turn().Over() {
			seat := onTurn(p)
			if seat == engine.Chance {
				if err := p.Play(seat, p.Draw(&random)); err != nil {
					t.Fatal(err)
				}
				continue
			}
			text := state(p)
			if positions%3 == 0 {
				got := listed(p, seat)
				want := brute(text[:26], int(seat), [2]int{int(text[29] - '0'), int(text[30] - '0')})
				if !slices.Equal(got, want) {
					t.Fatalf("%s: results %q, want %q", text, got, want)
				}
			}
			positions++
			list := p.Legal(seat)
			move := list[random.Intn(len(list))]
			if err := p.Play(seat, move.Move); err != nil {
				t.Fatal(err)
			}
		}
	}
}
