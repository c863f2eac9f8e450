package battleship_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"ludger/engine"
)

// OpenSpiel's games have other rules: ships are placed one by one in turns, in the order 2, 3, 3, 4, 5;
// a game stops after 50 shots each; in battleship.json a square may be fired at again. The placements
// make whole layouts here. Games on five by five squares, which are also there, are not ours.
const shared = "../../../shared/games/openspiel/"

func readShared(t *testing.T, name string, into any) {
	t.Helper()
	data, err := os.ReadFile(shared + name)
	if err != nil {
		t.Skipf("SKIPPED, not compared with %s: %v", name, err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// spielLayouts reads the first ten actions as two layouts in canonical notation.
func spielLayouts(t *testing.T, actions []string) (layouts [2]string) {
	t.Helper()
	var ships [2][]string // of 2, 3, 3, 4 and 5 squares
	for _, a := range actions[:10] {
		var seat, row, column int
		var direction string
		if _, err := fmt.Sscanf(a, "Pl%d: place ship %s with top-left corner in (%d, %d)", &seat, &direction, &row, &column); err != nil {
			t.Fatalf("%q: %v", a, err)
		}
		ships[seat] = append(ships[seat], fmt.Sprintf("%c%d%c", 'A'+row, column+1, direction[0]))
	}
	for seat, s := range ships {
		text := strings.Join([]string{s[4], s[3], s[2], s[1], s[0]}, " ")
		move, err := setup(t).Parse(engine.Seat(seat), text)
		if err != nil {
			t.Fatal(err)
		}
		layouts[seat] = move
	}
	return layouts
}

func spielShot(t *testing.T, action string) (seat engine.Seat, row, column int, move string) {
	t.Helper()
	if _, err := fmt.Sscanf(action, "Pl%d: shoot at (%d, %d)", &seat, &row, &column); err != nil {
		t.Fatalf("%q: %v", action, err)
	}
	return seat, row, column, fmt.Sprintf("%c%d", 'A'+row, column+1)
}

// spielBoards reads the drawing of both boards: a capital is a hit, * is a miss.
func spielBoards(t *testing.T, text string) (boards [2][]string) {
	t.Helper()
	n := -1
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(line, "Player ") {
			n++
		} else if strings.HasPrefix(line, "|") {
			boards[n] = append(boards[n], strings.Trim(line, "|"))
		}
	}
	if len(boards[0]) != 10 || len(boards[1]) != 10 {
		t.Fatalf("boards %q", boards)
	}
	return boards
}

func TestOpenSpielTraces(t *testing.T) {
	var file struct {
		Games []struct {
			Returns []int
			Actions []string `json:"action_strings"`
			Counts  []int    `json:"legal_counts"`
			Final   string   `json:"final_state_text"`
		}
	}
	readShared(t, "generated/battleship10.trace.json", &file)
	if len(file.Games) == 0 {
		t.Fatal("no games")
	}
	for i, g := range file.Games {
		p := setup(t)
		for seat, layout := range spielLayouts(t, g.Actions) {
			play(t, p, engine.Seat(seat), layout)
		}
		boards := spielBoards(t, g.Final)
		var sunk [2]int
		for n, action := range g.Actions[10:] {
			seat, row, column, move := spielShot(t, action)
			if got := len(p.Legal(seat)); got != g.Counts[10+n] {
				t.Fatalf("game %d, shot %d: %d moves, want %d", i, n, got, g.Counts[10+n])
			}
			play(t, p, seat, move)
			got := answer(p)
			if strings.HasPrefix(got, "sunk") {
				sunk[seat]++
			}
			if mark := boards[1-seat][row][column]; mark == ' ' || (mark == '*') != (got == "miss") {
				t.Errorf("game %d, shot %d at %s: %s, drawn %q", i, n, move, got, mark)
			}
		}
		// Every ship is worth one; our game goes on until a fleet is sunk.
		if sunk[0]-sunk[1] != g.Returns[0] || sunk[1]-sunk[0] != g.Returns[1] {
			t.Errorf("game %d: %v ships sunk, OpenSpiel returns %v", i, sunk, g.Returns)
		}
	}
	t.Logf("%d games", len(file.Games))
}

// The published game repeats shots, which is refused here. The answers to a seat's shots depend on
// no more than those before it, so the game is played on without the repeated ones.
func TestOpenSpielStates(t *testing.T) {
	var file struct {
		States []struct {
			Action      string            `json:"chosen_action_string"`
			Over        bool              `json:"terminal"`
			Information map[string]string `json:"information_state"`
			Text        string            `json:"state_text"`
		}
		Returns []int
	}
	readShared(t, "battleship.json", &file)
	last := file.States[len(file.States)-1]
	if !last.Over {
		t.Fatal("the last state is not the end")
	}
	var actions []string
	for _, s := range file.States[:len(file.States)-1] {
		if s.Action == "" {
			t.Fatalf("a state without an action before the end")
		}
		actions = append(actions, s.Action)
	}
	p := setup(t)
	for seat, layout := range spielLayouts(t, actions) {
		play(t, p, engine.Seat(seat), layout)
	}
	// The answers that OpenSpiel gave to each seat: W is water, H a hit, S a ship sunk.
	var want [2]map[string]string
	var shots [2][]string
	var sunk [2]int
	for seat := range shots {
		want[seat] = make(map[string]string)
		for _, item := range strings.Split(last.Information[fmt.Sprint(seat)], "/") {
			var row, column int
			var letter string
			if n, _ := fmt.Sscanf(strings.ReplaceAll(item, ":", " "), "shot_%d_%d %s", &row, &column, &letter); n != 3 {
				continue
			}
			move := fmt.Sprintf("%c%d", 'A'+row, column+1)
			if want[seat][move] == "" {
				want[seat][move] = letter
				shots[seat] = append(shots[seat], move)
			}
		}
	}
	compared := 0
	for ply := 0; len(shots[ply&1]) > 0; ply++ {
		seat := engine.Seat(ply & 1)
		move := shots[seat][0]
		shots[seat] = shots[seat][1:]
		play(t, p, seat, move)
		got := answer(p)
		if strings.HasPrefix(got, "sunk") {
			sunk[seat]++
		}
		if letter := map[string]string{"miss": "W", "hit": "H"}[got]; letter != want[seat][move] && (letter != "" || want[seat][move] != "S") {
			t.Errorf("%v at %s: %s, OpenSpiel %s", seat, move, got, want[seat][move])
		}
		compared++
	}
	if compared < 60 {
		t.Errorf("only %d shots compared", compared)
	}
	if sunk[0]-sunk[1] != file.Returns[0] || sunk[1]-sunk[0] != file.Returns[1] {
		t.Errorf("%v ships sunk, OpenSpiel returns %v", sunk, file.Returns)
	}
	t.Logf("%d of %d shots", compared, len(actions)-10)
}
