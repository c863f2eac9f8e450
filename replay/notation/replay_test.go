package notation

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	second "github.com/corentings/chess/v2"

	"ludger/engine"
	"ludger/engine/chess"
)

func replay(t testing.TB, g *PGN) (engine.Position, []string, error) {
	t.Helper()
	setup, err := g.Setup()
	if err != nil {
		t.Fatalf("game %d: %v", g.Game, err)
	}
	p, err := chess.Game{}.New(setup)
	if err != nil {
		t.Fatalf("game %d: %v", g.Game, err)
	}
	moves, err := g.Replay(p)
	return p, moves, err
}

// Every shared game replays, and where its record says how it ended, the engine says the same.
func TestReplayRecords(t *testing.T) {
	ends := map[string]int{}
	for name, text := range records(t) {
		games, _ := readAll(t, text)
		for _, g := range games {
			p, moves, err := replay(t, g)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if len(moves) != len(g.Moves) {
				t.Errorf("%s, game %d: %d moves, want %d", name, g.Game, len(moves), len(g.Moves))
			}
			if plies := g.Tag("PlyCount"); plies != "" && plies != fmt.Sprint(len(moves)) {
				t.Errorf("%s, game %d: %d moves, PlyCount says %s", name, g.Game, len(moves), plies)
			}
			class := g.Tag("EndClass")
			ends[class]++
			if class == "repetition" {
				claimDraw(t, p)
			}
			got, want := "*", "*"
			outcome, over := p.Outcome()
			if over {
				got = result(outcome) + " " + outcome.Reason
			}
			switch class {
			case "checkmate", "stalemate":
				want = g.Result + " " + class
			case "repetition":
				want = "1/2-1/2 threefold"
			}
			if strings.HasSuffix(g.Moves[len(g.Moves)-1].SAN, "#") {
				want = g.Result + " checkmate"
			}
			if got != want {
				t.Errorf("%s, game %d (%s): ended %s, want %s", name, g.Game, class, got, want)
			}
		}
	}
	t.Logf("games by end: %v", ends)
}

func claimDraw(t *testing.T, p engine.Position) {
	t.Helper()
	for _, seat := range p.Turn().Seats() {
		if err := p.Play(seat, "claim"); err != nil {
			t.Errorf("claiming the draw: %v", err)
		}
	}
}

func result(o engine.Outcome) string {
	switch {
	case o.Returns[0] > 0:
		return "1-0"
	case o.Returns[0] < 0:
		return "0-1"
	}
	return "1/2-1/2"
}

// A second library finds the same games, tags and moves in the shared files.
func TestSecondOpinion(t *testing.T) {
	for name, text := range records(t) {
		games, _ := readAll(t, text)
		scanner := second.NewScanner(strings.NewReader(string(text)))
		for _, g := range games {
			if g.Tag("Variant") == "fischerandom" {
				continue // it plays standard chess only
			}
			if !scanner.HasNext() {
				t.Fatalf("%s: the other library ends before game %d", name, g.Game)
			}
			other, err := scanner.ParseNext()
			if err != nil {
				t.Fatalf("%s, game %d: %v", name, g.Game, err)
			}
			_, moves, err := replay(t, g)
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			for _, m := range other.Moves() {
				want = append(want, m.String())
			}
			if !slices.Equal(moves, want) {
				t.Errorf("%s, game %d:\n got %v\nwant %v", name, g.Game, moves, want)
			}
			// It starts a game at its Event tag and loses the tags before; it reads a draw as "*".
			from := slices.IndexFunc(g.Tags, func(t Tag) bool { return t.Name == "Event" })
			for _, tag := range g.Tags[from:] {
				if got := other.GetTagPair(tag.Name); got != tag.Value {
					t.Errorf("%s, game %d: tag %s is %q there and %q here", name, g.Game, tag.Name, got, tag.Value)
				}
			}
			if got := other.Outcome().String(); got != g.Result && g.Result != "1/2-1/2" {
				t.Errorf("%s, game %d: result %s there and %s here", name, g.Game, got, g.Result)
			}
		}
	}
}

func parseOne(t *testing.T, text string) *PGN {
	t.Helper()
	games, broken := readAll(t, []byte(text))
	if len(games) != 1 || len(broken) != 0 {
		t.Fatalf("%d games, %v", len(games), broken)
	}
	return games[0]
}

func TestReplayRefuses(t *testing.T) {
	for _, c := range []struct {
		text   string
		moves  int
		reason error
		place  string
	}{
		{"1. e4 e5\n2. Nf4 *", 2, engine.ErrIllegal, "game 1, line 2: 2. "},
		{"1. e4 e4 *", 1, engine.ErrIllegal, "game 1, line 1: 1... "},
		{"1. f3 e5 2. g4 Qh4# 3. a3 0-1", 4, engine.ErrOver, "game 1, line 1: 3. a3: "},
		{"[FEN \"4k3/8/8/8/8/8/4P3/4K3 b - - 0 17\"]\n\nKd7 e4\nKa1 *", 2, engine.ErrIllegal, "game 1, line 4: 18... "},
	} {
		_, moves, err := replay(t, parseOne(t, c.text))
		var e *PGNError
		if !errors.As(err, &e) || !errors.Is(err, c.reason) || !strings.HasPrefix(err.Error(), c.place) || len(moves) != c.moves {
			t.Errorf("%q: %d moves, %v; want %d, %s… %v", c.text, len(moves), err, c.moves, c.place, c.reason)
		}
	}
}

func TestSetup(t *testing.T) {
	const fen = "nbbrknrq/pppppppp/8/8/8/8/PPPPPPPP/NBBRKNRQ w KQkq - 0 1"
	tag := func(pairs ...string) *PGN {
		g := &PGN{Game: 3, Line: 7}
		for i := 0; i < len(pairs); i += 2 {
			g.Tags = append(g.Tags, Tag{pairs[i], pairs[i+1]})
		}
		return g
	}
	for _, c := range []struct {
		g    *PGN
		want engine.Setup
		err  string
	}{
		{tag(), engine.Setup{Variant: "standard", Seats: 2}, ""},
		{tag("Variant", "Standard"), engine.Setup{Variant: "standard", Seats: 2}, ""},
		{tag("Variant", "From Position", "FEN", fen), engine.Setup{Variant: "standard", Seats: 2, Start: fen}, ""},
		{tag("Variant", "Chess 960", "FEN", fen), engine.Setup{Variant: "chess960", Seats: 2, Start: fen}, ""},
		{tag("Variant", "fischerandom", "FEN", fen), engine.Setup{Variant: "chess960", Seats: 2, Start: fen}, ""},
		{tag("Variant", "Chess960"), engine.Setup{}, "game 3, line 7: Chess960 game without a FEN tag"},
		{tag("Variant", "Atomic"), engine.Setup{}, `game 3, line 7: unknown variant "Atomic"`},
	} {
		got, err := c.g.Setup()
		if c.err != "" {
			if err == nil || err.Error() != c.err {
				t.Errorf("%v: got %v, want %s", c.g.Tags, err, c.err)
			}
		} else if err != nil || got != c.want {
			t.Errorf("%v: got %+v, %v, want %+v", c.g.Tags, got, err, c.want)
		}
	}
}
