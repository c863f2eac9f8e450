package pebblelog

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"ludger/checkpoint/tiles"
	"ludger/ledger"
	"ludger/ledger/logtest"
)

// A story is a small life of a log: two openings, commits, flushes and a compaction. It stops at the
// first error.
type story struct {
	heads     []ledger.Head // by number of commits, known beforehand
	attempted atomic.Int64  // commits begun
	confirmed atomic.Int64  // commits acknowledged
}

func newStory() *story {
	s := &story{heads: []ledger.Head{{Root: tiles.EmptyRoot()}}}
	for i := range 8 {
		_, next := logtest.Step(s.heads[i], 1+i%3)
		s.heads = append(s.heads, next)
	}
	return s
}

func (s *story) run(fs vfs.FS) error {
	for range 2 {
		if err := s.life(fs); err != nil {
			return err
		}
	}
	return nil
}

func (s *story) life(fs vfs.FS) (err error) {
	l, err := Open("log", Options{FS: fs})
	if err != nil {
		return err
	}
	defer func() {
		if e := l.Close(); err == nil {
			err = e
		}
	}()
	ctx := context.Background()
	epoch, head, err := l.Open(ctx, "test")
	if err != nil {
		return err
	}
	for i := range 4 {
		n := s.confirmed.Load()
		batch, next := logtest.Step(head, int(s.heads[n+1].Size-head.Size))
		s.attempted.Add(1)
		if err := l.Commit(ctx, epoch, head, batch, next); err != nil {
			return errors.Join(err, s.stopped(l, epoch, head))
		}
		s.confirmed.Add(1)
		head = next
		switch i { // errors in these come back from the next commit, if they matter
		case 1:
			_ = l.db.Flush()
		case 2:
			_ = l.db.Flush()
			// Pebble tries again for ever while reading fails.
			ctx, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
			_ = l.db.Compact(ctx, []byte{0}, []byte{0xff}, false)
			cancel()
		}
	}
	return nil
}

// stopped checks a log after a commit that failed: it takes no more writes, and readers still see
// what was confirmed before, and nothing of the rest. Its error is errWrong.
func (s *story) stopped(l *Log, epoch uint64, head ledger.Head) error {
	ctx := context.Background()
	batch, next := logtest.Step(head, 1)
	if err := l.Commit(ctx, epoch, head, batch, next); err == nil || errors.Is(err, ledger.ErrFenced) {
		return fmt.Errorf("%w: commit after a failed one: error %v", errWrong, err)
	}
	if _, _, err := l.Open(ctx, "test"); err == nil {
		return fmt.Errorf("%w: Open succeeded after a failed commit", errWrong)
	}
	if err := logtest.Check(ctx, l, head); err != nil && !errors.Is(err, errorfs.ErrInjected) && !errors.Is(err, syscall.EIO) {
		return fmt.Errorf("%w: reading after a failed commit: %w", errWrong, err)
	}
	return nil
}

var errWrong = errors.New("wrong")

// check opens what is left of a story on a good disk: every confirmed commit must be there, at most
// the attempted ones, none of them half, and the log must go on.
func (s *story) check(fs vfs.FS, confirmed, attempted int64) error {
	l, err := Open("log", Options{FS: fs})
	if err != nil {
		return fmt.Errorf("opening again: %w", err)
	}
	defer l.Close()
	ctx := context.Background()
	epoch, head, err := l.Open(ctx, "again")
	if err != nil {
		return fmt.Errorf("taking over again: %w", err)
	}
	n := int64(0)
	for n < int64(len(s.heads)) && s.heads[n] != head {
		n++
	}
	if n < confirmed || n > attempted {
		return fmt.Errorf("%d commits are there (size %d), confirmed were %d, attempted %d", n, head.Size, confirmed, attempted)
	}
	if err := logtest.Check(ctx, l, head); err != nil {
		return err
	}
	batch, next := logtest.Step(head, 2)
	if err := l.Commit(ctx, epoch, head, batch, next); err != nil {
		return fmt.Errorf("going on: %w", err)
	}
	return logtest.Check(ctx, l, next)
}

// A saboteur injects an error when its turn comes. It counts the operations that match.
type saboteur struct {
	match func(errorfs.Op) bool
	at    int64 // first operation that fails, from 0
	all   bool  // those after it too
	err   error
	count atomic.Int64
}

func (s *saboteur) MaybeError(op errorfs.Op) error {
	if !s.match(op) {
		return nil
	}
	if n := s.count.Add(1) - 1; n == s.at || s.all && n > s.at {
		return s.err
	}
	return nil
}

func (s *saboteur) String() string { return "saboteur" }

// TestErrorEverywhere lets operation k of the file system fail, for every k of the story.
func TestErrorEverywhere(t *testing.T) {
	every := func(errorfs.Op) bool { return true }
	writes := func(op errorfs.Op) bool {
		return op.Kind.ReadOrWrite() == errorfs.OpIsWrite && op.Kind != errorfs.OpFileClose && op.Kind != errorfs.OpLock
	}
	syncs := func(op errorfs.Op) bool {
		return op.Kind == errorfs.OpFileSync || op.Kind == errorfs.OpFileSyncData || op.Kind == errorfs.OpFileSyncTo
	}
	for _, test := range []struct {
		name  string
		match func(errorfs.Op) bool
		all   bool
		err   error
		says  string // every error of a commit
	}{
		{"once", every, false, errorfs.ErrInjected, ""},
		{"from then on", every, true, errorfs.ErrInjected, ""},
		{"disk full", writes, true, syscall.ENOSPC, "disk full"},
		{"sync", syncs, false, syscall.EIO, "sync failed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			failed := 0
			for k := int64(0); ; k++ {
				disk := vfs.NewMem()
				sab := &saboteur{match: test.match, at: k, all: test.all, err: test.err}
				s := newStory()
				err := s.run(errorfs.Wrap(disk, sab))
				switch {
				case errors.Is(err, errWrong):
					t.Fatalf("operation %d failed: %v", k, err)
				case err != nil:
					failed++
					if !errors.Is(err, test.err) || !strings.Contains(err.Error(), test.says) {
						t.Errorf("operation %d failed: error %q does not say %q and %q", k, err, test.says, test.err)
					}
				}
				if err := s.check(disk, s.confirmed.Load(), s.attempted.Load()); err != nil {
					t.Fatalf("after operation %d failed, and the story with %v: %v", k, s.runError(err), err)
				}
				if sab.count.Load() <= k { // the story has no operation k
					t.Logf("%d operations, %d of them failed the story", k, failed)
					if failed == 0 {
						t.Error("no error was noticed")
					}
					return
				}
			}
		})
	}
}

func (s *story) runError(err error) string {
	return fmt.Sprintf("%d of %d commits confirmed", s.confirmed.Load(), s.attempted.Load())
}

// TestCrashEverywhere takes the power away before every operation of the file system, with none,
// some and all of what was not synced kept.
func TestCrashEverywhere(t *testing.T) {
	type crash struct {
		what                 string
		disk                 *vfs.MemFS
		confirmed, attempted int64
	}
	var mu sync.Mutex
	var crashes []crash
	s := newStory()
	disk := vfs.NewCrashableMem()
	n := uint64(0)
	err := s.run(errorfs.Wrap(disk, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind.ReadOrWrite() == errorfs.OpIsRead {
			return nil // changes nothing
		}
		mu.Lock()
		defer mu.Unlock()
		for _, percent := range []int{0, 30, 70, 100} {
			c := crash{what: fmt.Sprintf("before operation %d (%d %s), %d%% kept", n, op.Kind, op.Path, percent)}
			c.confirmed = s.confirmed.Load()
			c.disk = disk.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: rand.New(rand.NewPCG(n, uint64(percent)))})
			c.attempted = s.attempted.Load()
			crashes = append(crashes, c)
		}
		n++
		return nil
	})))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range crashes {
		if err := s.check(c.disk, c.confirmed, c.attempted); err != nil {
			t.Fatalf("%s: %v", c.what, err)
		}
	}
	t.Logf("%d crashes at %d operations", len(crashes), n)
}
