package drand

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"ludger/checkpoint/beacon"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// localKey is a beacon that is at its hundredth round or so.
func localKey(t testing.TB, seed byte) *beacon.Local {
	t.Helper()
	l, err := beacon.NewLocal([32]byte{seed}, time.Now().Unix()-100, 1)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func dueNow(t testing.TB, info beacon.Info) int64 {
	t.Helper()
	round, err := info.RoundAt(time.Now().UnixMilli())
	if err != nil {
		t.Fatal(err)
	}
	return round
}

// answer writes a beacon as drand's servers do.
func answer(w io.Writer, round int64, signature []byte) {
	fmt.Fprintf(w, `{"round":%d,"randomness":"%064x","signature":"%x"}`, round, 0, signature)
}

// A server is a small drand of a local key. before is called first; if it returns true, the answer is
// given.
type fakeServer struct {
	*httptest.Server
	asked atomic.Int64
}

func serve(t testing.TB, key *beacon.Local, before func(w http.ResponseWriter, r *http.Request, round int64) bool) *fakeServer {
	t.Helper()
	info := key.Chain().Info()
	s := new(fakeServer)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.asked.Add(1)
		due, err := info.RoundAt(time.Now().UnixMilli())
		if err != nil {
			t.Error(err)
		}
		path, ok := strings.CutPrefix(r.URL.Path, "/"+info.Hash.String()+"/public/")
		var round int64
		if path == "latest" {
			round = due
		} else if n, err := fmt.Sscanf(path, "%d", &round); n != 1 || err != nil || !ok {
			t.Errorf("asked for %s", r.URL)
		}
		if before != nil && before(w, r, round) {
			return
		}
		if round > due {
			http.Error(w, "not yet", http.StatusNotFound)
			return
		}
		signature, err := key.Sign(round)
		if err != nil {
			t.Error(err)
		}
		answer(w, round, signature)
	}))
	t.Cleanup(s.Close)
	return s
}

func newHTTP(t testing.TB, info beacon.Info, o HTTPOptions, urls ...string) *HTTP {
	t.Helper()
	h, err := NewHTTP(info, urls, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	return h
}

func within(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// TestWrongAnswers: whatever a server answers, a wrong answer is no round, takes neither time nor
// memory without bound, and a good server beside it is enough.
func TestWrongAnswers(t *testing.T) {
	t.Parallel()
	key, other := localKey(t, 1), localKey(t, 2)
	info := key.Chain().Info()
	sign := func(k *beacon.Local, round int64) []byte {
		s, err := k.Sign(round)
		if err != nil {
			t.Error(err)
		}
		return s
	}
	good := serve(t, key, nil)
	status := func(code int) func(http.ResponseWriter, *http.Request, int64) {
		return func(w http.ResponseWriter, _ *http.Request, _ int64) { http.Error(w, "no", code) }
	}
	text := func(format string) func(http.ResponseWriter, *http.Request, int64) {
		return func(w http.ResponseWriter, _ *http.Request, round int64) {
			fmt.Fprint(w, strings.NewReplacer("ROUND", fmt.Sprint(round), "SIG", hex.EncodeToString(sign(key, round))).Replace(format))
		}
	}
	var sent atomic.Int64
	var wait sync.WaitGroup
	round := dueNow(t, info)
	for name, c := range map[string]struct {
		answer func(http.ResponseWriter, *http.Request, int64)
		want   string // in the error
		wrong  bool   // a wrong answer, not only none
	}{
		"404":                {status(404), "status 404", false},
		"429":                {status(429), "status 429", false},
		"500":                {status(500), "status 500", false},
		"503":                {status(503), "status 503", false},
		"403":                {status(403), "status 403", true},
		"204":                {func(w http.ResponseWriter, _ *http.Request, _ int64) { w.WriteHeader(204) }, "status 204", true},
		"closed":             {func(http.ResponseWriter, *http.Request, int64) { panic(http.ErrAbortHandler) }, "EOF", false},
		"silent":             {func(_ http.ResponseWriter, r *http.Request, _ int64) { <-r.Context().Done() }, "deadline exceeded", false},
		"redirect":           {func(w http.ResponseWriter, r *http.Request, _ int64) { http.Redirect(w, r, good.URL+r.URL.Path, 302) }, "status 302", true},
		"old latest":         {func(w http.ResponseWriter, _ *http.Request, r int64) { answer(w, 7, sign(key, 7)) }, "it answers with round 7", true},
		"another round":      {func(w http.ResponseWriter, _ *http.Request, r int64) { answer(w, r-1, sign(key, r-1)) }, "it answers with round", true},
		"a coming round":     {func(w http.ResponseWriter, _ *http.Request, r int64) { answer(w, r+1, sign(key, r+1)) }, "it answers with round", true},
		"under false number": {func(w http.ResponseWriter, _ *http.Request, r int64) { answer(w, r, sign(key, r-1)) }, "not of this key and round", true},
		"another chain":      {func(w http.ResponseWriter, _ *http.Request, r int64) { answer(w, r, sign(other, r)) }, "not of this key and round", true},
		"malleated": {func(w http.ResponseWriter, _ *http.Request, r int64) {
			s := sign(key, r)
			s[0] ^= 0x20 // the point with its sign changed
			answer(w, r, s)
		}, "not of this key and round", true},
		"trailing bytes": {func(w http.ResponseWriter, _ *http.Request, r int64) { answer(w, r, append(sign(key, r), 0)) }, "49 bytes", true},
		"neutral element": {func(w http.ResponseWriter, _ *http.Request, r int64) {
			answer(w, r, append([]byte{0xc0}, make([]byte, 47)...))
		}, "neutral element", true},
		"no signature":  {text(`{"round":ROUND}`), "signature is not present", true},
		"not an object": {text(`["ROUND"]`), "decoding", true},
		"not JSON":      {text(`<html>SIG`), "decoding", true},
		"cut":           {text(`{"round":ROUND,"signature":"SIG`), "decoding", true},
		"empty":         {text(``), "decoding", true},
		"huge": {func(w http.ResponseWriter, _ *http.Request, _ int64) {
			chunk := bytes.Repeat([]byte(" "), 1<<16)
			for range 200 << 20 / len(chunk) {
				n, err := w.Write(chunk)
				sent.Add(int64(n))
				if err != nil {
					return
				}
			}
		}, "exceeds 4096 bytes", true},
		"huge and says so": {func(w http.ResponseWriter, _ *http.Request, _ int64) {
			w.Header().Set("Content-Length", fmt.Sprint(200<<20))
			w.WriteHeader(200)
		}, "exceeds 4096 bytes", true},
		"huge header": {func(w http.ResponseWriter, _ *http.Request, _ int64) {
			w.Header().Set("X", strings.Repeat("x", 1<<20))
		}, "exceeded", false},
		"slow": {func(w http.ResponseWriter, r *http.Request, _ int64) {
			for r.Context().Err() == nil {
				_, _ = w.Write([]byte(" "))
				_ = http.NewResponseController(w).Flush()
				time.Sleep(10 * time.Millisecond)
			}
		}, "deadline exceeded", false},
	} {
		wait.Go(func() {
			errorf := func(format string, args ...any) { t.Helper(); t.Errorf(name+": "+format, args...) }
			bad := serve(t, key, func(w http.ResponseWriter, r *http.Request, round int64) bool {
				c.answer(w, r, round)
				return true
			})
			h := newHTTP(t, info, HTTPOptions{Timeout: time.Second}, bad.URL)
			start := time.Now()
			s, err := h.Round(within(t, 1500*time.Millisecond), round)
			if s != nil || !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), c.want) || len(err.Error()) > 500 {
				errorf("round %d: %x, %v, want %q", round, s, err, c.want)
			}
			if took := time.Since(start); took > 3*time.Second {
				errorf("it took %v to give up", took)
			}
			h.mu.Lock()
			wrong, last := h.health.Wrong, h.health.LastWrong
			h.mu.Unlock()
			if wrong > 0 != c.wrong || strings.Contains(last, c.want) != c.wrong {
				errorf("%d wrong answers, the last: %q", wrong, last)
			}
			if n := bad.asked.Load(); n < 1 || n > 5 {
				errorf("asked %d times", n)
			}

			// The newest round cannot be got either, and the clock is not to blame.
			if round, _, err := h.Newest(t.Context()); !errors.Is(err, ErrOverdue) {
				errorf("newest: round %d, %v", round, err)
			}

			both := newHTTP(t, info, HTTPOptions{}, bad.URL, good.URL)
			start = time.Now()
			s, err = both.Round(t.Context(), round)
			if err != nil || !bytes.Equal(s, sign(key, round)) {
				errorf("with a good server too: %x, %v", s, err)
			}
			if took := time.Since(start); took > hedge+2*time.Second {
				errorf("it took %v with a good server", took)
			}
			if r, s, err := both.Newest(t.Context()); err != nil || r < round || !bytes.Equal(s, sign(key, r)) {
				errorf("newest with a good server: round %d, %v", r, err)
			}
		})
	}
	wait.Wait()
	if n := sent.Load(); n > 100<<20 {
		t.Errorf("%d bytes of huge answers were taken", n)
	}
}

// TestRoundComes: nobody is asked before the time; then failures and lies are waited out.
func TestRoundComes(t *testing.T) {
	key := localKey(t, 1)
	info := key.Chain().Info()
	round := dueNow(t, info) + 2
	at, err := info.TimeOf(round)
	if err != nil {
		t.Fatal(err)
	}
	var count atomic.Int64
	s := serve(t, key, func(w http.ResponseWriter, _ *http.Request, r int64) bool {
		if early := at - time.Now().UnixMilli(); early > 0 {
			t.Errorf("asked %d ms early", early)
		}
		switch count.Add(1) {
		case 1:
			http.Error(w, "not yet", 404)
		case 2:
			sig, _ := key.Sign(r - 1)
			answer(w, r-1, sig)
		case 3:
			http.Error(w, "down", 503)
		default:
			return false
		}
		return true
	})
	var log syncBuffer
	h := newHTTP(t, info, HTTPOptions{Log: slog.New(slog.NewTextHandler(&log, nil))}, s.URL)
	got, err := h.Round(t.Context(), round)
	want, _ := key.Sign(round)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%x, %v", got, err)
	}
	if late := time.Now().UnixMilli() - at; late < 700 || late > 1500 {
		t.Errorf("it came after %d ms, and the pauses are 100, 200 and 400", late)
	}
	if !strings.Contains(log.String(), "wrong answer") || strings.Count(log.String(), "\n") != 1 {
		t.Errorf("log: %s", log.String())
	}
	// It is not asked for again.
	n := count.Load()
	if again, err := h.Round(t.Context(), round); err != nil || !bytes.Equal(again, want) || count.Load() != n {
		t.Errorf("again: %x, %v, asked %d times", again, err, count.Load()-n)
	}
	got[0] ^= 1
	if again, err := h.Round(t.Context(), round); err != nil || !bytes.Equal(again, want) {
		t.Errorf("after a change to what was returned: %x, %v", again, err)
	}
	if _, err := h.Round(t.Context(), 0); err == nil {
		t.Error("round 0 is given")
	}
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// TestManyWait: one question for all who wait for a round. Who gives up does not disturb the others,
// and when all have, nobody asks any more.
func TestManyWait(t *testing.T) {
	key := localKey(t, 1)
	info := key.Chain().Info()
	release := make(chan struct{})
	s := serve(t, key, func(_ http.ResponseWriter, r *http.Request, _ int64) bool {
		select {
		case <-release:
			return false
		case <-r.Context().Done():
			return true
		}
	})
	h := newHTTP(t, info, HTTPOptions{}, s.URL)
	round := dueNow(t, info)
	impatient, giveUp := context.WithCancel(t.Context())
	errs := make(chan error, 50)
	for i := range 50 {
		ctx := t.Context()
		if i%2 == 0 {
			ctx = impatient
		}
		go func() {
			_, err := h.Round(ctx, round)
			errs <- err
		}()
	}
	for h.waiting(round) < 50 || s.asked.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	giveUp()
	for range 25 {
		if err := <-errs; !errors.Is(err, context.Canceled) {
			t.Errorf("gave up: %v", err)
		}
	}
	close(release)
	for range 25 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if n := s.asked.Load(); n != 1 {
		t.Errorf("asked %d times", n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, err := h.Round(ctx, round+1000)
		errs <- err
	}()
	for h.waiting(round+1000) == 0 {
		time.Sleep(time.Millisecond)
	}
	cancel()
	if err := <-errs; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if n := h.waiting(round + 1000); n != -1 {
		t.Errorf("the round is still asked for, for %d", n)
	}
}

// waiting returns how many wait for a round, -1 if it is not asked for.
func (h *HTTP) waiting(round int64) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	if f := h.flights[round]; f != nil {
		return f.waiting
	}
	return -1
}

func TestClose(t *testing.T) {
	key := localKey(t, 1)
	s := serve(t, key, func(_ http.ResponseWriter, r *http.Request, _ int64) bool {
		<-r.Context().Done()
		return true
	})
	h := newHTTP(t, key.Chain().Info(), HTTPOptions{}, s.URL)
	round := dueNow(t, h.Chain())
	errs := make(chan error)
	for _, r := range []int64{round, round + 1000} {
		go func() {
			_, err := h.Round(t.Context(), r)
			errs <- err
		}()
	}
	go func() {
		_, _, err := h.Newest(t.Context())
		errs <- err
	}()
	for s.asked.Load() < 2 || h.waiting(round+1000) < 1 {
		time.Sleep(time.Millisecond)
	}
	h.Close()
	for range 3 {
		if err := <-errs; !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
	}
	if _, err := h.Round(t.Context(), round); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if _, _, err := h.Newest(t.Context()); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	h.Close()
}

// TestNewest: the round that is due, or one shortly before; never one under a clock that is behind.
func TestNewest(t *testing.T) {
	key := localKey(t, 1)
	info := key.Chain().Info()
	t.Run("due", func(t *testing.T) {
		t.Parallel()
		s := serve(t, key, nil)
		h := newHTTP(t, info, HTTPOptions{}, s.URL)
		for range 10 {
			before := dueNow(t, info)
			round, signature, err := h.Newest(t.Context())
			if want, _ := key.Sign(round); err != nil || round < before || !bytes.Equal(signature, want) {
				t.Errorf("round %d, at least %d: %x, %v", round, before, signature, err)
			}
		}
		if n := s.asked.Load(); n > 4 { // a round and the one that must not be out; another period may begin
			t.Errorf("asked %d times", n)
		}
		if v := h.Health(t.Context()); v.Err != nil || v.Round != v.Due || v.Late != 0 || v.Wrong != 0 || v.Seen.IsZero() {
			t.Errorf("health %+v", v)
		}
	})
	t.Run("late", func(t *testing.T) {
		t.Parallel()
		s := serve(t, key, func(w http.ResponseWriter, _ *http.Request, r int64) bool {
			late := r > dueNow(t, info)-2
			if late {
				http.Error(w, "not yet", 404)
			}
			return late
		})
		h := newHTTP(t, info, HTTPOptions{}, s.URL)
		due := dueNow(t, info)
		round, _, err := h.Newest(t.Context())
		if err != nil || round < due-2 || round > due-1 {
			t.Errorf("round %d of %d, %v", round, due, err)
		}
		if v := h.Health(t.Context()); v.Err != nil || v.Late < time.Second || v.Late > 4*time.Second {
			t.Errorf("health %+v", v)
		}
	})
	t.Run("halted", func(t *testing.T) {
		t.Parallel()
		s := serve(t, key, func(w http.ResponseWriter, r *http.Request, round int64) bool {
			switch {
			case strings.HasSuffix(r.URL.Path, "/latest"):
				sig, _ := key.Sign(50)
				answer(w, 50, sig)
			case round > 50:
				http.Error(w, "not yet", 500)
			default:
				return false
			}
			return true
		})
		h := newHTTP(t, info, HTTPOptions{}, s.URL)
		if round, sig, err := h.Newest(t.Context()); !errors.Is(err, ErrOverdue) || round != 0 || sig != nil || !strings.Contains(err.Error(), "round 50, which was due") {
			t.Errorf("round %d, %v", round, err)
		}
		n := s.asked.Load()
		if v := h.Health(t.Context()); !errors.Is(v.Err, ErrOverdue) || v.Round != 50 || v.Late < 40*time.Second || s.asked.Load() != n {
			t.Errorf("health %+v, asked %d times", v, s.asked.Load()-n)
		}
	})
	t.Run("nobody", func(t *testing.T) {
		t.Parallel()
		s := serve(t, key, nil)
		s.Close()
		h := newHTTP(t, info, HTTPOptions{}, s.URL)
		if _, _, err := h.Newest(t.Context()); !errors.Is(err, ErrOverdue) || !strings.Contains(err.Error(), "refused") {
			t.Error(err)
		}
		if v := h.Health(t.Context()); v.Err == nil || v.Round != 0 {
			t.Errorf("health %+v", v)
		}
	})
	t.Run("clock behind", func(t *testing.T) {
		t.Parallel()
		s := serve(t, key, nil)
		for _, behind := range []time.Duration{10 * time.Minute, 10 * time.Second, 4 * time.Second} {
			// For ten minutes the chain is too young.
			old, err := beacon.NewLocal([32]byte{9}, time.Now().Unix()-10_000, 1)
			if err != nil {
				t.Fatal(err)
			}
			s := serve(t, old, nil)
			h := newHTTP(t, old.Chain().Info(), HTTPOptions{Now: func() time.Time { return time.Now().Add(-behind) }}, s.URL)
			if round, _, err := h.Newest(t.Context()); !errors.Is(err, ErrClock) || round != 0 {
				t.Errorf("%v behind: round %d, %v", behind, round, err)
			}
			if v := h.Health(t.Context()); !errors.Is(v.Err, ErrClock) {
				t.Errorf("%v behind: health %+v", behind, v)
			}
		}
		h := newHTTP(t, info, HTTPOptions{Now: func() time.Time { return time.Now().Add(-time.Second) }}, s.URL)
		if _, _, err := h.Newest(t.Context()); err != nil {
			t.Errorf("one second behind: %v", err)
		}
		h = newHTTP(t, info, HTTPOptions{Now: func() time.Time { return time.Now().Add(-10 * time.Minute) }}, s.URL)
		if _, _, err := h.Newest(t.Context()); !errors.Is(err, beacon.ErrBeforeGenesis) {
			t.Errorf("before genesis: %v", err)
		}
	})
	t.Run("clock ahead", func(t *testing.T) {
		t.Parallel()
		s := serve(t, key, nil)
		h := newHTTP(t, info, HTTPOptions{Now: func() time.Time { return time.Now().Add(10 * time.Minute) }}, s.URL)
		if round, _, err := h.Newest(t.Context()); !errors.Is(err, ErrOverdue) || round != 0 || !strings.Contains(err.Error(), "clock is ahead") {
			t.Errorf("round %d, %v", round, err)
		}
	})
}

// TestServers: the server that answered is asked first from then on, and a slow one costs a moment.
func TestServers(t *testing.T) {
	key := localKey(t, 1)
	info := key.Chain().Info()
	silent := serve(t, key, func(_ http.ResponseWriter, r *http.Request, _ int64) bool {
		<-r.Context().Done()
		return true
	})
	down := serve(t, key, nil)
	down.Close()
	good := serve(t, key, nil)
	h := newHTTP(t, info, HTTPOptions{}, silent.URL, down.URL, good.URL)
	for i, limit := range []time.Duration{hedge + 500*time.Millisecond, 400 * time.Millisecond, 400 * time.Millisecond} {
		start := time.Now()
		if _, err := h.Round(t.Context(), int64(10+i)); err != nil || time.Since(start) > limit {
			t.Errorf("round %d after %v: %v", 10+i, time.Since(start), err)
		}
	}
	if n := silent.asked.Load(); n != 1 {
		t.Errorf("the silent server was asked %d times", n)
	}
}

func TestNewHTTP(t *testing.T) {
	quicknet := beacon.Quicknet()
	many := make([]string, MaxServers+1)
	for i := range many {
		many[i] = fmt.Sprintf("https://%d.example", i)
	}
	for want, urls := range map[string][]string{
		"0 servers":               nil,
		"17 servers":              many,
		"is named twice":          {"https://a.example", "https://a.example/"},
		"is not an address":       {"a.example"},
		"not an address of":       {"ftp://a.example"},
		"is not an address of a":  {"https:///x"},
		"more than a server":      {"https://user:secret@a.example"},
		"has more than a server":  {"https://a.example?x=1"},
		"more than a server and ": {"https://a.example#x"},
		"control character":       {"https://a.example/\n"},
	} {
		if _, err := NewHTTP(quicknet, urls, HTTPOptions{}); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v, want %s", urls, err, want)
		}
	}
	if _, err := NewHTTP(quicknet, []string{"https://a.example"}, HTTPOptions{Timeout: -1}); err == nil {
		t.Error("a negative timeout is taken")
	}
	changed := quicknet
	changed.Genesis++
	if _, err := NewHTTP(changed, []string{"https://a.example"}, HTTPOptions{}); err == nil {
		t.Error("a chain with a false hash is taken")
	}
	h, err := NewHTTP(quicknet, []string{"https://api.drand.sh", "https://b.example/some/path/"}, HTTPOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	if got := []string{h.servers[0].url, h.servers[1].url}; !slices.Equal(got, []string{"https://api.drand.sh", "https://b.example/some/path"}) || h.Chain() != quicknet {
		t.Errorf("servers %v of %+v", got, h.Chain())
	}
}

// FuzzServerURL: the address of a server has one text, and a path that only the chain's is added to.
func FuzzServerURL(f *testing.F) {
	for _, s := range []string{"https://api.drand.sh", "http://127.0.0.1:8080/", "https://a.example/some/path//", "https://[::1]/", "https://a/%2f/", "https://u@a", "//a", "https://a?"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		address, err := checkURL(s)
		if err != nil {
			return
		}
		again, err := checkURL(address)
		if err != nil || again != address || strings.ContainsAny(address, "?# \n") || strings.HasSuffix(address, "/") {
			t.Errorf("%q is read as %q, and that as %q, %v", s, address, again, err)
		}
	})
}
