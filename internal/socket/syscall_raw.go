//go:build linux && !race

package socket

import (
	"syscall"
	"unsafe"
)

func sysWrite(fd int, b []byte) (int, error) { return raw(syscall.SYS_WRITE, fd, b) }

func sysRead(fd int, b []byte) (int, error) { return raw(syscall.SYS_READ, fd, b) }

func raw(trap uintptr, fd int, b []byte) (int, error) {
	n, _, errno := syscall.RawSyscall(trap, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}
