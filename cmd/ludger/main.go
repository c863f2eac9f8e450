// Command ludger keeps a verifiable match ledger, and verifies what others keep.
//
//	ludger keygen --origin example.com/log --data hall
//	ludger import --data hall --seed "a long secret" games.pgn
//	ludger bundle --data hall --out bundles
//	ludger verify --policy hall/policy bundles
//
// Results go to standard output, everything else to standard error. The exit codes are promised:
//
//	0  done; verified
//	1  checked and found wrong
//	2  the command line is wrong
//	3  could not be checked: unreadable, of an unknown version, or missing what the policy demands
//	4  network or server
//	5  incomplete: right so far, but the match is not over
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"ludger/api/arena"
	"ludger/checkpoint/publish"
	"ludger/ledger"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the first signal asks, the second one kills
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// An exit is an error with the code the program ends with. A nil err prints nothing more.
type exit struct {
	code int
	err  error
}

func (e exit) Error() string { return e.err.Error() }
func (e exit) Unwrap() error { return e.err }

// The exit codes, as the command's documentation promises them.
const (
	exitDone       = 0
	exitWrong      = 1
	exitUsage      = 2
	exitUnchecked  = 3
	exitNetwork    = 4
	exitIncomplete = 5
)

// run is the program: it takes what the operating system gives and returns the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := &cobra.Command{
		Use:   "ludger",
		Short: "a verifiable match ledger for arenas where agents play",
		Long: `Ludger keeps matches as signed events in a transparency log, and lets anyone check
offline that nothing was changed, dropped or decided against the rules.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.AddCommand(keygenCommand(), importCommand(), bundleCommand(), verifyCommand(), openCommand(), fsckCommand(), serveCommand(), arenaCommand(), demoCommand())
	out := &output{w: stdout}
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(out)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(ctx)
	if out.err != nil {
		err = exit{exitUnchecked, fmt.Errorf("writing the output: %w", out.err)}
	}
	if err == nil {
		return exitDone
	}
	var e exit
	if !errors.As(err, &e) { // what cobra itself refuses: an unknown command, a missing flag, a number of arguments
		e = exit{exitUsage, fmt.Errorf("%w\nhint: see %s --help", err, cmd.CommandPath())}
		err = e
	}
	code := e.code
	if e.err == nil {
		return code
	}
	fmt.Fprintln(stderr, "ludger:", err)
	if h := hint(err); h != "" {
		fmt.Fprintln(stderr, "hint:", h)
	}
	return code
}

// An output keeps the first error of writing, since what it was to hold is the program's result.
type output struct {
	w   io.Writer
	err error
}

func (o *output) Write(p []byte) (int, error) {
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.w.Write(p)
	o.err = err
	return n, err
}

// failed gives an error of the program's work its exit code.
func failed(err error) error {
	if err == nil {
		return nil
	}
	var e exit
	if errors.As(err, &e) {
		return err
	}
	var head *publish.HeadError
	if errors.Is(err, ledger.ErrCorrupt) || errors.As(err, &head) {
		return exit{exitWrong, err}
	}
	return exit{exitUnchecked, err}
}

// hint says what the user can do about an error, where the error does not say it itself.
func hint(err error) string {
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return "free some space and run the command again: what was acknowledged is kept"
	case errors.Is(err, arena.ErrTaken):
		return "use the seed of the first import, or another data folder"
	case errors.Is(err, ledger.ErrReused):
		return "give the same --seed as before, or another data folder"
	case errors.Is(err, ledger.ErrCorrupt):
		return "keep the folder as it is, and restore a copy that ludger fsck accepts"
	case errors.Is(err, context.Canceled):
		return "interrupted: run the same command again, it goes on where it stopped"
	}
	return ""
}
