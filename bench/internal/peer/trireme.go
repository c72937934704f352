package peer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/bench/internal/proc"
)

// Credentials of every server of the product that a benchmark starts.
const (
	token      = "bench-standard-token"
	AdminToken = "bench-admin-token"
)

// credentials is the environment that sets them.
var credentials = []string{
	"TRIREME_TOKEN=" + token, "TRIREME_READONLY_TOKEN=bench-readonly-token",
	"TRIREME_MESSAGES_TOKEN=" + MessagesToken, "TRIREME_ADMIN_TOKEN=" + AdminToken,
}

// Node is a process of the product.
type Node struct {
	ID    string
	URL   string // HTTP API
	RESP  string // address of the RESP listener, empty without
	Pprof string // address of the profiler, empty when off
	argv  []string
	env   []string
	dir   string
	logs  string
	child *proc.Child
}

// start runs the node's process; with a data directory from before, it rejoins.
func (n *Node) start() error {
	child, err := proc.Start(n.logs, "trireme-"+n.ID, n.env, n.argv...)
	if err != nil {
		return err
	}
	n.child = child
	return nil
}

// ready waits for 200 from /readyz.
func (n *Node) ready(ctx context.Context) error {
	limit, cancel := within(ctx)
	defer cancel()
	return n.child.Await(limit, func() error { _, err := get(limit, n.URL+"/readyz", ""); return err })
}

// Kill ends the node with SIGKILL and returns when the process is gone.
func (n *Node) Kill() error { return n.child.Kill() }

// ProcessorTime returns the processor time that the node's process has used so far.
func (n *Node) ProcessorTime() (time.Duration, error) { return n.child.ProcessorTime() }

// Snapshot makes the node take a snapshot and returns when it is written.
func (n *Node) Snapshot(ctx context.Context) error {
	_, err := call(ctx, "POST", n.URL+"/admin/snapshot", AdminToken, nil)
	return err
}

// Metrics returns the node's metrics in Prometheus's text form.
func (n *Node) Metrics(ctx context.Context) ([]byte, error) {
	return get(ctx, n.URL+"/metrics", AdminToken)
}

// Profile records seconds of CPU profile.
func (n *Node) Profile(ctx context.Context, seconds int) ([]byte, error) {
	if n.Pprof == "" {
		return nil, errors.New("node was started without --pprof")
	}
	return get(ctx, fmt.Sprintf("http://%s/debug/pprof/profile?seconds=%d", n.Pprof, seconds), "")
}

// Trireme is our product: three nodes, or one in `dev` mode.
type Trireme struct {
	Dialect
	Nodes []*Node
}

// Status is the part of GET /admin/cluster that benchmarks read.
type Status struct {
	Leader string `json:"leader"`
	Term   uint64 `json:"term"`
	Nodes  []struct {
		ID      string `json:"id"`
		Applied uint64 `json:"appliedIndex"`
		Version string `json:"version"`
	} `json:"nodes"`
}

// product finds our binary.
func (en *Env) product() (string, error) {
	path, err := exec.LookPath(en.Trireme)
	if err != nil {
		return "", fmt.Errorf("ours is not built: %w", err)
	}
	return filepath.Abs(path)
}

// StartCluster starts three nodes with a synced log each.
func (en *Env) StartCluster(ctx context.Context) (*Trireme, error) {
	bin, err := en.product()
	if err != nil {
		return nil, err
	}
	const size = 3
	addrs, err := en.Ports.Addrs(4 * size)
	if err != nil {
		return nil, err
	}
	http, cluster, gossip, pprof := addrs[:size], addrs[size:2*size], addrs[2*size:3*size], addrs[3*size:]
	var initial []string
	for i, a := range cluster {
		initial = append(initial, fmt.Sprintf("n%d=%s", i+1, a))
	}
	t := &Trireme{Dialect: triremeDialect(token)}
	for i := range size {
		id := fmt.Sprintf("n%d", i+1)
		argv := []string{bin, "serve", "--node-id", id, "--http", http[i], "--cluster", cluster[i], "--gossip", gossip[i],
			"--initial-cluster", strings.Join(initial, ","), "--heartbeat", en.Heartbeat.String()}
		if err := en.add(t, id, http[i], pprof[i], argv); err != nil {
			return nil, errors.Join(err, t.Stop())
		}
	}
	return t, t.await(ctx)
}

// StartDev starts one node in `dev` mode with its data on the disk, and a RESP listener.
func (en *Env) StartDev(ctx context.Context) (*Trireme, error) { return en.startDev(ctx, "dev") }

// StartOther starts a second node of its own beside that of StartDev.
func (en *Env) StartOther(ctx context.Context) (*Trireme, error) { return en.startDev(ctx, "other") }

// StartNamed starts one more, with data and logs of that name.
func (en *Env) StartNamed(ctx context.Context, name string) (*Trireme, error) {
	return en.startDev(ctx, name)
}

func (en *Env) startDev(ctx context.Context, name string) (*Trireme, error) {
	bin, err := en.product()
	if err != nil {
		return nil, err
	}
	addrs, err := en.Ports.Addrs(3)
	if err != nil {
		return nil, err
	}
	t := &Trireme{Dialect: triremeDialect(token)}
	if err := en.add(t, name, addrs[0], addrs[1], []string{bin, "dev", "--http", addrs[0], "--resp", addrs[2]}); err != nil {
		return nil, errors.Join(err, t.Stop())
	}
	t.Nodes[0].RESP = addrs[2]
	return t, t.await(ctx)
}

// Benchmark runs redis-benchmark against the node's RESP listener; see RunBenchmark.
func (n *Node) Benchmark(ctx context.Context, requests, conns, pipeline, keys int) (float64, error) {
	return RunBenchmark(ctx, n.RESP, token, requests, conns, pipeline, keys)
}

// add completes a node's command line and starts it.
func (en *Env) add(t *Trireme, id, addr, pprof string, argv []string) error {
	dir, err := en.dir("trireme-" + id)
	if err != nil {
		return err
	}
	n := &Node{ID: id, URL: "http://" + addr, dir: dir, logs: en.Logs, argv: slices.Concat(argv, []string{"--data-dir", dir}, en.Args), env: slices.Concat(credentials, en.Variables)}
	if en.Pprof {
		n.Pprof = pprof
		n.argv = append(n.argv, "--pprof", pprof)
	}
	if err := n.start(); err != nil {
		return err
	}
	t.Nodes = append(t.Nodes, n)
	return nil
}

// await waits until every node is ready; on failure it stops them.
func (t *Trireme) await(ctx context.Context) error {
	for _, n := range t.Nodes {
		if err := n.ready(ctx); err != nil {
			return errors.Join(err, t.Stop())
		}
	}
	return nil
}

// URLs are the nodes' addresses.
func (t *Trireme) URLs() []string {
	var all []string
	for _, n := range t.Nodes {
		all = append(all, n.URL)
	}
	return all
}

// Status asks the first node that answers.
func (t *Trireme) Status(ctx context.Context) (Status, error) {
	var errs []error
	for _, n := range t.Nodes {
		limit, cancel := context.WithTimeout(ctx, 2*time.Second)
		b, err := get(limit, n.URL+"/admin/cluster", AdminToken)
		cancel()
		if err != nil {
			errs = append(errs, err)
			continue
		}
		var s Status
		if err := json.Unmarshal(b, &s); err != nil {
			return s, fmt.Errorf("/admin/cluster: %w", err)
		}
		return s, nil
	}
	return Status{}, errors.Join(errs...)
}

// Leader returns the leading node, the others, and the term.
func (t *Trireme) Leader(ctx context.Context) (leader *Node, others []*Node, term uint64, err error) {
	if len(t.Nodes) == 1 {
		return t.Nodes[0], nil, 0, nil
	}
	s, err := t.Status(ctx)
	if err != nil {
		return nil, nil, 0, err
	}
	for _, n := range t.Nodes {
		if n.ID == s.Leader {
			leader = n
		} else {
			others = append(others, n)
		}
	}
	if leader == nil {
		return nil, nil, 0, fmt.Errorf("no node is the leader %q", s.Leader)
	}
	return leader, others, s.Term, nil
}

// Resident is the memory that the node's process has, in bytes.
func (n *Node) Resident() (float64, error) { return n.child.Resident() }

// Restart starts a killed node again and waits until it has caught up.
func (t *Trireme) Restart(ctx context.Context, n *Node) error {
	if err := n.start(); err != nil {
		return err
	}
	return n.ready(ctx)
}

// Preload writes keys in order through the leader.
func (t *Trireme) Preload(ctx context.Context, keys int) error {
	leader, _, _, err := t.Leader(ctx)
	if err != nil {
		return err
	}
	return preload(ctx, At(t.Fill, leader.URL), keys, "trireme")
}

// Stop kills every node and removes its data.
func (t *Trireme) Stop() error {
	var errs []error
	for _, n := range t.Nodes {
		errs = append(errs, n.Kill(), os.RemoveAll(n.dir))
	}
	return errors.Join(errs...)
}
