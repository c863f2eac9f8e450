package backgammon_test

import (
	"slices"
	"strings"
	"testing"

	"ludger/engine"
	"ludger/engine/backgammon"
)

// OpenSpiel plays a double as two turns of two checkers and asks for the maximum in each, so such
// turns are compared only where the two together are a legal play here; where they are not, or where
// the seats' own count of a double differs, the game is left. It logs a pass, which is no move here.

type spielGame struct {
	Action_strings []string
	Players        []int
	Returns        []int64
}

type spielState struct {
	Current_player       int
	Chosen_action_string string
	Legal_actions        [][2]any
}

func TestOpenSpiel(t *testing.T) {
	var traces struct{ Games []spielGame }
	shared(t, &traces, "openspiel", "generated", "backgammon_full_scoring.trace.json")
	whole, plies := 0, 0
	play := func(name string, g spielGame, lists [][]string, full bool) {
		n, ended := replaySpiel(t, name, g, lists, full)
		plies += n
		if ended {
			whole++
		}
	}
	for _, g := range traces.Games {
		play("trace", g, nil, true)
	}
	for _, name := range []string{"backgammon.json", "generated/backgammon_full_scoring.full0.json", "generated/backgammon_full_scoring.full1.json", "generated/backgammon_full_scoring.full2.json"} {
		var file struct {
			States  []spielState
			Returns []int64
		}
		shared(t, &file, append([]string{"openspiel"}, strings.Split(name, "/")...)...)
		g := spielGame{Returns: file.Returns}
		var lists [][]string
		for _, s := range file.States {
			if s.Chosen_action_string == "" {
				continue
			}
			g.Action_strings = append(g.Action_strings, s.Chosen_action_string)
			var list []string
			for _, a := range s.Legal_actions {
				list = append(list, spielMove(a[1].(string)))
			}
			lists = append(lists, list)
		}
		play(name, g, lists, strings.Contains(name, "full_scoring"))
	}
	t.Logf("%d plies, %d games to the end", plies, whole)
	if whole < 8 || plies < 1000 {
		t.Errorf("only %d plies and %d whole games were compared", plies, whole)
	}
}

// spielMove takes the number from an action such as "832 - Bar/22* 6/2"; a die that cannot be played is
// written as Pass.
func spielMove(action string) string {
	_, text, found := strings.Cut(action, " - ")
	if !found {
		text = action
	}
	return strings.TrimSpace(strings.ReplaceAll(text, "Pass", ""))
}

// replaySpiel plays a game as far as the rules agree.
func replaySpiel(t *testing.T, name string, g spielGame, lists [][]string, full bool) (plies int, ended bool) {
	t.Helper()
	p := setup(t, backgammon.Single, "")
	half := ""
	for i := 0; i < len(g.Action_strings); i++ {
		action := g.Action_strings[i]
		if roll, ok := strings.CutPrefix(action, "chance outcome "); ok {
			at := strings.Index(roll, "(roll: ")
			dice := roll[at+7 : at+9]
			// The opening roll names the starter's die first where X starts, last where O does.
			if strings.Contains(roll, "X starts") && dice[0] < dice[1] || strings.Contains(roll, "O starts") && dice[0] > dice[1] {
				dice = dice[1:] + dice[:1]
			}
			throw(t, p, dice)
			plies++
			continue
		}
		seat := onTurn(p)
		text := spielMove(action)
		if text == "" && seat == engine.Chance {
			continue // it passed by itself
		}
		dice := strings.Fields(state(p))[1]
		isDouble := len(dice) == 4 && dice[2] == dice[3]
		if isDouble && half == "" && i+1 < len(g.Action_strings) && !strings.HasPrefix(g.Action_strings[i+1], "chance") {
			half = text
			continue
		}
		if !isDouble && lists != nil && lists[i] != nil {
			var got, want []string
			for _, m := range p.Legal(seat) {
				got = append(got, m.Move)
			}
			for _, text := range lists[i] {
				move, err := p.Parse(seat, text)
				if err != nil {
					t.Errorf("%s, %s: %v", name, state(p), err)
				}
				want = append(want, move)
			}
			slices.Sort(got)
			slices.Sort(want)
			if want = slices.Compact(want); !slices.Equal(got, want) {
				t.Errorf("%s, %s: plays %q, want %q", name, state(p), got, want)
			}
		}
		move, err := p.Parse(seat, strings.TrimSpace(half+" "+text))
		half = ""
		if err != nil && isDouble {
			t.Logf("%s, action %d: left, %v", name, i, err)
			return plies, false
		}
		if err == nil {
			err = p.Play(seat, move)
		}
		if err != nil {
			t.Errorf("%s, action %d %q in %s: %v", name, i, action, state(p), err)
			return plies, false
		}
		plies++
	}
	o, over := p.Outcome()
	if !over {
		t.Errorf("%s: not over in %s", name, state(p))
		return plies, false
	}
	if !full {
		for i := range o.Returns {
			o.Returns[i] = max(-1, min(1, o.Returns[i]))
		}
	}
	if !slices.Equal(o.Returns, g.Returns) {
		t.Errorf("%s: %v, want %v", name, o.Returns, g.Returns)
	}
	return plies, true
}
