package spectest

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm/workflow"
)

// starts are the claims about how runs begin, and what an endpoint has to be.
var starts = []claim{
	{"WP-3.2", func(t *testing.T, w *world) { // without an SDK: the answer has to name its release
		made := w.ask(200, "POST", "/v2/trigger/"+w.url("m/ok"), map[string]string{"Upstash-Workflow-RunId": w.id(), "Upstash-Forward-X-Mine": "1"}, "p")
		id := made.at("workflowRunId").String()
		d := w.delivery(id, 1)
		w.true(string(d.elements[0].Body) == "p" && d.header.Get("X-Mine") == "1" && d.header.Get("Upstash-Workflow-Sdk-Version") == "1", "%s %v", d.body, d.header)
		plain := w.ask(200, "POST", "/v2/trigger/"+w.url("m/plain"), nil, "p").at("workflowRunId").String()
		l := w.state(plain, "RUN_FAILED")
		w.is("error", l.at("steps", -1, "steps", 0, "errors", 0, "error"), "trigger rest api is only usable with sdk versions after v1.0.0 major version")
		item := func(path string) string {
			return fmt.Sprintf(`{"destination":%q,"body":"b","headers":{"Upstash-Label":"many"}}`, w.url(path))
		}
		many := w.ask(201, "POST", "/v2/batch/trigger", map[string]string{"Content-Type": "application/json"}, "["+item("m/ok")+","+item("m/ok?2")+"]")
		w.true(many.len() == 2 && w.log(many.at(1, "workflowRunId").String()).at("label").String() == "many", "%v", many)
	}},
	{"WP-3.4", func(t *testing.T, w *world) { // the handshake: the SDK starts the same run once more, with its own settings
		id := w.id()
		w.ask(200, "POST", "/v2/trigger/"+w.url("m/ok"), map[string]string{"Upstash-Workflow-RunId": id, "Upstash-Workflow-Unknown-Sdk": "true"}, "first")
		w.is("asked", value{w.delivery(id, 1).header.Get("Upstash-Workflow-Unknown-Sdk")}, "true")
		// The endpoint answered without starting it, so that the run has failed; one that answers in time:
		slow := w.id()
		w.ask(200, "POST", "/v2/trigger/"+w.url("m/handshake"), map[string]string{"Upstash-Workflow-RunId": slow, "Upstash-Workflow-Unknown-Sdk": "true"}, "first")
		w.delivery(slow, 1)
		again := w.startAs(slow, "m/handshake", "second", map[string]string{"upstash-workflow-trigger-by-sdk": "true", "upstash-label": "by-sdk",
			// An SDK forwards what it was sent under a prefix that it doesn't know.
			"upstash-forward-svc-workflow-unknown-sdk": "true", "upstash-forward-svc-workflow-url": "http://stale", "upstash-forward-svc-schedule-id": "scd_stale",
			"upstash-forward-svc-message-id": "msg_stale", "upstash-forward-x-user": "kept"})
		close(w.gate(slow))
		w.true(again.at("deduplicated").v == nil, "%v", again)
		d := w.delivery(slow, 2)
		w.true(string(d.elements[0].Body) == "second" && d.header.Get("Upstash-Workflow-Unknown-Sdk") == "", "%s %v", d.body, d.header)
		w.true(d.header.Get("X-User") == "kept", "%v", d.header)
		for name, values := range d.header {
			w.true(!strings.Contains(strings.Join(values, ","), "stale"), "%s came back: %v", name, values)
		}
		w.true(d.header.Get("Svc-Workflow-Unknown-Sdk") == "", "the handshake was asked for again")
		w.is("label", w.log(slow).at("label"), "by-sdk")
		// A client that asks for it by hand forwards the header with the start of a run.
		for _, name := range []string{"upstash-forward-upstash-workflow-unknown-sdk", "svc-forward-svc-workflow-unknown-sdk"} {
			byHand := w.start("m/handshake", "first", map[string]string{name: "true", "upstash-failure-callback-" + strings.TrimPrefix(strings.TrimPrefix(name, "svc-"), "upstash-"): "true"})
			w.is("asked by hand", value{w.delivery(byHand, 1).header.Get("Upstash-Workflow-Unknown-Sdk")}, "true")
			w.startAs(byHand, "m/handshake", "second", map[string]string{"upstash-workflow-trigger-by-sdk": "true", name: "true"})
			d := w.delivery(byHand, 2)
			w.true(string(d.elements[0].Body) == "second" && d.header.Get("Upstash-Workflow-Unknown-Sdk")+d.header.Get("Svc-Workflow-Unknown-Sdk") == "", "%s %v", d.body, d.header)
			w.submit(byHand, "m/ok", run(1))
			w.end(byHand, "1")
		}
		l := w.state(id, "RUN_FAILED")
		w.true(strings.Contains(l.at("steps", -1, "steps", 0, "errors", 0, "error").String(), "handshake"), "%v", l)
	}},
	{"WP-4.4", func(t *testing.T, w *world) { // a destination that is no workflow fails the run at once
		id := w.start("m/plain", "p", nil)
		l := w.state(id, "RUN_FAILED")
		w.is("groups", l.at("steps").count(), "2")
		w.is("init", l.at("steps", 0, "type"), "sequential")
		w.is("next", l.at("steps", 1, "type"), "next")
		w.is("state", l.at("steps", 1, "steps", 0, "state"), "STEP_FAILED")
		w.is("error", l.at("steps", 1, "steps", 0, "errors", 0, "error"), "detected a non-workflow destination for trigger/invoke. make sure you are sending the request to the correct endpoint")
		w.delivery(id, 2)
		w.true(len(w.deliveries(id)) == 2, "%d calls: one, and its failure callback", len(w.deliveries(id)))
	}},
	{"WP-5.5", func(t *testing.T, w *world) { // a log that is too long is left out and fetched, and cut by nobody but the SDK
		payload := strings.Repeat("long ", 250_000)
		id := w.start("m/ok", payload, nil)
		first := w.delivery(id, 1)
		w.true(len(first.body) == 0, "%d bytes", len(first.body))
		w.submit(id, "m/ok", run(1))
		w.delivery(id, 2)
		list := w.ask(200, "GET", "/v2/workflows/runs/"+id, map[string]string{"Accept-Encoding": "identity"}, "")
		w.true(list.len() == 2 && list.at(0, "body").String() == base64.StdEncoding.EncodeToString([]byte(payload)), "%d elements", list.len())
		w.is("cut here", list.at(1, "messageId"), w.delivery(id, 2).header.Get("Upstash-Message-Id"))
		eager := w.start("m/ok", payload, map[string]string{"upstash-feature-set": "InitialBody"})
		w.true(len(w.delivery(eager, 1).body) > len(payload), "an endpoint that can't fetch gets all of it")
	}},
	{"WP-10.2", func(t *testing.T, w *world) { // an invoke that could never end is refused by 412, which fails the step
		id := w.start("m/ok", "", nil)
		created := w.delivery(id, 1).header.Get("Upstash-Workflow-CreatedAt")
		taken := w.start("m/ok", "", nil)
		invoke := func(child, count string, step int) int {
			h := w.stepHeaders(child, "m/ok")
			h["upstash-workflow-init"], h["upstash-workflow-invoke"], h["upstash-forward-upstash-workflow-invoke-count"] = "true", "true", count
			body := fmt.Sprintf(`{"body":"","headers":{},"workflowRunId":%q,"workflowRunCreatedAt":%s,"workflowUrl":%q,"step":{"stepId":%d,"stepName":"i","stepType":"Invoke","concurrent":1}}`, id, created, w.url("m/ok"), step)
			status, _ := w.try("POST", "/v2/publish/"+w.url("m/ok"), h, body)
			return status
		}
		w.true(invoke(taken, "1", 1) == 412, "an id that is in use")
		w.true(invoke(w.id(), "101", 1) == 412, "deeper than 100")
		w.true(invoke(w.id(), "100", 1) == 200, "100 deep")
	}},
	{"WP-9.7", func(t *testing.T, w *world) { // a run keeps so many notifications at most
		id := w.start("m/ok", "", nil)
		for n := range workflow.DefaultSettings().MaxSaved {
			w.ask(200, "POST", fmt.Sprintf("/v2/notify/%s/e%d", id, n), nil, "x")
		}
		w.ask(429, "POST", "/v2/notify/"+id+"/more", nil, "x")
	}},
}
