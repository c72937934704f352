package spectest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// once are the rows of the protocol's section 16, and how deliveries carry the log.
var once = []claim{
	{"WP-5.3", func(t *testing.T, w *world) { // a delivery carries the log up to its entry, and nothing after it
		id := w.start("m/ok", "p", nil)
		w.delivery(id, 1)
		for n := 1; n <= 3; n++ {
			w.submit(id, "m/ok", run(n))
		}
		w.delivery(id, 4)
		for _, d := range w.deliveries(id) {
			last := d.elements[len(d.elements)-1]
			w.true(last.MessageID == d.header.Get("Upstash-Message-Id"), "%s ends with %s", d.header.Get("Upstash-Message-Id"), last.MessageID)
			for n, e := range d.elements[1:] {
				w.true(string(e.Body) == run(n+1), "element %d is %s", n+1, e.Body)
			}
		}
	}},
	{"WP-2.3", passedOn}, // the trigger's headers come with every delivery, except those of the connection
	{"WP-16.1", func(t *testing.T, w *world) { // a trigger repeated
		id := w.start("m/ok", "first", nil)
		again := w.startAs(id, "m/ok", "second", nil)
		w.is("deduplicated", again.at("deduplicated"), "true")
		w.end(id, "1")
		w.is("one run", w.ask(200, "GET", "/v2/workflows/logs?workflowRunId="+id, nil, "").at("runs").count(), "1")
		w.is("the first one's", w.log(id).at("steps", 0, "steps", 0, "out"), "first")
		w.true(w.startAs(id, "m/ok", "first", nil).at("deduplicated").v == nil, "an id is free when its run is over")
		w.is("two runs", w.ask(200, "GET", "/v2/workflows/logs?workflowRunId="+id, nil, "").at("runs").count(), "2")
	}},
	{"WP-16.19", func(t *testing.T, w *world) { // a deduplication id, or the content, starts one run too, in every form
		key := w.id()
		trigger := func(payload string, headers map[string]string) value {
			return w.ask(200, "POST", "/v2/trigger/"+w.url("m/ok"), headers, payload)
		}
		one := trigger("p", map[string]string{"Svc-Deduplication-Id": key})
		two := trigger("other", map[string]string{"Upstash-Deduplication-Id": key})
		w.true(one.at("deduplicated").v == nil, "%v", one)
		w.is("deduplicated", two.at("deduplicated"), "true")
		w.is("the same run", two.at("workflowRunId"), one.at("workflowRunId").String())
		three := w.startAs("wfr_"+key, "m/ok", "p", map[string]string{"upstash-deduplication-id": key})
		w.is("as an SDK sends it", three.at("workflowRunId"), one.at("workflowRunId").String())
		message := w.ask(200, "POST", "/v2/publish/"+w.url("out/x"), map[string]string{"Svc-Deduplication-Id": key}, "m")
		w.true(message.at("deduplicated").v == nil, "a message is no run: %v", message)
		same := map[string]string{"Svc-Content-Based-Deduplication": "true"}
		first, second := trigger(key, same), trigger(key, same)
		w.is("the same content", second.at("workflowRunId"), first.at("workflowRunId").String())
		w.true(trigger(key+"2", same).at("deduplicated").v == nil, "another content")
		w.ask(400, "POST", "/v2/trigger/"+w.url("m/ok"), map[string]string{"Svc-Deduplication-Id": "a:b"}, "p")
	}},
	{"WP-16.2", func(t *testing.T, w *world) { // a result submitted twice: the first wins
		id := w.start("m/ok", "", nil)
		first := w.submit(id, "m/ok", run(1))
		second := w.submit(id, "m/ok", strings.ReplaceAll(run(1), "out 1", "another"))
		w.is("deduplicated", second.at("deduplicated"), "true")
		w.is("the winner", second.at("messageId"), first.at("messageId").String())
		w.is("out", w.log(id).at("steps", 1, "steps", 0, "out"), `"out 1"`)
		plan := `{"stepId":0,"stepName":"p","stepType":"Run","concurrent":1,"targetStep":2}`
		one, two := w.submit(id, "m/ok", plan), w.submit(id, "m/ok", plan)
		w.true(one.at("deduplicated").v == nil && two.at("messageId").String() == one.at("messageId").String(), "%v %v", one, two)
	}},
	{"WP-16.3", func(t *testing.T, w *world) { // of a batch, each item by itself, in order
		id := w.start("m/ok", "", nil)
		item := func(step string) map[string]any {
			return map[string]any{"destination": w.url("m/ok"), "headers": w.stepHeaders(id, "m/ok"), "body": step}
		}
		plan := func(n int) string {
			return fmt.Sprintf(`{"stepId":0,"stepName":"p","stepType":"SleepFor","sleepFor":1,"concurrent":2,"targetStep":%d}`, n)
		}
		w.submit(id, "m/ok", plan(1))
		text, _ := json.Marshal([]any{item(plan(1)), item(plan(2))})
		both := w.ask(200, "POST", "/v2/batch", nil, string(text))
		w.true(both.at(0, "deduplicated").v == true && both.at(1, "deduplicated").v == nil && both.len() == 2, "%v", both)
	}},
	{"WP-16.4", func(t *testing.T, w *world) { // a call submitted twice is made once
		id := w.start("m/ok", "", nil)
		h := w.callHeaders(id)
		path := "/out/once/" + id
		one := w.batch(200, w.app.URL+path, h, "x").at(0)
		two := w.batch(200, w.app.URL+path, h, "x").at(0)
		w.true(two.at("messageId").String() == one.at("messageId").String() && two.at("deduplicated").v == true, "%v %v", one, two)
		w.until("the callback", func() bool { return w.callback(id) != nil })
		back := w.callback(id)
		w.mu.Lock()
		calls := len(w.calls[path])
		third := w.calls[path][0].header
		w.mu.Unlock()
		w.true(calls == 1, "%d calls", calls)
		for name := range third {
			w.true(!strings.Contains(name, "Workflow"), "the third party gets %s", name)
		}
		told := w.parse(string(back.body))
		w.is("status", told.at("status"), "200")
		w.is("body", told.at("body"), "dGhpcmQgcGFydHk=")
		w.is("maxRetries", told.at("maxRetries"), "0")
		w.true(back.header.Get("Upstash-Workflow-Sdk-Version") == "" && back.header.Get("Upstash-Workflow-StepId") == "1", "%v", back.header)
	}},
	{"WP-16.7", func(t *testing.T, w *world) { // a callback delivered twice: one result, and logs still tell the answer
		id := w.start("m/ok", "", nil)
		w.batch(200, w.url("out/twice/"+id), w.callHeaders(id), "x")
		w.until("the callback", func() bool { return w.callback(id) != nil })
		result := `{"stepId":1,"stepName":"c","stepType":"Call","out":"{\"status\":200,\"body\":\"third party\",\"header\":{}}","concurrent":1}`
		one := w.ask(200, "POST", "/v2/publish/"+w.url("m/ok"), w.stepHeaders(id, "m/ok"), result)
		two := w.ask(200, "POST", "/v2/publish/"+w.url("m/ok"), w.stepHeaders(id, "m/ok"), strings.ReplaceAll(result, "third", "other"))
		w.true(two.at("deduplicated").v == true && two.at("messageId").String() == one.at("messageId").String(), "%v %v", one, two)
		step := w.log(id).at("steps", 1, "steps", 0)
		w.is("answer", step.at("callResponseBody"), "third party")
		w.is("status", step.at("callResponseStatus"), "200")
		w.is("request", step.at("callBody"), "x")
		for n := range 3 { // of what is settled only the places are left
			list := w.ask(200, "GET", "/v2/workflows/runs/"+id, nil, "")
			w.true((list.at(n+1, "body").String() == "") == (n < 2) && list.len() == 4, "element %d: %v", n+1, list.at(n+1))
		}
	}},
	{"WP-16.8", func(t *testing.T, w *world) { // a delivery that failed although its step is in the log is not repeated
		id := w.id()
		w.startAs(id, "m/lost", "", map[string]string{"upstash-retry-delay": "3600000"})
		first := w.delivery(id, 1)
		w.submit(id, "m/lost", run(1))
		close(w.gate(id))
		second := w.delivery(id, 2)
		retries := func() value {
			return w.ask(200, "GET", "/v2/workflows/events?state=STEP_RETRY&workflowRunId="+id, nil, "").at("events")
		}
		w.until("the second one's failure", func() bool { return retries().len() > 0 }) // which came after the first one's
		w.is("retries", retries().count(), "1")
		w.is("of", retries().at(0, "stepInfo", "messageId"), second.header.Get("Upstash-Message-Id"))
		w.true(first.header.Get("Upstash-Retried") == "0", "%v", first.header)
	}},
	{"WP-16.5", func(t *testing.T, w *world) { // a wait submitted twice: the first waiter stays
		id := w.start("m/ok", "", nil)
		w.waits(id, "m/ok", "twice-"+id, "1h", 1)
		w.waits(id, "m/ok", "twice-"+id, "1h", 1)
		w.is("waiters", w.ask(200, "GET", "/v2/waiters/twice-"+id, nil, "").count(), "1")
		w.ask(200, "POST", "/v2/notify/twice-"+id, nil, "x")
		w.waits(id, "m/ok", "twice-"+id, "1h", 1)
		w.is("none after it is over", w.ask(200, "GET", "/v2/waiters/twice-"+id, nil, "").count(), "0")
	}},
	{"WP-16.6", func(t *testing.T, w *world) { // a step invokes one run, whatever id each try makes
		id := w.start("m/ok", "", nil)
		created := w.delivery(id, 1).header.Get("Upstash-Workflow-CreatedAt")
		invoke := func() (string, value) {
			child := w.id()
			h := w.stepHeaders(child, "m/ok")
			h["upstash-workflow-init"], h["upstash-workflow-invoke"] = "true", "true"
			body := fmt.Sprintf(`{"body":"in","headers":{"Upstash-Workflow-RunId":[%q],"Upstash-Forward-Upstash-Workflow-Sdk-Version":["1"]},"workflowRunId":%q,"workflowRunCreatedAt":%s,"workflowUrl":%q,"step":{"stepId":1,"stepName":"i","stepType":"Invoke","concurrent":1}}`,
				id, id, created, w.url("m/ok"))
			return child, w.ask(200, "POST", "/v2/publish/"+w.url("m/ok"), h, body)
		}
		one, first := invoke()
		two, second := invoke()
		w.is("the first one's message", second.at("messageId"), first.at("messageId").String())
		w.true(string(w.delivery(one, 1).elements[0].Body) == "in" && w.log(two).v == nil, "two children")
		w.end(one, `{"r":1}`)
		w.end(one, `{"r":2}`)
		step := w.parse(string(w.delivery(id, 2).elements[1].Body))
		w.is("out", step.at("out"), `{"body":"{\"r\":1}","isFailed":false,"isCanceled":false}`)
		w.is("steps", w.log(id).at("steps").count(), "3") // init, the invoke, and what is next
	}},
	{"WP-16.9", func(t *testing.T, w *world) { // notify and timeout, cancel: jepsen/workload/runs has the race; here their order
		id := w.start("m/ok", "", nil)
		w.waits(id, "m/ok", "gone-"+id, "1h", 1)
		w.ask(200, "DELETE", "/v2/workflows/runs/"+id, nil, "")
		w.is("a cancelled run is not woken", w.ask(200, "POST", "/v2/notify/gone-"+id, nil, "x"), "[]")
	}},
	{"WP-16.10", func(t *testing.T, w *world) { // two notifications, one waiter
		id := w.start("m/ok", "", nil)
		w.waits(id, "m/ok", "one-"+id, "1h", 1)
		w.is("the first", w.ask(200, "POST", "/v2/notify/one-"+id, nil, "1").count(), "1")
		w.is("the second", w.ask(200, "POST", "/v2/notify/one-"+id, nil, "2").count(), "0")
	}},
	{"WP-16.12", func(t *testing.T, w *world) { // a result after the failure or the end changes nothing
		id, _ := w.fail("bad", "", nil)
		if status, text := w.try("DELETE", "/v2/workflows/runs/"+id+"?cancel=false", nil, "1"); status/100 != 2 {
			t.Errorf("%d %s", status, text)
		}
		w.is("state", w.log(id).at("workflowState"), "RUN_FAILED")
		w.submit(id, "m/bad", run(1))
		w.is("what still came is kept", w.log(id).at("steps", 1, "steps", 0, "state"), "STEP_SUCCESS")
	}},
	{"WP-16.18", func(t *testing.T, w *world) { // an id is taken while its run lives, and free afterwards
		const taken = "a workflow already exists, can not initialize a new one with same id"
		id := w.start("m/ok", "", nil)
		same := map[string]string{"Upstash-Workflow-RunId": id}
		refusal := w.ask(400, "POST", "/v2/trigger/"+w.url("m/ok"), same, "")
		w.true(strings.Contains(refusal.at("error").String(), taken), "%v", refusal)
		sdk := func(version string) map[string]string {
			h := triggerHeaders(w.url("m/ok"), id)
			h["upstash-telemetry-sdk"] = "@upstash/workflow@v" + version
			return h
		}
		w.is("of an older client", w.batch(200, w.url("m/ok"), sdk("1.3.2"), "").at(0, "deduplicated"), "true")
		refusal = w.batch(400, w.url("m/ok"), sdk("1.4.0"), "")
		w.true(strings.Contains(refusal.at("error").String(), taken), "%v", refusal)
		w.ask(200, "DELETE", "/v2/workflows/runs/"+id, nil, "")
		again := w.ask(200, "POST", "/v2/trigger/"+w.url("m/ok"), same, "")
		w.true(again.at("deduplicated").v == nil && again.at("workflowRunId").String() == id, "%v", again)
		w.delivery(id, 1)
	}},
	{"WP-12.1", func(t *testing.T, w *world) { // cancel by filter: prefix of the URL, or the whole
		label := "cancel-" + w.id()
		for range 3 {
			w.start("m/ok", "", map[string]string{"upstash-label": label})
		}
		cancel := func(query, body string) string {
			return w.ask(202, "DELETE", "/v2/workflows/runs?"+query, nil, body).at("cancelled").String()
		}
		own := "&label=" + label
		w.true(cancel("workflowUrl="+w.app.URL+"/m&workflowUrlExactMatch=true"+own, "") == "0", "exact")
		w.true(cancel("", fmt.Sprintf(`{"label":%q,"host":"none"}`, label)) == "0", "filters are joined by AND")
		w.true(cancel("workflowUrl="+w.app.URL+"/m&count=1"+own, "") == "3", "the count is ignored")
		w.true(cancel("label="+label, "") == "0", "again")
		for _, nothing := range []string{`{"workflowRunIds":[]}`} {
			w.true(cancel("", nothing) == "0", "%s", nothing)
		}
		w.ask(400, "DELETE", "/v2/workflows/runs?lable=x", nil, "")
	}},
}

// callHeaders returns the headers of the call of a run's first step.
func (w *world) callHeaders(id string) map[string]string {
	h := w.stepHeaders(id, "m/ok")
	delete(h, "upstash-forward-upstash-workflow-sdk-version")
	for name, v := range map[string]string{
		"method": "POST", "retries": "0", "feature-set": "WF_NoDelete,InitialBody", "workflow-calltype": "toCallback", "callback": w.url("m/ok"),
		"callback-workflow-runid": id, "callback-workflow-calltype": "fromCallback", "callback-workflow-init": "false", "callback-workflow-url": w.url("m/ok"),
		"callback-forward-upstash-workflow-callback": "true", "callback-forward-upstash-workflow-stepid": "1", "callback-forward-upstash-workflow-stepname": "c",
		"callback-forward-upstash-workflow-steptype": "Call", "callback-forward-upstash-workflow-concurrent": "1", "callback-forward-upstash-workflow-contenttype": "application/json",
	} {
		h["upstash-"+name] = v
	}
	return h
}

// callback returns the delivery by which a run is told of a call, nil if none has come.
func (w *world) callback(id string) *delivery {
	for _, d := range w.deliveries(id) {
		if d.header.Get("Upstash-Workflow-Callback") == "true" {
			return d
		}
	}
	return nil
}
