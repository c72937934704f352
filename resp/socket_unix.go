//go:build unix

package resp

import (
	"errors"
	"io"
	"net"
	"syscall"
)

// tryWriter writes what the socket takes at once. Over TLS nothing is tried: part of a
// record can't be taken back.
func tryWriter(nc net.Conn) func([]byte) (int, error) {
	raw := rawOf(nc)
	if raw == nil {
		return func([]byte) (int, error) { return 0, nil }
	}
	t := &transfer{call: sysWrite}
	t.once = func(fd uintptr) bool {
		t.perform(fd)
		return true
	}
	return func(b []byte) (int, error) {
		switch err := t.run(b, raw.Write); {
		case err != nil:
			return 0, err
		case errors.Is(t.err, syscall.EAGAIN):
			return 0, nil
		}
		return max(t.n, 0), t.err
	}
}

// reader reads from nc as its Read does, and from a socket with fewer words between the
// runtime and the kernel.
func reader(nc net.Conn) func([]byte) (int, error) {
	raw := rawOf(nc)
	if raw == nil {
		return nc.Read
	}
	t := &transfer{call: sysRead}
	t.once = func(fd uintptr) bool {
		t.perform(fd)
		return !errors.Is(t.err, syscall.EAGAIN) // otherwise it is called again when something has come
	}
	return func(b []byte) (int, error) {
		switch err := t.run(b, raw.Read); {
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

// rawOf is the socket below nc, nil if it isn't one or something stands between, as TLS
// does.
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

// transfer is a system call on a socket that never waits in the kernel. It is made once
// for a connection and direction, so that a call costs no allocation.
type transfer struct {
	call func(fd int, b []byte) (int, error)
	once func(fd uintptr) bool
	b    []byte
	n    int
	err  error
}

func (t *transfer) run(b []byte, with func(func(uintptr) bool) error) error {
	t.b = b
	err := with(t.once)
	t.b = nil
	return err
}

func (t *transfer) perform(fd uintptr) {
	for {
		if t.n, t.err = t.call(int(fd), t.b); !errors.Is(t.err, syscall.EINTR) {
			return
		}
	}
}
