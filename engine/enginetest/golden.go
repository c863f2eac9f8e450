package enginetest

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"testing"

	"ludger/engine"
	"ludger/ledger/canon"
)

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
	var out bytes.Buffer
	fmt.Fprintf(&out, "{\"id\":%q,\"games\":[", g.Info().ID)
	for i, s := range setups {
		for n := range games {
			seed := uint64(i*games + n)
			random := Random(seed)
			p, err := g.New(s)
			if err != nil {
				t.Fatal(err)
			}
			plies := 0
			for ; !p.Turn().Over(); plies++ {
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
			returns := make([]canon.Value, len(outcome.Returns))
			for seat, n := range outcome.Returns {
				returns[seat] = canon.NewInt(n)
			}
			add(canon.NewArray(canon.NewArray(returns...), canon.NewString(outcome.Reason)).Bytes())
			if seed > 0 {
				out.WriteByte(',')
			}
			fmt.Fprintf(&out, "\n%s", canon.NewObject(
				canon.Member{Name: "variant", Value: canon.NewString(s.Variant)},
				canon.Member{Name: "seats", Value: canon.NewInt(int64(s.Seats))},
				canon.Member{Name: "seed", Value: canon.NewInt(int64(seed))},
				canon.Member{Name: "plies", Value: canon.NewInt(int64(plies))},
				canon.Member{Name: "returns", Value: canon.NewArray(returns...)},
				canon.Member{Name: "reason", Value: canon.NewString(outcome.Reason)},
			).Bytes())
		}
	}
	fmt.Fprintf(&out, "],\n\"digest\":\"%x\"}\n", digest.Sum(nil))
	return out.Bytes()
}
