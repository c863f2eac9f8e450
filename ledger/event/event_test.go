package event

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"ludger/checkpoint/beacon"
	"ludger/engine"
	"ludger/ledger/canon"
	"ludger/ledger/sign"
	"ludger/testvectors"
)

const origin = "vectors.example/log"

// secret is that of the samples' sealed match.
var secret = [32]byte{1, 2, 3, 4}

func key(name string) sign.PrivateKey { return sign.DeriveKey([]byte("test vectors only"), name) }

// samples returns one event of every kind, each in the form that the log would hold, and more
// where a kind has several forms. They are not one match: each stands alone.
func samples(t testing.TB) []Event {
	t.Helper()
	alice, bob := key("alice"), key("bob")
	msg, err := sign.AgentMessage(origin, "alice", alice.Public())
	if err != nil {
		t.Fatal(err)
	}
	statement := alice.Sign(msg)
	registered := Leaf{1, 2, 3}
	opened := &MatchOpened{
		Number: 7, Game: "chess@1", Variant: "standard", Division: "assisted", MoveMS: 60_000,
		Seats: []Seat{
			{Handle: "alice", Key: alice.Public(), Registered: &registered, Joined: &Leaf{17}},
			{Handle: "bob-the-bot", Key: bob.Public(), House: true},
		},
	}
	imported := *opened
	imported.MoveMS = 0
	imported.Start = "4k3/8/8/8/8/8/8/4K2R w K - 0 1"
	imported.Division = "unassisted"
	imported.Imported = &Imported{Format: "pgn", Record: [32]byte{9}}
	local, err := beacon.NewLocal([32]byte{3}, 1735424300, 1)
	if err != nil {
		t.Fatal(err)
	}
	round := func(n int64) Beacon {
		signature, err := local.Sign(n)
		if err != nil {
			t.Fatal(err)
		}
		return Beacon{n, signature}
	}
	chain := local.Chain().Info()
	public, sealed, live := *opened, *opened, *opened
	public.Chance = Chance{Mode: ChancePublic, Chain: beacon.Quicknet(), Base: Beacon{1000, make([]byte, 48)}, Delay: 2}
	sealed.Arena = &Arena{Name: "north-hall", Admitted: Leaf{7}}
	vault, err := local.Chain().SealTimelock(100_000, secret)
	if err != nil {
		t.Fatal(err)
	}
	sealed.Chance = Chance{Mode: ChanceSealed, Chain: chain, Base: round(100), Delay: 2, Commitment: beacon.Commitment(secret), Salt: [16]byte{5},
		Opens: 100_000, Vault: vault}
	live.Chance = Chance{Mode: ChanceLive, Chain: chain, Base: round(100), Delay: 2}
	hidden := Box{Match: sealed.ID(origin), Seq: 4, Prev: Leaf{0xaa}, Seat: 1, Turn: 0}
	id := opened.ID(origin)
	match := MatchStream(id)
	prev := Leaf{0xaa}
	seen := Leaf{0xbb}
	signed := func(m SignedMove, k sign.PrivateKey) SignedMove {
		m.GameID = id
		s, err := m.Sign(k)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	request := func(path, body string) Request {
		msg, err := sign.RequestMessage("alice", "c0ffee", "POST", path, []byte(body))
		if err != nil {
			t.Fatal(err)
		}
		return Request{path, "c0ffee", body, alice.Sign(msg)}
	}
	twelve := int64(12)
	resign := signed(SignedMove{TurnIndex: 9, Resign: true}, bob)
	layout := signed(SignedMove{Move: "a1h b3v"}, bob)
	box, err := hidden.Seal(hidden.Key(secret), "A1h B3v", &layout)
	if err != nil {
		t.Fatal(err)
	}
	draw := engine.Outcome{Returns: []int64{0, 0}, Reason: engine.Agreed}
	list := []struct {
		stream Stream
		seq    int64
		body   Body
	}{
		{LogStream, 0, &LogOpened{Origin: origin, Keys: []string{origin + "+0123abcd+AQ=="}, Catalogue: [32]byte{4}}},
		{AgentStream("alice"), 0, &AgentRegistered{Handle: "alice", Key: alice.Public(), Model: "model one", Statement: &statement}},
		{AgentStream("bob"), 0, &AgentRegistered{Handle: "bob", Key: bob.Public(), Operator: &[32]byte{16}}},
		{match, 0, opened},
		{MatchStream(imported.ID(origin)), 0, &imported},
		{ArenaStream("north-hall"), 0, &ArenaAdmitted{Name: "north-hall", Key: bob.Public()}},
		{MatchStream(public.ID(origin)), 0, &public},
		{MatchStream(sealed.ID(origin)), 0, &sealed},
		{match, 1, &BeaconRecorded{Chain: chain.Hash, Beacon: round(102)}},
		{MatchStream(live.ID(origin)), 0, &live},
		{match, 2, &RollCalled{Seat: 1, Signed: signed(SignedMove{TurnIndex: 4, Move: "roll@105"}, bob)}},
		{match, 2, &ChanceDrawn{Draw: 0, Outcome: "31", State: StateDigest{9}}},
		{match, 3, &ChanceDrawn{Draw: 1, State: StateDigest{10}}},
		{MatchStream(sealed.ID(origin)), 4, &MovePlayed{Seat: 1, Turn: 0, State: StateDigest{11}, Box: box}},
		{match, 6, &MatchRevealed{Secret: secret}},
		{AgentStream("alice"), 1, &AgentHomologated{Season: "2026-q4", Model: "model one", Harness: "loop 3.1", Settings: [32]byte{12}}},
		{AgentStream("alice"), 2, &LobbyJoined{Request: request(JoinPath, `{"game":"chess", "variant":"standard", "division":"assisted"}`)}},
		{AgentStream("alice"), 3, &LobbyLeft{Request: request(LeavePath, `{"game":"chess","variant":"standard","division":"assisted"}`)}},
		{AgentStream("alice"), 4, &AgentSuspended{Reason: "plays for two operators"}},
		{AgentStream("alice"), 5, &DoorbellSet{State: "verified", URL: [32]byte{13}}},
		{AgentStream("alice"), 6, &FeedbackLeft{Text: [32]byte{14}}},
		{LogStream, 3, &DocketEntered{Entry: "suspension", About: "alice", Text: "plays for two operators"}},
		{match, 4, &MoveDefaulted{Seat: 1, Turn: 3, Move: "check", State: StateDigest{15}}},
		{match, 1, &SeatAcked{Seat: 1, Signature: bob.Sign([]byte("not checked here"))}},
		{match, 2, &MovePlayed{Seat: 0, Turn: 0, Move: "e2e4", State: StateDigest{5},
			Signed: signed(SignedMove{Move: "e4", Commentary: "“hello”, \U0001F469\u200d\U0001F4BB", DrawOffer: true, Seen: &seen}, alice)}},
		{match, 3, &MovePlayed{Seat: 1, Turn: 1, Move: "e7e5", Signed: signed(SignedMove{TurnIndex: 1, Index: &twelve}, bob)}},
		{match, 4, &DrawAgreed{Seat: 0, Signed: signed(SignedMove{TurnIndex: 2, DrawOffer: true}, alice)}},
		{match, 5, &MatchForfeited{Seat: 1, Reason: engine.Resigned, Signed: &resign}},
		{match, 5, &MatchForfeited{Seat: 1, Reason: engine.OutOfTime}},
		{match, 5, &MatchAdjudicated{Returns: draw.Returns, Rule: "the record states 1/2-1/2"}},
		{match, 5, &MatchAborted{Reason: "nobody came"}},
		{match, 6, &MatchEnded{Outcome: draw, State: StateDigest{6}}},
		{match, 7, &MatchSealed{Count: 7, Root: [32]byte{8}}},
	}
	events := make([]Event, len(list))
	for i, l := range list {
		p := prev
		if l.seq == 0 {
			p = Leaf{}
		}
		if events[i], err = New(1735424400000+int64(i), l.stream, l.seq, p, l.body); err != nil {
			t.Fatalf("%T: %v", l.body, err)
		}
	}
	return events
}

type eventVector struct {
	Kind  string `json:"kind"`
	Event string `json:"event"`
	Leaf  string `json:"leaf"`
}

type refusedVector struct {
	Why   string `json:"why"`
	Event string `json:"event"`
	Stage string `json:"stage"` // "event": its frame is refused; "body": only the body by its kind
}

type idVector struct {
	Origin string `json:"origin"`
	Body   string `json:"body"`
	ID     string `json:"id"`
}

type vectors struct {
	Valid    []eventVector   `json:"valid"`
	Refused  []refusedVector `json:"refused"`
	MatchIDs []idVector      `json:"match_ids"`
}

// edits are changes to a valid event that must be refused.
var edits = []struct{ why, kind, old, new, stage string }{
	{"version is not known", "move.played", `"v":1`, `"v":2`, "event"},
	{"time is negative", "move.played", `"at":17`, `"at":-17`, "event"},
	{"stream is no stream", "match.aborted", `"stream":"match/`, `"stream":"games/`, "event"},
	{"match stream in upper case", "match.aborted", `"stream":"match/`, `"stream":"match/A`, "event"},
	{"kind is not two words", "match.aborted", `"kind":"match.aborted"`, `"kind":"match"`, "event"},
	{"prev is zero after the first", "match.aborted", `"prev":"aa`, `"prev":"00`, "event"},
	{"prev is upper case", "match.aborted", `"prev":"aa`, `"prev":"AA`, "event"},
	{"seq is a string", "match.aborted", `"seq":5`, `"seq":"5"`, "event"},
	{"a member too much", "match.aborted", `"v":1`, `"v":1,"w":1`, "event"},
	{"not canonical: space", "match.aborted", `"v":1`, `"v": 1`, "event"},
	{"body member unknown", "match.aborted", `"reason":`, `"raison":`, "body"},
	{"body text with a control character", "match.aborted", `nobody`, `no\nbody`, "body"},
	{"body text is empty", "match.aborted", `nobody came`, ``, "body"},
	{"seat beyond the last", "seat.acked", `"seat":1`, `"seat":8`, "body"},
	{"signature in upper case", "seat.acked", `"signature":"`, `"signature":"A`, "body"},
	{"division unknown", "match.opened", `"assisted"`, `"aided"`, "body"},
	{"seat acts in a way not known", "match.opened", `"acts":"signed"`, `"acts":"silent"`, "body"},
	{"chance mode not known", "match.opened", `"mode":"none"`, `"mode":"some"`, "body"},
	{"vault that opens with the round that counts", "match.opened", `"opens":100000`, `"opens":102`, "body"},
	{"vault that is empty", "match.opened", `"vault":"`, `"vault":"","vaults":"`, "body"},
	{"call of no round", "roll.called", `"move":"roll@105"`, `"move":"31"`, "body"},
	{"call of a round with a zero before it", "roll.called", `"move":"roll@105"`, `"move":"roll@0105"`, "body"},
	{"join that asks for no division", "lobby.joined", `division`, `divisions`, "body"},
	{"join at another path", "lobby.joined", `/api/lobby/join`, `/api/lobby/leave`, "body"},
	{"join with a colon in its challenge", "lobby.joined", `c0ffee`, `c0:fee`, "body"},
	{"join as the first of an agent", "lobby.joined", `"prev":"aa` + Leaf{0xaa}.String()[2:] + `","seq":2`, `"prev":"` + Leaf{}.String() + `","seq":0`, "body"},
	{"leave without its path", "lobby.left", `"path":"`, `"paths":"`, "body"},
	{"homologation without settings", "agent.homologated", `"settings"`, `"setting"`, "body"},
	{"operator that is too short", "agent.registered", `"operator":"10`, `"operator":"`, "body"},
	{"suspension without a word whether it is lifted", "agent.suspended", `"lifted":false`, `"lifted":0`, "body"},
	{"doorbell in a state not known", "doorbell.set", `"verified"`, `"rung"`, "body"},
	{"doorbell disabled with a URL", "doorbell.set", `"verified"`, `"disabled"`, "body"},
	{"docket entry of a kind not known", "docket.entered", `"entry":"suspension"`, `"entry":"gossip"`, "body"},
	{"docket entry in an agent's stream", "docket.entered", `"stream":"log"`, `"stream":"agent/alice"`, "body"},
	{"feedback with its text", "feedback.left", `"text":"0e`, `"text":"hello`, "body"},
	{"default move that is empty", "move.defaulted", `"move":"check"`, `"move":""`, "body"},
	{"seat that joined by no leaf", "match.opened", `"joined":"11`, `"joined":"1`, "body"},
	{"commitment in a match without a secret", "match.opened", `"mode":"sealed"`, `"mode":"public"`, "body"},
	{"secret without a commitment", "match.opened", `"mode":"public"`, `"mode":"sealed"`, "body"},
	{"chain whose hash is another", "match.opened", `"period":1`, `"period":2`, "body"},
	{"chain that is quicknet in name only", "match.opened", `"period":3`, `"period":30`, "body"},
	{"test chain without its mark", "match.opened", `,"test":true`, ``, "body"},
	{"chance without a delay", "match.opened", `"delay":2`, `"delay":0`, "body"},
	{"chance in a match without chance", "match.opened", `{"mode":"none"}`, `{"delay":2,"mode":"none"}`, "body"},
	{"arena's name in upper case", "match.opened", `"name":"north-hall"`, `"name":"North-hall"`, "body"},
	{"arena admitted in another's stream", "arena.admitted", `"stream":"arena/north-hall"`, `"stream":"arena/north-halls"`, "body"},
	{"beacon of round zero", "beacon.recorded", `"round":102`, `"round":0`, "body"},
	{"beacon in upper case", "beacon.recorded", `"signature":"`, `"signature":"AA`, "body"},
	{"beacon without its chain", "beacon.recorded", `"chain":`, `"chains":`, "body"},
	{"outcome that is empty", "chance.drawn", `"outcome":"31"`, `"outcome":""`, "body"},
	{"draw that is negative", "chance.drawn", `"draw":0`, `"draw":-1`, "body"},
	{"box of no size that there is", "move.played", `"box":"`, `"box":"00`, "body"},
	{"box and the move it hides", "move.played", `"seat":1,"state":"0b`, `"move":"A1h B3v","seat":1,"state":"0b`, "body"},
	{"secret in upper case", "match.revealed", `"secret":"01020304`, `"secret":"0102030A`, "body"},
	{"house is written only when true", "match.opened", `"house":true`, `"house":false`, "body"},
	{"handle too short", "match.opened", `"handle":"alice"`, `"handle":"al"`, "body"},
	{"number is zero", "match.opened", `"number":7`, `"number":0`, "body"},
	{"move with a control character", "move.played", `"move":"e2e4"`, `"move":"e2\te4"`, "body"},
	{"signed commentary with a control character", "move.played", `hello`, "he\x7fllo", "body"},
	{"signed body without game", "move.played", `"game_id":`, `"game_no":`, "body"},
	{"signed index is negative", "move.played", `{"index":12}`, `{"index":-1}`, "body"},
	{"forfeit for another reason", "match.forfeited", `"out-of-time"`, `"out-of-luck"`, "body"},
	{"time forfeit that is signed", "match.forfeited", `"resigned"`, `"out-of-time"`, "body"},
	{"adjudication that gives a reason of its own", "match.adjudicated", `"returns":[0,0]`, `"reason":"checkmate","returns":[0,0]`, "body"},
	{"text that turns around", "match.aborted", `nobody`, "no\u202ebody", "body"},
	{"text with a line separator", "match.aborted", `nobody`, "no\u2028body", "body"},
	{"rule with a paragraph separator", "match.adjudicated", `the record`, "the\u2029record", "body"},
	{"model with a character of no width", "agent.registered", `model one`, "model\u200bone", "body"},
	{"format with a soft hyphen", "match.opened", `"format":"pgn"`, "\"format\":\"p\u00adgn\"", "body"},
	{"outcome with a text for a number", "match.ended", `"returns":[0,0]`, `"returns":[0,"0"]`, "body"},
	{"seal of nothing", "match.sealed", `"count":7`, `"count":0`, "body"},
	{"kind in a stream it does not belong to", "match.sealed", `"stream":"match/`, `"stream":"agent/`, "event"},
	{"origin with a space", "log.opened", `"origin":"vectors.example`, `"origin":"vectors example`, "body"},
	{"origin with a plus", "log.opened", `"origin":"vectors.example`, `"origin":"vectors+example`, "body"},
	{"origin that is an address", "log.opened", `"origin":"vectors.example`, `"origin":"https://vectors.example`, "body"},
	{"log opened twice", "log.opened", `"prev":"00`, `"prev":"01`, "event"},
	{"opening that is not the first", "match.opened", `"prev":"` + Leaf{}.String() + `","seq":0`, `"prev":"01` + Leaf{}.String()[2:] + `","seq":1`, "body"},
	{"registration in another agent's stream", "agent.registered", `"stream":"agent/alice"`, `"stream":"agent/alicf"`, "body"},
	{"agent's event in the log's stream", "agent.registered", `"stream":"agent/alice"`, `"stream":"log"`, "body"},
}

// build makes the vectors from the samples.
func build(t *testing.T) vectors {
	var v vectors
	used := make([]bool, len(edits))
	for _, e := range samples(t) {
		v.Valid = append(v.Valid, eventVector{string(e.Kind), string(e.Raw()), e.Leaf().String()})
		for i, ed := range edits {
			if used[i] || ed.kind != string(e.Kind) || !strings.Contains(string(e.Raw()), ed.old) {
				continue
			}
			used[i] = true
			v.Refused = append(v.Refused, refusedVector{ed.why, strings.Replace(string(e.Raw()), ed.old, ed.new, 1), ed.stage})
		}
		if body, err := e.Body(); err == nil {
			if o, ok := body.(*MatchOpened); ok {
				v.MatchIDs = append(v.MatchIDs, idVector{origin, string(o.value().Bytes()), o.ID(origin).String()},
					idVector{"other.example/log", string(o.value().Bytes()), o.ID("other.example/log").String()})
			}
		}
	}
	for i, u := range used {
		if !u {
			t.Errorf("edit %q fits no sample", edits[i].why)
		}
	}
	return v
}

const vectorFile = "event/events.json"

func TestVectors(t *testing.T) {
	var want bytes.Buffer
	enc := json.NewEncoder(&want)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(build(t)); err != nil {
		t.Fatal(err)
	}
	if os.Getenv("LUDGER_UPDATE") != "" {
		if err := os.MkdirAll("../../testvectors/event", 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("../../testvectors/"+vectorFile, want.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := testvectors.FS.ReadFile(vectorFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want.Bytes()) {
		t.Errorf("%s is not what the code makes: run make vectors and explain the difference", vectorFile)
	}
}

func read(t testing.TB) vectors {
	t.Helper()
	data, err := testvectors.FS.ReadFile(vectorFile)
	if err != nil {
		t.Fatal(err)
	}
	var v vectors
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	if len(v.Valid) == 0 || len(v.Refused) == 0 || len(v.MatchIDs) == 0 {
		t.Fatal("vectors are empty")
	}
	return v
}

func TestValid(t *testing.T) {
	for _, v := range read(t).Valid {
		e, err := Parse([]byte(v.Event))
		if err != nil {
			t.Errorf("%s: %v", v.Kind, err)
			continue
		}
		if e.Leaf().String() != v.Leaf || string(e.Kind) != v.Kind {
			t.Errorf("%s: leaf %v, want %s", v.Kind, e.Leaf(), v.Leaf)
		}
		body, err := e.Body()
		if err != nil {
			t.Errorf("%s: %v", v.Kind, err)
			continue
		}
		// What was read prints back to the same bytes.
		again, err := New(e.At, e.Stream, e.Seq, e.Prev, body)
		if err != nil || string(again.Raw()) != v.Event {
			t.Errorf("%s: printed again\n%s\nwant\n%s\n(%v)", v.Kind, again.Raw(), v.Event, err)
		}
	}
}

func TestRefused(t *testing.T) {
	for _, v := range read(t).Refused {
		e, err := Parse([]byte(v.Event))
		if v.Stage == "event" {
			if err == nil {
				t.Errorf("%s: accepted", v.Why)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: refused before the body: %v", v.Why, err)
			continue
		}
		if _, err := e.Body(); err == nil {
			t.Errorf("%s: accepted", v.Why)
		} else if errors.Is(err, ErrUnknownKind) {
			t.Errorf("%s: refused as unknown: %v", v.Why, err)
		}
	}
}

func TestMatchIDs(t *testing.T) {
	seen := map[string]bool{}
	for _, v := range read(t).MatchIDs {
		body, err := canon.ParseCanonical([]byte(v.Body), canon.Limits{Bytes: MaxEvent, Depth: MaxDepth, Values: MaxValues})
		if err != nil {
			t.Fatal(err)
		}
		id := MatchID(canon.Digest("ludger/match/v1", []byte(v.Origin), body.Bytes()))
		if id.String() != v.ID || seen[v.ID] {
			t.Errorf("%s: id %v, want %s, each once", v.Origin, id, v.ID)
		}
		seen[v.ID] = true
	}
}

func TestUnknownKind(t *testing.T) {
	e := samples(t)[3]
	raw := strings.Replace(string(e.Raw()), `"kind":"match.opened"`, `"kind":"match.paused"`, 1)
	u, err := Parse([]byte(raw))
	if err != nil {
		t.Fatalf("an unknown kind must be skippable: %v", err)
	}
	if _, err := u.Body(); !errors.Is(err, ErrUnknownKind) {
		t.Errorf("body of an unknown kind: %v", err)
	}
}

func TestSignedFromAgents(t *testing.T) {
	k := key("carol")
	id := MatchID{1}
	made, err := SignedMove{GameID: id, TurnIndex: 3, Move: "Nf3"}.Sign(k)
	if err != nil {
		t.Fatal(err)
	}
	v, err := sign.NewVerifier(k.Public())
	if err != nil {
		t.Fatal(err)
	}
	// An agent may send any order and any white space; the signature covers the canonical form.
	loose := `{ "signature":"` + made.Signature.String() + `", "turn_index": 3,
		"move":"Nf\u0033", "game_id":"` + id.String() + `"}`
	got, err := ParseSigned([]byte(loose))
	if err != nil {
		t.Fatal(err)
	}
	if got.Move != "Nf3" || got.Digest != made.Digest || !v.Verify(got.Message(), got.Signature) {
		t.Errorf("read %+v, want %+v", got, made)
	}
	for why, text := range map[string]string{
		"nothing asked":      `{"game_id":"` + id.String() + `","signature":"` + made.Signature.String() + `","turn_index":3}`,
		"resign and move":    `{"game_id":"` + id.String() + `","move":"e4","resign":true,"signature":"` + made.Signature.String() + `","turn_index":3}`,
		"unknown member":     `{"game_id":"` + id.String() + `","move":"e4","mover":1,"signature":"` + made.Signature.String() + `","turn_index":3}`,
		"member twice":       `{"game_id":"` + id.String() + `","move":"e4","move":"e5","signature":"` + made.Signature.String() + `","turn_index":3}`,
		"commentary of 2 KB": `{"commentary":"` + strings.Repeat("x", 2048) + `","game_id":"` + id.String() + `","move":"e4","signature":"` + made.Signature.String() + `","turn_index":3}`,
		"empty":              ``,
	} {
		if _, err := ParseSigned([]byte(text)); err == nil {
			t.Errorf("%s: accepted", why)
		}
	}
}

// TestFromValue: an event in a larger text is judged as it is alone, at every bound and beyond.
func TestFromValue(t *testing.T) {
	const wide = 1 << 20
	list := func(n int, elem string) string { return "[" + strings.Repeat(elem+",", n-1) + elem + "]" }
	for _, c := range []struct {
		name, body string
		ok         bool
	}{
		{"plain", `{}`, true},
		{"deepest", `{"a":` + strings.Repeat("[", MaxDepth-2) + strings.Repeat("]", MaxDepth-2) + `}`, true},
		{"too deep", `{"a":` + strings.Repeat("[", MaxDepth-1) + strings.Repeat("]", MaxDepth-1) + `}`, false},
		{"most values", `{"a":` + list(MaxValues-9, "0") + `}`, true},
		{"too many values", `{"a":` + list(MaxValues-8, "0") + `}`, false},
		{"longest", `{"a":"` + strings.Repeat("x", MaxEvent-214) + `"}`, true},
		{"too long", `{"a":"` + strings.Repeat("x", MaxEvent-213) + `"}`, false},
		{"not an object", `[]`, false},
	} {
		raw := `{"at":1,"body":` + c.body + `,"kind":"some.thing","prev":"` + strings.Repeat("0", 64) + `","seq":0,"stream":"match/` +
			strings.Repeat("a", 64) + `","v":1}`
		v, err := canon.ParseCanonical([]byte(raw), canon.Limits{Bytes: wide, Depth: wide, Values: wide})
		if err != nil {
			t.Fatal(err)
		}
		alone, errAlone := Parse([]byte(raw))
		inside, errInside := FromValue(v)
		if (errAlone == nil) != c.ok || (errInside == nil) != c.ok {
			t.Errorf("%s (%d bytes): alone %v, inside a larger text %v", c.name, len(raw), errAlone, errInside)
		}
		if alone.Leaf() != inside.Leaf() || !bytes.Equal(alone.Raw(), inside.Raw()) {
			t.Errorf("%s: two events of one text", c.name)
		}
	}
}

func TestHandles(t *testing.T) {
	for _, h := range []string{"abc", "a-b", "a_b", "a--b", "0x0", strings.Repeat("a", 32)} {
		if err := CheckHandle(h); err != nil {
			t.Errorf("%q: %v", h, err)
		}
	}
	for _, h := range []string{"", "ab", "Abc", "-ab", "ab-", "_ab", "añb", strings.Repeat("a", 33)} {
		if CheckHandle(h) == nil {
			t.Errorf("%q accepted", h)
		}
	}
}

func TestOrigins(t *testing.T) {
	for _, o := range []string{"x", "example.com/log", "example.com:8080/a~b", strings.Repeat("x", MaxOrigin)} {
		if err := CheckOrigin(o); err != nil {
			t.Errorf("%q: %v", o, err)
		}
	}
	for _, o := range []string{"", "a b", "a+b", "a\tb", "a\x7f", "exämple.com", "https://example.com/log", strings.Repeat("x", MaxOrigin+1)} {
		if CheckOrigin(o) == nil {
			t.Errorf("%q accepted", o)
		}
	}
}

// TestForeign: an opening with terms not known here is of another version, but only where an opening
// may stand.
func TestForeign(t *testing.T) {
	for _, edit := range [][2]string{{`"mode":"none"`, `"mode":"whim"`}, {`"acts":"signed"`, `"acts":"silent"`}} {
		raw := strings.Replace(string(samples(t)[3].Raw()), edit[0], edit[1], 1)
		for seq, of := range []bool{true, false} {
			if seq > 0 {
				raw = strings.Replace(raw, `"prev":"`+Leaf{}.String()+`","seq":0`, `"prev":"`+Leaf{1}.String()+`","seq":1`, 1)
			}
			e, err := Parse([]byte(raw))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := e.Body(); err == nil || errors.Is(err, ErrVersion) != of {
				t.Errorf("%s at %d: %v, want ErrVersion: %v", edit[1], seq, err, of)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, v := range read(f).Valid {
		f.Add([]byte(v.Event))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := Parse(data)
		if err != nil {
			return
		}
		if v := e.Value(); !bytes.Equal(v.Bytes(), data) {
			t.Fatalf("prints as %s", v.Bytes())
		}
		body, err := e.Body()
		if err != nil {
			return
		}
		again, err := New(e.At, e.Stream, e.Seq, e.Prev, body)
		if err != nil || !bytes.Equal(again.Raw(), data) {
			t.Fatalf("%s prints as\n%s\n%v", data, again.Raw(), err)
		}
	})
}

func FuzzSigned(f *testing.F) {
	f.Add([]byte(`{"game_id":"","move":{"index":3},"signature":"","turn_index":0}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := ParseSigned(data)
		if err != nil {
			return
		}
		if again, err := ParseSigned(m.value.Bytes()); err != nil || again.Digest != m.Digest {
			t.Fatalf("%s: its canonical form reads as %+v, %v", data, again, err)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	for _, v := range read(b).Valid {
		if v.Kind != "move.played" {
			continue
		}
		raw := []byte(v.Event)
		b.SetBytes(int64(len(raw)))
		b.ReportAllocs()
		for b.Loop() {
			e, err := Parse(raw)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := e.Body(); err != nil {
				b.Fatal(err)
			}
		}
		return
	}
}

func BenchmarkBody(b *testing.B) {
	for _, e := range samples(b) {
		if e.Kind != KindMovePlayed {
			continue
		}
		b.ReportAllocs()
		for b.Loop() {
			if _, err := e.Body(); err != nil {
				b.Fatal(err)
			}
		}
		return
	}
}
