package fake

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
)

// StoreEnv names the URL of the Store that fake nodes share; a test binary
// that finds it set runs a node instead of its tests.
const StoreEnv = "BENCH_FAKE_STORE"

// FaultEnv names a fault: "stale" (followers answer GET with nothing),
// "elections" (every look at the cluster finds a new term).
const FaultEnv = "BENCH_FAKE_FAULT"

// HeapStep is the growth of a fake node's heap between two scrapes, in bytes.
const HeapStep = 1_000_000

// Store is the state that the fake nodes of one cluster share: the data and the leader.
type Store struct {
	Gateway
	mu     sync.Mutex
	leader string
	term   int
}

// ServeHTTP answers forwarded commands, and at /leader?id=n1 notes who leads.
func (s *Store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/leader" {
		s.Gateway.ServeHTTP(w, r)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if id := r.URL.Query().Get("id"); id != s.leader || r.URL.Query().Get("fault") == "elections" {
		s.leader, s.term = id, s.term+1
	}
	fmt.Fprint(w, s.term)
}

// node is one fake process.
type node struct {
	flags map[string]string
	store string
	fault string
	proxy *httputil.ReverseProxy

	applies, forks atomic.Int64
}

// Node serves a fake node with the product's command line, for ever. Which
// node leads is decided by who is there: the first of the list.
func Node(args []string) error {
	n := &node{flags: map[string]string{}, store: os.Getenv(StoreEnv), fault: os.Getenv(FaultEnv)}
	for i := 1; i+1 < len(args); i += 2 {
		n.flags[strings.TrimPrefix(args[i], "--")] = args[i+1]
	}
	target, err := url.Parse(n.store)
	if err != nil {
		return err
	}
	n.proxy = httputil.NewSingleHostReverseProxy(target)
	if addr := n.flags["cluster"]; addr != "" {
		// A node counts as alive while it is reachable here.
		alive, err := net.Listen("tcp", addr)
		if err != nil {
			return err
		}
		defer alive.Close()
	}
	if addr := n.flags["pprof"]; addr != "" {
		profiler, err := net.Listen("tcp", addr)
		if err != nil {
			return err
		}
		go http.Serve(profiler, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	}
	return http.ListenAndServe(n.flags["http"], n)
}

// ServeHTTP answers the paths that benchmarks use and forwards the rest.
func (n *node) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/readyz":
	case "/admin/cluster":
		n.cluster(w)
	case "/admin/snapshot":
		n.forks.Add(1)
	case "/metrics":
		n.metrics(w)
	default:
		if n.fault == "stale" && n.leader() != n.flags["node-id"] {
			n.stale(w, r)
			return
		}
		n.proxy.ServeHTTP(w, r)
	}
}

// stale forgets every value when asked for one.
func (n *node) stale(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	if bytes.HasPrefix(body, []byte(`["GET"`)) {
		fmt.Fprint(w, `{"result":null}`)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	n.proxy.ServeHTTP(w, r)
}

// leader is the first listed node that is alive.
func (n *node) leader() string {
	for member := range strings.SplitSeq(n.flags["initial-cluster"], ",") {
		id, addr, _ := strings.Cut(member, "=")
		if c, err := net.Dial("tcp", addr); err == nil {
			c.Close()
			return id
		}
	}
	return "dev"
}

// cluster answers GET /admin/cluster.
func (n *node) cluster(w http.ResponseWriter) {
	leader := n.leader()
	res, err := http.Get(n.store + "/leader?id=" + leader + "&fault=" + n.fault)
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	defer res.Body.Close()
	term, _ := io.ReadAll(res.Body)
	fmt.Fprintf(w, `{"leader":%q,"term":%s,"nodes":[{"id":%q,"version":"fake"}]}`, leader, term, leader)
}

// metrics shows a growing number of applies of at most 1 ms, each snapshot as a fork of
// at most 2 ms, and a heap that grows by HeapStep from one scrape to the next.
func (n *node) metrics(w http.ResponseWriter) {
	applies, forks := n.applies.Add(10), n.forks.Load()
	fmt.Fprintf(w, "trireme_apply_seconds_bucket{le=\"0.001\"} %d\ntrireme_apply_seconds_bucket{le=\"+Inf\"} %d\n", applies, applies)
	fmt.Fprintf(w, "trireme_snapshot_fork_seconds_bucket{le=\"0.001\"} 0\ntrireme_snapshot_fork_seconds_bucket{le=\"0.002\"} %d\n", forks)
	fmt.Fprintf(w, "trireme_snapshot_fork_seconds_bucket{le=\"+Inf\"} %d\n", forks)
	fmt.Fprintf(w, "go_memstats_heap_alloc_bytes %d\ntrireme_apply_batch_bytes_sum %d\n", applies/10*HeapStep, applies)
}
