// Package memlog keeps a ledger.Log and ledger.Cells in memory, for tests and for ledgers that need
// not outlive their process.
//
//	log := memlog.New()
//	defer log.Close()
//
// Nothing is durable: Commit returns when the batch is in memory. What a log holds is lost when it
// is closed.
package memlog

import (
	"bytes"
	"context"
	"fmt"
	"sync"

	"ludger/checkpoint/tiles"
	"ludger/ledger"
)

// A Log is a ledger.Log in memory.
type Log struct {
	mu      sync.RWMutex // guards everything below
	closed  bool
	epoch   uint64
	owner   string
	head    ledger.Head
	entries [][]byte
	index   table
	wake    chan struct{}
}

var _ ledger.Log = (*Log)(nil)

// New returns an empty log.
func New() *Log {
	return &Log{head: ledger.Head{Root: tiles.EmptyRoot()}, wake: make(chan struct{})}
}

// Open makes the caller the owner of the log.
func (l *Log) Open(ctx context.Context, owner string) (uint64, ledger.Head, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.usable(ctx); err != nil {
		return 0, ledger.Head{}, err
	}
	l.epoch++
	l.owner = owner
	return l.epoch, l.head, nil
}

// Commit adds a batch.
func (l *Log) Commit(ctx context.Context, epoch uint64, base ledger.Head, batch ledger.Batch, next ledger.Head) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.usable(ctx); err != nil {
		return err
	}
	if epoch != l.epoch || base != l.head {
		return fmt.Errorf("%w: epoch %d at size %d, now epoch %d of %q at size %d", ledger.ErrFenced, epoch, base.Size, l.epoch, l.owner, l.head.Size)
	}
	if next.Size != base.Size+int64(len(batch.Entries)) {
		return fmt.Errorf("head of size %d does not follow size %d with %d entries", next.Size, base.Size, len(batch.Entries))
	}
	for _, e := range batch.Entries {
		l.entries = append(l.entries, bytes.Clone(e))
	}
	for _, kv := range batch.Index {
		l.index.set(string(kv.Key), bytes.Clone(kv.Value))
	}
	l.head = next
	close(l.wake)
	l.wake = make(chan struct{})
	return nil
}

// Head returns the head of the last commit.
func (l *Log) Head(ctx context.Context) (ledger.Head, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.head, l.usable(ctx)
}

// Scan returns up to max entries from index first on.
func (l *Log) Scan(ctx context.Context, first int64, max int) ([][]byte, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if err := l.usable(ctx); err != nil {
		return nil, err
	}
	if first < 0 || first > l.head.Size || max < 1 {
		return nil, fmt.Errorf("%d entries from %d on: %w: its size is %d", max, first, ledger.ErrRange, l.head.Size)
	}
	n := min(l.head.Size-first, int64(max))
	entries := make([][]byte, n)
	for i := range entries {
		entries[i] = bytes.Clone(l.entries[first+int64(i)])
	}
	return entries, nil
}

// Get returns the value of an index key.
func (l *Log) Get(ctx context.Context, key []byte) ([]byte, bool, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if err := l.usable(ctx); err != nil {
		return nil, false, err
	}
	v, ok := l.index.get(string(key))
	return bytes.Clone(v), ok, nil
}

// Range returns up to max index pairs of lo <= key < hi.
func (l *Log) Range(ctx context.Context, lo, hi []byte, max int, reverse bool) ([]ledger.KV, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if err := l.usable(ctx); err != nil {
		return nil, err
	}
	return l.index.scan(string(lo), string(hi), max, reverse), nil
}

// Wake returns a channel that is closed after the next commit.
func (l *Log) Wake() <-chan struct{} {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.wake
}

// Close releases the log.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return ledger.ErrClosed
	}
	l.closed, l.entries, l.index = true, nil, table{}
	close(l.wake) // who waits looks again, and sees ErrClosed
	return nil
}

func (l *Log) usable(ctx context.Context) error {
	if l.closed {
		return ledger.ErrClosed
	}
	return ctx.Err()
}
