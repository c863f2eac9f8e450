package battleship_test

import (
	"fmt"
	"strings"
	"testing"

	"ludger/engine"
	"ludger/engine/battleship"
	"ludger/engine/enginetest"
)

func TestBattery(t *testing.T) {
	enginetest.Run(t, battleship.Game{}, enginetest.Options{
		Setups: []engine.Setup{{Variant: battleship.Standard, Seats: 2}},
		Games:  12, Plies: 201, Every: 11, Seed: 1,
		Knows: knows,
	})
}

// knows is the answer to every shot, and both layouts once a fleet is sunk. It follows the rules
// sheet in its own way: a fleet is a map from squares to ships.
func knows(_ engine.Setup, plies []enginetest.Ply, _ engine.Seat) string {
	var b strings.Builder
	var fleets [2]map[string]int
	for _, ply := range plies {
		if ply.Hidden {
			fleets[ply.Seat] = fleet(ply.Move)
			continue
		}
		ships := fleets[1-ply.Seat]
		ship, ok := ships[ply.Move]
		delete(ships, ply.Move)
		afloat := 0
		for _, other := range ships {
			if other == ship {
				afloat++
			}
		}
		switch {
		case !ok:
			b.WriteString("miss\n")
		case afloat > 0:
			b.WriteString("hit\n")
		default:
			fmt.Fprintf(&b, "sunk %d\n", lengths[ship])
		}
		if len(ships) == 0 {
			fmt.Fprintf(&b, "fleets %v\n", plies[:2])
		}
	}
	return b.String()
}

var lengths = []int{5, 4, 3, 3, 2}

// fleet says which ship lies on a square.
func fleet(layout string) map[string]int {
	at := make(map[string]int)
	for ship, text := range strings.Split(layout, " ") {
		var row rune
		var column int
		var direction rune
		if _, err := fmt.Sscanf(text, "%c%d%c", &row, &column, &direction); err != nil {
			panic(err)
		}
		for range lengths[ship] {
			at[fmt.Sprintf("%c%d", row, column)] = ship
			if direction == 'h' {
				column++
			} else {
				row++
			}
		}
	}
	return at
}
