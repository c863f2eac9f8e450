package chess

import (
	"strconv"
	"testing"

	"ludger/engine"
)

// TestDrawnStart: each number that can be drawn gives the start position of that number, and nothing
// else can be played before.
func TestDrawnStart(t *testing.T) {
	for n := range starts {
		p, err := New(engine.Setup{Variant: Chess960, Seats: 2})
		if err != nil {
			t.Fatal(err)
		}
		text := strconv.Itoa(n)
		want, err := New(engine.Setup{Variant: Chess960, Seats: 2, Start: text})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Play(0, "e2e4"); err == nil {
			t.Fatal("a move before the start is drawn")
		}
		if err := p.Play(engine.Chance, text); err != nil {
			t.Fatal(err)
		}
		if got, want := string(p.AppendState(nil, 0)), string(want.AppendState(nil, 0)); got != want {
			t.Fatalf("start %s drawn: %s, want %s", text, got, want)
		}
	}
	p, err := New(engine.Setup{Variant: Chess960, Seats: 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "960", "-1", "007", "+5", "5 ", "518.0", "e2e4"} {
		if err := p.Play(engine.Chance, text); err == nil {
			t.Errorf("start %q is drawn", text)
		}
	}
}
