package battleship_test

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"ludger/engine"
	"ludger/engine/battleship"
	"ludger/testvectors"
)

var sentinels = map[string]error{
	"syntax":  engine.ErrSyntax,
	"illegal": engine.ErrIllegal,
	"turn":    engine.ErrTurn,
}

func setup(t testing.TB) *battleship.Position {
	t.Helper()
	p, err := battleship.New(engine.Setup{Variant: battleship.Standard, Seats: 2})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func play(t testing.TB, p engine.Position, seat engine.Seat, move string) {
	t.Helper()
	if err := p.Play(seat, move); err != nil {
		t.Fatalf("%s: %v", p.AppendState(nil, engine.Spectator), err)
	}
}

// readVector reads a vector file of this area.
func readVector(t testing.TB, name string, into any) {
	t.Helper()
	data, err := testvectors.FS.ReadFile("battleship/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// A ply is a seat, a move and in games the answer.
type ply struct {
	seat         engine.Seat
	move, answer string
}

func (p *ply) UnmarshalJSON(data []byte) error {
	var rest string
	return json.Unmarshal(data, &[]any{&p.seat, &p.move, &p.answer, &rest})
}

type game struct {
	ID     string
	Plies  []ply
	States []struct {
		After     int
		Spectator string
		Seat0     string `json:"0"`
		Seat1     string `json:"1"`
	}
	Outcome engine.Outcome
}

func readGames(t testing.TB) []game {
	var file struct{ Rows []game }
	readVector(t, "games.json", &file)
	if len(file.Rows) == 0 {
		t.Fatal("no games")
	}
	return file.Rows
}

// answer reads the answer to the last shot from what the spectator sees.
func answer(p engine.Position) string {
	state := strings.TrimSuffix(string(p.AppendState(nil, engine.Spectator)), " over:"+battleship.FleetSunk)
	last := state[strings.LastIndexByte(state, ' ')+1:]
	switch last[len(last)-1] {
	case '-':
		return "miss"
	case '*':
		return "hit"
	}
	return "sunk " + last[len(last)-1:]
}

func TestGames(t *testing.T) {
	for _, g := range readGames(t) {
		t.Run(g.ID, func(t *testing.T) {
			p := setup(t)
			for n := 0; ; n++ {
				for _, s := range g.States {
					for viewer, want := range map[engine.Seat]string{engine.Spectator: s.Spectator, 0: s.Seat0, 1: s.Seat1} {
						if got := string(p.AppendState(nil, viewer)); s.After == n && got != want {
							t.Errorf("after %d plies %v sees\n%s, want\n%s", n, viewer, got, want)
						}
					}
				}
				if n == len(g.Plies) {
					break
				}
				if _, over := p.Outcome(); over {
					t.Fatalf("over after %d plies", n)
				}
				next := g.Plies[n]
				if hidden := p.Hides(next.seat); hidden != (next.answer == "hidden") {
					t.Errorf("ply %d hidden: %v, want %s", n, hidden, next.answer)
				}
				play(t, p, next.seat, next.move)
				if next.answer != "hidden" && answer(p) != next.answer {
					t.Errorf("ply %d: %s is %s, want %s", n, next.move, answer(p), next.answer)
				}
			}
			outcome, over := p.Outcome()
			if !over || outcome.Reason != g.Outcome.Reason || !slices.Equal(outcome.Returns, g.Outcome.Returns) {
				t.Errorf("%+v, %v; want %+v", outcome, over, g.Outcome)
			}
			if f := p.Forfeit(0, engine.Resigned); f.Reason != outcome.Reason || !slices.Equal(f.Returns, outcome.Returns) {
				t.Errorf("resigned after the end: %+v, want %+v", f, outcome)
			}
		})
	}
}

func TestForfeit(t *testing.T) {
	p := setup(t)
	for seat := range engine.Seat(2) {
		for _, reason := range []string{engine.Resigned, engine.OutOfTime} {
			f := p.Forfeit(seat, reason)
			if f.Reason != reason || f.Returns[seat] != -1 || f.Returns[1-seat] != 1 {
				t.Errorf("Forfeit(%v, %q) = %+v", seat, reason, f)
			}
		}
		play(t, p, seat, "A1h B1h C1h D1h E1h")
	}
}

func TestIllegal(t *testing.T) {
	var file struct {
		Rows []struct {
			ID    string
			Plies []ply
			Seat  engine.Seat
			Move  string
			Error string
		}
	}
	readVector(t, "illegal.json", &file)
	for _, row := range file.Rows {
		p := setup(t)
		for _, ply := range row.Plies {
			play(t, p, ply.seat, ply.move)
		}
		before := p.Text(engine.Spectator)
		if err := p.Play(row.Seat, row.Move); !errors.Is(err, sentinels[row.Error]) || err == nil {
			t.Errorf("%s: %v, want %s", row.ID, err, row.Error)
		}
		if after := p.Text(engine.Spectator); after != before {
			t.Errorf("%s: refused, but\n%s\nbecame\n%s", row.ID, before, after)
		}
	}
	if len(file.Rows) == 0 {
		t.Error("no rows")
	}
}

// shooting is a position in which seat 0 may fire at everything but B7.
func shooting(t testing.TB) *battleship.Position {
	p := setup(t)
	play(t, p, 0, "A1h B1h C1h D1h E1h")
	play(t, p, 1, "J6h A10v D2v G2h E8v")
	play(t, p, 0, "B7")
	play(t, p, 1, "A1")
	return p
}

type notation struct {
	Phase, Text, Move, Error string
	Exact                    bool
}

func readNotation(t testing.TB) []notation {
	var file struct{ Rows []notation }
	readVector(t, "notation.json", &file)
	if len(file.Rows) == 0 {
		t.Fatal("no rows")
	}
	return file.Rows
}

func TestNotation(t *testing.T) {
	for _, row := range readNotation(t) {
		p := setup(t)
		if row.Phase == "shots" {
			p = shooting(t)
		}
		got, err := p.Parse(0, row.Text)
		if got != row.Move || !errors.Is(err, sentinels[row.Error]) {
			t.Errorf("Parse(%q) = %q, %v; want %q, %s", row.Text, got, err, row.Move, row.Error)
		}
		if err := p.Play(0, row.Text); (err == nil) != row.Exact {
			t.Errorf("Play(%q): %v, exact: %v", row.Text, err, row.Exact)
		}
	}
}

// The reasons are for people and no format, but each kind of mistake has its own.
func TestReasons(t *testing.T) {
	for _, row := range []struct{ phase, text, reason string }{
		{"layout", "A7h B1h C1h D1h E1h", "the ship of 5 squares at A7h leaves the waters"},
		{"layout", "A1h H1v C2h D2h E2h", "the ship of 4 squares at H1v leaves the waters"},
		{"layout", "A1h A5v C1h D1h E1h", "the ships of 5 and 4 squares both lie on A5"},
		{"layout", "A1h B1h C1h C3v E4h", "the ships of 3 and 3 squares both lie on C3"},
		{"layout", "C3", "shots are fired when both fleets are laid out: want the ships of 5, 4, 3, 3 and 2 squares, such as A1h C4v E7h J1h G10v"},
		{"layout", "A1h", "want the ships of 5, 4, 3, 3 and 2 squares, such as A1h C4v E7h J1h G10v"},
		{"layout", "a1h b1h d1h c1h e1h", "canonical notation is A1h B1h C1h D1h E1h"},
		{"shots", "A1h B1h C1h D1h E1h", "the fleets are laid out: want a square to fire at, such as B7"},
		{"shots", "B7", "B7 was fired at before"},
		{"shots", "B0", "want a square from A1 to J10, such as B7"},
		{"shots", "b8", "canonical notation is B8"},
	} {
		p := setup(t)
		if row.phase == "shots" {
			p = shooting(t)
		}
		var refused *engine.MoveError
		if err := p.Play(0, row.text); !errors.As(err, &refused) || refused.Reason != row.reason {
			t.Errorf("%q is refused with %v, want %q", row.text, err, row.reason)
		}
	}
}

func TestText(t *testing.T) {
	p := shooting(t)
	play(t, p, 0, "F8")
	play(t, p, 1, "A2")
	play(t, p, 0, "E8")
	const want = `Waters of seat 0, a fleet unseen, X a hit, o a miss, . not fired at:
   1 2 3 4 5 6 7 8 9 10
A  X X . . . . . . . .
B  . . . . . . . . . .
C  . . . . . . . . . .
D  . . . . . . . . . .
E  . . . . . . . . . .
F  . . . . . . . . . .
G  . . . . . . . . . .
H  . . . . . . . . . .
I  . . . . . . . . . .
J  . . . . . . . . . .
Last shot here: A2, hit.
Waters of seat 1 (yours), a digit is the length of the ship that lies there, X a hit, o a miss:
   1 2 3 4 5 6 7 8 9 10
A  . . . . . . . . . 4
B  . . . . . . o . . 4
C  . . . . . . . . . 4
D  . 3 . . . . . . . 4
E  . 3 . . . . . X . .
F  . 3 . . . . . X . .
G  . 3 3 3 . . . . . .
H  . . . . . . . . . .
I  . . . . . . . . . .
J  . . . . . 5 5 5 5 5
Sunk: destroyer (2), by the shot at E8.
Last shot here: E8, hit, and sunk.
Shot 6: seat 1 fires.
`
	if got := p.Text(1); got != want {
		t.Errorf("%s, want\n%s", got, want)
	}
}

func replay(t testing.TB, plies []ply) {
	p := setup(t)
	var room [1 << 10]byte
	for i := range plies {
		move, err := p.Parse(plies[i].seat, plies[i].move)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Play(plies[i].seat, move); err != nil {
			t.Fatal(err)
		}
		digest = sha256.Sum256(p.AppendState(room[:0], engine.Spectator))
	}
}

var digest [sha256.Size]byte

// BenchmarkPly is what replay pays for a ply: parse, play, print the state and digest it.
func BenchmarkPly(b *testing.B) {
	plies := readGames(b)[0].Plies
	b.ReportAllocs()
	for n := 0; n < b.N; n += len(plies) {
		replay(b, plies[:min(len(plies), b.N-n)])
	}
}

// A ply allocates nothing: a whole game allocates its position.
func TestAllocations(t *testing.T) {
	plies := readGames(t)[0].Plies
	if n := testing.AllocsPerRun(10, func() { replay(t, plies) }); n > 1 {
		t.Errorf("a game of %d plies allocates %v times, want once", len(plies), n)
	}
}

func Example() {
	p, err := battleship.New(engine.Setup{Variant: battleship.Standard, Seats: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, ply := range []struct {
		seat engine.Seat
		move string
	}{{0, "A1h B1h C1h D1h E1h"}, {1, "J6h A10v D2v G2h E9v"}, {0, "J7"}, {1, "F6"}} {
		if err := p.Play(ply.seat, ply.move); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Printf("%s\n", p.AppendState(nil, 0))
	fmt.Printf("%s\n", p.AppendState(nil, engine.Spectator))
	// Output:
	// fleets A1h B1h C1h D1h E1h/? shots J7* F6-
	// fleets ?/? shots J7* F6-
}
