package workflow_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/httpapi/httpapitest"
	"github.com/trireme-dev/trireme/workflow"
)

// patience bounds how long a test waits for anything.
const patience = 2 * time.Minute

// world surrounds the workflows: a server that serves them and the third parties that they call, and a record of what has happened.
type world struct {
	t      *testing.T
	base   string
	client *workflow.Client
	nodes  []string

	mu       sync.Mutex
	changed  chan struct{}
	calls    []call
	visits   map[string][]visit
	effects  map[string]int // by run and step
	faults   map[string]int // how many more times something is to fail
	failures map[string]told
	hooks    map[string]string
	said     map[string]bool
	inside   int
	most     int
}

// call is a request to a workflow, visit one to a third party.
type call struct {
	name, run string
	header    http.Header
	size      int64
}

type visit struct {
	method, body string
	header       http.Header
}

// told has the argument of a failure function.
type told struct {
	failed workflow.FailedRun
	input  json.RawMessage
}

// newWorld starts three nodes and an app whose handlers verify what they get.
func newWorld(t *testing.T) *world {
	nodes := httpapitest.ServeDelivering(t, 3, "", nil)
	w := &world{
		t: t, changed: make(chan struct{}), visits: map[string][]visit{}, effects: map[string]int{}, faults: map[string]int{},
		failures: map[string]told{}, hooks: map[string]string{}, said: map[string]bool{},
	}
	for _, addr := range nodes.Addrs {
		w.nodes = append(w.nodes, "http://"+addr)
	}
	o := workflow.Options{Node: w.node, Token: httpapitest.MessagesToken}
	plain := workflow.NewClient(o)
	var keys struct{ Current, Next string }
	if err := plain.Do(t.Context(), "GET", "/v2/keys", nil, nil, &keys); err != nil {
		t.Fatal(err)
	}
	o.CurrentSigningKey, o.NextSigningKey = keys.Current, keys.Next
	flows := workflow.Handler(o, w.workflows()...)
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { w.serve(flows, rw, r) }))
	t.Cleanup(server.Close)
	w.base = server.URL
	o.AppURL = w.base + "/flows"
	w.client = workflow.NewClient(o)
	return w
}

// node is another node each time.
func (w *world) node() string { return w.nodes[rand.IntN(len(w.nodes))] }

func (w *world) serve(flows http.Handler, rw http.ResponseWriter, r *http.Request) {
	if name, is := strings.CutPrefix(r.URL.Path, "/flows/"); is {
		w.change(func() {
			w.calls = append(w.calls, call{name, r.Header.Get("Upstash-Workflow-Runid"), r.Header.Clone(), r.ContentLength})
		})
		flows.ServeHTTP(rw, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // a node has ended
	}
	w.change(func() {
		w.visits[r.URL.Path] = append(w.visits[r.URL.Path], visit{r.Method, string(body), r.Header.Clone()})
	})
	w.thirdParty(rw, r, body)
}

// thirdParty answers below /out: echo what it got, status/N that status, flaky/NAME fails as often as the fault says, huge/N a document with a
// text of N bytes, hugefailure/N the same with status 500, bytes what is no text.
func (w *world) thirdParty(rw http.ResponseWriter, r *http.Request, body []byte) {
	parts := strings.SplitN(r.URL.Path, "/", 4)
	rest := parts[len(parts)-1]
	switch parts[2] {
	case "echo":
		rw.Header().Set("Content-Type", "application/json")
		json.NewEncoder(rw).Encode(echo{r.Method, r.Header.Get("X-Mine"), string(body), r.URL.RequestURI()})
	case "status":
		n, _ := strconv.Atoi(rest)
		rw.WriteHeader(n)
		fmt.Fprint(rw, "status ", rest)
	case "flaky":
		if w.fault(rest) != nil {
			http.Error(rw, "later", http.StatusServiceUnavailable)
			return
		}
		fmt.Fprint(rw, "well")
	case "huge", "hugefailure":
		n, _ := strconv.Atoi(rest)
		if parts[2] == "hugefailure" {
			rw.WriteHeader(http.StatusInternalServerError)
		}
		json.NewEncoder(rw).Encode(huge{strings.Repeat("z", n), true})
	case "text":
		fmt.Fprint(rw, "Grüße <&> \u2028 日本")
	case "bytes":
		rw.Write([]byte{0xff, 0, 0xfe})
	default:
		fmt.Fprint(rw, "answer")
	}
}

type echo struct{ Method, Mine, Body, URL string }

type huge struct {
	Text string
	End  bool
}

// change changes what has happened, and tells those who wait.
func (w *world) change(fn func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	fn()
	close(w.changed)
	w.changed = make(chan struct{})
}

// until waits until what has happened is as wanted.
func (w *world) until(t *testing.T, what string, good func() bool) {
	t.Helper()
	late := time.After(patience)
	for {
		w.mu.Lock()
		done, changed := good(), w.changed
		w.mu.Unlock()
		if done {
			return
		}
		select {
		case <-changed:
		case <-late:
			t.Fatalf("still waiting: %s", what)
		}
	}
}

// did counts an effect of a step and returns how often it has happened.
func (w *world) did(run, step string) (n int) {
	w.change(func() {
		w.effects[run+"/"+step]++
		n = w.effects[run+"/"+step]
	})
	return n
}

func (w *world) times(run, step string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.effects[run+"/"+step]
}

// fault returns an error as often as was asked for.
func (w *world) fault(name string) (err error) {
	w.change(func() {
		if w.faults[name] > 0 {
			w.faults[name]--
			err = errors.New(name + " is broken")
		}
	})
	return err
}

func (w *world) setFault(name string, times int) { w.change(func() { w.faults[name] = times }) }

// heard waits until a test has said something.
func (w *world) heard(ctx context.Context, what string) error {
	for {
		w.mu.Lock()
		said, changed := w.said[what], w.changed
		w.mu.Unlock()
		if said {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (w *world) callsOf(run string) (all []call) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.calls {
		if c.run == run {
			all = append(all, c)
		}
	}
	return all
}

// messagesOf counts the deliveries of a run by their messages.
func (w *world) messagesOf(run string) map[string]int {
	counts := map[string]int{}
	for _, c := range w.callsOf(run) {
		counts[c.header.Get("Upstash-Message-Id")]++
	}
	return counts
}

// once holds steps to one execution for each attempt: one, unless a leader was lost.
func (w *world) once(t *testing.T, run string, steps ...string) {
	t.Helper()
	attempts := 0
	for _, n := range w.messagesOf(run) {
		attempts = max(attempts, n)
	}
	for _, step := range steps {
		if n := w.times(run, step); n < 1 || n > attempts {
			t.Errorf("%s ran %d times in %d attempts", step, n, attempts)
		}
	}
}

// flow is the URL of a workflow.
func (w *world) flow(name string) string { return w.base + "/flows/" + name }

// quick are settings with which failed attempts are soon repeated.
func quick(o workflow.RunOptions) *workflow.RunOptions {
	if o.Retries == 0 {
		o.Retries = 3
	}
	if o.RetryDelay == "" {
		o.RetryDelay = "100"
	}
	return &o
}

// start triggers a workflow and returns the id of its run.
func (w *world) start(t *testing.T, name string, payload any, o workflow.RunOptions) string {
	t.Helper()
	body, err := json.Marshal(payload)
	if err != nil {
		t.Fatal(err)
	}
	if payload == nil {
		body = nil
	}
	o.URL = w.flow(name)
	run, err := w.client.Trigger(t.Context(), body, *quick(o))
	if err != nil {
		t.Fatal(err)
	}
	return run.RunID
}

// ended waits for the end of a run.
func (w *world) ended(t *testing.T, id, state string) *workflow.RunLog {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	run, err := w.client.WaitEnd(ctx, id)
	if err != nil || run.State != state {
		t.Fatalf("run %s: %v: %s, want %s", id, err, show(run), state)
	}
	return run
}

// result waits for the result of a run.
func (w *world) result(t *testing.T, id string) string {
	t.Helper()
	if run := w.ended(t, id, workflow.RunSuccess); run.Result != nil {
		return *run.Result
	}
	return ""
}

// told waits until the failure function of a run was called, and returns what it was called with.
func (w *world) told(t *testing.T, id string) (got told) {
	t.Helper()
	w.until(t, "the failure function", func() bool { got = w.failures[id]; return got.failed.RunID != "" })
	return got
}

// eventually asks nodes until their answer is as wanted.
func eventually(t *testing.T, what string, good func() (bool, any)) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		ok, got := good()
		if ok {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: it stays %s", what, show(got))
		}
	}
}

// waiting waits until n runs wait for an event.
func (w *world) waiting(t *testing.T, event string, n int) (all []workflow.Waiter) {
	t.Helper()
	eventually(t, "waiters of "+event, func() (bool, any) {
		var err error
		all, err = w.client.Waiters(t.Context(), event)
		return err == nil && len(all) == n, fmt.Sprint(all, err)
	})
	return all
}

// letter waits for the dead letter of a run.
func (w *world) letter(t *testing.T, id string) (l workflow.DeadLetter) {
	t.Helper()
	eventually(t, "the dead letter of "+id, func() (bool, any) {
		all := w.letters(t, id)
		if len(all) == 1 {
			l = all[0]
		}
		return len(all) == 1, all
	})
	return l
}

func (w *world) letters(t *testing.T, id string) []workflow.DeadLetter {
	t.Helper()
	page, err := w.client.DeadLetters(t.Context(), workflow.Filter{"workflowRunId": {id}}, "")
	if err != nil {
		t.Fatal(err)
	}
	return page.Letters
}

func (w *world) log(t *testing.T, id string) *workflow.RunLog {
	t.Helper()
	run, err := w.client.Run(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func show(v any) string {
	b, _ := json.Marshal(v)
	return string(b[:min(len(b), 3000)])
}

// is compares two values as JSON.
func is(t *testing.T, what string, got, want any) {
	t.Helper()
	if a, b := show(got), show(want); a != b {
		t.Errorf("%s: %s, want %s", what, a, b)
	}
}
