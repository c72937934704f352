package socket

import (
	"os"
	"strconv"
	"syscall"
)

// multipathTCP is IPPROTO_MPTCP, which package net listens with where the system has it.
const multipathTCP = 262

// ShutdownAll ends every TCP connection of this process and stops its listeners, as its end would. It is for a process that
// ends while one of its threads waits for a disk: Linux keeps the descriptors until that thread has ended, and clients
// would wait for a process that is dead. Nothing is waited for, and no lock is taken.
func ShutdownAll() {
	dir, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return // the end of the process does it, later
	}
	for _, entry := range dir {
		fd, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		protocol, err := syscall.GetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_PROTOCOL)
		if err == nil && (protocol == syscall.IPPROTO_TCP || protocol == multipathTCP) {
			_ = syscall.Shutdown(fd, syscall.SHUT_RDWR) // an error means that it has ended
		}
	}
}
