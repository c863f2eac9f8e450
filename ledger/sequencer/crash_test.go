package sequencer_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"ludger/ledger"
	"ludger/ledger/event"
	"ludger/ledger/pebblelog"
	"ludger/ledger/sequencer"
)

// TestCrash lets eight writers append to a log on disk, and takes copies of the disk as a power
// failure would leave it: in each, every append that was acknowledged before is there once and the
// log fits together.
func TestCrash(t *testing.T) {
	const writers, clones, between = 8, 10, 120
	fs := vfs.NewCrashableMem()
	log, err := pebblelog.Open("log", pebblelog.Options{FS: fs})
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, log)

	var mu sync.Mutex // guards acknowledged
	var acknowledged []ledger.Receipt
	var stop atomic.Bool
	more := make(chan struct{}, 1<<16)
	errs := make([]error, writers)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(w), 1))
			for n := 0; !stop.Load(); n++ {
				a := sequencer.Append{Events: newChain(fmt.Sprintf("w%d-%06d", w, n)).next(1 + rng.IntN(6))}
				if rng.IntN(2) == 0 {
					a.ID = fmt.Sprint(w, n)
				}
				got, err := s.Append(t.Context(), a)
				if err != nil {
					errs[w] = err
					more <- struct{}{}
					return
				}
				mu.Lock()
				acknowledged = append(acknowledged, got...)
				mu.Unlock()
				select {
				case more <- struct{}{}:
				default:
				}
			}
		})
	}
	type crash struct {
		disk  vfs.FS
		known []ledger.Receipt // before the crash
	}
	var crashes []crash
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range clones {
		for range between/2 + rng.IntN(between) {
			<-more
		}
		mu.Lock()
		known := acknowledged
		mu.Unlock()
		disk := fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: []int{0, 30, 100}[i%3], RNG: rng})
		crashes = append(crashes, crash{disk, known})
	}
	stop.Store(true)
	wg.Wait()
	if err := errors.Join(append(errs, s.Close(), log.Close())...); err != nil {
		t.Fatal(err)
	}
	for i, c := range crashes {
		if err := survived(t, c.disk, c.known); err != nil {
			t.Errorf("crash %d, after %d acknowledged events: %v", i, len(c.known), err)
		}
	}
}

func survived(t *testing.T, fs vfs.FS, known []ledger.Receipt) (err error) {
	log, err := pebblelog.Open("log", pebblelog.Options{FS: fs})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	s, err := sequencer.Open(t.Context(), log, sequencer.Config{Owner: "after"})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := sequencer.Check(t.Context(), log); err != nil {
		return err
	}
	head, err := log.Head(t.Context())
	if err != nil {
		return err
	}
	at := map[event.Leaf]int64{}
	for int64(len(at)) < head.Size {
		entries, err := log.Scan(t.Context(), int64(len(at)), 1<<20)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if first, ok := at[event.LeafHash(e)]; ok {
				return fmt.Errorf("entry %d is there again at %d: %s", first, len(at), bytes.Clone(e))
			}
			at[event.LeafHash(e)] = int64(len(at))
		}
	}
	for _, r := range known {
		if index, ok := at[r.Leaf]; !ok || index != r.Index {
			return fmt.Errorf("the event acknowledged at %d is at %d, %v", r.Index, index, ok)
		}
	}
	more := newChain("after").next(1)
	got, err := s.Append(t.Context(), sequencer.Append{Events: more})
	if err == nil && got[0].Index != head.Size {
		err = fmt.Errorf("the next event got index %d, want %d", got[0].Index, head.Size)
	}
	return err
}
