// Package enginetest is the battery that every game passes: it plays seeded random games to the end
// and holds each position against the contract of package engine.
//
//	func TestBattery(t *testing.T) {
//		enginetest.Run(t, chess.Game{}, enginetest.Options{
//			Setups: []engine.Setup{{Variant: "standard", Seats: 2}},
//			Games:  10, Plies: 3000,
//		})
//	}
//
// It knows nothing of any game's rules: that the right moves are legal is shown by the game's own
// facts, such as counts of moves and games that others recorded. Of a game with hidden information it has
// to be told who may know what, by Options.Knows; it then shows that nobody gets more, in the test
// hidden, by playing two games that differ only in what a viewer may not know.
package enginetest

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"ludger/engine"
)

// Options says what to play.
type Options struct {
	Setups []engine.Setup // the starts to play from, at least one of each variant
	Games  int            // random games from each
	Plies  int            // how long a random game may last; a longer one fails
	Every  int            // hold every so-many-th position against the whole contract, and those after a hidden move; 0 is each
	Seed   uint64         // of the random play

	// Knows returns what a seat or the spectator may know by the rules after some plies from the start,
	// besides who acted, the moves that were not hidden and its own: the cards it was dealt, whether
	// a shot hit, what a showdown showed. It is written from the rules card, not from the engine: where
	// it is the same for two games, the viewer must not get different bytes. Every game with hidden
	// information needs it.
	Knows func(s engine.Setup, plies []Ply, viewer engine.Seat) string
}

// Run holds a game against the contract.
func Run(t *testing.T, g engine.Game, o Options) {
	t.Run("info", func(t *testing.T) { checkInfo(t, g, o) })
	t.Run("setups", func(t *testing.T) { checkSetups(t, g, o) })
	var legal moves // every move that was legal anywhere
	reasons := make(map[string]int)
	t.Run("play", func(t *testing.T) {
		drawn := make(map[engine.Setup]bool)
		for i, s := range o.Setups {
			for n := range o.Games {
				seed := o.Seed + uint64(i*o.Games+n)
				b := battery{T: t, game: g, setup: s, random: Random(seed), every: max(1, o.Every), legal: &legal, drawn: drawn}
				b.play(o.Plies)
				if t.Failed() {
					t.Fatalf("in the game from %+v with seed %d", s, seed)
				}
				if b.p.Turn().Over() {
					outcome, _ := b.p.Outcome()
					reasons[outcome.Reason]++
				}
			}
		}
		t.Logf("endings: %v", reasons)
	})
	if len(legal.list) == 0 {
		t.Error("no move was ever legal")
	}
	if g.Info().Hidden {
		t.Run("hidden", func(t *testing.T) { checkHidden(t, g, o, &legal) })
	}
}

// Random is a splitmix64 generator: the same seed gives the same numbers everywhere.
type Random uint64

// Intn returns a number from 0 to n-1. Its small bias does not matter to a test.
func (r *Random) Intn(n int) int {
	*r += 0x9e3779b97f4a7c15
	z := uint64(*r)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return int((z ^ z>>31) % uint64(n))
}

// FuzzMoves plays moves that come from outside, one a line, each by every seat on turn, and once the
// game is over by seat 0. It fails where a position changes by a move it refuses, or where Parse gives a move that
// Play refuses or that does not parse to itself.
func FuzzMoves(t *testing.T, p engine.Position, text string) {
	for line := range strings.SplitSeq(text, "\n") {
		seats := p.Turn().Seats()
		if p.Turn().Has(engine.Chance) {
			seats = append(seats, engine.Chance)
		} else if p.Turn().Over() {
			seats = []engine.Seat{0}
		}
		for _, seat := range seats {
			before := view(p)
			move, err := p.Parse(seat, line)
			if err != nil {
				checkRefusal(t, p, before, seat, line, err)
				continue
			}
			if again, err := p.Parse(seat, move); err != nil || again != move {
				t.Fatalf("Parse(%v, %q) = %q, which parses to %q, %v", seat, line, move, again, err)
			}
			checkText(t, "move", move, engine.MaxMove)
			if err := p.Play(seat, move); err != nil {
				t.Fatalf("Parse(%v, %q) = %q, but Play: %v", seat, line, move, err)
			}
		}
	}
}

func checkInfo(t *testing.T, g engine.Game, o Options) {
	info := g.Info()
	if !strings.HasPrefix(info.ID, info.Name+"@") || info.Name == "" {
		t.Errorf("ID %q of a game named %q", info.ID, info.Name)
	}
	if info.Grammar == "" || info.Rules == "" || len(info.Examples) == 0 || len(info.Variants) == 0 {
		t.Error("grammar, rules, examples and variants must not be empty")
	}
	for _, v := range info.Variants {
		if v.Name == "" || v.MinSeats < 1 || v.MaxSeats < v.MinSeats || v.MaxSeats > engine.MaxSeats {
			t.Errorf("variant %+v", v)
		}
		if !slices.ContainsFunc(o.Setups, func(s engine.Setup) bool { return s.Variant == v.Name }) {
			t.Errorf("no setup of variant %q", v.Name)
		}
	}
	for _, example := range info.Examples {
		checkText(t, "example", example, engine.MaxMove)
		known := false
		for _, s := range o.Setups {
			p, err := g.New(s)
			if err != nil {
				t.Fatalf("%+v: %v", s, err)
			}
			for _, seat := range p.Turn().Seats() {
				if _, err := p.Parse(seat, example); !errors.Is(err, engine.ErrSyntax) {
					known = true
				}
			}
		}
		if !known {
			t.Errorf("example %q is outside the grammar in every start", example)
		}
	}
}

func checkSetups(t *testing.T, g engine.Game, o Options) {
	if len(o.Setups) == 0 {
		t.Fatal("no setups")
	}
	for _, s := range o.Setups {
		if len(s.Start) > engine.MaxStart {
			t.Errorf("start of %d bytes exceeds %d", len(s.Start), engine.MaxStart)
		}
		p, err := g.New(s)
		if err != nil {
			t.Fatal(err)
		}
		checkKind(t, g.Info(), p)
		for _, bad := range []engine.Setup{
			{Variant: s.Variant + "x", Seats: s.Seats, Start: s.Start},
			{Variant: "", Seats: s.Seats, Start: s.Start},
			{Variant: s.Variant, Seats: 0, Start: s.Start},
			{Variant: s.Variant, Seats: -1, Start: s.Start},
			{Variant: s.Variant, Seats: engine.MaxSeats + 1, Start: s.Start},
			{Variant: s.Variant, Seats: s.Seats, Start: s.Start + "\x00"},
			{Variant: s.Variant, Seats: s.Seats, Start: s.Start + strings.Repeat(" ", engine.MaxStart)},
		} {
			if p, err := g.New(bad); err == nil || p != nil {
				t.Errorf("New(%+v) = %v, %v; want an error and nothing else", bad, p, err)
			}
		}
	}
}

// moves is a set that keeps its order, so that a seed always picks the same.
type moves struct {
	list []string
	has  map[string]bool
}

func (m *moves) add(move string) {
	if m.has == nil {
		m.has = make(map[string]bool)
	}
	if !m.has[move] {
		m.has[move] = true
		m.list = append(m.list, move)
	}
}

// A battery plays one random game.
type battery struct {
	*testing.T
	game   engine.Game
	setup  engine.Setup
	random Random
	every  int
	legal  *moves
	drawn  map[engine.Setup]bool // setups with a position whose every outcome was drawn
	p      engine.Position
}

func (b *battery) play(plies int) {
	var err error
	if b.p, err = b.game.New(b.setup); err != nil {
		b.Fatal(err)
	}
	twin, err := b.game.New(b.setup)
	if err != nil {
		b.Fatal(err)
	}
	settled := slices.ContainsFunc(b.game.Info().Variants, func(v engine.Variant) bool { return v.Name == b.setup.Variant && v.Settled })
	moved := false // a seat made a move
	offset := b.random.Intn(b.every)
	for ply := 0; ; ply++ {
		if view(b.p) != view(twin) {
			b.Fatalf("ply %d: two positions after the same moves differ:\n%s\n%s", ply, view(b.p), view(twin))
		}
		turn := b.p.Turn()
		if turn.Has(engine.Chance) && (moved && settled || !b.game.Info().Chance) {
			b.Fatalf("ply %d: chance is on turn in a game with chance: %v, settled: %v", ply, b.game.Info().Chance, settled)
		}
		if ply%b.every == offset || turn.Over() {
			b.check()
		}
		if b.Failed() || turn.Over() {
			return
		}
		if ply == plies {
			b.Fatalf("not over after %d plies: %s", plies, view(b.p))
		}
		seats := turn.Seats()
		if turn.Has(engine.Chance) {
			seats = append(seats, engine.Chance)
		}
		seat := seats[b.random.Intn(len(seats))]
		move := choose(b.T, b.p, seat, &b.random)
		moved = moved || seat != engine.Chance
		for _, p := range []engine.Position{b.p, twin} {
			if err := p.Play(seat, move); err != nil {
				b.Fatalf("ply %d: legal move %q of %v: %v", ply, move, seat, err)
			}
		}
	}
}

// check holds one position against the contract.
func (b *battery) check() {
	p := b.p
	before := view(p)
	turn := p.Turn()
	outcome, over := p.Outcome()
	if over != turn.Over() {
		b.Errorf("outcome present: %v, nobody on turn: %v", over, turn.Over())
	}
	if over {
		if len(outcome.Returns) != b.setup.Seats || outcome.Reason == "" {
			b.Errorf("outcome %+v of %d seats", outcome, b.setup.Seats)
		}
		outcome.Returns[0]++
		if again, _ := p.Outcome(); again.Returns[0] == outcome.Returns[0] {
			b.Error("an outcome shares memory with the position")
		}
	}
	for seat := range engine.Seat(b.setup.Seats) {
		for _, reason := range []string{engine.Resigned, engine.OutOfTime} {
			if f := p.Forfeit(seat, reason); len(f.Returns) != b.setup.Seats || f.Reason == "" {
				b.Errorf("Forfeit(%v, %q) = %+v", seat, reason, f)
			}
		}
	}
	for _, viewer := range everySeat() {
		b.checkState(viewer)
	}
	for _, seat := range everySeat() {
		list := p.Legal(seat)
		open := unlisted(p, seat)
		if (turn.Has(seat) && !open) != (len(list) > 0) {
			b.Errorf("%v on turn: %v, unlisted: %v, with %d moves", seat, turn.Has(seat), open, len(list))
		}
		b.checkList(seat, list, before)
		b.checkOutside(seat, list, open, before)
		if d, ok := p.(engine.Drawer); ok && seat == engine.Chance && turn.Has(seat) {
			b.checkSource(seat, before, d.Draw)
			if !b.drawn[b.setup] && len(list) <= 64 {
				b.drawn[b.setup] = true
				b.checkDraws(list, d)
			}
		} else if open {
			b.checkSource(seat, before, func(s engine.Source) string { return p.(engine.Sampler).Sample(seat, s) })
		}
	}
	b.checkOrder()
	if got := view(p); got != before {
		b.Errorf("looking at a position changed it:\n%s\n%s", before, got)
	}
}

func (b *battery) checkState(viewer engine.Seat) {
	state := b.p.AppendState(nil, viewer)
	checkText(b.T, "state", string(state), 1<<16)
	if got := b.p.AppendState([]byte("before"), viewer); !bytes.Equal(got, append([]byte("before"), state...)) {
		b.Errorf("state appended to other bytes is %q, want %q at the end", got, state)
	}
	if public := b.p.AppendState(nil, engine.Spectator); !b.game.Info().Hidden && !bytes.Equal(state, public) {
		b.Errorf("nothing is hidden, but %v sees %q and the spectator %q", viewer, state, public)
	}
	room := make([]byte, 0, len(state))
	if n := testing.AllocsPerRun(2, func() { room = b.p.AppendState(room[:0], viewer) }); n != 0 {
		b.Errorf("AppendState allocates %v times", n)
	}
	if b.p.Text(viewer) == "" {
		b.Errorf("no text for %v", viewer)
	}
}

// checkList plays every listed move on a clone.
func (b *battery) checkList(seat engine.Seat, list []engine.Move, before string) {
	seen := make(map[string]bool)
	for _, m := range list {
		checkText(b.T, "move", m.Move, engine.MaxMove)
		if seen[m.Move] || m.Notation == "" || m.Summary == "" {
			b.Errorf("listed move %+v, listed before: %v", m, seen[m.Move])
		}
		seen[m.Move] = true
		b.legal.add(m.Move)
		for _, text := range []string{m.Move, m.Notation} {
			if got, err := b.p.Parse(seat, text); err != nil || got != m.Move {
				b.Errorf("Parse(%v, %q) = %q, %v; want %q in %s", seat, text, got, err, m.Move, before)
			}
		}
		c := b.p.Clone()
		if view(c) != before {
			b.Fatalf("a clone differs:\n%s\n%s", view(c), before)
		}
		if err := c.Play(seat, m.Move); err != nil {
			b.Errorf("listed move %q of %v: %v in %s", m.Move, seat, err, before)
		}
		if view(b.p) != before {
			b.Fatalf("playing %q on a clone changed the position:\n%s\n%s", m.Move, before, view(b.p))
		}
	}
}

// checkOutside tries moves that are not on the list: some that were legal elsewhere, and listed ones
// with a byte changed, added or taken away. Where moves are unlisted, some of them are legal: then Play
// takes those that Parse returns as they are.
func (b *battery) checkOutside(seat engine.Seat, list []engine.Move, open bool, before string) {
	allowed := make(map[string]bool)
	for _, m := range list {
		allowed[m.Move] = true
	}
	tries := []string{"", " ", "\x00", "é", strings.Repeat("a", engine.MaxMove), strings.Repeat("9", 1<<16)}
	tries = append(tries, b.game.Info().Examples...)
	for range min(40, len(b.legal.list)) {
		tries = append(tries, b.legal.list[b.random.Intn(len(b.legal.list))])
	}
	for range 12 {
		var m engine.Move
		if len(list) > 0 {
			m = list[b.random.Intn(len(list))]
		} else if open && seat != engine.Chance {
			m.Move = b.p.(engine.Sampler).Sample(seat, &b.random)
			m.Notation = m.Move
		} else {
			break
		}
		at := b.random.Intn(len(m.Move))
		near := m.Move[at] + byte(1-2*b.random.Intn(2))
		tries = append(tries, m.Notation, m.Move+" ", " "+m.Move, strings.ToUpper(m.Move),
			m.Move[:at]+m.Move[at+1:], m.Move[:at]+string(rune(near))+m.Move[at+1:])
	}
	for _, text := range tries {
		if allowed[text] {
			continue
		}
		c := b.p.Clone()
		move, refused := b.p.Parse(seat, text)
		err := c.Play(seat, text)
		if open && (err == nil) != (refused == nil && move == text) {
			b.Errorf("%v plays %q: %v; but Parse gives %q, %v, in %s", seat, text, err, move, refused, before)
		}
		if open && err == nil {
			continue
		}
		if err == nil {
			b.Errorf("Play(%v, %q), which is not listed, passes in %s", seat, text, before)
			continue
		}
		checkRefusal(b.T, c, before, seat, text, err)
		if refused != nil {
			checkRefusal(b.T, c, before, seat, text, refused)
		} else if !open && !allowed[move] {
			b.Errorf("Parse(%v, %q) = %q, which is not listed, in %s", seat, text, move, before)
		}
	}
}

// checkRefusal wants an error of the contract, and the position as it was.
func checkRefusal(t *testing.T, p engine.Position, before string, seat engine.Seat, text string, err error) {
	t.Helper()
	var refused *engine.MoveError
	if !errors.As(err, &refused) {
		t.Fatalf("%v plays %q: %v is no MoveError", seat, text, err)
	}
	if refused.Seat != seat || !strings.HasPrefix(text, refused.Text) || len(refused.Text) != min(len(text), engine.MaxMove) {
		t.Errorf("%v plays %q: the error is about %v and %q", seat, text, refused.Seat, refused.Text)
	}
	if refused.Reason == "" || strings.HasSuffix(refused.Reason, ".") {
		t.Errorf("%v plays %q: refused with reason %q", seat, text, refused.Reason)
	}
	over, on := p.Turn().Over(), p.Turn().Has(seat)
	var right bool
	switch {
	case errors.Is(err, engine.ErrOver):
		right = over
	case errors.Is(err, engine.ErrTurn):
		right = !over && !on
	case errors.Is(err, engine.ErrSyntax), errors.Is(err, engine.ErrIllegal), errors.Is(err, engine.ErrAmbiguous):
		right = on
	}
	if !right {
		t.Errorf("%v plays %q, over: %v, on turn: %v; refused as %v", seat, text, over, on, err)
	}
	if got := view(p); got != before {
		t.Fatalf("%v plays %q, refused, but the position changed:\n%s\n%s", seat, text, before, got)
	}
}

func checkText(t *testing.T, what, text string, most int) {
	t.Helper()
	if text == "" || len(text) > most {
		t.Errorf("%s of %d bytes, want 1 to %d", what, len(text), most)
	}
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			t.Errorf("%s %q is not printable ASCII", what, text)
			return
		}
	}
}

// everySeat is every seat there can be, chance and the spectator included.
func everySeat() []engine.Seat {
	seats := []engine.Seat{engine.Spectator, engine.Chance}
	for s := engine.Seat(0); s < engine.MaxSeats; s++ {
		seats = append(seats, s)
	}
	return seats
}

// view is all that can be seen of a position: who is on turn, and each viewer's state.
func view(p engine.Position) string {
	var b []byte
	for _, seat := range everySeat() {
		if p.Turn().Has(seat) {
			b = append(b, "* "...)
		}
		b = append(p.AppendState(b, seat), '\n')
	}
	return string(b)
}
