package socket

import (
	"net"
	"syscall"
	"time"
)

// tcpRTOMax is TCP_RTO_MAX_MS of linux/tcp.h, since Linux 6.15.
const tcpRTOMax = 44

// BoundRetransmits has what the other side of a TCP connection does not acknowledge sent again at least that often, from a
// second to two minutes (the system's own bound, and the default). It is for connections that should go on soon after a partition has
// healed: TCP doubles the pause between two attempts, so the next one may be as far off as the partition was long. It
// reports whether the system knows the option.
func BoundRetransmits(nc net.Conn, most time.Duration) bool {
	raw := rawOf(nc)
	if raw == nil {
		return false
	}
	var err error
	if closed := raw.Control(func(fd uintptr) {
		err = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpRTOMax, int(most.Milliseconds()))
	}); closed != nil {
		return false
	}
	return err == nil
}
