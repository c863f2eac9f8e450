package sequencer

import (
	"fmt"
	"testing"
)

// TestIDCache: an id that came in with a group after the one at which its caller looked is never said to
// be absent, however many have come since; one that did not is not looked for again.
func TestIDCache(t *testing.T) {
	var c idCache
	const perGroup = 1000
	for group := int64(1); group <= 3*maxIDs/perGroup; group++ {
		ids := make(map[string]bool)
		for i := range perGroup {
			ids[fmt.Sprint(group, "/", i)] = true
		}
		c.add(group, ids)
		for seen := range group {
			if !c.maybe(fmt.Sprint(seen+1, "/", 7), seen) {
				t.Fatalf("after group %d: an id of group %d is said to be absent", group, seen+1)
			}
		}
		if c.maybe("new", group) || group < maxIDs/perGroup && c.maybe("new", 0) {
			t.Fatalf("after group %d: a new id is looked for", group)
		}
	}
	if len(c.young)+len(c.old) > 2*maxIDs+2*perGroup {
		t.Errorf("%d ids are remembered", len(c.young)+len(c.old))
	}
}
