package transport

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"

	"github.com/trireme-dev/trireme/internal/socket"
)

// A call between nodes is a frame: length, id, kind, payload. Many calls share one connection; answers carry the id and
// come in any order. The kind of an answer is Answer, or Failed with the error's text as payload.
const (
	frameHead = 4 + 8 + 1
	maxCall   = 64 << 20
)

// Kind says what is asked. The calling package defines the kinds above Failed.
type Kind byte

// The kinds of answers.
const (
	Answer Kind = iota
	Failed
)

var errCallTooLarge = fmt.Errorf("cluster: a call has more than %d bytes", maxCall)

// Conn is a connection that carries calls in one direction: one side asks.
type Conn struct {
	conn net.Conn
	end  chan struct{}

	out sendBuffer

	mu      sync.Mutex
	next    uint64
	pending map[uint64]pendingCall
	err     error
}

// pendingCall is a call without an answer yet.
type pendingCall struct {
	kind   Kind
	answer func([]byte, error)
}

func newConn(conn net.Conn) *Conn {
	c := &Conn{conn: conn, end: make(chan struct{}), pending: map[uint64]pendingCall{}}
	c.out = sendBuffer{conn: conn, write: socket.TryWrite(conn), failed: c.close, timeout: writeTimeout}
	return c
}

func readFrame(r *bufio.Reader) (id uint64, kind Kind, payload []byte, err error) {
	var head [frameHead]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, 0, nil, err
	}
	n := binary.LittleEndian.Uint32(head[:])
	if n > maxCall {
		return 0, 0, nil, errCallTooLarge
	}
	payload, err = readPayload(r, int(n))
	return binary.LittleEndian.Uint64(head[4:]), Kind(head[12]), payload, err
}

// payloadStep is the size up to which a payload is allocated before it has come.
const payloadStep = 1 << 20

// readPayload reads n bytes. A long payload gets all its room once payloadStep of it has come: a length alone takes no memory.
func readPayload(r io.Reader, n int) ([]byte, error) {
	b := make([]byte, 0, min(n, payloadStep))
	for len(b) < n {
		if len(b) == cap(b) {
			b = append(make([]byte, 0, n), b...)
		}
		got, err := io.ReadFull(r, b[len(b):cap(b)])
		if b = b[:len(b)+got]; err != nil {
			return b, err
		}
	}
	return b, nil
}

// close ends the connection and fails every pending call.
func (c *Conn) close(err error) {
	c.mu.Lock()
	if c.err != nil {
		c.mu.Unlock()
		return
	}
	c.err = fmt.Errorf("cluster: connection ended: %w", err)
	pending := c.pending
	c.pending = nil
	c.mu.Unlock()
	close(c.end)
	c.conn.Close()
	for _, w := range pending {
		w.answer(nil, c.err)
	}
}

// Abandon fails the pending calls of the kinds that match. The connection stays open; answers that still come are
// dropped.
func (c *Conn) Abandon(err error, matches func(Kind) bool) {
	var given []pendingCall
	c.mu.Lock()
	for id, w := range c.pending { // unordered: each is answered alone
		if matches(w.kind) {
			given = append(given, w)
			delete(c.pending, id)
		}
	}
	c.mu.Unlock()
	for _, w := range given {
		w.answer(nil, err)
	}
}

// Call asks and has answer called once, with the reply or an error, from the connection's own goroutine: it must not
// block. sent is false if the call certainly never left this node. The payload, like those of Tell and Ask, must not be changed afterwards.
func (c *Conn) Call(kind Kind, payload []byte, answer func([]byte, error)) (sent bool) {
	if len(payload) > maxCall {
		answer(nil, errCallTooLarge)
		return false
	}
	c.mu.Lock()
	if c.err != nil {
		err := c.err
		c.mu.Unlock()
		answer(nil, err)
		return false
	}
	c.next++
	id := c.next
	c.pending[id] = pendingCall{kind, answer}
	c.mu.Unlock()
	c.out.put(id, kind, payload) // if the connection ends meanwhile, close answers
	return true
}

// Tell sends what needs no answer and is superseded by the next call of its kind. It is dropped if the other side is
// not reading.
func (c *Conn) Tell(kind Kind, payload []byte) {
	if !c.Ended() && !c.out.full() {
		c.out.put(0, kind, payload)
	}
}

// Ask calls and waits for the answer.
func (c *Conn) Ask(ctx context.Context, kind Kind, payload []byte) ([]byte, error) {
	type result struct {
		b   []byte
		err error
	}
	done := make(chan result, 1)
	c.Call(kind, payload, func(b []byte, err error) { done <- result{b, err} })
	select {
	case r := <-done:
		return r.b, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// readAnswers runs on the asking side.
func (c *Conn) readAnswers() {
	defer c.out.finish()
	r := bufio.NewReaderSize(c.conn, 64<<10)
	for {
		id, kind, payload, err := readFrame(r)
		if err != nil {
			c.close(err)
			return
		}
		c.mu.Lock()
		w, waits := c.pending[id]
		delete(c.pending, id)
		c.mu.Unlock()
		if !waits {
			continue
		}
		f := w.answer
		if kind == Failed {
			f(nil, errors.New(string(payload)))
		} else {
			f(payload, nil)
		}
	}
}

// serve runs on the answering side until the connection ends.
func serve(conn net.Conn, from Hello, node Callbacks) {
	c := newConn(conn)
	defer c.out.finish()
	r := bufio.NewReaderSize(conn, 64<<10)
	for {
		id, kind, payload, err := readFrame(r)
		if err != nil {
			c.close(err)
			return
		}
		node.Handle(from, kind, payload, func(b []byte, err error) {
			k := Answer
			if err != nil {
				k, b = Failed, []byte(err.Error())
			}
			c.out.put(id, k, b)
		})
	}
}

// Ended reports whether the connection is closed.
func (c *Conn) Ended() bool {
	select {
	case <-c.end:
		return true
	default:
		return false
	}
}

// Single returns a connection of its own, for a few calls; close must be called.
func Single(conn net.Conn) (c *Conn, close func()) {
	c = newConn(conn)
	var reading sync.WaitGroup
	reading.Go(c.readAnswers)
	return c, func() {
		c.close(net.ErrClosed)
		reading.Wait()
	}
}
