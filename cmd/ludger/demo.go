package main

import (
	"bytes"
	"context"
	"crypto/rand"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"ludger/api/client"
	"ludger/checkpoint"
	"ludger/ledger/event"
	"ludger/ledger/sign"
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
		Short: "import, play over HTTP, verify offline, and see a forgery refused",
		Long: `Does the main job once in a temporary folder, with nothing to configure: imports chess games
(a PGN file, or a few games that come with the program), serves the log on a free port of this
machine, lets an arena play backgammon and battleship over HTTP with bots that have keys of their
own, downloads every match as a bundle, stops the server, verifies all of it offline, and then
flips one byte of a copy to show the refusal.`,
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

	imported, err := demoImport(ctx, data, games, stdout, stderr)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "\n3. An arena is admitted, and plays two matches over HTTP. In both the seed of chance comes from a\n   beacon round that was not out when the match was opened, and from a secret that the hall had\n   committed itself to:\n\n")
	note, files, err := demoServe(ctx, data, out, signer.Verifier(), imported, stdout)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "\n4. The log's head is signed. This note commits to every entry:\n\n%s\n", note)
	fmt.Fprintf(stdout, "5. The server is stopped. Each match is a file that verifies offline. One in full, then the others:\n\n")
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
	fmt.Fprintf(stdout, "\n6. One byte of a copy of the first file is flipped:\n\n")
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

// demoImport imports the games into a new hall, and admits the arena of the demo.
func demoImport(ctx context.Context, data string, games []byte, stdout, stderr io.Writer) (ids []event.MatchID, err error) {
	h, err := openHall(ctx, data)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	im := importer{hall: h, seed: demoSeed, stdout: stdout, stderr: stderr}
	if err := im.file(ctx, "-", bytes.NewReader(games)); err != nil {
		return nil, err
	}
	if err := im.finish(ctx); err != nil {
		return nil, err
	}
	if im.imported == 0 {
		return nil, exit{exitUnchecked, errors.New("the file holds no games")}
	}
	if _, err = h.arena.Admit(ctx, demoArena, sign.DeriveKey(demoSeed, demoArena).Public()); err != nil {
		return nil, err
	}
	return matches(ctx, h.log)
}

// The arena of the demo, and the seed of its keys and its bots'.
const demoArena = "demo-arena"

var demoSeed = []byte("seed of the demo, known to all")

// demoServe serves the hall while the arena plays, and returns the newest checkpoint and the files of
// all bundles, those of the matches played now before the imported ones.
func demoServe(ctx context.Context, data, out string, log *checkpoint.Verifier, imported []event.MatchID, stdout io.Writer) (note []byte, files []string, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	address, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		ended <- serve(ctx, data, "127.0.0.1:0", nil, writerFunc(func(b []byte) (int, error) {
			address <- strings.TrimSpace(string(b))
			return len(b), nil
		}), slog.New(slog.DiscardHandler))
	}()
	defer func() {
		stop()
		err = errors.Join(err, <-ended)
	}()
	var base string
	select {
	case base = <-address:
	case err := <-ended:
		ended <- nil
		return nil, nil, err
	}
	c, err := client.New(client.Config{Base: base, Log: log, Arena: demoArena, Key: sign.DeriveKey(demoSeed, demoArena)})
	if err != nil {
		return nil, nil, err
	}
	defer c.Close()
	if err := os.MkdirAll(out, 0o755); err != nil {
		return nil, nil, err
	}
	ids, err := demoPlay(ctx, c, log.Name(), stdout)
	if err != nil {
		return nil, nil, err
	}
	for _, id := range append(ids, imported...) {
		text, err := c.Bundle(ctx, id)
		if err != nil {
			return nil, nil, err
		}
		name := filepath.Join(out, id.String()+".json")
		if err := replaceFile(name, text); err != nil {
			return nil, nil, err
		}
		files = append(files, name)
	}
	note, err = c.Note(ctx)
	return note, files, err
}

// A writerFunc is a function that is an io.Writer.
type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// demoPlay plays both matches at once.
func demoPlay(ctx context.Context, c *client.Client, origin string, stdout io.Writer) ([]event.MatchID, error) {
	games := []struct{ id, variant string }{{"battleship@1", "standard"}, {"backgammon@1", "single"}}
	ids, errs := make([]event.MatchID, len(games)), make([]error, len(games))
	var wg sync.WaitGroup
	for i, g := range games {
		wg.Go(func() {
			name, _, _ := strings.Cut(g.id, "@")
			ids[i], errs[i] = play(ctx, c, origin, g.id, g.variant, newBot(demoSeed, name+"-bot-1"), newBot(demoSeed, name+"-bot-2"))
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	for i, g := range games {
		v, err := c.View(ctx, ids[i])
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(stdout, "   %s: match %d, %d moves in %d events: %s %v\n", g.id, v.Opened.Number, v.Turn, v.Length, v.Outcome.Reason, v.Outcome.Returns)
	}
	return ids, nil
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
	at, open := 0, 0
	for _, e := range b.Events { // the third open move
		if e.Kind == event.KindMovePlayed && bytes.Contains(e.Raw(), []byte(`"signature":"`)) {
			if open++; open == 3 {
				at = bytes.Index(text, e.Raw())
			}
		}
	}
	at += bytes.Index(text[at:], []byte(`"signature":"`)) + len(`"signature":"`)
	text[at] ^= 1 // one hexadecimal digit becomes another: 0 and 1, a and '`' differ in this bit
	if c := text[at]; c == '`' || c == 'g' {
		text[at] ^= 3
	}
	forged := name + ".forged"
	return forged, os.WriteFile(forged, text, 0o644)
}
