package notation_test

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"ludger/engine/chess"
	"ludger/replay/notation"
)

func ExamplePGNReader() {
	const file = `[White "Ada"]
[Black "Bob"]

1. e4 e5 2. Qh5? {too early} Nc6 3. Bc4 Nf6?? 4. Qxf7# 1-0

[White "Ada"]

1. e4 {never closed

[White "Cid"]

1. e4 e5 2. Ke3 *
`
	r := notation.NewPGNReader(strings.NewReader(file))
	for {
		g, err := r.Next()
		var broken *notation.PGNError
		if errors.As(err, &broken) {
			fmt.Println("broken:", err)
			continue
		}
		if err == io.EOF {
			break
		}
		setup, err := g.Setup()
		if err != nil {
			fmt.Println(err)
			continue
		}
		position, err := chess.Game{}.New(setup)
		if err != nil {
			fmt.Println(err)
			continue
		}
		moves, err := g.Replay(position)
		fmt.Println(g.Tag("White"), moves, g.Result, err != nil)
	}
	// Output:
	// Ada [e2e4 e7e5 d1h5 b8c6 f1c4 g8f6 h5f7] 1-0 false
	// broken: game 2, line 8: comment is not closed
	// Cid [e2e4 e7e5] * true
}
