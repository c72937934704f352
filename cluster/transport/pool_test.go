package transport

import (
	"errors"
	"io"
	"net"
	"testing"
	"time"
)

const (
	kindPropose = Failed + 1 + iota
	kindReadIndex
	kindOther
)

func ofLeader(k Kind) bool { return k == kindPropose || k == kindReadIndex }

var errLeaderChanged = errors.New("the leader changed")

// TestCallsToFormerLeaderEnd checks that calls to a leader that answers nothing, like a stopped one, end when another
// node leads, and that other calls go on.
func TestCallsToFormerLeaderEnd(t *testing.T) {
	here, there := net.Pipe()
	defer there.Close()
	go io.Copy(io.Discard, there)
	c := newConn(here)
	defer c.close(net.ErrClosed)
	p := &Pool{conns: map[route]*Conn{{"stopped", false}: c}}
	failed := make(chan Kind, 3)
	for _, kind := range []Kind{kindPropose, kindReadIndex, kindOther} {
		c.Call(kind, nil, func(_ []byte, err error) {
			if errors.Is(err, errLeaderChanged) {
				failed <- kind
			}
		})
	}
	p.AbandonExcept("stopped", errLeaderChanged, ofLeader) // it still leads
	if len(failed) > 0 {
		t.Fatal("a call to the leader was abandoned")
	}
	p.AbandonExcept("successor", errLeaderChanged, ofLeader)
	got := map[Kind]bool{}
	for range 2 {
		select {
		case kind := <-failed:
			got[kind] = true
		case <-time.After(time.Minute):
			t.Fatalf("only %v were abandoned", got)
		}
	}
	if !got[kindPropose] || !got[kindReadIndex] || len(failed) > 0 || c.Ended() {
		t.Fatalf("abandoned were %v and %d more, connection ended %v", got, len(failed), c.Ended())
	}
}

// TestFailedCallsMayUseThePool ends the connections of a pool while a call is pending whose answer asks the pool for another
// connection, as a read asks the next voter. A node that shuts down at that moment used to wait for ever.
func TestFailedCallsMayUseThePool(t *testing.T) {
	for name, end := range map[string]func(*Pool){"close": (*Pool).Close, "reset": (*Pool).Reset} {
		t.Run(name, func(t *testing.T) {
			here, there := net.Pipe()
			defer there.Close()
			go io.Copy(io.Discard, there)
			c := newConn(here)
			p := &Pool{conns: map[route]*Conn{{"slow", false}: c}}
			answered, ended := make(chan error, 1), make(chan struct{})
			c.Call(kindOther, nil, func(_ []byte, err error) {
				p.Open("another")
				answered <- err
			})
			go func() { end(p); close(ended) }()
			select {
			case <-ended:
			case <-time.After(time.Minute):
				t.Fatal("the pool waits for the call, and the call for the pool")
			}
			if err := <-answered; !errors.Is(err, net.ErrClosed) {
				t.Errorf("the call ended with %v", err)
			}
		})
	}
}
