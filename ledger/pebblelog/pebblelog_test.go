package pebblelog

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"go.uber.org/goleak"

	"ludger/ledger"
	"ludger/ledger/logtest"
)

// An Open that fails leaves goroutines of Pebble v2.1.7 behind, which hold nothing of ours.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		// What Pebble leaves behind when its Open fails. None of it can write.
		goleak.IgnoreAnyFunction("github.com/cockroachdb/pebble/v2/internal/genericcache.(*shard[...]).releaseLoop"),
		goleak.IgnoreAnyFunction("github.com/cockroachdb/pebble/v2/record.(*LogWriter).flushLoop"))
}

func mustOpen(t *testing.T, dir string, fs vfs.FS) *Log {
	t.Helper()
	l, err := Open(dir, Options{FS: fs})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestLog(t *testing.T) {
	for _, disk := range []bool{false, true} {
		t.Run(fmt.Sprintf("disk=%v", disk), func(t *testing.T) {
			type place struct {
				dir string
				fs  vfs.FS
			}
			places := map[ledger.Log]place{}
			open := func(t *testing.T, p place) ledger.Log {
				l := mustOpen(t, p.dir, p.fs)
				places[l] = p
				return l
			}
			logtest.Log(t, logtest.Engine{
				New: func(t *testing.T) ledger.Log {
					if disk {
						return open(t, place{t.TempDir(), vfs.Default})
					}
					return open(t, place{"log", vfs.NewMem()})
				},
				Reopen: func(t *testing.T, l ledger.Log) ledger.Log {
					if err := l.Close(); err != nil {
						t.Fatal(err)
					}
					return open(t, places[l])
				},
				Cut: func(t *testing.T, l ledger.Log) error {
					p := places[l]
					edit(t, l.(*Log), func(b *pebble.Batch, head ledger.Head) error {
						return b.Delete(entryKey(head.Size-1), nil)
					})
					_, err := Open(p.dir, Options{FS: p.fs})
					return err
				},
			})
		})
	}
}

// edit changes a log behind its back, and closes it.
func edit(t *testing.T, l *Log, change func(b *pebble.Batch, head ledger.Head) error) {
	t.Helper()
	head, err := l.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b := l.db.NewBatch()
	if err := errors.Join(change(b, head), b.Commit(pebble.Sync), b.Close(), l.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestCells(t *testing.T) {
	dirs := map[ledger.Cells]string{}
	open := func(t *testing.T, dir string) ledger.Cells {
		c, err := OpenCells(dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		dirs[c] = dir
		return c
	}
	logtest.Cells(t,
		func(t *testing.T) ledger.Cells { return open(t, t.TempDir()) },
		func(t *testing.T, c ledger.Cells) ledger.Cells {
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
			return open(t, dirs[c])
		})
}

// TestContradictions opens databases whose records do not fit each other.
func TestContradictions(t *testing.T) {
	for name, change := range map[string]func(b *pebble.Batch, head ledger.Head) error{
		"an entry beyond the head": func(b *pebble.Batch, head ledger.Head) error { return b.Set(entryKey(head.Size), nil, nil) },
		"an entry far beyond":      func(b *pebble.Batch, head ledger.Head) error { return b.Set(entryKey(1<<62), nil, nil) },
		"no head":                  func(b *pebble.Batch, _ ledger.Head) error { return b.Delete(headKey, nil) },
		"half a head":              func(b *pebble.Batch, _ ledger.Head) error { return b.Set(headKey, make([]byte, 8), nil) },
		"a negative head": func(b *pebble.Batch, _ ledger.Head) error {
			return b.Set(headKey, []byte(strings.Repeat("\xff", 40)), nil)
		},
		"half an owner": func(b *pebble.Batch, _ ledger.Head) error { return b.Set(ownerKey, []byte("me"), nil) },
		"a longer head": func(b *pebble.Batch, head ledger.Head) error {
			v := make([]byte, 40)
			v[7] = byte(head.Size + 1)
			return b.Set(headKey, v, nil)
		},
	} {
		fs := vfs.NewMem()
		l := mustOpen(t, "log", fs)
		epoch, head, err := l.Open(t.Context(), "test")
		if err != nil {
			t.Fatal(err)
		}
		batch, next := logtest.Step(head, 3)
		if err := l.Commit(t.Context(), epoch, head, batch, next); err != nil {
			t.Fatal(err)
		}
		edit(t, l, change)
		for range 2 { // a refusal repairs nothing
			if l, err := Open("log", Options{FS: fs}); !errors.Is(err, ledger.ErrCorrupt) {
				t.Errorf("%s: opened with error %v, want ErrCorrupt", name, err)
				if err == nil {
					l.Close()
				}
			}
		}
	}
}

// TestGap removes an entry in the middle: Scan must say so and never skip.
func TestGap(t *testing.T) {
	fs := vfs.NewMem()
	l := mustOpen(t, "log", fs)
	epoch, head, err := l.Open(t.Context(), "test")
	if err != nil {
		t.Fatal(err)
	}
	batch, next := logtest.Step(head, 9)
	if err := l.Commit(t.Context(), epoch, head, batch, next); err != nil {
		t.Fatal(err)
	}
	edit(t, l, func(b *pebble.Batch, _ ledger.Head) error { return b.Delete(entryKey(4), nil) })
	l = mustOpen(t, "log", fs)
	defer l.Close()
	for first := range int64(9) {
		for max := 1; max < 10; max++ {
			_, err := l.Scan(t.Context(), first, max)
			if want := first <= 4 && first+int64(max) > 4; errors.Is(err, ledger.ErrCorrupt) != want || !want && err != nil {
				t.Errorf("Scan(%d, %d) around missing entry 4: error %v", first, max, err)
			}
		}
	}
}

// TestScanBytes checks that one Scan is bounded in bytes, and that the next goes on.
func TestScanBytes(t *testing.T) {
	l := mustOpen(t, "log", vfs.NewMem())
	defer l.Close()
	epoch, head, err := l.Open(t.Context(), "test")
	if err != nil {
		t.Fatal(err)
	}
	const size, count = 1 << 20, 20
	for i := range int64(count) {
		next := ledger.Head{Size: i + 1}
		if err := l.Commit(t.Context(), epoch, head, ledger.Batch{Entries: [][]byte{make([]byte, size)}}, next); err != nil {
			t.Fatal(err)
		}
		head = next
	}
	var total int
	for total < count {
		entries, err := l.Scan(t.Context(), int64(total), count)
		if err != nil || len(entries) == 0 || len(entries) > maxScan/size {
			t.Fatalf("Scan from %d: %d entries, %v", total, len(entries), err)
		}
		total += len(entries)
	}
	if total != count {
		t.Errorf("scanned %d entries, want %d", total, count)
	}
}

func TestLocked(t *testing.T) {
	dir := t.TempDir()
	l := mustOpen(t, dir, vfs.Default)
	_, err := Open(dir, Options{})
	if !errors.Is(err, ledger.ErrLocked) || !strings.Contains(err.Error(), dir) {
		t.Errorf("second Open: error %v, want ErrLocked that names the folder", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := mustOpen(t, dir, vfs.Default).Close(); err != nil {
		t.Fatal(err)
	}
}
