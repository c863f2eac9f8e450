package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"ludger/api/arena"
	"ludger/checkpoint"
	"ludger/checkpoint/drand"
	"ludger/checkpoint/publish"
	"ludger/ledger/canon"
	"ludger/ledger/pebblelog"
	"ludger/ledger/sequencer"
)

// A data folder holds
//
//	key       the log's private key, a signed-note key text
//	secret    from which the secrets of matches are made, and the key of the local test beacon
//	policy    the trust policy that auditors are given
//	log/      the log's database
//
// and beside it stands <folder>.head, with the newest signed head: outside, so that an older copy
// of the folder put back is noticed.

// beaconGenesis is the time of round 1 of the local test beacon, in Unix seconds: the start of 2025.
const beaconGenesis = 1_735_689_600

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
func secretFile(dir string) string { return filepath.Join(dir, "secret") }
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
	var secret [32]byte
	rand.Read(secret[:])
	if err := writeNew(secretFile(dir), fmt.Appendf(nil, "%x\n", secret), 0o600); err != nil {
		return err
	}
	return writeNew(policyFile(dir), policy.Format(), 0o644)
}

// readSecret reads the secret of a data folder.
func readSecret(dir string) (secret [32]byte, err error) {
	text, err := os.ReadFile(secretFile(dir))
	if err == nil && !canon.DecodeHex(secret[:], strings.TrimSuffix(string(text), "\n")) {
		err = fmt.Errorf("%s does not hold 64 lowercase hex digits", secretFile(dir))
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w\nhint: without it, matches with hidden moves that are not over cannot go on; put it back from a copy", err)
	}
	return secret, err
}

// writeNew writes a file that must not exist yet, whole or not at all.
func writeNew(name string, data []byte, perm fs.FileMode) (err error) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	return nil
}

// readKey reads the log's key of a data folder.
func readKey(dir string) (*checkpoint.Signer, error) {
	secret, err := os.ReadFile(keyFile(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is not a data folder: it has no key\nhint: make one with ludger keygen --origin example.com/log --data %s", dir, dir)
	}
	if err != nil {
		return nil, err
	}
	signer, err := checkpoint.ParseSigner(strings.TrimSuffix(string(secret), "\n"))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", keyFile(dir), err)
	}
	return signer, nil
}

// headDir returns the folder of the published head: beside the data folder whatever name that is
// given by, so that no copy of the one holds the other.
func headDir(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err == nil && filepath.Dir(dir) == dir {
		err = fmt.Errorf("%s cannot be a data folder: nothing is beside it, where the published head must be kept", dir)
	}
	return dir + ".head", err
}

// openStores opens the log and the head of a data folder. New ones are made only together: if one
// is there, the other is missing, and an empty one in its place would hide that.
func openStores(dir string) (log *pebblelog.Log, cells *pebblelog.Cells, err error) {
	logs := filepath.Join(dir, "log")
	heads, err := headDir(dir)
	if err != nil {
		return nil, nil, err
	}
	_, logErr := os.Stat(logs)
	_, headErr := os.Stat(heads)
	if logErr == nil && errors.Is(headErr, fs.ErrNotExist) {
		return nil, nil, exit{exitWrong, fmt.Errorf("the published head of %s is missing: without %s nobody knows whether the folder is the newest\nhint: if the data folder was renamed, rename its .head folder too; both belong together, also in backups", dir, heads)}
	}
	if cells, err = pebblelog.OpenCells(heads, pebblelog.Options{}); err != nil {
		return nil, nil, err
	}
	if errors.Is(logErr, fs.ErrNotExist) {
		// A head may stand before its log only if it says that the log is empty.
		if err = headIsEmpty(dir, cells); err != nil {
			return nil, nil, errors.Join(err, cells.Close())
		}
	}
	if log, err = pebblelog.Open(logs, pebblelog.Options{}); err != nil {
		return nil, nil, errors.Join(err, cells.Close())
	}
	return log, cells, nil
}

func headIsEmpty(dir string, cells *pebblelog.Cells) error {
	signer, err := readKey(dir)
	if err != nil {
		return err
	}
	note, _, err := cells.Get(context.Background(), publish.Cell(signer.Verifier().Name()))
	if err != nil || note == nil {
		return err
	}
	head, err := checkpoint.Open(note, signer.Verifier())
	if err != nil || head.Size == 0 {
		return err
	}
	return exit{exitWrong, fmt.Errorf("the log of %s is missing, although a checkpoint of %d entries was published\nhint: put the folder %s back", dir, head.Size, filepath.Join(dir, "log"))}
}

// openHall opens a data folder for writing. Opening checks the log against its own published head.
func openHall(ctx context.Context, dir string) (h *hall, err error) {
	return openHallWith(ctx, dir, nil, 0)
}

// openHallWith opens a data folder for writing, with a source of beacons, which it does not close; nil is
// the local test beacon. anchor is arena.Config.Anchor.
func openHallWith(ctx context.Context, dir string, beacons drand.Source, anchor time.Duration) (h *hall, err error) {
	h = new(hall)
	if h.signer, err = readKey(dir); err != nil {
		return nil, exit{exitUnchecked, err}
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, h.Close())
		}
	}()
	if h.log, h.cells, err = openStores(dir); err != nil {
		return h, err
	}
	// The guard comes first: a log that contradicts its published head gets no new owner.
	if h.pub, err = publish.Open(ctx, publish.Config{Log: h.log, Cells: h.cells, Signer: h.signer}); err != nil {
		return h, err
	}
	secret, err := readSecret(dir)
	if err != nil {
		return h, exit{exitUnchecked, err}
	}
	if beacons == nil {
		if beacons, err = drand.NewLocal(canon.Digest("ludger/hall-beacon/v1", secret[:]), beaconGenesis); err != nil {
			return h, err
		}
	}
	owner := fmt.Sprintf("ludger process %d", os.Getpid())
	if h.seq, err = sequencer.Open(ctx, h.log, sequencer.Config{Owner: owner}); err != nil {
		return h, err
	}
	h.arena, err = arena.Open(ctx, h.log, h.seq, arena.Config{
		Origin: h.signer.Verifier().Name(), Keys: []string{h.signer.Verifier().String()},
		Beacons: beacons, Secret: secret, Now: now, Anchor: anchor})
	return h, err
}

// Close releases the folder. Nothing acknowledged waits for it.
func (h *hall) Close() error {
	var errs []error
	if h.arena != nil {
		h.arena.Close()
	}
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
