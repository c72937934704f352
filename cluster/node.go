package cluster

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/trireme-dev/trireme/cluster/clock"
	"github.com/trireme-dev/trireme/cluster/consensus"
	"github.com/trireme-dev/trireme/cluster/consensus/logstore"
	"github.com/trireme-dev/trireme/cluster/membership"
	"github.com/trireme-dev/trireme/cluster/payloads"
	"github.com/trireme-dev/trireme/cluster/poison"
	"github.com/trireme-dev/trireme/cluster/slowdisk"
	"github.com/trireme-dev/trireme/cluster/transport"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/internal/certs"
	"github.com/trireme-dev/trireme/internal/yield"
)

// Node is one node of a cluster: it joins the transport, raft and its log store, the state machine, group commit and
// reads. What each does is in its own file; doc.go describes the whole.
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

// disk holds the parts of a node that lie in its data directory.
type disk struct {
	store     *logstore.Store
	snapshots *logstore.SnapshotStore
	mark      *poison.Mark // which entry is being applied
	orders    *poison.Orders
	// incarnations are the processes of other nodes; nil if this one takes no part.
	incarnations *membership.Incarnations
	ownDisk      slowdisk.Disk
}

// network holds the parts of a node that reach other nodes.
type network struct {
	mux   *transport.Mux
	port  atomic.Pointer[transport.Mux] // mux, for fatal
	peers *rpcClient
}

// replica is the log and what it replicates.
type replica struct {
	consensus consensus.Consensus
	machine   *fsm.Machine
	payloads  *payloads.Store
	fetches   atomic.Uint32 // calls for payloads, to begin with another node each time
	adapter   *adapter
	ceiling   clock.Ceiling
	changed   atomic.Int64 // when the servers changed last, nanoseconds since started
	digests   digests
	changing  sync.Mutex // held by the leader while servers are changed
	// slowLeader judges this node while it leads.
	slowLeader slowdisk.Leader
	turn       snapshotTurn
}

// lifecycle records how far the node's start and its end have come.
type lifecycle struct {
	running  atomic.Bool   // everything has been started
	openTerm atomic.Uint64 // the term this node leads and has opened, or 0
	failed   atomic.Bool
	drained  atomic.Bool  // see Drained
	out      atomic.Bool  // the cluster has removed this node
	yielded  atomic.Int64 // when leadership was last given up for want of disk space, unix nanoseconds
}

// Open starts a node: its disk, the cluster port, the handshake of a new cluster, and raft last. It returns when raft
// runs; Ready reports when the node can serve.
func Open(ctx context.Context, opts Options) (n *Node, err error) {
	opts.defaults()
	n = &Node{opts: opts, log: opts.Log, started: time.Now(), clock: clock.New(opts.Now, opts.wall)}
	if n.machine = opts.Machine; n.machine == nil {
		n.machine = fsm.NewMachine()
	}
	n.lease.epoch = n.started
	// Before the port opens: the callers to admit depend on the machine.
	hooks := &n.machine.Hooks
	hooks.Digest, hooks.WantsDigest, hooks.Verdict, hooks.Random, hooks.Yield = n.digest, n.digests.wants, n.verdict, random, yield.Processor
	n.longReads = newLongReads(func(now time.Time, db string) bool { return n.proposer.ledger.Others(now, db) })
	n.metrics = newMetrics(n)
	hooks.Locked, hooks.Unlocking = n.metrics.locked, n.metrics.unlocking
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
	for _, open := range []func(context.Context) error{n.openDisk, n.openMux, n.openRaft} {
		if err := open(ctx); err != nil {
			return nil, err
		}
	}
	for _, work := range []func(context.Context){
		n.committer.run, n.proposer.run, n.proposer.watchDeadlines, n.watchSnapshots, n.dropFormerSubscribers,
		n.keepAddress, n.announceIncarnation, n.leaveWhenTold, n.tellUses, n.payloads.Run, n.watchDisk, n.shiftValues,
	} {
		n.wg.Go(func() { work(run) })
	}
	if s := n.opts.Security; s != nil {
		n.wg.Go(func() { certs.Follow(run, s.Pair, s.Authority) })
	}
	return n, nil
}

// openDisk opens the log store, which takes the directory's lock, and counts the boot.
func (n *Node) openDisk(ctx context.Context) (err error) {
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
	o := logstore.Options{
		Dir: dir, Snapshots: list, CheckEntry: n.checkFounding, Heartbeat: n.opts.Heartbeat, Stall: n.opts.DiskStall, Space: n.opts.Space, Logger: n.log,
		Fatal: func(reason error) { n.fatal(reason.Error()) }, Hooks: n.storeHooks(),
	}
	err = n.whenRoom(ctx, func() (err error) { n.store, err = logstore.Open(o); return err })
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
	if err := n.whenRoom(ctx, n.openPoison); err != nil {
		return err
	}
	if err := n.whenRoom(ctx, n.identity.boot); err != nil {
		return err
	}
	return n.whenRoom(ctx, func() (err error) {
		n.incarnations, err = membership.OpenIncarnations(dir, n.identity.Boot, n.log.Warn)
		return err
	})
}

func (n *Node) openMux(context.Context) (err error) {
	if n.identity.ClusterID != "" {
		n.phase = phaseAdopted
	}
	c := callbacks{n, new(transport.Reasons)}
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
	has, err := consensus.HasState(n.store, n.snapshots)
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
	n.adapter = &adapter{m: n.machine, receiver: receiver{files: n.payloads}, ceiling: &n.ceiling, fatal: n.fatal, observe: n.metrics.applied, forked: n.metrics.forked, configured: n.reconfigured}
	n.proposer, n.committer = newProposer(n), newGroupCommitter(n)
	n.reader, n.quorum = &reader{n: n}, &readIndex{n: n}
	n.adapter.charge, n.adapter.logged, n.adapter.committed = n.proposer.ledger.Note, n.logCost.of, n.committer.committed
	n.adapter.mark, n.adapter.orders, n.adapter.store, n.adapter.log = n.mark, n.orders, n.store, n.log
	n.adapter.outcomes, n.adapter.restored, n.adapter.replaced = n.proposer.Resolve, n.proposer.afterRestore, n.replaced
	if err := n.openConsensus(creates); err != nil {
		return err
	}
	n.mu.Lock()
	n.phase = phaseStarted
	n.mu.Unlock()
	n.running.Store(true)
	n.peers.Reset() // its connections are from before this node had a cluster id, or knew the addresses of the others
	lead, cancel := context.WithCancel(context.Background())
	stop := n.stop
	n.stop = func() { cancel(); n.leadWG.Wait(); stop() }
	n.leadWG.Go(func() { n.followLeadership(lead, n.consensus.LeadershipChanges()) })
	if joins {
		return n.enter(ctx)
	}
	return nil
}

// openConsensus starts this node's part in the log. founds says that the log is a new one, of the nodes that the options
// list.
func (n *Node) openConsensus(founds bool) error {
	r := consensus.New(consensus.Config{
		ID: n.opts.NodeID, Heartbeat: n.opts.Heartbeat, TrailingLogs: n.opts.TrailingLogs,
		Store: n.store, Snapshots: n.snapshots, Machine: n.adapter, Mux: n.mux, Pool: n.peers.Pool,
		Calls:    consensus.Calls{Append: callAppend, Confirm: callConfirm, Campaign: callFailover, CommitIndex: callCommitIndex, Unknown: errUnknownCall.Error()},
		Answered: n.slowLeader.Answered, SlowDisk: n.ownDisk.Slow,
		Log: n.log, RaftLog: n.opts.RaftLog,
	})
	n.consensus = r
	if founds {
		var voters []consensus.Server
		for _, p := range n.opts.InitialCluster {
			voters = append(voters, consensus.Server{ID: p.ID, Addr: p.Addr, Voter: true})
		}
		if err := r.Bootstrap(voters); err != nil {
			return err
		}
	}
	return r.Start()
}

// Machine returns the node's state machine, for callers that only read it.
func (n *Node) Machine() *fsm.Machine { return n.machine }

// leader returns the leader, as far as this node knows.
func (n *Node) leader() (consensus.Server, bool) { return n.consensus.Leader() }

// roomPoll is the pause after which a start looks for room on a full disk again.
const roomPoll = 250 * time.Millisecond

// whenRoom runs a step of a start that writes small files. On a full disk it releases the reserve, and then waits until there
// is room or ctx ends: a process that ended instead would be started again, and find no more room. The step changes nothing
// when it fails.
func (n *Node) whenRoom(ctx context.Context, step func() error) error {
	for told := false; ; {
		err := step()
		switch {
		case !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT):
			return err
		case n.store != nil && n.store.MakeRoom():
			continue
		case !told:
			told = true
			n.log.Warn("the disk is full: this node starts when it has room", "dir", n.opts.DataDir, "error", err)
		}
		if !pause(ctx, roomPoll) {
			return err
		}
	}
}
