package battleship

import (
	"math/bits"
	"slices"
	"strings"
	"testing"

	"ludger/engine/enginetest"
	"ludger/testvectors"
)

// waterMask is a set of squares.
type waterMask [2]uint64

func (m waterMask) with(square int) waterMask {
	m[square/64] |= 1 << (square % 64)
	return m
}

// places returns where a ship of a size can lie, worked out apart from the engine.
func places(size int) (list []waterMask) {
	for row := range side {
		for column := range side {
			for _, step := range []int{1, side} {
				if step == 1 && column+size > side || step == side && row+size > side {
					continue
				}
				var m waterMask
				for k := range size {
					m = m.with(side*row + column + k*step)
				}
				list = append(list, m)
			}
		}
	}
	return list
}

// The number of layouts in the package comment is counted here: those of the first four ships one by
// one, and for each the places that are left to the destroyer.
func TestCount(t *testing.T) {
	if testing.Short() {
		t.Skip("counts 15 billion layouts")
	}
	var right, bottom waterMask // squares from which a destroyer cannot go on
	for k := range side {
		right = right.with(side*k + side - 1)
		bottom = bottom.with(side*(side-1) + k)
	}
	full := waterMask{^uint64(0), 1<<(squares-64) - 1}
	meet := func(a, b waterMask) bool { return a[0]&b[0]|a[1]&b[1] != 0 }
	destroyers := func(used waterMask) int {
		f := waterMask{full[0] &^ used[0], full[1] &^ used[1]}
		n := 0
		for _, s := range []struct {
			shift uint
			never waterMask
		}{{1, right}, {side, bottom}} {
			next := waterMask{f[0]>>s.shift | f[1]<<(64-s.shift), f[1] >> s.shift}
			n += bits.OnesCount64(f[0]&next[0]&^s.never[0]) + bits.OnesCount64(f[1]&next[1]&^s.never[1])
		}
		return n
	}
	cruisers := places(3)
	total := 0
	for _, carrier := range places(5) {
		for _, battleship := range places(4) {
			if meet(carrier, battleship) {
				continue
			}
			long := waterMask{carrier[0] | battleship[0], carrier[1] | battleship[1]}
			var free []waterMask
			for _, c := range cruisers {
				if !meet(long, c) {
					free = append(free, c)
				}
			}
			for i, a := range free {
				three := waterMask{long[0] | a[0], long[1] | a[1]}
				for _, b := range free[i+1:] {
					if !meet(a, b) {
						total += destroyers(waterMask{three[0] | b[0], three[1] | b[1]})
					}
				}
			}
		}
	}
	if total != 15_046_987_768 {
		t.Errorf("%d layouts", total)
	}
}

// Placements at random, legal or not: the engine takes those whose squares are 17, none twice and all
// in the waters, and exactly one of the two orders of the cruisers.
func TestLayouts(t *testing.T) {
	random := enginetest.Random(1)
	taken := 0
	for range 20000 {
		var l layout
		used := make(map[[2]int]bool)
		inside := true
		for i := range l {
			l[i] = ship{uint8(random.Intn(squares)), random.Intn(2) == 1}
			row, column := int(l[i].square)/side, int(l[i].square)%side
			for range sizes[i] {
				inside = inside && row < side && column < side
				used[[2]int{row, column}] = true
				if l[i].down {
					row++
				} else {
					column++
				}
			}
		}
		legal := inside && len(used) == 17
		swapped := l
		swapped[2], swapped[3] = l[3], l[2]
		texts := []string{string(l.append(nil)), string(swapped.append(nil))}
		exact := 0
		for _, text := range texts {
			read, why, _ := readLayout(text)
			if (why == nil) != legal {
				t.Fatalf("%s: %v, legal: %v", text, why, legal)
			}
			if string(read.append(nil)) == text {
				exact++
			}
		}
		if legal {
			taken++
			if exact != 1 {
				t.Errorf("%d of the orders of %s are canonical, want 1", exact, texts[0])
			}
		}
	}
	if taken < 1000 {
		t.Errorf("%d of 20000 layouts are legal", taken)
	}
}

// Samples are legal, different, and every square comes to be covered; even a source that always says
// the same leads to a layout.
func TestSample(t *testing.T) {
	random := enginetest.Random(1)
	seen := make(map[string]bool)
	var covered [squares]bool
	for range 2000 {
		l := sample(&random)
		text := string(l.append(nil))
		if read, why, reason := readLayout(text); why != nil || read != l {
			t.Fatalf("%s: %v %s", text, why, reason)
		}
		seen[text] = true
		for i, s := range l {
			for k := range sizes[i] {
				covered[s.square+k*s.step()] = true
			}
		}
	}
	if len(seen) < 1990 || slices.Contains(covered[:], false) {
		t.Errorf("%d different layouts of 2000, which cover %v", len(seen), covered)
	}
	for _, f := range []constant{0, 1} {
		l := sample(f)
		if _, why, reason := readLayout(string(l.append(nil))); why != nil {
			t.Errorf("%s: %s", l.append(nil), reason)
		}
	}
}

// constant is a source that says the lowest or the highest number.
type constant int

func (c constant) Intn(n int) int { return int(c) * (n - 1) }

// FuzzLayout: whatever is read prints to canonical notation, which reads and prints as itself.
func FuzzLayout(f *testing.F) {
	data, err := testvectors.FS.ReadFile("battleship/notation.json")
	if err != nil {
		f.Fatal(err)
	}
	seeds := 0
	for _, line := range strings.Split(string(data), "\n") {
		if _, rest, ok := strings.Cut(line, `"text":"`); ok {
			text, _, _ := strings.Cut(rest, `"`)
			f.Add(text)
			seeds++
		}
	}
	if seeds == 0 {
		f.Fatal("no seeds")
	}
	f.Fuzz(func(t *testing.T, text string) {
		l, why, _ := readLayout(text)
		if why != nil {
			return
		}
		canonical := string(l.append(nil))
		again, why, reason := readLayout(canonical)
		if why != nil || again != l || string(again.append(nil)) != canonical || len(canonical) > maxLayout {
			t.Fatalf("%q reads as %q, and that as %q, %v %s", text, canonical, again.append(nil), why, reason)
		}
	})
}
