package main

import (
	"errors"
	"net"
	"syscall"
	"time"
)

// bindTime bounds the wait for an address that is still in use. A previous process that was killed
// while its disk hung keeps its sockets until the kernel has ended it.
const bindTime = time.Second

// bindPause is the time between two tries.
const bindPause = 20 * time.Millisecond

// bind listens on an address of clients.
func bind(addr string) (net.Listener, error) { return bindWithin(addr, bindTime) }

func bindWithin(addr string, timeout time.Duration) (net.Listener, error) {
	for end := time.Now().Add(timeout); ; time.Sleep(bindPause) {
		l, err := net.Listen("tcp", addr)
		if !errors.Is(err, syscall.EADDRINUSE) || time.Now().After(end) {
			return l, err
		}
	}
}
