package arena

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"ludger/checkpoint"
	"ludger/engine"
	"ludger/ledger"
	"ludger/ledger/event"
	"ludger/ledger/memlog"
	"ludger/ledger/sequencer"
	"ludger/ledger/sign"
	"ludger/replay"
	"ludger/replay/audit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	origin = "arena.example/log"
	now    = int64(1735424400000)
)

// A testArena is an arena over a log in memory, with the log's key.
type testArena struct {
	*Arena
	log    *memlog.Log
	seq    *sequencer.Sequencer
	signer *checkpoint.Signer
}

func open(t *testing.T, log *memlog.Log, origin string) (*testArena, error) {
	t.Helper()
	return openWith(t, log, Config{Origin: origin, Now: func() int64 { return now }})
}

func openWith(t *testing.T, log *memlog.Log, c Config) (*testArena, error) {
	t.Helper()
	signer, err := checkpoint.NewSigner(c.Origin, [32]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	seq, err := sequencer.Open(t.Context(), log, sequencer.Config{Owner: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { seq.Close() })
	c.Keys = []string{signer.Verifier().String()}
	a, err := Open(t.Context(), log, seq, c)
	if a != nil {
		t.Cleanup(a.Close)
	}
	return &testArena{a, log, seq, signer}, err
}

func newTable(t *testing.T) *testArena {
	t.Helper()
	a, err := open(t, memlog.New(), origin)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// head signs the log's head.
func (a *testArena) head(t *testing.T) (checkpoint.Checkpoint, []byte) {
	t.Helper()
	h, err := a.log.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return checkpoint.Checkpoint{Origin: origin, Size: h.Size, Root: h.Root}, a.signer.Sign(h.Size, h.Root)
}

func (a *testArena) verify(t *testing.T, id event.MatchID) *replay.Report {
	t.Helper()
	head, note := a.head(t)
	b, err := a.Bundle(t.Context(), id, head, note)
	if err != nil {
		t.Fatal(err)
	}
	policy, err := checkpoint.NewPolicy(a.signer.Verifier())
	if err != nil {
		t.Fatal(err)
	}
	return replay.NewVerifier(policy).Verify(b.Bytes())
}

// check recomputes the whole log.
func (a *testArena) check(t *testing.T) {
	t.Helper()
	if err := sequencer.Check(t.Context(), a.log); err != nil {
		t.Error(err)
	}
	h, err := a.log.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	entries, err := a.log.Scan(t.Context(), 0, int(h.Size))
	if err != nil {
		t.Fatal(err)
	}
	all := audit.New(origin)
	for _, e := range entries {
		for _, f := range all.Apply(e) {
			t.Error(f)
		}
	}
}

// game is a record of the given moves between two players named by letters.
func game(name, players string, returns []int64, moves string) Record {
	r := Record{
		Game: "chess@1", Setup: engine.Setup{Variant: "standard", Seats: 2}, Format: "pgn",
		Digest: sha256.Sum256([]byte(name)), Moves: strings.Fields(moves), Returns: returns, Rule: "the record says so",
	}
	for _, p := range players {
		h := fmt.Sprintf("player-%c", p)
		r.Players = append(r.Players, Player{h, sign.DeriveKey([]byte("seed of the arena's tests"), h)})
	}
	return r
}

const mate = "f2f3 e7e5 g2g4 d8h4"

func TestImport(t *testing.T) {
	a := newTable(t)
	for _, test := range []struct {
		record  Record
		reason  string // of the outcome; "" for none
		verdict replay.Verdict
	}{
		{game("mate", "ab", []int64{-1, 1}, mate), "checkmate", replay.Verified},
		{game("mate again, no result told", "ba", nil, mate), "checkmate", replay.Verified},
		{game("resigned", "ab", []int64{1, -1}, "e2e4"), "adjudicated", replay.Verified},
		{game("unfinished", "ac", nil, "e2e4 e7e5"), "", replay.Verified},
		{game("no moves", "ac", nil, ""), "", replay.Verified},
	} {
		m, err := a.Import(t.Context(), test.record, now)
		if err != nil {
			t.Fatal(err)
		}
		r := a.verify(t, m.Match)
		reason := ""
		if r.Result != nil {
			reason = r.Result.Reason
		}
		if r.Verdict != test.verdict || reason != test.reason || r.Number != m.Number || r.Events != m.Events {
			t.Errorf("%v: verdict %s, result %q, number %d, %d events", m, r.Verdict, reason, r.Number, r.Events)
		}
		again, err := a.Import(t.Context(), test.record, now+5000)
		m.Before = true
		if err != nil || again != m {
			t.Errorf("imported again: %v, %v, want %v", again, err, m)
		}
	}
	a.check(t)
}

func TestImportRefused(t *testing.T) {
	a := newTable(t)
	if _, err := a.Import(t.Context(), game("mate", "ab", nil, mate), now); err != nil {
		t.Fatal(err)
	}
	size := func() int64 {
		h, err := a.log.Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return h.Size
	}
	before := size()
	stranger := game("another", "ab", nil, mate)
	stranger.Players[1].Key = sign.DeriveKey([]byte("another seed"), "player-b")
	unknown := game("unknown", "ab", nil, mate)
	unknown.Game = "chess@9"
	for name, test := range map[string]struct {
		record Record
		want   error
	}{
		"result against the board": {game("wrong", "ab", []int64{1, -1}, mate), ErrResult},
		"illegal move":             {game("illegal", "ab", nil, "e2e5"), nil},
		"move after the end":       {game("late", "ab", nil, mate+" a2a3"), engine.ErrOver},
		"other players":            {game("mate", "ba", nil, mate), ledger.ErrReused},
		"key of another":           {stranger, ErrTaken},
		"unknown engine":           {unknown, nil},
	} {
		if _, err := a.Import(t.Context(), test.record, now); err == nil || test.want != nil && !errors.Is(err, test.want) {
			t.Errorf("%s: error %v, want %v", name, err, test.want)
		}
	}
	if size() != before {
		t.Errorf("%d entries after refusals, %d before", size(), before)
	}
	a.check(t)
}

func TestReopen(t *testing.T) {
	a := newTable(t)
	var last Imported
	for i := range 3 {
		var err error
		if last, err = a.Import(t.Context(), game(fmt.Sprint(i), "ab", nil, mate), now); err != nil {
			t.Fatal(err)
		}
	}
	// Many entries behind the newest opening: the number is found all the same.
	for i := range 1500 {
		h := fmt.Sprintf("agent-%d", i)
		if _, err := a.Register(t.Context(), h, sign.DeriveKey([]byte("seed"), h), now); err != nil {
			t.Fatal(err)
		}
	}
	b, err := open(t, a.log, origin)
	if err != nil {
		t.Fatal(err)
	}
	next, err := b.Import(t.Context(), game("next", "ab", nil, mate), now)
	if err != nil || next.Number != last.Number+1 {
		t.Errorf("number %d after %d: %v", next.Number, last.Number, err)
	}
	if _, err := a.Import(t.Context(), game("old owner", "ab", nil, mate), now); !errors.Is(err, ledger.ErrFenced) {
		t.Errorf("the old owner appends: %v", err)
	}
	if _, err := open(t, a.log, "other.example/log"); !errors.Is(err, ErrOrigin) {
		t.Errorf("opened under another origin: %v", err)
	}
	b.check(t)
}

func TestConcurrentImports(t *testing.T) {
	a := newTable(t)
	var mu sync.Mutex
	numbers := map[int64]bool{}
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() {
			// Each record is imported twice at once: one of both finds the other.
			m, err := a.Import(context.Background(), game(fmt.Sprint(i/2), string("abcdefgh"[i/2%4])+string("abcdefgh"[4+i/2%4]), nil, mate), now)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			numbers[m.Number] = true
			mu.Unlock()
		})
	}
	wg.Wait()
	if len(numbers) != 20 || !numbers[1] || !numbers[20] {
		t.Errorf("numbers %v, want 1 to 20", numbers)
	}
	a.check(t)
}

func TestBundle(t *testing.T) {
	a := newTable(t)
	empty, emptyNote := a.head(t)
	m, err := a.Import(t.Context(), game("mate", "ab", nil, mate), now)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Bundle(t.Context(), event.MatchID{1}, empty, emptyNote); !errors.Is(err, ErrNoMatch) {
		t.Errorf("bundle of no match: %v", err)
	}
	// A checkpoint from before the match proves nothing of it.
	b, err := a.Bundle(t.Context(), m.Match, empty, emptyNote)
	if err != nil || b.Proof != "" || len(b.Agents) != 0 {
		t.Errorf("bundle with a checkpoint of %d entries: proof %q, %d agents, %v", empty.Size, b.Proof, len(b.Agents), err)
	}
	if r := a.verify(t, m.Match); r.Verdict != replay.Verified {
		t.Errorf("verdict %s", r.Verdict)
	}
}

func BenchmarkImport(b *testing.B) {
	log := memlog.New()
	seq, err := sequencer.Open(b.Context(), log, sequencer.Config{Owner: "test"})
	if err != nil {
		b.Fatal(err)
	}
	defer seq.Close()
	a, err := Open(b.Context(), log, seq, Config{Origin: origin, Now: func() int64 { return now }})
	if err != nil {
		b.Fatal(err)
	}
	moves := strings.Repeat("g1f3 g8f6 f3g1 f6g8 ", 3) + "e2e4 e7e5 " + strings.Repeat("g1f3 g8f6 f3g1 f6g8 ", 3) + "a2a4 a7a5 " + strings.Repeat("g1f3 g8f6 f3g1 f6g8 ", 3)
	for i := 0; b.Loop(); i++ {
		if _, err := a.Import(b.Context(), game(fmt.Sprint(i), "ab", []int64{0, 0}, moves), now); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/40, "ns/move")
}
