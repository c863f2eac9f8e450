package backgammon

import "strconv"

// task says what the seat on turn has to do.
func (p *Position) task() string {
	switch p.phase {
	case acting:
		if p.mayDouble(p.turn) {
			return "roll, double or resign the game"
		}
		return "roll or resign the game"
	case answer:
		return "take or drop"
	case offered:
		return "accept or decline: the other seat offers to lose " + points(p.offer*p.cube)
	}
	return "play " + diceText(p.dice)
}

// explain says why a play was refused. It is asked only after that.
func (p *Position) explain(text string) string {
	list, n, ok := readPlay(text)
	if !ok {
		if isWord(text) {
			return "the dice are thrown: want a play of " + diceText(p.dice) + p.example()
		}
		return "want one to four checkers' moves such as 13/8 6/5, bar/22 or 6/off"
	}
	b := &p.board
	if why := p.partRefusal(list[:n]); why != "" {
		return why
	}
	found := b.read(p.turn, p.dice, list[:n])
	if found.n == 0 {
		return "that is no way to play " + diceText(p.dice) + p.example()
	}
	short := true
	for i := range found.n {
		m := &found.list[i]
		if !p.enough(m) {
			continue
		}
		short = false
		if fit, _ := m.starsFit(b, p.turn, list[:n]); fit {
			return "its canonical notation is " + string(m.append(nil, b, p.turn))
		}
	}
	if !short {
		return "a hit is marked where there is nothing to hit"
	}
	return p.shortRefusal(found.list[0].n) + p.example()
}

// shortRefusal says how much of the dice must be played.
func (p *Position) shortRefusal(n int) string {
	b, dice := &p.board, p.dice
	switch {
	case dice[0] == dice[1]:
		return "the die must be played " + strconv.Itoa(b.most(p.turn, dice[0], bar, 4)) + " times, this plays it " + strconv.Itoa(n) + " times"
	case b.canBoth(p.turn, dice):
		return "must use both dice"
	}
	return "only one die can be played, and it must be the larger if it can: the " + strconv.Itoa(b.forced(p.turn, dice))
}

// example names a legal play. It does not list all of them, of which a double may have thousands.
func (p *Position) example() string {
	b, dice := &p.board, p.dice
	var m play
	switch {
	case dice[0] == dice[1]:
		b.run(p.turn, dice[0], bar, b.most(p.turn, dice[0], bar, 4), &m)
	case !b.canBoth(p.turn, dice):
		b.run(p.turn, b.forced(p.turn, dice), bar, 1, &m)
	default:
		b.both(p.turn, dice, &m)
	}
	m.sort()
	return "; legal is for example " + string(m.append(nil, b, p.turn))
}

// run finds a play of exactly n more steps of one die.
func (b board) run(seat, die, top, n int, m *play) bool {
	if n == 0 {
		return true
	}
	for from := top; from > off; from-- {
		if to, ok := b.step(seat, from, die); ok {
			after := b
			after.make(seat, from, to)
			if after.run(seat, die, from, n-1, m) {
				m.add(from, to)
				return true
			}
		}
	}
	return false
}

// both finds a play of two different dice.
func (b board) both(seat int, dice [2]int, m *play) {
	for range 2 {
		for from := bar; from > off; from-- {
			if to, ok := b.step(seat, from, dice[0]); ok {
				after := b
				after.make(seat, from, to)
				if after.run(seat, dice[1], bar, 1, m) {
					m.add(from, to)
					return
				}
			}
		}
		dice[0], dice[1] = dice[1], dice[0]
	}
}

// partRefusal says what is wrong with one checker's move, or "".
func (p *Position) partRefusal(list []part) string {
	b := &p.board
	own := &b[p.turn]
	arrives := func(point int) bool {
		for i := range list {
			for _, at := range list[i].points[1:list[i].n] {
				if int(at) == point {
					return true
				}
			}
		}
		return false
	}
	entered := false
	for i := range list {
		entered = entered || list[i].from() == bar
	}
	for i := range list {
		t := &list[i]
		name := pointName(t.from()) + "/" + pointName(t.to())
		for j := 1; j < t.n; j++ {
			if t.points[j] >= t.points[j-1] {
				return "checkers move from high points to low: " + name
			}
		}
		pips := t.from() - t.to()
		switch {
		case own[t.from()] == 0 && !arrives(t.from()):
			return "no checker of this seat on " + pointName(t.from())
		case own[bar] > 0 && !entered:
			return "a checker on the bar must enter first"
		case b.blocked(p.turn, t.to()):
			return "the opponent holds the " + pointName(t.to()) + " point"
		case t.to() != off && !p.fits(pips):
			return name + " is " + strconv.Itoa(pips) + " pips, and the dice are " + diceText(p.dice)
		}
	}
	return ""
}

// fits tells whether the dice can make a number of pips.
func (p *Position) fits(pips int) bool {
	a, b := p.dice[0], p.dice[1]
	if a == b {
		return pips%a == 0 && pips <= 4*a
	}
	return pips == a || pips == b || pips == a+b
}
