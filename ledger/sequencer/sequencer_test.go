package sequencer_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/mod/sumdb/tlog"

	"ludger/ledger"
	"ludger/ledger/event"
	"ludger/ledger/memlog"
	"ludger/ledger/sequencer"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		removeLong()
		os.Exit(code)
	}))
}

// A chain makes the events of one stream.
type chain struct {
	stream event.Stream
	seq    int64
	prev   event.Leaf
}

func newChain(name string) *chain { return &chain{stream: event.AgentStream(name)} }

// next returns the next n events and counts them as appended.
func (c *chain) next(n int) []event.Event {
	list := make([]event.Event, n)
	for i := range list {
		list[i] = c.make("")
		c.seq, c.prev = c.seq+1, list[i].Leaf()
	}
	return list
}

// make returns an event that could be the next. Other notes give other events.
func (c *chain) make(note string) event.Event {
	e, err := event.Parse(fmt.Appendf(nil, `{"at":1,"body":{"note":%q},"kind":"test.made","prev":%q,"seq":%d,"stream":%q,"v":1}`,
		note, c.prev, c.seq, c.stream))
	if err != nil {
		panic(err)
	}
	return e
}

func join(lists ...[]event.Event) []event.Event { return slices.Concat(lists...) }

func open(t *testing.T, log ledger.Log) *sequencer.Sequencer {
	t.Helper()
	s, err := sequencer.Open(t.Context(), log, sequencer.Config{Owner: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() }) // tests look at Close's error where it matters
	return s
}

// place appends events that must find their place at index first on.
func place(t *testing.T, s *sequencer.Sequencer, a sequencer.Append, first int64) []ledger.Receipt {
	t.Helper()
	got, err := s.Append(t.Context(), a)
	if err != nil {
		t.Fatalf("append of %d events: %v", len(a.Events), err)
	}
	if want := receipts(a.Events, first); !slices.Equal(got, want) {
		t.Fatalf("append of %d events: receipts %v, want %v", len(a.Events), got, want)
	}
	return got
}

func receipts(events []event.Event, first int64) []ledger.Receipt {
	list := make([]ledger.Receipt, len(events))
	for i := range events {
		list[i] = ledger.Receipt{Index: first + int64(i), Leaf: events[i].Leaf()}
	}
	return list
}

// check wants exactly these entries in the log, and an index and a tree that fit.
func check(t *testing.T, log ledger.Log, want []event.Event) {
	t.Helper()
	head, err := log.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if head.Size != int64(len(want)) {
		t.Fatalf("the log has %d entries, want %d", head.Size, len(want))
	}
	for i := 0; i < len(want); {
		entries, err := log.Scan(t.Context(), int64(i), len(want))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if string(e) != string(want[i].Raw()) {
				t.Fatalf("entry %d is %s, want %s", i, e, want[i].Raw())
			}
			i++
		}
	}
	if err := sequencer.Check(t.Context(), log); err != nil {
		t.Fatal(err)
	}
}

func wantConflict(t *testing.T, err error, want ledger.ConflictError) {
	t.Helper()
	var got *ledger.ConflictError
	if !errors.As(err, &got) || *got != want {
		t.Fatalf("error %v (%+v), want conflict %+v", err, got, want)
	}
}

func TestConflict(t *testing.T) {
	log := memlog.New()
	s := open(t, log)
	a, b := newChain("aaa"), newChain("bbb")
	all := join(a.next(3), b.next(1))
	place(t, s, sequencer.Append{Events: all}, 0)
	last := all[2].Leaf()
	append1 := func(events ...event.Event) error {
		_, err := s.Append(t.Context(), sequencer.Append{Events: events})
		return err
	}

	for range 2 { // from the cache, and from the log
		early := &chain{a.stream, 2, all[1].Leaf()}
		wantConflict(t, append1(early.make("other")), ledger.ConflictError{Stream: a.stream, Expected: 2, Actual: 3, ActualLeaf: last})
		late := &chain{a.stream, 5, last}
		wantConflict(t, append1(late.make("")), ledger.ConflictError{Stream: a.stream, Expected: 5, Actual: 3, ActualLeaf: last})
		fork := &chain{a.stream, 3, all[1].Leaf()}
		wantConflict(t, append1(fork.make("")), ledger.ConflictError{Stream: a.stream, Expected: 3, Actual: 3, ActualLeaf: last})
		none := &chain{"agent/ccc", 1, last}
		wantConflict(t, append1(none.make("")), ledger.ConflictError{Stream: none.stream, Expected: 1})

		// All or nothing: the first stream fits, the second does not.
		stale := &chain{stream: b.stream}
		wantConflict(t, append1(a.make("mixed"), stale.make("other")), ledger.ConflictError{Stream: b.stream, Expected: 0, Actual: 1, ActualLeaf: b.prev})
		check(t, log, all)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = open(t, log)
	}
}

func TestBounds(t *testing.T) {
	log := memlog.New()
	s := open(t, log)
	a, b := newChain("aaa"), newChain("bbb")
	three := a.next(3)
	for name, events := range map[string][]event.Event{
		"no events":        nil,
		"a zero event":     {{}},
		"too many events":  b.next(event.MaxMatchEvents + 1),
		"a gap":            {three[0], three[2]},
		"a wrong order":    {three[1], three[0]},
		"an event twice":   {three[0], three[0]},
		"a broken link":    {three[0], (&chain{a.stream, 1, event.Leaf{1}}).make("")},
		"a later gap":      {three[0], newChain("ccc").make(""), three[2]},
		"a zero among two": {three[0], {}},
	} {
		if got, err := s.Append(t.Context(), sequencer.Append{Events: events}); err == nil {
			t.Errorf("%s: appended, receipts %v", name, got)
		}
	}
	check(t, log, nil)
	whole := newChain("whole").next(event.MaxMatchEvents)
	place(t, s, sequencer.Append{Events: whole}, 0)
	place(t, s, sequencer.Append{Events: three}, event.MaxMatchEvents)
	check(t, log, join(whole, three))
}

// TestRepeat appends the same again in every way.
func TestRepeat(t *testing.T) {
	log := memlog.New()
	s := open(t, log)
	a, b := newChain("aaa"), newChain("bbb")
	one := sequencer.Append{Events: join(a.next(2), b.next(1))}
	two := sequencer.Append{ID: "import:7", Digest: [32]byte{7}, Events: join(b.next(1), a.next(3))}
	all := join(one.Events, two.Events)
	for range 3 { // afterwards from the cache, and after a restart
		for range 2 {
			place(t, s, one, 0)
			place(t, s, two, 3)
		}
		// The id decides, not the events.
		again := two
		again.Events = newChain("other").next(1)
		if got, err := s.Append(t.Context(), again); err != nil || !slices.Equal(got, receipts(two.Events, 3)) {
			t.Fatalf("id again with other events: %v, %v", got, err)
		}
		again.Digest[0]++
		if got, err := s.Append(t.Context(), again); !errors.Is(err, ledger.ErrReused) {
			t.Fatalf("id again with another digest: %v, %v", got, err)
		}
		// Events that stand there do not make an id that was never used a used one.
		other := sequencer.Append{ID: "import:8", Events: one.Events}
		_, err := s.Append(t.Context(), other)
		wantConflict(t, err, ledger.ConflictError{Stream: a.stream, Expected: 0, Actual: 5, ActualLeaf: a.prev})
		// Parts that are not neighbours in this order are not the same append.
		for _, events := range [][]event.Event{
			{one.Events[2], one.Events[0]},
			{one.Events[0], one.Events[2]},
			join(one.Events, two.Events[1:]),
			join(two.Events, []event.Event{newChain("zzz").make("")}),
			{two.Events[3], a.make("")}, // the log ends in between
		} {
			got, err := s.Append(t.Context(), sequencer.Append{Events: events})
			var conflict *ledger.ConflictError
			if !errors.As(err, &conflict) {
				t.Fatalf("append of what stands elsewhere: receipts %v, %v", got, err)
			}
		}
		part := sequencer.Append{Events: one.Events[1:3]}
		place(t, s, part, 1)
		check(t, log, all)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = open(t, log)
	}
}

// A hashList is what tlog keeps of a tree.
type hashList []tlog.Hash

func (l hashList) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	out := make([]tlog.Hash, len(indexes))
	for i, n := range indexes {
		out[i] = l[n]
	}
	return out, nil
}

// A meter counts what is read from a log.
type meter struct {
	ledger.Log
	mu    sync.Mutex
	items int
}

func (m *meter) count(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.items += n
}

func (m *meter) Scan(ctx context.Context, first int64, max int) ([][]byte, error) {
	list, err := m.Log.Scan(ctx, first, max)
	m.count(len(list))
	return list, err
}

func (m *meter) Get(ctx context.Context, key []byte) ([]byte, bool, error) {
	m.count(1)
	return m.Log.Get(ctx, key)
}

func (m *meter) Range(ctx context.Context, lo, hi []byte, max int, reverse bool) ([]ledger.KV, error) {
	list, err := m.Log.Range(ctx, lo, hi, max, reverse)
	m.count(len(list))
	return list, err
}

// TestTree grows a log over the borders of tiles, by appends of all sizes, and opens it anew at
// each border: the root is that of another implementation, the index fits, and opening reads only
// the right edge.
func TestTree(t *testing.T) {
	log := &meter{Log: memlog.New()}
	s := open(t, log)
	var hashes hashList
	var all []event.Event
	grow := func(n int) {
		t.Helper()
		var events []event.Event
		for i := range n { // streams of up to 50 events
			if at := len(all) + i; at%50 == 0 || i == 0 {
				events = append(events, newChain(fmt.Sprintf("s%07d", at)).next(min(n-i, 50-at%50))...)
			}
		}
		place(t, s, sequencer.Append{Events: events}, int64(len(all)))
		for i := range events {
			more, err := tlog.StoredHashesForRecordHash(int64(len(all)), tlog.Hash(events[i].Leaf()), hashes)
			if err != nil {
				t.Fatal(err)
			}
			hashes = append(hashes, more...)
			all = append(all, events[i])
		}
		want, err := tlog.TreeHash(int64(len(all)), hashes)
		if err != nil {
			t.Fatal(err)
		}
		if head, err := log.Head(t.Context()); err != nil || head.Root != want || head.Size != int64(len(all)) {
			t.Fatalf("head after %d entries: %d %x, want root %x (%v)", len(all), head.Size, head.Root, want, err)
		}
	}
	for _, size := range []int{1, 2, 3, 254, 255, 256, 257, 258, 511, 512, 513, 1000, 1024, 20_000, 40_000, 60_000, 65_279, 65_280, 65_281, 65_534, 65_535, 65_536, 65_537, 65_538, 65_792, 65_793} {
		grow(size - len(all))
		switch size {
		case 255, 256, 257, 513, 65_535, 65_536, 65_537, 65_793:
			check(t, log, all)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		log.items = 0
		s = open(t, log)
		if log.items > 3*255 {
			t.Errorf("opening a log of %d entries read %d of its entries and index pairs", size, log.items)
		}
	}
}

// TestOrder lets many writers append at once to streams of their own and to one that they share:
// each gets its own places, in its own order.
func TestOrder(t *testing.T) {
	log := memlog.New()
	s := open(t, log)
	const writers, each = 32, 40
	errs := make([]error, writers)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			c := newChain(fmt.Sprintf("w%03d", w))
			shared := newChain("shared")
			last := int64(-1)
			for range each {
				events := c.next(1 + int(c.seq%3))
				for { // until the shared stream is as this writer thinks
					mine := shared.make(fmt.Sprintf("%d %d", w, c.seq))
					got, err := s.Append(t.Context(), sequencer.Append{Events: append(events[:len(events):len(events)], mine)})
					var conflict *ledger.ConflictError
					if errors.As(err, &conflict) {
						if conflict.Stream != shared.stream || conflict.Expected != shared.seq || conflict.Actual <= shared.seq {
							errs[w] = fmt.Errorf("writer %d: %w", w, err)
							return
						}
						shared.seq, shared.prev = conflict.Actual, conflict.ActualLeaf
						continue
					}
					if err != nil || got[0].Index <= last || !slices.Equal(got, receipts(append(events[:len(events):len(events)], mine), got[0].Index)) {
						errs[w] = fmt.Errorf("writer %d: receipts %v after index %d, %w", w, got, last, err)
						return
					}
					last = got[len(got)-1].Index
					break
				}
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	if h, err := ledger.ReadStreamHead(t.Context(), log, "agent/shared"); err != nil || h.Length != writers*each {
		t.Errorf("the shared stream has %d events, want %d (%v)", h.Length, writers*each, err)
	}
	if err := sequencer.Check(t.Context(), log); err != nil {
		t.Error(err)
	}
}
