//go:build unix

package socket

import (
	"errors"
	"io"
	"net"
	"syscall"
)

// Read is nc's Read: the same bytes, errors and deadlines.
func Read(nc net.Conn) func([]byte) (int, error) {
	raw := rawOf(nc)
	if raw == nil {
		return nc.Read
	}
	t := &transfer{call: sysRead}
	t.once = func(fd uintptr) bool {
		t.perform(fd)
		return !errors.Is(t.err, syscall.EAGAIN) // on EAGAIN it is called again when the socket is readable
	}
	return t.reader(raw)
}

// ReadMarked is Read with marks.
func ReadMarked(nc net.Conn, m Marks) func([]byte) (int, error) {
	raw := rawOf(nc)
	if raw == nil {
		return readUnaware(nc, m)
	}
	t := &transfer{call: sysRead}
	t.once = func(fd uintptr) bool {
		m.Begin()
		if t.perform(fd); errors.Is(t.err, syscall.EAGAIN) {
			m.Wait()
			return false
		}
		return true
	}
	return t.reader(raw)
}

// reader returns the function that reads with t's call.
func (t *transfer) reader(raw syscall.RawConn) func([]byte) (int, error) {
	return func(b []byte) (int, error) {
		t.b = b
		err := raw.Read(t.once)
		t.b = nil
		switch {
		case err != nil:
			return 0, err
		case t.err != nil:
			return 0, t.err
		case t.n == 0 && len(b) > 0:
			return 0, io.EOF
		}
		return t.n, nil
	}
}

// Write is nc's Write: it returns when all is written, or why not.
func Write(nc net.Conn) func([]byte) (int, error) {
	raw := rawOf(nc)
	if raw == nil {
		return nc.Write
	}
	t, written := &transfer{call: sysWrite}, 0
	t.once = func(fd uintptr) bool {
		for len(t.b) > 0 {
			t.perform(fd)
			if t.err != nil {
				return !errors.Is(t.err, syscall.EAGAIN)
			}
			t.b, written = t.b[t.n:], written+t.n
		}
		return true
	}
	return func(b []byte) (int, error) {
		t.b, t.err, written = b, nil, 0
		err := raw.Write(t.once)
		t.b = nil
		if err == nil {
			err = t.err
		}
		return written, err
	}
}

// TryRead reads what has arrived, without waiting: 0 bytes and no error if nothing has. End
// of file is io.EOF. It reads nothing where nc is more than a socket.
func TryRead(nc net.Conn) func([]byte) (int, error) {
	take := nonblocking(nc, sysRead, syscall.RawConn.Read)
	return func(b []byte) (int, error) {
		n, ready, err := take(b)
		if ready && err == nil && n == 0 && len(b) > 0 {
			err = io.EOF
		}
		return n, err
	}
}

// TryWrite writes what the socket takes without waiting, and returns how many bytes that were. It writes nothing where nc is more
// than a socket: part of a TLS record can't be taken back.
func TryWrite(nc net.Conn) func([]byte) (int, error) {
	try := nonblocking(nc, sysWrite, syscall.RawConn.Write)
	return func(b []byte) (int, error) {
		n, _, err := try(b)
		return n, err
	}
}

// Pending reports whether there is something to read from nc, its end included, without reading it. It is false where nc
// is more than a socket.
func Pending(nc net.Conn) func() bool {
	var one [1]byte
	peek := nonblocking(nc, func(fd int, b []byte) (int, error) {
		n, _, err := syscall.Recvfrom(fd, b, syscall.MSG_PEEK)
		return n, err
	}, syscall.RawConn.Read)
	return func() bool {
		_, ready, err := peek(one[:])
		return ready || err != nil
	}
}

// nonblocking returns a call that never waits; ready reports whether the socket was ready.
// Where nc is more than a socket it never is.
func nonblocking(nc net.Conn, call func(fd int, b []byte) (int, error), in func(syscall.RawConn, func(uintptr) bool) error) func([]byte) (n int, ready bool, err error) {
	raw := rawOf(nc)
	if raw == nil {
		return func([]byte) (int, bool, error) { return 0, false, nil }
	}
	t := &transfer{call: call}
	t.once = func(fd uintptr) bool {
		t.perform(fd)
		return true
	}
	return func(b []byte) (int, bool, error) {
		t.b = b
		err := in(raw, t.once)
		t.b = nil
		switch {
		case err != nil:
			return 0, false, err
		case errors.Is(t.err, syscall.EAGAIN):
			return 0, false, nil
		}
		return t.n, true, t.err
	}
}

// rawOf returns the socket of nc, nil if nc is more than a socket.
func rawOf(nc net.Conn) syscall.RawConn {
	plain, ok := nc.(*net.TCPConn)
	if !ok {
		return nil
	}
	raw, err := plain.SyscallConn()
	if err != nil {
		return nil
	}
	return raw
}

// transfer is a system call on a socket. One is made for each connection and direction, so that a call allocates nothing.
type transfer struct {
	call func(fd int, b []byte) (int, error)
	once func(fd uintptr) bool
	b    []byte
	n    int
	err  error
}

func (t *transfer) perform(fd uintptr) {
	for {
		t.n, t.err = t.call(int(fd), t.b)
		if t.n = max(t.n, 0); !errors.Is(t.err, syscall.EINTR) {
			return
		}
	}
}
