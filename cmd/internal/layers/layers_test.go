package layers

import (
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func TestModule(t *testing.T) {
	root := os.DirFS("../../..")
	if mod, err := fs.ReadFile(root, "go.mod"); err != nil || !strings.HasPrefix(string(mod), "module "+Module+"\n") {
		t.Fatalf("the module's folder is not three above: %v", err)
	}
	found, err := Check(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		t.Error(f)
	}
}

func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for _, row := range rows {
		for _, p := range row {
			if seen[p] {
				t.Errorf("%s stands twice", p)
			}
			seen[p] = true
			if top, _, _ := strings.Cut(p, "/"); !slices.Contains(tops, top) {
				t.Errorf("%s is outside the folders at the top", p)
			}
		}
	}
	for thing, owner := range owners {
		if owner != "" && !seen[owner] {
			t.Errorf("%s, the owner of %s, has no row", owner, thing)
		}
	}
}

// TestCatches: each rule is broken once, and found once.
func TestCatches(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  string // the only thing found; "" if nothing
	}{
		"clean": {map[string]string{
			"ledger/canon/a.go":      "package canon\nimport \"errors\"\nvar ErrX = errors.New(\"x\")\nvar table = [2]int{1, 2}\nfunc F() int { table := 3; table++; return table }",
			"ledger/canon/a_test.go": "package canon\nimport (\n\"os\"\n\"ludger/api\"\n)\nfunc init() { go os.Exit(0) }",
			"ledger/event/a.go":      "package event\nimport _ \"ludger/ledger/canon\"",
			"testvectors/a.go":       "package testvectors\nimport \"embed\"\nvar FS embed.FS",
			"cmd/rivals/go.mod":      "module rivals",
			"cmd/rivals/a.go":        "package rivals\nimport _ \"github.com/cockroachdb/pebble/v2\"",
			"ledger/testdata/a.go":   "not Go",
			".git/a.go":              "not Go",
		}, ""},
		"upward":         {map[string]string{"ledger/canon/a.go": "package canon\nimport _ \"ludger/ledger/event\""}, "ledger/canon/a.go:2:8: ledger/canon of row 1 imports ledger/event of row 3"},
		"same row":       {map[string]string{"ledger/canon/a.go": "package canon\nimport _ \"ludger/engine\""}, "ledger/canon of row 1 imports engine of row 1"},
		"unknown import": {map[string]string{"ledger/event/a.go": "package event\nimport _ \"ludger/ledger/util\""}, "ledger/util has no row"},
		"unknown":        {map[string]string{"ledger/util/a.go": "package util"}, "ledger/util: has no row"},
		"top":            {map[string]string{"pkg/README": ""}, "pkg: is not a folder of the design"},
		"impure": {map[string]string{"replay/a.go": "package replay\nimport \"math/rand/v2\"\nvar _ = rand.Int"},
			"replay/a.go:2:8: replay is pure and imports math/rand/v2"},
		"impure module": {map[string]string{"replay/a.go": "package replay\nimport _ \"golang.org/x/sys/unix\""}, "replay is pure and imports golang.org/x/sys/unix"},
		"build tag":     {map[string]string{"replay/a_windows.go": "//go:build never\n\npackage replay\nimport _ \"os\""}, "replay is pure and imports os"},
		"owner": {map[string]string{"ledger/memlog/a.go": "package memlog\nimport _ \"github.com/cockroachdb/pebble/v2/vfs\""},
			"which only ledger/pebblelog may"},
		"owner of keys": {map[string]string{"cmd/ludger/a.go": "package main\nimport _ \"crypto/ed25519\""}, "which only ledger/sign may"},
		"goroutine":     {map[string]string{"engine/a.go": "package engine\nfunc F() { go F() }"}, "engine/a.go:2:12: starts a goroutine"},
		"init":          {map[string]string{"engine/a.go": "package engine\nfunc init() {}"}, "init function"},
		"no value":      {map[string]string{"engine/a.go": "package engine\nvar cache map[int]int"}, "package state"},
		"assigned":      {map[string]string{"engine/a.go": "package engine\nvar n = 1\nfunc F() { n = 2 }"}, "assigns to the package-level variable n"},
		"in another file": {map[string]string{"engine/a.go": "package engine\nvar n = 1", "engine/b.go": "package engine\nfunc F() { (n)++ }"},
			"engine/b.go:2:12: assigns to the package-level variable n"},
		"element":  {map[string]string{"engine/a.go": "package engine\nvar m = map[int][]int{}\nfunc F() { m[1][2] += 2 }"}, "variable m"},
		"field":    {map[string]string{"engine/a.go": "package engine\nvar m = &struct{ n int }{}\nfunc F() { m.n = 2 }"}, "variable m"},
		"pointer":  {map[string]string{"engine/a.go": "package engine\nvar m = new(int)\nfunc F() { *m = 2 }"}, "variable m"},
		"delete":   {map[string]string{"engine/a.go": "package engine\nvar m = map[int]int{}\nfunc F() { delete(m, 2) }"}, "variable m"},
		"copy":     {map[string]string{"engine/a.go": "package engine\nvar m = []int{1}\nfunc F() { copy(m[:1], m) }"}, "variable m"},
		"range":    {map[string]string{"engine/a.go": "package engine\nvar m = 1\nfunc F() { for m = range 3 { } }"}, "variable m"},
		"send":     {map[string]string{"engine/a.go": "package engine\nvar m = make(chan int)\nfunc F() { m <- 1 }"}, "variable m"},
		"closure":  {map[string]string{"engine/a.go": "package engine\nvar m = 1\nvar f = func() { m = 2 }"}, "variable m"},
		"shadowed": {map[string]string{"engine/a.go": "package engine\nvar m = 1\nfunc F(m int) { m = 2; { var n = 1; n = m; _ = n } }\nvar n = 2"}, ""},
	} {
		root := fstest.MapFS{}
		for f, text := range c.files {
			root[f] = &fstest.MapFile{Data: []byte(text)}
		}
		found, err := Check(root)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if c.want == "" && len(found) > 0 || c.want != "" && (len(found) != 1 || !strings.Contains(found[0], c.want)) {
			t.Errorf("%s: found %q, want %q", name, found, c.want)
		}
	}
}
