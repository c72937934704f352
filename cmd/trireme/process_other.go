//go:build !linux

package main

import (
	"os"
	"runtime"

	"github.com/trireme-dev/trireme/fsm/command"
)

// aboutProcess returns the facts about this process that need no operating system call; the others are 0.
func aboutProcess() command.Process {
	return command.Process{ID: os.Getpid(), OS: runtime.GOOS, Arch: runtime.GOARCH}
}
