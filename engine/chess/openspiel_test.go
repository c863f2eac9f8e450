package chess_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"ludger/engine"
	"ludger/engine/chess"
)

// OpenSpiel's rules differ from ours in ways its files name: seat 1 is White; the third occurrence
// and the hundredth ply without progress end the game at once, where ours offers a claim; a dead
// position is known by material only; SAN has no mate or check marks in the *.full files.

type spielState struct {
	Full   bool    `json:"full"`
	Text   string  `json:"state_text"`
	Action string  `json:"chosen_action_string"`
	Raw    [][]any `json:"legal_actions"`
	Over   bool    `json:"terminal"`
}

// boardMoves lists the legal moves on the board, claims left out.
func boardMoves(p *chess.Position) (list []engine.Move) {
	for _, m := range p.Legal(onTurn(p)) {
		if !strings.HasPrefix(m.Move, "claim") {
			list = append(list, m)
		}
	}
	return list
}

func onTurn(p *chess.Position) engine.Seat {
	if seats := p.Turn().Seats(); len(seats) == 1 {
		return seats[0]
	}
	return engine.Spectator
}

func plain(san string) string { return strings.TrimRight(san, "+#") }

// playSAN parses and plays, and holds SAN against what was read.
func playSAN(t testing.TB, p *chess.Position, san string) {
	t.Helper()
	seat := onTurn(p)
	move, err := p.Parse(seat, san)
	if err != nil {
		t.Fatalf("%s: %v", p.FEN(), err)
	}
	if got, err := p.SAN(move); err != nil || plain(got) != plain(san) {
		t.Fatalf("%s: SAN of %s is %q, %v; want %q", p.FEN(), move, got, err, san)
	}
	if err := p.Play(seat, move); err != nil {
		t.Fatalf("%s: %v", p.FEN(), err)
	}
}

// checkEnd compares how OpenSpiel ended a game with ours.
func checkEnd(t *testing.T, p *chess.Position, returns []int64) {
	t.Helper()
	if outcome, over := p.Outcome(); over {
		if !slices.Equal(outcome.Returns, []int64{returns[1], returns[0]}) {
			t.Errorf("%s: %+v, OpenSpiel returns %v", p.FEN(), outcome, returns)
		}
		return
	}
	// Only their immediate draws, which are claims here, may leave our game open.
	if _, err := p.Parse(onTurn(p), "claim"); err != nil || returns[0] != 0 {
		t.Errorf("%s: open, %v; OpenSpiel returns %v", p.FEN(), err, returns)
	}
}

func TestOpenSpielStates(t *testing.T) {
	for _, f := range []string{"chess.json", "generated/chess.full0.json", "generated/chess960.full0.json", "generated/chess960.full1.json"} {
		var file struct {
			Parameters map[string]any
			States     []spielState
			Returns    []int64
		}
		readShared(t, "openspiel/"+f, &file)
		states := file.States
		variant, start := chess.Standard, ""
		if strings.Contains(f, "960") {
			states = states[1:] // the first draws the start
			variant, start = chess.Chess960, states[0].Text
		}
		p := setup(t, variant, start)
		for i, s := range states {
			if s.Full && s.Text != p.FEN() {
				t.Fatalf("%s, state %d is %s, want %s", f, i, p.FEN(), s.Text)
			}
			if s.Over {
				checkEnd(t, p, file.Returns)
				break
			}
			if s.Full {
				var want, got []string
				for _, a := range s.Raw {
					want = append(want, plain(a[1].(string)))
				}
				for _, m := range boardMoves(p) {
					got = append(got, plain(m.Notation))
				}
				slices.Sort(want)
				slices.Sort(got)
				if !slices.Equal(got, want) {
					t.Fatalf("%s, state %d, %s:\nmoves %v\nwant  %v", f, i, p.FEN(), got, want)
				}
			}
			playSAN(t, p, s.Action)
		}
		t.Logf("%s: %d states", f, len(states))
	}
}

type spielTrace struct {
	Returns []int64
	Actions []string `json:"action_strings"`
	Counts  []int    `json:"legal_counts"`
	Final   string   `json:"final_state_text"`
}

func TestOpenSpielTraces(t *testing.T) {
	var file struct{ Games []spielTrace }
	readShared(t, "openspiel/generated/chess.trace.json", &file)
	if len(file.Games) == 0 {
		t.Fatal("no games")
	}
	for i, g := range file.Games {
		p := setup(t, chess.Standard, "")
		for ply, san := range g.Actions {
			if got := len(boardMoves(p)); got != g.Counts[ply] {
				t.Fatalf("game %d, ply %d: %d moves, want %d: %s", i, ply, got, g.Counts[ply], p.FEN())
			}
			playSAN(t, p, san)
		}
		if p.FEN() != g.Final {
			t.Errorf("game %d ends at %s, want %s", i, p.FEN(), g.Final)
		}
		checkEnd(t, p, g.Returns)
	}
}

// The Chess960 traces name the start by a number of OpenSpiel's own. Exactly one start fits each.
func TestOpenSpielTraces960(t *testing.T) {
	var file struct{ Games []spielTrace }
	readShared(t, "openspiel/generated/chess960.trace.json", &file)
	if len(file.Games) == 0 {
		t.Fatal("no games")
	}
	for i, g := range file.Games {
		var fits []int
	starts:
		for n := range 960 {
			p := setup(t, chess.Chess960, strconv.Itoa(n))
			for ply, san := range g.Actions[1:] {
				move, err := p.Parse(onTurn(p), san)
				if err != nil || p.Perft(1) != uint64(g.Counts[ply+1]) {
					continue starts
				}
				if err := p.Play(onTurn(p), move); err != nil {
					t.Fatal(err)
				}
			}
			if p.FEN() == g.Final {
				fits = append(fits, n)
				checkEnd(t, p, g.Returns)
			}
		}
		if len(fits) != 1 {
			t.Errorf("game %d, %s: starts %v fit, want one", i, g.Actions[0], fits)
		}
	}
}
