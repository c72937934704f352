package resp

import (
	"errors"
	"io"
	"os"
	"time"
)

// The sizes of a connection's read buffer, in bytes: of an idle connection, and of a busy one, which
// reads pipelines. Only a longer command makes it grow beyond.
const (
	idleBuffer = 4 << 10
	busyBuffer = 64 << 10
)

// input is a connection's read buffer; buf[at:] is not parsed yet.
type input struct {
	read    func([]byte) (int, error) // blocks
	tryRead func([]byte) (int, error) // does not block
	buf     []byte
	at      int
	sizes   *sizes // where its size is published; nil publishes nothing
}

func (in *input) rest() []byte { return in.buf[in.at:] }

// reserve makes room for at least need bytes from the beginning of the command. An
// announced length alone doesn't grow the buffer: it grows with what has arrived.
func (in *input) reserve(need int) {
	have := len(in.buf) - in.at
	switch {
	case have == 0:
		in.buf, in.at = in.buf[:0], 0
		if cap(in.buf) > busyBuffer {
			in.buf = nil
		}
	case in.at > 0 && (cap(in.buf)-len(in.buf) < idleBuffer || need > cap(in.buf)-in.at):
		copy(in.buf, in.buf[in.at:])
		in.buf, in.at = in.buf[:have], 0
	}
	if size := in.next(need); size > cap(in.buf) {
		in.buf = append(make([]byte, 0, size), in.buf...)
	}
}

// next returns the capacity that the buffer will have for the next read, in bytes.
func (in *input) next(need int) int {
	have := len(in.buf) - in.at
	if have == 0 && cap(in.buf) > busyBuffer { // which reserve lets go
		return idleBuffer
	}
	if room := cap(in.buf) - have; room > 0 && have < cap(in.buf)*3/4 { // behind what is moved to the front
		return cap(in.buf)
	}
	size := max(idleBuffer, 2*cap(in.buf))
	if need > size {
		size = max(size, min(need, 4*have))
	}
	return size
}

// fill reads once. It returns io.EOF at the end, and os.ErrDeadlineExceeded if it was
// interrupted or took too long.
func (in *input) fill(need int) error {
	n, _, err := in.readOnce(in.read, need)
	switch {
	case n > 0:
		return nil
	case err == nil:
		return io.ErrNoProgress
	}
	return err
}

// readOnce calls read once. If the buffer is full then, more may be waiting.
func (in *input) readOnce(read func([]byte) (int, error), need int) (n int, full bool, err error) {
	in.reserve(need)
	if in.sizes != nil {
		in.sizes.unread.Store(int64(len(in.buf) - in.at))
		in.sizes.spare.Store(int64(cap(in.buf) - len(in.buf)))
	}
	n, err = read(in.buf[len(in.buf):cap(in.buf)])
	full = n == cap(in.buf)-len(in.buf)
	in.buf = in.buf[:len(in.buf)+n]
	if full && cap(in.buf) < busyBuffer { // read it in one call next time
		in.buf = append(make([]byte, 0, min(4*cap(in.buf), busyBuffer)), in.buf...)
	}
	return n, full, err
}

// longAgo is a deadline that interrupts reads.
var longAgo = time.Unix(1, 0)

func interrupted(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }
