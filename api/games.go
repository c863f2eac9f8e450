package api

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"ludger/api/arena"
	"ludger/api/wire"
	"ludger/checkpoint"
	"ludger/ledger"
	"ludger/ledger/event"
)

// game answers with what anyone may know of a match.
func (s *Server) game(c echo.Context) error {
	id, err := match(c)
	if err != nil {
		return err
	}
	v, err := s.Arena.View(c.Request().Context(), id)
	if err != nil {
		return err
	}
	view := wire.View{
		Match: v.Match, Opened: *v.Opened, Stage: wire.StageWord(v.Stage), Length: v.Length, Last: v.Last, At: v.At,
		Turn: v.Turn, OnTurn: v.OnTurn, State: v.State, Text: v.Text, Outcome: v.Outcome, Awaits: v.Awaits,
		Imported: v.Opened.Imported != nil,
	}
	return s.json(c, http.StatusOK, view.Bytes())
}

// events answers with a page of a match's events, or streams them.
func (s *Server) events(c echo.Context) error {
	id, err := match(c)
	if err != nil {
		return err
	}
	from, err := number(c.Request().URL.Query(), "from")
	if err != nil {
		return err
	}
	if accepts(c.Request(), wire.TypeStream) {
		return s.stream(c, id, from)
	}
	ctx := c.Request().Context()
	head, err := s.head(ctx, id)
	if err != nil {
		return err
	}
	places, _, done, err := s.Arena.Events(ctx, id, from, wire.MaxPage) // which wakes a match that waits for something
	done()
	if err != nil {
		return err
	}
	list, err := parse(places)
	if err != nil {
		return err
	}
	page := wire.Page{Match: id, From: from, Events: list, Length: max(head.Length, from+int64(len(list)))}
	if from > head.Length && len(list) == 0 {
		page.Length = head.Length
	}
	return s.json(c, http.StatusOK, page.Bytes())
}

// number reads the only parameter a query may have, and 0 if it has none.
func number(query url.Values, name string) (int64, error) {
	for other, values := range query {
		if other != name || len(values) != 1 {
			return 0, fmt.Errorf("%w: the query knows %s, once, and nothing else", errSyntax, name)
		}
	}
	text := query.Get(name)
	if text == "" && !query.Has(name) {
		return 0, nil
	}
	return count(name, text)
}

func count(name, text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || n > event.MaxMatchEvents || strconv.FormatInt(n, 10) != text {
		return 0, fmt.Errorf("%w: %s is a number from 0 to %d", errSyntax, name, event.MaxMatchEvents)
	}
	return n, nil
}

// accepts tells whether a request names a media type among those it takes.
func accepts(r *http.Request, media string) bool {
	for _, line := range r.Header.Values("Accept") {
		for part := range strings.SplitSeq(line, ",") {
			if name, _, _ := strings.Cut(part, ";"); strings.TrimSpace(name) == media {
				return true
			}
		}
	}
	return false
}

// head returns the newest end of a match's stream, and refuses a match that is not there.
func (s *Server) head(ctx context.Context, id event.MatchID) (ledger.StreamHead, error) {
	head, err := ledger.ReadStreamHead(ctx, s.Log, event.MatchStream(id))
	if err == nil && head.Length == 0 {
		err = fmt.Errorf("%w: %v", arena.ErrNoMatch, id)
	}
	return head, err
}

// page reads up to wire.MaxPage events of a match from the log, without folding the match.
func (s *Server) page(ctx context.Context, id event.MatchID, from int64) ([]event.Event, error) {
	places, err := ledger.ReadStream(ctx, s.Log, event.MatchStream(id), from, wire.MaxPage)
	if err != nil {
		return nil, err
	}
	return parse(places)
}

func parse(places []ledger.Place) ([]event.Event, error) {
	list := make([]event.Event, len(places))
	for i, p := range places {
		var err error
		if list[i], err = event.Parse(p.Entry); err != nil {
			return nil, fmt.Errorf("reading entry %d: %w", p.Index, err)
		}
	}
	return list, nil
}

// isSealed tells whether the newest event of a match is its seal.
func (s *Server) isSealed(ctx context.Context, head ledger.StreamHead) (bool, error) {
	entries, err := s.Log.Scan(ctx, head.Last, 1)
	if err != nil {
		return false, err
	}
	e, err := event.Parse(entries[0])
	if err != nil {
		return false, fmt.Errorf("reading entry %d: %w", head.Last, err)
	}
	return e.Kind == event.KindMatchSealed, nil
}

// replay answers with the bundle of a match. A sealed match that the published head does not reach yet is
// published first.
func (s *Server) replay(c echo.Context) error {
	id, err := match(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	head, err := s.head(ctx, id)
	if err != nil {
		return err
	}
	note, published := s.Publisher.Latest()
	if head.Last >= published.Size {
		sealed, err := s.isSealed(ctx, head)
		if err != nil {
			return err
		}
		if sealed {
			ctx, cancel := s.work(c)
			defer cancel()
			if err := s.publish(ctx); err != nil {
				return fmt.Errorf("%w: %w", errNotReady, err)
			}
			note, published = s.Publisher.Latest()
		}
	}
	b, err := s.Arena.Bundle(ctx, id, checkpoint.Checkpoint{Origin: s.Arena.Origin, Size: published.Size, Root: published.Root}, note)
	if err != nil {
		return err
	}
	c.Response().Header().Set("Content-Disposition", `attachment; filename="`+id.String()+`.json"`)
	return s.json(c, http.StatusOK, b.Bytes())
}
