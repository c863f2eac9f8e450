package event

import (
	"strconv"
	"strings"

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
	ChanceLive   ChanceMode = "live"   // each outcome drawn from a round that its player calls before it is out
)

// Chance are the terms of chance of a match: {"mode":"none"}, or in the other modes
//
//	{"base":{"round":7,"signature":"…"},"chain":{…},"delay":2,"mode":"public"}
//
// and with "commitment", "opens", "salt" and "vault" in the mode sealed. What is drawn comes from the
// round base + delay of the chain; in the mode live that is the first outcome, and each later one comes
// from a round that is called. The base round's signature shows that the opening is not older than that
// round; that it is older than the round that counts, no opening can show of itself.
type Chance struct {
	Mode       ChanceMode  // "" is ChanceNone
	Chain      beacon.Info // of an unchained scheme
	Base       Beacon
	Delay      int64    // rounds, from 1
	Commitment [32]byte // beacon.Commitment of the secret
	Salt       [16]byte // from which the hall, and nobody else, can make the secret again
	Opens      int64    // round with whose signature the vault opens; the match ends before it
	Vault      []byte   // timelock box of the secret (beacon.Chain.OpenTimelock)
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
			canon.Member{Name: "opens", Value: canon.NewInt(c.Opens)},
			canon.Member{Name: "salt", Value: hexValue(c.Salt[:])},
			canon.Member{Name: "vault", Value: hexValue(c.Vault)})
	}
	return canon.NewObject(m...)
}

// readChance reads terms of chance; of a mode that it does not know, nothing but the mode.
func readChance(f *canon.Fields) (c Chance, known bool) {
	c.Mode = ChanceMode(f.String("mode", MaxWord))
	switch c.Mode {
	case ChanceNone:
		return c, true
	case ChancePublic, ChanceSealed, ChanceLive:
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
		c.Opens = f.Int("opens", 1, MaxRound)
		c.Vault = readBytes(f, "vault", beacon.MaxTimelock)
		if f.Err() == nil && c.Opens <= c.Round() {
			f.Fail("opens", "is not after the round that chance comes from")
		}
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
	return Beacon{Round: f.Int("round", 1, MaxRound), Signature: readBytes(f, "signature", MaxBeacon)}
}

// readBytes reads 1 to max bytes of lowercase hex.
func readBytes(f *canon.Fields, name string, max int) []byte {
	text := f.String(name, 2*max)
	b := make([]byte, len(text)/2)
	if f.Err() == nil && (len(text) == 0 || !canon.DecodeHex(b, text)) {
		f.Fail(name, "is not lowercase hex")
	}
	return b
}

// RollCalled is what the seat on roll signs in the mode live: {"seat","signed"}. The signed body's
// move is Roll of the round that its dice come from, which is not out yet.
type RollCalled struct {
	Seat   engine.Seat
	Signed SignedMove
}

const rollPrefix = "roll@"

// Roll returns the move that calls a round.
func Roll(round int64) string { return rollPrefix + strconv.FormatInt(round, 10) }

// Round returns the round that the signed body calls; ok is false if it calls none.
func (b *RollCalled) Round() (round int64, ok bool) {
	text, ok := strings.CutPrefix(b.Signed.Move, rollPrefix)
	n, err := strconv.ParseInt(text, 10, 64)
	return n, ok && err == nil && n > 0 && n <= MaxRound && Roll(n) == b.Signed.Move
}

// Kind returns KindRollCalled.
func (b *RollCalled) Kind() Kind { return KindRollCalled }

func (b *RollCalled) value() canon.Value {
	return canon.NewObject(
		canon.Member{Name: "seat", Value: canon.NewInt(int64(b.Seat))},
		canon.Member{Name: "signed", Value: b.Signed.value},
	)
}

func readRollCalled(f *canon.Fields) *RollCalled {
	b := &RollCalled{Seat: readSeat(f), Signed: readSigned(f)}
	if _, ok := b.Round(); !ok && f.Err() == nil {
		f.Fail("signed", "calls no round: its move is roll@ and the number of one")
	}
	return b
}

// BeaconRecorded is a round of a chain: {"chain","round","signature"}. In a match it is the one that chance
// comes from. In the log's own stream it is an anchor in time: everything behind it in the log was written
// when that round was out.
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
