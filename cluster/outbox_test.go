package cluster

import (
	"bufio"
	"net"
	"sync"
	"testing"
	"time"
)

// pair is a TCP connection, from both sides.
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

// stuffing is more than the kernel takes for a side that reads nothing.
const stuffing = 64 << 20

// TestNobodyWaitsForAStuckLink fills a connection whose other side reads nothing, as that of a
// node that was cut off: whoever sends goes on. When it reads again, every call is there, in order.
func TestNobodyWaitsForAStuckLink(t *testing.T) {
	here, there := pair(t)
	l := newLink(here)
	l.out.patience = time.Minute
	defer l.out.finish()
	defer l.close(net.ErrClosed)
	payload := make([]byte, 64<<10)
	const calls = stuffing / (64 << 10)
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		for range calls {
			l.call(callConfirm, payload, func([]byte, error) {})
		}
	}()
	select {
	case <-sent:
	case <-time.After(30 * time.Second):
		t.Fatal("a call waits for a side that takes nothing")
	}
	if l.ended() || !l.out.stuck() {
		t.Fatalf("link ended %v, stuck %v", l.ended(), l.out.stuck())
	}
	l.tell(callCommitted, nil) // left out
	r := bufio.NewReader(there)
	for want := range uint64(calls) {
		id, kind, b, err := readFrame(r)
		if err != nil || id != want+1 || kind != callConfirm || len(b) != len(payload) {
			t.Fatalf("call %d: id %d, kind %d, %d bytes, %v", want+1, id, kind, len(b), err)
		}
	}
	for end := time.Now().Add(30 * time.Second); l.out.stuck(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("stuck though the other side reads")
		}
	}
	l.call(callConfirm, nil, func([]byte, error) {})
	if id, _, _, err := readFrame(r); err != nil || id != calls+1 {
		t.Fatalf("after that: id %d, %v", id, err)
	}
}

// TestStuckLinkEnds shows that a link ends, and its calls fail, when the other side takes nothing
// for too long.
func TestStuckLinkEnds(t *testing.T) {
	here, _ := pair(t)
	l := newLink(here)
	l.out.patience = 50 * time.Millisecond
	defer l.out.finish()
	failed := make(chan error, 1)
	l.call(callConfirm, make([]byte, stuffing), func(_ []byte, err error) { failed <- err })
	select {
	case err := <-failed:
		if err == nil || !l.ended() {
			t.Fatalf("answer %v, link ended %v", err, l.ended())
		}
	case <-time.After(30 * time.Second):
		t.Fatal("the link does not end")
	}
}

// TestLinkEndsUnderSenders ends links while others send: the race detector watches.
func TestLinkEndsUnderSenders(t *testing.T) {
	for range 30 {
		here, there := pair(t)
		l := newLink(here)
		var all sync.WaitGroup
		all.Go(l.readAnswers)
		for range 4 {
			all.Go(func() {
				for !l.ended() {
					l.call(callConfirm, make([]byte, 64<<10), func([]byte, error) {})
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
