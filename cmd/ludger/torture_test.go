package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"ludger/api/client"
	"ludger/api/wire"
	"ludger/checkpoint"
	"ludger/checkpoint/tiles"
	"ludger/engine"
	"ludger/engine/catalog"
	"ludger/ledger"
	"ludger/ledger/event"
	"ludger/ledger/pebblelog"
	"ludger/ledger/sign"
	"ludger/replay"
)

// A torture is what arenas know of a server that is killed again and again.
type torture struct {
	t       *testing.T
	dir     string
	origin  string
	log     *checkpoint.Verifier
	arena   sign.PrivateKey
	workers []*worker

	mu    sync.Mutex
	acked map[event.Leaf]int64 // index of every event that was acknowledged
	heads map[int64][32]byte   // root of every checkpoint that was shown, by size
}

// A worker plays matches, one after the other, and sends a request again until it is answered, over
// as many restarts as that takes.
type worker struct {
	*torture
	hides   bool // plays battleship and not chess
	n       int  // matches begun
	moves   int  // made in this match
	random  *rand.Rand
	match   *contest
	pending []event.Body // of the request under way; nil if there is none
	key     string       // its idempotency key
	all     []event.MatchID
}

// TestServeKill kills a server under load without warning, again and again: 50 times, or as often as
// LUDGER_KILLS says. Every event that was acknowledged is in the log once and at its place, every
// checkpoint that was shown is one of the log as it stands in the end, and every match goes on, those
// with hidden moves too.
func TestServeKill(t *testing.T) {
	rounds := 50
	if n, err := strconv.Atoi(os.Getenv("LUDGER_KILLS")); err == nil {
		rounds = n
	}
	x := &torture{t: t, dir: t.TempDir(), origin: "torture.example/log", arena: sign.DeriveKey([]byte("torture"), "arena"),
		acked: make(map[event.Leaf]int64), heads: make(map[int64][32]byte)}
	x.run("keygen", "--origin", x.origin, "--data", "hall")
	x.run("arena", "admit", "north", x.arena.Public().String(), "--data", "hall")
	signer, err := readKey(filepath.Join(x.dir, "hall"))
	if err != nil {
		t.Fatal(err)
	}
	x.log = signer.Verifier()
	for i := range 8 {
		x.workers = append(x.workers, &worker{torture: x, hides: i%2 == 0, n: 100_000 * i, random: rand.New(rand.NewPCG(uint64(i), 5))})
	}
	for round := range rounds {
		x.round(time.Duration(40+round*53%200) * time.Millisecond)
		if t.Failed() {
			t.Fatalf("in round %d", round)
		}
	}
	x.finish()
	x.check()
	t.Logf("%d kills, %d events acknowledged, %d checkpoints shown", rounds, len(x.acked), len(x.heads))
}

func (x *torture) run(args ...string) string {
	x.t.Helper()
	cmd := exec.Command("ludger", args...)
	cmd.Dir = x.dir
	out, err := cmd.Output()
	if err != nil {
		x.t.Fatalf("ludger %s: %v", strings.Join(args, " "), err)
	}
	return string(out)
}

// serve starts a server and returns a client of it, and what ends the server.
func (x *torture) serve() (*client.Client, func(os.Signal)) {
	x.t.Helper()
	cmd := exec.Command("ludger", "serve", "--data", "hall", "--listen", "127.0.0.1:0")
	cmd.Dir = x.dir
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		x.t.Fatal(err)
	}
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		x.t.Fatalf("the server does not start again: %v, %v\n%s", err, cmd.Wait(), errs.String())
	}
	c, err := client.New(client.Config{Base: strings.TrimSpace(address), Log: x.log, Arena: "north", Key: x.arena, Tries: 1, Wait: 5 * time.Second})
	if err != nil {
		x.t.Fatal(err)
	}
	return c, func(s os.Signal) {
		if err := cmd.Process.Signal(s); err != nil {
			x.t.Error(err)
		}
		io.Copy(io.Discard, out)
		if err := cmd.Wait(); err != nil && s != os.Kill {
			x.t.Errorf("the server ends with %v\n%s", err, errs.String())
		}
		c.Close()
	}
}

// round serves, lets everybody play, and kills the server.
func (x *torture) round(life time.Duration) {
	c, end := x.serve()
	ctx, stop := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	for _, w := range x.workers {
		w.setClient(c)
		wg.Go(func() {
			for ctx.Err() == nil {
				if err := w.step(ctx, c); err != nil && !dead(err) {
					x.t.Error(err)
					return
				}
			}
		})
	}
	wg.Go(func() {
		for ctx.Err() == nil {
			x.look(ctx, c)
			time.Sleep(5 * time.Millisecond)
		}
	})
	time.Sleep(life)
	end(os.Kill)
	stop()
	wg.Wait()
}

// dead tells whether an error is that of a server which was killed.
func dead(err error) bool {
	var broken *url.Error
	return errors.As(err, &broken) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, context.Canceled)
}

// look notes the newest checkpoint.
func (x *torture) look(ctx context.Context, c *client.Client) {
	note, err := c.Note(ctx)
	if err != nil {
		return
	}
	head, err := checkpoint.Open(note, x.log)
	if err != nil {
		x.t.Error(err)
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if root, ok := x.heads[head.Size]; ok && root != head.Root {
		x.t.Errorf("two checkpoints of %d entries: %x and %x", head.Size, root, head.Root)
	}
	x.heads[head.Size] = head.Root
}

func (x *torture) acknowledged(a *wire.Appended) {
	x.mu.Lock()
	defer x.mu.Unlock()
	first := a.Receipt.Index - int64(len(a.Events)) + 1
	for i, e := range a.Events {
		if index, ok := x.acked[e.Leaf()]; ok && index != first+int64(i) {
			x.t.Errorf("event %v was acknowledged at %d and at %d", e.Leaf(), index, first+int64(i))
		}
		x.acked[e.Leaf()] = first + int64(i)
	}
}

func (w *worker) setClient(c *client.Client) {
	if w.match != nil {
		w.match.Client = c
	}
}

// step does one request.
func (w *worker) step(ctx context.Context, c *client.Client) error {
	switch m := w.match; {
	case m == nil:
		return w.begin(ctx, c)
	case w.pending == nil && !m.beacon && m.hidden():
		return w.catchUp(ctx)
	case w.pending == nil && m.over:
		w.match = nil
		return nil
	}
	return w.move(ctx)
}

func (m *contest) hidden() bool {
	_, ok := m.pos.(engine.Hider)
	return ok
}

// begin opens a match: chess, or battleship, whose fleets are hidden.
func (w *worker) begin(ctx context.Context, c *client.Client) error {
	id, variant := "chess@1", "standard"
	if w.hides {
		id = "battleship@1"
	}
	game, err := catalog.Game(id)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("player-%d-", w.n)
	m := &contest{Client: c, origin: w.origin, bots: []*bot{newBot([]byte("torture"), name+"a"), newBot([]byte("torture"), name+"b")}}
	if m.pos, err = game.New(engine.Setup{Variant: variant, Seats: 2}); err != nil {
		return err
	}
	o := &wire.Open{Game: id, Variant: variant, Division: "assisted"}
	for _, b := range m.bots {
		o.Seats = append(o.Seats, wire.Seat{Handle: b.handle, Key: b.key.Public()})
	}
	a, err := c.Open(ctx, name, o) // the same key until it is answered
	if err != nil {
		return err
	}
	w.acknowledged(a)
	w.n, w.moves = w.n+1, 0
	w.match, w.all = m, append(w.all, a.Match)
	m.id, m.opened = a.Match, a.Events[0].Leaf()
	return m.follow(a.Events[0], nil)
}

// move makes the next move, or sends the last one again.
func (w *worker) move(ctx context.Context) error {
	m := w.match
	if w.pending == nil {
		seat := m.pos.Turn().Seats()[0]
		b := m.bots[seat]
		said := event.SignedMove{GameID: m.id, TurnIndex: m.turn, Seen: &m.last}
		if w.moves < 12 {
			said.Move = b.choose(m.pos, seat)
		} else {
			said.Resign = true
		}
		signed, err := said.Sign(b.key)
		if err != nil {
			return err
		}
		w.pending, w.key = []event.Body{&event.MovePlayed{Seat: seat, Signed: signed}}, client.NewKey()
		if said.Resign {
			w.pending = []event.Body{&event.MatchForfeited{Seat: seat, Reason: engine.Resigned, Signed: &signed}}
		}
	}
	a, err := m.Append(ctx, w.key, m.id, m.length, w.pending...)
	if err != nil {
		return err
	}
	w.acknowledged(a)
	own := w.pending[0]
	w.pending, w.moves = nil, w.moves+1
	for i, e := range a.Events {
		if i > 0 {
			own = nil
		}
		if err := m.follow(e, own); err != nil {
			return err
		}
	}
	return nil
}

// catchUp reads what the hall added by itself: the beacon.
func (w *worker) catchUp(ctx context.Context) error {
	m := w.match
	page, err := m.Events(ctx, m.id, m.length)
	if err != nil {
		return err
	}
	for _, e := range page.Events {
		if err := m.follow(e, nil); err != nil {
			return err
		}
	}
	if len(page.Events) == 0 {
		time.Sleep(2 * time.Millisecond)
	}
	return nil
}

// finish aborts every match, so that what is hidden in it is told, and verifies each bundle.
func (x *torture) finish() {
	c, end := x.serve()
	defer end(os.Interrupt)
	policy, err := checkpoint.NewPolicy(x.log)
	if err != nil {
		x.t.Fatal(err)
	}
	v := replay.NewVerifier(policy)
	opened := 0
	for _, w := range x.workers {
		for w.setClient(c); w.pending != nil; {
			if err := w.move(x.t.Context()); err != nil {
				x.t.Fatal(err)
			}
		}
		if w.match == nil { // it may have opened one without knowing: then this finds it
			if err := w.begin(x.t.Context(), c); err != nil {
				x.t.Fatal(err)
			}
		}
		for _, id := range w.all {
			opened += x.abort(c, v, id)
		}
	}
	if opened == 0 {
		x.t.Error("no hidden move was there in the end")
	}
	x.look(x.t.Context(), c)
}

// abort ends a match and returns how many hidden moves it had.
func (x *torture) abort(c *client.Client, v *replay.Verifier, id event.MatchID) (hidden int) {
	ctx := x.t.Context()
	for {
		view, err := c.View(ctx, id)
		if err != nil {
			x.t.Fatal(err)
		}
		if view.Stage == wire.StageWord(replay.StageSealed) {
			break
		}
		a, err := c.Append(ctx, "", id, view.Length, &event.MatchAborted{Reason: "the torture is over"})
		var conflict *ledger.ConflictError
		if err == nil {
			x.acknowledged(a)
		} else if !errors.As(err, &conflict) { // its beacon came in between
			x.t.Fatal(err)
		}
	}
	text, err := c.Bundle(ctx, id)
	if err != nil {
		x.t.Fatal(err)
	}
	if r := v.Verify(text); r.Verdict != replay.Verified {
		x.t.Errorf("match %v: %s", id, refutation(r))
	}
	return bytes.Count(text, []byte(`"box":`))
}

// check holds the log against what was acknowledged and shown.
func (x *torture) check() {
	out := x.run("fsck", "--data", "hall")
	if !strings.Contains(out, " 0 open: 0 findings") {
		x.t.Errorf("fsck: %s", out)
	}
	log, err := pebblelog.Open(filepath.Join(x.dir, "hall", "log"), pebblelog.Options{})
	if err != nil {
		x.t.Fatal(err)
	}
	defer log.Close()
	sizes := slices.Sorted(maps.Keys(x.heads))
	var edge tiles.Edge
	at := make(map[event.Leaf]int64)
	shown := func() {
		for len(sizes) > 0 && sizes[0] == edge.Size() {
			if root := edge.Root(); root != x.heads[sizes[0]] {
				x.t.Errorf("the checkpoint of %d entries that was shown has root %x, the log %x", sizes[0], x.heads[sizes[0]], root)
			}
			sizes = sizes[1:]
		}
	}
	shown()
	err = scan(x.t.Context(), log, func(index int64, entry []byte) error {
		leaf := event.LeafHash(entry)
		if first, ok := at[leaf]; ok {
			x.t.Errorf("entry %d is there again at %d", first, index)
		}
		at[leaf] = index
		edge.Append(leaf, nil)
		shown()
		return nil
	})
	if err != nil {
		x.t.Fatal(err)
	}
	if len(sizes) > 0 {
		x.t.Errorf("a checkpoint of %d entries was shown, the log has %d", sizes[len(sizes)-1], edge.Size())
	}
	for leaf, index := range x.acked {
		if i, ok := at[leaf]; !ok || i != index {
			x.t.Errorf("event %v, acknowledged at %d, is at %d, %v", leaf, index, i, ok)
		}
	}
}
