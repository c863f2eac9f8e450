package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"ludger/checkpoint"
	"ludger/ledger"
	"ludger/ledger/canon"
	"ludger/ledger/event"
	"ludger/replay"
)

func bundleCommand() *cobra.Command {
	var dir, out string
	cmd := &cobra.Command{
		Use:   "bundle --data DIR --out DIR [MATCH]...",
		Short: "write what auditors need, one file for each match",
		Long: `Writes a bundle for each match named by its id, or for all of them: its events verbatim,
with proofs that the log's signed checkpoint holds them. Signs a checkpoint first if the log grew.

Prints the name of each file it writes.`,
		Example: `  ludger bundle --data hall --out bundles
  ludger bundle --data hall --out bundles 1f0c…64 hex digits`,
		RunE: func(cmd *cobra.Command, args []string) error {
			ids := make([]event.MatchID, len(args))
			for i, arg := range args {
				if !canon.DecodeHex(ids[i][:], arg) {
					return exit{exitUsage, fmt.Errorf("match %q is not 64 lowercase hex digits", arg)}
				}
			}
			ctx := cmd.Context()
			h, err := openHall(ctx, dir)
			if err != nil {
				return failed(err)
			}
			defer h.Close()
			files, err := writeBundles(ctx, h, out, ids)
			for _, f := range files {
				fmt.Fprintln(cmd.OutOrStdout(), f)
			}
			return failed(err)
		},
	}
	dataFlag(cmd, &dir)
	cmd.Flags().StringVar(&out, "out", "", "folder to write to")
	cmd.MarkFlagRequired("out")
	cmd.MarkFlagDirname("out")
	return cmd
}

// writeBundles writes the bundles of the given matches, or of all, into a folder and returns the
// names of the files written.
func writeBundles(ctx context.Context, h *hall, out string, ids []event.MatchID) (files []string, err error) {
	note, head, err := h.publish(ctx)
	if err != nil {
		return nil, err
	}
	if len(ids) == 0 {
		if ids, err = matches(ctx, h.log); err != nil {
			return nil, err
		}
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return nil, err
	}
	policy, err := checkpoint.NewPolicy(h.signer.Verifier())
	if err != nil {
		return nil, err
	}
	verifier := replay.NewVerifier(policy)
	for _, id := range ids {
		b, err := h.arena.Bundle(ctx, id, head, note)
		if err != nil {
			return files, err
		}
		text := b.Bytes()
		if r := verifier.Verify(text); r.Verdict == replay.Refuted {
			return files, fmt.Errorf("%w: the bundle of match %v would not verify: %s", ledger.ErrCorrupt, id, refutation(r))
		}
		name := filepath.Join(out, id.String()+".json")
		if err := replaceFile(name, text); err != nil {
			return files, err
		}
		files = append(files, name)
	}
	return files, nil
}

// refutation returns the first thing that is wrong in a report.
func refutation(r *replay.Report) string {
	for _, l := range r.Steps {
		if l.Status == replay.Fail {
			return fmt.Sprintf("step %s: %s", l.Step, l.Detail)
		}
	}
	return ""
}

// replaceFile writes a file whole or not at all.
func replaceFile(name string, data []byte) error {
	tmp := name + ".tmp"
	if err := os.WriteFile(tmp, data, 0o644); err != nil {
		return errors.Join(err, os.Remove(tmp))
	}
	return os.Rename(tmp, name)
}

// matches lists the matches of a log in the order of their openings.
func matches(ctx context.Context, log ledger.Log) ([]event.MatchID, error) {
	var ids []event.MatchID
	err := scan(ctx, log, func(index int64, entry []byte) error {
		e, err := event.Parse(entry)
		if err != nil {
			return fmt.Errorf("reading entry %d: %w", index, err)
		}
		if id, ok := e.Stream.Match(); ok && e.Seq == 0 {
			ids = append(ids, id)
		}
		return nil
	})
	return ids, err
}

// scan calls f for each entry of a log, up to the size it has at the start.
func scan(ctx context.Context, log ledger.Log, f func(index int64, entry []byte) error) error {
	head, err := log.Head(ctx)
	if err != nil {
		return err
	}
	for index := int64(0); index < head.Size; {
		entries, err := log.Scan(ctx, index, int(min(1024, head.Size-index)))
		if err != nil {
			return err
		}
		for _, entry := range entries {
			if err := f(index, entry); err != nil {
				return err
			}
			index++
		}
	}
	return nil
}
