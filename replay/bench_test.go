package replay_test

import (
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"ludger/engine"
	"ludger/engine/backgammon"
	"ludger/engine/battleship"
	"ludger/engine/chance"
	"ludger/engine/chess"
	"ludger/ledger/event"
	"ludger/ledger/sign"
	"ludger/replay"
)

const benchPlies = 80

// benchMoves returns the moves of the n-th of some games of benchPlies plies that no rule has ended.
// They are no good games, but their positions have as many moves as others.
func benchMoves(tb testing.TB, n int) []string {
	tb.Helper()
	for x := uint32(n + 1); ; x++ {
		p, err := chess.New(engine.Setup{Variant: "standard", Seats: 2})
		if err != nil {
			tb.Fatal(err)
		}
		var moves []string
		for r := x * 2654435761; len(moves) < benchPlies && !p.Turn().Over(); r = r*1664525 + 1013904223 {
			seat := p.Turn().Seats()[0]
			legal := p.Legal(seat)
			m := legal[int(r>>8)%len(legal)].Move
			if err := p.Play(seat, m); err != nil {
				tb.Fatal(err)
			}
			moves = append(moves, m)
		}
		if len(moves) == benchPlies {
			return moves
		}
	}
}

// A folder is what an auditor has: bundles of the matches that a few players played.
type folder struct {
	policy  string
	bundles [][]byte
	events  int // in one bundle
	signed  []signature
}

// A signature is that of a move or a resignation, ready to be checked.
type signature struct {
	key *sign.Verifier
	msg []byte
	sig sign.Signature
}

func newFolder(tb testing.TB, matches int) *folder {
	tb.Helper()
	w := newWorld(tb, origin)
	players := []*agent{w.register("anna"), w.register("bert"), w.register("cleo"), w.register("dora")}
	f := &folder{policy: w.policy()}
	var tables []*table
	for n := range matches {
		t := w.open(nil, players[n%4], players[(n+1)%4])
		t.ack(0)
		t.ack(1)
		t.moves(strings.Join(benchMoves(tb, n), " "))
		t.resign(0)
		t.end()
		t.index = w.log(t.events...)
		tables = append(tables, t)
		f.events = len(t.events)
		var verifiers []*sign.Verifier
		for _, p := range t.players {
			v, err := sign.NewVerifier(p.key.Public())
			if err != nil {
				tb.Fatal(err)
			}
			verifiers = append(verifiers, v)
		}
		for i := range t.events {
			body, err := t.events[i].Body()
			if err != nil {
				tb.Fatal(err)
			}
			switch b := body.(type) {
			case *event.MovePlayed:
				f.signed = append(f.signed, signature{verifiers[b.Seat], b.Signed.Message(), b.Signed.Signature})
			case *event.MatchForfeited:
				f.signed = append(f.signed, signature{verifiers[b.Seat], b.Signed.Message(), b.Signed.Signature})
			}
		}
	}
	note := w.note(w.size())
	for _, t := range tables {
		f.bundles = append(f.bundles, t.proven(note).Bytes())
	}
	return f
}

// verify judges all bundles on every core.
func (f *folder) verify(tb testing.TB) {
	all(len(f.bundles), func() func(int) {
		v := replay.NewVerifier(parsePolicy(tb, f.policy))
		return func(i int) {
			if r := v.Verify(f.bundles[i]); r.Verdict != replay.Verified {
				tb.Error(show(r))
			}
		}
	})
}

// check checks only the signatures of moves and resignations, on every core.
func (f *folder) check(tb testing.TB) {
	all(len(f.signed), func() func(int) {
		return func(i int) {
			if s := &f.signed[i]; !s.key.Verify(s.msg, s.sig) {
				tb.Error("refused")
			}
		}
	})
}

// all does n things on every core.
func all(n int, worker func() func(int)) {
	var wg sync.WaitGroup
	cores := runtime.GOMAXPROCS(0)
	for c := range cores {
		wg.Go(func() {
			do := worker()
			for i := c; i < n; i += cores {
				do(i)
			}
		})
	}
	wg.Wait()
}

func took(run func()) time.Duration {
	start := time.Now()
	run()
	return time.Since(start)
}

func median(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}

// BenchmarkVerifyBundle judges one match of 80 moves on one core.
func BenchmarkVerifyBundle(b *testing.B) {
	f := newFolder(b, 1)
	v := replay.NewVerifier(parsePolicy(b, f.policy))
	v.Verify(f.bundles[0])
	b.ReportAllocs()
	b.SetBytes(int64(len(f.bundles[0])))
	for b.Loop() {
		if r := v.Verify(f.bundles[0]); r.Verdict != replay.Verified {
			b.Fatal(show(r))
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*f.events), "ns/event")
}

// BenchmarkSignature checks one signature of a move on one core.
func BenchmarkSignature(b *testing.B) {
	s := newFolder(b, 1).signed[0]
	b.ReportAllocs()
	for b.Loop() {
		if !s.key.Verify(s.msg, s.sig) {
			b.Fatal("refused")
		}
	}
}

// BenchmarkFigureVerify: signed bodies in a folder of bundles that are judged in a second on all
// cores, by the bare checks of their signatures in a second. The other signatures of a bundle count
// as its cost.
func BenchmarkFigureVerify(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // as ludger verify does
	f := newFolder(b, 64)
	f.verify(b)
	for b.Loop() {
		var ratios []float64
		for range 21 {
			bare := took(func() { f.check(b) })
			ratios = append(ratios, bare.Seconds()/took(func() { f.verify(b) }).Seconds())
		}
		b.ReportMetric(median(ratios), "ratio")
	}
	b.ReportMetric(0.7, "min")
}

// A ply is a move or an outcome of chance.
type ply struct {
	seat engine.Seat
	text string
}

// plies are those of random games of about as many plies in all, one after the other.
func plies(b *testing.B, game engine.Game, variant string, count int) (games [][]ply) {
	b.Helper()
	for total := 0; total < count; {
		p, err := game.New(engine.Setup{Variant: variant, Seats: 2})
		if err != nil {
			b.Fatal(err)
		}
		random := chance.New([32]byte{1}, "plies/"+strconv.Itoa(len(games)))
		var list []ply
		for len(list) < count-total && !p.Turn().Over() {
			next := ply{engine.Chance, ""}
			if seats := p.Turn().Seats(); len(seats) > 0 {
				next.seat = seats[0]
			}
			if s, ok := p.(engine.Sampler); next.seat == engine.Chance {
				next.text = p.(engine.Drawer).Draw(random)
			} else if ok && s.Unlisted(next.seat) {
				next.text = s.Sample(next.seat, random)
			} else {
				legal := p.Legal(next.seat)
				next.text = legal[random.Intn(len(legal))].Move
			}
			if err := p.Play(next.seat, next.text); err != nil {
				b.Fatal(err)
			}
			list = append(list, next)
		}
		games, total = append(games, list), total+len(list)
	}
	return games
}

// figurePly compares replaying a ply, from its text to the digest of the position, with one signature
// check. Outcomes of chance are plies too.
func figurePly(b *testing.B, game engine.Game, variant string, most float64) {
	f := newFolder(b, 8)
	const count = 2000
	games := plies(b, game, variant, count)
	for b.Loop() {
		var ratios []float64
		for range 101 {
			bare := took(func() {
				for i := range f.signed {
					if s := &f.signed[i]; !s.key.Verify(s.msg, s.sig) {
						b.Fatal("refused")
					}
				}
			})
			replayed := took(func() {
				for _, list := range games {
					p, err := game.New(engine.Setup{Variant: variant, Seats: 2})
					if err != nil {
						b.Fatal(err)
					}
					for _, next := range list {
						move, err := p.Parse(next.seat, next.text)
						if err == nil {
							err = p.Play(next.seat, move)
						}
						if err != nil {
							b.Fatal(err)
						}
						digest(p)
					}
				}
			})
			ratios = append(ratios, replayed.Seconds()/count/(bare.Seconds()/float64(len(f.signed))))
		}
		b.ReportMetric(median(ratios), "ratio")
	}
	b.ReportMetric(most, "max")
}

// The promised costs of a ply.
func BenchmarkFigureChessPly(b *testing.B) { figurePly(b, chess.Game{}, chess.Standard, 0.2) }
func BenchmarkFigureBackgammonPly(b *testing.B) {
	figurePly(b, backgammon.Game{}, backgammon.Single, 1)
}
func BenchmarkFigureBattleshipPly(b *testing.B) {
	figurePly(b, battleship.Game{}, battleship.Standard, 0.2)
}
