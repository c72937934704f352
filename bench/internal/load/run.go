package load

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/trireme-dev/trireme/bench/internal/hist"
)

// Spec is one measurement.
type Spec struct {
	Name     string        // names the result
	Targets  []string      // URLs whose path is a Template; connection i uses the i-th, round-robin
	Method   string        // HTTP method
	Body     string        // Template of the body; empty for none
	Type     string        // Content-Type of the body; application/json when empty
	Bearer   string        // token of the Authorization header; none when empty
	Rows     int           // above 1: Body is repeated so often, with commas, between Open and Close
	Open     string        // what stands before the rows; "[" when both are empty
	Close    string        // what stands after them
	Conns    int           // connections
	Keys     int           // number of different keys for {key}
	Value    int           // characters of {val}
	Warm     time.Duration // time before counting starts
	Duration time.Duration // counted time
	Requests uint64        // above 0: stop after this many requests instead of by Duration; {key} counts up from 0
	Check    Check         // what a good reply is
	Timeout  time.Duration // limit of one request; 10 s when 0

	// Stop, when not nil, ends the counted time early by being closed.
	Stop <-chan struct{}
}

// Result is the result of one measurement. Latencies are in microseconds.
type Result struct {
	Name      string  `json:"name,omitempty"`
	Conns     int     `json:"conns"`
	Rows      int     `json:"rows"`
	Seconds   float64 `json:"seconds"`
	Requests  uint64  `json:"requests"`
	Bad       uint64  `json:"bad"`        // replies that failed their check
	Errors    uint64  `json:"errors"`     // connections that broke or timed out
	FirstFail string  `json:"first_fail"` // the first bad reply or error
	Rate      float64 `json:"req_per_s"`
	Commands  float64 `json:"cmd_per_s"`
	P50       float64 `json:"p50_us"`
	P99       float64 `json:"p99_us"`
	P999      float64 `json:"p999_us"`
	Max       float64 `json:"max_us"`
	OwnCPU    float64 `json:"own_cpu_us"` // processor time of this process for each request, microseconds
}

// Failed returns an error when any request of the measurement failed.
func (r *Result) Failed() error {
	if r.Bad+r.Errors == 0 && r.Requests > 0 {
		return nil
	}
	return fmt.Errorf("%s: %d of %d replies bad, %d connections failed, first: %s", r.Name, r.Bad, r.Requests, r.Errors, r.FirstFail)
}

// run is the state that the connections of one measurement share.
type run struct {
	spec     Spec
	phase    atomic.Int32 // warming, counting, over
	bad      atomic.Uint64
	errs     atomic.Uint64
	sent     atomic.Uint64 // requests in all phases, added up as connections end
	issued   atomic.Uint64 // blocks of work handed out, when Requests is set
	failOnce sync.Once
	fail     string
	mu       sync.Mutex
	total    hist.H
	cpu      time.Duration // of this process when the run began
	once     sync.Once
	first    chan struct{} // closes with the first counted reply, or failure
}

const (
	warming = iota
	counting
	over
)

// Run measures spec. It fails only when spec makes no sense or ctx ends;
// failures of the server are counted in the Result.
func Run(ctx context.Context, spec Spec) (Result, error) {
	targets, err := spec.complete()
	if err != nil {
		return Result{}, err
	}
	r := &run{spec: spec, cpu: processCPU(), first: make(chan struct{})}
	if spec.Requests > 0 {
		r.phase.Store(counting) // all of them, the first one too
	}
	start := time.Now()
	var wg sync.WaitGroup
	for i := range spec.Conns {
		wg.Go(func() { r.connection(ctx, targets[i%len(targets)], uint64(i)) })
	}
	took := r.pace(ctx, start, &wg)
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	return r.result(took), nil
}

// complete fills in defaults and parses the targets.
func (s *Spec) complete() ([]*url.URL, error) {
	if len(s.Targets) == 0 || s.Conns < 1 {
		return nil, errors.New("load: no target or no connection")
	}
	s.Rows, s.Keys = max(s.Rows, 1), max(s.Keys, 1)
	if s.Open == "" && s.Close == "" {
		s.Open, s.Close = "[", "]"
	}
	if s.Type == "" {
		s.Type = "application/json"
	}
	if s.Timeout == 0 {
		s.Timeout = 10 * time.Second
	}
	var targets []*url.URL
	for _, t := range s.Targets {
		u, err := url.Parse(t)
		if err != nil {
			return nil, fmt.Errorf("load: target: %w", err)
		}
		targets = append(targets, u)
	}
	return targets, nil
}

// pace moves the run, which began at start, through its phases and returns the counted time.
func (r *run) pace(ctx context.Context, start time.Time, wg *sync.WaitGroup) time.Duration {
	if r.spec.Requests > 0 {
		wg.Wait()
		return time.Since(start)
	}
	sleep(ctx, r.spec.Warm, nil)
	start = time.Now()
	r.phase.Store(counting)
	sleep(ctx, r.spec.Duration, r.spec.Stop)
	// A busy machine may not have answered anything by then, and nothing can't be measured.
	sleep(ctx, r.spec.Timeout, r.first)
	r.phase.Store(over)
	return time.Since(start)
}

// sleep waits for d, for stop to be closed, or for the end of ctx.
func sleep(ctx context.Context, d time.Duration, stop <-chan struct{}) {
	select {
	case <-time.After(d):
	case <-stop:
	case <-ctx.Done():
	}
}

// failed notes the first failure's text.
func (r *run) failed(err error) {
	r.failOnce.Do(func() { r.fail = err.Error() })
	r.answered()
}

// answered ends the wait for the first outcome.
func (r *run) answered() { r.once.Do(func() { close(r.first) }) }

// result turns the counts into figures.
func (r *run) result(took time.Duration) Result {
	us := func(d time.Duration) float64 { return float64(d) / 1e3 }
	n, secs := r.total.N(), took.Seconds()
	return Result{
		Name: r.spec.Name, Conns: r.spec.Conns, Rows: r.spec.Rows, Seconds: secs,
		Requests: n, Bad: r.bad.Load(), Errors: r.errs.Load(), FirstFail: r.fail,
		Rate: float64(n) / secs, Commands: float64(n) * float64(r.spec.Rows) / secs,
		P50: us(r.total.Quantile(.5)), P99: us(r.total.Quantile(.99)), P999: us(r.total.Quantile(.999)), Max: us(r.total.Max()),
		OwnCPU: us(processCPU()-r.cpu) / float64(max(r.sent.Load(), 1)),
	}
}

// processCPU is the processor time, user and system, of this process so far.
func processCPU() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
