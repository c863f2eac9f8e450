package sequencer_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"ludger/ledger"
	"ludger/ledger/event"
	"ludger/ledger/logtest"
	"ludger/ledger/memlog"
	"ludger/ledger/sequencer"
)

// A model is what a log must be after some appends, one after the other.
type model struct {
	all     []event.Event
	streams map[event.Stream][]event.Event
	done    map[string]answered
	plain   []answered // appends without an id
}

type answered struct {
	digest [32]byte
	events []event.Event
	first  int64
}

func (m *model) chain(name string) *chain {
	c := newChain(name)
	if list := m.streams[c.stream]; len(list) > 0 {
		c.seq, c.prev = int64(len(list)), list[len(list)-1].Leaf()
	}
	return c
}

func (m *model) accept(a sequencer.Append) answered {
	d := answered{a.Digest, a.Events, int64(len(m.all))}
	m.all = append(m.all, a.Events...)
	for _, e := range a.Events {
		m.streams[e.Stream] = append(m.streams[e.Stream], e)
	}
	if a.ID != "" {
		m.done[a.ID] = d
	} else {
		m.plain = append(m.plain, d)
	}
	return d
}

func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		log := &logtest.Faulty{Log: memlog.New()}
		var s *sequencer.Sequencer
		open := func() {
			var err error
			if s, err = sequencer.Open(t.Context(), log, sequencer.Config{Owner: "model"}); err != nil {
				t.Fatal(err)
			}
		}
		open()
		defer func() { _ = s.Close() }() // its error is known
		m := model{streams: map[event.Stream][]event.Event{}, done: map[string]answered{}}
		wantAgain := func(a sequencer.Append, d answered) {
			got, err := s.Append(t.Context(), a)
			if err != nil || !slices.Equal(got, receipts(d.events, d.first)) {
				t.Fatalf("again: %v, %v, want %d events at %d", got, err, len(d.events), d.first)
			}
		}
		fresh := func() sequencer.Append {
			var a sequencer.Append
			names := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"aaa", "bbb", "ccc", "ddd"}), 1, 3, rapid.ID).Draw(t, "streams")
			for _, name := range names {
				a.Events = append(a.Events, m.chain(name).next(rapid.IntRange(1, 90).Draw(t, "events"))...)
			}
			if rapid.Bool().Draw(t, "with id") {
				a.ID = fmt.Sprintf("id %d", len(m.done))
				a.Digest[0] = byte(len(m.done))
			}
			return a
		}
		t.Repeat(map[string]func(*rapid.T){
			"append": func(t *rapid.T) {
				a := fresh()
				wantAgain(a, m.accept(a))
			},
			"repeat": func(t *rapid.T) {
				if len(m.plain) > 0 {
					d := rapid.SampledFrom(m.plain).Draw(t, "append")
					wantAgain(sequencer.Append{Events: d.events}, d)
				}
			},
			"repeat id": func(t *rapid.T) {
				if len(m.done) == 0 {
					t.Skip("none yet")
				}
				id := fmt.Sprintf("id %d", rapid.IntRange(0, len(m.done)-1).Draw(t, "id"))
				d := m.done[id]
				wantAgain(sequencer.Append{ID: id, Digest: d.digest, Events: fresh().Events}, d)
				_, err := s.Append(t.Context(), sequencer.Append{ID: id, Digest: [32]byte{255}, Events: d.events})
				if !errors.Is(err, ledger.ErrReused) {
					t.Fatalf("id with another digest: %v", err)
				}
			},
			"conflict": func(t *rapid.T) {
				a := fresh()
				bad := m.chain(rapid.SampledFrom([]string{"eee", "fff"}).Draw(t, "stream"))
				want := ledger.ConflictError{Stream: bad.stream, Actual: bad.seq, ActualLeaf: bad.prev}
				bad.seq, bad.prev = rapid.Int64Range(1, 9).Draw(t, "seq"), event.Leaf{1}
				want.Expected = bad.seq
				a.Events = append(a.Events, bad.make(""))
				_, err := s.Append(t.Context(), a)
				var got *ledger.ConflictError
				if !errors.As(err, &got) || *got != want {
					t.Fatalf("got %v, want %v", err, &want)
				}
			},
			"commit fails": func(t *rapid.T) {
				a := fresh()
				unclear := logtest.Unclear{Written: rapid.Bool().Draw(t, "written")}
				log.Fail(unclear)
				if _, err := s.Append(t.Context(), a); !errors.Is(err, sequencer.ErrUnclear) {
					t.Fatalf("unclear commit: %v", err)
				}
				if _, err := s.Append(t.Context(), a); !errors.Is(err, sequencer.ErrStopped) {
					t.Fatalf("after an unclear commit: %v", err)
				}
				_ = s.Close() // its error is known
				open()
				d := m.accept(a)
				if !unclear.Written {
					wantAgain(a, d) // it is the first
				}
				wantAgain(a, d)
			},
			"reopen": func(t *rapid.T) {
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				open()
			},
			"": func(t *rapid.T) {
				head, err := log.Head(t.Context())
				if err != nil || head.Size != int64(len(m.all)) {
					t.Fatalf("the log has %d entries, want %d (%v)", head.Size, len(m.all), err)
				}
			},
		})
		for name, list := range m.streams {
			places, err := ledger.ReadStream(t.Context(), log, name, 0, len(list)+1)
			if err != nil || len(places) != len(list) {
				t.Fatalf("stream %s has %d events, want %d (%v)", name, len(places), len(list), err)
			}
			for i, p := range places {
				if string(p.Entry) != string(list[i].Raw()) || m.all[p.Index].Leaf() != list[i].Leaf() {
					t.Fatalf("event %d of %s is %s", i, name, p.Entry)
				}
			}
		}
		if err := sequencer.Check(t.Context(), log); err != nil {
			t.Fatal(err)
		}
	})
}
