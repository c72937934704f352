package cluster

import (
	"context"
	"encoding/json"
	"time"

	"github.com/trireme-dev/trireme/cluster/consensus"
	"github.com/trireme-dev/trireme/cluster/transport"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// rpcClient calls other nodes.
type rpcClient struct {
	mux  *transport.Mux
	pool *transport.Pool
}

func newRPCClient(m *transport.Mux) *rpcClient {
	return &rpcClient{mux: m, pool: transport.NewPool(m)}
}

// propose sends a batch to the leader.
func (rc *rpcClient) propose(to consensus.Server, b *batch) {
	payload := b.encode()
	c, err := rc.pool.Get(to.Addr, len(payload))
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
func (rc *rpcClient) readIndex(to consensus.Server, term uint64, answer func(readPoint, error)) {
	c, err := rc.pool.Get(to.Addr, 0)
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
		p, err := consensus.DecodePoint(b)
		answer(readPoint{Point: p}, err)
	})
}

// status asks who a node is and how it does.
func (rc *rpcClient) status(ctx context.Context, addr string) (h peerStatus, err error) {
	b, err := rc.ask(ctx, addr, callStatus, nil)
	if err != nil {
		return h, err
	}
	return h, json.Unmarshal(b, &h)
}

// statusAt asks the node at an address for its identity, over a connection of its own: raft's configuration may say that the
// address is another's.
func (rc *rpcClient) statusAt(ctx context.Context, addr string) (h peerStatus, err error) {
	return rc.statusOf(ctx, "", addr, transport.DialTimeout)
}

// statusOf is statusAt for the node called to.
func (rc *rpcClient) statusOf(ctx context.Context, to, addr string, timeout time.Duration) (h peerStatus, err error) {
	conn, err := rc.mux.DialNode(to, addr, transport.ForRPC, timeout)
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

// ask is transport.Pool.Ask, for calls that may be repeated.
func (rc *rpcClient) ask(ctx context.Context, addr string, kind transport.Kind, payload []byte) ([]byte, error) {
	return rc.pool.Ask(ctx, addr, kind, payload)
}
