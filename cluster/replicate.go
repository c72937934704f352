package cluster

import (
	"github.com/hashicorp/raft"

	"github.com/trireme-dev/trireme/cluster/replication"
)

// newSender carries this node's entries to its followers while it leads.
func (n *Node) newSender(id raft.ServerID) *replication.Sender {
	addr := n.transport.EncodePeer(id, n.transport.LocalAddr())
	header := raft.RPCHeader{ProtocolVersion: raft.ProtocolVersionMax, ID: []byte(id), Addr: addr}
	return &replication.Sender{
		Kind: callAppend, Unknown: errUnknownCall.Error(), Dial: n.mux.DialAppends, Header: func() raft.RPCHeader { return header },
	}
}
