//go:build !unix

package socket

import "net"

// Read is nc's Read.
func Read(nc net.Conn) func([]byte) (int, error) { return nc.Read }

// ReadMarked is Read with marks.
func ReadMarked(nc net.Conn, m Marks) func([]byte) (int, error) { return readUnaware(nc, m) }

// Write is nc's Write.
func Write(nc net.Conn) func([]byte) (int, error) { return nc.Write }

// TryRead reads nothing: this package has no nonblocking calls for this system.
func TryRead(net.Conn) func([]byte) (int, error) {
	return func([]byte) (int, error) { return 0, nil }
}

// TryWrite writes nothing: this package has no nonblocking calls for this system.
func TryWrite(net.Conn) func([]byte) (int, error) {
	return func([]byte) (int, error) { return 0, nil }
}

// Pending finds nothing: this package has no such call for this system.
func Pending(net.Conn) func() bool { return func() bool { return false } }
