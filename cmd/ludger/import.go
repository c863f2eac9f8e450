package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"ludger/api/arena"
	"ludger/engine/catalog"
	"ludger/ledger/event"
	"ludger/ledger/sign"
	"ludger/replay"
	"ludger/replay/notation"
)

// chessID is the engine that PGN files are imported for.
const chessID = "chess@1"

func importCommand() *cobra.Command {
	var dir, seed, bad string
	cmd := &cobra.Command{
		Use:   "import --data DIR --seed TEXT FILE...",
		Short: "bring chess games from PGN files into the log",
		Long: `Brings every game of the PGN files ("-" is standard input) into the log as a signed match.
The players' keys are made from the seed and their names, and the matches are marked as imported:
their signatures prove the record's text, not who played.

Prints one line for each game. A game that was imported before, with the same seed, is found again
and not doubled, so a run that was interrupted is repeated as it was. A game that is illegal, cut
short or contradicts its own result is reported with its place; --bad says what then happens.`,
		Example: `  ludger import --data hall --seed "twelve or more secret characters" games.pgn
  ludger import --data hall --seed "…" --bad skip huge.pgn`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(seed) < minSeed {
				return exit{exitUsage, fmt.Errorf("seed of %d bytes is too short: everyone who guesses it has the players' keys\nhint: give at least %d", len(seed), minSeed)}
			}
			if bad != "refuse" && bad != "skip" {
				return exit{exitUsage, fmt.Errorf("--bad %q is neither refuse nor skip", bad)}
			}
			ctx := cmd.Context()
			h, err := openHall(ctx, dir)
			if err != nil {
				return failed(err)
			}
			defer h.Close()
			im := importer{hall: h, seed: []byte(seed), skip: bad == "skip", stdout: cmd.OutOrStdout(), stderr: cmd.ErrOrStderr()}
			for _, name := range args {
				if err = im.file(ctx, name, cmd.InOrStdin()); err != nil {
					break
				}
			}
			if err == nil || isBadGame(err) || ctx.Err() != nil { // else the disk is what failed
				err = errors.Join(err, im.finish(ctx))
			}
			return failed(err)
		},
	}
	dataFlag(cmd, &dir)
	cmd.Flags().StringVar(&seed, "seed", "", "secret from which the players' keys are made")
	cmd.Flags().StringVar(&bad, "bad", "refuse", "what to do with a bad game: refuse stops there, skip goes on")
	cmd.MarkFlagRequired("seed")
	cmd.RegisterFlagCompletionFunc("bad", cobra.FixedCompletions([]cobra.Completion{"refuse", "skip"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// minSeed is the shortest seed in bytes.
const minSeed = 12

type importer struct {
	hall   *hall
	seed   []byte
	skip   bool
	stdout io.Writer
	stderr io.Writer

	imported, before, skipped int
}

// file imports every game of a file.
func (im *importer) file(ctx context.Context, name string, stdin io.Reader) error {
	r := stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		r = f
	}
	games := notation.NewPGNReader(r)
	for {
		g, err := games.Next()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = im.game(ctx, g)
		}
		if err == nil {
			continue
		}
		err = fmt.Errorf("%s: %w", name, err)
		if !isBadGame(err) {
			return err
		}
		if !im.skip {
			return exit{exitWrong, fmt.Errorf("%w\nhint: the games before it are imported; --bad skip leaves such games out", err)}
		}
		im.skipped++
		fmt.Fprintln(im.stderr, "skipped:", err)
	}
}

// isBadGame tells what is wrong with a game from what is wrong with the disk.
func isBadGame(err error) bool {
	var pgn *notation.PGNError
	return errors.As(err, &pgn)
}

// badGame is the error of a game whose text is well formed.
func badGame(g *notation.PGN, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	return &notation.PGNError{Game: g.Game, Line: g.Line, Reason: err.Error(), Err: errors.Unwrap(err)}
}

func (im *importer) game(ctx context.Context, g *notation.PGN) error {
	r, err := record(g, im.seed)
	if err != nil {
		return err
	}
	m, err := im.hall.arena.Import(ctx, r, now())
	if err != nil {
		var fault *replay.Fault
		if errors.Is(err, arena.ErrResult) || errors.As(err, &fault) {
			return badGame(g, "%w", err)
		}
		return err
	}
	word := "imported"
	if im.imported++; m.Before {
		im.imported--
		im.before++
		word = "was there"
	}
	fmt.Fprintf(im.stdout, "%s match %v number %d: %s against %s, %s, %d events from index %d\n",
		word, m.Match, m.Number, r.Players[0].Handle, r.Players[1].Handle, g.Result, m.Events, m.First)
	return nil
}

// finish publishes what was imported and sums up.
func (im *importer) finish(ctx context.Context) error {
	_, head, err := im.hall.publish(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	fmt.Fprintf(im.stderr, "%d games imported, %d were there, %d skipped; checkpoint of %d entries signed\n",
		im.imported, im.before, im.skipped, head.Size)
	return nil
}

// record makes a PGN game into a record that can be imported.
func record(g *notation.PGN, seed []byte) (arena.Record, error) {
	if g.Cut {
		return arena.Record{}, badGame(g, "the movetext ends without a result: the game may be cut short")
	}
	if tag := g.Tag("Result"); tag != "" && tag != g.Result {
		return arena.Record{}, badGame(g, "its Result tag says %s, its moves end with %s", tag, g.Result)
	}
	setup, err := g.Setup()
	if err != nil {
		return arena.Record{}, err
	}
	game, err := catalog.Game(chessID)
	if err != nil {
		return arena.Record{}, err
	}
	p, err := game.New(setup)
	if err != nil {
		return arena.Record{}, badGame(g, "%w", err)
	}
	moves, err := g.Replay(p)
	if err != nil {
		return arena.Record{}, err
	}
	var text strings.Builder
	if err := notation.WritePGN(&text, g); err != nil {
		return arena.Record{}, badGame(g, "%w", err)
	}
	r := arena.Record{
		Game: chessID, Setup: setup, Format: "pgn", Digest: sha256.Sum256([]byte(text.String())), Moves: moves,
		Rule: "the record states no result",
	}
	switch g.Result {
	case "1-0":
		r.Returns = []int64{1, -1}
	case "0-1":
		r.Returns = []int64{-1, 1}
	case "1/2-1/2":
		r.Returns = []int64{0, 0}
	}
	if r.Returns != nil {
		r.Rule = clip("the record states "+g.Result+termination(g), event.MaxRule)
	}
	white, black := handle(g.Tag("White"), "white"), handle(g.Tag("Black"), "black")
	if white == black {
		white, black = clip(white, event.MaxHandle-6)+"-white", clip(black, event.MaxHandle-6)+"-black"
	}
	for _, h := range []string{white, black} {
		r.Players = append(r.Players, arena.Player{Handle: h, Key: sign.DeriveKey(seed, h)})
	}
	return r, nil
}

func termination(g *notation.PGN) string {
	if t := g.Tag("Termination"); t != "" {
		return ", termination " + t
	}
	return ""
}

// clip shortens s to at most n bytes, at the end of a character.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// handle makes a handle from a player's name: its letters and digits in lower case, with hyphens for
// spaces. Where the name holds anything else, or too little, or too much, a part of its digest is
// added, so that names become one handle only if they differ in nothing but case and those hyphens.
func handle(name, unknown string) string {
	name = strings.TrimSpace(name)
	if name == "" || name == "?" {
		return unknown
	}
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return !('a' <= r && r <= 'z' || '0' <= r && r <= '9')
	})
	h := strings.Join(words, "-")
	sum := sha256.Sum256([]byte(name))
	lossy := h != strings.ReplaceAll(strings.ToLower(name), " ", "-")
	if mark := hex.EncodeToString(sum[:3]); lossy || len(h) < event.MinHandle || len(h) > event.MaxHandle {
		h = strings.Trim(clip(h, event.MaxHandle-1-len(mark)), "-") + "-" + mark
	}
	return strings.Trim(h, "-")
}
