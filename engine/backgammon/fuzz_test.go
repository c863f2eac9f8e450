package backgammon_test

import (
	"slices"
	"strings"
	"testing"

	"ludger/engine"
	"ludger/engine/backgammon"
	"ludger/engine/enginetest"
)

var variants = []string{backgammon.Single, backgammon.Money, backgammon.Match, backgammon.FreeMatch}

// seeds adds the starts and texts of the vectors.
func seeds(f *testing.F) {
	var notation struct {
		Rows []struct{ Variant, Start, Text string }
	}
	readVector(f, "notation.json", &notation)
	var endings struct{ Rows []line }
	readVector(f, "endings.json", &endings)
	if len(notation.Rows) == 0 || len(endings.Rows) == 0 {
		f.Fatal("no seeds")
	}
	for _, row := range notation.Rows {
		f.Add(uint8(slices.Index(variants, row.Variant)), row.Start, row.Text)
	}
	for _, row := range endings.Rows {
		f.Add(uint8(slices.Index(variants, row.Variant)), row.Start, strings.Join(row.Moves, "\n"))
	}
	f.Add(uint8(2), "7", "31\n8/5 6/5\nroll\n66")
}

// FuzzStart: whatever start is read prints as itself, and has the plays of a search that tries everything.
func FuzzStart(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, variant uint8, start, _ string) {
		p, err := backgammon.New(engine.Setup{Variant: variants[int(variant)%len(variants)], Seats: 2, Start: start})
		if err != nil {
			return
		}
		text := state(p)
		if strings.Contains(start, " ") && text != start {
			t.Fatalf("%q reads as %q", start, text)
		}
		if again := state(setup(t, variants[int(variant)%len(variants)], text)); again != text {
			t.Fatalf("%q reads as %q", text, again)
		}
		if p.Playing() {
			on, _ := p.OnRoll()
			got := listed(p, on)
			dice := strings.Fields(text)[1]
			want := brute(text[:26], int(on), [2]int{int(dice[2] - '0'), int(dice[3] - '0')})
			for i := range got { // a game that is over in a match begins anew
				if !slices.Contains(want, got[i]) && got[i] != startBoard {
					t.Fatalf("%s: results %q, want %q", text, got, want)
				}
			}
			if len(got) != len(want) {
				t.Fatalf("%s: results %q, want %q", text, got, want)
			}
		}
	})
}

// FuzzParse: no text of moves, one a line, breaks a position or gets past Play.
func FuzzParse(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, variant uint8, start, text string) {
		p, err := backgammon.New(engine.Setup{Variant: variants[int(variant)%len(variants)], Seats: 2, Start: start})
		if err != nil {
			return
		}
		enginetest.FuzzMoves(t, p, text)
	})
}

// FuzzPlay: a text that Parse takes for a play moves the checkers as it says.
func FuzzPlay(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, _ uint8, start, text string) {
		p, err := backgammon.New(engine.Setup{Variant: backgammon.Single, Seats: 2, Start: start})
		if err != nil || !p.Playing() {
			return
		}
		on, _ := p.OnRoll()
		move, err := p.Parse(on, text)
		if err != nil {
			return
		}
		steps, err := p.Steps(move)
		if err != nil {
			t.Fatal(err)
		}
		for _, alias := range []string{steps, strings.ReplaceAll(move, "bar", "25"), strings.ReplaceAll(move, "off", "0")} {
			if again, err := p.Parse(on, alias); err != nil || again != move {
				t.Fatalf("%s: %q reads as %q, %v; want %q", start, alias, again, err, move)
			}
		}
		if !slices.ContainsFunc(p.Legal(on), func(m engine.Move) bool { return m.Move == move }) {
			t.Fatalf("%s: Parse(%q) = %q, which is not listed", start, text, move)
		}
	})
}
