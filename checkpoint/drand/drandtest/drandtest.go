// Package drandtest runs a real drand network on the loopback interface, for tests: three nodes of
// drand's own daemon, of which two must work together, with quicknet's scheme and a round every
// second.
//
//	network := drandtest.Start(t)
//	source, err := drand.NewHTTP(network.Chain(), network.URLs(), drand.HTTPOptions{})
//	network.StopNode(0)
//
// The daemon is built once from the Go module proxy and kept in the user's cache folder. Start skips
// the test, saying why, if the modules cannot be had; New is for a network that several tests share.
//
// Whoever runs such a network could know its rounds beforehand, and its nodes talk without TLS: its
// chain is marked as a test.
package drandtest

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"ludger/checkpoint/beacon"
)

const (
	host      = "127.0.0.1"
	nodes     = 3
	threshold = 2
	// The nodes begin at genesis only if they have agreed on their key by then, which takes six seconds
	// on an idle machine.
	genesisDelay = 12 * time.Second
	attempts     = 3
)

// A Network is a running drand network. Its methods must not be called concurrently.
type Network struct {
	dir    string
	binary string
	spawn  *spawner
	nodes  [nodes]node
	chain  beacon.Info
	closed bool
}

type node struct {
	private, public, control int           // ports
	running                  *exec.Cmd     // nil if it is stopped
	ended                    chan struct{} // closed when running has ended
}

// Start runs a network until the test ends.
func Start(t testing.TB) *Network {
	t.Helper()
	n, err := New(t.Context(), t.TempDir())
	switch {
	case errors.Is(err, ErrUnavailable):
		t.Skipf("SKIPPED, no drand network: %v", err)
	case err != nil:
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	return n
}

// New runs a network whose files are in dir, an empty folder, and returns when its first round is out.
// The error wraps ErrUnavailable if the daemon's modules cannot be had. The network runs until Close.
func New(ctx context.Context, dir string) (*Network, error) {
	binary, err := build(ctx)
	if err != nil {
		return nil, err
	}
	for i := 0; ; i++ {
		n := &Network{dir: filepath.Join(dir, "network"+strconv.Itoa(i)), binary: binary, spawn: newSpawner()}
		err := n.start(ctx)
		if err == nil {
			return n, nil
		}
		err = fmt.Errorf("starting a drand network: %w%s", err, n.logs())
		n.Close()
		// Another program may take a port before its node does, and a busy machine may miss genesis.
		if i+1 == attempts || ctx.Err() != nil {
			return nil, err
		}
	}
}

// Chain describes the network's chain.
func (n *Network) Chain() beacon.Info { return n.chain }

// URLs returns the addresses of all nodes' HTTP servers, stopped ones too; they never change.
func (n *Network) URLs() []string {
	var urls []string
	for _, node := range n.nodes {
		urls = append(urls, fmt.Sprintf("http://%s:%d", host, node.public))
	}
	return urls
}

// StopNode ends the node that the URL of the same index belongs to.
func (n *Network) StopNode(i int) {
	node := &n.nodes[i]
	if node.running == nil {
		return
	}
	if node.running.Process.Signal(os.Interrupt) != nil {
		_ = node.running.Process.Kill()
	}
	select {
	case <-node.ended:
	case <-time.After(5 * time.Second):
		_ = node.running.Process.Kill()
		<-node.ended
	}
	node.running = nil
}

// StartNode starts a stopped node again. It returns when the node answers; its rounds come later.
func (n *Network) StartNode(ctx context.Context, i int) error {
	if n.closed {
		return errors.New("the network is closed")
	}
	if n.nodes[i].running != nil {
		return nil
	}
	if err := n.run(i); err != nil {
		return err
	}
	_, err := n.wait(ctx, i, 30*time.Second, "/chains", hasChain)
	return err
}

// Close ends all nodes, for good.
func (n *Network) Close() {
	if n.closed {
		return
	}
	n.closed = true
	var wait sync.WaitGroup
	for i := range n.nodes {
		wait.Go(func() { n.StopNode(i) })
	}
	wait.Wait()
	n.spawn.close()
}

func (n *Network) start(ctx context.Context) error {
	if err := n.choosePorts(); err != nil {
		return err
	}
	var joiners []string
	for i, node := range n.nodes {
		private := net.JoinHostPort(host, strconv.Itoa(node.private))
		joiners = append(joiners, "--joiner", private)
		if err := n.command(ctx, "generate-keypair", "--folder", n.folder(i), "--id", "default", "--scheme", string(beacon.UnchainedG1), "--control", strconv.Itoa(node.control), private); err != nil {
			return err
		}
		if err := n.run(i); err != nil {
			return err
		}
	}
	for i, node := range n.nodes {
		if err := n.retry(ctx, i, 20*time.Second, func() error {
			return n.command(ctx, "util", "ping", "--control", strconv.Itoa(node.control))
		}); err != nil {
			return err
		}
	}
	proposal := filepath.Join(n.dir, "proposal.toml")
	leader := strconv.Itoa(n.nodes[0].control)
	if err := n.command(ctx, append([]string{"dkg", "generate-proposal", "--control", leader, "--id", "default", "--out", proposal}, joiners...)...); err != nil {
		return err
	}
	// The catch-up period must be below the period: a network that was halted would stay behind.
	if err := n.command(ctx, "dkg", "init", "--control", leader, "--id", "default", "--scheme", string(beacon.UnchainedG1), "--period", "1s", "--catchup-period", "0s",
		"--threshold", strconv.Itoa(threshold), "--timeout", "1m", "--genesis-delay", genesisDelay.String(), "--proposal", proposal); err != nil {
		return err
	}
	for _, node := range n.nodes[1:] {
		if err := n.command(ctx, "dkg", "join", "--control", strconv.Itoa(node.control), "--id", "default"); err != nil {
			return err
		}
	}
	if err := n.command(ctx, "dkg", "execute", "--control", leader, "--id", "default"); err != nil {
		return err
	}
	body, err := n.wait(ctx, 0, 30*time.Second, "/chains", hasChain)
	if err != nil {
		return err
	}
	var hashes []string
	if err := json.Unmarshal(body, &hashes); err != nil || len(hashes) != 1 {
		return fmt.Errorf("reading the list of chains %q: %w", body, err)
	}
	body, err = n.wait(ctx, 0, 10*time.Second, "/"+hashes[0]+"/info", nil)
	if err != nil {
		return err
	}
	if n.chain, err = readInfo(body); err != nil {
		return fmt.Errorf("reading the chain's description: %w", err)
	}
	for i := range n.nodes {
		if _, err := n.wait(ctx, i, genesisDelay+10*time.Second, "/"+hashes[0]+"/public/1", nil); err != nil {
			return err
		}
	}
	return nil
}

// choosePorts takes ports that are free now. The nodes keep them over their restarts.
func (n *Network) choosePorts() error {
	for i := range n.nodes {
		for _, port := range []*int{&n.nodes[i].private, &n.nodes[i].public, &n.nodes[i].control} {
			l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
			if err != nil {
				return fmt.Errorf("finding a free port: %w", err)
			}
			defer l.Close() // after all have been found, so that they differ
			*port = l.Addr().(*net.TCPAddr).Port
		}
	}
	return nil
}

func (n *Network) folder(i int) string { return filepath.Join(n.dir, "node"+strconv.Itoa(i)) }

// run starts the process of a node.
func (n *Network) run(i int) error {
	node := &n.nodes[i]
	log, err := os.OpenFile(n.folder(i)+".log", os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	at := func(port int) string { return net.JoinHostPort(host, strconv.Itoa(port)) }
	cmd := exec.Command(n.binary, "start", "--folder", n.folder(i), "--db", "bolt",
		"--private-listen", at(node.private), "--public-listen", at(node.public), "--control", strconv.Itoa(node.control))
	cmd.Env, cmd.Stdout, cmd.Stderr = environment(), log, log
	if err := n.spawn.start(cmd); err != nil {
		return fmt.Errorf("starting node %d: %w", i, err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	node.running, node.ended = cmd, ended
	return nil
}

// command runs one of the daemon's commands to its end.
func (n *Network) command(ctx context.Context, args ...string) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, n.binary, args...)
	cmd.Env = environment()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("drand %s %s: %w: %s", args[0], args[1], err, tail(out))
	}
	return nil
}

// environment is ours without the settings that drand would take from it.
func environment() []string {
	var env []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "DRAND_") {
			env = append(env, v)
		}
	}
	return env
}

// retry calls f until it succeeds, the node has ended or the time is over.
func (n *Network) retry(ctx context.Context, i int, limit time.Duration, f func() error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		err := f()
		if err == nil {
			return nil
		}
		select {
		case <-n.nodes[i].ended:
			return fmt.Errorf("node %d has ended: %w", i, err)
		case <-ctx.Done():
			return fmt.Errorf("node %d, waiting %v: %w", i, limit, err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// wait returns what a node answers to a path when it answers well.
func (n *Network) wait(ctx context.Context, i int, limit time.Duration, path string, good func([]byte) bool) (body []byte, err error) {
	client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	err = n.retry(ctx, i, limit, func() error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, n.URLs()[i]+path, nil)
		if err != nil {
			return err
		}
		resp, err := client.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if body, err = io.ReadAll(io.LimitReader(resp.Body, 1<<16)); err != nil {
			return err
		}
		if resp.StatusCode != http.StatusOK || good != nil && !good(body) {
			return fmt.Errorf("%s answers %s: %s", path, resp.Status, tail(body))
		}
		return nil
	})
	return body, err
}

func hasChain(body []byte) bool { return strings.Contains(string(body), `"`) }

// readInfo turns drand's description of a chain into ours, and checks it.
func readInfo(body []byte) (beacon.Info, error) {
	var their struct {
		GenesisTime int64  `json:"genesis_time"`
		GroupHash   string `json:"groupHash"`
		Hash        string
		Period      int64
		PublicKey   string `json:"public_key"`
		SchemeID    string
	}
	if err := json.Unmarshal(body, &their); err != nil {
		return beacon.Info{}, err
	}
	info := beacon.Info{
		Name: "default", Scheme: beacon.Scheme(their.SchemeID), PublicKey: their.PublicKey,
		Period: their.Period, Genesis: their.GenesisTime, Test: true,
	}
	for _, h := range []struct {
		into *beacon.Hash
		text string
	}{{&info.Hash, their.Hash}, {&info.GroupHash, their.GroupHash}} {
		b, err := hex.DecodeString(h.text)
		if err != nil || len(b) != len(h.into) {
			return info, fmt.Errorf("%q is not a hash", h.text)
		}
		*h.into = beacon.Hash(b)
	}
	_, err := beacon.NewChain(info)
	return info, err
}

// logs returns the ends of the nodes' logs.
func (n *Network) logs() string {
	var s strings.Builder
	for i := range n.nodes {
		if b, err := os.ReadFile(n.folder(i) + ".log"); err == nil {
			fmt.Fprintf(&s, "\nnode %d: %s", i, tail(b))
		}
	}
	return s.String()
}

func tail(b []byte) string {
	return strings.TrimSpace(string(b[max(0, len(b)-2000):]))
}
