package main

import (
	"fmt"
	"os"
	"time"

	"github.com/trireme-dev/trireme/cli"
	"github.com/trireme-dev/trireme/internal/socket"
)

// failTimeout bounds the time to print the reason before the process ends: its output may go to a disk that does not answer.
const failTimeout = time.Second

// fail prints the reason and ends the process. It closes the connections first: a process with a thread that waits for a hung disk
// stays, and its clients would wait for it instead of asking another node.
func fail(reason string) {
	socket.ShutdownAll()
	time.AfterFunc(failTimeout, func() { os.Exit(cli.ExitFailed) })
	fmt.Fprintln(os.Stderr, "trireme: "+reason)
	os.Exit(cli.ExitFailed)
}
