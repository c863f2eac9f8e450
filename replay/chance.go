package replay

import (
	"bytes"
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
	called   int64     // round that the player on roll called and that is not recorded yet, 0 if there is none
	calls    int64     // rounds called so far
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

// AwaitsBeacon returns the round that must be recorded before play can go on: the one that the opening
// fixes, or one that a player called. ok is false if there is none, or the match is over.
func (m *Match) AwaitsBeacon() (chain beacon.Info, round int64, ok bool) {
	if m.opened == nil || m.stage != StagePlaying {
		return beacon.Info{}, 0, false
	}
	round = m.awaited()
	return m.opened.Chance.Chain, round, round > 0
}

// awaited returns the round that play waits for; 0 if it waits for none.
func (m *Match) awaited() int64 {
	if !m.ready() {
		return m.opened.Chance.Round()
	}
	return m.chance.called
}

// callers returns the seats that may call the round of the next outcome: the one whose outcome it is, or
// any where it is nobody's, as in the opening roll of another game. It is empty if none is to be called.
func (m *Match) callers() engine.Turn {
	if m.opened.Chance.Mode != event.ChanceLive || m.chance.draws == 0 || m.chance.called > 0 || m.chance.seed != nil || !m.pos.Turn().Has(engine.Chance) {
		return engine.TurnOf()
	}
	if r, ok := m.pos.(engine.Roller); ok {
		if seat, ok := r.OnRoll(); ok {
			return engine.TurnOf(seat)
		}
	}
	var all []engine.Seat
	for i := range m.opened.Seats {
		all = append(all, engine.Seat(i))
	}
	return engine.TurnOf(all...)
}

// maxAhead bounds how many rounds ahead of the newest one a player may call, so that nobody makes the
// others wait.
const maxAhead = 10

// roll takes up the call of a round, which must not be out yet.
func (m *Match) roll(e *event.Event, b *event.RollCalled) {
	if !m.checkSigned(b.Seat, &b.Signed) {
		return
	}
	if m.opened.Chance.Mode != event.ChanceLive {
		m.fail(StepChance, "no-roll", "a round is called in a match whose outcomes are drawn in another way")
		return
	}
	if !m.playing() || !m.started() {
		return
	}
	m.inTime(e, b.Seat)
	switch callers := m.callers(); {
	case m.chance.called > 0:
		m.fail(StepChance, "roll-twice", "a round is called again for the same outcome").want(m.chance.called, b.Signed.Move)
		return
	case callers.Over():
		m.fail(StepRules, "no-roll-due", "the rules leave nothing to chance here")
		return
	case !callers.Has(b.Seat):
		m.fail(StepRules, "not-on-roll", fmt.Sprintf("%v calls a round, and the dice are those of %v", b.Seat, callers.Seats()))
	}
	round, _ := b.Round() // its shape was checked when it was read
	chain := m.opened.Chance.Chain
	if at, err := chain.TimeOf(round); err != nil || e.At >= at {
		m.fail(StepChance, "roll-late", "the round was out when it was called").want(fmt.Sprintf("before %d", at), e.At)
	}
	if newest, err := chain.RoundAt(e.At); err == nil && round > newest+maxAhead {
		m.fail(StepChance, "roll-ahead", "the round is too far ahead").want(fmt.Sprintf("up to %d", newest+maxAhead), round)
	}
	m.chance.called = round
	m.chance.calls++
	m.changed = len(m.leaves)
}

// terms checks the opening's terms of chance by themselves.
func (m *Match) terms(e *event.Event, c *event.Chance) {
	if m.chance.secret != nil && (c.Mode != event.ChanceSealed || beacon.Commitment(*m.chance.secret) != c.Commitment) {
		m.chance.secret = nil
	}
	if c.Mode == event.ChanceNone {
		return
	}
	if err := m.known.CheckBeacon(c.Chain, &c.Base); err != nil {
		m.fail(StepChance, "base", fmt.Sprintf("the base round: %v", err))
		return
	}
	// These are the hall's own times: if even they contradict the rounds, the opening is wrong.
	if at, err := c.Chain.TimeOf(c.Base.Round); err != nil || e.At < at {
		m.fail(StepChance, "base-ahead", "the opening says it is older than the base round that it names").want(fmt.Sprintf("at or after %d", at), e.At)
	}
	if c.Mode == event.ChanceSealed {
		if err := m.known.vault(c); err != nil {
			m.fail(StepChance, "vault", fmt.Sprintf("the timelock box of the secret: %v", err))
		}
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
	_, rolls := m.pos.(engine.Roller)
	if mode == event.ChanceLive && rolls && !m.info.Hidden {
		return
	}
	if mode != needs && mode != event.ChanceSealed && (needs != event.ChanceNone || mode == event.ChanceLive) {
		m.fail(StepChance, "mode", "the game needs other terms of chance").want(needs, mode)
	}
}

func (m *Match) record(e *event.Event, b *event.BeaconRecorded) {
	c := &m.opened.Chance
	switch {
	case c.Mode == event.ChanceNone:
		m.fail(StepChance, "no-chance", "a beacon is recorded in a match without chance")
		return
	case m.stage != StagePlaying:
		m.fail(StepChance, "beacon-late", "a beacon is recorded in a match that is over")
		return
	}
	round := m.awaited()
	if round == 0 {
		m.fail(StepChance, "beacon-twice", "the match waits for no beacon round")
		return
	}
	m.chance.recorded, m.chance.called = true, 0
	if b.Chain != c.Chain.Hash {
		m.fail(StepChance, "other-chain", "the beacon is of another chain than the opening names").want(c.Chain.Hash, b.Chain)
		return
	}
	if b.Round != round {
		m.fail(StepChance, "other-round", "the beacon is of another round than the one that was fixed").want(round, b.Round)
		return
	}
	if err := m.known.CheckBeacon(c.Chain, &b.Beacon); err != nil {
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
	case c.Mode == event.ChanceLive:
		seed := beacon.RollSeed(m.id, m.turn, b.Chain, b.Round, b.Signature)
		m.chance.seed = &seed
	case m.chance.secret != nil:
		seed := beacon.SealedSeed(m.id, *m.chance.secret, b.Chain, b.Round, b.Signature)
		m.chance.seed = &seed
	}
}

// inSecret checks that nothing is played any more when anybody can open the secret.
func (m *Match) inSecret(e *event.Event) {
	if !m.secret() {
		return
	}
	switch e.Kind {
	case event.KindMovePlayed, event.KindMoveDefaulted, event.KindChanceDrawn, event.KindDrawAgreed, event.KindMatchForfeited:
	default:
		return
	}
	if at, err := m.opened.Chance.Chain.TimeOf(m.opened.Chance.Opens); err != nil || e.At >= at {
		m.fail(StepChance, "vault-open", "play goes on when the round is out with which anybody can open the secret").want(fmt.Sprintf("before %d", at), e.At)
	}
}

// hides tells whether the seat's next move, or chance's next outcome, is hidden.
func (m *Match) hides(seat engine.Seat) bool {
	h, ok := m.pos.(engine.Hider)
	return ok && h.Hides(seat)
}

// Undrawn returns the outcome that chance would have given next, where it is due and its seed is known: what
// an abortion kept from the players.
func (m *Match) Undrawn() (outcome string, ok bool) {
	if m.pos == nil || !m.pos.Turn().Has(engine.Chance) {
		return "", false
	}
	return m.drawn()
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
		if m.opened.Chance.Mode == event.ChanceLive {
			m.chance.seed = nil // each outcome has a round of its own
		}
	}()
	if !m.playing() || !m.started() {
		return
	}
	if m.opened.Chance.Mode == event.ChanceLive && m.chance.seed == nil {
		m.fail(StepChance, "not-called", "an outcome is drawn before its round was called and recorded")
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
	} else if !m.known.holds(&m.opened.Chance, b.Secret) {
		m.fail(StepChance, "vault-secret", "the timelock box in the opening is not that of the secret, so nobody but the hall could have opened it")
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

// CheckBeacon checks a round's signature.
func (k *Keys) CheckBeacon(info beacon.Info, b *event.Beacon) error {
	id := round{info, b.Round, string(b.Signature)}
	if k.rounds[id] {
		return nil
	}
	chain, err := k.chain(info)
	if err != nil {
		return err
	}
	if _, err := chain.Verify(b.Round, b.Signature); err != nil {
		return err
	}
	remember(k.rounds, id)
	return nil
}

// A vault is a timelock box of a secret, or one of no known secret that was found to be a box.
type vault struct {
	chain  beacon.Info
	opens  int64
	secret [32]byte
	box    string
}

// vault checks what can be seen of a timelock box before its round is out.
func (k *Keys) vault(c *event.Chance) error {
	id := vault{chain: c.Chain, opens: c.Opens, box: string(c.Vault)}
	if k.vaults[id] {
		return nil
	}
	chain, err := k.chain(c.Chain)
	if err == nil {
		err = chain.CheckTimelock(c.Opens, c.Vault)
	}
	if err == nil {
		remember(k.vaults, id)
	}
	return err
}

// holds tells whether the timelock box in the terms is that of a secret.
func (k *Keys) holds(c *event.Chance, secret [32]byte) bool {
	id := vault{c.Chain, c.Opens, secret, string(c.Vault)}
	if k.vaults[id] {
		return true
	}
	chain, err := k.chain(c.Chain)
	if err != nil {
		return false
	}
	box, err := chain.SealTimelock(c.Opens, secret)
	if err != nil || !bytes.Equal(box, c.Vault) {
		return false
	}
	remember(k.vaults, id)
	return true
}

// remember adds what was found right to a set that is bounded.
func remember[K comparable](set map[K]bool, id K) {
	if len(set) >= maxKeys {
		clear(set)
	}
	set[id] = true
}

// chain returns a chain with its key prepared.
func (k *Keys) chain(info beacon.Info) (*beacon.Chain, error) {
	chain, ok := k.chains[info]
	if !ok {
		var err error
		if chain, err = beacon.NewChain(info); err != nil {
			return nil, err
		}
		if len(k.chains) >= maxChains {
			clear(k.chains)
		}
		k.chains[info] = chain
	}
	return chain, nil
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
	case terms.Mode == event.ChanceLive:
		c.details[StepChance] = fmt.Sprintf("%d outcomes drawn again: the first from %s, and %d from rounds that the player on roll had called before they were out, by the hall's times", f.draws, source, f.calls)
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
	if outcome, ok := m.Undrawn(); ok && m.aborted != "" {
		c.note("undrawn", fmt.Sprintf("the match was aborted when its beacon was out and before %q was drawn, which the seed gives", outcome))
	}
	if terms.Mode == event.ChanceSealed {
		c.note("hall-secret", "the hall knew the secret while the match was played: it could not change what it dealt, but could have told it")
	}
}
