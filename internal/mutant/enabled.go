//go:build mutants

package mutant

import (
	"os"
	"sync/atomic"
	"syscall"
)

// Enabled says whether this binary was built with the tag mutants.
const Enabled = true

// Die ends the process at once. Nothing can catch it.
func Die() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

var chosen atomic.Pointer[Name]

func init() { Choose(Name(os.Getenv(EnvName))) }

// Choose gives the process a fault, in place of the one it had; an empty name is none.
func Choose(n Name) { chosen.Store(&n) }

// Is reports whether the process has a fault.
func Is(n Name) bool { return *chosen.Load() == n }
