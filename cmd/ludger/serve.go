package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"

	"github.com/spf13/cobra"

	"ludger/api"
)

func serveCommand() *cobra.Command {
	var dir, listen, format string
	cmd := &cobra.Command{
		Use:   "serve --data DIR [--listen HOST:PORT]",
		Short: "serve a data folder over HTTP",
		Long: `Serves the matches and the log of a data folder: admitted arenas append over HTTP, everybody reads.
Prints the address it listens on; port 0 takes a free one. One line for each request goes to
standard error.

An interrupt (Ctrl-C) or SIGTERM ends it gracefully: no new requests, those under way finish, streams
end, and what was added is published. A second one ends it at once; nothing acknowledged is lost.

The server speaks plain HTTP. To the open network it belongs behind a proxy that does TLS.`,
		Example: `  ludger arena admit chess-hall 5f0c…64 hex digits --data hall
  ludger serve --data hall --listen 127.0.0.1:8080`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			logger, err := newLogger(format, cmd.ErrOrStderr())
			if err != nil {
				return exit{exitUsage, err}
			}
			return failed(serve(cmd.Context(), dir, listen, cmd.OutOrStdout(), logger))
		},
	}
	dataFlag(cmd, &dir)
	cmd.Flags().StringVar(&listen, "listen", "127.0.0.1:8080", "address to listen on")
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

// serve serves a data folder until ctx ends. It prints its address when requests are answered.
func serve(ctx context.Context, dir, listen string, stdout io.Writer, logger *slog.Logger) (err error) {
	h, err := openHall(ctx, dir)
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
