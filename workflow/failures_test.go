package workflow_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"net/http"

	"github.com/trireme-dev/trireme/workflow"
)

func (w *world) testInvoke(t *testing.T) {
	id := w.start(t, "parent", number{21}, workflow.RunOptions{})
	is(t, "the result", json.RawMessage(w.result(t, id)), parentResult{Body: doubled{42, id}})
	step := w.log(t, id).Groups[1].Steps[0]
	is(t, "the step", []string{step.Type, step.State, step.InvokedURL}, []string{"Invoke", "STEP_SUCCESS", w.flow("child")})
	child := w.log(t, step.InvokedID)
	is(t, "the child", []any{child.Invoker.ID, child.CreatedAt}, []any{id, step.InvokedAt})
}

func (w *world) testGrandparent(t *testing.T) {
	is(t, "the result", w.result(t, w.start(t, "grandparent", nil, workflow.RunOptions{})), fmt.Sprint(2*(2*1+2*10)))
}

func (w *world) testFailedChild(t *testing.T) {
	const id = "parent-of-a-failure"
	w.setFault("child "+id, 100)
	w.start(t, "parent", number{1}, workflow.RunOptions{RunID: id})
	is(t, "the result", json.RawMessage(w.result(t, id)), parentResult{Failed: true})
}

func (w *world) testCanceledChild(t *testing.T) {
	const event, child = "stop", "wfr_child-of-a-test"
	id := w.start(t, "patient", object{"event": event, "child": child}, workflow.RunOptions{})
	w.waiting(t, event, 1)
	if n, err := w.client.Cancel(t.Context(), child); err != nil || n != 1 {
		t.Fatal(n, err)
	}
	is(t, "the result", json.RawMessage(w.result(t, id)), object{"canceled": true, "failed": false, "body": nil})
	w.waiting(t, event, 0)
}

func (w *world) testRetries(t *testing.T) {
	const id = "flaky-of-a-test"
	w.setFault("flaky "+id, 2)
	w.start(t, "flaky", nil, workflow.RunOptions{RunID: id})
	var tries []int
	if err := json.Unmarshal([]byte(w.result(t, id)), &tries); err != nil || tries[0] < 3 {
		t.Error(tries, err)
	}
	for i, c := range w.callsOf(id)[:3] {
		is(t, "a try", c.header.Get("Upstash-Retried"), fmt.Sprint(i))
	}
}

func (w *world) testLater(t *testing.T) {
	id := w.start(t, "later", nil, workflow.RunOptions{RetryDelay: "600000"})
	if got := w.result(t, id); got < "2" {
		t.Errorf("%s tries", got)
	}
}

func (w *world) testFailing(t *testing.T) {
	id := w.start(t, "failing", object{"why": 7}, workflow.RunOptions{Header: http.Header{"X-User": {"ada"}}, Retries: 1, RetryDelay: "10"})
	got := w.told(t, id)
	is(t, "the failure", []any{got.failed.Status, got.failed.Message, got.input, got.failed.Header.Get("X-User")}, []any{500, "it is bad", object{"why": 7}, "ada"})
	var run *workflow.RunLog
	eventually(t, "the state of the failure function", func() (bool, any) {
		run = w.log(t, id)
		return run.FailureFunction != nil && run.FailureFunction.State == "CALLBACK_SUCCESS", run
	})
	is(t, "the state", run.State, workflow.RunFailed)
	w.once(t, id, "good")
	if w.times(id, "bad") < 1 {
		t.Error("the step has not run")
	}
	f := run.FailureFunction
	is(t, "the function", []any{f.FailStatus, f.ResponseStatus, f.URL}, []any{500, 200, w.flow("failing")})
	if !strings.Contains(f.ResponseBody, "told") {
		t.Error(f.ResponseBody)
	}
	next := run.Groups[len(run.Groups)-1]
	is(t, "the last group", []string{next.Type, next.Steps[0].State}, []string{"next", "STEP_FAILED"})
	if len(next.Steps[0].Errors) < 2 {
		t.Errorf("%d errors", len(next.Steps[0].Errors))
	}
	dead := w.letter(t, id)
	is(t, "the dead letter", []any{dead.ID, dead.Body, dead.ResponseStatus, dead.URL, dead.FailureFunction.State},
		[]any{run.DeadLetter, `{"why":7}`, 500, w.flow("failing"), "CALLBACK_SUCCESS"})
	if !strings.Contains(dead.ResponseBody, "it is bad") {
		t.Error(dead.ResponseBody)
	}
	_, err := flow("failing", nil).Result(t.Context(), w.client, id)
	failed, isRun := errors.AsType[*workflow.RunError](err)
	if !isRun || !errors.Is(err, workflow.ErrFailed) || errors.Is(err, workflow.ErrCanceled) || failed.Message != "it is bad" || failed.Status != 500 {
		t.Errorf("the error of the result: %v", err)
	}
}

// lastStatus is the status of the last failed attempt of a run.
func lastStatus(run *workflow.RunLog) int {
	steps := run.Groups[len(run.Groups)-1].Steps
	return steps[0].Errors[len(steps[0].Errors)-1].Status
}

func (w *world) testFinal(t *testing.T) {
	id := w.start(t, "final", nil, workflow.RunOptions{})
	run := w.ended(t, id, workflow.RunFailed)
	w.once(t, id, "fatal")
	is(t, "the status", lastStatus(run), 489)
	w.told(t, id)
}

func (w *world) testFailureURL(t *testing.T) {
	const name = "url"
	w.setFault(name, 100)
	id := w.start(t, "mending", named{name}, workflow.RunOptions{Retries: workflow.NoRetries, FailureURL: w.base + "/out/told/url"})
	var body string
	w.until(t, "the failure URL", func() bool {
		all := w.visits["/out/told/url"]
		if len(all) > 0 {
			body = all[0].body
		}
		return len(all) > 0
	})
	var in struct {
		Status                     int
		WorkflowRunID, WorkflowURL string
		SourceBody, Body           []byte
	}
	if err := json.Unmarshal([]byte(body), &in); err != nil {
		t.Fatal(err)
	}
	is(t, "what is told", []any{in.Status, in.WorkflowRunID, in.WorkflowURL, string(in.SourceBody)}, []any{500, id, w.flow("mending"), `{"Name":"url"}`})
	if !strings.Contains(string(in.Body), name+" is broken") {
		t.Errorf("%s", in.Body)
	}
	is(t, "the dead letter", w.letter(t, id).FailureURL, w.base+"/out/told/url")
}

func (w *world) testFailureAgain(t *testing.T) {
	const id = "failing-again"
	w.setFault("failure function "+id, 100)
	w.start(t, "failing", nil, workflow.RunOptions{RunID: id, Retries: 1, RetryDelay: "10"})
	state := func(want string) (dead workflow.DeadLetter) {
		eventually(t, want, func() (bool, any) {
			all := w.letters(t, id)
			if len(all) == 1 {
				dead = all[0]
			}
			return dead.FailureFunction.State == want, all
		})
		return dead
	}
	dead := state("CALLBACK_FAIL")
	w.setFault("failure function "+id, 0)
	if err := w.client.RetryFailureFunction(t.Context(), dead.ID); err != nil {
		t.Fatal(err)
	}
	state("CALLBACK_SUCCESS")
	refused(t, w.client.RetryFailureFunction(t.Context(), dead.ID), 400)
}

// refused checks the status of a refusal.
func refused(t *testing.T, err error, status int) {
	t.Helper()
	if e, is := errors.AsType[*workflow.APIError](err); !is || e.Status != status {
		t.Errorf("%v, want status %d", err, status)
	}
}

// testRefusal: the status differs from the SDK's, where a function that returns before its first step is refused with 400. Here it may end
// without one; what refuses returns an error.
func (w *world) testRefusal(t *testing.T) {
	good := w.start(t, "unauthorized", nil, workflow.RunOptions{Retries: workflow.NoRetries, Header: http.Header{"X-User": {"ada"}}})
	is(t, "the result", w.result(t, good), `"open"`)
	bad := w.start(t, "unauthorized", nil, workflow.RunOptions{Retries: workflow.NoRetries})
	is(t, "the status", lastStatus(w.ended(t, bad, workflow.RunFailed)), 500)
}

func (w *world) testNoWorkflow(t *testing.T) {
	run, err := w.client.Trigger(t.Context(), nil, *quick(workflow.RunOptions{URL: w.base + "/out/none"}))
	if err != nil {
		t.Fatal(err)
	}
	log := w.ended(t, run.RunID, workflow.RunFailed)
	is(t, "groups", []string{log.Groups[0].Type, log.Groups[1].Type}, []string{"sequential", "next"})
	if e := log.Groups[1].Steps[0].Errors[0]; !strings.Contains(e.Error, "detected a non-workflow destination") || e.Body != "answer" {
		t.Error(e)
	}
	unknown := w.start(t, "nosuch", nil, workflow.RunOptions{Retries: workflow.NoRetries})
	is(t, "the status", lastStatus(w.ended(t, unknown, workflow.RunFailed)), 404)
}

func (w *world) testResume(t *testing.T) {
	const name = "resume"
	w.setFault(name, 100)
	id := w.start(t, "mending", named{name}, workflow.RunOptions{Retries: workflow.NoRetries, Header: http.Header{"X-User": {"ada"}}})
	w.ended(t, id, workflow.RunFailed)
	dead := w.letter(t, id)
	w.setFault(name, 0)
	resumed, err := w.client.Resume(t.Context(), dead.ID, nil)
	if err != nil || resumed.RunID == id {
		t.Fatal(resumed, err)
	}
	is(t, "the result", w.result(t, resumed.RunID), `{"same":true}`)
	is(t, "steps before", []int{w.times(resumed.RunID, "one"), w.times(resumed.RunID, "two")}, []int{0, 0})
	w.once(t, resumed.RunID, "three")
	is(t, "dead letters", len(w.letters(t, id)), 0)
	_, err = w.client.Resume(t.Context(), dead.ID, nil)
	refused(t, err, 404)
}

func (w *world) testResumeBlock(t *testing.T) {
	const name = "branches"
	w.setFault(name, 100)
	id := w.start(t, "branches", named{name}, workflow.RunOptions{Retries: workflow.NoRetries})
	w.ended(t, id, workflow.RunFailed)
	eventually(t, "the other branch", func() (bool, any) {
		run := w.log(t, id)
		return len(run.Groups) > 1 && slices.ContainsFunc(run.Groups[1].Steps, func(s workflow.StepLog) bool { return s.Name == "left" && s.State == "STEP_SUCCESS" }), run
	})
	dead := w.letter(t, id)
	w.setFault(name, 0)
	resumed, err := w.client.Resume(t.Context(), dead.ID, nil)
	if err != nil {
		t.Fatal(err)
	}
	is(t, "the result", w.result(t, resumed.RunID), `"lm"`)
	is(t, "the other branch", w.times(resumed.RunID, "left"), 0)
	w.once(t, resumed.RunID, "middle")
}

func (w *world) testRestart(t *testing.T) {
	const name = "restart"
	w.setFault(name, 100)
	id := w.start(t, "mending", named{name}, workflow.RunOptions{Retries: workflow.NoRetries})
	w.ended(t, id, workflow.RunFailed)
	dead := w.letter(t, id)
	w.setFault(name, 0)
	again, err := w.client.Restart(t.Context(), dead.ID, &workflow.RunOptions{Retries: 1, FlowControl: &workflow.FlowControl{Key: "restarted", Parallelism: 3}})
	if err != nil {
		t.Fatal(err)
	}
	is(t, "the result", w.result(t, again.RunID), `{"same":true}`)
	w.once(t, again.RunID, "one", "two", "three")
	is(t, "the key", w.log(t, again.RunID).FlowControlKey, "restarted")
}

func (w *world) testBulk(t *testing.T) {
	const name, label = "bulk", "bulk-label"
	w.setFault(name, 100)
	var ids []string
	for n := range 4 {
		ids = append(ids, w.start(t, "mending", named{name}, workflow.RunOptions{Retries: workflow.NoRetries, Labels: []string{label, fmt.Sprint("n", n, "-", label)}}))
	}
	for _, id := range ids {
		w.ended(t, id, workflow.RunFailed)
	}
	w.setFault(name, 0)
	filter := workflow.Filter{"label": {label}}
	eventually(t, "dead letters", func() (bool, any) {
		page, err := w.client.DeadLetters(t.Context(), filter, "")
		return err == nil && len(page.Letters) == 4 && page.Letters[0].Labels[0] == label, page
	})
	if n, err := w.client.DeleteDeadLetters(t.Context(), workflow.Filter{"label": {"n1-" + label}}); err != nil || n != 1 {
		t.Error(n, err)
	}
	first, err := w.client.ResumeWhere(t.Context(), filter, 2, "")
	if err != nil || len(first.Runs) != 2 || first.Cursor == "" {
		t.Fatal(first, err)
	}
	second, err := w.client.RestartWhere(t.Context(), filter, 2, first.Cursor)
	if err != nil || len(second.Runs) != 1 || second.Cursor != "" {
		t.Fatal(second, err)
	}
	for _, run := range append(first.Runs, second.Runs...) {
		is(t, "the result", w.result(t, run.RunID), `{"same":true}`)
	}
	page, err := w.client.Runs(t.Context(), filter, "")
	if err != nil || len(page.Runs) != 7 {
		t.Errorf("%d runs, %v", len(page.Runs), err)
	}
}
