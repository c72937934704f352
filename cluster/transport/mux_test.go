package transport

import (
	"fmt"
	"net"
	"testing"
	"time"
)

// TestEndsThatAreNoRejections: a caller that leaves, at any point of its handshake, is not reported as rejected, and
// neither is one whose handshake was under way when this node closed.
func TestEndsThatAreNoRejections(t *testing.T) {
	hello := Hello{Node: "n2"}.encode(ForRPC)
	for name, end := range map[string]func(*Mux, *net.TCPConn){
		"closed": func(_ *Mux, c *net.TCPConn) { c.Close() },
		"reset":  func(_ *Mux, c *net.TCPConn) { c.SetLinger(0); c.Close() },
		"closes": func(m *Mux, _ *net.TCPConn) { m.Close() },
	} {
		for _, said := range []int{0, 1, len(Magic) + 1, len(hello) - 1} {
			if name == "closed" && said > 0 {
				continue // half a hello is one that nobody who speaks this protocol ends at
			}
			t.Run(fmt.Sprint(name, said), func(t *testing.T) {
				owner := silent{make(chan error, 1)}
				m, err := Listen(Config{Bind: "127.0.0.1:0", Dial: net.DialTimeout}, owner)
				if err != nil {
					t.Fatal(err)
				}
				m.Start()
				defer func() { m.Close(); m.Wait() }()
				c, err := net.Dial("tcp", m.Advertise())
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				if _, err := c.Write(hello[:said]); err != nil {
					t.Fatal(err)
				}
				underWay := func() int {
					m.limiter.mu.Lock()
					defer m.limiter.mu.Unlock()
					return len(m.limiter.handshakes)
				}
				for end := time.Now().Add(time.Minute); underWay() == 0; time.Sleep(time.Millisecond) {
					if time.Now().After(end) {
						t.Fatal("the connection was not accepted")
					}
				}
				end(m, c.(*net.TCPConn))
				for end := time.Now().Add(time.Minute); underWay() > 0; time.Sleep(time.Millisecond) {
					if time.Now().After(end) {
						t.Fatal("the handshake did not end")
					}
				}
				m.Close()
				m.Wait()
				select {
				case why := <-owner.rejected:
					t.Fatalf("reported as rejected: %v", why)
				default:
				}
			})
		}
	}
}
