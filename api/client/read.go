package client

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"ludger/api/wire"
	"ludger/checkpoint"
	"ludger/checkpoint/tiles"
	"ludger/ledger/event"
	"ludger/replay"
)

// get reads what is at a path.
func (c *Client) get(ctx context.Context, path string) (data []byte, err error) {
	err = c.retry(ctx, func(ctx context.Context) error {
		data, err = c.do(ctx, http.MethodGet, path, nil, nil)
		return err
	})
	return data, err
}

// View returns what anyone may know of a match now.
func (c *Client) View(ctx context.Context, id event.MatchID) (*wire.View, error) {
	data, err := c.get(ctx, wire.PathGame(id))
	if err != nil {
		return nil, err
	}
	return wire.ParseView(data)
}

// Events returns a page of a match's events from seq on, up to wire.MaxPage.
func (c *Client) Events(ctx context.Context, id event.MatchID, from int64) (*wire.Page, error) {
	data, err := c.get(ctx, wire.PathGame(id)+"/events?from="+strconv.FormatInt(from, 10))
	if err != nil {
		return nil, err
	}
	return wire.ParsePage(data)
}

// Bundle returns the bundle of a match as the server sends it. It is not verified: that is for
// replay.Verifier.
func (c *Client) Bundle(ctx context.Context, id event.MatchID) ([]byte, error) {
	data, err := c.get(ctx, wire.PathGame(id)+"/replay")
	if err != nil {
		return nil, err
	}
	_, err = replay.ParseBundle(data)
	return data, err
}

// Checkpoint returns the newest published head, checked if the log's key is known.
func (c *Client) Checkpoint(ctx context.Context) (*wire.Checkpoint, error) {
	data, err := c.get(ctx, wire.PathCheckpoint)
	if err != nil {
		return nil, err
	}
	p, err := wire.ParseCheckpoint(data)
	if err != nil || c.Log == nil {
		return p, err
	}
	signed, err := checkpoint.Open(p.Note, c.Log)
	if err == nil && signed != p.Checkpoint {
		err = fmt.Errorf("the checkpoint says %d entries, its note %d, or they differ in the root", p.Size, signed.Size)
	}
	return p, err
}

// Note returns the newest signed note as it is published.
func (c *Client) Note(ctx context.Context) ([]byte, error) {
	return c.get(ctx, wire.PathLog+"checkpoint")
}

// Tile returns the bytes of a tile or an entry bundle.
func (c *Client) Tile(ctx context.Context, t tiles.Tile) ([]byte, error) {
	return c.get(ctx, wire.PathLog+t.Path())
}

// errEnded says that do wants no more.
var errEnded = errors.New("ended")

// Follow calls do with each event of a match from seq on, as they come, up to the seal or the first error
// of do, which it returns. It comes back when the connection breaks, and never calls do twice with
// the same event. silence is how long nothing at all may arrive before it does so; 0 is 45 s.
func (c *Client) Follow(ctx context.Context, id event.MatchID, from int64, silence time.Duration, do func(event.Event) error) error {
	if silence == 0 {
		silence = 45 * time.Second
	}
	tries, pause := 0, c.Pause
	for {
		next, err := c.follow(ctx, id, from, silence, do)
		if errors.Is(err, errEnded) {
			return nil
		}
		if next > from {
			tries, pause = 0, c.Pause
		}
		from = next
		if tries++; err != nil && (tries >= c.Tries || !passes(err)) {
			return err
		}
		if ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
		pause = min(2*pause, 5*time.Second)
	}
}

// follow reads one stream to its end, and returns the seq to go on from.
func (c *Client) follow(ctx context.Context, id event.MatchID, from int64, silence time.Duration, do func(event.Event) error) (int64, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	watch := time.AfterFunc(silence, cancel)
	defer watch.Stop()
	header := http.Header{"Accept": {wire.TypeStream}}
	path := wire.PathGame(id) + "/events"
	if from > 0 {
		header.Set("Last-Event-ID", strconv.FormatInt(from-1, 10))
	}
	answer, err := c.request(ctx, http.MethodGet, path, header, nil)
	if err != nil {
		return from, err
	}
	defer answer.Body.Close()
	if answer.StatusCode == http.StatusNoContent {
		return from, errEnded
	}
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, event.MaxEvent+64)
	var data []byte
	for lines.Scan() {
		watch.Reset(silence)
		if line, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: ")); ok {
			data = bytes.Clone(line) // the id is in the event, and the rest is for others
		}
		if len(lines.Bytes()) > 0 || data == nil {
			continue // an event is whole when an empty line follows it
		}
		e, err := event.Parse(data)
		if err != nil {
			return from, fmt.Errorf("stream of match %v: %w", id, err)
		}
		data = nil
		if e.Seq != from || e.Stream != event.MatchStream(id) {
			return from, fmt.Errorf("stream of match %v: event %d of %s where %d should be", id, e.Seq, e.Stream, from)
		}
		if err := do(e); err != nil {
			return from, err
		}
		from++
		if e.Kind == event.KindMatchSealed {
			return from, errEnded
		}
	}
	if err := lines.Err(); err != nil {
		return from, fmt.Errorf("%w: %w", errBroken, err)
	}
	return from, nil // the server ended the stream: come back
}
