// Command figures puts the figures of a benchmark run into a table of the README.
//
//	go test -run '^$' -bench '^BenchmarkFigure' -benchtime 1x ./... | figures README.md figures
//
// It reads the output of go test on standard input, prints it on as it comes, and replaces what
// stands between the lines <!-- figures --> and <!-- /figures -->. The second argument names the
// block.
//
// # Figures
//
// A figure is a benchmark whose name starts with BenchmarkFigure. It reports one metric of its own,
// in a unit such as "ratio" or "ms", and may report the limit promised for it as a second one in
// the unit "max" or "min":
//
//	b.ReportMetric(median, "ratio")
//	b.ReportMetric(0.2, "max") // promised: at most 0.2
//
// The name's words become the row's name: BenchmarkFigureReplayPly is "replay ply". If a figure
// comes several times (-count), its median counts. Metrics of go test itself are ignored.
//
// The exit code is 1 if a benchmark failed, no figure came, or the README has no such block; the
// README is left as it was then. It is also 1 if a figure breaks its promise; the table says so.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) != 2 {
		fmt.Fprintln(stderr, "usage: go test -bench Figure … | figures README.md BLOCK")
		return 2
	}
	broken, err := update(args[0], args[1], stdin, stdout)
	if err != nil {
		fmt.Fprintln(stderr, "figures:", err)
		return 1
	}
	for _, f := range broken {
		fmt.Fprintf(stderr, "figures: %s is %s, promised %s\n", f.name(), f.measured(), f.promise())
	}
	if len(broken) > 0 {
		return 1
	}
	return 0
}

// update rewrites the block and returns the figures that break their promise.
func update(file, block string, stdin io.Reader, stdout io.Writer) ([]*figure, error) {
	r, err := read(io.TeeReader(stdin, stdout))
	if err != nil {
		return nil, err
	}
	readme, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	text, err := replace(string(readme), block, r.table())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(r.figures, (*figure).holds), nil
}

// A report is what one run of the benchmarks says.
type report struct {
	cpu     string
	figures []*figure // in the order in which they came
}

// A figure is one promised number.
type figure struct {
	bench  string // without BenchmarkFigure and the number of threads
	unit   string
	values []float64 // one for each time it ran
	bound  string    // "max", "min" or "" for none
	limit  float64
}

// read takes the figures from the output of go test.
func read(r io.Reader) (*report, error) {
	rep := &report{cpu: "unknown processor"}
	var failed []string
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		line := lines.Text()
		switch {
		case strings.HasPrefix(line, "--- FAIL"), strings.HasPrefix(line, "FAIL"), strings.HasPrefix(line, "panic:"):
			failed = append(failed, line)
		case strings.HasPrefix(line, "cpu: "):
			rep.cpu = strings.TrimPrefix(line, "cpu: ")
		case strings.HasPrefix(line, "BenchmarkFigure"):
			if err := rep.add(strings.Fields(line)); err != nil {
				return nil, fmt.Errorf("%q: %w", line, err)
			}
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading the benchmarks: %w", err)
	}
	if len(failed) > 0 {
		return nil, fmt.Errorf("the benchmarks failed: %s", strings.Join(failed, "; "))
	}
	if len(rep.figures) == 0 {
		return nil, errors.New("no benchmark reported a figure")
	}
	return rep, nil
}

// add takes one line: the name, the number of iterations, then pairs of value and unit.
func (rep *report) add(fields []string) error {
	if len(fields) < 4 || len(fields)%2 != 0 {
		return nil // the name alone, which go test prints before a benchmark that logs
	}
	f := figure{bench: strings.TrimPrefix(fields[0], "BenchmarkFigure")}
	if i := strings.LastIndexByte(f.bench, '-'); i > 0 {
		f.bench = f.bench[:i]
	}
	for i := 2; i < len(fields); i += 2 {
		value, err := strconv.ParseFloat(fields[i], 64)
		if err != nil {
			return err
		}
		switch unit := fields[i+1]; unit {
		case "ns/op", "B/op", "allocs/op", "MB/s":
		case "max", "min":
			f.bound, f.limit = unit, value
		default:
			if f.unit != "" {
				return fmt.Errorf("two figures, in %s and in %s", f.unit, unit)
			}
			f.unit, f.values = unit, []float64{value}
		}
	}
	if f.unit == "" {
		return errors.New("no figure")
	}
	for _, old := range rep.figures {
		if old.bench == f.bench {
			if old.unit != f.unit || old.bound != f.bound || old.limit != f.limit {
				return errors.New("another unit or limit than before")
			}
			old.values = append(old.values, f.values...)
			return nil
		}
	}
	rep.figures = append(rep.figures, &f)
	return nil
}

func (f *figure) median() float64 {
	v := slices.Sorted(slices.Values(f.values))
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

func (f *figure) holds() bool {
	switch f.bound {
	case "max":
		return f.median() <= f.limit
	case "min":
		return f.median() >= f.limit
	}
	return true
}

// name turns ReplayPly/of_chess960 into "replay ply, of chess960".
func (f *figure) name() string {
	var b strings.Builder
	word := true // the next letter starts one already
	for _, c := range f.bench {
		switch {
		case c == '/':
			b.WriteString(", ")
		case c == '_':
			b.WriteByte(' ')
		case unicode.IsUpper(c) && !word:
			b.WriteByte(' ')
			fallthrough
		default:
			b.WriteRune(unicode.ToLower(c))
		}
		word = c == '/' || c == '_'
	}
	return b.String()
}

func (f *figure) measured() string {
	s := strconv.FormatFloat(f.median(), 'g', 3, 64)
	if m := f.median(); m >= 1000 {
		s = strconv.FormatFloat(m, 'f', 0, 64)
	}
	if f.unit != "ratio" {
		s += " " + f.unit
	}
	return s
}

func (f *figure) promise() string {
	limit := strconv.FormatFloat(f.limit, 'g', -1, 64)
	switch f.bound {
	case "max":
		return "≤ " + limit
	case "min":
		return "≥ " + limit
	}
	return "nothing"
}

// table prints the report for the README. It holds no date: the same figures are the same text.
func (rep *report) table() string {
	var b strings.Builder
	b.WriteString("| figure | measured | promised | holds |\n|---|---|---|---|\n")
	for _, f := range rep.figures {
		holds := "yes"
		if f.bound == "" {
			holds = "–"
		} else if !f.holds() {
			holds = "**no**"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", f.name(), f.measured(), f.promise(), holds)
	}
	fmt.Fprintf(&b, "\nMeasured on %s, %d cores, %s/%s, %s.\n", rep.cpu, runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version())
	return b.String()
}

// replace puts a text between the marks of a block.
func replace(readme, block, text string) (string, error) {
	open, shut := "<!-- "+block+" -->\n", "<!-- /"+block+" -->"
	before, rest, ok := strings.Cut(readme, open)
	if !ok {
		return "", fmt.Errorf("no line %s", strings.TrimSpace(open))
	}
	_, after, ok := strings.Cut(rest, shut)
	if !ok {
		return "", fmt.Errorf("no line %s behind %s", shut, strings.TrimSpace(open))
	}
	return before + open + text + shut + after, nil
}
