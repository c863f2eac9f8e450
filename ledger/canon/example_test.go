package canon_test

import (
	"fmt"

	"ludger/ledger/canon"
)

func Example() {
	lim := canon.Limits{Bytes: 1 << 10, Depth: 4, Values: 100}
	v, err := canon.Parse([]byte(`{ "turn": 7, "move": "e2e4" }`), lim)
	fmt.Printf("%s %v\n", v.Bytes(), err)

	f := v.Fields()
	fmt.Println(f.String("move", 10), f.Int("turn", 0, 5), f.Done())

	_, err = canon.Parse([]byte(`{"moves":["e2e4",7.5]}`), lim)
	fmt.Println(err)
	// Output:
	// {"move":"e2e4","turn":7} <nil>
	// e2e4 0 json at /turn: 7 is not from 0 to 5
	// json at /moves/1 (byte 17): number with a fraction or an exponent: only whole numbers are allowed
}
