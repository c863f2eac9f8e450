package client

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"ludger/api"
	"ludger/api/arena"
	"ludger/api/wire"
	"ludger/checkpoint"
	"ludger/checkpoint/publish"
	"ludger/engine"
	"ludger/ledger"
	"ludger/ledger/event"
	"ludger/ledger/memlog"
	"ludger/ledger/sequencer"
	"ludger/ledger/sign"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const origin = "hall.example/log"

var arenaKey = sign.DeriveKey([]byte("seed of the client's tests"), "chess-hall")

// serve starts a hall behind a door that its connections pass, and returns a client of it.
func serve(t *testing.T, door func(http.Handler) http.Handler) *Client {
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
	log := memlog.New()
	pub, err := publish.Open(ctx, publish.Config{Log: log, Cells: memlog.NewCells(), Signer: signer})
	check(err)
	seq, err := sequencer.Open(ctx, log, sequencer.Config{Owner: "test"})
	check(err)
	quiet := slog.New(slog.DiscardHandler)
	a, err := arena.Open(ctx, log, seq, arena.Config{Origin: origin, Keys: []string{signer.Verifier().String()}, Log: quiet, Now: func() int64 { return time.Now().UnixMilli() }})
	check(err)
	_, err = a.Admit(ctx, "chess-hall", arenaKey.Public())
	check(err)
	s, err := api.New(api.Config{Arena: a, Log: log, Sequencer: seq, Publisher: pub, Signer: signer, Logger: quiet})
	check(err)
	server := httptest.NewUnstartedServer(door(s))
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo)
	server.Start()
	c, err := New(Config{Base: server.URL, Log: signer.Verifier(), Arena: "chess-hall", Key: arenaKey, Pause: time.Millisecond})
	check(err)
	t.Cleanup(func() {
		c.Close()
		server.Close()
		a.Close()
		seq.Close()
	})
	return c
}

func opening() *wire.Open {
	return &wire.Open{Game: "chess@1", Variant: "standard", Division: "unassisted", Seats: []wire.Seat{
		{Handle: "ann", Key: sign.DeriveKey([]byte("seed"), "ann").Public()}, {Handle: "bob", Key: sign.DeriveKey([]byte("seed"), "bob").Public()},
	}}
}

// Whatever breaks under way, what is asked for happens once.
func TestRetry(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	c := serve(t, func(hall http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch calls.Add(1) % 5 {
			case 1: // it happens, and the answer is lost
				hall.ServeHTTP(httptest.NewRecorder(), r)
				panic(http.ErrAbortHandler)
			case 2: // it happens, and the answer breaks off
				answer := httptest.NewRecorder()
				hall.ServeHTTP(answer, r)
				w.Header().Set("Content-Length", "100000")
				w.Write(answer.Body.Bytes())
			case 3: // a proxy has no server
				w.WriteHeader(http.StatusBadGateway)
				io.WriteString(w, "<html>")
			case 4: // it is not even read
				panic(http.ErrAbortHandler)
			default:
				hall.ServeHTTP(w, r)
			}
		})
	})
	m, err := c.Open(t.Context(), "", opening())
	if err != nil {
		t.Fatal(err)
	}
	if !m.Before || m.Length != 1 {
		t.Errorf("opened: %+v", m)
	}
	signed, err := event.SignedMove{GameID: m.Match, TurnIndex: 0, Move: "e2e4"}.Sign(sign.DeriveKey([]byte("seed"), "ann"))
	if err != nil {
		t.Fatal(err)
	}
	a, err := c.Append(t.Context(), "", m.Match, 1, &event.MovePlayed{Seat: 0, Signed: signed})
	if err != nil || !a.Before || a.Length != 2 {
		t.Errorf("appended: %+v, %v", a, err)
	}
	v, err := c.View(t.Context(), m.Match)
	if err != nil || v.Length != 2 {
		t.Errorf("length %d, %v", v.Length, err)
	}

	// What is refused is not asked again, and what ends is given up.
	calls.Store(4)
	if _, err := c.Append(t.Context(), "", m.Match, 1, &event.MovePlayed{Seat: 0, Signed: signed}); err == nil || calls.Load() != 5 {
		t.Errorf("a conflict after %d calls: %v", calls.Load()-4, err)
	} else if conflict := (*ledger.ConflictError)(nil); !errors.As(err, &conflict) || conflict.Actual != 2 {
		t.Errorf("a conflict is %v", err)
	}
	one := *c
	one.Tries = 1
	calls.Store(2)
	if _, err := one.View(t.Context(), m.Match); err == nil || !strings.Contains(err.Error(), "502") {
		t.Errorf("a bad gateway: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.View(ended, m.Match); !errors.Is(err, context.Canceled) {
		t.Errorf("with an ended context: %v", err)
	}
}

// A stream that breaks off is resumed where it was, and each event is told once.
func TestFollow(t *testing.T) {
	t.Parallel()
	var streams atomic.Int64
	var mu sync.Mutex
	var resumed []string
	c := serve(t, func(hall http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Accept") != wire.TypeStream {
				hall.ServeHTTP(w, r)
				return
			}
			mu.Lock()
			resumed = append(resumed, r.Header.Get("Last-Event-ID"))
			mu.Unlock()
			ctx, cancel := context.WithCancel(r.Context())
			defer cancel()
			if streams.Add(1) < 4 { // cut it after its first event or two, in the middle of a line
				w = &cut{w, cancel, 500}
			}
			hall.ServeHTTP(w, r.WithContext(ctx))
		})
	})
	m, err := c.Open(t.Context(), "", opening())
	if err != nil {
		t.Fatal(err)
	}
	length := m.Length
	for i, move := range strings.Fields("e2e4 e7e5 g1f3 b8c6 f1b5") {
		signed, err := event.SignedMove{GameID: m.Match, TurnIndex: int64(i), Move: move}.Sign(sign.DeriveKey([]byte("seed"), []string{"ann", "bob"}[i%2]))
		if err != nil {
			t.Fatal(err)
		}
		a, err := c.Append(t.Context(), "", m.Match, length, &event.MovePlayed{Seat: engine.Seat(i % 2), Signed: signed})
		if err != nil {
			t.Fatal(err)
		}
		length = a.Length
	}
	if _, err := c.Append(t.Context(), "", m.Match, length, &event.MatchAborted{Reason: "test"}); err != nil {
		t.Fatal(err)
	}
	var seqs []int64
	c.Tries = 20
	if err := c.Follow(t.Context(), m.Match, 0, 0, func(e event.Event) error { seqs = append(seqs, e.Seq); return nil }); err != nil {
		t.Fatal(err)
	}
	for i, seq := range seqs {
		if seq != int64(i) {
			t.Fatalf("events %v", seqs)
		}
	}
	if int64(len(seqs)) != length+2 || streams.Load() < 4 {
		t.Errorf("events %v over %d streams that went on after %q", seqs, streams.Load(), resumed)
	}
	if err := c.Follow(t.Context(), m.Match, length+2, 0, func(event.Event) error { t.Error("an event after the seal"); return nil }); err != nil {
		t.Errorf("following a match that is over: %v", err)
	}
	stop := errors.New("enough")
	if err := c.Follow(t.Context(), m.Match, 0, 0, func(event.Event) error { return stop }); err != stop {
		t.Errorf("a reader that has enough: %v", err)
	}
	if err := c.Follow(t.Context(), event.MatchID{1}, 0, 0, nil); err == nil {
		t.Error("following no match")
	}
}

// A cut writer lets some bytes through and then breaks.
type cut struct {
	http.ResponseWriter
	cancel func()
	left   int
}

func (c *cut) Write(p []byte) (int, error) {
	if len(p) > c.left {
		c.ResponseWriter.Write(p[:c.left])
		c.cancel()
		return c.left, io.ErrClosedPipe
	}
	c.left -= len(p)
	return c.ResponseWriter.Write(p)
}

func (c *cut) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// A silent server is left, and a hostile one believed nothing.
func TestBadServers(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := New(Config{Base: "http://" + l.Addr().String(), Tries: 2, Pause: time.Millisecond, Wait: 20 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.View(t.Context(), event.MatchID{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a silent server: %v", err)
	}
	if err := c.Follow(t.Context(), event.MatchID{}, 0, 20*time.Millisecond, nil); err == nil {
		t.Error("a silent stream")
	}

	// An answer whose receipt, events or boxes are not those of the request.
	good := serve(t, func(h http.Handler) http.Handler { return h })
	m, err := good.Open(t.Context(), "", opening())
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(a *wire.Appended){
		"signature": func(a *wire.Appended) { a.Receipt.Signature[5] ^= 1 },
		"index":     func(a *wire.Appended) { a.Receipt.Index++ },
		"first":     func(a *wire.Appended) { a.First++ },
		"leaf":      func(a *wire.Appended) { a.Receipt.Leaf[0] ^= 1 },
		"origin":    func(a *wire.Appended) { a.Receipt.Origin = "other.example/log" },
		"match":     func(a *wire.Appended) { a.Match[0] ^= 1 },
	} {
		bad := *m
		change(&bad)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.Write(bad.Bytes()) }))
		c, err := New(Config{Base: server.URL, Log: good.Log, Arena: "chess-hall", Key: arenaKey})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Open(t.Context(), "", opening()); err == nil {
			t.Errorf("an answer with another %s is believed", name)
		}
		c.Close()
		server.Close()
	}
}

func TestNew(t *testing.T) {
	for base, ok := range map[string]bool{
		"http://127.0.0.1:8080": true, "https://example.com": true, "https://example.com/hall": true,
		"": false, "example.com": false, "ftp://example.com": false, "http://example.com/": false, "http://": false, "http://a/?b": false, "http://a/#b": false,
	} {
		if _, err := New(Config{Base: base}); (err == nil) != ok {
			t.Errorf("New(%q): %v", base, err)
		}
	}
}
