package transport

import (
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
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
				m, owner, stop := startSilent(t)
				defer stop()
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

// A connection of raft takes back what the other side has not read when it is closed.
func TestDiscardOnClose(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	sent := func(prepare func(net.Conn)) (read int64, wrote int, failed error) {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		other, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		prepare(c)
		for full := false; !full; { // the other side reads nothing
			c.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
			n, err := c.Write(make([]byte, 64<<20))
			if !errors.Is(err, syscall.ETIMEDOUT) && !isTimeout(err) {
				t.Fatalf("the socket took %d bytes: %v", wrote+n, err)
			}
			wrote, full = wrote+n, n == 0 && wrote > 0 // a busy machine may not come to write in time
		}
		c.Close()
		other.SetReadDeadline(time.Now().Add(time.Minute))
		read, failed = io.Copy(io.Discard, other)
		return read, wrote, failed
	}
	if read, wrote, err := sent(func(net.Conn) {}); err != nil || read != int64(wrote) {
		t.Fatalf("an ordinary connection: %d of %d bytes arrived, %v", read, wrote, err)
	}
	if read, wrote, err := sent(discardOnClose); !errors.Is(err, syscall.ECONNRESET) || read == int64(wrote) {
		t.Errorf("a connection of raft: %d of %d bytes arrived, %v", read, wrote, err)
	}
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}

// silent accepts every caller.
type silent struct{ rejected chan error }

func (silent) Hello() Hello                       { return Hello{Node: "n1"} }
func (silent) Expected(string) string             { return "" }
func (silent) Admit(Hello, Purpose) error         { return nil }
func (silent) Verify(string, time.Duration) error { return nil }
func (silent) Excluded(error)                     {}
func (s silent) Rejected(_ net.Addr, why error) {
	select {
	case s.rejected <- why:
	default:
	}
}
func (silent) Handle(_ Hello, _ Kind, _ []byte, answer func([]byte, error)) { answer(nil, nil) }

// TestConnectionsArePerPeerBounded: silent connections are closed once one host has too many, and connections that end
// free their places.
func TestConnectionsArePerPeerBounded(t *testing.T) {
	m, owner, stop := startSilent(t)
	defer stop()
	var open []net.Conn
	for range maxHostHandshakes + 1 {
		c, err := net.Dial("tcp", m.Advertise())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		open = append(open, c)
	}
	select {
	case why := <-owner.rejected:
		if !errors.Is(why, ErrTooMany) {
			t.Fatal(why)
		}
	case <-time.After(time.Minute):
		t.Fatal("no connection was rejected")
	}
	for _, c := range open {
		c.Close()
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		c, err := m.DialNode("", m.Advertise(), ForRPC, time.Minute)
		if err == nil {
			c.Close()
			return
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
}

// TestHalfMadeHandshakes: four addresses that open as many connections as the port takes, and send nothing, don't keep others out.
func TestHalfMadeHandshakes(t *testing.T) {
	m, err := Listen(Config{Bind: "127.0.0.1:0", Dial: net.DialTimeout}, silent{make(chan error, 1)})
	if err != nil {
		t.Fatal(err)
	}
	m.Start()
	defer func() { m.Close(); m.Wait() }()
	unfinished := func() int {
		m.limiter.mu.Lock()
		defer m.limiter.mu.Unlock()
		return len(m.limiter.handshakes)
	}
	for _, from := range []string{"127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5"} {
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
		for range maxHandshakes / 4 {
			c, err := d.DialContext(t.Context(), "tcp", m.Advertise())
			if err != nil {
				t.Skipf("this system has no address %s: %v", from, err)
			}
			defer c.Close()
		}
	}
	for end := time.Now().Add(HandshakeTimeout / 2); unfinished() < maxHandshakes && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	c, err := m.DialNode("", m.Advertise(), ForRPC, time.Minute)
	if err != nil {
		t.Fatalf("%d handshakes are unfinished: %v", unfinished(), err)
	}
	c.Close()
}

// TestRoomForHandshakes: the handshake that is given up is the oldest of the host with the most; between hosts with equally many, none is.
func TestRoomForHandshakes(t *testing.T) {
	var l limiter
	begin := func(host string) (*handshake, net.Conn, error) {
		near, far := net.Pipe()
		t.Cleanup(func() { near.Close(); far.Close() })
		h, err := l.startHandshake(host, near)
		return h, far, err
	}
	var all []*handshake
	for i := range maxHandshakes {
		h, _, err := begin(string(rune('a' + i%5)))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, h)
	}
	h, _, err := begin("honest")
	if err != nil || !all[0].over || l.endHandshake(all[0]) || !l.endHandshake(h) {
		t.Fatalf("a host without one: %v, the oldest given up: %v", err, all[0].over)
	}
	if _, _, err := begin("b"); err != nil { // there is room now
		t.Fatal(err)
	}
	if _, _, err := begin("b"); !errors.Is(err, ErrTooMany) {
		t.Errorf("one more of the host that has most: %v", err)
	}
}

// TestPeersAreCountedApart: a node that has proved itself has places of its own, whatever others do.
func TestPeersAreCountedApart(t *testing.T) {
	var l limiter
	proved := Hello{Node: "n2", Proved: true}
	for range maxUnproved {
		if err := l.open((&Hello{Node: "n2"}).peer("host")); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.open((&Hello{Node: "n2"}).peer("host")); !errors.Is(err, ErrTooMany) {
		t.Errorf("one more of the host: %v", err)
	}
	for range maxProved {
		if err := l.open(proved.peer("host")); err != nil {
			t.Fatalf("the node itself: %v", err)
		}
	}
	if err := l.open(proved.peer("host")); !errors.Is(err, ErrTooMany) {
		t.Errorf("one more of the node: %v", err)
	}
	l.close(proved.peer("host"))
	if err := l.open(proved.peer("host")); err != nil {
		t.Errorf("after one has ended: %v", err)
	}
}

// startSilent returns a Mux that listens until end is called, and its node, which hears of rejected connections.
func startSilent(t *testing.T) (m *Mux, owner silent, end func()) {
	t.Helper()
	owner = silent{make(chan error, 1)}
	m, err := Listen(Config{Bind: "127.0.0.1:0", Dial: net.DialTimeout}, owner)
	if err != nil {
		t.Fatal(err)
	}
	m.Start()
	return m, owner, func() { m.Close(); m.Wait() }
}
