package memlog

import (
	"bytes"
	"context"
	"sync"

	"ludger/ledger"
)

// Cells are ledger.Cells in memory.
type Cells struct {
	mu     sync.Mutex // guards everything below
	closed bool
	cells  map[string]cell
}

type cell struct {
	value    []byte
	revision uint64
}

var _ ledger.Cells = (*Cells)(nil)

// NewCells returns cells that were never written.
func NewCells() *Cells { return &Cells{cells: map[string]cell{}} }

// Get returns a cell's value and revision.
func (c *Cells) Get(ctx context.Context, key string) ([]byte, uint64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.usable(ctx); err != nil {
		return nil, 0, err
	}
	cell := c.cells[key]
	return bytes.Clone(cell.value), cell.revision, nil
}

// Swap replaces the value if the revision is still the one given.
func (c *Cells) Swap(ctx context.Context, key string, revision uint64, value []byte) (uint64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.usable(ctx); err != nil {
		return 0, err
	}
	if got := c.cells[key].revision; got != revision {
		return 0, &ledger.RevisionError{Key: key, Want: revision, Got: got}
	}
	c.cells[key] = cell{bytes.Clone(value), revision + 1}
	return revision + 1, nil
}

// Close releases the cells.
func (c *Cells) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return ledger.ErrClosed
	}
	c.closed, c.cells = true, nil
	return nil
}

func (c *Cells) usable(ctx context.Context) error {
	if c.closed {
		return ledger.ErrClosed
	}
	return ctx.Err()
}
