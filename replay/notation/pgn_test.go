package notation

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"ludger/testvectors"
)

// vectors is testvectors/pgn/read.json: what a file's text holds, game by game.
type vectors struct {
	Format string
	Cases  []vector
}

type vector struct {
	Name   string
	Text   string // the file; or
	Latin1 bool   // the file is Text with each character as the byte of its number
	Want   []want // one for each call of Next before io.EOF
}

type want struct {
	Game   *vectorGame // what was read, or
	Line   int         // where the game breaks
	Reason string
}

type vectorGame struct {
	Line     int
	Tags     [][2]string
	Comments []string
	Moves    []vectorMove
	Result   string
	Cut      bool
}

type vectorMove struct {
	SAN      string
	NAGs     []int
	Comments []string
	Line     int
}

func (v vector) bytes(t testing.TB) []byte {
	if !v.Latin1 {
		return []byte(v.Text)
	}
	var b []byte
	for _, c := range v.Text {
		if c > 0xff {
			t.Fatalf("%s: %U is no byte", v.Name, c)
		}
		b = append(b, byte(c))
	}
	return b
}

func loadVectors(t testing.TB) []vector {
	data, err := testvectors.FS.ReadFile("pgn/read.json")
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	var v vectors
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	if len(v.Cases) == 0 {
		t.Fatal("pgn/read.json holds no case")
	}
	return v.Cases
}

func fromPGN(g *PGN) *vectorGame {
	v := &vectorGame{Line: g.Line, Comments: g.Comments, Result: g.Result, Cut: g.Cut}
	for _, t := range g.Tags {
		v.Tags = append(v.Tags, [2]string{t.Name, t.Value})
	}
	for _, m := range g.Moves {
		v.Moves = append(v.Moves, vectorMove{m.SAN, m.NAGs, m.Comments, m.Line})
	}
	return v
}

// readAll reads a file to its end.
func readAll(t testing.TB, text []byte) (games []*PGN, broken []*PGNError) {
	r := NewPGNReader(bytes.NewReader(text))
	for {
		g, err := r.Next()
		var e *PGNError
		switch {
		case err == io.EOF:
			return games, broken
		case errors.As(err, &e):
			broken = append(broken, e)
		case err != nil:
			t.Fatal(err)
		default:
			games = append(games, g)
		}
		if len(games)+len(broken) > len(text)+1 {
			t.Fatalf("more games than bytes in %q", text)
		}
	}
}

func TestReadVectors(t *testing.T) {
	for _, v := range loadVectors(t) {
		t.Run(v.Name, func(t *testing.T) {
			r := NewPGNReader(bytes.NewReader(v.bytes(t)))
			for i, want := range v.Want {
				g, err := r.Next()
				if want.Game == nil {
					var e *PGNError
					if !errors.As(err, &e) {
						t.Fatalf("game %d: got %+v, %v, want an error at line %d: %s", i+1, g, err, want.Line, want.Reason)
					}
					if e.Line != want.Line || e.Reason != want.Reason || e.Game != i+1 {
						t.Errorf("got %v, want game %d, line %d: %s", e, i+1, want.Line, want.Reason)
					}
					continue
				}
				if err != nil {
					t.Fatalf("game %d: %v", i+1, err)
				}
				if got := fromPGN(g); !reflect.DeepEqual(got, want.Game) {
					t.Errorf("game %d:\n got %s\nwant %s", i+1, asJSON(got), asJSON(want.Game))
				}
			}
			if g, err := r.Next(); err != io.EOF {
				t.Errorf("after %d games: got %+v, %v, want EOF", len(v.Want), g, err)
			}
		})
	}
}

func asJSON(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

// plain returns the game as the writer's output reads back: tags in export order, places left out.
func plain(g *PGN) *PGN {
	p := *g
	p.Tags = exportTags(g)
	p.Cut, p.Game, p.Line = false, 0, 0
	p.Moves = nil
	for _, m := range g.Moves {
		m.Line = 0
		p.Moves = append(p.Moves, m)
	}
	return &p
}

// roundTrip writes a game, reads it back and writes it again.
func roundTrip(t testing.TB, g *PGN) {
	t.Helper()
	var first, second bytes.Buffer
	if err := WritePGN(&first, g); err != nil {
		if len(exportTags(g)) > MaxTags {
			return
		}
		t.Fatalf("writing %+v: %v", g, err)
	}
	games, broken := readAll(t, first.Bytes())
	if len(games) != 1 || len(broken) != 0 {
		t.Fatalf("wrote\n%s\nread %d games and %v", &first, len(games), broken)
	}
	if got, want := plain(games[0]), plain(g); !reflect.DeepEqual(got, want) || games[0].Cut {
		t.Fatalf("wrote\n%s\n got %+v\nwant %+v", &first, got, want)
	}
	if err := WritePGN(&second, games[0]); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Fatalf("wrote\n%s\nand then\n%s", &first, &second)
	}
}

func TestRoundTripVectors(t *testing.T) {
	n := 0
	for _, v := range loadVectors(t) {
		games, _ := readAll(t, v.bytes(t))
		for _, g := range games {
			roundTrip(t, g)
			n++
		}
	}
	if n == 0 {
		t.Fatal("no vector holds a game")
	}
}

// Every prefix of every vector ends in games and errors with rising places, never in a panic.
func TestEveryPrefix(t *testing.T) {
	for _, v := range loadVectors(t) {
		text := v.bytes(t)
		for n := range text {
			games, broken := readAll(t, text[:n])
			for _, g := range games {
				roundTrip(t, g)
			}
			for i := 1; i < len(broken); i++ {
				if broken[i].Line < broken[i-1].Line || broken[i].Game < broken[i-1].Game {
					t.Fatalf("%s cut at %d: %v after %v", v.Name, n, broken[i], broken[i-1])
				}
			}
		}
	}
}

func FuzzPGN(f *testing.F) {
	for _, v := range loadVectors(f) {
		f.Add(v.bytes(f))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		games, _ := readAll(t, text)
		for _, g := range games {
			roundTrip(t, g)
		}
	})
}

func TestWrite(t *testing.T) {
	g := &PGN{
		Tags: []Tag{
			{"Variant", "Standard"}, {"White", `Bobby "B" C:\`}, {"SetUp", "1"},
			{"FEN", "4k3/8/8/8/8/8/4P3/4K3 b - - 0 17"}, {"Event", "Ünïcode"},
		},
		Comments: []string{"a start"},
		Moves: []PGNMove{
			{SAN: "Kd7", NAGs: []int{1, 14}, Comments: []string{"[%clk 0:03:00]"}},
			{SAN: "e4", Comments: []string{"closes } here", "x  y\n " + strings.Repeat("word [Event % \"q\" ", 10)}},
			{SAN: "Kd6"}, {SAN: "Kd2"}, {SAN: "Kd5"},
		},
		Result: "1/2-1/2",
	}
	const want = `[Event "Ünïcode"]
[Site "?"]
[Date "????.??.??"]
[Round "?"]
[White "Bobby \"B\" C:\\"]
[Black "?"]
[Result "1/2-1/2"]
[FEN "4k3/8/8/8/8/8/4P3/4K3 b - - 0 17"]
[SetUp "1"]
[Variant "Standard"]

{a start} 17... Kd7 $1 $14 {[%clk 0:03:00]} 18. e4 ; closes } here
{x y word [Event % "q" word [Event % "q" word [Event % "q" word [Event % "q"
word [Event % "q" word [Event % "q" word [Event % "q" word [Event % "q"
word [Event % "q" word [Event % "q"} 18... Kd6 19. Kd2 Kd5 1/2-1/2

`
	var out bytes.Buffer
	if err := WritePGN(&out, g); err != nil {
		t.Fatal(err)
	}
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &out, want)
	}
}

func TestWriteRefuses(t *testing.T) {
	tag := func(name, value string) *PGN { return &PGN{Tags: []Tag{{name, value}}, Result: "*"} }
	move := func(m PGNMove) *PGN { return &PGN{Moves: []PGNMove{m}, Result: "*"} }
	many := &PGN{Result: "*"}
	for i := range MaxTags - len(roster) + 1 {
		many.Tags = append(many.Tags, Tag{fmt.Sprint("T", i), ""})
	}
	for _, c := range []struct {
		g      *PGN
		reason string
	}{
		{&PGN{}, `result "" is none of 1-0, 0-1, 1/2-1/2 and *`},
		{many, "65 tags with those of the roster exceed 64"},
		{tag("", "x"), `tag name "" is not 1 to 64 letters, digits and underscores`},
		{tag("a b", "x"), `tag name "a b" is not 1 to 64 letters, digits and underscores`},
		{tag("é", "x"), `tag name "é" is not 1 to 64 letters, digits and underscores`},
		{tag("Event", "a\nb"), "value of tag Event: control character U+000A"},
		{tag("Event", "\xff"), `value of tag Event: "\xff" is not UTF-8`},
		{tag("Event", strings.Repeat("x", MaxTagValue+1)), "value of tag Event: 1025 bytes exceed 1024"},
		{&PGN{Tags: []Tag{{"A", "1"}, {"A", "1"}}, Result: "*"}, "tag A stands twice"},
		{move(PGNMove{SAN: "--"}), `half-move 1: "--" is a null move`},
		{move(PGNMove{SAN: "1-0"}), `half-move 1: "1-0" is not a move`},
		{move(PGNMove{SAN: "e4 e5"}), `half-move 1: "e4 e5" is not a move`},
		{move(PGNMove{SAN: "e4", NAGs: []int{256}}), "half-move 1: annotation $256 is not $0 to $255"},
		{move(PGNMove{SAN: "e4", Comments: []string{"a\x00"}}), "half-move 1: comment: control character U+0000"},
		{&PGN{Comments: []string{strings.Repeat("x", MaxComment+1)}, Result: "*"}, "comment of 16385 bytes exceeds 16384"},
		{&PGN{Moves: make([]PGNMove, MaxMoves+1), Result: "*"}, "20001 half-moves exceed 20000"},
	} {
		err := WritePGN(io.Discard, c.g)
		if err == nil || err.Error() != "writing PGN: "+c.reason {
			t.Errorf("got %v, want %s", err, c.reason)
		}
	}
}

// Each bound holds at its value and is refused one above, and costs one game only.
func TestBounds(t *testing.T) {
	const after = "\n\n[Event \"after\"]\n\n1. d4 *\n"
	tags := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "[T%d \"\"]\n", i)
		}
		return b.String() + "*"
	}
	repeat := strings.Repeat
	for _, c := range []struct {
		name   string
		text   func(over int) string
		reason string
	}{
		{"tags", func(over int) string { return tags(MaxTags + over) }, "more than 64 tags"},
		{"name", func(over int) string { return "[" + repeat("N", MaxTagName+over) + " \"\"]\n*" }, "tag name of more than 64 bytes"},
		{"value", func(over int) string { return `[A "` + repeat(`\"`, MaxTagValue+over) + "\"]\n*" }, "value of tag A exceeds 1024 bytes"},
		{"latin-1 value", func(over int) string { return `[A "` + repeat("\xe9", MaxTagValue/2+over) + "\"]\n*" }, "value of tag A: 1026 bytes as UTF-8 exceed 1024"},
		{"comment", func(over int) string { return "1. e4 {" + repeat("x", MaxComment+over) + "} *" }, "comment of more than 16384 bytes"},
		{"line comment", func(over int) string { return "1. e4 ;" + repeat("x", MaxComment+over) + "\n*" }, "comment of more than 16384 bytes"},
		{"latin-1 comment", func(over int) string { return "1. e4 {" + repeat("\xe9", MaxComment/2+over) + "} *" }, "comment: 16386 bytes as UTF-8 exceed 16384"},
		{"move", func(over int) string { return "1. e" + repeat("4", MaxSAN-1+over) + " *" }, "move of 17 bytes exceeds 16"},
		{"token", func(over int) string { return "1. " + repeat("4", 2*MaxSAN+over) + " *" }, `token "` + repeat("4", 2*MaxSAN) + `"… of more than 32 bytes`},
		{"depth", func(over int) string {
			return "1. e4 " + repeat("(", MaxDepth+over) + repeat(")", MaxDepth+over) + " *"
		}, "variations more than 64 deep"},
		{"moves", func(over int) string { return repeat("e4 ", MaxMoves+over) + "*" }, "more than 20000 half-moves"},
		{"annotations", func(over int) string { return "e4 " + repeat("$1", MaxText/textCost+over) + " *" }, "comments and annotations of more than 1048576 bytes"},
		{"comments", func(over int) string { return repeat("{12345678 12345678}", MaxText/(17+textCost)+over) + "e4 *" }, "comments and annotations of more than 1048576 bytes"},
	} {
		prefix := ""
		if strings.Contains(c.name, "comments") { // a comment before the first token belongs to no game
			prefix = "[A \"\"]\n"
		}
		if games, broken := readAll(t, []byte(prefix+c.text(0)+after)); len(games) != 2 || len(broken) != 0 {
			t.Errorf("%s at the bound: %d games, %v", c.name, len(games), broken)
		} else {
			roundTrip(t, games[0])
		}
		games, broken := readAll(t, []byte(prefix+c.text(1)+after))
		if len(broken) != 1 || broken[0].Reason != c.reason {
			t.Errorf("%s above the bound: got %v, want %s", c.name, broken, c.reason)
		}
		if len(games) != 1 || games[0].Tag("Event") != "after" {
			t.Errorf("%s above the bound: the game behind it is lost", c.name)
		}
	}
}

// A failing disk is no end of the file and no broken game, wherever it happens.
func TestReadFails(t *testing.T) {
	disk := errors.New("disk on fire")
	const text = "[Event \"x\"]\n\n1. e4 {a} (1. d4) e5 $1 *\n\n[Event \"y\"]\n"
	for n := range len(text) + 1 {
		r := NewPGNReader(io.MultiReader(strings.NewReader(text[:n]), failing{disk}))
		for range 3 {
			_, err := r.Next()
			var e *PGNError
			if err == nil {
				continue
			}
			if errors.As(err, &e) || !errors.Is(err, disk) {
				t.Errorf("failing after %d bytes: got %v", n, err)
			}
		}
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// A file of one endless variation is read in the memory of a small one.
func TestSkipsWithoutMemory(t *testing.T) {
	const size = 16 << 20
	text := io.MultiReader(strings.NewReader("1. e4 ("), io.LimitReader(zeros{}, size), strings.NewReader(") e5 *"))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	g, err := NewPGNReader(text).Next()
	runtime.ReadMemStats(&after)
	if err != nil || len(g.Moves) != 2 {
		t.Errorf("got %v, %v", g, err)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 1<<16 {
		t.Errorf("%d bytes allocated", used)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// records returns the shared PGN files by name.
func records(t *testing.T) map[string][]byte {
	names, _ := filepath.Glob("../../../shared/games/records/*.pgn")
	if len(names) == 0 {
		t.Skip("SKIPPED: no PGN files in ../shared/games/records beside the checkout")
	}
	files := map[string][]byte{}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(name)] = data
	}
	return files
}

func TestRecords(t *testing.T) {
	n := 0
	for name, text := range records(t) {
		games, broken := readAll(t, text)
		for _, e := range broken {
			t.Errorf("%s: %v", name, e)
		}
		for _, g := range games {
			if g.Cut || g.Result != g.Tag("Result") {
				t.Errorf("%s, game %d: result %s, tag %s, cut %v", name, g.Game, g.Result, g.Tag("Result"), g.Cut)
			}
			roundTrip(t, g)
		}
		n += len(games)
	}
	if n != 33 {
		t.Errorf("%d games, want 33", n)
	}
}
