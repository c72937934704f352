package runs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trireme-dev/trireme/jepsen/testcluster"
	"github.com/trireme-dev/trireme/workflow"
)

// App serves the workflows of a run on loopback, and third parties for their calls.
type App struct {
	// Base is its address.
	Base    string
	cluster *testcluster.Cluster
	// http sends what goes to nodes: the submissions of workflows, and what a test asks.
	http    *http.Client
	flows   http.Handler
	client  *workflow.Client
	server  *http.Server
	served  chan error
	turn    atomic.Uint64
	failing atomic.Int64 // percent

	mu       sync.Mutex
	outs     map[stepKey]string // what deliveries showed
	effects  map[stepKey]int
	arrivals map[attemptKey]int
	problems []string
}

// stepKey names a step of a run.
type stepKey struct {
	run  string
	step string
}

// attemptKey names an attempt of a message.
type attemptKey struct{ message, retried string }

// NewApp starts an app whose workflows talk to the nodes in turn.
func NewApp(c *testcluster.Cluster, workflows func(*App) []workflow.Definition) (*App, error) {
	a := &App{cluster: c, served: make(chan error, 1), outs: map[stepKey]string{}, effects: map[stepKey]int{}, arrivals: map[attemptKey]int{}}
	a.http = &http.Client{Timeout: testcluster.RequestTimeout, Transport: &http.Transport{MaxIdleConnsPerHost: 256}}
	l, err := net.Listen("tcp", net.JoinHostPort(c.Host, "0"))
	if err != nil {
		return nil, err
	}
	a.Base = "http://" + l.Addr().String()
	o := workflow.Options{Node: a.node, Token: testcluster.MessagesToken, Unsigned: true, HTTPClient: a.http, OnResult: a.seen}
	a.flows, a.client = workflow.Handler(o, workflows(a)...), workflow.NewClient(o)
	mux := http.NewServeMux()
	mux.HandleFunc("/out/", a.thirdParty)
	mux.HandleFunc("/flows/", a.deliver)
	a.server = &http.Server{Handler: mux}
	go func() { a.served <- a.server.Serve(l) }()
	return a, nil
}

// Close ends the app.
func (a *App) Close() error {
	err := a.server.Close()
	<-a.served
	a.http.CloseIdleConnections()
	return err
}

// Fail has this part of the calls fail, in percent.
func (a *App) Fail(percent int) { a.failing.Store(int64(percent)) }

func (a *App) node() string {
	nodes := a.cluster.Nodes
	return "http://" + nodes[a.turn.Add(1)%uint64(len(nodes))].HTTP
}

// URL returns the URL of a workflow.
func (a *App) URL(name string) string { return a.Base + "/flows/" + name }

// unlucky reports whether this call fails.
func (a *App) unlucky() bool { return rand.IntN(100) < int(a.failing.Load()) }

// deliver answers a delivery. Half of the failures come before it is looked at, half when
// it has done its work and only the answer is lost.
func (a *App) deliver(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	key := attemptKey{r.Header.Get("Upstash-Message-Id"), r.Header.Get("Upstash-Retried")}
	if attempt := r.Header.Get("Upstash-Workflow-Attempt"); attempt != "" { // retries are counted anew for each step
		key.retried = attempt
	}
	if a.arrivals[key]++; a.arrivals[key] > 1 {
		a.problem("attempt %s of message %s was sent %d times", key.retried, key.message, a.arrivals[key])
	}
	a.mu.Unlock()
	if a.unlucky() {
		if rand.IntN(2) == 0 {
			a.flows.ServeHTTP(discard{http.Header{}}, r)
		}
		w.Header().Set("Upstash-Workflow-Sdk-Version", "1")
		http.Error(w, "bad luck", http.StatusInternalServerError)
		return
	}
	a.flows.ServeHTTP(w, r)
}

// discard is an answer that is not delivered.
type discard struct{ header http.Header }

func (d discard) Header() http.Header         { return d.header }
func (d discard) Write(b []byte) (int, error) { return len(b), nil }
func (d discard) WriteHeader(int)             {}

func (a *App) thirdParty(w http.ResponseWriter, r *http.Request) {
	if a.unlucky() {
		http.Error(w, "bad luck", http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintf(w, "answer to %s", r.URL.Path)
}

// problem keeps the first few; a.mu is held.
func (a *App) problem(format string, args ...any) {
	if len(a.problems) < 20 {
		a.problems = append(a.problems, fmt.Sprintf(format, args...))
	}
}

// seen holds deliveries to one result for each step.
func (a *App) seen(run string, step int, out string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	key := stepKey{run, fmt.Sprint(step)}
	if old, ok := a.outs[key]; ok && old != out {
		a.problem("run %s: step %d was %.100q and is %.100q", run, step, old, out)
	}
	a.outs[key] = out
}

// Effect is a step with an effect: its value is another one each time that it runs.
func (a *App) Effect(c *workflow.Context, name string) string {
	return workflow.Run(c, name, func(context.Context) (string, error) {
		a.mu.Lock()
		defer a.mu.Unlock()
		key := stepKey{c.RunID, name}
		a.effects[key]++
		return fmt.Sprintf("%s %d", name, a.effects[key]), nil
	})
}

// Beside is such a step in parallel with others.
func (a *App) Beside(c *workflow.Context, name string) *workflow.Future[string] {
	return workflow.Go(c, func(c *workflow.Context) (string, error) { return a.Effect(c, name), nil })
}

// Effects returns the number of times that the function of a step has run.
func (a *App) Effects(run, name string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.effects[stepKey{run, name}]
}

// Counts are the functions of steps that ran, and the deliveries that came.
func (a *App) Counts() (effects, arrivals int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, n := range a.effects {
		effects += n
	}
	for _, n := range a.arrivals {
		arrivals += n
	}
	return effects, arrivals
}

// Problems is nil if nothing was seen that must not be.
func (a *App) Problems() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	var all []error
	for _, p := range a.problems {
		all = append(all, errors.New(p))
	}
	return errors.Join(all...)
}

// settings let failed calls of a run be repeated soon and often. own are its further settings, as headers without or with a prefix.
func settings(own map[string]string) workflow.RunOptions {
	o := workflow.RunOptions{Retries: 40, RetryDelay: "100", Settings: map[string]string{"failure-callback-retries": "40"}}
	for name, value := range own { // unordered: headers are
		o.Settings[strings.TrimPrefix(strings.TrimPrefix(name, "upstash-"), "svc-")] = value
	}
	return o
}

// requestTimeout bounds the tries of a request: a majority always lives, or comes back.
const requestTimeout = 60 * time.Second

// Start starts a run, through another node if one doesn't answer. The id makes it one run while it lives, and the deduplication id when it
// is over before its trigger is sent again.
func (a *App) Start(ctx context.Context, name, id, payload string, own map[string]string) error {
	o := settings(own)
	o.URL, o.RunID, o.DeduplicationID = a.URL(name), id, id
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	return testcluster.Poll(ctx, 20*time.Millisecond, func() error {
		_, err := a.client.Trigger(ctx, []byte(payload), o)
		return err
	})
}

// Ask sends a request to a node, once, and returns its answer.
func (a *App) Ask(ctx context.Context, method, path string, headers map[string]string, body []byte) (status int, answer []byte, err error) {
	r, err := http.NewRequestWithContext(ctx, method, a.node()+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	for name, value := range headers { // unordered: headers are
		r.Header.Set(name, value)
	}
	r.Header.Set("Authorization", "Bearer "+testcluster.MessagesToken)
	p, err := a.http.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer p.Body.Close()
	answer, err = io.ReadAll(p.Body)
	return p.StatusCode, answer, err
}

// Call asks any node until one answers below 500, and reads its JSON into v, unless that
// is nil.
func (a *App) Call(ctx context.Context, method, path string, headers map[string]string, body []byte, v any) (status int, err error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	err = testcluster.Poll(ctx, 20*time.Millisecond, func() error {
		var answer []byte
		var err error
		status, answer, err = a.Ask(ctx, method, path, headers, body)
		switch {
		case err != nil:
			return err
		case status >= 500:
			return fmt.Errorf("%s %s: status %d: %.300s", method, path, status, answer)
		case v == nil || status/100 != 2:
			return nil
		}
		return json.Unmarshal(answer, v)
	})
	return status, err
}

// Wake notifies a run of the event that it waits for. A run that is over, or is not there, is no error: the request was sent again after
// its answer was lost, and whether the run has come to its end is asked after that.
func (a *App) Wake(ctx context.Context, id string) error {
	status, err := a.Call(ctx, http.MethodPost, "/v2/notify/"+id+"/go", nil, []byte(`"go on"`), nil)
	if err == nil && status/100 != 2 && status != http.StatusNotFound {
		err = fmt.Errorf("status %d", status)
	}
	if err != nil {
		return fmt.Errorf("notify %s: %w", id, err)
	}
	return nil
}
