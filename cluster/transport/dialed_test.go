package transport

import (
	"errors"
	"net"
	"testing"
	"time"
)

// TestCloseEndsDialedConnections: once a node's port is closed, the connections that it dialed have ended as well, and no new one is
// made. Otherwise a leader that must end, and whose process can't, would go on leading over them.
func TestCloseEndsDialedConnections(t *testing.T) {
	open := func() *Mux {
		m, err := Listen(Config{Bind: "127.0.0.1:0", Dial: net.DialTimeout}, silent{make(chan error, 1)})
		if err != nil {
			t.Fatal(err)
		}
		m.Start()
		t.Cleanup(func() { m.Close() })
		return m
	}
	from, to := open(), open()
	dial := func() (net.Conn, error) { return from.DialNode("", to.Advertise(), ForWatch, time.Second) }
	for range 3 * minSweep { // more than are remembered once they are closed
		c, err := dial()
		if err != nil {
			t.Fatal(err)
		}
		c.Close()
	}
	from.mu.Lock()
	kept := len(from.dialed)
	from.mu.Unlock()
	if kept > minSweep {
		t.Errorf("%d connections are remembered, of which none is open", kept)
	}
	c, err := dial()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	from.Close()
	if err := c.SetReadDeadline(time.Now().Add(time.Minute)); !errors.Is(err, net.ErrClosed) {
		t.Errorf("a dialed connection is open after Close: %v", err)
	}
	if _, err := dial(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("a dial after Close: %v", err)
	}
}
