//go:build unix && (!linux || race)

package socket

import "syscall"

// The race detector derives from these calls what happens before what.

func sysWrite(fd int, b []byte) (int, error) { return syscall.Write(fd, b) }

func sysRead(fd int, b []byte) (int, error) { return syscall.Read(fd, b) }
