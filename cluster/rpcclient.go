package cluster

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/trireme-dev/trireme/cluster/failover"
	"github.com/trireme-dev/trireme/cluster/transport"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// peerAddr is a node and its cluster address.
type peerAddr struct{ id, addr string }

// rpcClient calls other nodes.
type rpcClient struct {
	mux  *transport.Mux
	pool *transport.Pool

	mu   sync.Mutex
	slow map[string]time.Time // nodes that answered a quorum check late, until when they are asked last
}

func newRPCClient(m *transport.Mux) *rpcClient {
	return &rpcClient{mux: m, pool: transport.NewPool(m), slow: map[string]time.Time{}}
}

// propose sends a batch to the leader.
func (s *rpcClient) propose(to peerAddr, b *batch) {
	payload := b.encode()
	c, err := s.pool.Get(to.addr, len(payload))
	if err != nil {
		b.answer(nil, err, true) // not a byte was written
		return
	}
	c.Call(callPropose, payload, func(answer []byte, err error) {
		if err != nil {
			b.answer(nil, err, false)
			return
		}
		b.answer(readBatchAnswer(b, answer))
	})
}

// readIndex asks the leader for a read point, and says in which term this node is.
func (s *rpcClient) readIndex(to peerAddr, term uint64, answer func(readPoint, error)) {
	c, err := s.pool.Get(to.addr, 0)
	if err != nil {
		answer(readPoint{}, err)
		return
	}
	var w wire.Writer
	w.Uvarint(term)
	c.Call(callReadIndex, w.B, func(b []byte, err error) {
		if err != nil {
			answer(readPoint{}, err)
			return
		}
		answer(decodePoint(b))
	})
}

// confirm asks a voter for its term and calls answer with whether it is term.
func (s *rpcClient) confirm(to peerAddr, term uint64, answer func(bool)) {
	ask := func() {
		c, err := s.pool.Get(to.addr, 0)
		if err != nil {
			answer(false)
			return
		}
		c.Call(callConfirm, nil, func(b []byte, err error) {
			r := wire.NewReader(b)
			answer(err == nil && r.Uvarint() == term)
		})
	}
	if s.pool.Open(to.addr) != nil {
		ask()
	} else {
		go ask() // a dial may take its time, and another voter may do
	}
}

// markSlow has voters asked last for a while.
func (s *rpcClient) markSlow(slow []peerAddr) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range slow {
		s.slow[p.id] = time.Now().Add(time.Second)
	}
}

func (s *rpcClient) isSlow(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	until, ok := s.slow[id]
	return ok && time.Now().Before(until)
}

// failover carries the question of a node that found the leader dead.
func (s *rpcClient) failover(addr string, q failover.Ask) (a failover.Answer, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	b, err := json.Marshal(q)
	if err != nil {
		return a, err
	}
	b, err = s.ask(ctx, addr, callFailover, b)
	if err != nil {
		return a, err
	}
	return a, json.Unmarshal(b, &a)
}

// status asks who a node is and how it does.
func (s *rpcClient) status(ctx context.Context, addr string) (h peerStatus, err error) {
	b, err := s.ask(ctx, addr, callStatus, nil)
	if err != nil {
		return h, err
	}
	return h, json.Unmarshal(b, &h)
}

// statusAt asks the node at an address for its identity, over a connection of its own: raft's configuration may say that the
// address is another's.
func (s *rpcClient) statusAt(ctx context.Context, addr string) (h peerStatus, err error) {
	return s.statusOf(ctx, "", addr, transport.DialTimeout)
}

// statusOf is statusAt for the node called to.
func (s *rpcClient) statusOf(ctx context.Context, to, addr string, timeout time.Duration) (h peerStatus, err error) {
	conn, err := s.mux.DialNode(to, addr, transport.ForRPC, timeout)
	if err != nil {
		return h, err
	}
	c, closeConn := transport.Single(conn)
	defer closeConn()
	return askStatus(ctx, c)
}

func askStatus(ctx context.Context, c *transport.Conn) (h peerStatus, err error) {
	b, err := c.Ask(ctx, callStatus, nil)
	if err != nil {
		return h, err
	}
	return h, json.Unmarshal(b, &h)
}

// ask is transport.Pool.Ask: for calls that may be repeated.
func (s *rpcClient) ask(ctx context.Context, addr string, kind transport.Kind, payload []byte) ([]byte, error) {
	return s.pool.Ask(ctx, addr, kind, payload)
}
