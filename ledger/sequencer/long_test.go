package sequencer_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"ludger/checkpoint"
	"ludger/checkpoint/publish"
	"ludger/ledger"
	"ludger/ledger/event"
	"ludger/ledger/pebblelog"
	"ludger/ledger/sequencer"
)

const (
	shortLog = 10_000
	longLog  = 10_000_000
)

// A hall is a log on disk with its sequencer and its publisher.
type hall struct {
	*sequenced
	cells ledger.Cells
	pub   *publish.Publisher
}

func openHall(dir string) (*hall, error) {
	s, err := openSequenced(filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	h := &hall{sequenced: s.(*sequenced)}
	if h.cells, err = pebblelog.OpenCells(filepath.Join(dir, "cells"), pebblelog.Options{}); err != nil {
		return nil, err
	}
	signer, err := checkpoint.NewSigner(origin, [32]byte{1})
	if err != nil {
		return nil, err
	}
	h.pub, err = publish.Open(context.Background(), publish.Config{Log: h.log, Cells: h.cells, Signer: signer})
	return h, err
}

func (h *hall) close() error { return errors.Join(h.sequenced.close(), h.cells.Close()) }

// fill appends matches of a hundred events, 64 at a time, until the log has size entries.
func (h *hall) fill(template event.Event, size int64) error {
	const streams, length, step = 64, 96, 16
	ctx := context.Background()
	before, after, ok := strings.Cut(string(template.Raw()), `"prev":"`)
	if !ok || !strings.HasSuffix(after, `"v":1}`) {
		return errors.New("the template is no event")
	}
	head, err := h.log.Head(ctx)
	if err != nil {
		return err
	}
	errs := make([]error, 4)
	var wg sync.WaitGroup
	for w := range errs {
		wg.Go(func() {
			for n := w; head.Size+int64(n)*streams*length < size; n += len(errs) {
				chains := make([]chain, streams)
				for i := range chains {
					chains[i].stream = event.MatchStream(event.MatchID{1, byte(n >> 16), byte(n >> 8), byte(n), byte(i)})
				}
				for range length / step {
					events := make([]event.Event, 0, streams*step)
					for i := range chains {
						c := &chains[i]
						for range step {
							e, err := event.Parse(fmt.Appendf(nil, `%s"prev":%q,"seq":%d,"stream":%q,"v":1}`, before, c.prev, c.seq, c.stream))
							if err != nil {
								errs[w] = err
								return
							}
							events = append(events, e)
							c.seq, c.prev = c.seq+1, e.Leaf()
						}
					}
					if _, err := h.seq.Append(ctx, sequencer.Append{Events: events}); err != nil {
						errs[w] = err
						return
					}
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// longDir is the folder that holds both logs, removed after all tests.
var longDir string

func removeLong() {
	if longDir != "" {
		_ = os.RemoveAll(longDir)
	}
}

// makeLong makes the logs once: one short, one long, both published.
var makeLong = sync.OnceValue(func() (err error) {
	list, err := games()
	if err != nil {
		return err
	}
	if longDir, err = os.MkdirTemp("", "ludger-long-"); err != nil {
		return err
	}
	for name, size := range map[string]int64{"short": shortLog, "long": longLog} {
		h, err := openHall(filepath.Join(longDir, name))
		if err != nil {
			return err
		}
		err = h.fill(list[0].moves[plies/2], size)
		if err == nil {
			_, err = h.pub.Publish(context.Background())
		}
		for i := 0; i < writers && err == nil; i++ {
			err = h.append(list[i].opened)
		}
		if err := errors.Join(err, h.close()); err != nil {
			return err
		}
	}
	return nil
})

// used counts the plies of the games that the logs have.
var used int

// long opens both logs.
func long(b *testing.B) (short, long *hall) {
	b.Helper()
	if os.Getenv("LUDGER_LONG") != "1" {
		b.Skip("LUDGER_LONG=1 is not set: a log of ten million entries takes some GB of disk and some minutes")
	}
	if err := makeLong(); err != nil {
		b.Fatal(err)
	}
	var halls [2]*hall
	for i, name := range []string{"short", "long"} {
		h, err := openHall(filepath.Join(longDir, name))
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() {
			if err := h.close(); err != nil {
				b.Error(err)
			}
		})
		halls[i] = h
	}
	return halls[0], halls[1]
}

// BenchmarkFigureAppendAtTenMillion compares what an append costs in a long and in a short log.
func BenchmarkFigureAppendAtTenMillion(b *testing.B) {
	short, long := long(b)
	list := mustGames(b)
	const step = 8 // plies of each game, by turns
	for b.Loop() {
		var ratios []float64
		for range 9 {
			some := func(h *hall) float64 {
				return each(b, writers, writers*step, func(w int) error {
					for j := used; j < used+step; j++ {
						if err := h.append(list[w].moves[j]); err != nil {
							return err
						}
					}
					return nil
				})
			}
			few, many := some(short), some(long)
			used += step
			ratios = append(ratios, few/many)
			b.Logf("at %d %.0f/s, at %d %.0f/s, ratio %.2f", shortLog, few, longLog, many, few/many)
		}
		b.ReportMetric(median(ratios), "ratio")
		b.ReportMetric(1.2, "max")
	}
}

// BenchmarkFigureCheckpointAtTenMillion compares what a checkpoint of the same number of new
// entries costs.
func BenchmarkFigureCheckpointAtTenMillion(b *testing.B) {
	short, long := long(b)
	list := mustGames(b)
	for b.Loop() {
		var ratios []float64
		for range 49 {
			some := func(h *hall) float64 {
				each(b, writers, writers, func(w int) error { return h.append(list[w].moves[used]) })
				start := time.Now()
				if _, err := h.pub.Publish(context.Background()); err != nil {
					b.Fatal(err)
				}
				return time.Since(start).Seconds()
			}
			few, many := some(short), some(long)
			used++
			ratios = append(ratios, many/few)
			b.Logf("at %d %.3f ms, at %d %.3f ms, ratio %.2f", shortLog, few*1e3, longLog, many*1e3, many/few)
		}
		b.ReportMetric(median(ratios), "ratio")
		b.ReportMetric(1.2, "max")
	}
}

// BenchmarkFigureOpenAtTenMillion opens the long log and its sequencer.
func BenchmarkFigureOpenAtTenMillion(b *testing.B) {
	_, h := long(b)
	for b.Loop() {
		var times []float64
		for range rounds {
			if err := h.sequenced.close(); err != nil {
				b.Fatal(err)
			}
			start := time.Now()
			s, err := openSequenced(filepath.Join(longDir, "long", "log"))
			if err != nil {
				b.Fatal(err)
			}
			times = append(times, time.Since(start).Seconds())
			b.Logf("opened in %.3f s", times[len(times)-1])
			h.sequenced = s.(*sequenced)
		}
		b.ReportMetric(median(times), "s")
		b.ReportMetric(1, "max")
	}
}
