package workflow_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/trireme-dev/trireme/httpapi/httpapitest"
	"github.com/trireme-dev/trireme/workflow"
)

// The extensions of the server: what clients/workflow/commits.mjs, states.mjs and deployments.mjs show with the published SDK.

// app serves workflows beside three nodes.
type app struct {
	t      *testing.T
	node   string
	client *workflow.Client

	mu     sync.Mutex
	leaked []string // headers that no endpoint should get
	visits []string
}

func newApp(t *testing.T) *app {
	nodes := httpapitest.ServeDelivering(t, 3, "", nil)
	return &app{t: t, node: "http://" + nodes.Addrs[0]}
}

// serve serves workflows as a deployment does, and returns their URL. The client triggers those that were served first.
func (a *app) serve(name string, workflows ...workflow.Definition) string {
	o := workflow.Options{URL: a.node, Token: httpapitest.MessagesToken}
	h := workflow.Handler(o, workflows...)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.mu.Lock()
		a.visits = append(a.visits, name+" "+r.Header.Get("Upstash-Workflow-Deployment"))
		for header := range r.Header {
			if lower := strings.ToLower(header); strings.Contains(lower, "commit") || strings.Contains(lower, "keep-events") || strings.HasSuffix(lower, "-updates") {
				a.leaked = append(a.leaked, header)
			}
		}
		a.mu.Unlock()
		h.ServeHTTP(w, r)
	}))
	a.t.Cleanup(server.Close)
	if a.client == nil {
		o.AppURL = server.URL
		a.client = workflow.NewClient(o)
	}
	return server.URL
}

// run runs a Redis command.
func (a *app) run(t *testing.T, command ...any) any {
	t.Helper()
	var out struct{ Result any }
	o := workflow.NewClient(workflow.Options{URL: a.node, Token: httpapitest.Token})
	if err := o.Do(t.Context(), "POST", "/", nil, command, &out); err != nil {
		t.Fatal(err)
	}
	return out.Result
}

func (a *app) noLeak(t *testing.T) {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.leaked) > 0 {
		t.Errorf("the endpoint gets %v", a.leaked)
	}
}

// TestCommits: commands take effect with their step, once; a condition that does not hold repeats it.
func TestCommits(t *testing.T) {
	for _, inline := range []bool{false, true} {
		t.Run(fmt.Sprint("inline ", inline), func(t *testing.T) { testCommits(t, inline) })
	}
}

func testCommits(t *testing.T, inline bool) {
	a := newApp(t)
	var tries atomic.Int32
	transfer := workflow.New("transfer", func(c *workflow.Context, _ workflow.None) (string, error) {
		from := workflow.Commit(c, "draw", func(context.Context) (workflow.Outcome[string], error) {
			seen := "99" // out of date: the condition refuses the commands
			if tries.Add(1) > 1 {
				seen = a.run(t, "GET", "shop:a").(string)
			}
			return workflow.Outcome[string]{
				Commands: []workflow.Command{{"IF", "shop:a", "EQ", seen}, {"DECRBY", "shop:a", 30}, {"INCRBY", "shop:b", 30}}, Result: seen,
			}, nil
		})
		workflow.Commit(c, "note", func(context.Context) (workflow.Outcome[workflow.None], error) {
			return workflow.Outcome[workflow.None]{Commands: []workflow.Command{{"LPUSH", "shop:notes", "moved from " + from}}}, nil
		})
		return from, nil
	})
	wrong := workflow.New("wrong", func(c *workflow.Context, _ workflow.None) (int, error) {
		return workflow.Commit(c, "wrong", func(context.Context) (workflow.Outcome[int], error) {
			return workflow.Outcome[int]{Commands: []workflow.Command{{"LPUSH", "shop:a", 1}}}, nil
		}), nil
	})
	a.serve("app", transfer, wrong)
	a.run(t, "MSET", "shop:a", "100", "shop:b", "0")
	a.run(t, "ACL", "SETUSER", "shop", "on", ">shop-password", "~shop:*", "+@all", "-@dangerous")
	secret := a.run(t, "ACL", "RESTTOKEN", "shop", "shop-password").(string)
	o := &workflow.RunOptions{RetryDelay: "50", CommitAs: "shop", CommitToken: secret, Inline: inline}
	run, err := transfer.Trigger(t.Context(), a.client, workflow.None{}, o)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := transfer.Result(t.Context(), a.client, run.RunID); got != "100" || err != nil {
		t.Fatal(got, err)
	}
	is(t, "the keys", []any{a.run(t, "GET", "shop:a"), a.run(t, "GET", "shop:b"), a.run(t, "LRANGE", "shop:notes", 0, -1)}, []any{"70", "30", []string{"moved from 100"}})
	is(t, "tries", tries.Load(), 2)
	a.noLeak(t)

	// What would be refused again is not retried, and nobody lends rights that are not theirs.
	if run, err = wrong.Trigger(t.Context(), a.client, workflow.None{}, o); err != nil {
		t.Fatal(err)
	}
	_, err = wrong.Result(t.Context(), a.client, run.RunID)
	failed, isRun := errors.AsType[*workflow.RunError](err)
	if !isRun || failed.Status != 489 || !strings.Contains(failed.Message, "WRONGTYPE") {
		t.Errorf("refused commands: %v", err)
	}
	_, err = transfer.Trigger(t.Context(), a.client, workflow.None{}, &workflow.RunOptions{CommitAs: "default"})
	refused(t, err, 403)
	_, err = transfer.Trigger(t.Context(), a.client, workflow.None{}, &workflow.RunOptions{CommitAs: "nobody", CommitToken: httpapitest.Token})
	refused(t, err, 400)
}

// TestStates: a run sets its state, takes updates that its rules accept, and gets an event that came before it waited.
func TestStates(t *testing.T) {
	a := newApp(t)
	open := make(chan struct{})
	type spend struct{ Amount int }
	type left struct {
		Left int `json:"left"`
	}
	account := workflow.New("account", func(c *workflow.Context, _ workflow.None) (object, error) {
		workflow.Commit(c, "open", func(context.Context) (workflow.Outcome[workflow.None], error) {
			return workflow.Outcome[workflow.None]{State: left{100}, Updates: map[string]string{"spend": "@.update.amount <= @.state.left", "close": ""}}, nil
		})
		workflow.Run(c, "gate", func(ctx context.Context) (workflow.None, error) {
			select {
			case <-open:
				return workflow.None{}, nil
			case <-ctx.Done():
				return workflow.None{}, ctx.Err()
			}
		})
		next, err := workflow.Wait[spend](c, "next", "spend", patience)
		if err != nil {
			return nil, err
		}
		rest := workflow.Commit(c, "spent", func(context.Context) (workflow.Outcome[int], error) {
			rest := 100 - next.Amount
			return workflow.Outcome[int]{Commands: []workflow.Command{{"SET", "left", rest}}, State: left{rest}, Updates: map[string]string{"close": ""}, Result: rest}, nil
		})
		approved, err := workflow.Wait[struct{ By string }](c, "approval", "approve-7", patience)
		workflow.SetState(c, "ended", left{rest + 1})
		return object{"left": rest, "by": approved.By}, err
	})
	a.serve("app", account)
	run, err := account.Trigger(t.Context(), a.client, workflow.None{}, &workflow.RunOptions{
		CommitAs: "default", CommitToken: httpapitest.Token, KeepEvents: []string{"approve-*"}, Updates: map[string]string{"early": ""},
	})
	if err != nil {
		t.Fatal(err)
	}
	kept, err := a.client.Notify(t.Context(), "approve-7", object{"by": "me"})
	if err != nil || len(kept) != 1 || !kept[0].Kept || kept[0].RunID != run.RunID {
		t.Fatal(kept, err)
	}
	eventually(t, "the state", func() (bool, any) {
		s, err := a.client.State(t.Context(), run.RunID)
		return err == nil && s.Version == 1 && string(s.State) == `{"left":100}` && s.StepName == "open", fmt.Sprint(s, err)
	})
	_, err = a.client.Update(t.Context(), run.RunID, "spend", "", object{"amount": 101})
	refused(t, err, 409)
	_, err = a.client.Update(t.Context(), run.RunID, "early", "", object{}) // a step has said otherwise since
	refused(t, err, 404)
	for _, again := range []bool{false, true, true} {
		u, err := a.client.Update(t.Context(), run.RunID, "spend", "u-1", object{"amount": 30})
		if err != nil || u.UpdateID != "u-1" || u.Deduplicated != again {
			t.Error(u, err)
		}
	}
	close(open)
	got, err := account.Result(t.Context(), a.client, run.RunID)
	if err != nil {
		t.Fatal(err)
	}
	is(t, "the result", got, object{"left": 70, "by": "me"})
	s, err := a.client.State(t.Context(), run.RunID)
	if err != nil || string(s.State) != `{"left":71}` || s.Version != 3 {
		t.Error(string(s.State), s.Version, err)
	}
	is(t, "the key", a.run(t, "GET", "left"), "70")
	_, err = a.client.Update(t.Context(), run.RunID, "close", "", object{})
	refused(t, err, 409)
	a.noLeak(t)
}

// deployed are the workflows of a deployment.
func deployed(name string, failed chan<- string) []workflow.Definition {
	here := func(context.Context) (string, error) { return name, nil }
	child := workflow.New("child", func(c *workflow.Context, _ workflow.None) (string, error) { return workflow.Run(c, "where", here), nil })
	parent := workflow.New("parent", func(c *workflow.Context, _ workflow.None) ([]string, error) {
		before := workflow.Run(c, "before", here)
		if _, err := workflow.Wait[workflow.None](c, "moved", "moved", patience); err != nil {
			return nil, err
		}
		after := workflow.Run(c, "after", here)
		workflow.Sleep(c, "nap", 1)
		last, err := workflow.Invoke(c, "child", child, workflow.None{}, nil)
		return []string{before, after, last}, err
	})
	failing := workflow.New("failing", func(c *workflow.Context, _ workflow.None) (int, error) {
		return workflow.Run(c, "fail", func(context.Context) (int, error) { return 0, errors.New("as it should") }), nil
	}).OnFailure(func(context.Context, *workflow.Failure[workflow.None]) (string, error) {
		failed <- name
		return "", nil
	})
	return []workflow.Definition{child, parent, failing}
}

// TestDeployments: a run stays on the deployment that its trigger names until it is moved: its steps, waits, invoked runs and failure function.
func TestDeployments(t *testing.T) {
	a := newApp(t)
	failed := make(chan string, 1)
	a.serve("home", deployed("home", failed)...)
	for _, name := range []string{"v1", "v2"} {
		if err := a.client.Do(t.Context(), "PUT", "/v2/workflows/deployments/"+name, nil, object{"url": a.serve(name, deployed(name, failed)...)}, nil); err != nil {
			t.Fatal(err)
		}
	}
	parent := workflow.New[workflow.None, []string]("parent", nil)
	run, err := parent.Trigger(t.Context(), a.client, workflow.None{}, &workflow.RunOptions{Deployment: "v1"})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the wait", func() (bool, any) {
		e, err := a.client.Explain(t.Context(), run.RunID)
		return err == nil && e.Reason == "event", fmt.Sprint(e, err)
	})
	a.only(t, "v1")
	var moved json.RawMessage
	if err := a.client.Do(t.Context(), "POST", "/v2/workflows/deployments/v1/move", nil, object{"to": "v2"}, &moved); err != nil || string(moved) != `{"moved":1}` {
		t.Fatal(string(moved), err)
	}
	if _, err := a.client.Notify(t.Context(), "moved", nil); err != nil {
		t.Fatal(err)
	}
	got, err := parent.Result(t.Context(), a.client, run.RunID)
	if err != nil {
		t.Fatal(err)
	}
	is(t, "the result", got, []string{"v1", "v2", "v2"})
	failing := workflow.New[workflow.None, int]("failing", nil)
	if _, err := failing.Trigger(t.Context(), a.client, workflow.None{}, &workflow.RunOptions{Deployment: "v2", Retries: workflow.NoRetries}); err != nil {
		t.Fatal(err)
	}
	is(t, "the failure function", <-failed, "v2")
	a.only(t, "v2")
}

// only checks the visits since the last call.
func (a *app) only(t *testing.T, name string) {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.visits) == 0 {
		t.Error("no visits")
	}
	for _, v := range a.visits {
		if v != name+" "+name {
			t.Errorf("visit %q, want those of %s", v, name)
		}
	}
	a.visits = nil
}

// TestInline: a run that asks for it goes through its steps by one delivery, ahead of the log or not; a sleep and a block end it.
func TestInline(t *testing.T) {
	a := newApp(t)
	for _, ahead := range []int{0, 3} {
		var n atomic.Int32
		mixed := workflow.New(fmt.Sprint("mixed", ahead), func(c *workflow.Context, _ workflow.None) (int, error) {
			c.SetAhead(ahead)
			count := func(context.Context) (int, error) { return int(n.Add(1)), nil }
			sum := 0
			for i := range 5 {
				sum += workflow.Run(c, fmt.Sprint("before ", i), count)
			}
			workflow.Sleep(c, "nap", 1)
			left := workflow.Go(c, func(c *workflow.Context) (int, error) { return workflow.Run(c, "left", count), nil })
			right := workflow.Go(c, func(c *workflow.Context) (int, error) { return workflow.Run(c, "right", count), nil })
			both, err := workflow.All(left, right)
			return sum + both[0] + both[1] + workflow.Run(c, "after", count), err
		})
		url := a.serve("app", mixed)
		a.mu.Lock()
		a.visits = nil
		a.mu.Unlock()
		run, err := mixed.Trigger(t.Context(), a.client, workflow.None{}, &workflow.RunOptions{URL: url + "/" + mixed.Name(), Inline: true})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := mixed.Result(t.Context(), a.client, run.RunID); got != 36 || err != nil {
			t.Errorf("ahead %d: %d %v", ahead, got, err)
		}
		a.mu.Lock()
		if len(a.visits) > 6 { // the start, the end of the sleep, two plans, two results
			t.Errorf("ahead %d: %d deliveries", ahead, len(a.visits))
		}
		a.mu.Unlock()
	}
}

// TestExplained: what is wrong between the app and the server is explained: code that has changed, and keys of another server.
func TestExplained(t *testing.T) {
	a := newApp(t)
	step := func(name string) workflow.Definition {
		return workflow.New("changing", func(c *workflow.Context, _ workflow.None) (int, error) {
			n := workflow.Run(c, name, func(context.Context) (int, error) { return 1, nil })
			_, err := workflow.Wait[workflow.None](c, "deployed", "deployed", patience)
			return n, err
		})
	}
	o := workflow.Options{URL: a.node, Token: httpapitest.MessagesToken}
	var served atomic.Pointer[http.Handler]
	serve := func(o workflow.Options, w workflow.Definition) {
		h := workflow.Handler(o, w)
		served.Store(&h)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*served.Load()).ServeHTTP(w, r) }))
	defer server.Close()
	client := workflow.NewClient(o)
	options := workflow.RunOptions{URL: server.URL + "/changing", Retries: workflow.NoRetries}
	explained := func(run, code string) {
		t.Helper()
		eventually(t, code, func() (bool, any) {
			e, err := client.Explain(t.Context(), run)
			return err == nil && len(e.Mismatches) == 1 && e.Mismatches[0].Code == code, fmt.Sprint(e, err)
		})
	}
	serve(o, step("before"))
	run, err := client.Trigger(t.Context(), nil, options)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the wait", func() (bool, any) {
		all, err := client.Waiters(t.Context(), "deployed")
		return len(all) == 1, fmt.Sprint(all, err)
	})
	serve(o, step("after"))
	if _, err := client.Notify(t.Context(), "deployed", nil); err != nil {
		t.Fatal(err)
	}
	explained(run.RunID, "code-changed")
	o.CurrentSigningKey = "of another server"
	serve(o, step("before"))
	if run, err = client.Trigger(t.Context(), nil, options); err != nil {
		t.Fatal(err)
	}
	explained(run.RunID, "signature")
}
