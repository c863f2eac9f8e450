package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"filippo.io/torchwood"
	sumnote "golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/labstack/echo/v4"

	"ludger/api/client"
	"ludger/api/wire"
	"ludger/checkpoint/tiles"
	"ludger/engine"
	"ludger/engine/battleship"
	"ludger/ledger"
	"ludger/ledger/event"
	"ludger/ledger/sign"
	"ludger/replay"
)

func TestChess(t *testing.T) {
	t.Parallel()
	h := newHall(t, nil)
	m := h.opened(t, "ann", "bob")
	if m.Length != 1 || m.Stage != "playing" || m.Before || m.Receipt.Level != sign.Durable {
		t.Errorf("opened: %+v", m)
	}
	followed := make(chan error, 1)
	var seen []event.Event
	go func() {
		followed <- h.client.Follow(t.Context(), m.Match, 0, 0, func(e event.Event) error {
			seen = append(seen, e)
			return nil
		})
	}()

	a, err := h.client.Append(t.Context(), "", m.Match, 1, acks(m, "ann", "bob")...)
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range strings.Fields(foolsMate) {
		if a, err = h.client.Append(t.Context(), "", m.Match, a.Length, move(t, m.Match, engine.Seat(i%2), int64(i), []string{"ann", "bob"}[i%2], text)); err != nil {
			t.Fatal(err)
		}
	}
	kinds := func(events []event.Event) (list []event.Kind) {
		for _, e := range events {
			list = append(list, e.Kind)
		}
		return list
	}
	if got := kinds(a.Events); !slices.Equal(got, []event.Kind{event.KindMovePlayed, event.KindMatchEnded, event.KindMatchSealed}) || a.Stage != wire.StageSealed || a.Length != 9 {
		t.Errorf("the mate appends %v, stage %s, length %d", got, a.Stage, a.Length)
	}
	if err := <-followed; err != nil {
		t.Fatal(err)
	}
	page, err := h.client.Events(t.Context(), m.Match, 0)
	if err != nil {
		t.Fatal(err)
	}
	same := func(a, b event.Event) bool { return a.Leaf() == b.Leaf() }
	if page.Length != 9 || page.Next() != 9 || !slices.EqualFunc(page.Events, seen, same) || !slices.EqualFunc(page.Events[6:], a.Events, same) {
		t.Errorf("page %v, stream %v", kinds(page.Events), kinds(seen))
	}
	if page, err = h.client.Events(t.Context(), m.Match, 7); err != nil || page.From != 7 || len(page.Events) != 2 || page.Length != 9 {
		t.Errorf("page from 7: %+v, %v", page, err)
	}
	if page, err = h.client.Events(t.Context(), m.Match, 99); err != nil || len(page.Events) != 0 || page.Length != 9 {
		t.Errorf("page from 99: %+v, %v", page, err)
	}
	v, err := h.client.View(t.Context(), m.Match)
	if err != nil {
		t.Fatal(err)
	}
	if v.Stage != wire.StageSealed || v.Length != 9 || v.Outcome == nil || v.Outcome.Reason != "checkmate" || v.Opened.Arena.Name != "chess-hall" ||
		v.Opened.Seats[1].Handle != "bob" || v.Opened.Seats[0].Registered == nil || v.Last != a.Receipt.Leaf || len(v.OnTurn) != 0 || v.Text == "" {
		t.Errorf("view %+v", v)
	}
	if r := h.verify(t, m.Match); r.Verdict != replay.Verified {
		t.Errorf("verdict %s", r.Verdict)
	}
	c, err := h.client.Checkpoint(t.Context())
	if err != nil || c.Size <= a.Receipt.Index || c.Key != h.Signer.Verifier().String() {
		t.Errorf("checkpoint %+v, %v", c, err)
	}
	h.stop()
	h.check(t)
	if log := h.lines.String(); strings.Contains(log, "signature") || !strings.Contains(log, "arena=chess-hall") || !strings.Contains(log, "route=/api/ledger/matches/:id/events") {
		t.Errorf("the log tells too much or too little:\n%s", log)
	}
}

// A hidden layout is boxed, the box opens with the key the mover is told, and nobody else is told it.
func TestBattleship(t *testing.T) {
	t.Parallel()
	h := newHall(t, nil)
	m, err := h.client.Open(t.Context(), "", terms(t, battleship.ID, "ann", "bob"))
	if err != nil {
		t.Fatal(err)
	}
	v := &wire.View{Awaits: 1}
	started := errors.New("started")
	err = h.client.Follow(t.Context(), m.Match, 1, 0, func(e event.Event) error {
		if e.Kind == event.KindBeaconRecorded {
			return started
		}
		return nil
	})
	if !errors.Is(err, started) {
		t.Fatal(err)
	}
	if v, err = h.client.View(t.Context(), m.Match); err != nil || v.Awaits != 0 || v.Opened.Chance.Mode != event.ChanceSealed || len(v.OnTurn) != 2 {
		t.Fatalf("view %+v, %v", v, err)
	}
	ann := move(t, m.Match, 0, 0, "ann", "A1h B1h C1h D1h E1h")
	bob := move(t, m.Match, 1, 0, "bob", "A1h B1h C1h D1h E1h")
	a, err := h.client.Append(t.Context(), "layouts", m.Match, v.Length, ann, bob)
	if err != nil {
		t.Fatal(err) // the client opens both boxes
	}
	if len(a.Keys) != 2 {
		t.Errorf("%d keys for two hidden moves", len(a.Keys))
	}
	again, err := h.client.Append(t.Context(), "layouts", m.Match, v.Length, ann, bob)
	if err != nil || !again.Before || len(again.Keys) != 2 || again.Keys[v.Length] != a.Keys[v.Length] {
		t.Errorf("again: %+v, %v", again, err)
	}
	page, err := http.Get(h.base + wire.PathGame(m.Match) + "/events")
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(page.Body)
	page.Body.Close()
	http.DefaultClient.CloseIdleConnections()
	if err != nil || strings.Contains(string(text), "A1h") || strings.Contains(h.lines.String(), "A1h") {
		t.Error("a layout is told to everybody")
	}
	signed, err := event.SignedMove{GameID: m.Match, TurnIndex: 2, Resign: true}.Sign(player("bob"))
	if err != nil {
		t.Fatal(err)
	}
	a, err = h.client.Append(t.Context(), "", m.Match, a.Length, &event.MatchForfeited{Seat: 1, Reason: engine.Resigned, Signed: &signed})
	if err != nil || a.Stage != wire.StageSealed {
		t.Fatalf("resigned: %+v, %v", a, err)
	}
	if r := h.verify(t, m.Match); r.Verdict != replay.Verified {
		t.Errorf("verdict %s", r.Verdict)
	}
	h.check(t)
}

func TestIdempotency(t *testing.T) {
	t.Parallel()
	h := newHall(t, nil)
	o := terms(t, "chess@1", "ann", "bob")
	m, err := h.client.Open(t.Context(), "first", o)
	if err != nil {
		t.Fatal(err)
	}
	again, err := h.client.Open(t.Context(), "first", o)
	if err != nil || !again.Before || again.Match != m.Match || again.Receipt.Index != m.Receipt.Index {
		t.Fatalf("opened again: %+v, %v", again, err)
	}
	if _, err := h.client.Open(t.Context(), "first", terms(t, "chess@1", "bob", "ann")); !errors.Is(err, ledger.ErrReused) || code(t, err) != wire.CodeReused {
		t.Errorf("another match under the same key: %v", err)
	}
	first := move(t, m.Match, 0, 0, "ann", "e2e4")
	a, err := h.client.Append(t.Context(), "move", m.Match, 1, first)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.client.Append(t.Context(), "", m.Match, 2, move(t, m.Match, 1, 1, "bob", "e7e5")); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Publisher.Publish(t.Context()); err != nil {
		t.Fatal(err)
	}
	b, err := h.client.Append(t.Context(), "move", m.Match, 1, first)
	if err != nil || !b.Before || b.Events[0].Leaf() != a.Events[0].Leaf() || b.Receipt.Level != sign.Published || b.Length != 2 {
		t.Errorf("appended again: %+v, %v", b, err)
	}
	if _, err := h.client.Append(t.Context(), "move", m.Match, 3, first); !errors.Is(err, ledger.ErrReused) {
		t.Errorf("another request under the same key: %v", err)
	}
	_, err = h.client.Append(t.Context(), "", m.Match, 1, first)
	if c := want[*ledger.ConflictError](t, err); c.Actual != 3 || c.Expected != 1 || c.ActualLeaf == (event.Leaf{}) || code(t, err) != wire.CodeLength {
		t.Errorf("wrong length: %+v", c)
	}
	other := h.opened(t, "cat", "dan")
	_, err = h.client.Append(t.Context(), "move", other.Match, 1, move(t, other.Match, 0, 0, "cat", "e2e4"))
	if !errors.Is(err, ledger.ErrReused) {
		t.Errorf("the key of another match: %v", err)
	}
}

func TestProblems(t *testing.T) {
	t.Parallel()
	h := newHall(t, nil)
	m := h.opened(t, "ann", "bob")
	c := h.client.HTTP
	good := terms(t, "chess@1", "cat", "dan")
	appendPath := wire.PathAppend(m.Match)
	spoil := func(path string, body []byte, change func(r *http.Request)) *http.Request {
		r := h.request(t, path, "", body)
		if change != nil {
			change(r)
		}
		return r
	}
	get := func(method, path, body string) *http.Request {
		r, err := http.NewRequestWithContext(t.Context(), method, h.base+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	open := func(change func(o *wire.Open)) *http.Request {
		o := *good
		o.Seats = slices.Clone(good.Seats)
		change(&o)
		return spoil(wire.PathMatches, o.Bytes(), nil)
	}
	appendBody := func(length int64, bodies ...event.Body) []byte {
		body, err := (&wire.Append{Length: length, Events: bodies}).Bytes()
		if err != nil {
			t.Fatal(err)
		}
		return body
	}
	header := func(name, value string) func(r *http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	zero := strings.Repeat("0", 128)
	none := event.MatchID{1}
	for name, test := range map[string]struct {
		r      *http.Request
		status int
		code   string
	}{
		"no route":         {get("GET", "/nothing", ""), 404, "no-route"},
		"no route, post":   {get("POST", "/", "{}"), 404, "no-route"},
		"method":           {get("DELETE", wire.PathMatches, ""), 405, "method"},
		"match id":         {get("GET", "/api/games/XYZ", ""), 404, "no-match"},
		"no match":         {get("GET", wire.PathGame(none), ""), 404, "no-match"},
		"no match, events": {get("GET", wire.PathGame(none)+"/events", ""), 404, "no-match"},
		"no match, bundle": {get("GET", wire.PathGame(none)+"/replay", ""), 404, "no-match"},
		"from":             {get("GET", wire.PathGame(m.Match)+"/events?from=-1", ""), 400, "malformed"},
		"from, zeros":      {get("GET", wire.PathGame(m.Match)+"/events?from=00", ""), 400, "malformed"},
		"query":            {get("GET", wire.PathGame(m.Match)+"/events?form=1", ""), 400, "malformed"},
		"tile beyond":      {get("GET", "/log/tile/0/000", ""), 404, "no-tile"},
		"tile path":        {get("GET", "/log/tile/00/000", ""), 404, "no-tile"},
		"tile dots":        {get("GET", "/log/tile/0/..%2f000", ""), 404, "no-tile"},
		"tile width":       {get("GET", "/log/tile/0/000.p/256", ""), 404, "no-tile"},
		"tile width 0":     {get("GET", "/log/tile/entries/000.p/0", ""), 404, "no-tile"},

		"unsigned":           {get("POST", wire.PathMatches, "{}"), 401, "unsigned"},
		"signature form":     {spoil(wire.PathMatches, good.Bytes(), header(wire.HeaderSignature, "abc")), 401, "unsigned"},
		"signature":          {spoil(wire.PathMatches, good.Bytes(), header(wire.HeaderSignature, zero)), 401, "signature"},
		"signature, key":     {spoil(wire.PathMatches, good.Bytes(), header(wire.HeaderKey, "another")), 401, "signature"},
		"signature, path":    {spoil(wire.PathMatches, good.Bytes(), func(r *http.Request) { r.URL.Path = appendPath }), 401, "signature"},
		"two arenas":         {spoil(wire.PathMatches, good.Bytes(), func(r *http.Request) { r.Header.Add(wire.HeaderArena, "chess-hall") }), 401, "unsigned"},
		"not admitted":       {spoil(wire.PathMatches, good.Bytes(), header(wire.HeaderArena, "go-hall")), 403, "not-admitted"},
		"no arena":           {spoil(wire.PathMatches, good.Bytes(), header(wire.HeaderArena, "X:")), 403, "not-admitted"},
		"no idempotency key": {spoil(wire.PathMatches, good.Bytes(), func(r *http.Request) { r.Header.Del(wire.HeaderKey) }), 400, "idempotency-key"},
		"quoted key":         {spoil(wire.PathMatches, good.Bytes(), header(wire.HeaderKey, `"abc"`)), 400, "idempotency-key"},
		"query, signed":      {spoil(wire.PathMatches, good.Bytes(), func(r *http.Request) { r.URL.RawQuery = "a=b" }), 400, "malformed"},
		"media type":         {spoil(wire.PathMatches, good.Bytes(), header("Content-Type", "text/plain")), 415, "media-type"},
		"encoding":           {spoil(wire.PathMatches, good.Bytes(), header("Content-Encoding", "gzip")), 415, "media-type"},
		"too large":          {spoil(wire.PathMatches, make([]byte, wire.MaxOpen+1), nil), 413, "too-large"},
		"too large, events":  {spoil(appendPath, make([]byte, wire.MaxAppend+1), nil), 413, "too-large"},
		"no JSON":            {spoil(wire.PathMatches, []byte("{"), nil), 400, "malformed"},
		"empty":              {spoil(wire.PathMatches, nil, nil), 400, "malformed"},
		"member twice":       {spoil(appendPath, []byte(`{"events":[],"length":1,"length":1}`), nil), 400, "malformed"},
		"unknown member":     {spoil(appendPath, []byte(`{"events":[{"kind":"match.aborted","reason":"x"}],"length":1,"x":1}`), nil), 400, "malformed"},
		"fraction":           {spoil(appendPath, []byte(`{"events":[{"kind":"match.aborted","reason":"x"}],"length":1.0}`), nil), 400, "malformed"},
		"no events":          {spoil(appendPath, []byte(`{"events":[],"length":1}`), nil), 400, "malformed"},
		"too many events":    {spoil(appendPath, appendBody(1, slices.Repeat([]event.Body{&event.MatchAborted{Reason: "x"}}, 257)...), nil), 400, "malformed"},
		"seal":               {spoil(appendPath, []byte(`{"events":[{"kind":"match.sealed","count":1,"root":"00"}],"length":1}`), nil), 400, "malformed"},
		"append nowhere":     {spoil(wire.PathAppend(none), appendBody(1, &event.MatchAborted{Reason: "x"}), nil), 404, "no-match"},

		"game":         {open(func(o *wire.Open) { o.Game = "chess@9" }), 422, "terms"},
		"variant":      {open(func(o *wire.Open) { o.Variant = "atomic" }), 422, "terms"},
		"seats":        {open(func(o *wire.Open) { o.Seats = o.Seats[:1] }), 422, "terms"},
		"division":     {open(func(o *wire.Open) { o.Division = "heavy" }), 422, "terms"},
		"weak key":     {open(func(o *wire.Open) { o.Seats[0] = wire.Seat{Handle: "eve"} }), 422, "terms"},
		"statement":    {open(func(o *wire.Open) { o.Seats[0].Statement = o.Seats[1].Statement }), 422, "terms"},
		"same key":     {open(func(o *wire.Open) { o.Seats[0].Key, o.Seats[0].Statement = o.Seats[1].Key, nil }), 422, "terms"},
		"handle twice": {open(func(o *wire.Open) { o.Seats[0].Handle = o.Seats[1].Handle }), 400, "malformed"},
		"taken":        {open(func(o *wire.Open) { o.Seats[0].Handle = "ann" }), 409, "taken"},
		"start":        {open(func(o *wire.Open) { o.Start = "nonsense" }), 422, "terms"},
	} {
		p := refused(t, c, test.r)
		if p.Status != test.status || p.Code != test.code {
			t.Errorf("%s: %d %s: %s; want %d %s", name, p.Status, p.Code, p.Detail, test.status, test.code)
		}
	}

	// What the rules forbid is named with its place, and nothing of the request is appended.
	_, err := h.client.Append(t.Context(), "", m.Match, 1, move(t, m.Match, 0, 0, "ann", "e2e4"), move(t, m.Match, 1, 1, "bob", "e7e6"), move(t, m.Match, 0, 2, "ann", "e4e6"))
	p := want[*wire.Problem](t, err)
	if p.Code != wire.CodeRules || p.Status != 422 || p.Event != 2 || p.Fault == nil || p.Fault.Step != replay.StepRules || p.Fault.Event != 3 {
		t.Errorf("illegal move: %+v, fault %+v", p, p.Fault)
	}
	_, err = h.client.Append(t.Context(), "", m.Match, 1, move(t, m.Match, 0, 0, "bob", "e2e4"))
	if f := want[*replay.Fault](t, err); f.Step != replay.StepSignatures || f.Code != "bad-signature" || f.Expected == "" {
		t.Errorf("forged move: %+v", f)
	}
	if v, err := h.client.View(t.Context(), m.Match); err != nil || v.Length != 1 {
		t.Errorf("length %d after refusals, %v", v.Length, err)
	}
	other := sign.DeriveKey([]byte("arenas of the tests"), "go-hall")
	if _, err := h.Arena.Admit(t.Context(), "go-hall", other.Public()); err != nil {
		t.Fatal(err)
	}
	stranger := *h.client
	stranger.Arena, stranger.Key = "go-hall", other
	if _, err := stranger.Append(t.Context(), "", m.Match, 1, move(t, m.Match, 0, 0, "ann", "e2e4")); code(t, err) != "not-yours" {
		t.Errorf("the match of another arena: %v", err)
	}
	h.check(t)
}

// A panic is logged and answered, and tells nothing of the inside; so is any error of storage.
func TestInternal(t *testing.T) {
	t.Parallel()
	h := newHall(t, nil)
	h.echo.GET("/panic", func(echo.Context) error { panic("the secret") })
	h.echo.GET("/error", func(echo.Context) error { return fmt.Errorf("reading /the/secret: %w", ledger.ErrCorrupt) })
	h.echo.GET("/half", func(c echo.Context) error {
		c.String(http.StatusOK, "half")
		panic("the secret")
	})
	get := func(path string) *http.Request {
		r, err := http.NewRequestWithContext(t.Context(), "GET", h.base+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for _, path := range []string{"/panic", "/error"} {
		p := refused(t, h.client.HTTP, get(path))
		if p.Status != 500 || p.Code != "internal" || strings.Contains(string(p.Bytes()), "secret") {
			t.Errorf("%s: %s", path, p.Bytes())
		}
		if log := h.lines.String(); !strings.Contains(log, "secret") || !strings.Contains(log, p.Request) {
			t.Errorf("%s: the log has no reason:\n%s", path, log)
		}
	}
	answer, err := h.client.HTTP.Do(get("/half"))
	if err == nil {
		_, err = io.ReadAll(answer.Body)
		answer.Body.Close()
	}
	if err == nil {
		t.Error("an answer that broke off looks whole")
	}
}

func TestReady(t *testing.T) {
	t.Parallel()
	h := newHall(t, nil)
	get := func(path string) (int, string) {
		answer, err := h.client.HTTP.Get(h.base + path)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, string(body)
	}
	if status, body := get(wire.PathReady); status != 200 {
		t.Errorf("ready: %d %s", status, body)
	}
	h.Sequencer.Close()
	if status, body := get(wire.PathReady); status != 503 || !strings.Contains(body, "not-ready") {
		t.Errorf("ready without a sequencer: %d %s", status, body)
	}
	if status, _ := get(wire.PathHealth); status != 200 {
		t.Errorf("health %d", status)
	}
	h.client.Tries = 2
	if _, err := h.client.Open(t.Context(), "", terms(t, "chess@1", "ann", "bob")); code(t, err) != "stopped" {
		t.Errorf("open: %v", err)
	}
}

// The log over HTTP, read by torchwood and golang.org/x/mod.
func TestTiles(t *testing.T) {
	t.Parallel()
	h := newHall(t, nil)
	for i := range 150 { // two registrations and an opening each
		h.opened(t, fmt.Sprintf("white-%d", i), fmt.Sprintf("black-%d", i))
	}
	if _, err := h.Publisher.Publish(t.Context()); err != nil {
		t.Fatal(err)
	}
	hidden := h.opened(t, "ann", "bob") // beyond what is published
	raw, err := h.client.Note(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	verifier, err := sumnote.NewVerifier(h.Signer.Verifier().String())
	if err != nil {
		t.Fatal(err)
	}
	head, _, err := torchwood.VerifyCheckpoint(raw, torchwood.ThresholdPolicy(2, torchwood.OriginPolicy(origin), torchwood.SingleVerifierPolicy(verifier)))
	if err != nil || head.N != 452 {
		t.Fatalf("checkpoint of %d entries, %v", head.N, err)
	}
	fetcher, err := torchwood.NewTileFetcher(h.base+"/log", torchwood.WithHTTPClient(h.client.HTTP))
	if err != nil {
		t.Fatal(err)
	}
	reader, err := torchwood.NewClient(fetcher)
	if err != nil {
		t.Fatal(err)
	}
	count := int64(0)
	for i, entry := range reader.AllEntries(t.Context(), head.Tree, 0) {
		want, err := h.log.Scan(t.Context(), i, 1)
		if err != nil || i != count || string(entry) != string(want[0]) {
			t.Fatalf("entry %d is %q, want %q, %v", i, entry, want, err)
		}
		count++
	}
	if err := reader.Err(); err != nil || count != head.N {
		t.Fatalf("%d entries, %v", count, err)
	}
	entry, proof, err := reader.Entry(t.Context(), head.Tree, 299)
	if err != nil {
		t.Fatal(err)
	}
	if err := tlog.CheckRecord(proof, head.N, head.Hash, 299, tlog.RecordHash(entry)); err != nil {
		t.Error(err)
	}

	// Every width there is, and none beyond.
	status := func(tile tiles.Tile, method string) (int, string, string) {
		r, err := http.NewRequestWithContext(t.Context(), method, h.base+wire.PathLog+tile.Path(), nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := h.client.HTTP.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, string(body), answer.Header.Get("Cache-Control")
	}
	_, full, cache := status(tiles.Tile{Level: 0, N: 0, Width: 256}, "GET")
	if len(full) != 256*32 || !strings.Contains(cache, "immutable") {
		t.Errorf("full tile of %d bytes, Cache-Control %q", len(full), cache)
	}
	for width := 1; width < 256; width++ {
		if s, part, cache := status(tiles.Tile{Level: 0, N: 0, Width: width}, "GET"); s != 200 || part != full[:width*32] || strings.Contains(cache, "immutable") {
			t.Fatalf("width %d of a full tile: %d", width, s)
		}
		for _, level := range []int{0, tiles.Entries} {
			s, _, _ := status(tiles.Tile{Level: level, N: 1, Width: width}, "GET")
			if want := map[bool]int{true: 200, false: 404}[width <= 452-256]; s != want {
				t.Fatalf("level %d, width %d of the newest tile: %d, want %d", level, width, s, want)
			}
		}
	}
	if s, body, _ := status(tiles.Tile{Level: 0, N: 0, Width: 256}, "HEAD"); s != 200 || body != "" {
		t.Errorf("HEAD: %d with %d bytes", s, len(body))
	}
	if s, _, _ := status(tiles.Tile{Level: 1, N: 0, Width: 1}, "GET"); s != 200 {
		t.Errorf("level 1: %d", s)
	}
	if hidden.Receipt.Level != sign.Durable || hidden.Receipt.HeadSize != head.N {
		t.Errorf("receipt %+v", hidden.Receipt)
	}
}

// What was added is published soon: at once when a match is sealed, and else now and then.
func TestPublishing(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		every time.Duration
		body  func(m *wire.Appended) []event.Body
	}{
		"sealed": {time.Hour, func(*wire.Appended) []event.Body { return []event.Body{&event.MatchAborted{Reason: "test"}} }},
		"ticks":  {5 * time.Millisecond, func(m *wire.Appended) []event.Body { return acks(m, "ann", "bob") }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHall(t, func(c *Config) { c.PublishEvery = test.every })
			m := h.opened(t, "ann", "bob")
			a, err := h.client.Append(t.Context(), "", m.Match, 1, test.body(m)...)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			for {
				c, err := h.client.Checkpoint(ctx)
				if err != nil {
					t.Fatal(err)
				}
				if c.Size > a.Receipt.Index {
					return
				}
			}
		})
	}
}

// TestAck: a seat acknowledges its match itself, once, whoever brings it; nobody else can.
func TestAck(t *testing.T) {
	t.Parallel()
	h := newHall(t, nil)
	m, err := h.client.Open(t.Context(), "", terms(t, "chess@1", "ann", "bob"))
	if err != nil {
		t.Fatal(err)
	}
	stranger, err := client.New(client.Config{Base: h.base, Log: h.Signer.Verifier()})
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.Close()
	ack := &event.SeatAcked{Seat: 1, Signature: player("bob").Sign(sign.AckMessage(m.Match, m.Events[0].Leaf()))}
	first, err := stranger.Ack(t.Context(), m.Match, ack)
	if err != nil || first.Length != 2 || first.Events[0].Kind != event.KindSeatAcked {
		t.Fatalf("%+v, %v", first, err)
	}
	again, err := stranger.Ack(t.Context(), m.Match, ack)
	if err != nil || !again.Before || again.Events[0].Leaf() != first.Events[0].Leaf() {
		t.Errorf("the same again: %+v, %v", again, err)
	}
	for what, b := range map[string]*event.SeatAcked{
		"another's signature": {Seat: 0, Signature: ack.Signature},
		"no such seat":        {Seat: 2, Signature: ack.Signature},
	} {
		if _, err := stranger.Ack(t.Context(), m.Match, b); code(t, err) != wire.CodeRules {
			t.Errorf("%s: %v", what, err)
		}
	}
	h.check(t)
}
