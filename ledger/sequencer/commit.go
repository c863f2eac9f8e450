package sequencer

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"ludger/ledger"
)

// run is the committer.
func (s *Sequencer) run() {
	ctx := context.Background() // a group outlives the callers that it serves
	for s.err == nil {
		if s.err = s.wait(); s.err == nil {
			s.gather(ctx)
			s.err = s.commit(ctx)
		}
	}
	for _, r := range s.late {
		r.answer <- answer{err: s.stopped()}
	}
	close(s.done)
	s.refuse()
}

// wait returns when there is a request, which is put into late, and errClosed after Close.
func (s *Sequencer) wait() error {
	select {
	case <-s.quit:
		return errClosed
	default:
	}
	if len(s.late) > 0 {
		return nil
	}
	select {
	case r := <-s.queue:
		s.late = append(s.late, r)
		return nil
	case <-s.quit:
		return errClosed
	}
}

// gather makes a group of the requests that were put off and those that wait behind them.
func (s *Sequencer) gather(ctx context.Context) {
	s.group.reset()
	late := s.late // no more than one group looked at, so they fit
	s.late = nil
	for _, r := range late {
		s.place(ctx, r)
	}
	for came, yields := false, 0; !s.group.full(); {
		select {
		case r := <-s.queue:
			s.place(ctx, r)
			came = true
			continue
		default:
		}
		if yields > 0 && !came {
			return
		}
		// The writers that the last group answered are about to append again. Without them the group
		// would be small, and a sync costs the same for small and large ones.
		runtime.Gosched()
		yields, came = yields+1, false
	}
}

// commit commits the group and answers its requests. Its error stops the sequencer.
func (s *Sequencer) commit(ctx context.Context) error {
	g := &s.group
	if len(g.requests) == 0 {
		return nil
	}
	next := ledger.Head{Size: s.edge.Size(), Root: s.edge.Root()}
	err := s.log.Commit(ctx, s.epoch, s.head, ledger.Batch{Entries: g.entries, Index: g.index()}, next)
	if err != nil {
		told := fmt.Errorf("%w: %w", ErrUnclear, err)
		if errors.Is(err, ledger.ErrFenced) {
			told = fmt.Errorf("%w: %w", ErrStopped, err)
		}
		for _, r := range g.requests {
			r.answer <- answer{err: told}
		}
		return err
	}
	s.head = next
	s.ids.add(g.number, g.ids)
	s.durable.Store(g.number)
	for _, r := range g.requests {
		r.answer <- answer{}
	}
	return nil
}
