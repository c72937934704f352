//go:build !linux

package logstore

import (
	"os"
	"syscall"
)

// sysDatasync makes what was written durable. On macOS fsync leaves data in the disk's
// cache; os.File.Sync asks for F_FULLFSYNC there.
func sysDatasync(f *os.File) error { return f.Sync() }

// sysAllocate fails because this system has no such call: the caller writes zeros.
func sysAllocate(*os.File, int64) error { return syscall.EOPNOTSUPP }
