package consensus

import (
	"errors"
	"time"

	"github.com/hashicorp/raft"

	"github.com/trireme-dev/trireme/cluster/transport"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// Consensus is one node's part in a replicated log. A node has a Replica; its tests put others in its place.
type Consensus interface {
	// Propose hands the leader's raft an entry. Other nodes' proposals fail.
	Propose(data []byte) Proposal

	// CommitPoint returns the commit index of this node, which is in term.
	CommitPoint(term uint64) Point
	// Confirm calls end without an error once a majority of the voters, asked after the call, has said that it is still in
	// term, and this node leads it.
	Confirm(term uint64, end func(error))
	// PushCommitIndex tells the followers of term the commit index now.
	PushCommitIndex(term uint64)
	// LearnCommitIndex passes on to this follower's raft what the leader has said of its commit index.
	LearnCommitIndex(p Point)

	// Term returns the newest term that this node knows.
	Term() uint64
	// Role returns what this node is in that term.
	Role() Role
	// Leader returns the server that this node follows, or itself. It returns false if this node knows of no leader.
	Leader() (Server, bool)
	// LeadershipChanges delivers a value after this node has won or lost a term. Its reader must not stop.
	LeadershipChanges() <-chan bool
	// LastContact returns when this node heard from a leader last, the zero time if it never did.
	LastContact() time.Time
	// LastIndex returns the index of the last entry in this node's log.
	LastIndex() uint64

	// Servers returns the newest configuration in this node's log, committed or not.
	Servers() []Server
	// Voters returns the other voters, slow ones last, and how many of them make a majority with this node.
	Voters() (others []Server, needed int)
	// SetServer adds a server, or changes its address or its vote. It returns the index of the change once that is committed.
	SetServer(s Server) (index uint64, err error)
	// RemoveServer removes a server. It returns the index of the change once that is committed.
	RemoveServer(id string) (index uint64, err error)
	// Transfer hands leadership to a voter that has, or soon has, the whole log.
	Transfer(to Server) error

	// Snapshot writes a snapshot of the state machine and keeps that many entries behind it, or as many as before
	// if keep is 0. It does nothing before the first entry was applied.
	Snapshot(keep uint64) error

	// Handle answers a call that another node's Consensus has made, and reports whether it is one.
	Handle(kind transport.Kind, payload []byte, answer func([]byte, error)) bool
	// Close ends the node's part. Proposals that are still queued are not answered.
	Close() error
}

// Server is a node that takes part in the log.
type Server struct {
	ID, Addr string
	Voter    bool
}

// Suffrage returns "voter" or "nonvoter".
func (s Server) Suffrage() string {
	if s.Voter {
		return "voter"
	}
	return "nonvoter"
}

// A Role is a node's part in its term.
type Role uint8

// The roles. A node that has been shut down, or removed, has the last one.
const (
	Follower Role = iota
	Candidate
	Leader
	Shutdown
)

// String returns the name of the role in lower case.
func (r Role) String() string {
	return [...]string{"follower", "candidate", "leader", "shutdown"}[min(r, Shutdown)]
}

// Point is a commit index, and the time at which to read there.
type Point struct {
	Index uint64
	// Now and Wall are cluster time and wall time in unix milliseconds; 0 if the point is for no read.
	Now, Wall int64
	// EntryTerm is the term of the entry at Index, Term that of the leader who said so. Both are 0 if the entry is not in
	// the leader's log any more.
	EntryTerm, Term uint64
}

// Encode returns the format of a point between nodes.
func (p Point) Encode() []byte {
	var w wire.Writer
	w.Uvarint(p.Index)
	w.Varint(p.Now)
	w.Uvarint(p.EntryTerm)
	w.Uvarint(p.Term)
	if p.Wall != p.Now { // from the level env.Files on
		w.Uvarint(uint64(p.Now - p.Wall))
	}
	return w.B
}

// DecodePoint reads what Encode wrote.
func DecodePoint(b []byte) (Point, error) {
	r := wire.NewReader(b)
	p := Point{Index: r.Uvarint(), Now: r.Varint(), EntryTerm: r.Uvarint(), Term: r.Uvarint()}
	p.Wall = p.Now
	if r.Err() == nil && r.Len() > 0 {
		p.Wall -= int64(r.Uvarint())
	}
	return p, r.Done()
}

// Proposal is an entry on its way into the log.
type Proposal struct{ future raft.ApplyFuture }

// Wait returns what the state machine has answered to the entry. If raft ends with the proposal in a queue, Wait never
// returns. NotLogged tells what an error means.
func (p Proposal) Wait() (any, error) {
	if err := p.future.Error(); err != nil {
		return nil, err
	}
	return p.future.Response(), nil
}

// Errors of proposals.
var (
	// ErrNotLeader says that this node does not lead. The entry is in no log.
	ErrNotLeader = raft.ErrNotLeader
	// ErrShutdown says that raft has ended. The entry may be in the log.
	ErrShutdown = raft.ErrRaftShutdown
)

// ErrUnconfirmed says that no majority confirmed that this node leads.
var ErrUnconfirmed = errors.New("cluster: no majority confirmed the leader")

// NotLogged reports whether an error of a proposal means that its entry is in no log. A lost leadership and the errors of
// the log store say nothing: the entry may be in a log, and a later leader may commit it.
func NotLogged(err error) bool {
	return errors.Is(err, raft.ErrNotLeader) || errors.Is(err, raft.ErrLeadershipTransferInProgress) ||
		errors.Is(err, raft.ErrEnqueueTimeout) || errors.Is(err, raft.ErrAbortedByRestore)
}
