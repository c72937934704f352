package testcluster

import (
	"errors"
	"fmt"
	"syscall"
	"unsafe"
)

// Tighten gives the node's next processes so little memory, in MiB, that the garbage
// collector hardly rests; 0 takes the limit away.
func (n *Node) Tighten(mebibytes int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.tight = ""
	if mebibytes > 0 {
		n.tight = fmt.Sprintf("GOMEMLIMIT=%dMiB", mebibytes)
	}
}

// FewFiles lets the running process open no further file or connection once it has so
// many; 0 is as many as the harness may.
func (n *Node) FewFiles(most uint64) error {
	pid := n.Pid()
	if pid == 0 {
		return fmt.Errorf("%s: %w", n.ID, ErrDown)
	}
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("files of %s: %w", n.ID, err)
	}
	if most > 0 {
		limit.Cur = most
	}
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRLIMIT64, uintptr(pid), syscall.RLIMIT_NOFILE, uintptr(unsafe.Pointer(&limit)), 0, 0, 0); errno != 0 && !errors.Is(errno, syscall.ESRCH) {
		return fmt.Errorf("files of %s: %w", n.ID, errno)
	}
	return nil
}
