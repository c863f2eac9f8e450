package event

import (
	"crypto/sha256"
	"fmt"
	"unicode"

	"ludger/engine"
	"ludger/ledger/canon"
	"ludger/ledger/sign"
)

// A SignedMove is the body an agent signs to move, to offer or accept a draw, or to resign:
//
//	{"commentary":"…","draw_offer":true,"game_id":"<64 hex>","move":"e4","resign":true,
//	 "seen":"<64 hex>","signature":"<128 hex>","turn_index":12}
//
// game_id, turn_index and signature are always there. move is a string in the game's notation or
// {"index":n} into the list of legal moves; it is left out to resign and to accept a draw.
type SignedMove struct {
	GameID     MatchID
	TurnIndex  int64
	Move       string // "" if none, or if by index
	Index      *int64 // into engine.Position.Legal; nil if none
	Commentary string // untrusted text of the agent
	Resign     bool
	DrawOffer  bool
	Seen       *Leaf // newest event of the match that the agent knew; nil if not told
	Signature  sign.Signature
	Digest     [32]byte // SHA-256 of the canonical body without its signature

	value canon.Value
}

// Message returns the bytes the signature is over.
func (m *SignedMove) Message() []byte {
	return sign.MoveMessage(m.GameID.String(), m.TurnIndex, m.Digest)
}

// HasMove tells that the body asks for a move, not for an acceptance of a draw or a resignation.
func (m *SignedMove) HasMove() bool { return m.Move != "" || m.Index != nil }

// ParseSigned reads a signed body as an agent sends it: in any form of JSON that package canon
// reads.
func ParseSigned(data []byte) (SignedMove, error) {
	v, err := canon.Parse(data, canon.Limits{Bytes: MaxSignedMove, Depth: MaxDepth - 4, Values: MaxValues})
	if err != nil {
		return SignedMove{}, err
	}
	return signedMove(v)
}

// SignedOf is ParseSigned for a body that stands as an object inside a larger text.
func SignedOf(v canon.Value) (SignedMove, error) {
	if n := len(v.Bytes()); n > MaxSignedMove {
		return SignedMove{}, fmt.Errorf("signed body of %d bytes exceeds %d", n, MaxSignedMove)
	}
	return signedMove(v)
}

// Value returns the body as an object to stand inside a larger text. It is null for a body that
// neither ParseSigned, SignedOf nor Sign returned.
func (m *SignedMove) Value() canon.Value { return m.value }

// Sign completes a body with its signature. Digest and Signature of m are ignored. Its errors are
// those of ParseSigned.
func (m SignedMove) Sign(key sign.PrivateKey) (SignedMove, error) {
	v := m.members()
	digest := sha256.Sum256(canon.NewObject(v...).Bytes())
	s := key.Sign(sign.MoveMessage(m.GameID.String(), m.TurnIndex, digest))
	return ParseSigned(canon.NewObject(append(m.members(), canon.Member{Name: "signature", Value: hexValue(s[:])})...).Bytes())
}

func (m *SignedMove) members() []canon.Member {
	v := []canon.Member{
		{Name: "game_id", Value: canon.NewString(m.GameID.String())},
		{Name: "turn_index", Value: canon.NewInt(m.TurnIndex)},
	}
	if m.Commentary != "" {
		v = append(v, canon.Member{Name: "commentary", Value: canon.NewString(m.Commentary)})
	}
	if m.DrawOffer {
		v = append(v, canon.Member{Name: "draw_offer", Value: canon.NewBool(true)})
	}
	switch {
	case m.Move != "":
		v = append(v, canon.Member{Name: "move", Value: canon.NewString(m.Move)})
	case m.Index != nil:
		v = append(v, canon.Member{Name: "move", Value: canon.NewObject(canon.Member{Name: "index", Value: canon.NewInt(*m.Index)})})
	}
	if m.Resign {
		v = append(v, canon.Member{Name: "resign", Value: canon.NewBool(true)})
	}
	if m.Seen != nil {
		v = append(v, canon.Member{Name: "seen", Value: hexValue(m.Seen[:])})
	}
	return v
}

func signedMove(v canon.Value) (SignedMove, error) {
	f := v.Fields()
	m := SignedMove{
		TurnIndex: f.Int("turn_index", 0, MaxMatchEvents),
		value:     v,
	}
	f.Hex("game_id", m.GameID[:])
	f.Hex("signature", m.Signature[:])
	if f.Has("move") {
		if mv := f.Value("move"); mv.Kind() == canon.Object {
			mf := mv.Fields()
			index := mf.Int("index", 0, canon.MaxInt)
			m.Index = &index
			inside(&f, "move", &mf)
		} else {
			m.Move = readText(&f, "move", engine.MaxMove)
		}
	}
	if f.Has("commentary") {
		m.Commentary = f.String("commentary", MaxCommentary)
		if hasControl(m.Commentary) {
			f.Fail("commentary", "holds a control character")
		}
	}
	if f.Has("resign") {
		m.Resign = f.Bool("resign")
	}
	if f.Has("draw_offer") {
		m.DrawOffer = f.Bool("draw_offer")
	}
	if f.Has("seen") {
		m.Seen = new(Leaf)
		f.Hex("seen", m.Seen[:])
	}
	if err := f.Done(); err != nil {
		return SignedMove{}, err
	}
	switch {
	case m.Resign && (m.HasMove() || m.DrawOffer):
		return SignedMove{}, fmt.Errorf("signed body: a resignation goes without a move and without a draw offer")
	case !m.Resign && !m.HasMove() && !m.DrawOffer:
		return SignedMove{}, fmt.Errorf("signed body: it holds no move, no draw offer and no resignation")
	}
	var buf [1024]byte // most bodies fit
	m.Digest = sha256.Sum256(v.Without("signature").Append(buf[:0]))
	return m, nil
}

func readSigned(f *canon.Fields) SignedMove {
	v := f.Object("signed")
	if f.Err() != nil {
		return SignedMove{}
	}
	m, err := signedMove(v)
	if err != nil {
		f.Fail("signed", err.Error())
	}
	return m
}

// hasControl tells whether s holds a control character (Unicode category Cc).
func hasControl(s string) bool {
	for _, r := range s {
		if unicode.IsControl(r) {
			return true
		}
	}
	return false
}
