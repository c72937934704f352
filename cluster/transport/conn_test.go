package transport

import (
	"bufio"
	"net"
	"sync"
	"testing"
	"time"
)

// pair returns a TCP connection, from both sides.
func pair(t *testing.T) (here, there net.Conn) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	here, err = net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { here.Close() })
	there, err = listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { there.Close() })
	return here, there
}

// overfullBytes is more than the kernel buffers for a side that reads nothing.
const overfullBytes = 64 << 20

// testKind is a call that means nothing.
const testKind = Failed + 1

// TestSlowPeerDoesNotBlockCallers fills a connection whose other side reads nothing, as if the node was cut off: callers
// go on. When it reads again, every call is there, in order.
func TestSlowPeerDoesNotBlockCallers(t *testing.T) {
	here, there := pair(t)
	c := newConn(here)
	c.out.timeout = time.Minute
	defer c.out.finish()
	defer c.close(net.ErrClosed)
	payload := make([]byte, 64<<10)
	const calls = overfullBytes / (64 << 10)
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		for range calls {
			c.Call(testKind, payload, func([]byte, error) {})
		}
	}()
	select {
	case <-sent:
	case <-time.After(time.Minute):
		t.Fatal("a call waits for a side that reads nothing")
	}
	if c.Ended() || !c.out.full() {
		t.Fatalf("connection ended %v, full %v", c.Ended(), c.out.full())
	}
	c.Tell(testKind, nil) // left out
	r := bufio.NewReader(there)
	for want := range uint64(calls) {
		id, kind, b, err := readFrame(r)
		if err != nil || id != want+1 || kind != testKind || len(b) != len(payload) {
			t.Fatalf("call %d: id %d, kind %d, %d bytes, %v", want+1, id, kind, len(b), err)
		}
	}
	for end := time.Now().Add(time.Minute); c.out.full(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("full though the other side reads")
		}
	}
	c.Call(testKind, nil, func([]byte, error) {})
	if id, _, _, err := readFrame(r); err != nil || id != calls+1 {
		t.Fatalf("after that: id %d, %v", id, err)
	}
}

// TestConnEndsWhenPeerReadsNothing shows that a connection ends, and its calls fail, when the other side reads nothing
// for too long.
func TestConnEndsWhenPeerReadsNothing(t *testing.T) {
	here, _ := pair(t)
	c := newConn(here)
	c.out.timeout = 50 * time.Millisecond
	defer c.out.finish()
	failed := make(chan error, 1)
	c.Call(testKind, make([]byte, overfullBytes), func(_ []byte, err error) { failed <- err })
	select {
	case err := <-failed:
		if err == nil || !c.Ended() {
			t.Fatalf("answer %v, connection ended %v", err, c.Ended())
		}
	case <-time.After(time.Minute):
		t.Fatal("the connection does not end")
	}
}

// TestConnEndsUnderSenders ends connections while others send, for the race detector.
func TestConnEndsUnderSenders(t *testing.T) {
	for range 30 {
		here, there := pair(t)
		c := newConn(here)
		var all sync.WaitGroup
		all.Go(c.readAnswers)
		for range 4 {
			all.Go(func() {
				for !c.Ended() {
					c.Call(testKind, make([]byte, 64<<10), func([]byte, error) {})
				}
			})
		}
		if _, err := there.Read(make([]byte, 1<<20)); err != nil {
			t.Fatal(err)
		}
		there.Close()
		all.Wait()
	}
}
