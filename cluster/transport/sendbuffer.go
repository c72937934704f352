package transport

import (
	"encoding/binary"
	"net"
	"sync"
	"time"
)

// writeTimeout ends a connection whose other side reads nothing for that long.
const writeTimeout = 5 * time.Second

// sendBuffer is what a connection has to write. The goroutine that adds a frame writes it at once if the socket takes it, and what
// others have added meanwhile: no goroutine of its own, and one system call for all that wait. No caller waits for a socket
// that takes no more, because its host was cut off or its process stands still: a leader would answer no client for the
// sake of one follower that it does not need. A goroutine writes the rest then, and for TLS always.
type sendBuffer struct {
	conn    net.Conn
	write   func([]byte) (int, error) // writes what the socket takes at once
	failed  func(error)               // is called once, with the reason why nothing more will be written
	timeout time.Duration             // writeTimeout; tests shorten it

	mu       sync.Mutex
	frames   []byte // to be written
	spare    []byte
	writing  bool          // a goroutine writes; stays set when the connection has failed
	blocked  bool          // a goroutine waits for the socket
	draining chan struct{} // closed when the last such goroutine has ended; nil before the first
	ended    bool          // nothing is written any more
}

// put adds a frame, which is written in the order of calls.
func (s *sendBuffer) put(id uint64, kind Kind, payload []byte) {
	s.mu.Lock()
	s.frames = binary.LittleEndian.AppendUint32(s.frames, uint32(len(payload)))
	s.frames = binary.LittleEndian.AppendUint64(s.frames, id)
	s.frames = append(append(s.frames, byte(kind)), payload...)
	if s.writing || s.ended {
		s.mu.Unlock()
		return
	}
	s.writing = true
	for b := s.take(); len(b) > 0; b = s.next(b) {
		s.mu.Unlock()
		n, err := s.write(b)
		if err != nil {
			s.failed(err)
			return
		}
		s.mu.Lock()
		if n < len(b) {
			s.startDrain(b, n)
			s.mu.Unlock()
			return
		}
	}
	s.writing = false
	s.mu.Unlock()
}

// startDrain starts the goroutine that writes the rest of b, unless the connection has ended; the lock is held.
func (s *sendBuffer) startDrain(b []byte, written int) {
	if s.ended {
		return
	}
	done := make(chan struct{})
	s.blocked, s.draining = true, done
	go func() { // ends when all is written or the connection ends; finish waits for it
		defer close(done)
		s.drain(b, written)
	}()
}

// finish is called when the connection has ended: it waits for the goroutine that still writes.
func (s *sendBuffer) finish() {
	s.mu.Lock()
	s.ended = true
	draining := s.draining
	s.mu.Unlock()
	if draining != nil {
		<-draining
	}
}

// drain writes the rest of b and what is added meanwhile, waiting for the socket.
func (s *sendBuffer) drain(b []byte, written int) {
	for len(b) > 0 {
		s.conn.SetWriteDeadline(time.Now().Add(s.timeout))
		if _, err := s.conn.Write(b[written:]); err != nil {
			s.failed(err)
			return
		}
		written = 0
		s.mu.Lock()
		if b = s.next(b); len(b) == 0 {
			s.conn.SetWriteDeadline(time.Time{})
			s.writing, s.blocked = false, false
		}
		s.mu.Unlock()
	}
}

// full reports whether a goroutine waits for the socket and more than fullBytes are behind it.
func (s *sendBuffer) full() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.blocked && len(s.frames) > fullBytes
}

// fullBytes is more than what accumulates in an ordinary moment of a slow socket.
const fullBytes = 4 << 10

// keptBytes is the largest buffer that is kept: a batch.
const keptBytes = 512 << 10

// next is what was added while b was written; b is reused for what comes then. The lock is held.
func (s *sendBuffer) next(b []byte) []byte {
	if cap(b) <= keptBytes {
		s.spare = b[:0]
	}
	return s.take()
}

// take is all that is to be written; the lock is held.
func (s *sendBuffer) take() []byte {
	b := s.frames
	s.frames, s.spare = s.spare, nil
	return b
}
