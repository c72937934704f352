package socket_test

import (
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/internal/socket"
)

// TestBoundRetransmits: the system has the bound that was set; other connections than TCP are left alone.
func TestBoundRetransmits(t *testing.T) {
	const rtoMax = 44 // TCP_RTO_MAX_MS
	c, _ := pair(t)
	if !socket.BoundRetransmits(c, 2*time.Second) {
		t.Skip("this kernel has no TCP_RTO_MAX_MS")
	}
	raw, err := c.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	got := 0
	if closed := raw.Control(func(fd uintptr) { got, err = syscall.GetsockoptInt(int(fd), syscall.IPPROTO_TCP, rtoMax) }); closed != nil || err != nil || got != 2000 {
		t.Errorf("the system has %d ms: %v, %v", got, err, closed)
	}
	if socket.BoundRetransmits(c, time.Millisecond) {
		t.Error("less than a second was taken")
	}
	one, other := net.Pipe()
	defer one.Close()
	defer other.Close()
	if socket.BoundRetransmits(one, time.Second) {
		t.Error("a pipe was given a bound")
	}
}
