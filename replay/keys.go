package replay

import "ludger/ledger/sign"

// maxKeys bounds the memory of a Keys: about 1.5 KiB for each key.
const maxKeys = 4096

// Keys remembers the keys it has checked: to check and prepare one costs as much as several
// signatures, and agents play many matches. It is not safe for concurrent use.
type Keys struct {
	known map[sign.PublicKey]*sign.Verifier
}

// NewKeys returns a Keys that knows none.
func NewKeys() *Keys { return &Keys{make(map[sign.PublicKey]*sign.Verifier)} }

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
