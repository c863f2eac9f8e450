package chess_test

import (
	"testing"

	"ludger/engine"
	"ludger/engine/chess"
	"ludger/engine/enginetest"
)

func TestBattery(t *testing.T) {
	enginetest.Run(t, chess.Game{}, enginetest.Options{
		Setups: []engine.Setup{
			{Variant: chess.Standard, Seats: 2},
			{Variant: chess.Standard, Seats: 2, Start: "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R b KQkq - 0 1"},
			{Variant: chess.Standard, Seats: 2, Start: "8/8/8/4k3/8/3QK3/8/8 w - - 96 60"},
			{Variant: chess.Chess960, Seats: 2},
			{Variant: chess.Chess960, Seats: 2, Start: "0"},
			{Variant: chess.Chess960, Seats: 2, Start: "518"},
			{Variant: chess.Chess960, Seats: 2, Start: "8/2kp3r/8/1pP5/8/8/8/RK1Q3R w AH b6 0 1"},
		},
		Games: 4, Plies: 3000, Every: 9, Seed: 1,
	})
}
