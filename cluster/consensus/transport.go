package consensus

import (
	"context"
	"errors"
	"net"
	"syscall"
	"time"

	"github.com/hashicorp/raft"

	"github.com/trireme-dev/trireme/cluster/consensus/replication"
	"github.com/trireme-dev/trireme/cluster/transport"
)

// raftTimeout bounds a call of raft's own transport.
const raftTimeout = 10 * time.Second

// retryWithin bounds the time in which a vote is asked again: a dead connection fails at once, and a lost host is not asked
// again. Tests change it.
var retryWithin = 100 * time.Millisecond

// ownTransport is raft's transport over the cluster port. The library sends votes, heartbeats, snapshots and the appends
// to a follower that has to catch up; package replication provides the pipelines.
//
// It owns the channel from which raft takes calls, so that this node can make some itself: the appends that come as calls,
// a commit index that was pushed, a campaign. The channel of the library's transport is closed to others. That transport
// is embedded as its concrete type: behind the plain interface raft would not find the pre-vote.
type ownTransport struct {
	replication.Transport
	sender  *replication.Sender
	toRaft  chan raft.RPC
	machine StateMachine
}

func newTransport(c Config) *ownTransport {
	network := raft.NewNetworkTransportWithConfig(&raft.NetworkTransportConfig{
		Stream: stream{c.Mux}, MaxPool: 3, Timeout: raftTimeout, Logger: c.RaftLog, MaxRPCsInFlight: 4,
	})
	sender := &replication.Sender{
		Kind: c.Calls.Append, Unknown: c.Calls.Unknown, Dial: c.Mux.DialAppends, Header: header(c.ID, c.Mux.Addr().String()),
	}
	if c.Answered != nil {
		sender.Answered = func(id raft.ServerID, took time.Duration) { c.Answered(string(id), took) }
	}
	return &ownTransport{Transport: sender.Over(network), sender: sender, toRaft: make(chan raft.RPC), machine: c.Machine}
}

// header names a server as the one that makes a call.
func header(id, addr string) raft.RPCHeader {
	return raft.RPCHeader{ProtocolVersion: raft.ProtocolVersionMax, ID: []byte(id), Addr: []byte(addr)}
}

// Consumer returns the channel of calls to this node's raft.
func (t *ownTransport) Consumer() <-chan raft.RPC { return t.toRaft }

// RequestVote asks for a vote.
func (t *ownTransport) RequestVote(id raft.ServerID, to raft.ServerAddress, q *raft.RequestVoteRequest, a *raft.RequestVoteResponse) error {
	return again(func() error { return t.NetworkTransport.RequestVote(id, to, q, a) })
}

// RequestPreVote asks for a pre-vote.
func (t *ownTransport) RequestPreVote(id raft.ServerID, to raft.ServerAddress, q *raft.RequestPreVoteRequest, a *raft.RequestPreVoteResponse) error {
	return again(func() error { return t.NetworkTransport.RequestPreVote(id, to, q, a) })
}

// again asks for a vote up to four times. The library pools three connections to a peer and does not look whether they are open:
// the first votes asked of a peer that restarted since fail at once, raft counts them as refused, and with two of three nodes
// left the candidate waits a whole election timeout. The peer grants the same request of the same term again.
func again(ask func() error) (err error) {
	begin := time.Now()
	for range 4 {
		if err = ask(); err == nil || errors.Is(err, syscall.ECONNREFUSED) || time.Since(begin) > retryWithin {
			return err
		}
	}
	return err
}

// forward passes on the calls that other nodes make of the library's transport, until ctx ends.
func (t *ownTransport) forward(ctx context.Context) {
	for {
		select {
		case call := <-t.NetworkTransport.Consumer():
			if q, is := call.Command.(*raft.InstallSnapshotRequest); is {
				from := append(serversOf(raft.DecodeConfiguration(q.Configuration)), Server{ID: string(q.ID), Addr: string(q.Addr), Voter: true})
				call.Reader = t.machine.Receive(from, call.Reader)
			}
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

// Handle answers a call that another node's Replica has made, and reports whether it is one.
func (r *Replica) Handle(kind transport.Kind, payload []byte, answer func([]byte, error)) bool {
	switch kind {
	case r.c.Calls.Append:
		replication.Answer(r.c.Mux.Context(), r.transport.toRaft, payload, answer)
	case r.c.Calls.Confirm:
		r.answerTerm(answer)
	case r.c.Calls.CommitIndex:
		if p, err := DecodePoint(payload); err == nil {
			r.LearnCommitIndex(p)
		}
	case r.c.Calls.Campaign:
		go r.answerConsent(payload, answer)
	default:
		return false
	}
	return true
}
