// Command vulngate reads the findings of govulncheck as JSON from standard input and fails on every
// known hole that the code can reach, but for those that were looked into and do not concern it.
//
//	govulncheck -format json ./... | go run .
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

// accepted holes have no fix to take and no symbols in the database, so that any use of the module
// counts as reaching them. Each says why it does not concern us. One that is no longer found is an
// error: it is to be taken out.
var accepted = map[string]string{
	"GO-2026-6872": "echo's rate limiter trusts X-Forwarded-For by default: we set IPExtractor, and the layers keep echo/v4/middleware out",
	"GO-2026-6875": "echo's reverse proxy forwards X-Real-IP: the layers keep echo/v4/middleware out",
}

// A message is one of those that govulncheck prints one after the other.
type message struct {
	OSV *struct {
		ID      string `json:"id"`
		Summary string `json:"summary"`
	} `json:"osv"`
	Finding *struct {
		OSV          string `json:"osv"`
		FixedVersion string `json:"fixed_version"`
		Trace        []struct {
			Module   string `json:"module"`
			Version  string `json:"version"`
			Function string `json:"function"`
		} `json:"trace"`
	} `json:"finding"`
}

func main() {
	if err := gate(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "vulngate:", err)
		os.Exit(1)
	}
}

// gate prints what it found and returns an error if that must not be.
func gate(r io.Reader, w io.Writer) error {
	summary, reached := make(map[string]string), make(map[string]string)
	messages := 0
	for dec := json.NewDecoder(r); ; messages++ {
		var m message
		if err := dec.Decode(&m); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return fmt.Errorf("reading the findings: %w", err)
		}
		if m.OSV != nil {
			summary[m.OSV.ID] = m.OSV.Summary
		}
		// A finding with a function is one of a hole that the code calls, not only requires.
		if f := m.Finding; f != nil && len(f.Trace) > 0 && f.Trace[0].Function != "" {
			reached[f.OSV] = fmt.Sprintf("%s@%s, fixed in %s", f.Trace[0].Module, f.Trace[0].Version, f.FixedVersion)
		}
	}
	if messages == 0 {
		return errors.New("no findings and no word of a scan: govulncheck printed nothing")
	}
	var errs []error
	ids := make([]string, 0, len(reached))
	for id := range reached {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		if why, ok := accepted[id]; ok {
			fmt.Fprintf(w, "%s (%s): accepted: %s\n", id, summary[id], why)
			continue
		}
		errs = append(errs, fmt.Errorf("%s (%s) can be reached in %s", id, summary[id], reached[id]))
	}
	for id := range accepted {
		if reached[id] == "" {
			errs = append(errs, fmt.Errorf("%s is accepted and no longer found: take it out of the list", id))
		}
	}
	return errors.Join(errs...)
}
