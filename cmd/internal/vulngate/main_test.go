package main

import (
	"strings"
	"testing"
)

const (
	known   = `{"finding":{"osv":"GO-2026-6872","trace":[{"module":"m","version":"v1","function":"F"}]}}{"finding":{"osv":"GO-2026-6875","trace":[{"module":"m","version":"v1","function":"F"}]}}`
	unknown = `{"osv":{"id":"GO-1","summary":"s"}}{"finding":{"osv":"GO-1","fixed_version":"v2","trace":[{"module":"m","version":"v1","function":"F"}]}}`
	linked  = `{"finding":{"osv":"GO-2","trace":[{"module":"m","version":"v1"}]}}`
)

func TestGate(t *testing.T) {
	for _, c := range []struct{ name, input, want string }{
		{"only what is accepted", known + linked, ""},
		{"another hole", known + unknown, "GO-1 (s) can be reached in m@v1, fixed in v2"},
		{"an accepted hole is gone", `{"config":{}}`, "no longer found"},
		{"nothing", "", "printed nothing"},
		{"broken", known + "{", "reading the findings"},
	} {
		var out strings.Builder
		err := gate(strings.NewReader(c.input), &out)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}
