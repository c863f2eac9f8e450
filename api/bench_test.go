package api

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"ludger/api/arena"
	"ludger/api/wire"
	"ludger/engine"
	"ludger/ledger/event"
	"ludger/ledger/memlog"
	"ludger/ledger/pebblelog"
)

const (
	ingestWriters = 12  // connections, each with a match of its own; more share the cores with more clients
	ingestPlies   = 256 // of each match
	ingestRounds  = 5   // the median counts
)

// A batch is a request of an arena, both as it goes over the wire and as the arena takes it.
type batch struct {
	match  event.MatchID
	length int64
	events []event.Body
	raw    []byte
}

// BenchmarkFigureIngest compares what the server takes over HTTP, signed requests and receipts included,
// with what the arena below it takes by calls: the same moves, each checked by signature and rules, on
// the same disk and cores. The requests are built and signed before; the clients that send them share the
// cores with the server.
func BenchmarkFigureIngest(b *testing.B) {
	for _, test := range []struct {
		size int
		min  float64
	}{{1, 0.5}, {16, 0.7}, {256, 0.8}} {
		b.Run(fmt.Sprintf("batches of %d", test.size), func(b *testing.B) {
			log, err := pebblelog.Open(b.TempDir(), pebblelog.Options{})
			if err != nil {
				b.Fatal(err)
			}
			defer log.Close()
			h := newHallOn(b, log, memlog.NewCells(), func(c *Config) { c.Logger = slog.New(slog.NewTextHandler(io.Discard, nil)) })
			defer h.stop()
			var web, calls, ratios []float64
			for round := range ingestRounds {
				var w, c float64
				if round%2 == 0 { // the log grows on the way
					w = rate(b, h, test.size, ingestHTTP)
					c = rate(b, h, test.size, ingestCalls)
				} else {
					c = rate(b, h, test.size, ingestCalls)
					w = rate(b, h, test.size, ingestHTTP)
				}
				web, calls, ratios = append(web, w), append(calls, c), append(ratios, w/c)
			}
			for _, list := range [][]float64{web, calls, ratios} {
				slices.Sort(list)
			}
			b.Logf("%.0f events/s over HTTP, %.0f/s by calls; ratios %.3f", web[ingestRounds/2], calls[ingestRounds/2], ratios)
			b.ReportMetric(ratios[ingestRounds/2], "ratio")
			b.ReportMetric(test.min, "min")
		})
	}
}

// rate opens matches, builds what is to be sent, and returns how many events do takes in a second.
func rate(b *testing.B, h *hall, size int, do func(h *hall, list []batch) error) float64 {
	b.Helper()
	work := make([][]batch, ingestWriters)
	var wg sync.WaitGroup
	for i := range work {
		wg.Go(func() { work[i] = h.batches(b, size) })
	}
	wg.Wait()
	if b.Failed() {
		b.FailNow()
	}
	start := time.Now()
	for _, list := range work {
		wg.Go(func() {
			if err := do(h, list); err != nil {
				b.Error(err)
			}
		})
	}
	wg.Wait()
	return ingestWriters * ingestPlies / time.Since(start).Seconds()
}

// shuffle is a legal game of many plies: knights go out and home, and a pawn takes a step before that
// makes a draw.
func shuffle(plies int) (moves []string) {
	for _, pawn := range strings.Fields("a2a3 a7a6 a3a4 a6a5 b2b3 b7b6 d2d3 d7d6 e2e3 e7e6 f2f3 f7f6 g2g3 g7g6 h2h3 h7h6 g3g4 g6g5 h3h4 h6h5 d3d4 d6d5") {
		for range 3 {
			if len(moves)%2 == 0 {
				moves = append(moves, "b1c3", "b8c6", "c3b1", "c6b8")
			} else {
				moves = append(moves, "b8c6", "b1c3", "c6b8", "c3b1")
			}
		}
		moves = append(moves, pawn)
	}
	return moves[:plies]
}

func (h *hall) batches(b testing.TB, size int) (list []batch) {
	m := h.opened(b, "ann", "bob")
	moves := shuffle(ingestPlies)
	for first := 0; first < len(moves); first += size {
		next := batch{match: m.Match, length: int64(1 + first)}
		for turn := first; turn < first+size; turn++ {
			signed, err := event.SignedMove{GameID: m.Match, TurnIndex: int64(turn), Move: moves[turn], Commentary: strings.Repeat("the centre is mine. ", 4)}.
				Sign(player([]string{"ann", "bob"}[turn%2]))
			if err != nil {
				b.Error(err)
				return nil
			}
			next.events = append(next.events, &event.MovePlayed{Seat: engine.Seat(turn % 2), Signed: signed})
		}
		body, err := (&wire.Append{Length: next.length, Events: next.events}).Bytes()
		if err != nil {
			b.Error(err)
			return nil
		}
		var raw bytes.Buffer
		h.request(b, wire.PathAppend(m.Match), "", body).Write(&raw)
		next.raw = raw.Bytes()
		list = append(list, next)
	}
	return list
}

func ingestCalls(h *hall, list []batch) error {
	for i, n := range list {
		r := arena.Request{Arena: "chess-hall", Key: fmt.Sprintf("%v-%d", n.match, i), Digest: sha256.Sum256(n.raw)}
		if _, err := h.Arena.Append(context.Background(), r, n.match, n.length, n.events); err != nil {
			return err
		}
	}
	return nil
}

func ingestHTTP(h *hall, list []batch) error {
	conn, err := net.Dial("tcp", strings.TrimPrefix(h.base, "http://"))
	if err != nil {
		return err
	}
	defer conn.Close()
	in := bufio.NewReader(conn)
	for _, n := range list {
		if _, err := conn.Write(n.raw); err != nil {
			return err
		}
		if err := skipAnswer(in); err != nil {
			return err
		}
	}
	return nil
}

// skipAnswer reads an answer of status 200 for as little as a client can.
func skipAnswer(in *bufio.Reader) error {
	length := -1
	for first := true; ; first = false {
		line, err := in.ReadSlice('\n')
		switch {
		case err != nil:
			return err
		case first && !bytes.HasPrefix(line, []byte("HTTP/1.1 200 ")):
			return fmt.Errorf("answer %q", line)
		case bytes.HasPrefix(line, []byte("Content-Length: ")):
			if length, err = strconv.Atoi(string(bytes.TrimSpace(line[len("Content-Length: "):]))); err != nil {
				return err
			}
		case len(line) == 2:
			_, err = in.Discard(length)
			return err
		}
	}
}
