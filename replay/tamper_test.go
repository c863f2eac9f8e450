package replay_test

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ludger/checkpoint/proof"
	"ludger/ledger/event"
	"ludger/replay"
)

// A target is a small valid bundle that is tampered with, and another match of the same log.
type target struct {
	t      *testing.T
	tb     *table
	bundle *replay.Bundle
	text   []byte
	other  *replay.Bundle
	v      *replay.Verifier
}

// targets are the kinds of matches that are tampered with: one of chess, one with hidden moves, one
// with dice that an arena runs. Each plays with the players given, up to the seal.
var targets = map[string]func(w *world, players ...*agent) *table{
	"chess": func(w *world, players ...*agent) *table {
		tb := w.open(nil, players...)
		tb.ack(0)
		tb.ack(1)
		tb.moves("f3")
		tb.resign(1)
		tb.end()
		return tb
	},
	"hidden": func(w *world, players ...*agent) *table {
		tb := w.dealt("battleship@1", "standard", event.ChanceSealed, nil, players...).record()
		tb.by(1, fleetB)
		tb.by(0, fleetA)
		tb.by(0, "A1")
		tb.resign(1)
		tb.due()
		return tb
	},
	"dice": func(w *world, players ...*agent) *table {
		arena := w.admit()
		tb := w.dealt("backgammon@1", "single", event.ChanceSealed, func(o *event.MatchOpened) {
			o.Arena = &event.Arena{Name: "north-hall", Admitted: arena.Event.Leaf()}
		}, players...).record()
		tb.arena = arena
		tb.roll(1)
		tb.resign(1)
		tb.due()
		return tb
	},
}

func newTarget(t *testing.T, kind string) *target {
	w := newWorld(t, origin)
	alice, bob := w.register("alice"), w.register("bob")
	two := targets[kind](w, bob, alice)
	two.index = w.log(two.events...)
	one := targets[kind](w, alice, bob)
	x := &target{t: t, tb: one, bundle: one.bundle(), v: replay.NewVerifier(parsePolicy(t, w.policy()))}
	x.text = x.bundle.Bytes()
	x.other = two.proven(w.note(w.size()))
	for _, b := range []*replay.Bundle{x.bundle, x.other} {
		if r := x.v.Verify(b.Bytes()); r.Verdict != replay.Verified {
			t.Fatalf("the bundle is not right as it is: %s", show(r))
		}
	}
	return x
}

// copy returns the bundle in a form that may be changed.
func (x *target) copy() *replay.Bundle {
	b := *x.bundle
	b.Events, b.Agents = slices.Clone(b.Events), slices.Clone(b.Agents)
	return &b
}

// faults returns what the report says is wrong.
func faults(r *replay.Report) (list []*replay.Fault) {
	for _, l := range r.Steps {
		for _, f := range l.Faults {
			if !f.Missing {
				list = append(list, f)
			}
		}
	}
	return list
}

// refuted checks that a report refutes and names a step, and one of the events if there are any.
func (x *target) refuted(data []byte, what string, events ...int64) {
	x.t.Helper()
	r := x.v.Verify(data)
	list := faults(r)
	if r.Verdict != replay.Refuted || len(list) == 0 {
		x.t.Fatalf("%s: verdict %s\n%s", what, r.Verdict, show(r))
	}
	for _, f := range list {
		if f.Step == "" || f.Code == "" || f.Reason == "" || line(r, f.Step).Status != replay.Fail {
			x.t.Fatalf("%s: fault %+v", what, *f)
		}
	}
	if len(events) > 0 && !slices.ContainsFunc(list, func(f *replay.Fault) bool { return slices.Contains(events, f.Event) }) {
		x.t.Fatalf("%s: no fault names one of the events %d\n%s", what, events, show(r))
	}
}

// A span is a part of the text, and where its changes show.
type span struct {
	from, to int
	steps    []replay.Step
	events   []int64
}

// spans cuts the text into the parts whose changes must show in certain steps and events.
func (x *target) spans() []span {
	var list []span
	at := func(part []byte, steps []replay.Step, events ...int64) {
		i := bytes.Index(x.text, part)
		if i < 0 || bytes.Count(x.text, part) != 1 {
			x.t.Fatalf("%d times %s", bytes.Count(x.text, part), part)
		}
		list = append(list, span{i, i + len(part), steps, events})
	}
	for i, e := range x.bundle.Events {
		at(e.Raw(), nil, int64(i), int64(i)+1)
	}
	list[len(list)-1].events = []int64{int64(len(x.bundle.Events)) - 1}
	for i := range x.bundle.Agents {
		at(x.bundle.Agents[i].Event.Raw(), []replay.Step{replay.StepIdentity})
	}
	if x.bundle.Arena != nil {
		at(x.bundle.Arena.Event.Raw(), []replay.Step{replay.StepIdentity})
	}
	i := bytes.LastIndex(x.text, []byte(`"origin":"`))
	j := bytes.LastIndex(x.text, []byte(`"proof":"`))
	list = append(list,
		span{i + len(`"origin":"`), j - 2, []replay.Step{replay.StepChain}, []int64{0}},
		span{j + len(`"proof":"`), len(x.text) - 2, []replay.Step{replay.StepInclusion}, []int64{int64(len(x.bundle.Events)) - 1}})
	return list
}

// TestFlips changes a bit of every byte of the bundle: the lowest, the one between upper and lower
// case, and the one that leaves ASCII. A version that is not known is unchecked; everything else is
// refuted, and the report names the step and the event.
func TestFlips(t *testing.T) {
	masks := []byte{0x01, 0x20, 0x80}
	if testing.Short() {
		masks = []byte{0x01}
	}
	kinds := slices.Repeat([]string{"chess"}, len(masks))
	for kind := range maps.Keys(targets) {
		if kind != "chess" {
			kinds, masks = append(kinds, kind), append(masks, 0x01)
		}
	}
	for n, kind := range kinds {
		mask := masks[n]
		t.Run(fmt.Sprintf("%s/%02x", kind, mask), func(t *testing.T) {
			t.Parallel()
			x := newTarget(t, kind)
			spans := x.spans()
			i := bytes.Index(x.text, []byte(replay.BundleFormat))
			format := span{from: i, to: i + len(replay.BundleFormat)}
			var unchecked, versions int
			for i := range x.text {
				data := bytes.Clone(x.text)
				data[i] ^= mask
				what := fmt.Sprintf("byte %d: %q for %q in %s", i, data[i], x.text[i], x.text[max(0, i-30):min(len(x.text), i+30)])
				r := x.v.Verify(data)
				if r.Verdict == replay.Unchecked {
					f := line(r, replay.StepFormat).Faults
					version := bytes.HasSuffix(x.text[:i], []byte(`"v":`))
					switch {
					case len(f) != 1 || !f[0].Missing:
						t.Fatalf("%s: unchecked without a reason\n%s", what, show(r))
					case version && (f[0].Code == "event" || f[0].Code == "agent" || f[0].Code == "arena"):
						versions++
					case f[0].Code != "unknown-format" || i < format.from || i >= format.to:
						t.Fatalf("%s: unchecked\n%s", what, show(r))
					}
					unchecked++
					continue
				}
				x.refuted(data, what)
				if list := faults(r); list[0].Step != replay.StepFormat {
					for _, s := range spans {
						if i < s.from || i >= s.to {
							continue
						}
						if len(s.events) > 0 {
							x.refuted(data, what, s.events...)
						}
						for _, step := range s.steps {
							if line(r, step).Status != replay.Fail {
								t.Fatalf("%s: step %s does not fail\n%s", what, step, show(r))
							}
						}
					}
				} else if list[0].Event >= 0 {
					for n, e := range x.bundle.Events {
						if at := bytes.Index(x.text, e.Raw()); at <= i && i < at+len(e.Raw()) && list[0].Event != int64(n) {
							t.Fatalf("%s: event %d is named, not %d", what, list[0].Event, n)
						}
					}
				}
			}
			events := bytes.Count(x.text, []byte(`"v":`))
			if mask == 0x01 && versions != events {
				t.Errorf("%d versions of events changed, want %d", versions, events)
			}
			if mask == 0x01 && unchecked != versions+len(replay.BundleFormat) {
				t.Errorf("%d changes unchecked, want %d and every one of %q", unchecked, versions, replay.BundleFormat)
			}
		})
	}
}

// TestEvents drops, doubles, moves and swaps every event, and brings in every event of another
// match at every place.
func TestEvents(t *testing.T) {
	for kind := range targets {
		t.Run(kind, func(t *testing.T) { testEvents(t, newTarget(t, kind)) })
	}
}

func testEvents(t *testing.T, x *target) {
	n := len(x.bundle.Events)
	change := func(what string, edit func(list []event.Event) []event.Event) {
		t.Helper()
		for _, proof := range []string{x.bundle.Proof, ""} {
			b := x.copy()
			b.Proof = proof
			b.Events = edit(b.Events)
			if proof == "" && len(b.Events) < n && slices.EqualFunc(b.Events, x.bundle.Events[:len(b.Events)], same) {
				x.incomplete(b, what)
			} else {
				x.refuted(b.Bytes(), what)
			}
		}
	}
	for i := range n {
		change(fmt.Sprintf("event %d dropped", i), func(l []event.Event) []event.Event { return slices.Delete(l, i, i+1) })
		if i > 0 {
			change(fmt.Sprintf("events from %d on dropped", i), func(l []event.Event) []event.Event { return l[:i] })
			change(fmt.Sprintf("events before %d dropped", i), func(l []event.Event) []event.Event { return l[i:] })
		}
		for j := range n + 1 {
			change(fmt.Sprintf("event %d again at %d", i, j), func(l []event.Event) []event.Event { return slices.Insert(l, j, l[i]) })
			change(fmt.Sprintf("event %d of another match at %d", i, j), func(l []event.Event) []event.Event {
				return slices.Insert(l, j, x.other.Events[i])
			})
		}
		for j := range n {
			if i < j {
				change(fmt.Sprintf("events %d and %d swapped", i, j), func(l []event.Event) []event.Event {
					l[i], l[j] = l[j], l[i]
					return l
				})
			}
			change(fmt.Sprintf("event %d of another match for %d", i, j), func(l []event.Event) []event.Event {
				l[j] = x.other.Events[i]
				return l
			})
		}
	}
}

func same(a, b event.Event) bool { return a.Leaf() == b.Leaf() }

// incomplete checks that a bundle whose end was cut off is called that, and nothing better.
func (x *target) incomplete(b *replay.Bundle, what string) {
	x.t.Helper()
	r := x.v.Verify(b.Bytes())
	if r.Verdict != replay.Incomplete || line(r, replay.StepClosure).Status != replay.NotShown || line(r, replay.StepInclusion).Status != replay.NotShown {
		x.t.Fatalf("%s: verdict %s\n%s", what, r.Verdict, show(r))
	}
}

// TestHex puts for every key, signature, hash and id every other of its length, of this match and of
// another.
func TestHex(t *testing.T) {
	for kind := range targets {
		t.Run(kind, func(t *testing.T) { testHex(t, newTarget(t, kind)) })
	}
}

func testHex(t *testing.T, x *target) {
	run := regexp.MustCompile(`[0-9a-f]{32,}`)
	pool := make(map[int][]string)
	for _, text := range [][]byte{x.text, x.other.Bytes()} {
		for _, h := range run.FindAll(text, -1) {
			if !slices.Contains(pool[len(h)], string(h)) {
				pool[len(h)] = append(pool[len(h)], string(h))
			}
		}
	}
	for n := range pool {
		pool[n] = append(pool[n], strings.Repeat("0", n), strings.Repeat("f", n), "01"+strings.Repeat("0", n-2))
	}
	tried := 0
	for _, at := range run.FindAllIndex(x.text, -1) {
		old := string(x.text[at[0]:at[1]])
		for _, h := range pool[len(old)] {
			if h == old {
				continue
			}
			tried++
			data := slices.Replace(slices.Clone(x.text), at[0], at[1], []byte(h)...)
			x.refuted(data, fmt.Sprintf("byte %d: %s for %s", at[0], h, old))
		}
	}
	if tried < 500 {
		t.Errorf("only %d changes", tried)
	}
}

// TestProofs gives the seal and the registrations proofs and checkpoints of something else.
func TestProofs(t *testing.T) {
	x := newTarget(t, "chess")
	w := x.tb.w
	size := w.size()
	last := int64(len(x.bundle.Events)) - 1
	use := func(what, proof string) {
		t.Helper()
		b := x.copy()
		b.Proof = proof
		x.refuted(b.Bytes(), what, last)
		for i := range b.Agents {
			b := x.copy()
			b.Agents[i].Proof = proof
			x.refuted(b.Bytes(), fmt.Sprintf("%s for registration %d", what, i), 0)
		}
	}
	use("proof of the other match", x.other.Proof)
	for i := range size - 1 {
		if i != x.tb.players[0].index && i != x.tb.players[1].index {
			use(fmt.Sprintf("proof of entry %d", i), w.prove(i, size, w.note(size)))
		}
	}
	p, err := proof.Parse([]byte(x.bundle.Proof))
	if err != nil {
		t.Fatal(err)
	}
	edit := func(what string, edit func(*proof.Proof)) {
		t.Helper()
		q := *p
		q.Hashes = slices.Clone(p.Hashes)
		edit(&q)
		use(what, string(q.Format()))
	}
	for n := range size {
		edit(fmt.Sprintf("checkpoint of size %d", n), func(q *proof.Proof) { q.Checkpoint = w.note(n) })
	}
	for n := range size + 5 {
		if n != p.Index {
			edit(fmt.Sprintf("index %d", n), func(q *proof.Proof) { q.Index = n })
		}
	}
	for i := range p.Hashes {
		edit(fmt.Sprintf("hash %d dropped", i), func(q *proof.Proof) { q.Hashes = slices.Delete(q.Hashes, i, i+1) })
		edit(fmt.Sprintf("hash %d doubled", i), func(q *proof.Proof) { q.Hashes = slices.Insert(q.Hashes, i, q.Hashes[i]) })
		edit(fmt.Sprintf("hash %d changed", i), func(q *proof.Proof) { q.Hashes[i][31] ^= 0x80 })
		for j := range i {
			edit(fmt.Sprintf("hashes %d and %d swapped", i, j), func(q *proof.Proof) { q.Hashes[i], q.Hashes[j] = q.Hashes[j], q.Hashes[i] })
		}
	}
	for name, signer := range map[string]*world{"other.example/log": newWorld(t, "other.example/log"), origin: newWorld(t, origin)} {
		fake := *signer
		fake.signer = newSigner(signer, seed("fake"))
		fake.leaves = w.leaves
		edit("checkpoint of "+name+" by another key", func(q *proof.Proof) { q.Checkpoint = fake.note(size) })
	}
	other := newWorld(t, "other.example/log")
	other.leaves = w.leaves
	both := replay.NewVerifier(parsePolicy(t, "log "+other.signer.Verifier().String()+"\n"+w.policy()))
	x.v = both
	edit("checkpoint of another log that the policy names", func(q *proof.Proof) { q.Checkpoint = other.note(size) })

	b := x.copy()
	b.Origin = other.origin
	x.refuted(b.Bytes(), "origin of another log that the policy names", 0)
}

// TestAgents: a registration that is left out decides nothing, and in any other way registrations
// stand only where they belong.
func TestAgents(t *testing.T) {
	x := newTarget(t, "chess")
	for i := range x.bundle.Agents {
		b := x.copy()
		b.Agents = slices.Delete(b.Agents, i, i+1)
		r := x.v.Verify(b.Bytes())
		l := line(r, replay.StepIdentity)
		if r.Verdict != replay.Unchecked || l.Status != replay.NotShown || !strings.Contains(l.Detail, []string{"alice", "bob"}[i]) {
			t.Errorf("registration %d left out: %s", i, show(r))
		}
		b = x.copy()
		b.Agents = slices.Insert(b.Agents, i, b.Agents[i])
		x.refuted(b.Bytes(), "registration doubled")
		b = x.copy()
		b.Agents[i].Event = b.Agents[1-i].Event
		x.refuted(b.Bytes(), "registration for another")
		b = x.copy()
		b.Agents[i].Event = b.Events[0]
		x.refuted(b.Bytes(), "opening for a registration")
	}
	b := x.copy()
	slices.Reverse(b.Agents)
	x.refuted(b.Bytes(), "registrations swapped")
}

// TestCosignatures flips bits everywhere in a cosigned proof: all is refuted, also a witness's name or
// key, since the proofs of the registrations are under the checkpoint as it was.
func TestCosignatures(t *testing.T) {
	x := newTarget(t, "chess")
	x.v = replay.NewVerifier(parsePolicy(t, policies(t)["witnessed"]))
	b := x.copy()
	note := x.tb.cosigned(b, "w1.example", "w2.example")
	if r := x.v.Verify(b.Bytes()); r.Verdict != replay.Verified {
		t.Fatalf("not right as it is: %s", show(r))
	}
	for i := range b.Proof {
		for _, mask := range []byte{0x01, 0x20} {
			c := *b
			data := []byte(b.Proof)
			data[i] ^= mask
			if data[i] >= 0x80 || b.Proof[i] >= 0x80 {
				continue // not a string any more: TestFlips
			}
			c.Proof = string(data)
			text := c.Bytes()
			x.refuted(text, fmt.Sprintf("byte %d of the proof", i), int64(len(b.Events))-1)
		}
	}
	// A registration under a head that the witnesses did not see.
	b.Agents[1].Proof = x.tb.w.prove(x.tb.players[1].index, x.tb.w.size(), x.tb.w.note(x.tb.w.size()))
	x.refuted(b.Bytes(), "registration under another head than "+string(note), int64(len(b.Events))-1)
}
