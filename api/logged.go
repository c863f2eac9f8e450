package api

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/labstack/echo/v4"

	"ludger/api/wire"
)

// The names of what handlers tell the log line of their request.
const (
	noteArena = "arena"
	noteCode  = "code"
	noteError = "error"
)

// note tells the log line of a request how it was refused.
func note(c echo.Context, code string, err error) {
	c.Set(noteCode, code)
	c.Set(noteError, err)
}

// logged gives every request an id, turns a panic into an error, and writes one line. It logs neither
// bodies nor headers: signed moves of games with hidden information pass here.
func (s *Server) logged(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		start := time.Now()
		var id [8]byte
		rand.Read(id[:])
		request := hex.EncodeToString(id[:])
		h := c.Response().Header()
		h.Set(wire.HeaderRequest, request)
		h.Set("X-Content-Type-Options", "nosniff")
		if err := recovered(next, c); err != nil {
			s.refuse(err, c)
		}

		status, level := c.Response().Status, slog.LevelInfo
		attrs := []slog.Attr{
			slog.String("id", request), slog.String("method", c.Request().Method), slog.String("route", c.Path()),
			slog.Int("status", status), slog.Duration("took", time.Since(start)), slog.Int64("bytes", c.Response().Size),
		}
		for _, name := range []string{noteArena, noteCode} {
			if v, ok := c.Get(name).(string); ok {
				attrs = append(attrs, slog.String(name, v))
			}
		}
		if err, ok := c.Get(noteError).(error); ok && status >= 500 {
			level = slog.LevelWarn
			if status == 500 {
				level = slog.LevelError
			}
			attrs = append(attrs, slog.String(noteError, err.Error()))
		}
		if status < 400 && (c.Path() == wire.PathHealth || c.Path() == wire.PathReady) {
			level = slog.LevelDebug
		}
		s.Logger.LogAttrs(context.WithoutCancel(c.Request().Context()), level, "request", attrs...)
		if panicked, ok := c.Get(noteError).(error); ok && errors.Is(panicked, errPanic) && c.Response().Committed && status < 400 {
			panic(http.ErrAbortHandler) // an answer that broke off must not look whole
		}
		return nil
	}
}

// recovered runs a handler and returns its panic as an error with the stack.
func recovered(next echo.HandlerFunc, c echo.Context) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: %v\n%s", errPanic, r, debug.Stack())
		}
	}()
	return next(c)
}
