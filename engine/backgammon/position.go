package backgammon

import (
	"strconv"
	"strings"

	"ludger/engine"
)

// What the position waits for.
type phase uint8

const (
	opening phase = iota // Chance throws one die for each seat
	rolling              // Chance throws for the seat on turn
	acting               // the seat on turn rolls, doubles or resigns the game
	answer               // the seat on turn takes or drops
	offered              // the seat on turn accepts or declines that the other loses offer times the cube
	playing              // the seat on turn plays the dice
	ended
)

// The words that are moves.
const (
	roll    = "roll"
	double  = "double"
	take    = "take"
	drop    = "drop"
	resign  = "resign:" // and 1, 2 or 3
	accept  = "accept"
	decline = "decline"
)

// The cube's owner and the winner where there is none.
const (
	middle = -1
	nobody = -1
)

// A Position is the state of one match, an engine.Position.
type Position struct {
	board board
	phase phase
	turn  int    // the seat on turn; of an opening roll 0
	dice  [2]int // to be played, the larger first
	offer int    // what the other seat would lose, as a multiple of the cube

	cube   int  // its value, 0 for none
	owner  int  // a seat or middle
	length int  // of the match, 0 for none
	free   bool // the match is played without the Crawford rule
	score  [2]int
	// crawford tells that doubling is barred in this game, and after that it was in an earlier one.
	crawford, after bool

	plies  int
	winner int // once over: a seat or nobody
	points int // once over, in single and money: what the winner gets
	reason string

	games int    // games finished before this one
	last  string // what happened last, for Text
	mover engine.Seat
}

// Turn says who may act.
func (p *Position) Turn() engine.Turn {
	switch p.phase {
	case ended:
		return engine.TurnOf()
	case opening, rolling:
		return engine.TurnOf(engine.Chance)
	}
	return engine.TurnOf(engine.Seat(p.turn))
}

// OnRoll returns the seat whose turn it is, also while Chance throws its dice or the other seat answers
// what it offers. It is false before an opening roll and once the match is over.
func (p *Position) OnRoll() (engine.Seat, bool) {
	switch p.phase {
	case opening, ended:
		return 0, false
	case answer, offered:
		return engine.Seat(p.turn ^ 1), true
	}
	return engine.Seat(p.turn), true
}

// Score returns the points of both seats in a match and its length, which is 0 if there is none.
func (p *Position) Score() (points [2]int, length int) { return p.score, p.length }

// Games returns how many games of the match are finished.
func (p *Position) Games() int { return p.games }

// Cube returns the cube's value, which is 0 if there is none.
func (p *Position) Cube() int { return p.cube }

// Outcome returns the result once the match is over.
func (p *Position) Outcome() (engine.Outcome, bool) {
	if p.phase != ended {
		return engine.Outcome{}, false
	}
	o := engine.Outcome{Returns: []int64{0, 0}, Reason: p.reason}
	if p.winner != nobody {
		o.Returns[p.winner], o.Returns[p.winner^1] = int64(p.points), -int64(p.points)
	}
	return o, true
}

// Forfeit returns the result if the seat leaves now: the loss of the match, or in single and money
// of the most that the position can still cost. Once it is over its outcome stands.
func (p *Position) Forfeit(seat engine.Seat, reason string) engine.Outcome {
	if o, over := p.Outcome(); over {
		return o
	}
	o := engine.Outcome{Returns: []int64{0, 0}, Reason: reason}
	if seat != 0 && seat != 1 {
		return o
	}
	cost := 1
	if p.length == 0 {
		if p.phase != answer || p.turn != int(seat) {
			cost = p.board.worst(int(seat))
		}
		cost *= max(1, p.cube)
	}
	o.Returns[seat], o.Returns[seat^1] = -int64(cost), int64(cost)
	return o
}

// Clone returns an independent copy.
func (p *Position) Clone() engine.Position {
	q := *p
	return &q
}

// Draw throws the dice: of an opening roll Intn(6) for seat 0 and then for seat 1, again while they
// are equal; of any other Intn(6) twice.
func (p *Position) Draw(s engine.Source) string {
	for {
		dice := [2]int{1 + s.Intn(6), 1 + s.Intn(6)}
		if p.phase != opening {
			return diceText(larger(dice))
		}
		if dice[0] != dice[1] {
			return diceText(dice)
		}
	}
}

func larger(dice [2]int) [2]int { return [2]int{max(dice[0], dice[1]), min(dice[0], dice[1])} }

func diceText(dice [2]int) string { return string([]byte{'0' + byte(dice[0]), '0' + byte(dice[1])}) }

// readDice reads two digits from 1 to 6 in any order.
func readDice(text string) (dice [2]int, ok bool) {
	if len(text) != 2 || text[0] < '1' || text[0] > '6' || text[1] < '1' || text[1] > '6' {
		return dice, false
	}
	return [2]int{int(text[0] - '0'), int(text[1] - '0')}, true
}

// Play makes a move in canonical notation.
func (p *Position) Play(seat engine.Seat, text string) error {
	if err := p.mayAct(seat, text); err != nil {
		return err
	}
	switch p.phase {
	case opening, rolling:
		dice, err := p.canonicalDice(seat, text)
		if err != nil {
			return err
		}
		p.throw(dice)
	case playing:
		m, why := p.canonicalPlay(text)
		if why != nil {
			return refuse(seat, text, why, p.explain(text))
		}
		p.move(&m)
	default:
		if err := p.word(seat, text); err != nil {
			return err
		}
		p.say(text)
	}
	p.last, p.mover = text, seat
	p.plies++
	if p.plies >= MaxPlies && p.phase != ended {
		p.limit()
	}
	return nil
}

// throw takes up the dice. Where they cannot be played the turn passes.
func (p *Position) throw(dice [2]int) {
	if p.phase == opening && dice[1] > dice[0] {
		p.turn = 1
	}
	p.dice = larger(dice)
	p.phase = playing
	if p.board.stuck(p.turn, p.dice) {
		p.pass()
	}
}

// pass gives the turn to the other seat.
func (p *Position) pass() {
	p.dice = [2]int{}
	p.turn ^= 1
	p.phase = rolling
	if p.cube > 0 {
		p.phase = acting
	}
}

func (p *Position) mayDouble(seat int) bool {
	return p.cube > 0 && p.cube < MaxCube && !p.crawford && p.owner != seat^1
}

// move makes a legal play.
func (p *Position) move(m *play) {
	m.make(&p.board, p.turn)
	if p.board[p.turn][off] < checkers {
		p.pass()
		return
	}
	n := p.board.multiple(p.turn ^ 1)
	p.win(p.turn, n, [...]string{1: SingleGame, Gammon, BackgammonGame}[n])
}

// say plays one of the words.
func (p *Position) say(text string) {
	switch text {
	case roll:
		p.phase = rolling
	case double:
		p.phase = answer
		p.turn ^= 1
	case take:
		p.cube *= 2
		p.owner = p.turn
		p.turn ^= 1
		p.phase = rolling
	case drop:
		p.win(p.turn^1, 1, Dropped)
	case accept:
		p.win(p.turn, p.offer, engine.Resigned)
	case decline:
		p.phase = rolling
		p.turn ^= 1
		p.offer = 0
	default:
		p.turn ^= 1
		if n := int(text[len(resign)] - '0'); n == p.board.worst(p.turn^1) {
			p.win(p.turn, n, engine.Resigned)
		} else {
			p.phase, p.offer = offered, n
		}
	}
}

// win ends a game.
func (p *Position) win(winner, multiple int, reason string) {
	points := multiple * max(1, p.cube)
	p.games++
	p.dice, p.offer = [2]int{}, 0
	if p.length == 0 {
		p.phase, p.winner, p.points, p.reason = ended, winner, points, reason
		return
	}
	p.score[winner] += points
	if p.score[winner] >= p.length {
		p.phase, p.winner, p.points, p.reason = ended, winner, 1, MatchWon
		return
	}
	p.after = p.after || p.crawford
	p.begin()
}

// begin sets up a game.
func (p *Position) begin() {
	p.board = startBoard()
	p.phase, p.turn, p.owner, p.winner = opening, 0, middle, nobody
	p.cube = min(p.cube, 1)
	p.crawford = p.short() && !p.after && !p.free
}

// short tells whether a seat is one point short of the match.
func (p *Position) short() bool { return p.length > 0 && max(p.score[0], p.score[1]) == p.length-1 }

// limit ends the match because it was too long.
func (p *Position) limit() {
	p.phase, p.winner, p.reason = ended, nobody, PlyLimit
	p.dice, p.offer = [2]int{}, 0
	if p.score[0] != p.score[1] {
		p.winner, p.points = 0, 1
		if p.score[1] > p.score[0] {
			p.winner = 1
		}
	}
}

// Parse reads a move in canonical notation or one of the aliases in the package comment.
func (p *Position) Parse(seat engine.Seat, text string) (string, error) {
	if err := p.mayAct(seat, text); err != nil {
		return "", err
	}
	switch p.phase {
	case opening, rolling:
		dice, ok := readDice(text)
		if ok && p.phase == rolling && dice[0] < dice[1] {
			return diceText(larger(dice)), nil
		}
		if _, err := p.canonicalDice(seat, text); err != nil {
			return "", err
		}
		return text, nil
	case playing:
		return p.parsePlay(seat, text)
	}
	if err := p.word(seat, text); err != nil {
		return "", err
	}
	return text, nil
}

func (p *Position) mayAct(seat engine.Seat, text string) error {
	switch {
	case p.phase == ended:
		return refuse(seat, text, engine.ErrOver, p.reason)
	case p.Turn().Has(seat):
		return nil
	case p.phase == opening || p.phase == rolling:
		return refuse(seat, text, engine.ErrTurn, "the dice are to be thrown")
	}
	return refuse(seat, text, engine.ErrTurn, engine.Seat(p.turn).String()+" is to "+p.task())
}

func refuse(seat engine.Seat, text string, why error, reason string) error {
	return &engine.MoveError{Seat: seat, Text: strings.Clone(text[:min(len(text), engine.MaxMove)]), Reason: reason, Err: why}
}

// canonicalDice reads the dice that Chance may throw now.
func (p *Position) canonicalDice(seat engine.Seat, text string) (dice [2]int, err error) {
	dice, ok := readDice(text)
	switch {
	case !ok:
		return dice, refuse(seat, text, engine.ErrSyntax, "want two digits from 1 to 6")
	case p.phase == opening && dice[0] == dice[1]:
		return dice, refuse(seat, text, engine.ErrIllegal, "equal dice of an opening roll are thrown again")
	case p.phase == rolling && dice[0] < dice[1]:
		return dice, refuse(seat, text, engine.ErrSyntax, "the larger die comes first: "+diceText(larger(dice)))
	}
	return dice, nil
}

// isWord tells whether a text is a word that is a move in some phase.
func isWord(text string) bool {
	switch text {
	case roll, double, take, drop, accept, decline, resign + "1", resign + "2", resign + "3":
		return true
	}
	return false
}

// word checks one of the words in a phase that takes one.
func (p *Position) word(seat engine.Seat, text string) error {
	why := engine.ErrSyntax
	if _, _, ok := readPlay(text); ok || isWord(text) {
		why = engine.ErrIllegal
	}
	switch {
	case p.phase == answer:
		if text != take && text != drop {
			return refuse(seat, text, why, "want take or drop")
		}
	case p.phase == offered:
		if text != accept && text != decline {
			return refuse(seat, text, why, "want accept or decline")
		}
	case text == double:
		if reason := p.barred(); reason != "" {
			return refuse(seat, text, why, reason)
		}
	case strings.HasPrefix(text, resign) && isWord(text):
		if n := p.board.worst(p.turn); int(text[len(resign)]-'0') > n {
			return refuse(seat, text, why, "this position can cost at most "+strconv.Itoa(n)+" times the cube")
		}
	case text != roll:
		return refuse(seat, text, why, "want roll, double or resign: with 1, 2 or 3")
	}
	return nil
}

// barred says why the seat on turn may not double, or "".
func (p *Position) barred() string {
	switch {
	case p.mayDouble(p.turn):
		return ""
	case p.crawford:
		return "nobody doubles in the Crawford game"
	case p.cube == MaxCube:
		return "the cube is at its limit of " + strconv.Itoa(MaxCube)
	}
	return "the cube is the other seat's"
}

// canonicalPlay reads a legal play in canonical notation and nothing else. The error is a sentinel;
// explain finds the words.
func (p *Position) canonicalPlay(text string) (play, error) {
	list, n, ok := readPlay(text)
	if !ok {
		if isWord(text) {
			return play{}, engine.ErrIllegal
		}
		return play{}, engine.ErrSyntax
	}
	found := p.board.read(p.turn, p.dice, list[:n])
	why := engine.ErrIllegal
	var room [64]byte
	for i := range found.n {
		m := &found.list[i]
		if string(m.append(room[:0], &p.board, p.turn)) != text {
			if fit, _ := m.starsFit(&p.board, p.turn, list[:n]); fit && p.enough(m) {
				why = engine.ErrSyntax
			}
		} else if p.enough(m) {
			return *m, nil
		}
	}
	return play{}, why
}

// enough tells whether a play uses as much of the dice as the rules demand.
func (p *Position) enough(m *play) bool {
	b, dice := &p.board, p.dice
	switch {
	case dice[0] == dice[1]:
		return m.n == 4 || b.most(p.turn, dice[0], bar, m.n+1) == m.n
	case m.n == 2:
		return true
	case b.canBoth(p.turn, dice):
		return false
	}
	to, ok := b.step(p.turn, int(m.steps[0].from), b.forced(p.turn, dice))
	return ok && to == int(m.steps[0].to)
}

func (p *Position) parsePlay(seat engine.Seat, text string) (string, error) {
	if _, why := p.canonicalPlay(text); why == nil {
		return text, nil
	}
	list, n, ok := readPlay(text)
	var first, quiet string // of the plays that fit, and of those that hit nothing unwritten
	several, quiets := false, 0
	if ok {
		found := p.board.read(p.turn, p.dice, list[:n])
		for i := range found.n {
			m := &found.list[i]
			fit, silent := m.starsFit(&p.board, p.turn, list[:n])
			if !fit || !p.enough(m) {
				continue
			}
			canonical := string(m.append(nil, &p.board, p.turn))
			several = several || first != "" && canonical != first
			if first == "" {
				first = canonical
			}
			if silent && canonical != quiet {
				quiet = canonical
				quiets++
			}
		}
	}
	switch {
	case first == "":
		why := engine.ErrIllegal
		if !ok && !isWord(text) {
			why = engine.ErrSyntax
		}
		return "", refuse(seat, text, why, p.explain(text))
	case !several:
		return first, nil
	case quiets == 1:
		return quiet, nil
	}
	return "", refuse(seat, text, engine.ErrAmbiguous, "write the points where the checker hits on its way, such as "+first)
}

// Playing tells whether the seat on turn has dice to play.
func (p *Position) Playing() bool { return p.phase == playing }

// Steps writes a legal play, given in canonical notation, one checker and one die at a time, with 25
// for the bar, 0 for off and hits marked: "24/18* 18/14" for 24/18*/14. Parse reads it too.
func (p *Position) Steps(text string) (string, error) {
	seat := engine.Seat(p.turn)
	if p.phase != playing {
		return "", refuse(seat, text, engine.ErrIllegal, "there are no dice to play")
	}
	m, why := p.canonicalPlay(text)
	if why != nil {
		return "", refuse(seat, text, why, p.explain(text))
	}
	var s strings.Builder
	b := p.board
	for i, step := range m.steps[:m.n] {
		if i > 0 {
			s.WriteString(" ")
		}
		s.WriteString(strconv.Itoa(int(step.from)) + "/" + strconv.Itoa(int(step.to)))
		if b.blot(p.turn, int(step.to)) {
			s.WriteString("*")
		}
		b.make(p.turn, int(step.from), int(step.to))
	}
	return s.String(), nil
}
