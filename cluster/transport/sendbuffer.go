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
// together with what others have added meanwhile: that needs no further goroutine, and one system call for all frames that wait.
// No caller waits for a socket that takes no more because its host was cut off or its process stands still: otherwise one follower
// that a leader does not need would keep it from answering clients. A goroutine writes the rest then, and for TLS always.
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
func (s *sendBuffer) put(id uint64, kind Kind, payload []byte) {
	s.mu.Lock()
	s.frames = binary.LittleEndian.AppendUint32(s.frames, uint32(len(payload)))
	s.frames = binary.LittleEndian.AppendUint64(s.frames, id)
	s.frames = append(s.frames, byte(kind))
	if len(payload) < longPayload {
		s.frames = append(s.frames, payload...)
	} else {
		s.before = append(s.before, piece{s.frames, true}, piece{payload, false})
		s.frames, s.spare = s.spare, nil
	}
	s.size += frameHead + len(payload)
	if s.writing || s.ended {
		s.mu.Unlock()
		return
	}
	s.writing = true
	for p := s.take(); len(p.b) > 0; p = s.next(p) {
		s.mu.Unlock()
		n, err := s.write(p.b)
		if err != nil {
			s.failed(err)
			return
		}
		s.mu.Lock()
		if n < len(p.b) {
			s.startDrain(p, n)
			s.mu.Unlock()
			return
		}
	}
	s.writing = false
	s.mu.Unlock()
}

// startDrain starts the goroutine that writes the rest of p, unless the connection has ended; the lock is held.
func (s *sendBuffer) startDrain(p piece, written int) {
	if s.ended {
		return
	}
	done := make(chan struct{})
	s.blocked, s.draining = true, done
	go func() { // ends when all is written or the connection ends; finish waits for it
		defer close(done)
		s.drain(p, written)
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

// drain writes the rest of p and what is added meanwhile, waiting for the socket.
func (s *sendBuffer) drain(p piece, written int) {
	for len(p.b) > 0 {
		s.conn.SetWriteDeadline(time.Now().Add(s.timeout))
		if _, err := s.conn.Write(p.b[written:]); err != nil {
			s.failed(err)
			return
		}
		written = 0
		s.mu.Lock()
		if p = s.next(p); len(p.b) == 0 {
			s.conn.SetWriteDeadline(time.Time{})
			s.writing, s.blocked = false, false
		}
		s.mu.Unlock()
	}
}

// full reports whether a goroutine waits for the socket and more than fullBytes wait to be written after it.
func (s *sendBuffer) full() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.blocked && s.size > fullBytes
}

// fullBytes is more than what accumulates in an ordinary moment of a slow socket.
const fullBytes = 4 << 10

// keptBytes is the largest buffer that is kept: a batch.
const keptBytes = 512 << 10

// next takes what follows p, which has been written; frames that come later are gathered where p was. The lock is held.
func (s *sendBuffer) next(p piece) piece {
	if p.gathered && cap(p.b) <= keptBytes {
		s.spare = p.b[:0]
	}
	return s.take()
}

// take takes the next piece off, an empty one if all is written. The lock is held.
func (s *sendBuffer) take() piece {
	if len(s.before) > 0 {
		p := s.before[0]
		s.before[0] = piece{}
		s.before = s.before[1:]
		s.size -= len(p.b)
		return p
	}
	p := piece{s.frames, true}
	s.size -= len(p.b)
	s.frames, s.spare = s.spare, nil
	return p
}
