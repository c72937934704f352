package clustertest

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/cluster"
	"github.com/trireme-dev/trireme/cluster/consensus/logstore"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/internal/certs"
	"github.com/trireme-dev/trireme/internal/testports"
)

// Cluster is a cluster of real nodes.
type Cluster struct {
	T     testing.TB
	Nodes []*cluster.Node
	List  []cluster.Peer
	Dirs  []string
	// Adjust may change a node's options before it is opened.
	Adjust func(*cluster.Options)

	joins []joining
	mu    sync.RWMutex // of Nodes, for Write and Read during Join
}

func (c *Cluster) node(i int) *cluster.Node {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.Nodes[i]
}

func (c *Cluster) put(i int, n *cluster.Node) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i == len(c.Nodes) {
		c.Nodes = append(c.Nodes, nil)
	}
	c.Nodes[i] = n
}

// Token opens the keyspace of every test cluster.
const Token = "test-token"

// Ports reserves n addresses of loopback until the test ends. They lie below the range
// from which outgoing connections take theirs, so that a node that is down for a moment
// finds its port free.
func Ports(t testing.TB, n int) []string {
	t.Helper()
	addrs := make([]string, 0, n)
	for len(addrs) < n {
		b, err := testports.Reserve()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(b.Release)
		for i := 0; i < b.Size() && len(addrs) < n; i++ {
			addrs = append(addrs, b.Addr(i))
		}
	}
	return addrs
}

// Start starts n nodes and waits until all can serve.
func Start(t testing.TB, n int, adjust func(*cluster.Options)) *Cluster {
	t.Helper()
	c := &Cluster{T: t, Nodes: make([]*cluster.Node, n), Adjust: adjust}
	for i, addr := range Ports(t, n) {
		c.List = append(c.List, cluster.Peer{ID: fmt.Sprintf("n%d", i+1), Addr: addr})
		c.Dirs = append(c.Dirs, filepath.Join(t.TempDir(), c.List[i].ID))
	}
	c.StartAll()
	t.Cleanup(c.StopAll)
	return c
}

// StartAll starts every node that is not running, side by side.
func (c *Cluster) StartAll() {
	c.T.Helper()
	var wg sync.WaitGroup
	errs := make([]error, len(c.Nodes))
	for i := range c.Nodes {
		if c.Nodes[i] == nil {
			wg.Go(func() { c.Nodes[i], errs[i] = cluster.Open(context.Background(), c.options(i)) })
		}
	}
	wg.Wait()
	for i, err := range errs {
		if err != nil {
			c.T.Fatalf("node %s: %v", c.List[i].ID, err)
		}
	}
	c.WaitReady()
}

// Open starts one node that is not running, without waiting for it.
func (c *Cluster) Open(i int) error {
	n, err := cluster.Open(context.Background(), c.options(i))
	if err == nil {
		c.put(i, n)
	}
	return err
}

func (c *Cluster) options(i int) cluster.Options {
	o := cluster.Options{
		NodeID: c.List[i].ID, DataDir: c.Dirs[i],
		Addresses: cluster.Addresses{Bind: c.List[i].Addr}, Entrance: cluster.Entrance{InitialCluster: c.List},
		Heartbeat: 300 * time.Millisecond,
		// The disk is shared with other tests, and may be nearly full.
		DiskStall: time.Minute, Space: logstore.Space{Floor: logstore.Floor{Bytes: 64 << 20}},
		Owner: cluster.Owner{
			Fatal: func(reason string) { c.T.Errorf("node %s must stop: %s", c.List[i].ID, reason) },
			Bootstrap: func(bool) (fsm.Bootstrap, bool) {
				var f fsm.Bootstrap
				f.Tokens[acl.Standard] = acl.DigestOf(Token)
				return f, false
			},
		},
	}
	for _, j := range c.joins {
		if j.place == i {
			o.InitialCluster, o.Replace = nil, j.replaces
			o.Join = []string{c.List[0].Addr, c.List[1].Addr, c.List[2].Addr}
		}
	}
	if os.Getenv("TRIREME_TEST_LOG") != "" {
		o.Log = slog.New(slog.NewTextHandler(os.Stderr, nil)).With("node", o.NodeID)
	}
	if c.Adjust != nil {
		c.Adjust(&o)
	}
	return o
}

// Join starts a further node that joins by way of node 0's cluster port, in the place of
// the server replaces if that isn't empty, at addr or, if that is empty, at one of its
// own. It returns the node's place, once it can serve.
func (c *Cluster) Join(id, replaces, addr string) (int, error) {
	c.T.Helper()
	if addr == "" {
		addr = Ports(c.T, 1)[0]
	}
	i := len(c.Nodes)
	c.put(i, nil)
	c.List = append(c.List, cluster.Peer{ID: id, Addr: addr})
	c.Dirs = append(c.Dirs, filepath.Join(c.T.TempDir(), id))
	c.joins = append(c.joins, joining{i, replaces})
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	n, err := cluster.Open(ctx, c.options(i))
	if err != nil {
		return i, err
	}
	c.put(i, n)
	c.WaitReady()
	return i, nil
}

// joining is a node that joined.
type joining struct {
	place    int
	replaces string
}

// WaitReady waits until every running node can serve.
func (c *Cluster) WaitReady() {
	c.T.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for i, n := range c.Nodes {
		for n != nil && !n.Ready(ctx) {
			if ctx.Err() != nil {
				c.T.Fatalf("node %s is not ready", c.List[i].ID)
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
}

// stopLimit bounds how long a node that stops tries to hand its leadership over: the last ones of a cluster have nobody to take it.
const stopLimit = 10 * time.Second

// Stop closes one node.
func (c *Cluster) Stop(i int) {
	ctx, cancel := context.WithTimeout(context.Background(), stopLimit)
	defer cancel()
	c.Nodes[i].Close(ctx)
	c.Nodes[i] = nil
}

// StopAll closes every node. None hands its leadership over to another that is about to stop.
func (c *Cluster) StopAll() {
	over, cancel := context.WithCancel(context.Background())
	cancel()
	for i, n := range c.Nodes {
		if n != nil {
			n.Close(over)
			c.Nodes[i] = nil
		}
	}
}

// Leader returns the place of the node that leads, waiting for one.
func (c *Cluster) Leader() int {
	c.T.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		for i, n := range c.Nodes {
			if n != nil && n.IsLeader() {
				return i
			}
		}
	}
	c.T.Fatal("no leader")
	return -1
}

// Words makes an argument vector.
func Words(words ...string) [][]byte {
	argv := make([][]byte, len(words))
	for i, w := range words {
		argv[i] = []byte(w)
	}
	return argv
}

// Write runs one command through the log on node i.
func (c *Cluster) Write(i int, words ...string) (reply.Value, error) {
	return WriteTo(c.node(i), words...)
}

// WriteTo runs one command through the log of a node.
func WriteTo(n *cluster.Node, words ...string) (reply.Value, error) {
	r, err := fsm.Do(context.Background(), n, fsm.Exec, fsm.Batch{As: acl.Trusted(acl.DefaultName), Rows: [][][]byte{Words(words...)}})
	if err != nil {
		return reply.Value{}, err
	}
	return r.Values[0], nil
}

// Read runs one command as a linearizable read on node i.
func (c *Cluster) Read(i int, words ...string) (v reply.Value, err error) {
	_, err = c.node(i).Read(context.Background(), fsm.Reading{}, func(view *fsm.View) {
		v = view.Exec(acl.Trusted(acl.DefaultName), command.OriginInternal, Words(words...))
	})
	return v, err
}

// WithSecret makes nodes share a secret on the cluster port. Pass it to Start.
func WithSecret(secret string) func(*cluster.Options) {
	return func(o *cluster.Options) {
		secrets, err := certs.ParseSecrets(secret)
		if err != nil {
			panic(err)
		}
		authority, pair, err := certs.FromSecrets(secrets, o.NodeID, slog.New(slog.DiscardHandler))
		if err != nil {
			panic(err)
		}
		o.Security = &cluster.Security{Authority: authority, Pair: pair}
	}
}
