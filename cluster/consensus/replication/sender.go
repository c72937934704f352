package replication

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"

	"github.com/trireme-dev/trireme/cluster/transport"
)

// probeTimeout bounds how long a follower may take to say whether it understands the calls of this package.
const probeTimeout = time.Second

// errOlder says that a node doesn't understand the calls of this package.
var errOlder = errors.New("cluster: the node is of an older version")

// Transport is raft's transport with pipelines of this package.
type Transport struct {
	*raft.NetworkTransport
	sender *Sender
}

// AppendEntriesPipeline opens a pipeline, raft's own one to a node that doesn't understand ours.
func (t Transport) AppendEntriesPipeline(id raft.ServerID, to raft.ServerAddress) (raft.AppendPipeline, error) {
	p, err := t.sender.open(id, to)
	if errors.Is(err, errOlder) {
		return t.NetworkTransport.AppendEntriesPipeline(id, to)
	}
	return p, err // after an error raft sends single appends, and tries again
}

// Sender holds the pipelines to this node's followers.
type Sender struct {
	Kind transport.Kind // of the calls
	// Unknown is the text with which nodes answer calls that they don't understand.
	Unknown string
	// Dial opens a connection for calls to the server at an address, once it is known which process that is.
	Dial func(addr string, timeout time.Duration) (net.Conn, error)
	// Header names this node as leader.
	Header raft.RPCHeader
	// Answered, if set, is told how long a follower took to answer an append with entries, from the moment it was sent: the network
	// both ways, and the follower's disk. It must return at once.
	Answered func(id raft.ServerID, took time.Duration)

	raft atomic.Pointer[raft.Raft]

	mu        sync.Mutex
	pipelines []*pipeline // open ones, each to another follower
}

// Over returns t with the sender's pipelines.
func (s *Sender) Over(t *raft.NetworkTransport) Transport { return Transport{t, s} }

// Started tells the sender its raft. Before that nothing is sent early.
func (s *Sender) Started(r *raft.Raft) { s.raft.Store(r) }

// open opens a pipeline to a server. The error is errOlder if the server can't have one.
func (s *Sender) open(id raft.ServerID, to raft.ServerAddress) (raft.AppendPipeline, error) {
	conn, err := s.Dial(string(to), transport.DialTimeout)
	if err != nil {
		return nil, err
	}
	c, end := transport.Single(conn)
	ctx, cancel := context.WithTimeout(context.Background(), probeTimeout)
	defer cancel()
	if _, err := c.Ask(ctx, s.Kind, nil); err != nil {
		end()
		if err.Error() == s.Unknown { // it came as text
			err = errOlder
		}
		return nil, err
	}
	p := newPipeline(s.Kind, c, func() {
		s.mu.Lock()
		s.pipelines = slices.DeleteFunc(s.pipelines, func(p *pipeline) bool { return p.conn == c })
		s.mu.Unlock()
		end()
	})
	if s.Answered != nil {
		p.answered = func(took time.Duration) { s.Answered(id, took) }
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pipelines = append(s.pipelines, p)
	return p, nil
}

// all returns the open pipelines.
func (s *Sender) all() []*pipeline {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.pipelines)
}

// Answer passes an append to this node's raft, and answers with its result. It returns only then, so that the appends of a
// connection reach raft one by one. A call without an append is the probe.
func Answer(ctx context.Context, toRaft chan<- raft.RPC, payload []byte, answer func([]byte, error)) {
	q, err := DecodeRequest(payload)
	if err != nil {
		answer(nil, err)
		return
	}
	a, err := Call(ctx, toRaft, q)
	if err != nil {
		answer(nil, err)
		return
	}
	answer(AppendResponse(nil, a.(*raft.AppendEntriesResponse)), nil)
}

// Call passes a command to this node's raft and returns its answer, or the cause of ctx's end.
func Call(ctx context.Context, toRaft chan<- raft.RPC, command any) (any, error) {
	answered := make(chan raft.RPCResponse, 1)
	select {
	case toRaft <- raft.RPC{Command: command, RespChan: answered}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	select {
	case a := <-answered:
		return a.Response, a.Error
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
