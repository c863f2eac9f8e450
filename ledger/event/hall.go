package event

import (
	"strings"

	"ludger/engine"
	"ludger/ledger/canon"
	"ludger/ledger/sign"
)

// JoinPath and LeavePath are the paths of the requests that LobbyJoined and LobbyLeft hold: they stand in
// what the agent signed.
const (
	JoinPath  = "/api/lobby/join"
	LeavePath = "/api/lobby/leave"
)

// A Request is a request that an agent signed, verbatim, with sign.RequestMessage and the method POST:
// {"body","challenge","path","signature"}.
type Request struct {
	Path      string
	Challenge string
	Body      string // the bytes of its body; text, since it is JSON
	Signature sign.Signature
}

// Verify tells whether the holder of the key made the request under the handle.
func (r *Request) Verify(handle string, key *sign.Verifier) bool {
	msg, err := sign.RequestMessage(handle, r.Challenge, "POST", r.Path, []byte(r.Body))
	return err == nil && key.Verify(msg, r.Signature)
}

func (r *Request) value() canon.Value {
	return canon.NewObject(
		canon.Member{Name: "body", Value: canon.NewString(r.Body)},
		canon.Member{Name: "challenge", Value: canon.NewString(r.Challenge)},
		canon.Member{Name: "path", Value: canon.NewString(r.Path)},
		canon.Member{Name: "signature", Value: hexValue(r.Signature[:])},
	)
}

func readRequest(f *canon.Fields, path string) (r Request) {
	rf := f.Object("request").Fields()
	r = Request{Path: rf.String("path", MaxStream), Challenge: rf.String("challenge", MaxChallenge), Body: rf.String("body", MaxJoin)}
	rf.Hex("signature", r.Signature[:])
	switch {
	case rf.Err() != nil:
	case r.Path != path:
		rf.Fail("path", "is not "+path)
	case r.Challenge == "" || !printable(r.Challenge) || strings.ContainsAny(r.Challenge, " :"):
		rf.Fail("challenge", "is not visible ASCII without a colon")
	}
	inside(f, "request", &rf)
	return r
}

// A Join is what an agent asks to play: {"division":"assisted","game":"chess","variant":"standard"}. game
// is a name, or the ID of one version.
type Join struct {
	Game, Variant, Division string
}

// ParseJoin reads the body of a request to join, in any form of JSON that package canon reads.
func ParseJoin(body []byte) (j Join, err error) {
	v, err := canon.Parse(body, canon.Limits{Bytes: MaxJoin, Depth: 1, Values: 4})
	if err != nil {
		return j, err
	}
	f := v.Fields()
	j = Join{Game: readText(&f, "game", MaxWord), Variant: readText(&f, "variant", MaxWord), Division: f.String("division", MaxWord)}
	if f.Err() == nil && !isDivision(j.Division) {
		f.Fail("division", notDivision)
	}
	return j, f.Done()
}

// Queue names what waits together: the game without its version, the variant and the division.
func (j Join) Queue() string {
	name, _, _ := strings.Cut(j.Game, "@")
	return name + " " + j.Variant + " " + j.Division
}

// Allows tells whether an opening is what was asked for.
func (j Join) Allows(o *MatchOpened) bool {
	name, _, _ := strings.Cut(o.Game, "@")
	return (j.Game == o.Game || j.Game == name) && j.Variant == o.Variant && j.Division == o.Division
}

// LobbyJoined is an agent's wish to play, and its consent to be seated: {"request"}. It stands in the
// agent's stream, and a match that it is seated in names it.
type LobbyJoined struct {
	Request Request
	Join    Join // what the request's body says
}

// Kind returns KindLobbyJoined.
func (b *LobbyJoined) Kind() Kind { return KindLobbyJoined }

func (b *LobbyJoined) value() canon.Value {
	return canon.NewObject(canon.Member{Name: "request", Value: b.Request.value()})
}

func readLobby(f *canon.Fields, path string) (r Request, j Join) {
	r = readRequest(f, path)
	if f.Err() == nil {
		var err error
		if j, err = ParseJoin([]byte(r.Body)); err != nil {
			f.Fail("request", "body: "+err.Error())
		}
	}
	return r, j
}

// LobbyLeft takes the wish back that waits for the same: {"request"}, whose body is that of a join.
type LobbyLeft struct {
	Request Request
	Join    Join // what the request's body says
}

// Kind returns KindLobbyLeft.
func (b *LobbyLeft) Kind() Kind { return KindLobbyLeft }

func (b *LobbyLeft) value() canon.Value {
	return canon.NewObject(canon.Member{Name: "request", Value: b.Request.value()})
}

// AgentHomologated fixes what an agent is for a season: {"harness","model","season","settings"}. A new
// one makes a new entry and voids what the season's standing rests on.
type AgentHomologated struct {
	Season   string   // such as "2026-q4"
	Model    string   // the model's name
	Harness  string   // the program around it
	Settings [32]byte // SHA-256 of the configuration, which the agent keeps
}

// Kind returns KindAgentHomologated.
func (b *AgentHomologated) Kind() Kind { return KindAgentHomologated }

func (b *AgentHomologated) value() canon.Value {
	return canon.NewObject(
		canon.Member{Name: "harness", Value: canon.NewString(b.Harness)},
		canon.Member{Name: "model", Value: canon.NewString(b.Model)},
		canon.Member{Name: "season", Value: canon.NewString(b.Season)},
		canon.Member{Name: "settings", Value: hexValue(b.Settings[:])},
	)
}

func readAgentHomologated(f *canon.Fields) *AgentHomologated {
	b := &AgentHomologated{Season: readText(f, "season", MaxWord), Model: readText(f, "model", MaxModel), Harness: readText(f, "harness", MaxModel)}
	f.Hex("settings", b.Settings[:])
	return b
}

// AgentSuspended keeps an agent from joining, or lets it again: {"lifted","reason"}.
type AgentSuspended struct {
	Lifted bool
	Reason string
}

// Kind returns KindAgentSuspended.
func (b *AgentSuspended) Kind() Kind { return KindAgentSuspended }

func (b *AgentSuspended) value() canon.Value {
	return canon.NewObject(
		canon.Member{Name: "lifted", Value: canon.NewBool(b.Lifted)},
		canon.Member{Name: "reason", Value: canon.NewString(b.Reason)},
	)
}

// DoorbellSet says that an agent is called, or no more: {"state","url"}. url is D("ludger/url/v1", salt,
// URL), so that it tells nobody the URL and can be erased; the salt and the URL are kept beside the log.
type DoorbellSet struct {
	State string   // "verified" or "disabled"
	URL   [32]byte // zero when disabled
}

// Kind returns KindDoorbellSet.
func (b *DoorbellSet) Kind() Kind { return KindDoorbellSet }

func (b *DoorbellSet) value() canon.Value {
	return canon.NewObject(
		canon.Member{Name: "state", Value: canon.NewString(b.State)},
		canon.Member{Name: "url", Value: hexValue(b.URL[:])},
	)
}

func readDoorbellSet(f *canon.Fields) *DoorbellSet {
	b := &DoorbellSet{State: f.String("state", MaxWord)}
	f.Hex("url", b.URL[:])
	switch {
	case f.Err() != nil:
	case b.State != "verified" && b.State != "disabled":
		f.Fail("state", "is neither verified nor disabled")
	case (b.State == "disabled") != (b.URL == [32]byte{}):
		f.Fail("url", "is 64 zeros exactly when disabled")
	}
	return b
}

// FeedbackLeft says that an agent left feedback: {"text"}, which is D("ludger/feedback/v1", salt, text).
// The salt and the text are kept beside the log.
type FeedbackLeft struct {
	Text [32]byte
}

// Kind returns KindFeedbackLeft.
func (b *FeedbackLeft) Kind() Kind { return KindFeedbackLeft }

func (b *FeedbackLeft) value() canon.Value {
	return canon.NewObject(canon.Member{Name: "text", Value: hexValue(b.Text[:])})
}

func readFeedbackLeft(f *canon.Fields) *FeedbackLeft {
	b := new(FeedbackLeft)
	f.Hex("text", b.Text[:])
	return b
}

// DocketEntered is an entry of the hall's public docket, in the log's own stream: {"about","entry","text"}.
// What operators do to agents and matches has its entry beside it.
type DocketEntered struct {
	Entry string // one of DocketEntries
	About string // a handle, a match id, a game's ID, or "hall"
	Text  string
}

// DocketEntries are the kinds of entries of a docket.
var DocketEntries = [...]string{"rule-fix", "engine-bug", "adjudication", "integrity", "suspension", "notice"}

// Kind returns KindDocketEntered.
func (b *DocketEntered) Kind() Kind { return KindDocketEntered }

func (b *DocketEntered) value() canon.Value {
	return canon.NewObject(
		canon.Member{Name: "about", Value: canon.NewString(b.About)},
		canon.Member{Name: "entry", Value: canon.NewString(b.Entry)},
		canon.Member{Name: "text", Value: canon.NewString(b.Text)},
	)
}

func readDocketEntered(f *canon.Fields) *DocketEntered {
	b := &DocketEntered{Entry: f.String("entry", MaxWord), About: readText(f, "about", MaxStream), Text: readText(f, "text", MaxDocket)}
	known := false
	for _, e := range DocketEntries {
		known = known || e == b.Entry
	}
	if f.Err() == nil && !known {
		f.Fail("entry", "is none of "+strings.Join(DocketEntries[:], ", "))
	}
	return b
}

// MoveDefaulted is the move that the rules card gives a seat whose time is over:
// {"move","seat","state","turn"}.
type MoveDefaulted struct {
	Seat  engine.Seat
	Turn  int64  // moves played or defaulted before this one
	Move  string // in the engine's canonical notation
	State StateDigest
}

// Kind returns KindMoveDefaulted.
func (b *MoveDefaulted) Kind() Kind { return KindMoveDefaulted }

func (b *MoveDefaulted) value() canon.Value {
	return canon.NewObject(
		canon.Member{Name: "move", Value: canon.NewString(b.Move)},
		canon.Member{Name: "seat", Value: canon.NewInt(int64(b.Seat))},
		canon.Member{Name: "state", Value: hexValue(b.State[:])},
		canon.Member{Name: "turn", Value: canon.NewInt(b.Turn)},
	)
}

func readMoveDefaulted(f *canon.Fields) *MoveDefaulted {
	b := &MoveDefaulted{Seat: readSeat(f), Turn: f.Int("turn", 0, MaxMatchEvents), Move: readText(f, "move", engine.MaxMove)}
	f.Hex("state", b.State[:])
	return b
}

const notDivision = "is neither assisted nor unassisted"

func isDivision(s string) bool { return s == "assisted" || s == "unassisted" }

// Skim returns the kind of an event and whether its stream is a match's, from canonical bytes that Parse would
// take, without reading the rest; a fold that needs few kinds of a long log saves most of its time
// so. ok is false for other bytes.
func Skim(raw []byte) (kind Kind, match bool, ok bool) {
	// …,"kind":"<kind>","prev":"<64 hex>","seq":<n>,"stream":"<stream>","v":1}
	text := string(raw[max(0, len(raw)-skimmed):])
	i := strings.LastIndex(text, `,"prev":"`)
	k := -1
	if i > 0 {
		k = strings.LastIndex(text[:i], `,"kind":"`)
	}
	s := strings.LastIndex(text, `,"stream":"`)
	if k < 0 || s < i {
		return "", false, false
	}
	kind = Kind(strings.TrimSuffix(text[k+len(`,"kind":"`):i], `"`))
	return kind, strings.HasPrefix(text[s+len(`,"stream":"`):], "match/"), kind.check()
}

// skimmed is how far from its end an event's kind can begin, in bytes, with room to spare.
const skimmed = MaxKind + MaxStream + 64 + 120
