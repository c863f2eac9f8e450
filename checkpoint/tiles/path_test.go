package tiles_test

import (
	"encoding/hex"
	"strings"
	"testing"

	"filippo.io/torchwood"
	"golang.org/x/mod/sumdb/tlog"

	"ludger/checkpoint/tiles"
)

type pathVectors struct {
	Valid []struct {
		Path  string `json:"path"`
		Level int    `json:"level"` // -1: an entry bundle
		N     int64  `json:"n"`
		Width int    `json:"width"`
	} `json:"valid"`
	Invalid []struct {
		Path string `json:"path"`
		Why  string `json:"why"`
	} `json:"invalid"`
}

func TestPathVectors(t *testing.T) {
	var v pathVectors
	readVectors(t, "tree/paths.json", &v)
	if len(v.Valid) == 0 || len(v.Invalid) == 0 {
		t.Fatal("no cases")
	}
	for _, c := range v.Valid {
		want := tiles.Tile{Level: c.Level, N: c.N, Width: c.Width}
		if got, err := tiles.ParsePath(c.Path); err != nil || got != want {
			t.Errorf("ParsePath(%q) = %+v, %v; want %+v", c.Path, got, err, want)
		}
		if got := want.Path(); got != c.Path {
			t.Errorf("%+v prints %q, want %q", want, got, c.Path)
		}
		theirs := torchwood.TilePath(tlog.Tile{H: 8, L: c.Level, N: c.N, W: c.Width})
		if theirs != c.Path {
			t.Errorf("%+v: torchwood prints %q, want %q", want, theirs, c.Path)
		}
	}
	for _, c := range v.Invalid {
		if got, err := tiles.ParsePath(c.Path); err == nil {
			t.Errorf("ParsePath(%q) = %+v, but: %s", c.Path, got, c.Why)
		}
	}
}

func FuzzParsePath(f *testing.F) {
	var v pathVectors
	readVectors(f, "tree/paths.json", &v)
	for _, c := range v.Valid {
		f.Add(c.Path)
	}
	for _, c := range v.Invalid {
		f.Add(c.Path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		tile, err := tiles.ParsePath(path)
		if err != nil {
			return
		}
		if tile.Path() != path {
			t.Errorf("%q is read as %+v, which prints %q", path, tile, tile.Path())
		}
		if _, err := torchwood.ParseTilePath(path); err != nil {
			t.Errorf("torchwood refuses %q: %v", path, err)
		}
	})
}

// TestWidthAt holds WidthAt against the definition: the tile's hashes that a tree of this size has.
func TestWidthAt(t *testing.T) {
	for size := int64(0); size < 140_000; size += 1 + size%97 {
		for level := range 4 {
			span := int64(1) << (8 * level)
			for n := range size/span/256 + 3 {
				want := min(max(size/span-256*n, 0), 256)
				if got := tiles.WidthAt(size, level, n); int64(got) != want {
					t.Fatalf("WidthAt(%d, %d, %d) = %d, want %d", size, level, n, got, want)
				}
			}
		}
	}
	// The example of tlog-tiles: a tree of 70,000 leaves.
	for _, c := range []struct {
		level int
		n     int64
		want  int
	}{
		{0, 272, 256}, {0, 273, 112}, {0, 274, 0}, {1, 0, 256}, {1, 1, 17}, {2, 0, 1}, {3, 0, 0},
		{tiles.Entries, 273, 112}, {-2, 0, 0}, {8, 0, 0}, {63, 0, 0}, {0, -1, 0},
	} {
		if got := tiles.WidthAt(70_000, c.level, c.n); got != c.want {
			t.Errorf("WidthAt(70000, %d, %d) = %d, want %d", c.level, c.n, got, c.want)
		}
	}
}

type bundleVectors struct {
	Valid []struct {
		Bundle  string   `json:"bundle"`
		Width   int      `json:"width"`
		Entries []string `json:"entries"`
	} `json:"valid"`
	Invalid []struct {
		Bundle string `json:"bundle"`
		Width  int    `json:"width"`
		Why    string `json:"why"`
	} `json:"invalid"`
}

func TestBundleVectors(t *testing.T) {
	var v bundleVectors
	readVectors(t, "tree/bundles.json", &v)
	if len(v.Valid) == 0 || len(v.Invalid) == 0 {
		t.Fatal("no cases")
	}
	for _, c := range v.Valid {
		data, err := hex.DecodeString(c.Bundle)
		if err != nil {
			t.Fatal(err)
		}
		entries, err := tiles.ReadBundle(data, c.Width)
		if err != nil {
			t.Errorf("bundle %s: %v", c.Bundle, err)
			continue
		}
		var again []byte
		rest := data
		for i, e := range entries {
			if got := hex.EncodeToString(e); got != c.Entries[i] {
				t.Errorf("bundle %s: entry %d is %s, want %s", c.Bundle, i, got, c.Entries[i])
			}
			if again, err = tiles.AppendEntry(again, e); err != nil {
				t.Error(err)
			}
			var theirs []byte
			if theirs, rest, err = torchwood.ReadTileEntry(rest); err != nil || string(theirs) != string(e) {
				t.Errorf("bundle %s: torchwood reads entry %d as %x, %v", c.Bundle, i, theirs, err)
			}
		}
		if hex.EncodeToString(again) != c.Bundle {
			t.Errorf("bundle %s is written as %x", c.Bundle, again)
		}
	}
	for _, c := range v.Invalid {
		data, err := hex.DecodeString(c.Bundle)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tiles.ReadBundle(data, c.Width); err == nil {
			t.Errorf("bundle %s of %d entries was read, but: %s", c.Bundle, c.Width, c.Why)
		}
	}
	if _, err := tiles.AppendEntry(nil, make([]byte, tiles.MaxEntry)); err != nil {
		t.Errorf("the largest entry: %v", err)
	}
	if _, err := tiles.AppendEntry(nil, make([]byte, tiles.MaxEntry+1)); err == nil || !strings.Contains(err.Error(), "65536 bytes exceeds 65535") {
		t.Errorf("an entry too large: %v", err)
	}
}

func FuzzReadBundle(f *testing.F) {
	var v bundleVectors
	readVectors(f, "tree/bundles.json", &v)
	for _, c := range v.Valid {
		data, _ := hex.DecodeString(c.Bundle)
		f.Add(data, c.Width)
	}
	for _, c := range v.Invalid {
		data, _ := hex.DecodeString(c.Bundle)
		f.Add(data, c.Width)
	}
	f.Fuzz(func(t *testing.T, data []byte, width int) {
		entries, err := tiles.ReadBundle(data, width)
		if err != nil {
			return
		}
		if len(entries) != width {
			t.Errorf("%d entries, want %d", len(entries), width)
		}
		var again []byte
		for _, e := range entries {
			if again, err = tiles.AppendEntry(again, e); err != nil {
				t.Fatal(err)
			}
		}
		if string(again) != string(data) {
			t.Errorf("%x is written as %x", data, again)
		}
	})
}
