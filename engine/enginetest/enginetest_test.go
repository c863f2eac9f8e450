package enginetest

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"ludger/engine"
)

// coins is a game with all that a contract must bear: two seats choose a side in secret at once,
// chance tosses, and after three tosses the better guesser wins. fault names a way to break it.
type coins struct{ fault string }

func (g coins) Info() engine.Info {
	return engine.Info{
		ID: "coins@1", Name: "coins", Hidden: true, Chance: true,
		Variants: []engine.Variant{{Name: "three", MinSeats: 2, MaxSeats: 2}},
		Grammar:  "heads or tails", Examples: []string{"heads", "tails"}, Rules: "guess the toss",
	}
}

func (g coins) New(s engine.Setup) (engine.Position, error) {
	if s.Variant != "three" || s.Seats != 2 || s.Start != "" && g.fault != "any start" {
		return nil, fmt.Errorf("no such setup: %+v", s)
	}
	return &table{fault: g.fault, score: new([2]int64)}, nil
}

type table struct {
	fault  string
	tosses int
	choice [2]string
	score  *[2]int64
}

func (p *table) Turn() engine.Turn {
	switch {
	case p.tosses == 3:
		return engine.TurnOf()
	case p.choice[0] != "" && p.choice[1] != "":
		return engine.TurnOf(engine.Chance)
	case p.choice[0] != "":
		return engine.TurnOf(1)
	case p.choice[1] != "":
		return engine.TurnOf(0)
	}
	return engine.TurnOf(0, 1)
}

func (p *table) Parse(seat engine.Seat, text string) (string, error) {
	refuse := &engine.MoveError{Seat: seat, Text: text[:min(len(text), engine.MaxMove)], Reason: "want heads or tails", Err: engine.ErrSyntax}
	switch {
	case p.Turn().Over():
		refuse.Err = engine.ErrOver
	case !p.Turn().Has(seat):
		refuse.Err = engine.ErrTurn
	case text == "heads" || text == "h":
		return "heads", nil
	case text == "tails" || text == "t":
		return "tails", nil
	}
	switch {
	case p.fault == "wrong sentinel":
		refuse.Err = engine.ErrAmbiguous
		if p.Turn().Over() {
			refuse.Err = engine.ErrTurn
		}
	case p.fault == "no reason":
		refuse.Reason = ""
	}
	return "", refuse
}

func (p *table) Play(seat engine.Seat, move string) error {
	if p.fault == "plays aliases" && move == "h" {
		move = "heads"
	}
	got, err := p.Parse(seat, move)
	if err == nil && got != move {
		err = &engine.MoveError{Seat: seat, Text: move, Reason: "want heads or tails", Err: engine.ErrSyntax}
	}
	switch {
	case err != nil && p.fault == "changes on error":
		p.score[0]++
		return err
	case err != nil:
		return err
	case seat != engine.Chance:
		p.choice[seat] = move
		return nil
	}
	for s := range p.choice {
		if p.choice[s] == move {
			p.score[s]++
		}
		p.choice[s] = ""
	}
	if p.fault != "never ends" {
		p.tosses++
	}
	return nil
}

func (p *table) Legal(seat engine.Seat) []engine.Move {
	if !p.Turn().Has(seat) && p.fault != "lists off turn" {
		return nil
	}
	list := []engine.Move{{Move: "heads", Notation: "h", Summary: "Heads."}, {Move: "tails", Notation: "t", Summary: "Tails."}}
	if p.fault == "hides a move" {
		list = list[:1]
	}
	return list
}

func (p *table) Outcome() (engine.Outcome, bool) {
	if !p.Turn().Over() || p.fault == "no outcome" {
		return engine.Outcome{}, false
	}
	if p.fault == "shares the outcome" {
		return engine.Outcome{Returns: p.score[:], Reason: "tosses"}, true
	}
	return engine.Outcome{Returns: []int64{p.score[0] - p.score[1], p.score[1] - p.score[0]}, Reason: "tosses"}, true
}

func (p *table) Forfeit(seat engine.Seat, reason string) engine.Outcome {
	o := engine.Outcome{Returns: []int64{3, 3}, Reason: reason}
	if p.fault == "loses a seat" {
		o.Returns = o.Returns[:1]
	}
	o.Returns[seat] = -3
	return o
}

func (p *table) AppendState(dst []byte, viewer engine.Seat) []byte {
	dst = append(dst, '0'+byte(p.tosses), ' ', '0'+byte(p.score[0]%10), ' ', '0'+byte(p.score[1]%10))
	for s, c := range p.choice {
		if c != "" && engine.Seat(s) == viewer {
			dst = append(append(dst, ' '), c...)
		} else if c != "" {
			dst = append(dst, " chosen"...)
		}
	}
	if p.fault == "allocates" {
		dst = append(dst, strings.Repeat("!", 1+len(p.choice[0]))...)
	}
	if p.fault == "looks by address" {
		dst = fmt.Appendf(dst, " %p", p)
	}
	return dst
}

func (p *table) Text(viewer engine.Seat) string { return string(p.AppendState(nil, viewer)) }

func (p *table) Clone() engine.Position {
	q := *p
	if p.fault != "shares a clone" {
		score := *p.score
		q.score = &score
	}
	return &q
}

func run(t *testing.T, fault string) {
	Run(t, coins{fault}, Options{Setups: []engine.Setup{{Variant: "three", Seats: 2}}, Games: 10, Plies: 30})
}

func TestRun(t *testing.T) { run(t, "") }

// TestFault runs in a process of its own, named by TestFaults.
func TestFault(t *testing.T) {
	fault := os.Getenv("ENGINETEST_FAULT")
	if fault == "" {
		t.Skip("run by TestFaults")
	}
	run(t, fault)
}

// Each way to break the contract must fail the battery.
func TestFaults(t *testing.T) {
	for _, fault := range []string{
		"any start", "wrong sentinel", "no reason", "plays aliases", "changes on error", "never ends", "lists off turn",
		"hides a move", "no outcome", "shares the outcome", "loses a seat", "allocates", "looks by address", "shares a clone",
	} {
		command := exec.Command(os.Args[0], "-test.run=^TestFault$")
		command.Env = append(slices.Clone(os.Environ()), "ENGINETEST_FAULT="+fault)
		out, err := command.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "--- FAIL: TestFault") {
			t.Errorf("%s: the battery passes: %v\n%s", fault, err, out)
		}
	}
}

func TestRandom(t *testing.T) {
	// The first numbers of splitmix64 from seed 0 are 0xe220a8397b1dcdaf and 0x6e789e6aa1b965f4.
	random := Random(0)
	for _, want := range []uint64{0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4} {
		if got := random.Intn(1 << 62); uint64(got) != want%(1<<62) {
			t.Errorf("%x, want %x", got, want%(1<<62))
		}
	}
}
