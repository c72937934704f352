//go:build !linux && !darwin

package socket

import "net"

// Cork does nothing: this package has no such call for this system.
func Cork(net.Conn, bool) {}
