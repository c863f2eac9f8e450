package api

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"ludger/api/wire"
	"ludger/checkpoint"
	"ludger/checkpoint/tiles"
	"ludger/ledger"
	"ludger/ledger/canon"
)

// checkpoint answers with the newest published head as JSON.
func (s *Server) checkpoint(c echo.Context) error {
	note, head := s.Publisher.Latest()
	answer := wire.Checkpoint{
		Checkpoint: checkpoint.Checkpoint{Origin: s.Arena.Origin, Size: head.Size, Root: head.Root},
		Note:       note, Key: s.key,
	}
	return s.json(c, http.StatusOK, answer.Bytes())
}

// note answers with the newest published head as C2SP tlog-tiles wants it.
func (s *Server) note(c echo.Context) error {
	note, _ := s.Publisher.Latest()
	return s.file(c, "text/plain; charset=utf-8", "no-store", note)
}

// tile answers with a tile or an entry bundle (C2SP tlog-tiles, sections Merkle Tree and Log Entries).
// Nothing beyond the published size leaves; a partial tile of any width up to what is there is computed.
func (s *Server) tile(c echo.Context) error {
	t, err := tiles.ParsePath(strings.TrimPrefix(c.Request().URL.EscapedPath(), wire.PathLog))
	if err != nil {
		return fmt.Errorf("%w: %w", errTile, err)
	}
	_, head := s.Publisher.Latest()
	if there := tiles.WidthAt(head.Size, t.Level, t.N); t.Width > there {
		return fmt.Errorf("%w: of the log's %d published entries it has %d of %d", errTile, head.Size, there, t.Width)
	}
	data, err := s.read(c.Request().Context(), t)
	if err != nil {
		return err
	}
	cache := "public, max-age=31536000, immutable"
	if t.Width < tiles.Width {
		cache = "public, max-age=60" // it never changes either, but nobody asks for it long
	}
	return s.file(c, "application/octet-stream", cache, data)
}

// read returns the bytes of a tile that is there.
func (s *Server) read(ctx context.Context, t tiles.Tile) (data []byte, err error) {
	first := t.N * tiles.Width
	if t.Level != tiles.Entries {
		row, err := ledger.Hashes{Log: s.Log}.Row(ctx, t.Level, first, int64(t.Width))
		for _, h := range row {
			data = append(data, h[:]...)
		}
		return data, err
	}
	for n := 0; n < t.Width; {
		entries, err := s.Log.Scan(ctx, first+int64(n), t.Width-n)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if data, err = tiles.AppendEntry(data, e); err != nil {
				return nil, fmt.Errorf("entry %d: %w", first+int64(n), err)
			}
			n++
		}
	}
	return data, nil
}

func (s *Server) file(c echo.Context, media, cache string, data []byte) error {
	h := c.Response().Header()
	h.Set("Cache-Control", cache)
	h.Set("Content-Type", media)
	h.Set("Content-Length", fmt.Sprint(len(data)))
	if c.Request().Method == http.MethodHead {
		return c.NoContent(http.StatusOK)
	}
	return c.Blob(http.StatusOK, media, data)
}

// health says that the process runs.
func (s *Server) health(c echo.Context) error {
	return s.json(c, http.StatusOK, []byte(`{"status":"ok"}`))
}

// ready says whether the server can append and publish, and is not about to end.
func (s *Server) ready(c echo.Context) error {
	if err := s.Sequencer.Err(); err != nil {
		return fmt.Errorf("%w: %w", errNotReady, err)
	}
	if reason := s.failing.Load(); reason != nil {
		return fmt.Errorf("%w: %s", errNotReady, *reason)
	}
	if s.shutting() {
		return fmt.Errorf("%w: it is shutting down", errNotReady)
	}
	answer := []canon.Member{{Name: "status", Value: canon.NewString("ready")}}
	if s.Arena.Beacons != nil {
		ctx, cancel := context.WithTimeout(c.Request().Context(), time.Second)
		defer cancel()
		state := "ok"
		if _, _, err := s.Arena.Beacons.Newest(ctx); err != nil {
			state = err.Error() // matches that need no chance go on
		}
		answer = append(answer, canon.Member{Name: "beacon", Value: canon.NewString(state)})
	}
	return s.json(c, http.StatusOK, canon.NewObject(answer...).Bytes())
}
