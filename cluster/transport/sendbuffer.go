package transport

import (
	"encoding/binary"
	"net"
	"sync"
	"time"
)

// writeTimeout ends a connection whose other side reads nothing for that long.
const writeTimeout = 5 * time.Second

// sendBuffer holds what a connection has to write. The goroutine that adds a frame writes it at once if the socket takes it,
// together with what others have added meanwhile. No caller waits for a socket that takes no more: a goroutine writes the rest
// then, and for TLS always.
type sendBuffer struct {
	conn    net.Conn
	write   func([]byte) (int, error) // writes what the socket takes at once
	failed  func(error)               // is called once, with the reason why nothing more will be written
	timeout time.Duration             // writeTimeout; tests shorten it

	mu       sync.Mutex
	before   []piece // to be written before frames
	frames   []byte  // to be written
	spare    []byte
	size     int           // bytes of before and frames
	writing  bool          // a goroutine writes; stays set when the connection has failed
	blocked  bool          // a goroutine waits for the socket
	draining chan struct{} // closed when the last such goroutine has ended; nil before the first
	ended    bool          // nothing is written any more
}

// piece is a part of what is written: frames gathered here, or the long payload of a caller.
type piece struct {
	b        []byte
	gathered bool
}

// longPayload is from how many bytes on a payload is written from where it lies. To copy one costs more than a system call of
// its own does.
const longPayload = 32 << 10

// put adds a frame, which is written in the order of calls. The payload must not be changed afterwards.
func (sb *sendBuffer) put(id uint64, kind Kind, payload []byte) {
	sb.mu.Lock()
	sb.frames = binary.LittleEndian.AppendUint32(sb.frames, uint32(len(payload)))
	sb.frames = binary.LittleEndian.AppendUint64(sb.frames, id)
	sb.frames = append(sb.frames, byte(kind))
	if len(payload) < longPayload {
		sb.frames = append(sb.frames, payload...)
	} else {
		sb.before = append(sb.before, piece{sb.frames, true}, piece{payload, false})
		sb.frames, sb.spare = sb.spare, nil
	}
	sb.size += frameHead + len(payload)
	if sb.writing || sb.ended {
		sb.mu.Unlock()
		return
	}
	sb.writing = true
	for p := sb.take(); len(p.b) > 0; p = sb.next(p) {
		sb.mu.Unlock()
		n, err := sb.write(p.b)
		if err != nil {
			sb.failed(err)
			return
		}
		sb.mu.Lock()
		if n < len(p.b) {
			sb.startDrain(p, n)
			sb.mu.Unlock()
			return
		}
	}
	sb.writing = false
	sb.mu.Unlock()
}

// startDrain starts the goroutine that writes the rest of p, unless the connection has ended; the lock is held.
func (sb *sendBuffer) startDrain(p piece, written int) {
	if sb.ended {
		return
	}
	done := make(chan struct{})
	sb.blocked, sb.draining = true, done
	go func() { // ends when all is written or the connection ends; finish waits for it
		defer close(done)
		sb.drain(p, written)
	}()
}

// finish is called when the connection has ended: it waits for the goroutine that still writes.
func (sb *sendBuffer) finish() {
	sb.mu.Lock()
	sb.ended = true
	draining := sb.draining
	sb.mu.Unlock()
	if draining != nil {
		<-draining
	}
}

// drain writes the rest of p and what is added meanwhile, waiting for the socket.
func (sb *sendBuffer) drain(p piece, written int) {
	for len(p.b) > 0 {
		sb.conn.SetWriteDeadline(time.Now().Add(sb.timeout))
		if _, err := sb.conn.Write(p.b[written:]); err != nil {
			sb.failed(err)
			return
		}
		written = 0
		sb.mu.Lock()
		if p = sb.next(p); len(p.b) == 0 {
			sb.conn.SetWriteDeadline(time.Time{})
			sb.writing, sb.blocked = false, false
		}
		sb.mu.Unlock()
	}
}

// full reports whether a goroutine waits for the socket and more than fullBytes wait to be written after it.
func (sb *sendBuffer) full() bool {
	sb.mu.Lock()
	defer sb.mu.Unlock()
	return sb.blocked && sb.size > fullBytes
}

// fullBytes is more than what accumulates in an ordinary moment of a slow socket.
const fullBytes = 4 << 10

// keptBytes is the largest buffer that is kept: a batch.
const keptBytes = 512 << 10

// next takes what follows p, which has been written; frames that come later are gathered where p was. The lock is held.
func (sb *sendBuffer) next(p piece) piece {
	if p.gathered && cap(p.b) <= keptBytes {
		sb.spare = p.b[:0]
	}
	return sb.take()
}

// take takes the next piece off, an empty one if all is written. The lock is held.
func (sb *sendBuffer) take() piece {
	if len(sb.before) > 0 {
		p := sb.before[0]
		sb.before[0] = piece{}
		sb.before = sb.before[1:]
		sb.size -= len(p.b)
		return p
	}
	p := piece{sb.frames, true}
	sb.size -= len(p.b)
	sb.frames, sb.spare = sb.spare, nil
	return p
}
