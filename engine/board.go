package engine

// A Board is a position as a picture is drawn of it: a grid, what lies on it, and rows of tokens beside it.
// It holds what its viewer may see and nothing else, and says no more than Text does. Like Text it is not
// part of any format and may be improved.
type Board struct {
	Grid  Grid
	Cells []Cell   // those with something on them, by row, then by column
	Trays []Tray   // hands, dice, chips, captured pieces: in the order they are shown
	Phase string   // what is being done, where the game has phases: "propose"; else ""
	Notes []string // short lines for what no token shows: "pot 12", "ko at D4"
}

// A Shape says how the cells of a grid lie.
type Shape string

// The shapes of grids.
const (
	NoGrid  Shape = ""        // a game of cards or of words
	Squares Shape = "squares" // cells are squares, plain
	Checks  Shape = "checks"  // cells are squares, dark and light by turns, the lower left one dark
	Points  Shape = "points"  // cells are crossings of lines
	Hexes   Shape = "hexes"   // cells are hexagons, each row half a cell further right than the one above
	Spikes  Shape = "spikes"  // two rows of backgammon's points
)

// A Grid is the empty board. Column 0 is at the left and row 0 at the top, as seat 0 sees it.
type Grid struct {
	Shape      Shape
	Cols, Rows int
	ColNames   []string // by column; empty if columns have no names
	RowNames   []string // by row, from the top
	Lines      []Line   // of Points that are not a full lattice: what is drawn; empty for a full lattice
}

// A Line joins two crossings.
type Line struct{ Col, Row, ToCol, ToRow int }

// A Cell is what lies on one place of the grid.
type Cell struct {
	Col, Row int
	Token    Token  // of Kind "" if only the ground is special
	Ground   string // a word for the ground where it is not all alike, such as a color; else ""
	Mark     string // "last" where the last move went, "hit", "miss", "mill", "" otherwise
}

// A Tray is a row of tokens beside the board, of a seat or, if Seat is Spectator, of nobody.
type Tray struct {
	Name   string // "hand", "dice", "captured"
	Seat   Seat
	Tokens []Token
}

// A Token is a piece, a stone, a card, a die, a heap of chips.
type Token struct {
	Kind  string // one of the kinds below
	Seat  Seat   // whose color it has; Spectator if nobody's
	Label string // what is written on it: "K" of a king in chess, "Ah" of a card, "5" of a die; "" if nothing, or if the viewer may not see it
	Count int    // how many lie here; 0 means one
}

// The kinds of tokens.
const (
	Piece = "piece" // a chess piece, Label one of K Q R B N P
	Stone = "stone" // a stone, a disc
	Man   = "man"   // a draughtsman, a checker, a man of morris
	King  = "king"  // a crowned draughtsman
	Card  = "card"  // Label is rank and suit, or a number; "" if its back shows
	Die   = "die"   // Label is a number, "" under its cup
	Chip  = "chip"  // Label is a color or a unit, Count how many
	Ship  = "ship"  // a part of a ship, Label its length
)
