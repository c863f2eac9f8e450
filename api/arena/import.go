package arena

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"ludger/engine"
	"ludger/ledger"
	"ludger/ledger/canon"
	"ludger/ledger/event"
	"ludger/ledger/sequencer"
	"ludger/ledger/sign"
	"ludger/replay"
)

// A Record is a finished game from elsewhere, to be brought into the log as a match.
type Record struct {
	Game    string // engine and version
	Setup   engine.Setup
	Format  string   // of the record's text: "pgn"
	Digest  [32]byte // SHA-256 of the record's text
	Players []Player // by seat
	Moves   []string // canonical notation
	// Returns is the result that the record states, one number per seat; nil if it states none. If
	// the moves end the game by its rules, it must be theirs.
	Returns []int64
	Rule    string // why the record's result stands where the moves do not decide, in words
}

// A Player is who sat in one seat of a Record, with the key that the importer made for it.
type Player struct {
	Handle string
	Key    sign.PrivateKey
}

// Imported tells where an imported match stands.
type Imported struct {
	Match  event.MatchID
	Number int64
	First  int64 // index of its first event
	Events int64
	Before bool // it had been imported before; nothing was appended
}

// ErrResult says that a record states a result which its moves contradict.
var ErrResult = errors.New("the record's result is not the one of its moves")

// Import brings a record into the log: the players' registrations where missing, then the whole
// match in one append, every move signed by its player's key and marked as imported. now is the
// time of every event in Unix milliseconds. Importing the same record for the same keys again
// finds the match that stands.
func (a *Arena) Import(ctx context.Context, r Record, now int64) (Imported, error) {
	a.mu.Lock() // openings are appended in the order of their numbers, and each record once
	defer a.mu.Unlock()
	id, digest := importID(r)
	done, ok, err := ledger.FindID(ctx, a.log, id)
	if err != nil {
		return Imported{}, err
	}
	if ok {
		return a.imported(ctx, done, digest)
	}
	seats := make([]event.Seat, len(r.Players))
	for i, p := range r.Players {
		leaf, err := a.register(ctx, p.Handle, p.Key, now)
		if err != nil {
			return Imported{}, err
		}
		seats[i] = event.Seat{Handle: p.Handle, Key: p.Key.Public(), Registered: &leaf}
	}

	opened := &event.MatchOpened{
		Number: a.number + 1, Game: r.Game, Variant: r.Setup.Variant, Start: r.Setup.Start, Division: "unassisted",
		Seats: seats, Imported: &event.Imported{Format: r.Format, Record: r.Digest},
	}
	m := a.keys.NewMatch(a.Origin)
	events, err := script(m, opened, r, now)
	if err != nil {
		return Imported{}, err
	}
	receipts, err := a.append(ctx, sequencer.Append{ID: id, Digest: digest, Events: events})
	if err != nil {
		return Imported{}, err
	}
	a.number = opened.Number
	return Imported{Match: m.ID(), Number: opened.Number, First: receipts[0].Index, Events: m.Len()}, nil
}

// importID is the idempotency id of a record, and the digest of who plays it.
func importID(r Record) (string, [32]byte) {
	fields := [][]byte{r.Digest[:], []byte(r.Game)}
	for _, p := range r.Players {
		key := p.Key.Public()
		fields = append(fields, []byte(p.Handle), key[:])
	}
	return recordID(r.Digest), canon.Digest("ludger/import/v1", fields...)
}

func recordID(digest [32]byte) string { return fmt.Sprintf("import:%x", digest) }

// CheckImported checks, for an entry that opens an imported match, that its record would be found
// again and not be imported twice. ledger.ErrCorrupt says that it would not.
func CheckImported(ctx context.Context, log ledger.Log, index int64, entry []byte) error {
	e, err := event.Parse(entry)
	if err != nil || e.Kind != event.KindMatchOpened {
		return nil // not an opening, or nothing that could be: the audit says so
	}
	body, err := e.Body()
	opened, ok := body.(*event.MatchOpened)
	if err != nil || !ok || opened.Imported == nil {
		return nil
	}
	done, ok, err := ledger.FindID(ctx, log, recordID(opened.Imported.Record))
	if err == nil && (!ok || done.First != index) {
		err = fmt.Errorf("%w: entry %d opens an imported match, but its record's id does not lead there", ledger.ErrCorrupt, index)
	}
	return err
}

func (a *Arena) imported(ctx context.Context, done ledger.Done, digest [32]byte) (Imported, error) {
	if done.Digest != digest {
		return Imported{}, fmt.Errorf("%w: this record was imported with other keys or handles", ledger.ErrReused)
	}
	entries, err := a.log.Scan(ctx, done.First, 1)
	if err != nil {
		return Imported{}, err
	}
	e, err := event.Parse(entries[0])
	if err != nil {
		return Imported{}, fmt.Errorf("reading entry %d: %w", done.First, err)
	}
	body, err := e.Body()
	if err != nil {
		return Imported{}, fmt.Errorf("reading entry %d: %w", done.First, err)
	}
	opened, ok := body.(*event.MatchOpened)
	if !ok {
		return Imported{}, fmt.Errorf("%w: an import stands at entry %d, which is %s", ledger.ErrCorrupt, done.First, e.Kind)
	}
	return Imported{opened.ID(a.Origin), opened.Number, done.First, done.Count, true}, nil
}

// script builds every event of a recorded match.
func script(m *replay.Match, opened *event.MatchOpened, r Record, now int64) ([]event.Event, error) {
	events := make([]event.Event, 0, len(r.Moves)+5)
	propose := func(body event.Body) error {
		e, err := m.Propose(now, body)
		events = append(events, e)
		return err
	}
	if err := propose(opened); err != nil {
		return nil, err
	}
	leaf := m.Last()
	for i, p := range r.Players {
		ack := p.Key.Sign(sign.AckMessage(m.ID(), leaf))
		if err := propose(&event.SeatAcked{Seat: engine.Seat(i), Signature: ack}); err != nil {
			return nil, err
		}
	}
	for _, move := range r.Moves {
		seats := m.Position().Turn().Seats()
		if len(seats) == 0 {
			return nil, fmt.Errorf("move %q: %w", move, engine.ErrOver)
		}
		seen := m.Last()
		signed, err := event.SignedMove{GameID: m.ID(), TurnIndex: m.Turn(), Move: move, Seen: &seen}.
			Sign(r.Players[seats[0]].Key)
		if err != nil {
			return nil, err
		}
		if err := propose(&event.MovePlayed{Seat: seats[0], Signed: signed}); err != nil {
			return nil, err
		}
	}
	outcome, decided := m.Outcome()
	switch {
	case decided && r.Returns != nil && !slices.Equal(outcome.Returns, r.Returns):
		return nil, fmt.Errorf("%w: %v by %s on the board, %v in the record", ErrResult, outcome.Returns, outcome.Reason, r.Returns)
	case !decided && r.Returns == nil:
		if err := propose(&event.MatchAborted{Reason: r.Rule}); err != nil {
			return nil, err
		}
	case !decided:
		body := &event.MatchAdjudicated{Returns: r.Returns, Rule: r.Rule}
		if err := propose(body); err != nil {
			return nil, err
		}
	}
	if _, decided := m.Outcome(); decided {
		if err := propose(&event.MatchEnded{}); err != nil {
			return nil, err
		}
	}
	return events, propose(&event.MatchSealed{})
}
