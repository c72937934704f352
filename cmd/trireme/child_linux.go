package main

import (
	"os/exec"
	"syscall"
)

// bindLifetime keeps the terminal's interrupt from the process, whose parent forwards it,
// and ends the process when the parent dies.
func bindLifetime(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
