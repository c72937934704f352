package wal

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// mostParts bounds the parts of one system call (IOV_MAX).
const mostParts = 1024

func sysDatasync(f *os.File) error { return unix.Fdatasync(int(f.Fd())) }

// Allocate gives an empty file size bytes of real blocks.
func Allocate(f *os.File, size int64) error { return unix.Fallocate(int(f.Fd()), 0, 0, size) }

// writeParts writes parts by few system calls and copies none.
func writeParts(f *os.File, parts [][]byte, at int64) error {
	for len(parts) > 0 {
		some := parts[:min(len(parts), mostParts)]
		n, err := unix.Pwritev(int(f.Fd()), some, at)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return &os.PathError{Op: "write", Path: f.Name(), Err: err}
		case n == 0:
			return &os.PathError{Op: "write", Path: f.Name(), Err: io.ErrShortWrite}
		}
		at += int64(n)
		for n > 0 && n >= len(parts[0]) {
			n, parts = n-len(parts[0]), parts[1:]
		}
		if n > 0 { // of a part only the beginning was written
			if _, err := f.WriteAt(parts[0][n:], at); err != nil {
				return err
			}
			at, parts = at+int64(len(parts[0])-n), parts[1:]
		}
	}
	return nil
}
