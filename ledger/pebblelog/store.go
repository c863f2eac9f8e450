package pebblelog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"

	"ludger/ledger"
)

// Options say how a folder is opened. The zero Options are good.
type Options struct {
	// FS is the file system; nil is that of the machine.
	FS vfs.FS
	// Logger gets what Pebble has to tell, at level debug, and what went wrong, at level error; nil
	// is silence.
	Logger *slog.Logger
}

// A store is an open Pebble database that stops at the first error of its disk.
type store struct {
	db   *pebble.DB
	fs   *failstop
	lock *pebble.Lock

	life   sync.RWMutex // held for reading by every call, for writing by close
	closed bool         // guarded by life
}

func openStore(dir string, opts Options) (*store, error) {
	if opts.FS == nil {
		opts.FS = vfs.Default
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	s := &store{fs: newFailstop(opts.FS)}
	if err := s.open(dir, opts.Logger); err != nil {
		if failure := s.fs.failure(); failure != nil {
			err = failure
		}
		s.fs.fail("opening", err) // nothing that Pebble may have left running reaches the disk
		if s.db != nil {
			_ = s.db.Close() // the disk has stopped: there is nothing more to lose
		}
		if s.lock != nil {
			_ = s.lock.Close()
		}
		return nil, fmt.Errorf("opening %s: %w", dir, corrupt(err))
	}
	return s, nil
}

func (s *store) open(dir string, logger *slog.Logger) (err error) {
	if err := s.fs.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if s.lock, err = pebble.LockDirectory(dir, s.fs); err != nil {
		if isLocked(err) {
			return fmt.Errorf("%w: end that process first, or take another folder (%w)", ledger.ErrLocked, err)
		}
		return err
	}
	if s.db, err = pebble.Open(dir, s.options(logger)); err != nil {
		return err
	}
	return s.fs.failure()
}

// isLocked tells a lock that is held from a lock file that cannot be made: the latter's error names
// the file.
func isLocked(err error) bool {
	var path *os.PathError
	var errno syscall.Errno
	switch {
	case errors.As(err, &path):
		return false
	case errors.As(err, &errno):
		return errno == syscall.EAGAIN || errno == syscall.EACCES
	}
	return true // held by this very process
}

// options are chosen for two cores and a log of ten million entries. Nine tenths of the bytes are
// entries with ascending keys: tables of entries never overlap, so compactions move them down
// without rewriting as long as tables are cut small enough to hold only entries. Index keys are
// small and spread; they are what compactions work on.
func (s *store) options(logger *slog.Logger) *pebble.Options {
	o := &pebble.Options{
		FS:                 s.fs,
		Lock:               s.lock,
		FormatMajorVersion: pebble.FormatValueSeparation, // the newest of v2.1.7
		Logger:             pebbleLogger{logger, s.fs},

		CacheSize:                   64 << 20,
		MemTableSize:                32 << 20,
		MemTableStopWritesThreshold: 4,
		L0CompactionThreshold:       8,  // each flush adds a level of index keys; filters keep them cheap to read
		L0StopWritesThreshold:       64, // rather slower reads for a while than a stalled writer
		LBaseMaxBytes:               256 << 20,
		MaxOpenFiles:                1000,
		CompactionConcurrencyRange:  func() (int, int) { return 1, 2 },
	}
	o.TargetFileSizes[0] = 4 << 20
	// What is flushed is soon compacted: to compress it would only take time from the writers.
	o.Levels[0].Compression = func() *sstable.CompressionProfile { return sstable.NoCompression }
	o.Levels[1].Compression = func() *sstable.CompressionProfile { return sstable.SnappyCompression }
	for i := range o.Levels {
		o.Levels[i].BlockSize = 16 << 10                  // a block holds some 25 entries, or 700 places of streams
		o.Levels[i].FilterPolicy = bloom.FilterPolicy(10) // most looked-up ids and streams are new
	}
	// Pebble's default scheduler has a goroutine that survives a failed Open and may start compactions
	// even then. This one decides when a compaction is asked for and when one ends.
	o.Experimental.CompactionScheduler = pebble.NewConcurrencyLimitSchedulerWithNoPeriodicGrantingForTest()
	listener := pebble.EventListener{
		BackgroundError: func(err error) { s.fs.fail("writing in the background", err) },
		DataCorruption:  func(info pebble.DataCorruptionInfo) { s.fs.fail("reading a damaged file", info.Details) },
	}
	listener.EnsureDefaults(nil)
	o.EventListener = &listener
	return o
}

// enter begins a call; the caller must leave with s.life.RUnlock unless there is an error.
func (s *store) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.life.RLock()
	if s.closed {
		s.life.RUnlock()
		return ledger.ErrClosed
	}
	return nil
}

// write makes a batch durable. After an error it is unclear whether it is, and the store takes no
// more batches.
func (s *store) write(b *pebble.Batch) error {
	if err := s.fs.failure(); err != nil {
		return stopped(err)
	}
	if err := b.Commit(pebble.Sync); err != nil {
		s.fs.fail("committing", err)
	}
	// Pebble may believe in a success that the disk did not have.
	if err := s.fs.failure(); err != nil {
		return stopped(err)
	}
	return nil
}

func stopped(err error) error {
	return fmt.Errorf("writing stopped, close and open anew: %w", err)
}

// close waits for running calls; before runs once they are done.
func (s *store) close(before func()) error {
	s.life.Lock()
	defer s.life.Unlock()
	if s.closed {
		return ledger.ErrClosed
	}
	s.closed = true
	before()
	err := s.db.Close()
	if failure := s.fs.failure(); failure != nil {
		err = failure
	}
	if lockErr := s.lock.Close(); err == nil {
		err = lockErr
	}
	return err
}

// get returns a copy of a value.
func get(r pebble.Reader, key []byte) ([]byte, bool, error) {
	v, closer, err := r.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, corrupt(err)
	}
	v = append(make([]byte, 0, len(v)), v...)
	return v, true, closer.Close()
}

// scan calls take with the pairs of lo <= key < hi until it returns false. The slices are lent.
func scan(r pebble.Reader, lo, hi []byte, reverse bool, take func(key, value []byte) bool) (err error) {
	if bytes.Compare(lo, hi) >= 0 {
		return nil
	}
	it, err := r.NewIter(&pebble.IterOptions{LowerBound: lo, UpperBound: hi})
	if err != nil {
		return corrupt(err)
	}
	defer func() {
		if e := it.Close(); err == nil {
			err = corrupt(e)
		}
	}()
	first, next := it.First, it.Next
	if reverse {
		first, next = it.Last, it.Prev
	}
	for ok := first(); ok; ok = next() {
		v, err := it.ValueAndErr()
		if err != nil {
			return corrupt(err)
		}
		if !take(it.Key(), v) {
			break
		}
	}
	return nil
}

// corrupt marks what Pebble calls corruption.
func corrupt(err error) error {
	if err != nil && pebble.IsCorruptionError(err) && !errors.Is(err, ledger.ErrCorrupt) {
		return fmt.Errorf("%w: %w", ledger.ErrCorrupt, err)
	}
	return err
}

// A pebbleLogger passes Pebble's messages on, and stops the disk where Pebble would end the process.
type pebbleLogger struct {
	*slog.Logger
	fs *failstop
}

func (l pebbleLogger) Infof(format string, args ...any) {
	if l.Enabled(context.Background(), slog.LevelDebug) {
		l.Debug(fmt.Sprintf(format, args...))
	}
}

func (l pebbleLogger) Errorf(format string, args ...any) { l.Error(fmt.Sprintf(format, args...)) }

func (l pebbleLogger) Fatalf(format string, args ...any) {
	l.Errorf(format, args...)
	l.fs.fail("pebble gave up", fmt.Errorf(format, args...))
}
