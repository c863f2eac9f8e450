package chess

import (
	"slices"
	"strconv"
	"strings"

	"ludger/engine"
)

const claim = "claim"

// A Position is the state of one game of chess, an engine.Position.
type Position struct {
	board    board
	chess960 bool
	undrawn  bool // Chance draws the start of Chess960 next
	checks   checks
	// seen holds the positions since the last capture or pawn's move, the one on the board last:
	// at most 151, since the 75-move rule ends the game.
	seen   []record
	count  int    // how many times the position on the board has occurred
	reason string // what ended the game, or ""
	last   string // the last move made, for Text
}

// Turn says who may act.
func (p *Position) Turn() engine.Turn {
	switch {
	case p.reason != "":
		return engine.TurnOf()
	case p.undrawn:
		return engine.TurnOf(engine.Chance)
	}
	return engine.TurnOf(engine.Seat(p.board.turn))
}

// Outcome returns the result once the game is over.
func (p *Position) Outcome() (engine.Outcome, bool) {
	switch {
	case p.reason == "":
		return engine.Outcome{}, false
	case p.reason == Checkmate && p.board.turn == black:
		return engine.Outcome{Returns: []int64{1, -1}, Reason: p.reason}, true
	case p.reason == Checkmate:
		return engine.Outcome{Returns: []int64{-1, 1}, Reason: p.reason}, true
	}
	return engine.Outcome{Returns: []int64{0, 0}, Reason: p.reason}, true
}

// Forfeit returns the result if the seat resigns, or if its time runs out: a loss, or a draw if its
// time runs out against an opponent whose material can never give checkmate (FIDE 5.1.2, 6.9). Once
// the game is over its outcome stands.
func (p *Position) Forfeit(seat engine.Seat, reason string) engine.Outcome {
	if o, over := p.Outcome(); over {
		return o
	}
	o := engine.Outcome{Returns: []int64{0, 0}, Reason: reason}
	if (seat == 0 || seat == 1) && (reason != engine.OutOfTime || p.board.canMate(colour(seat^1))) {
		o.Returns[seat], o.Returns[seat^1] = -1, 1
	}
	return o
}

// Clone returns an independent copy.
func (p *Position) Clone() engine.Position {
	q := *p
	q.seen = slices.Clone(p.seen)
	return &q
}

// Play makes a move or a claim in canonical notation.
func (p *Position) Play(seat engine.Seat, text string) error {
	if err := p.mayAct(seat, text); err != nil {
		return err
	}
	if p.undrawn {
		return p.start(text)
	}
	m, claims, why := p.canonical(text)
	if why != nil {
		return refuse(seat, text, why, p.explain(m, text, why))
	}
	if claims {
		p.reason = p.entitles(m)
		return nil
	}
	if p.board.make(m) {
		p.seen = p.seen[:0]
	}
	p.last = text
	p.arrive()
	return nil
}

// arrive takes up the position on the board: counts it and sees whether the game is over.
func (p *Position) arrive() {
	p.checks = p.board.checks()
	r := p.board.record()
	p.count = 1 + p.occurred(&r)
	p.seen = append(p.seen, r)
	stuck := p.board.stuck(&p.checks)
	switch {
	case stuck && p.checks.givers != 0:
		p.reason = Checkmate
	case stuck:
		p.reason = Stalemate
	case p.board.dead():
		p.reason = DeadPosition
	case p.count >= 5:
		p.reason = Fivefold
	case p.board.clock >= maxClock:
		p.reason = SeventyFiveMove
	}
}

func (p *Position) occurred(r *record) (n int) {
	for i := range p.seen {
		if p.seen[i] == *r {
			n++
		}
	}
	return n
}

// after returns what a claim looks at once the legal move were made: how many times the position
// would have occurred, and its clock. The null move leaves the position as it is.
func (p *Position) after(m move) (count int, clock uint16) {
	if m == (move{}) {
		return p.count, p.board.clock
	}
	next := p.board
	if next.make(m) {
		return 1, 0
	}
	r := next.record()
	return 1 + p.occurred(&r), next.clock
}

// entitles returns the reason for which a draw may be claimed with a legal move, or with the null
// move for the position on the board; or "".
func (p *Position) entitles(m move) string { return drawable(p.after(m)) }

// canonical reads canonical notation and nothing else. A claim without a move gives the null move.
// The error is a sentinel; explain finds the words.
func (p *Position) canonical(text string) (m move, claims bool, why error) {
	onBoard, claims := strings.CutPrefix(text, claim+":")
	if text == claim {
		claims = true
	} else {
		var ok bool
		if m, ok = p.readMove(onBoard); !ok {
			return m, claims, engine.ErrSyntax
		}
		if !p.board.legal(m, &p.checks) {
			return m, claims, engine.ErrIllegal
		}
	}
	if claims && p.entitles(m) == "" {
		return m, claims, engine.ErrIllegal
	}
	return m, claims, nil
}

// explain finds the reason for a text that canonical refused.
func (p *Position) explain(m move, text string, why error) string {
	switch {
	case why == engine.ErrSyntax:
		return "want two squares such as g1f3, with q, r, b or n to promote, or a claim"
	case text == claim || p.board.legal(m, &p.checks):
		return claimRefusal(p.after(m))
	}
	text = strings.TrimPrefix(text, claim+":")
	if m.from == m.to && text[:2] != text[2:4] {
		return "castling is written as the king's two steps, such as e1g1"
	}
	own := p.board.pieces[m.from] == p.board.turn<<3|king
	if _, castles := p.board.castles(m); p.chess960 && own && !castles && rank(m.from) == rank(m.to) && kingSteps[m.from&63]&bit(m.to) == 0 {
		return "a king does not move from " + name(m.from) + " to " + name(m.to) + "; castling is written as the king taking its own rook"
	}
	return p.refusal(m)
}

// Parse reads a move in canonical notation or one of the aliases in the package comment.
func (p *Position) Parse(seat engine.Seat, text string) (string, error) {
	if err := p.mayAct(seat, text); err != nil {
		return "", err
	}
	if p.undrawn {
		if err := p.Clone().Play(seat, text); err != nil {
			return "", err
		}
		return text, nil
	}
	m, _, why := p.canonical(text)
	if why == nil {
		return text, nil
	}
	if why != engine.ErrSyntax {
		return "", refuse(seat, text, why, p.explain(m, text, why))
	}
	rest, claims := strings.CutPrefix(text, claim+":")
	s, ok := splitSAN(rest)
	if !ok {
		return "", refuse(seat, text, engine.ErrSyntax, "want a move such as g1f3 or Nf3, or a claim")
	}
	m, why, reason := p.findSAN(s)
	if why == nil && claims && p.entitles(m) == "" {
		why, reason = engine.ErrIllegal, claimRefusal(p.after(m))
	}
	if why != nil {
		return "", refuse(seat, text, why, reason)
	}
	if claims {
		return string(p.appendMove([]byte(claim+":"), m)), nil
	}
	return string(p.appendMove(nil, m)), nil
}

func (p *Position) mayAct(seat engine.Seat, text string) error {
	switch {
	case p.reason != "":
		return refuse(seat, text, engine.ErrOver, p.reason)
	case p.undrawn && seat == engine.Chance:
		return nil
	case p.undrawn:
		return refuse(seat, text, engine.ErrTurn, "the start is not drawn yet")
	case seat != engine.Seat(p.board.turn):
		return refuse(seat, text, engine.ErrTurn, colourNames[p.board.turn]+" is to move, "+engine.Seat(p.board.turn).String())
	}
	return nil
}

func refuse(seat engine.Seat, text string, why error, reason string) error {
	return &engine.MoveError{Seat: seat, Text: strings.Clone(text[:min(len(text), engine.MaxMove)]), Reason: reason, Err: why}
}

// Legal lists the moves and claims of the seat in the order of the package comment.
func (p *Position) Legal(seat engine.Seat) []engine.Move {
	switch {
	case !p.Turn().Has(seat):
		return nil
	case p.undrawn:
		return startNumbers()
	}
	moves := p.board.moves(make([]move, 0, 64), &p.checks)
	list := make([]engine.Move, 0, len(moves)+1)
	for _, m := range moves {
		list = append(list, engine.Move{
			Move:     string(p.appendMove(nil, m)),
			Notation: string(p.appendSAN(nil, m)),
			Summary:  p.summary(m),
		})
	}
	if why := p.entitles(move{}); why != "" {
		list = append(list, engine.Move{Move: claim, Notation: claim, Summary: "Claims a draw by the position on the board (" + why + ")."})
	}
	for i, m := range moves {
		if why := p.entitles(m); why != "" {
			list = append(list, engine.Move{
				Move:     claim + ":" + list[i].Move,
				Notation: claim + ":" + list[i].Notation,
				Summary:  "Claims a draw by the position after " + list[i].Notation + " (" + why + "), without moving.",
			})
		}
	}
	return list
}

// SAN returns the standard algebraic notation of a move on the board, given in canonical notation,
// that the player on turn may make now.
func (p *Position) SAN(text string) (string, error) {
	seat := engine.Seat(p.board.turn)
	if err := p.mayAct(seat, text); err != nil {
		return "", err
	}
	m, claims, why := p.canonical(text)
	switch {
	case claims:
		return "", refuse(seat, text, engine.ErrSyntax, "a claim is no move on the board")
	case why != nil:
		return "", refuse(seat, text, why, p.explain(m, text, why))
	}
	return string(p.appendSAN(nil, m)), nil
}

// FEN returns the position in the variant's form of FEN.
func (p *Position) FEN() string { return string(p.board.appendFEN(nil, p.chess960)) }

// Perft counts the leaf nodes of the tree of legal moves to a depth. No draw rule ends a line, as
// in all published counts.
func (p *Position) Perft(depth int) uint64 { return p.board.perft(depth) }

// AppendState appends the canonical state, the same for every viewer.
func (p *Position) AppendState(dst []byte, _ engine.Seat) []byte {
	if p.undrawn {
		return append(dst, "undrawn"...)
	}
	dst = append(p.board.appendFEN(dst, p.chess960), ' ')
	dst = strconv.AppendInt(dst, int64(p.count), 10)
	if p.reason != "" {
		dst = append(append(dst, " over:"...), p.reason...)
	}
	return dst
}

// Text draws the board, the same for every viewer.
func (p *Position) Text(engine.Seat) string {
	if p.undrawn {
		return "One of the 960 start positions is drawn next.\n"
	}
	const files = "  a b c d e f g h\n"
	b := &p.board
	text := []byte(files)
	for r := 7; r >= 0; r-- {
		text = append(text, '1'+byte(r))
		for _, code := range b.pieces[8*r : 8*r+8] {
			letter := letters[code]
			if code == 0 {
				letter = '.'
			}
			text = append(text, ' ', letter)
		}
		text = append(text, ' ', '1'+byte(r), '\n')
	}
	text = append(text, files+"White is in capitals. FEN: "...)
	text = append(b.appendFEN(text, p.chess960), '\n')
	if p.last != "" {
		text = append(text, "Last move: "+p.last+"\n"...)
	}
	side := colourNames[b.turn]
	switch {
	case p.reason == Checkmate:
		text = append(text, "Checkmate: "+colourNames[b.turn^1]+" wins.\n"...)
	case p.reason != "":
		text = append(text, "Draw: "+p.reason+".\n"...)
	default:
		text = append(text, side+" (seat "+decimal(int(b.turn))+") to move, move "+decimal(int(b.number))+".\n"...)
		if p.checks.givers != 0 {
			text = append(text, side+" is in check.\n"...)
		}
		if p.count > 1 {
			text = append(text, "This position occurs for the "+[]string{"second", "third", "fourth"}[p.count-2]+" time.\n"...)
		}
		if why := p.entitles(move{}); why != "" {
			text = append(text, side+" may claim a draw ("+why+").\n"...)
		}
	}
	return string(text)
}
