// Package ledger says what an event log promises: the nouns, the contracts of its storage, and
// their errors. It stores nothing itself.
//
// A log is one growing list of entries, each the canonical bytes of an event, with an RFC 6962
// Merkle tree over them. Log is what a storage engine must do (memlog in memory, pebblelog on
// disk); package sequencer is the one committer above it; Cells holds the few values that are
// compared before they are replaced, such as the signed head. logtest is the suite that every
// engine passes.
//
// # Index
//
// Beside the entries a log keeps an ordered map of small keys and values, the index. The sequencer
// writes it in the same atomic batch as the entries, and it says nothing that could not be computed
// from them again, the idempotency ids apart. Its keys, all integers big-endian:
//
//	'e' <stream:32>         first index of the stream:8         stream is SHA-256 of its name
//	'i' <id:32>             first index:8 count:4 digest:32     id is SHA-256 of the idempotency id
//	's' <first:8> <seq:8>   index:8                             event seq of the stream that begins at first
//	't' <level:1> <n:8>     hash:32                             level 1 and up: root of the full subtree
//	                                                            number n of 256^level leaves
//	't' 0 <n:8>             256 leaf hashes                     of the full tile number n
//
// The events of a stream are keyed by the index of the first, not by the stream's name, so that
// matches that run at the same time are written to neighbouring keys. See the functions that build
// and read these keys.
package ledger

import (
	"context"
	"errors"
	"fmt"

	"ludger/ledger/event"
)

// A Head is the size of a log and the RFC 6962 root hash over its entries. That of a new log is size
// 0 and tiles.EmptyRoot.
type Head struct {
	Size int64
	Root [32]byte
}

// A KV is one key and value of the index.
type KV struct {
	Key, Value []byte
}

// A Batch is what one Commit adds.
type Batch struct {
	Entries [][]byte // in order, from the base's size on
	Index   []KV     // any order; a key already present gets the new value
}

// A Log is a storage engine for one log. Its methods are safe for concurrent use.
//
// A Log never interprets entries. It does not check that next's root fits them: the sequencer
// computes it, and fsck and every auditor recompute it.
type Log interface {
	// Open makes the caller the owner of the log. It returns a new epoch, larger than every one
	// before, durably recorded, and the head as the last Commit that took effect left it. Every
	// older epoch is fenced from then on. owner is a name for error messages and logs.
	//
	// Open refuses, with ErrCorrupt, a log whose entries end before or beyond its head's size.
	// It takes no longer for a long log.
	Open(ctx context.Context, owner string) (epoch uint64, head Head, err error)

	// Commit adds a batch: all of it or nothing. It returns nil only when the batch is durable,
	// and no reader sees any of it before. next.Size must be base.Size + len(batch.Entries).
	//
	// ErrFenced means that the epoch or the head moved, and that nothing was written. Any other
	// error is unclear: the batch may or may not be there after a restart. There is no retry: the
	// engine refuses further commits, and Open tells the head that stands. If the storage itself
	// failed, Open fails too until the log has been closed and opened anew.
	//
	// ctx bounds only the wait for other callers; a commit that has begun to write is finished.
	// The engine does not keep the batch.
	Commit(ctx context.Context, epoch uint64, base Head, batch Batch, next Head) error

	// Head returns the head of the last durable commit.
	Head(ctx context.Context) (Head, error)

	// Scan returns up to max entries, 1 or more, from index first on, contiguous, and never one at
	// or beyond the head's size. It may return fewer than asked for, but none only when first is
	// the size; a first below 0 or beyond the size is ErrRange, and a missing entry ErrCorrupt,
	// never a shorter answer. The caller owns the entries.
	Scan(ctx context.Context, first int64, max int) ([][]byte, error)

	// Get returns the value of an index key; ok is false when there is none. The caller owns it.
	Get(ctx context.Context, key []byte) (value []byte, ok bool, err error)

	// Range returns the first max index pairs with lo <= key < hi in ascending order, or the last
	// max in descending order if reverse. The caller owns them.
	Range(ctx context.Context, lo, hi []byte, max int, reverse bool) ([]KV, error)

	// Wake returns a channel that is closed after the next commit, and by Close: a hint to look
	// again. A waiter takes the channel first, then looks, then waits.
	Wake() <-chan struct{}

	// Close waits for running calls and releases the log; every later call is ErrClosed.
	Close() error
}

// Cells are registers that change only by compare-and-swap. They hold what must survive the log's
// own folder, so a restored copy of that folder is noticed. Methods are safe for concurrent use.
type Cells interface {
	// Get returns a cell's value and revision; of a cell never written nil and 0.
	Get(ctx context.Context, key string) (value []byte, revision uint64, err error)
	// Swap replaces the value if the revision is still the one given, durably, and returns the new
	// one. *RevisionError tells the actual revision, and that nothing was written. Any other error
	// is unclear: Get again and look.
	Swap(ctx context.Context, key string, revision uint64, value []byte) (uint64, error)
	Close() error
}

// Errors of logs and cells, for errors.Is.
var (
	ErrClosed  = errors.New("the log is closed")
	ErrFenced  = errors.New("another owner took over the log, or its head moved")
	ErrCorrupt = errors.New("the log contradicts itself")
	ErrLocked  = errors.New("another process has the log open")
	ErrRange   = errors.New("the log has no such index")
)

// A RevisionError says that a cell changed since it was read.
type RevisionError struct {
	Key       string
	Want, Got uint64
}

func (e *RevisionError) Error() string {
	return fmt.Sprintf("cell %q has revision %d, not %d", e.Key, e.Got, e.Want)
}

// A Receipt tells where an event stands in the log. Index and Leaf never change afterwards.
type Receipt struct {
	Index int64 // in the log, from 0
	Leaf  event.Leaf
}

// A ConflictError says that a stream is not as long as an append expected, or that its newest event
// is not the one the append names. Nothing was written.
type ConflictError struct {
	Stream     event.Stream
	Expected   int64      // length the append expected
	Actual     int64      // length the stream has
	ActualLeaf event.Leaf // leaf hash of its newest event; zero if it is empty
}

func (e *ConflictError) Error() string {
	if e.Actual == e.Expected {
		return fmt.Sprintf("stream %s has %d events as expected, but its newest is %s", e.Stream, e.Actual, e.ActualLeaf)
	}
	return fmt.Sprintf("stream %s has %d events, not %d", e.Stream, e.Actual, e.Expected)
}

// ErrReused says that an idempotency id was used before for a different request.
var ErrReused = errors.New("the idempotency id was used for another request")
