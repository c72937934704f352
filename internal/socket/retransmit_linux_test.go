package socket

import (
	"net"
	"syscall"
	"testing"
	"time"
)

// TestBoundRetransmits: the system has the bound that was set; other connections than TCP are left alone.
func TestBoundRetransmits(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if !BoundRetransmits(c, 2*time.Second) {
		t.Skip("this kernel has no TCP_RTO_MAX_MS")
	}
	got := 0
	if err := rawOf(c).Control(func(fd uintptr) { got, err = syscall.GetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpRTOMax) }); err != nil || got != 2000 {
		t.Errorf("the system has %d ms, %v", got, err)
	}
	if BoundRetransmits(c, time.Millisecond) {
		t.Error("less than a second was taken")
	}
	one, other := net.Pipe()
	defer one.Close()
	defer other.Close()
	if BoundRetransmits(one, time.Second) {
		t.Error("a pipe was given a bound")
	}
}
