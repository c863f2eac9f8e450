package replay_test

import (
	"errors"
	"testing"

	"ludger/ledger/event"
	"ludger/replay"
)

// TestOpen: a match whose hall vanished opens with one beacon round, and no other; and is judged whole.
func TestOpen(t *testing.T) {
	w := newWorld(t, origin)
	tb := w.laid()
	tb.by(0, "A1")
	b := tb.bundle()
	opens := tb.m.Opened().Chance.Opens
	chain, round, err := replay.VaultRound(b)
	if err != nil || round != opens || chain != w.beacons().Chain().Info() {
		t.Fatalf("opens with round %d of %s, %v", round, chain.Name, err)
	}
	if _, err := replay.Open(b, w.round(opens-1).Signature); err == nil {
		t.Error("opens with another round")
	}
	o, err := replay.Open(b, w.round(opens).Signature)
	if err != nil || o.Secret != tb.secret || len(o.Moves) != 2 || o.Moves[0].Move != fleetA || o.Moves[1].Move != fleetB || o.Moves[1].Seat != 1 || o.Moves[1].Turn != 1 {
		t.Fatalf("opens to %+v, %v", o, err)
	}

	v := replay.NewVerifier(parsePolicy(t, w.policy()))
	if r := v.Verify(b.Bytes()); line(r, replay.StepRules).Status != replay.NotShown {
		t.Errorf("without the beacon: %s", show(r))
	}
	v.Beacon(opens, w.round(opens).Signature)
	r := v.Verify(b.Bytes())
	if r.Verdict != replay.Incomplete || line(r, replay.StepRules).Status != replay.Pass || line(r, replay.StepChance).Status != replay.Pass || r.Notes[0].Code != "vault-opened" {
		t.Errorf("with the beacon: %s", show(r))
	}
	v.Beacon(opens, w.round(opens-1).Signature)
	if r := v.Verify(b.Bytes()); r.Verdict != replay.Incomplete || r.Notes[0].Code != "vault-closed" {
		t.Errorf("with a beacon that is not the round's: %s", show(r))
	}

	chess := w.duel()
	chess.resign(0)
	chess.end()
	if _, err := replay.Open(chess.bundle(), nil); !errors.Is(err, replay.ErrNoVault) {
		t.Errorf("a match without a secret: %v", err)
	}
	if _, err := replay.Open(&replay.Bundle{Origin: origin}, nil); err == nil {
		t.Error("a bundle without events opens")
	}

	cheated := w.deal("battleship@1", "standard", event.ChanceSealed, func(o *event.MatchOpened) {
		o.Chance.Vault = w.vault(o.Chance.Opens, seed("another secret"))
	})
	empty := cheated.bundle()
	round = cheated.m.Opened().Chance.Opens
	if _, err := replay.Open(empty, w.round(round).Signature); !errors.Is(err, replay.ErrVaultEmpty) {
		t.Errorf("a vault that holds another secret: %v", err)
	}
	v.Beacon(round, w.round(round).Signature)
	if r := v.Verify(empty.Bytes()); r.Verdict != replay.Refuted || line(r, replay.StepChance).Faults[0].Code != "vault-secret" {
		t.Errorf("a vault that holds another secret: %s", show(r))
	}
}
