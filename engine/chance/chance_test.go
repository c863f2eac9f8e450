package chance_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"os"
	"slices"
	"testing"

	"ludger/engine"
	"ludger/engine/chance"
	"ludger/ledger/canon"
	"ludger/testvectors"
)

var _ engine.Source = (*chance.Stream)(nil)

// A plain is the specification once more, as literally as it can be written: the bytes are those of
// canon.Digest, the numbers are big.
type plain struct {
	seed    [32]byte
	purpose string
	at      int // bytes taken
}

func (p *plain) take(w int) *big.Int {
	var b []byte
	for range w {
		block := canon.Digest("ludger/stream/v1", p.seed[:], []byte(p.purpose), binary.BigEndian.AppendUint64(nil, uint64(p.at/32)))
		b = append(b, block[p.at%32])
		p.at++
	}
	return new(big.Int).SetBytes(b)
}

func (p *plain) Intn(n int) int {
	w, all, count := 0, big.NewInt(1), big.NewInt(int64(n))
	for all.Cmp(count) < 0 {
		w++
		all.Mul(all, big.NewInt(256))
	}
	limit := new(big.Int).Sub(all, new(big.Int).Mod(all, count))
	for {
		if v := p.take(w); v.Cmp(limit) < 0 {
			return int(v.Mod(v, count).Int64())
		}
	}
}

func TestSecondImplementation(t *testing.T) {
	ranges := []int{1, 2, 3, 6, 52, 128, 129, 255, 256, 257, 960, 1000, 65535, 65536, 65537, 1 << 24, 1<<24 + 1, 1 << 32, 1<<32 + 1,
		1<<40 + 12345, 1 << 48, 1<<55 + 1, 1 << 56, 1<<56 + 1, 1<<62 + 1, math.MaxInt}
	for i, purpose := range []string{"", "draw:0", "draw:12", "ä\x00\xff", string(make([]byte, 300))} {
		seed := [32]byte{byte(i), 31: 7}
		s, p := chance.New(seed, purpose), &plain{seed: seed, purpose: purpose}
		for round := range 20 {
			for _, n := range ranges {
				if got, want := s.Intn(n), p.Intn(n); got != want {
					t.Fatalf("seed %x, purpose %q: Intn(%d) = %d in round %d, want %d", seed, purpose, n, got, round, want)
				}
			}
		}
	}
}

func FuzzIntn(f *testing.F) {
	f.Add([]byte("seed"), "draw:0", uint64(6), uint64(52))
	f.Add([]byte{}, "", uint64(math.MaxInt), uint64(1))
	f.Fuzz(func(t *testing.T, seedBytes []byte, purpose string, a, b uint64) {
		var seed [32]byte
		copy(seed[:], seedBytes)
		s, p := chance.New(seed, purpose), &plain{seed: seed, purpose: purpose}
		for i := range 8 {
			n := int(max(1, []uint64{a, b}[i%2]>>1))
			got, want := s.Intn(n), p.Intn(n)
			if got != want || got < 0 || got >= n {
				t.Fatalf("seed %x, purpose %q: Intn(%d) = %d, want %d", seed, purpose, n, got, want)
			}
		}
	})
}

func TestForDraw(t *testing.T) {
	for n, purpose := range map[int64]string{0: "draw:0", 7: "draw:7", 1234567890123: "draw:1234567890123"} {
		if got, want := chance.ForDraw([32]byte{1}, n).Intn(1<<62), chance.New([32]byte{1}, purpose).Intn(1<<62); got != want {
			t.Errorf("draw %d begins with %d, want %d", n, got, want)
		}
	}
}

func TestPanics(t *testing.T) {
	s := chance.New([32]byte{}, "")
	for name, f := range map[string]func(){
		"Intn(0)":     func() { s.Intn(0) },
		"Intn(-1)":    func() { s.Intn(-1) },
		"Die(0)":      func() { s.Die(0) },
		"Pick(2, 3)":  func() { s.Pick(2, 3) },
		"Pick(2, -1)": func() { s.Pick(2, -1) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s does not panic", name)
				}
			}()
			f()
		}()
	}
	s.Shuffle(0, nil)
	s.Shuffle(1, nil)
	if got := s.Pick(0, 0); len(got) != 0 {
		t.Errorf("nothing of nothing is %v", got)
	}
	if got := s.Dice(6, 0); len(got) != 0 {
		t.Errorf("no dice show %v", got)
	}
}

// The vectors.

type vectorFile struct {
	About   string        `json:"about"`
	Streams []streamCase  `json:"streams"`
	Numbers []numberCase  `json:"numbers"`
	Dice    []diceCase    `json:"dice"`
	Shuffle []shuffleCase `json:"shuffles"`
	Picks   []pickCase    `json:"picks"`
}

type origin struct {
	Seed    string `json:"seed"`
	Purpose string `json:"purpose"`
}

type streamCase struct {
	origin
	Bytes string `json:"bytes"`
}

type numberCase struct {
	origin
	Ranges []int `json:"ranges"`
	Want   []int `json:"want"`
}

type diceCase struct {
	origin
	Sides int   `json:"sides"`
	Count int   `json:"count"`
	Want  []int `json:"want"`
}

type shuffleCase struct {
	origin
	N    int   `json:"n"`
	Want []int `json:"want"`
}

type pickCase struct {
	origin
	N    int   `json:"n"`
	K    int   `json:"k"`
	Want []int `json:"want"`
}

func (o origin) stream(t *testing.T) *chance.Stream {
	t.Helper()
	var seed [32]byte
	if !canon.DecodeHex(seed[:], o.Seed) {
		t.Fatalf("seed %q", o.Seed)
	}
	return chance.New(seed, o.Purpose)
}

func iota(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

func TestVectors(t *testing.T) {
	one := origin{hex.EncodeToString(make([]byte, 32)), "draw:0"}
	two := origin{"8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4", "draw:41"}
	none := origin{two.Seed, ""}
	utf8 := origin{two.Seed, "Würfel"}
	v := vectorFile{About: "numbers from a seed, as package engine/chance specifies them; every case is a stream of its own"}
	for _, o := range []origin{one, two, none, utf8} {
		s := o.stream(t)
		b := make([]byte, 100)
		for i := range b {
			b[i] = byte(s.Intn(256))
		}
		v.Streams = append(v.Streams, streamCase{o, hex.EncodeToString(b)})
		n := numberCase{origin: o, Ranges: []int{1, 2, 6, 6, 6, 52, 255, 256, 257, 960, 65535, 65536, 65537, 1 << 24, 1<<24 + 1, 1 << 32, 1<<52 + 1, 1<<53 - 1, 10, 3}}
		s = o.stream(t)
		for _, r := range n.Ranges {
			n.Want = append(n.Want, s.Intn(r))
		}
		v.Numbers = append(v.Numbers, n)
		v.Dice = append(v.Dice, diceCase{o, 6, 40, o.stream(t).Dice(6, 40)}, diceCase{o, 20, 5, o.stream(t).Dice(20, 5)})
		for _, n := range []int{0, 1, 2, 3, 52, 300} {
			list := iota(n)
			o.stream(t).Shuffle(n, func(i, j int) { list[i], list[j] = list[j], list[i] })
			v.Shuffle = append(v.Shuffle, shuffleCase{o, n, list})
		}
		for _, p := range [][2]int{{1, 1}, {5, 2}, {52, 5}, {49, 6}, {10, 10}, {300, 0}} {
			v.Picks = append(v.Picks, pickCase{o, p[0], p[1], o.stream(t).Pick(p[0], p[1])})
		}
	}
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	text = indent(t, text.Bytes())
	if os.Getenv("LUDGER_UPDATE") != "" {
		if err := os.WriteFile("../../testvectors/chance/streams.json", text.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := testvectors.FS.ReadFile("chance/streams.json")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(text.Bytes(), want) {
		t.Error("chance/streams.json differs from what is computed now; the stream must never change")
	}
}

// indent puts every case on a line of its own: lists of numbers with a line each are hard to read.
func indent(t *testing.T, text []byte) bytes.Buffer {
	t.Helper()
	var out bytes.Buffer
	depth, quoted := 0, false
	for _, c := range text {
		switch {
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		}
		out.WriteByte(c)
		if !quoted && (depth == 1 && c == ',' || depth == 2 && (c == ',' || c == '[')) {
			out.WriteByte('\n')
		}
	}
	if !json.Valid(out.Bytes()) {
		t.Fatal("not JSON any more")
	}
	return out
}

// Statistics. Every test fixes its seed, so it always gives the same verdict; of all seeds a fair
// stream would fail with at most one in a million, and with another one where too even is a failure
// too. The same statistic must refuse a source whose bias is the usual mistake, or the test could not
// fail.

// biased is a byte modulo n without rejection.
type biased struct{ *chance.Stream }

func (b biased) Intn(n int) int {
	v := b.Stream.Intn(256)
	if n > 256 {
		v = v<<8 | b.Stream.Intn(256)
	}
	return v % n
}

// critical returns what chi-square with df degrees of freedom exceeds with a probability of at most
// 10^-6, by the approximation of Wilson and Hilferty, which errs to the lenient side there.
func critical(df int) float64 {
	const z = 4.753424 // the normal distribution exceeds it with a probability of 10^-6
	a := 2 / (9 * float64(df))
	return float64(df) * math.Pow(1-a+z*math.Sqrt(a), 3)
}

func chiSquare(counts []int) float64 {
	total := 0
	for _, c := range counts {
		total += c
	}
	expected, sum := float64(total)/float64(len(counts)), 0.0
	for _, c := range counts {
		sum += (float64(c) - expected) * (float64(c) - expected) / expected
	}
	return sum
}

func TestFair(t *testing.T) {
	// shuffle is Stream's own over any source, so that a biased one can be tried.
	shuffle := func(src engine.Source, n int) []int {
		list := iota(n)
		for i := n - 1; i > 0; i-- {
			j := src.Intn(i + 1)
			list[i], list[j] = list[j], list[i]
		}
		return list
	}
	cards := func(src engine.Source) (float64, int) {
		// Of n×n counts only (n−1)² are free, and those of one shuffle are not independent: the sum
		// over random permutations has the mean n(n−1), and scaled so it is chi-square.
		const n, deals = 52, 20_000
		counts := make([]int, n*n)
		for range deals {
			for place, card := range shuffle(src, n) {
				counts[place*n+card]++
			}
		}
		return chiSquare(counts) * (n - 1) / n, (n - 1) * (n - 1)
	}
	cells := func(n, samples int, sample func() int) (float64, int) {
		counts := make([]int, n)
		for range samples {
			counts[sample()]++
		}
		return chiSquare(counts), n - 1
	}
	for name, measure := range map[string]func(engine.Source) (float64, int){
		"a die": func(src engine.Source) (float64, int) {
			return cells(6, 1_000_000, func() int { return src.Intn(6) })
		},
		"pairs of dice": func(src engine.Source) (float64, int) {
			return cells(36, 1_000_000, func() int { return 6*src.Intn(6) + src.Intn(6) })
		},
		"every second die": func(src engine.Source) (float64, int) {
			return cells(36, 500_000, func() int { a, _ := src.Intn(6), src.Intn(6); return 6*a + src.Intn(6) })
		},
		"Chess960": func(src engine.Source) (float64, int) {
			return cells(960, 8_000_000, func() int { return src.Intn(960) })
		},
		"cards by position": cards,
		"orders of five": func(src engine.Source) (float64, int) {
			return cells(120, 2_000_000, func() int {
				rank, list := 0, shuffle(src, 5)
				for i, a := range list {
					smaller := 0
					for _, b := range list[i+1:] {
						if b < a {
							smaller++
						}
					}
					rank = rank*(5-i) + smaller
				}
				return rank
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			x, df := measure(chance.New([32]byte{1}, name))
			bad, _ := measure(biased{chance.New([32]byte{2}, name)})
			t.Logf("chi-square %.1f, biased source %.1f, limit %.1f at %d degrees of freedom", x, bad, critical(df), df)
			if x > critical(df) {
				t.Errorf("chi-square %.1f exceeds %.1f", x, critical(df))
			}
			if low := 2*float64(df) - critical(df); df > 100 && x < low {
				t.Errorf("chi-square %.1f is below %.1f: more even than chance", x, low)
			}
			if bad <= critical(df) {
				t.Errorf("a biased source passes with %.1f of %.1f", bad, critical(df))
			}
		})
	}
}

// TestFairMethods: the methods of the stream itself, and streams of draws that follow each other.
func TestFairMethods(t *testing.T) {
	check := func(what string, counts []int) {
		t.Helper()
		df := len(counts) - 1
		if x := chiSquare(counts); x > critical(df) {
			t.Errorf("%s: chi-square %.1f exceeds %.1f", what, x, critical(df))
		}
	}
	s := chance.New([32]byte{3}, "methods")
	orders, picks, rolls, first := map[string]int{}, map[string]int{}, make([]int, 6), make([]int, 36)
	for n := range 100_000 {
		list := iota(4)
		s.Shuffle(4, func(i, j int) { list[i], list[j] = list[j], list[i] })
		orders[fmt.Sprint(list)]++
		picks[fmt.Sprint(s.Pick(6, 3))]++
		for _, r := range s.Dice(6, 2) {
			rolls[r-1]++
		}
		a, b := chance.ForDraw([32]byte{4}, int64(n)), chance.ForDraw([32]byte{4}, int64(n+1))
		first[6*a.Intn(6)+b.Intn(6)]++
	}
	if len(orders) != 24 || len(picks) != 120 {
		t.Fatalf("%d orders of four, want 24; %d picks of three of six, want 120", len(orders), len(picks))
	}
	values := func(m map[string]int) []int {
		var list []int
		for _, c := range m {
			list = append(list, c)
		}
		slices.Sort(list)
		return list
	}
	check("orders of four", values(orders))
	check("three of six", values(picks))
	check("dice", rolls)
	check("first rolls of draws that follow each other", first)
}

func BenchmarkDice(b *testing.B) {
	for b.Loop() {
		s := chance.ForDraw([32]byte{}, 1)
		s.Die(6)
		s.Die(6)
	}
}

func BenchmarkShuffle(b *testing.B) {
	for b.Loop() {
		chance.ForDraw([32]byte{}, 1).Shuffle(52, func(i, j int) {})
	}
}
