//go:build !linux

package main

import (
	"os"
	"runtime"

	"github.com/trireme-dev/trireme/fsm/command"
)

// aboutProcess is what can be said of this process without asking the operating system.
func aboutProcess() command.Process {
	return command.Process{ID: os.Getpid(), OS: runtime.GOOS, Arch: runtime.GOARCH}
}
