//go:build !linux

package socket

import (
	"net"
	"time"
)

// BoundRetransmits does nothing: this package has no such option for this system.
func BoundRetransmits(net.Conn, time.Duration) bool { return false }
