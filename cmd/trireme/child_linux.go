package main

import (
	"os/exec"
	"syscall"
)

// child keeps the terminal's interrupt from the process, whose parent passes it on,
// and ends the process when the parent dies.
func child(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
