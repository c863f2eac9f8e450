package backgammon_test

import (
	"fmt"
	"slices"
	"testing"

	"ludger/engine"
	"ludger/engine/backgammon"
)

// place writes a board from the mover's points 1 to 24 and bar and the opponent's, each by its own
// numbering, with seat 0 as the mover.
func place(mover, opponent []int) string {
	text := []byte("--------------------------")
	for i, n := range mover {
		if n > 0 {
			text[i+1] = 'A' - 1 + byte(n)
		}
	}
	for i, n := range opponent {
		if n > 0 {
			text[24-i] = 'a' - 1 + byte(n)
		}
	}
	return string(text)
}

// mirror is the same board with the seats exchanged.
func mirror(board string) string {
	text := []byte(board)
	slices.Reverse(text)
	for i, c := range text {
		if c != '-' {
			text[i] = c ^ 0x20
		}
	}
	return string(text)
}

func setup(t testing.TB, variant, start string) *backgammon.Position {
	t.Helper()
	p, err := backgammon.New(engine.Setup{Variant: variant, Seats: 2, Start: start})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// throw plays the dice in any order.
func throw(t testing.TB, p *backgammon.Position, text string) {
	t.Helper()
	dice, err := p.Parse(engine.Chance, text)
	if err == nil {
		err = p.Play(engine.Chance, dice)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func onTurn(p engine.Position) engine.Seat {
	if seats := p.Turn().Seats(); len(seats) == 1 {
		return seats[0]
	}
	return engine.Chance
}

func state(p engine.Position) string { return string(p.AppendState(nil, engine.Spectator)) }

// TestPlays: each seat has exactly the plays that another program lists, one for each resulting position.
func TestPlays(t *testing.T) {
	var file struct {
		Rows []struct {
			Position_id     string
			Dice            [2]int
			Mover, Opponent []int
			Checkers_moved  int
			Plays           []string
		}
	}
	shared(t, &file, "perft", "backgammon_plays.json")
	if len(file.Rows) < 304 {
		t.Fatalf("%d rows", len(file.Rows))
	}
	for _, row := range file.Rows {
		board := place(row.Mover, row.Opponent)
		dice := fmt.Sprintf("%d%d", row.Dice[0], row.Dice[1])
		for seat, board := range []string{board, mirror(board)} {
			p := setup(t, backgammon.Single, fmt.Sprintf("%s %d:roll - - 0", board, seat))
			throw(t, p, dice)
			checkPlays(t, p, engine.Seat(seat), row.Position_id+" "+dice, row.Plays)
			if got, want := listed(p, engine.Seat(seat)), brute(board, seat, row.Dice); !slices.Equal(got, want) {
				t.Errorf("%s %s: results %q, want %q", board, dice, got, want)
			}
		}
	}
}

func checkPlays(t *testing.T, p *backgammon.Position, seat engine.Seat, what string, plays []string) {
	t.Helper()
	var got, want []string
	for _, m := range p.Legal(seat) {
		got = append(got, m.Move)
	}
	for _, text := range plays {
		move, err := p.Parse(seat, text)
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
		want = append(want, move)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%s of %v: plays %q, want %q", what, seat, got, want)
	}
	if (len(plays) == 0) != p.Turn().Has(engine.Chance) {
		t.Errorf("%s: %d plays, but the state is %s", what, len(plays), state(p))
	}
}

// listed plays every legal move and returns the boards, sorted.
func listed(p *backgammon.Position, seat engine.Seat) (boards []string) {
	for _, m := range p.Legal(seat) {
		q := p.Clone()
		if err := q.Play(seat, m.Move); err != nil {
			panic(err)
		}
		boards = append(boards, state(q)[:26])
	}
	slices.Sort(boards)
	return boards
}

// brute finds the resulting boards by trying everything, on boards of 26 signed numbers. It shares
// nothing with the engine.
func brute(board string, seat int, dice [2]int) []string {
	if seat == 1 {
		var out []string
		for _, b := range brute(mirror(board), 0, dice) {
			out = append(out, mirror(b))
		}
		slices.Sort(out)
		return out
	}
	type node struct {
		own, opp [26]int // by the mover's numbering; opp[0] is the opponent's bar
	}
	var start node
	for i, c := range board {
		if 'A' <= c && c <= 'O' {
			start.own[i] = int(c-'A') + 1
		} else if 'a' <= c && c <= 'o' {
			start.opp[i] = int(c-'a') + 1
		}
	}
	next := func(n node, die int) (list []node) {
		for from := 25; from >= 1; from-- {
			if n.own[from] == 0 || from < 25 && n.own[25] > 0 {
				continue
			}
			to, c := from-die, n
			if to <= 0 {
				farther := 0
				for at := 7; at <= 25; at++ {
					farther += n.own[at] // outside the home board
				}
				for at := from + 1; to < 0 && at <= 6; at++ {
					farther += n.own[at]
				}
				if farther > 0 {
					continue
				}
				to = 0
			} else if n.opp[to] > 1 {
				continue
			} else if n.opp[to] == 1 {
				c.opp[to] = 0
				c.opp[0]++
			}
			c.own[from]--
			if to > 0 {
				c.own[to]++
			}
			list = append(list, c)
		}
		return list
	}
	orders := [][]int{{dice[0], dice[1]}, {dice[1], dice[0]}}
	if d := dice[0]; d == dice[1] {
		orders = [][]int{{d, d, d, d}}
	}
	best, high := 0, 0
	var final map[node]bool
	for _, order := range orders {
		now := map[node]bool{start: true}
		for depth, die := range order {
			then := map[node]bool{}
			for n := range now {
				for _, m := range next(n, die) {
					then[m] = true
				}
			}
			if len(then) == 0 {
				break
			}
			now = then
			// Of two different dice that can only be played alone the larger counts.
			if used := depth + 1; used > best || used == best && used == 1 && order[0] > high {
				best, high, final = used, order[0], map[node]bool{}
			}
			if depth+1 == best && (best > 1 || order[0] == high) {
				for n := range then {
					final[n] = true
				}
			}
		}
	}
	var out []string
	for n := range final {
		text := []byte("--------------------------")
		for i := range 26 {
			if n.own[i] > 0 {
				text[i] = 'A' - 1 + byte(n.own[i])
			} else if n.opp[i] > 0 {
				text[i] = 'a' - 1 + byte(n.opp[i])
			}
		}
		out = append(out, string(text))
	}
	slices.Sort(out)
	return out
}
