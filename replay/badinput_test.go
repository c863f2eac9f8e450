package replay_test

import (
	"bytes"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"ludger/ledger/event"
	"ludger/replay"
)

func TestTruncated(t *testing.T) {
	x := newTarget(t, "chess")
	for n := range x.text {
		r := x.v.Verify(x.text[:n])
		if l := line(r, replay.StepFormat); r.Verdict != replay.Refuted || len(l.Faults) != 1 || l.Faults[0].Code != "json" {
			t.Fatalf("%d bytes of %d: %s", n, len(x.text), show(r))
		}
	}
}

func TestBadInput(t *testing.T) {
	x := newTarget(t, "chess")
	text := string(x.text)
	for name, data := range map[string]string{
		"not JSON":                "PK\x03\x04",
		"null":                    "null",
		"a string":                `"bundle"`,
		"a number":                "1",
		"two bundles":             text + text,
		"newline at the end":      text + "\n",
		"byte order mark":         "\ufeff" + text,
		"invalid UTF-8":           strings.Replace(text, "vectors", "vect\xffrs", 1),
		"lone surrogate":          strings.Replace(text, "vectors", `vect\ud800rs`, 1),
		"name twice":              `{"agents":[],"agents":[]}`,
		"number beyond 2^53":      strings.Replace(text, `"seq":1,`, `"seq":9007199254740993,`, 1),
		"number of many digits":   strings.Replace(text, `"seq":1,`, `"seq":`+strings.Repeat("9", 1000)+`,`, 1),
		"number with an exponent": strings.Replace(text, `"seq":1,`, `"seq":1e0,`, 1),
		"negative zero":           strings.Replace(text, `"seq":0,`, `"seq":-0,`, 1),
		"deep nesting":            strings.Replace(text, `"seq":1,`, `"seq":`+strings.Repeat("[", 100)+strings.Repeat("]", 100)+`,`, 1),
		"origin of a page":        strings.Replace(text, `"origin":"`, `"origin":"`+strings.Repeat("x", 4096), 1),
	} {
		if data == text {
			t.Fatalf("%s: the text is as it was", name)
		}
		r := x.v.Verify([]byte(data))
		if l := line(r, replay.StepFormat); r.Verdict != replay.Refuted || l.Status != replay.Fail {
			t.Errorf("%s: %s", name, show(r))
		}
		for _, l := range r.Steps {
			if strings.ContainsFunc(l.Detail, func(r rune) bool { return r < 0x20 || r == 0x7f }) || len(l.Detail) > 1000 {
				t.Errorf("%s: a report must print: %q", name, l.Detail)
			}
		}
	}
}

// TestTooManyEvents: a bundle with more events than a match may have is refused as a whole, and a
// match refuses them one by one.
func TestTooManyEvents(t *testing.T) {
	w := newWorld(t, origin)
	tb := w.open(nil, unregistered("alice"), unregistered("bob"))
	last, err := event.New(first, event.MatchStream(tb.m.ID()), 1, event.Leaf{7}, &event.MatchAborted{Reason: "again"})
	if err != nil {
		t.Fatal(err)
	}
	var codes []string
	for i := range event.MaxMatchEvents {
		codes = codes[:0]
		for _, f := range tb.m.Apply(&last) {
			codes = append(codes, f.Code)
		}
		if more := tb.m.Len() > event.MaxMatchEvents; more != (codes[len(codes)-1] == "too-many-events") {
			t.Fatalf("event %d: %q", i+1, codes)
		}
	}
	b := replay.Bundle{Origin: origin, Events: make([]event.Event, event.MaxMatchEvents+1)}
	for i := range b.Events {
		b.Events[i] = last
	}
	r := replay.NewVerifier(parsePolicy(t, w.policy())).Verify(b.Bytes())
	if l := line(r, replay.StepFormat); r.Verdict != replay.Refuted || l.Faults[0].Code != "bundle" {
		t.Errorf("a bundle of %d events: %s", len(b.Events), show(r))
	}
}

// peak returns the memory that run takes at most beyond what was in use before, sampled.
func peak(run func()) uint64 {
	defer debug.SetGCPercent(debug.SetGCPercent(10)) // so that what is in use is what is needed
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	before, most := m.HeapAlloc, m.HeapAlloc
	done, sampled := make(chan bool), make(chan bool)
	go func() {
		defer close(sampled)
		for {
			select {
			case <-done:
				return
			case <-time.After(2 * time.Millisecond):
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				most = max(most, m.HeapAlloc)
			}
		}
	}()
	run()
	close(done)
	<-sampled
	runtime.ReadMemStats(&m)
	return max(most, m.HeapAlloc) - before
}

// TestMemory: whatever a bundle holds, judging it takes less than 200 MB, the text not counted.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	x := newTarget(t, "chess")
	fill := func(n int, parts ...string) []byte {
		var b bytes.Buffer
		for i := 0; b.Len() < n; i++ {
			b.WriteString(parts[i%len(parts)])
		}
		return b.Bytes()[:n]
	}
	repeat := func(e *event.Event, n int) []byte {
		list := make([]event.Event, n)
		for i := range list {
			list[i] = *e
		}
		return (&replay.Bundle{Origin: origin, Events: list}).Bytes()
	}
	kinds := func() []byte {
		var b bytes.Buffer
		b.WriteString(`{"agents":[],"events":[`)
		b.Write(x.bundle.Events[0].Raw())
		for i := 1; i < event.MaxMatchEvents; i++ {
			kind := fmt.Sprintf("k%s.done", strings.Map(func(r rune) rune { return 'a' + r - '0' }, fmt.Sprint(i)))
			fmt.Fprintf(&b, `,{"at":1,"body":{},"kind":"%s","prev":"%064x","seq":%d,"stream":"log","v":1}`, kind, i, i)
		}
		b.WriteString(`],"format":"ludger/bundle/v1","origin":"vectors.example/log"}`)
		return b.Bytes()
	}
	for name, data := range map[string][]byte{
		"40 MB of [":       fill(40<<20, "["),
		"40 MB of 0,":      append([]byte{'['}, fill(40<<20, "0,")...),
		"32 MiB of [":      fill(event.MaxBundle, "["),
		"32 MiB of 0,":     append([]byte{'['}, fill(event.MaxBundle-1, "0,")...),
		"32 MiB of {}":     append([]byte{'['}, fill(event.MaxBundle-1, `{"a":[0]},`)...),
		"one string":       append([]byte{'"'}, fill(event.MaxBundle-1, `\u0001`)...),
		"as many moves":    repeat(&x.bundle.Events[3], event.MaxMatchEvents),
		"as many openings": repeat(&x.bundle.Events[0], event.MaxMatchEvents),
		"as many kinds":    kinds(),
	} {
		var r *replay.Report
		start := time.Now()
		used := peak(func() { r = x.v.Verify(data) })
		t.Logf("%s: %d MB of text, %d MB of memory, %v", name, len(data)>>20, used>>20, time.Since(start).Round(time.Millisecond))
		if r.Verdict != replay.Refuted {
			t.Errorf("%s: verdict %s", name, r.Verdict)
		}
		if used > 200<<20 {
			t.Errorf("%s: %d bytes of memory for %d of text", name, used, len(data))
		}
		if text := show(r); len(text) > 4<<20 {
			t.Errorf("%s: the report takes %d bytes", name, len(text))
		}
	}
}

func FuzzVerify(f *testing.F) {
	seeds(f)
	v := replay.NewVerifier(parsePolicy(f, newWorld(f, origin).policy()))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := v.Verify(data)
		if len(r.Steps) != len(replay.Steps()) {
			t.Fatal("steps are missing")
		}
		if r.Verdict != replay.Refuted && line(r, replay.StepFormat).Status == replay.Pass {
			b, err := replay.ParseBundle(data)
			if err != nil || !bytes.Equal(b.Bytes(), data) {
				t.Fatalf("a bundle that is %s does not print back: %v", r.Verdict, err)
			}
		}
		if again := v.Verify(data); show(again) != show(r) {
			t.Fatalf("two reports on one bundle:\n%s\n%s", show(r), show(again))
		}
	})
}

func FuzzParseBundle(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := replay.ParseBundle(data)
		if err != nil {
			return
		}
		if printed := b.Bytes(); !bytes.Equal(printed, data) {
			t.Fatalf("%q prints as %q", data, printed)
		}
	})
}

func seeds(f *testing.F) {
	for _, file := range vectors(f) {
		for _, c := range file.Cases {
			f.Add([]byte(c.Bundle))
		}
	}
}
