package drandtest

import (
	"os/exec"
	"runtime"
)

// A spawner starts processes from one thread that lives as long as it does. Where the system can, the
// processes end with that thread, so also when the test's process is killed or times out.
type spawner struct {
	start func(*exec.Cmd) error
	close func()
}

func newSpawner() *spawner {
	commands, results := make(chan *exec.Cmd), make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: no other goroutine may end the thread
		for cmd := range commands {
			endWithThread(cmd)
			results <- cmd.Start()
		}
	}()
	return &spawner{
		start: func(cmd *exec.Cmd) error { commands <- cmd; return <-results },
		close: func() { close(commands) },
	}
}
