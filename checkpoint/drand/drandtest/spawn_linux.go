package drandtest

import (
	"os/exec"
	"syscall"
)

func endWithThread(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
