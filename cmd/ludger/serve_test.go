package main

import (
	"bufio"
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"ludger/api/client"
	"ludger/api/wire"
	"ludger/checkpoint"
	"ludger/engine"
	"ludger/ledger/event"
	"ludger/ledger/sign"
)

// A server is a running ludger serve.
type server struct {
	*exec.Cmd
	base   string
	stderr *bytes.Buffer
}

// startServer starts a server of a data folder on a free port and waits until it listens.
func startServer(t *testing.T, data string) *server {
	t.Helper()
	s := &server{Cmd: exec.Command("ludger", "serve", "--data", data, "--listen", "127.0.0.1:0"), stderr: new(bytes.Buffer)}
	s.Stderr = s.stderr
	out, err := s.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		s.Wait()
		t.Fatalf("the server did not start: %v\n%s", err, s.stderr)
	}
	s.base = strings.TrimSpace(line)
	t.Cleanup(func() { s.Process.Kill() })
	return s
}

// ludgerOut runs a command that must succeed and returns its output.
func ludgerOut(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command("ludger", args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("ludger %s: %v\n%s%s", strings.Join(args, " "), err, out, &stderr)
	}
	return string(out)
}

// arenaClient makes a data folder with an arena, and returns a function that returns a client of a
// server of it.
func arenaClient(t *testing.T, data string) func(base string) *client.Client {
	t.Helper()
	vkey := strings.TrimSpace(ludgerOut(t, "keygen", "--origin", "example.com/log", "--data", data))
	log, err := checkpoint.ParseVerifier(vkey)
	if err != nil {
		t.Fatal(err)
	}
	key := sign.DeriveKey([]byte("seed of the arena"), "test-hall")
	ludgerOut(t, "arena", "admit", "test-hall", key.Public().String(), "--data", data)
	return func(base string) *client.Client {
		c, err := client.New(client.Config{Base: base, Log: log, Arena: "test-hall", Key: key})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		return c
	}
}

func opening(game string, handles ...string) *wire.Open {
	o := &wire.Open{Game: game, Variant: "standard", Division: "unassisted"}
	for _, h := range handles {
		o.Seats = append(o.Seats, wire.Seat{Handle: h, Key: sign.DeriveKey([]byte("seed of the players"), h).Public()})
	}
	return o
}

func signedMove(t *testing.T, id event.MatchID, seat engine.Seat, turn int64, handle, move string) *event.MovePlayed {
	t.Helper()
	m, err := event.SignedMove{GameID: id, TurnIndex: turn, Move: move}.Sign(sign.DeriveKey([]byte("seed of the players"), handle))
	if err != nil {
		t.Fatal(err)
	}
	return &event.MovePlayed{Seat: seat, Signed: m}
}

// TestServe plays over two lives of a server: a match of each kind begins in the first and ends in the
// second, the hidden moves of the first still open, and everything verifies offline.
func TestServe(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(dir, "hall")
	newClient := arenaClient(t, data)
	s := startServer(t, data)

	second := exec.Command("ludger", "serve", "--data", data, "--listen", "127.0.0.1:0")
	out, err := second.CombinedOutput()
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != exitUnchecked || !strings.Contains(string(out), "another process has the log open") {
		t.Errorf("a second server of the folder: %v\n%s", err, out)
	}

	c := newClient(s.base)
	chess, err := c.Open(t.Context(), "", opening("chess@1", "ann", "bob"))
	if err != nil {
		t.Fatal(err)
	}
	if chess, err = c.Append(t.Context(), "", chess.Match, 1, signedMove(t, chess.Match, 0, 0, "ann", "e2e4")); err != nil {
		t.Fatal(err)
	}
	ships, err := c.Open(t.Context(), "", opening("battleship@1", "cat", "dan"))
	if err != nil {
		t.Fatal(err)
	}
	begun := errors.New("begun")
	err = c.Follow(t.Context(), ships.Match, 1, 0, func(e event.Event) error {
		if e.Kind == event.KindBeaconRecorded {
			return begun
		}
		return nil
	})
	if !errors.Is(err, begun) {
		t.Fatal(err)
	}
	layout := "A1h B1h C1h D1h E1h"
	if ships, err = c.Append(t.Context(), "layout", ships.Match, 2, signedMove(t, ships.Match, 0, 0, "cat", layout)); err != nil {
		t.Fatal(err)
	}
	s.stop(t)

	s = startServer(t, data)
	c = newClient(s.base)
	again, err := c.Append(t.Context(), "layout", ships.Match, 2, signedMove(t, ships.Match, 0, 0, "cat", layout))
	if err != nil || !again.Before || again.Keys[2] != ships.Keys[2] {
		t.Errorf("the layout again, after a restart: %+v, %v", again, err)
	}
	if ships, err = c.Append(t.Context(), "", ships.Match, 3, signedMove(t, ships.Match, 1, 1, "dan", layout),
		signedMove(t, ships.Match, 0, 2, "cat", "A1"), &event.MatchAdjudicated{Returns: []int64{1, -1}, Rule: "test"}); err != nil {
		t.Fatal(err)
	}
	resigned, err := event.SignedMove{GameID: chess.Match, TurnIndex: 1, Resign: true}.Sign(sign.DeriveKey([]byte("seed of the players"), "bob"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err = c.Append(t.Context(), "", chess.Match, 2, &event.MatchForfeited{Seat: 1, Reason: engine.Resigned, Signed: &resigned}); err != nil {
		t.Fatal(err)
	}
	for _, id := range []event.MatchID{chess.Match, ships.Match} {
		bundle, err := c.Bundle(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, id.String()+".json")
		if err := os.WriteFile(file, bundle, 0o666); err != nil {
			t.Fatal(err)
		}
		ludgerOut(t, "verify", "--policy", filepath.Join(data, "policy"), file)
	}
	s.stop(t)
	if out := ludgerOut(t, "fsck", "--data", data); !strings.Contains(out, "2 matches sealed, 0 open: 0 findings") {
		t.Errorf("fsck: %s", out)
	}
}

// stop asks a server to end, which it does soon and well.
func (s *server) stop(t *testing.T) {
	t.Helper()
	if err := s.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(20*time.Second, func() { s.Process.Kill() })
	defer timer.Stop()
	if err := s.Wait(); err != nil {
		t.Fatalf("the server ended with %v\n%s", err, s.stderr)
	}
	if !strings.Contains(s.stderr.String(), "msg=ended") {
		t.Errorf("the server's log:\n%s", s.stderr)
	}
}
