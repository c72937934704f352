package cluster_test

import (
	"net"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/cluster"
	"github.com/trireme-dev/trireme/cluster/clustertest"
)

// TestConnectionsSendAgainSoon: each connection that a node dials has the bound on retransmissions, so that it goes on soon after a
// partition.
func TestConnectionsSendAgainSoon(t *testing.T) {
	const rtoMax = 44 // TCP_RTO_MAX_MS
	var mu sync.Mutex
	var dialed []net.Conn
	c := clustertest.Start(t, 3, func(o *cluster.Options) {
		o.Dial = func(network, addr string, timeout time.Duration) (net.Conn, error) {
			nc, err := net.DialTimeout(network, addr, timeout)
			if err == nil {
				mu.Lock()
				dialed = append(dialed, nc)
				mu.Unlock()
			}
			return nc, err
		}
	})
	if _, err := c.Write(0, "SET", "k", "v"); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	bounded, open := 0, 0
	for _, nc := range dialed {
		raw, err := nc.(*net.TCPConn).SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		_ = raw.Control(func(fd uintptr) { // an error means that it is closed
			switch got, err := syscall.GetsockoptInt(int(fd), syscall.IPPROTO_TCP, rtoMax); {
			case err != nil:
				t.Skip("this kernel has no TCP_RTO_MAX_MS")
			case got == 1000:
				bounded++
				fallthrough
			default:
				open++
			}
		})
	}
	if open == 0 || bounded != open {
		t.Errorf("%d of %d open connections are bounded, of %d dialed", bounded, open, len(dialed))
	}
}
