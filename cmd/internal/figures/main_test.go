package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

const readme = "# Ludger\n\n<!-- figures -->\nold\n<!-- /figures -->\n\n<!-- rivals -->\n<!-- /rivals -->\nend\n"

func runOn(t *testing.T, readme, block, bench string) (after, stdout, stderr string, code int) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "README.md")
	if err := os.WriteFile(file, []byte(readme), 0o644); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	code = run([]string{file, block}, strings.NewReader(bench), &out, &errs)
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b), out.String(), errs.String(), code
}

func TestTranscript(t *testing.T) {
	bench, err := os.ReadFile("testdata/bench.txt")
	if err != nil {
		t.Fatal(err)
	}
	table := fmt.Sprintf(`| figure | measured | promised | holds |
|---|---|---|---|
| replay ply | 0.13 | ≤ 0.2 | yes |
| appends, signed | 0.791 | ≥ 0.8 | **no** |
| open, at 10 million | 0.0421 s | ≤ 1 | yes |
| events per second | 114987 events/s | nothing | – |

Measured on Example(R) Processor, %d cores, %s/%s, %s.
`, runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version())

	after, stdout, stderr, code := runOn(t, readme, "figures", string(bench))
	if want := strings.Replace(readme, "old\n", table, 1); after != want {
		t.Errorf("README is\n%s\nwant\n%s", after, want)
	}
	if stdout != string(bench) {
		t.Errorf("the benchmarks' output is not passed on:\n%s", stdout)
	}
	if want := "figures: appends, signed is 0.791, promised ≥ 0.8\n"; stderr != want || code != 1 {
		t.Errorf("code %d, stderr %q, want 1, %q", code, stderr, want)
	}
	if again, _, _, _ := runOn(t, after, "figures", string(bench)); again != after {
		t.Errorf("the second run changes the README:\n%s", again)
	}
	if after, _, _, _ := runOn(t, readme, "rivals", string(bench)); !strings.Contains(after, "old\n") || !strings.Contains(after, "| replay ply |") {
		t.Errorf("another block: README is\n%s", after)
	}
}

func TestRefuses(t *testing.T) {
	const good = "BenchmarkFigureX-2 1 5 ns/op 1 ratio\n"
	if _, _, stderr, code := runOn(t, readme, "figures", good); code != 0 || stderr != "" {
		t.Fatalf("code %d, %q", code, stderr)
	}
	for _, c := range []struct{ readme, bench, reason string }{
		{readme, "PASS\n", "no benchmark reported a figure"},
		{readme, good + "--- FAIL: BenchmarkFigureY\nFAIL\n", "the benchmarks failed: --- FAIL: BenchmarkFigureY; FAIL"},
		{readme, "BenchmarkFigureX-2 1 5 ns/op\n", "no figure"},
		{readme, "BenchmarkFigureX-2 1 5 s 6 ms\n", "two figures, in s and in ms"},
		{readme, good + "BenchmarkFigureX-2 1 2 max 1 ratio\n", "another unit or limit than before"},
		{readme, "BenchmarkFigureX-2 1 five ratio\n", `parsing "five": invalid syntax`},
		{"nothing\n", good, "no line <!-- figures -->"},
		{"<!-- figures -->\n", good, "no line <!-- /figures --> behind <!-- figures -->"},
	} {
		after, _, stderr, code := runOn(t, c.readme, "figures", c.bench)
		if code != 1 || !strings.HasSuffix(stderr, c.reason+"\n") || after != c.readme {
			t.Errorf("%q: code %d, %q, want 1 and %q; README changed: %v", c.bench, code, stderr, c.reason, after != c.readme)
		}
	}
	var stderr bytes.Buffer
	if code := run(nil, strings.NewReader(good), &stderr, &stderr); code != 2 {
		t.Errorf("without arguments: code %d, want 2", code)
	}
}
