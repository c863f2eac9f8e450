package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ludger/api/client"
	"ludger/api/wire"
	"ludger/checkpoint/drand"
	"ludger/checkpoint/drand/drandtest"
	"ludger/engine"
	"ludger/engine/catalog"
	"ludger/ledger/event"
	"ludger/ledger/sign"
	"ludger/replay"
)

// TestNetwork plays a sealed match and a live one over HTTP, with beacons of a real drand network. One of
// its three nodes ends: play goes on. Two end: rolls wait, nobody chooses again, and the server says so.
// They come back: the match goes on. Then the network and the server end, and all is verified offline;
// so is a match whose hall vanished, with its timelock box.
func TestNetwork(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: the drand network takes half a minute")
	}
	network := drandtest.Start(t)
	source, err := drand.NewHTTP(network.Chain(), network.URLs(), drand.HTTPOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	x := newDrandHall(t, source)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	sealed, err := play(ctx, x.client, "network.example/log", "battleship@1", "standard", newBot([]byte("network"), "ship-a"), newBot([]byte("network"), "ship-b"))
	if err != nil {
		t.Fatal(err)
	}

	m := x.live(ctx)
	var waits []time.Duration
	for range 4 {
		waits = append(waits, m.rollAndMove(ctx))
	}
	network.StopNode(0)
	for range 2 {
		waits = append(waits, m.rollAndMove(ctx))
	}
	network.StopNode(1)
	waiting := m.rollWhileDown(ctx)
	if state := x.ready(); !strings.Contains(state, `"status":"ready"`) || strings.Contains(state, `"beacon":"ok"`) {
		t.Errorf("with the network halted, the server says %s", state)
	}
	for i := range 2 {
		if err := network.StartNode(ctx, i); err != nil {
			t.Fatal(err)
		}
	}
	m.await(ctx, waiting)
	for range 2 {
		m.rollAndMove(ctx)
	}
	m.resign(ctx)
	t.Logf("dice came %v after their rounds were due", waits)

	bundles := []event.MatchID{sealed, m.id}
	var files []string
	for _, id := range bundles {
		files = append(files, x.bundle(ctx, id))
	}
	x.stop()
	network.Close()

	out := x.ludger(append([]string{"verify", "--policy", "hall/policy"}, files...)...)
	if strings.Count(out, ": verified, ") != 2 {
		t.Errorf("offline:\n%s", out)
	}
	if out := x.ludger("fsck", "--data", "hall"); !strings.Contains(out, " 0 open: 0 findings") {
		t.Errorf("fsck: %s", out)
	}
}

// A drandHall is a hall that takes its beacons from a network.
type drandHall struct {
	t      testing.TB
	dir    string
	arena  sign.PrivateKey
	base   string
	client *client.Client
	stop   func()
}

func (x *drandHall) ludger(args ...string) string {
	x.t.Helper()
	var out, errs bytes.Buffer
	for i, a := range args {
		if strings.HasPrefix(a, "hall") {
			args[i] = filepath.Join(x.dir, a)
		}
	}
	if code := run(context.Background(), args, strings.NewReader(""), &out, &errs); code != 0 {
		x.t.Fatalf("ludger %s: exit code %d\n%s%s", strings.Join(args, " "), code, out.String(), errs.String())
	}
	return out.String()
}

func (x *drandHall) serve(source drand.Source) {
	x.t.Helper()
	signer, err := readKey(filepath.Join(x.dir, "hall"))
	if err != nil {
		x.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	address, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		ended <- serve(ctx, filepath.Join(x.dir, "hall"), "127.0.0.1:0", source, writerFunc(func(b []byte) (int, error) {
			address <- strings.TrimSpace(string(b))
			return len(b), nil
		}), slog.New(slog.DiscardHandler))
	}()
	select {
	case x.base = <-address:
	case err := <-ended:
		cancel()
		x.t.Fatal(err)
	}
	x.client, err = client.New(client.Config{Base: x.base, Log: signer.Verifier(), Arena: "north", Key: x.arena})
	if err != nil {
		cancel()
		x.t.Fatal(err)
	}
	stopped := false
	x.stop = func() {
		if stopped {
			return
		}
		stopped = true
		x.client.Close()
		cancel()
		if err := <-ended; err != nil {
			x.t.Error(err)
		}
	}
	x.t.Cleanup(x.stop)
}

func (x *drandHall) ready() string {
	x.t.Helper()
	answer, err := http.Get(x.base + wire.PathReady)
	if err != nil {
		x.t.Fatal(err)
	}
	defer answer.Body.Close()
	var body bytes.Buffer
	if _, err := body.ReadFrom(answer.Body); err != nil {
		x.t.Fatal(err)
	}
	return body.String()
}

func (x *drandHall) bundle(ctx context.Context, id event.MatchID) string {
	x.t.Helper()
	text, err := x.client.Bundle(ctx, id)
	if err != nil {
		x.t.Fatal(err)
	}
	name := filepath.Join(x.dir, id.String()+".json")
	if err := os.WriteFile(name, text, 0o666); err != nil {
		x.t.Fatal(err)
	}
	return name
}

// A liveMatch is backgammon whose rolls are called.
type liveMatch struct {
	*contest
	t testing.TB
}

func (x *drandHall) live(ctx context.Context) *liveMatch {
	x.t.Helper()
	game, err := catalog.Game("backgammon@1")
	if err != nil {
		x.t.Fatal(err)
	}
	m := &contest{Client: x.client, origin: "network.example/log", bots: []*bot{newBot([]byte("network"), "dice-a"), newBot([]byte("network"), "dice-b")}, live: true}
	if m.pos, err = game.New(engine.Setup{Variant: "single", Seats: 2}); err != nil {
		x.t.Fatal(err)
	}
	if err := m.open(ctx, "backgammon@1", "single"); err != nil {
		x.t.Fatal(err)
	}
	if err := m.begin(ctx); err != nil {
		x.t.Fatal(err)
	}
	return &liveMatch{m, x.t}
}

// call calls the round after the next one for the seat on roll, and returns when it is due.
func (m *liveMatch) call(ctx context.Context) (time.Time, error) {
	seat, ok := m.pos.(engine.Roller).OnRoll()
	if !ok {
		return time.Time{}, errors.New("nobody is on roll")
	}
	newest, err := m.chain.RoundAt(time.Now().UnixMilli())
	if err != nil {
		return time.Time{}, err
	}
	round := newest + 2
	signed, err := event.SignedMove{GameID: m.id, TurnIndex: m.turn, Move: event.Roll(round), Seen: &m.last}.Sign(m.bots[seat].key)
	if err != nil {
		return time.Time{}, err
	}
	if err := m.say(ctx, &event.RollCalled{Seat: seat, Signed: signed}); err != nil {
		return time.Time{}, err
	}
	at, err := m.chain.TimeOf(round)
	return time.UnixMilli(at), err
}

// dice waits for the dice that were called.
func (m *liveMatch) dice(ctx context.Context) error {
	came := errors.New("the dice are there")
	err := m.Follow(ctx, m.id, m.length, 0, func(e event.Event) error {
		if err := m.follow(e, nil); err != nil {
			return err
		}
		if e.Kind == event.KindChanceDrawn {
			return came
		}
		return nil
	})
	if errors.Is(err, came) {
		return nil
	}
	return err
}

// rollAndMove rolls until somebody can move, moves, and returns how long after their round was due the
// last dice came.
func (m *liveMatch) rollAndMove(ctx context.Context) (late time.Duration) {
	m.t.Helper()
	for m.pos.Turn().Has(engine.Chance) {
		due, err := m.call(ctx)
		if err == nil {
			err = m.dice(ctx)
		}
		if err != nil {
			m.t.Fatal(err)
		}
		late = time.Since(due)
	}
	m.moveOn(ctx)
	return late
}

func (m *liveMatch) moveOn(ctx context.Context) {
	m.t.Helper()
	seat := m.pos.Turn().Seats()[0]
	signed, err := event.SignedMove{GameID: m.id, TurnIndex: m.turn, Move: m.bots[seat].choose(m.pos, seat), Seen: &m.last}.Sign(m.bots[seat].key)
	if err == nil {
		err = m.say(ctx, &event.MovePlayed{Seat: seat, Signed: signed})
	}
	if err != nil {
		m.t.Fatal(err)
	}
}

// rollWhileDown calls a round that the halted network does not give, and sees that nothing comes and that
// it cannot be called again. It returns when the round was due.
func (m *liveMatch) rollWhileDown(ctx context.Context) time.Time {
	m.t.Helper()
	due, err := m.call(ctx)
	if err != nil {
		m.t.Fatal(err)
	}
	time.Sleep(time.Until(due) + 3*time.Second)
	page, err := m.Events(ctx, m.id, m.length)
	if err != nil || len(page.Events) > 0 {
		m.t.Errorf("%d events come from a network that is halted, %v", len(page.Events), err)
	}
	_, err = m.call(ctx)
	var fault *replay.Fault
	if !errors.As(err, &fault) || fault.Code != "roll-twice" {
		m.t.Errorf("a round is called again: %v", err)
	}
	return due
}

// await waits for the dice of a round that came late, and moves.
func (m *liveMatch) await(ctx context.Context, due time.Time) {
	m.t.Helper()
	if err := m.dice(ctx); err != nil {
		m.t.Fatal(err)
	}
	m.t.Logf("the dice of the halted network came %v after they were due", time.Since(due))
	for m.pos.Turn().Has(engine.Chance) {
		m.rollAndMove(ctx)
		return
	}
	m.moveOn(ctx)
}

func (m *liveMatch) resign(ctx context.Context) {
	m.t.Helper()
	signed, err := event.SignedMove{GameID: m.id, TurnIndex: m.turn, Resign: true, Seen: &m.last}.Sign(m.bots[0].key)
	if err == nil {
		err = m.say(ctx, &event.MatchForfeited{Seat: 0, Reason: engine.Resigned, Signed: &signed})
	}
	if err != nil {
		m.t.Fatal(fmt.Errorf("resigning: %w", err))
	}
}
