package notation_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ludger/engine"
	"ludger/engine/backgammon"
	"ludger/engine/enginetest"
	"ludger/replay/notation"
	"ludger/testvectors"
)

// readMat reads the matches of a text up to the first error.
func readMat(text string) (list []*notation.Mat, err error) {
	r := notation.NewMatReader(strings.NewReader(text))
	for {
		m, err := r.Next()
		if err == io.EOF {
			return list, nil
		}
		if err != nil {
			return list, err
		}
		list = append(list, m)
	}
}

func writeMat(t testing.TB, list ...*notation.Mat) string {
	t.Helper()
	var b strings.Builder
	for _, m := range list {
		if err := notation.WriteMat(&b, m); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

// replayMat plays a match from its own setup.
func replayMat(t testing.TB, m *notation.Mat) ([]notation.Ply, engine.Position) {
	t.Helper()
	s, err := m.Setup()
	if err != nil {
		t.Fatal(err)
	}
	p, err := backgammon.New(s)
	if err != nil {
		t.Fatal(err)
	}
	plies, err := m.Replay(p)
	if err != nil {
		t.Fatal(err)
	}
	return plies, p
}

// bare is a match without what the writer ignores.
func bare(m *notation.Mat) *notation.Mat {
	c := *m
	c.Number, c.Line = 0, 0
	c.Games = slices.Clone(m.Games)
	for i := range c.Games {
		g := &c.Games[i]
		g.Line = 0
		g.Turns = slices.Clone(g.Turns)
		for j := range g.Turns {
			g.Turns[j].Line = 0
		}
	}
	return &c
}

// trimLines drops the spaces at the ends of lines.
func trimLines(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

func TestMatRecords(t *testing.T) {
	names, err := filepath.Glob("../../../shared/games/records/*.mat")
	if err != nil {
		t.Fatal(err)
	}
	if len(names) == 0 {
		t.Skip("SKIPPED, no match of others is replayed: ../shared/games/records is missing")
	}
	if len(names) < 5 {
		t.Errorf("%d files", len(names))
	}
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			list, err := readMat(string(text))
			if err != nil || len(list) != 1 {
				t.Fatalf("%d matches, %v", len(list), err)
			}
			m := list[0]
			plies, p := replayMat(t, m)
			o, over := p.Outcome()
			if !over || !slices.Equal(o.Returns, m.Returns()) || o.Reason != backgammon.MatchWon {
				t.Errorf("%+v, %v; the record says %v", o, over, m.Returns())
			}
			t.Logf("%d games, %d plies, %v", len(m.Games), len(plies), o)
			if got := writeMat(t, m); got != trimLines(string(text)) {
				t.Errorf("prints as\n%s", got)
			}
			holdWritten(t, m)
			holdRecorded(t, m, plies)
			crlf := "\uFEFF" + strings.ReplaceAll(string(text), "\n", "\r\n")
			if again, err := readMat(crlf); err != nil || len(again) != 1 || !reflect.DeepEqual(again[0], m) {
				t.Errorf("with CRLF and a mark it reads as %+v, %v", again, err)
			}
		})
	}
}

// holdWritten: what is printed reads back as the same, and prints as the same bytes.
func holdWritten(t testing.TB, m *notation.Mat) {
	t.Helper()
	text := writeMat(t, m)
	list, err := readMat(text)
	if err != nil || len(list) != 1 || !reflect.DeepEqual(bare(list[0]), bare(m)) {
		t.Fatalf("%s\nreads back as %+v, %v, want %+v", text, list, err, m)
	}
	if again := writeMat(t, list...); again != text {
		t.Fatalf("prints as\n%s\nand then as\n%s", text, again)
	}
}

// holdRecorded: the record made of the moves has the same moves.
func holdRecorded(t testing.TB, m *notation.Mat, plies []notation.Ply) {
	t.Helper()
	s, err := m.Setup()
	if err != nil {
		t.Fatal(err)
	}
	made, err := notation.RecordMat(s, m.Games[0].Players, plies)
	if err != nil {
		t.Fatal(err)
	}
	holdWritten(t, made)
	again, _ := replayMat(t, made)
	if !slices.Equal(again, plies) {
		t.Errorf("recorded and replayed: %v, want %v", again, plies)
	}
	if m.Returns() != nil && !slices.Equal(made.Returns(), m.Returns()) {
		t.Errorf("recorded with result %v, want %v", made.Returns(), m.Returns())
	}
}

// Random matches of every variant go out and come in again, cut anywhere.
func TestMatRandom(t *testing.T) {
	random := enginetest.Random(3)
	for _, s := range []engine.Setup{
		{Variant: backgammon.Single, Seats: 2},
		{Variant: backgammon.Money, Seats: 2},
		{Variant: backgammon.Match, Seats: 2, Start: "1"},
		{Variant: backgammon.Match, Seats: 2, Start: "5"},
		{Variant: backgammon.FreeMatch, Seats: 2, Start: "3"},
	} {
		for range 6 {
			p, err := backgammon.New(s)
			if err != nil {
				t.Fatal(err)
			}
			var plies []notation.Ply
			for !p.Turn().Over() {
				seat := engine.Chance
				if seats := p.Turn().Seats(); len(seats) > 0 {
					seat = seats[0]
				}
				list := p.Legal(seat)
				move := list[random.Intn(len(list))].Move
				if move == "drop" || strings.HasPrefix(move, "resign") && random.Intn(30) > 0 {
					move = list[0].Move
				} else if move == "decline" {
					move = "accept" // the format has no sign of the other
				}
				if err := p.Play(seat, move); err != nil {
					t.Fatal(err)
				}
				plies = append(plies, notation.Ply{Seat: seat, Move: move})
			}
			for _, n := range []int{len(plies), 2 + random.Intn(len(plies)-2)} {
				for plies[n-1].Seat == engine.Chance || plies[n-1].Move == "roll" || strings.HasPrefix(plies[n-1].Move, "resign:") && n < len(plies) {
					n-- // a throw whose play is missing, and what the format does not hold, is no record
				}
				m, err := notation.RecordMat(s, [2]string{"left one", "right: 2"}, plies[:n])
				if err != nil {
					t.Fatal(err)
				}
				holdWritten(t, m)
				again, q := replayMat(t, m)
				if !slices.Equal(again, plies[:n]) {
					t.Fatalf("%+v: recorded and replayed: %v, want %v\n%s", s, again, plies[:n], writeMat(t, m))
				}
				if o, over := q.Outcome(); over && !slices.Equal(o.Returns, m.Returns()) {
					t.Errorf("%+v: %v, recorded %v", s, o, m.Returns())
				}
			}
		}
	}
}

// odd holds what real files have beside the plain form.
const odd = "\uFEFF; [Player 1 \"A\"]\r\n; [Site \"caf\xe9\"]\r\n\r\n 1 Point Match\r\n\r\n Game 1\r\n" +
	" A: 0                        B  b : 0\r\n" +
	"  1)                              31: 8/5 6/5 \r\n" +
	"; a comment in between\r\n" +
	"  2) 52: 24/22 13/8              64:24/14\r\n" +
	"\t3) 65: 13/2              \t  66: Cannot Move\r\n"

func TestMatOddities(t *testing.T) {
	list, err := readMat(odd)
	if err != nil || len(list) != 1 {
		t.Fatalf("%v, %v", list, err)
	}
	m := list[0]
	want := &notation.Mat{
		Comments: []string{`[Player 1 "A"]`, `[Site "café"]`}, Length: 1, Cut: true,
		Games: []notation.MatGame{{Number: 1, Players: [2]string{"A", "B  b"}, Winner: engine.Spectator, Turns: []notation.MatTurn{
			{Seat: 1, Dice: "31", Play: "8/5 6/5"},
			{Seat: 0, Dice: "52", Play: "24/22 13/8"}, {Seat: 1, Dice: "64", Play: "24/14"},
			{Seat: 0, Dice: "65", Play: "13/2"}, {Seat: 1, Dice: "66"},
		}}},
	}
	if got := bare(m); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if m.Tag("Player 1") != "A" || m.Tag("Site") != "café" || m.Returns() != nil {
		t.Errorf("tags %q, %q; returns %v", m.Tag("Player 1"), m.Tag("Site"), m.Returns())
	}
	holdWritten(t, m)
	for _, row := range []struct {
		result string
		winner engine.Seat
		points int
		match  bool
	}{
		{"      Wins 1 point\n", 0, 1, false},
		{"                                  Wins 2 points and the match\n", 1, 2, true},
		{"  4)  Drops                       Wins 1 point\n", 1, 1, false},
	} {
		list, err := readMat(odd + row.result)
		if err != nil {
			t.Error(err)
			continue
		}
		g := list[0].Games[0]
		if g.Winner != row.winner || g.Points != row.points || g.Match != row.match || list[0].Cut {
			t.Errorf("%q reads as %v, %d, %v", row.result, g.Winner, g.Points, g.Match)
		}
		if returns := list[0].Returns(); returns[row.winner] != 1 {
			t.Errorf("%q returns %v", row.result, returns)
		}
		holdWritten(t, list[0])
	}
}

// TestMatRefused: what is wrong is named with its game and line.
func TestMatRefused(t *testing.T) {
	const head = " 3 point match\n\n Game 1\n a : 0    b : 0\n"
	for _, row := range []struct {
		text string
		game int
		line int
		says string
	}{
		{"hello\n", 0, 1, "point match"},
		{" 3 point match\n", 0, 1, "without games"},
		{" 3 point match\n\n Game 2\n", 0, 3, "game 2, want 1"},
		{" 3 point match\n\n Game 1\n", 1, 3, "before its players"},
		{" 3 point match\n\n Game 1\n a b\n", 1, 4, "want both players"},
		{head + "  1) 31: 8/5 6/5  42: ????\n", 1, 5, "does not say what was played"},
		{head + "  1) 31: 8/5 6/5  42: 8/4 6/4  66:\n", 1, 5, "behind both"},
		{head + "  1) 71: 8/5 6/5\n", 1, 5, "want dice"},
		{head + "  1) Beavers\n", 1, 5, "want dice"},
		{head + "  1) Doubles => x\n", 1, 5, "cube's value"},
		{head + "      Wins 0 points\n", 1, 5, "number of points"},
		{head + "      Wins 1 point\n  2) 31: 8/5\n", 1, 6, "behind the result"},
		{head + "  1) 31: 8/5 6/5\n\n Game 2\n", 1, 7, "no result"},
		{head + "      Wins 1 point\n Game 2\n a : 1   c : 0\n", 2, 7, "game 1 has"},
		{head + "31: 8/5 6/5\n", 1, 5, "numbered row"},
		{strings.Repeat("x", 5000) + "\n", 0, 1, "more than"},
		{"\x01\n", 0, 1, "control"},
	} {
		_, err := readMat(row.text)
		var broken *notation.MatError
		if !errors.As(err, &broken) || broken.Game != row.game || broken.Line != row.line || !strings.Contains(broken.Reason, row.says) || broken.Match != 1 {
			t.Errorf("%q: %v, want game %d, line %d, %q", row.text, err, row.game, row.line, row.says)
		}
		// The match behind it is read.
		r := notation.NewMatReader(strings.NewReader(row.text + odd))
		r.Next()
		if row.says != "control" && row.says != "more than" && strings.HasSuffix(row.text, "match\n") {
			continue
		}
		if m, err := r.Next(); err != nil || m.Number != 2 || m.Length != 1 {
			t.Errorf("behind %q: %v, %v", row.text, m, err)
		}
	}
}

func TestMatReplayRefused(t *testing.T) {
	const head = " 3 point match\n\n Game 1\n a : 0    b : 0\n  1) 31: 8/5 6/5                 42: 8/4 6/4\n"
	for _, row := range []struct {
		text string
		line int
		says string
	}{
		{" 30 point match\n\n Game 1\n a : 0    b : 0\n", 0, "length"},
		{" 3 point match\n\n Game 1\n a : 1    b : 0\n", 3, "the score is 0:0"},
		{" 3 point match\n\n Game 1\n a : 0    b : 0\n  1) 33: 8/5 6/5\n", 5, "thrown again"},
		{" 3 point match\n\n Game 1\n a : 0    b : 0\n  1) 31: 8/5 6/4\n", 5, "dice are 31"},
		{head + "  2) 31:\n", 6, "nothing is played"},
		{head + "  2) 31: 13/10\n", 6, "must use both dice"},
		{head + "  2)  Takes\n", 6, "want roll, double"},
		{head + "  2)  Doubles => 4\n", 6, "with the cube at 1"},
		{head + "  2)  Doubles => 2                Drops\n  3) 31: 8/5\n", 7, "the game is over"},
		{head + "  2)  Doubles => 2                Drops\n      Wins 2 points\n", 3, "won 1:0, the record says 2:0"},
		{head + "      Wins 1 point\n\n Game 2\n a : 1    b : 0\n", 3, "not on roll"},
		{head + "  2)                              31: 8/5\n", 6, "seat 0 is on roll"},
		{head + "  2)  Doubles => 2                Drops\n      Wins 1 point\n\n Game 2\n a : 2    b : 0\n", 9, "the score is 1:0, the record says 2:0"},
	} {
		list, err := readMat(row.text)
		if err != nil {
			t.Errorf("%q: %v", row.text, err)
			continue
		}
		s, err := list[0].Setup()
		if err != nil {
			t.Errorf("%q: %v", row.text, err)
			continue
		}
		p, err := backgammon.New(s)
		if err == nil {
			_, err = list[0].Replay(p)
			var broken *notation.MatError
			if !errors.As(err, &broken) || broken.Line != row.line {
				t.Errorf("%q: %v, want line %d", row.text, err, row.line)
			}
		}
		if err == nil || !strings.Contains(err.Error(), row.says) {
			t.Errorf("%q: %v, want %q", row.text, err, row.says)
		}
	}
}

// A game given up by its loser on roll is resigned; a last one given up otherwise keeps the result that the
// record states.
func TestMatGivenUp(t *testing.T) {
	for _, row := range []struct {
		rows  string
		plies []notation.Ply // the last ones
		over  bool
	}{
		{"\n      Wins 1 point\n", []notation.Ply{{Seat: 1, Move: "resign:1"}, {Seat: 0, Move: "accept"}}, true},
		{"                 64:\n      Wins 1 point\n", []notation.Ply{{Seat: 1, Move: "resign:1"}, {Seat: 0, Move: "accept"}}, true},
		{"\n      Wins 3 points\n", []notation.Ply{{Seat: 0, Move: "8/5 6/5"}, {Seat: 1, Move: "resign:3"}}, true},
		{"\n                                  Wins 1 point\n", []notation.Ply{{Seat: -1, Move: "31"}, {Seat: 0, Move: "8/5 6/5"}}, false},
	} {
		list, err := readMat(" 1 point match\n\n Game 1\n a : 0    b : 0\n  1) 31: 8/5 6/5" + row.rows)
		if err != nil {
			t.Fatal(err)
		}
		plies, p := replayMat(t, list[0])
		o, over := p.Outcome()
		if over != row.over || !slices.Equal(plies[len(plies)-2:], row.plies) || over && !slices.Equal(o.Returns, list[0].Returns()) {
			t.Errorf("%q: %v, %v, %v", row.rows, plies, o, over)
		}
		holdWritten(t, list[0])
		if over {
			holdRecorded(t, list[0], plies)
		}
	}
}

// A session is played game by game.
func TestMatSession(t *testing.T) {
	text := " 0 point match\n\n Game 1\n a : 0    b : 0\n  1) 31: 8/5 6/5                  Doubles => 2\n  2)  Drops                       Wins 1 point\n" +
		"\n Game 2\n a : 0    b : 1\n  1)                             31: 8/5 6/5\n  2)  Doubles => 2                Drops\n      Wins 1 point\n"
	list, err := readMat(text)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := list[0].Setup(); err == nil {
		t.Error("two games in one setup")
	}
	for i, m := range list[0].Split() {
		plies, p := replayMat(t, m)
		o, _ := p.Outcome()
		if want := []int64{-1, 1}; i == 0 && !slices.Equal(o.Returns, want) || !slices.Equal(o.Returns, m.Returns()) {
			t.Errorf("game %d: %v, the record says %v", i, o, m.Returns())
		}
		holdWritten(t, m)
		holdRecorded(t, m, plies)
	}
	holdWritten(t, list[0])
}

// FuzzMat: whatever is read prints, and reads back as the same; and no match breaks the engine.
func FuzzMat(f *testing.F) {
	text, err := testvectors.FS.ReadFile("mat/read.json")
	if err != nil {
		f.Fatal(err)
	}
	var file struct{ Cases []matCase }
	if err := json.Unmarshal(text, &file); err != nil || len(file.Cases) == 0 {
		f.Fatalf("%d seeds, %v", len(file.Cases), err)
	}
	for _, c := range file.Cases {
		f.Add(c.Text)
	}
	f.Add(odd)
	f.Add(" 3 point match\n\n Game 1\n a : 0    b : 0\n  1) 31: 8/5 6/5                  Doubles => 2\n  2)  Drops                       Wins 1 point\n")
	f.Add(" 0 point match\n Game 1\n a : 0 b : 0\n 1) 31: 8/5 6/5 42: bar/off(2)*\n Wins 3 points and the match\n 1 point match\n Game 1\n")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := readMat(text)
		var broken *notation.MatError
		if err != nil && !errors.As(err, &broken) {
			t.Fatal(err)
		}
		for _, m := range list {
			var b strings.Builder
			if err := notation.WriteMat(&b, m); err != nil {
				if !turnsAlternate(m) {
					continue
				}
				t.Fatalf("%v\n%+v", err, m)
			}
			holdWritten(t, m)
			for _, m := range m.Split() {
				s, err := m.Setup()
				if err != nil {
					continue
				}
				p, err := backgammon.New(s)
				if err != nil {
					continue
				}
				plies, err := m.Replay(p)
				if err == nil && len(plies) > 0 {
					holdRecorded(t, m, plies)
				}
			}
		}
	})
}

// turnsAlternate tells whether the seats take turns, as the writer demands.
func turnsAlternate(m *notation.Mat) bool {
	for _, g := range m.Games {
		for i := 1; i < len(g.Turns); i++ {
			if g.Turns[i].Seat == g.Turns[i-1].Seat {
				return false
			}
		}
	}
	return true
}
