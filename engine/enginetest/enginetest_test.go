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
// chance tosses, and after three tosses the better guesser wins. In the variant blind the choices are
// not listed, as if there were too many. fault names a way to break it.
type coins struct{ fault string }

func (g coins) Info() engine.Info {
	return engine.Info{
		ID: "coins@1", Name: "coins", Hidden: g.fault != "open", Chance: g.fault != "without chance",
		Variants: []engine.Variant{{Name: "three", MinSeats: 2, MaxSeats: 2, Settled: g.fault == "settled"}, {Name: "blind", MinSeats: 2, MaxSeats: 2}},
		Grammar:  "heads or tails", Examples: []string{"heads", "tails"}, Rules: "guess the toss",
	}
}

func (g coins) New(s engine.Setup) (engine.Position, error) {
	if s.Variant != "three" && s.Variant != "blind" || s.Seats != 2 || s.Start != "" && g.fault != "any start" {
		return nil, fmt.Errorf("no such setup: %+v", s)
	}
	p := &table{fault: g.fault, blind: s.Variant == "blind", score: new([2]int64), draws: new(int)}
	switch g.fault {
	case "no drawer":
		return struct{ engine.Hider }{p}, nil
	case "no hider":
		return struct{ engine.Drawer }{p}, nil
	}
	return p, nil
}

type table struct {
	fault  string
	blind  bool
	draws  *int   // how often Draw and Sample were called, for faults
	first  string // who chose first, for a fault
	tosses int
	choice [2]string
	score  *[2]int64
}

func (p *table) Turn() engine.Turn {
	switch {
	case p.tosses == 3:
		return engine.TurnOf()
	case p.fault == "leaks by the turn" && p.choice[0] == "tails" && p.choice[1] == "":
		return engine.TurnOf(1, engine.Chance)
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
	case p.fault == "leaks by the number of moves" && text == "edge" && seat == 1 && p.choice[0] == "heads":
		return "edge", nil
	}
	switch {
	case p.fault == "wrong sentinel":
		refuse.Err = engine.ErrAmbiguous
		if p.Turn().Over() {
			refuse.Err = engine.ErrTurn
		}
	case p.fault == "no reason":
		refuse.Reason = ""
	case p.fault == "leaks by a refusal" && p.choice[0] != "":
		refuse.Reason += ", not as seat 0, " + p.choice[0]
	case p.fault == "leaks by a refusal to one" && seat == 1 && p.choice[0] == "tails":
		refuse.Reason += "!"
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
		if p.choice[1-seat] == "" {
			p.first = seat.String()
		}
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
	if p.Unlisted(seat) && p.fault != "lists the unlisted" {
		return nil
	}
	list := []engine.Move{{Move: "heads", Notation: "h", Summary: "Heads."}, {Move: "tails", Notation: "t", Summary: "Tails."}}
	if p.fault == "hides a move" {
		list = list[:1]
	}
	if p.fault == "leaks by the number of moves" && seat == 1 && p.choice[0] == "heads" {
		list = append(list, engine.Move{Move: "edge", Notation: "edge", Summary: "Edge."})
	}
	if p.fault == "leaks by a summary" && seat == 1 && p.choice[0] == "heads" {
		list[0].Summary = "Heads, as seat 0."
	}
	return list
}

func (p *table) Hides(seat engine.Seat) bool {
	switch {
	case p.fault == "hides nothing":
		return false
	case p.fault == "leaks by what it hides" && p.choice[0] == "heads":
		return false
	}
	return seat != engine.Chance
}

func (p *table) Unlisted(seat engine.Seat) bool {
	if p.fault == "leaks by what is listed" && p.choice[0] == "heads" {
		return false
	}
	return p.blind && seat != engine.Chance
}

func (p *table) Draw(s engine.Source) string {
	*p.draws++
	sides := []string{"heads", "tails"}
	switch p.fault {
	case "draws one side":
		return sides[0]
	case "draws differently each time":
		return sides[*p.draws%2]
	case "draws the edge":
		return "edge"
	case "draws an alias":
		return "h"
	case "draws of none":
		s.Intn(0)
	case "draws and changes":
		p.score[0]++
	}
	return sides[s.Intn(2)]
}

func (p *table) Sample(_ engine.Seat, s engine.Source) string {
	*p.draws++
	sides := []string{"heads", "tails"}
	switch p.fault {
	case "samples differently each time":
		return sides[*p.draws%2]
	case "samples an alias":
		return "h"
	}
	return sides[s.Intn(2)]
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
	if c := p.choice[0]; c != "" {
		switch {
		case p.fault == "leaks in the state" && viewer == 1, p.fault == "leaks to the spectator" && viewer == engine.Spectator,
			p.fault == "leaks to chance" && viewer == engine.Chance, p.fault == "leaks to a stranger" && viewer == 5:
			dst = append(dst, c...)
		case p.fault == "leaks by the size" && c == "heads":
			dst = append(dst, ' ')
		}
	}
	if p.fault == "tells who came first" {
		dst = append(dst, p.first...)
	}
	if p.fault == "allocates" {
		dst = append(dst, strings.Repeat("!", 1+len(p.choice[0]))...)
	}
	if p.fault == "looks by address" {
		dst = fmt.Appendf(dst, " %p", p)
	}
	return dst
}

func (p *table) Text(viewer engine.Seat) string {
	text := string(p.AppendState(nil, viewer))
	if p.fault == "leaks in the text" && viewer == 1 {
		text += p.choice[0]
	}
	return text
}

func (p *table) Clone() engine.Position {
	q := *p
	if p.fault != "shares a clone" {
		score := *p.score
		q.score = &score
	}
	return &q
}

// knowsCoins: a toss shows who was right, and so what everybody chose.
func knowsCoins(_ engine.Setup, plies []Ply, _ engine.Seat) string {
	var known []string
	for i, ply := range plies {
		if ply.Seat == engine.Chance && i >= 2 {
			known = append(known, plies[i-2].Move, plies[i-1].Move)
		}
	}
	return strings.Join(known, " ")
}

func run(t *testing.T, fault string) {
	o := Options{
		Setups: []engine.Setup{{Variant: "three", Seats: 2}, {Variant: "blind", Seats: 2}},
		Games:  10, Plies: 30, Knows: knowsCoins,
	}
	if fault == "knows nothing" {
		o.Knows = nil
	}
	if fault == "knows all" { // then nothing is ever unseen
		o.Knows = func(_ engine.Setup, plies []Ply, _ engine.Seat) string { return fmt.Sprint(plies) }
	}
	Run(t, coins{fault}, o)
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

// Each way to break the contract must fail the battery, for its own reason.
func TestFaults(t *testing.T) {
	for fault, want := range map[string]string{
		"any start":          "want an error and nothing else",
		"wrong sentinel":     "refused as",
		"no reason":          `refused with reason ""`,
		"plays aliases":      "which is not listed, passes",
		"changes on error":   "refused, but the position changed",
		"never ends":         "not over after 30 plies",
		"lists off turn":     "on turn: false, unlisted: false, with 2 moves",
		"hides a move":       "which is not listed",
		"no outcome":         "outcome present: false, nobody on turn: true",
		"shares the outcome": "an outcome shares memory",
		"loses a seat":       `Forfeit(seat 0, "resigned")`,
		"allocates":          "AppendState allocates",
		"looks by address":   "two positions after the same moves differ",
		"shares a clone":     "on a clone changed the position",

		"open":                          "nothing is hidden, but seat 1 sees",
		"without chance":                "chance: false, position is a Drawer: true",
		"settled":                       "chance is on turn in a game with chance: true, settled: true",
		"no drawer":                     "chance: true, position is a Drawer: false",
		"no hider":                      "hidden information: true, position is a Hider: false",
		"hides nothing":                 "hides no move",
		"lists the unlisted":            "unlisted: true, with 2 moves",
		"draws one side":                "do not come in 200 draws: map[tails:true]",
		"draws differently each time":   "from the same numbers",
		"draws the edge":                `drawn move "edge" of chance`,
		"draws an alias":                `drawn move "h" of chance`,
		"draws of none":                 "asked for a number from 0 to 0-1",
		"draws and changes":             "changed the position",
		"samples differently each time": "from the same numbers",
		"samples an alias":              `drawn move "h" of seat`,

		"knows nothing":                "needs Options.Knows",
		"knows all":                    "no hidden move ever differed unseen by spectator",
		"tells who came first":         "give another position in the order [seat 1 seat 0]",
		"leaks in the state":           "seat 1 may not know a difference, but the state differs",
		"leaks to the spectator":       "spectator may not know a difference, but the state differs",
		"leaks to chance":              "chance may not know a difference, but the state differs",
		"leaks to a stranger":          "seat 5 may not know a difference, but the state differs",
		"leaks by the size":            "may not know a difference, but the state differs",
		"leaks in the text":            "seat 1 may not know a difference, but the text differs",
		"leaks by the turn":            "may not know a difference, but the turn differs",
		"leaks by the number of moves": "seat 1 may not know a difference, but the number of moves differs",
		"leaks by a summary":           "seat 1 may not know a difference, but the list of moves differs",
		"leaks by a refusal":           "may not know a difference, but the answer to Parse",
		"leaks by a refusal to one":    "seat 1 may not know a difference, but the answer to Parse",
		"leaks by what it hides":       "may not know a difference, but the hiding of moves of seat 1 differs",
		"leaks by what is listed":      "may not know a difference, but the listing of moves of seat 1 differs",
	} {
		command := exec.Command(os.Args[0], "-test.run=^TestFault$")
		command.Env = append(slices.Clone(os.Environ()), "ENGINETEST_FAULT="+fault)
		out, err := command.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "--- FAIL: TestFault") || !strings.Contains(string(out), want) {
			t.Errorf("%s: want a failure that says %q: %v\n%s", fault, want, err, out)
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
