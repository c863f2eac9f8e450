package replay_test

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"ludger/checkpoint/beacon"
	"ludger/engine"
	"ludger/ledger/event"
	"ludger/replay"
	"ludger/testvectors"
)

// genesis of the world's beacon, in Unix seconds: before every vector's time.
const genesis = 1_600_000_000

// secret is that of the newest match.
func (w *world) secret() [32]byte {
	if w.same {
		return seed("secret of every match")
	}
	return seed(fmt.Sprint("secret of match ", w.number))
}

func (w *world) beacons() *beacon.Local {
	w.t.Helper()
	l, err := beacon.NewLocal(seed("beacon"), genesis, 1)
	if err != nil {
		w.t.Fatal(err)
	}
	return l
}

// round returns a round of the world's beacon.
func (w *world) round(n int64) event.Beacon {
	w.t.Helper()
	s, err := w.beacons().Sign(n)
	if err != nil {
		w.t.Fatal(err)
	}
	return event.Beacon{Round: n, Signature: s}
}

// terms returns terms of chance for an opening that is the next event.
func (w *world) terms(mode event.ChanceMode) event.Chance {
	w.t.Helper()
	chain := w.beacons().Chain().Info()
	now, err := chain.RoundAt(w.now + 1000)
	if err != nil {
		w.t.Fatal(err)
	}
	c := event.Chance{Mode: mode, Chain: chain, Base: w.round(now), Delay: 2}
	if mode == event.ChanceSealed {
		c.Commitment, c.Salt = beacon.Commitment(w.secret()), [16]byte{7}
		c.Opens, c.Vault = now+longest, w.vault(now+longest, w.secret())
	}
	return c
}

// longest is the number of rounds from the opening to the one that opens the vault.
const longest = 1_000_000

// vault is the timelock box of a secret for a round.
func (w *world) vault(round int64, secret [32]byte) []byte {
	w.t.Helper()
	box, err := w.beacons().Chain().SealTimelock(round, secret)
	if err != nil {
		w.t.Fatal(err)
	}
	return box
}

// deal begins a match of two registered agents that both acknowledge it, with terms of chance.
func (w *world) deal(game, variant string, mode event.ChanceMode, edit func(*event.MatchOpened)) *table {
	w.t.Helper()
	return w.dealt(game, variant, mode, edit, w.register("alice"), w.register("bob"))
}

// dealt is deal with given agents.
func (w *world) dealt(game, variant string, mode event.ChanceMode, edit func(*event.MatchOpened), players ...*agent) *table {
	w.t.Helper()
	o := w.opening(nil, players...)
	o.Game, o.Variant, o.Chance = game, variant, w.terms(mode)
	if edit != nil {
		edit(o)
	}
	tb := w.table(players...)
	tb.m.Disclose(tb.secret)
	tb.put(tb.first(o.ID(w.origin)), o)
	tb.ack(0)
	tb.ack(1)
	return tb
}

func (w *world) ships() *table {
	return w.deal("battleship@1", "standard", event.ChanceSealed, nil)
}

func (w *world) dice() *table {
	return w.deal("backgammon@1", "single", event.ChanceSealed, nil)
}

// recorded is the beacon that the match waits for.
func (tb *table) recorded() *event.BeaconRecorded {
	c := tb.m.Opened().Chance
	return &event.BeaconRecorded{Chain: c.Chain.Hash, Beacon: tb.w.round(c.Round())}
}

func (tb *table) record() *table {
	tb.w.t.Helper()
	tb.say(tb.recorded())
	return tb
}

// due says what the match asks for by itself.
func (tb *table) due() {
	tb.w.t.Helper()
	for b := tb.m.Due(); b != nil; b = tb.m.Due() {
		tb.say(b)
	}
}

// by plays by the rules what a seat signs.
func (tb *table) by(seat engine.Seat, move string) {
	tb.w.t.Helper()
	tb.say(&event.MovePlayed{Seat: seat, Signed: tb.signed(seat, text(move))})
}

// roll lets chance and both seats play some turns, each seat its first legal move.
func (tb *table) roll(moves int) {
	tb.w.t.Helper()
	for range moves {
		for tb.m.Position().Turn().Has(engine.Chance) {
			tb.say(&event.ChanceDrawn{})
		}
		seat := tb.m.Position().Turn().Seats()[0]
		tb.by(seat, tb.m.Position().Legal(seat)[0].Move)
	}
}

const (
	fleetA = "A1h C4v E7h J1h G10v"
	fleetB = "A1v A3v A5v A7v A9v"
)

// laid is a match of battleship in which both fleets are laid out, events 0 to 5.
func (w *world) laid() *table {
	w.t.Helper()
	tb := w.ships().record()
	tb.by(0, fleetA)
	tb.by(1, fleetB)
	return tb
}

// rolled is a match of backgammon in which the opening roll is drawn, events 0 to 4.
func (w *world) rolled() *table {
	w.t.Helper()
	tb := w.dice().record()
	tb.say(&event.ChanceDrawn{})
	return tb
}

// shut ends, reveals and seals a match as if all before were right.
func (tb *table) shut() string {
	tb.w.t.Helper()
	if _, decided := tb.m.Outcome(); !decided && tb.m.Stage() == replay.StagePlaying {
		tb.force(tb.resigned(0))
	}
	if tb.m.Stage() != replay.StageEnded {
		tb.force(tb.ended())
	}
	tb.force(&event.MatchRevealed{Secret: tb.secret})
	tb.force(tb.sealed())
	return whole(tb)
}

// shuts lets a hall log what forge says, then end the match as if nothing were wrong.
func shuts(begin func(*world) *table, forge func(*table)) func(*world) string {
	return func(w *world) string {
		tb := begin(w)
		forge(tb)
		return tb.shut()
	}
}

// proposed is what an honest hall would log, to be forged.
func (tb *table) proposed(body event.Body) event.Body {
	tb.w.t.Helper()
	try := tb.m.Fork()
	e, err := try.Propose(tb.w.now+1000, body)
	if err != nil {
		tb.w.t.Fatal(err)
	}
	b, err := e.Body()
	if err != nil {
		tb.w.t.Fatal(err)
	}
	return b
}

// foreign is the world's beacon under a name and hash that do not say that it is a test.
func (w *world) foreign() beacon.Info {
	w.t.Helper()
	i := w.beacons().Chain().Info()
	i.Name, i.Test = "northern-lights", false
	key, err := hex.DecodeString(i.PublicKey)
	if err != nil {
		w.t.Fatal(err)
	}
	b := binary.BigEndian.AppendUint32(nil, uint32(i.Period))
	b = binary.BigEndian.AppendUint64(b, uint64(i.Genesis))
	b = append(append(append(b, key...), i.GroupHash[:]...), i.Name...)
	i.Hash = sha256.Sum256(b)
	return i
}

const (
	sealedNotes = "test-beacon chance-order hall-secret"
	publicNotes = "test-beacon chance-order"
)

// sealedValid are honest matches with chance and hidden moves.
var sealedValid = []scenario{
	{name: "battleship, won by resignation", notes: sealedNotes, make: func(w *world) string {
		tb := w.laid()
		tb.by(0, "A1")
		tb.by(1, "J10")
		tb.by(0, "B1")
		tb.say(tb.resigned(1))
		tb.due()
		return whole(tb)
	}},
	{name: "battleship, the second seat lays out first", notes: sealedNotes, make: func(w *world) string {
		tb := w.ships().record()
		tb.by(1, fleetB)
		tb.by(0, fleetA)
		tb.say(tb.resigned(0))
		tb.due()
		return whole(tb)
	}},
	{name: "battleship, both sign before they see the other's move", notes: sealedNotes, make: func(w *world) string {
		tb := w.ships().record()
		b := &event.MovePlayed{Seat: 1, Signed: tb.signed(1, text("a1v,a3v,a5v,a7v,a9v"))} // of turn 0, with turn 0 played before it
		tb.by(0, fleetA)
		tb.say(b)
		tb.say(tb.resigned(0))
		tb.due()
		return whole(tb)
	}},
	{name: "battleship, a long word in a box", notes: sealedNotes, make: func(w *world) string {
		tb := w.ships().record()
		tb.say(&event.MovePlayed{Seat: 0, Signed: tb.signed(0, func(s *event.SignedMove) {
			s.Move = fleetA
			for range 100 {
				s.Commentary += "all at sea "
			}
			s.Commentary = s.Commentary[:event.MaxCommentary]
		})})
		tb.say(tb.resigned(1))
		tb.due()
		return whole(tb)
	}},
	{name: "battleship to the last ship", notes: sealedNotes, make: func(w *world) string {
		tb := w.laid()
		misses := 0
		for _, ship := range []struct{ column, size int }{{1, 5}, {3, 4}, {5, 3}, {7, 3}, {9, 2}} {
			for row := range ship.size {
				tb.by(0, string(rune('A'+row))+string(rune('0'+ship.column)))
				if tb.m.Stage() == replay.StagePlaying {
					tb.by(1, string(rune('A'+misses/10))+[]string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10"}[misses%10])
				}
				misses++
			}
		}
		tb.due()
		return whole(tb)
	}},
	{name: "battleship, aborted and revealed", notes: sealedNotes + " aborted", make: func(w *world) string {
		tb := w.ships().record()
		tb.by(1, fleetB)
		tb.say(&event.MatchAborted{Reason: "the arena lost its power"})
		tb.due()
		return whole(tb)
	}},
	{name: "battleship, aborted before the beacon", hidden: "chance", notes: "test-beacon hall-secret aborted", make: func(w *world) string {
		tb := w.ships()
		tb.say(&event.MatchAborted{Reason: "nobody came"})
		tb.due()
		return whole(tb)
	}},
	{name: "backgammon, aborted before its dice were drawn", notes: "test-beacon chance-order undrawn hall-secret aborted", make: func(w *world) string {
		tb := w.dice().record()
		tb.say(&event.MatchAborted{Reason: "the arena lost its power"})
		tb.due()
		return whole(tb)
	}},
	{name: "battleship, a seat does not lay out in time", notes: sealedNotes + " time-forfeit", make: func(w *world) string {
		tb := w.ships().record()
		tb.by(0, fleetA)
		w.now += moveMS
		tb.say(&event.MatchForfeited{Seat: 1, Reason: engine.OutOfTime})
		tb.due()
		return whole(tb)
	}},
	{name: "backgammon, some turns", notes: sealedNotes, make: func(w *world) string {
		tb := w.rolled()
		tb.roll(6)
		tb.say(tb.resigned(0))
		tb.due()
		return whole(tb)
	}},
	{name: "chess960, start drawn", notes: publicNotes, make: func(w *world) string {
		tb := w.deal("chess@1", "chess960", event.ChancePublic, nil).record()
		tb.say(&event.ChanceDrawn{})
		tb.by(0, "e4")
		tb.say(tb.resigned(1))
		tb.due()
		return whole(tb)
	}},
	{name: "chess, with a beacon that nothing needs", notes: publicNotes, make: func(w *world) string {
		tb := w.deal("chess@1", "standard", event.ChancePublic, nil).record()
		tb.by(0, "e4")
		tb.say(tb.resigned(1))
		tb.due()
		return whole(tb)
	}},
	{name: "chess960, drawn from a beacon that says it is public", notes: "unknown-beacon chance-order", make: func(w *world) string {
		tb := w.deal("chess@1", "chess960", event.ChancePublic, func(o *event.MatchOpened) { o.Chance.Chain = w.foreign() }).record()
		tb.say(&event.ChanceDrawn{})
		tb.say(tb.resigned(1))
		tb.due()
		return whole(tb)
	}},
	{name: "backgammon, each roll called", notes: publicNotes, make: func(w *world) string {
		tb := w.live()
		for range 4 {
			tb.liveTurn()
		}
		tb.say(tb.resigned(0))
		tb.due()
		return whole(tb)
	}},
	{name: "backgammon, a roll called and the match given up before its round", notes: publicNotes, make: func(w *world) string {
		tb := w.live()
		tb.liveTurn()
		tb.say(tb.call(tb.roller(), tb.nextRound()))
		tb.say(tb.resigned(1))
		tb.due()
		return whole(tb)
	}},
	{name: "backgammon, the player on roll calls no round in time", notes: publicNotes + " time-forfeit", make: func(w *world) string {
		tb := w.live()
		tb.liveTurn()
		seat := tb.roller()
		w.now += moveMS
		tb.say(&event.MatchForfeited{Seat: seat, Reason: engine.OutOfTime})
		tb.due()
		return whole(tb)
	}},
	{name: "chess960, drawn from quicknet", notes: "chance-order", make: func(w *world) string {
		before, count := quicknet(w, 123), quicknet(w, 1000)
		w.now = 1_692_803_733_000
		tb := w.deal("chess@1", "chess960", event.ChancePublic, func(o *event.MatchOpened) {
			o.Chance = event.Chance{Mode: event.ChancePublic, Chain: beacon.Quicknet(), Base: before, Delay: 877}
		})
		w.now = 1_692_806_364_000
		tb.say(&event.BeaconRecorded{Chain: beacon.Quicknet().Hash, Beacon: count})
		tb.say(&event.ChanceDrawn{})
		tb.by(0, "a4")
		tb.say(tb.resigned(1))
		tb.due()
		return whole(tb)
	}},
	{name: "backgammon, one seat acknowledges before the beacon and one not", notes: sealedNotes, make: func(w *world) string {
		tb := acked(w, true, false)
		tb.say(tb.resigned(0))
		tb.due()
		return whole(tb)
	}},
	{name: "backgammon, both acknowledge when the round is out and not recorded yet", notes: sealedNotes, make: func(w *world) string {
		players := []*agent{w.register("alice"), w.register("bob")}
		o := w.opening(nil, players...)
		o.Game, o.Variant, o.Chance = "backgammon@1", "single", w.terms(event.ChanceSealed)
		tb := w.table(players...)
		tb.m.Disclose(tb.secret)
		tb.put(tb.first(o.ID(w.origin)), o)
		w.now += 3_600_000
		tb.ack(0)
		tb.ack(1)
		tb.record()
		tb.say(&event.ChanceDrawn{})
		tb.say(tb.resigned(0))
		tb.due()
		return whole(tb)
	}},
	{name: "backgammon, nobody acknowledges before the beacon", notes: sealedNotes, make: func(w *world) string {
		tb := acked(w, false, false)
		tb.say(tb.resigned(0))
		tb.due()
		return whole(tb)
	}},
	{name: "chess, run by an arena", notes: "arena", make: func(w *world) string {
		return admitted(w, nil)
	}},
}

// live is a match of backgammon whose rolls are called, with the opening roll drawn.
func (w *world) live() *table {
	w.t.Helper()
	tb := w.deal("backgammon@1", "single", event.ChanceLive, nil).record()
	tb.say(&event.ChanceDrawn{})
	return tb
}

// roller is the seat whose dice come next.
func (tb *table) roller() engine.Seat {
	tb.w.t.Helper()
	seat, ok := tb.m.Position().(engine.Roller).OnRoll()
	if !ok {
		tb.w.t.Fatal("nobody is on roll")
	}
	return seat
}

// nextRound is the round that a player may call with the next event: it comes out two seconds later.
func (tb *table) nextRound() int64 {
	tb.w.t.Helper()
	newest, err := tb.m.Opened().Chance.Chain.RoundAt(tb.w.now + 1000)
	if err != nil {
		tb.w.t.Fatal(err)
	}
	return newest + 2
}

// call is what a seat signs to call a round.
func (tb *table) call(seat engine.Seat, round int64) *event.RollCalled {
	tb.w.t.Helper()
	return &event.RollCalled{Seat: seat, Signed: tb.signed(seat, text(event.Roll(round)))}
}

// rolls calls, records and draws the next outcome.
func (tb *table) rolls() {
	tb.w.t.Helper()
	round := tb.nextRound()
	tb.say(tb.call(tb.roller(), round))
	tb.w.now += 2000
	tb.say(&event.BeaconRecorded{Chain: tb.m.Opened().Chance.Chain.Hash, Beacon: tb.w.round(round)})
	tb.say(&event.ChanceDrawn{})
}

// liveTurn plays a move, rolling before it where that is due.
func (tb *table) liveTurn() {
	tb.w.t.Helper()
	for tb.m.Position().Turn().Has(engine.Chance) {
		tb.rolls()
	}
	seat := tb.m.Position().Turn().Seats()[0]
	tb.by(seat, tb.m.Position().Legal(seat)[0].Move)
}

// toRoll is a live match in which a roll is to be called, as event 6.
func (w *world) toRoll() *table {
	w.t.Helper()
	tb := w.live()
	tb.liveTurn()
	return tb
}

// quicknet returns a round of the League of Entropy.
func quicknet(w *world, round int64) event.Beacon {
	w.t.Helper()
	data, err := testvectors.FS.ReadFile("beacon/beacons.json")
	if err != nil {
		w.t.Fatal(err)
	}
	var v struct {
		Valid []struct {
			Chain, Signature string
			Round            int64
		}
	}
	if err := json.Unmarshal(data, &v); err != nil {
		w.t.Fatal(err)
	}
	for _, b := range v.Valid {
		if b.Chain == "quicknet" && b.Round == round {
			signature, err := hex.DecodeString(b.Signature)
			if err != nil {
				w.t.Fatal(err)
			}
			return event.Beacon{Round: round, Signature: signature}
		}
	}
	w.t.Fatalf("no vector of round %d", round)
	return event.Beacon{}
}

// acked is a match of backgammon that each seat acknowledges before the beacon or after it.
func acked(w *world, before ...bool) *table {
	w.t.Helper()
	players := []*agent{w.register("alice"), w.register("bob")}
	o := w.opening(nil, players...)
	o.Game, o.Variant, o.Chance = "backgammon@1", "single", w.terms(event.ChanceSealed)
	tb := w.table(players...)
	tb.m.Disclose(tb.secret)
	tb.put(tb.first(o.ID(w.origin)), o)
	w.now += 2000
	for seat, first := range before {
		if first {
			tb.ack(engine.Seat(seat))
		}
	}
	tb.record()
	for seat, first := range before {
		if !first {
			tb.ack(engine.Seat(seat))
		}
	}
	tb.say(&event.ChanceDrawn{})
	return tb
}

// An arena that the world admitted.
type arena struct {
	*replay.Proven
	index int64 // of its admission in the log
}

func (w *world) admit() *arena {
	w.t.Helper()
	e := w.event(event.ArenaStream("north-hall"), 0, event.Leaf{}, &event.ArenaAdmitted{Name: "north-hall", Key: key("north-hall").Public()})
	return &arena{&replay.Proven{Event: e}, w.log(e)}
}

// admitted is the bundle of a short match that an arena runs, changed by edit.
func admitted(w *world, edit func(b *replay.Bundle)) string {
	w.t.Helper()
	a := w.admit()
	tb := w.open(func(o *event.MatchOpened) { o.Arena = &event.Arena{Name: "north-hall", Admitted: a.Event.Leaf()} }, w.register("alice"), w.register("bob"))
	tb.arena = a
	tb.ack(0)
	tb.ack(1)
	tb.resign(0)
	tb.end()
	b := tb.bundle()
	if edit != nil {
		edit(b)
	}
	return string(b.Bytes())
}

// sealedIncomplete are matches that are not over, so that their secrets are not told.
var sealedIncomplete = []scenario{
	{name: "battleship, fleets still hidden", hidden: "chance rules clock signatures closure inclusion", notes: sealedNotes, make: func(w *world) string {
		tb := w.laid()
		tb.by(0, "A1")
		return whole(tb)
	}},
	{name: "backgammon, dice not proved yet", hidden: "chance closure inclusion", notes: sealedNotes, make: func(w *world) string {
		tb := w.rolled()
		tb.roll(2)
		return whole(tb)
	}},
	{name: "backgammon, before the beacon", hidden: "chance closure inclusion", notes: "test-beacon hall-secret", make: func(w *world) string {
		return whole(w.dice())
	}},
	{name: "battleship, ended and not revealed", hidden: "chance rules clock signatures closure inclusion", notes: sealedNotes, make: func(w *world) string {
		tb := w.laid()
		tb.say(tb.resigned(0))
		tb.say(&event.MatchEnded{})
		return whole(tb)
	}},
}

// sealedUnchecked are matches of which something that is needed is not there.
var sealedUnchecked = []scenario{
	{name: "battleship, with a fleet in an event of a kind that is not known", catch: "chance/not-boxed@6", hidden: "rules", notes: sealedNotes + " aborted unknown-kind", make: func(w *world) string {
		tb := w.ships().record()
		tb.by(0, fleetA)
		tb.raw(tb.frame(), "move.whispered", `{"seat":1}`)
		tb.force(&event.MovePlayed{Seat: 0, Turn: 1, Move: "A1", Signed: tb.signed(0, text("A1"))})
		tb.force(&event.MatchAborted{Reason: "the power failed"})
		tb.force(&event.MatchRevealed{Secret: tb.secret})
		tb.force(tb.sealed())
		return whole(tb)
	}},
	{name: "an arena's admission is left out", catch: "identity/admission-missing@0", make: func(w *world) string {
		return admitted(w, func(b *replay.Bundle) { b.Arena = nil })
	}},
}

// open3 begins a match that is wrong from its opening on; it is aborted.
func openly(game, variant string, mode event.ChanceMode, edit func(*world, *event.MatchOpened)) func(*world) string {
	return func(w *world) string {
		tb := w.deal(game, variant, mode, func(o *event.MatchOpened) {
			if edit != nil {
				edit(w, o)
			}
		})
		tb.force(&event.MatchAborted{Reason: "the game cannot be played"})
		if tb.m.Opened().Chance.Mode == event.ChanceSealed {
			tb.force(&event.MatchRevealed{Secret: tb.secret})
		}
		tb.force(tb.sealed())
		return whole(tb)
	}
}

// forgedChance are matches in which something was dealt, drawn or hidden against the rules.
var forgedChance = []scenario{
	{name: "hidden moves without a secret", catch: "chance/mode@0", notes: "aborted", make: openly("battleship@1", "standard", event.ChanceNone, nil)},
	{name: "dice without a beacon", catch: "chance/mode@0", notes: "aborted", make: openly("backgammon@1", "single", event.ChanceNone, nil)},
	{name: "base round with another round's signature", catch: "chance/base@0", notes: "test-beacon hall-secret aborted", make: openly("backgammon@1", "single", event.ChanceSealed,
		func(w *world, o *event.MatchOpened) {
			o.Chance.Base.Signature = w.round(o.Chance.Base.Round - 1).Signature
		})},
	{name: "base round that was not out", catch: "chance/base-ahead@0", notes: "test-beacon hall-secret aborted", make: openly("backgammon@1", "single", event.ChanceSealed,
		func(w *world, o *event.MatchOpened) { o.Chance.Base = w.round(o.Chance.Base.Round + 1) })},
	{name: "opened when its round was out", catch: "chance/opened-late@0", notes: "test-beacon hall-secret aborted", make: openly("backgammon@1", "single", event.ChanceSealed,
		func(w *world, o *event.MatchOpened) { o.Chance.Base = w.round(o.Chance.Base.Round - 2) })},
	{name: "beacon of another chain", catch: "chance/other-chain@3", notes: sealedNotes, make: shuts((*world).dice, func(tb *table) {
		b := tb.recorded()
		b.Chain[0] ^= 1
		tb.force(b)
	})},
	{name: "beacon of the round after", catch: "chance/other-round@3", notes: sealedNotes, make: shuts((*world).dice, func(tb *table) {
		b := tb.recorded()
		b.Beacon = tb.w.round(b.Round + 1)
		tb.w.now += 1000
		tb.force(b)
	})},
	{name: "beacon with another round's signature", catch: "chance/beacon@3", notes: sealedNotes, make: shuts((*world).dice, func(tb *table) {
		b := tb.recorded()
		b.Signature = tb.w.round(b.Round + 1).Signature
		tb.force(b)
	})},
	{name: "beacon recorded before its time", catch: "chance/beacon-early@3", notes: sealedNotes, make: shuts(func(w *world) *table {
		return w.deal("backgammon@1", "single", event.ChanceSealed, func(o *event.MatchOpened) { o.Chance.Delay = 9 })
	}, func(tb *table) { tb.force(tb.recorded()) })},
	{name: "beacon recorded twice", catch: "chance/beacon-twice@4", notes: sealedNotes, make: shuts((*world).dice, func(tb *table) {
		tb.record()
		tb.force(tb.recorded())
	})},
	{name: "beacon recorded after the end", catch: "chance/beacon-late@4", notes: "test-beacon hall-secret", hidden: "", make: shuts((*world).dice, func(tb *table) {
		tb.say(tb.resigned(0))
		tb.force(tb.recorded())
	})},
	{name: "beacon in a match without chance", catch: "chance/no-chance@3", make: forges("", func(tb *table) event.Body {
		return &event.BeaconRecorded{Chain: tb.w.beacons().Chain().Info().Hash, Beacon: tb.w.round(7)}
	})},
	{name: "dice in a match without chance", catch: "chance/no-chance@3", make: forges("", func(*table) event.Body {
		return &event.ChanceDrawn{Outcome: "31"}
	})},
	{name: "move before the beacon", catch: "chance/no-beacon@3", notes: "test-beacon hall-secret", make: shuts((*world).ships, func(tb *table) {
		try := *tb
		try.m = tb.m.Fork()
		tb.force(tb.boxed(0, fleetA))
	})},
	{name: "dice of another count", catch: "chance/draw@4", notes: sealedNotes, make: shuts((*world).dice, func(tb *table) {
		b := tb.record().proposed(&event.ChanceDrawn{}).(*event.ChanceDrawn)
		b.Draw = 1
		tb.force(b)
	})},
	{name: "dice that the seed does not give", catch: "chance/other-draw@4", notes: sealedNotes, make: shuts((*world).dice, func(tb *table) {
		tb.record()
		tb.force(tb.otherRoll())
	})},
	{name: "dice rolled when nobody may", catch: "rules/no-draw@5", notes: sealedNotes, make: shuts((*world).rolled, func(tb *table) {
		tb.force(&event.ChanceDrawn{Draw: 1, Outcome: "31", State: digest(tb.m.Position())})
	})},
	{name: "dice that there are not", catch: "rules/illegal-draw@4", fails: "chance", notes: sealedNotes, make: shuts((*world).dice, func(tb *table) {
		tb.record()
		tb.force(&event.ChanceDrawn{Outcome: "97"})
	})},
	{name: "dice hidden that all may see", catch: "chance/outcome-shown@4", notes: sealedNotes, make: shuts((*world).dice, func(tb *table) {
		b := tb.record().proposed(&event.ChanceDrawn{}).(*event.ChanceDrawn)
		b.Outcome = ""
		tb.force(b)
	})},
	{name: "dice of a match that has no secret for them", catch: "chance/mode@0", notes: publicNotes, make: func(w *world) string {
		tb := w.deal("backgammon@1", "money", event.ChancePublic, nil).record()
		tb.roll(1)
		for _, m := range []string{"double", "drop"} { // so that no second roll is logged
			tb.by(tb.m.Position().Turn().Seats()[0], m)
		}
		tb.due()
		return whole(tb)
	}},
	{name: "dice of a match that begins in the middle and has no beacon", catch: "chance/mode@0", notes: "start", make: func(w *world) string {
		tb := w.deal("backgammon@1", "money", event.ChanceNone, func(o *event.MatchOpened) { o.Start = "-b----E-C---eE---c-e----B- 0:act 1 - 0" })
		tb.by(0, "double")
		tb.by(1, "drop")
		tb.due()
		return whole(tb)
	}},
	{name: "both seats out of time, and the hall chooses who loses", catch: "clock/both-late@4", notes: sealedNotes + " time-forfeit", make: shuts((*world).ships, func(tb *table) {
		tb.record()
		tb.w.now += moveMS
		tb.force(&event.MatchForfeited{Seat: 1, Reason: engine.OutOfTime})
	})},
	{name: "fleet laid out for all to see", catch: "chance/not-boxed@4", notes: sealedNotes, make: shuts((*world).ships, func(tb *table) {
		tb.record()
		tb.force(tb.played(0, tb.signed(0, text(fleetA))))
	})},
	{name: "shot in a box", catch: "chance/boxed@6", notes: sealedNotes, make: shuts((*world).laid, func(tb *table) {
		tb.force(tb.boxed(0, "A1"))
	})},
	{name: "box in a match without a secret", catch: "chance/boxed@3", hidden: "rules clock signatures", make: forges("", func(tb *table) event.Body {
		return tb.boxed(0, "e2e4")
	})},
	{name: "box with a bit flipped", catch: "chance/box@4", hidden: "rules clock signatures", notes: sealedNotes, make: shuts((*world).ships, func(tb *table) {
		b := tb.record().boxed(0, fleetA)
		b.Box[9] ^= 1
		tb.force(b)
	})},
	{name: "box of the other seat", catch: "chance/box@4", hidden: "rules clock signatures", notes: sealedNotes, make: shuts((*world).ships, func(tb *table) {
		b := tb.record().boxed(0, fleetA)
		b.Seat = 1
		tb.force(b)
	})},
	{name: "fleet signed by the opponent", catch: "signatures/bad-signature@4", notes: sealedNotes, make: shuts((*world).ships, func(tb *table) {
		tb.record()
		tb.force(tb.seal(0, fleetA, tb.cheat(key("bob"), text(fleetA))))
	})},
	{name: "another fleet than the signed one", catch: "rules/other-move@4", notes: sealedNotes, make: shuts((*world).ships, func(tb *table) {
		tb.record()
		tb.force(tb.seal(0, fleetB, tb.signed(0, text(fleetA))))
	})},
	{name: "shot answered as a miss", catch: "rules/state@6", notes: sealedNotes, make: shuts((*world).laid, func(tb *table) {
		b := tb.proposed(&event.MovePlayed{Seat: 0, Signed: tb.signed(0, text("A1"))}).(*event.MovePlayed)
		b.State[0] ^= 1
		tb.force(b)
	})},
	{name: "secret that nobody committed to", catch: "chance/commitment@7", notes: sealedNotes, make: func(w *world) string {
		tb := w.rolled()
		tb.say(tb.resigned(0))
		tb.force(tb.ended())
		other := tb.secret
		other[0] ^= 1
		tb.w.now += 1000
		tb.m.Disclose(other)
		e, err := event.New(tb.w.now, event.MatchStream(tb.m.ID()), tb.m.Len(), tb.m.Last(), &event.MatchRevealed{Secret: other})
		tb.checked(e, err)
		tb.force(tb.sealed())
		return whole(tb)
	}},
	{name: "secret told before the end", catch: "chance/revealed-early@5", notes: sealedNotes, make: func(w *world) string {
		tb := w.rolled()
		tb.force(&event.MatchRevealed{Secret: tb.secret})
		tb.force(tb.resigned(0))
		tb.force(tb.ended())
		tb.force(tb.sealed())
		return whole(tb)
	}},
	{name: "secret told twice", catch: "chance/revealed-twice@8", notes: sealedNotes, make: func(w *world) string {
		tb := w.rolled()
		tb.say(tb.resigned(0))
		tb.force(tb.ended())
		tb.force(&event.MatchRevealed{Secret: tb.secret})
		tb.force(&event.MatchRevealed{Secret: tb.secret})
		tb.force(tb.sealed())
		return whole(tb)
	}},
	{name: "secret of a match that has none", catch: "chance/no-secret@5", make: func(w *world) string {
		tb := w.duel()
		tb.resign(0)
		tb.force(tb.ended())
		tb.force(&event.MatchRevealed{Secret: tb.secret})
		tb.force(tb.sealed())
		return whole(tb)
	}},
	{name: "vault for another round", catch: "chance/vault@0", fails: "", notes: "test-beacon hall-secret aborted", make: openly("backgammon@1", "single", event.ChanceSealed,
		func(w *world, o *event.MatchOpened) { o.Chance.Opens++ })},
	{name: "vault with a bit flipped", catch: "chance/vault@0", notes: "test-beacon hall-secret aborted", make: openly("backgammon@1", "single", event.ChanceSealed,
		func(w *world, o *event.MatchOpened) { o.Chance.Vault[30] ^= 1 })},
	{name: "vault of another secret", catch: "chance/vault-secret@7", notes: sealedNotes, make: func(w *world) string {
		tb := w.deal("backgammon@1", "single", event.ChanceSealed, func(o *event.MatchOpened) {
			o.Chance.Vault = w.vault(o.Chance.Opens, seed("another secret"))
		})
		tb.record()
		tb.say(&event.ChanceDrawn{})
		tb.say(tb.resigned(0))
		tb.force(tb.ended())
		tb.force(&event.MatchRevealed{Secret: tb.secret})
		tb.force(tb.sealed())
		return whole(tb)
	}},
	{name: "play goes on when the vault is open", catch: "chance/vault-open@5", notes: sealedNotes, make: shuts(func(w *world) *table {
		tb := w.deal("backgammon@1", "single", event.ChanceSealed, func(o *event.MatchOpened) { o.MoveMS = 0 }).record()
		tb.say(&event.ChanceDrawn{})
		return tb
	}, func(tb *table) {
		tb.w.now += 1000 * longest
		seat := tb.m.Position().Turn().Seats()[0]
		tb.force(tb.played(seat, tb.signed(seat, text(tb.m.Position().Legal(seat)[0].Move))))
	})},
	{name: "round called in a match with a secret", catch: "chance/no-roll@5", notes: sealedNotes, make: shuts((*world).rolled, func(tb *table) {
		tb.force(tb.call(0, tb.nextRound()))
	})},
	{name: "live dice in a game that has none", catch: "chance/mode@0", notes: "test-beacon aborted", make: openly("chess@1", "standard", event.ChanceLive, nil)},
	{name: "roll called for a round that is out", catch: "chance/roll-late@6", notes: publicNotes, make: lives(func(tb *table) {
		tb.force(tb.call(tb.roller(), tb.nextRound()-2))
	})},
	{name: "roll called for a round far ahead", catch: "chance/roll-ahead@6", notes: publicNotes, make: lives(func(tb *table) {
		tb.force(tb.call(tb.roller(), tb.nextRound()+9))
	})},
	{name: "roll called twice", catch: "chance/roll-twice@7", notes: publicNotes, make: lives(func(tb *table) {
		seat := tb.roller()
		tb.say(tb.call(seat, tb.nextRound()))
		tb.force(tb.call(seat, tb.nextRound()))
	})},
	{name: "roll called by the other seat", catch: "rules/not-on-roll@6", notes: publicNotes, make: lives(func(tb *table) {
		tb.force(tb.call(1-tb.roller(), tb.nextRound()))
	})},
	{name: "roll called when a move is due", catch: "rules/no-roll-due@9", notes: publicNotes, make: lives(func(tb *table) {
		tb.rolls()
		tb.force(tb.call(tb.m.Position().Turn().Seats()[0], tb.nextRound()))
	})},
	{name: "roll whose round nobody called", catch: "chance/not-called@6", notes: publicNotes, make: lives(func(tb *table) {
		tb.force(&event.ChanceDrawn{Draw: 1, Outcome: "31"})
	})},
	{name: "roll from another round than the one called", catch: "chance/other-round@7", notes: publicNotes, make: lives(func(tb *table) {
		round := tb.nextRound()
		tb.say(tb.call(tb.roller(), round))
		tb.w.now += 3000
		tb.force(&event.BeaconRecorded{Chain: tb.m.Opened().Chance.Chain.Hash, Beacon: tb.w.round(round + 1)})
	})},
	{name: "roll that its round does not give", catch: "chance/other-draw@8", notes: publicNotes, make: lives(func(tb *table) {
		round := tb.nextRound()
		tb.say(tb.call(tb.roller(), round))
		tb.w.now += 2000
		tb.say(&event.BeaconRecorded{Chain: tb.m.Opened().Chance.Chain.Hash, Beacon: tb.w.round(round)})
		tb.force(tb.otherRoll())
	})},
	{name: "roll that its player did not call", catch: "signatures/bad-signature@6", notes: publicNotes, make: lives(func(tb *table) {
		seat := tb.roller()
		tb.force(&event.RollCalled{Seat: seat, Signed: tb.cheat(key("mallory"), text(event.Roll(tb.nextRound())))})
	})},
	{name: "sealed without telling the secret", catch: "chance/not-revealed@7", notes: sealedNotes, make: func(w *world) string {
		tb := w.rolled()
		tb.say(tb.resigned(0))
		tb.force(tb.ended())
		tb.force(tb.sealed())
		return whole(tb)
	}},
}

// lives lets a hall log what forge says in a live match in which a roll is due, and then end the match
// as if nothing were wrong.
func lives(forge func(*table)) func(*world) string {
	return func(w *world) string {
		tb := w.toRoll()
		forge(tb)
		tb.force(tb.resigned(0))
		tb.forceEnd()
		return whole(tb)
	}
}

// boxed is a hidden move as a hall logs it, whether or not the move is to be hidden.
func (tb *table) boxed(seat engine.Seat, move string) *event.MovePlayed {
	tb.w.t.Helper()
	return tb.seal(seat, move, tb.signed(seat, text(move)))
}

// seal puts a move and a signed body into the box that is the next event.
func (tb *table) seal(seat engine.Seat, move string, signed event.SignedMove) *event.MovePlayed {
	tb.w.t.Helper()
	b := &event.MovePlayed{Seat: seat, Turn: tb.m.Turn(), Move: move, Signed: signed}
	if p := tb.m.Position(); p != nil {
		after := p.Clone()
		if after.Play(seat, move) == nil {
			b.State = digest(after)
		}
	}
	place := event.Box{Match: tb.m.ID(), Seq: tb.m.Len(), Prev: tb.m.Last(), Seat: seat, Turn: b.Turn}
	var err error
	if b.Box, err = place.Seal(place.Key(tb.secret), move, &signed); err != nil {
		tb.w.t.Fatal(err)
	}
	return b
}

// otherRoll is an outcome that the rules allow and the seed does not give.
func (tb *table) otherRoll() *event.ChanceDrawn {
	tb.w.t.Helper()
	right := tb.proposed(&event.ChanceDrawn{}).(*event.ChanceDrawn)
	for _, m := range tb.m.Position().Legal(engine.Chance) {
		if m.Move != right.Outcome {
			after := tb.m.Position().Clone()
			if err := after.Play(engine.Chance, m.Move); err != nil {
				tb.w.t.Fatal(err)
			}
			return &event.ChanceDrawn{Draw: right.Draw, Outcome: m.Move, State: digest(after)}
		}
	}
	tb.w.t.Fatal("there is one outcome only")
	return nil
}
