package sequencer_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"ludger/ledger"
	"ludger/ledger/event"
	"ludger/ledger/logtest"
	"ludger/ledger/memlog"
	"ludger/ledger/sequencer"
)

// A gate holds every commit back until it is told how many may pass.
type gate struct {
	ledger.Log
	pass chan struct{}
}

func newGate(log ledger.Log) *gate { return &gate{log, make(chan struct{})} }

func (g *gate) Commit(ctx context.Context, epoch uint64, base ledger.Head, batch ledger.Batch, next ledger.Head) error {
	<-g.pass
	return g.Log.Commit(ctx, epoch, base, batch, next)
}

// A pending append runs in a goroutine of its own.
type pending struct {
	events []event.Event
	got    []ledger.Receipt
	err    error
	done   bool
}

// begin appends in the background. When it returns, the committer has done all it can.
func begin(ctx context.Context, s *sequencer.Sequencer, a sequencer.Append) *pending {
	p := &pending{events: a.Events}
	go func() {
		p.got, p.err = s.Append(ctx, a)
		p.done = true
	}()
	synctest.Wait()
	return p
}

func (p *pending) want(t *testing.T, first int64) {
	t.Helper()
	if !p.done || p.err != nil || !slices.Equal(p.got, receipts(p.events, first)) {
		t.Fatalf("append: done %v, receipts %v, error %v, want index %d", p.done, p.got, p.err, first)
	}
}

func (p *pending) wantErr(t *testing.T, want ...error) {
	t.Helper()
	for _, w := range want {
		if !p.done || !errors.Is(p.err, w) {
			t.Fatalf("append: done %v, error %v, want %v", p.done, p.err, w)
		}
	}
}

// TestUnderWay sends appends while the first commit is held back, so that all of them meet in the
// groups after it.
func TestUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		log := newGate(memlog.New())
		s := open(t, log)
		a, b := newChain("aaa"), newChain("bbb")

		one := sequencer.Append{ID: "one", Digest: [32]byte{1}, Events: join(a.next(2), b.next(1))}
		first := begin(ctx, s, one)
		same := begin(ctx, s, one)
		other := begin(ctx, s, sequencer.Append{ID: "one", Events: one.Events})
		bare := begin(ctx, s, sequencer.Append{Events: one.Events})

		two := sequencer.Append{ID: "two", Digest: [32]byte{2}, Events: a.next(1)}
		twoFirst := begin(ctx, s, two)
		twoSame := begin(ctx, s, two)
		twoOther := begin(ctx, s, sequencer.Append{ID: "two", Events: newChain("ccc").next(1)})
		twoBare := begin(ctx, s, sequencer.Append{Events: two.Events})
		rival := begin(ctx, s, sequencer.Append{Events: []event.Event{(&chain{a.stream, two.Events[0].Seq, two.Events[0].Prev}).make("rival")}})
		three := begin(ctx, s, sequencer.Append{Events: a.next(1)}) // builds on what is not durable yet

		for _, p := range []*pending{first, same, other, bare, twoFirst, twoSame, twoOther, twoBare, rival, three} {
			if p.done {
				t.Fatalf("answered before anything is durable: %v, %v", p.got, p.err)
			}
		}
		log.pass <- struct{}{}
		synctest.Wait()
		first.want(t, 0)
		same.want(t, 0) // known to the log now, so no group has to be waited for
		other.wantErr(t, ledger.ErrReused)
		bare.want(t, 0)
		if rival.done || twoSame.done || twoFirst.done || twoBare.done || three.done {
			t.Fatal("answered before its group is durable")
		}
		log.pass <- struct{}{}
		synctest.Wait()
		twoFirst.want(t, 3)
		twoSame.want(t, 3)
		twoOther.wantErr(t, ledger.ErrReused)
		twoBare.want(t, 3)
		three.want(t, 4)
		if !rival.done {
			t.Fatal("the rival got no answer")
		}
		wantConflict(t, rival.err, ledger.ConflictError{Stream: a.stream, Expected: 2, Actual: 4, ActualLeaf: a.prev})
		check(t, log, join(one.Events, two.Events, three.events))
	})
}

// TestCrowded fills the memory of stream heads with refused appends while a group is under way: the
// heads that the group changed must not be read again from the log, which does not have them yet.
func TestCrowded(t *testing.T) {
	var crowd [][]event.Event
	for i := range 4 {
		var events []event.Event
		for j := range event.MaxMatchEvents - 1 {
			events = append(events, newChain(fmt.Sprintf("c%d-%d", i, j)).make(""))
		}
		crowd = append(crowd, append(events, (&chain{"agent/none", 7, event.Leaf{1}}).make("")))
	}
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		log := newGate(memlog.New())
		s := open(t, log)
		hold := begin(ctx, s, sequencer.Append{Events: newChain("hold").next(1)})
		a := newChain("aaa")
		rival := []event.Event{a.make("rival")}
		first := begin(ctx, s, sequencer.Append{Events: a.next(1)})
		var refused []*pending
		for _, events := range crowd {
			refused = append(refused, begin(ctx, s, sequencer.Append{Events: events}))
		}
		second := begin(ctx, s, sequencer.Append{Events: rival})
		third := begin(ctx, s, sequencer.Append{Events: a.next(1)})
		close(log.pass)
		synctest.Wait()
		hold.want(t, 0)
		first.want(t, 1)
		for _, p := range refused {
			wantConflict(t, p.err, ledger.ConflictError{Stream: "agent/none", Expected: 7})
		}
		var conflict *ledger.ConflictError
		if !second.done || !errors.As(second.err, &conflict) {
			t.Fatalf("the second first event of a stream: %v, %v", second.got, second.err)
		}
		third.want(t, 2)
		check(t, log, join(hold.events, first.events, third.events))
	})
}

// TestPutOff puts more off to the next group than fits there.
func TestPutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		log := newGate(memlog.New())
		s := open(t, log)
		hold := begin(ctx, s, sequencer.Append{Events: newChain("hold").next(1)})
		a := newChain("aaa")
		stale := *a
		first := begin(ctx, s, sequencer.Append{Events: a.next(1)})
		var late []*pending
		for i := range 9 { // each has half of what fits into a group
			events := append([]event.Event{stale.make("late")}, newChain(fmt.Sprintf("l%02d", i)).next(600)...)
			late = append(late, begin(ctx, s, sequencer.Append{Events: events}))
		}
		fits := begin(ctx, s, sequencer.Append{Events: a.next(1)})
		close(log.pass)
		synctest.Wait()
		hold.want(t, 0)
		first.want(t, 1)
		fits.want(t, 2)
		for _, p := range late {
			var conflict *ledger.ConflictError
			if !p.done || !errors.As(p.err, &conflict) || conflict.Stream != a.stream || conflict.Actual < 1 {
				t.Fatalf("append to a stream that grew meanwhile: done %v, %v", p.done, p.err)
			}
		}
		check(t, log, join(hold.events, first.events, fits.events))
	})
}

// TestGroups counts commits: what waits together is committed together, up to the bound.
func TestGroups(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		log := newGate(memlog.New())
		s := open(t, log)
		begin(ctx, s, sequencer.Append{Events: newChain("hold").next(1)})
		for i := range 5 {
			begin(ctx, s, sequencer.Append{Events: newChain(fmt.Sprintf("s%03d", i)).next(400)})
		}
		for _, want := range []int64{1, 1201, 2001} {
			log.pass <- struct{}{}
			synctest.Wait()
			if head, err := log.Head(ctx); err != nil || head.Size != want {
				t.Fatalf("size %d, want %d (%v)", head.Size, want, err)
			}
		}
	})
}

func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		log := newGate(memlog.New())
		s := open(t, log)
		a := newChain("aaa")
		first := begin(ctx, s, sequencer.Append{Events: a.next(1)})
		waits := begin(ctx, s, sequencer.Append{Events: a.next(1)})
		again := begin(ctx, s, sequencer.Append{Events: first.events})
		closed := make(chan error, 2)
		for range 2 {
			go func() { closed <- s.Close() }()
		}
		synctest.Wait()
		if first.done || waits.done || again.done || len(closed) > 0 {
			t.Fatal("Close did not wait for the group under way")
		}
		log.pass <- struct{}{}
		synctest.Wait()
		first.want(t, 0)
		waits.wantErr(t, sequencer.ErrStopped)
		again.wantErr(t, sequencer.ErrStopped)
		for range 2 {
			if err := <-closed; err != nil {
				t.Errorf("Close: %v", err)
			}
		}
		begin(ctx, s, sequencer.Append{Events: a.next(1)}).wantErr(t, sequencer.ErrStopped)
		check(t, log, first.events)
	})
}

func TestCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newGate(memlog.New())
		s := open(t, log)
		a := newChain("aaa")

		over, cancel := context.WithCancel(t.Context())
		cancel()
		p := begin(over, s, sequencer.Append{Events: newChain("never").next(1)})
		if p.wantErr(t, context.Canceled); errors.Is(p.err, sequencer.ErrUnclear) {
			t.Errorf("append with a context that is over: %v", p.err)
		}

		ctx, cancel := context.WithCancel(t.Context())
		first := begin(ctx, s, sequencer.Append{Events: a.next(1)})
		queued := begin(ctx, s, sequencer.Append{Events: a.next(1)})
		var full []*pending // until the queue takes no more
		for i := range 1023 {
			full = append(full, begin(t.Context(), s, sequencer.Append{Events: newChain(fmt.Sprintf("q%04d", i)).next(1)}))
		}
		outside := begin(ctx, s, sequencer.Append{Events: newChain("outside").next(1)})
		cancel()
		synctest.Wait()
		first.wantErr(t, sequencer.ErrUnclear, context.Canceled)
		queued.wantErr(t, sequencer.ErrUnclear, context.Canceled)
		if outside.wantErr(t, context.Canceled); errors.Is(outside.err, sequencer.ErrUnclear) {
			t.Errorf("an append that had no room in the queue: %v", outside.err)
		}
		close(log.pass)
		synctest.Wait()
		all := join(first.events, queued.events) // they were on their way
		for _, p := range full {
			p.want(t, int64(len(all)))
			all = append(all, p.events...)
		}
		check(t, log, all)
	})
}

// TestCommitFails lets the commit of a group of three fail in every way, and goes on with a new
// sequencer.
func TestCommitFails(t *testing.T) {
	for name, test := range map[string]struct {
		outcome error
		want    error // of the appends in the group
		written bool
	}{
		"fenced":              {ledger.ErrFenced, sequencer.ErrStopped, false},
		"unclear and written": {logtest.Unclear{Written: true}, sequencer.ErrUnclear, true},
		"unclear and lost":    {logtest.Unclear{}, sequencer.ErrUnclear, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				faulty := &logtest.Faulty{Log: memlog.New()}
				log := newGate(faulty)
				faulty.Fail(nil, test.outcome)
				s := open(t, log)
				a, b := newChain("aaa"), newChain("bbb")
				hold := begin(ctx, s, sequencer.Append{Events: join(a.next(1), b.next(1))})
				group := []sequencer.Append{
					{Events: a.next(2)},
					{ID: "b", Digest: [32]byte{1}, Events: b.next(1)},
					{Events: newChain("ccc").next(1)},
				}
				var inside, later []*pending
				for _, a := range group {
					inside = append(inside, begin(ctx, s, a))
				}
				for _, a := range group[:2] { // put off behind the group
					later = append(later, begin(ctx, s, a))
				}
				close(log.pass)
				synctest.Wait()
				hold.want(t, 0)
				for _, p := range inside {
					p.wantErr(t, test.want, test.outcome)
					if errors.Is(p.err, sequencer.ErrStopped) == errors.Is(p.err, sequencer.ErrUnclear) {
						t.Errorf("both or none: %v", p.err)
					}
				}
				for _, p := range later {
					p.wantErr(t, sequencer.ErrStopped, test.outcome)
				}
				begin(ctx, s, group[2]).wantErr(t, sequencer.ErrStopped, test.outcome)
				if err := s.Close(); !errors.Is(err, test.outcome) {
					t.Errorf("Close: %v, want %v", err, test.outcome)
				}

				all := hold.events
				if test.written {
					all = join(all, group[0].Events, group[1].Events, group[2].Events)
				}
				s = open(t, log)
				check(t, log, all)
				first := int64(2)
				for range 2 {
					at := first
					for _, a := range group {
						place(t, s, a, at)
						at += int64(len(a.Events))
					}
				}
				place(t, s, sequencer.Append{Events: hold.events}, 0)
				check(t, log, join(hold.events, group[0].Events, group[1].Events, group[2].Events))
			})
		})
	}
}

// TestTakenOver opens a second sequencer: the first appends nothing any more.
func TestTakenOver(t *testing.T) {
	log := memlog.New()
	first := open(t, log)
	a := newChain("aaa")
	all := a.next(2)
	place(t, first, sequencer.Append{Events: all[:1]}, 0)
	second := open(t, log)
	place(t, second, sequencer.Append{Events: all[1:]}, 1)
	for range 2 {
		_, err := first.Append(t.Context(), sequencer.Append{Events: newChain("bbb").next(1)})
		if !errors.Is(err, sequencer.ErrStopped) || !errors.Is(err, ledger.ErrFenced) {
			t.Errorf("append of a fenced sequencer: %v", err)
		}
	}
	if err := first.Close(); !errors.Is(err, ledger.ErrFenced) {
		t.Errorf("closing a fenced sequencer: %v", err)
	}
	check(t, log, all)
}

// A deaf log fails to read.
type deaf struct {
	ledger.Log
	err error
}

func (d *deaf) Get(ctx context.Context, key []byte) ([]byte, bool, error) {
	if d.err != nil {
		return nil, false, d.err
	}
	return d.Log.Get(ctx, key)
}

// TestReadFails answers the append that needs the reading, and goes on.
func TestReadFails(t *testing.T) {
	log := &deaf{Log: memlog.New()}
	s := open(t, log)
	a := newChain("aaa")
	one, two := a.next(1), newChain("bbb").next(1)
	place(t, s, sequencer.Append{Events: one}, 0)
	log.err = errors.New("no reading today")
	for _, ap := range []sequencer.Append{
		{Events: two},          // a stream that is not known yet
		{Events: one},          // whether it stands there already
		{ID: "y", Events: two}, // whether the id was used
	} {
		if _, err := s.Append(t.Context(), ap); !errors.Is(err, log.err) {
			t.Errorf("append on a log that cannot be read: %v", err)
		}
	}
	log.err = nil
	place(t, s, sequencer.Append{Events: two}, 1)
	check(t, log, join(one, two))
}
