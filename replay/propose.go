package replay

import (
	"bytes"
	"crypto/sha256"
	"fmt"

	"github.com/cbergoon/merkletree"

	"ludger/engine"
	"ludger/ledger/event"
)

// Propose builds and applies the event that says body next, at the given time in Unix
// milliseconds. What follows from the match itself is filled in: turn, move in canonical notation
// and state of a MovePlayed, and its box if the move is hidden; move and state of a MoveDefaulted; all of a ChanceDrawn; outcome and state
// of a MatchEnded; the secret of a MatchRevealed; count and root of a MatchSealed.
// On an error the match stays as it was; a *Fault says which rule forbids the event.
func (m *Match) Propose(at int64, body event.Body) (event.Event, error) {
	next := m.Fork()
	stream := m.stream
	switch b := body.(type) {
	case *event.MatchOpened:
		stream = event.MatchStream(b.ID(m.origin))
	case *event.MovePlayed:
		if err := m.complete(b); err != nil {
			return event.Event{}, err
		}
	case *event.MoveDefaulted:
		if err := m.completeDefault(b); err != nil {
			return event.Event{}, err
		}
	case *event.ChanceDrawn:
		if err := m.completeDraw(b); err != nil {
			return event.Event{}, err
		}
	case *event.MatchRevealed:
		if m.chance.secret == nil {
			return event.Event{}, &Fault{Step: StepChance, Code: "no-secret", Event: m.Len(), Reason: "the secret of the match is not known here, or it has none"}
		}
		b.Secret = *m.chance.secret
	case *event.MatchEnded:
		if m.outcome == nil || m.pos == nil {
			return event.Event{}, &Fault{Step: StepRules, Code: "not-decided", Event: m.Len(), Reason: "nothing decided the match yet"}
		}
		b.Outcome, b.State = *m.outcome, m.digest()
	case *event.MatchSealed:
		b.Count = m.Len()
		root, err := root(m.raws)
		if err != nil {
			return event.Event{}, err
		}
		b.Root = root
	}
	e, err := event.New(at, stream, m.Len(), m.Last(), body)
	if err != nil {
		return event.Event{}, err
	}
	if faults := next.Apply(&e); len(faults) > 0 {
		return event.Event{}, faults[0]
	}
	*m = *next
	return e, nil
}

// complete fills in what follows from the signed body and the position.
func (m *Match) complete(b *event.MovePlayed) error {
	if m.stage != StagePlaying || m.pos == nil {
		return &Fault{Step: StepRules, Code: "match-over", Event: m.Len(), Reason: "no move is expected in this match"}
	}
	move, err := m.canonical(b.Seat, &b.Signed)
	if err != nil {
		return &Fault{Step: StepRules, Code: "signed-move", Event: m.Len(), Reason: err.Error()}
	}
	after := m.pos.Clone()
	if err := after.Play(b.Seat, move); err != nil {
		return &Fault{Step: StepRules, Code: "illegal-move", Event: m.Len(), Reason: err.Error()}
	}
	sum := sha256.Sum256(after.AppendState(nil, engine.Spectator))
	b.Turn, b.Move, b.State = m.turn, move, event.StateDigest(sum[:16])
	if !m.hides(b.Seat) {
		return nil
	}
	if m.chance.secret == nil {
		return &Fault{Step: StepChance, Code: "no-secret", Event: m.Len(), Reason: "the move is hidden, and the secret of the match is not known here"}
	}
	box := m.box(b.Seat, m.turn)
	b.Box, err = box.Seal(box.Key(*m.chance.secret), move, &b.Signed)
	return err
}

// completeDefault fills in what the rules card gives the seat.
func (m *Match) completeDefault(b *event.MoveDefaulted) error {
	d, ok := m.pos.(engine.Defaulter)
	if ok && m.stage == StagePlaying {
		b.Move, ok = d.Default(b.Seat)
	}
	if !ok || m.stage != StagePlaying {
		return &Fault{Step: StepRules, Code: "no-default", Event: m.Len(), Reason: "the rules card gives no move to a seat that is late here"}
	}
	after := m.pos.Clone()
	if err := after.Play(b.Seat, b.Move); err != nil {
		return fmt.Errorf("default move %q: %w", b.Move, err)
	}
	sum := sha256.Sum256(after.AppendState(nil, engine.Spectator))
	b.Turn, b.State = m.turn, event.StateDigest(sum[:16])
	return nil
}

// completeDraw draws the outcome that follows from the seed.
func (m *Match) completeDraw(b *event.ChanceDrawn) error {
	if m.stage != StagePlaying || m.pos == nil || !m.pos.Turn().Has(engine.Chance) {
		return &Fault{Step: StepRules, Code: "no-draw", Event: m.Len(), Reason: "no outcome of chance is expected in this match"}
	}
	outcome, ok := m.drawn()
	if !ok {
		return &Fault{Step: StepChance, Code: "no-beacon", Event: m.Len(), Reason: "the seed is not known here: the beacon is not recorded yet, or the secret not known"}
	}
	after := m.pos.Clone()
	if err := after.Play(engine.Chance, outcome); err != nil {
		return fmt.Errorf("drawing %q: %w", outcome, err)
	}
	sum := sha256.Sum256(after.AppendState(nil, engine.Spectator))
	b.Draw, b.Outcome, b.State = m.chance.draws, outcome, event.StateDigest(sum[:16])
	if m.hides(engine.Chance) {
		b.Outcome = ""
	}
	return nil
}

// Due returns the body of the event that the match itself asks for next, for Propose to complete; nil
// if it waits for a player, a beacon or nothing any more.
func (m *Match) Due() event.Body {
	switch {
	case m.stage == StagePlaying && m.pos != nil && m.ready() && m.pos.Turn().Has(engine.Chance):
		if m.opened.Chance.Mode == event.ChanceLive && m.chance.seed == nil {
			return nil // it waits for a call, or for the round that was called
		}
		return &event.ChanceDrawn{}
	case m.stage == StageDecided:
		return &event.MatchEnded{}
	case m.stage == StageEnded && m.secret() && !m.chance.revealed:
		return &event.MatchRevealed{}
	case m.stage == StageEnded:
		return &event.MatchSealed{}
	}
	return nil
}

// root returns the RFC 6962 root over the events, built by github.com/cbergoon/merkletree.
func root(raws [][]byte) ([32]byte, error) {
	list := make([]merkletree.Content, len(raws))
	for i, raw := range raws {
		list[i] = content(raw)
	}
	tree, err := merkletree.NewTreeWithOptions(list, merkletree.WithRFC6962())
	if err != nil {
		return [32]byte{}, fmt.Errorf("building the match root: %w", err)
	}
	return [32]byte(tree.MerkleRoot()), nil
}

// content is an event's bytes as the match tree takes them: with RFC 6962 hashing the tree itself
// adds the leaf prefix and hashes.
type content []byte

func (c content) CalculateHash() ([]byte, error) { return c, nil }

func (c content) Equals(other merkletree.Content) (bool, error) {
	o, ok := other.(content)
	return ok && bytes.Equal(c, o), nil
}
