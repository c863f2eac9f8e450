// Package battleship plays Battleship, the naval guessing game, as "battleship@1".
//
//	p, err := battleship.New(engine.Setup{Variant: "standard", Seats: 2})
//	err = p.Play(0, "A1h B1h C1h D1h E1h") // both seats lay out at once, in either order
//	err = p.Play(1, "J6h A10v D2v G2h E9v")
//	err = p.Play(0, "J7") // a hit
//
// # Rules
//
// The source is the rules sheet of the board game as Milton Bradley and Hasbro publish it: ten by ten
// squares; ships of 5, 4, 3, 3 and 2 squares, each in a row or a column; ships do not overlap, and
// they may touch; then one shot a turn, whether it hits or not, and the opponent answers miss or hit,
// and says which ship when its last square is hit; whoever first sinks all five ships wins. Here:
//
//   - Seat 0 fires first; the sheet leaves that to the players.
//   - Both ships of three squares are cruisers and alike. The sheet calls one of them a submarine, so
//     that its owner says which of the two is sunk.
//   - A hit does not tell which ship it is; some printings of the sheet have the owner say it.
//   - A square is fired at once. So a game has at most 199 shots, and no draw.
//   - The sheet's advanced game, in which a turn is a salvo of several shots, is not played.
//
// # Moves
//
// A square is a letter for the row, A at the top to J, and a number for the column, 1 at the left to
// 10. A ship is the square of its left or upper end and h, if it goes on to the right, or v, if it goes
// on downwards. The first move of each seat is the layout of its fleet, hidden until the game is over:
// five ships with a space between, of 5, 4, 3, 3 and 2 squares in this order; of the two of three
// squares first the one whose end comes first by row, then by column. Later moves are a square.
//
//	A1h C4v E7h J1h G10v
//	B7
//
// So there is exactly one string for each of the 15,046,987,768 layouts. Parse also reads letters in
// either case, a comma, or a comma and a space, in the place of a space, and the two ships of three
// squares in either order. Nothing else is an alias.
//
// Layouts are Unlisted. Legal lists the squares that were not fired at, by row, then by column.
//
// # State
//
// AppendState gives the fleets of seat 0 and of seat 1, "-" before it is laid out and "?" where the viewer
// may not see it, then every shot in order with its answer: - for a miss, * for a hit, and # and a
// number for the sinking of a ship of so many squares. Seats fire in turn, so the order says who fired.
// When the game is over " over:" and the reason follow, and everybody sees both fleets.
//
//	fleets A1h C4v E7h J1h G10v/? shots B7- C4* J10#2
package battleship

import (
	"fmt"

	"ludger/engine"
)

// ID names the game and the version of its rules.
const ID = "battleship@1"

// Standard is the only variant.
const Standard = "standard"

// FleetSunk is the only reason that ends a game.
const FleetSunk = "fleet-sunk"

// Game is Battleship as an engine.Game.
type Game struct{}

// Info describes Battleship.
func (Game) Info() engine.Info {
	return engine.Info{
		ID:       ID,
		Name:     "battleship",
		Variants: []engine.Variant{{Name: Standard, MinSeats: 2, MaxSeats: 2}},
		Hidden:   true,
		Grammar: `A square is a row from A (top) to J and a column from 1 (left) to 10, such as B7.
The first move lays out the fleet: five ships of 5, 4, 3, 3 and 2 squares in this order, with a space between, each as the square
of its left or upper end and h (goes on to the right) or v (goes on downwards), such as A1h C4v E7h J1h G10v.
Every later move is the square to fire at. Lower case and commas are read too.`,
		Examples: []string{"A1h C4v E7h J1h G10v", "B7", "J10"},
		Rules: `Battleship by the rules sheet of the board game (Milton Bradley, Hasbro), on 10 by 10 squares with ships of 5 (carrier), 4 (battleship),
3, 3 (two cruisers) and 2 squares (destroyer). Ships do not overlap; they may touch. Both seats lay out their fleets at once and unseen.
Then one shot a turn, seat 0 first; the turn passes after a hit too. The answer is miss, hit, or sunk with the length of the ship.
A square is fired at once only. Whoever first sinks the whole fleet of the other wins; there is no draw.
Unlike the sheet, the ships of three squares are alike, and seat 0 begins. A hit does not tell which ship it is, and no salvos are fired.
Fleets stay hidden until the game is over. Layouts are not listed; legal shots are listed by row, then by column.`,
	}
}

// New returns the start of a match.
func (Game) New(s engine.Setup) (engine.Position, error) {
	p, err := New(s)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// New returns the position a match starts from.
func New(s engine.Setup) (*Position, error) {
	switch {
	case s.Variant != Standard:
		return nil, fmt.Errorf("unknown variant %q of %s, want %s", s.Variant, ID, Standard)
	case s.Seats != 2:
		return nil, fmt.Errorf("%d seats of %s, want 2", s.Seats, ID)
	case len(s.Start) > engine.MaxStart:
		return nil, fmt.Errorf("start position of %d bytes exceeds %d", len(s.Start), engine.MaxStart)
	case s.Start != "":
		return nil, fmt.Errorf("start position %q of %s, which always starts empty", s.Start, ID)
	}
	return new(Position), nil
}
