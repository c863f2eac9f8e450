package replay_test

import (
	"encoding/json"
	"strings"
	"testing"

	"ludger/engine"
	"ludger/ledger/event"
	"ludger/replay"
)

// TestReportWords: a report claims no more than was shown. Codes are the vectors' matter; here it is
// the words and terms that a reader goes by.
func TestReportWords(t *testing.T) {
	terms := func(o *event.MatchOpened) {
		o.Start, o.Division, o.MoveMS = "4k3/8/8/8/8/8/8/4K2R w K - 0 1", "unassisted", 0
	}
	for _, c := range []struct {
		name string
		edit func(*event.MatchOpened)
		play func(*table)
		want map[replay.Step]string // part of the detail
		note string                 // part of the first note
		text string                 // part of the report as JSON
	}{
		{"mate", nil, func(tb *table) { tb.moves("f3 e5 g4 Qh4"); tb.end() }, map[replay.Step]string{
			replay.StepRules:     "4 moves legal by chess@1; result [-1 1]: checkmate",
			replay.StepClock:     "no limit is broken, of 60000 ms",
			replay.StepIdentity:  "that no other key was, only the whole log shows",
			replay.StepInclusion: "holds match.sealed, whose root covers all 8 events",
		}, "", `"start":"","division":"assisted","move_ms":60000,"events":9,"moves":4,"result":{"returns":[-1,1],"reason":"checkmate"},`},
		{"adjudicated", nil, func(tb *table) {
			tb.moves("e4")
			tb.say(&event.MatchAdjudicated{Returns: []int64{1, -1}, Rule: "checkmate, says the hall"})
			tb.end()
		}, map[replay.Step]string{replay.StepRules: "1 moves legal by chess@1; the arena adjudicated the result [1 -1]"},
			`giving as rule: "checkmate, says the hall"`, `"result":{"returns":[1,-1],"reason":"adjudicated","adjudicated":true},`},
		{"terms", terms, func(tb *table) { tb.resign(0); tb.end() }, map[replay.Step]string{replay.StepClock: "the match had no clock"},
			`started from "4k3/8/8/8/8/8/8/4K2R w K - 0 1"`, `"start":"4k3/8/8/8/8/8/8/4K2R w K - 0 1","division":"unassisted","move_ms":0,`},
		{"out of time", nil, func(tb *table) {
			tb.w.now += moveMS
			tb.say(&event.MatchForfeited{Seat: 0, Reason: engine.OutOfTime})
			tb.end()
		}, nil, "only the hall's times show", `"reason":"out-of-time"`},
		{"under way", nil, func(tb *table) { tb.moves("e4") }, map[replay.Step]string{
			replay.StepClosure: "the bundle shows no end, and no checkpoint vouches for what it shows",
		}, "", `"moves":1,"steps"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, origin)
			tb := w.open(c.edit, w.register("alice"), w.register("bob"))
			tb.ack(0)
			tb.ack(1)
			c.play(tb)
			r := replay.NewVerifier(parsePolicy(t, w.policy())).Verify([]byte(whole(tb)))
			for step, part := range c.want {
				if l := line(r, step); !strings.Contains(l.Detail, part) {
					t.Errorf("%s: %q, want %q", step, l.Detail, part)
				}
			}
			if c.note != "" && (len(r.Notes) == 0 || !strings.Contains(r.Notes[0].Text, c.note)) {
				t.Errorf("notes %v, want %q", r.Notes, c.note)
			}
			if text, err := json.Marshal(r); err != nil || !strings.Contains(string(text), c.text) {
				t.Errorf("report %s (%v), want %s", text, err, c.text)
			}
		})
	}
}
