package consensus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"github.com/trireme-dev/trireme/cluster/consensus/failover"
	"github.com/trireme-dev/trireme/cluster/consensus/logstore"
	"github.com/trireme-dev/trireme/cluster/transport"
)

// Config describes a Replica.
type Config struct {
	ID string
	// Heartbeat is the shortest heartbeat and election timeout, and the leader's lease.
	Heartbeat time.Duration
	// TrailingLogs is the number of entries that stay behind a snapshot at first.
	TrailingLogs uint64

	Store     *logstore.Store
	Snapshots *logstore.SnapshotStore
	Machine   StateMachine

	Mux   *transport.Mux
	Pool  *transport.Pool
	Calls Calls

	// Answered, if set, is told how long a follower took to answer an append with entries. It must return at once.
	Answered func(id string, took time.Duration)
	// SlowDisk, if set, reports whether this node's disk is slow. Another voter with as much of the log leads rather than this one.
	SlowDisk func() bool

	Log *slog.Logger
	// RaftLog gets the lines of the library.
	RaftLog hclog.Logger
}

// Calls are the kinds of the calls between Replicas.
type Calls struct {
	// Append carries an append of the leader's raft, or asks without one whether the node takes such calls.
	Append transport.Kind
	// Confirm asks for the node's term.
	Confirm transport.Kind
	// Campaign asks for consent to a campaign.
	Campaign transport.Kind
	// CommitIndex tells a commit index. It is not answered.
	CommitIndex transport.Kind
	// Unknown is the text with which nodes answer calls that they don't know.
	Unknown string
}

// Replica is a node's part in a replicated log: hashicorp/raft, and around it what the library lacks.
type Replica struct {
	c         Config
	raft      *raft.Raft
	transport *ownTransport
	notify    chan bool
	reload    sync.Mutex // one change of raft's reloadable settings at a time

	watcher *failover.Watcher
	silence silence

	voters   atomic.Pointer[voters]
	slow     slowVoters
	learning atomic.Bool // a commit index is being passed on to raft

	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup
}

var _ Consensus = (*Replica)(nil)

// HasState reports whether the disk has a log, a vote or a snapshot.
func HasState(store *logstore.Store, snapshots *logstore.SnapshotStore) (bool, error) {
	return raft.HasExistingState(store, store, snapshots)
}

// New prepares a Replica. Bootstrap may follow, and then Start.
func New(c Config) *Replica {
	r := &Replica{c: c, notify: make(chan bool, 64)}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	r.transport = newTransport(c)
	return r
}

// Bootstrap begins a new log, whose first servers are voters.
func (r *Replica) Bootstrap(voters []Server) error {
	var first raft.Configuration
	for _, s := range voters {
		first.Servers = append(first.Servers, raft.Server{Suffrage: raft.Voter, ID: raft.ServerID(s.ID), Address: raft.ServerAddress(s.Addr)})
	}
	if err := raft.BootstrapCluster(r.config(), r.c.Store, r.c.Store, r.c.Snapshots, r.transport, first); err != nil {
		return fmt.Errorf("cluster: bootstrap: %w", err)
	}
	return nil
}

// Start starts raft: the state machine gets the newest snapshot, and this node takes part in elections.
func (r *Replica) Start() (err error) {
	log := r.transport.sender.Log(r.c.Store)
	r.raft, err = raft.NewRaft(r.config(), &machine{StateMachine: r.c.Machine, r: r}, log, r.c.Store, r.c.Snapshots, r.transport)
	if err != nil {
		return err
	}
	r.transport.sender.Started(r.raft)
	r.wg.Go(func() { r.transport.forward(r.ctx) })
	r.wg.Go(func() { r.adaptTimeouts(r.ctx) })
	r.watcher = r.watchLeader()
	return nil
}

// config returns raft's settings.
func (r *Replica) config() *raft.Config {
	c := raft.DefaultConfig()
	c.LocalID = raft.ServerID(r.c.ID)
	c.HeartbeatTimeout, c.ElectionTimeout = r.c.Heartbeat, r.c.Heartbeat
	c.LeaderLeaseTimeout = r.c.Heartbeat    // the longest that raft allows; see timeouts.go
	c.CommitTimeout = 10 * time.Millisecond // followers learn of commits by PushCommitIndex
	c.MaxAppendEntries = 64                 // each as large as the node's batches, except single large requests
	c.BatchApplyCh = true
	c.NoLegacyTelemetry = true
	c.ShutdownOnRemove = true
	c.SnapshotThreshold, c.TrailingLogs = math.MaxUint64, r.c.TrailingLogs // snapshots are taken by Snapshot alone
	c.NotifyCh = r.notify
	c.Logger = r.c.RaftLog
	return c
}

// Close ends this node's part: it accepts no calls and applies nothing any more.
func (r *Replica) Close() (err error) {
	if r.watcher != nil {
		r.watcher.Stop()
	}
	if r.raft != nil {
		err = r.raft.Shutdown().Error() // closes the transport, too
	}
	r.cancel()
	r.wg.Wait()
	return errors.Join(err, r.transport.Close())
}

// Propose hands raft an entry.
func (r *Replica) Propose(data []byte) Proposal { return Proposal{r.raft.Apply(data, 0)} }

// Term returns the newest term that this node knows.
func (r *Replica) Term() uint64 { return r.raft.CurrentTerm() }

// Role returns what this node is in its term.
func (r *Replica) Role() Role {
	switch r.raft.State() {
	case raft.Follower:
		return Follower
	case raft.Candidate:
		return Candidate
	case raft.Leader:
		return Leader
	}
	return Shutdown
}

// Leader returns the server that this node follows, or itself. It returns false if this node knows of no leader.
func (r *Replica) Leader() (Server, bool) {
	addr, id := r.raft.LeaderWithID()
	return Server{ID: string(id), Addr: string(addr), Voter: true}, addr != ""
}

// LeadershipChanges delivers a value after this node has won or lost a term.
func (r *Replica) LeadershipChanges() <-chan bool { return r.notify }

// LastContact returns when this node heard from a leader last.
func (r *Replica) LastContact() time.Time { return r.raft.LastContact() }

// LastIndex returns the index of the last entry in this node's log.
func (r *Replica) LastIndex() uint64 { return r.raft.LastIndex() }

// Elections counts what this node saw of its leaders, and how often it campaigned.
func (r *Replica) Elections() *failover.Stats { return &r.watcher.Stats }

// Snapshot writes a snapshot now; see Consensus.
func (r *Replica) Snapshot(keep uint64) error {
	if keep > 0 {
		if err := r.change(func(c *raft.ReloadableConfig) { c.TrailingLogs = keep }); err != nil {
			r.c.Log.Warn("the number of trailing entries was not changed", "error", err)
		}
	}
	err := r.raft.Snapshot().Error()
	if errors.Is(err, raft.ErrNothingNewToSnapshot) {
		return nil
	}
	return err
}

// change changes what raft lets change while it runs.
func (r *Replica) change(set func(*raft.ReloadableConfig)) error {
	r.reload.Lock()
	defer r.reload.Unlock()
	c := r.raft.ReloadableConfig()
	set(&c)
	return r.raft.ReloadConfig(c)
}
