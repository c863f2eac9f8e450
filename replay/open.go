package replay

import (
	"errors"
	"fmt"

	"ludger/checkpoint/beacon"
	"ludger/engine"
	"ludger/ledger/event"
)

// Opened is what the vault of a match holds, and what it opens.
type Opened struct {
	Round  int64 // of the beacon that opens the vault
	Secret [32]byte
	Moves  []HiddenMove
}

// A HiddenMove is one that stands in a box.
type HiddenMove struct {
	Seq  int64 // of the event
	Turn int64
	Seat engine.Seat
	Move string // in the engine's canonical notation
}

// Errors of Open, for errors.Is.
var (
	ErrNoVault    = errors.New("the match has no secret, and so no timelock box")
	ErrVaultEmpty = errors.New("the timelock box does not hold the secret that the opening is committed to")
)

// VaultRound returns the round that opens the vault of a bundle's match.
func VaultRound(b *Bundle) (beacon.Info, int64, error) {
	c, err := vaultOf(b)
	if err != nil {
		return beacon.Info{}, 0, err
	}
	return c.Chain, c.Opens, nil
}

func vaultOf(b *Bundle) (*event.Chance, error) {
	if len(b.Events) == 0 {
		return nil, errors.New("the bundle holds no events")
	}
	body, err := b.Events[0].Body()
	if err != nil {
		return nil, err
	}
	o, ok := body.(*event.MatchOpened)
	if !ok || o.Chance.Mode != event.ChanceSealed {
		return nil, ErrNoVault
	}
	return &o.Chance, nil
}

// Open opens the vault of a bundle's match with the signature of its round, and with the secret in it
// every box: the way to see a match whose hall has vanished. It judges nothing else; Verify does.
func Open(b *Bundle, signature []byte) (*Opened, error) {
	c, err := vaultOf(b)
	if err != nil {
		return nil, err
	}
	chain, err := beacon.NewChain(c.Chain)
	if err != nil {
		return nil, err
	}
	o := &Opened{Round: c.Opens}
	if o.Secret, err = chain.OpenTimelock(c.Opens, signature, c.Vault); err != nil {
		return nil, err
	}
	if beacon.Commitment(o.Secret) != c.Commitment {
		return nil, ErrVaultEmpty
	}
	id, ok := b.Events[0].Stream.Match()
	if !ok {
		return nil, fmt.Errorf("the events are of the stream %s, which is no match", b.Events[0].Stream)
	}
	for i := range b.Events {
		e := &b.Events[i]
		body, err := e.Body()
		m, ok := body.(*event.MovePlayed)
		if err != nil || !ok || m.Box == nil {
			continue
		}
		place := event.Box{Match: id, Seq: e.Seq, Prev: e.Prev, Seat: m.Seat, Turn: m.Turn}
		move, _, err := place.Open(place.Key(o.Secret), m.Box)
		if err != nil {
			return nil, fmt.Errorf("event %d: %w", i, err)
		}
		o.Moves = append(o.Moves, HiddenMove{e.Seq, m.Turn, m.Seat, move})
	}
	return o, nil
}
