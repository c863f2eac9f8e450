package rivals

import (
	"context"
	"errors"

	"ludger/ledger/event"
	"ludger/ledger/pebblelog"
	"ludger/ledger/sequencer"
)

// ours is the ledger's own log on disk.
func ours(dir string) (add, func() error, error) {
	ctx := context.Background()
	log, err := pebblelog.Open(dir, pebblelog.Options{})
	if err != nil {
		return nil, nil, err
	}
	seq, err := sequencer.Open(ctx, log, sequencer.Config{Owner: "rivals"})
	if err != nil {
		return nil, nil, errors.Join(err, log.Close())
	}
	add := func(ctx context.Context, e event.Event) error {
		_, err := seq.Append(ctx, sequencer.Append{Events: []event.Event{e}})
		return err
	}
	return add, func() error { return errors.Join(seq.Close(), log.Close()) }, nil
}
