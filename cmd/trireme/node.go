package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"net"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/trireme-dev/trireme/cluster"
	"github.com/trireme-dev/trireme/cluster/consensus/logstore"
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
	"github.com/trireme-dev/trireme/node/searchindex"
	"github.com/trireme-dev/trireme/node/stats"
	"github.com/trireme-dev/trireme/resp"
)

// drainTime bounds the requests in flight once the node begins to stop.
const drainTime = 10 * time.Second

// profile abstracts the differences between dev and serve.
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
	// signingKeys returns the signing keys of a new cluster.
	signingKeys() signingKeys
}

// process is a running node: its part of the cluster, its servers and gossip.
type process struct {
	*settings
	profile
	log        *slog.Logger
	engine     *nodeEngine
	deliveries *deliveries
	hub        *pubsub.Hub
	meter      *quota.Meter
	recording
	buffers *buffered.Budget // of what clients have under way
	server  *httpapi.Server
	resp    *resp.Server         // nil without a listener
	testing *testMode            // nil unless a test owns the clock
	search  *searchindex.Indexes // nil until the node is opened
	pacer   *gcpacer.Pacer       // nil if the collector has its percent from elsewhere

	supervisor *supervisor // nil without

	scheduled *archive.Schedule // nil unless this node makes backups by itself

	stop    context.CancelFunc     // of this process, once it serves
	removed atomic.Pointer[string] // why the cluster has removed this node, if it has

	mu      sync.Mutex
	members *membership.Members
}

// recording tells operators what the process does.
type recording struct {
	figures  *stats.Node
	traces   *traces // nil without a collector
	registry *prometheus.Registry
	history  *samples.History
	audit    *audit.Log // nil without
	recorded bool       // its start is in there
}

// serveNode runs a node until ctx ends or the node fails. It closes the listeners, of which
// respListener may be nil.
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
	edges.Go(func() {
		n.history.Run(ctx, func(err error) { log.Warn("the rates of the last days could not be written", "error", err) })
	})
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
		if err := n.history.Keep(filepath.Join(n.DataDir, historyFile)); err != nil {
			log.Warn("the rates of the last days begin anew", "error", err)
		}
		n.registry.MustRegister(append(node.Collectors(), n.search.Collectors()...)...)
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

// prepare makes the servers and the parts that they need. stop ends everything that it has started.
func (pr *process) prepare(listener, respListener net.Listener) (stop func(), err error) {
	if pr.registry, err = observe.NewRegistry(version, commit); err != nil {
		return nil, err
	}
	if pr.audit, err = audit.Open(pr.AuditLog, pr.NodeID, pr.log, pr.registry); err != nil {
		return nil, err
	}
	if pr.scheduled, err = pr.Backups.schedule(); err != nil {
		return nil, err
	}
	backups := pr.scheduled
	if backups == nil {
		backups = &archive.Schedule{} // its metrics say that there are none
	}
	backups.Register(pr.registry)
	if pr.deliveries, err = pr.newDeliveries(pr.log, pr.registry, pr.profile); err != nil {
		return nil, err
	}
	if err = pr.startTraces(); err != nil {
		return nil, err
	}
	if pr.testing != nil {
		pr.deliveries.via = pr.testing.record(pr.deliveries.client)
	}
	if pr.server, err = pr.edge(pr.registry, listener.Addr().String()); err != nil {
		return nil, err
	}
	if respListener != nil {
		if pr.resp, err = pr.openRESP(pr.registry); err != nil {
			return nil, err
		}
	}
	return pr.profiles(pr.log)
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

// unlimitedIfZero converts a size to the form of httpapi.Limits.
func unlimitedIfZero(size byteSize) int64 {
	if size == 0 {
		return -1
	}
	return int64(size)
}

// historyFile keeps the rates of the last days, in the data directory.
const historyFile = "history.json"

// edge makes the HTTP server.
func (pr *process) edge(registry *prometheus.Registry, addr string) (*httpapi.Server, error) {
	pr.history = samples.New(registry, pr.figures)
	pr.history.SetLargest(pr.engine.largest)
	consoles, err := pr.consoleOptions()
	if err != nil {
		return nil, err
	}
	limits := pr.Limits
	limits.Reserve = connlimit.ReserveFor(limits.Connections)
	limits.ReplyBytes, limits.BufferedBytes = unlimitedIfZero(pr.MaxReplySize), unlimitedIfZero(pr.MaxBufferedBytes)
	o := httpapi.Options{
		Console: consoles, History: pr.history, Clients: respClients{pr},
		Engine: pr.engine, Meter: pr.meter, Figures: pr.figures, Hub: pr.hub, Audit: pr.audit, Admin: pr.admin(), Log: pr.log, Metrics: registry,
		Messages: &messages.Parser{
			Prefixes: pr.HeaderPrefix, APIs: pr.deliveries.apis, Allowed: pr.deliveries.checkEgress, HTTPSOnly: pr.Deliveries.EgressHTTPSOnly, SpecLiteral: pr.Deliveries.SpecLiteral, Traces: pr.keepsTraces,
		},
		Providers: pr.deliveries.sendToAPI,
		Prefixes:  pr.HeaderPrefix, MaxRequestSize: int64(pr.MaxRequestSize), MaxRows: pr.MaxRows,
		Limits: limits, Buffers: pr.buffers, Traces: pr.traces.commands(pr.Deliveries.TraceCommands),
		LoopbackOnly: pr.loopbackOnly(), MetricsPublic: pr.MetricsPublic, MetricsLocal: loopback(addr),
	}
	o.Test = pr.sinkHandler()
	return httpapi.New(o)
}

// open opens the node's part of the cluster.
func (pr *process) open(ctx context.Context, respAddress string) (*cluster.Node, error) {
	o, err := pr.options()
	if err != nil {
		return nil, err
	}
	o.DataDir, o.Version, o.Heartbeat, o.SnapshotThreshold = pr.DataDir, version, pr.Heartbeat, pr.SnapshotThreshold
	o.Space.Floor, o.DiskStall = logstore.Floor(pr.MinFreeDisk), cmp.Or(pr.DiskStall, o.DiskStall)
	o.InlineBytes, o.ColdAfter = int(min(pr.InlineBytes, math.MaxInt32)), pr.ColdAfter
	o.RESP = respAddress
	o.History = func(question []byte) ([]byte, error) {
		asked, err := samples.ParseQuestion(string(question))
		if err != nil {
			return nil, err
		}
		return json.Marshal(pr.history.Read(asked))
	}
	if pr.testing != nil {
		o.Now = pr.testing.clock.Now
	}
	o.Log, o.RaftLog = pr.log, observe.Raft(pr.log)
	o.Machine, o.Monitor, o.Leading = pr.followed(), pr.hub.ServePoll, pr.deliveries.lead
	o.Audit = func(act, server, detail string) {
		pr.audit.Write(audit.Record{Act: act, Target: server, Detail: detail, Who: audit.Cluster, Outcome: audit.Done})
	}
	o.Leaving = pr.stop
	o.Removed = func(reason string) {
		pr.removed.Store(&reason)
		pr.stop()
	}
	o.Fatal = fail
	node, err := cluster.Open(ctx, o)
	if err != nil {
		return nil, pr.explainStart(err)
	}
	pr.engine.open(node)
	pr.buffers.DatabaseLimits(node.Machine().MemoryLimit)
	return node, nil
}

// followed makes the state machine and attaches what follows it on this node.
func (pr *process) followed() *fsm.Machine {
	m := fsm.NewMachine()
	m.Hooks = fsm.Hooks{Notifications: pr.notify, Monitored: pr.hub.Monitored, Followed: pr.hub.Following, Restored: pr.restored}
	if pr.traces != nil {
		m.Hooks.Applied = pr.traces.Applied
	}
	if pr.pacer != nil {
		m.Hooks.Large = pr.pacer.Large
	}
	pr.search = searchindex.Attach(m, indexMemory(pr.IndexMemory))
	return m
}

func (pr *process) startGossip(node *cluster.Node) error {
	key, err := pr.gossipKey()
	if err != nil {
		return err
	}
	var id string
	node.Machine().View(0, [16]byte{}, func(v *fsm.View) { id = v.ClusterID() })
	members, err := membership.OpenMembers(membership.MembersOptions{
		NodeID: pr.NodeID, ClusterID: id, Bind: pr.Gossip, Key: key, HTTP: pr.HTTPAdvertise, Version: version, Level: uint32(fsm.MaxLevel),
		Servers: node.Servers,
		Seeds: func(ctx context.Context) (addrs []string) {
			addrs = append(addrs, pr.Join...)
			for _, one := range node.Status(ctx).Nodes {
				if one.Gossip != "" {
					addrs = append(addrs, one.Gossip)
				}
			}
			return addrs
		},
		Logger: observe.Standard(pr.log.With("part", "gossip")),
	})
	pr.mu.Lock()
	defer pr.mu.Unlock()
	pr.members = members
	return err
}

// gossip returns the members that gossip reports.
func (pr *process) gossip() []membership.Member {
	pr.mu.Lock()
	defer pr.mu.Unlock()
	if pr.members == nil {
		return nil
	}
	return pr.members.List()
}

// shutdown refuses new requests, transfers leadership meanwhile, finishes the requests in flight and
// closes everything, last opened first. A node that leaves the cluster first waits until it is
// removed or outer ends; left reports that it was removed.
func (pr *process) shutdown(outer context.Context, node *cluster.Node) (left bool) {
	pr.supervisor.notify("STOPPING=1", "STATUS=finishing what is in flight")
	ctx, cancel := context.WithTimeout(context.Background(), drainTime)
	defer cancel()
	var drained sync.WaitGroup
	drained.Go(func() { pr.shutdownRESP(ctx) })
	drained.Go(func() {
		if err := pr.server.Shutdown(ctx); err != nil {
			pr.log.Warn("requests in flight were cut off", "error", err)
		}
	})
	pr.deliveries.close()
	if node != nil {
		node.HandOver(ctx)
	}
	drained.Wait()
	pr.closeHub()
	if node != nil && pr.removed.Load() == nil && node.Leaving() {
		node.Drained(outer)
		left = true
	}
	pr.mu.Lock()
	defer pr.mu.Unlock()
	if pr.members != nil {
		if err := pr.members.Close(); err != nil {
			pr.log.Warn("gossip did not close cleanly", "error", err)
		}
	}
	if node != nil {
		if err := node.Close(ctx); err != nil {
			pr.log.Warn("the node did not close cleanly", "error", err)
		}
		pr.log.Info("stopped")
	}
	if pr.search != nil {
		pr.search.Close()
	}
	pr.traces.close()
	return left
}

// hubCloseTimeout bounds the entry that removes this node's subscribers. If it fails, the leader
// removes them later.
const hubCloseTimeout = time.Second

// closeHub ends the remaining subscriptions. Only the first call has an effect.
func (pr *process) closeHub() {
	ctx, cancel := context.WithTimeout(context.Background(), hubCloseTimeout)
	defer cancel()
	pr.hub.Close(ctx)
}

// founding returns the first settings of a cluster with these tokens.
func (fs *firstSettings) founding(tokens *credentials) fsm.Bootstrap {
	limits := command.Limits{MaxKey: int64(fs.MaxKeySize), MaxRecord: int64(fs.MaxRecordSize), MaxPending: int64(fs.MaxPending)}
	limits.SetWork(int64(fs.MaxRequestWork), int64(fs.MaxScriptSteps))
	first := fsm.Settings{MaxMemory: int64(fs.MaxMemory), Policy: keyspace.Policy(fs.MaxMemoryPolicy), DailyLimit: int64(fs.DailyLimit), Limits: limits}
	first.SetTenantWork(int64(fs.TenantWork), int64(fs.TenantScript))
	first.SetTenantMemory(int64(fs.TenantMemory))
	return fsm.Bootstrap{Settings: first, Tokens: tokens.digests(), Messages: &fs.Messages, Workflows: &fs.Workflows}
}
