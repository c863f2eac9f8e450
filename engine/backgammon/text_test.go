package backgammon_test

import (
	"fmt"

	"ludger/engine"
	"ludger/engine/backgammon"
)

func ExampleNew() {
	p, err := backgammon.New(engine.Setup{Variant: backgammon.Match, Seats: 2, Start: "7"})
	if err != nil {
		panic(err)
	}
	for _, ply := range []struct {
		seat engine.Seat
		text string
	}{
		{engine.Chance, "13"}, {1, "6/5 8/5"}, {0, "roll"}, {engine.Chance, "64"}, {0, "24/18 13/9"}, {1, "double"}, {0, "take"}, {engine.Chance, "61"}, {1, "13/7* 8/7"},
	} {
		move, err := p.Parse(ply.seat, ply.text)
		if err == nil {
			err = p.Play(ply.seat, move)
		}
		if err != nil {
			panic(err)
		}
	}
	fmt.Print(p.Text(engine.Spectator))
	fmt.Println(string(p.AppendState(nil, engine.Spectator)))
	// Output:
	// +-13-14-15-16-17-18---+-19-20-21-22-23-24-+
	// |  X  .  .  .  O  O X1|  O  O  .  .  .  X |
	// |  X  .  .  .  .  O   |  O  O  .  .  .  . |
	// |  X  .  .  .  .  .   |  O  .  .  .  .  . |
	// |  X  .  .  .  .  .   |  O  .  .  .  .  . |
	// |  .  .  .  .  .  .   |  .  .  .  .  .  . |
	// |                     |                   |
	// |                  bar|                   |
	// |                     |                   |
	// |  .  .  .  .  .  .   |  X  .  .  .  .  . |
	// |  O  .  .  .  .  .   |  X  .  .  .  .  . |
	// |  O  .  .  .  X  .   |  X  .  .  .  .  . |
	// |  O  .  .  .  X  .   |  X  .  .  .  .  O |
	// |  O  .  .  X  X  .   |  X  .  .  .  .  O |
	// +-12-11-10--9--8--7---+--6--5--4--3--2--1-+
	// Seat 0 is X, by its own points: bar:1 24:1 13:4 9:1 8:3 6:5, 0 off, pip count 164
	// Seat 1 is O, by its own points: 24:2 13:4 8:1 7:2 6:4 5:2, 0 off, pip count 156
	// Match to 7 points, score 0:0
	// Cube at 2, owned by seat 0
	// Last: 13/7* 8/7 of seat 1
	// Seat 0 (X) is to roll, double or resign the game.
	// -b----E-CA--dD---abdb---AA 0:act 2@0 0-0/7 9
}
