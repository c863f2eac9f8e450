package drandtest

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestNetwork(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED, -short: a drand network takes a quarter of a minute")
	}
	n := Start(t)
	client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	answers := func(i int) bool {
		resp, err := client.Get(n.URLs()[i] + "/chains")
		if err == nil {
			resp.Body.Close()
		}
		return err == nil
	}
	if len(n.URLs()) != nodes || !n.Chain().Test || n.Chain().Period != 1 {
		t.Errorf("servers %v of chain %+v", n.URLs(), n.Chain())
	}
	for i := range n.URLs() {
		if !answers(i) {
			t.Errorf("node %d does not answer", i)
		}
	}
	n.StopNode(1)
	n.StopNode(1)
	if !answers(0) || answers(1) {
		t.Error("another node than node 1 was stopped")
	}
	for range 2 {
		if err := n.StartNode(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
	}
	if !answers(1) {
		t.Error("node 1 does not answer after its return")
	}
	n.Close()
	n.Close()
	for i := range n.URLs() {
		if answers(i) {
			t.Errorf("node %d outlives its network", i)
		}
	}
	if err := n.StartNode(t.Context(), 0); err == nil {
		t.Error("a closed network starts a node")
	}
}

// TestUnavailable: without the modules there is a reason to skip, not a failure.
func TestUnavailable(t *testing.T) {
	for _, name := range []string{"XDG_CACHE_HOME", "HOME", "GOMODCACHE", "GOCACHE", "LocalAppData"} {
		t.Setenv(name, t.TempDir())
	}
	t.Setenv("GOPROXY", "off")
	if n, err := New(t.Context(), t.TempDir()); !errors.Is(err, ErrUnavailable) {
		t.Errorf("%v, %v", n, err)
	}
}

// TestSpawner: where the system can, nodes end with the test's process, however that ends.
func TestSpawner(t *testing.T) {
	if os.Getenv("DRANDTEST_SPAWN") != "" { // the process that is killed below
		cmd := exec.Command("sleep", "60")
		if err := newSpawner().start(cmd); err != nil {
			t.Fatal(err)
		}
		fmt.Println(cmd.Process.Pid)
		select {}
	}
	s := newSpawner()
	defer s.close()
	if err := s.start(exec.Command(filepath.Join(t.TempDir(), "none"))); err == nil {
		t.Error("what does not exist is started")
	}
	if runtime.GOOS != "linux" {
		t.Skip("SKIPPED, only Linux ends the processes of a thread")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run=^TestSpawner$")
	cmd.Env = append(os.Environ(), "DRANDTEST_SPAWN=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Fscan(out, &pid); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("process %d outlives the one that began it: %s", pid, stat)
		}
	}
}
