package timerslack

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// kernelDefault is the kernel's default slack of a process.
const kernelDefault = 50 * time.Microsecond

// marker marks the environment of a process that Raise has executed, so that Raise never executes it again.
const marker = "_TRIREME_TIMERSLACK_RAISED"

// Raise executes this program again, in this process, with that slack. It returns in the new execution, and at once if a slack
// was chosen already, by systemd for example. After an error the process keeps its slack. It must be
// called before anything else is done.
func Raise(slack time.Duration) error {
	if _, again := os.LookupEnv(marker); again {
		return os.Unsetenv(marker)
	}
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("timer slack: %w", err)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	is, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
	if err != nil {
		return fmt.Errorf("timer slack: %w", err)
	}
	if time.Duration(is) != kernelDefault {
		return nil
	}
	if err := unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(slack), 0, 0, 0); err != nil {
		return fmt.Errorf("timer slack: %w", err)
	}
	err = syscall.Exec(program, os.Args, append(os.Environ(), marker+"=1"))
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(kernelDefault), 0, 0, 0) // this thread is one of many again
	return fmt.Errorf("timer slack: execute %s again: %w", program, err)
}
