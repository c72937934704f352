package consensus

import (
	"io"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"github.com/trireme-dev/trireme/cluster/consensus/replication"
)

// limit bounds what the peers of a test take.
const limit = time.Minute

// voting listens on an address and grants every vote, until it is stopped as the end of its process would.
func voting(t *testing.T, addr string) (at raft.ServerAddress, stop func()) {
	t.Helper()
	peer, err := raft.NewTCPTransport(addr, nil, 3, limit, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	ended, over := make(chan struct{}), make(chan struct{})
	stop = sync.OnceFunc(func() {
		close(ended)
		select { // it takes no call any more
		case <-over:
		case <-time.After(limit):
			t.Error("the peer does not end")
		}
		peer.Close()
	})
	t.Cleanup(stop)
	go func() {
		defer close(over)
		for {
			select {
			case call := <-peer.Consumer():
				if _, is := call.Command.(*raft.RequestPreVoteRequest); is {
					call.Respond(&raft.RequestPreVoteResponse{Granted: true}, nil)
				} else {
					call.Respond(&raft.RequestVoteResponse{Granted: true}, nil)
				}
			case <-ended:
				return
			}
		}
	}()
	return peer.LocalAddr(), stop
}

// TestVotesOfRestartedPeersAreAskedAgain: the connections that raft's transport keeps to a peer are dead once the peer has
// restarted. A vote that is asked over one is asked again, so raft does not count the peer as one that refuses.
func TestVotesOfRestartedPeersAreAskedAgain(t *testing.T) {
	before := retryWithin
	retryWithin = limit // however busy the machine is
	t.Cleanup(func() { retryWithin = before })
	own, err := raft.NewTCPTransport("127.0.0.1:0", nil, 3, limit, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	candidate := &ownTransport{Transport: replication.Transport{NetworkTransport: own}}
	addr, stop := voting(t, "127.0.0.1:0")
	header := raft.RPCHeader{ProtocolVersion: raft.ProtocolVersionMax}
	for _, ask := range []func() (bool, error){
		func() (bool, error) {
			var a raft.RequestVoteResponse
			err := candidate.RequestVote("n2", addr, &raft.RequestVoteRequest{RPCHeader: header, Term: 3}, &a)
			return a.Granted, err
		},
		func() (bool, error) {
			var a raft.RequestPreVoteResponse
			err := candidate.RequestPreVote("n2", addr, &raft.RequestPreVoteRequest{RPCHeader: header, Term: 3}, &a)
			return a.Granted, err
		},
	} {
		if granted, err := ask(); err != nil || !granted {
			t.Fatalf("the peer runs: granted %v, %v", granted, err)
		}
		stop()
		_, stop = voting(t, string(addr))
		if granted, err := ask(); err != nil || !granted {
			t.Errorf("the peer has restarted: granted %v, %v, want true", granted, err)
		}
	}
}
