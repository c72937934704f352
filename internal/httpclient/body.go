package httpclient

import (
	"context"
	"errors"
	"io"
)

// body is the body of an answer. It belongs to one goroutine.
type body struct {
	k    *conn
	ctx  context.Context
	stop func() bool   // ends the watch of the context
	from io.ReadCloser // net/http's body; nil if left counts
	left int64         // bytes to come
	keep bool          // the connection may be used again
	done error         // what further reads return
}

// Read reads the body. An error of the context goes before what follows from it.
func (b *body) Read(p []byte) (n int, err error) {
	if b.done != nil {
		return 0, b.done
	}
	if b.from != nil {
		n, err = b.from.Read(p)
	} else {
		n, err = b.readCounted(p)
	}
	if err == nil {
		return n, nil
	}
	b.done = err
	b.finish(b.keep && errors.Is(err, io.EOF))
	if !errors.Is(err, io.EOF) && b.ctx.Err() != nil {
		b.done = context.Cause(b.ctx)
	}
	return n, b.done
}

// readCounted reads a body of known length.
func (b *body) readCounted(p []byte) (n int, err error) {
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	if k := b.k; k.start < len(k.in) {
		n = copy(p, k.in[k.start:])
		k.start += n
	} else if len(p) > 0 {
		n, err = k.read(p)
	}
	if b.left -= int64(n); b.left == 0 {
		return n, io.EOF
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// Close closes the connection, unless the body was read to its end.
func (b *body) Close() error {
	if b.done == nil {
		b.done = errClosed
		b.finish(false)
	}
	return nil
}

var errClosed = errors.New("httpclient: read after close of an answer's body")

// finish ends the exchange. The connection is kept if nothing is left of the request or of the answer.
func (b *body) finish(keep bool) {
	k := b.k
	if !b.stop() { // the context has ended, and closes the connection
		keep = false
	}
	if k.rest != nil {
		select {
		case <-k.rest:
			k.rest = nil
		default:
			keep = false
		}
	}
	if !keep || k.start < len(k.in) || b.from != nil && k.buffered.Buffered() > 0 {
		k.nc.Close()
		return
	}
	if cap(k.in) > keptBuffer {
		k.in = nil
	}
	k.c.put(k)
}
