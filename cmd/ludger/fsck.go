package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

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
			h, err := openHall(cmd.Context(), dir)
			if err != nil {
				return failed(err)
			}
			defer h.Close()
			found, err := fsck(cmd.Context(), h, cmd.OutOrStdout())
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

// fsck prints what is wrong with a hall's log and returns how much that is.
func fsck(ctx context.Context, h *hall, w io.Writer) (found int, err error) {
	head, err := h.log.Head(ctx)
	if err != nil {
		return 0, err
	}
	if err := sequencer.Check(ctx, h.log); err != nil {
		found++
		fmt.Fprintln(w, err)
	}
	a := audit.New(h.arena.Origin())
	err = scan(ctx, h.log, func(_ int64, entry []byte) error {
		for _, f := range a.Apply(entry) {
			found++
			fmt.Fprintln(w, f)
		}
		return ctx.Err()
	})
	if err != nil {
		return found, err
	}
	fmt.Fprintf(w, "%d entries with root %x, %d matches sealed, %d open: %d findings\n", head.Size, head.Root, a.Sealed(), a.Open(), found)
	return found, nil
}
