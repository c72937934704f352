//go:build !linux

package wal

import (
	"os"
	"syscall"
)

// sysDatasync syncs the file. On macOS fsync leaves data in the disk's cache; os.File.Sync asks for F_FULLFSYNC there.
func sysDatasync(f *os.File) error { return f.Sync() }

// Allocate fails because this system has no such call: the caller writes zeros.
func Allocate(*os.File, int64) error { return syscall.EOPNOTSUPP }

func writeParts(f *os.File, parts [][]byte, at int64) error {
	for _, p := range parts {
		if _, err := f.WriteAt(p, at); err != nil {
			return err
		}
		at += int64(len(p))
	}
	return nil
}
