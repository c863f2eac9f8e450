package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"ludger/api/arena"
	"ludger/checkpoint/publish"
	"ludger/ledger"
	"ludger/ledger/sequencer"
	"ludger/replay/audit"
)

func fsckCommand() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "fsck --data DIR",
		Short: "recompute everything in a data folder",
		Long: `Reads every entry of the log and recomputes what it can: the tree and its root, the index, every
stream, every signature, every match by the rules of its game, and the published head.

Exit code 0 if all agrees; 1 if anything does not, with one line for each finding.`,
		Example: `  ludger fsck --data hall`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			found, err := fsck(cmd.Context(), dir, cmd.OutOrStdout())
			if err != nil {
				return failed(err)
			}
			if found > 0 {
				return exit{code: exitWrong}
			}
			return nil
		},
	}
	dataFlag(cmd, &dir)
	return cmd
}

// fsck prints what is wrong with a data folder and returns how much that is. It opens the log below
// the guard of its head, so that a log the guard refuses can be looked at.
func fsck(ctx context.Context, dir string, w io.Writer) (found int, err error) {
	signer, err := readKey(dir)
	if err != nil {
		return 0, err
	}
	log, cells, err := openStores(dir)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, log.Close(), cells.Close()) }()
	finding := func(f any) {
		found++
		fmt.Fprintln(w, printable(fmt.Sprint(f)))
	}
	head, err := log.Head(ctx)
	if err != nil {
		return 0, err
	}
	published := int64(-1)
	if pub, err := publish.Open(ctx, publish.Config{Log: log, Cells: cells, Signer: signer}); err != nil {
		finding(err)
	} else {
		_, last := pub.Latest()
		published = last.Size
	}
	if err := sequencer.Check(ctx, log); err != nil {
		finding(err)
	}
	a := audit.New(signer.Verifier().Name())
	err = scan(ctx, log, func(index int64, entry []byte) error {
		for _, f := range a.Apply(entry) {
			finding(f)
		}
		for _, f := range a.Notes() {
			fmt.Fprintln(w, "note: "+printable(f.String()))
		}
		if err := arena.CheckImported(ctx, log, index, entry); errors.Is(err, ledger.ErrCorrupt) {
			finding(err)
		} else if err != nil {
			return err
		}
		return ctx.Err()
	})
	if err != nil {
		return found, err
	}
	c := a.Counts()
	if c.Aborted+c.Adjudicated+c.Unchecked+c.Overdue > 0 {
		fmt.Fprintf(w, "%d matches aborted, %d of them after their beacon, %d while their beacon was out and not recorded; %d adjudicated; %d overdue to be ended; %d events not judged\n",
			c.Aborted, c.Drawn, c.Voided, c.Adjudicated, c.Overdue, c.Unchecked)
	}
	fmt.Fprintf(w, "%d entries with root %x, checkpoint of %d published, %d matches sealed, %d open: %d findings\n",
		head.Size, head.Root, published, c.Sealed, c.Open, found)
	return found, nil
}
