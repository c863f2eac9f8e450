package replay

import (
	"fmt"
	"slices"

	"ludger/checkpoint/beacon"
	"ludger/engine"
	"ludger/engine/chance"
	"ludger/ledger/event"
)

// fate is the part of a Match that chance and hidden moves need.
type fate struct {
	secret   *[32]byte // as far as it is known and the one that was committed to
	revealed bool      // in the match itself
	recorded bool      // the round that counts
	seed     *[32]byte // nil as long as it is not known
	draws    int64     // outcomes of chance so far
	unproved int64     // of these, those that could not be drawn again, for want of the seed
	boxes    int64     // hidden moves so far
	blind    bool      // something hidden happened that is not known here, so the position is not either
	acked    int       // seats that acknowledged the opening before the round that counts was out, by the hall's times
}

// Disclose tells the match its secret before the opening: the hall knows it from the beginning, an
// auditor from the end. A secret that the opening is not committed to is not used.
func (m *Match) Disclose(secret [32]byte) { m.chance.secret = &secret }

// secret tells whether the match has a secret, known or not.
func (m *Match) secret() bool {
	return m.opened != nil && m.opened.Chance.Mode == event.ChanceSealed
}

// ready tells whether all that chance needs is in the log, so that play can begin.
func (m *Match) ready() bool {
	return m.opened.Chance.Mode == event.ChanceNone || m.chance.recorded
}

// started checks that play has begun.
func (m *Match) started() bool {
	if !m.ready() {
		m.fail(StepChance, "no-beacon", "a move is made before the beacon round that chance comes from").want(m.opened.Chance.Round(), "none")
	}
	return m.ready()
}

// AwaitsBeacon returns the round that must be recorded before play can begin; ok is false if there
// is none, or it is recorded, or the match is over.
func (m *Match) AwaitsBeacon() (chain beacon.Info, round int64, ok bool) {
	if m.opened == nil || m.ready() || m.stage != StagePlaying {
		return beacon.Info{}, 0, false
	}
	c := &m.opened.Chance
	return c.Chain, c.Round(), true
}

// terms checks the opening's terms of chance by themselves.
func (m *Match) terms(e *event.Event, c *event.Chance) {
	if m.chance.secret != nil && (c.Mode != event.ChanceSealed || beacon.Commitment(*m.chance.secret) != c.Commitment) {
		m.chance.secret = nil
	}
	if c.Mode == event.ChanceNone {
		return
	}
	if err := m.known.beacon(c.Chain, &c.Base); err != nil {
		m.fail(StepChance, "base", fmt.Sprintf("the base round: %v", err))
		return
	}
	// These are the hall's own times: if even they contradict the rounds, the opening is wrong.
	if at, err := c.Chain.TimeOf(c.Base.Round); err != nil || e.At < at {
		m.fail(StepChance, "base-ahead", "the opening says it is older than the base round that it names").want(fmt.Sprintf("at or after %d", at), e.At)
	}
	if at, err := c.Chain.TimeOf(c.Round()); err != nil || e.At >= at {
		m.fail(StepChance, "opened-late", "the round that counts was out before the match was opened, so the seed could be chosen").want(fmt.Sprintf("before %d", at), e.At)
	}
}

// Needs returns what a match of the game needs of chance: a secret if something is hidden or chance
// acts after the first move, a beacon if only the start is drawn.
func Needs(info engine.Info, variant string, start engine.Position) event.ChanceMode {
	settled := slices.ContainsFunc(info.Variants, func(v engine.Variant) bool { return v.Name == variant && v.Settled })
	switch {
	case info.Hidden, info.Chance && !settled:
		return event.ChanceSealed
	case start.Turn().Has(engine.Chance):
		return event.ChancePublic
	}
	return event.ChanceNone
}

// suits checks that the terms give what the game needs, or more.
func (m *Match) suits() {
	mode, needs := m.opened.Chance.Mode, Needs(m.info, m.opened.Variant, m.pos)
	if mode != needs && mode != event.ChanceSealed && needs != event.ChanceNone {
		m.fail(StepChance, "mode", "the game needs other terms of chance").want(needs, mode)
	}
}

func (m *Match) record(e *event.Event, b *event.BeaconRecorded) {
	c := &m.opened.Chance
	switch {
	case c.Mode == event.ChanceNone:
		m.fail(StepChance, "no-chance", "a beacon is recorded in a match without chance")
		return
	case m.chance.recorded:
		m.fail(StepChance, "beacon-twice", "the match has its beacon round already")
		return
	case m.stage != StagePlaying:
		m.fail(StepChance, "beacon-late", "a beacon is recorded in a match that is over")
		return
	}
	m.chance.recorded = true
	if b.Chain != c.Chain.Hash {
		m.fail(StepChance, "other-chain", "the beacon is of another chain than the opening names").want(c.Chain.Hash, b.Chain)
		return
	}
	if b.Round != c.Round() {
		m.fail(StepChance, "other-round", "the beacon is of another round than the opening fixed").want(c.Round(), b.Round)
		return
	}
	if err := m.known.beacon(c.Chain, &b.Beacon); err != nil {
		m.fail(StepChance, "beacon", err.Error())
		return
	}
	if at, err := c.Chain.TimeOf(b.Round); err != nil || e.At < at {
		m.fail(StepChance, "beacon-early", "the beacon is recorded before its round's time").want(fmt.Sprintf("at or after %d", at), e.At)
	}
	switch {
	case c.Mode == event.ChancePublic:
		seed := beacon.PublicSeed(m.id, b.Chain, b.Round, b.Signature)
		m.chance.seed = &seed
	case m.chance.secret != nil:
		seed := beacon.SealedSeed(m.id, *m.chance.secret, b.Chain, b.Round, b.Signature)
		m.chance.seed = &seed
	}
}

// hides tells whether the seat's next move, or chance's next outcome, is hidden.
func (m *Match) hides(seat engine.Seat) bool {
	h, ok := m.pos.(engine.Hider)
	return ok && h.Hides(seat)
}

// drawn returns the next outcome of chance; ok is false as long as the seed is not known.
func (m *Match) drawn() (outcome string, ok bool) {
	d, isDrawer := m.pos.(engine.Drawer)
	if m.chance.seed == nil || !isDrawer {
		return "", false
	}
	return d.Draw(chance.ForDraw(*m.chance.seed, m.chance.draws)), true
}

func (m *Match) draw(b *event.ChanceDrawn) {
	if m.opened.Chance.Mode == event.ChanceNone {
		m.fail(StepChance, "no-chance", "an outcome is drawn in a match without chance")
		return
	}
	if b.Draw != m.chance.draws {
		m.fail(StepChance, "draw", "the draw is not the next one").want(m.chance.draws, b.Draw)
	}
	defer func() {
		m.chance.draws++
		m.changed = len(m.leaves)
	}()
	if !m.playing() || !m.started() {
		return
	}
	if !m.pos.Turn().Has(engine.Chance) {
		m.fail(StepRules, "no-draw", "the rules leave nothing to chance here")
		return
	}
	hides := m.hides(engine.Chance)
	if hides != (b.Outcome == "") {
		m.fail(StepChance, "outcome-shown", "an outcome is told exactly if all may see it").want(fmt.Sprintf("told: %v", !hides), fmt.Sprintf("told: %v", b.Outcome != ""))
	}
	want, known := m.drawn()
	outcome := b.Outcome
	switch {
	case !known && outcome == "":
		m.lose()
		return
	case !known:
		m.chance.unproved++
	case outcome == "":
		outcome = want
	case outcome != want:
		m.fail(StepChance, "other-draw", "the outcome is not the one that the seed gives").want(want, outcome)
	}
	if err := m.pos.Play(engine.Chance, outcome); err != nil {
		m.fail(StepRules, "illegal-draw", err.Error())
		return
	}
	if d := m.digest(); d != b.State {
		m.fail(StepRules, "state", "the position after the draw is not the one the hall logged").want(d, b.State)
	}
	m.decide()
}

// lose gives the position up: something hidden happened that is not known here.
func (m *Match) lose() { m.chance.blind, m.pos = true, nil }

// box is where a hidden move of the seat stands that is the next event.
func (m *Match) box(seat engine.Seat, turn int64) event.Box {
	return event.Box{Match: m.id, Seq: m.Len(), Prev: m.Last(), Seat: seat, Turn: turn}
}

// BoxKey returns the key of the box in the match's event seq, a hidden move, which its player may
// be told: it opens this box only. ok is false if there is no such box or the secret is not known.
func (m *Match) BoxKey(e *event.Event) (key event.BoxKey, ok bool) {
	body, err := e.Body()
	if b, isMove := body.(*event.MovePlayed); err == nil && isMove && b.Box != nil && m.chance.secret != nil {
		box := event.Box{Match: m.id, Seq: e.Seq, Prev: e.Prev, Seat: b.Seat, Turn: b.Turn}
		return box.Key(*m.chance.secret), true
	}
	return key, false
}

// unbox returns the move with what its box holds; nil if it could not be opened.
func (m *Match) unbox(e *event.Event, b *event.MovePlayed) *event.MovePlayed {
	if m.stage == StagePlaying && m.pos != nil {
		switch hides := m.hides(b.Seat); {
		case hides && b.Box == nil:
			m.fail(StepChance, "not-boxed", "a move that others must not see is logged for all to see")
		case !hides && b.Box != nil:
			m.fail(StepChance, "boxed", "a move that all may see is hidden")
		}
	}
	if b.Box == nil {
		return b
	}
	m.chance.boxes++
	if !m.secret() {
		m.fail(StepChance, "no-secret", "a move is hidden in a match without a secret")
		m.lose()
		return nil
	}
	if m.chance.secret == nil {
		m.lose()
		return nil
	}
	box := m.box(b.Seat, b.Turn)
	move, signed, err := box.Open(box.Key(*m.chance.secret), b.Box)
	if err != nil {
		m.fail(StepChance, "box", err.Error())
		m.lose()
		return nil
	}
	open := *b
	open.Move, open.Signed = move, signed
	return &open
}

func (m *Match) reveal(b *event.MatchRevealed) {
	switch {
	case !m.secret():
		m.fail(StepChance, "no-secret", "a secret is revealed in a match that has none")
		return
	case m.chance.revealed:
		m.fail(StepChance, "revealed-twice", "the secret is revealed again")
		return
	case m.stage != StageEnded:
		m.fail(StepChance, "revealed-early", "the secret is revealed before the match ended")
	}
	m.chance.revealed = true
	if c := beacon.Commitment(b.Secret); c != m.opened.Chance.Commitment {
		m.fail(StepChance, "commitment", "the secret is not the one that the opening is committed to").
			want(event.Leaf(m.opened.Chance.Commitment), event.Leaf(c))
	}
}

// revealedSecret returns the secret that the events tell, whether or not it is the right one.
func revealedSecret(events []event.Event) (secret [32]byte, ok bool) {
	for i := len(events) - 1; i >= 0; i-- { // it stands near the end
		if events[i].Kind != event.KindMatchRevealed {
			continue
		}
		if body, err := events[i].Body(); err == nil {
			return body.(*event.MatchRevealed).Secret, true
		}
	}
	return secret, false
}

// A round is a beacon that was found right.
type round struct {
	chain beacon.Info
	round int64
	sig   string
}

// beacon checks a round's signature.
func (k *Keys) beacon(info beacon.Info, b *event.Beacon) error {
	id := round{info, b.Round, string(b.Signature)}
	if k.rounds[id] {
		return nil
	}
	chain, ok := k.chains[info]
	if !ok {
		var err error
		if chain, err = beacon.NewChain(info); err != nil {
			return err
		}
		if len(k.chains) >= maxChains {
			clear(k.chains)
		}
		k.chains[info] = chain
	}
	if _, err := chain.Verify(b.Round, b.Signature); err != nil {
		return err
	}
	if len(k.rounds) >= maxKeys {
		clear(k.rounds)
	}
	k.rounds[id] = true
	return nil
}

// chanceDetail says in words what the step of chance proved, and what a reader must know of it.
func (c *check) chanceDetail() {
	m, terms, f := c.match, &c.match.opened.Chance, &c.match.chance
	if f.blind {
		c.notShown(StepRules, "hidden moves are not revealed, so what follows them cannot be judged")
		c.notShown(StepClock, "times never run back; whether a limit was broken only the game's turns can tell")
		if f.boxes > 0 {
			c.notShown(StepSignatures, fmt.Sprintf("%d open bodies are signed by their seats' keys; %d hidden moves are not revealed", m.signed, f.boxes))
		}
	}
	if terms.Mode == event.ChanceNone {
		c.details[StepChance] = "nothing in this match is left to chance, and nothing is hidden"
		return
	}
	source := fmt.Sprintf("round %d of the beacon %s", terms.Round(), terms.Chain.Name)
	drawn := fmt.Sprintf("%d outcomes drawn again from %s", f.draws, source)
	switch {
	case !f.recorded && m.stage != StagePlaying:
		c.notShown(StepChance, fmt.Sprintf("the match was over before %s was recorded, so nothing was drawn", source))
	case !f.recorded:
		c.notShown(StepChance, fmt.Sprintf("play waits for %s", source))
	case terms.Mode == event.ChancePublic:
		c.details[StepChance] = drawn
	case f.secret != nil:
		c.details[StepChance] = fmt.Sprintf("%s and the secret that the opening is committed to; %d hidden moves opened with it", drawn, f.boxes)
	case f.revealed: // a fault says that it is the wrong one
	default:
		c.notShown(StepChance, fmt.Sprintf("the secret is not revealed yet, so %d hidden moves are closed and %d outcomes of chance are not proved", f.boxes, f.draws))
	}
	switch {
	case terms.Chain.Test:
		c.note("test-beacon", fmt.Sprintf("test beacon: not public randomness; whoever runs the chain %q knows its rounds before they are out", terms.Chain.Name))
	case terms.Chain != beacon.Quicknet():
		c.note("unknown-beacon", fmt.Sprintf("the beacon %q with the chain hash %s is not one that this program knows; that nobody foresees its rounds rests on those who run it", terms.Chain.Name, terms.Chain.Hash))
	}
	if f.recorded {
		word := "that the opening was there before that round came out rests on the hall's word only"
		if f.acked == len(m.acked) {
			word = "by the hall's times every seat acknowledged the opening before that round came out; each seat knows when it did"
		} else if f.acked > 0 {
			word = fmt.Sprintf("by the hall's times %d of %d seats acknowledged the opening before that round came out; each seat knows when it did", f.acked, len(m.acked))
		}
		c.note("chance-order", word)
	}
	if terms.Mode == event.ChanceSealed {
		c.note("hall-secret", "the hall knew the secret while the match was played: it could not change what it dealt, but could have told it")
	}
}
