package ledger

import (
	"context"
	"fmt"

	"ludger/checkpoint/tiles"
	"ludger/ledger/event"
)

// Hashes reads the tree hashes of a log. It believes the index: fsck compares that with the entries.
type Hashes struct {
	Log Log
}

// Leaves returns the leaf hashes of count entries from first on. Those of full tiles come from the
// index, the rest from the entries.
func (h Hashes) Leaves(ctx context.Context, first, count int64) ([][32]byte, error) {
	head, err := h.Log.Head(ctx)
	if err != nil {
		return nil, err
	}
	if first < 0 || count < 0 || first > head.Size || count > head.Size-first {
		return nil, fmt.Errorf("leaf hashes %d to %d: %w: its size is %d", first, first+count, ErrRange, head.Size)
	}
	full := head.Size &^ (tiles.Width - 1)
	leaves := make([][32]byte, 0, count)
	for end := first + count; first < end; {
		if first >= full {
			entries, err := readRun(ctx, h.Log, first, int(end-first))
			if err != nil {
				return nil, err
			}
			for _, e := range entries {
				leaves = append(leaves, event.LeafHash(e))
			}
			break
		}
		n := first / tiles.Width
		tile, ok, err := h.Log.Get(ctx, AppendHashKey(nil, 0, n))
		if err != nil {
			return nil, err
		}
		if !ok || len(tile) != tiles.Width*32 {
			return nil, fmt.Errorf("%w: the leaf hashes of tile %d are missing", ErrCorrupt, n)
		}
		for stop := min(end, (n+1)*tiles.Width); first < stop; first++ {
			leaves = append(leaves, [32]byte(tile[first%tiles.Width*32:]))
		}
	}
	return leaves, nil
}

// Row returns count tree hashes of a level from n on: roots of full subtrees of 256^level leaves,
// and leaf hashes at level 0.
func (h Hashes) Row(ctx context.Context, level int, n, count int64) ([][32]byte, error) {
	if level == 0 {
		return h.Leaves(ctx, n, count)
	}
	if level < 0 || level >= 64/tiles.Height || n < 0 || count < 0 || n+count < n {
		return nil, fmt.Errorf("tree hashes %d to %d of level %d: %w", n, n+count, level, ErrRange)
	}
	kvs, err := h.Log.Range(ctx, AppendHashKey(nil, level, n), AppendHashKey(nil, level, n+count), int(count), false)
	if err != nil {
		return nil, err
	}
	if int64(len(kvs)) != count {
		head, err := h.Log.Head(ctx)
		if err != nil {
			return nil, err
		}
		if n+count > head.Size>>(tiles.Height*level) {
			return nil, fmt.Errorf("tree hashes %d to %d of level %d: %w: its size is %d", n, n+count, level, ErrRange, head.Size)
		}
		return nil, fmt.Errorf("%w: of the tree hashes %d to %d of level %d only %d are there", ErrCorrupt, n, n+count, level, len(kvs))
	}
	row := make([][32]byte, count)
	for i, kv := range kvs { // distinct keys in order and as many as numbers: none is missing
		if len(kv.Value) != 32 {
			return nil, fmt.Errorf("%w: tree hash %d of level %d has %d bytes", ErrCorrupt, n+int64(i), level, len(kv.Value))
		}
		row[i] = [32]byte(kv.Value)
	}
	return row, nil
}

// Subtree returns the root of the full subtree number n of 2^height leaves, for any height: what a
// proof is made of. It reads at most one tile.
func (h Hashes) Subtree(ctx context.Context, height int, n int64) ([32]byte, error) {
	if height < 0 || height > 62 || n < 0 || n >= 1<<(62-height) {
		return [32]byte{}, fmt.Errorf("subtree %d of height %d: %w", n, height, ErrRange)
	}
	level, up := height/tiles.Height, height%tiles.Height
	row, err := h.Row(ctx, level, n<<up, 1<<up)
	if err != nil {
		return [32]byte{}, err
	}
	for ; len(row) > 1; row = row[:len(row)/2] {
		for i := range len(row) / 2 {
			row[i] = tiles.NodeHash(row[2*i], row[2*i+1])
		}
	}
	return row[0], nil
}

// Reader returns Subtree as a function, the form that the makers of proofs take.
func (h Hashes) Reader(ctx context.Context) func(height int, n int64) ([32]byte, error) {
	return func(height int, n int64) ([32]byte, error) { return h.Subtree(ctx, height, n) }
}
