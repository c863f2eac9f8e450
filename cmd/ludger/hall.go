package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"ludger/api/arena"
	"ludger/checkpoint"
	"ludger/checkpoint/publish"
	"ludger/ledger/pebblelog"
	"ludger/ledger/sequencer"
)

// A data folder holds
//
//	key       the log's private key, a signed-note key text
//	policy    the trust policy that auditors are given
//	log/      the log's database
//
// and beside it stands <folder>.head, with the newest signed head: outside, so that an older copy
// of the folder put back is noticed.

// A hall is an opened data folder.
type hall struct {
	signer *checkpoint.Signer
	log    *pebblelog.Log
	cells  *pebblelog.Cells
	seq    *sequencer.Sequencer
	pub    *publish.Publisher
	arena  *arena.Arena
}

func keyFile(dir string) string    { return filepath.Join(dir, "key") }
func policyFile(dir string) string { return filepath.Join(dir, "policy") }

// createHall makes a data folder with a new key. It never replaces a key.
func createHall(dir string, signer *checkpoint.Signer) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	policy, err := checkpoint.NewPolicy(signer.Verifier())
	if err != nil {
		return err
	}
	if err := writeNew(keyFile(dir), []byte(signer.Secret()+"\n"), 0o600); err != nil {
		return err
	}
	return writeNew(policyFile(dir), policy.Format(), 0o644)
}

// writeNew writes a file that must not exist yet.
func writeNew(name string, data []byte, perm fs.FileMode) (err error) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := f.Write(data); err != nil {
		return err
	}
	return f.Sync()
}

// openHall opens a data folder for writing. Opening checks the log against its own published head.
func openHall(ctx context.Context, dir string) (h *hall, err error) {
	secret, err := os.ReadFile(keyFile(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, exit{exitUnchecked, fmt.Errorf("%s is not a data folder: it has no key\nhint: make one with ludger keygen --origin example.com/log --data %s", dir, dir)}
	}
	if err != nil {
		return nil, err
	}
	h = new(hall)
	defer func() {
		if err != nil {
			err = errors.Join(err, h.Close())
		}
	}()
	if h.signer, err = checkpoint.ParseSigner(strings.TrimSuffix(string(secret), "\n")); err != nil {
		return h, fmt.Errorf("reading %s: %w", keyFile(dir), err)
	}
	if h.log, err = pebblelog.Open(filepath.Join(dir, "log"), pebblelog.Options{}); err != nil {
		return h, err
	}
	if h.cells, err = pebblelog.OpenCells(filepath.Clean(dir)+".head", pebblelog.Options{}); err != nil {
		return h, err
	}
	// The guard comes first: a log that contradicts its published head gets no new owner.
	if h.pub, err = publish.Open(ctx, publish.Config{Log: h.log, Cells: h.cells, Signer: h.signer}); err != nil {
		return h, err
	}
	owner := fmt.Sprintf("ludger process %d", os.Getpid())
	if h.seq, err = sequencer.Open(ctx, h.log, sequencer.Config{Owner: owner}); err != nil {
		return h, err
	}
	h.arena, err = arena.Open(ctx, h.log, h.seq, h.signer.Verifier().Name(), []string{h.signer.Verifier().String()}, now())
	return h, err
}

// Close releases the folder. Nothing acknowledged waits for it.
func (h *hall) Close() error {
	var errs []error
	if h.seq != nil {
		errs = append(errs, h.seq.Close())
	}
	if h.log != nil {
		errs = append(errs, h.log.Close())
	}
	if h.cells != nil {
		errs = append(errs, h.cells.Close())
	}
	return errors.Join(errs...)
}

// publish signs the log's head and returns the note with what it says.
func (h *hall) publish(ctx context.Context) ([]byte, checkpoint.Checkpoint, error) {
	note, err := h.pub.Publish(ctx)
	if err != nil {
		return nil, checkpoint.Checkpoint{}, err
	}
	head, err := checkpoint.Open(note, h.signer.Verifier())
	return note, head, err
}

// now is the program's only clock: Unix milliseconds.
func now() int64 { return time.Now().UnixMilli() }
