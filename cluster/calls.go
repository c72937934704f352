package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/trireme-dev/trireme/cluster/consensus"
	"github.com/trireme-dev/trireme/cluster/membership"
	"github.com/trireme-dev/trireme/cluster/transport"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// The calls between nodes. Their numbers are part of the protocol.
const (
	callPropose     = transport.Failed + 1 + iota // a batch of requests, for the leader
	callReadIndex                                 // where a read may be served, from the leader
	callConfirm                                   // the term of the asked node, for a leader's quorum check
	callFailover                                  // consent to a campaign
	callStatus                                    // who the asked node is, before and after bootstrap
	callAdopt                                     // take part in a new cluster
	callCommitIndex                               // a commit index, told by the leader; not answered
	callTransfer                                  // hand leadership to the named node, or to any
	callMonitor                                   // the commands that the asked node's clients execute
	callReached                                   // answered when the asked node's machine has applied an index
	callJoin                                      // add the asking node, of the leader
	callMoved                                     // the asking node has another address, for the leader
	callRemove                                    // remove a node, of the leader
	callReplace                                   // have one server take another's place, of the leader
	callRemoved                                   // the asked node is no longer a server, told by the leader
	callProbe                                     // open a connection to the asking node
	callUsed                                      // keys that the telling node's clients have read, for the leader; not answered
	callPayloads                                  // payloads by their digests, of any node: those that the asked node has
	callAppend                                    // an append of the leader's raft; without one, whether the asked node takes such calls
	callHistory                                   // what the asked node has seen in its last hours, as it shows it
	callQuarantine                                // put a database into quarantine, of the leader
)

// leaderOnly reports whether only a leader answers calls of that kind.
func leaderOnly(kind transport.Kind) bool { return kind == callPropose || kind == callReadIndex }

// handle answers the calls of other nodes.
func (n *Node) handle(from transport.Hello, kind transport.Kind, payload []byte, answer func([]byte, error)) {
	switch {
	case n.handleEarly(from, kind, payload, answer):
	case !n.running.Load():
		answer(nil, errNotRunning)
	case kind == callJoin: // it comes from a node that belongs to no cluster yet
		n.answerJoin(payload, answer)
	case from.Cluster != n.clusterID():
		answer(nil, ErrOtherCluster)
	case !n.handleReplication(from, kind, payload, answer):
		n.handleMembership(from, kind, payload, answer)
	}
}

// handleEarly answers the calls that are answered also before this node runs, and reports whether it is one.
func (n *Node) handleEarly(from transport.Hello, kind transport.Kind, payload []byte, answer func([]byte, error)) bool {
	switch kind {
	case callStatus:
		go func() { answer(json.Marshal(n.self())) }()
	case callAdopt:
		go func() {
			var a adoption
			if err := json.Unmarshal(payload, &a); err != nil {
				answer(nil, err)
				return
			}
			answer(nil, n.adopt(a))
		}()
	case callProbe:
		n.answerProbe(payload, answer)
	case callAppend:
		if len(payload) > 0 {
			return false
		}
		go func() { answer(nil, n.admitProcess(from, transport.ForRaft)) }() // what raft's own connections are asked when they open
	default:
		return false
	}
	return true
}

// handleReplication answers the calls about the log and its leader, and reports whether it is one.
func (n *Node) handleReplication(from transport.Hello, kind transport.Kind, payload []byte, answer func([]byte, error)) bool {
	switch kind {
	case callPropose:
		n.takeBatch(payload, answer)
	case callReadIndex:
		n.answerReadIndex(from, payload, answer)
	case callTransfer:
		go func() { answer(nil, n.transferTo(string(payload))) }()
	default:
		return n.consensus.Handle(kind, payload, answer)
	}
	return true
}

// handleMembership answers the calls about nodes and what they serve.
func (n *Node) handleMembership(from transport.Hello, kind transport.Kind, payload []byte, answer func([]byte, error)) {
	switch kind {
	case callMonitor:
		n.answerMonitor(payload, answer)
	case callMoved:
		n.answerMoved(payload, answer)
	case callRemove, callReplace:
		n.answerChange(kind, payload, answer)
	case callRemoved:
		n.hearRemoved(from)
		answer(nil, nil)
	case callUsed:
		n.hearUses(payload)
	case callPayloads:
		go func() { answer(n.findPayloads(payload)) }()
	case callReached:
		n.answerReached(payload, answer)
	case callQuarantine:
		n.answerQuarantine(payload, answer)
	case callHistory:
		go func() { answer(n.history()) }()
	default:
		answer(nil, errUnknownCall)
	}
}

// takeBatch puts another node's batch into the next entry.
func (n *Node) takeBatch(payload []byte, answer func([]byte, error)) {
	b, err := decodeBatch(payload)
	if err != nil {
		answer(nil, err)
		return
	}
	b.answer = func(outcomes []fsm.Outcome, err error, sure bool) {
		answer(answerBatch(b, outcomes, err, sure), nil)
	}
	n.committer.add(b)
}

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

// callbacks is a running node as its transport sees it.
type callbacks struct {
	n   *Node
	log *rejectionLog
}

// Hello returns this node's hello.
func (c callbacks) Hello() transport.Hello { return c.n.hello() }

// Expected returns the id of the server at an address, as raft's configuration has it.
func (c callbacks) Expected(addr string) string { return c.n.expected(addr) }

// Admit judges another node's hello.
func (c callbacks) Admit(h transport.Hello, what transport.Purpose) error { return c.n.admit(h, what) }

// Verify asks the node that has an address which process it is.
func (c callbacks) Verify(addr string, timeout time.Duration) error {
	return c.n.verifyPeer(addr, timeout)
}

// Handle answers the calls of other nodes.
func (c callbacks) Handle(from transport.Hello, kind transport.Kind, payload []byte, answer func([]byte, error)) {
	c.n.handle(from, kind, payload, answer)
}

// Excluded stops this node for good: another one says that it was removed, or that it runs on an older copy of its data.
func (c callbacks) Excluded(why error) { c.n.excluded(why) }

// Rejected logs whose connection was not accepted.
func (c callbacks) Rejected(from net.Addr, why error) { c.log.report(from, why) }

// Peer is a node and its cluster address.
type Peer = membership.Peer

// Security is mutual TLS between nodes.
type Security = transport.Security

// rejectionLog logs the connections that are rejected: each reason of a host at most once every repeatRejection.
type rejectionLog struct {
	log *slog.Logger

	mu     sync.Mutex
	logged map[string]time.Time
}

const (
	// repeatRejection is the least time between two log lines with the same reason.
	repeatRejection = 10 * time.Second
	// maxRejections bounds the reasons that are remembered.
	maxRejections = 256
)

func (rl *rejectionLog) report(from net.Addr, why error) {
	host, _, _ := net.SplitHostPort(from.String()) // without a port the reason alone is the key
	rl.mu.Lock()
	defer rl.mu.Unlock()
	key := host + why.Error()
	if time.Since(rl.logged[key]) < repeatRejection {
		return
	}
	if len(rl.logged) >= maxRejections {
		clear(rl.logged)
	}
	rl.logged[key] = time.Now()
	rl.log.Warn("a connection to the cluster port is rejected", "from", from, "reason", why)
}

// Why another node rejects this one, or this one another. Their texts say what to do.
var (
	// ErrArchitecture says that two nodes run on different kinds of processor: their floating-point results may differ,
	// and so their states.
	ErrArchitecture = errors.New("all nodes of a cluster run on one processor architecture")
	// ErrLevel says that a node's binary is older than what the cluster's log asks for.
	ErrLevel = errors.New("the node's version is too old for this cluster")
	// ErrAnotherNode says that a call was meant for another node than the one that now has that address.
	ErrAnotherNode = errors.New("another node has this address now")

	errNotRunning  = transport.ErrNotReady
	errUnknownCall = errors.New("cluster: unknown call")
)
