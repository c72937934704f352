package cluster

import (
	"time"

	"github.com/hashicorp/raft"

	"github.com/trireme-dev/trireme/cluster/replication"
)

// newTransport is raft's own transport over the cluster port.
func (n *Node) newTransport() *raft.NetworkTransport {
	return raft.NewNetworkTransportWithConfig(&raft.NetworkTransportConfig{
		Stream: n.mux, MaxPool: 3, Timeout: 10 * time.Second, Logger: n.opts.RaftLog, MaxRPCsInFlight: 4,
	})
}

// newSender carries this node's entries to its followers while it leads.
func (n *Node) newSender(id raft.ServerID) *replication.Sender {
	addr := n.transport.EncodePeer(id, n.transport.LocalAddr())
	header := raft.RPCHeader{ProtocolVersion: raft.ProtocolVersionMax, ID: []byte(id), Addr: addr}
	return &replication.Sender{
		Kind: callAppend, Unknown: errUnknownCall.Error(), Dial: n.mux.DialAppends, Header: func() raft.RPCHeader { return header },
	}
}
