package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/labstack/echo/v4"

	"ludger/api/arena"
	"ludger/api/wire"
	"ludger/ledger"
	"ludger/ledger/sequencer"
	"ludger/replay"
)

// Refusals of this package.
var (
	errSyntax   = errors.New("the request is malformed")
	errID       = errors.New("no match has such an id: it is 64 lowercase hex digits")
	errTile     = errors.New("the published log has no such tile")
	errKey      = errors.New("every signed request needs its " + wire.HeaderKey)
	errUnsigned = errors.New("the request is not signed")
	errSigner   = errors.New("the signature is not that of the arena over this request")
	errSize     = errors.New("the body is too large")
	errType     = errors.New("the body must be " + wire.TypeJSON + " without a content encoding")
	errSlow     = errors.New("the body did not arrive in time")
	errCut      = errors.New("the body ended early")
	errBusy     = errors.New("too many large requests are under way")
	errStreams  = errors.New("too many streams are open")
	errNotReady = errors.New("the server cannot append or publish")
	errPanic    = errors.New("panic")
)

// A row of the table says what HTTP makes of an error. The detail of an answer is the error's own text
// where it is about the request, and the row's where it could tell of the inside.
type row struct {
	is     error
	status int
	code   string
	title  string
	detail string // "" is the error's own text
}

// table is searched from the top: the first row whose error is met counts. What no row meets is
// internal. Errors that are types are in problem.
var table = []row{
	{errID, 404, "no-match", "No such match", ""},
	{arena.ErrNoMatch, 404, "no-match", "No such match", ""},
	{errTile, 404, "no-tile", "No such tile", ""},
	{echo.ErrNotFound, 404, "no-route", "Nothing is here", "no resource has this path: see the documentation of the API for those there are"},
	{echo.ErrMethodNotAllowed, 405, "method", "Method not allowed", "the resource does not know this method: the header Allow lists those it knows"},

	{errSize, 413, "too-large", "Request too large", ""},
	{errType, 415, "media-type", "Unsupported media type", ""},
	{errSlow, 408, "too-slow", "Request too slow", "the request did not arrive whole in time: send it again over a faster connection, or in smaller batches"},
	{errCut, 400, "cut", "Request cut short", "the body ended before its announced length: send the request again"},
	{errKey, 400, "idempotency-key", "Idempotency key missing or malformed", ""},
	{errSyntax, 400, "malformed", "Malformed request", ""},
	{errUnsigned, 401, "unsigned", "Signature missing or malformed", ""},
	{errSigner, 401, "signature", "Wrong signature", "the signature is not that of the arena's admitted key over this method, path, idempotency key and body: sign exactly the bytes that are sent"},
	{arena.ErrNoArena, 403, "not-admitted", "Arena not admitted", ""},
	{arena.ErrNotYours, 403, "not-yours", "Another arena's match", "another arena runs this match, and only that one can append to it"},

	{ledger.ErrReused, 422, wire.CodeReused, "Idempotency key reused", "this idempotency key was used before for another request: choose a new one for each new request"},
	{arena.ErrTaken, 409, "taken", "Handle taken", ""},
	{arena.ErrNoBeacons, 422, wire.CodeTerms, "Terms not accepted", "this log has no source of beacons, which the game needs: choose another game"},

	{arena.ErrBeacon, 503, "beacon", "No beacon", ""},

	{errBusy, 503, "busy", "Server busy", "too many large requests are under way: send this one again after the time in Retry-After"},
	{errStreams, 503, "streams", "Too many streams", "too many streams are open: try again after the time in Retry-After, or read the events page by page"},
	{errNotReady, 503, "not-ready", "Not ready", "the server cannot append or publish now: its operator finds the reason in its log"},
	{sequencer.ErrUnclear, 503, wire.CodeUnclear, "Unclear", "whether this was appended is not known: send the very same request with its idempotency key again"},
	{sequencer.ErrStopped, 503, "stopped", "Not appending", "the log takes no events now, and nothing was appended: send the same request again later"},
	{ledger.ErrFenced, 503, "stopped", "Not appending", "the log takes no events now, and nothing was appended: send the same request again later"},
	{ledger.ErrClosed, 503, "stopped", "Not serving", "the server is shutting down: send the same request again later"},
	{context.DeadlineExceeded, 503, "timeout", "Timeout", "the server took too long: send the same request again"},
	{context.Canceled, 503, "timeout", "Canceled", "the request was given up: send the same request again"},
}

// internal is what becomes of every other error.
var internal = row{nil, 500, "internal", "Internal error", "the server failed at this request, and its log has the reason under the id of the request: report it to the operator"}

// problem returns what HTTP makes of an error.
func problem(err error) *wire.Problem {
	var (
		conflict *ledger.ConflictError
		body     *arena.BodyError
		terms    *arena.TermsError
		fault    *replay.Fault
		web      *echo.HTTPError
	)
	switch {
	case errors.As(err, &conflict):
		p := row{status: 409, code: wire.CodeLength, title: "The match has another length"}.problem(conflict)
		p.Detail += ": read the events that are new, and ask again for the new length under a new idempotency key"
		p.Expected, p.Actual, p.ActualLeaf = conflict.Expected, conflict.Actual, conflict.ActualLeaf
		return p
	case errors.As(err, &body):
		p := row{status: 422, code: wire.CodeRules, title: "The rules forbid an event"}.problem(body)
		p.Detail += "; nothing of the request was appended"
		p.Event = body.Body
		if errors.As(err, &fault) {
			f := *fault
			p.Fault = &f
		}
		return p
	case errors.As(err, &terms):
		p := row{status: 422, code: wire.CodeTerms, title: "Terms not accepted"}.problem(terms)
		if errors.As(err, &fault) {
			f := *fault
			p.Fault = &f
		}
		return p
	}
	for _, r := range table {
		if errors.Is(err, r.is) {
			return r.problem(err)
		}
	}
	if errors.As(err, &web) && web.Code >= 400 && web.Code < 500 { // of echo, none known
		return row{status: web.Code, code: "refused", title: http.StatusText(web.Code), detail: "the request cannot be served as it is"}.problem(err)
	}
	return internal.problem(err)
}

func (r row) problem(err error) *wire.Problem {
	p := &wire.Problem{Status: r.status, Code: r.code, Title: r.title, Detail: r.detail, Event: -1}
	if p.Detail == "" {
		p.Detail = err.Error()
	}
	return p
}

// refuse answers a request with the problem of an error. It is echo's own error handler, so what echo
// refuses passes here too.
func (s *Server) refuse(err error, c echo.Context) {
	p := problem(err)
	p.Request = c.Response().Header().Get(wire.HeaderRequest)
	note(c, p.Code, err)
	if c.Response().Committed {
		return // the answer was under way: it ends where it is
	}
	h := c.Response().Header()
	for _, name := range []string{"Content-Disposition", "Content-Encoding", "Etag", "Last-Modified", "Location"} {
		h.Del(name) // they were about another answer
	}
	h.Set("Content-Type", wire.TypeProblem)
	h.Set("Cache-Control", "no-store")
	switch p.Status {
	case 401:
		h.Set("WWW-Authenticate", wire.HeaderSignature)
	case 503:
		h.Set("Retry-After", "1")
	}
	if errors.Is(err, errSlow) || errors.Is(err, errSize) || errors.Is(err, errBusy) {
		h.Set("Connection", "close") // the rest of the body is not read
	}
	body := p.Bytes()
	h.Set("Content-Length", fmt.Sprint(len(body)))
	c.Response().WriteHeader(p.Status)
	if c.Request().Method != http.MethodHead {
		c.Response().Write(body)
	}
}
