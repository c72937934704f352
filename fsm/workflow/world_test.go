package workflow_test

import (
	"bytes"
	"fmt"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/workflow"
)

// pair is a store of runs with its store of messages.
type pair struct {
	s *workflow.Store
	q *queue.Store
}

// checker is a test, or one of rapid's.
type checker interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

// world is runs and messages, with a deliverer that the test is, twice: what is done is done to both, and either is
// restored from its snapshot now and then, so that they have to agree on everything.
type world struct {
	t       checker
	pairs   [2]pair
	now     int64
	index   uint64
	levels  [2]env.Level // of each store, env.Latest unless a test says otherwise
	running []queue.Attempt
}

func newWorld(t checker) *world {
	w := &world{t: t, now: 1_790_000_000_000, levels: [2]env.Level{env.Latest, env.Latest}}
	for i := range w.pairs {
		w.pairs[i] = pair{workflow.New(), queue.New()}
	}
	return w
}

// apply does something to both stores and returns what the first answered; both have to answer the same.
func apply[R any](w *world, f func(e *env.Env, p pair) (R, error)) (R, error) {
	w.t.Helper()
	w.index++
	var out [2]R
	var errs [2]error
	for i, p := range w.pairs {
		e := env.New(w.index, w.now, w.levels[i], [16]byte{byte(w.index), byte(w.index >> 8), byte(w.index >> 16)}, 0)
		e.Session = 7
		out[i], errs[i] = f(e, p)
		if list := p.q.TakeReports(); len(list) > 0 {
			p.s.ApplyReports(e, p.q, list)
		}
		if n := p.s.Untrimmed(); n != 0 {
			w.t.Fatalf("%d records are left to be trimmed by the next entry", n)
		}
	}
	if a, b := fmt.Sprintf("%+v %v", out[0], errs[0]), fmt.Sprintf("%+v %v", out[1], errs[1]); a != b && !bytes.Contains([]byte(a), []byte("0x")) {
		w.t.Fatalf("the stores answer differently:\n%s\n%s", a, b)
	}
	return out[0], errs[0]
}

// snapshot is everything that a pair saves.
func (p pair) snapshot(t checker) (records [][]byte) {
	t.Helper()
	for _, save := range []func(func([]byte) error) error{p.q.Save, p.s.Save} {
		if err := save(func(r []byte) error { records = append(records, bytes.Clone(r)); return nil }); err != nil {
			t.Fatal(err)
		}
		records = append(records, nil)
	}
	return records
}

// restore replaces a pair by what its snapshot gives.
func (w *world) restore(i int) {
	w.t.Helper()
	n := pair{workflow.New(), queue.New()}
	load := n.q.Load
	for _, r := range w.pairs[i].snapshot(w.t) {
		if r == nil {
			load = n.s.Load
			continue
		}
		if err := load(r); err != nil {
			w.t.Fatal(err)
		}
	}
	if err := n.s.Consistent(); err != nil {
		w.t.Fatal(err)
	}
	if a, b := w.pairs[i].s.Used(), n.s.Used(); a != b {
		w.t.Fatalf("%d bytes are counted, after a restore %d", a, b)
	}
	w.pairs[i] = n
}

// same compares the stores.
func (w *world) same() {
	w.t.Helper()
	a, b := w.pairs[0].snapshot(w.t), w.pairs[1].snapshot(w.t)
	if len(a) != len(b) {
		w.t.Fatalf("%d and %d records", len(a), len(b))
	}
	for i := range a {
		if !bytes.Equal(a[i], b[i]) {
			w.t.Fatalf("record %d differs:\n%q\n%q", i, a[i], b[i])
		}
	}
}

// advance claims what is due and keeps it as running.
func (w *world) advance() {
	w.t.Helper()
	list, _ := apply(w, func(e *env.Env, p pair) ([]queue.Attempt, error) {
		p.s.Advance(e, p.q)
		return p.q.Advance(e, queue.Demand{Epoch: 1, Term: 1, Claims: 16}), nil
	})
	w.running = append(w.running, list...)
}

// finish tells how running attempt i went.
func (w *world) finish(i int, p queue.Response, why string) {
	w.t.Helper()
	a := w.running[i]
	w.running = append(w.running[:i:i], w.running[i+1:]...)
	n := queue.Results{Items: []queue.Result{{AttemptRef: a.Ref(), Response: p, Error: why, RetryDelay: 100}}}
	apply(w, func(e *env.Env, q pair) (queue.Dispositions, error) { return q.q.Finish(e, n) })
}

func (w *world) submit(items ...workflow.Submission) []workflow.Receipt {
	w.t.Helper()
	out, _ := apply(w, func(e *env.Env, p pair) (workflow.Receipts, error) {
		return p.s.Submit(e, p.q, workflow.Submissions{Items: items})
	})
	return out.Items
}

// A workflow's address, and what its endpoint answers.
const url = "http://app:3000/wf"

var fine = queue.Response{Status: 200, Header: []queue.Field{{Name: "Upstash-Workflow-Sdk-Version", Value: "1"}, {Name: "Upstash-Workflow-Sdk", Value: "v1.3.2"}}}

func start(id string) workflow.Submission {
	n := workflow.Submission{Kind: workflow.InitSubmission, URL: url, RunID: id, Body: []byte(`{"order":7}`)}
	n.Retries, n.Given = 1, queue.GivenRetries
	workflow.CompleteStart(&n)
	return n
}

func step(run string, id uint32, out string) workflow.Submission {
	return workflow.Submission{
		Kind: workflow.StepSubmission, URL: url, RunID: run, Body: fmt.Appendf(nil, `{"stepId":%d,"stepName":"s%d","stepType":"Run","out":%q,"concurrent":1}`, id, id, out),
		Step: workflow.Step{ID: id, Concurrent: 1, Type: workflow.RunStep, Name: fmt.Sprintf("s%d", id)}, Features: workflow.TriggerOnConfig,
	}
}

func plan(run string, target, of uint32) workflow.Submission {
	return workflow.Submission{
		Kind: workflow.StepSubmission, URL: url, RunID: run, Body: fmt.Appendf(nil, `{"stepId":0,"stepType":"Run","concurrent":%d,"targetStep":%d}`, of, target),
		Step: workflow.Step{Target: target, Concurrent: of, Type: workflow.RunStep}, Features: workflow.TriggerOnConfig,
	}
}

func call(run string, id uint32) workflow.Submission {
	n := workflow.Submission{
		Kind: workflow.CallSubmission, URL: "http://pay:9000/charge", RunID: run, Body: []byte(`{"sum":52}`),
		Step: workflow.Step{ID: id, Concurrent: 1, Type: workflow.CallStep, Name: "charge"},
	}
	n.Given, n.Callback = queue.GivenRetries|queue.GivenCallback, &queue.Callback{URL: url}
	n.Callback.Options = queue.Options{Given: queue.GivenHeader, Header: []queue.Field{{Name: "Upstash-Workflow-Callback", Value: "true"}}}
	return n
}

func await(run string, id uint32, event string, timeout int64) workflow.Await {
	return workflow.Await{
		RunID: run, EventID: event, Step: workflow.Step{ID: id, Concurrent: 1, Type: workflow.Wait, Name: "w"}, Open: fmt.Appendf(nil, `{"stepId":%d,"stepType":"Wait","stepName":"w","concurrent":1`, id),
		Timeout: timeout, TimeoutText: "60s", URL: url, TimeoutURL: url,
	}
}

// run is a run as the first store has it.
func (w *world) run(id string) *workflow.Run { return w.pairs[0].s.Find(id, 0) }

// bodies are those of a run's log.
func (w *world) bodies(id string) (list []string) {
	w.pairs[0].s.Log(w.run(id).No, func(_ uint32, e *workflow.Entry) bool {
		list = append(list, string(e.Body.Bytes()))
		return true
	})
	return list
}

// deliver claims what is due and returns what an attempt to the endpoint sends, in the order of the log; each is answered.
func (w *world) deliver(p queue.Response) (sent []*workflow.Delivery) {
	w.t.Helper()
	w.advance()
	for len(w.running) > 0 {
		if d, ok := w.pairs[0].s.Delivery(w.running[0].ID, w.running[0].Content.Run); ok {
			sent = append(sent, d)
		}
		w.finish(0, p, "")
	}
	return sent
}
