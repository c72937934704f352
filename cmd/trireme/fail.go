package main

import (
	"fmt"
	"os"
	"time"

	"github.com/trireme-dev/trireme/internal/socket"
)

// lastWords is how long a process that must end may take to print why, if its output goes to a disk that answers nothing.
const lastWords = time.Second

// fail ends the process at once and says why. Its connections end first: while one of its threads waits for a disk that answers
// nothing, the process stays, and clients would wait for it instead of asking another node.
func fail(reason string) {
	socket.ShutdownAll()
	time.AfterFunc(lastWords, func() { os.Exit(exitFailed) })
	fmt.Fprintln(os.Stderr, "trireme: "+reason)
	os.Exit(exitFailed)
}
