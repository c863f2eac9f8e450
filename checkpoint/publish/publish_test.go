package publish_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"ludger/checkpoint"
	"ludger/checkpoint/publish"
	"ludger/checkpoint/tiles"
	"ludger/ledger"
	"ludger/ledger/event"
	"ludger/ledger/memlog"
)

const (
	origin = "example.com/log"
	cell   = "head/" + origin
)

func newSigner(t testing.TB, n byte) *checkpoint.Signer {
	t.Helper()
	s, err := checkpoint.NewSigner(origin, [32]byte{n})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A writer commits entries to a log as the sequencer does.
type writer struct {
	*memlog.Log
	epoch uint64
	edge  tiles.Edge
	tile  []byte // leaf hashes of the last tile
}

func newWriter(t testing.TB) *writer {
	t.Helper()
	log := memlog.New()
	epoch, _, err := log.Open(t.Context(), "test")
	if err != nil {
		t.Fatal(err)
	}
	return &writer{Log: log, epoch: epoch}
}

// write commits n entries that begin with the prefix.
func (w *writer) write(t testing.TB, prefix string, n int) ledger.Head {
	t.Helper()
	base := ledger.Head{Size: w.edge.Size(), Root: w.edge.Root()}
	var batch ledger.Batch
	for range n {
		entry := fmt.Appendf(nil, "%s %d", prefix, w.edge.Size())
		leaf := event.LeafHash(entry)
		batch.Entries = append(batch.Entries, entry)
		w.tile = append(w.tile, leaf[:]...)
		w.edge.Append(leaf, func(level int, n int64, hash [32]byte) {
			batch.Index = append(batch.Index, ledger.KV{Key: ledger.AppendHashKey(nil, level, n), Value: hash[:]})
		})
		if at := w.edge.Size(); at%tiles.Width == 0 {
			batch.Index = append(batch.Index, ledger.KV{Key: ledger.AppendHashKey(nil, 0, at/tiles.Width-1), Value: w.tile})
			w.tile = nil
		}
	}
	next := ledger.Head{Size: w.edge.Size(), Root: w.edge.Root()}
	if err := w.Commit(t.Context(), w.epoch, base, batch, next); err != nil {
		t.Fatal(err)
	}
	return next
}

func open(t testing.TB, log ledger.Log, cells ledger.Cells) *publish.Publisher {
	t.Helper()
	p, err := publish.Open(t.Context(), publish.Config{Log: log, Cells: cells, Signer: newSigner(t, 1)})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func mustPublish(t testing.TB, p *publish.Publisher) []byte {
	t.Helper()
	note, err := p.Publish(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return note
}

// showing fails the test unless p shows the head, in a note that its key signed.
func showing(t testing.TB, p *publish.Publisher, want ledger.Head) {
	t.Helper()
	note, head := p.Latest()
	c, err := checkpoint.Open(note, newSigner(t, 1).Verifier())
	if err != nil || head != want || c.Size != want.Size || c.Root != want.Root || c.Origin != origin {
		t.Errorf("visible is %d %x in the note %q (%v), want %d %x", head.Size, head.Root, note, err, want.Size, want.Root)
	}
}

// contradicts fails the test unless err is a HeadError that has the sizes and every word.
func contradicts(t testing.TB, err error, published, log int64, words ...string) {
	t.Helper()
	var e *publish.HeadError
	if !errors.As(err, &e) {
		t.Errorf("error %v is no HeadError", err)
		return
	}
	if e.Origin != origin || e.Published.Size != published || e.Log.Size != log {
		t.Errorf("HeadError of %s, %d published, %d in the log; want %d and %d", e.Origin, e.Published.Size, e.Log.Size, published, log)
	}
	for _, w := range append(words, origin, fmt.Sprintf("%d entries", log)) {
		if !strings.Contains(e.Error(), w) {
			t.Errorf("error %q does not say %q", e, w)
		}
	}
}

func TestPublish(t *testing.T) {
	w, cells := newWriter(t), memlog.NewCells()
	p := open(t, w, cells)
	showing(t, p, ledger.Head{Root: tiles.EmptyRoot()})
	stored, revision, err := cells.Get(t.Context(), cell)
	if note, _ := p.Latest(); err != nil || revision != 1 || !bytes.Equal(stored, note) {
		t.Errorf("the empty head is not stored: %q, %d, %v", stored, revision, err)
	}
	for _, n := range []int{1, 1, 5, 248, 1, 1, 300, 17_000} {
		head := w.write(t, "entry", n)
		note := mustPublish(t, p)
		showing(t, p, head)
		if again := mustPublish(t, p); !bytes.Equal(again, note) {
			t.Errorf("the head of %d entries has the notes %q and %q", head.Size, note, again)
		}
		stored, _, err := cells.Get(t.Context(), cell)
		if err != nil || !bytes.Equal(stored, note) {
			t.Errorf("%d entries: stored is %q, %v; want %q", head.Size, stored, err, note)
		}
		showing(t, open(t, w, cells), head)
	}
}

// A point is where a step of Publish fails.
type point int

const (
	never  point = iota
	before       // the swap does not happen
	after        // the swap happens, and nobody hears of it
)

// failing are cells whose next Swap fails at the point.
type failing struct {
	ledger.Cells
	at    point
	blind bool // reading back fails too
	swaps int
}

var errUnclear = errors.New("disk said nothing")

func (f *failing) Swap(ctx context.Context, key string, revision uint64, value []byte) (uint64, error) {
	f.swaps++
	at := f.at
	f.at = never
	if at == before {
		return 0, errUnclear
	}
	r, err := f.Cells.Swap(ctx, key, revision, value)
	if at == after && err == nil {
		return 0, errUnclear
	}
	return r, err
}

func (f *failing) Get(ctx context.Context, key string) ([]byte, uint64, error) {
	if f.blind {
		return nil, 0, errUnclear
	}
	return f.Cells.Get(ctx, key)
}

// TestCrashes stops between every two steps of commit, sign, swap and show, and starts again from
// what is durable: log and cells. Whatever the point, the same note of the same head comes out.
func TestCrashes(t *testing.T) {
	for _, size := range []int{0, 1, 300} {
		want := func() []byte { // undisturbed
			w, cells := newWriter(t), memlog.NewCells()
			p := open(t, w, cells)
			w.write(t, "entry", size)
			mustPublish(t, p)
			w.write(t, "entry", 7)
			return mustPublish(t, p)
		}()
		for _, c := range []struct {
			name    string
			at      point
			blind   bool
			fails   bool // Publish returns an error
			visible bool // after the restart, before the next Publish
		}{
			{"after the commit", never, false, false, false},
			{"before the swap", before, false, true, false},
			{"before the swap, then blind", before, true, true, false},
			{"after the swap", after, false, false, true},
			{"after the swap, then blind", after, true, true, true},
		} {
			t.Run(fmt.Sprintf("%d entries, %s", size, c.name), func(t *testing.T) {
				w, cells := newWriter(t), memlog.NewCells()
				old := func() ledger.Head {
					p := open(t, w, cells)
					head := w.write(t, "entry", size)
					mustPublish(t, p)
					return head
				}()
				f := &failing{Cells: cells}
				p := open(t, w, f)
				head := w.write(t, "entry", 7)
				if c.at != never {
					f.at, f.blind = c.at, c.blind
					_, err := p.Publish(t.Context())
					if c.fails != (err != nil) || err != nil && !errors.Is(err, errUnclear) {
						t.Errorf("Publish gives %v", err)
					}
					if c.fails {
						showing(t, p, old)
					} else {
						showing(t, p, head)
					}
				}
				// The process ends; another starts.
				again := open(t, w, cells)
				if c.visible {
					showing(t, again, head)
				} else {
					showing(t, again, old)
				}
				if note := mustPublish(t, again); !bytes.Equal(note, want) {
					t.Errorf("after the restart: %q, want %q", note, want)
				}
				showing(t, again, head)
				// Or it does not end, and simply goes on.
				f.blind = false
				if note := mustPublish(t, p); !bytes.Equal(note, want) {
					t.Errorf("going on: %q, want %q", note, want)
				}
				showing(t, p, head)
			})
		}
	}
}

// TestCrashesAtOpen does the same for the first note of a log.
func TestCrashesAtOpen(t *testing.T) {
	for _, at := range []point{before, after} {
		w, cells := newWriter(t), memlog.NewCells()
		c := publish.Config{Log: w, Cells: &failing{Cells: cells, at: at}, Signer: newSigner(t, 1)}
		if _, err := publish.Open(t.Context(), c); !errors.Is(err, errUnclear) {
			t.Errorf("Open gives %v", err)
		}
		showing(t, open(t, w, cells), ledger.Head{Root: tiles.EmptyRoot()})
	}
	w := newWriter(t)
	c := publish.Config{Log: w, Cells: &failing{Cells: memlog.NewCells(), blind: true}, Signer: newSigner(t, 1)}
	if _, err := publish.Open(t.Context(), c); !errors.Is(err, errUnclear) {
		t.Errorf("Open with unreadable cells gives %v", err)
	}
}

func TestOlderCopyPutBack(t *testing.T) {
	for _, size := range []int{1, 5, 256, 300} {
		w, cells := newWriter(t), memlog.NewCells()
		p := open(t, w, cells)
		w.write(t, "entry", size)
		head := w.write(t, "entry", 4)
		mustPublish(t, p)
		old := newWriter(t)
		oldHead := old.write(t, "entry", size)
		_, err := publish.Open(t.Context(), publish.Config{Log: old, Cells: cells, Signer: newSigner(t, 1)})
		contradicts(t, err, head.Size, oldHead.Size, fmt.Sprintf("checkpoint of %d entries was already published", head.Size), "older copy of the data folder", "put the newest copy back")
		// An older copy that went on with other entries, until it is as long, and longer.
		for range 3 {
			fork := old.write(t, "other", 4)
			_, err := publish.Open(t.Context(), publish.Config{Log: old, Cells: cells, Signer: newSigner(t, 1)})
			contradicts(t, err, head.Size, fork.Size, fmt.Sprintf("checkpoint of %d entries", head.Size), fmt.Sprintf("%x", head.Root), "are not those that were published")
		}
		// The empty log is the oldest copy.
		_, err = publish.Open(t.Context(), publish.Config{Log: newWriter(t), Cells: cells, Signer: newSigner(t, 1)})
		contradicts(t, err, head.Size, 0, "older copy of the data folder")
		if note, _, err := cells.Get(t.Context(), cell); err != nil || !bytes.Contains(note, fmt.Appendf(nil, "\n%d\n", head.Size)) {
			t.Errorf("the refusals changed the cell to %q, %v", note, err)
		}
	}
}

func TestCellLost(t *testing.T) {
	w := newWriter(t)
	p := open(t, w, memlog.NewCells())
	w.write(t, "entry", 3)
	mustPublish(t, p)
	_, err := publish.Open(t.Context(), publish.Config{Log: w, Cells: memlog.NewCells(), Signer: newSigner(t, 1)})
	contradicts(t, err, -1, 3, "no checkpoint is on record", cell, "put the cells back")
}

func TestCellOfAnother(t *testing.T) {
	w, cells := newWriter(t), memlog.NewCells()
	open(t, w, cells)
	_, err := publish.Open(t.Context(), publish.Config{Log: w, Cells: cells, Signer: newSigner(t, 2)})
	if err == nil || !strings.Contains(err.Error(), "start with the key that signed it") {
		t.Errorf("another key: %v", err)
	}
	for _, junk := range []string{"", "junk"} {
		cells := memlog.NewCells()
		if _, err := cells.Swap(t.Context(), cell, 0, []byte(junk)); err != nil {
			t.Fatal(err)
		}
		if _, err := publish.Open(t.Context(), publish.Config{Log: w, Cells: cells, Signer: newSigner(t, 1)}); err == nil || !strings.Contains(err.Error(), cell) {
			t.Errorf("a cell with %q: %v", junk, err)
		}
	}
}

// reading is a log that shows another head or other index values.
type reading struct {
	ledger.Log
	head *ledger.Head
	bad  bool // every value of the index is changed
}

func (r *reading) Head(ctx context.Context) (ledger.Head, error) {
	if r.head != nil {
		return *r.head, nil
	}
	return r.Log.Head(ctx)
}

func (r *reading) Get(ctx context.Context, key []byte) ([]byte, bool, error) {
	v, ok, err := r.Log.Get(ctx, key)
	if r.bad && len(v) > 0 {
		v[len(v)-1] ^= 1
	}
	return v, ok, err
}

// TestLogChanges lets the log change under a running publisher: it stops, and stays so.
func TestLogChanges(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*reading, ledger.Head)
		words  []string
	}{
		{"shorter", func(r *reading, h ledger.Head) { h.Size--; r.head = &h }, []string{"older copy"}},
		{"another root", func(r *reading, h ledger.Head) { h.Root[0] ^= 1; r.head = &h }, []string{"changed or damaged", "fsck"}},
		{"a bit of a leaf hash", func(r *reading, h ledger.Head) { r.bad = true }, []string{"changed or damaged", "fsck"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, cells := newWriter(t), memlog.NewCells()
			r := &reading{Log: w}
			p := open(t, r, cells)
			old := w.write(t, "entry", 300)
			mustPublish(t, p)
			next := old
			if c.name == "a bit of a leaf hash" {
				next = w.write(t, "entry", 300) // the next tile is full
			}
			c.change(r, next)
			_, err := p.Publish(t.Context())
			now, headErr := r.Head(t.Context())
			if headErr != nil {
				t.Fatal(headErr)
			}
			contradicts(t, err, 300, now.Size, c.words...)
			r.head, r.bad = nil, false
			if _, again := p.Publish(t.Context()); again != err {
				t.Errorf("after the contradiction Publish gives %v", again)
			}
			showing(t, p, old)
		})
	}
}

// TestOpenComparesTheRoot opens a log whose head does not fit its tree hashes.
func TestOpenComparesTheRoot(t *testing.T) {
	w, cells := newWriter(t), memlog.NewCells()
	p := open(t, w, cells)
	w.write(t, "entry", 2)
	mustPublish(t, p)
	head := w.write(t, "entry", 1)
	head.Root[5] ^= 1
	_, err := publish.Open(t.Context(), publish.Config{Log: &reading{Log: w, head: &head}, Cells: cells, Signer: newSigner(t, 1)})
	contradicts(t, err, 2, 3, "changed or damaged", "checkpoint of 2 entries")
}

// TestAdopt puts another note into the cell between a publisher's look and its Swap.
func TestAdopt(t *testing.T) {
	type state struct {
		w     *writer
		cells *memlog.Cells
		p     *publish.Publisher
		other *publish.Publisher
		old   ledger.Head
	}
	begin := func(t *testing.T) state {
		s := state{w: newWriter(t), cells: memlog.NewCells()}
		open(t, s.w, s.cells)
		s.old = s.w.write(t, "entry", 5)
		s.p, s.other = open(t, s.w, s.cells), open(t, s.w, s.cells)
		mustPublish(t, s.p)
		return s
	}
	put := func(t *testing.T, s state, note []byte) {
		t.Helper()
		_, revision, err := s.cells.Get(t.Context(), cell)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.cells.Swap(t.Context(), cell, revision, note); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("the same head", func(t *testing.T) {
		s := begin(t)
		head := s.w.write(t, "entry", 5)
		theirs := mustPublish(t, s.other)
		if note := mustPublish(t, s.p); !bytes.Equal(note, theirs) {
			t.Errorf("two publishers sign %q and %q", note, theirs)
		}
		showing(t, s.p, head)
		if _, revision, _ := s.cells.Get(t.Context(), cell); revision != 3 {
			t.Errorf("the cell was written %d times, want 3", revision)
		}
	})
	t.Run("a shorter head of a moment ago", func(t *testing.T) {
		s := begin(t)
		s.w.write(t, "entry", 2)
		mustPublish(t, s.other)
		head := s.w.write(t, "entry", 2)
		mustPublish(t, s.p)
		showing(t, s.p, head)
		mustPublish(t, s.other)
		showing(t, s.other, head)
	})
	t.Run("a longer head than the log", func(t *testing.T) {
		s := begin(t)
		s.w.write(t, "entry", 2)
		put(t, s, newSigner(t, 1).Sign(1000, [32]byte{7}))
		_, err := s.p.Publish(t.Context())
		contradicts(t, err, 1000, 7, "checkpoint of 1000 entries was already published")
		showing(t, s.p, s.old)
	})
	t.Run("a fork", func(t *testing.T) {
		s := begin(t)
		s.w.write(t, "entry", 2)
		put(t, s, newSigner(t, 1).Sign(6, [32]byte{7}))
		_, err := s.p.Publish(t.Context())
		contradicts(t, err, 6, 7, "are not those that were published")
		showing(t, s.p, s.old)
	})
	t.Run("an older note", func(t *testing.T) {
		s := begin(t)
		s.w.write(t, "entry", 2)
		put(t, s, newSigner(t, 1).Sign(0, tiles.EmptyRoot()))
		_, err := s.p.Publish(t.Context())
		contradicts(t, err, 5, 7, "older copy of the cells", "the one of 0 entries")
	})
	t.Run("not ours", func(t *testing.T) {
		s := begin(t)
		s.w.write(t, "entry", 2)
		put(t, s, newSigner(t, 2).Sign(0, tiles.EmptyRoot()))
		if _, err := s.p.Publish(t.Context()); err == nil || !strings.Contains(err.Error(), "not signed by "+origin) {
			t.Errorf("a note of another key: %v", err)
		}
		showing(t, s.p, s.old)
	})
	t.Run("gone", func(t *testing.T) {
		s := begin(t)
		s.w.write(t, "entry", 2)
		p := open(t, s.w, &swapped{Cells: s.cells, get: memlog.NewCells()})
		_, err := p.Publish(t.Context())
		contradicts(t, err, -1, 7, "was lost")
	})
}

// swapped are cells that are replaced by others at the first Swap.
type swapped struct {
	ledger.Cells
	get ledger.Cells
}

func (s *swapped) Swap(ctx context.Context, key string, revision uint64, value []byte) (uint64, error) {
	s.Cells = s.get
	return s.Cells.Swap(ctx, key, revision, value)
}

// watched are cells that check that every note is a successor of the one before.
type watched struct {
	ledger.Cells
	t     testing.TB
	mu    sync.Mutex // held while swapping; guards sizes
	sizes []int64
}

func (w *watched) Swap(ctx context.Context, key string, revision uint64, value []byte) (uint64, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	r, err := w.Cells.Swap(ctx, key, revision, value)
	if err == nil {
		c, openErr := checkpoint.Open(value, newSigner(w.t, 1).Verifier())
		if openErr != nil {
			w.t.Errorf("stored %q: %v", value, openErr)
		}
		if n := len(w.sizes); n > 0 && c.Size <= w.sizes[n-1] {
			w.t.Errorf("stored a checkpoint of %d entries after one of %d", c.Size, w.sizes[n-1])
		}
		w.sizes = append(w.sizes, c.Size)
	}
	return r, err
}

// TestRace lets four publishers and a writer run at once.
func TestRace(t *testing.T) {
	w, cells := newWriter(t), &watched{Cells: memlog.NewCells(), t: t}
	first := open(t, w, cells)
	var all []*publish.Publisher
	for range 4 {
		all = append(all, open(t, w, cells))
	}
	done := make(chan struct{})
	var wg sync.WaitGroup
	for _, p := range append(all, all...) { // two callers for each
		wg.Go(func() {
			var seen int64
			for {
				if _, err := p.Publish(t.Context()); err != nil {
					t.Error(err)
					return
				}
				_, head := p.Latest()
				if head.Size < seen {
					t.Errorf("%d entries are visible after %d", head.Size, seen)
				}
				seen = head.Size
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	var head ledger.Head
	for range 300 {
		head = w.write(t, "entry", 3)
	}
	close(done)
	wg.Wait()
	for _, p := range append(all, first) {
		mustPublish(t, p)
		showing(t, p, head)
	}
	if last := cells.sizes[len(cells.sizes)-1]; last != head.Size {
		t.Errorf("stored last is a checkpoint of %d entries, want %d", last, head.Size)
	}
}

// BenchmarkPublish shows that a checkpoint costs the same at any size of the log.
func BenchmarkPublish(b *testing.B) {
	for _, size := range []int{1_000, 200_000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			w := newWriter(b)
			p := open(b, w, memlog.NewCells())
			w.write(b, "entry", size)
			mustPublish(b, p)
			for b.Loop() {
				b.StopTimer()
				w.write(b, "entry", 10)
				b.StartTimer()
				mustPublish(b, p)
			}
		})
	}
}

func ExampleOpen() {
	ctx := context.Background()
	signer, _ := checkpoint.NewSigner("example.com/log", [32]byte{1}) // a seed of the test
	cells := memlog.NewCells()
	p, err := publish.Open(ctx, publish.Config{Log: memlog.New(), Cells: cells, Signer: signer})
	if err != nil {
		fmt.Println(err)
		return
	}
	note, _ := p.Latest()
	fmt.Printf("%s", note)
	// Output:
	// example.com/log
	// 0
	// 47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=
	//
	// — example.com/log P4Oq6or4Jq3uz5FqleYYI5qoH4qOGX7M4EWjdQpiekSds2/bZDLt/TpLW1YQDXIfUHmbdHiD/DGHkSttpHAiLSaz8wQ=
}
