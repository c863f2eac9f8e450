package battleship

import (
	"strings"

	"ludger/engine"
)

// A Position is the state of one game of Battleship: an engine.Position, an engine.Hider and an
// engine.Sampler.
type Position struct {
	waters [2]waters
	shots  [2 * squares]shot
	fired  int
}

// waters are what one seat's fleet lies in.
type waters struct {
	laid  bool
	fleet layout
	at    [squares]uint8    // 1 + the number of the ship that lies there
	shot  [squares]bool     // squares that were fired at
	left  [len(sizes)]uint8 // squares of each ship that were not hit
	sunk  uint8             // ships
}

// A shot is a square and the answer: miss, hit, or the size of the ship that it sank.
type shot struct{ square, answer uint8 }

const (
	miss = 0
	hit  = 1
)

func (p *Position) laying() bool { return !p.waters[0].laid || !p.waters[1].laid }

// winner returns the seat that has sunk the other's fleet, or -1.
func (p *Position) winner() engine.Seat {
	for s := range p.waters {
		if int(p.waters[s].sunk) == len(sizes) {
			return engine.Seat(1 - s)
		}
	}
	return -1
}

// Turn says who may act: the seats that have to lay out their fleets, then the one that fires.
func (p *Position) Turn() engine.Turn {
	switch {
	case p.laying() && !p.waters[0].laid && !p.waters[1].laid:
		return engine.TurnOf(0, 1)
	case !p.waters[0].laid:
		return engine.TurnOf(0)
	case !p.waters[1].laid:
		return engine.TurnOf(1)
	case p.winner() >= 0:
		return engine.TurnOf()
	}
	return engine.TurnOf(engine.Seat(p.fired & 1))
}

// Hides tells whether moves are layouts now; shots are for all to see.
func (p *Position) Hides(engine.Seat) bool { return p.laying() }

// Unlisted tells whether moves are layouts now.
func (p *Position) Unlisted(engine.Seat) bool { return p.laying() }

// Sample returns a layout. Some are likelier than others.
func (p *Position) Sample(_ engine.Seat, source engine.Source) string {
	l := sample(source)
	return string(l.append(nil))
}

// Outcome returns the result once the game is over.
func (p *Position) Outcome() (engine.Outcome, bool) {
	w := p.winner()
	if w < 0 {
		return engine.Outcome{}, false
	}
	return lost(1-w, FleetSunk), true
}

// Forfeit returns the result if the seat leaves: it loses. Once the game is over its outcome stands.
func (p *Position) Forfeit(seat engine.Seat, reason string) engine.Outcome {
	if o, over := p.Outcome(); over {
		return o
	}
	return lost(seat, reason)
}

func lost(seat engine.Seat, reason string) engine.Outcome {
	o := engine.Outcome{Returns: []int64{0, 0}, Reason: reason}
	if seat == 0 || seat == 1 {
		o.Returns[seat], o.Returns[1-seat] = -1, 1
	}
	return o
}

// Clone returns an independent copy.
func (p *Position) Clone() engine.Position {
	q := *p
	return &q
}

// Parse reads a layout or a shot, in canonical notation or by the aliases of the package comment.
func (p *Position) Parse(seat engine.Seat, text string) (string, error) {
	if p.laying() {
		l, err := p.layout(seat, text)
		if err != nil {
			return "", err
		}
		return inNotation(l.append(make([]byte, 0, maxLayout)), text), nil
	}
	square, err := p.target(seat, text)
	if err != nil {
		return "", err
	}
	return inNotation(appendSquare(make([]byte, 0, 3), square), text), nil
}

// inNotation returns the canonical notation as a string: the text itself if it is that already.
func inNotation(canonical []byte, text string) string {
	if string(canonical) == text {
		return text
	}
	return string(canonical)
}

// Play lays out the seat's fleet, or fires a shot.
func (p *Position) Play(seat engine.Seat, text string) error {
	if p.laying() {
		l, err := p.layout(seat, text)
		if err != nil {
			return err
		}
		if canonical := l.append(make([]byte, 0, maxLayout)); string(canonical) != text {
			return refuse(seat, text, engine.ErrSyntax, "canonical notation is "+string(canonical))
		}
		p.waters[seat].lay(&l)
		return nil
	}
	square, err := p.target(seat, text)
	if err != nil {
		return err
	}
	if canonical := appendSquare(make([]byte, 0, 3), square); string(canonical) != text {
		return refuse(seat, text, engine.ErrSyntax, "canonical notation is "+string(canonical))
	}
	p.shots[p.fired] = shot{square, p.waters[1-seat].fire(square)}
	p.fired++
	return nil
}

func (w *waters) lay(l *layout) {
	w.laid, w.fleet, w.left = true, *l, sizes
	for i, s := range l {
		for k := range sizes[i] {
			w.at[s.square+k*s.step()] = uint8(i + 1)
		}
	}
}

// fire returns the answer to a shot at a square.
func (w *waters) fire(square uint8) uint8 {
	w.shot[square] = true
	i := w.at[square]
	if i == 0 {
		return miss
	}
	w.left[i-1]--
	if w.left[i-1] > 0 {
		return hit
	}
	w.sunk++
	return sizes[i-1]
}

// layout reads the layout that a seat wants to play now.
func (p *Position) layout(seat engine.Seat, text string) (layout, error) {
	if err := p.mayAct(seat, text); err != nil {
		return layout{}, err
	}
	l, why, reason := readLayout(text)
	if why == nil {
		return l, nil
	}
	if _, rest, ok := readSquare(text); ok && rest == "" {
		why, reason = engine.ErrIllegal, "shots are fired when both fleets are laid out: "+wantLayout
	}
	return layout{}, refuse(seat, text, why, reason)
}

// target reads the square that a seat wants to fire at now.
func (p *Position) target(seat engine.Seat, text string) (uint8, error) {
	if err := p.mayAct(seat, text); err != nil {
		return 0, err
	}
	square, rest, ok := readSquare(text)
	switch {
	case !ok || rest != "":
		if _, why, _ := readLayout(text); why != engine.ErrSyntax {
			return 0, refuse(seat, text, engine.ErrIllegal, "the fleets are laid out: want a square to fire at, such as B7")
		}
		return 0, refuse(seat, text, engine.ErrSyntax, "want a square from A1 to J10, such as B7")
	case p.waters[1-seat].shot[square]:
		return 0, refuse(seat, text, engine.ErrIllegal, squareName(square)+" was fired at before")
	}
	return square, nil
}

// mayAct refuses a seat that is not on turn. Its reasons tell what everybody knows.
func (p *Position) mayAct(seat engine.Seat, text string) error {
	turn := p.Turn()
	switch {
	case turn.Has(seat):
		return nil
	case turn.Over():
		return refuse(seat, text, engine.ErrOver, FleetSunk)
	case p.laying():
		return refuse(seat, text, engine.ErrTurn, turn.Seats()[0].String()+" has to lay out its fleet")
	}
	return refuse(seat, text, engine.ErrTurn, turn.Seats()[0].String()+" is to fire")
}

func refuse(seat engine.Seat, text string, why error, reason string) error {
	return &engine.MoveError{Seat: seat, Text: strings.Clone(text[:min(len(text), engine.MaxMove)]), Reason: reason, Err: why}
}

// Legal lists the squares that the seat may fire at. Layouts are not listed.
func (p *Position) Legal(seat engine.Seat) []engine.Move {
	if p.laying() || !p.Turn().Has(seat) {
		return nil
	}
	list := make([]engine.Move, 0, squares)
	for square, shot := range p.waters[1-seat].shot {
		if !shot {
			name := squareName(uint8(square))
			list = append(list, engine.Move{Move: name, Notation: name, Summary: "Fires at " + name + "."})
		}
	}
	return list
}

// sees tells whether the viewer may see where the fleet of the seat lies.
func (p *Position) sees(viewer engine.Seat, seat int) bool {
	return viewer == engine.Seat(seat) || p.winner() >= 0
}

// AppendState appends the canonical state, as the package comment draws it.
func (p *Position) AppendState(dst []byte, viewer engine.Seat) []byte {
	dst = append(dst, "fleets "...)
	for s := range p.waters {
		if s > 0 {
			dst = append(dst, '/')
		}
		switch w := &p.waters[s]; {
		case !w.laid:
			dst = append(dst, '-')
		case p.sees(viewer, s):
			dst = w.fleet.append(dst)
		default:
			dst = append(dst, '?')
		}
	}
	dst = append(dst, " shots"...)
	if p.fired == 0 {
		dst = append(dst, " -"...)
	}
	for _, s := range p.shots[:p.fired] {
		dst = appendSquare(append(dst, ' '), s.square)
		switch s.answer {
		case miss:
			dst = append(dst, '-')
		case hit:
			dst = append(dst, '*')
		default:
			dst = append(dst, '#', '0'+s.answer)
		}
	}
	if p.winner() >= 0 {
		dst = append(dst, " over:"+FleetSunk...)
	}
	return dst
}
