package battleship

import (
	"strconv"

	"ludger/engine"
)

const (
	side    = 10
	squares = side * side
)

// sizes of the ships in the order of a layout.
var sizes = [...]uint8{5, 4, 3, 3, 2}

// shipName names the ships by their size.
func shipName(size uint8) string {
	return [...]string{2: "destroyer", 3: "cruiser", 4: "battleship", 5: "carrier"}[size]
}

// A ship lies on its first square and those to the right of it, or below.
type ship struct {
	square uint8 // 0 is A1, 1 is A2
	down   bool
}

// A layout has a ship for each of sizes.
type layout [len(sizes)]ship

// step is what leads from one square of the ship to the next.
func (s ship) step() uint8 {
	if s.down {
		return side
	}
	return 1
}

// inside tells whether a ship of the size lies within the waters.
func (s ship) inside(size uint8) bool {
	if s.down {
		return s.square/side+size <= side
	}
	return s.square%side+size <= side
}

// readSquare reads a square at the front of the text, in either case.
func readSquare(text string) (square uint8, rest string, ok bool) {
	if len(text) < 2 {
		return 0, text, false
	}
	row, column := text[0]&^0x20-'A', text[1]-'1'
	if row >= side || column >= 9 {
		return 0, text, false
	}
	rest = text[2:]
	if column == 0 && rest != "" && rest[0] == '0' {
		column, rest = 9, rest[1:]
	}
	return row*side + column, rest, true
}

// readLayout reads a layout in canonical notation or by its aliases. The error is engine.ErrSyntax,
// or engine.ErrIllegal with the reason.
func readLayout(text string) (l layout, why error, reason string) {
	for i := range l {
		if i > 0 {
			switch {
			case len(text) > 1 && text[0] == ',' && text[1] == ' ':
				text = text[2:]
			case text != "" && (text[0] == ' ' || text[0] == ','):
				text = text[1:]
			default:
				return l, engine.ErrSyntax, wantLayout
			}
		}
		square, rest, ok := readSquare(text)
		if !ok || rest == "" || rest[0]|0x20 != 'h' && rest[0]|0x20 != 'v' {
			return l, engine.ErrSyntax, wantLayout
		}
		l[i] = ship{square, rest[0]|0x20 == 'v'}
		text = rest[1:]
	}
	if text != "" {
		return l, engine.ErrSyntax, wantLayout
	}
	var at [squares]uint8
	for i, s := range l {
		if !s.inside(sizes[i]) {
			return l, engine.ErrIllegal, "the ship of " + number(sizes[i]) + " squares at " + string(s.append(nil)) + " leaves the waters"
		}
		for n, square := uint8(0), s.square; n < sizes[i]; n, square = n+1, square+s.step() {
			if other := at[square]; other != 0 {
				return l, engine.ErrIllegal, "the ships of " + number(other) + " and " + number(sizes[i]) + " squares both lie on " + squareName(square)
			}
			at[square] = sizes[i]
		}
	}
	l.order()
	return l, nil, ""
}

const wantLayout = "want the ships of 5, 4, 3, 3 and 2 squares, such as A1h C4v E7h J1h G10v"

// order puts ships of one size into the order of canonical notation.
func (l *layout) order() {
	for i := 1; i < len(l); i++ {
		if sizes[i-1] == sizes[i] && l[i].square < l[i-1].square {
			l[i-1], l[i] = l[i], l[i-1]
		}
	}
}

func (s ship) append(dst []byte) []byte {
	direction := byte('h')
	if s.down {
		direction = 'v'
	}
	return append(appendSquare(dst, s.square), direction)
}

// append prints canonical notation, at most maxLayout bytes.
func (l *layout) append(dst []byte) []byte {
	for i, s := range l {
		if i > 0 {
			dst = append(dst, ' ')
		}
		dst = s.append(dst)
	}
	return dst
}

const maxLayout = 5*len(sizes) - 1

func appendSquare(dst []byte, square uint8) []byte {
	dst = append(dst, 'A'+square/side)
	if square%side == 9 {
		return append(dst, '1', '0')
	}
	return append(dst, '1'+square%side)
}

func squareName(square uint8) string { return string(appendSquare(nil, square)) }

func number(n uint8) string { return strconv.Itoa(int(n)) }

// sample lays out the ships one after the other, each in one of the places that are left. Wherever
// the longer ones lie, a shorter one has a place.
func sample(source engine.Source) (l layout) {
	var at [squares]bool
	for i, size := range sizes {
		var fits [2 * squares]ship
		n := 0
		for square := range uint8(squares) {
			for _, s := range [...]ship{{square, false}, {square, true}} {
				if s.inside(size) && free(&at, s, size) {
					fits[n] = s
					n++
				}
			}
		}
		l[i] = fits[source.Intn(n)]
		for k := range size {
			at[l[i].square+k*l[i].step()] = true
		}
	}
	l.order()
	return l
}

func free(at *[squares]bool, s ship, size uint8) bool {
	for k := range size {
		if at[s.square+k*s.step()] {
			return false
		}
	}
	return true
}
