//go:build linux && !race

package resp

import (
	"syscall"
	"unsafe"
)

// A call on a socket that doesn't block returns within microseconds, so the scheduler
// needn't hear of it: telling it costs as much as a short call, and has its monitor look
// for work for the processor.

func sysWrite(fd int, b []byte) (int, error) { return raw(syscall.SYS_WRITE, fd, b) }

func sysRead(fd int, b []byte) (int, error) { return raw(syscall.SYS_READ, fd, b) }

func raw(trap uintptr, fd int, b []byte) (int, error) {
	n, _, errno := syscall.RawSyscall(trap, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}
