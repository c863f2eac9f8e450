package replay_test

import (
	"bytes"
	"testing"

	"ludger/ledger/event"
	"ludger/replay"
)

// FuzzFold changes the events of matches of every kind: two bytes say which event is dropped, doubled,
// swapped, taken from another match or given another body, and so on. All links are made right again, so
// that the fold is what has to find it. It must come to a verdict, and never call a match verified that is
// not one of the honest ones.
func FuzzFold(f *testing.F) {
	w := newWorld(f, origin)
	var honest []*table
	for _, kind := range []string{"chess", "hidden", "dice"} {
		honest = append(honest, targets[kind](w, w.register(kind+"-a"), w.register(kind+"-b")))
	}
	live := w.live()
	for range 3 {
		live.liveTurn()
	}
	live.say(live.resigned(0))
	live.due()
	honest = append(honest, live)
	for i := range honest {
		f.Add([]byte{byte(i), 0, 3, 4, 1, 5, 6})
	}
	f.Fuzz(func(t *testing.T, ops []byte) {
		if len(ops) < 4 || len(ops) > 40 {
			return
		}
		base := honest[int(ops[0])%len(honest)]
		list := append([]event.Event{}, base.events...)
		for ops = ops[1:]; len(ops) >= 3; ops = ops[3:] {
			i, j := int(ops[1])%len(list), int(ops[2])%len(list)
			switch other := honest[int(ops[2])%len(honest)].events; ops[0] % 5 {
			case 0:
				list = append(list[:i:i], list[i+1:]...)
			case 1:
				list = append(list[:i:i], append([]event.Event{list[j]}, list[i:]...)...)
			case 2:
				list[i], list[j] = list[j], list[i]
			case 3:
				list[i] = other[int(ops[1])%len(other)]
			case 4:
				list = list[:i+1]
			}
			if len(list) == 0 {
				return
			}
		}
		m := replay.NewKeys().NewMatch(origin)
		m.Disclose(base.secret)
		var prev event.Leaf
		faults := 0
		same := len(list) == len(base.events)
		for i := range list {
			body, err := list[i].Body()
			if err != nil {
				t.Fatal(err)
			}
			stream := event.MatchStream(base.m.ID())
			if i == 0 {
				stream = list[0].Stream
			}
			e, err := event.New(list[i].At, stream, int64(i), prev, body)
			if err != nil {
				return // of a stream that such a body does not stand in
			}
			prev = e.Leaf()
			faults += len(m.Apply(&e))
			same = same && bytes.Equal(e.Raw(), base.events[i].Raw())
		}
		if same && faults > 0 {
			t.Errorf("%d faults of an honest match", faults)
		}
		if !same && faults == 0 && m.Stage() == replay.StageSealed {
			t.Errorf("a changed match of %d events is taken", len(list))
		}
	})
}
