package failover

import (
	"errors"
	"syscall"
	"time"

	"github.com/hashicorp/raft"
)

// Transport is a NetworkTransport that asks a second time for a vote when the
// first request failed. NetworkTransport pools connections and does not look
// whether one is still open: the first vote asked of a peer that restarted since
// fails at once, raft counts it as refused, and with two of three nodes left the
// candidate then waits a whole election timeout. The same request for the same
// term may be repeated: the peer grants it again.
//
// The concrete type is embedded on purpose: behind the plain interface raft
// would not find the pre-vote.
type Transport struct{ *raft.NetworkTransport }

// RequestVote asks up to four times: the pool may hold three dead connections.
func (t Transport) RequestVote(id raft.ServerID, to raft.ServerAddress, q *raft.RequestVoteRequest, a *raft.RequestVoteResponse) error {
	return again(func() error { return t.NetworkTransport.RequestVote(id, to, q, a) })
}

// RequestPreVote does the same for the pre-vote.
func (t Transport) RequestPreVote(id raft.ServerID, to raft.ServerAddress, q *raft.RequestPreVoteRequest, a *raft.RequestPreVoteResponse) error {
	return again(func() error { return t.NetworkTransport.RequestPreVote(id, to, q, a) })
}

// retryWithin bounds the time in which a vote is asked again: a dead connection fails at once, and a lost host is not asked again. Tests
// change it.
var retryWithin = 100 * time.Millisecond

func again(f func() error) (err error) {
	begin := time.Now()
	for range 4 {
		if err = f(); err == nil || errors.Is(err, syscall.ECONNREFUSED) || time.Since(begin) > retryWithin {
			return err
		}
	}
	return err
}
