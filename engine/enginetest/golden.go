package enginetest

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"testing"

	"ludger/engine"
)

// A golden is a fixed set of games: what replaying them must give for ever under one version.
type golden struct {
	ID     string       `json:"id"`
	Digest string       `json:"digest"` // SHA-256, as Golden says
	Games  []goldenGame `json:"games"`
}

type goldenGame struct {
	Variant string  `json:"variant"`
	Seats   int     `json:"seats"`
	Seed    uint64  `json:"seed"`
	Plies   int     `json:"plies"`
	Returns []int64 `json:"returns"`
	Reason  string  `json:"reason"`
}

// Golden plays some random games of each variant, with the fewest and with the most seats, and returns
// them as JSON for testvectors/games, with one digest over each seat, move and state that the spectator
// sees, and over each outcome. Wherever it changes, old matches would be judged otherwise: the game
// needs a new version.
func Golden(t *testing.T, g engine.Game, games int) []byte {
	t.Helper()
	var setups []engine.Setup
	for _, v := range g.Info().Variants {
		setups = append(setups, engine.Setup{Variant: v.Name, Seats: v.MinSeats})
		if v.MaxSeats > v.MinSeats {
			setups = append(setups, engine.Setup{Variant: v.Name, Seats: v.MaxSeats})
		}
	}
	digest := sha256.New()
	add := func(field []byte) {
		digest.Write(binary.BigEndian.AppendUint64(nil, uint64(len(field))))
		digest.Write(field)
	}
	all := golden{ID: g.Info().ID}
	for i, s := range setups {
		for n := range games {
			game := goldenGame{Variant: s.Variant, Seats: s.Seats, Seed: uint64(i*games + n)}
			random := Random(game.Seed)
			p, err := g.New(s)
			if err != nil {
				t.Fatal(err)
			}
			for ; !p.Turn().Over(); game.Plies++ {
				seat := engine.Chance
				if on := p.Turn().Seats(); !p.Turn().Has(seat) {
					seat = on[random.Intn(len(on))]
				}
				move := choose(t, p, seat, &random)
				if err := p.Play(seat, move); err != nil {
					t.Fatal(err)
				}
				add([]byte(seat.String()))
				add([]byte(move))
				add(p.AppendState(nil, engine.Spectator))
			}
			outcome, _ := p.Outcome()
			game.Returns, game.Reason = outcome.Returns, outcome.Reason
			last, err := json.Marshal([]any{outcome.Returns, outcome.Reason})
			if err != nil {
				t.Fatal(err)
			}
			add(last)
			all.Games = append(all.Games, game)
		}
	}
	all.Digest = hex.EncodeToString(digest.Sum(nil))
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetIndent("", " ")
	if err := enc.Encode(all); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
