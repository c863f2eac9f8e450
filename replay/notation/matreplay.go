package notation

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ludger/engine"
	"ludger/engine/backgammon"
)

// Setup returns what the record fixes before the first throw, in the words of the backgammon engine:
// a match of its length, without the Crawford rule if the comment [Crawford "Off"] says so or if what would
// be the Crawford game has a double and no comment says "On"; or for money if it is a session of one game; such a one with the comment
// [Cube "none"] is a single game. A session of more games is for Split.
func (m *Mat) Setup() (engine.Setup, error) {
	s := engine.Setup{Variant: backgammon.Match, Seats: 2, Start: strconv.Itoa(m.Length)}
	if v := m.Tag("Variation"); v != "" && !strings.EqualFold(v, "backgammon") {
		return s, m.errorf(nil, m.Line, nil, "unknown variation %q", v)
	}
	if m.Length > 0 {
		if v := m.Tag("Crawford"); strings.EqualFold(v, "off") || v == "" && m.doublesLate() {
			s.Variant = backgammon.FreeMatch
		}
		return s, nil
	}
	if len(m.Games) > 1 {
		return s, m.errorf(nil, m.Line, nil, "a session of %d games, want one", len(m.Games))
	}
	s.Variant, s.Start = backgammon.Money, ""
	if m.Tag("Cube") == "none" {
		s.Variant = backgammon.Single
	}
	return s, nil
}

// doublesLate tells whether there is a double in the first game with a player one point short of the match.
func (m *Mat) doublesLate() bool {
	for i := range m.Games {
		g := &m.Games[i]
		if max(g.Score[0], g.Score[1]) == m.Length-1 {
			return slices.ContainsFunc(g.Turns, func(t MatTurn) bool { return t.Action == MatDouble })
		}
	}
	return false
}

// Replay plays the record from the start of its Setup, which it changes, and returns every move with
// its seat, throws included as moves of Chance and the words that the file leaves out. A move that the
// engine refuses is a *MatError with the move's place and the engine's reason; the moves so far are
// returned. So is a score or a result that is not the engine's. A game whose moves do not decide it was
// resigned if it has a result: the loser resigns on its roll, and where the file has a last throw of the
// loser that it did not play, before that throw, which is left out. Only the last game may stay undecided: the
// match was given up in another way, or the file is cut.
func (m *Mat) Replay(start engine.Position) ([]Ply, error) {
	p, ok := start.(*backgammon.Position)
	if !ok {
		return nil, m.errorf(nil, m.Line, nil, "a %T is no position of backgammon", start)
	}
	r := matReplay{m: m, p: p}
	for i := range m.Games {
		if err := r.game(&m.Games[i], i == len(m.Games)-1); err != nil {
			return r.plies, err
		}
	}
	return r.plies, nil
}

type matReplay struct {
	m     *Mat
	p     *backgammon.Position
	plies []Ply
}

func (r *matReplay) game(g *MatGame, last bool) error {
	p := r.p
	if p.Turn().Over() {
		return r.m.errorf(g, g.Line, engine.ErrOver, "the match is over before this game")
	}
	before, length := p.Score()
	finished := p.Games()
	if length > 0 && before != g.Score {
		return r.m.errorf(g, g.Line, nil, "the score is %d:%d, the record says %d:%d", before[0], before[1], g.Score[0], g.Score[1])
	}
	for i := range g.Turns {
		t := &g.Turns[i]
		if p.Games() > finished {
			return r.m.errorf(g, t.Line, engine.ErrOver, "turn %d: the game is over", i+1)
		}
		if i == len(g.Turns)-1 && r.unplayed(g, t) {
			break
		}
		if err := r.turn(t); err != nil {
			return r.m.errorf(g, t.Line, err, "turn %d: %v", i+1, err)
		}
	}
	if p.Games() == finished {
		r.resign(g)
	}
	if p.Games() == finished {
		if !last {
			return r.m.errorf(g, g.Line, nil, "the game stops before it is decided, and its loser is not on roll to resign it for that")
		}
		return nil
	}
	if g.Winner != 0 && g.Winner != 1 {
		return nil
	}
	var won [2]int64
	if after, _ := p.Score(); length > 0 {
		won = [2]int64{int64(after[0] - before[0]), int64(after[1] - before[1])}
	} else if o, over := p.Outcome(); over {
		won = [2]int64{max(0, o.Returns[0]), max(0, o.Returns[1])}
	}
	if want := [2]int64{}; won != want {
		if want[g.Winner] = int64(g.Points); won != want {
			return r.m.errorf(g, g.Line, nil, "the game is won %d:%d, the record says %d:%d", won[0], won[1], want[0], want[1])
		}
	}
	return nil
}

// unplayed tells whether the seat that loses the game has thrown its last dice without playing them,
// though they could be. It resigned then.
func (r *matReplay) unplayed(g *MatGame, t *MatTurn) bool {
	if t.Action != MatRoll || t.Play != "" || g.Winner != t.Seat^1 {
		return false
	}
	q := matReplay{m: r.m, p: r.p.Clone().(*backgammon.Position)}
	on, begun := q.p.OnRoll()
	return begun && on == t.Seat && q.turn(t) != nil && q.p.Playing()
}

// resign ends a game by its result where its moves did not: the loser is on roll and resigns, and the
// winner accepts what must be accepted. A .mat has no other sign of it.
func (r *matReplay) resign(g *MatGame) {
	on, begun := r.p.OnRoll()
	cube := r.p.Cube()
	if !begun || cube == 0 || g.Winner != on^1 || g.Points%cube != 0 || r.p.Turn().Has(engine.Chance) {
		return
	}
	finished := r.p.Games()
	if r.play(on, "resign:"+strconv.Itoa(g.Points/cube)) == nil && r.p.Games() == finished {
		r.play(on^1, "accept")
	}
}

func (r *matReplay) turn(t *MatTurn) error {
	p := r.p
	on, begun := p.OnRoll()
	switch t.Action {
	case MatDouble:
		if cube := p.Cube(); t.Cube != 2*cube {
			return fmt.Errorf("a double to %d, with the cube at %d", t.Cube, cube)
		}
		return r.play(t.Seat, "double")
	case MatTake:
		return r.play(t.Seat, "take")
	case MatDrop:
		return r.play(t.Seat, "drop")
	}
	if begun && on != t.Seat {
		return fmt.Errorf("%v throws, but %v is on roll", t.Seat, on)
	}
	if p.Turn().Has(t.Seat) {
		if err := r.play(t.Seat, "roll"); err != nil {
			return err
		}
	}
	// Of an opening roll, the die of the seat that begins is the higher one.
	low, high := min(t.Dice[:1], t.Dice[1:]), max(t.Dice[:1], t.Dice[1:])
	dice := high + low
	if t.Seat == 1 {
		dice = low + high
	}
	if err := r.play(engine.Chance, dice); err != nil {
		return err
	}
	switch {
	case p.Playing() && t.Play == "":
		return fmt.Errorf("nothing is played with %s, but something can be", t.Dice)
	case p.Playing():
		return r.play(t.Seat, t.Play)
	case t.Play != "":
		return fmt.Errorf("%s is played with %s, but nothing can be", t.Play, t.Dice)
	}
	return nil
}

func (r *matReplay) play(seat engine.Seat, text string) error {
	move, err := r.p.Parse(seat, text)
	if err == nil {
		err = r.p.Play(seat, move)
	}
	if err == nil {
		r.plies = append(r.plies, Ply{seat, move})
	}
	return err
}

// RecordMat makes the record of a match of backgammon from its start and its moves in canonical notation,
// throws included, as the log holds them. The start must be that of a whole match or game. Each step is
// written for itself, as most programs do. A resigned game has its result and no other sign of it, and an
// offer that was declined none at all. A last game that is not decided has no result.
func RecordMat(s engine.Setup, players [2]string, plies []Ply) (*Mat, error) {
	m := &Mat{}
	p, err := backgammon.New(s)
	if err != nil {
		return nil, m.errorf(nil, 0, err, "%v", err)
	}
	switch s.Variant {
	case backgammon.Single:
		m.Comments = []string{`[Cube "none"]`}
	case backgammon.FreeMatch:
		m.Comments = []string{`[Crawford "Off"]`}
	}
	score, length := p.Score()
	if s.Start != "" && s.Start != strconv.Itoa(length) {
		return nil, m.errorf(nil, 0, nil, "a match from a position in the middle has no place in a .mat")
	}
	m.Length = length
	var g *MatGame
	for i, ply := range plies {
		if g == nil {
			m.Games = append(m.Games, MatGame{Number: len(m.Games) + 1, Players: players, Score: score, Winner: engine.Spectator})
			g = &m.Games[len(m.Games)-1]
		}
		t := MatTurn{Seat: ply.Seat}
		finished := p.Games()
		on, _ := p.OnRoll()
		thrown := ""
		switch {
		case ply.Seat == engine.Chance:
			thrown = ply.Move
		case p.Playing():
			steps, err := p.Steps(ply.Move)
			if err != nil {
				return nil, m.errorf(g, 0, err, "move %d: %v", i, err)
			}
			g.Turns[len(g.Turns)-1].Play = steps
		case ply.Move == "double":
			t.Action, t.Cube = MatDouble, 2*p.Cube()
			g.Turns = append(g.Turns, t)
		case ply.Move == "take", ply.Move == "drop":
			t.Action = MatTake
			if ply.Move == "drop" {
				t.Action = MatDrop
			}
			g.Turns = append(g.Turns, t)
		}
		if err := p.Play(ply.Seat, ply.Move); err != nil {
			return nil, m.errorf(g, 0, err, "move %d: %v", i, err)
		}
		if thrown != "" {
			if now, begun := p.OnRoll(); begun && len(g.Turns) == 0 {
				// The opening roll: who is on turn now threw the higher die, unless the turn passed, which
				// the opening position rules out.
				on = now
			}
			g.Turns = append(g.Turns, MatTurn{Seat: on, Dice: thrown})
		}
		if p.Games() == finished {
			continue
		}
		after, _ := p.Score()
		won := [2]int{after[0] - score[0], after[1] - score[1]}
		if o, over := p.Outcome(); over && length == 0 {
			won = [2]int{int(max(0, o.Returns[0])), int(max(0, o.Returns[1]))}
		}
		g.Winner = 0
		if won[1] > 0 {
			g.Winner = 1
		}
		g.Points = won[g.Winner]
		g.Match = length > 0 && p.Turn().Over()
		score, g = after, nil
	}
	m.Cut = g != nil
	if len(m.Games) == 0 {
		return nil, m.errorf(nil, 0, nil, "a match without a throw")
	}
	return m, nil
}
