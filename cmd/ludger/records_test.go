package main

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// ludger runs the program in this process.
func ludger(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(t.Context(), args, strings.NewReader(""), &out, &errs)
	return code, out.String(), errs.String()
}

// TestRecords imports real games, from 1997 and later, by people and programs, and verifies the
// bundles of all of them.
func TestRecords(t *testing.T) {
	files, err := filepath.Glob("../../../shared/games/records/*.pgn")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skip("SKIPPED: ../shared/games/records is not beside this checkout, so no real games are imported")
	}
	dir := t.TempDir()
	hall, out := filepath.Join(dir, "hall"), filepath.Join(dir, "bundles")
	if code, _, errs := ludger(t, "keygen", "--origin", "example.com/log", "--data", hall); code != 0 {
		t.Fatal(errs)
	}
	games := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		n := bytes.Count(text, []byte("\n[Result ")) + bytes.Count(text[:9], []byte("[Result "))
		games += n
		code, stdout, stderr := ludger(t, "import", "--data", hall, "--seed", "a long enough secret", file)
		if got := strings.Count(stdout, "imported match "); code != 0 || got != n {
			t.Errorf("%s: exit code %d, %d games of %d imported\n%s", file, code, got, n, stderr)
		}
	}
	if code, _, stderr := ludger(t, "bundle", "--data", hall, "--out", out); code != 0 {
		t.Fatal(stderr)
	}
	code, stdout, stderr := ludger(t, "verify", "--policy", policyFile(hall), out)
	if got := strings.Count(stdout, ": verified, "); code != 0 || got != games {
		t.Errorf("exit code %d, %d bundles of %d verified\n%s%s", code, got, games, stdout, stderr)
	}
	t.Logf("%d games of %d files imported, bundled and verified", games, len(files))
}

// TestBombs feeds verify what is no bundle and much too large, and looks at the memory it takes.
func TestBombs(t *testing.T) {
	dir := t.TempDir()
	hall := filepath.Join(dir, "hall")
	if code, _, errs := ludger(t, "keygen", "--origin", "example.com/log", "--data", hall); code != 0 {
		t.Fatal(errs)
	}
	// A file of 1 GiB that takes no room on disk.
	big := filepath.Join(dir, "big.json")
	f, err := os.Create(big)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(1 << 30); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	deep := filepath.Join(dir, "deep.json")
	if err := os.WriteFile(deep, bytes.Repeat([]byte{'['}, 20<<20), 0o666); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for name, want := range map[string]string{big: "exceeds 33554432", deep: "nested"} {
		code, stdout, stderr := ludger(t, "verify", "--policy", policyFile(hall), name)
		if code != exitWrong || !strings.Contains(stdout, want) || !strings.Contains(stdout, "REFUTED at step format") {
			t.Errorf("%s: exit code %d, the report does not say %q\n%s%s", filepath.Base(name), code, want, stdout, stderr)
		}
	}
	runtime.ReadMemStats(&after)
	if mib := (after.TotalAlloc - before.TotalAlloc) >> 20; mib > 512 {
		t.Errorf("two bombs took %d MiB", mib)
	}
}
