package workflow_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/workflow"
)

// put makes or changes a deployment at a host of its name.
func (w *world) put(name, moveTo string, when workflow.MoveWhen) {
	w.t.Helper()
	if err := w.changeDeployment(workflow.DeploymentChange{Name: name, URL: originOf(name), MoveTo: moveTo, When: when}); err != nil {
		w.t.Fatal(err)
	}
}

func originOf(deployment string) string { return "https://" + deployment + ".example" }

func (w *world) changeDeployment(n workflow.DeploymentChange) error {
	w.t.Helper()
	_, err := apply(w, func(e *env.Env, p pair) (workflow.Deployment, error) { return p.s.ChangeDeployment(e, n) })
	return err
}

func (w *world) move(n workflow.RunMove) (workflow.RunsMoved, error) {
	w.t.Helper()
	return apply(w, func(e *env.Env, p pair) (workflow.RunsMoved, error) { return p.s.Move(e, p.q, n) })
}

// on is the start of a run on a deployment.
func on(deployment, id string) workflow.Submission {
	n := start(id)
	n.Deployment = deployment
	return n
}

// submittedBy is a step as the SDK of a deployment submits it: with its own URL.
func submittedBy(deployment string, n workflow.Submission) workflow.Submission {
	n.URL = originOf(deployment) + "/wf"
	return n
}

// sentTo delivers what is due, and returns where it went and which deployment the endpoint was told.
func (w *world) sentTo(p queue.Response) (list []string) {
	w.t.Helper()
	for _, d := range w.deliver(p) {
		list = append(list, d.URL+" "+queue.Value(d.Service, "Workflow-Deployment"))
	}
	return list
}

func (w *world) expectSent(want ...string) {
	w.t.Helper()
	if got := w.sentTo(fine); !slices.Equal(got, want) {
		w.t.Fatalf("delivered to %q, want %q", got, want)
	}
}

// TestPinnedRunStaysOnItsDeployment follows a run on a deployment through a step, a wait, a call and a failure.
func TestPinnedRunStaysOnItsDeployment(t *testing.T) {
	w := newWorld(t)
	w.put("v1", "", 0)
	w.put("v2", "", 0)
	n := on("v1", "r")
	n.Failure = &queue.Callback{URL: url}
	n.Given |= queue.GivenFailure
	w.submit(n)
	w.expectSent("https://v1.example/wf v1")
	w.submit(submittedBy("v1", step("r", 1, "a")))
	w.expectSent("https://v1.example/wf v1")
	if at, _ := w.pairs[0].s.Entry(w.run("r").No, 1); at.URL != "" {
		t.Errorf("the entry keeps the URL of its deployment: %s", at.URL)
	}
	a := await("r", 2, "e", 60_000)
	a.URL, a.TimeoutURL = originOf("v1")+"/wf", originOf("v1")+"/wf"
	apply(w, func(e *env.Env, p pair) (workflow.Receipt, error) { return p.s.Await(e, p.q, a) })
	w.restore(0)
	apply(w, func(e *env.Env, p pair) (workflow.Notified, error) {
		return p.s.Notify(e, p.q, workflow.Notification{EventID: "e", Body: []byte("1")})
	})
	w.expectSent("https://v1.example/wf v1")
	c := call("r", 3)
	c.Callback.URL = originOf("v1") + "/wf"
	w.submit(c)
	w.expectSent("http://pay:9000/charge ") // of which the third party learns nothing
	w.now += 1000
	w.restore(1)
	for w.run("r").Active() {
		if got := w.sentTo(queue.Response{Status: 500}); len(got) > 0 && got[0] != "https://v1.example/wf v1" {
			t.Fatalf("delivered to %q", got)
		}
		w.now += 1000
	}
	w.expectSent("https://v1.example/wf v1") // the failure function
	w.same()
}

// TestOwnURLsOfOthersAreKept: what goes to another path, or is submitted by a run without a deployment, goes where it says.
func TestOwnURLsOfOthersAreKept(t *testing.T) {
	w := newWorld(t)
	w.put("v1", "", 0)
	w.submit(on("v1", "pinned"), start("free"))
	w.deliver(fine)
	other := step("pinned", 1, "a")
	other.URL = originOf("v1") + "/other"
	w.submit(other, submittedBy("v1", step("free", 1, "a")))
	w.expectSent("https://v1.example/other v1", "https://v1.example/wf ")
}

// TestMovedByHand: what is on its way goes to the new deployment, also what sleeps; an attempt under way goes on.
func TestMovedByHand(t *testing.T) {
	w := newWorld(t)
	w.put("v1", "", 0)
	w.put("v2", "", 0)
	w.submit(on("v1", "a"), on("v1", "b"), on("v1", "c"))
	w.deliver(fine)
	asleep := submittedBy("v1", step("a", 1, "x"))
	asleep.Delay, asleep.Given = 5000, asleep.Given|queue.GivenDelay
	w.submit(asleep, submittedBy("v1", step("b", 1, "x")))
	w.advance() // b is being called
	out, err := w.move(workflow.RunMove{From: "v1", To: "v2", Filter: workflow.Filter{RunIDs: []string{"a", "b"}}})
	if err != nil || out.Count != 2 || out.More {
		t.Fatalf("moved %+v, %v", out, err)
	}
	if got := w.running[0].Content.URL; got != "https://v1.example/wf" {
		t.Fatalf("the attempt is sent to %s", got)
	}
	w.finish(0, queue.Response{Status: 500}, "")
	w.now += 1000
	w.restore(0)
	w.expectSent("https://v2.example/wf v2") // b's retry
	w.now += 5000
	w.expectSent("https://v2.example/wf v2") // a's sleep is over
	w.submit(submittedBy("v1", step("b", 2, "y")))
	w.expectSent("https://v2.example/wf v2") // whichever deployment submits

	if out, err = w.move(workflow.RunMove{RunID: "b", To: ""}); err != nil || out.Run.ID != "b" {
		t.Fatalf("moved %+v, %v", out, err)
	}
	w.submit(submittedBy("v2", step("b", 3, "z")))
	w.expectSent(url + " ")
	for _, bad := range []struct {
		n    workflow.RunMove
		want error
	}{
		{workflow.RunMove{RunID: "b", To: "v9"}, queue.ErrNotFound}, {workflow.RunMove{RunID: "nobody", To: "v1"}, queue.ErrNotFound},
		{workflow.RunMove{From: "v9", To: "v1"}, queue.ErrNotFound}, {workflow.RunMove{From: "v1", To: "v1"}, queue.ErrInvalid},
	} {
		if _, err := w.move(bad.n); !errors.Is(err, bad.want) {
			t.Errorf("%+v: %v, want %v", bad.n, err, bad.want)
		}
	}
	w.same()
}

// TestMovedWhileInline: an attempt that records several steps goes on no further once its run was moved; the next step is delivered there.
func TestMovedWhileInline(t *testing.T) {
	w := newWorld(t)
	w.put("v1", "", 0)
	w.put("v2", "", 0)
	n := on("v1", "r")
	n.Features |= workflow.Inline
	w.submit(n)
	w.advance()
	recorded := func(no uint32) bool {
		s := submittedBy("v1", step("r", no, "x"))
		s.Attempt = w.running[0].Ref()
		return w.submit(s)[0].Inline
	}
	if !recorded(1) {
		t.Fatal("the attempt may not go on")
	}
	if _, err := w.move(workflow.RunMove{RunID: "r", To: "v2"}); err != nil {
		t.Fatal(err)
	}
	w.restore(0)
	if recorded(2) {
		t.Fatal("the attempt goes on where the run is not any more")
	}
	w.finish(0, fine, "")
	w.expectSent("https://v2.example/wf v2")
	w.same()
}

// TestMovedFromBusyHost: a delivery that waits because the host of its deployment is busy is made at once by the other one.
func TestMovedFromBusyHost(t *testing.T) {
	w := newWorld(t)
	w.put("v1", "", 0)
	w.put("v2", "", 0)
	w.submit(on("v1", "a"), on("v1", "b"))
	claimed := func() (urls []string) {
		list, _ := apply(w, func(e *env.Env, p pair) ([]queue.Attempt, error) {
			return p.q.Advance(e, queue.Demand{Epoch: 1, Term: 1, Claims: 16, HostShare: 1}), nil
		})
		for i := range list {
			urls = append(urls, list[i].Content.URL)
		}
		return urls
	}
	if got := claimed(); len(got) != 1 {
		t.Fatalf("claimed %q", got)
	}
	if _, err := w.move(workflow.RunMove{RunID: "b", To: "v2"}); err != nil {
		t.Fatal(err)
	}
	w.restore(0)
	if got := claimed(); !slices.Equal(got, []string{"https://v2.example/wf"}) {
		t.Fatalf("claimed %q", got)
	}
	w.same()
}

// TestMovedFromWhatIsDeleted: what a deployment has left behind, or submits after it was deleted, follows the run too.
func TestMovedFromWhatIsDeleted(t *testing.T) {
	w := newWorld(t)
	w.put("v1", "", 0)
	w.put("v2", "", 0)
	w.submit(on("v1", "r"))
	w.deliver(fine)
	a := await("r", 1, "e", 60_000)
	a.URL, a.TimeoutURL = originOf("v1")+"/wf", originOf("v1")+"/wf"
	apply(w, func(e *env.Env, p pair) (workflow.Receipt, error) { return p.s.Await(e, p.q, a) })
	if _, err := w.move(workflow.RunMove{From: "v1", To: "v2"}); err != nil {
		t.Fatal(err)
	}
	if err := w.changeDeployment(workflow.DeploymentChange{Name: "v1", Delete: true}); err != nil {
		t.Fatal(err)
	}
	apply(w, func(e *env.Env, p pair) (workflow.Notified, error) {
		return p.s.Notify(e, p.q, workflow.Notification{EventID: "e"})
	})
	w.expectSent("https://v2.example/wf v2")
	w.submit(submittedBy("v1", step("r", 2, "x")))
	w.expectSent("https://v2.example/wf v2")
	w.same()
}

// TestMovedByRule: a rule moves a run with its next delivery, or after an attempt that failed.
func TestMovedByRule(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"v3", "v2", "v1"} {
		w.put(name, "", 0)
	}
	w.submit(on("v1", "old"), on("v1", "new"), on("v1", "waits"))
	w.deliver(fine)
	w.submit(submittedBy("v1", step("old", 1, "x")))
	w.deliver(fine)
	apply(w, func(e *env.Env, p pair) (workflow.Receipt, error) {
		return p.s.Await(e, p.q, await("waits", 1, "e", 600_000))
	})
	w.put("v1", "v2", workflow.MoveUnstarted)
	w.put("v2", "v3", workflow.MoveAlways)
	w.restore(1)
	w.submit(on("v1", "later"))
	w.expectSent("https://v3.example/wf v3") // from the beginning
	w.submit(submittedBy("v1", step("old", 2, "x")))
	w.expectSent("https://v1.example/wf v1") // has a step
	apply(w, func(e *env.Env, p pair) (workflow.Notified, error) {
		return p.s.Notify(e, p.q, workflow.Notification{EventID: "e"})
	})
	w.expectSent("https://v1.example/wf v1") // waited in a step

	w.put("v1", "v3", workflow.MoveAlways)
	w.submit(submittedBy("v1", step("old", 3, "x")))
	w.expectSent("https://v3.example/wf v3")
	w.put("v3", "", 0)
	w.submit(submittedBy("v3", step("old", 4, "x")))
	w.advance()
	w.put("v4", "", 0)
	w.put("v3", "v4", workflow.MoveAlways)
	w.finish(0, queue.Response{Status: 500}, "")
	w.now += 1000
	w.expectSent("https://v4.example/wf v4") // the retry
	w.same()
}

// TestDeploymentsInUse: a deployment that is needed stays as it is.
func TestDeploymentsInUse(t *testing.T) {
	w := newWorld(t)
	w.put("v1", "", 0)
	w.put("v2", "v1", workflow.MoveAlways)
	if r := w.submit(on("v9", "r"))[0]; r.Refused == nil || !errors.Is(r.Refused, queue.ErrNotFound) || w.run("r") != nil {
		t.Fatalf("a run on an unknown deployment: %+v", r)
	}
	err := w.changeDeployment(workflow.DeploymentChange{Name: "v1", Delete: true})
	if !errors.Is(err, workflow.ErrInUse) || !strings.Contains(err.Error(), "rule of deployment v2") {
		t.Errorf("deleted: %v", err)
	}
	w.put("v2", "", 0)
	w.submit(on("v1", "a"), on("v1", "b"))
	err = w.changeDeployment(workflow.DeploymentChange{Name: "v1", Delete: true})
	if !errors.Is(err, workflow.ErrInUse) || !strings.Contains(err.Error(), "2, the oldest of them a, b") {
		t.Errorf("deleted: %v", err)
	}
	if err := w.changeDeployment(workflow.DeploymentChange{Name: "v1", URL: "https://else.example"}); !errors.Is(err, workflow.ErrInUse) {
		t.Errorf("another URL: %v", err)
	}
	if n, _ := w.pairs[1].s.Deployment("v1"); n.Active != 2 || n.Oldest.ID != "a" {
		t.Errorf("%+v", n)
	}
	w.deliver(fine)
	apply(w, func(e *env.Env, p pair) (workflow.RunRef, error) { return p.s.End(e, p.q, workflow.Ending{RunID: "a"}) })
	apply(w, func(e *env.Env, p pair) (workflow.Cancelled, error) {
		return p.s.Cancel(e, p.q, workflow.Cancellation{})
	})
	w.restore(0)
	if err := w.changeDeployment(workflow.DeploymentChange{Name: "v1", Delete: true}); err != nil {
		t.Error(err)
	}
	for _, bad := range []workflow.DeploymentChange{
		{Name: "v 1", URL: "https://a.example"}, {Name: "v", URL: "https://a.example/path"}, {Name: "v", URL: "ftp://a.example"}, {Name: "v", URL: "https://"},
		{Name: "v", URL: "https://me:pw@a.example"}, {Name: "v", URL: "https://a.example?x"}, {Name: "v", URL: "https://:80"}, {Name: "v"},
		{Name: "v2", MoveTo: "v2", When: workflow.MoveAlways}, {Name: "v2", MoveTo: "v2"}, {Name: "v2", When: workflow.MoveAlways},
	} {
		if err := w.changeDeployment(bad); !errors.Is(err, queue.ErrInvalid) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	w.put("v3", "v2", workflow.MoveAlways)
	if err := w.changeDeployment(workflow.DeploymentChange{Name: "v2", MoveTo: "v3", When: workflow.MoveUnstarted}); !errors.Is(err, queue.ErrInvalid) {
		t.Errorf("a circle: %v", err)
	}
	if n, _ := w.pairs[0].s.Deployment("v2"); n.URL != originOf("v2") {
		t.Errorf("a refused change left %+v", n)
	}
	w.same()
}

// TestDeploymentOfOthers: an invoked run is where the run is that invokes it, and a run that is resumed where it was.
func TestDeploymentOfOthers(t *testing.T) {
	w := newWorld(t)
	w.put("v1", "", 0)
	w.put("v2", "", 0)
	w.submit(on("v1", "r"))
	w.deliver(fine)
	invoked := func(id, at string, step uint32) workflow.Submission {
		n := start(id)
		n.URL = at
		n.Invoker = &workflow.Invoker{RunID: "r", URL: originOf("v1") + "/wf", Step: workflow.Step{ID: step, Type: workflow.Invoke, Concurrent: 1}, Open: []byte(`{"stepId":1`)}
		return n
	}
	w.submit(invoked("child", originOf("v1")+"/child", 1), invoked("stranger", "https://else.example/wf", 2))
	w.expectSent("https://v1.example/child v1", "https://else.example/wf ")
	if c := w.run("child"); c.URL != "http://app:3000/child" {
		t.Errorf("the invoked run has the URL %s", c.URL)
	}
	apply(w, func(e *env.Env, p pair) (workflow.RunRef, error) {
		return p.s.End(e, p.q, workflow.Ending{RunID: "child", HasResult: true, Result: []byte("1")})
	})
	w.expectSent("https://v1.example/wf v1")

	w.submit(submittedBy("v1", step("r", 3, "x")))
	for w.run("r").Active() {
		w.deliver(queue.Response{Status: 500})
		w.now += 1000
	}
	w.deliver(fine) // its failure function
	if err := w.changeDeployment(workflow.DeploymentChange{Name: "v1", Delete: true}); err != nil {
		t.Fatal(err)
	}
	revive := func(n workflow.Revival) error {
		_, err := apply(w, func(e *env.Env, p pair) (workflow.Revived, error) { return p.s.Revive(e, p.q, n) })
		return err
	}
	if err := revive(workflow.Revival{}); !errors.Is(err, queue.ErrNotFound) || !strings.Contains(err.Error(), "of workflow run r") {
		t.Fatalf("resumed on a deployment that is gone: %v", err)
	}
	if err := revive(workflow.Revival{Deployment: "v2"}); err != nil {
		t.Fatal(err)
	}
	w.restore(0)
	w.expectSent("https://v2.example/wf v2")
	w.same()
}

// TestMovedInPieces moves more runs than one entry takes.
func TestMovedInPieces(t *testing.T) {
	const runs = 450
	w := newWorld(t)
	w.put("v1", "", 0)
	w.put("v2", "", 0)
	var all []workflow.Submission
	for i := range runs {
		all = append(all, on("v1", "r"+strings.Repeat("x", i)))
	}
	w.submit(all...)
	n, total, entries := workflow.RunMove{From: "v1", To: "v2"}, 0, 0
	for more := true; more; entries++ {
		out, err := w.move(n)
		if err != nil {
			t.Fatal(err)
		}
		total, more, n.Until, n.After = total+out.Count, out.More, out.Until, out.After
		w.submit(on("v1", "new"+strings.Repeat("x", entries))) // which are not meant
	}
	left, _ := w.pairs[0].s.Deployment("v1")
	if moved, _ := w.pairs[0].s.Deployment("v2"); total != runs || moved.Active != runs || left.Active != entries || entries != 3 {
		t.Errorf("moved %d by %d entries: %d are there and %d left", total, entries, moved.Active, left.Active)
	}
	w.same()
}
