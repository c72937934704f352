//go:build unix && !linux

package main

import (
	"os/exec"
	"syscall"
)

// bindLifetime keeps the terminal's interrupt from the process, whose parent forwards it.
func bindLifetime(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
