package backgammon_test

import (
	"errors"
	"strings"
	"testing"

	"ludger/engine"
	"ludger/engine/backgammon"
	"ludger/engine/enginetest"
)

const startBoard = "-b----E-C---eE---c-e----B-"

// The reasons are for people and no format, but each kind of mistake has its own.
func TestReasons(t *testing.T) {
	for _, row := range []struct{ variant, start, move, reason string }{
		{"single", startBoard + " 0:31 - - 1", "8/5", "must use both dice; legal is for example 24/21 24/23"},
		{"single", startBoard + " 0:31 - - 1", "8/6 6/5", "8/6 is 2 pips, and the dice are 31"},
		{"single", startBoard + " 0:31 - - 1", "5/8 6/5", "checkers move from high points to low: 5/8"},
		{"single", startBoard + " 0:31 - - 1", "7/4 6/5", "no checker of this seat on 7"},
		{"single", startBoard + " 0:31 - - 1", "6/5 8/5", "its canonical notation is 8/5 6/5"},
		{"single", startBoard + " 0:31 - - 1", "8/5* 6/5", "a hit is marked where there is nothing to hit"},
		{"single", startBoard + " 0:31 - - 1", "8/5-6/5", "want one to four checkers' moves such as 13/8 6/5, bar/22 or 6/off"},
		{"single", startBoard + " 0:31 - - 1", "roll", "the dice are thrown: want a play of 31; legal is for example 24/21 24/23"},
		{"single", startBoard + " 0:31 - - 1", "6/3 6/off", "that is no way to play 31; legal is for example 24/21 24/23"},
		{"single", startBoard + " 0:65 - - 1", "24/19 13/7", "the opponent holds the 19 point"},
		{"single", startBoard + " 0:44 - - 1", "24/20(2)", "the die must be played 4 times, this plays it 2 times; legal is for example 24/16(2)"},
		{"single", "------C------------b-----B 0:62 - - 1", "6/4", "a checker on the bar must enter first"},
		{"single", "-A-b----------A---------b- 0:65 - - 1", "14/9", "only one die can be played, and it must be the larger if it can: the 6; legal is for example 14/8"},
		{"money", startBoard + " 0:act 2@1 - 1", "double", "the cube is the other seat's"},
		{"money", startBoard + " 0:act 4096@0 - 1", "double", "the cube is at its limit of 4096"},
		{"match", startBoard + " 0:act 1 2-0/3c 1", "double", "nobody doubles in the Crawford game"},
		{"money", "------A-----------------b- 0:act 1 - 1", "resign:2", "this position can cost at most 1 times the cube"},
		{"money", startBoard + " 0:act 1 - 1", "take", "want roll, double or resign: with 1, 2 or 3"},
		{"money", startBoard + " 0:answer 1 - 1", "roll", "want take or drop"},
		{"money", startBoard + " 0:offer2 1 - 1", "drop", "want accept or decline"},
	} {
		p := setup(t, row.variant, row.start)
		if _, example, ok := strings.Cut(row.reason, "for example "); ok {
			if _, err := p.Parse(0, example); err != nil {
				t.Errorf("%s: the example is refused: %v", row.start, err)
			}
		}
		var refused *engine.MoveError
		if err := p.Play(0, row.move); !errors.As(err, &refused) || refused.Reason != row.reason {
			t.Errorf("%s: %s is refused with %v, want %q", row.start, row.move, err, row.reason)
		}
		if err := p.Play(1, row.move); !errors.Is(err, engine.ErrTurn) {
			t.Errorf("%s: %s of the other seat: %v", row.start, row.move, err)
		}
	}
}

func TestForfeit(t *testing.T) {
	const race = "-EEE----------------eee--- "
	for _, row := range []struct {
		variant, start string
		seat           engine.Seat
		costs          int64
	}{
		{"single", "", 0, 3},
		{"single", "", 1, 3},
		{"single", race + "0:roll - - 1", 0, 2},
		{"single", "-EED----------------eee--- 0:roll - - 1", 0, 1},
		{"single", "-EED----------------eee--- 0:roll - - 1", 1, 2},
		{"single", "-A---------------------o-- 0:roll - - 1", 1, 2},
		{"single", "-Aa---------------------n- 0:roll - - 1", 1, 3},
		{"single", "nA-------------------a---- 0:roll - - 1", 1, 3},
		{"money", race + "0:act 4@1 - 1", 0, 8},
		{"money", race + "0:answer 4@1 - 1", 0, 4},
		{"money", race + "0:answer 4@1 - 1", 1, 8},
		{"match", "9", 0, 1},
		{"match", race + "0:roll 4@1 3-3/9 1", 1, 1},
	} {
		p := setup(t, row.variant, row.start)
		for _, reason := range []string{engine.Resigned, engine.OutOfTime} {
			o := p.Forfeit(row.seat, reason)
			if o.Reason != reason || o.Returns[row.seat] != -row.costs || o.Returns[1-row.seat] != row.costs {
				t.Errorf("%s: %v leaves: %+v, want it to cost %d", row.start, row.seat, o, row.costs)
			}
		}
	}
	over := setup(t, backgammon.Single, "-A----------------o------- 0:31 - - 9")
	if err := over.Play(0, "1/off"); err != nil {
		t.Fatal(err)
	}
	if o := over.Forfeit(0, engine.Resigned); o.Reason != backgammon.Gammon || o.Returns[0] != 2 {
		t.Errorf("resigned after the end: %+v", o)
	}
}

func TestStart(t *testing.T) {
	for _, row := range []struct{ variant, start, says string }{
		{"hyper", "", "unknown variant"},
		{"match", "0", "length of a match"},
		{"match", "26", "length of a match"},
		{"match", "07", "length of a match"},
		{"match", "x", "length of a match"},
		{"single", "7", "fields"},
		{"single", startBoard + " 0:31 - - 1 ", "fields"},
		{"single", startBoard + "- 0:31 - - 1", "26"},
		{"single", "-b----E-C---eE---c-e----Bz 0:31 - - 1", "place 25"},
		{"single", "Bb----E-C---eE---c-e------ 0:31 - - 1", "place 0"},
		{"single", "-------------------------- 0:31 - - 1", "0 checkers of seat 0"},
		{"single", "-O----E------------------b 0:31 - - 1", "place 25"},
		{"single", "-O----E-----------------b- 0:31 - - 1", "20 checkers"},
		{"single", startBoard + " 2:31 - - 1", "turn"},
		{"single", startBoard + " 0:71 - - 1", "two dice"},
		{"single", startBoard + " 0:13 - - 1", "reads as"},
		{"single", startBoard + " 0:act - - 1", "no cube"},
		{"single", startBoard + " 0:31 1 - 1", "reads as"},
		{"single", startBoard + " 0:31 - 1-1/3 1", "reads as"},
		{"single", startBoard + " 0:31 - - 9000", "plies"},
		{"single", startBoard + " 0:31 - - 01", "plies"},
		{"single", "------C------------bbbbbbA 0:64 - - 1", "no legal play"},
		{"single", "-E-----------------b------ opening - - 1", "opening position"},
		{"single", startBoard + " 0:won - - 1 over:single", "fields"},
		{"money", "cBBBBBB------------bbbbbbC 0:roll 1 - 0", "nobody could ever move"},
		{"money", startBoard + " 0:31 3@0 - 1", "power of two"},
		{"money", startBoard + " 0:31 8192@0 - 1", "power of two"},
		{"money", startBoard + " 0:31 2 - 1", "owned"},
		{"money", startBoard + " 0:31 1@0 - 1", "owned"},
		{"money", startBoard + " 0:31 2@2 - 1", "reads as"},
		{"money", startBoard + " 0:answer 2@0 - 1", "may not have doubled"},
		{"money", startBoard + " 0:offer3 1 - 1", "want roll"},
		{"money", "-A----------------o------- 0:offer2 1 - 1", "cannot offer"},
		{"money", startBoard + " opening 2@0 - 1", "cube in the middle"},
		{"match", startBoard + " 0:act 1 2-0/3 1", "c or p"},
		{"match", startBoard + " 0:act 1 1-0/3c 1", "c or p"},
		{"match", startBoard + " 0:act 1 2-2/3c 1", "Crawford game is the first"},
		{"match", startBoard + " 0:act 1 0-0/1p 1", "Crawford game is the first"},
		{"match", startBoard + " 0:act 2@0 2-0/3c 1", "nobody doubles"},
		{"match", startBoard + " 0:act 1 3-0/3 1", "points"},
		{"match", startBoard + " 0:act 1 0-0/26 1", "length"},
		{"match-no-crawford", startBoard + " 0:act 1 2-0/3c 1", "no Crawford"},
	} {
		p, err := backgammon.New(engine.Setup{Variant: row.variant, Seats: 2, Start: row.start})
		if err == nil || !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s %q: %v, %v; want %q", row.variant, row.start, p, err, row.says)
		}
	}
	if _, err := backgammon.New(engine.Setup{Variant: backgammon.Single, Seats: 3}); err == nil {
		t.Error("three seats")
	}
	if _, err := backgammon.New(engine.Setup{Variant: backgammon.Single, Seats: 2, Start: strings.Repeat("x", 300)}); err == nil {
		t.Error("a long start")
	}
}

// numbers is a Source that gives what it holds.
type numbers []int

func (n *numbers) Intn(int) int {
	v := (*n)[0]
	*n = (*n)[1:]
	return v
}

func TestDraw(t *testing.T) {
	p := setup(t, backgammon.Single, "")
	source := numbers{2, 2, 5, 5, 0, 3, 9}
	if got := p.Draw(&source); got != "14" || len(source) != 1 {
		t.Errorf("opening roll %q, %d numbers left", got, len(source))
	}
	if err := p.Play(engine.Chance, "14"); err != nil {
		t.Fatal(err)
	}
	if on, begun := p.OnRoll(); on != 1 || !begun || !p.Playing() {
		t.Errorf("%v on roll after 14", on)
	}
	p = setup(t, backgammon.Single, startBoard+" 0:roll - - 1")
	for want, source := range map[string]numbers{"41": {0, 3}, "52": {4, 1}, "33": {2, 2}} {
		if got := p.Draw(&source); got != want || len(source) != 0 {
			t.Errorf("throw %q, want %q", got, want)
		}
	}
	// All outcomes are listed, and all of them are drawn.
	random := enginetest.Random(1)
	for _, start := range []string{"", startBoard + " 0:roll - - 1"} {
		p := setup(t, backgammon.Single, start)
		seen := make(map[string]int)
		for range 5000 {
			seen[p.Draw(&random)]++
		}
		list := p.Legal(engine.Chance)
		for _, m := range list {
			if seen[m.Move] == 0 {
				t.Errorf("%q was never drawn", m.Move)
			}
		}
		if len(list) != len(seen) || len(list) != 30 && len(list) != 21 {
			t.Errorf("%d outcomes listed, %d drawn", len(list), len(seen))
		}
	}
}

func TestSteps(t *testing.T) {
	for _, row := range []struct{ start, move, steps string }{
		{startBoard + " 0:44 - - 1", "24/16 13/9(2)", "24/20 20/16 13/9 13/9"},
		{"------B-----------a-----A- 0:64 - - 1", "24/18*/14", "24/18* 18/14"},
		{"---------------------bb--A 0:61 - - 1", "bar/18", "25/19 19/18"},
	} {
		p := setup(t, backgammon.Single, row.start)
		got, err := p.Steps(row.move)
		if err != nil || got != row.steps {
			t.Errorf("%s: steps of %s are %q, %v; want %q", row.start, row.move, got, err, row.steps)
		}
		if again, err := p.Parse(0, got); err != nil || again != row.move {
			t.Errorf("%s: %q reads as %q, %v", row.start, got, again, err)
		}
	}
}
