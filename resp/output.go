package resp

import (
	"net"
	"sync"
	"time"

	"trireme/socket"
)

// output is what a connection sends. Whatever the socket doesn't take at once is kept,
// and written by a goroutine that ends when nothing is left: a client that sends a long
// pipeline before it reads would otherwise wait for us, and we for it.
type output struct {
	nc      net.Conn
	try     func([]byte) (int, error) // writes what fits without waiting
	patient time.Duration             // how long a client may take nothing

	mu      sync.Mutex
	pending []byte
	sending int // bytes that the goroutine has in hand
	busy    bool
	err     error
	idle    sync.WaitGroup // the goroutine
	moved   sync.Cond      // something was taken, or the connection has failed
}

func newOutput(nc net.Conn, patient time.Duration) *output {
	o := &output{nc: nc, try: socket.Trier(nc), patient: patient}
	o.moved.L = &o.mu
	return o
}

// send takes b, which it does not keep. The error is that of the connection.
func (o *output) send(b []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return o.err
	}
	if !o.busy {
		n, err := o.try(b)
		if b = b[n:]; err != nil {
			o.err = err
		}
		if len(b) == 0 || err != nil {
			return err
		}
		o.busy = true
		o.idle.Go(o.drain)
	}
	o.pending = append(o.pending, b...)
	return nil
}

// piece is how much is written at a time: each piece has a deadline of its own.
const piece = 64 << 10

// drain writes what waits until nothing does.
func (o *output) drain() {
	o.mu.Lock()
	defer o.mu.Unlock()
	var spare []byte
	for len(o.pending) > 0 && o.err == nil {
		b := o.pending
		o.pending, o.sending = spare[:0], len(b)
		o.writeAll(b)
		if spare = b; cap(spare) > piece {
			spare = nil
		}
	}
	o.busy, o.pending = false, nil
	if o.err == nil {
		o.err = o.nc.SetWriteDeadline(time.Time{})
	}
	o.moved.Broadcast()
}

// writeAll writes b piece by piece; the lock is held, but let go meanwhile.
func (o *output) writeAll(b []byte) {
	for len(b) > 0 && o.err == nil {
		o.mu.Unlock()
		n, err := o.write(b[:min(len(b), piece)])
		o.mu.Lock()
		b = b[n:]
		o.sending = len(b)
		if err != nil {
			o.err, o.sending = err, 0
		}
		o.moved.Broadcast()
	}
}

func (o *output) write(b []byte) (int, error) {
	if err := o.nc.SetWriteDeadline(time.Now().Add(o.patient)); err != nil {
		return 0, err
	}
	return o.nc.Write(b)
}

// waiting is how many bytes the client has not taken yet.
func (o *output) waiting() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.pending) + o.sending
}

// room waits until no more than limit bytes wait, or the connection has failed.
func (o *output) room(limit int) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.err == nil && len(o.pending)+o.sending > limit {
		o.moved.Wait()
	}
	return o.err
}

// flushed waits until everything is written or can't be.
func (o *output) flushed() { o.idle.Wait() }
