// Package pebblelog keeps a ledger.Log, and ledger.Cells, each in a folder that holds one Pebble
// database.
//
//	log, err := pebblelog.Open("data/log", pebblelog.Options{})
//	…
//	defer log.Close()
//
// # Keys
//
// Of a log, integers big-endian:
//
//	'e' <index:8>     entry bytes
//	'h'               size of the log:8  root:32
//	'o'               epoch:8  owner's name
//	'x' <index key>   value; the index keys are drawn in package ledger
//
// Entries, index and 'h' change in one batch. Pebble shows a batch to readers before it is synced,
// so nothing is read but through a snapshot that is taken after the sync: readers trust the
// snapshot, never the presence of a key. The head says how many entries there are; a database where
// entry size−1 is missing or entry size is there is refused.
//
// Of cells:
//
//	'c' <name>        revision:8  value
//
// # Failures
//
// The first error of a write, a sync, or Pebble's work in the background stops the log: nothing
// reaches the disk any more, the running Commit and every later one, and Open, return that error.
// There is no retry, since after a failed sync nobody knows what the disk holds. Reading goes on.
// Closing the log and opening the folder again repairs it as after a crash.
//
// One process at a time can have a folder open; another gets ledger.ErrLocked.
package pebblelog

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"ludger/checkpoint/tiles"
	"ludger/ledger"
)

const (
	entryPrefix = 'e'
	indexPrefix = 'x'

	// maxScan bounds what one Scan returns, in bytes: it ends with the entry that passes it.
	maxScan = 16 << 20
)

var (
	headKey  = []byte{'h'}
	ownerKey = []byte{'o'}
)

// A Log is a ledger.Log in a folder.
type Log struct {
	*store

	write sync.Mutex // serializes Open and Commit, and guards what they change
	epoch uint64
	owner string

	mu   sync.Mutex // guards view and wake, and every view's refs
	view *view
	wake chan struct{}
}

var _ ledger.Log = (*Log)(nil)

// A view is what readers see: the state after one commit.
type view struct {
	head ledger.Head
	snap *pebble.Snapshot
	refs int // readers, and one for being the newest
}

// Open opens the log in a folder, and makes both if they are not there. How long that takes does
// not depend on the length of the log. The caller becomes its owner with the method Open.
func Open(dir string, opts Options) (*Log, error) {
	s, err := openStore(dir, opts)
	if err != nil {
		return nil, err
	}
	l := &Log{store: s, wake: make(chan struct{})}
	head, err := l.load()
	if err != nil {
		_ = s.close(func() {}) // nothing was written
		return nil, fmt.Errorf("opening %s: %w", dir, err)
	}
	l.view = &view{head: head, snap: s.db.NewSnapshot(), refs: 1}
	return l, nil
}

// load reads the head and the owner, and compares the head with the entries.
func (l *Log) load() (ledger.Head, error) {
	owner, ok, err := get(l.db, ownerKey)
	if err != nil {
		return ledger.Head{}, err
	}
	if ok {
		if len(owner) < 8 {
			return ledger.Head{}, fmt.Errorf("%w: owner record of %d bytes", ledger.ErrCorrupt, len(owner))
		}
		l.epoch, l.owner = binary.BigEndian.Uint64(owner), string(owner[8:])
	}
	head := ledger.Head{Root: tiles.EmptyRoot()}
	h, ok, err := get(l.db, headKey)
	if err != nil {
		return ledger.Head{}, err
	}
	if ok {
		if len(h) != 8+32 || h[0]&0x80 != 0 {
			return ledger.Head{}, fmt.Errorf("%w: head record %x", ledger.ErrCorrupt, h)
		}
		head = ledger.Head{Size: int64(binary.BigEndian.Uint64(h)), Root: [32]byte(h[8:])}
	}
	last := int64(-1)
	err = scan(l.db, []byte{entryPrefix}, []byte{entryPrefix + 1}, true, func(key, _ []byte) bool {
		if len(key) == 1+8 {
			last = int64(binary.BigEndian.Uint64(key[1:]))
		}
		return false
	})
	if err == nil && last != head.Size-1 {
		err = fmt.Errorf("%w: its head says %d entries, the last one there has index %d", ledger.ErrCorrupt, head.Size, last)
	}
	return head, err
}

// Open makes the caller the owner of the log.
func (l *Log) Open(ctx context.Context, owner string) (uint64, ledger.Head, error) {
	if err := l.enter(ctx); err != nil {
		return 0, ledger.Head{}, err
	}
	defer l.life.RUnlock()
	l.write.Lock()
	defer l.write.Unlock()
	b := l.db.NewBatch()
	defer b.Close()
	if err := b.Set(ownerKey, append(binary.BigEndian.AppendUint64(nil, l.epoch+1), owner...), nil); err != nil {
		return 0, ledger.Head{}, err
	}
	if err := l.store.write(b); err != nil {
		return 0, ledger.Head{}, fmt.Errorf("taking the log over: %w", err)
	}
	l.epoch, l.owner = l.epoch+1, owner
	v := l.acquire()
	defer l.release(v)
	return l.epoch, v.head, nil
}

// Commit adds a batch.
func (l *Log) Commit(ctx context.Context, epoch uint64, base ledger.Head, batch ledger.Batch, next ledger.Head) error {
	if err := l.enter(ctx); err != nil {
		return err
	}
	defer l.life.RUnlock()
	l.write.Lock()
	defer l.write.Unlock()
	v := l.acquire()
	head := v.head
	l.release(v)
	if epoch != l.epoch || base != head {
		return fmt.Errorf("%w: epoch %d at size %d, now epoch %d of %q at size %d", ledger.ErrFenced, epoch, base.Size, l.epoch, l.owner, head.Size)
	}
	if next.Size != base.Size+int64(len(batch.Entries)) {
		return fmt.Errorf("head of size %d does not follow size %d with %d entries", next.Size, base.Size, len(batch.Entries))
	}
	b := l.db.NewBatchWithSize(batchSize(batch))
	defer b.Close()
	if err := fill(b, batch, base, next); err != nil {
		return err
	}
	if err := l.store.write(b); err != nil {
		return fmt.Errorf("committing entries %d to %d: %w", base.Size, next.Size, err)
	}
	l.publish(next)
	return nil
}

func batchSize(batch ledger.Batch) int {
	const record = 1 + 2*5 // kind, lengths
	n := 64 + 1 + 8 + 32
	for _, e := range batch.Entries {
		n += record + 1 + 8 + len(e)
	}
	for _, kv := range batch.Index {
		n += record + 1 + len(kv.Key) + len(kv.Value)
	}
	return n
}

func fill(b *pebble.Batch, batch ledger.Batch, base, next ledger.Head) error {
	for i, e := range batch.Entries {
		op := b.SetDeferred(1+8, len(e))
		op.Key[0] = entryPrefix
		binary.BigEndian.PutUint64(op.Key[1:], uint64(base.Size)+uint64(i))
		copy(op.Value, e)
		if err := op.Finish(); err != nil {
			return err
		}
	}
	for _, kv := range batch.Index {
		op := b.SetDeferred(1+len(kv.Key), len(kv.Value))
		op.Key[0] = indexPrefix
		copy(op.Key[1:], kv.Key)
		copy(op.Value, kv.Value)
		if err := op.Finish(); err != nil {
			return err
		}
	}
	op := b.SetDeferred(1, 8+32)
	copy(op.Key, headKey)
	binary.BigEndian.PutUint64(op.Value, uint64(next.Size))
	copy(op.Value[8:], next.Root[:])
	return op.Finish()
}

// publish lets readers see the state after a commit. No write is running.
func (l *Log) publish(head ledger.Head) {
	v := &view{head: head, snap: l.db.NewSnapshot(), refs: 1}
	l.mu.Lock()
	old, wake := l.view, l.wake
	l.view, l.wake = v, make(chan struct{})
	l.mu.Unlock()
	close(wake)
	l.release(old)
}

func (l *Log) acquire() *view {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.view.refs++
	return l.view
}

func (l *Log) release(v *view) {
	l.mu.Lock()
	v.refs--
	last := v.refs == 0
	l.mu.Unlock()
	if last {
		_ = v.snap.Close() // never fails
	}
}

// Head returns the head of the last durable commit.
func (l *Log) Head(ctx context.Context) (ledger.Head, error) {
	if err := l.enter(ctx); err != nil {
		return ledger.Head{}, err
	}
	defer l.life.RUnlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.view.head, nil
}

// Scan returns up to max entries from index first on, and some 16 MiB at most.
func (l *Log) Scan(ctx context.Context, first int64, max int) ([][]byte, error) {
	if err := l.enter(ctx); err != nil {
		return nil, err
	}
	defer l.life.RUnlock()
	v := l.acquire()
	defer l.release(v)
	if first < 0 || first > v.head.Size || max < 1 {
		return nil, fmt.Errorf("%d entries from %d on: %w: its size is %d", max, first, ledger.ErrRange, v.head.Size)
	}
	count := min(v.head.Size-first, int64(max))
	if count == 0 {
		return nil, nil
	}
	if count == 1 { // an iterator costs more than it reads
		e, ok, err := get(v.snap, entryKey(first))
		if err == nil && !ok {
			err = fmt.Errorf("%w: entry %d of %d is missing", ledger.ErrCorrupt, first, v.head.Size)
		}
		if err != nil {
			return nil, err
		}
		return [][]byte{e}, nil
	}
	entries := make([][]byte, 0, min(count, 4096))
	bytes, gap, full := 0, false, false
	err := scan(v.snap, entryKey(first), entryKey(first+count), false, func(key, value []byte) bool {
		if gap = binary.BigEndian.Uint64(key[1:]) != uint64(first)+uint64(len(entries)); gap {
			return false
		}
		entries = append(entries, append(make([]byte, 0, len(value)), value...))
		bytes += len(value)
		full = bytes >= maxScan
		return !full
	})
	if err != nil {
		return nil, fmt.Errorf("reading entry %d: %w", first+int64(len(entries)), err)
	}
	if gap || !full && int64(len(entries)) < count {
		return nil, fmt.Errorf("%w: entry %d of %d is missing", ledger.ErrCorrupt, first+int64(len(entries)), v.head.Size)
	}
	return entries, nil
}

func entryKey(index int64) []byte {
	return binary.BigEndian.AppendUint64([]byte{entryPrefix}, uint64(index))
}

// Get returns the value of an index key.
func (l *Log) Get(ctx context.Context, key []byte) ([]byte, bool, error) {
	if err := l.enter(ctx); err != nil {
		return nil, false, err
	}
	defer l.life.RUnlock()
	v := l.acquire()
	defer l.release(v)
	return get(v.snap, indexKey(key))
}

// Range returns up to max index pairs of lo <= key < hi.
func (l *Log) Range(ctx context.Context, lo, hi []byte, max int, reverse bool) ([]ledger.KV, error) {
	if err := l.enter(ctx); err != nil {
		return nil, err
	}
	defer l.life.RUnlock()
	if max < 1 {
		return nil, nil
	}
	v := l.acquire()
	defer l.release(v)
	var list []ledger.KV
	err := scan(v.snap, indexKey(lo), indexKey(hi), reverse, func(key, value []byte) bool {
		list = append(list, ledger.KV{Key: bytes.Clone(key[1:]), Value: append([]byte{}, value...)})
		return len(list) < max
	})
	return list, err
}

func indexKey(key []byte) []byte {
	return append(append(make([]byte, 0, 1+len(key)), indexPrefix), key...)
}

// Wake returns a channel that is closed after the next commit.
func (l *Log) Wake() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.wake
}

// Close waits for running calls and releases the folder. Its error is the one that stopped the log,
// if any: what was committed is durable all the same.
func (l *Log) Close() error {
	return l.close(func() {
		_ = l.view.snap.Close() // never fails; no reader is left
		close(l.wake)
	})
}
