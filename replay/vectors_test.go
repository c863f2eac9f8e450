package replay_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ludger/replay"
	"ludger/testvectors"
)

// A bundleFile is one file of vectors: bundles that are judged by one policy.
type bundleFile struct {
	Policy string       `json:"policy"`
	Cases  []bundleCase `json:"cases"`
}

type bundleCase struct {
	Name      string                        `json:"name"`
	Bundle    string                        `json:"bundle"`
	Verdict   replay.Verdict                `json:"verdict"`
	Steps     map[replay.Step]replay.Status `json:"steps"`
	MustCatch *catch                        `json:"must_catch,omitempty"`
	Notes     []string                      `json:"notes"` // codes
}

// A catch is the fault that a verifier must name first in its step. With an empty code it is
// something that is not shown and that no event is to blame for.
type catch struct {
	Step  replay.Step `json:"step"`
	Code  string      `json:"code"`
	Event int64       `json:"event"`
}

// A scenario is a vector as it is made. What a verifier must say about it is stated here, so that a
// verifier that has gone wrong cannot rewrite it.
type scenario struct {
	name   string
	make   func(*world) string // bundle text
	catch  string              // "step/code" or "step/code@event"; "" if nothing is wrong
	fails  string              // the other steps that fail, if the fault spoils more than its own
	hidden string              // steps not shown, besides witnesses, which only the quorum's file shows
	notes  string
}

const (
	bundleDir = "bundles"
	allSteps  = "format chain identity consent signatures chance rules clock closure inclusion witnesses"
)

func but(step string) string { return strings.ReplaceAll(allSteps, step, "") }

// verdict is what a file's bundles come to.
func verdict(file string) replay.Verdict {
	switch file {
	case "valid", "witnessed":
		return replay.Verified
	case "unchecked", "unwitnessed":
		return replay.Unchecked
	case "incomplete":
		return replay.Incomplete
	}
	return replay.Refuted
}

func (s scenario) build(t *testing.T, file, policy string) bundleCase {
	t.Helper()
	c := bundleCase{Name: s.name, Bundle: s.make(newWorld(t, origin)), Verdict: verdict(file),
		Steps: make(map[replay.Step]replay.Status), Notes: append([]string{}, strings.Fields(s.notes)...)}
	for _, step := range replay.Steps() {
		c.Steps[step] = replay.Pass
	}
	for _, step := range strings.Fields(s.hidden) {
		c.Steps[replay.Step(step)] = replay.NotShown
	}
	if file != "witnessed" {
		c.Steps[replay.StepWitnesses] = replay.NotShown
	}
	for _, step := range strings.Fields(s.fails) {
		c.Steps[replay.Step(step)] = replay.Fail
	}
	if s.catch != "" {
		c.MustCatch = &catch{Event: -1}
		text, event, ok := strings.Cut(s.catch, "@")
		if ok {
			fmt.Sscan(event, &c.MustCatch.Event)
		}
		step, code, _ := strings.Cut(text, "/")
		c.MustCatch.Step, c.MustCatch.Code = replay.Step(step), code
		if c.Verdict == replay.Refuted {
			c.Steps[c.MustCatch.Step] = replay.Fail
		} else {
			c.Steps[c.MustCatch.Step] = replay.NotShown
		}
	}
	c.check(t, policy)
	return c
}

// check verifies the bundle and holds the report against what the vector says.
func (c *bundleCase) check(t *testing.T, policy string) {
	t.Helper()
	r := replay.NewVerifier(parsePolicy(t, policy)).Verify([]byte(c.Bundle))
	wrong := func(format string, args ...any) {
		t.Helper()
		t.Errorf("%s: %s\n%s", c.Name, fmt.Sprintf(format, args...), show(r))
	}
	if r.Verdict != c.Verdict {
		wrong("verdict %s, want %s", r.Verdict, c.Verdict)
		return
	}
	for i, step := range replay.Steps() {
		if l := r.Steps[i]; l.Step != step || l.Status != c.Steps[step] || l.Detail == "" {
			wrong("step %s is %s, want %s", l.Step, l.Status, c.Steps[step])
			return
		}
	}
	notes := []string{}
	for _, n := range r.Notes {
		notes = append(notes, n.Code)
	}
	if !slices.Equal(notes, c.Notes) {
		wrong("notes %q, want %q", notes, c.Notes)
	}
	if m := c.MustCatch; m != nil {
		faults := line(r, m.Step).Faults
		switch {
		case m.Code == "" && len(faults) > 0, m.Code != "" && len(faults) == 0:
			wrong("must be caught by %+v", *m)
		case m.Code != "" && (faults[0].Step != m.Step || faults[0].Code != m.Code || faults[0].Event != m.Event):
			wrong("must be caught by %+v", *m)
		}
	}
}

// policies are those of the files that do not use the world's own.
func policies(t testing.TB) map[string]string {
	w := newWorld(t, origin)
	lines := "log " + w.signer.Verifier().String() + "\n"
	for _, name := range []string{"w1.example", "w2.example"} {
		lines += "witness " + name + " " + newWitness(t, name).verk.String() + "\n"
	}
	lines += "group both all w1.example w2.example\nquorum both\n"
	return map[string]string{"": w.policy(), "witnessed": lines, "unwitnessed": lines}
}

func TestVectorsBundles(t *testing.T) {
	total := 0
	known := policies(t)
	for file, list := range scenarios {
		f := bundleFile{Policy: known[file]}
		if f.Policy == "" {
			f.Policy = known[""]
		}
		for _, s := range list {
			f.Cases = append(f.Cases, s.build(t, file, f.Policy))
		}
		var want bytes.Buffer
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", " ")
		if err := enc.Encode(f); err != nil {
			t.Fatal(err)
		}
		total += want.Len()
		name := path.Join(bundleDir, file+".json")
		if os.Getenv("LUDGER_UPDATE") != "" {
			if err := os.MkdirAll("../testvectors/"+bundleDir, 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile("../testvectors/"+name, want.Bytes(), 0o666); err != nil {
				t.Fatal(err)
			}
			continue
		}
		got, err := testvectors.FS.ReadFile(name)
		if err != nil {
			t.Error(err)
		} else if !bytes.Equal(got, want.Bytes()) {
			t.Errorf("%s is not what the code makes: run make vectors and explain the difference", name)
		}
	}
	if total > 2_000_000 {
		t.Errorf("the vectors take %d bytes", total)
	}
}

// vectors reads every file of bundles.
func vectors(t testing.TB) map[string]bundleFile {
	t.Helper()
	names, err := fs.Glob(testvectors.FS, bundleDir+"/*.json")
	if err != nil || len(names) == 0 {
		t.Fatalf("%d files of bundles: %v", len(names), err)
	}
	files := make(map[string]bundleFile)
	for _, name := range names {
		data, err := testvectors.FS.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var f bundleFile
		if err := json.Unmarshal(data, &f); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if len(f.Cases) == 0 {
			t.Fatalf("%s has no cases", name)
		}
		files[strings.TrimSuffix(path.Base(name), ".json")] = f
	}
	return files
}

func TestBundles(t *testing.T) {
	files := vectors(t)
	for file := range scenarios {
		if _, ok := files[file]; !ok {
			t.Errorf("no vectors for %s", file)
		}
	}
	for file, f := range files {
		t.Run(file, func(t *testing.T) {
			for i := range f.Cases {
				f.Cases[i].check(t, f.Policy)
			}
		})
	}
	for _, step := range replay.Steps() {
		f, ok := files[string(step)]
		if step == replay.StepWitnesses {
			f, ok = files["unwitnessed"]
		}
		if !ok || !slices.ContainsFunc(f.Cases, func(c bundleCase) bool {
			return c.MustCatch != nil && c.MustCatch.Step == step
		}) {
			t.Errorf("no vector is caught by the step %s", step)
		}
	}
}

// unreachable are the codes that no bundle can show, and why.
var unreachable = map[string]string{
	"no-agreement":    "every game known here has two seats that may agree on a draw",
	"too-many-events": "a bundle with so many is refused before, as a whole; TestTooManyEvents",
}

// TestEveryCode: each code that the source can put into a report is what some vector must be caught
// by.
func TestEveryCode(t *testing.T) {
	caught := make(map[string]bool)
	for _, f := range vectors(t) {
		for _, c := range f.Cases {
			if c.MustCatch != nil {
				caught[c.MustCatch.Code] = true
			}
		}
	}
	found := make(map[string]bool)
	code := regexp.MustCompile(`(?:\bfail\(Step\w+, |\bCode: |\bformatFault\(|\.Code, f\.Missing = )"([^"]+)"`)
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range code.FindAllSubmatch(src, -1) {
			found[string(m[1])] = true
		}
	}
	if len(found) < 40 {
		t.Fatalf("only %d codes found in the source: it is written in a way this test does not see", len(found))
	}
	for c := range found {
		if !caught[c] && unreachable[c] == "" {
			t.Errorf("no vector is caught by the code %q", c)
		}
	}
	for c := range unreachable {
		if caught[c] || !found[c] {
			t.Errorf("the code %q is not unreachable", c)
		}
	}
}
