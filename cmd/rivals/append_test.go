package rivals

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ludger/ledger/event"
	"ludger/ledger/sign"
)

const (
	writers   = 256
	perWriter = 160 // 40,960 appends in a sample
	eventSize = 600
	pairs     = 5
)

// A writer appends the moves of one match.
type writer struct {
	opened   event.Event
	verifier *sign.Verifier
	moves    []move
}

type move struct {
	event.Event
	message   []byte
	signature sign.Signature
}

// load returns what the writers append, built once.
var load = sync.OnceValues(func() ([]writer, error) {
	list := make([]writer, writers)
	for i := range list {
		if err := list[i].fill(i); err != nil {
			return nil, err
		}
	}
	return list, nil
})

func (w *writer) fill(n int) error {
	key := sign.DeriveKey([]byte("rivals"), fmt.Sprint("writer ", n))
	var err error
	if w.verifier, err = sign.NewVerifier(key.Public()); err != nil {
		return err
	}
	opening := &event.MatchOpened{
		Number: int64(n) + 1, Game: "chess@1", Variant: "standard", Division: "unassisted",
		Seats: []event.Seat{{Handle: "writer", Key: key.Public()}},
	}
	id := opening.ID("rivals.example/log")
	stream := event.MatchStream(id)
	if w.opened, err = event.New(1735424400123, stream, 0, event.Leaf{}, opening); err != nil {
		return err
	}
	prev, pad := w.opened.Leaf(), ""
	for turn := int64(0); turn < perWriter; {
		body, err := event.SignedMove{GameID: id, TurnIndex: turn, Move: "e2e4", Commentary: pad}.Sign(key)
		if err != nil {
			return err
		}
		e, err := event.New(1735424400123+turn, stream, turn+1, prev, &event.MovePlayed{Turn: turn, Move: "e2e4", Signed: body})
		if err != nil {
			return err
		}
		if missing := eventSize - len(e.Raw()); missing != 0 {
			if pad, err = adjust(pad, missing); err != nil {
				return err
			}
			continue
		}
		w.moves = append(w.moves, move{e, body.Message(), body.Signature})
		prev = e.Leaf()
		turn++
	}
	return nil
}

// adjust makes a commentary longer or shorter, so that the event comes out at its size.
func adjust(pad string, missing int) (string, error) {
	if pad == "" {
		missing -= len(`"commentary":"",`)
	}
	n := len(pad) + missing
	if n < 1 {
		return "", fmt.Errorf("an event without commentary is longer than %d bytes", eventSize)
	}
	return strings.Repeat("x", n), nil
}

// An add appends an event and returns when it is durable.
type add func(context.Context, event.Event) error

// A system opens an empty log in a folder.
type system func(dir string) (add add, shut func() error, err error)

// rate returns how many moves per second the writers append to a fresh log, which holds the
// openings of their matches. If asked to, each checks the signature of a move first.
func rate(b *testing.B, open system, check bool) float64 {
	list, err := load()
	if err != nil {
		b.Fatal(err)
	}
	dir, err := os.MkdirTemp(b.TempDir(), "")
	if err != nil {
		b.Fatal(err)
	}
	defer os.RemoveAll(dir)
	add, shut, err := open(dir)
	if err != nil {
		b.Fatal(err)
	}
	ctx := context.Background()
	if err := each(list, func(w *writer) error { return add(ctx, w.opened) }); err != nil {
		b.Fatal(err)
	}
	runtime.GC()

	start := time.Now()
	err = each(list, func(w *writer) error {
		for i := range w.moves {
			m := &w.moves[i]
			if check && !w.verifier.Verify(m.message, m.signature) {
				return fmt.Errorf("move %d of %s: the signature is wrong", i, m.Stream)
			}
			if err := add(ctx, m.Event); err != nil {
				return err
			}
		}
		return nil
	})
	took := time.Since(start)
	if err := errors.Join(err, shut()); err != nil {
		b.Fatal(err)
	}
	return float64(writers*perWriter) / took.Seconds()
}

// each does a thing for all writers at the same time.
func each(list []writer, do func(*writer) error) error {
	errs := make([]error, len(list))
	var wg sync.WaitGroup
	for i := range list {
		wg.Go(func() { errs[i] = do(&list[i]) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// compare reports the median of the ratios of our rate to the rival's, and the promised one. Only
// our side checks signatures, if any does.
func compare(b *testing.B, rival system, check bool, promised float64) {
	for range b.N {
		ratios := make([]float64, pairs)
		for i := range ratios {
			us, them := rate(b, ours, check), rate(b, rival, false)
			ratios[i] = us / them
			b.Logf("ours %.0f/s, theirs %.0f/s, ratio %.2f", us, them, ratios[i])
		}
		slices.Sort(ratios)
		b.ReportMetric(ratios[pairs/2], "ratio")
		b.ReportMetric(promised, "min")
	}
}

// The promised ratios.
func BenchmarkFigureAppends(b *testing.B) {
	b.Run("checked_against_Tessera", func(b *testing.B) { compare(b, tesseraPOSIX, true, 1) })
	b.Run("unchecked_against_Tessera", func(b *testing.B) { compare(b, tesseraPOSIX, false, 3) })
	b.Run("checked_against_immudb", func(b *testing.B) { compare(b, immudb, true, 1.5) })
	b.Run("unchecked_against_immudb", func(b *testing.B) { compare(b, immudb, false, 4) })
}
