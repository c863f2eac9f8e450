package api

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"ludger/api/arena"
	"ludger/api/wire"
	"ludger/engine"
	"ludger/ledger/canon"
	"ludger/ledger/event"
	"ludger/ledger/sign"
	"ludger/replay"
)

// open opens a match for an arena.
func (s *Server) open(c echo.Context) error {
	request, body, done, err := s.signed(c, wire.MaxOpen)
	if err != nil {
		return err
	}
	defer done()
	o, err := wire.ParseOpen(body)
	if err != nil {
		return fmt.Errorf("%w: %w", errSyntax, err)
	}
	terms := arena.Terms{
		Game: o.Game, Setup: engine.Setup{Variant: o.Variant, Start: o.Start},
		Division: o.Division, MoveMS: o.MoveMS, Live: o.Live,
	}
	for _, seat := range o.Seats {
		terms.Seats = append(terms.Seats, arena.Seat(seat))
	}
	ctx, cancel := s.work(c)
	defer cancel()
	a, err := s.Arena.Begin(ctx, request, terms)
	if err != nil {
		return err
	}
	c.Response().Header().Set("Location", wire.PathGame(a.Match))
	return s.appended(c, http.StatusCreated, &a)
}

// append adds to a match of the arena.
func (s *Server) append(c echo.Context) error {
	id, err := match(c)
	if err != nil {
		return err
	}
	request, body, done, err := s.signed(c, wire.MaxAppend)
	if err != nil {
		return err
	}
	defer done()
	r, err := wire.ParseAppend(body)
	if err != nil {
		return fmt.Errorf("%w: %w", errSyntax, err)
	}
	ctx, cancel := s.work(c)
	defer cancel()
	a, err := s.Arena.Append(ctx, request, id, r.Length, r.Events)
	if err != nil {
		return err
	}
	return s.appended(c, http.StatusOK, &a)
}

// ack adds the acknowledgement of a seat. It carries the seat's own signature, so anybody may bring it.
func (s *Server) ack(c echo.Context) error {
	id, err := match(c)
	if err != nil {
		return err
	}
	body, done, err := s.body(c.Request(), wire.MaxAck)
	if err != nil {
		return err
	}
	defer done()
	b, err := wire.ParseAck(body)
	if err != nil {
		return fmt.Errorf("%w: %w", errSyntax, err)
	}
	ctx, cancel := s.work(c)
	defer cancel()
	a, err := s.Arena.Ack(ctx, id, b)
	if err != nil {
		return err
	}
	return s.appended(c, http.StatusOK, &a)
}

// work returns the context of an append: it goes on when the caller is gone, since what is under way
// is then settled, and not unclear.
func (s *Server) work(c echo.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(c.Request().Context()), s.Work)
}

// signed reads a request that an arena signed. What costs least is checked first: the headers, whether
// the arena is admitted, the size, and the signature before anybody looks into the body.
func (s *Server) signed(c echo.Context, limit int) (request arena.Request, body []byte, done func(), err error) {
	r := c.Request()
	name, err := one(r, wire.HeaderArena, errUnsigned)
	if err != nil {
		return request, nil, nil, err
	}
	hex, err := one(r, wire.HeaderSignature, errUnsigned)
	if err != nil {
		return request, nil, nil, err
	}
	var signature sign.Signature
	if !canon.DecodeHex(signature[:], hex) {
		return request, nil, nil, fmt.Errorf("%w: %s is 128 lowercase hex digits", errUnsigned, wire.HeaderSignature)
	}
	key, err := one(r, wire.HeaderKey, errKey)
	if err != nil {
		return request, nil, nil, err
	}
	if err := wire.CheckKey(key); err != nil {
		return request, nil, nil, fmt.Errorf("%w: %w", errKey, err)
	}
	path := r.RequestURI
	if strings.Contains(path, "?") {
		return request, nil, nil, fmt.Errorf("%w: a signed request has no query", errSyntax)
	}
	verifier, err := s.verifier(r.Context(), name)
	if err != nil {
		return request, nil, nil, err
	}
	c.Set(noteArena, name)
	body, done, err = s.body(r, limit)
	if err != nil {
		return request, nil, nil, err
	}
	message, err := sign.ArenaMessage(name, r.Method, path, key, body)
	if err != nil {
		done()
		return request, nil, nil, fmt.Errorf("%w: %w", errSyntax, err)
	}
	if !verifier.Verify(message, signature) {
		done()
		return request, nil, nil, errSigner
	}
	digest := canon.Digest("ludger/request/v1", []byte(r.Method), []byte(path), body)
	return arena.Request{Arena: name, Key: key, Digest: digest}, body, done, nil
}

// one returns the value of a header that stands there once.
func one(r *http.Request, name string, refusal error) (string, error) {
	if values := r.Header.Values(name); len(values) == 1 && values[0] != "" {
		return values[0], nil
	}
	return "", fmt.Errorf("%w: the header %s must stand there once", refusal, name)
}

// verifier returns the prepared key of an admitted arena.
func (s *Server) verifier(ctx context.Context, name string) (*sign.Verifier, error) {
	if v, ok := s.arenas.Load(name); ok {
		return v.(*sign.Verifier), nil
	}
	key, _, err := s.Arena.Admitted(ctx, name)
	if err != nil {
		return nil, err
	}
	v, err := sign.NewVerifier(key)
	if err != nil {
		return nil, fmt.Errorf("key of the arena %s: %w", name, err)
	}
	s.arenas.Store(name, v)
	return v, nil
}

// appended answers with what was appended and a receipt for the newest of it.
func (s *Server) appended(c echo.Context, status int, a *arena.Appended) error {
	if a.Stage == replay.StageSealed && !a.Before {
		select {
		case s.sealed <- struct{}{}:
		default: // it was told so already
		}
	}
	answer := wire.Appended{
		Match: a.Match, First: a.First, Events: a.Events, Keys: map[int64]event.BoxKey{},
		Length: a.Length, Stage: wire.StageWord(a.Stage), Before: a.Before,
	}
	for i, key := range a.Keys {
		if key != (event.BoxKey{}) {
			answer.Keys[a.Events[i].Seq] = key
		}
	}
	_, head := s.Publisher.Latest()
	newest := len(a.Events) - 1
	receipt := wire.Receipt{
		Origin: s.Arena.Origin, Index: a.First + int64(newest), Leaf: a.Events[newest].Leaf(),
		Level: sign.Durable, HeadSize: head.Size,
	}
	if receipt.Index < head.Size {
		receipt.Level = sign.Published
	}
	var err error
	if receipt.Signature, err = s.Signer.Receipt(receipt.Index, receipt.Leaf, receipt.Level, receipt.HeadSize); err != nil {
		return fmt.Errorf("signing a receipt: %w", err)
	}
	answer.Receipt = receipt
	if a.Before {
		status = http.StatusOK
	}
	return s.json(c, status, answer.Bytes())
}

// match reads the id in a path.
func match(c echo.Context) (id event.MatchID, err error) {
	if !canon.DecodeHex(id[:], c.Param("id")) {
		return id, errID
	}
	return id, nil
}

// json answers with a JSON text that may be of another kind the next moment.
func (s *Server) json(c echo.Context, status int, body []byte) error {
	c.Response().Header().Set("Cache-Control", "no-store")
	c.Response().Header().Set("Content-Length", fmt.Sprint(len(body)))
	if c.Request().Method == http.MethodHead {
		c.Response().Header().Set("Content-Type", wire.TypeJSON)
		return c.NoContent(status)
	}
	if len(body) > large { // a long bundle may take longer than other answers, over a slow line
		more := time.Duration(len(body)/slowest) * time.Second
		if err := http.NewResponseController(c.Response()).SetWriteDeadline(time.Now().Add(s.WriteTimeout + more)); err != nil {
			return fmt.Errorf("giving a large answer its time: %w", err)
		}
	}
	return c.Blob(status, wire.TypeJSON, body)
}
