package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"ludger/api/arena"
	"ludger/api/client"
	"ludger/api/wire"
	"ludger/checkpoint"
	"ludger/checkpoint/drand"
	"ludger/checkpoint/publish"
	"ludger/engine"
	"ludger/ledger"
	"ludger/ledger/event"
	"ludger/ledger/memlog"
	"ludger/ledger/sequencer"
	"ludger/ledger/sign"
	"ludger/replay"
	"ludger/replay/audit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const origin = "hall.example/log"

// A lines is a log that a test may read while it grows.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// A hall is a server on a free port.
type hall struct {
	*Server
	log    ledger.Log
	base   string
	lines  *lines
	client *client.Client // of the admitted arena chess-hall
	stop   func()         // ends the server and waits; more than once is once
	key    sign.PrivateKey
}

// newHall starts a hall; change may change its configuration.
func newHall(t testing.TB, change func(*Config)) *hall {
	t.Helper()
	return newHallOn(t, memlog.New(), memlog.NewCells(), change)
}

// newHallOn starts a hall over a new log.
func newHallOn(t testing.TB, log ledger.Log, cells ledger.Cells, change func(*Config)) *hall {
	t.Helper()
	ctx := context.Background()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	signer, err := checkpoint.NewSigner(origin, [32]byte{1})
	check(err)
	pub, err := publish.Open(ctx, publish.Config{Log: log, Cells: cells, Signer: signer})
	check(err)
	seq, err := sequencer.Open(ctx, log, sequencer.Config{Owner: "test"})
	check(err)
	beacons, err := drand.NewLocal([32]byte{2}, 1_735_689_600)
	check(err)
	out := &lines{}
	logger := slog.New(slog.NewTextHandler(out, nil))
	a, err := arena.Open(ctx, log, seq, arena.Config{
		Origin: origin, Keys: []string{signer.Verifier().String()}, Beacons: beacons, Secret: [32]byte{3}, Log: logger,
		Now: func() int64 { return time.Now().UnixMilli() },
	})
	check(err)
	h := &hall{log: log, lines: out, key: sign.DeriveKey([]byte("arenas of the tests"), "chess-hall")}
	_, err = a.Admit(ctx, "chess-hall", h.key.Public())
	check(err)
	config := Config{Arena: a, Log: log, Sequencer: seq, Publisher: pub, Signer: signer, Logger: logger, PublishEvery: time.Hour}
	if change != nil {
		change(&config)
	}
	h.Server, err = New(config)
	check(err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	h.base = "http://" + l.Addr().String()
	running, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- h.Serve(running, l) }()
	h.client, err = client.New(client.Config{Base: h.base, Log: signer.Verifier(), Arena: "chess-hall", Key: h.key, Pause: time.Millisecond})
	check(err)
	h.stop = sync.OnceFunc(func() {
		h.client.Close()
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Serve: %v", err)
		}
		a.Close()
		seq.Close()
	})
	t.Cleanup(h.stop)
	return h
}

// check recomputes the whole log.
func (h *hall) check(t testing.TB) {
	t.Helper()
	ctx := context.Background()
	if err := sequencer.Check(ctx, h.log); err != nil {
		t.Error(err)
	}
	head, err := h.log.Head(ctx)
	if err != nil {
		t.Fatal(err)
	}
	all := audit.New(origin)
	for i := int64(0); i < head.Size; {
		entries, err := h.log.Scan(ctx, i, 1000)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			for _, f := range all.Apply(e) {
				t.Error(f)
			}
		}
		i += int64(len(entries))
	}
}

// verify verifies a match's bundle offline, as an auditor who has only the policy.
func (h *hall) verify(t testing.TB, id event.MatchID) *replay.Report {
	t.Helper()
	bundle, err := h.client.Bundle(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	policy, err := checkpoint.NewPolicy(h.Signer.Verifier())
	if err != nil {
		t.Fatal(err)
	}
	return replay.NewVerifier(policy).Verify(bundle)
}

func player(handle string) sign.PrivateKey {
	return sign.DeriveKey([]byte("players of the tests"), handle)
}

// terms are of a chess match between two handles that state themselves.
func terms(t testing.TB, game string, handles ...string) *wire.Open {
	t.Helper()
	o := &wire.Open{Game: game, Variant: "standard", Division: "unassisted"}
	for _, h := range handles {
		key := player(h)
		msg, err := sign.AgentMessage(origin, h, key.Public())
		if err != nil {
			t.Fatal(err)
		}
		statement := key.Sign(msg)
		o.Seats = append(o.Seats, wire.Seat{Handle: h, Key: key.Public(), Statement: &statement})
	}
	return o
}

// opened opens a chess match.
func (h *hall) opened(t testing.TB, handles ...string) *wire.Appended {
	t.Helper()
	m, err := h.client.Open(context.Background(), "", terms(t, "chess@1", handles...))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// move is a signed move.
func move(t testing.TB, id event.MatchID, seat engine.Seat, turn int64, handle, text string) *event.MovePlayed {
	t.Helper()
	signed, err := event.SignedMove{GameID: id, TurnIndex: turn, Move: text}.Sign(player(handle))
	if err != nil {
		t.Fatal(err)
	}
	return &event.MovePlayed{Seat: seat, Signed: signed}
}

func acks(m *wire.Appended, handles ...string) (bodies []event.Body) {
	for i, h := range handles {
		bodies = append(bodies, &event.SeatAcked{Seat: engine.Seat(i), Signature: player(h).Sign(sign.AckMessage(m.Match, m.Events[0].Leaf()))})
	}
	return bodies
}

// request is a signed request as the client makes it, to be spoiled. key "" is a fresh one.
func (h *hall) request(t testing.TB, path, key string, body []byte) *http.Request {
	t.Helper()
	if key == "" {
		key = client.NewKey()
	}
	r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, h.base+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	message, err := sign.ArenaMessage("chess-hall", http.MethodPost, r.URL.EscapedPath(), key, body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", wire.TypeJSON)
	r.Header.Set(wire.HeaderArena, "chess-hall")
	r.Header.Set(wire.HeaderKey, key)
	r.Header.Set(wire.HeaderSignature, h.key.Sign(message).String())
	return r
}

// refused sends a request and returns the problem it is answered with.
func refused(t testing.TB, c *http.Client, r *http.Request) *wire.Problem {
	t.Helper()
	answer, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	p, err := wire.ParseProblem(body)
	if err != nil || answer.Header.Get("Content-Type") != wire.TypeProblem || p.Status != answer.StatusCode {
		t.Fatalf("%s %s: %d %s is no problem: %v\n%s", r.Method, r.URL, answer.StatusCode, answer.Header.Get("Content-Type"), err, body)
	}
	if p.Request == "" || p.Request != answer.Header.Get(wire.HeaderRequest) || p.Detail == "" || p.Title == "" {
		t.Errorf("%s %s: problem without its request's id, detail or title: %s", r.Method, r.URL, body)
	}
	return p
}

// writer plays chess matches over HTTP until ctx ends, and returns how many it finished. Every request
// of it must succeed.
func (h *hall) writer(ctx context.Context, t testing.TB, name string) (matches int) {
	for ; ctx.Err() == nil; matches++ {
		a, b := fmt.Sprintf("%s-white-%d", name, matches), fmt.Sprintf("%s-black-%d", name, matches)
		m, err := h.client.Open(context.Background(), "", terms(t, "chess@1", a, b))
		if err != nil {
			t.Errorf("honest writer: %v", err)
			return matches
		}
		length := m.Length
		for i, text := range strings.Fields(foolsMate) {
			m, err := h.client.Append(context.Background(), "", m.Match, length, move(t, m.Match, engine.Seat(i%2), int64(i), []string{a, b}[i%2], text))
			if err != nil {
				t.Errorf("honest writer: %v", err)
				return matches
			}
			length = m.Length
		}
	}
	return matches
}

const foolsMate = "f2f3 e7e5 g2g4 d8h4"

// want is what an error must be.
func want[E error](t testing.TB, err error) (e E) {
	t.Helper()
	if !errors.As(err, &e) {
		t.Fatalf("error %v, want a %T", err, e)
	}
	return e
}

func code(t testing.TB, err error) string {
	t.Helper()
	return want[*wire.Problem](t, err).Code
}
