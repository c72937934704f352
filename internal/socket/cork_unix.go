//go:build linux || darwin

package socket

import (
	"net"
	"syscall"
)

// Cork keeps what is written to a TCP connection back, or sends it. What is kept back leaves together with the
// end of the connection, in one segment if it fits, and after 200 ms at the latest. Other connections are left as they
// are: it is worth nothing but time.
func Cork(nc net.Conn, on bool) {
	raw := rawOf(nc)
	if raw == nil {
		return
	}
	value := 0
	if on {
		value = 1
	}
	_ = raw.Control(func(fd uintptr) { // an error means that the connection is closed
		_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, corkOption, value)
	})
}
