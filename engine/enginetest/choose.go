package enginetest

import (
	"testing"

	"ludger/engine"
)

// choose picks a move at random: of the list, or a sample where it is too long, or a draw for Chance.
func choose(t *testing.T, p engine.Position, seat engine.Seat, random *Random) string {
	t.Helper()
	if d, ok := p.(engine.Drawer); ok && seat == engine.Chance {
		return d.Draw(random)
	}
	if unlisted(p, seat) {
		return p.(engine.Sampler).Sample(seat, random)
	}
	list := p.Legal(seat)
	if len(list) == 0 {
		t.Fatalf("%v is on turn without a move: %s", seat, view(p))
	}
	return list[random.Intn(len(list))].Move
}

// unlisted tells whether the moves of a seat on turn are too many to list.
func unlisted(p engine.Position, seat engine.Seat) bool {
	s, ok := p.(engine.Sampler)
	return ok && p.Turn().Has(seat) && s.Unlisted(seat)
}

// checkSource holds what a position draws or samples against the contract: it is legal, the same for
// the same numbers, and leaves the position as it is.
func (b *battery) checkSource(seat engine.Seat, before string, give func(engine.Source) string) {
	for range 8 {
		numbers := b.random
		first := source{T: b.T, Random: numbers}
		again := source{T: b.T, Random: numbers}
		move := give(&first)
		if second := give(&again); second != move || first.Random != again.Random {
			b.Errorf("%v gets %q, and %q from the same numbers, in %s", seat, move, second, before)
		}
		b.random = first.Random
		b.random.Intn(2)
		checkText(b.T, "move", move, engine.MaxMove)
		if got, err := b.p.Parse(seat, move); err != nil || got != move {
			b.Errorf("drawn move %q of %v parses to %q, %v in %s", move, seat, got, err, before)
		}
		c := b.p.Clone()
		if err := c.Play(seat, move); err != nil {
			b.Errorf("drawn move %q of %v: %v in %s", move, seat, err, before)
		}
		if got := view(b.p); got != before {
			b.Fatalf("drawing %q of %v changed the position:\n%s\n%s", move, seat, before, got)
		}
		b.legal.add(move)
	}
}

// checkDraws draws until every listed outcome has come.
func (b *battery) checkDraws(list []engine.Move, d engine.Drawer) {
	missing := make(map[string]bool)
	for _, m := range list {
		missing[m.Move] = true
	}
	for range 100 * len(list) {
		delete(missing, d.Draw(&b.random))
	}
	if len(missing) > 0 {
		b.Errorf("of %d listed outcomes, these do not come in %d draws: %v", len(list), 100*len(list), missing)
	}
}

// A source checks what it is asked for.
type source struct {
	*testing.T
	Random
}

func (s *source) Intn(n int) int {
	if n < 1 {
		s.Fatalf("asked for a number from 0 to %d-1", n)
	}
	return s.Random.Intn(n)
}

// checkKind holds a start position against what Info says of the game.
func checkKind(t *testing.T, info engine.Info, p engine.Position) {
	if _, ok := p.(engine.Drawer); ok != info.Chance {
		t.Errorf("chance: %v, position is a Drawer: %v", info.Chance, ok)
	}
	if _, ok := p.(engine.Hider); ok != info.Hidden {
		t.Errorf("hidden information: %v, position is a Hider: %v", info.Hidden, ok)
	}
}
