package cluster

import (
	"encoding/binary"
	"net"
	"sync"
	"time"
)

// writeTime ends a link whose other side takes nothing for that long.
const writeTime = 5 * time.Second

// outbox is what a link has to write. Whoever puts a frame in writes it at once if the socket
// takes it, and what others put in meanwhile: no goroutine of its own, one system call for all
// that wait. Nobody waits for a socket that takes no more, because its host was cut off or its
// process stands still: the leader would answer nobody for the sake of one follower, which it
// does not need. A goroutine writes the rest then, and for TLS always.
type outbox struct {
	c        net.Conn
	try      func([]byte) (int, error) // writes what the socket takes at once
	failed   func(error)               // is told, once, why nothing more will be written
	patience time.Duration

	mu       sync.Mutex
	frames   []byte // to be written
	spare    []byte
	writing  bool          // somebody writes; stays set when the connection is dead
	waits    bool          // a goroutine waits for the socket
	draining chan struct{} // closed when the last such goroutine has ended; nil before the first
	ended    bool          // nothing is written any more
}

// put adds a frame and sees to it that it is written, in the order of calls.
func (o *outbox) put(id uint64, kind callKind, payload []byte) {
	o.mu.Lock()
	o.frames = binary.LittleEndian.AppendUint32(o.frames, uint32(len(payload)))
	o.frames = binary.LittleEndian.AppendUint64(o.frames, id)
	o.frames = append(append(o.frames, byte(kind)), payload...)
	if o.writing || o.ended {
		o.mu.Unlock()
		return
	}
	o.writing = true
	for b := o.take(); len(b) > 0; b = o.next(b) {
		o.mu.Unlock()
		n, err := o.try(b)
		if err != nil {
			o.failed(err)
			return
		}
		o.mu.Lock()
		if n < len(b) {
			o.leave(b, n)
			o.mu.Unlock()
			return
		}
	}
	o.writing = false
	o.mu.Unlock()
}

// leave starts the goroutine that writes the rest of b, unless it is too late; the lock is held.
func (o *outbox) leave(b []byte, written int) {
	if o.ended {
		return
	}
	done := make(chan struct{})
	o.waits, o.draining = true, done
	go func() { // ends when all is written or the connection ends; finish waits for it
		defer close(done)
		o.drain(b, written)
	}()
}

// finish is called when the connection has ended: it waits for whoever still writes.
func (o *outbox) finish() {
	o.mu.Lock()
	o.ended = true
	draining := o.draining
	o.mu.Unlock()
	if draining != nil {
		<-draining
	}
}

// drain waits for the socket to take the rest of b, and what has come meanwhile.
func (o *outbox) drain(b []byte, written int) {
	for len(b) > 0 {
		o.c.SetWriteDeadline(time.Now().Add(o.patience))
		if _, err := o.c.Write(b[written:]); err != nil {
			o.failed(err)
			return
		}
		written = 0
		o.mu.Lock()
		if b = o.next(b); len(b) == 0 {
			o.c.SetWriteDeadline(time.Time{})
			o.writing, o.waits = false, false
		}
		o.mu.Unlock()
	}
}

// stuck tells whether a goroutine waits for the socket and more than a little is behind it.
func (o *outbox) stuck() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.waits && len(o.frames) > stuckBytes
}

// stuckBytes is more than what comes together in an ordinary moment of a slow socket.
const stuckBytes = 4 << 10

// next is what has come while b was written, which is kept for what comes then. The lock is held.
func (o *outbox) next(b []byte) []byte {
	if cap(b) <= packBytes {
		o.spare = b[:0]
	}
	return o.take()
}

// take is all that is to be written; the lock is held.
func (o *outbox) take() []byte {
	b := o.frames
	o.frames, o.spare = o.spare, nil
	return b
}
