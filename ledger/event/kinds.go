package event

import (
	"errors"
	"fmt"
	"strings"

	"ludger/ledger/canon"
	"ludger/ledger/sign"
)

// A Kind names what an event says: a noun and a past participle.
type Kind string

// The kinds this package reads and writes.
const (
	KindLogOpened        Kind = "log.opened"
	KindAgentRegistered  Kind = "agent.registered"
	KindAgentHomologated Kind = "agent.homologated"
	KindAgentSuspended   Kind = "agent.suspended"
	KindDoorbellSet      Kind = "doorbell.set"
	KindLobbyJoined      Kind = "lobby.joined"
	KindLobbyLeft        Kind = "lobby.left"
	KindFeedbackLeft     Kind = "feedback.left"
	KindDocketEntered    Kind = "docket.entered"
	KindArenaAdmitted    Kind = "arena.admitted"
	KindMatchOpened      Kind = "match.opened"
	KindSeatAcked        Kind = "seat.acked"
	KindBeaconRecorded   Kind = "beacon.recorded"
	KindRollCalled       Kind = "roll.called"
	KindChanceDrawn      Kind = "chance.drawn"
	KindMovePlayed       Kind = "move.played"
	KindMoveDefaulted    Kind = "move.defaulted"
	KindDrawAgreed       Kind = "draw.agreed"
	KindMatchForfeited   Kind = "match.forfeited"
	KindMatchAdjudicated Kind = "match.adjudicated"
	KindMatchAborted     Kind = "match.aborted"
	KindMatchEnded       Kind = "match.ended"
	KindMatchRevealed    Kind = "match.revealed"
	KindMatchSealed      Kind = "match.sealed"
)

func (k Kind) check() bool {
	noun, verb, ok := strings.Cut(string(k), ".")
	for _, word := range []string{noun, verb} {
		ok = ok && isWord(word)
	}
	return ok
}

// isWord tells whether s is lowercase letters with single inner hyphens.
func isWord(s string) bool {
	if s == "" || len(s) > MaxWord {
		return false
	}
	for i := 0; i < len(s); i++ {
		if c := s[i]; !('a' <= c && c <= 'z' || c == '-' && i > 0 && i < len(s)-1 && s[i-1] != '-') {
			return false
		}
	}
	return true
}

// ErrUnknownKind says that a body is of a kind this program does not know.
var ErrUnknownKind = errors.New("unknown kind of event")

// A Body is what an event of one kind says.
type Body interface {
	Kind() Kind
	value() canon.Value
}

// Body reads the event's body by its kind. The error of a kind this program does not know wraps
// ErrUnknownKind, and that of an opening with terms it does not know ErrVersion; any other means that
// the body is not of its kind's shape.
func (e *Event) Body() (Body, error) {
	f := e.body.Fields()
	var b Body
	switch e.Kind {
	case KindLogOpened:
		b = readLogOpened(&f)
	case KindAgentRegistered:
		b = readAgentRegistered(&f)
	case KindAgentHomologated:
		b = readAgentHomologated(&f)
	case KindAgentSuspended:
		b = &AgentSuspended{Lifted: f.Bool("lifted"), Reason: readText(&f, "reason", MaxRule)}
	case KindDoorbellSet:
		b = readDoorbellSet(&f)
	case KindLobbyJoined:
		j := new(LobbyJoined)
		j.Request, j.Join = readLobby(&f, JoinPath)
		b = j
	case KindLobbyLeft:
		l := new(LobbyLeft)
		l.Request, l.Join = readLobby(&f, LeavePath)
		b = l
	case KindFeedbackLeft:
		b = readFeedbackLeft(&f)
	case KindDocketEntered:
		b = readDocketEntered(&f)
	case KindArenaAdmitted:
		b = readArenaAdmitted(&f)
	case KindMatchOpened:
		b = readMatchOpened(&f)
	case KindSeatAcked:
		b = readSeatAcked(&f)
	case KindBeaconRecorded:
		b = readBeaconRecorded(&f)
	case KindRollCalled:
		b = readRollCalled(&f)
	case KindChanceDrawn:
		b = readChanceDrawn(&f)
	case KindMovePlayed:
		b = readMovePlayed(&f)
	case KindMoveDefaulted:
		b = readMoveDefaulted(&f)
	case KindDrawAgreed:
		b = readDrawAgreed(&f)
	case KindMatchForfeited:
		b = readMatchForfeited(&f)
	case KindMatchAdjudicated:
		b = readMatchAdjudicated(&f)
	case KindMatchAborted:
		b = &MatchAborted{Reason: readText(&f, "reason", MaxRule)}
	case KindMatchEnded:
		b = readMatchEnded(&f)
	case KindMatchRevealed:
		b = readMatchRevealed(&f)
	case KindMatchSealed:
		b = readMatchSealed(&f)
	default:
		return nil, fmt.Errorf("%w: %s", ErrUnknownKind, e.Kind)
	}
	if o, ok := b.(*MatchOpened); ok && f.Err() == nil && o.foreign != "" && e.belongs(b) {
		return nil, fmt.Errorf("%w: the match has %s", ErrVersion, o.foreign)
	}
	if err := f.Done(); err != nil {
		return nil, fmt.Errorf("body of %s: %w", e.Kind, err)
	}
	if !e.belongs(b) {
		return nil, fmt.Errorf("%s does not belong at %d of the stream %s", e.Kind, e.Seq, e.Stream)
	}
	return b, nil
}

// belongs tells whether the event stands where its body may.
func (e *Event) belongs(b Body) bool {
	switch b := b.(type) {
	case *LogOpened:
		return e.Stream == LogStream && e.Seq == 0
	case *AgentRegistered:
		return e.Stream == AgentStream(b.Handle) && e.Seq == 0
	case *BeaconRecorded:
		if e.Stream == LogStream {
			return e.Seq > 0
		}
	case *AgentHomologated, *AgentSuspended, *DoorbellSet, *LobbyJoined, *LobbyLeft, *FeedbackLeft:
		return strings.HasPrefix(string(e.Stream), "agent/") && e.Seq > 0
	case *DocketEntered:
		return e.Stream == LogStream && e.Seq > 0
	case *ArenaAdmitted:
		return e.Stream == ArenaStream(b.Name) && e.Seq == 0
	case *MatchOpened:
		_, ok := e.Stream.Match()
		return ok && e.Seq == 0
	}
	_, ok := e.Stream.Match()
	return ok && e.Seq > 0
}

// LogOpened is the first event of a log: {"catalogue","keys","origin"}.
type LogOpened struct {
	Origin    string
	Keys      []string // the log's note verifier keys
	Catalogue [32]byte // SHA-256 over the sorted ids of its games, each with a newline
}

// Kind returns KindLogOpened.
func (b *LogOpened) Kind() Kind { return KindLogOpened }

func (b *LogOpened) value() canon.Value {
	keys := make([]canon.Value, len(b.Keys))
	for i, k := range b.Keys {
		keys[i] = canon.NewString(k)
	}
	return canon.NewObject(
		canon.Member{Name: "catalogue", Value: hexValue(b.Catalogue[:])},
		canon.Member{Name: "keys", Value: canon.NewArray(keys...)},
		canon.Member{Name: "origin", Value: canon.NewString(b.Origin)},
	)
}

func readLogOpened(f *canon.Fields) *LogOpened {
	b := &LogOpened{Origin: readText(f, "origin", MaxOrigin)}
	if f.Err() == nil {
		if err := CheckOrigin(b.Origin); err != nil {
			f.Fail("origin", err.Error())
		}
	}
	f.Hex("catalogue", b.Catalogue[:])
	for _, k := range f.Array("keys", MaxKeys) {
		if k.Value.Kind() != canon.String || len(k.Value.Str()) > MaxVerifier || !printable(k.Value.Str()) {
			f.Fail("keys", "holds something that is not a note verifier key")
		}
		b.Keys = append(b.Keys, k.Value.Str())
	}
	return b
}

// CheckOrigin refuses a log's origin that is not 1 to MaxOrigin visible ASCII characters without plus,
// or that has a scheme: it is a name and not an address.
func CheckOrigin(origin string) error {
	switch {
	case origin == "" || len(origin) > MaxOrigin:
		return fmt.Errorf("origin of %d characters is not from 1 to %d long", len(origin), MaxOrigin)
	case !printable(origin) || strings.ContainsAny(origin, " +"):
		return fmt.Errorf("origin %q is not visible ASCII without spaces and plus", origin)
	case strings.Contains(origin, "://"):
		return fmt.Errorf("origin %q has a scheme: leave it out, as in example.com/log", origin)
	}
	return nil
}

// AgentRegistered says that an agent exists: {"handle","key"}, and where known "model", "operator" and
// "statement".
type AgentRegistered struct {
	Handle string
	Key    sign.PublicKey
	Model  string // "" if not told
	// Operator is the same for two agents of one operator: an HMAC of the token that the operator keeps,
	// under a key of the hall, so that nobody can search the token; nil if not told.
	Operator *[32]byte
	// Statement is the agent's signature over sign.AgentMessage, which proves without any secret
	// that the holder of the key wanted this handle in this log; nil if not given.
	Statement *sign.Signature
}

// Kind returns KindAgentRegistered.
func (b *AgentRegistered) Kind() Kind { return KindAgentRegistered }

func (b *AgentRegistered) value() canon.Value {
	m := []canon.Member{
		{Name: "handle", Value: canon.NewString(b.Handle)},
		{Name: "key", Value: hexValue(b.Key[:])},
	}
	if b.Model != "" {
		m = append(m, canon.Member{Name: "model", Value: canon.NewString(b.Model)})
	}
	if b.Operator != nil {
		m = append(m, canon.Member{Name: "operator", Value: hexValue(b.Operator[:])})
	}
	if b.Statement != nil {
		m = append(m, canon.Member{Name: "statement", Value: hexValue(b.Statement[:])})
	}
	return canon.NewObject(m...)
}

func readAgentRegistered(f *canon.Fields) *AgentRegistered {
	b := &AgentRegistered{Handle: readName(f, "handle")}
	f.Hex("key", b.Key[:])
	if f.Has("model") {
		b.Model = readText(f, "model", MaxModel)
	}
	if f.Has("operator") {
		b.Operator = new([32]byte)
		f.Hex("operator", b.Operator[:])
	}
	b.Statement = readSignature(f, "statement")
	return b
}

// ArenaAdmitted says that the log takes the matches of an arena: {"key","name"}. The arena signs its
// requests with the key.
type ArenaAdmitted struct {
	Name string // of the form of a handle
	Key  sign.PublicKey
}

// Kind returns KindArenaAdmitted.
func (b *ArenaAdmitted) Kind() Kind { return KindArenaAdmitted }

func (b *ArenaAdmitted) value() canon.Value {
	return canon.NewObject(
		canon.Member{Name: "key", Value: hexValue(b.Key[:])},
		canon.Member{Name: "name", Value: canon.NewString(b.Name)},
	)
}

func readArenaAdmitted(f *canon.Fields) *ArenaAdmitted {
	b := &ArenaAdmitted{Name: readName(f, "name")}
	f.Hex("key", b.Key[:])
	return b
}
