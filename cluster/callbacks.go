package cluster

import (
	"net"
	"time"

	"github.com/trireme-dev/trireme/cluster/membership"
	"github.com/trireme-dev/trireme/cluster/transport"
)

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
