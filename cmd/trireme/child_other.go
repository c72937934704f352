//go:build unix && !linux

package main

import (
	"os/exec"
	"syscall"
)

// child keeps the terminal's interrupt from the process, whose parent passes it on.
func child(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
