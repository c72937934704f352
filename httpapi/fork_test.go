package httpapi_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/httpapi"
	"github.com/trireme-dev/trireme/httpapi/httpapitest"
	"github.com/trireme-dev/trireme/httpapi/messages"
	"github.com/trireme-dev/trireme/workflow"
)

// forks is three nodes that deliver, and an app with a workflow of six steps: a block in its middle with a call to a third party, and at its
// end one that breaks as long as the app is broken.
type forks struct {
	*mail
	app   *httptest.Server
	ended chan string // runs that have succeeded or failed

	mu     sync.Mutex
	ran    map[string]int // by run and step
	calls  int
	broken bool
}

func startForks(t *testing.T) *forks {
	t.Helper()
	f := &forks{ended: make(chan string, 100), ran: map[string]int{}}
	nodes := httpapitest.ServeDelivering(t, 3, "", func(o *httpapi.Options) {
		o.Messages = &messages.Parser{Prefixes: httpapitest.Prefixes()}
	})
	f.mail = &mail{T: t, nodes: nodes, token: httpapitest.MessagesToken}
	failed := func(_ context.Context, n *workflow.Failure[[]byte]) (string, error) {
		f.ended <- n.RunID
		return "", nil
	}
	o := workflow.Options{URL: "http://" + nodes.Addrs[0], Token: f.token, Unsigned: true, OnEnd: func(run string) { f.ended <- run }}
	e := workflow.Handler(o, workflow.New("flow", f.flow).OnFailure(failed), workflow.New("waits", f.waiting).OnFailure(failed), workflow.New("spends", f.spends).OnFailure(failed))
	f.app = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/third") {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.calls++
			fmt.Fprint(w, "paid")
			return
		}
		e.ServeHTTP(w, r)
	}))
	t.Cleanup(f.app.Close)
	return f
}

func (f *forks) step(c *workflow.Context, name string, out int) string {
	return fmt.Sprint(workflow.Run(c, name, func(context.Context) (int, error) { return out, f.run(c, name) }))
}

// run counts the execution of a step.
func (f *forks) run(c *workflow.Context, name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ran[c.RunID+" "+name]++
	if name == "six" && f.broken {
		return workflow.NonRetryable(errors.New("broken"))
	}
	return nil
}

// state is a step that sets the state of the run.
func (f *forks) state(c *workflow.Context, name string, n int) {
	workflow.Commit(c, name, func(context.Context) (workflow.Outcome[*int], error) {
		return workflow.Outcome[*int]{State: map[string]int{"step": n}, Updates: map[string]string{fmt.Sprint("after", n): ""}}, f.run(c, name)
	})
}

func (f *forks) flow(c *workflow.Context, _ []byte) (string, error) {
	f.state(c, "one", 1)
	two := workflow.Go(c, func(c *workflow.Context) (string, error) { return f.step(c, "two", 2), nil })
	three := workflow.Go(c, func(c *workflow.Context) (string, error) {
		r, err := workflow.Call(c, "three", workflow.Request{URL: f.app.URL + "/third", Method: "POST"})
		return string(r.Body), err
	})
	four := workflow.Go(c, func(c *workflow.Context) (string, error) { return f.step(c, "four", 4), nil })
	all, err := workflow.All(two, three, four)
	f.state(c, "five", 5)
	return all[0] + f.step(c, "six", 6), err
}

func (f *forks) waiting(c *workflow.Context, _ []byte) (string, error) {
	f.step(c, "one", 1)
	return workflow.Wait[string](c, "approval", "approved", time.Hour)
}

// end waits until a run has succeeded or failed.
func (f *forks) end(id string) {
	f.Helper()
	for {
		select {
		case run := <-f.ended:
			if run == id {
				return
			}
		case <-time.After(time.Minute):
			f.Fatalf("run %s does not end: %s", id, f.has(200, "", "GET", "/v2/workflows/runs/"+id+"/explain", ""))
		}
	}
}

func (f *forks) log(id string) string {
	f.Helper()
	return f.has(200, `"workflowRunId":"`+id+`"`, "GET", "/v2/workflows/logs?workflowRunId="+id, "")
}

// counts says how often each step of a run was run, from one to six.
func (f *forks) counts(id string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var b strings.Builder
	for _, name := range []string{"one", "two", "four", "five", "six"} {
		fmt.Fprint(&b, f.ran[id+" "+name])
	}
	return b.String()
}

// fork forks a run and returns the id.
func (f *forks) fork(id, body string, header ...string) string {
	f.Helper()
	text := f.has(200, `"forkedFrom":{"workflowRunId":"`+id+`"`, "POST", "/v2/workflows/runs/"+id+"/fork", body, header...)
	fork, _ := f.object(text)["workflowRunId"].(string)
	return fork
}

// TestForkOfAFinishedRun: a fork at any step runs the steps after it, each once, and ends as the run did, which stays as it is.
func TestForkOfAFinishedRun(t *testing.T) {
	f := startForks(t)
	f.want(200, "", "POST", "/v2/trigger/"+f.app.URL+"/flow", `{}`, "Upstash-Workflow-RunId", "r", "Upstash-Label", "nightly")
	f.end("r")
	log := f.log("r")
	for _, c := range []struct {
		body, state, counts string
		calls               int
	}{
		{`{"step":0}`, "", "11111", 1},
		{`{"step":1}`, "1", "01111", 1},
		{`{"step":5}`, "5", "00001", 0},
		{`{"step":6}`, "5", "00000", 0},
		{``, "5", "00000", 0},
	} {
		calls := f.calls
		id := f.fork("r", c.body, "Upstash-Label", "fork")
		f.end(id)
		if got := f.counts(id); got != c.counts || f.calls != calls+c.calls {
			t.Errorf("%s: the steps ran %s times, and the call %d times", c.body, got, f.calls-calls)
		}
		if text := f.log(id); !strings.Contains(text, `"RUN_SUCCESS"`) || !strings.Contains(text, `"label":"fork"`) || !strings.Contains(text, `"forkedFrom":{"workflowRunId":"r"`) {
			t.Errorf("%s: %s", c.body, text)
		}
		f.has(200, `"forkedFrom":{"workflowRunId":"r"`, "GET", "/v2/workflows/runs/"+id+"/explain", "")
		f.has(200, `"state":{"step":5}`, "GET", "/v2/workflows/runs/"+id+"/state", "")
	}
	for step := 2; step <= 4; step++ { // in which order a block is done is chance
		id := f.fork("r", fmt.Sprintf(`{"step":%d,"workflowRunId":"block-%d"}`, step, step))
		f.end(id)
		if got := f.counts(id); id != fmt.Sprint("block-", step) || got[0] != '0' || got[3:] != "11" || strings.ContainsAny(got, "23456789") {
			t.Errorf("%s: the steps ran %s times", id, got)
		}
	}
	if now := f.log("r"); now != log {
		t.Errorf("the run was\n%s\nand is\n%s", log, now)
	}
	f.has(404, "has no result of step 7: its steps 1 to 6 have one, 0 is its payload", "POST", "/v2/workflows/runs/r/fork", `{"step":7}`)
	f.has(404, "workflow run nobody not found", "POST", "/v2/workflows/runs/nobody/fork", "")
	f.has(404, "workflow run r not found", "POST", "/v2/workflows/runs/r/fork?workflowCreatedAt=1", "")
	for _, wrong := range []string{`{"step":-1}`, `{"step":"x"}`, `[]`, `{"url":"nowhere"}`} {
		f.has(400, "", "POST", "/v2/workflows/runs/r/fork", wrong)
	}
	f.has(403, "only that user, or one that may run ACL SETUSER, may name it", "POST", "/v2/workflows/runs/r/fork", "", "Svc-Commit-As", "nobody")
}

// TestForkOfAFailedRun: a fork goes on where the run has failed, and the run keeps its dead letter.
func TestForkOfAFailedRun(t *testing.T) {
	f := startForks(t)
	f.broken = true
	f.want(200, "", "POST", "/v2/trigger/"+f.app.URL+"/flow", `{}`, "Upstash-Workflow-RunId", "r", "Upstash-Retries", "0")
	f.end("r")
	_, steps, _ := strings.Cut(f.log("r"), `"steps":`)
	f.mu.Lock()
	f.broken = false
	f.mu.Unlock()
	id := f.fork("r", `{}`)
	f.end(id)
	if got := f.counts(id); got != "00001" {
		t.Errorf("the steps ran %s times", got)
	}
	if now := f.log("r"); !strings.HasSuffix(now, steps) || !strings.Contains(now, `"dlqId"`) {
		t.Errorf("the steps were\n%s\nand the run is\n%s", steps, now)
	}
	f.has(200, `"RUN_SUCCESS"`, "GET", "/v2/workflows/logs?workflowRunId="+id, "")
}

// TestForkOfAWaitingRun: a fork of a run that waits waits as well, and each of them gets the event that is for it. An id that lives is
// refused, and the state of a fork is that of its last step.
func TestForkOfAWaitingRun(t *testing.T) {
	f := startForks(t)
	f.want(200, "", "POST", "/v2/trigger/"+f.app.URL+"/waits", `{}`, "Upstash-Workflow-RunId", "r")
	f.waiters("r")
	f.fork("r", `{"workflowRunId":"f"}`)
	f.waiters("r", "f")
	f.has(400, "workflow run id f is already in use", "POST", "/v2/workflows/runs/r/fork", `{"workflowRunId":"f"}`)
	f.want(200, "", "POST", "/v2/notify/f/approved", "now")
	f.end("f")
	if text := f.log("r"); !strings.Contains(text, `"RUN_STARTED"`) || f.counts("f") != "00000" {
		t.Error(text)
	}
	f.want(200, "", "POST", "/v2/notify/approved", "then")
	f.end("r")
}

// waiters waits until some runs wait for approval.
func (f *forks) waiters(ids ...string) {
	f.Helper()
	missing := func(text string) bool {
		return slices.ContainsFunc(ids, func(id string) bool { return !strings.Contains(text, `"`+id+`"`) })
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		text := f.has(200, "", "GET", "/v2/waiters/approved", "")
		switch {
		case !missing(text):
			return
		case time.Now().After(deadline):
			f.Fatalf("%v do not all wait: %s", ids, text)
		}
	}
}

// spends is a workflow of three steps with commands: each leaves another value of a key, the last of which is that of the fork alone.
func (f *forks) spends(c *workflow.Context, _ []byte) (workflow.None, error) {
	for i, value := range []string{"10", "7", "1"} {
		workflow.Commit(c, fmt.Sprint("step ", i), func(context.Context) (o workflow.Outcome[*int], err error) {
			o.Commands = []workflow.Command{{"SET", "cart:1", value}, {"DEL", "none"}}
			if i < 2 {
				o.Commands = append(o.Commands, workflow.Command{"SET", "once", i, "PX", 3_600_000})
			}
			return o, f.run(c, fmt.Sprint(i))
		})
	}
	return workflow.None{}, nil
}

// TestForkIntoADatabase: a fork with the values of keys as a step has left them runs in a database that is made for it, by an endpoint that
// has its token; the keys of the run that is forked stay as they are.
func TestForkIntoADatabase(t *testing.T) {
	f := startForks(t)
	f.want(200, "", "POST", "/v2/trigger/"+f.app.URL+"/spends", `{}`, "Upstash-Workflow-RunId", "r", "Svc-Commit-As", "default", "Svc-Commit-Token", httpapitest.Token,
		"Svc-Keep-Values", "cart:*, once, none")
	f.end("r")
	f.has(200, `"values":[{"key":"cart:1","stepId":1,"type":"string","size":`, "GET", "/v2/workflows/runs/r/values", "")
	if text := f.has(200, `{"key":"cart:1","stepId":2,`, "GET", "/v2/workflows/runs/r/values?step=2", ""); strings.Contains(text, `"stepId":1`) || !strings.Contains(text, `{"key":"none","stepId":2}`) {
		t.Error(text)
	}
	f.has(404, "has no result of step 4", "GET", "/v2/workflows/runs/r/values?step=4", "")
	f.has(400, "invalid step", "GET", "/v2/workflows/runs/r/values?step=x", "")
	f.has(404, "workflow run nobody not found", "GET", "/v2/workflows/runs/nobody/values", "")

	const path = "/v2/workflows/runs/r/fork"
	f.has(403, "needs the admin token", "POST", path, `{"step":2,"database":"scratch","url":"`+f.app.URL+`/spends"}`)
	f.token = httpapitest.AdminToken
	f.has(400, "name the url of an endpoint", "POST", path, `{"step":2,"database":"scratch"}`)
	f.has(400, "keys are for a fork in a database of its own", "POST", path, `{"step":2,"keys":["a"]}`)
	f.has(400, "invalid keys", "POST", path, `{"step":2,"database":"scratch","url":"`+f.app.URL+`","keys":["a*b"]}`)
	f.has(400, "", "POST", path, `{"step":2,"database":"no/name","url":"`+f.app.URL+`"}`)

	var token string
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		o := workflow.Options{URL: "http://" + f.nodes.Addrs[0], Token: token, Unsigned: true, OnEnd: func(run string) { f.ended <- run }}
		e := workflow.Handler(o, workflow.New("spends", f.spends))
		f.mu.Unlock()
		e.ServeHTTP(w, r)
	}))
	defer other.Close()
	f.mu.Lock() // so that the endpoint answers with the token that is known only then
	text := f.has(200, `"keys":["cart:1","once"],"omitted":[{"key":"none","reason":"missing"}]`, "POST", path,
		`{"step":2,"workflowRunId":"f","database":"scratch","url":"`+other.URL+`/spends"}`, "Svc-Commit-As", "default")
	made, _ := f.object(text)["database"].(map[string]any)
	token, _ = made["token"].(string)
	f.mu.Unlock()
	f.end("f")
	if got := fmt.Sprint(f.ran["f 0"], f.ran["f 1"], f.ran["f 2"]); got != "0 0 1" || made["path"] != "/db/scratch" {
		t.Errorf("the steps ran %s times: %v", got, made)
	}
	f.has(409, "", "POST", path, `{"step":2,"database":"scratch","url":"`+other.URL+`"}`)
	f.token = token
	f.has(200, `"forkedFrom":{"workflowRunId":"r"`, "GET", "/v2/workflows/logs", "")
	for name, want := range map[string]string{"cart:1": "1", "once": "1", "none": ""} { // unordered: each by itself
		_, err := f.nodes.Nodes[0].Read(t.Context(), fsm.Reading{Database: "scratch"}, func(v *fsm.View) {
			as := acl.Identity{DB: "scratch", By: acl.ByProcess, User: acl.DefaultName}
			got, alive := v.Exec(as, command.OriginHTTP, [][]byte{[]byte("GET"), []byte(name)}), v.Exec(as, command.OriginHTTP, [][]byte{[]byte("PTTL"), []byte(name)})
			if got.Text() != want || (alive.Int() > 0) != (name == "once") {
				t.Errorf("%s is %s, for %d ms", name, got.Text(), alive.Int())
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
