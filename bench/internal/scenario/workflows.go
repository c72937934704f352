package scenario

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trireme-dev/trireme/bench/internal/load"
	"github.com/trireme-dev/trireme/bench/internal/peer"
	"github.com/trireme-dev/trireme/bench/internal/report"
	"github.com/trireme-dev/trireme/workflow"
)

// runWorkflows measures rows 14 and 15: workflows of three empty steps, 64 at once and one
// at a time, through an endpoint of the product that speaks the protocol of SDKs, against Restate,
// whose own SDK runs its steps.
func runWorkflows(ctx context.Context, b *Bench, rows []*report.Row) {
	ours, stop := b.ourFlows(ctx)
	defer stop()
	restate, err := b.Env.StartRestate(ctx)
	if err == nil {
		defer b.stopping(restate)()
	}
	for _, row := range rows {
		clients, figure := httpConns, rate
		if row.ID == "15" {
			clients, figure = 1, p50ms
		}
		us := &subject{name: fmt.Sprintf("ours, %d at once", clients), err: ours.err}
		us.measure = func(ctx context.Context) (load.Result, error) {
			f, err := ours.run(ctx, clients, b.Warm, b.Duration)
			return flowResult(us.name, clients, b.Duration, f), err
		}
		them := &subject{name: fmt.Sprintf("Restate, %d at once", clients), err: err}
		them.measure = func(ctx context.Context) (load.Result, error) {
			f, err := restate.Run(ctx, clients, b.Warm, b.Duration)
			return flowResult(them.name, clients, b.Duration, f), err
		}
		b.rounds(ctx, us, them)
		if ours.leader != nil {
			b.profile(ctx, us, ours.leader, fmt.Sprintf("workflows-%d", clients))
		}
		compare(row, us, them, figure)
	}
}

func flowResult(name string, clients int, took time.Duration, f peer.Flows) load.Result {
	return load.Result{Name: name, Conns: clients, Rows: 1, Seconds: took.Seconds(), Commands: f.PerSecond, Rate: f.PerSecond, P50: f.P50, P99: f.P99}
}

// flows is an endpoint in this process, and what starts its workflows.
type flows struct {
	err     error
	leader  *peer.Node
	cluster *peer.Trireme
	nodes   []string
	client  *workflow.Client
	url     string
	own     map[string]string // settings of its triggers
	serial  atomic.Int64
	posted  atomic.Int64 // bytes of the bodies of deliveries
	over    sync.Map     // run id → chan struct{}, closed at its acknowledged end
}

// deliveringHere lets the servers that start starts deliver to this process.
func (b *Bench) deliveringHere(start func() (*peer.Trireme, error), more ...string) (*peer.Trireme, error) {
	flags := b.Env.Args
	b.Env.Args = slices.Concat(flags, []string{"--egress-allow", "127.0.0.0/8"}, more)
	defer func() { b.Env.Args = flags }()
	return start()
}

// ourFlows starts three nodes and the endpoint; an error is kept for the rows.
func (b *Bench) ourFlows(ctx context.Context) (f *flows, stop func()) {
	t, err := b.deliveringHere(func() (*peer.Trireme, error) { return b.Env.StartCluster(ctx) })
	if err != nil {
		return &flows{err: err}, func() {}
	}
	b.noteVersion(ctx, t)
	leader, _, _, err := t.Leader(ctx)
	if err != nil {
		return &flows{err: err}, b.stopping(t)
	}
	nodes := b.writeURLs(leader.URL, t.URLs())
	f, closed := newFlows(nodes, newAsking(4*httpConns), empty(3, ""))
	f.leader, f.cluster, f.nodes = leader, t, nodes
	return f, func() { closed(); b.stopping(t)() }
}

// function is the function of a workflow without a result.
type function func(c *workflow.Context, _ []byte) (workflow.None, error)

// empty is a workflow of steps that do nothing and have this result.
func empty(steps int, result string) function {
	nothing := func(context.Context) (string, error) { return result, nil }
	return func(c *workflow.Context, _ []byte) (workflow.None, error) {
		for i := range steps {
			workflow.Run(c, fmt.Sprint("step ", i), nothing)
		}
		return workflow.None{}, nil
	}
}

// newFlows serves a workflow that talks to the nodes in turn.
func newFlows(nodes []string, transport http.RoundTripper, fn function) (f *flows, stop func()) {
	f = &flows{own: map[string]string{"Deduplication-Id": ""}} // its ids are used once
	turn := atomic.Uint64{}
	o := workflow.Options{
		Node:       func() string { return nodes[turn.Add(1)%uint64(len(nodes))] },
		Token:      peer.MessagesToken,
		Unsigned:   true,
		HTTPClient: &http.Client{Transport: transport},
		OnEnd:      f.ended,
	}
	f.client = workflow.NewClient(o)
	app := workflow.Handler(o, workflow.New("empty", fn))
	url, stop, err := serveHere(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.posted.Add(max(r.ContentLength, 0))
		app.ServeHTTP(w, r)
	}))
	if f.err = err; err != nil {
		return f, func() {}
	}
	f.url = url + "empty"
	return f, stop
}

// beside serves another workflow to the nodes of f.
func (f *flows) beside(fn function, own map[string]string) (other *flows, stop func()) {
	other, stop = newFlows(f.nodes, newAsking(4*httpConns), fn)
	maps.Copy(other.own, own)
	return other, stop
}

func (f *flows) ended(run string) {
	if done, waited := f.over.LoadAndDelete(run); waited {
		close(done.(chan struct{}))
	}
}

// one runs one workflow from its trigger to its acknowledged end.
func (f *flows) one(ctx context.Context) error {
	id := fmt.Sprintf("wfr_bench%d", f.serial.Add(1))
	done := make(chan struct{})
	f.over.Store(id, done)
	if _, err := f.client.Trigger(ctx, []byte("1"), workflow.RunOptions{URL: f.url, RunID: id, Settings: f.own}); err != nil {
		return err
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(startTime):
		return fmt.Errorf("run %s has not ended", id)
	}
}

// run runs workflows in a closed loop and counts those that began and ended in the counted
// time.
func (f *flows) run(ctx context.Context, clients int, warm, length time.Duration) (peer.Flows, error) {
	from := time.Now().Add(warm)
	until := from.Add(length)
	var mu sync.Mutex
	var took []float64
	var failed error
	var group sync.WaitGroup
	for range clients {
		group.Go(func() {
			for time.Now().Before(until) {
				begin := time.Now()
				err := f.one(ctx)
				end := time.Now()
				mu.Lock()
				if err != nil {
					failed = err
					mu.Unlock()
					return
				}
				if !begin.Before(from) && !end.After(until) {
					took = append(took, float64(end.Sub(begin))/1e3)
				}
				mu.Unlock()
			}
		})
	}
	group.Wait()
	if failed == nil && len(took) == 0 {
		failed = fmt.Errorf("no workflow ended within %v", length)
	}
	return peer.Flows{PerSecond: float64(len(took)) / length.Seconds(), P50: report.Quantile(took, .5), P99: report.Quantile(took, .99)}, failed
}
