package event

import (
	"encoding/hex"
	"errors"
	"strings"
	"unicode"

	"ludger/engine"
	"ludger/ledger/canon"
	"ludger/ledger/sign"
)

func hexValue(b []byte) canon.Value { return canon.NewString(hex.EncodeToString(b)) }

func returnsValue(returns []int64) canon.Value {
	list := make([]canon.Value, len(returns))
	for i, n := range returns {
		list[i] = canon.NewInt(n)
	}
	return canon.NewArray(list...)
}

func readReturns(f *canon.Fields) []int64 {
	var returns []int64
	for _, n := range f.Array("returns", engine.MaxSeats) {
		if n.Value.Kind() != canon.Int {
			f.Fail("returns", "holds something that is not a number")
		}
		returns = append(returns, n.Value.Int())
	}
	return returns
}

func outcomeValue(o engine.Outcome) canon.Value {
	return canon.NewObject(
		canon.Member{Name: "reason", Value: canon.NewString(o.Reason)},
		canon.Member{Name: "returns", Value: returnsValue(o.Returns)},
	)
}

func readOutcome(f *canon.Fields) engine.Outcome {
	of := f.Object("outcome").Fields()
	o := engine.Outcome{Reason: of.String("reason", MaxWord), Returns: readReturns(&of)}
	if of.Err() == nil && !isWord(o.Reason) {
		of.Fail("reason", "is not a lowercase word")
	}
	inside(f, "outcome", &of)
	return o
}

// inside carries a refusal of a nested object outwards.
func inside(f *canon.Fields, name string, nested *canon.Fields) {
	if err := nested.Done(); err != nil && f.Err() == nil {
		var e *canon.Error
		if errors.As(err, &e) {
			f.Fail(name, strings.TrimSpace(strings.TrimPrefix(e.Path, "/")+" "+e.Reason))
		}
	}
}

// readName reads a handle, or an arena's name, which has the same form.
func readName(f *canon.Fields, member string) string {
	h := f.String(member, MaxHandle)
	if f.Err() == nil {
		if err := CheckHandle(h); err != nil {
			f.Fail(member, err.Error())
		}
	}
	return h
}

func readSeat(f *canon.Fields) engine.Seat {
	return engine.Seat(f.Int("seat", 0, engine.MaxSeats-1))
}

func readSignature(f *canon.Fields, name string) *sign.Signature {
	if !f.Has(name) {
		return nil
	}
	s := new(sign.Signature)
	f.Hex(name, s[:])
	return s
}

// readText reads a string of 1 to max bytes without characters that control how text is shown
// (Unicode categories Cc, Cf, Zl and Zp): reports print it.
func readText(f *canon.Fields, name string, max int) string {
	s := f.String(name, max)
	switch {
	case f.Err() != nil:
	case s == "":
		f.Fail(name, "is empty")
	case strings.ContainsFunc(s, func(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) }):
		f.Fail(name, "holds a control character, or one that is not seen or turns the text around")
	}
	return s
}

func printable(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < 0x20 || s[i] > 0x7e {
			return false
		}
	}
	return true
}
