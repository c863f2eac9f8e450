package chess

import (
	"strconv"

	"ludger/engine"
)

// starts is how many start positions Chess960 has.
const starts = 960

// Draw draws the number of the start position: Intn(960).
func (p *Position) Draw(source engine.Source) string { return strconv.Itoa(source.Intn(starts)) }

// start takes up the start position of a drawn number.
func (p *Position) start(text string) error {
	n, err := readCount(text, 0, starts-1)
	if err != nil {
		return refuse(engine.Chance, text, engine.ErrSyntax, "start number "+err.Error())
	}
	b, err := parseFEN(startNumber(int(n)))
	if err != nil {
		return refuse(engine.Chance, text, engine.ErrIllegal, err.Error()) // not while startNumber is right
	}
	*p = Position{board: *b, chess960: true}
	p.arrive()
	return nil
}

// startNumbers lists what can be drawn.
func startNumbers() []engine.Move {
	list := make([]engine.Move, starts)
	for i := range list {
		n := strconv.Itoa(i)
		list[i] = engine.Move{Move: n, Notation: n, Summary: "Start position number " + n + "."}
	}
	return list
}
