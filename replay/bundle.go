package replay

import (
	"fmt"

	"ludger/ledger/canon"
	"ludger/ledger/event"
)

// BundleFormat names the format of bundles this package reads and writes.
const BundleFormat = "ludger/bundle/v1"

// A Bundle is what an auditor is given about one match: one canonical JSON text (package canon),
//
//	{"agents":[{"event":{…},"proof":"<tlog-proof>"},…],"events":[{…},…],
//	 "format":"ludger/bundle/v1","origin":"example.com/log","proof":"<tlog-proof>"}
//
// events are the events of the match's stream, verbatim. proof is the tlog-proof
// (c2sp.org/tlog-proof) of the last of them, match.sealed; a match that is not sealed has none.
// agents are the agent.registered events that the opening's seats name, in the order of the seats,
// each with its own proof; any may be left out. "arena" stands beside them for a match that an arena
// runs: its arena.admitted, in the same form; and "joins" where seats name the lobby.joined with which
// they asked to play, in the form and order of agents. Nothing else may stand in a bundle, and there is
// one text for each bundle.
type Bundle struct {
	Origin string // of the log, as in its checkpoints
	Events []event.Event
	Proof  string // "" while the match is not sealed
	Agents []Proven
	Joins  []Proven
	Arena  *Proven // nil if there is none, or it is left out
}

// Proven is an event from outside the match with its tlog-proof.
type Proven struct {
	Event event.Event
	Proof string
}

// Bytes returns the bundle's text.
func (b *Bundle) Bytes() []byte {
	events := make([]canon.Value, len(b.Events))
	for i := range b.Events {
		events[i] = b.Events[i].Value()
	}
	m := []canon.Member{
		{Name: "agents", Value: proven(b.Agents)},
		{Name: "events", Value: canon.NewArray(events...)},
		{Name: "format", Value: canon.NewString(BundleFormat)},
		{Name: "origin", Value: canon.NewString(b.Origin)},
	}
	if b.Arena != nil {
		m = append(m, canon.Member{Name: "arena", Value: b.Arena.value()})
	}
	if len(b.Joins) > 0 {
		m = append(m, canon.Member{Name: "joins", Value: proven(b.Joins)})
	}
	if b.Proof != "" {
		m = append(m, canon.Member{Name: "proof", Value: canon.NewString(b.Proof)})
	}
	return canon.NewObject(m...).Bytes()
}

func proven(list []Proven) canon.Value {
	values := make([]canon.Value, len(list))
	for i, p := range list {
		values[i] = p.value()
	}
	return canon.NewArray(values...)
}

func (p *Proven) value() canon.Value {
	return canon.NewObject(
		canon.Member{Name: "event", Value: p.Event.Value()},
		canon.Member{Name: "proof", Value: canon.NewString(p.Proof)},
	)
}

func readProven(v canon.Value) (p Proven, err error) {
	f := v.Fields()
	p.Proof = f.String("proof", event.MaxProof)
	e := f.Object("event")
	if err := f.Done(); err != nil {
		return p, err
	}
	p.Event, err = event.FromValue(e)
	return p, err
}

// ParseBundle reads a bundle's text. A *Fault of StepFormat says what is wrong with it; with
// Missing set, that it is of a version this program does not know. The events may share data.
func ParseBundle(data []byte) (*Bundle, error) {
	v, err := canon.ParseCanonical(data, canon.Limits{
		Bytes: event.MaxBundle, Depth: event.MaxBundleDepth, Values: event.MaxBundleValues})
	if err != nil {
		return nil, formatFault("json", -1, err)
	}
	f := v.Fields()
	if format := f.String("format", event.MaxOrigin); f.Err() == nil && format != BundleFormat {
		return nil, &Fault{Step: StepFormat, Code: "unknown-format", Event: -1, Missing: true,
			Reason: "the bundle is in a format this program does not know", Expected: BundleFormat, Got: format}
	}
	b := &Bundle{Origin: f.String("origin", event.MaxOrigin)}
	if f.Err() == nil {
		if err := event.CheckOrigin(b.Origin); err != nil {
			f.Fail("origin", err.Error())
		}
	}
	if f.Has("proof") {
		if b.Proof = f.String("proof", event.MaxProof); b.Proof == "" {
			f.Fail("proof", "is empty")
		}
	}
	events := f.Array("events", event.MaxMatchEvents)
	agents := f.Array("agents", event.MaxAgents)
	var joins []canon.Member
	if f.Has("joins") {
		if joins = f.Array("joins", event.MaxAgents); len(joins) == 0 {
			f.Fail("joins", "is empty")
		}
	}
	var arena canon.Value
	if f.Has("arena") {
		arena = f.Object("arena")
	}
	if err := f.Done(); err != nil {
		return nil, formatFault("bundle", -1, err)
	}
	b.Events = make([]event.Event, len(events))
	for i, m := range events {
		if b.Events[i], err = event.FromValue(m.Value); err != nil {
			return nil, formatFault("event", int64(i), err)
		}
	}
	for i, m := range agents {
		a, err := readProven(m.Value)
		if err != nil {
			return nil, formatFault("agent", -1, fmt.Errorf("agent %d: %w", i, err))
		}
		b.Agents = append(b.Agents, a)
	}
	for i, m := range joins {
		j, err := readProven(m.Value)
		if err != nil {
			return nil, formatFault("join", -1, fmt.Errorf("join %d: %w", i, err))
		}
		b.Joins = append(b.Joins, j)
	}
	if arena.Kind() == canon.Object {
		a, err := readProven(arena)
		if err != nil {
			return nil, formatFault("arena", -1, fmt.Errorf("arena: %w", err))
		}
		b.Arena = &a
	}
	return b, nil
}
