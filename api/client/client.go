// Package client talks to a hall over HTTP: it opens matches and appends to them for an arena, and reads
// matches and the log for everybody.
//
//	c, err := client.New(client.Config{Base: "http://127.0.0.1:8080", Log: verifier, Arena: "chess-hall", Key: key})
//	m, err := c.Open(ctx, "", &wire.Open{Game: "chess@1", …})
//	a, err := c.Append(ctx, "", m.Match, m.Length, &event.MovePlayed{Seat: 0, Signed: signed})
//
// An append whose end is unclear, since the network or the server failed under way, is sent again under
// its idempotency key, and so happens once. Errors of the server are a *wire.Problem, which wraps a
// *ledger.ConflictError, ledger.ErrReused or a *replay.Fault where it is one.
//
// With the log's key, receipts are checked, and so is that hidden moves are boxed as they were sent. What
// a match and its log are worth is for package replay to say, from a Bundle.
package client

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"

	"ludger/api/wire"
	"ludger/checkpoint"
	"ludger/ledger/event"
	"ludger/ledger/sign"
)

// Config is what a client works with.
type Config struct {
	Base  string               // scheme, host and perhaps a path, without a slash at the end
	Log   *checkpoint.Verifier // the log's key; nil checks no receipts
	Arena string               // needed to open and append, with its Key
	Key   sign.PrivateKey

	HTTP  *http.Client  // nil is one of its own, with connections kept open for many matches at a time
	Tries int           // how often a request is sent before its last failure counts; 0 is 6
	Pause time.Duration // before the second try; it doubles each time; 0 is 50 ms
	Wait  time.Duration // for one answer; 0 is 30 s
}

// A Client talks to one hall. It is safe for concurrent use.
type Client struct {
	Config
	prefix string // path of Base, which is part of the path that is signed
	own    *http.Transport
}

// New returns a client. It sends nothing.
func New(c Config) (*Client, error) {
	u, err := url.Parse(c.Base)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || strings.HasSuffix(u.Path, "/") {
		return nil, fmt.Errorf("address %q is not of the form http://host:port or https://host, without a slash at the end", c.Base)
	}
	client := &Client{Config: c, prefix: u.EscapedPath()}
	if c.HTTP == nil {
		client.own = http.DefaultTransport.(*http.Transport).Clone()
		client.own.MaxIdleConnsPerHost = 256
		client.HTTP = &http.Client{Transport: client.own, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	if c.Tries == 0 {
		client.Tries = 6
	}
	if c.Pause == 0 {
		client.Pause = 50 * time.Millisecond
	}
	if c.Wait == 0 {
		client.Wait = 30 * time.Second
	}
	return client, nil
}

// Close drops the connections that are kept open. A client of the caller's own HTTP keeps them.
func (c *Client) Close() {
	if c.own != nil {
		c.own.CloseIdleConnections()
	}
}

// NewKey returns a fresh idempotency key.
func NewKey() string {
	var b [16]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// Open opens a match. A caller that wants to ask again after its own restart gives an idempotency key
// that it keeps; "" is a fresh one.
func (c *Client) Open(ctx context.Context, key string, o *wire.Open) (*wire.Appended, error) {
	a, err := c.post(ctx, wire.PathMatches, key, o.Bytes())
	if err != nil {
		return nil, err
	}
	if a.Events[0].Kind != event.KindMatchOpened || a.Events[0].Seq != 0 {
		return nil, fmt.Errorf("the answer opens no match: its first event is %s at %d", a.Events[0].Kind, a.Events[0].Seq)
	}
	return a, c.check(a, nil)
}

// Append adds to a match that has length events. A *ledger.ConflictError in the error tells the length it
// has instead. key is as for Open.
func (c *Client) Append(ctx context.Context, key string, id event.MatchID, length int64, bodies ...event.Body) (*wire.Appended, error) {
	body, err := (&wire.Append{Length: length, Events: bodies}).Bytes()
	if err != nil {
		return nil, err
	}
	a, err := c.post(ctx, wire.PathAppend(id), key, body)
	if err != nil {
		return nil, err
	}
	if a.Match != id || a.Events[0].Seq != length {
		return nil, fmt.Errorf("the answer appends to match %v at %d, not to %v at %d", a.Match, a.Events[0].Seq, id, length)
	}
	return a, c.check(a, bodies)
}

// Ack brings a seat's own acknowledgement of a match. It needs no arena's key, and may be sent again.
func (c *Client) Ack(ctx context.Context, id event.MatchID, b *event.SeatAcked) (*wire.Appended, error) {
	header := http.Header{"Content-Type": {wire.TypeJSON}}
	var a *wire.Appended
	err := c.retry(ctx, func(ctx context.Context) error {
		data, err := c.do(ctx, http.MethodPost, wire.PathGame(id)+"/ack", header, wire.AckBytes(b))
		if err != nil {
			return err
		}
		a, err = wire.ParseAppended(data)
		return err
	})
	if err != nil {
		return nil, err
	}
	return a, c.check(a, nil)
}

// check checks an answer: that its events follow one another, that the receipt is for the last of them,
// and that each hidden move stands boxed as it was sent.
func (c *Client) check(a *wire.Appended, bodies []event.Body) error {
	sent := map[sign.Signature]bool{}
	for _, b := range bodies {
		if m, ok := b.(*event.MovePlayed); ok {
			sent[m.Signed.Signature] = true
		}
	}
	for i := range a.Events {
		e := &a.Events[i]
		if e.Stream != event.MatchStream(a.Match) || i > 0 && (e.Seq != a.Events[i-1].Seq+1 || e.Prev != a.Events[i-1].Leaf()) {
			return fmt.Errorf("the answer's event %d of %s at %d does not follow the one before it in the match", i, e.Stream, e.Seq)
		}
		body, err := e.Body()
		if err != nil {
			return fmt.Errorf("the answer's event %d: %w", i, err)
		}
		m, ok := body.(*event.MovePlayed)
		if !ok {
			continue
		}
		signed := m.Signed
		if m.Box != nil {
			box := event.Box{Match: a.Match, Seq: e.Seq, Prev: e.Prev, Seat: m.Seat, Turn: m.Turn}
			if _, signed, err = box.Open(a.Keys[e.Seq], m.Box); err != nil {
				return fmt.Errorf("the hidden move at %d: %w", e.Seq, err)
			}
		}
		if bodies != nil && !sent[signed.Signature] {
			return fmt.Errorf("the move at %d is not one that was sent", e.Seq)
		}
	}
	last := &a.Events[len(a.Events)-1]
	r := &a.Receipt
	if r.Leaf != last.Leaf() || r.Index != a.First+int64(len(a.Events))-1 {
		return fmt.Errorf("the receipt is for %v at entry %d, not for the last event, %v at %d", r.Leaf, r.Index, last.Leaf(), a.First+int64(len(a.Events))-1)
	}
	if c.Log != nil {
		return r.Check(c.Log)
	}
	return nil
}

// post sends a signed request until its end is clear.
func (c *Client) post(ctx context.Context, path, key string, body []byte) (*wire.Appended, error) {
	if key == "" {
		key = NewKey()
	}
	if err := wire.CheckKey(key); err != nil {
		return nil, err
	}
	message, err := sign.ArenaMessage(c.Arena, http.MethodPost, c.prefix+path, key, body)
	if err != nil {
		return nil, err
	}
	header := http.Header{}
	header.Set("Content-Type", wire.TypeJSON)
	header.Set(wire.HeaderArena, c.Arena)
	header.Set(wire.HeaderKey, key)
	header.Set(wire.HeaderSignature, c.Key.Sign(message).String())
	var answer *wire.Appended
	err = c.retry(ctx, func(ctx context.Context) error {
		data, err := c.do(ctx, http.MethodPost, path, header, body)
		if err == nil {
			answer, err = wire.ParseAppended(data)
		}
		return err
	})
	return answer, err
}

// retry runs a request that may be sent again until its end is clear, or its tries are used up.
func (c *Client) retry(ctx context.Context, send func(ctx context.Context) error) (err error) {
	pause := c.Pause
	for try := 1; ; try++ {
		one, cancel := context.WithTimeout(ctx, c.Wait)
		err = send(one)
		cancel()
		if err == nil || ctx.Err() != nil || try >= c.Tries || !passes(err) {
			return err
		}
		timer := time.NewTimer(pause/2 + mathrand.N(pause)) // not all clients at once
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return errors.Join(err, ctx.Err())
		}
		pause *= 2
	}
}

// passes tells whether the same request may fare better later.
func passes(err error) bool {
	var p *wire.Problem
	if errors.As(err, &p) {
		switch p.Status {
		case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
			return true
		}
		return false
	}
	var network *url.Error
	return errors.As(err, &network) || errors.Is(err, errBroken)
}

// errBroken says that an answer broke off.
var errBroken = errors.New("reading the answer")

// request sends one request and returns its answer if that is a 2xx; any other is a *wire.Problem.
func (c *Client) request(ctx context.Context, method, path string, header http.Header, body []byte) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, c.Base+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for name, values := range header {
		r.Header[name] = values
	}
	answer, err := c.HTTP.Do(r)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode/100 == 2 {
		return answer, nil
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(io.LimitReader(answer.Body, 64<<10))
	if err == nil && answer.Header.Get("Content-Type") == wire.TypeProblem {
		if p, err := wire.ParseProblem(data); err == nil && p.Status == answer.StatusCode {
			return nil, p
		}
	}
	return nil, &wire.Problem{Status: answer.StatusCode, Title: http.StatusText(answer.StatusCode), Event: -1}
}

// do sends one request and reads its answer.
func (c *Client) do(ctx context.Context, method, path string, header http.Header, body []byte) ([]byte, error) {
	answer, err := c.request(ctx, method, path, header, body)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(io.LimitReader(answer.Body, wire.MaxAnswer+1))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errBroken, err)
	}
	if len(data) > wire.MaxAnswer {
		return nil, fmt.Errorf("answer of more than %d bytes to %s %s", wire.MaxAnswer, method, path)
	}
	return data, nil
}
