package fsm

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/workflow"
)

// pricing is a machine of which operations are held against their prices.
type pricing struct {
	t     *testing.T
	m     *Machine
	index uint64
	now   int64
	n     int // of everything that a client can make many of
}

func newPricing(t *testing.T, table *command.Table, n int) *pricing {
	w := &pricing{t: t, m: NewMachineWith(table), now: 1_790_000_000_000, n: n}
	w.must(SetLevel.Code, SetLevel.Body(LevelChange{Level: env.Base}))
	w.must(NewTerm.Code, NewTerm.Body(Term{Number: 1, Leader: "n"}))
	return w
}

// apply applies one operation.
func (pr *pricing) apply(code uint16, body []byte) (any, error) {
	pr.t.Helper()
	pr.index++
	pr.now++
	e := Entry{Stamp: pr.now, Term: 1, Requests: []Request{{Code: code, Body: body}}}
	out, err := pr.m.Apply(pr.index, 1, e.Encode())
	if err != nil {
		pr.t.Fatal(err)
	}
	return out[0].Value, out[0].Err
}

func (pr *pricing) must(code uint16, body []byte) any {
	pr.t.Helper()
	v, err := pr.apply(code, body)
	if err != nil {
		pr.t.Fatal(err)
	}
	return v
}

// price is that of an operation as the next entry would find it.
func (pr *pricing) price(code uint16, body []byte) env.Price {
	s := pr.m.state
	e := env.New(pr.index+1, pr.now+1, s.level, [16]byte{}, 0)
	p, err := byCode[code].priceIn(tenant{s, s.home}, e, body)
	if err != nil {
		pr.t.Fatal(err)
	}
	return p
}

// with applies an operation in the course of a preparation.
func with[A, R any](w *pricing, op *Operation[A, R], arg A) R {
	w.t.Helper()
	return w.must(op.Code, op.Body(arg)).(R)
}

func (pr *pricing) texts(prefix string) (list []string) {
	for i := range pr.n {
		list = append(list, fmt.Sprint(prefix, i))
	}
	return list
}

func (pr *pricing) publish(p queue.Publication) {
	var all queue.Publications
	for range pr.n {
		all.Items = append(all.Items, p)
	}
	with(pr, Publish, all)
}

func (pr *pricing) group(name string) {
	c := queue.GroupChange{Name: name, Act: queue.ActAddEndpoints}
	for i := range pr.n {
		c.Endpoints = append(c.Endpoints, queue.Endpoint{Name: fmt.Sprint("endpoint", i), URL: fmt.Sprint("http://example.com/endpoints/", i)})
	}
	with(pr, ChangeGroup, c)
}

func (pr *pricing) claim() []queue.Attempt {
	return with(pr, Advance, AdvanceLimit{Deliver: true, Term: 1, Claims: 256}).Attempts
}

func (pr *pricing) results(status int) (out queue.Results) {
	for _, a := range pr.claim() {
		out.Items = append(out.Items, queue.Result{AttemptRef: a.Ref(), Response: queue.Response{Status: status, Body: []byte(strings.Repeat("answer", 30))}})
	}
	return out
}

// commands are as many as there are of everything, as an answer brings them.
func (pr *pricing) commands() []byte {
	return []byte("[" + strings.TrimSuffix(strings.Repeat(`["PING"],`, pr.n), ",") + "]")
}

// dead makes dead letters.
func (pr *pricing) dead() {
	p := publicationOf("dead", 100)
	p.Given |= queue.GivenRetries
	pr.publish(p)
	for pr.m.state.home.messages.Counts().Dead < pr.n {
		r := pr.results(500)
		if len(r.Items) == 0 {
			break
		}
		with(pr, Finish, r)
	}
}

func publicationOf(path string, body int) queue.Publication {
	p := queue.Publication{URL: "http://example.com/" + path, Body: []byte(strings.Repeat("b", body)), CallerIP: "203.0.113.7"}
	p.Given, p.Header = queue.GivenHeader, []queue.Field{{Name: "Content-Type", Value: "application/json"}}
	return p
}

const flowURL = "https://app.example/flow"

func (pr *pricing) run(id string) workflow.Submission {
	n := workflow.Submission{Kind: workflow.InitSubmission, URL: flowURL, RunID: id, Body: []byte(`{"order":7}`)}
	workflow.CompleteStart(&n)
	n.Features &^= workflow.DetectTrigger
	n.Given |= queue.GivenRetries
	return n
}

func (pr *pricing) stepOf(id string, no uint32) workflow.Submission {
	return workflow.Submission{Kind: workflow.StepSubmission, URL: flowURL, RunID: id, Body: []byte(`{"stepId":1,"stepName":"step","stepType":"Run","out":"1","concurrent":1}`),
		Step: workflow.Step{ID: no, Concurrent: 1, Type: workflow.RunStep, Name: "step"}, Features: workflow.TriggerOnConfig}
}

// runs starts runs.
func (pr *pricing) runs() {
	var all workflow.Submissions
	for _, id := range pr.texts("wfr_") {
		all.Items = append(all.Items, pr.run(id))
	}
	with(pr, Submit, all)
}

// steps starts a run with many steps.
func (pr *pricing) steps() {
	with(pr, Submit, workflow.Submissions{Items: []workflow.Submission{pr.run("long")}})
	with(pr, Finish, pr.results(200))
	var all workflow.Submissions
	for i := range pr.n {
		all.Items = append(all.Items, pr.stepOf("long", uint32(i+1)))
	}
	with(pr, Submit, all)
}

// mixed makes a run with results, plans and calls that are not done.
func (pr *pricing) mixed() {
	pr.latest()
	pr.steps()
	var all workflow.Submissions
	for i := range pr.n {
		n := pr.stepOf("long", uint32(pr.n+i+1))
		n.Step = workflow.Step{Target: n.Step.ID, Concurrent: uint32(pr.n), Type: workflow.RunStep}
		c := pr.stepOf("long", uint32(2*pr.n+i+1))
		c.Kind, c.Callback, c.Given = workflow.CallSubmission, &queue.Callback{URL: flowURL}, c.Given|queue.GivenCallback
		all.Items = append(all.Items, n, c)
	}
	with(pr, Submit, all)
}

// fork asks for a fork of the run "long", of which the request brings the records or not.
func (pr *pricing) fork(brought bool) (n workflow.Forking) {
	s := pr.m.state.home.workflows
	r := s.Find("long", 0)
	n = workflow.Forking{Of: workflow.ForkSource{RunID: r.ID, Created: r.Created}, No: r.No, Entries: r.Entries}
	n.Options.Labels, n.Options.Given = pr.texts("label"), queue.GivenLabels
	if brought {
		s.AppendRun(&n, r)
	}
	return n
}

func (pr *pricing) waits(run, event string, step uint32) workflow.Await {
	return workflow.Await{RunID: run, EventID: event, Step: workflow.Step{ID: step, Concurrent: 1, Type: workflow.Wait, Name: "w"},
		Open: []byte(`{"stepId":2,"stepType":"Wait","stepName":"w","concurrent":1`), Timeout: 60_000, TimeoutText: "60s", URL: flowURL, TimeoutURL: flowURL}
}

// deadRuns has all runs fail.
func (pr *pricing) deadRuns() {
	for range 20 {
		r := pr.results(500)
		if len(r.Items) == 0 {
			break
		}
		with(pr, Finish, r)
	}
}

// recipe makes ever larger requests of one operation.
type recipe struct {
	code    uint16
	prepare func(*pricing)
	body    func(*pricing) []byte
	// flat: it does the same however much there is.
	flat bool
	// frees: what it adds takes the place of something else.
	frees bool
	// history is the part of each addition, in bytes, that is history: a full database forgets older history for it.
	history int64
}

func (r recipe) thatFrees() recipe { r.frees = true; return r }

func (r recipe) withHistory(bytes int64) recipe { r.history = bytes; return r }

// asks is a recipe for an operation.
func asks[A, R any](op *Operation[A, R], prepare func(*pricing), arg func(*pricing) A) recipe {
	if prepare == nil {
		prepare = func(*pricing) {}
	}
	return recipe{code: op.Code, prepare: prepare, body: func(w *pricing) []byte { return op.Body(arg(w)) }}
}

// historyCost is the memory of an event without texts, in bytes.
const historyCost = 160

// flat is for what does little, whatever it is asked for.
func flat[A, R any](op *Operation[A, R], arg A) recipe {
	r := asks(op, nil, func(*pricing) A { return arg })
	r.flat = true
	return r
}

func recipes() map[string]recipe {
	return map[string]recipe{
		"publish one by one": asks(Publish, nil, func(w *pricing) (p queue.Publications) {
			for range w.n {
				p.Items = append(p.Items, publicationOf("p", 200))
			}
			return p
		}),
		"publish once by id and content, with new queues and keys": asks(Publish, nil, func(w *pricing) (p queue.Publications) {
			for i := range w.n {
				one := publicationOf("p", 200)
				one.DedupID = fmt.Sprint(i)
				one.Queue, one.Flow = fmt.Sprint("queue", i), &queue.FlowControl{Key: fmt.Sprint("key", i), Rate: 1}
				one.Given |= queue.GivenQueue | queue.GivenFlow
				p.Items = append(p.Items, one)
			}
			return p
		}),
		"publish of many tenants": asks(Publish, nil, func(w *pricing) (p queue.Publications) {
			for i := range w.n {
				one := publicationOf("p", 200)
				one.Queue, one.Flow = "queue", &queue.FlowControl{Key: "key", Parallelism: 1}
				one.Precedence = &queue.Precedence{Given: queue.PartTenant | queue.PartCost | queue.PartPriority, Priority: i % 10, Tenant: fmt.Sprint("tenant", i), Cost: 1 + i%5}
				one.Given |= queue.GivenQueue | queue.GivenFlow | queue.GivenPrecedence
				p.Items = append(p.Items, one)
			}
			return p
		}),
		"publish with callbacks": asks(Publish, nil, func(w *pricing) (p queue.Publications) {
			for range w.n {
				one := publicationOf("p", 200)
				one.Callback, one.Failure = &queue.Callback{URL: "http://example.com/callback"}, &queue.Callback{URL: "http://example.com/failure"}
				one.Given |= queue.GivenCallback | queue.GivenFailure
				p.Items = append(p.Items, one)
			}
			return p
		}),
		"publish to a group": asks(Publish, func(w *pricing) { w.group("g") }, func(*pricing) queue.Publications {
			p := publicationOf("p", 300)
			p.URL, p.Group = "", "g"
			return queue.Publications{Items: []queue.Publication{p}}
		}),
		"publish a large body to a group": asks(Publish, func(w *pricing) { w.group("g") }, func(*pricing) queue.Publications {
			p := publicationOf("p", 200_000)
			p.URL, p.Group = "", "g"
			return queue.Publications{Items: []queue.Publication{p}}
		}),
		"publish a larger body": asks(Publish, nil, func(w *pricing) queue.Publications {
			return queue.Publications{Items: []queue.Publication{publicationOf("p", 5000*w.n)}}
		}),
		"publish labels and headers": asks(Publish, nil, func(w *pricing) queue.Publications {
			p := publicationOf("p", 10)
			p.Labels = w.texts("label")
			for _, name := range w.texts("X-Header-") {
				p.Header = append(p.Header, queue.Field{Name: name, Value: "value"})
			}
			p.Given |= queue.GivenLabels
			return queue.Publications{Items: []queue.Publication{p}}
		}),
		"cancel by a filter": asks(CancelMessages, func(w *pricing) { w.publish(publicationOf("p", 10)) }, func(w *pricing) queue.Cancellation { return queue.Cancellation{} }).withHistory(2 * historyCost),
		"cancel by a filter that matches nothing": asks(CancelMessages, func(w *pricing) { w.publish(publicationOf("p", 10)) }, func(w *pricing) queue.Cancellation {
			return queue.Cancellation{Filter: queue.Filter{Labels: w.texts("none"), URLs: w.texts("http://none/")}}
		}),
		"bulk cancel": asks(BulkCancel, func(w *pricing) { w.publish(publicationOf("p", 10)) }, func(w *pricing) queue.BulkCancellation {
			return queue.BulkCancellation{Filter: queue.Filter{URLs: append(w.texts("http://none/"), "http://example.com/p")}}
		}).withHistory(2 * historyCost),
		"pause a queue": asks(ChangeQueue, func(w *pricing) {
			with(w, ChangeQueue, queue.QueueChange{Name: "q", Act: queue.ActPut, Parallelism: 5000})
			p := publicationOf("p", 10)
			p.Queue, p.Given = "q", p.Given|queue.GivenQueue
			w.publish(p)
		}, func(*pricing) queue.QueueChange { return queue.QueueChange{Name: "q", Act: queue.ActPause} }),
		"make a queue": flat(ChangeQueue, queue.QueueChange{Name: "q", Act: queue.ActPut}),
		"put a schedule": asks(PutSchedule, nil, func(w *pricing) queue.SchedulePut {
			return queue.SchedulePut{ID: "s", Cron: "@every 1s", Every: 1000, Publish: publicationOf("p", 100*w.n)}
		}),
		"change a schedule": flat(ChangeSchedule, queue.ScheduleChange{ID: "s", Act: queue.ActPause}),
		"run a schedule": asks(RunSchedule, func(w *pricing) {
			w.group("g")
			p := publicationOf("p", 100)
			p.URL, p.Group = "", "g"
			with(w, PutSchedule, queue.SchedulePut{ID: "s", Cron: "@every 1s", Every: 1000, Publish: p})
		}, func(*pricing) queue.ScheduleRef { return queue.ScheduleRef{ID: "s"} }),
		"add endpoints": asks(ChangeGroup, nil, func(w *pricing) queue.GroupChange {
			c := queue.GroupChange{Name: "g", Act: queue.ActAddEndpoints}
			for i := range w.n {
				c.Endpoints = append(c.Endpoints, queue.Endpoint{Name: fmt.Sprint("e", i), URL: fmt.Sprint("http://example.com/", i)})
			}
			return c
		}),
		"remove endpoints": asks(ChangeGroup, func(w *pricing) { w.group("g") }, func(w *pricing) queue.GroupChange {
			c := queue.GroupChange{Name: "g", Act: queue.ActRemoveEndpoints}
			for i := range w.n {
				c.Endpoints = append(c.Endpoints, queue.Endpoint{Name: fmt.Sprint("e", i)})
			}
			return c
		}),
		"change a flow-control key": flat(ChangeFlowControl, queue.FlowControlChange{Key: "key", Act: queue.ActPin, Rate: 5}),
		"set parallelism":           flat(SetParallelism, queue.Parallelism{Max: 5}),
		"rotate keys":               flat(RotateKeys, queue.Rotation{}),
		"configure messages":        flat(ConfigureMessages, queue.DefaultSettings()),
		"configure workflows":       flat(ConfigureWorkflows, workflow.DefaultSettings()),
		"delete dead letters":       asks(DeleteDead, (*pricing).dead, func(*pricing) queue.DeadSelection { return queue.DeadSelection{} }),
		"retry dead letters":        asks(RetryDead, (*pricing).dead, func(*pricing) queue.DeadRetry { return queue.DeadRetry{} }).thatFrees(),
		"run now":                   flat(RunNow, queue.RunNow{}),
		"start runs": asks(Submit, nil, func(w *pricing) (all workflow.Submissions) {
			for _, id := range w.texts("wfr_") {
				all.Items = append(all.Items, w.run(id))
			}
			return all
		}),
		"submit steps": asks(Submit, (*pricing).runs, func(w *pricing) (all workflow.Submissions) {
			for _, id := range w.texts("wfr_") {
				all.Items = append(all.Items, w.stepOf(id, 1))
			}
			return all
		}),
		"submit a step with commands": asks(Submit, func(w *pricing) {
			n := w.run("acts")
			n.CommitAs, n.Given = acl.DefaultName, n.Given|queue.GivenCommit
			with(w, Submit, workflow.Submissions{Items: []workflow.Submission{n}})
		}, func(w *pricing) workflow.Submissions {
			n := w.stepOf("acts", 1)
			n.Commit = w.commands()
			return workflow.Submissions{Items: []workflow.Submission{n}}
		}),
		"submit steps with a command each": asks(Submit, func(w *pricing) {
			n := w.run("acts")
			n.CommitAs, n.Given = acl.DefaultName, n.Given|queue.GivenCommit
			with(w, Submit, workflow.Submissions{Items: []workflow.Submission{n}})
		}, func(w *pricing) (all workflow.Submissions) {
			for i := range w.n {
				n := w.stepOf("acts", uint32(i+1))
				n.Commit = []byte(`[["PING"]]`)
				all.Items = append(all.Items, n)
			}
			return all
		}),
		"finish with commands": asks(FinishCommit, func(w *pricing) {
			with(w, SetLevel, LevelChange{Level: MaxLevel})
			p := publicationOf("p", 10)
			p.CommitAs, p.Given = acl.DefaultName, p.Given|queue.GivenCommit
			with(w, Publish, queue.Publications{Items: []queue.Publication{p}})
		}, func(w *pricing) queue.Answer {
			n := queue.Answer{Result: w.results(200).Items[0], Commit: w.commands()}
			n.Response.Body = nil
			return n
		}).thatFrees(),
		"submit calls": asks(Submit, (*pricing).runs, func(w *pricing) (all workflow.Submissions) {
			for _, id := range w.texts("wfr_") {
				n := w.stepOf(id, 1)
				n.Kind, n.URL = workflow.CallSubmission, "https://third.example/"
				all.Items = append(all.Items, n)
			}
			return all
		}),
		"submit a step with a state": asks(Submit, func(w *pricing) { with(w, Submit, workflow.Submissions{Items: []workflow.Submission{w.run("r")}}) }, func(w *pricing) workflow.Submissions {
			n := w.stepOf("r", 1)
			n.State, n.Updates = []byte(`"`+strings.Repeat("x", 100*w.n)+`"`), []byte(`{"add":"@.update.n <= @.state.n"}`)
			return workflow.Submissions{Items: []workflow.Submission{n}}
		}),
		"start runs that keep events and accept updates": asks(Submit, nil, func(w *pricing) (all workflow.Submissions) {
			for _, id := range w.texts("wfr_") {
				n := w.run(id)
				n.Keep, n.Updates = []string{"one", "two", "three*", "four*"}, []byte(`{"add":"@.update.n <= @.state.n","close":""}`)
				all.Items = append(all.Items, n)
			}
			return all
		}),
		"notify an event that runs keep": asks(NotifyEvent, func(w *pricing) {
			var all workflow.Submissions
			for _, id := range w.texts("wfr_") {
				n := w.run(id)
				n.Keep = []string{"event", "ev*"}
				all.Items = append(all.Items, n)
			}
			with(w, Submit, all)
		}, func(w *pricing) workflow.Notification {
			return workflow.Notification{EventID: "event", Body: []byte(strings.Repeat("x", 500))}
		}),
		"update a run": asks(NotifyEvent, func(w *pricing) {
			n := w.run("r")
			n.Updates = []byte(`{"add":"@.update != @.state"}`)
			with(w, Submit, workflow.Submissions{Items: []workflow.Submission{n}})
			told := w.stepOf("r", 1)
			told.State = []byte(`"` + strings.Repeat("x", 50*w.n) + `"`)
			with(w, Submit, workflow.Submissions{Items: []workflow.Submission{told}})
		}, func(w *pricing) workflow.Notification {
			return workflow.Notification{RunID: "r", EventID: "add", Update: true, UpdateID: "u", Body: []byte(`"` + strings.Repeat("y", 50*w.n) + `"`)}
		}),
		"await": asks(Await, func(w *pricing) { with(w, Submit, workflow.Submissions{Items: []workflow.Submission{w.run("r")}}) }, func(w *pricing) workflow.Await {
			a := w.waits("r", "event", 1)
			a.Open = append(a.Open, strings.Repeat(" ", 100*w.n)...)
			return a
		}),
		"notify an event": asks(NotifyEvent, func(w *pricing) {
			w.runs()
			for _, id := range w.texts("wfr_") {
				with(w, Await, w.waits(id, "event", 1))
			}
		}, func(w *pricing) workflow.Notification {
			return workflow.Notification{EventID: "event", Body: []byte(strings.Repeat("x", 500))}
		}),
		"notify runs that a rule moves": asks(NotifyEvent, func(w *pricing) {
			w.deployments("v1", "v2-with-a-longer-name")
			with(w, Submit, w.deployed())
			for _, id := range w.texts("wfr_") {
				with(w, Await, w.waits(id, "event", 1))
			}
			with(w, ChangeDeployment, workflow.DeploymentChange{Name: "v1", MoveTo: "v2-with-a-longer-name", When: workflow.MoveAlways})
		}, func(w *pricing) workflow.Notification {
			return workflow.Notification{EventID: "event", Body: []byte("x")}
		}).thatFrees(),
		"notify a run": asks(NotifyEvent, func(w *pricing) { with(w, Submit, workflow.Submissions{Items: []workflow.Submission{w.run("r")}}) }, func(w *pricing) workflow.Notification {
			return workflow.Notification{RunID: "r", EventID: "event", Body: []byte(strings.Repeat("x", 100*w.n))}
		}),
		"end a run": asks(EndRun, (*pricing).steps, func(w *pricing) workflow.Ending { return workflow.Ending{RunID: "long"} }),
		"end with a result": asks(EndRun, func(w *pricing) { with(w, Submit, workflow.Submissions{Items: []workflow.Submission{w.run("r")}}) }, func(w *pricing) workflow.Ending {
			return workflow.Ending{RunID: "r", HasResult: true, Result: []byte(`"` + strings.Repeat("x", 5000*w.n) + `"`)}
		}),
		"cancel runs": asks(CancelRuns, (*pricing).runs, func(*pricing) workflow.Cancellation { return workflow.Cancellation{} }),
		"cancel runs by messages": asks(CancelRuns, (*pricing).runs, func(w *pricing) (n workflow.Cancellation) {
			for i := range w.n {
				n.Messages = append(n.Messages, queue.ID{Seq: uint64(i + 1)})
			}
			return n
		}),
		"bulk cancel runs": asks(BulkCancelRuns, (*pricing).runs, func(w *pricing) workflow.BulkCancellation {
			return workflow.BulkCancellation{Filter: workflow.Filter{URLs: append(w.texts("http://none/"), flowURL)}}
		}).thatFrees(),
		"revive a run": asks(Revive, func(w *pricing) { w.steps(); w.deadRuns() }, func(*pricing) workflow.Revival { return workflow.Revival{} }),
		"resume a run": asks(ResumeRun, func(w *pricing) {
			with(w, SetLevel, LevelChange{Level: MaxLevel})
			n := w.run("paused")
			n.OnFailure, n.Retries, n.Given = queue.Pause, 0, n.Given|queue.GivenOnFailure|queue.GivenRetries
			with(w, Submit, workflow.Submissions{Items: []workflow.Submission{n}})
			with(w, Finish, w.results(500))
			for i := range w.n {
				with(w, Submit, workflow.Submissions{Items: []workflow.Submission{w.stepOf("paused", uint32(i+1))}})
			}
		}, func(*pricing) workflow.RunChange { return workflow.RunChange{RunID: "paused"} }),
		"put a deployment": asks(ChangeDeployment, func(w *pricing) { w.deployments(w.texts("v")...) }, func(w *pricing) workflow.DeploymentChange {
			return workflow.DeploymentChange{Name: "new", URL: "https://new.example", MoveTo: "v1", When: workflow.MoveAlways}
		}),
		"start runs on a deployment": asks(Submit, func(w *pricing) { w.deployments("v1") }, (*pricing).deployed),
		"submit steps to runs that a rule moves": asks(Submit, func(w *pricing) {
			w.deployments("v1", "v2-with-a-longer-name")
			with(w, Submit, w.deployed())
			with(w, ChangeDeployment, workflow.DeploymentChange{Name: "v1", MoveTo: "v2-with-a-longer-name", When: workflow.MoveAlways})
		}, func(w *pricing) (all workflow.Submissions) {
			for _, id := range w.texts("wfr_") {
				all.Items = append(all.Items, w.stepOf(id, 1))
			}
			return all
		}),
		"move runs": asks(MoveRuns, func(w *pricing) {
			w.deployments("v1", "v2-with-a-longer-name")
			with(w, Submit, w.deployed())
		}, func(w *pricing) workflow.RunMove { return workflow.RunMove{From: "v1", To: "v2-with-a-longer-name"} }),
		"move a run": asks(MoveRuns, func(w *pricing) {
			w.deployments("v1", "v2-with-a-longer-name")
			n := w.run("long")
			n.Deployment = "v1"
			with(w, Submit, workflow.Submissions{Items: []workflow.Submission{n}})
			for i := range w.n {
				with(w, Submit, workflow.Submissions{Items: []workflow.Submission{w.stepOf("long", uint32(i+1))}})
			}
		}, func(w *pricing) workflow.RunMove { return workflow.RunMove{RunID: "long", To: "v2-with-a-longer-name"} }),
		"fork a run":                 asks(ForkRun, (*pricing).mixed, func(w *pricing) workflow.Forking { return w.fork(false) }),
		"fork a run that is brought": asks(ForkRun, (*pricing).mixed, func(w *pricing) workflow.Forking { return w.fork(true) }),
		"publish into batches": asks(Publish, func(w *pricing) {
			w.latest()
			with(w, Publish, w.gathering(queue.Gather{Mode: queue.Batched, Key: "k", Wait: 1000, Size: 1000, Bytes: 1 << 20}, 1))
		}, func(w *pricing) queue.Publications {
			return w.gathering(queue.Gather{Mode: queue.Batched, Key: "k", Wait: 1000, Size: 1000, Bytes: 1 << 20}, w.n)
		}),
		"publish one that is debounced": asks(Publish, (*pricing).latest, func(w *pricing) queue.Publications {
			return w.gathering(queue.Gather{Mode: queue.Debounce, Key: "k", Wait: 1000}, w.n)
		}).thatFrees(),
		"publish in the place of a singleton": asks(Publish, func(w *pricing) {
			w.latest()
			with(w, Publish, w.gathering(queue.Gather{Mode: queue.SingletonQueue, Key: "k"}, w.n))
		}, func(w *pricing) queue.Publications {
			return w.gathering(queue.Gather{Mode: queue.SingletonCancel, Key: "k"}, 1)
		}),
		"delete dead runs": asks(DeleteDeadRuns, func(w *pricing) { w.runs(); w.deadRuns() }, func(*pricing) workflow.DeadSelection {
			return workflow.DeadSelection{}
		}),
		"hold expiry":       flat(HoldExpiry, ExpiryHold{}),
		"change a callback": flat(ChangeCallback, workflow.CallbackChange{}),
		// Those of no database.
		"finish": asks(Finish, func(w *pricing) { w.publish(publicationOf("p", 10)) }, func(w *pricing) queue.Results { return w.results(500) }).thatFrees(),
		"finish with callbacks": asks(Finish, func(w *pricing) {
			p := publicationOf("p", 10)
			p.Callback, p.Given = &queue.Callback{URL: "http://example.com/callback"}, p.Given|queue.GivenCallback
			w.publish(p)
		}, func(w *pricing) queue.Results { return w.results(200) }).thatFrees(),
		"finish the last attempt of a run's step": asks(Finish, func(w *pricing) {
			n := w.run("long")
			n.Retries, n.Given = 0, n.Given|queue.GivenRetries
			with(w, Submit, workflow.Submissions{Items: []workflow.Submission{n}})
			with(w, Finish, w.results(200))
			var all workflow.Submissions
			for i := range w.n {
				step := w.stepOf("long", uint32(w.n+i+1))
				step.Step = workflow.Step{Target: step.Step.ID, Concurrent: uint32(w.n), Type: workflow.RunStep}
				all.Items = append(all.Items, step)
			}
			with(w, Submit, all)
		}, func(w *pricing) queue.Results {
			r := w.results(500)
			r.Items = r.Items[:1]
			return r
		}).thatFrees(),
		"advance": asks(Advance, func(w *pricing) { w.publish(publicationOf("p", 10)) }, func(*pricing) AdvanceLimit {
			return AdvanceLimit{Deliver: true, Term: 1, Claims: 256}
		}),
		"renew": asks(Renew, func(w *pricing) { w.publish(publicationOf("p", 10)) }, func(w *pricing) (n queue.Renewal) {
			for _, a := range w.claim() {
				n.Running = append(n.Running, a.Ref())
			}
			return n
		}),
		"exec": asks(Exec, nil, func(w *pricing) Batch {
			b := Batch{As: acl.Trusted(acl.DefaultName), Origin: command.RESP, Mode: Pipeline}
			for range w.n {
				b.Rows = append(b.Rows, [][]byte{[]byte("PING")})
			}
			return b
		}),
		"subscribe":      asks(Subscribe, nil, func(w *pricing) (n Subscribers) { n.Counts = make([]SubscriberCount, w.n); return n }),
		"stage a backup": asks(StageBackup, nil, func(w *pricing) BackupPart { return BackupPart{ID: "b", Data: make([]byte, 1000*w.n)} }),
		"evict": asks(Evict, nil, func(w *pricing) Eviction {
			return Eviction{Databases: []Picked{{Database: "a", Keys: make([]PickedKey, w.n)}}}
		}),
		"set level":      flat(SetLevel, LevelChange{Level: env.Base}),
		"new term":       flat(NewTerm, Term{Number: 1, Leader: "n"}),
		"register":       flat(Register, Registration{Node: "n1", Disk: "d", Boot: 1}),
		"bootstrap":      flat(BootstrapState, Bootstrap{ClusterID: "c", Level: env.Base}),
		"take digest":    flat(TakeDigest, Empty{}),
		"report digest":  flat(ReportDigest, DigestReport{Index: 1, Node: "n", Digest: "d"}),
		"configure":      flat(Configure, Settings{}),
		"admit a node":   flat(AdmitNode, NodeRecord{Node: "n1", Disk: "d1"}),
		"remove a node":  flat(RemoveNode, NodeRef{Node: "n2", Leaving: true}),
		"create":         flat(CreateDatabase, DatabaseTokens{Name: "shop", Standard: acl.DigestOf("s"), ReadOnly: acl.DigestOf("r")}),
		"delete":         flat(DeleteDatabase, DatabaseName{Name: "none"}),
		"reset tokens":   flat(ResetTokens, DatabaseTokens{Name: "none"}),
		"take quota":     flat(TakeQuota, QuotaClaim{Want: 1}),
		"forget":         flat(ForgetSubscribers, SessionRef{}),
		"restore":        flat(RestoreBackup, BackupRef{}),
		"in database":    flat(InDatabase, Owned{Database: "none", Code: Publish.Code}),
		"end a session":  flat(EndSession, EndedSession{ID: "s"}),
		"reset":          flat(Reset, Empty{}),
		"rotate tokens":  flat(RotateTokens, TokenRotation{}),
		"end of overlap": flat(EndTokenOverlap, TokenRole{}),
		"import":         flat(ImportMessages, MessageImport{}),
		"quarantine":     flat(Quarantine, QuarantineOrder{Database: "none", Number: 7, Index: 1}),
		"release":        flat(Release, DatabaseName{Name: "none"}),
		"configure one":  flat(ConfigureDatabase, DatabaseSettings{Name: DefaultDB, MaxMemory: ShareOfMemory}),
	}
}

// did compares the charge of an operation with the memory that it added and with its real work. That is measured in
// allocations, which do not depend on the load of the machine.
type did struct {
	price   env.Price
	grown   int64
	history int64
	real    float64
}

func (r recipe) run(t *testing.T, table *command.Table, n int) did {
	w := newPricing(t, table, n)
	r.prepare(w)
	body := r.body(w)
	used := func() int64 { return w.m.state.used() }
	p, before := w.price(r.code, body), used()
	var a, b runtime.MemStats
	runtime.ReadMemStats(&a)
	_, err := w.apply(r.code, body)
	runtime.ReadMemStats(&b)
	if err != nil && !r.flat {
		t.Fatal(err)
	}
	return did{p, used() - before, r.history * int64(n), float64(b.Mallocs-a.Mallocs) + float64(b.TotalAlloc-a.TotalAlloc)/256}
}

// TestEveryOperationPaysWhatItDoes asks every operation for n, 2n and 4n of everything that a client can make many of. What it
// is charged grows as what it does, and what it adds is no more than what it was charged, which is no more than twice that. An
// operation without a recipe fails.
func TestEveryOperationPaysWhatItDoes(t *testing.T) {
	table, known := command.NewTable(), map[uint16]bool{}
	const (
		n     = 60
		slack = 1500 // of bytes: what every operation may be charged beside what grows
	)
	for name, r := range recipes() {
		known[r.code] = true
		t.Run(name, func(t *testing.T) {
			one, two, four := r.run(t, table, n), r.run(t, table, 2*n), r.run(t, table, 4*n)
			for _, d := range []did{one, two, four} {
				if owned := byCode[r.code].isOwned(); d.grown-d.history > d.price.Growth && (owned || r.code == Finish.Code || r.code == Advance.Code) {
					t.Errorf("it added %d bytes and was charged %d", d.grown, d.price.Growth)
				}
				if d.price.Growth > 2*max(d.grown, 0)+slack && !r.frees {
					t.Errorf("it added %d bytes and was charged %d", d.grown, d.price.Growth)
				}
				if d.price.Work <= 0 && r.code != InDatabase.Code {
					t.Errorf("it is charged %d steps", d.price.Work)
				}
			}
			real, charged := four.real/one.real, float64(four.price.Work)/float64(one.price.Work)
			if r.flat {
				return
			}
			if real > 1.5 && charged < 0.6*real || real > 6 {
				t.Errorf("with four times as much it does %.1f times as much (%.0f, %.0f), and is charged %.1f times as much (%d, %d, %d steps)",
					real, one.real, four.real, charged, one.price.Work, two.price.Work, four.price.Work)
			}
			if per := four.real / float64(four.price.Work); per > 3 {
				t.Errorf("it does %.1f for a step: %.0f for %d", per, four.real, four.price.Work)
			}
		})
	}
	for code, o := range byCode {
		if o != nil && !known[uint16(code)] {
			t.Errorf("operation %d (%s) has no recipe", code, o.name())
		}
	}
}

// TestCommandWakesAllWaiters: WF.NOTIFY wakes all that wait for its event, however few an operation before it has woken. What that has
// left in memory is not state: a node that was started since would wake others.
func TestCommandWakesAllWaiters(t *testing.T) {
	const runs = 4
	w := newPricing(t, command.NewTable(), runs)
	w.runs()
	for i, id := range w.texts("wfr_") {
		with(w, Await, w.waits(id, []string{"few", "many"}[min(i, 1)], 1))
	}
	with(w, NotifyEvent, workflow.Notification{EventID: "few", Body: []byte("1")})
	with(w, Exec, Batch{As: acl.Trusted(acl.DefaultName), Rows: [][][]byte{{[]byte("WF.NOTIFY"), []byte("many"), []byte("2")}}})
	if left := len(w.m.state.home.workflows.Waiters("many", queue.NamePage{Limit: 1000}).Elements); left != 0 {
		t.Errorf("%d of %d runs still wait, want none", left, runs-1)
	}
}

// deployments makes deployments.
func (pr *pricing) deployments(names ...string) {
	pr.latest()
	for _, name := range names {
		with(pr, ChangeDeployment, workflow.DeploymentChange{Name: name, URL: "https://" + name + ".example"})
	}
}

// deployed are runs on a deployment.
func (pr *pricing) deployed() (all workflow.Submissions) {
	for _, id := range pr.texts("wfr_") {
		n := pr.run(id)
		n.Deployment = "v1"
		all.Items = append(all.Items, n)
	}
	return all
}

// latest brings the newest feature level into force.
func (pr *pricing) latest() { with(pr, SetLevel, LevelChange{Level: MaxLevel}) }

// gathering are publications that gather.
func (pr *pricing) gathering(g queue.Gather, n int) (all queue.Publications) {
	for range n {
		p := publicationOf("p", 10)
		p.Gather, p.Given = &g, p.Given|queue.GivenGather
		all.Items = append(all.Items, p)
	}
	return all
}
