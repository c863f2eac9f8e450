package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"ludger/api/arena"
	"ludger/ledger/event"
	"ludger/ledger/sign"
)

func arenaCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "arena",
		Short: "let arenas append matches",
		Long: `An arena is a program that runs matches and appends them to the log over HTTP. It signs its requests
with a key of its own, which the log's operator admits under a name.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(arenaKeyCommand(), arenaAdmitCommand())
	return cmd
}

func arenaKeyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "key FILE",
		Short: "make a key for an arena",
		Long: `Writes a new private key into a file, and prints its public key for the log's operator. The private
key is an Ed25519 seed in 64 hex digits (RFC 8032). A file that exists is never replaced.`,
		Example: `  ludger arena key chess-hall.key`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var seed [32]byte
			rand.Read(seed[:])
			if err := writeNew(args[0], fmt.Appendf(nil, "%x\n", seed), 0o600); err != nil {
				if errors.Is(err, fs.ErrExist) {
					err = fmt.Errorf("%w\nhint: choose another name, or go on with the key that is there", err)
				}
				return failed(err)
			}
			fmt.Fprintln(cmd.OutOrStdout(), sign.NewPrivateKey(seed).Public())
			fmt.Fprintf(cmd.ErrOrStderr(), "private key in %s: keep it secret\n", args[0])
			return nil
		},
	}
}

func arenaAdmitCommand() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "admit NAME KEY --data DIR",
		Short: "let an arena append matches",
		Long: `Logs that an arena may append matches: its name, of 3 to 32 letters, digits, hyphens and
underscores, and its public key of 64 hex digits. A name has one key for ever; to admit it again
changes nothing.

Works on the data folder, so a server of the same folder has to be stopped before.`,
		Example: `  ludger arena admit chess-hall $(ludger arena key chess-hall.key) --data hall`,
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			name := args[0]
			if err := event.CheckHandle(name); err != nil {
				return exit{exitUsage, err}
			}
			key, err := sign.ParsePublicKey(args[1])
			if err == nil {
				_, err = sign.NewVerifier(key)
			}
			if err != nil {
				return exit{exitUsage, err}
			}
			ctx := cmd.Context()
			h, err := openHall(ctx, dir)
			if err != nil {
				return failed(err)
			}
			defer func() { err = errors.Join(err, failed(h.Close())) }()
			leaf, err := h.arena.Admit(ctx, name, key)
			if errors.Is(err, arena.ErrTaken) {
				return exit{exitUnchecked, fmt.Errorf("the arena %s was admitted with another key\nhint: choose another name", name)}
			}
			if err != nil {
				return failed(err)
			}
			if _, _, err := h.publish(ctx); err != nil {
				return failed(err)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "admitted %s with the key %v: event %v\n", name, key, leaf)
			return nil
		},
	}
	dataFlag(cmd, &dir)
	return cmd
}
