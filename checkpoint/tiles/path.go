package tiles

import (
	"fmt"
	"strconv"
	"strings"
)

// Entries is the Level of an entry bundle.
const Entries = -1

// maxLevel ends the levels of the path grammar; a tree of int64 leaves has none above 7.
const maxLevel = 63

// A Tile names a tile, or an entry bundle, by its place and its width.
type Tile struct {
	Level int   // 0 to 63, or Entries
	N     int64 // number from the left, from 0
	Width int   // hashes or entries in it, 1 to 256; below 256 it is a partial tile
}

// Path returns the tile's path below the log's prefix:
//
//	tile/<L>/<N>[.p/<W>]  or  tile/entries/<N>[.p/<W>]
//
// N is written in groups of three digits, all but the last with an x in front, so that 1234067 is
// x001/x234/067. The suffix is there for partial tiles only.
func (t Tile) Path() string {
	n := fmt.Sprintf("%03d", t.N%1000)
	for rest := t.N / 1000; rest > 0; rest /= 1000 {
		n = fmt.Sprintf("x%03d/%s", rest%1000, n)
	}
	level := "entries"
	if t.Level != Entries {
		level = strconv.Itoa(t.Level)
	}
	if t.Width == Width {
		return "tile/" + level + "/" + n
	}
	return "tile/" + level + "/" + n + ".p/" + strconv.Itoa(t.Width)
}

// ParsePath reads what Path prints, and nothing else: a number with zeros too many, a group of
// another length or a partial width outside of 1 to 255 is refused.
func ParsePath(path string) (Tile, error) {
	t, ok := parsePath(path)
	if !ok || t.Path() != path { // the comparison catches every number not in its one form
		return Tile{}, fmt.Errorf("path %q names no tile: want tile/<0 to 63, or entries>/<number in groups x000/000>, with .p/<1 to 255> if partial", clip(path))
	}
	return t, nil
}

func parsePath(path string) (t Tile, ok bool) {
	rest, ok := strings.CutPrefix(path, "tile/")
	if !ok {
		return t, false
	}
	level, number, ok := strings.Cut(rest, "/")
	if !ok {
		return t, false
	}
	t.Level = Entries
	if level != "entries" {
		l, err := strconv.ParseUint(level, 10, 8)
		if err != nil || l > maxLevel {
			return t, false
		}
		t.Level = int(l)
	}
	t.Width = Width
	if n, width, partial := strings.Cut(number, ".p/"); partial {
		w, err := strconv.ParseUint(width, 10, 8) // at most 255
		if err != nil || w == 0 {
			return t, false
		}
		number, t.Width = n, int(w)
	}
	n, err := strconv.ParseInt(strings.NewReplacer("x", "", "/", "").Replace(number), 10, 64)
	t.N = n
	return t, err == nil && n >= 0
}

func clip(s string) string {
	if len(s) > 64 {
		return s[:64] + "…"
	}
	return s
}

// WidthAt returns how many hashes tile n of a level has in a tree of the given size: 0 when the
// tile is not there yet, Width when it is full. Entry bundles are as wide as the tiles of level 0.
func WidthAt(size int64, level int, n int64) int {
	if level == Entries {
		level = 0
	}
	if size <= 0 || n < 0 || level < 0 || level > 7 {
		return 0
	}
	hashes := size >> (Height * level)
	switch full := hashes / Width; {
	case n < full:
		return Width
	case n == full:
		return int(hashes % Width)
	}
	return 0
}
