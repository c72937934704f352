package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"

	"github.com/trireme-dev/trireme/cluster/clock"
	"github.com/trireme-dev/trireme/cluster/failover"
	"github.com/trireme-dev/trireme/cluster/logstore"
	"github.com/trireme-dev/trireme/cluster/membership"
	"github.com/trireme-dev/trireme/cluster/payloads"
	"github.com/trireme-dev/trireme/cluster/poison"
	"github.com/trireme-dev/trireme/cluster/transport"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/internal/certs"
	"github.com/trireme-dev/trireme/internal/yield"
	"github.com/trireme-dev/trireme/node/searchindex"
)

// Node is one node of a cluster: it joins the transport, raft and its log store, the state machine, group commit and
// reads. What each does is in its own file; doc.go has the whole.
type Node struct {
	opts    Options
	log     *slog.Logger
	started time.Time

	disk
	network
	replica
	lifecycle

	proposer  *proposer
	committer *groupCommitter
	reader    *reader
	longReads *longReads
	quorum    *readIndex
	lease     sessionLease
	clock     *clock.Clock
	metrics   *metrics
	logCost   logCost

	mu         sync.Mutex // of identity and phase
	identity   *identity
	phase      phase
	leaderWork []func(context.Context)

	stop   context.CancelFunc
	wg     sync.WaitGroup
	leadWG sync.WaitGroup
}

// disk is what lies in the data directory.
type disk struct {
	store     *logstore.Store
	snapshots *logstore.SnapshotStore
	mark      *poison.Mark // which entry is being applied
	orders    *poison.Orders
	// incarnations are the processes of other nodes; nil if this one takes no part.
	incarnations *membership.Incarnations
}

// network is how other nodes are reached.
type network struct {
	mux       *transport.Mux
	port      atomic.Pointer[transport.Mux] // mux, for fatal
	peers     *rpcClient
	transport *raft.NetworkTransport
	toRaft    chan<- raft.RPC // this node's raft, for calls of its own
	watcher   *failover.Watcher
}

// replica is raft and what it replicates.
type replica struct {
	raft      *raft.Raft
	machine   *fsm.Machine
	payloads  *payloads.Store
	search    *searchindex.Engine // the indexes of this node's documents
	adapter   *adapter
	ceiling   clock.Ceiling
	voters    atomic.Pointer[voters]
	changed   atomic.Int64 // when the servers changed last, nanoseconds since started
	advancing atomic.Bool  // a commit index is being passed on to raft
	settings  raftSettings
	silence   silence
	digests   digests
	changing  sync.Mutex // held by the leader while servers are changed
}

// lifecycle is what has become of the node.
type lifecycle struct {
	running  atomic.Bool   // everything has been started
	openTerm atomic.Uint64 // the term this node leads and has opened, or 0
	failed   atomic.Bool
	drained  atomic.Bool  // see Drained
	out      atomic.Bool  // the cluster has removed this node
	yielded  atomic.Int64 // when leadership was last given up for want of disk space, unix nanoseconds
}

// Open starts a node: its disk, the cluster port, the handshake of a new cluster, and
// raft last. It returns when raft runs; see Ready for when the node can serve.
func Open(ctx context.Context, opts Options) (n *Node, err error) {
	opts.defaults()
	n = &Node{opts: opts, log: opts.Log, started: time.Now(), clock: clock.New(opts.Now, wallTime)}
	n.machine = fsm.NewMachine()
	n.lease.epoch = n.started
	// Before the port opens: whom to admit depends on the machine.
	n.machine.Hooks = fsm.Hooks{Digest: n.digest, WantsDigest: n.digests.wants, Verdict: n.verdict, Notifications: n.opts.Notes, Monitored: n.opts.Monitored, Restored: n.opts.Restored, Applied: n.opts.Applied, Random: random, Yield: yield.Processor, Large: n.opts.LargeRead}
	n.search = searchindex.Attach(n.machine, opts.IndexMemory)
	n.longReads = newLongReads(func(now time.Time, db string) bool { return n.proposer.ledger.Others(now, db) })
	n.metrics = newMetrics(n)
	n.machine.Hooks.Locked, n.machine.Hooks.Unlocking = n.metrics.locked, n.metrics.unlocking
	if opts.Leading != nil {
		n.WhileLeading(func(ctx context.Context) { opts.Leading(ctx, n) })
	}
	run, cancel := context.WithCancel(context.Background())
	n.stop = cancel
	made := n // a failed Open returns no node, but has one to close
	defer func() {
		if err != nil {
			made.release()
		}
	}()
	if err := n.openDisk(); err != nil {
		return nil, err
	}
	if err := n.openMux(); err != nil {
		return nil, err
	}
	if err := n.openRaft(ctx); err != nil {
		return nil, err
	}
	n.wg.Go(func() { n.committer.run(run) })
	n.wg.Go(func() { n.proposer.run(run) })
	n.wg.Go(func() { n.proposer.watchDeadlines(run) })
	n.wg.Go(func() { n.watchSnapshots(run) })
	n.wg.Go(func() { n.adaptTimeouts(run) })
	n.wg.Go(func() { n.dropFormerSubscribers(run) })
	n.wg.Go(func() { n.keepAddress(run) })
	n.wg.Go(func() { n.announceIncarnation(run) })
	n.wg.Go(func() { n.leaveWhenTold(run) })
	n.wg.Go(func() { n.tellUses(run) })
	n.wg.Go(func() { n.payloads.Run(run) })
	if s := n.opts.Security; s != nil {
		n.wg.Go(func() { certs.Follow(run, s.Pair, s.Authority) })
	}
	return n, nil
}

// openDisk opens the log store, which takes the directory's lock, and counts the boot.
func (n *Node) openDisk() (err error) {
	dir := n.opts.DataDir
	if n.identity, err = loadIdentity(dir, n.opts.NodeID); err != nil {
		return err
	}
	list, err := logstore.CheckSnapshots(dir)
	if err != nil {
		return err
	}
	if err := n.checkLevels(list); err != nil {
		return err
	}
	n.store, err = logstore.Open(logstore.Options{
		Dir: dir, Snapshots: list, Judge: n.foundedAt, Heartbeat: n.opts.Heartbeat, Stall: n.opts.DiskStall, Space: n.opts.Space, Logger: n.log,
		Fatal: func(reason error) { n.fatal(reason.Error()) }, Hooks: n.storeHooks(),
	})
	if err != nil {
		return err
	}
	if n.identity, err = readIdentity(dir, n.opts.NodeID); err != nil {
		return err
	}
	if err := checkOlderCopy(dir); err != nil {
		return err
	}
	removeIncoming(dir)
	if err := n.openPayloads(); err != nil {
		return err
	}
	if n.snapshots, err = logstore.OpenSnapshots(dir, 2, n.opts.RaftLog); err != nil {
		return err
	}
	if err := n.openPoison(); err != nil {
		return err
	}
	if err := n.identity.boot(); err != nil {
		return err
	}
	n.incarnations, err = membership.OpenIncarnations(dir, n.identity.Boot, n.log.Warn)
	return err
}

func (n *Node) openMux() (err error) {
	if n.identity.ClusterID != "" {
		n.phase = phaseAdopted
	}
	c := callbacks{n, &rejectionLog{log: n.log, logged: map[string]time.Time{}}}
	if n.opts.NoPort {
		n.mux = transport.DialOnly(n.transportConfig(), c)
	} else if n.mux, err = transport.Listen(n.transportConfig(), c); err != nil {
		return err
	}
	n.peers = newRPCClient(n.mux)
	n.mux.Start()
	n.port.Store(n.mux)
	return nil
}

func (n *Node) transportConfig() transport.Config {
	advertise := n.opts.Advertise
	if n.opts.NoPort {
		advertise = n.opts.Bind
	}
	return transport.Config{Bind: n.opts.Bind, Advertise: advertise, Security: n.opts.Security, Dial: n.opts.Dial}
}

// openRaft goes through the handshake on an empty disk and starts raft.
func (n *Node) openRaft(ctx context.Context) error {
	has, err := raft.HasExistingState(n.store, n.store, n.snapshots)
	if err != nil {
		return err
	}
	last, err := n.store.LastIndex()
	if err != nil {
		return err
	}
	n.digests.begins = last + 1
	creates, joins := !has && len(n.opts.Join) == 0, !has && len(n.opts.Join) > 0
	switch {
	case joins:
		err = n.join(ctx)
	case creates && n.identity.Joining:
		err = errors.New("this node began to join a cluster and has not been added yet: start it with --join again")
	case creates && len(n.opts.InitialCluster) == 0:
		err = errors.New("the data directory is empty and there is no --initial-cluster and no --join")
	case creates:
		err = n.bootstrap(ctx)
	}
	if err != nil {
		return err
	}
	n.transport = n.newTransport()
	n.toRaft = callsOf(n.transport)
	n.adapter = &adapter{m: n.machine, ceiling: &n.ceiling, fatal: n.fatal, observe: n.metrics.applied, forked: n.metrics.forked, configured: n.reconfigured}
	n.proposer, n.committer = newProposer(n), newGroupCommitter(n)
	n.reader, n.quorum = &reader{n: n}, &readIndex{n: n}
	n.adapter.charge, n.adapter.logged, n.adapter.committed = n.proposer.ledger.Note, n.logCost.of, n.committer.committed
	n.guardPoison()
	n.adapter.outcomes, n.adapter.restored, n.adapter.replaced = n.proposer.Resolve, n.proposer.afterRestore, n.replaced
	notify := make(chan bool, 64)
	config := n.raftConfig(notify)
	sender := n.newSender(config.LocalID)
	transport, log := sender.Over(failover.Transport{NetworkTransport: n.transport}), sender.Log(n.store.LogStore())
	if creates {
		if err := raft.BootstrapCluster(config, log, n.store, n.snapshots, transport, n.configuration()); err != nil {
			return fmt.Errorf("cluster: bootstrap: %w", err)
		}
	}
	if n.raft, err = raft.NewRaft(config, n.adapter, log, n.store, n.snapshots, transport); err != nil {
		return err
	}
	sender.Started(n.raft)
	n.watcher = failover.Start(failover.Config{
		Raft: n.raft, Transport: transport, ID: config.LocalID,
		Ask: func(s raft.Server, q failover.Ask) (failover.Answer, error) {
			return n.peers.failover(string(s.Address), q)
		},
		Watch:  n.watch,
		Silent: n.leaderSilent,
		Log:    func(s string) { n.log.Info("failover: " + s) },
	})
	n.mu.Lock()
	n.phase = phaseStarted
	n.mu.Unlock()
	n.running.Store(true)
	n.peers.pool.Reset() // its connections are from before this node had a cluster id, or knew who is where
	lead, cancel := context.WithCancel(context.Background())
	stop := n.stop
	n.stop = func() { cancel(); n.leadWG.Wait(); stop() }
	n.leadWG.Go(func() { n.followLeadership(lead, notify) })
	if joins {
		return n.enter(ctx)
	}
	return nil
}

func (n *Node) watch(addr raft.ServerAddress, timeout time.Duration) (net.Conn, error) {
	return n.mux.DialPeer(string(addr), transport.ForWatch, timeout)
}

func (n *Node) raftConfig(notify chan<- bool) *raft.Config {
	c := raft.DefaultConfig()
	c.LocalID = raft.ServerID(n.opts.NodeID)
	c.HeartbeatTimeout, c.ElectionTimeout = n.opts.Heartbeat, n.opts.Heartbeat
	c.LeaderLeaseTimeout = n.opts.Heartbeat // the longest that raft allows; see timeouts.go
	c.CommitTimeout = 10 * time.Millisecond // followers learn of commits by pushCommitIndex
	c.MaxAppendEntries = 64                 // of at most maxBatchBytes each, but for single large requests
	c.BatchApplyCh = true
	c.NoLegacyTelemetry = true
	c.ShutdownOnRemove = true
	c.SnapshotThreshold, c.TrailingLogs = math.MaxUint64, n.opts.TrailingLogs // see watchSnapshots and fitTrailing
	c.NotifyCh = notify
	c.Logger = n.opts.RaftLog
	return c
}

func (n *Node) configuration() (c raft.Configuration) {
	for _, p := range n.opts.InitialCluster {
		c.Servers = append(c.Servers, raft.Server{Suffrage: raft.Voter, ID: raft.ServerID(p.ID), Address: raft.ServerAddress(p.Addr)})
	}
	return c
}

// Snapshot writes a snapshot now.
func (n *Node) Snapshot() error {
	n.fitTrailing()
	err := n.raft.Snapshot().Error()
	if errors.Is(err, raft.ErrNothingNewToSnapshot) {
		return nil
	}
	return err
}

// SnapshotDir is the directory of the node's snapshots.
func (n *Node) SnapshotDir() string { return filepath.Join(n.opts.DataDir, "snapshots") }

// Machine is the node's state machine, for callers that only read it.
func (n *Node) Machine() *fsm.Machine { return n.machine }

// leader is who leads as far as this node knows.
func (n *Node) leader() (peerAddr, bool) {
	addr, id := n.raft.LeaderWithID()
	return peerAddr{string(id), string(addr)}, addr != ""
}

// servers are those of raft's configuration.
func (n *Node) servers() []raft.Server { return n.raft.GetConfiguration().Configuration().Servers }

// votersTTL is how long the voters of raft's configuration are cached. The next change needs the last one to be applied,
// which drops the cache, so it is never more than one change old, and majorities of neighbouring configurations have a
// node in common.
const votersTTL = 50 * time.Millisecond

// voters are those of raft's configuration.
type voters struct {
	taken  time.Time
	others []peerAddr
	needed int
}

// otherVoters are the other voters, slow ones last, and how many of them make a
// majority with this node.
func (n *Node) otherVoters() (others []peerAddr, needed int) {
	if v := n.voters.Load(); v != nil && time.Since(v.taken) < votersTTL {
		return v.others, v.needed
	}
	v := &voters{taken: time.Now()}
	var slow []peerAddr
	count, self := 0, 0
	for _, s := range n.servers() {
		if s.Suffrage != raft.Voter {
			continue
		}
		count++
		p := peerAddr{string(s.ID), string(s.Address)}
		switch {
		case p.id == n.opts.NodeID:
			self = 1
		case n.peers.isSlow(p.id):
			slow = append(slow, p)
		default:
			v.others = append(v.others, p)
		}
	}
	v.others, v.needed = append(v.others, slow...), max(count/2+1-self, 0)
	n.voters.Store(v)
	return v.others, v.needed
}
