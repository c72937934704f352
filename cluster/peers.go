package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"sync"
	"time"

	"trireme/cluster/hint"
	"trireme/fsm/wire"
)

// peerAddr is a node and its cluster address.
type peerAddr struct{ id, addr string }

// peers asks other nodes.
type peers struct {
	links *links

	mu   sync.Mutex
	slow map[string]time.Time // nodes that let a fence wait, until when they are asked last
}

func newPeers(p *port) *peers { return &peers{links: newLinks(p), slow: map[string]time.Time{}} }

// propose sends a pack to the leader.
func (s *peers) propose(to peerAddr, k *pack) {
	l, err := s.links.to(to.addr)
	if err != nil {
		k.answer(nil, err, true) // not a byte was written
		return
	}
	l.call(callPropose, k.encode(), func(b []byte, err error) {
		if err != nil {
			k.answer(nil, err, false)
			return
		}
		k.answer(readPackAnswer(k, b))
	})
}

// readIndex asks the leader for a read point.
func (s *peers) readIndex(to peerAddr, answer func(readPoint, error)) {
	l, err := s.links.to(to.addr)
	if err != nil {
		answer(readPoint{}, err)
		return
	}
	l.call(callReadIndex, nil, func(b []byte, err error) {
		if err != nil {
			answer(readPoint{}, err)
			return
		}
		answer(decodePoint(b))
	})
}

// confirm asks a voter for its term and says whether it is term.
func (s *peers) confirm(to peerAddr, term uint64, answer func(bool)) {
	ask := func() {
		l, err := s.links.to(to.addr)
		if err != nil {
			answer(false)
			return
		}
		l.call(callConfirm, nil, func(b []byte, err error) {
			r := wire.NewReader(b)
			answer(err == nil && r.Uvarint() == term)
		})
	}
	if l := s.links.peek(to.addr); l != nil && !l.ended() {
		ask()
	} else {
		go ask() // a dial may take its time, and another voter may do
	}
}

// prefer has the named voters asked last for a while.
func (s *peers) prefer(slow []peerAddr) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range slow {
		s.slow[p.id] = time.Now().Add(time.Second)
	}
}

func (s *peers) isSlow(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	until, ok := s.slow[id]
	return ok && time.Now().Before(until)
}

// hint carries the question of a node that found the leader gone.
func (s *peers) hint(addr string, q hint.Ask) (a hint.Answer, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	b, err := json.Marshal(q)
	if err != nil {
		return a, err
	}
	b, err = s.ask(ctx, addr, callHint, b)
	if err != nil {
		return a, err
	}
	return a, json.Unmarshal(b, &a)
}

// hello asks who a node is and how it does.
func (s *peers) hello(ctx context.Context, addr string) (h hello, err error) {
	b, err := s.ask(ctx, addr, callHello, nil)
	if err != nil {
		return h, err
	}
	return h, json.Unmarshal(b, &h)
}

// meet asks whoever has an address who it is, over a connection of its own: raft's
// configuration may say that the address is another's.
func (s *peers) meet(ctx context.Context, addr string) (h hello, err error) {
	return s.visit(ctx, "", addr, dialTime)
}

// visit is meet for the node called to, or, if that is empty, for whoever has the address.
func (s *peers) visit(ctx context.Context, to, addr string, timeout time.Duration) (h hello, err error) {
	c, err := s.links.p.dialNode(to, addr, forPeer, timeout)
	if err != nil {
		return h, err
	}
	l := newLink(c)
	var reading sync.WaitGroup
	reading.Go(l.readAnswers)
	defer reading.Wait()
	defer l.close(net.ErrClosed)
	b, err := l.ask(ctx, callHello, nil)
	if err != nil {
		return h, err
	}
	return h, json.Unmarshal(b, &h)
}

// ask dials if need be and waits for the answer. A link that has died since it was
// used last is dialed anew once: these calls may be repeated.
func (s *peers) ask(ctx context.Context, addr string, kind callKind, payload []byte) (b []byte, err error) {
	for range 2 {
		l, err := s.links.to(addr)
		if err != nil {
			return nil, err
		}
		if b, err = l.ask(ctx, kind, payload); err == nil || ctx.Err() != nil || !l.ended() {
			return b, err
		}
	}
	return nil, errors.Join(err, errLinkEnded)
}

var errLinkEnded = errors.New("cluster: connection to the node ended twice")

// ended tells whether the connection is gone.
func (l *link) ended() bool {
	select {
	case <-l.end:
		return true
	default:
		return false
	}
}

// hello is what a node says of itself.
type hello struct {
	Node, Disk, Cluster string
	// Processes are those that the node's disk has had, the last one the one that answers.
	Processes []started
	// Phase is how far the node is on its way into a cluster.
	Phase phase
	// List is the static list the node was started with, as one text.
	List string
	// Disks are the disk ids of the founders, once adopted.
	Disks map[string]string
	// HTTP and Gossip are addresses, Version and Level those of the binary.
	HTTP, Gossip, Version string
	Level                 uint32
	// Arch is the processor architecture.
	Arch string
	// Servers are those of raft's configuration, as this node has it.
	Servers []Peer
	// Drained says that the node leaves the cluster, and has finished what it did for
	// clients.
	Drained bool
	// Applied, Term, State and ContactMs are raft's, as this node sees them; Wall is its
	// clock in unix milliseconds.
	Applied, Term uint64
	State         string
	ContactMs     int64
	Wall          int64
}

// phase is how far a node is on its way into a cluster.
type phase int

// The phases: nothing on the disk; the cluster's id on the disk; raft runs.
const (
	phaseEmpty phase = iota
	phaseAdopted
	phaseStarted
)
