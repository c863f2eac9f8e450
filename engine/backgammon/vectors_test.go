package backgammon_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"ludger/engine"
	"ludger/engine/backgammon"
	"ludger/testvectors"
)

func readVector(t testing.TB, name string, into any) {
	t.Helper()
	data, err := testvectors.FS.ReadFile("backgammon/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

var sentinels = map[string]error{
	"syntax":    engine.ErrSyntax,
	"illegal":   engine.ErrIllegal,
	"ambiguous": engine.ErrAmbiguous,
	"turn":      engine.ErrTurn,
	"over":      engine.ErrOver,
}

type line struct {
	ID, Variant, Start string
	Moves              []string
}

func (l line) play(t testing.TB) *backgammon.Position {
	t.Helper()
	p := setup(t, l.Variant, l.Start)
	for _, move := range l.Moves {
		if err := p.Play(onTurn(p), move); err != nil {
			t.Fatalf("%s: %v", state(p), err)
		}
	}
	return p
}

type playsRow struct {
	ID, Start, Dice string
	Tags            []string
	Plays, Boards   []string
}

func readPlays(t testing.TB) []playsRow {
	var file struct{ Rows []playsRow }
	readVector(t, "plays.json", &file)
	if len(file.Rows) < 50 {
		t.Fatalf("%d rows", len(file.Rows))
	}
	return file.Rows
}

func TestPlaysVectors(t *testing.T) {
	for _, row := range readPlays(t) {
		p := setup(t, backgammon.Single, row.Start)
		on, _ := p.OnRoll()
		throw(t, p, row.Dice)
		plays, boards := []string{}, []string{}
		for _, m := range p.Legal(on) {
			q := p.Clone()
			if err := q.Play(on, m.Move); err != nil {
				t.Fatal(err)
			}
			plays = append(plays, m.Move)
			boards = append(boards, state(q)[:26])
		}
		if !slices.Equal(plays, row.Plays) || !slices.Equal(boards, row.Boards) {
			t.Errorf("%s: %q to %q, want %q to %q", row.ID, plays, boards, row.Plays, row.Boards)
		}
		if passed := p.Turn().Has(engine.Chance); passed != (len(row.Plays) == 0) {
			t.Errorf("%s: passed: %v, with %d plays", row.ID, passed, len(row.Plays))
		}
	}
}

func TestGames(t *testing.T) {
	var file struct {
		Rows []struct {
			line
			Outcome engine.Outcome
			Plies   [][3]any
		}
	}
	readVector(t, "games.json", &file)
	if len(file.Rows) < 5 {
		t.Fatalf("%d games", len(file.Rows))
	}
	for _, g := range file.Rows {
		p := setup(t, g.Variant, g.Start)
		for i, ply := range g.Plies {
			if err := p.Play(engine.Seat(ply[0].(float64)), ply[1].(string)); err != nil {
				t.Fatalf("%s, ply %d: %v", g.ID, i, err)
			}
			if got := state(p); got != ply[2] {
				t.Fatalf("%s, ply %d: state %s, want %s", g.ID, i, got, ply[2])
			}
		}
		if o, over := p.Outcome(); !over || o.Reason != g.Outcome.Reason || !slices.Equal(o.Returns, g.Outcome.Returns) {
			t.Errorf("%s: %+v, %v, want %+v", g.ID, o, over, g.Outcome)
		}
	}
}

func TestEndings(t *testing.T) {
	var file struct {
		Rows []struct {
			line
			Outcome *engine.Outcome
			State   string
		}
	}
	readVector(t, "endings.json", &file)
	reasons := make(map[string]bool)
	for _, row := range file.Rows {
		t.Run(row.ID, func(t *testing.T) {
			p := row.play(t)
			if got := state(p); got != row.State {
				t.Errorf("state %s, want %s", got, row.State)
			}
			o, over := p.Outcome()
			if over != (row.Outcome != nil) || over && (o.Reason != row.Outcome.Reason || !slices.Equal(o.Returns, row.Outcome.Returns)) {
				t.Fatalf("%+v, %v; want %+v", o, over, row.Outcome)
			}
			reasons[o.Reason] = true
			if !over {
				if again := state(setup(t, row.Variant, row.State)); again != row.State {
					t.Errorf("%s reads as %s", row.State, again)
				}
			} else if !strings.HasSuffix(row.State, " over:"+o.Reason) {
				t.Errorf("state %s does not say %s", row.State, o.Reason)
			}
		})
	}
	for _, reason := range []string{backgammon.SingleGame, backgammon.Gammon, backgammon.BackgammonGame, backgammon.Dropped, backgammon.MatchWon, backgammon.PlyLimit, engine.Resigned} {
		if !reasons[reason] {
			t.Errorf("no game ends by %s", reason)
		}
	}
}

func TestIllegal(t *testing.T) {
	var file struct {
		Rows []struct {
			line
			Seat        engine.Seat
			Move, Error string
		}
	}
	readVector(t, "illegal.json", &file)
	for _, row := range file.Rows {
		t.Run(row.ID, func(t *testing.T) {
			p := row.play(t)
			before := state(p)
			err := p.Play(row.Seat, row.Move)
			var refused *engine.MoveError
			if !errors.As(err, &refused) || refused.Err != sentinels[row.Error] || refused.Reason == "" {
				t.Errorf("%s: Play(%v, %q): %v, want %s", before, row.Seat, row.Move, err, row.Error)
			}
			if after := state(p); after != before {
				t.Errorf("refused %q, but %s became %s", row.Move, before, after)
			}
		})
	}
}

func TestNotation(t *testing.T) {
	var file struct {
		Rows []struct{ Variant, Start, Text, Move, Error string }
	}
	readVector(t, "notation.json", &file)
	for _, row := range file.Rows {
		p := setup(t, row.Variant, row.Start)
		got, err := p.Parse(onTurn(p), row.Text)
		if got != row.Move || !errors.Is(err, sentinels[row.Error]) {
			t.Errorf("%s: Parse(%q) = %q, %v; want %q, %s", row.Start, row.Text, got, err, row.Move, row.Error)
		}
	}
}
