package replay

import (
	"ludger/checkpoint/beacon"
	"ludger/ledger/event"
	"ludger/ledger/sign"
)

// maxKeys bounds the memory of a Keys: about 2 KiB for each key and its registration.
const maxKeys = 4096

// maxChains bounds the chains that a Keys remembers: about 50 KiB for each.
const maxChains = 16

// Keys remembers the keys, registrations, beacons and timelock boxes it has checked: to check and prepare a key costs as much
// as several signatures, and agents play many matches. It is not safe for concurrent use.
type Keys struct {
	known      map[sign.PublicKey]*sign.Verifier
	registered map[registration]*event.AgentRegistered
	rounds     map[round]bool // beacons
	vaults     map[vault]bool // timelock boxes
	chains     map[beacon.Info]*beacon.Chain
}

// A registration is an event that CheckRegistration has found right in the log of an origin.
type registration struct {
	origin string
	leaf   event.Leaf
}

// NewKeys returns a Keys that knows none.
func NewKeys() *Keys {
	return &Keys{make(map[sign.PublicKey]*sign.Verifier), make(map[registration]*event.AgentRegistered), make(map[round]bool), make(map[vault]bool), make(map[beacon.Info]*beacon.Chain)}
}

func (k *Keys) get(key sign.PublicKey) (*sign.Verifier, error) {
	if v, ok := k.known[key]; ok {
		return v, nil
	}
	v, err := sign.NewVerifier(key)
	if err != nil {
		return nil, err
	}
	if len(k.known) >= maxKeys {
		clear(k.known)
	}
	k.known[key] = v
	return v, nil
}

// NewMatch returns a match without events, of the log with the given origin.
func (k *Keys) NewMatch(origin string) *Match {
	return &Match{origin: origin, known: k, offer: nobody}
}
