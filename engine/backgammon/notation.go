package backgammon

import (
	"slices"
	"strconv"
	"strings"
)

// A step is one checker moved by one die.
type step struct{ from, to uint8 }

// A play is the steps of one roll, from the highest origin down; of one origin, the farthest target
// comes first.
type play struct {
	n     int
	steps [4]step
}

func (p *play) add(from, to int) {
	p.steps[p.n] = step{uint8(from), uint8(to)}
	p.n++
}

func (p *play) sort() {
	for i := 1; i < p.n; i++ {
		for j := i; j > 0 && p.steps[j].before(p.steps[j-1]); j-- {
			p.steps[j], p.steps[j-1] = p.steps[j-1], p.steps[j]
		}
	}
}

func (s step) before(t step) bool { return s.from > t.from || s.from == t.from && s.to < t.to }

// make plays the steps. In their order no checker leaves a point before it came there.
func (p *play) make(b *board, seat int) {
	for _, s := range p.steps[:p.n] {
		b.make(seat, int(s.from), int(s.to))
	}
}

// A part is what one checker does in a play: the points it touches as far as they are written, first
// the origin and last the target, and bit i of stars if a hit is marked at points[i].
type part struct {
	points [5]uint8
	n      int
	stars  uint8
}

func (p *part) from() int { return int(p.points[0]) }
func (p *part) to() int   { return int(p.points[p.n-1]) }

func (p *part) add(point uint8, star bool) {
	if star {
		p.stars |= 1 << p.n
	}
	p.points[p.n] = point
	p.n++
}

// parts joins the steps of a play to what each checker does, as canonical notation writes it.
func (p *play) parts(b *board, seat int) (list [4]part, n int) {
	var used, starred uint32 // steps, and points whose hit is marked
	for i := range p.n {
		if used&(1<<i) != 0 {
			continue
		}
		t := &list[n]
		n++
		t.add(p.steps[i].from, false)
		for at := i; ; {
			used |= 1 << at
			to := p.steps[at].to
			star := b.blot(seat, int(to)) && starred&(1<<to) == 0
			if star {
				starred |= 1 << to
			}
			next := at + 1
			for next < p.n && (used&(1<<next) != 0 || p.steps[next].from != to) {
				next++
			}
			last := to == off || next == p.n
			if last || star {
				t.add(to, star)
			}
			if last {
				break
			}
			at = next
		}
	}
	return list, n
}

// append appends the canonical notation of a play from the board.
func (p *play) append(dst []byte, b *board, seat int) []byte {
	list, n := p.parts(b, seat)
	for i := 0; i < n; {
		t := &list[i]
		same := i + 1
		for t.n == 2 && same < n && list[same].n == 2 && list[same].points == t.points {
			same++
		}
		if i > 0 {
			dst = append(dst, ' ')
		}
		dst = t.append(dst)
		if same > i+1 {
			dst = append(dst, '(', '0'+byte(same-i), ')')
		}
		i = same
	}
	return dst
}

func (p *part) append(dst []byte) []byte {
	for i, point := range p.points[:p.n] {
		if i > 0 {
			dst = append(dst, '/')
		}
		dst = appendPoint(dst, int(point))
		if p.stars&(1<<i) != 0 {
			dst = append(dst, '*')
		}
	}
	return dst
}

func appendPoint(dst []byte, point int) []byte {
	switch point {
	case off:
		return append(dst, "off"...)
	case bar:
		return append(dst, "bar"...)
	}
	return strconv.AppendInt(dst, int64(point), 10)
}

func pointName(point int) string { return string(appendPoint(nil, point)) }

// readPlay reads a play as anyone may write it: parts apart by spaces, of two to five points apart
// by slashes, each but the first with or without a star, and a count in brackets at the end.
func readPlay(text string) (list [4]part, n int, ok bool) {
	for text != "" {
		if n > 0 {
			if text[0] != ' ' {
				return list, n, false
			}
			text = strings.TrimLeft(text, " ")
		}
		var t part
		for {
			point, width := readPoint(text)
			if width == 0 || t.n == len(t.points) {
				return list, n, false
			}
			text = text[width:]
			star := t.n > 0 && strings.HasPrefix(text, "*")
			if star {
				text = text[1:]
			}
			t.add(point, star)
			if !strings.HasPrefix(text, "/") {
				break
			}
			text = text[1:]
		}
		count := 1
		if len(text) >= 3 && text[0] == '(' && '2' <= text[1] && text[1] <= '4' && text[2] == ')' {
			count = int(text[1] - '0')
			text = text[3:]
		}
		if t.n < 2 || n+count > len(list) {
			return list, n, false
		}
		for range count {
			list[n] = t
			n++
		}
	}
	return list, n, n > 0
}

// readPoint reads a number from 0 to 25, "bar" or "off" from the front of a text.
func readPoint(text string) (point uint8, width int) {
	if len(text) >= 3 {
		if strings.EqualFold(text[:3], "bar") {
			return bar, 3
		} else if strings.EqualFold(text[:3], "off") {
			return off, 3
		}
	}
	for width < len(text) && width < 2 && '0' <= text[width] && text[width] <= '9' {
		point = 10*point + text[width] - '0'
		width++
	}
	if width == 2 && text[0] == '0' || point > bar {
		return 0, 0
	}
	return point, width
}

// A list of plays that a text can mean; more than eight would take three dice.
type plays struct {
	n    int
	list [8]play
}

// read finds the plays of the dice that a text means, those with more dice first and of those with
// one die that of the larger. It asks whether each step is legal, and no more.
func (b *board) read(seat int, dice [2]int, list []part) (found plays) {
	for i := range list {
		for j := 1; j < list[i].n; j++ {
			if list[i].points[j] >= list[i].points[j-1] {
				return found
			}
		}
	}
	if dice[0] == dice[1] {
		b.readDouble(seat, dice[0], list, &found)
		return found
	}
	if len(list) > 2 || list[0].n > 3 {
		return found
	}
	for range 2 {
		if len(list) == 1 {
			b.readOne(seat, dice, &list[0], &found)
		} else if list[0].n == 2 && list[1].n == 2 {
			b.readTwo(seat, dice, &list[0], &list[1], &found)
			b.readTwo(seat, dice, &list[1], &list[0], &found)
		}
		dice[0], dice[1] = dice[1], dice[0]
	}
	for range 2 {
		if len(list) == 1 && list[0].n == 2 {
			if to, ok := b.step(seat, list[0].from(), dice[0]); ok && to == list[0].to() {
				var p play
				p.add(list[0].from(), to)
				found.add(p)
			}
		}
		dice[0], dice[1] = dice[1], dice[0]
	}
	return found
}

func (f *plays) add(p play) {
	p.sort()
	f.list[f.n] = p
	f.n++
}

// readOne finds the play of one checker with both dice, in their order.
func (b *board) readOne(seat int, dice [2]int, t *part, found *plays) {
	by, ok := b.step(seat, t.from(), dice[0])
	if !ok || by == off || t.n == 3 && int(t.points[1]) != by {
		return
	}
	after := *b
	after.make(seat, t.from(), by)
	if to, ok := after.step(seat, by, dice[1]); ok && to == t.to() {
		var p play
		p.add(t.from(), by)
		p.add(by, to)
		found.add(p)
	}
}

// readTwo finds the play of two checkers, one after the other, with the dice in their order.
func (b *board) readTwo(seat int, dice [2]int, s, t *part, found *plays) {
	if to, ok := b.step(seat, s.from(), dice[0]); !ok || to != s.to() {
		return
	}
	after := *b
	after.make(seat, s.from(), s.to())
	if to, ok := after.step(seat, t.from(), dice[1]); ok && to == t.to() {
		var p play
		p.add(s.from(), s.to())
		p.add(t.from(), to)
		found.add(p)
	}
}

// readDouble finds the play of one die. The steps of each part are the only ones there can be.
func (b *board) readDouble(seat, die int, list []part, found *plays) {
	var p play
	for i := range list {
		t := &list[i]
		at, written := t.from(), 1
		for at > t.to() {
			to := max(off, at-die)
			if p.n == len(p.steps) || to < int(t.points[written]) {
				return
			}
			p.add(at, to)
			if at = to; at == int(t.points[written]) {
				written++
			}
		}
	}
	p.sort()
	after := *b
	for _, s := range p.steps[:p.n] {
		if to, ok := after.step(seat, int(s.from), die); !ok || to != int(s.to) {
			return
		}
		after.make(seat, int(s.from), int(s.to))
	}
	found.add(p)
}

// starsFit tells whether every hit that the text marks is one of the play's, and silent whether the
// play hits nothing on a way that the text does not mark.
func (p *play) starsFit(b *board, seat int, list []part) (fit, silent bool) {
	var hits, marked, ends uint32
	for _, s := range p.steps[:p.n] {
		if b.blot(seat, int(s.to)) {
			hits |= 1 << s.to
		}
	}
	for i := range list {
		t := &list[i]
		for j := 1; j < t.n; j++ {
			if t.stars&(1<<j) != 0 {
				marked |= 1 << t.points[j]
			}
			ends |= 1 << t.points[j]
		}
	}
	return marked&^hits == 0, hits&^(marked|ends) == 0
}

// compare orders plays for the list of legal moves: by the parts as they are written, each by its
// origin from the bar down and then by its target from high to low.
func compare(b *board, seat int, p, q *play) int {
	s, n := p.parts(b, seat)
	t, m := q.parts(b, seat)
	for i := range min(n, m) {
		if s[i].from() != t[i].from() {
			return t[i].from() - s[i].from()
		} else if s[i].to() != t[i].to() {
			return t[i].to() - s[i].to()
		}
	}
	return n - m
}

// A choice is a play with its canonical notation.
type choice struct {
	play play
	text string
}

// choices lists the legal plays of the dice, one for each resulting board, in the order of compare,
// then of their texts.
func (b *board) choices(seat int, dice [2]int) []choice {
	var list []choice
	keep := func(p play) {
		p.sort()
		list = append(list, choice{p, string(p.append(nil, b, seat))})
	}
	switch {
	case dice[0] == dice[1]:
		if n := b.most(seat, dice[0], bar, 4); n > 0 {
			b.doubles(seat, dice[0], bar, n, play{}, keep)
		}
	case b.canBoth(seat, dice):
		for range 2 {
			for from := bar; from > off; from-- {
				to, ok := b.step(seat, from, dice[0])
				if !ok {
					continue
				}
				after := *b
				after.make(seat, from, to)
				for next := bar; next > off; next-- {
					if last, ok := after.step(seat, next, dice[1]); ok {
						var p play
						p.add(from, to)
						p.add(next, last)
						keep(p)
					}
				}
			}
			dice[0], dice[1] = dice[1], dice[0]
		}
	default:
		die := b.forced(seat, dice)
		for from := bar; from > off; from-- {
			if to, ok := b.step(seat, from, die); ok {
				var p play
				p.add(from, to)
				keep(p)
			}
		}
	}
	slices.SortFunc(list, func(p, q choice) int {
		if c := compare(b, seat, &p.play, &q.play); c != 0 {
			return c
		}
		return strings.Compare(p.text, q.text)
	})
	return slices.CompactFunc(list, func(p, q choice) bool { return p.text == q.text })
}

// forced returns the die that must be played where only one can: the larger if it can.
func (b *board) forced(seat int, dice [2]int) int {
	if high := max(dice[0], dice[1]); b.canMove(seat, high) {
		return high
	}
	return min(dice[0], dice[1])
}

// doubles calls keep with every play of exactly n more steps, each once.
func (b *board) doubles(seat, die, top, n int, p play, keep func(play)) {
	if n == 0 {
		keep(p)
		return
	}
	for from := top; from > off; from-- {
		if to, ok := b.step(seat, from, die); ok {
			after, next := *b, p
			after.make(seat, from, to)
			next.add(from, to)
			after.doubles(seat, die, from, n-1, next, keep)
		}
	}
}
