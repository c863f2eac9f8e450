// Package engine says what a game is: the contract between the rules of one game and everything
// that plays, replays or judges it.
//
// A Game is one game's rules at one version, such as chess@1. New gives a Position; the Position
// says whose Turn it is, reads what a player wrote with Parse, and goes on with Play. Whoever
// replays a log calls only Play, which never lists moves.
//
//	p, err := game.New(engine.Setup{Variant: "standard", Seats: 2})
//	for p.Turn().Over() == false {
//		move, err := p.Parse(seat, "Nf3") // canonical notation: "g1f3"
//		err = p.Play(seat, move)
//	}
//	outcome, _ := p.Outcome()
//
// # What every engine holds to
//
// Engines are pure and deterministic: the same setup and the same moves give the same bytes on
// every machine and under every version of Go. No clock, no randomness, no floating point, no map
// order, no goroutine, no package state that changes. A correction that changes any outcome is a
// new version; the old one stays, so that old matches replay as they were judged.
//
// Moves are strings in the game's canonical notation: printable ASCII, at most MaxMove bytes.
// There is one canonical string for each legal move, and the log holds it. An index into Legal is
// a convenience for a player who was just shown the list; it is never logged.
//
// Hidden information: everything a viewer is shown is built by adding what that viewer may see,
// never by removing from the whole. A position that takes moves which others must not see is a Hider.
//
// A game in which some moves are too many to list, such as the layout of a whole fleet, has positions
// that are a Sampler.
//
// Chance is a seat of its own: where Turn says Chance, the outcome is played like a move of that
// seat. Such a position is a Drawer: it says how an outcome is drawn from fair numbers, and neither
// makes those numbers nor knows the seed.
package engine

import (
	"errors"
	"fmt"
)

// Bounds that every engine keeps and every reader may rely on.
const (
	MaxSeats = 8   // seats of one match
	MaxMove  = 256 // bytes of one move in canonical notation
	MaxStart = 256 // bytes of a start position
)

// A Seat is a place at the table, counted from 0 in the order of the opening.
type Seat int

// Two seats that nobody sits in.
const (
	Chance    Seat = -1 // plays the outcomes of chance
	Spectator Seat = -2 // a viewer who sees what is public, and nothing else
)

func (s Seat) String() string {
	switch s {
	case Chance:
		return "chance"
	case Spectator:
		return "spectator"
	}
	return fmt.Sprintf("seat %d", int(s))
}

// A Game is one game's rules at one version. It is safe for concurrent use.
type Game interface {
	// Info describes the game. The caller must not change what it holds.
	Info() Info
	// New returns the position a match starts from. An unknown variant, a number of seats the
	// variant does not have or a start position outside the rules is an error.
	New(Setup) (Position, error)
}

// Info describes a game to players and to the log.
type Info struct {
	ID       string    // name and version as the log pins it: "chess@1"
	Name     string    // "chess"
	Variants []Variant // the first is the default shown to people; the log always names one

	Hidden    bool // players see different things
	Chance    bool // some outcomes are drawn
	Agreement bool // players may agree on a draw

	Grammar  string   // the move grammar, in a few lines a player can follow
	Examples []string // canonical moves, legal in some position
	Rules    string   // the rules card: what is played, by which source, and where it differs
}

// A Variant is one way to play a game.
type Variant struct {
	Name     string // "standard"
	MinSeats int
	MaxSeats int
	Start    string // what Setup.Start may hold, in words; "" if it must be empty
	Settled  bool   // chance may set the start up, and does nothing after the first move
	Plies    int    // no match has more moves than this, outcomes of chance among them
}

// A Setup is what a match fixes before the first move.
type Setup struct {
	Variant string
	Seats   int
	Start   string // start position in the game's own notation; "" is the variant's own start
}

// A Turn says who may act.
type Turn struct {
	seats  uint32
	chance bool
}

// TurnOf returns the turn of the given seats; of none, that the game is over.
func TurnOf(seats ...Seat) Turn {
	var t Turn
	for _, s := range seats {
		if s == Chance {
			t.chance = true
		} else {
			t.seats |= 1 << uint(s)
		}
	}
	return t
}

// Has tells whether the seat may act now.
func (t Turn) Has(s Seat) bool {
	if s == Chance {
		return t.chance
	}
	return s >= 0 && s < MaxSeats && t.seats&(1<<uint(s)) != 0
}

// Over tells that nobody acts any more.
func (t Turn) Over() bool { return t.seats == 0 && !t.chance }

// Seats returns the seats that may act, in ascending order; Chance is not among them.
func (t Turn) Seats() []Seat {
	var list []Seat
	for s := Seat(0); s < MaxSeats; s++ {
		if t.Has(s) {
			list = append(list, s)
		}
	}
	return list
}

// A Position is the state of one match. It is not safe for concurrent use; Clone gives an
// independent one.
type Position interface {
	// Turn says who may act.
	Turn() Turn
	// Parse reads what the player in the seat wrote and returns the move's canonical notation. It
	// accepts the canonical notation and the aliases that the grammar lists, and never guesses:
	// a text that fits two moves is refused. The move is legal now. The position stays as it is.
	Parse(seat Seat, text string) (string, error)
	// Play makes a move given in canonical notation, and nothing but that. On an error, a
	// *MoveError, the position stays as it was.
	Play(seat Seat, move string) error
	// Legal returns the seat's legal moves in the order that the game's rules card states.
	// It is empty when the seat is not on turn, and where a Sampler says that they are Unlisted.
	Legal(seat Seat) []Move
	// Outcome returns the result once the game is over by its own rules.
	Outcome() (Outcome, bool)
	// Forfeit returns the result if the seat leaves the game now, Resigned or OutOfTime. It is the
	// game's rule what that costs: in chess a seat out of time draws against one that could never
	// give mate. The position stays as it is.
	Forfeit(seat Seat, reason string) Outcome
	// AppendState appends the canonical state string as the viewer sees it: printable ASCII,
	// equal for two positions exactly if the viewer can tell no difference by the rules.
	AppendState(dst []byte, viewer Seat) []byte
	// Text draws the position for the viewer in a few lines that a person or a language model
	// reads well. It is not part of any format and may be improved.
	Text(viewer Seat) string
	// Clone returns an independent copy.
	Clone() Position
}

// A Drawer is a position of a game with chance: every position of a game whose Info says Chance is
// one.
type Drawer interface {
	Position
	// Draw returns an outcome in canonical notation, which Play takes from Chance, drawn with the
	// probabilities of the rules. It may only be called when Chance is on turn. The position stays as
	// it is. How many numbers it takes, and their ranges, are part of the game's version.
	Draw(Source) string
}

// A Roller is a Drawer in which each outcome after the first has a player whose it is, who may be asked
// to call for it.
type Roller interface {
	Drawer
	// OnRoll returns the seat whose outcome Chance draws next, if Chance is on turn; false if it is
	// nobody's, as in an opening roll.
	OnRoll() (Seat, bool)
}

// A Source gives fair numbers: Intn returns each of 0 to n-1 with the same probability, n > 0.
type Source interface {
	Intn(n int) int
}

// A Hider is a position of a game with hidden information: every position of a game whose Info says
// Hidden is one.
type Hider interface {
	Position
	// Hides tells whether what the seat on turn plays now, or what is drawn if it is Chance, is to be
	// hidden from the spectator. It depends on nothing that the spectator may not see.
	Hides(Seat) bool
}

// A Sampler is a position of a game in which a seat may have more legal moves than can be listed.
type Sampler interface {
	Position
	// Unlisted tells whether the seat, which is on turn, has too many legal moves to list: what it may
	// play is what the grammar says, and Legal is empty. It is always all moves or none, so that an
	// index never depends on what was left out.
	Unlisted(Seat) bool
	// Sample returns a legal move of a seat whose moves are Unlisted, in canonical notation; every legal
	// move can come. It is for players without a plan and for tests: nothing judges a match by it. It
	// is never asked for Chance, whose outcomes Draw gives. The position stays as it is.
	Sample(Seat, Source) string
}

// A Defaulter is a position of a game in which a seat whose time is over need not lose the game: by the
// rules card a move is played for it. Where a Defaulter has none to play, and in every other game, a seat
// whose time is over forfeits.
type Defaulter interface {
	Position
	// Default returns the move, in canonical notation, that is played for a seat on turn whose time is over;
	// false if the seat forfeits. It depends on nothing that the seat may not see.
	Default(Seat) (string, bool)
}

// An Appraiser is a position that can judge itself: players without a plan of their own look ahead by it.
type Appraiser interface {
	Position
	// Appraise returns how well the game goes for the seat, in the game's own unit: higher is better, and
	// the end of a game counts as far more than anything before it. It depends on nothing that the
	// seat may not see, and no match is judged by it.
	Appraise(Seat) int64
}

// A Move is one entry of a list of legal moves.
type Move struct {
	Move     string // canonical notation, what the log holds
	Notation string // the notation people use, such as SAN in chess; an alias that Parse accepts
	Summary  string // one short generated sentence
}

// An Outcome is the result of a match.
type Outcome struct {
	// Returns holds one number per seat, in the game's own unit; in games that are won or lost
	// 1, 0 for a draw, and -1.
	Returns []int64
	// Reason is a stable word for what ended the game, such as "checkmate".
	Reason string
}

// Reasons of outcomes that the rules of all games share.
const (
	Resigned  = "resigned"    // a seat gave up
	OutOfTime = "out-of-time" // a seat's clock ran out
	Agreed    = "agreed"      // the players agreed on a draw

	Adjudicated = "adjudicated" // the arena decided, whatever the position
)

// Reasons why a move is refused, for errors.Is.
var (
	ErrOver      = errors.New("the game is over")
	ErrTurn      = errors.New("not this seat's turn")
	ErrSyntax    = errors.New("not in the move grammar")
	ErrIllegal   = errors.New("not legal here")
	ErrAmbiguous = errors.New("fits more than one legal move")
)

// A MoveError says why a move was refused.
type MoveError struct {
	Seat   Seat
	Text   string // what was given, shortened to MaxMove bytes
	Reason string // "the king would be in check"; ends without a period
	Err    error  // one of the errors above
}

func (e *MoveError) Error() string {
	s := fmt.Sprintf("move %q of %v: %v", e.Text, e.Seat, e.Err)
	if e.Reason != "" {
		s += ": " + e.Reason
	}
	return s
}

func (e *MoveError) Unwrap() error { return e.Err }
