package arena

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"ludger/checkpoint"
	"ludger/checkpoint/beacon"
	"ludger/checkpoint/publish"
	"ludger/engine"
	"ludger/engine/chance"
	"ludger/ledger"
	"ludger/ledger/event"
	"ludger/ledger/pebblelog"
	"ludger/ledger/sequencer"
	"ludger/replay"
	"ludger/replay/audit"
)

// A disk is a hall on a file system in memory: a log, cells with its published head, an arena.
type disk struct {
	*Arena
	log   *pebblelog.Log
	cells *pebblelog.Cells
	seq   *sequencer.Sequencer
	pub   *publish.Publisher
}

func signerOf(t *testing.T) *checkpoint.Signer {
	t.Helper()
	s, err := checkpoint.NewSigner(origin, [32]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A quick beacon does not wait: asked for a round, it moves its clock to that round's time.
type quick struct {
	key *beacon.Local
	now atomic.Int64
}

func newQuick(t *testing.T) *quick {
	t.Helper()
	key, err := beacon.NewLocal([32]byte{2}, 1_735_689_600, 1)
	if err != nil {
		t.Fatal(err)
	}
	q := &quick{key: key}
	q.now.Store(1_800_000_000_000)
	return q
}

func (q *quick) Chain() beacon.Info { return q.key.Chain().Info() }

func (q *quick) Newest(context.Context) (int64, []byte, error) {
	round, err := q.Chain().RoundAt(q.now.Load())
	if err != nil {
		return 0, nil, err
	}
	signature, err := q.key.Sign(round)
	return round, signature, err
}

func (q *quick) Round(_ context.Context, round int64) ([]byte, error) {
	at, err := q.Chain().TimeOf(round)
	if err != nil {
		return nil, err
	}
	for now := q.now.Load(); now < at && !q.now.CompareAndSwap(now, at); now = q.now.Load() {
	}
	return q.key.Sign(round)
}

// mount opens the hall of a file system.
func mount(t *testing.T, fs vfs.FS, clock *quick) (d *disk, err error) {
	t.Helper()
	ctx := context.Background()
	d = new(disk)
	defer func() {
		if err != nil {
			err = errors.Join(err, d.unmount())
		}
	}()
	if d.cells, err = pebblelog.OpenCells("head", pebblelog.Options{FS: fs}); err != nil {
		return d, err
	}
	if d.log, err = pebblelog.Open("log", pebblelog.Options{FS: fs}); err != nil {
		return d, err
	}
	if d.pub, err = publish.Open(ctx, publish.Config{Log: d.log, Cells: d.cells, Signer: signerOf(t)}); err != nil {
		return d, err
	}
	if d.seq, err = sequencer.Open(ctx, d.log, sequencer.Config{Owner: "crash"}); err != nil {
		return d, err
	}
	d.Arena, err = Open(ctx, d.log, d.seq, Config{Origin: origin, Keys: []string{signerOf(t).Verifier().String()},
		Beacons: clock, Secret: [32]byte{3}, Now: clock.now.Load})
	return d, err
}

func (d *disk) unmount() error {
	var errs []error
	if d.Arena != nil {
		d.Close()
	}
	if d.seq != nil {
		errs = append(errs, d.seq.Close())
	}
	if d.log != nil {
		errs = append(errs, d.log.Close())
	}
	if d.cells != nil {
		errs = append(errs, d.cells.Close())
	}
	return errors.Join(errs...)
}

// known is what the arenas of a hall were told before a crash.
type known struct {
	mu     sync.Mutex
	events map[event.Leaf]int64 // acknowledged, by index
	note   []byte               // the newest checkpoint that was shown
	laid   []event.MatchID      // matches with hidden moves, not over
}

func (k *known) copy() *known {
	k.mu.Lock()
	defer k.mu.Unlock()
	c := &known{events: make(map[event.Leaf]int64, len(k.events)), note: k.note, laid: append([]event.MatchID{}, k.laid...)}
	for leaf, index := range k.events {
		c.events[leaf] = index
	}
	return c
}

func (k *known) acknowledged(done Appended) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i := range done.Events {
		k.events[done.Events[i].Leaf()] = done.First + int64(i)
	}
}

// TestCrash cuts the power of a hall under load at any moment, hundreds of times, and thousands with
// LUDGER_LONG: in each copy of the disk that is left, every event that was acknowledged stands once at
// its place, the published head extends to the log's, every entry is right, and matches with hidden
// moves go on to their end.
func TestCrash(t *testing.T) {
	lives, clones := 8, 12
	if os.Getenv("LUDGER_LONG") != "" {
		lives, clones = 250, 20
	}
	for life := range lives {
		if crashLife(t, life, clones); t.Failed() {
			t.Fatalf("in life %d", life)
		}
	}
	if opened.Load() == 0 {
		t.Error("no hidden move was there after a crash")
	}
}

// opened counts the hidden moves that were opened after crashes.
var opened atomic.Int64

func crashLife(t *testing.T, life, clones int) {
	fs := vfs.NewCrashableMem()
	clock := newQuick(t)
	d, err := mount(t, fs, clock)
	if err != nil {
		t.Fatal(err)
	}
	k := &known{events: make(map[event.Leaf]int64)}
	if _, err := d.Admit(t.Context(), "north", agentKey("north").Public()); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				if err := crashMatch(ctx, t, d, k, fmt.Sprintf("w%d-%d", w, n), uint64(life*4+w)); err != nil && ctx.Err() == nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Go(func() {
		for ctx.Err() == nil {
			note, err := d.pub.Publish(ctx)
			if err != nil {
				if ctx.Err() == nil {
					t.Error(err)
				}
				return
			}
			k.mu.Lock()
			k.note = note
			k.mu.Unlock()
			time.Sleep(time.Millisecond)
		}
	})
	rng := rand.New(rand.NewPCG(uint64(life), 3))
	type crash struct {
		fs vfs.FS
		k  *known
	}
	var crashes []crash
	for i := range clones {
		time.Sleep(time.Duration(rng.IntN(8000)) * time.Microsecond)
		before := k.copy()
		crashes = append(crashes, crash{fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: []int{0, 30, 100}[i%3], RNG: rng}), before})
	}
	stop()
	wg.Wait()
	if err := d.unmount(); err != nil {
		t.Fatal(err)
	}
	for i, c := range crashes {
		if err := afterCrash(t, c.fs, clock, c.k); err != nil {
			t.Errorf("crash %d, after %d acknowledged events: %v", i, len(c.k.events), err)
		}
	}
}

// crashMatch plays chess, or lays out a fleet, or begins what waits for a beacon.
func crashMatch(ctx context.Context, t *testing.T, d *disk, k *known, name string, seed uint64) error {
	rng := chance.New([32]byte{byte(seed)}, name)
	hidden := rng.Intn(2) == 0
	m := terms(t, "chess@1", "standard", "", name+"-a", name+"-b")
	if hidden {
		m = terms(t, "battleship@1", "standard", "", name+"-a", name+"-b")
	}
	n := 0
	again := func() Request { n++; return request(fmt.Sprint(name, "/", n)) }
	got, err := d.Begin(ctx, again(), m)
	var late *TermsError
	if errors.As(err, &late) { // another match moved the clock on meanwhile
		return nil
	}
	if err != nil {
		return err
	}
	k.acknowledged(got)
	if hidden {
		return crashFleet(ctx, d, k, got, m, rng)
	}
	fold := replay.NewKeys().NewMatch(origin)
	fold.Apply(&got.Events[0])
	for range 10 {
		seat := engine.Seat(fold.Turn() % 2)
		list := fold.Position().Legal(seat)
		signed, err := event.SignedMove{GameID: got.Match, TurnIndex: fold.Turn(), Move: list[rng.Intn(len(list))].Move}.Sign(agentKey(m.Seats[seat].Handle))
		if err != nil {
			return err
		}
		r := again()
		done, err := d.Append(ctx, r, got.Match, fold.Len(), []event.Body{&event.MovePlayed{Seat: seat, Signed: signed}})
		if err != nil {
			return err
		}
		k.acknowledged(done)
		for i := range done.Events {
			fold.Apply(&done.Events[i])
		}
	}
	return nil
}

// crashFleet lays out both fleets, as soon as the beacon is there.
func crashFleet(ctx context.Context, d *disk, k *known, got Appended, m Terms, rng *chance.Stream) error {
	k.mu.Lock()
	k.laid = append(k.laid, got.Match)
	k.mu.Unlock()
	for v := (View{Awaits: 1}); v.Awaits != 0; {
		var err error
		if v, err = d.View(ctx, got.Match); err != nil {
			return err
		}
		time.Sleep(100 * time.Microsecond)
	}
	for seat, fleet := range []string{"A1h C4v E7h J1h G10v", "A1v A3v A5v A7v A9v"} {
		signed, err := event.SignedMove{GameID: got.Match, TurnIndex: 0, Move: fleet, Commentary: fmt.Sprint(rng.Intn(1000))}.Sign(agentKey(m.Seats[seat].Handle))
		if err != nil {
			return err
		}
		done, err := d.Append(ctx, Request{Arena: "north"}, got.Match, int64(2+seat), []event.Body{&event.MovePlayed{Seat: engine.Seat(seat), Signed: signed}})
		if err != nil {
			return err
		}
		k.acknowledged(done)
	}
	return nil
}

func afterCrash(t *testing.T, fs vfs.FS, clock *quick, k *known) (err error) {
	d, err := mount(t, fs, clock)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.unmount()) }()
	ctx := t.Context()
	// The head that was shown is one that the log extends: Open would have refused otherwise. It is
	// not forgotten either.
	if k.note != nil {
		shown, err := checkpoint.Open(k.note, signerOf(t).Verifier())
		if err != nil {
			return err
		}
		if _, head := d.pub.Latest(); head.Size < shown.Size {
			return fmt.Errorf("a checkpoint of %d entries was shown, the newest known is of %d", shown.Size, head.Size)
		}
	}
	if err := sequencer.Check(ctx, d.log); err != nil {
		return err
	}
	head, err := d.log.Head(ctx)
	if err != nil {
		return err
	}
	a := audit.New(origin)
	at := make(map[event.Leaf]int64)
	for a.Size() < head.Size {
		entries, err := d.log.Scan(ctx, a.Size(), 1<<20)
		if err != nil {
			return err
		}
		for _, e := range entries {
			leaf := event.LeafHash(e)
			if first, ok := at[leaf]; ok {
				return fmt.Errorf("entry %d is there again at %d", first, a.Size())
			}
			at[leaf] = a.Size()
			for _, f := range a.Apply(e) {
				return errors.New(f.String())
			}
		}
	}
	for leaf, index := range k.events {
		if i, ok := at[leaf]; !ok || i != index {
			return fmt.Errorf("the event acknowledged at %d is at %d, %v", index, i, ok)
		}
	}
	for _, id := range k.laid { // the hall still has what it needs to end them
		v, err := d.View(ctx, id)
		if err != nil {
			return err
		}
		if v.Stage != replay.StagePlaying {
			continue
		}
		if v.Length == 3 || v.Length == 4 {
			opened.Add(v.Length - 2)
		}
		done, err := d.Append(ctx, Request{Arena: "north"}, id, v.Length, []event.Body{&event.MatchAborted{Reason: "the power failed"}})
		if err == nil && done.Stage != replay.StageSealed {
			err = errors.New("an aborted match is not sealed")
		}
		var conflict *ledger.ConflictError
		if err != nil && !errors.As(err, &conflict) { // its beacon came in between
			return err
		}
	}
	return nil
}
