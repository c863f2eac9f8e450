package pebblelog

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"

	"ludger/ledger"
)

// Cells are ledger.Cells in a folder of their own.
type Cells struct {
	*store
	mu sync.Mutex // held by every call, so that none sees what is not synced yet
}

var _ ledger.Cells = (*Cells)(nil)

// OpenCells opens the cells in a folder, and makes both if they are not there.
func OpenCells(dir string, opts Options) (*Cells, error) {
	s, err := openStore(dir, opts)
	if err != nil {
		return nil, err
	}
	return &Cells{store: s}, nil
}

// Get returns a cell's value and revision. It fails once writing has stopped: a swap whose outcome
// is unclear must not be taken for durable. Closing the cells and opening them anew tells.
func (c *Cells) Get(ctx context.Context, key string) ([]byte, uint64, error) {
	if err := c.enter(ctx); err != nil {
		return nil, 0, err
	}
	defer c.life.RUnlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.fs.failure(); err != nil {
		return nil, 0, stopped(err)
	}
	return c.read(key)
}

func (c *Cells) read(key string) ([]byte, uint64, error) {
	v, ok, err := get(c.db, cellKey(key))
	if err != nil || !ok {
		return nil, 0, err
	}
	if len(v) < 8 {
		return nil, 0, fmt.Errorf("%w: cell %q has a record of %d bytes", ledger.ErrCorrupt, key, len(v))
	}
	return v[8:], binary.BigEndian.Uint64(v), nil
}

// Swap replaces the value if the revision is still the one given.
func (c *Cells) Swap(ctx context.Context, key string, revision uint64, value []byte) (uint64, error) {
	if err := c.enter(ctx); err != nil {
		return 0, err
	}
	defer c.life.RUnlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	_, got, err := c.read(key)
	if err != nil {
		return 0, err
	}
	if got != revision {
		return 0, &ledger.RevisionError{Key: key, Want: revision, Got: got}
	}
	b := c.db.NewBatch()
	defer b.Close()
	if err := b.Set(cellKey(key), append(binary.BigEndian.AppendUint64(nil, revision+1), value...), nil); err != nil {
		return 0, err
	}
	if err := c.write(b); err != nil {
		return 0, fmt.Errorf("swapping cell %q: %w", key, err)
	}
	// Pebble takes a damaged end of its write-ahead log for a write that a crash cut, and forgets it.
	// A cell must never go back unnoticed, so it leaves that log for a table with checksums.
	if err := c.db.Flush(); err != nil {
		c.fs.fail("flushing", err)
	}
	if err := c.fs.failure(); err != nil {
		return 0, fmt.Errorf("swapping cell %q: %w", key, stopped(err))
	}
	return revision + 1, nil
}

func cellKey(key string) []byte { return append([]byte{'c'}, key...) }

// Close waits for running calls and releases the folder.
func (c *Cells) Close() error { return c.close(func() {}) }
