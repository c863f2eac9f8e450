package enginetest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"ludger/engine"
)

// A Ply is one move of a game as it was played.
type Ply struct {
	Seat   engine.Seat
	Move   string
	Hidden bool // as the position's Hides said when it was made
}

// checkHidden shows that what a viewer gets depends on nothing but what the viewer may know. Two
// games are played side by side: the same seats act in the same order, moves that are not hidden are
// the same, and hidden ones differ. Wherever a viewer may know the same of both, by Options.Knows, the
// viewer must get the same bytes of both. Each pair of games is for one viewer, the spectator and the
// seats by turns: of the moves tried, those are made that leave this viewer without a difference.
func checkHidden(t *testing.T, g engine.Game, o Options, legal *moves) {
	if o.Knows == nil {
		t.Fatal("a game with hidden information needs Options.Knows")
	}
	compared := make(map[engine.Seat]int)
	hides := false
	for i, s := range o.Setups {
		for n := range max(o.Games, 1+s.Seats) {
			seed := o.Seed + uint64(i*o.Games+n)
			w := twoWorlds{T: t, setup: s, knows: o.Knows, random: Random(seed), every: max(1, o.Every), compared: compared}
			w.viewer = append(seats(s), engine.Spectator)[n%(1+s.Seats)]
			w.tries = append(slices.Clone(g.Info().Examples), "", " ")
			for range min(12, len(legal.list)) {
				w.tries = append(w.tries, legal.list[w.random.Intn(len(legal.list))])
			}
			w.play(g, o.Plies)
			hides = hides || w.hides
			if t.Failed() {
				t.Fatalf("in the two games from %+v with seed %d:\n%v\n%v", s, seed, w.plies[0], w.plies[1])
			}
		}
	}
	if !hides {
		t.Error("a game with hidden information hides no move")
	}
	for _, s := range o.Setups {
		for _, viewer := range append(seats(s), engine.Spectator) {
			if hides && compared[viewer] == 0 {
				t.Errorf("no hidden move ever differed unseen by %v", viewer)
			}
		}
	}
	t.Logf("positions compared while something unseen differed, by viewer: %v", compared)
}

// twoWorlds are two games that differ in hidden moves.
type twoWorlds struct {
	*testing.T
	setup    engine.Setup
	knows    func(engine.Setup, []Ply, engine.Seat) string
	random   Random
	every    int
	viewer   engine.Seat         // whom the two games are for
	tries    []string            // texts that viewers try to play
	compared map[engine.Seat]int // positions with a difference, by viewer

	p      [2]engine.Position
	plies  [2][]Ply
	differ bool // some hidden move differed
	hides  bool // some move was hidden
}

func (w *twoWorlds) play(g engine.Game, plies int) {
	for i := range w.p {
		var err error
		if w.p[i], err = g.New(w.setup); err != nil {
			w.Fatal(err)
		}
	}
	offset := w.random.Intn(w.every)
	for ply := 0; ply <= plies; ply++ {
		turn := w.p[0].Turn()
		viewers := w.unaware()
		if len(viewers) == 0 || turn != w.p[1].Turn() && !slices.Contains(viewers, engine.Spectator) {
			return
		}
		fresh := ply > 0 && w.plies[0][ply-1].Hidden
		if ply%w.every == offset || fresh || turn.Over() || turn != w.p[1].Turn() {
			w.compare(viewers)
		}
		if w.Failed() || turn.Over() || !w.step(turn) {
			return
		}
	}
}

// unaware returns the viewers that know no difference. Whoever has no seat may know what the
// spectator may.
func (w *twoWorlds) unaware() (list []engine.Seat) {
	for _, viewer := range everySeat() {
		knower := viewer
		if viewer == engine.Chance || int(viewer) >= w.setup.Seats {
			knower = engine.Spectator
		}
		if w.known(w.plies[0], knower) == w.known(w.plies[1], knower) {
			list = append(list, viewer)
		}
	}
	return list
}

// known is all that the viewer may know: who acted, the moves that were not hidden, its own, and
// what the rules tell besides.
func (w *twoWorlds) known(plies []Ply, viewer engine.Seat) string {
	var b strings.Builder
	for _, ply := range plies {
		move := "hidden"
		if !ply.Hidden || ply.Seat == viewer {
			move = "move " + ply.Move
		}
		fmt.Fprintf(&b, "%d %s\n", ply.Seat, move)
	}
	return b.String() + w.knows(w.setup, plies, viewer)
}

// compare holds what each viewer gets of both games against each other.
func (w *twoWorlds) compare(viewers []engine.Seat) {
	tries := w.tries
	for _, plies := range w.plies {
		for _, ply := range plies[max(0, len(plies)-3):] {
			tries = append(tries[:len(tries):len(tries)], ply.Move)
		}
	}
	for _, viewer := range viewers {
		if w.differ {
			w.compared[viewer]++
		}
		a, b := gets(w.p[0], viewer, tries), gets(w.p[1], viewer, tries)
		for i := range a {
			if !bytes.Equal(a[i].bytes, b[i].bytes) {
				w.Errorf("%v may not know a difference, but the %s differs:\n%s\n%s", viewer, a[i].name, a[i].bytes, b[i].bytes)
				return
			}
		}
	}
}

// step makes a move in both games. Without one it returns false.
func (w *twoWorlds) step(turn engine.Turn) bool {
	acting := turn.Seats()
	if turn.Has(engine.Chance) {
		acting = append(acting, engine.Chance)
	}
	seat := acting[w.random.Intn(len(acting))]
	var hidden bool
	if h, ok := w.p[0].(engine.Hider); ok {
		hidden = h.Hides(seat)
	}
	w.hides = w.hides || hidden
	// The last try is with one move for both.
	for try := 32; try >= 0; try-- {
		moves := [2]string{choose(w.T, w.p[0], seat, &w.random)}
		moves[1] = moves[0]
		if hidden && try > 0 && seat != w.viewer {
			moves[1] = choose(w.T, w.p[1], seat, &w.random)
		}
		var next [2]engine.Position
		var plies [2][]Ply
		legal := true
		for i := range next {
			next[i] = w.p[i].Clone()
			legal = legal && next[i].Play(seat, moves[i]) == nil
			plies[i] = append(w.plies[i][:len(w.plies[i]):len(w.plies[i])], Ply{seat, moves[i], hidden})
		}
		if !legal || try > 0 && w.known(plies[0], w.viewer) != w.known(plies[1], w.viewer) {
			continue
		}
		w.p, w.plies = next, plies
		w.differ = w.differ || moves[0] != moves[1]
		return true
	}
	return false
}

// seats lists the seats of a setup.
func seats(s engine.Setup) (list []engine.Seat) {
	for seat := range engine.Seat(s.Seats) {
		list = append(list, seat)
	}
	return list
}

// A part is something a viewer gets.
type part struct {
	name  string
	bytes []byte
}

// gets is all that a viewer gets of a position, the answers to what it tries to play included. Chance
// is drawn for and asks nothing: what can be drawn may depend on what nobody knows.
func gets(p engine.Position, viewer engine.Seat, tries []string) []part {
	turn := p.Turn()
	outcome, over := p.Outcome()
	list := []part{
		{"turn", fmt.Appendf(nil, "%+v", turn)},
		{"state", p.AppendState(nil, viewer)},
		{"text", []byte(p.Text(viewer))},
		{"outcome", fmt.Appendf(nil, "%+v, %v", outcome, over)},
	}
	h, hider := p.(engine.Hider)
	s, sampler := p.(engine.Sampler)
	for _, seat := range everySeat() {
		if hider && turn.Has(seat) {
			list = append(list, part{"hiding of moves of " + seat.String(), fmt.Append(nil, h.Hides(seat))})
		}
		if sampler && turn.Has(seat) {
			list = append(list, part{"listing of moves of " + seat.String(), fmt.Append(nil, s.Unlisted(seat))})
		}
	}
	if viewer == engine.Chance {
		return list
	}
	moves := p.Legal(viewer)
	list = append(list, part{"number of moves", fmt.Append(nil, len(moves))}, part{"list of moves", fmt.Appendf(nil, "%+v", moves)})
	for _, text := range tries {
		move, err := p.Parse(viewer, text)
		list = append(list, part{fmt.Sprintf("answer to Parse of %q", text), fmt.Appendf(nil, "%q, %v", move, err)})
		err = p.Clone().Play(viewer, text)
		list = append(list, part{fmt.Sprintf("answer to Play of %q", text), fmt.Append(nil, err)})
	}
	return list
}

// checkOrder plays a move of every seat that is on turn, in several orders. Who comes first must not
// show when all have played.
func (b *battery) checkOrder() {
	seats := b.p.Turn().Seats()
	if len(seats) < 2 {
		return
	}
	moves := make(map[engine.Seat]string)
	for _, seat := range seats {
		moves[seat] = choose(b.T, b.p, seat, &b.random)
	}
	var want string
	for round := range 4 {
		order := slices.Clone(seats)
		if round == 1 {
			slices.Reverse(order)
		} else if round > 1 {
			for i := len(order) - 1; i > 0; i-- {
				j := b.random.Intn(i + 1)
				order[i], order[j] = order[j], order[i]
			}
		}
		p := b.p.Clone()
		for _, seat := range order {
			if err := p.Play(seat, moves[seat]); err != nil {
				b.Fatalf("in the order %v: %v", order, err)
			}
		}
		got := whole(p)
		if round == 0 {
			want = got
		} else if got != want {
			b.Fatalf("moves %q give another position in the order %v:\n%s\nfirst it was\n%s", moves, order, got, want)
		}
	}
}

// whole is all that all viewers get.
func whole(p engine.Position) string {
	var b []byte
	for _, viewer := range everySeat() {
		for _, part := range gets(p, viewer, nil) {
			b = append(append(b, part.bytes...), '\n')
		}
	}
	return string(b)
}
