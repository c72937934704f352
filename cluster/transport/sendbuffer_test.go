package transport

import (
	"bufio"
	"bytes"
	"io"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
)

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
