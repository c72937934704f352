package cluster

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"

	"trireme/socket"
)

// A call between nodes is a frame: length, id, kind, payload. Many calls share one
// connection; answers carry the id and come in any order. The kind of an answer is
// callAnswer or callFailed, whose payload is the error's text.
const (
	frameHead = 4 + 8 + 1
	maxCall   = 64 << 20
)

// callKind says what is asked.
type callKind byte

// The calls between nodes.
const (
	callAnswer callKind = iota
	callFailed
	callPropose   // a pack of requests, for the leader
	callReadIndex // where a read may be served, from the leader
	callConfirm   // the term of the asked node, for a leader's read fence
	callHint      // consent to a campaign
	callHello     // who the asked node is, before and after bootstrap
	callAdopt     // take part in a new cluster
	callCommitted // a commit index, told by the leader; not answered
	callTransfer  // hand leadership to the named node, or to any
	callMonitor   // what the asked node's doors execute
	callReached   // answered when the asked node's machine has applied an index
	callJoin      // take the asking node in, of the leader
	callMoved     // the asking node has another address, for the leader
	callRemove    // take a node out, of the leader
	callReplace   // have one server take another's place, of the leader
	callGone      // the asked node is no longer a server, told by the leader
	callProbe     // open a connection to the asking node
)

var errCallTooLarge = errors.New("cluster: call is too large")

// link is a connection that carries calls, in one direction: one side asks.
type link struct {
	c   net.Conn
	end chan struct{}

	out outbox

	mu      sync.Mutex
	next    uint64
	waiting map[uint64]waiter
	err     error
}

// waiter is a call without an answer yet.
type waiter struct {
	kind   callKind
	answer func([]byte, error)
}

func newLink(c net.Conn) *link {
	l := &link{c: c, end: make(chan struct{}), waiting: map[uint64]waiter{}}
	l.out = outbox{c: c, try: socket.Trier(c), failed: l.close, patience: writeTime}
	return l
}

// send hands a frame to the other side and does not wait for it.
func (l *link) send(id uint64, kind callKind, payload []byte) { l.out.put(id, kind, payload) }

func readFrame(r *bufio.Reader) (id uint64, kind callKind, payload []byte, err error) {
	var head [frameHead]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, 0, nil, err
	}
	n := binary.LittleEndian.Uint32(head[:])
	if n > maxCall {
		return 0, 0, nil, errCallTooLarge
	}
	payload = make([]byte, n)
	_, err = io.ReadFull(r, payload)
	return binary.LittleEndian.Uint64(head[4:]), callKind(head[12]), payload, err
}

// close ends the link and fails every call that waits.
func (l *link) close(err error) {
	l.mu.Lock()
	if l.err != nil {
		l.mu.Unlock()
		return
	}
	l.err = fmt.Errorf("cluster: link ended: %w", err)
	waiting := l.waiting
	l.waiting = nil
	l.mu.Unlock()
	close(l.end)
	l.c.Close()
	for _, w := range waiting {
		w.answer(nil, l.err)
	}
}

// abandon fails the calls of a kind that only a leader answers. The link stays: its
// answers, should they still come, are not heard.
func (l *link) abandon(err error) {
	var left []waiter
	l.mu.Lock()
	for id, w := range l.waiting { // unordered: each is told alone
		if w.kind == callPropose || w.kind == callReadIndex {
			left = append(left, w)
			delete(l.waiting, id)
		}
	}
	l.mu.Unlock()
	for _, w := range left {
		w.answer(nil, err)
	}
}

// call asks and has answer called once, with the reply or an error, from the
// link's own goroutine: it must not block. sent is false if the call certainly
// never left this node.
func (l *link) call(kind callKind, payload []byte, answer func([]byte, error)) (sent bool) {
	if len(payload) > maxCall {
		answer(nil, errCallTooLarge)
		return false
	}
	l.mu.Lock()
	if l.err != nil {
		err := l.err
		l.mu.Unlock()
		answer(nil, err)
		return false
	}
	l.next++
	id := l.next
	l.waiting[id] = waiter{kind, answer}
	l.mu.Unlock()
	l.send(id, kind, payload) // if the link ends meanwhile, close answers
	return true
}

// tell sends what needs no answer, and is worth nothing when something newer follows: to a
// side that takes nothing it is not sent at all.
func (l *link) tell(kind callKind, payload []byte) {
	if !l.ended() && !l.out.stuck() {
		l.send(0, kind, payload)
	}
}

// ask is call for callers that wait.
func (l *link) ask(ctx context.Context, kind callKind, payload []byte) ([]byte, error) {
	type result struct {
		b   []byte
		err error
	}
	done := make(chan result, 1)
	l.call(kind, payload, func(b []byte, err error) { done <- result{b, err} })
	select {
	case r := <-done:
		return r.b, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// readAnswers runs on the asking side.
func (l *link) readAnswers() {
	defer l.out.finish()
	r := bufio.NewReaderSize(l.c, 64<<10)
	for {
		id, kind, payload, err := readFrame(r)
		if err != nil {
			l.close(err)
			return
		}
		l.mu.Lock()
		w, waits := l.waiting[id]
		delete(l.waiting, id)
		l.mu.Unlock()
		if !waits {
			continue
		}
		f := w.answer
		if kind == callFailed {
			f(nil, errors.New(string(payload)))
		} else {
			f(payload, nil)
		}
	}
}

// handler answers a call by calling answer once, now or later. It must not block
// the link: what takes time runs elsewhere.
type handler func(from greeting, kind callKind, payload []byte, answer func([]byte, error))

// serveLink runs on the answering side until the connection ends.
func serveLink(c net.Conn, from greeting, handle handler) {
	l := newLink(c)
	defer l.out.finish()
	r := bufio.NewReaderSize(c, 64<<10)
	for {
		id, kind, payload, err := readFrame(r)
		if err != nil {
			l.close(err)
			return
		}
		handle(from, kind, payload, func(b []byte, err error) {
			k := callAnswer
			if err != nil {
				k, b = callFailed, []byte(err.Error())
			}
			l.send(id, k, b)
		})
	}
}

// links keeps one link to each node it was asked for.
type links struct {
	p  *port
	mu sync.Mutex
	by map[string]*link
	wg sync.WaitGroup
	no bool // closed
}

func newLinks(p *port) *links { return &links{p: p, by: map[string]*link{}} }

// to is the link to the node at addr, dialed if there is none.
func (s *links) to(addr string) (*link, error) {
	s.mu.Lock()
	l := s.by[addr]
	s.mu.Unlock()
	if l != nil {
		select {
		case <-l.end:
		default:
			return l, nil
		}
	}
	c, err := s.p.dial(addr, forPeer, dialTime)
	if err != nil {
		return nil, err
	}
	l = newLink(c)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.no {
		c.Close()
		return nil, net.ErrClosed
	}
	if old := s.by[addr]; old != nil {
		select {
		case <-old.end:
		default: // another call was quicker
			c.Close()
			return old, nil
		}
	}
	s.by[addr] = l
	s.wg.Go(l.readAnswers)
	return l, nil
}

// peek is the link to addr if one is open already.
func (s *links) peek(addr string) *link {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.by[addr]
}

// abandonBut fails what only a leader answers on all links but the one to the leader
// at addr.
func (s *links) abandonBut(addr string, err error) {
	s.mu.Lock()
	others := make([]*link, 0, len(s.by))
	for to, l := range s.by { // unordered: each is treated alike
		if to != addr {
			others = append(others, l)
		}
	}
	s.mu.Unlock()
	for _, l := range others {
		l.abandon(err)
	}
}

// reset ends all links, so that the next calls open new ones with a new greeting.
func (s *links) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for addr, l := range s.by { // unordered: all are ended
		l.close(net.ErrClosed)
		delete(s.by, addr)
	}
}

// close ends all links.
func (s *links) close() {
	s.mu.Lock()
	s.no = true
	for _, l := range s.by {
		l.close(net.ErrClosed)
	}
	s.mu.Unlock()
	s.wg.Wait()
}
