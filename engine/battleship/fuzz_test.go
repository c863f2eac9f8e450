package battleship_test

import (
	"strings"
	"testing"

	"ludger/engine/enginetest"
)

// FuzzMoves: no text of moves, one a line, breaks a position or gets past Play.
func FuzzMoves(f *testing.F) {
	for _, row := range readNotation(f) {
		f.Add(row.Text)
		f.Add("A1h B1h C1h D1h E1h\n" + row.Text)
	}
	for _, g := range readGames(f) {
		var moves []string
		for _, ply := range g.Plies {
			moves = append(moves, ply.move)
		}
		f.Add(strings.Join(moves, "\n"))
	}
	f.Fuzz(func(t *testing.T, text string) { enginetest.FuzzMoves(t, setup(t), text) })
}
