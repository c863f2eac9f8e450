package api

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"ludger/api/wire"
	"ludger/engine"
	"ludger/ledger"
	"ludger/ledger/event"
)

// honest runs two honest writers beside do, and fails if one of them is ever refused or stands still.
func (h *hall) honest(t *testing.T, do func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	var matches atomic.Int64
	for i := range 2 {
		wg.Go(func() { matches.Add(int64(h.writer(ctx, t, fmt.Sprintf("honest-%d", i)))) })
	}
	start := time.Now()
	do()
	took := time.Since(start)
	cancel()
	wg.Wait()
	t.Logf("%d honest matches of five requests in %v", matches.Load(), took.Round(time.Millisecond))
	if matches.Load() < 4 {
		t.Errorf("honest writers finished only %d matches", matches.Load())
	}
}

func TestWrongSignatures(t *testing.T) {
	t.Parallel()
	h := newHall(t, nil)
	m := h.opened(t, "ann", "bob")
	body, err := (&wire.Append{Length: 1, Events: acks(m, "ann", "bob")}).Bytes()
	if err != nil {
		t.Fatal(err)
	}
	const count = 10_000
	h.honest(t, func() {
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				r := h.request(t, wire.PathAppend(m.Match), "", body)
				s := []byte(r.Header.Get(wire.HeaderSignature))
				s[3] ^= 1 // a digit becomes another, or none
				if s[3] == '`' || s[3] == 'g' {
					s[3] ^= 3
				}
				r.Header.Set(wire.HeaderSignature, string(s))
				for range count / 8 {
					r.Body, _ = r.GetBody()
					if p := refused(t, h.client.HTTP, r); p.Code != "signature" {
						t.Errorf("%s: %s", p.Code, p.Detail)
						return
					}
				}
			})
		}
		wg.Wait()
	})
	if v, err := h.client.View(t.Context(), m.Match); err != nil || v.Length != 1 {
		t.Errorf("%d events after wrong signatures, %v", v.Length, err)
	}
	h.check(t)
}

func TestConflicts(t *testing.T) {
	t.Parallel()
	h := newHall(t, nil)
	m := h.opened(t, "ann", "bob")
	first := move(t, m.Match, 0, 0, "ann", "e2e4")
	var appended, conflicts atomic.Int64
	h.honest(t, func() {
		var wg sync.WaitGroup
		for range 16 {
			wg.Go(func() {
				for range 125 {
					_, err := h.client.Append(context.Background(), "", m.Match, 1, first)
					if err == nil {
						appended.Add(1)
						continue
					}
					if c := want[*ledger.ConflictError](t, err); c.Actual != 2 || c.ActualLeaf == (event.Leaf{}) {
						t.Errorf("%+v", c)
					}
					conflicts.Add(1)
				}
			})
		}
		wg.Wait()
	})
	if appended.Load() != 1 || conflicts.Load() != 16*125-1 {
		t.Errorf("%d appended, %d conflicts", appended.Load(), conflicts.Load())
	}
	h.check(t)
}

// raw opens a connection and writes to it.
func (h *hall) raw(t *testing.T, text string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(h.base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	return conn
}

// head is the head of a request with a signature that is well formed, and a body of so many bytes.
func head(length int) string {
	return fmt.Sprintf("POST /api/ledger/matches/%v/events HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nLudger-Arena: chess-hall\r\n"+
		"Idempotency-Key: k\r\nLudger-Signature: %0128d\r\nContent-Length: %d\r\n\r\n", event.MatchID{1}, 0, length)
}

// Requests that do not arrive hold up nobody, and are answered or dropped in time.
func TestSlow(t *testing.T) {
	t.Parallel()
	h := newHall(t, func(c *Config) { c.ReadTimeout, c.MaxBuffered = 700*time.Millisecond, 4<<20 })
	var conns []net.Conn
	silent := map[net.Conn]bool{}
	for range 200 {
		none := h.raw(t, "")
		part := h.raw(t, "GET / HTTP/1.1\r\nHost:")
		silent[none], silent[part] = true, true
		conns = append(conns, none, part, h.raw(t, head(1000)+"{"))
	}
	for range 50 { // large bodies that stop before their end, more than fit into the budget
		conns = append(conns, h.raw(t, head(wire.MaxAppend)+strings.Repeat("x", 200<<10)))
	}
	start := time.Now()
	h.honest(t, func() {
		for _, conn := range conns {
			conn.SetReadDeadline(time.Now().Add(10 * time.Second))
			answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if silent[conn] {
				if err == nil {
					answer.Body.Close()
				} else if e, ok := err.(net.Error); ok && e.Timeout() {
					t.Error("a connection without a request was not closed")
				}
				continue
			}
			if err != nil {
				continue // reset, since the server did not read all of it
			}
			body, _ := io.ReadAll(answer.Body)
			answer.Body.Close()
			p, err := wire.ParseProblem(body)
			if err != nil || p.Code != "too-slow" && p.Code != "busy" {
				t.Errorf("%d %s", answer.StatusCode, body)
			}
		}
	})
	if took := time.Since(start); took > 8*time.Second {
		t.Errorf("slow requests took %v", took)
	}
	if n := h.buffered.Load(); n != 0 {
		t.Errorf("%d bytes of bodies still counted", n)
	}
	h.check(t)
}

func TestOversized(t *testing.T) {
	t.Parallel()
	h := newHall(t, nil)
	h.honest(t, func() {
		for range 100 {
			for _, text := range []string{
				head(1 << 40),
				strings.Replace(head(0), "Content-Length: 0", "Transfer-Encoding: chunked", 1) + strings.Repeat("10000\r\n"+strings.Repeat("x", 1<<16)+"\r\n", 40),
				"GET / HTTP/1.1\r\nHost: h\r\nX: " + strings.Repeat("x", 64<<10) + "\r\n\r\n",
			} {
				conn, err := net.Dial("tcp", strings.TrimPrefix(h.base, "http://"))
				if err != nil {
					t.Fatal(err)
				}
				go io.WriteString(conn, text)
				conn.SetReadDeadline(time.Now().Add(5 * time.Second))
				answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
				if err == nil { // else reset under the rest of the text
					if answer.StatusCode != 413 && answer.StatusCode != 431 {
						t.Errorf("%d for %.40q", answer.StatusCode, text)
					}
					answer.Body.Close()
				}
				conn.Close()
			}
		}
	})
	if n := h.buffered.Load(); n != 0 {
		t.Errorf("%d bytes of bodies still counted", n)
	}
}

// A stream is read line by line.
type stream struct {
	*http.Response
	lines *bufio.Scanner
}

func (h *hall) stream(t *testing.T, id event.MatchID, last string) *stream {
	t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), "GET", h.base+wire.PathGame(id)+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "text/html, text/event-stream;q=0.9")
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	answer, err := h.client.HTTP.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { answer.Body.Close() })
	return &stream{answer, bufio.NewScanner(answer.Body)}
}

// next returns the next line that begins with the prefix; "" at the end.
func (s *stream) next(prefix string) string {
	for s.lines.Scan() {
		if strings.HasPrefix(s.lines.Text(), prefix) {
			return s.lines.Text()
		}
	}
	return ""
}

func TestStream(t *testing.T) {
	t.Parallel()
	// The stream outlives the bounds on ordinary requests.
	h := newHall(t, func(c *Config) {
		c.MaxStreams, c.KeepAlive = 2, 5*time.Millisecond
		c.ReadTimeout, c.WriteTimeout, c.Work = 60*time.Millisecond, 60*time.Millisecond, 60*time.Millisecond
	})
	m := h.opened(t, "ann", "bob")
	one := h.stream(t, m.Match, "")
	if one.Header.Get("Content-Type") != wire.TypeStream || one.next("id: ") != "id: 0" || one.next("event: ") != "event: durable" ||
		one.next("data: ") != "data: "+string(m.Events[0].Raw()) {
		t.Error("the stream does not begin with the opening")
	}
	two := h.stream(t, m.Match, "0")
	r, err := http.NewRequestWithContext(t.Context(), "GET", h.base+wire.PathGame(m.Match)+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", wire.TypeStream)
	if p := refused(t, h.client.HTTP, r); p.Code != "streams" {
		t.Errorf("a third stream: %s", p.Code)
	}
	for range 40 { // 200 ms of silence
		if one.next(": alive") == "" {
			t.Fatal("a silent stream ended")
		}
	}
	a, err := h.client.Append(t.Context(), "", m.Match, 1, acks(m, "ann", "bob")...)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*stream{one, two} {
		if s.next("id: ") != "id: 1" || s.next("id: ") != "id: 2" || s.next("data: ") != "data: "+string(a.Events[1].Raw()) {
			t.Error("the stream does not go on with what is appended")
		}
	}
	two.Body.Close()
	if a, err = h.client.Append(t.Context(), "", m.Match, 3, &event.MatchAborted{Reason: "test"}); err != nil {
		t.Fatal(err)
	}
	if one.next("id: ") != "id: 3" || one.next("id: ") != "id: 4" || one.next("data: ") != "data: "+string(a.Events[1].Raw()) || one.next("data: ") != "" || one.lines.Err() != nil {
		t.Error("the stream does not end with the seal")
	}
	if s := h.stream(t, m.Match, "2"); s.next("id: ") != "id: 3" || s.next("id: ") != "id: 4" || s.next("id: ") != "" {
		t.Error("resumed after the seal")
	}
	for _, last := range []string{"4", "7"} {
		if s := h.stream(t, m.Match, last); s.StatusCode != http.StatusNoContent {
			t.Errorf("resumed behind the seal, after %s: %d", last, s.StatusCode)
		}
	}
	r.Header.Set("Last-Event-ID", "x")
	if p := refused(t, h.client.HTTP, r); p.Code != "malformed" {
		t.Errorf("a strange Last-Event-ID: %s", p.Code)
	}
}

// A long match is read page by page, and streamed over many of them.
func TestLong(t *testing.T) {
	t.Parallel()
	h := newHall(t, nil)
	m := h.opened(t, "ann", "bob")
	moves := shuffle(280)
	length := m.Length
	for first := 0; first < len(moves); first += 200 {
		var bodies []event.Body
		for turn := first; turn < min(first+200, len(moves)); turn++ {
			bodies = append(bodies, move(t, m.Match, engine.Seat(turn%2), int64(turn), []string{"ann", "bob"}[turn%2], moves[turn]))
		}
		a, err := h.client.Append(t.Context(), "", m.Match, length, bodies...)
		if err != nil {
			t.Fatal(err)
		}
		length = a.Length
	}
	total := length
	read := int64(0)
	for {
		page, err := h.client.Events(t.Context(), m.Match, read)
		if err != nil {
			t.Fatal(err)
		}
		if read = page.Next(); len(page.Events) == 0 || page.Length != total {
			break
		}
	}
	if read != total || total <= wire.MaxPage {
		t.Errorf("%d events read, want %d", read, total)
	}
	_, err := h.client.Append(t.Context(), "", m.Match, length, &event.MatchAborted{Reason: "long enough"})
	if err != nil {
		t.Fatal(err)
	}
	count := int64(0)
	if err := h.client.Follow(t.Context(), m.Match, 0, 0, func(event.Event) error { count++; return nil }); err != nil || count != total+2 {
		t.Errorf("%d events streamed, want %d: %v", count, total+2, err)
	}
}

// A shutdown finishes what is under way, ends the streams, and publishes.
func TestShutdown(t *testing.T) {
	t.Parallel()
	h := newHall(t, nil)
	m := h.opened(t, "ann", "bob")
	s := h.stream(t, m.Match, "")
	if s.next("id: 0") == "" {
		t.Fatal("no stream")
	}
	body, err := (&wire.Append{Length: 1, Events: acks(m, "ann", "bob")}).Bytes()
	if err != nil {
		t.Fatal(err)
	}
	r := h.request(t, wire.PathAppend(m.Match), "", body)
	read, write := io.Pipe()
	r.Body, r.GetBody = read, nil
	r.Header.Set("Expect", "100-continue") // so that the body goes out when the server reads it
	answered := make(chan error, 1)
	go func() {
		answer, err := h.client.HTTP.Do(r)
		if err == nil {
			if answer.StatusCode != 200 {
				err = fmt.Errorf("status %d", answer.StatusCode)
			}
			answer.Body.Close()
		}
		answered <- err
	}()
	if _, err := write.Write(body[:10]); err != nil {
		t.Fatal(err)
	}
	stopped := make(chan struct{})
	go func() { h.stop(); close(stopped) }()
	if s.next("id: ") != "" || s.lines.Err() != nil {
		t.Error("the stream does not end cleanly")
	}
	select {
	case <-stopped:
		t.Error("the server ended with a request under way")
	default:
	}
	write.Write(body[10:])
	write.Close()
	if err := <-answered; err != nil {
		t.Errorf("the request under way: %v", err)
	}
	<-stopped
	if _, err := net.Dial("tcp", strings.TrimPrefix(h.base, "http://")); err == nil {
		t.Error("the server still accepts connections")
	}
	if _, published := h.Publisher.Latest(); published.Size != 7 {
		t.Errorf("published %d entries in the end, want 7", published.Size)
	}
	h.check(t)
}

// A large answer is not cut off by the bound on small ones.
func TestLargeAnswer(t *testing.T) {
	t.Parallel()
	h := newHall(t, func(c *Config) { c.WriteTimeout, c.Work = 300*time.Millisecond, 300*time.Millisecond })
	body := []byte(`"` + strings.Repeat("x", 24<<20) + `"`)
	h.echo.GET("/large", func(c echo.Context) error { return h.json(c, http.StatusOK, body) })
	conn := h.raw(t, "GET /large HTTP/1.1\r\nHost: h\r\n\r\n")
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	buf := make([]byte, 1<<20)
	for read := 0; read < len(body); {
		n, err := answer.Body.Read(buf)
		if err != nil && read+n < len(body) {
			t.Fatalf("after %d of %d bytes: %v", read+n, len(body), err)
		}
		if read += n; read>>20 != (read-n)>>20 {
			time.Sleep(50 * time.Millisecond) // a slow line: 24 MiB in 1.2 s
		}
	}
}
