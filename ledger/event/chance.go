package event

import (
	"ludger/checkpoint/beacon"
	"ludger/engine"
	"ludger/ledger/canon"
)

// A ChanceMode says where chance in a match comes from, and whether something is hidden.
type ChanceMode string

// The modes this package knows.
const (
	ChanceNone   ChanceMode = "none"   // no chance at all, and nothing hidden
	ChancePublic ChanceMode = "public" // chance at the start only, drawn from a beacon
	ChanceSealed ChanceMode = "sealed" // hidden moves, or chance later, drawn from a beacon and a secret
)

// Chance are the terms of chance of a match: {"mode":"none"}, or in the other modes
//
//	{"base":{"round":7,"signature":"…"},"chain":{…},"delay":2,"mode":"public"}
//
// and with "commitment" and "salt" in the mode sealed. What is drawn comes from the round base + delay
// of the chain. The base round's signature shows that the opening is not older than that round; that
// it is older than the round that counts, no opening can show of itself.
type Chance struct {
	Mode       ChanceMode  // "" is ChanceNone
	Chain      beacon.Info // of an unchained scheme
	Base       Beacon
	Delay      int64    // rounds, from 1
	Commitment [32]byte // beacon.Commitment of the secret
	Salt       [16]byte // from which the hall, and nobody else, can make the secret again
}

// A Beacon is one round of a chain with its signature.
type Beacon struct {
	Round     int64
	Signature []byte // as the chain's scheme writes it; not checked here
}

// Round returns the round that chance comes from.
func (c *Chance) Round() int64 { return c.Base.Round + c.Delay }

func (c *Chance) value() canon.Value {
	if c.Mode == "" || c.Mode == ChanceNone {
		return canon.NewObject(canon.Member{Name: "mode", Value: canon.NewString(string(ChanceNone))})
	}
	m := []canon.Member{
		{Name: "base", Value: canon.NewObject(c.Base.members()...)},
		{Name: "chain", Value: c.Chain.Value()},
		{Name: "delay", Value: canon.NewInt(c.Delay)},
		{Name: "mode", Value: canon.NewString(string(c.Mode))},
	}
	if c.Mode == ChanceSealed {
		m = append(m,
			canon.Member{Name: "commitment", Value: hexValue(c.Commitment[:])},
			canon.Member{Name: "salt", Value: hexValue(c.Salt[:])})
	}
	return canon.NewObject(m...)
}

// readChance reads terms of chance; of a mode that it does not know, nothing but the mode.
func readChance(f *canon.Fields) (c Chance, known bool) {
	c.Mode = ChanceMode(f.String("mode", MaxWord))
	switch c.Mode {
	case ChanceNone:
		return c, true
	case ChancePublic, ChanceSealed:
	default:
		return c, false
	}
	base := f.Object("base").Fields()
	c.Base = readBeacon(&base)
	inside(f, "base", &base)
	if v := f.Object("chain"); f.Err() == nil {
		var err error
		if c.Chain, err = beacon.InfoOf(v); err != nil {
			f.Fail("chain", err.Error())
		} else if c.Chain.Scheme.Chained() {
			f.Fail("chain", "signs the round before too, so that one round alone proves nothing")
		}
	}
	c.Delay = f.Int("delay", 1, MaxDelay)
	if c.Mode == ChanceSealed {
		f.Hex("commitment", c.Commitment[:])
		f.Hex("salt", c.Salt[:])
	}
	return c, true
}

func (b *Beacon) members() []canon.Member {
	return []canon.Member{
		{Name: "round", Value: canon.NewInt(b.Round)},
		{Name: "signature", Value: hexValue(b.Signature)},
	}
}

func readBeacon(f *canon.Fields) Beacon {
	b := Beacon{Round: f.Int("round", 1, MaxRound)}
	text := f.String("signature", 2*MaxBeacon)
	if b.Signature = make([]byte, len(text)/2); f.Err() == nil && (len(text) == 0 || !canon.DecodeHex(b.Signature, text)) {
		f.Fail("signature", "is not lowercase hex")
	}
	return b
}

// BeaconRecorded is the round of a chain that a match's chance comes from: {"chain","round",
// "signature"}. Nothing after it can have been known before that round's time.
type BeaconRecorded struct {
	Chain beacon.Hash
	Beacon
}

// Kind returns KindBeaconRecorded.
func (b *BeaconRecorded) Kind() Kind { return KindBeaconRecorded }

func (b *BeaconRecorded) value() canon.Value {
	return canon.NewObject(append(b.members(), canon.Member{Name: "chain", Value: hexValue(b.Chain[:])})...)
}

func readBeaconRecorded(f *canon.Fields) *BeaconRecorded {
	b := &BeaconRecorded{Beacon: readBeacon(f)}
	f.Hex("chain", b.Chain[:])
	return b
}

// ChanceDrawn is an outcome of chance: {"draw","outcome","state"}; without "outcome" if it is hidden.
type ChanceDrawn struct {
	Draw    int64  // outcomes of chance before this one
	Outcome string // in the engine's canonical notation; "" if players must not see it
	State   StateDigest
}

// Kind returns KindChanceDrawn.
func (b *ChanceDrawn) Kind() Kind { return KindChanceDrawn }

func (b *ChanceDrawn) value() canon.Value {
	m := []canon.Member{{Name: "draw", Value: canon.NewInt(b.Draw)}}
	if b.Outcome != "" {
		m = append(m, canon.Member{Name: "outcome", Value: canon.NewString(b.Outcome)})
	}
	return canon.NewObject(append(m, canon.Member{Name: "state", Value: hexValue(b.State[:])})...)
}

func readChanceDrawn(f *canon.Fields) *ChanceDrawn {
	b := &ChanceDrawn{Draw: f.Int("draw", 0, MaxMatchEvents)}
	if f.Has("outcome") {
		b.Outcome = readText(f, "outcome", engine.MaxMove)
	}
	f.Hex("state", b.State[:])
	return b
}

// MatchRevealed tells the secret of a match: {"secret"}. It opens every box.
type MatchRevealed struct {
	Secret [32]byte
}

// Kind returns KindMatchRevealed.
func (b *MatchRevealed) Kind() Kind { return KindMatchRevealed }

func (b *MatchRevealed) value() canon.Value {
	return canon.NewObject(canon.Member{Name: "secret", Value: hexValue(b.Secret[:])})
}

func readMatchRevealed(f *canon.Fields) *MatchRevealed {
	b := &MatchRevealed{}
	f.Hex("secret", b.Secret[:])
	return b
}
