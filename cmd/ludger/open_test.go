package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ludger/checkpoint/beacon"
	"ludger/ledger/canon"
	"ludger/ledger/event"
	"ludger/replay"
)

// TestOpen plays a match with hidden fleets, forgets all that the hall told after its moves, and opens it
// with the beacon round that its vault names.
func TestOpen(t *testing.T) {
	dir := t.TempDir()
	games := []byte("[White \"Ann\"]\n[Black \"Bob\"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n")
	if err := demo(t.Context(), dir, games, io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	bundles, err := filepath.Glob(filepath.Join(dir, "bundles", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	ludger := func(code int, args ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		if got := run(t.Context(), args, strings.NewReader(""), &out, &errs); got != code {
			t.Errorf("ludger %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), got, code, out.String(), errs.String())
		}
		return out.String() + errs.String()
	}
	opened := 0
	for _, name := range bundles {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		b, err := replay.ParseBundle(text)
		if err != nil {
			t.Fatal(err)
		}
		info, round, err := replay.VaultRound(b)
		if err != nil {
			ludger(exitUnchecked, "open", name) // a match of chess has no secret
			continue
		}
		if !bytes.Contains(text, []byte(`"box":`)) {
			continue
		}
		opened++
		for i := range b.Events { // the hall vanishes before the end
			if b.Events[i].Kind == event.KindMatchEnded {
				b.Events, b.Proof = b.Events[:i], ""
				break
			}
		}
		cut := filepath.Join(dir, "cut.json")
		if err := os.WriteFile(cut, b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		if out := ludger(exitDone, "open", cut); !strings.Contains(out, fmt.Sprintf("opens with round %d of the chain %s", round, info.Name)) {
			t.Errorf("without a beacon: %s", out)
		}
		policy := filepath.Join(dir, "hall", "policy")
		if out := ludger(exitIncomplete, "verify", "--policy", policy, cut); !strings.Contains(out, "the secret is not revealed yet") {
			t.Errorf("without a beacon: %s", out)
		}
		beacons := filepath.Join(dir, "beacon.json")
		write := func(n int64) {
			t.Helper()
			secret, err := readSecret(filepath.Join(dir, "hall"))
			if err != nil {
				t.Fatal(err)
			}
			local, err := beacon.NewLocal(canon.Digest("ludger/hall-beacon/v1", secret[:]), beaconGenesis, 1)
			if err != nil {
				t.Fatal(err)
			}
			signature, err := local.Sign(n)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(beacons, fmt.Appendf(nil, `{"round":%d,"randomness":"00","signature":"%x"}`, n, signature), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		write(round - 1)
		if out := ludger(exitUnchecked, "open", cut, "--beacon", beacons); !strings.Contains(out, fmt.Sprintf("holds round %d", round-1)) {
			t.Errorf("with another round: %s", out)
		}
		write(round)
		if out := ludger(exitDone, "open", cut, "--beacon", beacons); !strings.HasPrefix(out, "secret ") || strings.Count(out, "\nevent ") != 2 {
			t.Errorf("opened: %s", out)
		}
		if out := ludger(exitIncomplete, "verify", "--policy", policy, "--beacon", beacons, cut); !strings.Contains(out, "2 hidden moves opened with it") {
			t.Errorf("with the beacon: %s", out)
		}
		if err := os.WriteFile(beacons, []byte(`{"round":"7"}`), 0o666); err != nil {
			t.Fatal(err)
		}
		ludger(exitUsage, "open", cut, "--beacon", beacons)
	}
	if opened != 1 {
		t.Errorf("%d matches with hidden moves", opened)
	}
}
