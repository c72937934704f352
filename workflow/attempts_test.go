package workflow_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/workflow"
)

// recorder is a node that takes everything and keeps it.
type recorder struct {
	t   *testing.T
	url string

	mu   sync.Mutex
	took []string // method, path and body
}

func newRecorder(t *testing.T) *recorder {
	r := &recorder{t: t}
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	r.url = server.URL
	return r
}

func (re *recorder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		re.t.Error(err)
	}
	re.mu.Lock()
	re.took = append(re.took, r.Method+" "+r.URL.Path+" "+string(body))
	re.mu.Unlock()
	io.WriteString(w, "[]")
}

// attempt is the answer to a delivery, with what it has submitted.
type attempt struct {
	status  int
	header  http.Header
	message string
	stack   string
	took    []string
}

// deliver delivers a run whose log has these steps, by their JSON.
func (re *recorder) deliver(w workflow.Definition, payload string, steps ...string) attempt {
	re.t.Helper()
	type element struct {
		MessageID string `json:"messageId"`
		Body      []byte `json:"body"`
		CallType  string `json:"callType"`
	}
	list := []element{{"m0", []byte(payload), "step"}}
	for i, s := range steps {
		list = append(list, element{fmt.Sprint("m", i+1), []byte(s), "step"})
	}
	body, err := json.Marshal(list)
	if err != nil {
		re.t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(re.t.Context(), "POST", "/"+w.Name(), strings.NewReader(string(body)))
	for name, value := range map[string]string{"Runid": "r1", "Sdk-Version": "1", "Createdat": "1700000000000", "Url": "http://app/" + w.Name()} {
		r.Header.Set("Upstash-Workflow-"+name, value)
	}
	r.Header.Set("Traceparent", "00-1-2-01")
	return re.send(w, r)
}

func (re *recorder) send(w workflow.Definition, r *http.Request) attempt {
	re.t.Helper()
	answer := httptest.NewRecorder()
	workflow.Handler(workflow.Options{URL: re.url, Token: "x", Unsigned: true}, w).ServeHTTP(answer, r)
	re.mu.Lock()
	defer re.mu.Unlock()
	a := attempt{status: answer.Code, header: answer.Header(), took: re.took}
	re.took = nil
	var said struct{ Message, Stack string }
	if err := json.Unmarshal(answer.Body.Bytes(), &said); err != nil {
		re.t.Errorf("%s: %v", answer.Body, err)
	}
	a.message, a.stack = said.Message, said.Stack
	return a
}

func result(id int, name, kind, out string, concurrent int) string {
	return fmt.Sprintf(`{"stepId":%d,"stepName":%q,"stepType":%q,"out":%q,"concurrent":%d}`, id, name, kind, out, concurrent)
}

func one(context.Context) (int, error) { return 1, nil }

// TestIncompatible: code that does not fit the recorded steps fails the attempt with an error that names both.
func TestIncompatible(t *testing.T) {
	rc := newRecorder(t)
	w := flow("w", func(c *workflow.Context) (any, error) {
		a := workflow.Go(c, func(c *workflow.Context) (int, error) { return workflow.Run(c, "a", one), nil })
		b := workflow.Go(c, func(c *workflow.Context) (int, error) { return workflow.Run(c, "b", one), nil })
		return workflow.All(a, b)
	})
	single := flow("w", func(c *workflow.Context) (any, error) { return workflow.Run(c, "a", one), nil })
	for _, c := range []struct {
		w    workflow.Definition
		step string
		says []string
	}{
		{single, result(1, "other", "Run", "1", 1), []string{`step 1`, `recorded "other" of type Run`, `comes to "a" of type Run`}},
		{single, result(1, "a", "Call", "1", 1), []string{`"a" of type Call`, `"a" of type Run`}},
		{single, result(1, "a", "Run", `"text"`, 1), []string{"step 1", "text", "no int"}},
		{w, result(1, "a", "Run", "1", 1), []string{`"a" of type Run, and`, `"a" of type Run in a block of 2`}},
		{w, `{"stepId":0,"stepName":"c","stepType":"Run","concurrent":2,"targetStep":2}`, []string{"step 2", `"c" of type Run`, `"b" of type Run`}},
	} {
		a := rc.deliver(c.w, "", c.step)
		if a.status != 500 || !strings.HasPrefix(a.message, "Incompatible step") || len(a.took) != 0 {
			t.Errorf("%s: %+v", c.step, a)
		}
		for _, part := range c.says {
			if !strings.Contains(a.message, part) {
				t.Errorf("%s: %q does not say %s", c.step, a.message, part)
			}
		}
	}
}

func explode() { panic("it is broken") }

// TestPanics: a panic of user code fails the attempt with its stack, wherever it comes from.
func TestPanics(t *testing.T) {
	rc := newRecorder(t)
	branch := func(c *workflow.Context) (int, error) { explode(); return 0, nil }
	for what, fn := range map[string]func(c *workflow.Context) (any, error){
		"the function": func(*workflow.Context) (any, error) { explode(); return nil, nil },
		"a step": func(c *workflow.Context) (any, error) {
			return workflow.Run(c, "a", func(context.Context) (int, error) { explode(); return 0, nil }), nil
		},
		"a branch":            func(c *workflow.Context) (any, error) { return workflow.Go(c, branch).Await() },
		"a deferred function": func(c *workflow.Context) (any, error) { defer explode(); workflow.Sleep(c, "nap", 1); return nil, nil },
	} {
		a := rc.deliver(flow("w", fn), "")
		if a.status != 500 || !strings.HasSuffix(a.message, "it is broken") || !strings.Contains(a.stack, "workflow_test.explode") {
			t.Errorf("%s: %+v", what, a)
		}
	}
	a := rc.deliver(flow("w", func(*workflow.Context) (any, error) { runtime.Goexit(); return nil, nil }), "")
	if a.status != 500 || !strings.Contains(a.message, "runtime.Goexit") {
		t.Errorf("%+v", a)
	}
}

// TestSuspension: what waits ends its goroutines: deferred functions run, nothing can recover it, and no step of a deferred function is done.
func TestSuspension(t *testing.T) {
	rc := newRecorder(t)
	var order []string
	w := flow("w", func(c *workflow.Context) (any, error) {
		workflow.Go(c, func(c *workflow.Context) (int, error) {
			defer func() { order = append(order, "branch") }()
			return workflow.Run(c, "a", one), nil
		})
		defer func() {
			order = append(order, fmt.Sprint("function ", recover()))
		}()
		defer func() {
			order = append(order, "cleanup")
			workflow.Run(c, "cleanup", one)
			order = append(order, "not reached")
		}()
		workflow.Sleep(c, "nap", time.Second)
		order = append(order, "not reached")
		return nil, nil
	})
	a := rc.deliver(w, "")
	is(t, "the order", order, []string{"cleanup", "function <nil>", "branch"})
	if a.status != 200 || len(a.took) != 1 || strings.Count(a.took[0], "targetStep") != 2 {
		t.Errorf("%+v", a)
	}
}

// TestMisuse: steps where none can be fail the run at once, with an error that says what to do.
func TestMisuse(t *testing.T) {
	rc := newRecorder(t)
	for says, fn := range map[string]func(c *workflow.Context) (any, error){
		"within the function of a step": func(c *workflow.Context) (any, error) {
			return workflow.Run(c, "outer", func(context.Context) (int, error) { return workflow.Run(c, "inner", one), nil }), nil
		},
		"another branch": func(outer *workflow.Context) (any, error) {
			return workflow.Go(outer, func(*workflow.Context) (int, error) { return workflow.Run(outer, "a", one), nil }).Await()
		},
	} {
		if a := rc.deliver(flow("w", fn), ""); a.status != 489 || !strings.Contains(a.message, says) || len(a.took) != 0 {
			t.Errorf("%+v", a)
		}
	}
	circle := flow("w", func(c *workflow.Context) (any, error) {
		var f *workflow.Future[int]
		f = workflow.Go(c, func(*workflow.Context) (int, error) { return f.Await() })
		return f.Await()
	})
	if a := rc.deliver(circle, ""); a.status != 500 || !strings.Contains(a.message, "await each other") {
		t.Errorf("%+v", a)
	}
}

type outOfStock struct{ item string }

func (s *outOfStock) Error() string { return "no " + s.item }

// TestErrors: what an error says is in the answer: whether and when the attempt is repeated, the name of the step and of the type.
func TestErrors(t *testing.T) {
	rc := newRecorder(t)
	cause := &outOfStock{"oars"}
	for _, c := range []struct {
		err    error
		status int
		after  string
	}{
		{cause, 500, ""}, {fmt.Errorf("%w", workflow.NonRetryable(cause)), 489, ""}, {workflow.RetryAfter(cause, 1500*time.Millisecond), 429, "2"},
	} {
		if found, is := errors.AsType[*outOfStock](c.err); !is || found != cause || errors.Is(c.err, workflow.ErrNonRetryable) != (c.status == 489) {
			t.Errorf("the chain of %v", c.err)
		}
		a := rc.deliver(flow("w", func(c2 *workflow.Context) (any, error) {
			return workflow.Run(c2, "sell", func(context.Context) (int, error) { return 0, c.err }), nil
		}), "")
		if a.status != c.status || a.message != "no oars" || a.header.Get("Retry-After") != c.after || a.header.Get("Upstash-Error-Step-Name") != "sell" {
			t.Errorf("%v: %+v", c.err, a)
		}
	}
	typed := workflow.New("w", func(*workflow.Context, number) (int, error) { return 1, nil })
	if a := rc.deliver(typed, "no JSON"); a.status != 489 || !strings.Contains(a.message, "payload of workflow w is no workflow_test.number") {
		t.Errorf("%+v", a)
	}
	a := rc.deliver(flow("w", func(*workflow.Context) (any, error) { return nil, workflow.NewError("Closed", "the shop is closed") }), "")
	if a.message != "the shop is closed" || !strings.Contains(a.stack, "TestErrors") || strings.Contains(a.stack, "workflow.(") {
		t.Errorf("%+v", a)
	}
}

// TestTraceHeader: the functions of steps get the trace of their delivery.
func TestTraceHeader(t *testing.T) {
	rc := newRecorder(t)
	var got http.Header
	w := flow("w", func(c *workflow.Context) (any, error) {
		return workflow.Run(c, "a", func(ctx context.Context) (int, error) {
			got = workflow.TraceHeader(ctx)
			return 1, ctx.Err()
		}), nil
	})
	if a := rc.deliver(w, ""); a.status != 200 || got.Get("Traceparent") != "00-1-2-01" {
		t.Errorf("%v %+v", got, a)
	}
	if h := workflow.TraceHeader(t.Context()); len(h) != 0 {
		t.Error(h)
	}
}

// TestFailureFunctions: a workflow without one says so, and the panic of one is an answer.
func TestFailureFunctions(t *testing.T) {
	rc := newRecorder(t)
	fail := func(w workflow.Definition) attempt {
		r := httptest.NewRequestWithContext(t.Context(), "POST", "/w", strings.NewReader(`{"status":500,"body":"eA==","workflowRunId":"r1"}`))
		r.Header.Set("Upstash-Workflow-Failure-Callback", "true")
		return rc.send(w, r)
	}
	w := flow("w", nil)
	if a := fail(w); a.status != 200 || a.header.Get("Upstash-Workflow-Failure-Callback-Notfound") != "true" {
		t.Errorf("%+v", a)
	}
	w.OnFailure(func(context.Context, *workflow.Failure[[]byte]) (string, error) { explode(); return "", nil })
	if a := fail(w); a.status != 500 || a.message != "it is broken" || a.header.Get("Upstash-Workflow-Failure-Callback-Notfound") != "" {
		t.Errorf("%+v", a)
	}
}

// TestRequests: what is no delivery of a workflow that is here is refused.
func TestRequests(t *testing.T) {
	rc := newRecorder(t)
	w := flow("w", func(*workflow.Context) (any, error) { return nil, nil })
	for _, c := range []struct {
		method, path string
		status       int
	}{{"GET", "/w", 405}, {"POST", "/other", 404}, {"POST", "/w", 200}} {
		if a := rc.send(w, httptest.NewRequestWithContext(t.Context(), c.method, c.path, strings.NewReader("{}"))); a.status != c.status {
			t.Errorf("%s %s: %d", c.method, c.path, a.status)
		}
	}
	for what, make := range map[string]func(){
		"two of a name": func() { workflow.Handler(workflow.Options{}, flow("a", nil), flow("a", nil)) }, "a slash": func() { flow("a/b", nil) }, "no name": func() { flow("", nil) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", what)
				}
			}()
			make()
		}()
	}
	_, err := flow("w", nil).Trigger(t.Context(), workflow.NewClient(workflow.Options{URL: rc.url}), nil, nil)
	if err == nil || !strings.Contains(err.Error(), "UPSTASH_WORKFLOW_URL") {
		t.Error(err)
	}
}
