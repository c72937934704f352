package resp

import (
	"net"
	"sync"
	"time"

	"github.com/trireme-dev/trireme/internal/socket"
)

// output is a connection's send queue. What the socket doesn't take at once is queued and
// written by a goroutine that ends when the queue is empty. Without it a client that sends
// a long pipeline before it reads would deadlock with the server.
type output struct {
	nc       net.Conn
	tryWrite func([]byte) (int, error) // writes what fits without waiting
	timeout  time.Duration             // how long a client may read nothing

	mu         sync.Mutex
	pending    [][]byte // chunks of writeChunk, the last of which may be shorter: a long queue is not copied as it grows
	queued     int      // bytes of them
	sending    int      // bytes that the goroutine is writing
	busy       bool
	err        error
	idle       sync.WaitGroup // the goroutine
	progressed sync.Cond      // signalled when bytes were written or the connection failed
}

func newOutput(nc net.Conn, timeout time.Duration) *output {
	o := &output{nc: nc, tryWrite: socket.TryWrite(nc), timeout: timeout}
	o.progressed.L = &o.mu
	return o
}

// send writes or queues b, which it does not keep. The error is that of the connection.
func (o *output) send(b []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return o.err
	}
	if !o.busy {
		n, err := o.tryWrite(b)
		if b = b[n:]; err != nil {
			o.err = err
		}
		if len(b) == 0 || err != nil {
			return err
		}
		o.busy = true
		o.idle.Go(o.drain)
	}
	o.enqueue(b)
	return nil
}

// writeChunk is the size, in bytes, of the pieces in which replies are queued. Each is written under one deadline.
const writeChunk = 64 << 10

// enqueue adds b to the queue; the lock is held.
func (o *output) enqueue(b []byte) {
	o.queued += len(b)
	for len(b) > 0 {
		last := len(o.pending) - 1
		if last < 0 || len(o.pending[last]) == writeChunk {
			o.pending, last = append(o.pending, nil), last+1
		}
		n := min(len(b), writeChunk-len(o.pending[last]))
		o.pending[last] = append(o.pending[last], b[:n]...)
		b = b[n:]
	}
}

// drain writes until the queue is empty.
func (o *output) drain() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.pending) > 0 && o.err == nil {
		b := o.pending[0]
		o.pending[0] = nil
		o.pending, o.queued, o.sending = o.pending[1:], o.queued-len(b), len(b)
		o.writeAll(b)
	}
	o.busy, o.pending, o.queued = false, nil, 0
	if o.err == nil {
		o.err = o.nc.SetWriteDeadline(time.Time{})
	}
	o.progressed.Broadcast()
}

// writeAll writes a chunk; the lock is held, but released during writes.
func (o *output) writeAll(b []byte) {
	for len(b) > 0 && o.err == nil {
		o.mu.Unlock()
		n, err := o.write(b)
		o.mu.Lock()
		b = b[n:]
		o.sending = len(b)
		if err != nil {
			o.err, o.sending = err, 0
		}
		o.progressed.Broadcast()
	}
}

func (o *output) write(b []byte) (int, error) {
	if err := o.nc.SetWriteDeadline(time.Now().Add(o.timeout)); err != nil {
		return 0, err
	}
	return o.nc.Write(b)
}

// waiting returns how many bytes are queued.
func (o *output) waiting() int {
	_, bytes := o.waitingParts()
	return bytes
}

// waitingParts returns in how many parts bytes are queued, and how many they are.
func (o *output) waitingParts() (parts, bytes int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	parts, bytes = len(o.pending), o.queued+o.sending
	if o.sending > 0 {
		parts++
	}
	return parts, bytes
}

// waitBelow waits until at most limit bytes are queued, or the connection has failed.
func (o *output) waitBelow(limit int) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.err == nil && o.queued+o.sending > limit {
		o.progressed.Wait()
	}
	return o.err
}

// waitDone waits until everything is written or writing has failed.
func (o *output) waitDone() { o.idle.Wait() }
