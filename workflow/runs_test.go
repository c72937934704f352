package workflow_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/workflow"
)

func (w *world) testLong(t *testing.T) {
	id := w.start(t, "long", nil, workflow.RunOptions{})
	is(t, "the result", w.result(t, id), "1830")
	for i := 1; i <= 60; i++ {
		w.once(t, id, fmt.Sprint("step ", i))
	}
	is(t, "messages", []int{len(w.messagesOf(id)), len(w.log(t, id).Groups)}, []int{61, 61})
}

func (w *world) testLarge(t *testing.T) {
	id := w.start(t, "large", object{"text": strings.Repeat("x", 500_000)}, workflow.RunOptions{})
	is(t, "the result", json.RawMessage(w.result(t, id)), object{"total": 500_000 + 5*300_000, "called": 400_000})
	if !slices.ContainsFunc(w.callsOf(id), func(c call) bool { return c.size == 0 }) {
		t.Error("every delivery was inline")
	}
	for i := range 5 {
		w.once(t, id, fmt.Sprint("large ", i))
	}
}

// moreThanADelivery is larger than what a delivery may hold, in bytes.
const moreThanADelivery = 1_500_000

func (w *world) testHuge(t *testing.T) {
	id := w.start(t, "huge", sized{Bytes: moreThanADelivery}, workflow.RunOptions{})
	w.until(t, "the last step", func() bool { return w.effects[id+"/after"] > 0 }) // not by the log, which is as long
	is(t, "the result", w.result(t, id), fmt.Sprintf("[200,%d,true]", moreThanADelivery))
	w.once(t, id, "before", "after")
}

func (w *world) testHugeError(t *testing.T) {
	id := w.start(t, "hugeError", sized{Bytes: moreThanADelivery}, workflow.RunOptions{Retries: workflow.NoRetries})
	got := w.told(t, id)
	is(t, "the status", got.failed.Status, 500)
	is(t, "the payload", got.input, sized{Bytes: moreThanADelivery})
	if !strings.HasPrefix(got.failed.Message, "xxxx") {
		t.Errorf("%.100s", got.failed.Message)
	}
	eventually(t, "the state of the failure function", func() (bool, any) {
		run := w.log(t, id)
		return run.FailureFunction != nil && run.FailureFunction.State == "CALLBACK_SUCCESS" && run.State == workflow.RunFailed, run
	})
	if !strings.Contains(w.letter(t, id).ResponseBody, "xxxx") {
		t.Error("the dead letter has no answer")
	}
}

func (w *world) testHugeFailure(t *testing.T) {
	id := w.start(t, "hugeError", sized{Bytes: moreThanADelivery, Called: true}, workflow.RunOptions{})
	w.until(t, "the last step", func() bool { return w.effects[id+"/after"] > 0 })
	is(t, "the result", w.result(t, id), fmt.Sprintf("[500,%d]", moreThanADelivery))
}

func (w *world) testCancel(t *testing.T) {
	const event = "cancel"
	var ids []string
	for n := range 3 {
		ids = append(ids, w.start(t, "waiter", waitInput{Event: event}, workflow.RunOptions{Labels: []string{fmt.Sprint(event, n)}}))
	}
	w.waiting(t, event, 3)
	cancel := func(want int, all ...string) {
		t.Helper()
		if n, err := w.client.Cancel(t.Context(), all...); err != nil || n != want {
			t.Errorf("cancelled %d, want %d: %v", n, want, err)
		}
	}
	cancel(1, ids[0])
	cancel(0, ids[0], "wfr_unknown")
	cancel(0)
	is(t, "the state", w.log(t, ids[0]).State, workflow.RunCanceled)
	w.waiting(t, event, 2)
	n, err := w.client.CancelWhere(t.Context(), workflow.Filter{"label": {event + "1", event + "2"}, "workflowUrl": {w.flow("waiter")}})
	if err != nil || n != 2 {
		t.Error(n, err)
	}
	if woken, err := w.client.Notify(t.Context(), event, nil); err != nil || len(woken) != 0 {
		t.Error(woken, err)
	}
	for _, id := range ids {
		is(t, "steps after", w.times(id, "after"), 0)
	}
	is(t, "dead letters", len(w.letters(t, ids[0])), 0)
}

func (w *world) testCancelEarly(t *testing.T) {
	id := w.start(t, "long", nil, workflow.RunOptions{Delay: 10 * time.Minute})
	is(t, "the state", w.log(t, id).State, workflow.RunStarted)
	if n, err := w.client.Cancel(t.Context(), id); err != nil || n != 1 {
		t.Error(n, err)
	}
	is(t, "calls", len(w.callsOf(id)), 0)
}

func (w *world) testSameID(t *testing.T) {
	const event, id = "same", "same-id"
	started := 0
	for range 3 {
		run, err := w.client.Trigger(t.Context(), []byte(`{"Event":"same"}`), workflow.RunOptions{URL: w.flow("waiter"), RunID: id})
		if err != nil {
			t.Fatal(err)
		}
		if !run.Deduplicated {
			started++
		}
	}
	is(t, "started", started, 1)
	w.waiting(t, event, 1)
	if _, err := w.client.Notify(t.Context(), event, nil); err != nil {
		t.Fatal(err)
	}
	w.result(t, id)
	w.once(t, id, "after")
	w.start(t, "steps", object{}, workflow.RunOptions{RunID: id}) // its run has ended: the id is free again
	w.result(t, id)
	page, err := w.client.Runs(t.Context(), workflow.Filter{"workflowRunId": {id}}, "")
	if err != nil || len(page.Runs) != 2 {
		t.Errorf("%d runs, %v", len(page.Runs), err)
	}
}

func (w *world) testFirstCall(t *testing.T) {
	headers := map[string]string{"Content-Type": "application/json", "Upstash-Forward-X-Parent": "nobody"}
	if err := w.client.Do(t.Context(), "POST", "/v2/publish/"+w.flow("child"), headers, []byte(`{"x":8}`), nil); err != nil {
		t.Fatal(err)
	}
	var id string
	w.until(t, "the run", func() bool {
		for _, c := range w.calls {
			if c.name == "child" && c.run != "" && c.header.Get("X-Parent") == "nobody" {
				id = c.run
			}
		}
		return id != ""
	})
	is(t, "the result", json.RawMessage(w.result(t, id)), doubled{16, "nobody"})
}

func (w *world) testREST(t *testing.T) {
	trigger := func(path string, headers map[string]string, body string) workflow.Triggered {
		t.Helper()
		var run workflow.Triggered
		if err := w.client.Do(t.Context(), "POST", "/v2/trigger/"+path, headers, []byte(body), &run); err != nil {
			t.Fatal(err)
		}
		return run
	}
	type seen struct {
		User   string
		Object struct{ Input json.RawMessage }
	}
	got := func(id string) (s seen) {
		t.Helper()
		if err := json.Unmarshal([]byte(w.result(t, id)), &s); err != nil {
			t.Fatal(err)
		}
		return s
	}
	one := trigger(w.flow("steps"), map[string]string{"Upstash-Forward-X-User": "ada", "Upstash-Label": "rest"}, `{"rest":1}`)
	is(t, "the user", got(one.RunID).User, "ada")
	unknown := trigger(w.flow("steps"), map[string]string{"Upstash-Workflow-Unknown-Sdk": "true", "Upstash-Forward-X-User": "eve"}, `{"by":"hand"}`)
	is(t, "the handshake", got(unknown.RunID), seen{"eve", struct{ Input json.RawMessage }{json.RawMessage(`{"by":"hand"}`)}})
	var many []workflow.Triggered
	batch := []object{{"destination": w.flow("steps"), "body": "{}"}, {"destination": w.flow("child"), "body": `{"x":1}`, "headers": object{"Upstash-Workflow-RunId": "rest-batch"}}}
	if err := w.client.Do(t.Context(), "POST", "/v2/batch/trigger", nil, batch, &many); err != nil || len(many) != 2 {
		t.Fatal(many, err)
	}
	is(t, "the batch", json.RawMessage(w.result(t, many[1].RunID)), doubled{2, ""})
	none := w.ended(t, trigger(w.base+"/out/plain", nil, "").RunID, workflow.RunFailed)
	if e := none.Groups[len(none.Groups)-1].Steps[0].Errors[0].Error; !strings.Contains(e, "only usable with sdk versions") {
		t.Error(e)
	}
}

func (w *world) testTraces(t *testing.T) {
	const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	var run workflow.Triggered
	headers := map[string]string{"traceparent": traceparent, "tracestate": "a=1"}
	if err := w.client.Do(t.Context(), "POST", "/v2/trigger/"+w.flow("steps"), headers, []byte(`{"rest":1}`), &run); err != nil {
		t.Fatal(err)
	}
	w.result(t, run.RunID)
	calls := w.callsOf(run.RunID)
	if len(calls) < 6 {
		t.Errorf("%d calls", len(calls))
	}
	for _, c := range calls {
		is(t, "the trace", []string{c.header.Get("Traceparent"), c.header.Get("Tracestate")}, []string{traceparent, "a=1"})
	}
}

func (w *world) testLimited(t *testing.T) {
	const label = "limited"
	limited := workflow.New("limited", func(*workflow.Context, workflow.None) (string, error) { return "", nil })
	o := quick(workflow.RunOptions{Labels: []string{label}, FlowControl: &workflow.FlowControl{Key: label, Parallelism: 2}, Header: http.Header{"X-User": {"ada"}}})
	runs, err := limited.TriggerAll(t.Context(), w.client, make([]workflow.None, 12), o)
	if err != nil {
		t.Fatal(err)
	}
	attempts := 0 // a leader that is lost leaves calls under way, which the next one makes again
	for _, run := range runs {
		got, err := limited.Result(t.Context(), w.client, run.RunID)
		if err != nil || got != label {
			t.Errorf("%q %v", got, err)
		}
		for _, n := range w.messagesOf(run.RunID) {
			attempts = max(attempts, n)
		}
	}
	w.mu.Lock()
	if w.most > 2*attempts {
		t.Errorf("%d at once in %d attempts", w.most, attempts)
	}
	w.mu.Unlock()
	filter := workflow.Filter{"label": {label}}
	page, err := w.client.Runs(t.Context(), filter, "")
	if err != nil || len(page.Runs) != 10 || page.Cursor == "" {
		t.Fatalf("%d runs, %v", len(page.Runs), err)
	}
	rest, err := w.client.Runs(t.Context(), filter, page.Cursor)
	if err != nil || len(rest.Runs) != 2 || rest.Cursor != "" {
		t.Fatalf("%d runs, %v", len(rest.Runs), err)
	}
	is(t, "the run", []any{page.Runs[0].Labels, page.Runs[0].FlowControlKey}, []any{[]string{label}, label})
	all := append(page.Runs, rest.Runs...)
	if !slices.IsSortedFunc(all, func(a, b *workflow.RunLog) int { return int(b.CreatedAt - a.CreatedAt) }) {
		t.Error("the newest is not the first")
	}
}

func (w *world) testExplain(t *testing.T) {
	const event = "stuck"
	id := w.start(t, "waiter", waitInput{Event: event}, workflow.RunOptions{})
	w.waiting(t, event, 1)
	e, err := w.client.Explain(t.Context(), id)
	if err != nil || e.Reason != "event" || !strings.Contains(e.Text, event) {
		t.Error(e, err)
	}
}
