package sim

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/workflow"
)

// runs tracks the workflow runs of a history.
type runs struct {
	names   []string
	results map[stepKey]queue.ID // the first accepted result of each step
	woken   map[uint64]queue.ID  // waiters that a notification has woken, and with which entry
}

// stepKey names a step of a run.
type stepKey struct {
	run     string
	created int64
	step    uint32
}

func (r *runs) init() {
	r.results, r.woken = map[stepKey]queue.ID{}, map[uint64]queue.ID{}
}

const (
	app = "http://app:1/wf"
	// steps is the number of steps of a run; waitStep is the step that waits, in runs that wait.
	steps, waitStep = 3, 2
	// waitMark is the mark in the name of a run that waits.
	waitMark = "_waits_"
)

// fine is the answer of an endpoint that is one of workflows; other destinations may answer so too.
var fine = queue.Response{Status: 200, Header: []queue.Field{{Name: "Upstash-Workflow-Sdk-Version", Value: "1"}, {Name: "Upstash-Workflow-Sdk", Value: "v1.3.2"}}}

// askRuns has a client ask for something about workflow runs.
func (w *world) askRuns(n *node, kind Kind, id string, b, c int) {
	switch kind {
	case StartRun:
		w.startRun(n, kind, "wfr_"+id)
	case Await:
		w.startRun(n, kind, "wfr_"+id+waitMark+strconv.Itoa(b%2))
	case Notify:
		v := workflow.Notification{EventID: "event" + strconv.Itoa(b%2), Body: []byte(id)}
		w.submit(n, &operation{kind: kind, key: v.EventID, code: fsm.NotifyEvent.Code, body: fsm.NotifyEvent.Body(v)})
	case CancelRun:
		if len(w.names) > 0 {
			f := workflow.Filter{RunIDs: []string{w.names[b%len(w.names)]}}
			w.submit(n, &operation{kind: kind, code: fsm.CancelRuns.Code, body: fsm.CancelRuns.Body(workflow.Cancellation{Filter: f})})
		}
	case Revive:
		v := workflow.Revival{Restart: b%2 == 0, DeadSelection: workflow.DeadSelection{Limit: 1 + c%2}}
		w.submit(n, &operation{kind: kind, code: fsm.Revive.Code, body: fsm.Revive.Body(v)})
	}
}

func (w *world) startRun(n *node, kind Kind, name string) {
	s := workflow.Submission{Kind: workflow.InitSubmission, URL: app, RunID: name, Body: []byte(`{}`)}
	s.Retries, s.Given = 1, queue.GivenRetries
	workflow.CompleteStart(&s)
	w.names = append(w.names, name)
	w.submit(n, &operation{kind: kind, key: name, code: fsm.Submit.Code, body: fsm.Submit.Body(workflow.Submissions{Items: []workflow.Submission{s}})})
}

// wanted reports whether there is something to deliver: a run may be over by now.
func (w *world) wanted(n *node, a *attempt) (ok bool) {
	if len(a.Content.Run) == 0 {
		return true
	}
	n.machine.View(0, [16]byte{}, func(v *fsm.View) { _, ok = v.Workflows().Delivery(a.ID, a.Content.Run) })
	return ok
}

// endpoint has the workflow do its next step, before it answers; false if there is none to do.
func (w *world) endpoint(a *attempt) bool {
	ref, ok := workflow.ParseRef(a.Content.Run)
	if !ok || ref.Kind == workflow.DeliverFailure {
		return false
	}
	var run *workflow.Run
	a.deliverer.l.n.machine.View(0, [16]byte{}, func(v *fsm.View) { run, _ = v.Workflows().Run(ref.Run) })
	if run == nil || !run.Active() {
		return false
	}
	o := nextStep(run, ref.Pos+1, len(w.all))
	a.asks = true
	o.after = func(o *operation) {
		a.asks = false
		if a.over {
			return
		}
		r := queue.Result{AttemptRef: a.Ref(), RetryDelay: 1000, Response: fine}
		if o.state != done {
			r.Response = queue.Response{Status: 500}
		}
		w.finish(a, r)
	}
	if w.submit(w.nodes[len(w.all)%nodes], o); o.state == refused {
		o.after(o)
	}
	return true
}

// nextStep returns the operation by which the endpoint of a run submits a step, with id in its content.
func nextStep(run *workflow.Run, number uint32, id int) *operation {
	step := workflow.Step{ID: number, Concurrent: 1, Type: workflow.RunStep, Name: "s" + strconv.Itoa(int(number))}
	event, _, _ := strings.Cut(run.ID, waitMark)
	waiting := event != run.ID
	switch {
	case number > steps:
		return &operation{kind: StartRun, code: fsm.EndRun.Code, body: fsm.EndRun.Body(workflow.Ending{RunID: run.ID, HasResult: true})}
	case waiting && number == waitStep:
		step.Type = workflow.Wait
		n := workflow.Await{RunID: run.ID, EventID: "event" + run.ID[len(event)+len(waitMark):], Step: step, Open: fmt.Appendf(nil, `{"stepId":%d`, number),
			Timeout: 4000, TimeoutText: "4s", URL: app, TimeoutURL: app}
		return &operation{kind: Await, key: run.ID, code: fsm.Await.Code, body: fsm.Await.Body(n)}
	}
	n := workflow.Submission{Kind: workflow.StepSubmission, URL: app, RunID: run.ID, Step: step, Features: workflow.TriggerOnConfig,
		Body: fmt.Appendf(nil, `{"stepId":%d,"stepName":%q,"stepType":"Run","out":"%d","concurrent":1}`, number, step.Name, id)}
	return &operation{kind: StartRun, key: run.ID, code: fsm.Submit.Code, body: fsm.Submit.Body(workflow.Submissions{Items: []workflow.Submission{n}})}
}

// learnRuns takes in what an entry says of runs.
func (w *world) learnRuns(n *node, o *fsm.Outcome) {
	switch v := o.Value.(type) {
	case workflow.Receipts:
		if arg, ok := argument(w, n.applied, o, fsm.Submit); ok {
			for i, r := range v.Items {
				w.submitted(&arg.Items[i], &r)
			}
		}
	case workflow.Notified:
		for _, k := range v.Woken {
			if _, before := w.woken[k.Waiter.No]; before {
				w.fail("waiters", "waiter %d of %s was woken twice", k.Waiter.No, k.RunID)
			}
			w.woken[k.Waiter.No] = k.Message
		}
	}
}

// submitted takes in what became of one step's result.
func (w *world) submitted(n *workflow.Submission, r *workflow.Receipt) {
	if n.Kind != workflow.StepSubmission || r.Refused != nil {
		return
	}
	key := stepKey{r.RunID, r.Created, n.Step.ID}
	first, before := w.results[key]
	switch {
	case !r.Deduplicated && before:
		w.fail("steps", "two results of step %d of %s were accepted", key.step, key.run)
	case !r.Deduplicated:
		w.results[key] = r.ID
	case before && first != r.ID:
		w.fail("steps", "step %d of %s was answered with another result than the first", key.step, key.run)
	}
}
