package replay_test

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"ludger/checkpoint"
	"ludger/checkpoint/proof"
	"ludger/checkpoint/tiles"
	"ludger/engine"
	"ludger/ledger/event"
	"ludger/ledger/sign"
	"ludger/replay"
)

const (
	origin = "vectors.example/log"
	first  = 1_735_424_400_000 // Unix milliseconds of a world's first entry
	moveMS = 60_000            // milliseconds for each move
)

func key(name string) sign.PrivateKey { return sign.DeriveKey([]byte("test vectors only"), name) }

func seed(name string) [32]byte { return sha256.Sum256([]byte("test vectors only: " + name)) }

// A world is one log in memory with the key that signs its heads: a hall that can be honest or not.
// All in it is fixed, so that it gives the same bytes every time.
type world struct {
	t      testing.TB
	origin string
	signer *checkpoint.Signer
	leaves []event.Leaf
	raws   [][]byte
	now    int64
	number int64 // of the newest match
	same   bool  // all matches have one secret
}

func newWorld(t testing.TB, origin string) *world {
	t.Helper()
	signer, err := checkpoint.NewSigner(origin, seed("log "+origin))
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, origin: origin, signer: signer, now: first}
	w.log(w.event(event.LogStream, 0, event.Leaf{}, &event.LogOpened{
		Origin: origin, Keys: []string{signer.Verifier().String()}, Catalogue: sha256.Sum256([]byte("chess@1\n"))}))
	for _, name := range []string{"carol", "dave", "erin"} { // so that proofs have some length
		w.register(name)
	}
	return w
}

func (w *world) event(s event.Stream, seq int64, prev event.Leaf, body event.Body) event.Event {
	w.t.Helper()
	w.now += 1000
	e, err := event.New(w.now, s, seq, prev, body)
	if err != nil {
		w.t.Fatal(err)
	}
	return e
}

// log appends events and returns the index of the first.
func (w *world) log(events ...event.Event) int64 {
	index := int64(len(w.leaves))
	for i := range events {
		w.leaves = append(w.leaves, events[i].Leaf())
		w.raws = append(w.raws, events[i].Raw())
	}
	return index
}

func (w *world) size() int64 { return int64(len(w.leaves)) }

func (w *world) nodes(height int, n int64) ([32]byte, error) {
	if height == 0 {
		return w.leaves[n], nil
	}
	left, _ := w.nodes(height-1, 2*n)
	right, err := w.nodes(height-1, 2*n+1)
	return tiles.NodeHash(left, right), err
}

func (w *world) note(size int64) []byte {
	w.t.Helper()
	root, err := proof.Root(w.nodes, size)
	if err != nil {
		w.t.Fatal(err)
	}
	return w.signer.Sign(size, root)
}

// prove returns the tlog-proof of an entry under a note of the given size.
func (w *world) prove(index, size int64, note []byte) string {
	w.t.Helper()
	hashes, err := proof.Inclusion(w.nodes, index, size)
	if err != nil {
		w.t.Fatal(err)
	}
	p := proof.Proof{Index: index, Hashes: hashes, Checkpoint: note}
	return string(p.Format())
}

// policy is the text of the policy that trusts the world's log and asks for no witness.
func (w *world) policy() string { return "log " + w.signer.Verifier().String() + "\nquorum none\n" }

func parsePolicy(t testing.TB, text string) *checkpoint.Policy {
	t.Helper()
	p, err := checkpoint.ParsePolicy([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A witness cosigns whatever it is asked to.
type witness struct {
	key  sign.PrivateKey
	verk *checkpoint.Verifier
}

func newWitness(t testing.TB, name string) witness {
	t.Helper()
	k := key(name)
	v, err := checkpoint.NewVerifier(checkpoint.Cosignature, name, k.Public())
	if err != nil {
		t.Fatal(err)
	}
	return witness{k, v}
}

func (c witness) cosign(t testing.TB, note []byte, seconds int64) []byte {
	t.Helper()
	n, err := checkpoint.ParseNote(note)
	if err != nil {
		t.Fatal(err)
	}
	s := c.key.Sign(append(fmt.Appendf(nil, "cosignature/v1\ntime %d\n", seconds), n.Text...))
	n.Signatures = append(n.Signatures, checkpoint.Signature{
		Name: c.verk.Name(), ID: c.verk.ID(), Bytes: append(binary.BigEndian.AppendUint64(nil, uint64(seconds)), s[:]...)})
	return n.Format()
}

// bend returns the event in another frame, which package event may refuse for its body.
func (w *world) bend(e event.Event, s event.Stream, seq int64, prev event.Leaf) event.Event {
	w.t.Helper()
	raw := strings.NewReplacer(
		fmt.Sprintf(`"prev":%q,"seq":%d,"stream":%q,`, e.Prev, e.Seq, e.Stream),
		fmt.Sprintf(`"prev":%q,"seq":%d,"stream":%q,`, prev, seq, s)).Replace(string(e.Raw()))
	bent, err := event.Parse([]byte(raw))
	if err != nil {
		w.t.Fatal(err)
	}
	return bent
}

// An agent plays matches.
type agent struct {
	handle string
	key    sign.PrivateKey
	house  bool
	event  *event.Event // its registration, nil if it has none
	index  int64        // of the registration in the log
}

func unregistered(handle string) *agent { return &agent{handle: handle, key: key(handle)} }

func (w *world) registration(handle string, key, signer sign.PrivateKey) *event.AgentRegistered {
	w.t.Helper()
	msg, err := sign.AgentMessage(w.origin, handle, key.Public())
	if err != nil {
		w.t.Fatal(err)
	}
	statement := signer.Sign(msg)
	return &event.AgentRegistered{Handle: handle, Key: key.Public(), Statement: &statement}
}

func (w *world) register(handle string) *agent {
	w.t.Helper()
	k := key(handle)
	e := w.event(event.AgentStream(handle), 0, event.Leaf{}, w.registration(handle, k, k))
	return &agent{handle: handle, key: k, event: &e, index: w.log(e)}
}

// A table is a match that is being played. say plays by the rules; put, force and raw log anything,
// so chained that only what they are given is wrong.
type table struct {
	w       *world
	m       *replay.Match
	players []*agent
	secret  [32]byte
	arena   *arena // that runs the match, if any
	events  []event.Event
	index   int64 // of the first event in the log, once logged
}

// opening returns the opening of the next match; edit may change it in any way.
func (w *world) opening(edit func(*event.MatchOpened), players ...*agent) *event.MatchOpened {
	w.number++
	o := &event.MatchOpened{Number: w.number, Game: "chess@1", Variant: "standard", Division: "assisted", MoveMS: moveMS}
	for _, p := range players {
		s := event.Seat{Handle: p.handle, Key: p.key.Public(), House: p.house}
		if p.event != nil {
			leaf := p.event.Leaf()
			s.Registered = &leaf
		}
		o.Seats = append(o.Seats, s)
	}
	if edit != nil {
		edit(o)
	}
	return o
}

// open begins a match with the opening that opening returns.
func (w *world) open(edit func(*event.MatchOpened), players ...*agent) *table {
	w.t.Helper()
	o := w.opening(edit, players...)
	tb := w.table(players...)
	tb.put(tb.first(o.ID(w.origin)), o)
	return tb
}

// first returns the frame of the first event of a match.
func (tb *table) first(id event.MatchID) frame {
	f := tb.frame()
	f.stream = event.MatchStream(id)
	return f
}

func (w *world) table(players ...*agent) *table {
	return &table{w: w, m: replay.NewKeys().NewMatch(w.origin), players: players, secret: w.secret()}
}

// duel begins an ordinary match of two registered agents that both acknowledge it.
func (w *world) duel() *table {
	w.t.Helper()
	tb := w.open(nil, w.register("alice"), w.register("bob"))
	tb.ack(0)
	tb.ack(1)
	return tb
}

// A frame is what stands around an event's body.
type frame struct {
	at     int64
	stream event.Stream
	seq    int64
	prev   event.Leaf
}

// frame returns the right one for the next event.
func (tb *table) frame() frame {
	tb.w.now += 1000
	return frame{tb.w.now, event.MatchStream(tb.m.ID()), tb.m.Len(), tb.m.Last()}
}

func (tb *table) checked(e event.Event, err error) {
	tb.w.t.Helper()
	if err != nil {
		tb.w.t.Fatal(err)
	}
	tb.take(e)
}

// put logs a body whatever the rules say.
func (tb *table) put(f frame, body event.Body) {
	tb.w.t.Helper()
	e, err := event.New(f.at, f.stream, f.seq, f.prev, body)
	tb.checked(e, err)
}

func (tb *table) force(body event.Body) {
	tb.w.t.Helper()
	tb.put(tb.frame(), body)
}

// take logs an event that was made elsewhere.
func (tb *table) take(e event.Event) {
	tb.events = append(tb.events, e)
	tb.m.Apply(&e)
}

// raw logs an event whose body is of no known kind, or not of its kind's shape.
func (tb *table) raw(f frame, kind, body string) {
	tb.w.t.Helper()
	e, err := event.Parse(fmt.Appendf(nil, `{"at":%d,"body":%s,"kind":%q,"prev":%q,"seq":%d,"stream":%q,"v":1}`,
		f.at, body, kind, f.prev, f.seq, f.stream))
	tb.checked(e, err)
}

// say logs a body by the rules.
func (tb *table) say(body event.Body) {
	tb.w.t.Helper()
	tb.w.now += 1000
	e, err := tb.m.Propose(tb.w.now, body)
	if err != nil {
		tb.w.t.Fatal(err)
	}
	tb.events = append(tb.events, e)
}

func (tb *table) acked(seat engine.Seat) *event.SeatAcked {
	leaf := tb.events[0].Leaf()
	return &event.SeatAcked{Seat: seat, Signature: tb.players[seat].key.Sign(sign.AckMessage(tb.m.ID(), leaf))}
}

func (tb *table) ack(seat engine.Seat) {
	tb.w.t.Helper()
	tb.say(tb.acked(seat))
}

// signed returns a body that the seat signs now; edit may change it before.
func (tb *table) signed(seat engine.Seat, edit func(*event.SignedMove)) event.SignedMove {
	tb.w.t.Helper()
	seen := tb.m.Last()
	s := event.SignedMove{GameID: tb.m.ID(), TurnIndex: tb.m.Turn(), Seen: &seen}
	edit(&s)
	s, err := s.Sign(tb.players[seat].key)
	if err != nil {
		tb.w.t.Fatal(err)
	}
	return s
}

func text(move string) func(*event.SignedMove) {
	return func(s *event.SignedMove) { s.Move = move }
}

func offer(move string) func(*event.SignedMove) {
	return func(s *event.SignedMove) { s.Move, s.DrawOffer = move, true }
}

func accept(s *event.SignedMove) { s.DrawOffer = true }

func resign(s *event.SignedMove) { s.Resign = true }

// played returns the move that an honest hall would log for a signed one, or the nearest to that if
// no honest hall would log it.
func (tb *table) played(seat engine.Seat, signed event.SignedMove) *event.MovePlayed {
	b := &event.MovePlayed{Seat: seat, Turn: tb.m.Turn(), Move: signed.Move, Signed: signed}
	if p := tb.m.Position(); p != nil {
		after := p.Clone()
		if move, err := p.Parse(seat, signed.Move); err == nil && after.Play(seat, move) == nil {
			b.Move = move
		}
		b.State = digest(after)
	}
	return b
}

func digest(p engine.Position) event.StateDigest {
	sum := sha256.Sum256(p.AppendState(nil, engine.Spectator))
	return event.StateDigest(sum[:16])
}

// move plays by the rules what the seat on turn signs.
func (tb *table) move(edit func(*event.SignedMove)) {
	tb.w.t.Helper()
	seat := tb.m.Position().Turn().Seats()[0]
	tb.say(&event.MovePlayed{Seat: seat, Signed: tb.signed(seat, edit)})
}

func (tb *table) moves(list string) {
	tb.w.t.Helper()
	for _, m := range strings.Fields(list) {
		tb.move(text(m))
	}
}

// resigned is the seat's signed resignation.
func (tb *table) resigned(seat engine.Seat) *event.MatchForfeited {
	s := tb.signed(seat, resign)
	return &event.MatchForfeited{Seat: seat, Reason: engine.Resigned, Signed: &s}
}

func (tb *table) resign(seat engine.Seat) {
	tb.w.t.Helper()
	tb.say(tb.resigned(seat))
}

// end states the outcome and seals by the rules.
func (tb *table) end() {
	tb.w.t.Helper()
	tb.say(&event.MatchEnded{})
	tb.say(&event.MatchSealed{})
}

// ended is the statement of the outcome that follows, or of a draw if none does.
func (tb *table) ended() *event.MatchEnded {
	b := &event.MatchEnded{Outcome: engine.Outcome{Returns: []int64{0, 0}, Reason: engine.Agreed}}
	if o, ok := tb.m.Outcome(); ok {
		b.Outcome = o
	}
	if p := tb.m.Position(); p != nil {
		b.State = digest(p)
	}
	return b
}

// sealed is the seal over the events so far.
func (tb *table) sealed() *event.MatchSealed {
	var edge tiles.Edge
	for i := range tb.events {
		edge.Append(tb.events[i].Leaf(), nil)
	}
	return &event.MatchSealed{Count: edge.Size(), Root: edge.Root()}
}

// forceEnd ends and seals the match as if all before were right.
func (tb *table) forceEnd() {
	tb.w.t.Helper()
	tb.force(tb.ended())
	tb.force(tb.sealed())
}

// bundle logs the match and returns its bundle under the log's newest head.
func (tb *table) bundle() *replay.Bundle {
	tb.w.t.Helper()
	tb.index = tb.w.log(tb.events...)
	return tb.proven(tb.w.note(tb.w.size()))
}

// proven returns the bundle of the match, which is logged, under a note of the log's whole size.
func (tb *table) proven(note []byte) *replay.Bundle {
	tb.w.t.Helper()
	b := &replay.Bundle{Origin: tb.w.origin, Events: tb.events}
	if tb.events[len(tb.events)-1].Kind == event.KindMatchSealed {
		b.Proof = tb.sealProof(tb.w.size(), note)
	}
	for _, p := range tb.players {
		if p.event != nil {
			b.Agents = append(b.Agents, replay.Proven{Event: *p.event, Proof: tb.w.prove(p.index, tb.w.size(), note)})
		}
	}
	if tb.arena != nil {
		b.Arena = &replay.Proven{Event: tb.arena.Event, Proof: tb.w.prove(tb.arena.index, tb.w.size(), note)}
	}
	return b
}

// sealProof returns the proof of the seal under another note of the log, of the given size.
func (tb *table) sealProof(size int64, note []byte) string {
	tb.w.t.Helper()
	return tb.w.prove(tb.index+int64(len(tb.events))-1, size, note)
}

// agentProofs gives the registrations' proofs another note of the log, of its whole size.
func (tb *table) agentProofs(b *replay.Bundle, note []byte) {
	tb.w.t.Helper()
	for i := range b.Agents {
		b.Agents[i].Proof = tb.w.prove(tb.players[i].index, tb.w.size(), note)
	}
}

func line(r *replay.Report, s replay.Step) replay.Line {
	for _, l := range r.Steps {
		if l.Step == s {
			return l
		}
	}
	return replay.Line{}
}

func show(r *replay.Report) string {
	text, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err.Error()
	}
	return string(text)
}
