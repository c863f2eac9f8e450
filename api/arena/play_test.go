package arena

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"ludger/checkpoint/drand"
	"ludger/engine"
	"ludger/engine/catalog"
	"ludger/engine/chance"
	"ludger/ledger"
	"ludger/ledger/event"
	"ludger/ledger/memlog"
	"ludger/ledger/sign"
	"ludger/replay"
)

// newHall is an arena with a local beacon and the clock of the machine, in which "north" is admitted.
func newHall(t *testing.T, log *memlog.Log) *testArena {
	t.Helper()
	beacons, err := drand.NewLocal([32]byte{2}, 1_735_689_600)
	if err != nil {
		t.Fatal(err)
	}
	a, err := openWith(t, log, Config{Origin: origin, Beacons: beacons, Secret: [32]byte{3}, Now: func() int64 { return time.Now().UnixMilli() }})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Admit(t.Context(), "north", agentKey("north").Public()); err != nil {
		t.Fatal(err)
	}
	return a
}

func agentKey(name string) sign.PrivateKey { return sign.DeriveKey([]byte("players"), name) }

// terms are those of a match between two players who state that they want their handles.
func terms(t *testing.T, game, variant, start string, players ...string) Terms {
	t.Helper()
	m := Terms{Game: game, Setup: engine.Setup{Variant: variant, Start: start}, Division: "assisted"}
	for _, p := range players {
		k := agentKey(p)
		msg, err := sign.AgentMessage(origin, p, k.Public())
		if err != nil {
			t.Fatal(err)
		}
		s := k.Sign(msg)
		m.Seats = append(m.Seats, Seat{Handle: p, Key: k.Public(), Statement: &s})
	}
	return m
}

func request(key string) Request {
	return Request{Arena: "north", Key: key, Digest: sha256.Sum256([]byte(key))}
}

// A play is a match under way as its arena knows it: by what it was told, and by replaying that.
type play struct {
	t       *testing.T
	a       *testArena
	players []string
	match   *replay.Match // without the secret
	id      event.MatchID
	n       int // requests
}

func begin(t *testing.T, a *testArena, m Terms) *play {
	t.Helper()
	p := &play{t: t, a: a}
	for _, s := range m.Seats {
		p.players = append(p.players, s.Handle)
	}
	got, err := a.Begin(t.Context(), request("open "+fmt.Sprint(m.Game, m.Setup, p.players)), m)
	if err != nil {
		t.Fatal(err)
	}
	p.id = got.Match
	p.match = replay.NewKeys().NewMatch(origin)
	p.follow(got.Events)
	return p
}

func (p *play) follow(events []event.Event) {
	p.t.Helper()
	for i := range events {
		if f := p.match.Apply(&events[i]); len(f) > 0 {
			p.t.Fatal(f[0])
		}
	}
}

func (p *play) say(bodies ...event.Body) Appended {
	p.t.Helper()
	p.n++
	got, err := p.a.Append(p.t.Context(), request(fmt.Sprint(p.id, p.n)), p.id, p.match.Len(), bodies)
	if err != nil {
		p.t.Fatal(err)
	}
	p.follow(got.Events)
	return got
}

func (p *play) ack() {
	p.t.Helper()
	var bodies []event.Body
	for i, name := range p.players {
		bodies = append(bodies, &event.SeatAcked{Seat: engine.Seat(i), Signature: agentKey(name).Sign(sign.AckMessage(p.id, p.match.Last()))})
	}
	p.say(bodies...)
}

// await reads what the hall adds by itself until the match has n events.
func (p *play) await(n int64) {
	p.t.Helper()
	for p.match.Len() < n {
		places, changed, done, err := p.a.Events(p.t.Context(), p.id, p.match.Len(), 100)
		if err != nil {
			p.t.Fatal(err)
		}
		for _, place := range places {
			e, err := event.Parse(place.Entry)
			if err != nil {
				p.t.Fatal(err)
			}
			p.follow([]event.Event{e})
		}
		if p.match.Len() < n {
			select {
			case <-changed:
			case <-time.After(10 * time.Second):
				p.t.Fatalf("%d events after ten seconds, want %d", p.match.Len(), n)
			}
		}
		done()
	}
}

func (p *play) signed(seat engine.Seat, turn int64, move string) event.SignedMove {
	p.t.Helper()
	seen := p.match.Last()
	s, err := event.SignedMove{GameID: p.id, TurnIndex: turn, Move: move, Seen: &seen}.Sign(agentKey(p.players[seat]))
	if err != nil {
		p.t.Fatal(err)
	}
	return s
}

// TestBattleship plays a whole match with hidden fleets, goes on after a restart in between, and
// verifies it.
func TestBattleship(t *testing.T) {
	t.Parallel()
	log := memlog.New()
	a := newHall(t, log)
	p := begin(t, a, terms(t, "battleship@1", "standard", "", "ann", "ben"))
	p.ack()
	p.await(4) // the beacon
	game, err := catalog.Game("battleship@1")
	if err != nil {
		t.Fatal(err)
	}
	pos, err := game.New(engine.Setup{Variant: "standard", Seats: 2})
	if err != nil {
		t.Fatal(err)
	}
	dice := chance.New([32]byte{9}, "bots")
	for n := int64(0); pos.Turn().Over() == false; n++ {
		seats := pos.Turn().Seats()
		seat := seats[dice.Intn(len(seats))]
		move := ""
		if s := pos.(engine.Sampler); s.Unlisted(seat) {
			move = s.Sample(seat, dice)
		} else {
			list := pos.Legal(seat)
			move = list[dice.Intn(len(list))].Move
		}
		if err := pos.Play(seat, move); err != nil {
			t.Fatal(err)
		}
		got := p.say(&event.MovePlayed{Seat: seat, Signed: p.signed(seat, n, move)})
		hidden := got.Keys[0] != event.BoxKey{}
		if hidden != (n < 2) {
			t.Errorf("move %d has a box: %v", n, hidden)
		}
		if hidden { // the player can look into its box
			body, err := got.Events[0].Body()
			if err != nil {
				t.Fatal(err)
			}
			b := body.(*event.MovePlayed)
			place := event.Box{Match: p.id, Seq: got.Events[0].Seq, Prev: got.Events[0].Prev, Seat: b.Seat, Turn: b.Turn}
			if in, signed, err := place.Open(got.Keys[0], b.Box); err != nil || in != move || signed.TurnIndex != n {
				t.Errorf("the box holds %q: %v", in, err)
			}
		}
		if n == 1 || n == 20 { // a restart
			a = newHall(t, log)
			p.a = a
		}
	}
	if places, changed, done, err := a.Events(t.Context(), p.id, p.match.Len(), 10); err != nil || len(places) > 0 || changed != nil {
		t.Errorf("behind the seal: %d events, a channel: %v, %v", len(places), changed != nil, err)
	} else {
		done()
	}
	if s := p.match.Stage(); s != replay.StageSealed {
		t.Errorf("stage %d after the last shot", s)
	}
	if r := a.verify(t, p.id); r.Verdict != replay.Verified || r.Result == nil || r.Moves < 35 {
		t.Errorf("verdict %s, result %v, %d moves", r.Verdict, r.Result, r.Moves)
	}
	a.check(t)
}

// TestBackgammon plays with dice that the hall draws, and gives up in the end.
func TestBackgammon(t *testing.T) {
	t.Parallel()
	a := newHall(t, memlog.New())
	p := begin(t, a, terms(t, "backgammon@1", "single", "", "ann", "ben"))
	p.ack()
	p.await(5) // the beacon and the opening roll
	for n := range int64(6) {
		pos := p.match.Position()
		seat := pos.Turn().Seats()[0]
		p.say(&event.MovePlayed{Seat: seat, Signed: p.signed(seat, n, pos.Legal(seat)[0].Move)})
	}
	resigned, err := event.SignedMove{GameID: p.id, TurnIndex: 6, Resign: true}.Sign(agentKey("ben"))
	if err != nil {
		t.Fatal(err)
	}
	p.say(&event.MatchForfeited{Seat: 1, Reason: engine.Resigned, Signed: &resigned})
	if r := a.verify(t, p.id); r.Verdict != replay.Verified {
		t.Errorf("verdict %s", r.Verdict)
	}
	a.check(t)
}

// TestLive plays backgammon whose rolls nobody can foresee: each comes from a round that its player
// calls. In between the hall is restarted.
func TestLive(t *testing.T) {
	t.Parallel()
	log := memlog.New()
	a := newHall(t, log)
	m := terms(t, "backgammon@1", "single", "", "ann", "ben")
	m.Live = true
	p := begin(t, a, m)
	p.ack()
	p.await(5) // the beacon and the opening roll
	for n := range int64(3) {
		for p.match.Position().Turn().Has(engine.Chance) {
			seat, ok := p.match.Position().(engine.Roller).OnRoll()
			if !ok {
				t.Fatal("nobody is on roll")
			}
			newest, _, err := a.Beacons.Newest(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			p.say(&event.RollCalled{Seat: seat, Signed: p.signed(seat, p.match.Turn(), event.Roll(newest+2))})
			if n == 1 {
				a = newHall(t, log)
				p.a = a
			}
			p.await(p.match.Len() + 2) // the round that was called, and the dice
		}
		seat := p.match.Position().Turn().Seats()[0]
		p.say(&event.MovePlayed{Seat: seat, Signed: p.signed(seat, n, p.match.Position().Legal(seat)[0].Move)})
	}
	p.say(&event.MatchAborted{Reason: "late"})
	if r := a.verify(t, p.id); r.Verdict != replay.Verified {
		t.Errorf("verdict %s", r.Verdict)
	}
	a.check(t)
}

// TestDrawnStart plays Chess960 whose start nobody chose.
func TestDrawnStart(t *testing.T) {
	t.Parallel()
	a := newHall(t, memlog.New())
	p := begin(t, a, terms(t, "chess@1", "chess960", "", "ann", "ben"))
	p.ack()
	p.await(5)
	p.say(&event.MatchAborted{Reason: "it rains"})
	if r := a.verify(t, p.id); r.Verdict != replay.Verified {
		t.Errorf("verdict %s", r.Verdict)
	}
	a.check(t)
}

func TestAppend(t *testing.T) {
	a := newHall(t, memlog.New())
	p := begin(t, a, terms(t, "chess@1", "standard", "", "ann", "ben"))
	again, err := a.Begin(t.Context(), request("open "+fmt.Sprint("chess@1", engine.Setup{Variant: "standard"}, p.players)), terms(t, "chess@1", "standard", "", "ann", "ben"))
	if err != nil || !again.Before || again.Match != p.id || len(again.Events) != 1 {
		t.Errorf("the same opening again: %+v, %v", again, err)
	}
	p.ack()
	move := func(turn int64, text string) *event.MovePlayed {
		return &event.MovePlayed{Seat: engine.Seat(turn % 2), Signed: p.signed(engine.Seat(turn%2), turn, text)}
	}
	first := p.say(move(0, "e4"), move(1, "e5"))
	if len(first.Events) != 2 || first.Length != 5 {
		t.Errorf("%d events, length %d", len(first.Events), first.Length)
	}

	// The same request again is answered the same, whatever the length is by now.
	repeat, err := a.Append(t.Context(), request(fmt.Sprint(p.id, p.n)), p.id, 3, nil)
	repeat.Before = false
	if err != nil || !reflect.DeepEqual(repeat, first) {
		t.Errorf("the same request again: %+v, %v, want %+v", repeat, err, first)
	}
	other := request(fmt.Sprint(p.id, p.n))
	other.Digest[0] ^= 1
	if _, err := a.Append(t.Context(), other, p.id, 5, []event.Body{move(2, "d4")}); !errors.Is(err, ledger.ErrReused) {
		t.Errorf("another request with the same key: %v", err)
	}

	var conflict *ledger.ConflictError
	if _, err := a.Append(t.Context(), request("late"), p.id, 4, []event.Body{move(2, "d4")}); !errors.As(err, &conflict) || conflict.Actual != 5 || conflict.ActualLeaf != p.match.Last() {
		t.Errorf("append behind the length 4: %v", err)
	}

	// All of a request or nothing.
	var wrong *BodyError
	_, err = a.Append(t.Context(), request("half"), p.id, 5, []event.Body{move(2, "d4"), move(3, "Ke5")})
	var fault *replay.Fault
	if !errors.As(err, &wrong) || wrong.Body != 1 || !errors.As(err, &fault) || fault.Step != replay.StepRules {
		t.Errorf("a wrong move behind a right one: %v", err)
	}
	if v, err := a.View(t.Context(), p.id); err != nil || v.Length != 5 || v.Turn != 2 || !strings.Contains(v.State, "rnbqkbnr") {
		t.Errorf("after refusals: %+v, %v", v, err)
	}
	p.say(move(2, "d4"))

	// Other arenas.
	if _, err := a.Append(t.Context(), Request{Arena: "south"}, p.id, 6, []event.Body{move(3, "d5")}); !errors.Is(err, ErrNotYours) {
		t.Errorf("append of an arena that does not run the match: %v", err)
	}
	if _, err := a.Begin(t.Context(), Request{Arena: "south"}, terms(t, "chess@1", "standard", "", "ann", "ben")); !errors.Is(err, ErrNoArena) {
		t.Errorf("opening of an arena that is not admitted: %v", err)
	}
	if _, err := a.Append(t.Context(), request("none"), event.MatchID{1}, 0, []event.Body{move(0, "e4")}); !errors.Is(err, ErrNoMatch) {
		t.Errorf("append to no match: %v", err)
	}

	// Handles belong to their keys.
	stolen := terms(t, "chess@1", "standard", "", "ann", "ben")
	stolen.Seats[0].Key = agentKey("eve").Public()
	if _, err := a.Begin(t.Context(), request("stolen"), stolen); !errors.Is(err, ErrTaken) {
		t.Errorf("a seat with another's handle: %v", err)
	}
	forged := terms(t, "chess@1", "standard", "", "cat", "ben")
	forged.Seats[0].Statement = &sign.Signature{1}
	if _, err := a.Begin(t.Context(), request("forged"), forged); err == nil {
		t.Error("a statement that nobody signed is taken")
	}
	guest := terms(t, "chess@1", "standard", "", "cat", "ben")
	guest.Seats[0].Statement = nil
	g := begin(t, a, guest)
	if s := g.match.Opened().Seats; s[0].Registered != nil || s[1].Registered == nil {
		t.Errorf("registrations of a guest and a member: %v, %v", s[0].Registered, s[1].Registered)
	}
	if _, err := a.Admit(t.Context(), "north", agentKey("eve").Public()); !errors.Is(err, ErrTaken) {
		t.Errorf("an arena's name given to another key: %v", err)
	}
	a.check(t)
}

// TestConcurrentAppends: many try to append at the same length; one does, the others are told.
func TestConcurrentAppends(t *testing.T) {
	a := newHall(t, memlog.New())
	p := begin(t, a, terms(t, "chess@1", "standard", "", "ann", "ben"))
	signed := p.signed(0, 0, "e4")
	var mu sync.Mutex
	done := 0
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			_, err := a.Append(t.Context(), request(fmt.Sprint("try", i)), p.id, 1, []event.Body{&event.MovePlayed{Signed: signed}})
			var conflict *ledger.ConflictError
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				done++
			} else if !errors.As(err, &conflict) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if done != 1 {
		t.Errorf("%d of 50 appends at one length", done)
	}
	a.check(t)
}

// TestIdle: matches that nobody is busy with leave memory, and come back from the log.
func TestIdle(t *testing.T) {
	a := newHall(t, memlog.New())
	var first *play
	for i := range maxLive + 10 {
		p := begin(t, a, terms(t, "chess@1", "standard", "", fmt.Sprintf("ann%d", i), "ben"))
		if first == nil {
			first = p
		}
	}
	a.table.mu.Lock()
	live := len(a.table.live)
	a.table.mu.Unlock()
	if live != maxLive {
		t.Errorf("%d matches in memory, want %d", live, maxLive)
	}
	first.ack() // it comes back from the log
	first.say(&event.MatchAborted{Reason: "enough"})
	begin(t, a, terms(t, "chess@1", "standard", "", "zoe", "ben"))
	a.table.mu.Lock()
	_, still := a.table.live[first.id]
	a.table.mu.Unlock()
	if still {
		t.Error("a sealed match is not the first to leave")
	}
	if v, err := a.View(t.Context(), first.id); err != nil || v.Stage != replay.StageSealed {
		t.Errorf("a sealed match that left memory: %+v, %v", v, err)
	}
}

// TestAnchor: a log that grows gets beacons of its own, and one that does not is left alone.
func TestAnchor(t *testing.T) {
	log := memlog.New()
	beacons, err := drand.NewLocal([32]byte{2}, 1_735_689_600)
	if err != nil {
		t.Fatal(err)
	}
	a, err := openWith(t, log, Config{Origin: origin, Beacons: beacons, Secret: [32]byte{3}, Anchor: 20 * time.Millisecond, Now: func() int64 { return time.Now().UnixMilli() }})
	if err != nil {
		t.Fatal(err)
	}
	size := func(want int64) {
		t.Helper()
		for deadline := time.Now().Add(5 * time.Second); ; {
			wake := log.Wake()
			h, err := log.Head(t.Context())
			if err != nil || h.Size > want || time.Now().After(deadline) {
				t.Fatalf("%d entries, want %d, %v", h.Size, want, err)
			}
			if h.Size == want {
				return
			}
			select {
			case <-wake:
			case <-time.After(time.Second):
			}
		}
	}
	size(2) // log.opened, and an anchor
	if _, err := a.Admit(t.Context(), "north", agentKey("north").Public()); err != nil {
		t.Fatal(err)
	}
	size(4)
	a.check(t)
}

// TestLiveVariants plays backgammon with called rolls to its end in every variant: with a cube, where to
// roll is a move of its own, and over several games, whose opening rolls are nobody's.
func TestLiveVariants(t *testing.T) {
	for _, v := range [][2]string{{"single", ""}, {"money", ""}, {"match", "3"}} {
		t.Run(v[0], func(t *testing.T) {
			t.Parallel()
			clock := newQuick(t)
			a, err := openWith(t, memlog.New(), Config{Origin: origin, Beacons: clock, Secret: [32]byte{3}, Now: clock.now.Load})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := a.Admit(t.Context(), "north", agentKey("north").Public()); err != nil {
				t.Fatal(err)
			}
			m := terms(t, "backgammon@1", v[0], v[1], "ann", "ben")
			m.Live = true
			p := begin(t, a, m)
			p.await(3)
			r := chance.New([32]byte{1}, v[0])
			rolls := 0
			for p.match.Stage() != replay.StageSealed {
				pos := p.match.Position()
				if pos.Turn().Has(engine.Chance) {
					seat, ok := pos.(engine.Roller).OnRoll()
					if !ok { // the opening roll of the next game is anybody's to call
						seat = engine.Seat(rolls % 2)
					}
					newest, _, err := a.Beacons.Newest(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					p.say(&event.RollCalled{Seat: seat, Signed: p.signed(seat, p.match.Turn(), event.Roll(newest+2))})
					rolls++
					p.await(p.match.Len() + 2)
					continue
				}
				seat := pos.Turn().Seats()[0]
				list := pos.Legal(seat)
				p.say(&event.MovePlayed{Seat: seat, Signed: p.signed(seat, p.match.Turn(), list[r.Intn(len(list))].Move)})
			}
			if r := a.verify(t, p.id); r.Verdict != replay.Verified || rolls == 0 {
				t.Errorf("verdict %s after %d rolls", r.Verdict, rolls)
			}
		})
	}
}
