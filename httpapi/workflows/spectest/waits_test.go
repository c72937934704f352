package spectest

import (
	"encoding/base64"
	"fmt"
	"testing"
	"time"
)

// waits are the claims about events: the specification's section 7, and waiters.
var waits = []claim{
	{"WS-7.1", func(t *testing.T, w *world) {
		id := w.start("m/ok", "", nil)
		w.delivery(id, 1)
		w.waits(id, "m/ok", "e-"+id, "1h", 1)
		w.ask(200, "POST", "/v2/notify/e-"+id, nil, `{"some":"data"}`)
		d := w.delivery(id, 2)
		step := w.parse(string(d.elements[1].Body))
		w.is("out", step.at("out"), base64.StdEncoding.EncodeToString([]byte(`{"some":"data"}`)))
		w.is("waitEventId", step.at("waitEventId"), "e-"+id)
	}},
	{"WS-7.2", func(t *testing.T, w *world) {
		event := "two-" + w.id()
		ids := []string{w.start("m/ok", "", nil), w.start("m/ok", "", nil)}
		for _, id := range ids {
			w.waits(id, "m/ok", event, "60s", 1)
		}
		woken := w.ask(200, "POST", "/v2/notify/"+event, nil, "x")
		if woken.len() != 2 {
			t.Fatalf("woken: %v", woken)
		}
		for i, id := range ids { // in the order in which they began to wait
			one := woken.at(i)
			w.is("workflowRunId", one.at("workflowRunId"), id)
			w.is("messageId", one.at("messageId"), w.delivery(id, 2).header.Get("Upstash-Message-Id"))
			w.is("workflowCreatedAt", one.at("workflowCreatedAt"), w.log(id).at("workflowRunCreatedAt").String())
			w.is("waiter.url", one.at("waiter", "url"), w.url("m/ok"))
			w.is("waiter.headers", one.at("waiter", "headers", "Upstash-Workflow-Runid", 0), id)
			w.is("waiter.headers", one.at("waiter", "headers", "Upstash-Workflow-Url", 0), w.url("m/ok"))
			late := time.Unix(one.at("waiter", "deadline").int(), 0)
			w.true(time.Until(late) > 50*time.Second && time.Until(late) < 65*time.Second, "the deadline is %v, in seconds", late)
		}
	}},
	{"WS-7.3", func(t *testing.T, w *world) {
		w.is("nobody waits", w.ask(200, "POST", "/v2/notify/nobody-"+w.id(), nil, ""), "[]")
	}},
	{"WS-7.4", func(t *testing.T, w *world) { // an empty notification
		id := w.start("m/ok", "", nil)
		w.waits(id, "m/ok", "n-"+id, "1h", 1)
		w.ask(200, "POST", "/v2/notify/n-"+id, nil, "")
		step := w.parse(string(w.delivery(id, 2).elements[1].Body))
		w.true(step.at("out").v == "", "out is %v", step.at("out").v)
	}},
	{"WS-E.2", func(t *testing.T, w *world) { // a wait can time out
		id := w.start("m/ok", "", nil)
		w.waits(id, "m/ok", "late-"+id, "1s", 1)
		step := w.parse(string(w.delivery(id, 2).elements[1].Body))
		_, there := step.v.(map[string]any)["out"]
		w.true(step.at("waitTimeout").v == true && !there, "the step is %v", step)
		w.is("nobody waits any more", w.ask(200, "POST", "/v2/notify/late-"+id, nil, ""), "[]")
		done := w.log(id).at("steps", 1, "steps", 0)
		w.is("waitTimeout", done.at("waitTimeout"), "true")
	}},
	{"WP-9.4", func(t *testing.T, w *world) { // the look-back form, for runs that don't wait yet
		id := w.start("m/ok", "", nil)
		w.is("nobody waits", w.ask(200, "POST", "/v2/notify/"+id+"/look", nil, "first"), "[]")
		w.ask(200, "POST", "/v2/notify/"+id+"/look", nil, "second")
		w.waits(id, "m/ok", "look", "1h", 1)
		w.waits(id, "m/ok", "look", "1h", 2)
		w.delivery(id, 3)
		for n, want := range []string{"first", "second"} {
			step := w.log(id).at("steps", n+1, "steps", 0)
			w.is("out", step.at("out"), base64.StdEncoding.EncodeToString([]byte(want)))
		}
		w.end(id, "")
		w.ask(404, "POST", "/v2/notify/"+id+"/look", nil, "third")
	}},
	{"WP-9.6", func(t *testing.T, w *world) { // the list of waiters, exact on every node
		event := "list-" + w.id()
		w.is("none", w.ask(200, "GET", "/v2/waiters/"+event, nil, ""), "[]")
		id := w.start("m/ok", "", nil)
		w.waits(id, "m/ok", event, "1h", 1)
		list := w.ask(200, "GET", "/v2/waiters/"+event, nil, "")
		w.is("url", list.at(0, "url"), w.url("m/ok"))
		w.is("run", list.at(0, "headers", "Upstash-Workflow-Runid", 0), id)
		w.is("a page", w.ask(200, "GET", "/v2/waiters/"+event+"?count=1", nil, "").count(), "1")
		w.ask(400, "GET", "/v2/waiters/"+event+"?count=0", nil, "")
		w.ask(400, "GET", "/v2/waiters/"+event+"?cursor=eA", nil, "")
		w.ask(200, "DELETE", "/v2/workflows/runs/"+id, nil, "")
		w.is("none after the end", w.ask(200, "GET", "/v2/waiters/"+event, nil, ""), "[]")
		w.ask(405, "POST", "/v2/waiters/"+event, nil, "")
	}},
	{"WP-9.5", func(t *testing.T, w *world) { // a webhook reaches only who waits for one, without a token
		id := w.start("m/ok", "", nil)
		hook := "/v2/workflows/hooks/tester/" + id + "/evt_abcdefghijklmno"
		w.submit(id, "m/ok", fmt.Sprintf(`{"stepId":1,"stepName":"c","stepType":"CreateWebhook","out":%q,"concurrent":1}`, `{"webhookUrl":"http://x`+hook+`","eventId":"evt_abcdefghijklmno"}`))
		if status, text := w.wait(id, "m/ok", "evt_abcdefghijklmno", "1h", 2, "WaitForWebhook"); status/100 != 2 {
			t.Fatalf("wait: %d %s", status, text)
		}
		status, _ := w.try("PUT", hook+"?q=1", map[string]string{"Authorization": "none", "X-Mine": "1", "X-Hop": "1", "Connection": "x-hop", "Te": "trailers"}, "hello")
		w.true(status/100 == 2, "status %d", status)
		step := w.parse(string(w.delivery(id, 3).elements[2].Body))
		data, err := base64.StdEncoding.DecodeString(step.at("out").String())
		if err != nil {
			t.Fatal(err)
		}
		call := w.parse(string(data))
		w.is("method", call.at("method"), "PUT")
		w.is("url", call.at("url"), hook+"?q=1")
		w.is("header", call.at("header", "X-Mine", 0), "1")
		for _, name := range []string{"X-Hop", "Connection", "Te"} {
			w.true(call.at("header", name).v == nil, "%s belongs to the connection: %v", name, call)
		}
		w.is("body", call.at("body"), base64.StdEncoding.EncodeToString([]byte("hello")))
		for _, missing := range []string{"/v2/workflows/hooks/tester/wfr_none/evt_abcdefghijklmno", "/v2/workflows/hooks/tester/" + id + "/plain"} {
			status, _ := w.try("POST", missing, map[string]string{"Authorization": "none"}, "")
			w.true(status == 404, "%s: status %d", missing, status)
		}
	}},
	{"WP-17.1", func(t *testing.T, w *world) { // only a run that is over is 400 to its steps
		id := w.start("m/ok", "", nil)
		w.delivery(id, 1)
		w.end(id, "")
		w.batch(400, w.url("m/ok"), w.stepHeaders(id, "m/ok"), run(1))
		if status, _ := w.wait(id, "m/ok", "x", "1h", 1, "Wait"); status != 400 {
			t.Errorf("wait: status %d", status)
		}
		w.ask(404, "GET", "/v2/workflows/runs/"+id, nil, "")
		if status, _ := w.try("DELETE", "/v2/workflows/runs/"+id+"?cancel=false", nil, ""); status/100 != 2 {
			t.Errorf("a second end: status %d", status)
		}
	}},
}

// run returns the JSON of the result of a step.
func run(n int) string {
	return fmt.Sprintf(`{"stepId":%d,"stepName":"s%d","stepType":"Run","out":"\"out %d\"","concurrent":1}`, n, n, n)
}
