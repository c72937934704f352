package consensus

import (
	"context"
	"net"
	"time"

	"github.com/hashicorp/raft"

	"github.com/trireme-dev/trireme/cluster/consensus/failover"
	"github.com/trireme-dev/trireme/cluster/consensus/replication"
	"github.com/trireme-dev/trireme/cluster/transport"
)

// raftTimeout bounds a call of raft's own transport.
const raftTimeout = 10 * time.Second

// ownTransport is raft's transport over the cluster port. The library sends votes, heartbeats, snapshots and the appends
// to a follower that has to catch up; package replication provides the pipelines.
//
// It owns the channel from which raft takes calls, so that this node can make some itself: the appends that come as calls,
// a commit index that was pushed, a campaign. The channel of the library's transport is closed to others. That transport
// is embedded as its concrete type: behind the plain interface raft would not find the pre-vote.
type ownTransport struct {
	replication.Transport
	sender *replication.Sender
	toRaft chan raft.RPC
}

func newTransport(c Config) *ownTransport {
	network := raft.NewNetworkTransportWithConfig(&raft.NetworkTransportConfig{
		Stream: stream{c.Mux}, MaxPool: 3, Timeout: raftTimeout, Logger: c.RaftLog, MaxRPCsInFlight: 4,
	})
	sender := newSender(c)
	return &ownTransport{
		Transport: sender.Over(failover.Transport{NetworkTransport: network}), sender: sender, toRaft: make(chan raft.RPC),
	}
}

// Consumer returns the channel of calls to this node's raft.
func (t *ownTransport) Consumer() <-chan raft.RPC { return t.toRaft }

// forward passes on the calls that other nodes make of the library's transport, until ctx ends.
func (t *ownTransport) forward(ctx context.Context) {
	for {
		select {
		case call := <-t.NetworkTransport.Consumer():
			select {
			case t.toRaft <- call:
			case <-ctx.Done():
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// stream opens the connections of the library's transport over the cluster port.
type stream struct{ *transport.Mux }

// Dial opens a connection to the server at an address.
func (s stream) Dial(addr raft.ServerAddress, timeout time.Duration) (net.Conn, error) {
	return s.DialRaft(string(addr), timeout)
}
