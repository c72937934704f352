//go:build unix

package resp

import (
	"errors"
	"net"
	"syscall"
)

// tryWriter writes what the socket takes at once. Over TLS nothing is tried: part of a
// record can't be taken back.
func tryWriter(nc net.Conn) func([]byte) (int, error) {
	nothing := func([]byte) (int, error) { return 0, nil }
	plain, ok := nc.(*net.TCPConn)
	if !ok {
		return nothing
	}
	raw, err := plain.SyscallConn()
	if err != nil {
		return nothing
	}
	t := &trial{raw: raw}
	t.once = t.write
	return t.try
}

// trial is a write that doesn't wait. It is made once for a connection, so that a write
// costs no allocation.
type trial struct {
	raw  syscall.RawConn
	once func(fd uintptr) bool
	b    []byte
	n    int
	err  error
}

func (t *trial) write(fd uintptr) bool {
	for {
		if t.n, t.err = syscall.Write(int(fd), t.b); !errors.Is(t.err, syscall.EINTR) {
			return true
		}
	}
}

func (t *trial) try(b []byte) (int, error) {
	t.b = b
	err := t.raw.Write(t.once)
	t.b = nil
	switch {
	case err != nil:
		return 0, err
	case errors.Is(t.err, syscall.EAGAIN):
		return 0, nil
	}
	return max(t.n, 0), t.err
}
