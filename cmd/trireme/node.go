package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/trireme-dev/trireme/cluster"
	"github.com/trireme-dev/trireme/cluster/logstore"
	"github.com/trireme-dev/trireme/cluster/membership"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/httpapi"
	"github.com/trireme-dev/trireme/httpapi/messages"
	"github.com/trireme-dev/trireme/internal/archive"
	"github.com/trireme-dev/trireme/internal/buffered"
	"github.com/trireme-dev/trireme/internal/connlimit"
	"github.com/trireme-dev/trireme/internal/gcpacer"
	"github.com/trireme-dev/trireme/internal/observe"
	"github.com/trireme-dev/trireme/node/audit"
	"github.com/trireme-dev/trireme/node/pubsub"
	"github.com/trireme-dev/trireme/node/quota"
	"github.com/trireme-dev/trireme/node/samples"
	"github.com/trireme-dev/trireme/node/stats"
	"github.com/trireme-dev/trireme/resp"
)

// drainTime is how long requests in flight may take once the node is to stop.
const drainTime = 10 * time.Second

// profile is what dev and serve do differently.
type profile interface {
	// options are the cluster's part of the settings.
	options() (cluster.Options, error)
	// settled reports whether a node that serves has taken the profile's settings.
	settled(v *fsm.View) bool
	// ready is called once, when the node serves and is settled.
	ready(n *cluster.Node)
	// loopbackOnly says that browsers' requests for other hosts are refused, and that
	// deliveries may go anywhere.
	loopbackOnly() bool
	// signingKeys are those of a new cluster.
	signingKeys() signingKeys
}

// process is a running node: the cluster's part, the HTTP API, gossip.
type process struct {
	*settings
	profile
	log        *slog.Logger
	engine     *engine
	deliveries *deliveries
	hub        *pubsub.Hub
	meter      *quota.Meter
	figures    *stats.Node
	buffers    *buffered.Budget // of what clients have under way
	server     *httpapi.Server
	resp       *resp.Server // nil without a listener
	testing    *testMode    // nil unless a test owns the clock
	traces     *traces      // nil without a collector
	registry   *prometheus.Registry
	history    *samples.History
	audit      *audit.Log     // nil without
	pacer      *gcpacer.Pacer // nil if the collector has its percent from elsewhere
	recorded   bool           // its start is in there

	supervisor *supervisor // nil without

	scheduled *archive.Schedule // nil unless this node makes backups by itself

	stop    context.CancelFunc     // of this process, once it serves
	removed atomic.Pointer[string] // why the cluster has removed this node, if it has

	mu      sync.Mutex
	members *membership.Members
}

// serveNode runs a node until ctx ends or the node can't go on. It closes the listeners;
// that of RESP may be nil.
func (s *settings) serveNode(ctx context.Context, log *slog.Logger, listener, respListener net.Listener, p profile) (err error) {
	n := &process{settings: s, profile: p, log: log, engine: newEngine(s.StaleForever)}
	if limitMemory(log) {
		n.pacer = gcpacer.New()
	}
	n.meter, n.figures = quota.New(n.engine), stats.New(command.NewTable())
	n.buffers = buffered.New(int64(n.MaxBufferedBytes))
	n.hub = pubsub.New(pubsub.Options{Log: n.engine, Peers: n.engine, Logger: log})
	n.engine.hub = n.hub
	defer n.closeHub()
	if n.testing, err = newTesting(s.Clock, n.engine); err != nil {
		return errors.Join(err, closeAll(listener, respListener))
	}
	defer n.testing.wait()
	stopProfiles, err := n.prepare(listener, respListener)
	if err != nil {
		return errors.Join(err, closeAll(listener, respListener))
	}
	defer stopProfiles()
	defer n.recordStop()
	defer n.supervise(log)()
	outer := ctx
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	n.stop = cancel
	var edges sync.WaitGroup
	failed := make([]error, 2)
	edges.Go(func() { failed[0] = n.server.Serve(listener); cancel() })
	edges.Go(func() { n.history.Run(ctx) })
	if n.pacer != nil {
		edges.Go(func() { n.pacer.Run(ctx) })
	}
	closeConsole, err := n.serveConsole()
	if err != nil {
		cancel()
		return errors.Join(err, n.server.Shutdown(ctx))
	}
	defer closeConsole()
	if n.resp != nil {
		edges.Go(func() { failed[1] = n.resp.Serve(respListener); cancel() })
	}
	node, err := n.open(ctx, n.respAddress(respListener))
	if err != nil && ctx.Err() != nil {
		err = nil // stopped while it waited for the others
	}
	if node != nil {
		n.recordStart()
		n.registry.MustRegister(node.Collectors()...)
		var updates sync.WaitGroup
		updates.Go(func() { n.updateHostInfo(ctx, node) })
		updates.Go(func() { n.runBackups(ctx, node) })
		<-n.begin(ctx, node)
		<-ctx.Done()
		if outer.Err() != nil && n.removed.Load() == nil {
			n.drain(node)
		}
		updates.Wait()
	}
	left := n.shutdown(outer, node)
	edges.Wait()
	if reason := n.removed.Load(); reason != nil && !left {
		failed = append(failed, errors.New(*reason))
	}
	return errors.Join(append(failed, err)...)
}

// prepare makes the edges and what they need; stop ends what it has started.
func (n *process) prepare(listener, respListener net.Listener) (stop func(), err error) {
	if n.registry, err = observe.NewRegistry(version, commit); err != nil {
		return nil, err
	}
	if n.audit, err = audit.Open(n.AuditLog, n.NodeID, n.log, n.registry); err != nil {
		return nil, err
	}
	if n.scheduled, err = n.Backups.schedule(); err != nil {
		return nil, err
	}
	backups := n.scheduled
	if backups == nil {
		backups = &archive.Schedule{} // its metrics say that there are none
	}
	backups.Register(n.registry)
	if n.deliveries, err = n.newDeliveries(n.log, n.registry, n.profile); err != nil {
		return nil, err
	}
	if err = n.startTraces(); err != nil {
		return nil, err
	}
	if n.testing != nil {
		n.deliveries.via = n.testing.record(n.deliveries.transport)
	}
	if n.server, err = n.edge(n.registry, listener.Addr().String()); err != nil {
		return nil, err
	}
	if respListener != nil {
		if n.resp, err = n.openRESP(n.registry); err != nil {
			return nil, err
		}
	}
	return n.profiles(n.log)
}

// closeAll closes the listeners that there are.
func closeAll(listeners ...net.Listener) (failed error) {
	for _, l := range listeners {
		if l != nil {
			failed = errors.Join(failed, l.Close())
		}
	}
	return failed
}

// unlimitedIfZero is a size as httpapi.Limits takes it.
func unlimitedIfZero(size byteSize) int64 {
	if size == 0 {
		return -1
	}
	return int64(size)
}

// edge is the HTTP server.
func (n *process) edge(registry *prometheus.Registry, addr string) (*httpapi.Server, error) {
	n.history = samples.New(registry, n.figures)
	consoles, err := n.consoleOptions()
	if err != nil {
		return nil, err
	}
	limits := n.Limits
	limits.Reserve = connlimit.ReserveFor(limits.Connections)
	limits.ReplyBytes, limits.BufferedBytes = unlimitedIfZero(n.MaxReplySize), unlimitedIfZero(n.MaxBufferedBytes)
	o := httpapi.Options{
		Console: consoles, ConsoleApart: n.Console.Listen != "", History: n.history, Clients: respClients{n},
		Engine: n.engine, Meter: n.meter, Figures: n.figures, Hub: n.hub, Audit: n.audit, Admin: n.admin(), Log: n.log, Metrics: registry,
		Messages: &messages.Parser{
			Prefixes: n.HeaderPrefix, APIs: n.deliveries.apis, Allowed: n.deliveries.allowed, HTTPSOnly: n.Deliveries.EgressHTTPSOnly, SpecLiteral: n.Deliveries.SpecLiteral, Traces: n.keepsTraces,
		},
		Providers: n.deliveries.ask,
		Prefixes:  n.HeaderPrefix, MaxRequestSize: int64(n.MaxRequestSize), MaxRows: n.MaxRows,
		Limits: limits, Buffers: n.buffers, Traces: n.traces.commands(n.Deliveries.TraceCommands),
		LoopbackOnly: n.loopbackOnly(), MetricsPublic: n.MetricsPublic, MetricsLocal: loopback(addr),
	}
	o.Test = n.sinkHandler()
	return httpapi.New(o)
}

// open opens the cluster's part.
func (n *process) open(ctx context.Context, respAddress string) (*cluster.Node, error) {
	o, err := n.options()
	if err != nil {
		return nil, err
	}
	o.DataDir, o.Version, o.Heartbeat, o.SnapshotThreshold = n.DataDir, version, n.Heartbeat, n.SnapshotThreshold
	o.Space.Floor, o.DiskStall = logstore.Floor(n.MinFreeDisk), cmp.Or(n.DiskStall, o.DiskStall)
	o.IndexMemory = indexMemory(n.IndexMemory)
	o.InlineBytes = int(min(n.InlineBytes, math.MaxInt32))
	o.RESP = respAddress
	o.History = func() ([]byte, error) { return json.Marshal(n.history.Read()) }
	if n.testing != nil {
		o.Now = n.testing.clock.Now
	}
	o.Log, o.RaftLog = n.log, observe.Raft(n.log)
	o.Notes, o.Restored, o.Monitor, o.Monitored = n.notify, n.restored, n.hub.ServePoll, n.hub.Monitored
	if n.pacer != nil {
		o.LargeRead = n.pacer.Large
	}
	o.Leading = n.deliveries.lead
	if n.traces != nil {
		o.Applied = n.traces.Applied
	}
	o.Audit = func(act, server, detail string) {
		n.audit.Write(audit.Record{Act: act, Target: server, Detail: detail, Who: audit.Cluster, Outcome: audit.Done})
	}
	o.Leaving = n.stop
	o.Removed = func(reason string) {
		n.removed.Store(&reason)
		n.stop()
	}
	o.Fatal = fail
	node, err := cluster.Open(ctx, o)
	if err != nil {
		return nil, n.explainStart(err)
	}
	n.engine.open(node)
	n.buffers.DatabaseLimits(node.Machine().MemoryLimit)
	return node, nil
}

func (n *process) startGossip(node *cluster.Node) error {
	key, err := n.gossipKey()
	if err != nil {
		return err
	}
	var id string
	node.Machine().View(0, [16]byte{}, func(v *fsm.View) { id = v.ClusterID() })
	members, err := membership.OpenMembers(membership.MembersOptions{
		NodeID: n.NodeID, ClusterID: id, Bind: n.Gossip, Key: key, HTTP: n.HTTPAdvertise, Version: version, Level: uint32(fsm.MaxLevel),
		Servers: node.Servers,
		Seeds: func(ctx context.Context) (addrs []string) {
			addrs = append(addrs, n.Join...)
			for _, one := range node.Status(ctx).Nodes {
				if one.Gossip != "" {
					addrs = append(addrs, one.Gossip)
				}
			}
			return addrs
		},
		Logger: observe.Standard(n.log.With("part", "gossip")),
	})
	n.mu.Lock()
	defer n.mu.Unlock()
	n.members = members
	return err
}

// gossip is what the nodes say of themselves by gossip.
func (n *process) gossip() []membership.Member {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.members == nil {
		return nil
	}
	return n.members.List()
}

// shutdown takes no more requests, transfers leadership meanwhile, finishes what is
// in flight and closes everything, last opened first. A node that leaves the cluster
// waits before that until it was taken out, or outer ends; left reports that it left.
func (n *process) shutdown(outer context.Context, node *cluster.Node) (left bool) {
	n.supervisor.notify("STOPPING=1", "STATUS=finishing what is in flight")
	ctx, cancel := context.WithTimeout(context.Background(), drainTime)
	defer cancel()
	var drained sync.WaitGroup
	drained.Go(func() { n.shutdownRESP(ctx) })
	drained.Go(func() {
		if err := n.server.Shutdown(ctx); err != nil {
			n.log.Warn("requests in flight were cut off", "error", err)
		}
	})
	n.deliveries.close()
	if node != nil {
		node.HandOver(ctx)
	}
	drained.Wait()
	n.closeHub()
	if node != nil && n.removed.Load() == nil && node.Leaving() {
		node.Drained(outer)
		left = true
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.members != nil {
		if err := n.members.Close(); err != nil {
			n.log.Warn("gossip did not close cleanly", "error", err)
		}
	}
	if node != nil {
		if err := node.Close(ctx); err != nil {
			n.log.Warn("the node did not close cleanly", "error", err)
		}
		n.log.Info("stopped")
	}
	n.traces.close()
	return left
}

// hubCloseTimeout bounds the entry that removes this node's subscribers; without it the leader
// removes them later by itself.
const hubCloseTimeout = time.Second

// closeHub ends what is left of subscriptions. Only the first call does anything.
func (n *process) closeHub() {
	ctx, cancel := context.WithTimeout(context.Background(), hubCloseTimeout)
	defer cancel()
	n.hub.Close(ctx)
}

// founding are the first settings of a cluster with these tokens.
func (s *settings) founding(tokens *credentials) fsm.Bootstrap {
	limits := command.Limits{MaxKey: int64(s.MaxKeySize), MaxRecord: int64(s.MaxRecordSize), MaxPending: int64(s.MaxPending)}
	limits.SetWork(int64(s.MaxRequestWork), int64(s.MaxScriptSteps))
	first := fsm.Settings{MaxMemory: int64(s.MaxMemory), Policy: keyspace.Policy(s.MaxMemoryPolicy), DailyLimit: int64(s.DailyLimit), Limits: limits}
	first.SetTenantWork(int64(s.TenantWork), int64(s.TenantScript))
	first.SetTenantMemory(int64(s.TenantMemory))
	return fsm.Bootstrap{Settings: first, Tokens: tokens.digests(), Messages: &s.Messages, Workflows: &s.Workflows}
}
