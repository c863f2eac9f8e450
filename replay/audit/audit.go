// Package audit follows a whole log, entry by entry, and finds what a bundle of one match cannot
// show: a stream that does not continue, a match whose number was given before or that left one out,
// a seat whose registration, or an arena whose admission, was never logged. It replays every match on
// the way, and one with hidden moves again when its secret is told.
//
//	a := audit.New("example.com/log")
//	for index, entry := range entries {
//		for _, f := range a.Apply(entry) {
//			fmt.Println(index, f)
//		}
//	}
//
// It keeps the newest event of every stream, the registrations, and each match from its opening to
// its seal; so its memory grows with the number of streams, not of events.
package audit

import (
	"errors"
	"fmt"

	"ludger/checkpoint/beacon"
	"ludger/ledger/event"
	"ludger/replay"
)

// A Finding is one thing wrong with a log.
type Finding struct {
	Index  int64        // of the entry in the log
	Stream event.Stream // "" if the entry is no event
	Reason string
}

func (f Finding) String() string {
	if f.Stream == "" {
		return fmt.Sprintf("entry %d: %s", f.Index, f.Reason)
	}
	return fmt.Sprintf("entry %d (%s): %s", f.Index, f.Stream, f.Reason)
}

// An Audit is the fold over one log. It is not safe for concurrent use.
type Audit struct {
	origin  string
	size    int64
	heads   map[event.Stream]head
	agents  map[event.Leaf]*event.AgentRegistered
	arenas  map[event.Leaf]string       // names of those admitted
	wishes  map[event.Leaf]*event.Event // requests to play that wait
	lobbies map[waiting]event.Leaf      // the newest request of each
	keys    *replay.Keys
	matches map[event.Stream]*match     // opened and not sealed
	secrets map[[32]byte]event.Stream   // commitments, with the match that made each
	chains  map[beacon.Hash]beacon.Info // quicknet, and those that openings describe
	now     int64                       // time of the newest entry
	anchor  int64                       // time of the newest beacon in the log's own stream
	number  int64                       // of the newest match
	counts  Counts
	found   []Finding
	notes   []Finding
}

type head struct {
	length int64
	leaf   event.Leaf
}

// A match is one that is not sealed.
type match struct {
	*replay.Match
	events   []event.Event   // of a match with a secret, which is replayed when it is told
	told     map[string]bool // faults of it that were found
	again    bool            // it was replayed
	aborted  bool
	recorded bool // its beacon was recorded
}

// New returns an Audit of the log with the given origin, before its first entry.
func New(origin string) *Audit {
	return &Audit{
		origin:  origin,
		heads:   make(map[event.Stream]head),
		agents:  make(map[event.Leaf]*event.AgentRegistered),
		chains:  map[beacon.Hash]beacon.Info{beacon.Quicknet().Hash: beacon.Quicknet()},
		secrets: make(map[[32]byte]event.Stream),
		arenas:  make(map[event.Leaf]string),
		wishes:  make(map[event.Leaf]*event.Event),
		lobbies: make(map[waiting]event.Leaf),
		keys:    replay.NewKeys(),
		matches: make(map[event.Stream]*match),
	}
}

// Size returns the number of entries applied.
func (a *Audit) Size() int64 { return a.size }

// Counts are how the matches of a log went. Nothing of it is wrong by itself; but a hall that often
// aborts matches when the dice are known, or decides them itself, is to be asked why.
type Counts struct {
	Sealed      int64 // from their opening to their seal
	Aborted     int64
	Drawn       int64 // of these, those whose beacon was recorded before
	Voided      int64 // of the aborted, those that still waited for their beacon although its round was out
	Overdue     int64 // not sealed, although anybody can open their secret by now
	Adjudicated int64
	Anchors     int64 // beacons in the log's own stream
	Unchecked   int64 // events of which something could not be judged here
	Open        int64 // not sealed
}

// Counts returns how the matches so far went.
func (a *Audit) Counts() Counts {
	c := a.counts
	c.Open = int64(len(a.matches))
	for _, m := range a.matches {
		if o := m.Opened(); o != nil && o.Chance.Mode == event.ChanceSealed {
			if at, err := o.Chance.Chain.TimeOf(o.Chance.Opens); err == nil && at <= a.now {
				c.Overdue++
			}
		}
	}
	return c
}

// Apply takes the next entry and returns what is wrong with it. The slice is valid until the next
// call.
func (a *Audit) Apply(entry []byte) []Finding {
	a.found, a.notes = a.found[:0], a.notes[:0]
	a.apply(entry)
	a.size++
	return a.found
}

// Notes returns what the newest entry does that is not wrong, and that somebody may want to ask about: a
// match that was aborted when its dice could be known. The slice is valid until the next call of Apply.
func (a *Audit) Notes() []Finding { return a.notes }

func (a *Audit) find(s event.Stream, format string, args ...any) {
	a.found = append(a.found, Finding{a.size, s, fmt.Sprintf(format, args...)})
}

func (a *Audit) apply(entry []byte) {
	e, err := event.Parse(entry)
	if err != nil {
		a.find("", "%v", err)
		return
	}
	if e.At < a.anchor {
		a.find(e.Stream, "the entry is dated %d, and stands behind a beacon that came out at %d", e.At, a.anchor)
	}
	a.now = max(a.now, e.At)
	h := a.heads[e.Stream]
	a.heads[e.Stream] = head{e.Seq + 1, e.Leaf()}
	if (a.size == 0) != (e.Kind == event.KindLogOpened) {
		a.find(e.Stream, "log.opened is the first entry of a log, and only that")
	}
	if _, ok := e.Stream.Match(); ok {
		a.match(&e, h)
		return
	}
	if e.Seq != h.length || e.Prev != h.leaf {
		a.find(e.Stream, "event %d does not continue a stream of %d events", e.Seq, h.length)
	}
	switch e.Kind {
	case event.KindLogOpened:
		a.opened(&e)
	case event.KindAgentRegistered:
		body, err := e.Body()
		if r, ok := body.(*event.AgentRegistered); ok && r.Statement == nil {
			return // on the hall's word; what the agent signs later shows whose the handle is
		}
		r, err := replay.CheckRegistration(a.origin, &e, a.keys)
		if err != nil {
			a.find(e.Stream, "%v", err)
			return
		}
		a.agents[e.Leaf()] = r
	case event.KindLobbyJoined, event.KindLobbyLeft:
		a.lobby(&e)
	case event.KindBeaconRecorded:
		a.anchored(&e)
	case event.KindArenaAdmitted:
		body, err := e.Body()
		if err != nil {
			a.find(e.Stream, "%v", err)
			return
		}
		a.arenas[e.Leaf()] = body.(*event.ArenaAdmitted).Name
	default:
		if _, err := e.Body(); err != nil && !errors.Is(err, event.ErrUnknownKind) {
			a.find(e.Stream, "%v", err)
		}
	}
}

// lobby takes up a request to play, or takes back those of an agent.
func (a *Audit) lobby(e *event.Event) {
	body, err := e.Body()
	if err != nil {
		a.find(e.Stream, "%v", err)
		return
	}
	switch b := body.(type) {
	case *event.LobbyJoined:
		queue := waiting{e.Stream, b.Join.Queue()}
		if a.wishes[a.lobbies[queue]] != nil {
			a.find(e.Stream, "the agent asks to play while its request before waits")
		}
		a.wishes[e.Leaf()], a.lobbies[queue] = e, e.Leaf()
	case *event.LobbyLeft:
		queue := waiting{e.Stream, b.Join.Queue()}
		if a.wishes[a.lobbies[queue]] == nil {
			a.find(e.Stream, "a request to play is taken back, and none waits")
		}
		delete(a.wishes, a.lobbies[queue])
	}
}

// A waiting is an agent in a queue.
type waiting struct {
	agent event.Stream
	queue string
}

// anchored checks a beacon in the log's own stream. That of a chain which nothing before describes cannot
// be judged.
func (a *Audit) anchored(e *event.Event) {
	body, err := e.Body()
	if err != nil {
		a.find(e.Stream, "%v", err)
		return
	}
	b := body.(*event.BeaconRecorded)
	info, ok := a.chains[b.Chain]
	if !ok {
		a.counts.Unchecked++
		return
	}
	if err := a.keys.CheckBeacon(info, &b.Beacon); err != nil {
		a.find(e.Stream, "%v", err)
		return
	}
	at, err := info.TimeOf(b.Round)
	if err != nil || e.At < at {
		a.find(e.Stream, "round %d is recorded at %d, before it came out at %d", b.Round, e.At, at)
		return
	}
	a.anchor = max(a.anchor, at)
	a.counts.Anchors++
}

func (a *Audit) opened(e *event.Event) {
	body, err := e.Body()
	if err != nil {
		a.find(e.Stream, "%v", err)
		return
	}
	if b := body.(*event.LogOpened); b.Origin != a.origin {
		a.find(e.Stream, "the log was opened as %q, not as %q", b.Origin, a.origin)
	}
}

func (a *Audit) match(e *event.Event, h head) {
	m := a.matches[e.Stream]
	if m == nil {
		if e.Seq != 0 || h.length != 0 {
			a.find(e.Stream, "event %d stands before the opening or after the seal", e.Seq)
			return
		}
		m = &match{Match: a.keys.NewMatch(a.origin)}
		a.matches[e.Stream] = m
	}
	chain, round, waits := m.AwaitsBeacon()
	a.play(m, e)
	if o := m.Opened(); o != nil && o.Chance.Mode == event.ChanceSealed {
		m.events = append(m.events, *e)
		if e.Kind == event.KindMatchRevealed {
			a.reveal(m, e)
		}
	}
	switch e.Kind {
	case event.KindMatchAborted:
		at, err := chain.TimeOf(round)
		a.abort(m, waits && err == nil && e.At >= at)
	case event.KindMatchAdjudicated:
		a.counts.Adjudicated++
	case event.KindBeaconRecorded:
		m.recorded = true
	}
	if e.Seq == 0 {
		a.seats(m.Match, e)
	}
	if m.Stage() == replay.StageSealed {
		a.counts.Sealed++
		delete(a.matches, e.Stream)
	}
}

// abort counts and notes a match that was aborted; void says that its beacon was out and not recorded.
func (a *Audit) abort(m *match, void bool) {
	a.counts.Aborted++
	m.aborted = true
	switch {
	case void:
		a.counts.Voided++
		a.note(m, "aborted while its beacon was out and not recorded")
	case m.recorded:
		a.counts.Drawn++
		a.note(m, "aborted after its beacon, when the hall could know what comes")
	}
	a.undrawn(m)
}

// undrawn notes what an abortion kept from the players, as soon as the seed is known.
func (a *Audit) undrawn(m *match) {
	if outcome, ok := m.Undrawn(); ok && m.aborted {
		a.note(m, "aborted before %q was drawn, which the seed gives", outcome)
	}
}

func (a *Audit) note(m *match, format string, args ...any) {
	a.notes = append(a.notes, Finding{a.size, event.MatchStream(m.ID()), fmt.Sprintf(format, args...)})
}

// play applies an event to a match and finds what was not found before.
func (a *Audit) play(m *match, e *event.Event) {
	for _, f := range m.Apply(e) {
		if f.Missing {
			a.counts.Unchecked++
			continue
		}
		if text := f.Error(); !m.told[text] {
			a.find(e.Stream, "%v", f)
			if m.told == nil {
				m.told = make(map[string]bool)
			}
			m.told[text] = true
		}
	}
}

// reveal replays a match with the secret that it tells, so that what was hidden is judged too.
func (a *Audit) reveal(m *match, e *event.Event) {
	body, err := e.Body()
	if err != nil || m.again {
		return // said already
	}
	m.again = true
	m.Match = a.keys.NewMatch(a.origin)
	m.Disclose(body.(*event.MatchRevealed).Secret)
	for i := range m.events {
		a.play(m, &m.events[i])
	}
	a.undrawn(m)
}

// seats checks what the opening says against the log before it.
func (a *Audit) seats(m *replay.Match, e *event.Event) {
	o := m.Opened()
	if o == nil {
		if e.Kind == event.KindMatchOpened {
			a.number++ // an opening that cannot be read has its number too
		}
		return
	}
	if o.Number != a.number+1 {
		a.find(e.Stream, "the match has the number %d, after %d: one was given twice or is missing", o.Number, a.number)
	}
	a.number = max(a.number, o.Number)
	if c := &o.Chance; c.Mode != event.ChanceNone {
		a.chains[c.Chain.Hash] = c.Chain
	}
	if c := &o.Chance; c.Mode == event.ChanceSealed {
		if first, ok := a.secrets[c.Commitment]; ok {
			a.find(e.Stream, "the match is committed to the secret of %s, so that who knows one knows both", first)
		}
		a.secrets[c.Commitment] = e.Stream
	}
	if o.Arena != nil && a.arenas[o.Arena.Admitted] != o.Arena.Name {
		a.find(e.Stream, "the match names an admission of the arena %s that the log does not hold before", o.Arena.Name)
	}
	for i, s := range o.Seats {
		if s.Joined != nil {
			wish := a.wishes[*s.Joined]
			if wish == nil {
				a.find(e.Stream, "seat %d names a request to play of %s that the log does not hold before, that was taken back, or that seated it already", i, s.Handle)
			} else if err := replay.CheckJoin(a.origin, wish, s, o, a.keys); err != nil {
				a.find(e.Stream, "seat %d: %v", i, err)
			}
			delete(a.wishes, *s.Joined)
		}
		if s.Registered == nil {
			continue
		}
		if r := a.agents[*s.Registered]; r == nil || r.Handle != s.Handle || r.Key != s.Key {
			a.find(e.Stream, "seat %d names a registration of %s that the log does not hold before", i, s.Handle)
		}
	}
}
