package api

import (
	"bytes"
	"fmt"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"ludger/api/wire"
	"ludger/ledger/event"
	"ludger/ledger/sign"
)

// stream sends the events of a match as they come, as server-sent events (HTML Living Standard section
// 9.2):
//
//	id: 7
//	event: durable
//	data: {"at":…}
//
// id is the seq, data the event's canonical bytes, which are one line, and the name of the event is its
// level. A reader that comes back with Last-Event-ID goes on after it; without, ?from= says where to begin.
// A comment shows in silence that the stream lives. After match.sealed the stream ends; a reader that
// comes back then gets 204, which tells an EventSource to stay away.
func (s *Server) stream(c echo.Context, id event.MatchID, from int64) error {
	r := c.Request()
	ctx := r.Context()
	if last := r.Header.Get("Last-Event-ID"); last != "" {
		n, err := count("Last-Event-ID", last)
		if err != nil {
			return err
		}
		from = n + 1
	}
	head, err := s.head(ctx, id)
	if err != nil {
		return err
	}
	if from >= head.Length {
		sealed, err := s.isSealed(ctx, head)
		if err != nil {
			return err
		}
		if sealed {
			return c.NoContent(http.StatusNoContent)
		}
	}
	select {
	case s.streams <- struct{}{}:
		defer func() { <-s.streams }()
	default:
		return errStreams
	}

	w := c.Response()
	control := http.NewResponseController(w)
	// The request has arrived, and the bound on answers is for each write here.
	if err := control.SetReadDeadline(time.Time{}); err != nil {
		return fmt.Errorf("opening a stream: %w", err)
	}
	send := func(b []byte) error {
		if err := control.SetWriteDeadline(time.Now().Add(s.WriteTimeout)); err != nil {
			return err
		}
		if _, err := w.Write(b); err != nil {
			return err
		}
		return control.Flush()
	}
	w.Header().Set("Content-Type", wire.TypeStream)
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no") // proxies pass each event on
	w.WriteHeader(http.StatusOK)
	if err := send([]byte("retry: 1000\n\n")); err != nil {
		return nil // the reader is gone, here and below: nobody is left to tell
	}

	alive := time.NewTicker(s.KeepAlive)
	defer alive.Stop()
	write := func(list []event.Event) (end bool, err error) {
		if len(list) == 0 {
			return false, nil
		}
		var b bytes.Buffer
		for i := range list {
			fmt.Fprintf(&b, "id: %d\nevent: %s\ndata: %s\n\n", list[i].Seq, sign.Durable, list[i].Raw())
		}
		from += int64(len(list))
		return list[len(list)-1].Kind == event.KindMatchSealed, send(b.Bytes())
	}
	// What is there already needs no match in memory.
	for full := true; full; {
		list, err := s.page(ctx, id, from)
		if err != nil {
			return err
		}
		if end, err := write(list); end || err != nil {
			return nil
		}
		full = len(list) == wire.MaxPage
		if s.shutting() {
			return nil
		}
	}
	for {
		places, changed, done, err := s.Arena.Events(ctx, id, from, wire.MaxPage)
		if err != nil {
			return err
		}
		list, err := parse(places)
		if err != nil {
			done()
			return err
		}
		end, err := write(list)
		if end || err != nil {
			done()
			return nil
		}
		for waiting := len(list) < wire.MaxPage; waiting; {
			select {
			case <-changed:
				waiting = false
			case <-alive.C:
				if send([]byte(": alive\n\n")) != nil {
					done()
					return nil
				}
			case <-ctx.Done():
				done()
				return nil
			case <-s.closing:
				done()
				return nil
			}
		}
		done()
	}
}

func (s *Server) shutting() bool {
	select {
	case <-s.closing:
		return true
	default:
		return false
	}
}
