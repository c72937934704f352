package spectest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/httpapi/httpapitest"
	"github.com/trireme-dev/trireme/workflow"
)

// world is three nodes that deliver, and an app. Its endpoints below /m/ only keep their requests, and answer as their
// names say; the test itself submits the next steps of a run. Those below /flows/ run workflows.
type world struct {
	*testing.T
	*office
}

type office struct {
	nodes []string
	app   *httptest.Server
	flows http.Handler

	mu       sync.Mutex
	got      map[string][]*delivery // by run
	calls    map[string][]*delivery // of third parties, by path
	ran      map[string]int
	broken   map[string]bool
	inside   int
	most     int
	failures map[string]int
	held     map[string]chan struct{} // see gate
	over     chan struct{}            // closed when the test ends
}

// delivery is a request that the app got.
type delivery struct {
	at       time.Time
	path     string
	header   http.Header
	body     []byte
	elements []element
}

type element struct {
	MessageID string `json:"messageId"`
	Body      []byte `json:"body"`
	CallType  string `json:"callType"`
}

// options are those of an endpoint that talks to any node.
func (o *office) options() workflow.Options {
	return workflow.Options{Node: o.node, Token: httpapitest.MessagesToken, Unsigned: true}
}

// failed is the failure function of the workflows.
func (o *office) failed(_ context.Context, f *workflow.Failure[[]byte]) (string, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.failures[f.RunID]++
	return "", nil
}

func startWorld(t *testing.T) *world {
	o := &office{got: map[string][]*delivery{}, calls: map[string][]*delivery{}, ran: map[string]int{}, broken: map[string]bool{}, failures: map[string]int{}, held: map[string]chan struct{}{}, over: make(chan struct{})}
	description, err := httpapitest.ReadDescription("../../messages/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	nodes := httpapitest.ServeDelivering(t, 3, "", nil)
	for _, addr := range nodes.Addrs {
		o.nodes = append(o.nodes, httpapitest.Watch(t, description, addr))
	}
	o.flows = workflow.Handler(o.options(), o.workflows()...)
	o.app = httptest.NewServer(o)
	t.Cleanup(o.app.Close)
	t.Cleanup(func() { close(o.over) })
	return &world{t, o}
}

func (w *world) in(t *testing.T) *world { return &world{t, w.office} }

func (o *office) node() string { return o.nodes[rand.IntN(len(o.nodes))] }

// ServeHTTP keeps the request and answers as the path says.
func (o *office) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	d := &delivery{at: time.Now(), path: r.URL.Path, header: r.Header.Clone(), body: body}
	_ = json.Unmarshal(body, &d.elements) // what is no list has none
	run := r.Header.Get("Upstash-Workflow-Runid")
	kind, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	o.mu.Lock()
	if kind == "out" {
		o.calls[r.URL.Path] = append(o.calls[r.URL.Path], d)
	} else {
		o.got[run] = append(o.got[run], d)
	}
	nth := len(o.calls[r.URL.Path])
	o.inside++
	o.most = max(o.most, o.inside)
	o.mu.Unlock()
	defer func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.inside--
	}()
	switch {
	case kind == "flows":
		o.flows.ServeHTTP(w, r)
	case kind == "out":
		thirdParty(w, rest, nth)
	case rest == "handshake" && r.Header.Get("Upstash-Workflow-Unknown-Sdk") != "", rest == "lost":
		select {
		case <-o.gate(run): // while the test starts the run as an SDK does, or submits the step
		case <-o.over:
		}
		answer(w, rest)
	case r.Header.Get("Upstash-Workflow-Failure-Callback") != "":
		o.answerFailure(w, rest)
	default:
		answer(w, rest)
	}
}

// gate returns the channel that holds up the answers to some deliveries of a run until a test closes it.
func (o *office) gate(run string) chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.held[run] == nil {
		o.held[run] = make(chan struct{})
	}
	return o.held[run]
}

// answer answers a delivery.
func answer(w http.ResponseWriter, mode string) {
	if mode != "plain" {
		w.Header().Set("Upstash-Workflow-Sdk-Version", "1")
		w.Header().Set("Upstash-Workflow-Sdk", "v1.0.0")
	}
	switch mode {
	case "bad", "badfail":
		w.Header().Set("Upstash-Error-Step-Name", "the bad step")
		http.Error(w, `{"error":"Error","message":"it is bad"}`, http.StatusInternalServerError)
	case "final":
		w.Header().Set("Upstash-NonRetryable-Error", "true")
		http.Error(w, `{"error":"Error","message":"never again"}`, 489)
	case "later":
		w.Header().Set("Retry-After", "1")
		http.Error(w, `{"error":"Error","message":"later"}`, http.StatusTooManyRequests)
	case "lost":
		http.Error(w, `{"error":"Error","message":"the answer is lost"}`, http.StatusInternalServerError)
	case "slow":
		time.Sleep(100 * time.Millisecond) // the work of a step
	}
}

// answerFailure answers the call of a failure function.
func (o *office) answerFailure(w http.ResponseWriter, mode string) {
	switch mode {
	case "badfail":
		http.Error(w, "no", http.StatusInternalServerError)
	default:
		w.Header().Set("X-Told", "yes")
		io.WriteString(w, `{"result":"told"}`)
	}
}

// thirdParty answers a call: /out/again/… refuses the first one, /out/never/… all.
func thirdParty(w http.ResponseWriter, rest string, nth int) {
	kind, _, _ := strings.Cut(rest, "/")
	if kind == "never" || kind == "again" && nth == 1 {
		http.Error(w, "later", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("X-Third", "yes")
	io.WriteString(w, "third party")
}

// url returns the URL of an endpoint of the app.
func (w *world) url(path string) string { return w.app.URL + "/" + path }

// id makes a run id.
func (w *world) id() string { return fmt.Sprintf("wfr_spec_%x", rand.Uint64()) }

// try sends a request to any node.
func (w *world) try(method, path string, headers map[string]string, body string) (status int, text string) {
	w.Helper()
	r, err := http.NewRequestWithContext(w.Context(), method, w.node()+path, strings.NewReader(body))
	if err != nil {
		w.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+httpapitest.MessagesToken)
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(r)
	reply := httpapitest.ReadReply(w, response, err)
	return reply.Status, reply.Body
}

// ask does what try does, fails the test unless the status is want, and returns the JSON.
func (w *world) ask(want int, method, path string, headers map[string]string, body string) value {
	w.Helper()
	status, text := w.try(method, path, headers, body)
	if status != want {
		w.Fatalf("%s %s: status %d, want %d: %.500s", method, path, status, want, text)
	}
	return w.parse(text)
}

// value is JSON.
type value struct{ v any }

func (w *world) parse(text string) value {
	w.Helper()
	if text == "" {
		return value{}
	}
	var v any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		w.Fatalf("%v: %.300s", err, text)
	}
	return value{v}
}

// at follows names and places down; below a missing value it finds nothing. A place below 0 is counted from the end.
func (v value) at(path ...any) value {
	for _, one := range path {
		switch one := one.(type) {
		case string:
			m, _ := v.v.(map[string]any)
			v = value{m[one]}
		case int:
			list, _ := v.v.([]any)
			if one < 0 {
				one += len(list)
			}
			if one < 0 || one >= len(list) {
				return value{}
			}
			v = value{list[one]}
		}
	}
	return v
}

func (v value) String() string {
	switch x := v.v.(type) {
	case nil:
		return ""
	case string:
		return x
	case json.Number:
		return x.String()
	}
	text, _ := json.Marshal(v.v)
	return string(text)
}

func (v value) int() int64 {
	n, _ := v.v.(json.Number)
	i, _ := n.Int64()
	return i
}

func (v value) len() int {
	list, _ := v.v.([]any)
	return len(list)
}

// is compares values with texts.
func (w *world) is(what string, got value, want string) {
	w.Helper()
	if got.String() != want {
		w.Errorf("%s: %q, want %q", what, got, want)
	}
}

func (w *world) true(good bool, format string, args ...any) {
	w.Helper()
	if !good {
		w.Errorf(format, args...)
	}
}

// until waits for a condition.
func (w *world) until(what string, good func() bool) {
	w.Helper()
	for end := time.Now().Add(time.Minute); !good(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			w.Fatalf("still waiting: %s", what)
		}
	}
}

// start starts a run at an endpoint, whose failed calls are repeated soon.
func (w *world) start(path, payload string, own map[string]string) string {
	w.Helper()
	id := w.id()
	w.startAs(id, path, payload, own)
	return id
}

func (w *world) startAs(id, path, payload string, own map[string]string) value {
	w.Helper()
	h := triggerHeaders(w.url(path), id)
	h["upstash-retry-delay"] = "20"
	for name, v := range own {
		h[name] = v
	}
	for name, v := range h {
		if v == "" {
			delete(h, name)
		}
	}
	return w.batch(200, w.url(path), h, payload).at(0)
}

// batch sends a batch of one message.
func (w *world) batch(want int, destination string, headers map[string]string, body string) value {
	w.Helper()
	item, _ := json.Marshal([]map[string]any{{"destination": destination, "headers": headers, "body": body}})
	return w.ask(want, "POST", "/v2/batch", map[string]string{"Content-Type": "application/json"}, string(item))
}

// stepHeaders returns the headers of a message of a run.
func (w *world) stepHeaders(id, path string) map[string]string {
	return map[string]string{
		"content-type": "application/json", "upstash-method": "POST", "upstash-workflow-init": "false", "upstash-workflow-runid": id,
		"upstash-workflow-url": w.url(path), "upstash-workflow-sdk-version": "1", "upstash-feature-set": "LazyFetch,InitialBody,WF_DetectTrigger,WF_TriggerOnConfig",
		"upstash-forward-upstash-workflow-sdk-version": "1",
	}
}

// submit submits the result of a step, or a plan.
func (w *world) submit(id, path, step string) value {
	w.Helper()
	return w.batch(200, w.url(path), w.stepHeaders(id, path), step).at(0)
}

// wait makes a step wait for an event.
func (w *world) wait(id, path, event, timeout string, step int, kind string) (status int, text string) {
	w.Helper()
	h := w.stepHeaders(id, path)
	h["upstash-workflow-calltype"] = "step"
	body := fmt.Sprintf(`{"url":%q,"timeout":%q,"timeoutUrl":%q,"timeoutHeaders":{"Upstash-Workflow-RunId":[%q],"Upstash-Forward-Upstash-Workflow-Sdk-Version":["1"]},"step":{"stepId":%d,"stepType":%q,"stepName":"w","concurrent":1}}`,
		w.url(path), timeout, w.url(path), id, step, kind)
	return w.try("POST", "/v2/wait/"+event, h, body)
}

// waits does what wait does, and fails the test unless it is accepted.
func (w *world) waits(id, path, event, timeout string, step int) {
	w.Helper()
	if status, text := w.wait(id, path, event, timeout, step, "Wait"); status/100 != 2 {
		w.Fatalf("wait: status %d: %s", status, text)
	}
}

// end ends a run with a result.
func (w *world) end(id, result string) {
	w.Helper()
	w.ask(200, "DELETE", "/v2/workflows/runs/"+id+"?cancel=false", map[string]string{"Content-Type": "text/plain"}, result)
}

// deliveries returns the deliveries of a run so far; delivery waits for the nth.
func (w *world) deliveries(id string) []*delivery {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.got[id])
}

func (w *world) delivery(id string, nth int) *delivery {
	w.Helper()
	w.until(fmt.Sprintf("delivery %d of %s", nth, id), func() bool { return len(w.deliveries(id)) >= nth })
	return w.deliveries(id)[nth-1]
}

// log returns a run as logs show it.
func (w *world) log(id string) value {
	w.Helper()
	return w.ask(200, "GET", "/v2/workflows/logs?workflowRunId="+id, nil, "").at("runs", 0)
}

// state waits until a run has a state.
func (w *world) state(id, state string) value {
	w.Helper()
	var l value
	w.until(id+" "+state, func() bool {
		l = w.log(id)
		return l.at("workflowState").String() == state
	})
	return l
}

// fail starts a run that fails at once, and returns its log.
func (w *world) fail(mode string, payload string, own map[string]string) (string, value) {
	w.Helper()
	if own == nil {
		own = map[string]string{}
	}
	if own["upstash-retries"] == "" {
		own["upstash-retries"] = "0"
	}
	id := w.start("m/"+mode, payload, own)
	return id, w.state(id, "RUN_FAILED")
}

// letter returns the dead letter of a failed run.
func (w *world) letter(id string) value {
	w.Helper()
	return w.ask(200, "GET", "/v2/workflows/dlq/"+w.log(id).at("dlqId").String(), nil, "")
}

// did counts the runs of a step's function.
func (o *office) did(key string) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ran[key]++
	return o.ran[key]
}

func (o *office) times(key string) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.ran[key]
}

func (o *office) breaks(name string, broken bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.broken[name] = broken
}

// step is a step that counts how often it has run.
func (o *office) step(c *workflow.Context, name string) int {
	return workflow.Run(c, name, func(context.Context) (int, error) { return o.did(c.RunID + "/" + name), nil })
}

// workflows returns the workflows below /flows/.
func (o *office) workflows() []workflow.Definition {
	call := func(c *workflow.Context, url string) (string, error) {
		r, err := workflow.Call(c, "call", workflow.Request{URL: o.app.URL + url, Method: "PUT", Body: []byte("a body"), Retries: 1, RetryDelay: "50"})
		if _, is := errors.AsType[*workflow.CallError](err); is {
			err = nil
		}
		return fmt.Sprint(r.Status, " ", string(r.Body)), err
	}
	child := workflow.New("child", func(c *workflow.Context, _ []byte) (int, error) { return o.step(c, "child"), nil })
	all := []*workflow.Workflow[[]byte, string]{
		workflow.New("three", func(c *workflow.Context, payload []byte) (string, error) {
			o.step(c, "one")
			o.step(c, "two")
			return workflow.Run(c, "three", func(context.Context) (string, error) {
				o.did(c.RunID + "/three")
				o.mu.Lock()
				defer o.mu.Unlock()
				if o.broken[string(payload)] {
					return "", workflow.NonRetryable(errors.New("not to be retried"))
				}
				return "whole", nil
			}), nil
		}),
		workflow.New("parallel", func(c *workflow.Context, _ []byte) (string, error) {
			workflow.Go(c, func(c *workflow.Context) (int, error) { return o.step(c, "left"), nil })
			called := workflow.Go(c, func(c *workflow.Context) (string, error) { return call(c, "/out/again/"+c.RunID) })
			workflow.Go(c, func(c *workflow.Context) (int, error) { workflow.Sleep(c, "nap", time.Second); return 0, nil })
			_, err := called.Await()
			return "joined", err
		}),
		workflow.New("parent", func(c *workflow.Context, _ []byte) (string, error) {
			n, err := workflow.Invoke(c, "invoke", child, []byte(`{"n":1}`), &workflow.RunOptions{URL: o.app.URL + "/flows/child"})
			return fmt.Sprint(n), err
		}),
		workflow.New("call", func(c *workflow.Context, payload []byte) (string, error) { return call(c, "/out/"+string(payload)) }),
	}
	definitions := []workflow.Definition{child.OnFailure(o.failed)}
	for _, w := range all {
		definitions = append(definitions, w.OnFailure(o.failed))
	}
	return definitions
}

// triggerHeaders returns the headers of a message that starts a run.
func triggerHeaders(url, id string) map[string]string {
	const features = "LazyFetch,InitialBody,WF_DetectTrigger,WF_TriggerOnConfig"
	return map[string]string{
		"content-type": "application/json", "upstash-method": http.MethodPost, "upstash-workflow-init": "true", "upstash-workflow-runid": id,
		"upstash-workflow-url": url, "upstash-workflow-sdk-version": "1", "upstash-feature-set": features,
		"upstash-forward-upstash-workflow-sdk-version": "1", "upstash-failure-callback": url,
		"upstash-failure-callback-forward-upstash-workflow-is-failure":       "true",
		"upstash-failure-callback-forward-upstash-workflow-failure-callback": "true",
		"upstash-failure-callback-workflow-runid":                            id, "upstash-failure-callback-workflow-url": url,
		"upstash-failure-callback-workflow-init": "false", "upstash-failure-callback-workflow-calltype": "failureCall",
		"upstash-failure-callback-feature-set": features,
	}
}
