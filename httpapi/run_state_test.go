package httpapi_test

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/workflow"
)

const flowTo = "https://plain.test/"

// has sends a request and compares its status, and looks for a part of its text.
func (m *mail) has(status int, part, method, path, body string, header ...string) string {
	m.Helper()
	text := m.want(status, "", method, path, body, header...)
	if !strings.Contains(text, part) {
		m.Errorf("%s %s: %s; want %q in it", method, path, text, part)
	}
	return text
}

// told submits a step whose result says something of its run.
func (m *mail) told(run string, step int, result string) (int, string) {
	m.Helper()
	out := jsonOf(result)
	return m.step(run, flowTo, fmt.Sprintf(`{"stepId":%d,"stepName":"s%d","stepType":"Run","out":%s,"concurrent":1}`, step, step, out), "upstash-workflow-calltype", "step")
}

// waits has a step of a run wait for an event.
func (m *mail) waits(run string, step int, event string) string {
	m.Helper()
	body := fmt.Sprintf(`{"url":%q,"timeout":"1h","timeoutUrl":%q,"timeoutHeaders":{},"step":{"stepId":%d,"stepName":"w","stepType":"Wait","concurrent":1}}`, flowTo, flowTo, step)
	return m.has(200, "", "POST", "/v2/wait/"+event, body, "Upstash-Workflow-RunId", run)
}

// lastOut is the last result in the log of a run, decoded.
func (m *mail) lastOut(run string) (out string) {
	m.Helper()
	_, err := m.nodes.Nodes[0].Read(m.Context(), fsm.Reading{}, func(v *fsm.View) {
		s := v.Workflows()
		s.Log(s.Find(run, 0).No, func(pos uint32, e *workflow.Entry) bool {
			if pos == 0 { // the payload
				return true
			}
			out, _ = m.object(string(e.Body.Bytes()))["out"].(string)
			return true
		})
	})
	text, wrong := base64.StdEncoding.DecodeString(out)
	if err != nil || wrong != nil {
		m.Fatal(err, wrong)
	}
	return string(text)
}

// trigger starts a run with headers and returns its id.
func (m *mail) trigger(header ...string) string {
	m.Helper()
	text := m.has(200, "", "POST", "/v2/trigger/"+flowTo, "x", slices.Concat(delayed, header)...)
	id, _ := m.object(text)["workflowRunId"].(string)
	return id
}

// TestStateAndUpdates walks through a run whose state any node answers, and whose updates it judges.
func TestStateAndUpdates(t *testing.T) {
	m := startMail(t)
	run := m.trigger("Svc-Updates", `{"close":""}`)
	base := "/v2/workflows/runs/" + run
	m.has(404, "has no state", "GET", base+"/state", "")
	m.has(404, "workflow run nobody not found", "GET", "/v2/workflows/runs/nobody/state", "")
	m.has(404, "accepts no update spend: it accepts close", "POST", base+"/updates/spend", "{}")

	if status, text := m.told(run, 1, `{"svcState":{ "left": 100 },"svcUpdates":{"spend":"@.update.amount <= @.state.left"},"result":1}`); status/100 != 2 {
		t.Fatal(status, text)
	}
	for range 3 { // on each node
		got := m.object(m.has(200, `"state":{"left":100}`, "GET", base+"/state", ""))
		if got["version"] != 1.0 || got["stepName"] != "s1" || got["stepId"] != 1.0 || got["workflowState"] != "RUN_STARTED" || fmt.Sprint(got["updates"]) != "map[spend:@.update.amount <= @.state.left]" {
			t.Errorf("%v", got)
		}
	}
	m.has(404, "it accepts spend", "POST", base+"/updates/close", "{}")
	refused := m.object(m.has(409, "its rule does not hold: @.update.amount ", "POST", base+"/updates/spend", `{"amount":101}`))
	if refused["accepted"] != false || refused["rule"] != "@.update.amount <= @.state.left" || refused["stateVersion"] != 1.0 {
		t.Errorf("%v", refused)
	}
	m.has(400, "not JSON", "POST", base+"/updates/spend", "")
	for i := range 3 { // the same update, at each node
		got := m.object(m.has(200, "", "POST", base+"/updates/spend", `{"amount":100}`, "Svc-Update-Id", "u-1"))
		if got["accepted"] != true || got["updateId"] != "u-1" || (got["deduplicated"] == true) != (i > 0) {
			t.Errorf("%v", got)
		}
	}
	m.waits(run, 2, "spend") // it was kept
	if got := m.lastOut(run); got != `{"amount":100}` {
		t.Errorf("the wait got %q", got)
	}
	m.waits(run, 3, "spend")
	got := m.object(m.has(200, "", "POST", base+"/updates/spend", `{"amount":7}`))
	if id, _ := got["messageId"].(string); !strings.HasPrefix(id, "msg_") || m.lastOut(run) != `{"amount":7}` {
		t.Errorf("%v, the wait got %q", got, m.lastOut(run))
	}
	if status, text := m.told(run, 4, `{"svcState":"`+strings.Repeat("x", 64<<10)+`"}`); status != 412 || !strings.Contains(text, "Limit: 65536 bytes") {
		t.Error(status, text)
	}
	if status, text := m.told(run, 4, `{"svcState":null}`); status/100 != 2 {
		t.Fatal(status, text)
	}
	m.has(404, "has no state", "GET", base+"/state", "")
	if status, text := m.told(run, 5, `{"svcState":[1]}`); status/100 != 2 {
		t.Fatal(status, text)
	}
	m.has(200, "", "DELETE", base, "")
	if got := m.object(m.has(200, `"state":[1]`, "GET", base+"/state", "")); got["version"] != 3.0 || got["workflowState"] != "RUN_CANCELED" {
		t.Errorf("%v", got)
	}
	m.has(409, "is over", "POST", base+"/updates/spend", "{}")
}

// What is asked for wrongly is refused, and a run that redacts bodies redacts its state.
func TestRunOptionsAreRead(t *testing.T) {
	m := startMail(t)
	for header, value := range map[string]string{"Svc-Keep-Events": "a*b", "Svc-Updates": `{"x":1}`, "Upstash-Forward-Upstash-Keep-Events": strings.Repeat("x", 300)} {
		m.has(400, "invalid ", "POST", "/v2/trigger/"+flowTo, "x", header, value)
	}
	run := m.trigger("Svc-Redact-Fields", "body")
	m.told(run, 1, `{"svcState":{"secret":1}}`)
	if text := m.has(200, "REDACTED:", "GET", "/v2/workflows/runs/"+run+"/state", ""); strings.Contains(text, "secret") {
		t.Error(text)
	}
	// What SDKs forward goes no further.
	forwarded := m.trigger("Upstash-Forward-Svc-Keep-Events", "fwd-*", "Upstash-Forward-Upstash-Updates", `{"go":""}`, "Upstash-Forward-X-Own", "1")
	_, err := m.nodes.Nodes[0].Read(t.Context(), fsm.Reading{}, func(v *fsm.View) {
		r := v.Workflows().Find(forwarded, 0)
		if text := fmt.Sprintf("%+v %+v", r.Header, r.Failure.Options.Header); strings.Contains(text, "fwd") || strings.Contains(text, "go") || !strings.Contains(text, "X-Own") {
			t.Error(text)
		}
		if len(r.Keep) != 1 || len(r.Rules()) != 1 {
			t.Errorf("%q, %+v", r.Keep, r.Rules())
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestKeptEvents: a run that asks for it gets events that were notified before its wait, by every way in.
func TestKeptEvents(t *testing.T) {
	m := startMail(t)
	run := m.trigger("Svc-Keep-Events", "approve-7, order-*")
	other := m.trigger()
	m.waits(other, 1, "order-1")
	if text := m.has(200, "", "POST", "/v2/notify/else", "x"); text != "[]" {
		t.Error(text)
	}
	text := m.has(200, "", "POST", "/v2/notify/order-1", "first")
	if !strings.Contains(text, `"workflowRunId":"`+other+`","workflowCreatedAt":`) || strings.Count(text, `"kept":true`) != 1 || strings.Index(text, other) > strings.Index(text, `"kept":true`) {
		t.Error(text)
	}
	if status, text := m.command("WF.NOTIFY", "order-1", "second"); status != 200 || text != `{"result":["`+run+`"]}` {
		t.Error(status, text)
	}
	m.has(200, "", "POST", "/v2/notify/"+run+"/order-1", "third")
	for i, want := range []string{"first", "second", "third"} {
		m.waits(run, i+1, "order-1")
		if got := m.lastOut(run); got != want {
			t.Errorf("wait %d got %q, not %q", i+1, got, want)
		}
	}
	// An invoked run asks by its own headers.
	invoke := fmt.Sprintf(`{"body":"","headers":{},"workflowRunId":%q,"workflowRunCreatedAt":0,"workflowUrl":%q,"step":{"stepId":4,"stepName":"i","stepType":"Invoke","concurrent":1}}`, run, flowTo)
	m.has(200, "", "POST", "/v2/publish/"+flowTo, invoke, "Upstash-Workflow-Init", "true", "Upstash-Workflow-Invoke", "true", "Upstash-Workflow-RunId", "wfr_child",
		"Upstash-Workflow-Url", flowTo, "Upstash-Forward-Upstash-Keep-Events", "child", "Upstash-Delay", "1h")
	if text := m.has(200, `"kept":true`, "POST", "/v2/notify/child", "x"); !strings.Contains(text, "wfr_child") {
		t.Error(text)
	}
	for range workflow.DefaultSettings().MaxSaved {
		m.has(200, `"kept":true`, "POST", "/v2/notify/approve-7", "x")
	}
	m.has(429, "as many stored notifications as it may have", "POST", "/v2/notify/approve-7", "x")
	again := m.trigger("Svc-Keep-Events", "approve-7")
	if text := m.has(200, `"kept":false,"error":`, "POST", "/v2/notify/approve-7", "x"); !strings.Contains(text, again) {
		t.Error(text)
	}
	m.has(200, "", "DELETE", "/v2/workflows/runs/"+run, "")
	m.has(200, "", "DELETE", "/v2/workflows/runs/"+again, "")
	if text := m.has(200, "", "POST", "/v2/notify/approve-7", "x"); text != "[]" {
		t.Error(text)
	}
}
