package chance_test

import (
	"fmt"

	"ludger/engine/chance"
)

func Example() {
	var seed [32]byte
	s := chance.ForDraw(seed, 3)
	fmt.Println(s.Dice(6, 2))

	hand := []string{"ace", "king", "queen", "jack"}
	s.Shuffle(len(hand), func(i, j int) { hand[i], hand[j] = hand[j], hand[i] })
	fmt.Println(hand)

	fmt.Println("Chess960 start position", chance.New(seed, "start").Intn(960))
	// Output:
	// [3 3]
	// [queen ace jack king]
	// Chess960 start position 425
}
