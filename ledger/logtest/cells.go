package logtest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"ludger/ledger"
)

// Cells runs the suite for cells. open returns new ones; reopen closes them and opens their storage
// again, nil if nothing is kept.
func Cells(t *testing.T, open func(t *testing.T) ledger.Cells, reopen func(t *testing.T, c ledger.Cells) ledger.Cells) {
	get := func(t *testing.T, c ledger.Cells, key, want string, revision uint64) {
		t.Helper()
		v, r, err := c.Get(t.Context(), key)
		if string(v) != want || r != revision || err != nil {
			t.Fatalf("Get(%q) = %q, %d, %v, want %q, %d", key, v, r, err, want, revision)
		}
	}
	swap := func(t *testing.T, c ledger.Cells, key string, revision uint64, value string) uint64 {
		t.Helper()
		b := []byte(value)
		r, err := c.Swap(t.Context(), key, revision, b)
		if err != nil || r <= revision {
			t.Fatalf("Swap(%q, %d) = %d, %v", key, revision, r, err)
		}
		for i := range b {
			b[i] = 'X' // the cells must not keep it
		}
		get(t, c, key, value, r)
		return r
	}
	refused := func(t *testing.T, c ledger.Cells, key string, revision, actual uint64) {
		t.Helper()
		_, err := c.Swap(t.Context(), key, revision, []byte("never"))
		var e *ledger.RevisionError
		if !errors.As(err, &e) || *e != (ledger.RevisionError{Key: key, Want: revision, Got: actual}) {
			t.Fatalf("Swap(%q, %d) at %d: error %v", key, revision, actual, err)
		}
	}

	t.Run("Swap", func(t *testing.T) {
		c := open(t)
		defer c.Close()
		get(t, c, "a", "", 0)
		refused(t, c, "a", 1, 0)
		one := swap(t, c, "a", 0, "first")
		refused(t, c, "a", 0, one)
		refused(t, c, "a", one+1, one)
		two := swap(t, c, "a", one, "")
		refused(t, c, "a", one, two)
		get(t, c, "b", "", 0)
		swap(t, c, "b", 0, "other")
		swap(t, c, "", 0, "no name")
		get(t, c, "a", "", two)
		if v, _, err := c.Get(t.Context(), "b"); err != nil || len(v) == 0 {
			t.Fatal(err)
		} else {
			v[0] = 'X'
		}
		get(t, c, "b", "other", 1)
	})
	t.Run("Rivals", func(t *testing.T) {
		c := open(t)
		defer c.Close()
		var wg sync.WaitGroup
		const rivals, wins = 4, 15
		for i := range rivals {
			wg.Go(func() {
				for won := 0; won < wins; {
					v, r, err := c.Get(t.Context(), "n")
					if err != nil {
						t.Error(err)
						return
					}
					_, err = c.Swap(t.Context(), "n", r, fmt.Appendf(v, "%d", i))
					var e *ledger.RevisionError
					switch {
					case err == nil:
						won++
					case !errors.As(err, &e):
						t.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
		if v, _, err := c.Get(t.Context(), "n"); len(v) != rivals*wins || err != nil {
			t.Errorf("%d swaps succeeded, the cell saw %d (%v)", rivals*wins, len(v), err)
		}
	})
	t.Run("Close", func(t *testing.T) {
		c := open(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		calls := func(ctx context.Context, want error) {
			t.Helper()
			_, _, err := c.Get(ctx, "a")
			wantErr(t, "Get", err, want)
			_, err = c.Swap(ctx, "a", 0, nil)
			wantErr(t, "Swap", err, want)
		}
		calls(ctx, context.Canceled)
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		calls(t.Context(), ledger.ErrClosed)
		wantErr(t, "Close after Close", c.Close(), ledger.ErrClosed)
	})
	t.Run("Reopen", func(t *testing.T) {
		if reopen == nil {
			t.Skip("these cells keep nothing")
		}
		c := open(t)
		one := swap(t, c, "a", 0, "first")
		c = reopen(t, c)
		get(t, c, "a", "first", one)
		two := swap(t, c, "a", one, "second")
		c = reopen(t, c)
		defer c.Close()
		refused(t, c, "a", one, two)
		get(t, c, "a", "second", two)
	})
}
