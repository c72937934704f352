package testcluster

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// stopTimeout bounds the time in which the threads of a process stop after SIGSTOP.
const stopTimeout = 10 * time.Second

// awaitStopped waits until no thread of the process runs any more. The signal is only on its
// way when kill returns: one thread takes it and stops the others, which may answer a request
// meanwhile. Without /proc there is nothing to look at.
func awaitStopped(pid int) error {
	for deadline := time.Now().Add(stopTimeout); ; time.Sleep(100 * time.Microsecond) {
		running, err := runningThread(pid)
		if err != nil || running == "" {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("process %d doesn't stop: thread %s", pid, running)
		}
	}
}

// runningThread is the state of a thread that isn't stopped or ended, empty if there is none.
// One that waits for a disk stops before it runs again.
func runningThread(pid int) (state string, err error) {
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err != nil {
		return "", err
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // the thread has ended
		}
		end := bytes.LastIndexByte(text, ')') // of the name, which may hold anything
		if f := bytes.Fields(text[end+1:]); len(f) > 0 && bytes.IndexAny(f[0], "TtZXD") < 0 {
			return string(f[0]), nil
		}
	}
	return "", nil
}
