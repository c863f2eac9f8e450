package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"time"

	"github.com/spf13/cobra"

	"ludger/api"
	"ludger/checkpoint/beacon"
	"ludger/checkpoint/drand"
)

func serveCommand() *cobra.Command {
	var dir, listen, format, chain string
	var urls []string
	cmd := &cobra.Command{
		Use:   "serve --data DIR [--listen HOST:PORT]",
		Short: "serve a data folder over HTTP",
		Long: `Serves the matches and the log of a data folder: admitted arenas append over HTTP, everybody reads.
Prints the address it listens on; port 0 takes a free one. One line for each request goes to
standard error.

An interrupt (Ctrl-C) or SIGTERM ends it gracefully: no new requests, those under way finish, streams
end, and what was added is published. A second one ends it at once; nothing acknowledged is lost.

What chance decides comes from a beacon. Without --beacon-url it is a test beacon of the program's own,
which is not public randomness, and every report says so. With --beacon-url, once for each server, it
is drand's quicknet, or the chain that --chain describes.

The server speaks plain HTTP. To the open network it belongs behind a proxy that does TLS.`,
		Example: `  ludger arena admit chess-hall 5f0c…64 hex digits --data hall
  ludger serve --data hall --listen 127.0.0.1:8080
  ludger serve --data hall --beacon-url https://api.drand.sh --beacon-url https://drand.cloudflare.com`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			logger, err := newLogger(format, cmd.ErrOrStderr())
			if err != nil {
				return exit{exitUsage, err}
			}
			source, err := beaconSource(urls, chain, logger)
			if err != nil {
				return exit{exitUsage, err}
			}
			if source == nil {
				return failed(serve(cmd.Context(), dir, listen, nil, cmd.OutOrStdout(), logger))
			}
			defer source.Close()
			return failed(serve(cmd.Context(), dir, listen, source, cmd.OutOrStdout(), logger))
		},
	}
	dataFlag(cmd, &dir)
	cmd.Flags().StringVar(&listen, "listen", "127.0.0.1:8080", "address to listen on")
	cmd.Flags().StringArrayVar(&urls, "beacon-url", nil, "address of a drand server; may be given several times")
	cmd.Flags().StringVar(&chain, "chain", "", "file that describes the beacon's chain; quicknet if not given")
	cmd.MarkFlagFilename("chain", "json")
	cmd.Flags().StringVar(&format, "log", "text", "form of the log lines: text or json")
	cmd.RegisterFlagCompletionFunc("log", cobra.FixedCompletions([]cobra.Completion{"text", "json"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func newLogger(format string, w io.Writer) (*slog.Logger, error) {
	switch format {
	case "text":
		return slog.New(slog.NewTextHandler(w, nil)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, nil)), nil
	}
	return nil, fmt.Errorf("--log %q is neither text nor json", format)
}

// beaconSource returns the drand servers that are asked for, nil if none are.
func beaconSource(urls []string, chain string, logger *slog.Logger) (*drand.HTTP, error) {
	if len(urls) == 0 {
		if chain != "" {
			return nil, errors.New("--chain is for the servers of --beacon-url, and there are none")
		}
		return nil, nil
	}
	info := beacon.Quicknet()
	if chain != "" {
		text, err := os.ReadFile(chain)
		if err != nil {
			return nil, err
		}
		if info, err = beacon.ParseInfo(bytes.TrimSuffix(text, []byte("\n"))); err != nil {
			return nil, fmt.Errorf("chain %s: %w", chain, err)
		}
	}
	return drand.NewHTTP(info, urls, drand.HTTPOptions{Log: logger})
}

// serve serves a data folder until ctx ends. It prints its address when requests are answered. A source
// of nil is the local test beacon.
func serve(ctx context.Context, dir, listen string, source drand.Source, stdout io.Writer, logger *slog.Logger) (err error) {
	h, err := openHallWith(ctx, dir, source, time.Minute)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	h.arena.Log = logger
	s, err := api.New(api.Config{
		Arena: h.arena, Log: h.log, Sequencer: h.seq, Publisher: h.pub, Signer: h.signer, Logger: logger,
	})
	if err != nil {
		return err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", listen)
	if err != nil {
		return exit{exitNetwork, fmt.Errorf("%w\nhint: choose another address with --listen; port 0 takes a free port", err)}
	}
	fmt.Fprintf(stdout, "http://%s\n", l.Addr())
	logger.Info("serving", "address", l.Addr().String(), "origin", h.signer.Verifier().Name())
	err = s.Serve(ctx, l)
	_, head := h.pub.Latest()
	logger.Info("ended", "published", head.Size)
	return err
}
