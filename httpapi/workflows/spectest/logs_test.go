package spectest

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"
)

// logs are the claims about the list of runs: the specification's section 8.
var logs = []claim{
	{"WS-8.1", func(t *testing.T, w *world) { // runs with cursors, ten a page, no cursor at the end
		label := "pages-" + w.id()
		for range 12 {
			w.start("m/ok", "", map[string]string{"upstash-label": label})
		}
		list := func(query string) value {
			return w.ask(200, "GET", "/v2/workflows/logs?label="+label+query, nil, "")
		}
		for _, count := range []string{"", "&count=10", "&count=500"} {
			w.true(list(count).at("runs").len() == 10, "%q: %d runs", count, list(count).at("runs").len())
		}
		seen := map[string]bool{}
		cursor, pages := "", 0
		for {
			page := list("&count=5" + cursor)
			pages++
			for i := range page.at("runs").len() {
				seen[page.at("runs", i, "workflowRunId").String()] = true
			}
			if page.at("cursor").v == nil {
				break
			}
			cursor = "&cursor=" + url.QueryEscape(page.at("cursor").String())
		}
		w.true(len(seen) == 12 && pages == 3, "%d runs in %d pages", len(seen), pages)
		w.ask(400, "GET", "/v2/workflows/logs?cursor=!", nil, "")
		w.ask(400, "GET", "/v2/workflows/logs?count=x", nil, "")
	}},
	{"WS-8.2", func(t *testing.T, w *world) { // every filter
		label := "filter-" + w.id()
		id := w.start("m/ok?q=1", "", map[string]string{"upstash-label": "other," + label, "upstash-flow-control-key": label, "upstash-flow-control-value": "parallelism=1"})
		first := w.delivery(id, 1)
		other := w.start("m/ok", "", map[string]string{"upstash-label": label})
		w.end(other, "1")
		l := w.log(id)
		created := l.at("workflowRunCreatedAt").String()
		host := strings.TrimPrefix(w.app.URL, "http://")
		both := map[string]bool{"label=" + label: true, "label=" + label + ",none": true, "label=" + label + "&host=" + host: true, "label=" + label + "&path=/m/ok": true,
			"label=" + label + "&callerIp=127.0.0.1": true, "label=" + label + "&fromDate=" + created: true, "workflowRunId=" + id + "," + other: true,
			"workflowRuns=" + id + "@" + created + "," + other + "@" + w.log(other).at("workflowRunCreatedAt").String(): true}
		for _, query := range []string{
			"workflowRunId=" + id, "workflowRunId=" + id + "&workflowCreatedAt=" + created, "workflowUrl=" + url.QueryEscape(w.url("m/ok?q=1")) + "&label=" + label,
			"label=" + label + "&state=RUN_STARTED", "label=" + label + "&toDate=" + created, "flowControlKey=" + label, "messageId=" + first.header.Get("Upstash-Message-Id"),
			"workflowRuns=" + id + "@" + created, "label=" + label + "&state=run_started",
		} {
			got := w.ask(200, "GET", "/v2/workflows/logs?"+query, nil, "").at("runs")
			w.true(got.len() == 1 && got.at(0, "workflowRunId").String() == id || query[:9] == "label="+label[:3] && got.len() == 2, "%s: %d runs", query, got.len())
		}
		for query := range both { // unordered: each is asked alone
			w.true(w.ask(200, "GET", "/v2/workflows/logs?"+query, nil, "").at("runs").len() == 2, "%s", query)
		}
		for _, query := range []string{
			"workflowRunId=none", "workflowRunId=" + id[:20], "label=none", "label=" + label + "&state=RUN_FAILED", "label=" + label + "&fromDate=9000000000000", "label=" + label + "&toDate=1",
			"messageId=none", "workflowRuns=" + id + "@1", "label=" + label + "&host=none", "label=" + label + "&path=/", "label=" + label + "&callerIp=1.1.1.1", "workflowRunId=",
			"workflowRunId=" + id + "&workflowCreatedAt=1",
		} {
			w.is(query, w.ask(200, "GET", "/v2/workflows/logs?"+query, nil, "").at("runs"), "[]")
		}
		for _, query := range []string{"lable=x", "state=x", "fromDate=x", "workflowRuns=x", "trimBody=x"} {
			w.ask(400, "GET", "/v2/workflows/logs?"+query, nil, "")
		}
	}},
	{"WS-8.3", func(t *testing.T, w *world) { // runs that share an id are told apart by their creation
		id, l := w.fail("bad", "", nil)
		w.ask(200, "POST", "/v2/workflows/dlq/restart/"+l.at("dlqId").String(), map[string]string{"Upstash-Workflow-RunId": id + "x"}, "")
		w.is("one run", w.ask(200, "GET", "/v2/workflows/logs?workflowRunId="+id, nil, "").at("runs").count(), "1")
	}},
	{"WP-14.1", func(t *testing.T, w *world) { // the same list by the client's path, and single events
		id := w.start("flows/three", "x", nil)
		w.state(id, "RUN_SUCCESS")
		_, one := w.try("GET", "/v2/workflows/events?groupBy=workflowRunId&workflowRunId="+id, nil, "")
		_, two := w.try("GET", "/v2/workflows/logs?workflowRunId="+id, nil, "")
		w.true(one == two, "%s\n%s", one, two)
		events := w.ask(200, "GET", "/v2/workflows/events?workflowRunId="+id, nil, "").at("events")
		var states []string
		for i := range events.len() {
			states = append(states, events.at(i, "state").String())
			w.is("run", events.at(i, "workflowRunId"), id)
		}
		w.true(strings.Join(states, " ") == "RUN_SUCCESS STEP_SUCCESS STEP_SUCCESS STEP_SUCCESS STEP_SUCCESS RUN_STARTED", "%v", states)
		w.is("stepInfo", events.at(1, "stepInfo", "stepName"), "three")
		only := w.ask(200, "GET", "/v2/workflows/events?state=STEP_SUCCESS&count=3&workflowRunId="+id, nil, "")
		rest := w.ask(200, "GET", "/v2/workflows/events?state=STEP_SUCCESS&count=3&workflowRunId="+id+"&cursor="+only.at("cursor").String(), nil, "")
		w.true(only.at("events").len() == 3 && rest.at("events").len() == 1 && rest.at("cursor").v == nil, "%v %v", only, rest)
		w.ask(400, "GET", "/v2/workflows/events?state=x", nil, "")
		w.ask(400, "GET", "/v2/workflows/events?cursor=x", nil, "")
		w.ask(405, "POST", "/v2/workflows/events", nil, "")
		w.events()
	}},
	{"WP-14.2", func(t *testing.T, w *world) { // the fields of a run
		id := w.start("flows/parent", "{}", map[string]string{"upstash-label": "a,b"})
		l := w.state(id, "RUN_SUCCESS")
		w.is("workflowUrl", l.at("workflowUrl"), w.url("flows/parent"))
		w.is("label", l.at("label"), "a")
		w.is("labels", l.at("labels"), `["a","b"]`)
		w.is("workflowRunCallerIp", l.at("workflowRunCallerIp"), "127.0.0.1")
		w.true(l.at("workflowRunCompletedAt").int() >= l.at("workflowRunCreatedAt").int(), "%v", l)
		invoke := l.at("steps", 1, "steps", 0)
		child := w.log(invoke.at("invokedWorkflowRunId").String())
		w.is("the child's result", child.at("workflowRunResponse"), `1`)
		w.is("invoker", child.at("invoker", "workflowRunId"), id)
		w.is("invoker", child.at("invoker", "workflowUrl"), w.url("flows/parent"))
		w.is("invoker", child.at("invoker", "workflowRunCreatedAt"), l.at("workflowRunCreatedAt").String())
		w.is("invokedWorkflowUrl", invoke.at("invokedWorkflowUrl"), w.url("flows/child"))
		w.is("invokedWorkflowCreatedAt", invoke.at("invokedWorkflowCreatedAt"), child.at("workflowRunCreatedAt").String())
		w.is("invokedWorkflowRunBody", invoke.at("invokedWorkflowRunBody"), `{"n":1}`)
		w.true(invoke.at("invokedWorkflowRunHeaders").v != nil, "%v", invoke)
	}},
	{"WP-14.3", func(t *testing.T, w *world) { // the type of the last group while another party has to finish
		id := w.start("m/ok", "", nil)
		w.delivery(id, 1)
		w.submit(id, "m/ok", run(1))
		w.delivery(id, 2)
		w.waits(id, "m/ok", "last-"+id, "1h", 2)
		groups := w.log(id).at("steps")
		w.is("groups", groups.count(), "3")
		last := groups.at(-1)
		w.is("steps", last.at("steps").count(), "1")
		for name, want := range map[string]string{"stepType": "Wait", "state": "STEP_PROGRESS", "stepId": "2", "waitEventId": "last-" + id, "waitTimeoutDuration": "1h", "waitTimeout": "false"} {
			w.is(name, last.at("steps", 0, name), want)
		}
		w.true(time.Until(time.UnixMilli(last.at("steps", 0, "waitTimeoutDeadline").int())) > 59*time.Minute, "%v", last)
	}},
	{"WP-X.1", func(t *testing.T, w *world) { // a run explains itself, whatever it waits for
		explain := func(id string) value { return w.ask(200, "GET", "/v2/workflows/runs/"+id+"/explain", nil, "") }
		id := w.start("m/bad", "", map[string]string{"upstash-retry-delay": "60000"})
		var x value
		w.until("the first failure", func() bool { x = explain(id); return x.at("reason").String() == "retrying" })
		w.is("lastAttempt", x.at("lastAttempt", "status"), "500")
		w.is("step", x.at("step", "state"), "STEP_RETRY")
		w.is("attempts", x.at("attempts"), "1")
		w.is("errorStepName", x.at("errorStepName"), "the bad step")
		w.is("allowed", x.at("allowed"), "4")
		w.true(time.Until(time.UnixMilli(x.at("next").int())) > 30*time.Second, "next: %v", x)
		w.true(strings.HasPrefix(x.at("text").String(), "attempt 1 of 4 failed with status 500; the next try comes at "), "%v", x.at("text"))
		w.true(strings.Contains(x.at("curl").String(), "'"+w.url("m/bad")+"'") && strings.Contains(x.at("curl").String(), "'Upstash-Workflow-Runid: "+id+"'"), "%v", x.at("curl"))
		w.is("delivery", x.at("delivery", "reason"), "backoff")

		id = w.start("m/ok", "", nil)
		w.delivery(id, 1)
		w.until("it is abandoned", func() bool { x = explain(id); return x.at("reason").String() == "abandoned" })
		w.is("mismatch", x.at("mismatches", 0, "code"), "no-submission")
		w.waits(id, "m/ok", "x-"+id, "1h", 1)
		x = explain(id)
		w.is("reason", x.at("reason"), "event")
		w.is("eventId", x.at("awaits", 0, "eventId"), "x-"+id)
		w.true(strings.Contains(x.at("awaits", 0, "curl").String(), "/v2/notify/x-"+id), "%v", x.at("awaits"))

		id, l := w.fail("plain", "", nil)
		x = explain(id)
		w.is("reason", x.at("reason"), "failed")
		w.is("mismatch", x.at("mismatches", 0, "code"), "not-a-workflow")
		w.true(strings.Contains(x.at("text").String(), "with status 200 (detected a non-workflow destination"), "%v", x.at("text"))
		w.true(strings.Contains(x.at("resume").String(), "/v2/workflows/dlq/resume/"+l.at("dlqId").String()), "%v", x)
		w.explainCall(explain)
		w.explainFlow(explain)
		w.ask(404, "GET", "/v2/workflows/runs/none/explain", nil, "")
		w.ask(405, "POST", "/v2/workflows/runs/"+id+"/explain", nil, "")
	}},
	{"WP-X.2", func(t *testing.T, w *world) { // the steps of a run are listed with their times, and each can be read
		w.timedSteps()
		w.timedBlock()
		w.timedFailure()
		w.ask(404, "GET", "/v2/workflows/runs/none/steps", nil, "")
		w.ask(404, "GET", "/v2/workflows/runs/none/steps/0", nil, "")
	}},
}

// stepFields are the claims about the fields of steps in logs, by type.
var stepFields = []claim{
	{"WS-ST.1", func(t *testing.T, w *world) { // every step
		id := w.start("m/ok", "the payload", map[string]string{"upstash-forward-x-mine": "yes", "upstash-retries": "2"})
		w.delivery(id, 1)
		made := w.submit(id, "m/ok", run(1))
		l := w.log(id)
		first, second := l.at("steps", 0, "steps", 0), l.at("steps", 1, "steps", 0)
		for name, want := range map[string]string{"stepType": "Initial", "stepName": "init", "stepId": "", "out": "the payload", "state": "STEP_SUCCESS", "callType": "step", "concurrent": "1", "retries": "2", "retryDelay": "20"} {
			w.is(name, first.at(name), want)
		}
		w.is("headers", first.at("headers", "X-Mine", 0), "yes")
		for name, want := range map[string]string{"stepType": "Run", "stepName": "s1", "stepId": "1", "out": `"out 1"`, "state": "STEP_SUCCESS", "callType": "step", "concurrent": "1", "messageId": made.at("messageId").String()} {
			w.is(name, second.at(name), want)
		}
		w.true(second.at("createdAt").int() >= first.at("createdAt").int() && first.at("createdAt").int() > 1e12, "%v", l)
	}},
	{"WS-ST.2", func(t *testing.T, w *world) { // SleepFor in milliseconds
		id := w.start("m/ok", "", nil)
		w.delivery(id, 1)
		for text, want := range map[string]string{`2`: "2000", `"1d10h30m"`: "124200000", `"2s"`: "2000"} {
			one := w.start("m/ok", "", nil)
			w.delivery(one, 1)
			h := w.stepHeaders(one, "m/ok")
			h["upstash-delay"] = "1h"
			w.batch(200, w.url("m/ok"), h, `{"stepId":1,"stepName":"nap","stepType":"SleepFor","sleepFor":`+text+`,"concurrent":1}`)
			w.is(text, w.log(one).at("steps", 1, "steps", 0, "sleepFor"), want)
			w.is("state", w.log(one).at("steps", 1, "steps", 0, "state"), "STEP_PROGRESS")
		}
	}},
	{"WS-ST.3", func(t *testing.T, w *world) { // SleepUntil in milliseconds
		id := w.start("m/ok", "", nil)
		w.delivery(id, 1)
		at := time.Now().Add(time.Hour).Unix()
		h := w.stepHeaders(id, "m/ok")
		h["upstash-not-before"] = fmt.Sprint(at)
		w.batch(200, w.url("m/ok"), h, fmt.Sprintf(`{"stepId":1,"stepName":"nap","stepType":"SleepUntil","sleepUntil":%d.25,"concurrent":1}`, at))
		w.is("sleepUntil", w.log(id).at("steps", 1, "steps", 0, "sleepUntil"), fmt.Sprint(at*1000+250))
	}},
	{"WS-ST.4", func(t *testing.T, w *world) { // Wait: event, timeout, deadline, and whether it timed out
		id := w.start("m/ok", "", nil)
		w.delivery(id, 1)
		w.waits(id, "m/ok", "st-"+id, "120s", 1)
		w.ask(200, "POST", "/v2/notify/st-"+id, nil, "x")
		step := w.log(id).at("steps", 1, "steps", 0)
		for name, want := range map[string]string{"waitEventId": "st-" + id, "waitTimeoutDuration": "120s", "waitTimeout": "false", "state": "STEP_SUCCESS", "stepType": "Wait"} {
			w.is(name, step.at(name), want)
		}
	}},
	{"WS-ST.5", func(t *testing.T, w *world) { // Call: what was asked, and what was answered
		id := w.start("flows/call", "echo", nil)
		step := w.state(id, "RUN_SUCCESS").at("steps", 1, "steps", 0)
		for name, want := range map[string]string{"stepType": "Call", "callUrl": w.url("out/echo"), "callMethod": "PUT", "callBody": "a body", "callResponseStatus": "200", "callResponseBody": "third party", "state": "STEP_SUCCESS"} {
			w.is(name, step.at(name), want)
		}
		w.is("callResponseHeaders", step.at("callResponseHeaders", "X-Third", 0), "yes")
	}},
	{"WS-ST.6", func(t *testing.T, w *world) { // the time of the next try, only while it retries
		id := w.start("m/bad", "", map[string]string{"upstash-retry-delay": "60000"})
		var next value
		w.until("a retry", func() bool {
			next = w.log(id).at("steps", -1, "steps", 0)
			return next.at("state").String() == "STEP_RETRY"
		})
		w.true(time.Until(time.UnixMilli(next.at("nextDeliveryTime").int())) > 30*time.Second, "%v", next)
		w.is("stepName", next.at("stepName"), "the bad step")
		// Before the last there may be one that was lost with its leader.
		w.is("errors", next.at("errors", -1, "status"), "500")
		w.true(next.at("errors", -1, "time").int() > 1e12 && strings.Contains(next.at("errors", -1, "body").String(), "it is bad"), "%v", next)
		done, l := w.fail("bad", "", nil)
		w.true(l.at("steps", -1, "steps", 0, "nextDeliveryTime").v == nil, "%s: %v", done, l)
	}},
	{"WS-ST.7", func(t *testing.T, w *world) { // trimBody
		id := w.start("m/ok", "the payload", nil)
		w.is("trimmed", w.ask(200, "GET", "/v2/workflows/logs?trimBody=3&workflowRunId="+id, nil, "").at("runs", 0, "steps", 0, "steps", 0, "out"), "the")
		w.is("whole", w.ask(200, "GET", "/v2/workflows/logs?trimBody=-1&workflowRunId="+id, nil, "").at("runs", 0, "steps", 0, "steps", 0, "out"), "the payload")
		bad, _ := w.fail("bad", "the payload", nil)
		for _, list := range []string{"logs?", "events?groupBy=workflowRunId&", "events?", "dlq?"} {
			for trim, want := range map[string][2]bool{"": {true, true}, "&trimBody=-1": {true, true}, "&trimBody=5": {true, false}, "&trimBody=0": {}} {
				_, text := w.try("GET", "/v2/workflows/"+list+"workflowRunId="+bad+trim, nil, "")
				got := [2]bool{strings.Contains(text, `"the p`), strings.Contains(text, `"the payload"`)}
				w.true(got == want && strings.Contains(text, bad), "%s%s: %s", list, trim, text)
			}
		}
		for path, method := range map[string]string{"dlq": "DELETE", "dlq/restart": "POST", "dlq/resume": "POST"} {
			w.ask(400, method, "/v2/workflows/"+path+"?trimBody=0", nil, "")
		}
	}},
}

// states are the claims about states and groups.
var states = []claim{
	{"WS-R.1", func(t *testing.T, w *world) { // RUN_STARTED, RUN_SUCCESS, RUN_CANCELED
		id := w.start("m/ok", "", nil)
		w.is("state", w.log(id).at("workflowState"), "RUN_STARTED")
		w.true(w.log(id).at("workflowRunCompletedAt").v == nil, "completed")
		w.end(id, `{"a":1}`)
		w.is("state", w.log(id).at("workflowState"), "RUN_SUCCESS")
		w.is("result", w.log(id).at("workflowRunResponse"), `{"a":1}`)
		other := w.start("m/ok", "", nil)
		w.is("cancelled", w.ask(202, "DELETE", "/v2/workflows/runs?workflowRunIds="+other, nil, "").at("cancelled"), "1")
		w.is("state", w.log(other).at("workflowState"), "RUN_CANCELED")
		w.is("again", w.ask(202, "DELETE", "/v2/workflows/runs?workflowRunIds="+other, nil, "").at("cancelled"), "0")
		w.end(other, "1")
		w.is("final", w.log(other).at("workflowState"), "RUN_CANCELED")
		waiting := w.start("m/ok", "", nil)
		w.delivery(waiting, 1)
		w.waits(waiting, "m/ok", "left-"+waiting, "1h", 1)
		w.ask(202, "DELETE", "/v2/workflows/runs?workflowRunIds="+waiting, nil, "")
		l := w.log(waiting)
		w.is("groups", l.at("steps").count(), "2")
		wait := l.at("steps", 1, "steps", 0)
		w.is("the wait", wait.at("stepType"), "Wait")
		w.is("its state", wait.at("state"), "STEP_CANCELED")
		w.is("its event", wait.at("waitEventId"), "left-"+waiting)
		w.is("its timeout", wait.at("waitTimeoutDuration"), "1h")
		w.true(wait.at("waitTimeoutDeadline").int() > wait.at("createdAt").int() && wait.at("out").v == nil, "%v", wait)
	}},
	{"WS-R.2", func(t *testing.T, w *world) { // RUN_FAILED after all retries, and in the DLQ
		id, l := w.fail("bad", "", map[string]string{"upstash-retries": "2"})
		w.true(l.at("dlqId").v != nil, "%v", l)
		// One of them may have been lost on its way if the leader changed; it counts nevertheless.
		last := -1
		for _, d := range w.deliveries(id) {
			n, err := strconv.Atoi(d.header.Get("Upstash-Retried"))
			w.true(err == nil, "Retried %q", d.header.Get("Upstash-Retried"))
			if n <= last {
				break // what follows is about the failure
			}
			w.true(last >= 0 || n == 0, "the first is Retried %d", n)
			last = n
		}
		w.true(last == 2, "the last is Retried %d", last)
	}},
	{"WS-G.1", func(t *testing.T, w *world) { // sequential, parallel and next
		id := w.start("m/slow", "", nil)
		l := w.log(id)
		w.is("init", l.at("steps", 0, "type"), "sequential")
		w.is("next", l.at("steps", -1, "type"), "next")
		// Its attempt may have been lost on its way if the leader changed.
		state := fmt.Sprint(l.at("steps", -1, "steps", 0, "state").v)
		w.true(state == "STEP_PROGRESS" || state == "STEP_RETRY", "next is in state %s", state)
		plan := func(n int) string {
			return fmt.Sprintf(`{"stepId":0,"stepName":"p%d","stepType":"Run","concurrent":2,"targetStep":%d}`, n, n)
		}
		for n := 1; n <= 2; n++ {
			w.submit(id, "m/slow", plan(n))
		}
		w.submit(id, "m/slow", `{"stepId":2,"stepName":"p2","stepType":"Run","out":"2","concurrent":2}`)
		block := w.log(id).at("steps", 1)
		w.is("type", block.at("type"), "parallel")
		w.is("branches", block.at("steps").count(), "2")
		w.is("planned", block.at("steps", 0, "state"), "STEP_PROGRESS")
		w.true(block.at("steps", 0, "out").v == nil, "%v", block)
		w.is("done", block.at("steps", 1, "state"), "STEP_SUCCESS")
		w.is("out", block.at("steps", 1, "out"), "2")
		w.ask(200, "DELETE", "/v2/workflows/runs/"+id, nil, "")
		w.is("cancelled", w.log(id).at("steps", 1, "steps", 0, "state"), "STEP_CANCELED")
	}},
	{"WS-G.2", func(t *testing.T, w *world) { // parallel steps of three types, each once
		id := w.start("flows/parallel", "{}", nil)
		l := w.state(id, "RUN_SUCCESS")
		block := l.at("steps", 1)
		var all []string
		for i := range block.at("steps").len() {
			s := block.at("steps", i)
			all = append(all, fmt.Sprintf("%v%v%v%v", s.at("stepType"), s.at("stepId"), s.at("state"), s.at("concurrent")))
		}
		w.true(strings.Join(all, " ") == "Run1STEP_SUCCESS3 Call2STEP_SUCCESS3 SleepFor3STEP_SUCCESS3", "%v", all)
		w.is("the call's answer after a retry", block.at("steps", 1, "callResponseStatus"), "200")
		w.true(w.times(id+"/left") == 1, "left ran %d times", w.times(id+"/left"))
	}},
	{"WS-G.3", func(t *testing.T, w *world) { // STEP_FAILED, and its errors
		_, l := w.fail("final", "", nil)
		next := l.at("steps", -1)
		w.is("type", next.at("type"), "next")
		w.is("state", next.at("steps", 0, "state"), "STEP_FAILED")
		w.is("status", next.at("steps", 0, "errors", 0, "status"), "489")
	}},
	{"WS-G.4", func(t *testing.T, w *world) { // a failure of a third party is a result
		id := w.start("flows/call", "never/"+w.id(), nil)
		step := w.state(id, "RUN_SUCCESS").at("steps", 1, "steps", 0)
		w.is("status", step.at("callResponseStatus"), fmt.Sprint(http.StatusServiceUnavailable))
	}},
}

// events checks that single events of several runs are in the order of time, in one page and in many, and that dates select events.
func (w *world) events() {
	w.Helper()
	label := "events-" + w.id()
	old := w.start("m/ok", "", map[string]string{"upstash-label": label})
	w.delivery(old, 1)
	young := w.start("flows/three", "x", map[string]string{"upstash-label": label})
	w.state(young, "RUN_SUCCESS")
	w.submit(old, "m/ok", `{"stepId":1,"stepName":"one","stepType":"Run","out":"1","concurrent":1}`)
	w.end(old, "1")
	list := func(query string) value {
		return w.ask(200, "GET", "/v2/workflows/events?label="+label+query, nil, "")
	}
	all := list("").at("events")
	w.true(all.len() == 10 && all.at(9, "workflowRunId").String() == old, "%v", all)
	w.is("the newest", all.at(0, "time"), w.log(old).at("workflowRunCompletedAt").String())
	for i := 1; i < all.len(); i++ {
		w.true(all.at(i, "time").int() <= all.at(i-1, "time").int(), "event %d comes before a newer one: %v", i, all)
	}
	for _, count := range []int{1, 3, 4} {
		var pages []string
		for cursor, more := "", true; more; {
			page := list(fmt.Sprintf("&count=%d%s", count, cursor))
			for i := range page.at("events").len() {
				pages = append(pages, page.at("events", i).String())
			}
			more = page.at("cursor").v != nil
			cursor = "&cursor=" + url.QueryEscape(page.at("cursor").String())
		}
		for i, one := range pages {
			w.true(one == all.at(i).String(), "%d a page: event %d is %s, not %v", count, i, one, all.at(i))
		}
		w.true(len(pages) == all.len(), "%d a page: %d events", count, len(pages))
	}
	end := all.at(0, "time").String()
	w.true(list("&fromDate="+end).at("events").len() >= 1, "none from %s on", end)
	w.is("from behind the end", list("&fromDate="+strconv.FormatInt(all.at(0, "time").int()+1, 10)).at("events"), "[]")
	first := all.at(9, "time").int()
	w.is("until before the beginning", list("&toDate="+strconv.FormatInt(first-1, 10)).at("events"), "[]")
	w.true(list("&toDate="+strconv.FormatInt(first, 10)).at("events").len() >= 1, "none until %d", first)
	w.is("ends", list("&state=RUN_SUCCESS").at("events").count(), "2")
	w.is("ends and beginnings", list("&state=RUN_SUCCESS,RUN_STARTED").at("events").count(), "4")
}

// explainCall: a run explains that a third party fails, and that this says nothing about the app.
func (w *world) explainCall(explain func(string) value) {
	w.Helper()
	id := w.start("m/ok", "", nil)
	w.delivery(id, 1)
	headers := w.callHeaders(id)
	headers["upstash-retries"], headers["upstash-retry-delay"] = "3", "60000"
	w.batch(200, w.url("out/never/"+id), headers, "x")
	var x value
	w.until("the call has failed", func() bool { x = explain(id); return x.at("reason").String() == "retrying" })
	w.true(strings.HasPrefix(x.at("text").String(), "the third party: attempt 1 of 4 failed with status 503; the next try comes at "), "%v", x.at("text"))
	w.true(x.at("mismatches").v == nil, "%v", x.at("mismatches"))
	w.is("awaits", x.at("awaits", 0, "type"), "call")
	w.true(strings.Contains(x.at("awaits", 0, "curl").String(), "/out/never/"+id), "%v", x.at("awaits"))
}

// explainFlow: a run explains that it waits for its flow-control key.
func (w *world) explainFlow(explain func(string) value) {
	w.Helper()
	key := "explain-" + w.id()
	flow := map[string]string{"upstash-flow-control-key": key, "upstash-flow-control-value": "rate=1,period=1h"}
	w.delivery(w.start("m/ok", "", flow), 1)
	id := w.start("m/ok", "", flow)
	var x value
	w.until("the key holds it", func() bool { x = explain(id); return x.at("reason").String() != "sender" }) // until the leader has looked at it
	w.is("reason", x.at("reason"), "flow-rate")
	w.is("key", x.at("delivery", "flowControlKey"), key)
	w.true(strings.Contains(x.at("text").String(), "("+key+")") && x.at("attempts").v == nil, "%v", x)
}
