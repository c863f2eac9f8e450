package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"ludger/checkpoint"
	"ludger/ledger/event"
	"ludger/replay"
)

func verifyCommand() *cobra.Command {
	var policy, beacon string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "verify --policy FILE PATH...",
		Short: "check bundles offline",
		Long: `Checks bundles against a trust policy without any network. A path is a file, a folder (every
.json file in it and below), or "-" for standard input.

Prints a report that says step by step what was proved and what was not: in full for a single
bundle and for every one that is not verified, otherwise one line each. With --json it prints one
report per line, as JSON with a schema.

With --beacon, a match whose secret was never told is judged with the secret in its timelock box, if
that round opens it (see ludger open).

Exit codes: 0 verified; 1 checked and found wrong; 2 the command line is wrong; 3 could not be
checked; 5 right so far, but no end is shown. (4, network or server, does not occur here.) Over many
bundles the first of 2, 1, 4, 3, 5, 0 that occurs.`,
		Example: `  ludger verify --policy hall/policy match.json
  ludger verify --policy hall/policy --json bundles | jq .verdict`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := os.ReadFile(policy)
			if err != nil {
				return exit{exitUsage, fmt.Errorf("reading the policy: %w\nhint: a policy names the log key you trust; get it from the log's operator, not with the bundle", err)}
			}
			p, err := checkpoint.ParsePolicy(text)
			if err != nil {
				return exit{exitUsage, fmt.Errorf("policy %s: %w", policy, err)}
			}
			inputs := expand(args)
			var round int64
			var signature []byte
			if beacon != "" {
				if round, signature, err = readBeacon(beacon); err != nil {
					return err
				}
			}
			v := verification{policy: p, round: round, signature: signature, stdin: cmd.InOrStdin(), stderr: cmd.ErrOrStderr()}
			out := &printer{w: cmd.OutOrStdout(), json: asJSON, single: len(inputs) == 1}
			v.run(cmd.Context(), inputs, out.print)
			if err := cmd.Context().Err(); err != nil {
				return exit{exitUnchecked, err}
			}
			out.summary()
			if out.err != nil {
				return exit{exitUnchecked, fmt.Errorf("writing the report: %w", out.err)}
			}
			if code := out.code(); code != exitDone {
				return exit{code: code}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&policy, "policy", "", "trust policy file (C2SP tlog-policy)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON report per line")
	beaconFlag(cmd, &beacon)
	cmd.MarkFlagRequired("policy")
	cmd.MarkFlagFilename("policy")
	return cmd
}

// An input is a file to verify, or why there is none.
type input struct {
	name string
	err  error
}

// expand lists the inputs that the arguments name. In folders only regular files count: opening
// anything else could wait for ever.
func expand(args []string) []input {
	var inputs []input
	for _, arg := range args {
		info, err := os.Stat(arg)
		if arg == "-" || err != nil || !info.IsDir() {
			inputs = append(inputs, input{name: arg}) // what cannot be read is reported in its place
			continue
		}
		before := len(inputs)
		root, err := filepath.EvalSymlinks(arg)
		if err != nil {
			inputs = append(inputs, input{arg, err})
			continue
		}
		filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			name := arg + strings.TrimPrefix(path, root)
			switch {
			case err != nil:
				inputs = append(inputs, input{name, err})
				if d != nil && d.IsDir() {
					return fs.SkipDir
				}
			case filepath.Ext(path) == ".json":
				if info, err := os.Stat(path); err != nil || info.Mode().IsRegular() {
					inputs = append(inputs, input{name, err})
				}
			}
			return nil
		})
		if len(inputs) == before {
			inputs = append(inputs, input{arg, errors.New("the folder holds no .json file, so nothing in it was verified")})
		}
	}
	return inputs
}

// A result is what became of one input: a report, or why there is none.
type result struct {
	name   string
	report *replay.Report
	err    error
}

type verification struct {
	policy    *checkpoint.Policy
	round     int64 // of a beacon that is known, 0 if none is
	signature []byte
	stdin     io.Reader
	stderr    io.Writer
}

// run verifies the inputs on all cores and calls done for each, in their order.
func (v *verification) run(ctx context.Context, inputs []input, done func(result)) {
	// A bundle leaves garbage and nothing else behind: collecting it rarely is worth some memory.
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	workers := min(runtime.GOMAXPROCS(0), len(inputs))
	results := make([]chan result, len(inputs))
	for i := range results {
		results[i] = make(chan result, 1)
	}
	next := make(chan int)
	ahead := make(chan struct{}, 64*workers) // bounds the reports that wait for an earlier one
	go func() {
		defer close(next)
		for i := range inputs {
			select {
			case ahead <- struct{}{}:
			case <-ctx.Done():
				return
			}
			next <- i
		}
	}()
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			verifier := replay.NewVerifier(v.policy)
			if v.round > 0 {
				verifier.Beacon(v.round, v.signature)
			}
			for i := range next {
				results[i] <- v.one(verifier, inputs[i])
			}
		})
	}
	bar := v.bar(len(inputs))
	for i := range inputs {
		select {
		case r := <-results[i]:
			<-ahead
			bar.Add(1)
			done(r)
		case <-ctx.Done():
			return // without waiting: a read may never end
		}
	}
	bar.Finish()
	wg.Wait()
}

func (v *verification) one(verifier *replay.Verifier, in input) result {
	if in.err != nil {
		return result{name: in.name, err: in.err}
	}
	data, err := v.read(in.name)
	if err != nil {
		return result{name: in.name, err: err}
	}
	return result{name: in.name, report: verifier.Verify(data)}
}

// read reads one byte more than a bundle can have and no more: the verifier refuses the rest.
func (v *verification) read(name string) ([]byte, error) {
	r := v.stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		if info, err := f.Stat(); err == nil && info.IsDir() {
			return nil, fmt.Errorf("%s is a folder", name)
		}
		r = f
	}
	return io.ReadAll(io.LimitReader(r, event.MaxBundle+1))
}

// bar is a progress bar for long work on a terminal, and nothing anywhere else.
func (v *verification) bar(n int) *progressbar.ProgressBar {
	f, ok := v.stderr.(*os.File)
	if n < 100 || !ok || !term.IsTerminal(int(f.Fd())) {
		return progressbar.DefaultSilent(int64(n))
	}
	return progressbar.NewOptions(n, progressbar.OptionSetWriter(f), progressbar.OptionSetDescription("verifying"),
		progressbar.OptionShowCount(), progressbar.OptionClearOnFinish())
}

// A printer prints results and remembers how they came out.
type printer struct {
	w      io.Writer
	json   bool
	single bool
	count  map[int]int // results by exit code
	err    error       // the first error of writing
}

func (p *printer) print(r result) {
	if p.count == nil {
		p.count = make(map[int]int)
	}
	p.count[r.code()]++
	switch {
	case p.json:
		report := r.report
		if report == nil {
			report = &replay.Report{Schema: replay.ReportSchema, Verdict: replay.Unchecked, Seats: []string{}, Steps: []replay.Line{}, Notes: []replay.Note{}}
		}
		line, err := json.Marshal(struct {
			File  string `json:"file"`
			Error string `json:"error,omitempty"`
			*replay.Report
		}{r.name, errorText(r.err), report})
		p.err = errors.Join(p.err, err)
		p.printf("%s\n", line)
	case r.err != nil:
		p.printf("%s: could not be read: %v\n", printable(r.name), printable(r.err.Error()))
	case p.single || r.report.Verdict != replay.Verified:
		p.printf("%s\n", printable(r.name))
		p.report(r.report)
	default:
		p.printf("%s: %s, %s%s\n", printable(r.name), r.report.Verdict, printable(headline(r.report)), printable(caveats(r.report)))
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func (p *printer) printf(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}

// printable escapes what a terminal would act on or hide: bundles and file names are made by others.
func printable(s string) string {
	var b strings.Builder
	for _, r := range s {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		}
	}
	return b.String()
}

// caveats says in short what a verified report does not show, and that it has notes.
func caveats(r *replay.Report) string {
	var hidden, notes []string
	for _, l := range r.Steps {
		if l.Status == replay.NotShown {
			hidden = append(hidden, string(l.Step))
		}
	}
	for _, n := range r.Notes {
		notes = append(notes, n.Code)
	}
	s := ""
	if len(hidden) > 0 {
		s += "; not shown: " + strings.Join(hidden, ", ")
	}
	if len(notes) > 0 {
		s += "; notes: " + strings.Join(notes, ", ")
	}
	return s
}

// headline says in one line what a bundle holds.
func headline(r *replay.Report) string {
	s := fmt.Sprintf("%s %s match %d, %d moves", r.Game, r.Variant, r.Number, r.Moves)
	if len(r.Seats) == 2 {
		s += fmt.Sprintf(", %s against %s", r.Seats[0], r.Seats[1])
	}
	switch {
	case r.Result == nil:
	case slices.Equal(r.Result.Returns, []int64{1, -1}):
		s += fmt.Sprintf(", won by %s: %s", r.Seats[0], r.Result.Reason)
	case slices.Equal(r.Result.Returns, []int64{-1, 1}):
		s += fmt.Sprintf(", won by %s: %s", r.Seats[1], r.Result.Reason)
	case slices.Equal(r.Result.Returns, []int64{0, 0}):
		s += fmt.Sprintf(", drawn: %s", r.Result.Reason)
	default:
		s += fmt.Sprintf(", %v: %s", r.Result.Returns, r.Result.Reason)
	}
	return s
}

// report prints a report in full.
func (p *printer) report(r *replay.Report) {
	if r.Match != "" {
		p.printf("  match %s\n  %s\n  log %s\n", r.Match, printable(headline(r)), printable(r.Origin))
	}
	for _, l := range r.Steps {
		p.printf("  %-10s  %-9s  %s\n", l.Step, l.Status, printable(l.Detail))
		if len(l.Faults) > 1 {
			for _, f := range l.Faults[1:] {
				p.printf("  %-10s  %-9s  %s\n", "", "", printable(f.Text()))
			}
		}
	}
	for _, n := range r.Notes {
		p.printf("  note: %s\n", printable(n.Text))
	}
	p.printf("  %s\n", verdictText(r))
}

// verdictText says what the verdict means.
func verdictText(r *replay.Report) string {
	switch r.Verdict {
	case replay.Verified:
		return "VERIFIED: nothing is wrong, and nothing that the policy demands is missing"
	case replay.Refuted:
		for _, l := range r.Steps {
			if l.Status == replay.Fail {
				return fmt.Sprintf("REFUTED at step %s: do not trust this bundle", l.Step)
			}
		}
	case replay.Incomplete:
		return "INCOMPLETE: right so far, but the bundle shows no end, and no checkpoint vouches for what it shows"
	}
	return "UNCHECKED: something needed is missing or not known to this program; see the steps that are not shown"
}

func (p *printer) summary() {
	if p.single || p.json {
		return
	}
	p.printf("%d verified, %d refuted, %d not checked, %d incomplete\n",
		p.count[exitDone], p.count[exitWrong], p.count[exitUnchecked], p.count[exitIncomplete])
}

// code is the exit code of one result.
func (r result) code() int {
	if r.err != nil {
		return exitUnchecked
	}
	switch r.report.Verdict {
	case replay.Verified:
		return exitDone
	case replay.Refuted:
		return exitWrong
	case replay.Incomplete:
		return exitIncomplete
	}
	return exitUnchecked
}

// code is the exit code of all results: the first of the promised order that occurred.
func (p *printer) code() int {
	for _, code := range []int{exitWrong, exitUnchecked, exitIncomplete} {
		if p.count[code] > 0 {
			return code
		}
	}
	return exitDone
}
