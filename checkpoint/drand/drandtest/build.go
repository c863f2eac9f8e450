package drandtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// Version is the version of drand's daemon.
const Version = "v2.1.3"

// ErrUnavailable says that the daemon's modules cannot be had.
var ErrUnavailable = errors.New("the modules of drand " + Version + " cannot be had")

const daemon = "github.com/drand/drand/v2/cmd/drand"

// module is that of a wrapper, since nothing that we link requires what the daemon does.
const module = `module ludger/drandtest

go 1.24

require github.com/drand/drand/v2 ` + Version + `
`

// build returns the daemon's file, which it makes first if it is not there.
func build(ctx context.Context) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("finding the cache folder: %w", err)
	}
	cache = filepath.Join(cache, "ludger", "drandtest")
	binary := filepath.Join(cache, fmt.Sprintf("drand-%s-%s-%s-%s", Version, runtime.GOOS, runtime.GOARCH, runtime.Version()))
	if _, err := os.Stat(binary); err == nil {
		return binary, nil
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", fmt.Errorf("making the cache folder: %w", err)
	}
	dir, err := os.MkdirTemp(cache, "build-")
	if err != nil {
		return "", fmt.Errorf("building drand: %w", err)
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(module), 0o644); err != nil {
		return "", fmt.Errorf("building drand: %w", err)
	}
	tool := func(args ...string) error {
		cmd := exec.CommandContext(ctx, "go", args...)
		cmd.Dir = dir
		cmd.Env = append(environment(), "GOFLAGS=-mod=mod", "GOWORK=off", "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("go %s: %w: %s", args[0], err, tail(out))
		}
		return nil
	}
	const tags = "conn_insecure" // without TLS
	if err := tool("list", "-tags", tags, "-deps", "-f", "", daemon); err != nil {
		return "", fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	// Under its name the file is always whole: another test may build the same one now.
	made := filepath.Join(dir, "drand")
	if err := tool("build", "-tags", tags, "-trimpath", "-o", made, daemon); err != nil {
		return "", fmt.Errorf("building drand: %w", err)
	}
	if err := os.Rename(made, binary); err != nil {
		return "", fmt.Errorf("building drand: %w", err)
	}
	return binary, nil
}
