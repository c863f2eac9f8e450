package memlog

import (
	"fmt"
	"slices"
	"testing"

	"ludger/ledger"
	"ludger/ledger/logtest"
)

func TestLog(t *testing.T) {
	logtest.Log(t, logtest.Engine{New: func(*testing.T) ledger.Log { return New() }})
}

func TestCells(t *testing.T) {
	logtest.Cells(t, func(*testing.T) ledger.Cells { return NewCells() }, nil)
}

// TestTable fills a table over many chunks, in an order that splits them everywhere.
func TestTable(t *testing.T) {
	const n = 10 * maxChunk
	var tab table
	var keys []string
	for i := range n {
		k := fmt.Sprintf("%05d", i*7919%n)
		keys = append(keys, k)
		tab.set(k, []byte("old"))
		tab.set(k, []byte(k))
	}
	slices.Sort(keys)
	for _, reverse := range []bool{false, true} {
		list := tab.scan(keys[3], keys[n-2], n, reverse)
		want := slices.Clone(keys[3 : n-2])
		if reverse {
			slices.Reverse(want)
		}
		if len(list) != len(want) {
			t.Fatalf("scan returned %d pairs, want %d", len(list), len(want))
		}
		for i, kv := range list {
			if string(kv.Key) != want[i] || string(kv.Value) != want[i] {
				t.Fatalf("pair %d is %q = %q, want %q", i, kv.Key, kv.Value, want[i])
			}
		}
	}
}
