package main

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"ludger/ledger/canon"
	"ludger/ledger/event"
	"ludger/replay"
)

func openCommand() *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "open BUNDLE [--beacon FILE]",
		Short: "open a match whose operator does not tell its secret",
		Long: `Opens the hidden moves of a match with the beacon round that its opening names, offline. Until that
round is out nobody can; after it everybody can, the operator's help is not needed.

FILE holds the round as drand's servers give it: {"round":…,"signature":"…"}. Without --beacon the
command says which round of which chain it takes.

Prints the secret and every hidden move. Whether the match is right is for ludger verify, which
takes the same --beacon.`,
		Example: `  ludger open match.json
  curl https://api.drand.sh/52db…e971/public/30000000 > beacon.json
  ludger open match.json --beacon beacon.json
  ludger verify --policy hall/policy --beacon beacon.json match.json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := os.ReadFile(args[0])
			if err != nil {
				return exit{exitUnchecked, err}
			}
			b, err := replay.ParseBundle(text)
			if err != nil {
				return exit{exitUnchecked, fmt.Errorf("%s: %w", args[0], err)}
			}
			chain, round, err := replay.VaultRound(b)
			if err != nil {
				return exit{exitUnchecked, fmt.Errorf("%s: %w", args[0], err)}
			}
			at, err := chain.TimeOf(round)
			if err != nil {
				return exit{exitUnchecked, err}
			}
			if file == "" {
				fmt.Fprintf(cmd.OutOrStdout(), "opens with round %d of the chain %s (%v), which is due at Unix time %d\n", round, chain.Name, chain.Hash, at/1000)
				return nil
			}
			given, signature, err := readBeacon(file)
			if err != nil {
				return err
			}
			if given != round {
				return exit{exitUnchecked, fmt.Errorf("%s holds round %d\nhint: the match opens with round %d of the chain %s, due at Unix time %d", file, given, round, chain.Name, at/1000)}
			}
			o, err := replay.Open(b, signature)
			if errors.Is(err, replay.ErrVaultEmpty) {
				return exit{exitWrong, err}
			}
			if err != nil {
				return exit{exitUnchecked, err}
			}
			fmt.Fprintf(cmd.OutOrStdout(), "secret %x\n", o.Secret)
			for _, m := range o.Moves {
				fmt.Fprintf(cmd.OutOrStdout(), "event %d, turn %d, %v: %s\n", m.Seq, m.Turn, m.Seat, m.Move)
			}
			return nil
		},
	}
	beaconFlag(cmd, &file)
	return cmd
}

func beaconFlag(cmd *cobra.Command, file *string) {
	cmd.Flags().StringVar(file, "beacon", "", "file with a drand round, as its servers give it")
	cmd.MarkFlagFilename("beacon", "json")
}

// readBeacon reads a round as drand's servers give it. What it says besides is not looked at.
func readBeacon(file string) (round int64, signature []byte, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, nil, exit{exitUsage, fmt.Errorf("reading the beacon: %w", err)}
	}
	v, err := canon.Parse(text, canon.Limits{Bytes: 4 << 10, Depth: 1, Values: 9})
	if err == nil {
		f := v.Fields()
		round = f.Int("round", 1, event.MaxRound)
		text := f.String("signature", 2*event.MaxBeacon)
		if err = f.Err(); err == nil {
			signature, err = hex.DecodeString(text)
		}
	}
	if err != nil {
		return 0, nil, exit{exitUsage, fmt.Errorf("beacon %s: %w\nhint: it is what drand's servers answer at /<chain hash>/public/<round>", file, err)}
	}
	return round, signature, nil
}
