package logstore

import (
	"os"

	"golang.org/x/sys/unix"
)

// sysDatasync makes what was written durable: the data and the length, not the times.
func sysDatasync(f *os.File) error { return unix.Fdatasync(int(f.Fd())) }

// sysAllocate gives an empty file size bytes of real blocks.
func sysAllocate(f *os.File, size int64) error { return unix.Fallocate(int(f.Fd()), 0, 0, size) }
