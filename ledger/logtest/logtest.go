// Package logtest is the suite that every ledger.Log and every ledger.Cells passes, and a log whose
// commits fail on demand, for tests of what stands above.
//
//	func TestLog(t *testing.T) {
//		logtest.Log(t, logtest.Engine{New: func(t *testing.T) ledger.Log { return memlog.New() }})
//	}
package logtest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"ludger/checkpoint/tiles"
	"ludger/ledger"
)

// An Engine tells how to make the logs under test.
type Engine struct {
	// New returns an empty log. The suite closes it.
	New func(t *testing.T) ledger.Log
	// Reopen closes a log that New or Reopen returned and opens its storage again; nil if the
	// engine keeps nothing.
	Reopen func(t *testing.T, log ledger.Log) ledger.Log
	// Cut removes the newest entry from the storage of a log, behind its back, and returns the
	// error of using it again: of opening the storage, or of Open; nil if there is no such way.
	Cut func(t *testing.T, log ledger.Log) error
}

// Log runs the suite for logs.
func Log(t *testing.T, e Engine) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, Engine)
	}{
		{"Empty", testEmpty},
		{"Commit", testCommit},
		{"Scan", testScan},
		{"Index", testIndex},
		{"Fenced", testFenced},
		{"Conflict", testConflict},
		{"Unclear", testUnclear},
		{"Rivals", testRivals},
		{"Readers", testReaders},
		{"Ownership", testOwnership},
		{"Wake", testWake},
		{"Context", testContext},
		{"Close", testClose},
		{"Reopen", testReopen},
		{"Cut", testCut},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, e) })
	}
}

// Entry returns a small entry that tells its index.
func Entry(index int64) []byte {
	return bytes.Repeat(fmt.Appendf(nil, "entry %d;", index), 1+int(index%7))
}

// Mirror is the index pair that goes with Entry.
func Mirror(index int64) ledger.KV {
	key := binary.BigEndian.AppendUint64([]byte("m"), uint64(index))
	return ledger.KV{Key: key, Value: Entry(index)}
}

// Step returns the batch of count entries that follows base, each with its Mirror, and the head
// after it. Roots are not those of a tree: a log does not look at them.
func Step(base ledger.Head, count int) (ledger.Batch, ledger.Head) {
	var b ledger.Batch
	for i := range int64(count) {
		b.Entries = append(b.Entries, Entry(base.Size+i))
		b.Index = append(b.Index, Mirror(base.Size+i))
	}
	next := ledger.Head{Size: base.Size + int64(count)}
	next.Root = sha256.Sum256(fmt.Appendf(base.Root[:], "%d", next.Size))
	return b, next
}

// Check compares all that a log shows with a head that Steps led to.
func Check(ctx context.Context, log ledger.Log, want ledger.Head) error {
	head, err := log.Head(ctx)
	if err != nil {
		return err
	}
	if head != want {
		return fmt.Errorf("head is %d %x, want %d %x", head.Size, head.Root[:4], want.Size, want.Root[:4])
	}
	for first := int64(0); first < want.Size; {
		entries, err := log.Scan(ctx, first, int(want.Size))
		if err != nil {
			return err
		}
		if len(entries) == 0 || first+int64(len(entries)) > want.Size {
			return fmt.Errorf("scan from %d of %d returned %d entries", first, want.Size, len(entries))
		}
		for _, e := range entries {
			if !bytes.Equal(e, Entry(first)) {
				return fmt.Errorf("entry %d is %q, want %q", first, e, Entry(first))
			}
			first++
		}
	}
	kvs, err := log.Range(ctx, []byte("m"), []byte("n"), int(want.Size)+10, false)
	if err != nil {
		return err
	}
	if int64(len(kvs)) != want.Size {
		return fmt.Errorf("index has %d pairs, want %d", len(kvs), want.Size)
	}
	for i, kv := range kvs {
		if want := Mirror(int64(i)); !bytes.Equal(kv.Key, want.Key) || !bytes.Equal(kv.Value, want.Value) {
			return fmt.Errorf("index pair %d is %x = %q, want %x = %q", i, kv.Key, kv.Value, want.Key, want.Value)
		}
	}
	return nil
}

func newLog(t *testing.T, e Engine) ledger.Log {
	t.Helper()
	log := e.New(t)
	t.Cleanup(func() {
		if err := log.Close(); err != nil && !errors.Is(err, ledger.ErrClosed) {
			t.Errorf("closing: %v", err)
		}
	})
	return log
}

func open(t *testing.T, log ledger.Log) (uint64, ledger.Head) {
	t.Helper()
	epoch, head, err := log.Open(t.Context(), "test")
	if err != nil {
		t.Fatalf("opening: %v", err)
	}
	return epoch, head
}

func step(t *testing.T, log ledger.Log, epoch uint64, base ledger.Head, count int) ledger.Head {
	t.Helper()
	batch, next := Step(base, count)
	if err := log.Commit(t.Context(), epoch, base, batch, next); err != nil {
		t.Fatalf("committing %d entries at %d: %v", count, base.Size, err)
	}
	return next
}

func check(t *testing.T, log ledger.Log, want ledger.Head) {
	t.Helper()
	if err := Check(t.Context(), log, want); err != nil {
		t.Fatal(err)
	}
}

func wantErr(t *testing.T, what string, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Errorf("%s: got error %v, want %v", what, got, want)
	}
}

func testEmpty(t *testing.T, e Engine) {
	log := newLog(t, e)
	empty := ledger.Head{Root: sha256.Sum256(nil)}
	check(t, log, empty)
	epoch, head := open(t, log)
	if epoch == 0 || head != empty {
		t.Errorf("Open of a new log: epoch %d, head %v", epoch, head)
	}
	if entries, err := log.Scan(t.Context(), 0, 10); err != nil || len(entries) != 0 {
		t.Errorf("Scan of a new log: %q, %v", entries, err)
	}
	if v, ok, err := log.Get(t.Context(), []byte("m")); v != nil || ok || err != nil {
		t.Errorf("Get in a new log: %q, %v, %v", v, ok, err)
	}
	if kvs, err := log.Range(t.Context(), nil, []byte{0xff}, 10, true); err != nil || len(kvs) != 0 {
		t.Errorf("Range of a new log: %v, %v", kvs, err)
	}
}

func testCommit(t *testing.T, e Engine) {
	log := newLog(t, e)
	epoch, head := open(t, log)
	for _, count := range []int{1, 1, 3, 0, 40, 1} {
		head = step(t, log, epoch, head, count)
		check(t, log, head)
	}
	// Only the index changes: a pair gets a new value, the head its same size.
	next := ledger.Head{Size: head.Size, Root: sha256.Sum256([]byte("other"))}
	pair := ledger.KV{Key: []byte("k"), Value: []byte("v")}
	if err := log.Commit(t.Context(), epoch, head, ledger.Batch{Index: []ledger.KV{pair}}, next); err != nil {
		t.Fatal(err)
	}
	pair.Value = nil
	if err := log.Commit(t.Context(), epoch, next, ledger.Batch{Index: []ledger.KV{pair}}, next); err != nil {
		t.Fatal(err)
	}
	if v, ok, err := log.Get(t.Context(), []byte("k")); len(v) != 0 || !ok || err != nil {
		t.Errorf("value written empty: got %q, %v, %v", v, ok, err)
	}
	check(t, log, next)
	// A next head of the wrong size is the caller's mistake, and must not be written.
	batch, wrong := Step(next, 2)
	wrong.Size++
	if err := log.Commit(t.Context(), epoch, next, batch, wrong); err == nil || errors.Is(err, ledger.ErrFenced) {
		t.Errorf("commit of 2 entries from %d to %d: error %v", next.Size, wrong.Size, err)
	}
	check(t, log, next)
}

func testScan(t *testing.T, e Engine) {
	log := newLog(t, e)
	epoch, head := open(t, log)
	head = step(t, log, epoch, head, 20)
	for first := int64(0); first <= head.Size; first++ {
		for max := 1; max <= 22; max++ {
			entries, err := log.Scan(t.Context(), first, max)
			if err != nil {
				t.Fatalf("Scan(%d, %d): %v", first, max, err)
			}
			if want := min(int(head.Size-first), max); len(entries) != want {
				t.Fatalf("Scan(%d, %d) returned %d entries, want %d", first, max, len(entries), want)
			}
			for i, got := range entries {
				if want := Entry(first + int64(i)); !bytes.Equal(got, want) {
					t.Fatalf("Scan(%d, %d)[%d] = %q, want %q", first, max, i, got, want)
				}
			}
		}
	}
	for _, first := range []int64{-1, head.Size + 1, 1 << 62, -1 << 63} {
		_, err := log.Scan(t.Context(), first, 1)
		wantErr(t, fmt.Sprintf("Scan(%d) of %d", first, head.Size), err, ledger.ErrRange)
	}
	_, err := log.Scan(t.Context(), 0, 0)
	wantErr(t, "Scan of no entries", err, ledger.ErrRange)
}

func testIndex(t *testing.T, e Engine) {
	log := newLog(t, e)
	epoch, head := open(t, log)
	keys := []string{"", "\x00", "a", "a\x00", "ab", "a\xff", "b", "m\x01", "\xff", "\xff\xff"}
	var batch ledger.Batch
	for i := range keys { // in no order
		k := keys[i*7%len(keys)]
		batch.Index = append(batch.Index, ledger.KV{Key: []byte(k), Value: []byte("of " + k)})
	}
	if err := log.Commit(t.Context(), epoch, head, batch, head); err != nil {
		t.Fatal(err)
	}
	for _, k := range keys {
		if v, ok, err := log.Get(t.Context(), []byte(k)); string(v) != "of "+k || !ok || err != nil {
			t.Errorf("Get(%q) = %q, %v, %v", k, v, ok, err)
		}
	}
	if _, ok, err := log.Get(t.Context(), []byte("aa")); ok || err != nil {
		t.Errorf("Get of a key that is not there: %v, %v", ok, err)
	}
	bounds := append([]string{"aa", "c", "\xff\xff\xff"}, keys...)
	for _, lo := range bounds {
		for _, hi := range bounds {
			var all []string
			for _, k := range keys {
				if lo <= k && k < hi {
					all = append(all, k)
				}
			}
			for _, reverse := range []bool{false, true} {
				want := slices.Clone(all)
				if reverse {
					slices.Reverse(want)
				}
				for max := 0; max <= len(keys)+1; max++ {
					kvs, err := log.Range(t.Context(), []byte(lo), []byte(hi), max, reverse)
					if err != nil {
						t.Fatal(err)
					}
					var got []string
					for _, kv := range kvs {
						got = append(got, string(kv.Key))
						if string(kv.Value) != "of "+string(kv.Key) {
							t.Fatalf("Range: %q = %q", kv.Key, kv.Value)
						}
					}
					if want := want[:min(max, len(want))]; !slices.Equal(got, want) {
						t.Fatalf("Range(%q, %q, %d, %v) = %q, want %q", lo, hi, max, reverse, got, want)
					}
				}
			}
		}
	}
}

func testFenced(t *testing.T, e Engine) {
	log := newLog(t, e)
	first, head := open(t, log)
	head = step(t, log, first, head, 2)
	second, seen := open(t, log)
	if second <= first || seen != head {
		t.Fatalf("second Open: epoch %d after %d, head %v, want %v", second, first, seen, head)
	}
	batch, next := Step(head, 1)
	for _, epoch := range []uint64{0, first, second + 1} {
		wantErr(t, fmt.Sprintf("commit of epoch %d in %d", epoch, second), log.Commit(t.Context(), epoch, head, batch, next), ledger.ErrFenced)
		check(t, log, head)
	}
	check(t, log, step(t, log, second, head, 1))
}

func testConflict(t *testing.T, e Engine) {
	log := newLog(t, e)
	epoch, empty := open(t, log)
	one := step(t, log, epoch, empty, 1)
	two := step(t, log, epoch, one, 1)
	other := two
	other.Root[0] ^= 1
	for _, base := range []ledger.Head{empty, one, other} {
		batch, next := Step(base, 1)
		wantErr(t, fmt.Sprintf("commit on size %d", base.Size), log.Commit(t.Context(), epoch, base, batch, next), ledger.ErrFenced)
		check(t, log, two)
	}
	check(t, log, step(t, log, epoch, two, 1)) // being fenced by a head does not end the epoch
}

func testUnclear(t *testing.T, e Engine) {
	for _, written := range []bool{false, true} {
		log := &Faulty{Log: newLog(t, e)}
		epoch, head := open(t, log)
		head = step(t, log, epoch, head, 2)
		log.Fail(Unclear{Written: written})
		batch, next := Step(head, 3)
		if err := log.Commit(t.Context(), epoch, head, batch, next); err == nil || errors.Is(err, ledger.ErrFenced) {
			t.Fatalf("commit that fails: error %v", err)
		}
		epoch, found := open(t, log)
		want := head
		if written {
			want = next
		}
		if found != want {
			t.Fatalf("after an unclear commit (written: %v) Open tells size %d, want %d", written, found.Size, want.Size)
		}
		check(t, log, want)
		if !written { // the retry
			want = step(t, log, epoch, found, 3)
		}
		check(t, log, want)
	}
}

// testRivals lets owners take the log from each other while all of them commit: the log must stay
// one list, and every commit that was acknowledged must be in it.
func testRivals(t *testing.T, e Engine) {
	log := newLog(t, e)
	const owners, rounds = 4, 25
	var wg sync.WaitGroup
	var mu sync.Mutex
	acknowledged := map[ledger.Head]bool{}
	for range owners {
		wg.Go(func() {
			for range rounds {
				epoch, head, err := log.Open(t.Context(), "rival")
				if err != nil {
					t.Errorf("opening: %v", err)
					return
				}
				for range 3 {
					batch, next := Step(head, 2)
					err := log.Commit(t.Context(), epoch, head, batch, next)
					if errors.Is(err, ledger.ErrFenced) {
						break
					}
					if err != nil {
						t.Errorf("committing: %v", err)
						return
					}
					mu.Lock()
					if acknowledged[next] {
						t.Errorf("two owners committed the step to size %d", next.Size)
					}
					acknowledged[next] = true
					mu.Unlock()
					head = next
				}
			}
		})
	}
	wg.Wait()
	head := ledger.Head{Root: tiles.EmptyRoot()}
	for range len(acknowledged) {
		_, head = Step(head, 2)
		if !acknowledged[head] {
			t.Fatalf("the step to size %d was not acknowledged, others beyond it were", head.Size)
		}
	}
	check(t, log, head)
}

// testReaders reads while another goroutine commits. Head, entries and index must never run ahead
// of each other: all of a batch is seen, or none.
func testReaders(t *testing.T, e Engine) {
	log := newLog(t, e)
	epoch, head := open(t, log)
	done := make(chan struct{})
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for {
				before, err := log.Head(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				kvs, err := log.Range(t.Context(), []byte("m"), []byte("n"), 1<<20, false)
				if err != nil {
					t.Error(err)
					return
				}
				entries, err := log.Scan(t.Context(), 0, 1<<20)
				if err != nil {
					t.Error(err)
					return
				}
				if len(kvs)%3 != 0 || len(entries)%3 != 0 {
					t.Errorf("half a batch is visible: %d pairs, %d entries", len(kvs), len(entries))
				}
				if int64(len(kvs)) < before.Size || len(entries) < len(kvs) {
					t.Errorf("reads go back: head %d, then %d pairs, then %d entries", before.Size, len(kvs), len(entries))
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	for range 60 {
		head = step(t, log, epoch, head, 3)
		if seen, err := log.Head(t.Context()); err != nil || seen != head {
			t.Errorf("head after a commit to %d: %d, %v", head.Size, seen.Size, err)
		}
	}
	close(done)
	wg.Wait()
	check(t, log, head)
}

// testOwnership changes every slice that went in or came out.
func testOwnership(t *testing.T, e Engine) {
	log := newLog(t, e)
	epoch, head := open(t, log)
	batch, next := Step(head, 3)
	if err := log.Commit(t.Context(), epoch, head, batch, next); err != nil {
		t.Fatal(err)
	}
	spoil := func(b []byte) {
		for i := range b {
			b[i] = 'X'
		}
		_ = append(b, 'X')
	}
	for i := range batch.Entries {
		spoil(batch.Entries[i])
		spoil(batch.Index[i].Key)
		spoil(batch.Index[i].Value)
	}
	check(t, log, next)
	entries, err := log.Scan(t.Context(), 0, 3)
	if err != nil {
		t.Fatal(err)
	}
	kvs, err := log.Range(t.Context(), []byte("m"), []byte("n"), 3, false)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		v, _, err := log.Get(t.Context(), Mirror(int64(i)).Key)
		if err != nil {
			t.Fatal(err)
		}
		spoil(v)
		spoil(entries[i])
		spoil(kvs[i].Key)
		spoil(kvs[i].Value)
	}
	check(t, log, next)
}

func testWake(t *testing.T, e Engine) {
	log := newLog(t, e)
	epoch, head := open(t, log)
	wake := log.Wake()
	select {
	case <-wake:
		t.Fatal("awake without a commit")
	default:
	}
	done := make(chan ledger.Head)
	go func() {
		<-wake
		seen, _ := log.Head(t.Context())
		done <- seen
	}()
	head = step(t, log, epoch, head, 1)
	if seen := <-done; seen != head {
		t.Errorf("who was woken sees size %d, want %d", seen.Size, head.Size)
	}
	select {
	case <-log.Wake():
		t.Error("the channel after a commit is closed already")
	default:
	}
	wake = log.Wake()
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	<-wake // Close wakes, so that nobody waits for ever
}

func testContext(t *testing.T, e Engine) {
	log := newLog(t, e)
	epoch, head := open(t, log)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, err := range calls(ctx, log, epoch, head) {
		wantErr(t, name+" with a context that is over", err, context.Canceled)
	}
	check(t, log, head)
}

func testClose(t *testing.T, e Engine) {
	log := newLog(t, e)
	epoch, head := open(t, log)
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	for name, err := range calls(t.Context(), log, epoch, head) {
		wantErr(t, name+" after Close", err, ledger.ErrClosed)
	}
	wantErr(t, "Close after Close", log.Close(), ledger.ErrClosed)
}

// calls makes every call that returns an error.
func calls(ctx context.Context, log ledger.Log, epoch uint64, head ledger.Head) map[string]error {
	errs := map[string]error{}
	_, _, errs["Open"] = log.Open(ctx, "test")
	batch, next := Step(head, 1)
	errs["Commit"] = log.Commit(ctx, epoch, head, batch, next)
	_, errs["Head"] = log.Head(ctx)
	_, errs["Scan"] = log.Scan(ctx, 0, 1)
	_, _, errs["Get"] = log.Get(ctx, []byte("m"))
	_, errs["Range"] = log.Range(ctx, nil, []byte("m"), 1, false)
	return errs
}

func testReopen(t *testing.T, e Engine) {
	if e.Reopen == nil {
		t.Skip("this engine keeps nothing")
	}
	log := newLog(t, e)
	var epoch uint64
	head := ledger.Head{Root: tiles.EmptyRoot()}
	for range 4 {
		next, seen := open(t, log)
		if next <= epoch || seen != head {
			t.Fatalf("Open after reopening: epoch %d after %d, size %d, want %d", next, epoch, seen.Size, head.Size)
		}
		epoch = next
		head = step(t, log, epoch, head, 5)
		log = e.Reopen(t, log)
		check(t, log, head)
		batch, next2 := Step(head, 1) // the epoch of a process that is gone may be tried again
		if err := log.Commit(t.Context(), epoch-1, head, batch, next2); !errors.Is(err, ledger.ErrFenced) {
			t.Fatalf("commit of epoch %d after %d: %v", epoch-1, epoch, err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
}

func testCut(t *testing.T, e Engine) {
	if e.Cut == nil {
		t.Skip("nobody can reach this engine's entries")
	}
	log := newLog(t, e)
	epoch, head := open(t, log)
	step(t, log, epoch, head, 5)
	wantErr(t, "using a log without its newest entry", e.Cut(t, log), ledger.ErrCorrupt)
}
