package sequencer_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"ludger/checkpoint/tiles"
	"ludger/ledger"
	"ludger/ledger/event"
	"ludger/ledger/memlog"
	"ludger/ledger/sequencer"
)

// An image is a log that can be damaged, and only read.
type image struct {
	ledger.Log
	head    ledger.Head
	entries [][]byte
	index   map[string][]byte
}

// takeImage copies all that a log holds.
func takeImage(t *testing.T, log ledger.Log) *image {
	t.Helper()
	m := &image{index: map[string][]byte{}}
	var err error
	if m.head, err = log.Head(t.Context()); err != nil {
		t.Fatal(err)
	}
	if m.entries, err = log.Scan(t.Context(), 0, int(m.head.Size)); err != nil {
		t.Fatal(err)
	}
	kvs, err := log.Range(t.Context(), nil, []byte{0xff}, 1<<20, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, kv := range kvs {
		m.index[string(kv.Key)] = kv.Value
	}
	return m
}

func (m *image) clone() *image {
	return &image{head: m.head, entries: slices.Clone(m.entries), index: maps.Clone(m.index)}
}

func (m *image) Open(context.Context, string) (uint64, ledger.Head, error) { return 1, m.head, nil }

func (m *image) Head(context.Context) (ledger.Head, error) { return m.head, nil }

func (m *image) Scan(_ context.Context, first int64, max int) ([][]byte, error) {
	if first < 0 || first > m.head.Size {
		return nil, ledger.ErrRange
	}
	end := min(first+int64(max), m.head.Size)
	if end > int64(len(m.entries)) {
		return nil, ledger.ErrCorrupt
	}
	return m.entries[first:end], nil
}

func (m *image) Get(_ context.Context, key []byte) ([]byte, bool, error) {
	v, ok := m.index[string(key)]
	return v, ok, nil
}

func (m *image) Range(_ context.Context, lo, hi []byte, max int, reverse bool) ([]ledger.KV, error) {
	var list []ledger.KV
	for _, k := range slices.Sorted(maps.Keys(m.index)) {
		if k := []byte(k); bytes.Compare(lo, k) <= 0 && bytes.Compare(k, hi) < 0 {
			list = append(list, ledger.KV{Key: k, Value: m.index[string(k)]})
		}
	}
	if reverse {
		slices.Reverse(list)
	}
	return list[:min(max, len(list))], nil
}

func flip(b []byte, bit int) []byte {
	b = bytes.Clone(b)
	b[bit/8%len(b)] ^= 1 << (bit % 8)
	return b
}

// TestCheck damages a log in every place, one at a time.
func TestCheck(t *testing.T) {
	log := memlog.New()
	s := open(t, log)
	chains := []*chain{newChain("aaa"), newChain("bbb"), newChain("ccc")}
	var all []event.Event
	for i := range 52 {
		a := sequencer.Append{Events: join(chains[i%3].next(3), chains[(i+1)%3].next(2))}
		if i == 30 {
			a.ID = "id"
		}
		place(t, s, a, int64(len(all)))
		all = append(all, a.Events...)
	}
	whole := takeImage(t, log)
	if err := sequencer.Check(t.Context(), whole); err != nil {
		t.Fatalf("the image: %v", err)
	}
	if want := 3 + 1 + 260 + 2; len(whole.index) != want {
		t.Fatalf("the index has %d keys, want %d", len(whole.index), want)
	}
	damaged := func(change func(m *image), format string, args ...any) {
		t.Helper()
		m := whole.clone()
		change(m)
		if err := sequencer.Check(t.Context(), m); !errors.Is(err, ledger.ErrCorrupt) {
			t.Errorf("%s: %v, want ErrCorrupt", fmt.Sprintf(format, args...), err)
		}
	}

	idKey := string(ledger.AppendIDKey(nil, "id"))
	n := 0
	for _, k := range slices.Sorted(maps.Keys(whole.index)) {
		if k == idKey {
			continue
		}
		n += 13 // another bit in each value and key
		damaged(func(m *image) { m.index[k] = flip(m.index[k], n) }, "a bit of the value of %q", k)
		damaged(func(m *image) { m.index[k] = m.index[k][1:] }, "a shorter value of %q", k)
		damaged(func(m *image) { m.index[k] = append(bytes.Clone(m.index[k]), 0) }, "a longer value of %q", k)
		damaged(func(m *image) { delete(m.index, k) }, "no %q", k)
		damaged(func(m *image) { m.index[string(flip([]byte(k), n))] = m.index[k]; delete(m.index, k) }, "a bit of the key %q", k)
		damaged(func(m *image) { m.index[k+"\x00"] = m.index[k] }, "a key behind %q", k)
	}
	for _, k := range []string{"", "\x00", "a", "i", "i" + string(make([]byte, 33)), "z", "\xff", "\xff\xff\xff",
		string(ledger.AppendStreamKey(nil, "agent/ddd")),
		string(ledger.AppendPlaceKey(nil, 0, 1<<40)),
		string(ledger.AppendHashKey(nil, 0, 1)),
		string(ledger.AppendHashKey(nil, 1, 1)),
		string(ledger.AppendHashKey(nil, 2, 0)),
	} {
		damaged(func(m *image) { m.index[k] = nil }, "a key %q too much", k)
	}

	// An id's record cannot be computed again; it must be possible.
	for name, d := range map[string]ledger.Done{
		"ends beyond":   {First: 256, Count: 5},
		"begins beyond": {First: 260, Count: 1},
		"far beyond":    {First: 1<<63 - 1, Count: 1},
		"is too long":   {First: 0, Count: 1<<32 - 1},
		"negative":      {First: -1, Count: 1},
		"empty":         {First: 1, Count: 0},
	} {
		damaged(func(m *image) { m.index[idKey] = d.Append(nil) }, "an id's record that %s", name)
	}
	damaged(func(m *image) { m.index[idKey] = m.index[idKey][1:] }, "a shorter record of an id")

	for i := range whole.entries {
		damaged(func(m *image) { m.entries[i] = flip(m.entries[i], 7*i) }, "a bit of entry %d", i)
		damaged(func(m *image) { m.entries = slices.Delete(m.entries, i, i+1) }, "no entry %d", i)
		damaged(func(m *image) { m.entries = slices.Delete(m.entries, i, i+1); m.head.Size-- }, "no entry %d, and a shorter head", i)
		damaged(func(m *image) { m.entries = slices.Insert(m.entries, i, m.entries[i]); m.head.Size++ }, "entry %d twice", i)
		if i > 0 {
			damaged(func(m *image) { m.entries[i], m.entries[i-1] = m.entries[i-1], m.entries[i] }, "entry %d swapped", i)
		}
	}
	damaged(func(m *image) { m.head.Root = [32]byte(flip(m.head.Root[:], 99)) }, "a bit of the root")
	damaged(func(m *image) { m.head.Size-- }, "a shorter head")
	damaged(func(m *image) { m.head = ledger.Head{Root: tiles.EmptyRoot()} }, "an empty head")
}

// TestBrokenLink checks what only the links between events show: entries, index and tree fit.
func TestBrokenLink(t *testing.T) {
	log := memlog.New()
	s := open(t, log)
	a := newChain("aaa")
	first := a.next(1)
	place(t, s, sequencer.Append{Events: first}, 0)
	m := takeImage(t, log)
	forged := (&chain{a.stream, 1, event.Leaf{9}}).make("")
	m.entries = append(m.entries, forged.Raw())
	m.index[string(ledger.AppendPlaceKey(nil, 0, 1))] = ledger.AppendIndex(nil, 1)
	m.head = ledger.Head{Size: 2, Root: tiles.NodeHash(first[0].Leaf(), forged.Leaf())}
	if err := sequencer.Check(t.Context(), m); !errors.Is(err, ledger.ErrCorrupt) {
		t.Errorf("an event that does not name the one before it: %v", err)
	}
}

// TestOpenCorrupt opens logs whose tree hashes do not give the root of the head.
func TestOpenCorrupt(t *testing.T) {
	log := memlog.New()
	s := open(t, log)
	place(t, s, sequencer.Append{Events: newChain("aaa").next(300)}, 0)
	whole := takeImage(t, log)
	for name, change := range map[string]func(m *image){
		"no tree hash":     func(m *image) { delete(m.index, string(ledger.AppendHashKey(nil, 1, 0))) },
		"half a tree hash": func(m *image) { m.index[string(ledger.AppendHashKey(nil, 1, 0))] = make([]byte, 16) },
		"a tree hash":      func(m *image) { m.index[string(ledger.AppendHashKey(nil, 1, 0))] = make([]byte, 32) },
		"an entry":         func(m *image) { m.entries[299] = flip(m.entries[299], 1) },
		"no entry":         func(m *image) { m.entries = m.entries[:299] },
		"the root":         func(m *image) { m.head.Root[0] ^= 1 },
	} {
		m := whole.clone()
		change(m)
		s, err := sequencer.Open(t.Context(), m, sequencer.Config{Owner: "test"})
		if !errors.Is(err, ledger.ErrCorrupt) {
			t.Errorf("%s: %v, want ErrCorrupt", name, err)
		}
		if err == nil {
			_ = s.Close()
		}
	}
}
