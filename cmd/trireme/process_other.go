//go:build !linux

package main

import (
	"os"
	"runtime"

	"github.com/trireme-dev/trireme/fsm/command"
)

// processStats returns the facts about this process that need no operating system call; the others are 0.
func processStats() command.Process {
	return command.Process{ID: os.Getpid(), OS: runtime.GOOS, Arch: runtime.GOARCH}
}
