package transport

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
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

// TestFramesOfAllLengths sends frames that are gathered and frames that are not, from several goroutines, to a side that
// reads more slowly than they send: each comes once, whole, and those of a goroutine in its order.
func TestFramesOfAllLengths(t *testing.T) {
	const senders, frames = 4, 300
	here, there := pair(t)
	c := newConn(here)
	defer c.out.finish()
	defer c.close(io.ErrClosedPipe)
	lengths := rand.New(rand.NewPCG(1, 2))
	var all sync.WaitGroup
	for s := range senders {
		sizes := make([]int, frames)
		for i := range sizes {
			sizes[i] = 2 + lengths.IntN(2*longPayload)
			if i%3 > 0 {
				sizes[i] = 2 + lengths.IntN(100)
			}
		}
		all.Go(func() {
			for i, n := range sizes {
				b := bytes.Repeat([]byte{byte(i)}, n)
				b[0], b[1] = byte(s), byte(i>>8)
				c.Call(testKind, b, func([]byte, error) {})
			}
		})
	}
	next := make([]int, senders)
	r := bufio.NewReaderSize(there, 4<<10)
	for range senders * frames {
		_, kind, b, err := readFrame(r)
		if err != nil || kind != testKind || len(b) < 2 {
			t.Fatalf("kind %d, %d bytes, %v", kind, len(b), err)
		}
		i := next[b[0]]
		next[b[0]]++
		if b[1] != byte(i>>8) || !bytes.Equal(b[2:], bytes.Repeat([]byte{byte(i)}, len(b)-2)) {
			t.Fatalf("frame %d of sender %d has other bytes: %.8x", i, b[0], b)
		}
	}
	all.Wait()
}

// TestLongPayloadsAreNotCopied counts what is allocated to send them.
func TestLongPayloadsAreNotCopied(t *testing.T) {
	const calls = 64
	here, there := pair(t)
	c := newConn(here)
	defer c.out.finish()
	defer c.close(io.ErrClosedPipe)
	payload := make([]byte, 1<<20)
	var all sync.WaitGroup
	defer all.Wait()
	all.Go(func() { io.CopyN(io.Discard, there, calls*int64(frameHead+len(payload))) })
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range calls {
		c.Call(testKind, payload, func([]byte, error) {})
	}
	runtime.ReadMemStats(&after)
	if got := int(after.TotalAlloc - before.TotalAlloc); got > calls*len(payload)/10 {
		t.Errorf("%d calls of %d bytes allocated %d bytes", calls, len(payload), got)
	}
}
