package testcluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/trireme-dev/trireme/internal/failpoint"
	"github.com/trireme-dev/trireme/internal/testports"
	"github.com/trireme-dev/trireme/jepsen/testcluster/network"
)

// Tokens of every cluster under test. They guard nothing but loopback.
const (
	Token                 = "test-standard-token"
	ReadOnlyToken         = "test-read-only-token"
	MessagesToken         = "eyJVc2VySUQiOiJsYWIiLCJQYXNzd29yZCI6Im1lc3NhZ2VzIn0=" // {"UserID":"lab",...}, for webhooks
	MessagesReadOnlyToken = "test-messages-read-only-token"
	AdminToken            = "test-admin-token"
)

// ErrNoLeader is returned when no running node names a leader.
var ErrNoLeader = errors.New("no leader")

// ErrStayed is returned when the leader was asked to hand over and says that it could not.
var ErrStayed = errors.New("the leader stayed")

// Options describes a cluster under test.
type Options struct {
	Binary    string        // the product's binary
	Dir       string        // data directories and logs go here
	Size      int           // number of nodes; 0 means 3
	Heartbeat time.Duration // 0 means the default of 500 ms
	Args      []string      // further flags for every node
	Env       []string      // further environment for every node, NAME=value
	RESP      bool          // every node has a RESP port
	Secure    bool          // the nodes show each other certificates
	Secret    string        // the nodes share it and show each other certificates of it
	SecureAPI bool          // of a secure cluster: they show them to clients too, HTTP and RESP
	Network   Kind          // what stands between the nodes
	Disks     bool          // every node has a file system of its own; only for root
}

// Cluster is a set of nodes on loopback, with one first configuration.
type Cluster struct {
	Nodes []*Node
	// Net carries the traffic between the nodes and injects faults into it; nil on plain loopback.
	Net network.Network
	// Host is the address at which the nodes reach the harness.
	Host string

	options   Options
	authority *Authority // of secure nodes
	trusted   trust      // whom clients of secure nodes believe
	joined    *Block     // of nodes that joined
	guests    []*Node    // nodes that joined

	ports   *Block
	resp    *Block // nil without RESP ports
	relayed *Block // the ports of a relay, nil without
	mu      sync.Mutex
	crashes []Crash
}

// NewCluster reserves ports and directories and starts nothing.
func NewCluster(o Options) (*Cluster, error) {
	if o.Size == 0 {
		o.Size = 3
	}
	if o.Heartbeat == 0 {
		o.Heartbeat = 500 * time.Millisecond
	}
	if 3*o.Size > testports.BlockSize {
		return nil, fmt.Errorf("a cluster of %d does not fit a block of %d ports", o.Size, testports.BlockSize)
	}
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("new cluster: %w", err)
	}
	ports, err := ReserveBlock()
	if err != nil {
		return nil, err
	}
	c := &Cluster{ports: ports, options: o, Host: loopbackHost}
	if err := errors.Join(c.secure(), c.connect(o)); err != nil {
		ports.Release()
		return nil, err
	}
	if o.RESP {
		if c.resp, err = ReserveBlock(); err != nil {
			ports.Release()
			return nil, err
		}
	}
	for i := range o.Size {
		c.Nodes = append(c.Nodes, c.newNode(o, i))
	}
	if err := c.equip(o); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// secure makes the authority of a cluster that is to have one.
func (c *Cluster) secure() (err error) {
	if !c.options.Secure {
		return nil
	}
	if c.authority, err = NewAuthority(); err != nil {
		return err
	}
	dir := filepath.Join(c.options.Dir, "certificates")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("new cluster: %w", err)
	}
	c.trusted.put(c.authority)
	return WriteTrusted(dir, c.authority)
}

// newNode lays out the i-th node of the first configuration.
func (c *Cluster) newNode(o Options, i int) *Node {
	n := c.lay(fmt.Sprintf("n%d", i+1), c.ports, 3*i, []string{"--initial-cluster", c.initialCluster(o.Size)})
	c.speakRESP(n, i)
	return n
}

// speakRESP gives a node the i-th of the RESP ports, if nodes have any.
func (c *Cluster) speakRESP(n *Node, i int) {
	if c.resp != nil {
		n.RESP = c.resp.Addr(i)
		n.argv = append(n.argv, "--resp", n.RESP)
	}
}

// littleDisk lets nodes on the machine's own disk write to the last: how full that is says nothing about them. It is a
// variable, because earlier releases don't know the flag.
const littleDisk = "TRIREME_MIN_FREE_DISK=64MiB"

// lay lays out a node. Its three ports are next to each other, from the place first of
// a block on.
func (c *Cluster) lay(id string, ports *Block, first int, args []string) *Node {
	o := c.options
	n := &Node{
		ID:            id,
		name:          id,
		HTTP:          ports.Addr(first),
		Cluster:       ports.Addr(first + 1),
		Gossip:        ports.Addr(first + 2),
		DataDir:       filepath.Join(o.Dir, id),
		LogPath:       filepath.Join(o.Dir, id+".log"),
		failpointFile: failpointFile{points: filepath.Join(o.Dir, id+".failpoints")},
		onEnd:         c.recordCrash,
		ordered:       map[*Process]bool{},
	}
	n.env = append(nodeEnvironment(o.Env), failpoint.EnvFile+"="+n.points)
	n.argv = append([]string{
		o.Binary, "serve", "--node-id", id, "--data-dir", n.DataDir,
		"--http", n.HTTP, "--cluster", n.Cluster, "--gossip", n.Gossip,
		"--heartbeat", o.Heartbeat.String(), "--log-level", "info",
	}, append(args, o.Args...)...)
	if !o.Disks {
		n.env = append(n.env, littleDisk)
	}
	if o.Secret != "" {
		n.env = append(n.env, "TRIREME_CLUSTER_SECRET="+o.Secret)
	}
	if c.authority != nil {
		dir := filepath.Join(o.Dir, "certificates")
		n.unready = c.authority.Issue(dir, id)
		n.argv = append(n.argv, "--cluster-ca", filepath.Join(dir, "ca.pem"),
			"--cluster-cert", filepath.Join(dir, id+".pem"), "--cluster-key", filepath.Join(dir, id+".key"))
	}
	if ports == c.ports {
		c.place(n, first/3)
	}
	if o.SecureAPI {
		n.argv = append(n.argv, c.apiCertificate(id)...)
		n.tls = c.trusted.config(id)
	}
	n.client = newClient(n.HTTP, Token, n.tls)
	n.admin = newClient(n.HTTP, AdminToken, n.tls)
	n.mail = newClient(n.HTTP, MessagesToken, n.tls)
	return n
}

func (c *Cluster) initialCluster(size int) string {
	var members []string
	for i := range size {
		members = append(members, fmt.Sprintf("n%d=%s", i+1, c.clusterAddr(i)))
	}
	return strings.Join(members, ",")
}

// nodeEnvironment returns the environment of a node: its tokens, a strict race detector, and none of
// the harness's own settings of the product.
func nodeEnvironment(extra []string) []string {
	env := []string{
		"TRIREME_TOKEN=" + Token,
		"TRIREME_READONLY_TOKEN=" + ReadOnlyToken,
		"TRIREME_MESSAGES_TOKEN=" + MessagesToken,
		"TRIREME_MESSAGES_READONLY_TOKEN=" + MessagesReadOnlyToken,
		"TRIREME_ADMIN_TOKEN=" + AdminToken,
		"GORACE=halt_on_error=1 atexit_sleep_ms=100",
	}
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "GOMAXPROCS", "GOMEMLIMIT", "GOGC"} {
		if value, set := os.LookupEnv(name); set {
			env = append(env, name+"="+value)
		}
	}
	return append(env, extra...)
}

// Start starts every node that is down.
func (c *Cluster) Start() error {
	for _, n := range c.Nodes {
		if err := n.Start(); err != nil && !errors.Is(err, ErrRunning) {
			return err
		}
	}
	return nil
}

// WaitReady returns when every node is ready, or with the context's end.
func (c *Cluster) WaitReady(ctx context.Context) error {
	for _, n := range c.Nodes {
		if err := c.WaitNodeReady(ctx, n); err != nil {
			return err
		}
	}
	return nil
}

// WaitNodeReady returns when the node is ready. It gives up at once when the
// node has ended by itself, since it will never be.
func (c *Cluster) WaitNodeReady(ctx context.Context, n *Node) error {
	return Poll(ctx, 5*time.Millisecond, func() error {
		if n.Ready(ctx) {
			return nil
		}
		if n.Pid() == 0 {
			return Permanent(fmt.Errorf("%s is not running; its log ends:\n%s", n.ID, n.Tail(20)))
		}
		return fmt.Errorf("%s is not ready; its log ends:\n%s", n.ID, n.Tail(20))
	})
}

// Leadership is the leader and the term that one node reports.
type Leadership struct {
	Node int // index into Cluster.Nodes
	Term uint64
}

// Leader asks every running node and believes the answer of the highest term.
// The leader it names may be dead: a follower learns that a little later.
func (c *Cluster) Leader(ctx context.Context) (Leadership, error) {
	best := Leadership{Node: -1}
	var mu sync.Mutex
	var asked sync.WaitGroup
	for _, n := range c.Nodes {
		if !n.Up() {
			continue
		}
		asked.Go(func() {
			l, err := c.ask(ctx, n)
			mu.Lock()
			defer mu.Unlock()
			if err == nil && l.Term >= best.Term {
				best = l
			}
		})
	}
	asked.Wait()
	if best.Node < 0 {
		return best, ErrNoLeader
	}
	return best, nil
}

// ask reads one node's view of the cluster.
func (c *Cluster) ask(ctx context.Context, n *Node) (Leadership, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	status, body, err := n.admin.Get(ctx, "/admin/cluster")
	if err != nil {
		return Leadership{}, err
	}
	var view struct {
		Leader string `json:"leader"`
		Term   uint64 `json:"term"`
	}
	if err := json.Unmarshal(body, &view); err != nil || status != http.StatusOK {
		return Leadership{}, fmt.Errorf("%s: /admin/cluster: status %d: %w", n.ID, status, err)
	}
	for i, member := range c.Nodes {
		if member.Name() == view.Leader {
			return Leadership{Node: i, Term: view.Term}, nil
		}
	}
	return Leadership{}, ErrNoLeader
}

// WaitLeader returns the leader once a running node is named as such.
func (c *Cluster) WaitLeader(ctx context.Context) (Leadership, error) {
	var leader Leadership
	err := Poll(ctx, 10*time.Millisecond, func() error {
		l, err := c.Leader(ctx)
		if err != nil {
			return err
		}
		if !c.Nodes[l.Node].Up() {
			return ErrNoLeader
		}
		leader = l
		return nil
	})
	return leader, err
}

// TransferLeadership asks the leader to hand over to anyone.
func (c *Cluster) TransferLeadership(ctx context.Context) error {
	return c.transfer(ctx, struct{}{})
}

// TransferLeadershipTo asks the leader to hand over to a node.
func (c *Cluster) TransferLeadershipTo(ctx context.Context, n *Node) error {
	return c.transfer(ctx, map[string]string{"to": n.Name()})
}

func (c *Cluster) transfer(ctx context.Context, order any) error {
	l, err := c.Leader(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	status, _, body, err := c.Nodes[l.Node].admin.post(ctx, "/admin/cluster/transfer-leader", order)
	if err != nil {
		return fmt.Errorf("transfer leadership: %w", err)
	}
	switch {
	case status == http.StatusServiceUnavailable && bytes.Contains(body, []byte(ErrNoLeader.Error())):
		return fmt.Errorf("transfer leadership: %w", ErrNoLeader)
	case status == http.StatusServiceUnavailable:
		return fmt.Errorf("transfer leadership: %w: %.200s", ErrStayed, body)
	case status/100 != 2:
		return fmt.Errorf("transfer leadership: status %d: %.200s", status, body)
	}
	return nil
}

func (c *Cluster) recordCrash(crash Crash) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.crashes = append(c.crashes, crash)
}

// Crashes returns the unexpected ends of processes.
func (c *Cluster) Crashes() []Crash {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]Crash(nil), c.crashes...)
}

// Forgive forgets the ends of a node's processes so far: an experiment expected them.
func (c *Cluster) Forgive(n *Node) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.crashes = slices.DeleteFunc(c.crashes, func(crash Crash) bool { return crash.Node == n.ID })
}

// Close kills what runs and gives the ports back. Directories stay.
func (c *Cluster) Close() {
	for _, n := range c.all() {
		if err := n.Kill(); err != nil && !errors.Is(err, ErrDown) {
			c.recordCrash(Crash{Node: n.ID, Log: err.Error()})
		}
		n.client.Close()
		n.admin.Close()
		n.mail.Close()
	}
	c.ports.Release()
	if c.joined != nil {
		c.joined.Release()
	}
	if c.resp != nil {
		c.resp.Release()
	}
	c.dismantle()
}
