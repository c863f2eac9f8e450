package sequencer_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/sstable"

	"ludger/engine"
	"ludger/ledger"
	"ludger/ledger/event"
	"ludger/ledger/pebblelog"
	"ludger/ledger/sequencer"
	"ludger/ledger/sign"
	"ludger/replay"
)

const (
	writers = 256
	matches = 3   // that each writer appends, so that the database has to flush on the way
	plies   = 160 // of each match
	moves   = writers * matches * plies
	rounds  = 7 // of a figure; the median counts
	origin  = "bench.example/log"
)

// A game is a match that a writer appends: an opening and its moves, some 650 bytes each.
type game struct {
	opened event.Event
	moves  []event.Event
	keys   [2]sign.PublicKey
}

// games are made once, for all figures: random play from fixed seeds.
var games = sync.OnceValues(func() ([]game, error) {
	list := make([]game, writers*matches)
	errs := make([]error, runtime.NumCPU())
	var wg sync.WaitGroup
	for cpu := range errs {
		wg.Go(func() {
			for i := cpu; i < len(list) && errs[cpu] == nil; i += len(errs) {
				list[i], errs[cpu] = newGame(i)
			}
		})
	}
	wg.Wait()
	return list, errors.Join(errs...)
})

func newGame(number int) (game, error) {
	var g game
	var keys [2]sign.PrivateKey
	opened := &event.MatchOpened{Number: int64(number + 1), Game: "chess@1", Variant: "standard", Division: "assisted"}
	for seat := range keys {
		handle := fmt.Sprintf("agent-%d-%d", number, seat)
		keys[seat] = sign.DeriveKey([]byte("keys of the benchmarks"), handle)
		g.keys[seat] = keys[seat].Public()
		opened.Seats = append(opened.Seats, event.Seat{Handle: handle, Key: g.keys[seat]})
	}
	for seed := uint64(number); ; seed += writers * matches { // until a game is long enough
		g.moves = g.moves[:0]
		m := replay.NewKeys().NewMatch(origin)
		var err error
		if g.opened, err = m.Propose(1, opened); err != nil {
			return g, err
		}
		for len(g.moves) < plies && m.Stage() == replay.StagePlaying {
			seat := engine.Seat(len(g.moves) % 2)
			legal := m.Position().Legal(seat)
			seed = seed*6364136223846793005 + 1442695040888963407
			signed, err := event.SignedMove{
				GameID: m.ID(), TurnIndex: m.Turn(), Move: legal[seed>>33%uint64(len(legal))].Move,
				Commentary: strings.Repeat("the centre is mine. ", 4),
			}.Sign(keys[seat])
			if err != nil {
				return g, err
			}
			e, err := m.Propose(int64(2+len(g.moves)), &event.MovePlayed{Seat: seat, Signed: signed})
			if err != nil {
				return g, err
			}
			g.moves = append(g.moves, e)
		}
		if len(g.moves) == plies {
			return g, nil
		}
	}
}

// mustGames returns the games, and makes sure that they are what the figures say.
func mustGames(b *testing.B) []game {
	b.Helper()
	list, err := games()
	if err != nil {
		b.Fatal(err)
	}
	if n := len(list[0].moves[plies/2].Raw()); n < 600 || n > 700 {
		b.Fatalf("a move has %d bytes, want 600 to 700", n)
	}
	return list
}

// warmth is 33 MB of large events. Pebble begins with small memtables and doubles them up to 32 MB,
// each time with a pause; a log that is in use is past that.
var warmth = sync.OnceValue(func() []event.Event {
	list := make([]event.Event, 5*writers)
	for i := range list {
		list[i] = newChain(fmt.Sprintf("warm-%04d", i)).make(strings.Repeat("x", 26<<10))
	}
	return list
})

// each does a thing n times at once, and returns how many of the events that it handles are done in
// a second.
func each(b *testing.B, n, events int, do func(i int) error) float64 {
	b.Helper()
	errs := make([]error, n)
	var wg sync.WaitGroup
	start := time.Now()
	for i := range n {
		wg.Go(func() { errs[i] = do(i) })
	}
	wg.Wait()
	took := time.Since(start)
	if err := errors.Join(errs...); err != nil {
		b.Fatal(err)
	}
	return float64(events) / took.Seconds()
}

// A system appends events durably.
type system interface {
	append(e event.Event) error
	close() error
}

// A sequenced log is ours.
type sequenced struct {
	log ledger.Log
	seq *sequencer.Sequencer
}

func openSequenced(dir string) (system, error) {
	log, err := pebblelog.Open(dir, pebblelog.Options{})
	if err != nil {
		return nil, err
	}
	seq, err := sequencer.Open(context.Background(), log, sequencer.Config{Owner: "bench"})
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	return &sequenced{log, seq}, nil
}

func (s *sequenced) append(e event.Event) error {
	_, err := s.seq.Append(context.Background(), sequencer.Append{Events: []event.Event{e}})
	return err
}

func (s *sequenced) close() error { return errors.Join(s.seq.Close(), s.log.Close()) }

// A bare log is the least that group commit can be: entries in, no checks, no index, no tree. Its
// database has the options of pebblelog.
type bare struct {
	db    *pebble.DB
	queue chan *write
	done  chan struct{}
}

type write struct {
	raw    []byte
	answer chan error
}

func openBare(dir string) (system, error) {
	o := &pebble.Options{
		FormatMajorVersion:          pebble.FormatValueSeparation,
		Logger:                      quiet{},
		CacheSize:                   64 << 20,
		MemTableSize:                32 << 20,
		MemTableStopWritesThreshold: 4,
		L0CompactionThreshold:       8,
		L0StopWritesThreshold:       64,
		LBaseMaxBytes:               256 << 20,
		MaxOpenFiles:                1000,
		CompactionConcurrencyRange:  func() (int, int) { return 1, 2 },
	}
	o.TargetFileSizes[0] = 4 << 20
	o.Levels[0].Compression = func() *sstable.CompressionProfile { return sstable.NoCompression }
	o.Levels[1].Compression = func() *sstable.CompressionProfile { return sstable.SnappyCompression }
	for i := range o.Levels {
		o.Levels[i].BlockSize = 16 << 10
		o.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
	}
	db, err := pebble.Open(dir, o)
	if err != nil {
		return nil, err
	}
	s := &bare{db: db, queue: make(chan *write, 1024), done: make(chan struct{})}
	go s.run()
	return s, nil
}

type quiet struct{}

func (quiet) Infof(string, ...any)         {}
func (quiet) Errorf(f string, args ...any) { fmt.Fprintf(os.Stderr, f+"\n", args...) }
func (quiet) Fatalf(f string, args ...any) { panic(fmt.Sprintf(f, args...)) }

func (s *bare) run() {
	defer close(s.done)
	var index uint64
	var group []*write
	for w := range s.queue {
		group = append(group[:0], w)
		for more := true; more && len(group) < 1024; {
			select {
			case w, ok := <-s.queue:
				if more = ok; ok {
					group = append(group, w)
				}
			default:
				more = false
			}
		}
		b := s.db.NewBatch()
		var err error
		for _, w := range group {
			key := binary.BigEndian.AppendUint64([]byte{'e'}, index)
			err = errors.Join(err, b.Set(key, w.raw, nil))
			index++
		}
		err = errors.Join(err, b.Commit(pebble.Sync), b.Close())
		for _, w := range group {
			w.answer <- err
		}
	}
}

func (s *bare) append(e event.Event) error {
	w := &write{e.Raw(), make(chan error, 1)}
	s.queue <- w
	return <-w.answer
}

func (s *bare) close() error {
	close(s.queue)
	<-s.done
	return s.db.Close()
}

// A result is what one run of all writers gave.
type result struct {
	rate float64
	p99  time.Duration
}

// run lets all writers append their games to a new log, which is warm and holds the openings. check
// returns a look at each move of a game before it is appended.
func run(b *testing.B, open func(dir string) (system, error), check func(g *game) (func(e *event.Event) error, error)) result {
	b.Helper()
	list := mustGames(b)
	dir, err := os.MkdirTemp(b.TempDir(), "")
	if err != nil {
		b.Fatal(err)
	}
	defer os.RemoveAll(dir)
	s, err := open(dir)
	if err != nil {
		b.Fatal(err)
	}
	warm := warmth()
	each(b, writers, len(warm), func(w int) (err error) {
		for i := w; i < len(warm) && err == nil; i += writers {
			err = s.append(warm[i])
		}
		return err
	})
	checks := make([]func(*event.Event) error, len(list))
	each(b, writers, len(list), func(w int) (err error) {
		for i := w; i < len(list) && err == nil; i += writers {
			if check != nil {
				if checks[i], err = check(&list[i]); err != nil {
					return err
				}
			}
			err = s.append(list[i].opened)
		}
		return err
	})
	waits := make([]time.Duration, moves)
	runtime.GC()
	rate := each(b, writers, moves, func(w int) error {
		for i := w; i < len(list); i += writers {
			for j := range list[i].moves {
				e := &list[i].moves[j]
				if check != nil {
					if err := checks[i](e); err != nil {
						return err
					}
				}
				start := time.Now()
				if err := s.append(*e); err != nil {
					return err
				}
				waits[i*plies+j] = time.Since(start)
			}
		}
		return nil
	})
	if err := s.close(); err != nil {
		b.Fatal(err)
	}
	slices.Sort(waits)
	return result{rate, waits[len(waits)*99/100]}
}

func median(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}

// BenchmarkFigureAppendAgainstBarePebble compares appends of checked events with the bare loop.
func BenchmarkFigureAppendAgainstBarePebble(b *testing.B) {
	mustGames(b)
	for b.Loop() {
		var ratios []float64
		for range rounds {
			ours, theirs := run(b, openSequenced, nil), run(b, openBare, nil)
			ratios = append(ratios, ours.rate/theirs.rate)
			b.Logf("ours %.0f/s p99 %v, bare %.0f/s p99 %v, ratio %.2f", ours.rate, ours.p99, theirs.rate, theirs.p99, ours.rate/theirs.rate)
		}
		b.ReportMetric(median(ratios), "ratio")
		b.ReportMetric(0.8, "min")
	}
}

// BenchmarkFigureCheckedAppend lets every writer check the signature of its moves before it appends
// them, and compares with what the bare loop and nothing but signature checks would give one after
// the other.
func BenchmarkFigureCheckedAppend(b *testing.B) {
	checkedAppend(b, func(g *game) (func(e *event.Event) error, error) {
		var keys [2]*sign.Verifier
		for seat := range keys {
			var err error
			if keys[seat], err = sign.NewVerifier(g.keys[seat]); err != nil {
				return nil, err
			}
		}
		return func(e *event.Event) error {
			body, err := e.Body()
			if err != nil {
				return err
			}
			m := body.(*event.MovePlayed)
			if !keys[m.Seat].Verify(m.Signed.Message(), m.Signed.Signature) {
				return errors.New("a signature is wrong")
			}
			return nil
		}, nil
	})
	b.ReportMetric(0.8, "min")
}

// BenchmarkFigureReplayedAppend is the same with every move checked as an arena does, through
// replay.Match: history, turn, rules and position besides the signature. Nothing is promised of it.
func BenchmarkFigureReplayedAppend(b *testing.B) {
	checkedAppend(b, func(g *game) (func(e *event.Event) error, error) {
		m := replay.NewKeys().NewMatch(origin)
		apply := func(e *event.Event) error {
			if faults := m.Apply(e); len(faults) > 0 {
				return faults[0]
			}
			return nil
		}
		return apply, apply(&g.opened)
	})
}

func checkedAppend(b *testing.B, check func(g *game) (func(e *event.Event) error, error)) {
	b.Helper()
	list := mustGames(b)
	for b.Loop() {
		var ratios []float64
		for range rounds {
			ours, theirs, alone := run(b, openSequenced, check), run(b, openBare, nil), signatures(b, list)
			ratio := ours.rate * (1/alone + 1/theirs.rate)
			ratios = append(ratios, ratio)
			b.Logf("ours %.0f/s, bare %.0f/s, signatures %.0f/s, ratio %.2f", ours.rate, theirs.rate, alone, ratio)
		}
		b.ReportMetric(median(ratios), "ratio")
	}
}

// signatures returns the strict signature checks per second on all cores, and nothing else.
func signatures(b *testing.B, list []game) float64 {
	b.Helper()
	type signed struct {
		key     *sign.Verifier
		message []byte
		sig     sign.Signature
	}
	var all []signed
	for i := range list {
		var keys [2]*sign.Verifier
		for seat := range keys {
			var err error
			if keys[seat], err = sign.NewVerifier(list[i].keys[seat]); err != nil {
				b.Fatal(err)
			}
		}
		for j := range list[i].moves {
			if j%6 > 1 { // a third of them, of both seats, is enough
				continue
			}
			body, err := list[i].moves[j].Body()
			if err != nil {
				b.Fatal(err)
			}
			m := body.(*event.MovePlayed)
			all = append(all, signed{keys[m.Seat], m.Signed.Message(), m.Signed.Signature})
		}
	}
	cpus := runtime.NumCPU()
	return each(b, cpus, len(all), func(cpu int) error {
		for i := cpu; i < len(all); i += cpus {
			if s := &all[i]; !s.key.Verify(s.message, s.sig) {
				return fmt.Errorf("signature %d is wrong", i)
			}
		}
		return nil
	})
}

// BenchmarkFigureAppendP99 compares the slowest hundredth of the appends with the time in which all
// writers get one append each.
func BenchmarkFigureAppendP99(b *testing.B) {
	mustGames(b)
	for b.Loop() {
		var ratios []float64
		for range rounds {
			ours := run(b, openSequenced, nil)
			ratio := ours.p99.Seconds() / (writers / ours.rate)
			ratios = append(ratios, ratio)
			b.Logf("%.0f/s, p99 %v, ratio %.2f", ours.rate, ours.p99, ratio)
		}
		b.ReportMetric(median(ratios), "ratio")
		b.ReportMetric(3, "max")
	}
}
