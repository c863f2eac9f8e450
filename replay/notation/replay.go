package notation

import (
	"fmt"
	"strings"

	"ludger/engine"
)

// Setup returns what the tags fix before the first move, in the words of the chess engine:
// its variant and, from the FEN tag, its start position (sections 9.7.1 and 9.7.2). A variant
// that has no engine is an error, and so is Chess960 without a start position.
func (g *PGN) Setup() (engine.Setup, error) {
	s := engine.Setup{Seats: 2, Start: g.Tag("FEN")}
	name := g.Tag("Variant")
	switch strings.ToLower(strings.NewReplacer(" ", "", "-", "", "_", "").Replace(name)) {
	case "", "standard", "chess", "normal", "fromposition":
		s.Variant = "standard"
	case "chess960", "fischerandom", "fischerrandom", "fischerrandomchess", "freestyle", "frc":
		s.Variant = "chess960"
		if s.Start == "" {
			return s, g.errorf(g.Line, nil, "%s game without a FEN tag", name)
		}
	default:
		return s, g.errorf(g.Line, nil, "unknown variant %q", name)
	}
	return s, nil
}

// Replay plays the main line from the position, which it changes, and returns the moves in
// canonical notation. A move that the engine refuses is a *PGNError with the move's place and the
// engine's reason; the position then stands before that move, and the moves so far are returned.
func (g *PGN) Replay(p engine.Position) ([]string, error) {
	moves := make([]string, 0, len(g.Moves))
	for i := range g.Moves {
		m := &g.Moves[i]
		seats := p.Turn().Seats()
		if len(seats) == 0 {
			return moves, g.errorf(m.Line, engine.ErrOver, "%s %s: %v", g.number(i), m.SAN, engine.ErrOver)
		}
		move, err := p.Parse(seats[0], m.SAN)
		if err == nil {
			err = p.Play(seats[0], move)
		}
		if err != nil {
			return moves, g.errorf(m.Line, err, "%s %v", g.number(i), err)
		}
		moves = append(moves, move)
	}
	return moves, nil
}

// number returns the move number of a half-move as people write it.
func (g *PGN) number(i int) string {
	n, black := firstMove(g)
	if black {
		i++
	}
	if i%2 == 1 {
		return fmt.Sprintf("%d...", n+i/2)
	}
	return fmt.Sprintf("%d.", n+i/2)
}

func (g *PGN) errorf(line int, err error, format string, args ...any) error {
	return &PGNError{Game: g.Game, Line: line, Reason: fmt.Sprintf(format, args...), Err: err}
}
