package logtest

import (
	"context"
	"fmt"
	"sync"

	"ludger/ledger"
)

// A Faulty log passes everything on to Log, but for commits that are told to fail.
type Faulty struct {
	ledger.Log

	mu     sync.Mutex // guards what follows
	next   []error    // outcomes of the next commits; nil is to pass
	broken bool       // after an unclear commit: until Open
}

// Unclear is the error of a commit of which the caller cannot know whether it was written.
type Unclear struct {
	Written bool // it was
}

func (Unclear) Error() string { return "the disk went away" }

// Fail sets the outcomes of the commits to come, in order: nil lets one pass, Unclear makes it
// unclear, and any other error is returned while nothing is written.
func (f *Faulty) Fail(outcomes ...error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.next = outcomes
}

// Open passes on, and ends the refusal of commits.
func (f *Faulty) Open(ctx context.Context, owner string) (uint64, ledger.Head, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.broken = false
	return f.Log.Open(ctx, owner)
}

// Commit has the outcome that Fail set.
func (f *Faulty) Commit(ctx context.Context, epoch uint64, base ledger.Head, batch ledger.Batch, next ledger.Head) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.broken {
		return fmt.Errorf("a commit before was unclear: open the log again")
	}
	var outcome error
	if len(f.next) > 0 {
		outcome, f.next = f.next[0], f.next[1:]
	}
	unclear, ok := outcome.(Unclear)
	if outcome == nil || ok && unclear.Written {
		if err := f.Log.Commit(ctx, epoch, base, batch, next); err != nil {
			return err
		}
	}
	f.broken = ok
	return outcome
}
