package rivals

import (
	"context"
	"crypto/rand"
	"io"
	"os"
	"testing"
	"time"

	"github.com/transparency-dev/tessera"
	"github.com/transparency-dev/tessera/storage/posix"
	"golang.org/x/mod/sumdb/note"
	"k8s.io/klog/v2"

	"ludger/ledger/event"
)

// TestMain keeps Tessera's log lines out of the figures.
func TestMain(m *testing.M) {
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	os.Exit(m.Run())
}

// tesseraPOSIX is Tessera's log on a file system. An entry's future resolves when the entry is
// written, synced and integrated into the tree.
func tesseraPOSIX(dir string) (add, func() error, error) {
	skey, _, err := note.GenerateKey(rand.Reader, "rivals.example/log")
	if err != nil {
		return nil, nil, err
	}
	signer, err := note.NewSigner(skey)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	driver, err := posix.New(ctx, posix.Config{Path: dir})
	if err != nil {
		cancel()
		return nil, nil, err
	}
	log, _, _, err := tessera.NewAppender(ctx, driver, tessera.NewAppendOptions().
		WithCheckpointSigner(signer).
		WithBatching(256, 5*time.Millisecond))
	if err != nil {
		cancel()
		return nil, nil, err
	}
	add := func(ctx context.Context, e event.Event) error {
		_, err := log.Add(ctx, tessera.NewEntry(e.Raw()))()
		return err
	}
	// Its own shutdown waits for the next checkpoint; what was added is durable without it.
	return add, func() error { cancel(); return nil }, nil
}
