package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"ludger/checkpoint"
	"ludger/ledger/event"
)

func keygenCommand() *cobra.Command {
	var dir, origin string
	cmd := &cobra.Command{
		Use:   "keygen --origin NAME --data DIR",
		Short: "make a data folder with a new log key",
		Long: `Makes a data folder with the private key that signs the log's checkpoints, and the trust
policy that auditors need. The origin names the log for ever: use its address without scheme.

Prints the log's verifier key. A key that exists is never replaced.`,
		Example: `  ludger keygen --origin example.com/log --data hall`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := event.CheckOrigin(origin); err != nil {
				return exit{exitUsage, err}
			}
			var seed [32]byte
			rand.Read(seed[:])
			signer, err := checkpoint.NewSigner(origin, seed)
			if err != nil {
				return exit{exitUsage, err}
			}
			if err := createHall(dir, signer); err != nil {
				if errors.Is(err, fs.ErrExist) {
					err = fmt.Errorf("%w\nhint: this folder is in use; choose another, or go on with its key", err)
				}
				return failed(err)
			}
			fmt.Fprintln(cmd.OutOrStdout(), signer.Verifier())
			fmt.Fprintf(cmd.ErrOrStderr(), "private key in %s: keep it secret and keep a copy\npolicy for auditors in %s\n", keyFile(dir), policyFile(dir))
			return nil
		},
	}
	cmd.Flags().StringVar(&origin, "origin", "", "name of the log, such as example.com/log")
	dataFlag(cmd, &dir)
	cmd.MarkFlagRequired("origin")
	return cmd
}

func dataFlag(cmd *cobra.Command, dir *string) {
	cmd.Flags().StringVar(dir, "data", "", "data folder")
	cmd.MarkFlagRequired("data")
	cmd.MarkFlagDirname("data")
}
