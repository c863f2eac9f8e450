package wire

import (
	"fmt"
	"strings"

	"ludger/ledger"
	"ludger/ledger/canon"
	"ludger/ledger/event"
	"ludger/replay"
)

// The codes of problems that a program may act on. Others exist, and none changes its meaning.
const (
	CodeLength  = "length"                 // 409: the match has another length; see Actual
	CodeReused  = "idempotency-key-reused" // 422: the key stands for another request
	CodeRules   = "rules"                  // 422: the rules forbid an event; see Event and Fault
	CodeTerms   = "terms"                  // 422: no match can be opened on these terms
	CodeUnclear = "unclear"                // 503: whether it was appended is not known; repeat the request with its key
)

// typePrefix stands before the code in a problem's type.
const typePrefix = "urn:ludger:problem:"

// A Problem is an answer that refuses, in the form of RFC 9457:
//
//	{"code":"length","detail":"…","status":409,"title":"…","type":"urn:ludger:problem:length",
//	 "request":"<16 hex>"}
//
// code is the last word of type and stable; detail says what is wrong and what to do; request is the id
// of the request in the server's log. With the code "length" there are "actual_leaf",
// "actual_length" and "expected_length"; with "rules", and with "terms" where the opening would not stand,
// "fault", a replay.Fault, and with "rules" also "event", the index of the offending event in the
// request, from 0.
type Problem struct {
	Status  int
	Code    string
	Title   string
	Detail  string
	Request string

	Expected, Actual int64 // lengths
	ActualLeaf       event.Leaf
	Event            int // -1 if none
	Fault            *replay.Fault
}

func (p *Problem) Error() string {
	if p.Code == "" {
		return fmt.Sprintf("the server answers %d %s", p.Status, p.Title)
	}
	return fmt.Sprintf("the server answers %d %s: %s", p.Status, p.Code, p.Detail)
}

// Unwrap returns the error that a program acts on: a *ledger.ConflictError, ledger.ErrReused, the
// *replay.Fault, or nil. The stream of a conflict is not told.
func (p *Problem) Unwrap() error {
	switch {
	case p.Code == CodeLength:
		return &ledger.ConflictError{Expected: p.Expected, Actual: p.Actual, ActualLeaf: p.ActualLeaf}
	case p.Code == CodeReused:
		return ledger.ErrReused
	case p.Fault != nil:
		return p.Fault
	}
	return nil
}

// Bytes returns the answer's body.
func (p *Problem) Bytes() []byte {
	text := func(s string) canon.Value { return canon.NewString(strings.ToValidUTF8(s, "\ufffd")) }
	m := []canon.Member{
		member("code", text(p.Code)),
		member("detail", text(p.Detail)),
		member("status", canon.NewInt(int64(p.Status))),
		member("title", text(p.Title)),
		member("type", text(typePrefix+p.Code)),
	}
	if p.Request != "" {
		m = append(m, member("request", text(p.Request)))
	}
	if p.Code == CodeLength {
		m = append(m, member("actual_leaf", hexValue(p.ActualLeaf[:])), member("actual_length", canon.NewInt(p.Actual)),
			member("expected_length", canon.NewInt(p.Expected)))
	}
	if p.Event >= 0 {
		m = append(m, member("event", canon.NewInt(int64(p.Event))))
	}
	if t := p.Fault; t != nil {
		fault := []canon.Member{member("code", text(t.Code)), member("event", canon.NewInt(t.Event)), member("reason", text(t.Reason)), member("step", text(string(t.Step)))}
		if t.Expected != "" || t.Got != "" {
			fault = append(fault, member("expected", text(t.Expected)), member("got", text(t.Got)))
		}
		if t.Missing {
			fault = append(fault, member("missing", canon.NewBool(true)))
		}
		m = append(m, member("fault", canon.NewObject(fault...)))
	}
	return canon.NewObject(m...).Bytes()
}

// maxProblem bounds a problem's text, and what of it is read.
const maxProblem = 64 << 10

// ParseProblem reads what Bytes prints.
func ParseProblem(data []byte) (*Problem, error) {
	v, err := canon.Parse(data, canon.Limits{Bytes: maxProblem, Depth: 4, Values: 256})
	if err != nil {
		return nil, err
	}
	f := v.Fields()
	p := &Problem{
		Status: int(f.Int("status", 400, 599)), Code: f.String("code", event.MaxWord),
		Title: f.String("title", maxProblem), Detail: f.String("detail", maxProblem), Event: -1,
	}
	if f.Has("request") {
		p.Request = f.String("request", event.MaxWord)
	}
	if p.Code == CodeLength {
		p.Expected, p.Actual = f.Int("expected_length", 0, canon.MaxInt), f.Int("actual_length", 0, canon.MaxInt)
		f.Hex("actual_leaf", p.ActualLeaf[:])
	}
	if f.Has("event") {
		p.Event = int(f.Int("event", 0, MaxEvents))
	}
	if f.Has("fault") {
		ff := f.Object("fault").Fields()
		p.Fault = &replay.Fault{
			Step: replay.Step(ff.String("step", event.MaxWord)), Code: ff.String("code", event.MaxWord),
			Event: ff.Int("event", -1, event.MaxMatchEvents), Reason: ff.String("reason", maxProblem),
		}
		if ff.Has("expected") {
			p.Fault.Expected, p.Fault.Got = ff.String("expected", maxProblem), ff.String("got", maxProblem)
		}
		p.Fault.Missing = ff.Has("missing") && ff.Bool("missing")
		inside(&f, "fault", ff.Err())
	}
	return p, f.Err()
}
