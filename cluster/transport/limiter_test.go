package transport

import (
	"errors"
	"net"
	"testing"
	"time"
)

// silent accepts everybody.
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

// TestConnectionsArePerPeerBounded: connections that say nothing are closed once there are too many of one host, and the
// places of those that end are free again.
func TestConnectionsArePerPeerBounded(t *testing.T) {
	owner := silent{make(chan error, 1)}
	m, err := Listen(Config{Bind: "127.0.0.1:0", Dial: net.DialTimeout}, owner)
	if err != nil {
		t.Fatal(err)
	}
	m.Start()
	defer func() { m.Close(); m.Wait() }()
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
