package membership

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/hashicorp/memberlist"
)

const (
	// rejoinInterval is the interval at which a node looks for the others again: memberlist forgets nodes that failed
	// and never calls them back.
	rejoinInterval = 10 * time.Second
	// leaveTimeout bounds the time that a stopping node takes to tell the others.
	leaveTimeout = 500 * time.Millisecond
)

// MembersOptions describes this node to the others.
type MembersOptions struct {
	// NodeID is this node's id, ClusterID the cluster's: nodes of other clusters are
	// refused, and don't read our packets.
	NodeID, ClusterID string
	// Bind is the address to listen on, for TCP and UDP; Advertise the one that others
	// use, if it differs.
	Bind, Advertise string
	// Key encrypts gossip if it is not empty: 16, 24 or 32 bytes. See GossipKey.
	Key []byte
	// HTTP is the address at which clients reach this node; Version and Level are its binary's.
	HTTP, Version string
	Level         uint32
	// Seeds returns gossip addresses from another source. It is called repeatedly.
	Seeds func(context.Context) []string
	// Servers returns the servers of the cluster, for nodes that want to join and ask on this port.
	Servers func() []Peer
	// Logger takes memberlist's lines.
	Logger *log.Logger
}

// Member is the announcement of a node by gossip.
type Member struct {
	ID      string `json:"id"`
	Cluster string `json:"cluster"`
	HTTP    string `json:"http"`
	Version string `json:"version"`
	Level   uint32 `json:"level"`
}

// Members is this node's part in the gossip.
type Members struct {
	list   *memberlist.Memberlist
	roster *roster
	seeds  func(context.Context) []string
	self   string // our gossip address
	cancel context.CancelFunc
	wg     sync.WaitGroup
	close  sync.Once
}

// errForeign rejects a node of another cluster.
var errForeign = errors.New("cluster: gossip with a node of another cluster")

// OpenMembers starts to gossip, and keeps looking for the other nodes until Close.
func OpenMembers(o MembersOptions) (*Members, error) {
	meta, err := json.Marshal(Member{o.NodeID, o.ClusterID, o.HTTP, o.Version, o.Level})
	if err != nil {
		return nil, err
	}
	if len(meta) > memberlist.MetaMaxSize {
		return nil, fmt.Errorf("gossip: node id, addresses and version take %d bytes together, at most %d fit", len(meta), memberlist.MetaMaxSize)
	}
	config, err := gossipConfig(o, meta)
	if err != nil {
		return nil, err
	}
	around := newRoster()
	config.Events = around
	port, err := listenGossip(config, o)
	if err != nil {
		return nil, fmt.Errorf("gossip: %w", err)
	}
	list, err := memberlist.Create(config)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("gossip: %w", err), port.Shutdown())
	}
	ctx, cancel := context.WithCancel(context.Background())
	m := &Members{list: list, roster: around, seeds: o.Seeds, self: list.LocalNode().Address(), cancel: cancel}
	m.wg.Go(func() { m.rejoin(ctx) })
	return m, nil
}

func gossipConfig(o MembersOptions, meta []byte) (*memberlist.Config, error) {
	host, port, err := hostPort(o.Bind)
	if err != nil {
		return nil, fmt.Errorf("gossip: %w", err)
	}
	config := memberlist.DefaultLANConfig()
	if ip := net.ParseIP(host); ip != nil && ip.IsLoopback() {
		config = memberlist.DefaultLocalConfig()
	}
	config.Name, config.Label = o.NodeID, o.ClusterID
	config.BindAddr, config.BindPort = host, port
	config.AdvertisePort = port
	if o.Advertise != "" {
		if config.AdvertiseAddr, config.AdvertisePort, err = hostPort(o.Advertise); err != nil {
			return nil, fmt.Errorf("gossip: %w", err)
		}
	}
	config.SecretKey = o.Key
	config.Logger = log.New(&keyLog{inner: o.Logger.Writer()}, "", 0)
	d := &delegate{meta: meta, cluster: o.ClusterID}
	config.Delegate, config.Merge, config.Alive = d, d, d
	return config, nil
}

// listenGossip opens the gossip port for config. If the system is to choose the port, this may need several tries: it
// has to be free for TCP and for UDP.
func listenGossip(config *memberlist.Config, o MembersOptions) (port *gossipPort, err error) {
	tries := 1
	if config.BindPort == 0 {
		tries = 10
	}
	for range tries {
		if port, err = openGossipPort(config, func(c net.Conn) error { return o.answer(c) }); err == nil {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	if config.BindPort == 0 {
		config.BindPort = port.GetAutoBindPort()
		if o.Advertise == "" {
			config.AdvertisePort = config.BindPort
		}
	}
	config.Transport = port
	return port, nil
}

// answer tells a node that wants to join which cluster this is.
func (o *MembersOptions) answer(c net.Conn) error {
	d := Discovery{Cluster: o.ClusterID}
	if o.Servers != nil {
		d.Servers = o.Servers()
	}
	return answerDiscovery(c, o.Key, d)
}

func hostPort(addr string) (string, int, error) {
	host, text, err := net.SplitHostPort(addr)
	if err != nil {
		return "", 0, err
	}
	if host == "" {
		host = "0.0.0.0"
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return "", 0, fmt.Errorf("port of %s: %w", addr, err)
	}
	return host, int(port), nil
}

// rejoin calls the seeds that are not members at the moment.
func (m *Members) rejoin(ctx context.Context) {
	tick := time.NewTicker(rejoinInterval)
	defer tick.Stop()
	for {
		if m.seeds != nil {
			_ = m.Join(m.missing(m.seeds(ctx))) // tried again at the next tick
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

func (m *Members) missing(addrs []string) []string {
	known := append(m.roster.addresses(), m.self)
	return slices.DeleteFunc(slices.Clone(addrs), func(a string) bool { return slices.Contains(known, a) })
}

// Join calls nodes at their gossip addresses. It fails if none of them answers; a node of another cluster doesn't.
func (m *Members) Join(addrs []string) error {
	if len(addrs) == 0 {
		return nil
	}
	n, err := m.list.Join(addrs)
	if n > 0 {
		return nil
	}
	return err
}

// Addr returns the gossip address of this node.
func (m *Members) Addr() string { return m.self }

// List returns the members, this node among them, in the order of their ids.
func (m *Members) List() []Member { return m.roster.members() }

func readMember(meta []byte) (m Member, err error) { return m, json.Unmarshal(meta, &m) }

// Close tells the others that this node leaves and ends the gossip. Only the first call does anything.
func (m *Members) Close() (err error) {
	m.close.Do(func() {
		m.cancel()
		m.wg.Wait()
		_ = m.list.Leave(leaveTimeout) // the others notice anyway
		err = m.list.Shutdown()
	})
	return err
}

// delegate is this node's metadata for memberlist, and rejects nodes of other clusters.
type delegate struct {
	meta    []byte
	cluster string
}

func (d *delegate) NodeMeta(int) []byte { return d.meta }

func (d *delegate) NotifyMsg([]byte) {}

func (d *delegate) GetBroadcasts(int, int) [][]byte { return nil }

func (d *delegate) LocalState(bool) []byte { return nil }

func (d *delegate) MergeRemoteState([]byte, bool) {}

func (d *delegate) NotifyAlive(n *memberlist.Node) error { return d.admit(n) }

// NotifyMerge rejects the whole list of a caller if one of its nodes is of another cluster.
func (d *delegate) NotifyMerge(nodes []*memberlist.Node) error {
	for _, n := range nodes {
		if err := d.admit(n); err != nil {
			return err
		}
	}
	return nil
}

func (d *delegate) admit(n *memberlist.Node) error {
	m, err := readMember(n.Meta)
	if err != nil || m.Cluster != d.cluster {
		return fmt.Errorf("%w: %s at %s", errForeign, n.Name, n.Address())
	}
	return nil
}

// roster keeps copies of the members. memberlist may change the nodes that it hands out at any time; they are safe to
// read only during its notifications.
type roster struct {
	mu    sync.Mutex
	nodes map[string]listed // by name
}

// listed is one node of the roster.
type listed struct {
	addr   string
	member Member
	known  bool // whether its metadata could be read
}

func newRoster() *roster { return &roster{nodes: map[string]listed{}} }

// NotifyJoin implements memberlist.EventDelegate.
func (r *roster) NotifyJoin(n *memberlist.Node) {
	m, err := readMember(n.Meta)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.nodes[n.Name] = listed{addr: n.Address(), member: m, known: err == nil}
}

// NotifyUpdate implements memberlist.EventDelegate.
func (r *roster) NotifyUpdate(n *memberlist.Node) { r.NotifyJoin(n) }

// NotifyLeave implements memberlist.EventDelegate.
func (r *roster) NotifyLeave(n *memberlist.Node) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.nodes, n.Name)
}

// addresses returns the gossip addresses of all members.
func (r *roster) addresses() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []string
	for _, n := range r.nodes {
		all = append(all, n.addr)
	}
	return all
}

// members returns the members whose metadata could be read, in the order of their ids.
func (r *roster) members() []Member {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []Member
	for _, n := range r.nodes {
		if n.known {
			all = append(all, n.member)
		}
	}
	slices.SortFunc(all, func(a, b Member) int { return cmp.Compare(a.ID, b.ID) })
	return all
}
