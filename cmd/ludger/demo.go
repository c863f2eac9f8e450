package main

import (
	"bytes"
	"context"
	"crypto/rand"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"ludger/checkpoint"
	"ludger/replay"
)

// demoGames are games that this program's own engine played against itself (TestVectorsDemoGames).
//
//go:embed demo.pgn
var demoGames []byte

func demoCommand() *cobra.Command {
	var keep string
	cmd := &cobra.Command{
		Use:   "demo [FILE]",
		Short: "import, publish, bundle, verify, and see a forgery refused",
		Long: `Does the main job once in a temporary folder, with nothing to configure: imports chess games
(a PGN file, or a few games that come with the program), signs a checkpoint, writes bundles,
verifies them offline, and then flips one byte of a copy to show the refusal.`,
		Example: `  ludger demo
  ludger demo --keep /tmp/hall games.pgn`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			games := demoGames
			if len(args) == 1 {
				var err error
				if games, err = os.ReadFile(args[0]); err != nil {
					return failed(err)
				}
			}
			dir := keep
			if dir == "" {
				tmp, err := os.MkdirTemp("", "ludger-demo-")
				if err != nil {
					return failed(err)
				}
				defer os.RemoveAll(tmp)
				dir = tmp
			}
			return failed(demo(cmd.Context(), dir, games, cmd.OutOrStdout(), cmd.ErrOrStderr()))
		},
	}
	cmd.Flags().StringVar(&keep, "keep", "", "folder to work in and to keep")
	cmd.MarkFlagDirname("keep")
	return cmd
}

func demo(ctx context.Context, dir string, games []byte, stdout, stderr io.Writer) error {
	data, out := filepath.Join(dir, "hall"), filepath.Join(dir, "bundles")
	var seed [32]byte
	rand.Read(seed[:])
	signer, err := checkpoint.NewSigner("demo.example/log", seed)
	if err != nil {
		return err
	}
	if err := createHall(data, signer); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "1. A data folder with a new log key, and the policy that auditors are given:\n\n")
	policyText, err := os.ReadFile(policyFile(data))
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%s\n2. Games are imported: every move is signed and appended.\n\n", policyText)

	note, files, err := demoImport(ctx, data, out, games, stdout, stderr)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "\n3. The log's head is signed. This note commits to every entry:\n\n%s\n", note)
	fmt.Fprintf(stdout, "4. Each match is a file that verifies offline. The first in full, then the others:\n\n")
	policy, err := checkpoint.ParsePolicy(policyText)
	if err != nil {
		return err
	}
	v := verification{policy: policy, stderr: stderr}
	first := &printer{w: stdout, single: true}
	v.run(ctx, expand(files[:1]), first.print)
	rest := &printer{w: stdout}
	v.run(ctx, expand(files[1:]), rest.print)
	if err := errors.Join(first.err, rest.err, ctx.Err()); err != nil {
		return err
	}
	if first.code() != exitDone || rest.code() != exitDone {
		return exit{exitWrong, errors.New("a bundle of the demo did not verify")}
	}

	forged, err := forge(files[0])
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "\n5. One byte of a copy of the first file is flipped:\n\n")
	bad := &printer{w: stdout, single: true}
	v.run(ctx, expand([]string{forged}), bad.print)
	if bad.err != nil {
		return bad.err
	}
	if bad.code() != exitWrong {
		return exit{exitWrong, errors.New("the forged bundle of the demo was not refuted")}
	}
	fmt.Fprintf(stdout, "\nDone: %d matches verified, the forgery refused.\n", len(files))
	return nil
}

// demoImport imports the games into a new hall and writes their bundles.
func demoImport(ctx context.Context, data, out string, games []byte, stdout, stderr io.Writer) (note []byte, files []string, err error) {
	h, err := openHall(ctx, data)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	im := importer{hall: h, seed: []byte("seed of the demo, known to all"), stdout: stdout, stderr: stderr}
	if err := im.file(ctx, "-", bytes.NewReader(games)); err != nil {
		return nil, nil, err
	}
	if err := im.finish(ctx); err != nil {
		return nil, nil, err
	}
	if im.imported == 0 {
		return nil, nil, exit{exitUnchecked, errors.New("the file holds no games")}
	}
	if note, _, err = h.publish(ctx); err != nil {
		return nil, nil, err
	}
	files, err = writeBundles(ctx, h, out, nil)
	return note, files, err
}

// forge copies a bundle with one bit of its third move's signature flipped.
func forge(name string) (string, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return "", err
	}
	b, err := replay.ParseBundle(text)
	if err != nil {
		return "", err
	}
	at := 0
	if len(b.Events) > 5 { // after the opening and the two acknowledgements
		at = bytes.Index(text, b.Events[5].Raw())
	}
	at += bytes.Index(text[at:], []byte(`"signature":"`)) + len(`"signature":"`)
	text[at] ^= 1 // one hexadecimal digit becomes another: 0 and 1, a and '`' differ in this bit
	if c := text[at]; c == '`' || c == 'g' {
		text[at] ^= 3
	}
	forged := name + ".forged"
	return forged, os.WriteFile(forged, text, 0o644)
}
