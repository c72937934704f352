package logstore

import (
	"os"

	"golang.org/x/sys/unix"
)

// sysDatasync makes what was written durable: the data and the length, not the times.
func sysDatasync(f *os.File) error { return unix.Fdatasync(int(f.Fd())) }

// sysAllocate gives an empty file size bytes of real blocks.
func sysAllocate(f *os.File, size int64) error { return unix.Fallocate(int(f.Fd()), 0, 0, size) }

// sysGiveBack drops the pages of a mapped file from the process, from an address on. What was written
// through the mapping stays in the file; nothing is.
func sysGiveBack(at uintptr, size int64) error {
	if _, _, errno := unix.Syscall(unix.SYS_MADVISE, at, uintptr(size), unix.MADV_DONTNEED); errno != 0 {
		return errno
	}
	return nil
}
