//go:build linux

package timerslack

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestMain is the program that is executed, when a test asks for it: it shows its slack and what it was executed with.
func TestMain(m *testing.M) {
	if os.Getenv("TIMERSLACK_TRIAL") == "" {
		os.Exit(m.Run())
	}
	err := Raise(300 * time.Microsecond)
	slack, failed := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
	_, marked := os.LookupEnv(marker)
	fmt.Println(time.Duration(slack), os.Args[1:], os.Getpid(), marked, err, failed)
}

func trial(t *testing.T, env ...string) (string, int) {
	t.Helper()
	if slack, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0); err != nil || time.Duration(slack) != kernelDefault {
		t.Skipf("the test itself has a slack of %v (%v)", time.Duration(slack), err)
	}
	c := exec.Command(os.Args[0], "serve", "--name=a b")
	c.Env = append(append(os.Environ(), "TIMERSLACK_TRIAL=1"), env...)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return strings.TrimSpace(string(out)), c.Process.Pid
}

// TestRaise executes a program that raises its slack: the same process with the same arguments, and nothing left in its
// environment.
func TestRaise(t *testing.T) {
	got, pid := trial(t)
	if want := fmt.Sprintf("300µs [serve --name=a b] %d false <nil> <nil>", pid); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestRaiseOnce has a process that was executed by Raise not do so again, whatever its slack is.
func TestRaiseOnce(t *testing.T) {
	got, pid := trial(t, marker+"=1")
	if want := fmt.Sprintf("50µs [serve --name=a b] %d false <nil> <nil>", pid); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
