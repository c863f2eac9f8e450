// Package backgammon plays backgammon, a single game, a game with the doubling cube or a match, as
// "backgammon@1".
//
//	p, err := backgammon.New(engine.Setup{Variant: "match", Seats: 2, Start: "7"})
//	err = p.Play(engine.Chance, p.Draw(source))     // the opening roll, such as "31"
//	move, err := p.Parse(0, "6/5 8/5")              // "8/5 6/5"
//	err = p.Play(0, move)
//
// # Course of a game
//
// The opening roll is one die of each seat, thrown again while they are equal; the higher one begins
// and plays both dice. From then on a seat's turn is:
//
//   - with a cube, it plays "roll", or "double" where it may double, or resigns this game;
//   - a double is answered by the other seat with "take" or "drop";
//   - Chance throws two dice;
//   - it plays the dice. If it can play neither, the turn passes to the other seat with the throw
//     itself: there is no move, and nothing is logged for it.
//
// In the variant single, which has no cube, Chance throws without being asked.
//
// "resign:1", "resign:2" and "resign:3" offer to lose the game as a single one, a gammon or a backgammon.
// The most that the position can still cost ends the game at once: 1 if the seat has borne off a
// checker; else 3 if either side can still hit, or if the seat has a checker on the bar or in the other's home
// board; else 2. More cannot be offered. Less is for the other seat to "accept" or "decline"; after that
// the dice are thrown.
//
// A seat must use both dice if it can, all four times of a double if it can and otherwise as often as
// it can. If it can play either die but not both, it must play the larger.
//
// # Moves
//
// A play names what each checker does, by the mover's own numbering of the points, as "origin/target",
// with "bar" for the bar and "off" for checkers borne off. There is one canonical text for every
// resulting position:
//
//	13/8 6/5        the origins from the bar down, of one origin the longest way first
//	24/14           steps that can be one checker's are, from the highest origin on
//	24/18*/14       hits are marked; a point on the way is written if and only if it is hit there
//	8/4*(2) 6/2(2)  the same twice, three or four times; the mark stands where one of them hits
//	bar/22  6/off   entering and bearing off
//
// A hit that two checkers could be said to make is marked at the one written first.
//
// Parse takes these aliases besides:
//
//   - the parts in any order, apart by one or more spaces; each step or any run of steps for itself,
//     such as 13/10 10/8, if some order of them is a legal way to play the dice;
//   - points on the way, such as 24/18/14; 25 for bar and 0 for off, and both words in any case;
//   - hits that are not marked. If a text without a mark could mean a way that hits and one that does
//     not, it is the one that does not; if both hit, it is refused as ambiguous;
//   - a count of 2 to 4 behind any part.
//
// A mark where nothing is hit, and steps that the dice do not make, are refused even where the same
// position could be reached in another way.
//
// Chance's moves are two digits. In the opening roll the first is the die of seat 0 and the second
// that of seat 1; in every other the larger comes first, and Parse also reads it the other way about.
//
// Legal lists plays by their parts in the order written: first by origin, from the bar down, then by
// target, from high to low; plays that differ only in hits on the way, by their bytes. It lists "roll",
// "double", then what can be resigned from 1 up; "take" before "drop", "accept" before "decline"; and dice by
// their digits.
//
// # How it ends
//
// The variant single has no cube. In money a seat on roll may double if the cube is in the middle or
// its own, up to 4096; who takes owns the cube, who drops loses its value. There is no Jacoby rule, no
// beaver and no automatic double. In a match the length stands in the start, 1 to 25 points; each game
// begins with an opening roll and the cube in the middle at 1. In the first game that begins with a seat one point
// short of the match, the Crawford game, nobody may double; the variant match-no-crawford has no such game.
//
//	single       all checkers borne off: the cube's value
//	gammon       the loser has borne off none: twice that
//	backgammon   and has a checker on the bar or in the winner's home board: three times
//	dropped      a double was not taken: the value before it
//	resigned     a seat resigned the game: as many times the cube's value as it offered
//	match        a seat has reached the length of the match
//	ply-limit    9,000 moves, throws included, were made in the match
//
// Outcomes of single and money return the points won and their negative; at the limit of plies 0. Those
// of a match return 1 and -1; at the limit the higher score wins, and an equal one is a draw.
//
// A seat that forfeits loses the whole match, or in single and money the most that the position can
// still cost, as above, times the cube; and the cube's value if it has to answer a double.
//
// # State
//
// AppendState gives every viewer the same five fields, and once the game is over a sixth. It also
// serves as a start.
//
//	-b----E-C---eE---c-e----B- 1:53 2@0 3-4/7p 212
//
//	board   as in XGID: the bar of seat 1, the points 1 to 24 of seat 0, the bar of seat 0; A to O are
//	        1 to 15 checkers of seat 0, a to o of seat 1
//	turn    opening, or a seat and what it does: roll (Chance throws for it), act (roll, double or
//	        resign), answer (take or drop), offer1 or offer2 (accept or decline that the other seat loses
//	        that many times the cube), two digits (plays these dice); over: won by the seat, or drawn
//	cube    - for none, or its value, with @ and its owner where it has one
//	score   - or points of seat 0 and seat 1 / length of the match, c in the Crawford game, p after it
//	plies   how many moves and throws were made
//	over    over: and the reason
package backgammon

import (
	"fmt"
	"strings"

	"ludger/engine"
)

// ID names the game and the version of its rules.
const ID = "backgammon@1"

// The variants.
const (
	Single = "single"
	Money  = "money"
	Match  = "match"

	FreeMatch = "match-no-crawford" // a match in which every game may be doubled
)

// Bounds of the rules.
const (
	MaxPlies    = 9_000 // moves and throws of a match; what an arena logs for each fits a match's events
	UsualLength = 7     // points of a match whose length the start does not say
	MaxLength   = 25    // points of a match
	MaxCube     = 4096
)

// The reasons that end a game.
const (
	SingleGame     = "single"
	Gammon         = "gammon"
	BackgammonGame = "backgammon"
	Dropped        = "dropped"
	MatchWon       = "match"
	PlyLimit       = "ply-limit"
)

// Game is backgammon as an engine.Game.
type Game struct{}

// Info describes backgammon.
func (Game) Info() engine.Info {
	return engine.Info{
		ID:   ID,
		Name: "backgammon",
		Variants: []engine.Variant{
			{Name: Single, MinSeats: 2, MaxSeats: 2, Start: "empty, or a position's state"},
			{Name: Money, MinSeats: 2, MaxSeats: 2, Start: "empty, or a position's state"},
			{Name: Match, MinSeats: 2, MaxSeats: 2, Start: "empty for 7 points, the length of the match from 1 to 25 points, or a position's state"},
			{Name: FreeMatch, MinSeats: 2, MaxSeats: 2, Start: "empty for 7 points, the length of the match from 1 to 25 points, or a position's state"},
		},
		Chance: true,
		Grammar: `A play names each checker's origin and target by your own numbering of the points, such as 13/8 6/5, from the highest origin down.
Steps of one checker are joined: 24/14; hits are marked, also on the way: 24/18*/14; equal moves are counted: 8/4*(2).
The bar is "bar" and borne off is "off": bar/22, 6/off.
With a cube, play "roll" or "double" before the dice; a double is answered with "take" or "drop". There "resign:1", "resign:2" and
"resign:3" give up the game as a single one, a gammon or a backgammon; less than you can still lose needs "accept" and not "decline".
Other orders, single steps, unmarked hits, 25 for bar and 0 for off are read too. If you cannot move, your turn passes by itself.`,
		Examples: []string{"13/8 6/5", "24/14", "24/18*/14", "8/4*(2) 6/2(2)", "bar/22", "6/off", "roll", "double", "take", "drop", "resign:1", "accept"},
		Rules: `Backgammon by the rules of the U.S. Backgammon Federation and, where they say the same, the World Backgammon Federation.
Each seat moves its 15 checkers from its own 24 point down to its home board (6 to 1) and bears them off; seat 0's point n is seat 1's 25-n.
The opening roll is one die of each seat; the higher begins with both dice, equal dice are thrown again. A seat must use both dice, and all
four of a double, as far as it can in any way; if it can play either die but not both, the larger. Checkers on the bar enter first.
Bearing off needs all checkers in the home board; a die larger than the hindmost checker's point bears that one off.
"single": no cube; returns are 1, 2 for a gammon, 3 for a backgammon. "money": with the cube, returns times its value; no Jacoby rule, no beavers,
no automatic doubles, cube at most 4096. "match": first to the length in points; Crawford rule; returns 1 and -1. "match-no-crawford": the same without that rule. Clocks, dice cups and settlements
are no part of it. Before its throw a seat may resign one game: the most it can still lose ends the game, less is offered to the other seat.
Forfeit loses the match, or in single and money the most that the position can still cost. A turn without a legal play passes by itself. After 9,000 moves and throws the match ends: the higher score wins, else a draw.
Legal plays are listed by origin from the bar down, then by target from high to low; roll before double, take before drop.`,
	}
}

// New returns the start of a match.
func (Game) New(s engine.Setup) (engine.Position, error) {
	p, err := New(s)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// New returns the position a match starts from.
func New(s engine.Setup) (*Position, error) {
	p := &Position{owner: middle}
	switch s.Variant {
	case Single:
	case Money:
		p.cube = 1
	case Match, FreeMatch:
		p.cube = 1
		p.length = MaxLength
		p.free = s.Variant == FreeMatch
	default:
		return nil, fmt.Errorf("unknown variant %q of %s, want %s, %s, %s or %s", s.Variant, ID, Single, Money, Match, FreeMatch)
	}
	if s.Seats != 2 {
		return nil, fmt.Errorf("%d seats of %s, want 2", s.Seats, ID)
	}
	if len(s.Start) > engine.MaxStart {
		return nil, fmt.Errorf("start position of %d bytes exceeds %d", len(s.Start), engine.MaxStart)
	}
	length, err := readCount(s.Start, MaxLength)
	switch {
	case p.length > 0 && s.Start == "":
		p.length = UsualLength
		p.begin()
	case p.length > 0 && err == nil && length > 0:
		p.length = length
		p.begin()
	case p.length > 0 && !strings.Contains(s.Start, " "):
		return nil, fmt.Errorf("length of a match %q, want 1 to %d", s.Start, MaxLength)
	case s.Start == "":
		p.begin()
	default:
		if err := p.readState(s.Start); err != nil {
			return nil, fmt.Errorf("start of %s: %w", s.Variant, err)
		}
	}
	return p, nil
}
