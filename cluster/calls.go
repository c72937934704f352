package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"net"
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

// Handle answers the calls of other nodes.
func (c callbacks) Handle(from transport.Hello, kind transport.Kind, payload []byte, answer func([]byte, error)) {
	n := c.n
	early := kind == callStatus || kind == callAdopt || kind == callProbe || kind == callAppend && len(payload) == 0
	switch {
	case !early && !n.running.Load():
		answer(nil, errNotRunning)
	case !early && kind != callJoin && from.Cluster != n.clusterID(): // a node that joins belongs to no cluster yet
		answer(nil, ErrOtherCluster)
	default:
		if slow := n.slowCall(from, kind, payload); slow != nil {
			go func() { answer(slow()) }()
		} else {
			n.handleAtOnce(from, kind, payload, answer)
		}
	}
}

// handleAtOnce answers the calls that take no time here.
func (n *Node) handleAtOnce(from transport.Hello, kind transport.Kind, payload []byte, answer func([]byte, error)) {
	switch kind {
	case callPropose:
		n.takeBatch(payload, answer)
	case callReadIndex:
		n.answerReadIndex(from, payload, answer)
	case callReached:
		n.answerReached(payload, answer)
	case callRemoved:
		n.hearRemoved(from)
		answer(nil, nil)
	case callUsed:
		n.hearUses(payload)
	default:
		if !n.consensus.Handle(kind, payload, answer) {
			answer(nil, errUnknownCall)
		}
	}
}

// slowCall returns the answer of a call that may take time, to be called in a goroutine; nil if the call is not one.
func (n *Node) slowCall(from transport.Hello, kind transport.Kind, payload []byte) func() ([]byte, error) {
	switch kind {
	case callStatus:
		return func() ([]byte, error) { return json.Marshal(n.self()) }
	case callAdopt:
		return decoded(payload, func(_ context.Context, a adoption) ([]byte, error) { return nil, n.adopt(a) })
	case callProbe:
		return decoded(payload, n.answerProbe)
	case callAppend:
		if len(payload) == 0 { // what raft's own connections are asked when they open
			return func() ([]byte, error) { return nil, n.admitProcess(from, transport.ForRaft) }
		}
	case callTransfer:
		return func() ([]byte, error) { return nil, n.transferTo(string(payload)) }
	case callMonitor:
		return func() ([]byte, error) { return n.answerMonitor(payload) }
	case callJoin:
		return decoded(payload, n.answerJoin)
	case callMoved:
		return decoded(payload, func(ctx context.Context, q joinRequest) ([]byte, error) { return nil, n.moved(ctx, q) })
	case callRemove, callReplace:
		return decoded(payload, func(ctx context.Context, q changeRequest) ([]byte, error) {
			return json.Marshal(answerOf(n.change(ctx, kind, q)))
		})
	case callPayloads:
		return func() ([]byte, error) { return n.findPayloads(payload) }
	case callQuarantine:
		return func() ([]byte, error) { return n.answerQuarantine(string(payload)) }
	case callHistory:
		return func() ([]byte, error) { return n.history(payload) }
	}
	return nil
}

// decoded returns a slow call that decodes its question and is answered within changeWork.
func decoded[Q any](payload []byte, answer func(context.Context, Q) ([]byte, error)) func() ([]byte, error) {
	return func() ([]byte, error) {
		var q Q
		if err := json.Unmarshal(payload, &q); err != nil {
			return nil, err
		}
		ctx, cancel := context.WithTimeout(context.Background(), changeWork)
		defer cancel()
		return answer(ctx, q)
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
	mux *transport.Mux
	*transport.Pool
}

func newRPCClient(m *transport.Mux) *rpcClient { return &rpcClient{m, transport.NewPool(m)} }

// propose sends a batch to the leader.
func (rc *rpcClient) propose(to consensus.Server, b *batch) {
	payload := b.encode()
	c, err := rc.Get(to.Addr, len(payload))
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
	c, err := rc.Get(to.Addr, 0)
	if err != nil {
		answer(readPoint{}, err)
		return
	}
	c.Call(callReadIndex, uvarint(term), func(b []byte, err error) {
		if err != nil {
			answer(readPoint{}, err)
			return
		}
		p, err := consensus.DecodePoint(b)
		answer(readPoint{Point: p}, err)
	})
}

// uvarint encodes the payload of a call that is a number.
func uvarint(v uint64) []byte {
	var w wire.Writer
	w.Uvarint(v)
	return w.B
}

// status asks who a node is and how it does.
func (rc *rpcClient) status(ctx context.Context, addr string) (peerStatus, error) {
	return decodeStatus(rc.Ask(ctx, addr, callStatus, nil))
}

// statusOf does what status does, over a connection of its own to the node called to, or, if that is empty, to any node there: raft's
// configuration may say that the address is another's.
func (rc *rpcClient) statusOf(ctx context.Context, to, addr string, timeout time.Duration) (h peerStatus, err error) {
	conn, err := rc.mux.DialNode(to, addr, transport.ForRPC, timeout)
	if err != nil {
		return h, err
	}
	c, closeConn := transport.Single(conn)
	defer closeConn()
	return askStatus(ctx, c)
}

func askStatus(ctx context.Context, c *transport.Conn) (peerStatus, error) {
	return decodeStatus(c.Ask(ctx, callStatus, nil))
}

func decodeStatus(b []byte, err error) (h peerStatus, _ error) {
	if err != nil {
		return h, err
	}
	return h, json.Unmarshal(b, &h)
}

// callbacks is a running node as its transport sees it.
type callbacks struct {
	n      *Node
	logged *transport.Reasons
}

// Hello returns this node's hello.
func (c callbacks) Hello() transport.Hello { return c.n.hello() }

// Expected returns the id of the server at an address, as raft's configuration has it.
func (c callbacks) Expected(addr string) string {
	if !c.n.running.Load() {
		return ""
	}
	s, _ := c.n.serverAt(addr)
	return s.ID
}

// Admit judges another node's hello.
func (c callbacks) Admit(h transport.Hello, what transport.Purpose) error { return c.n.admit(h, what) }

// Rejected logs whose connection was not accepted, each reason of a host now and then.
func (c callbacks) Rejected(from net.Addr, why error) {
	host, _, _ := net.SplitHostPort(from.String()) // without a port the reason alone is the key
	if c.logged.IsDue(host + why.Error()) {
		c.n.log.Warn("a connection to the cluster port is rejected", "from", from, "reason", why)
	}
}

// Peer is a node and its cluster address.
type Peer = membership.Peer

// Security is mutual TLS between nodes.
type Security = transport.Security

// Why another node rejects this one, or this one another. Their texts say what to do.
var (
	// ErrArchitecture says that two nodes run on different kinds of processor: their floating-point results may differ,
	// and so their states.
	ErrArchitecture = errors.New("all nodes of a cluster run on one processor architecture")
	// ErrLevel says that a node's binary is older than what the cluster's log asks for.
	ErrLevel = errors.New("the node's version is too old for this cluster")
	// ErrWipedDisk says that the cluster knows this node's id with another disk. A voter that forgot its vote and log must not
	// come back under its name.
	ErrWipedDisk = errors.New("the cluster knows this node id with another disk")
	// ErrOtherCluster says that the other node belongs to another cluster.
	ErrOtherCluster = errors.New("the node belongs to another cluster")
	// ErrAnotherNode says that a call was meant for another node than the one that now has that address.
	ErrAnotherNode = errors.New("another node has this address now")

	errNotRunning  = transport.ErrNotReady
	errUnknownCall = errors.New("cluster: unknown call")
)
