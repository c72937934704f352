package spectest

import (
	"fmt"
	"strings"
)

// steps returns the steps of a run with their times.
func (w *world) steps(id, query string) value {
	w.Helper()
	return w.ask(200, "GET", "/v2/workflows/runs/"+id+"/steps"+query, nil, "")
}

// timedSteps: a run with a step, a wait, a call and a sleep, one after another. Times are those of the log, and follow one another.
func (w *world) timedSteps() {
	w.Helper()
	id := w.start("m/ok", "the payload", nil)
	w.delivery(id, 1)
	h := w.callHeaders(id)
	h["upstash-retries"], h["upstash-retry-delay"] = "1", "20"
	w.batch(200, w.url("out/again/"+id), h, "a body")
	w.until("the answer to the call", func() bool { return w.callback(id) != nil })
	w.submit(id, "m/ok", `{"stepId":1,"stepName":"c","stepType":"Call","out":"{\"status\":200,\"body\":\"third party\"}","concurrent":1}`)
	w.delivery(id, 3)
	w.waits(id, "m/ok", "timed-"+id, "120s", 2)
	w.is("a wait that goes on", w.steps(id, "").at("steps", -1, "steps", 0, "wait", "eventId"), "timed-"+id)
	w.ask(200, "POST", "/v2/notify/timed-"+id, nil, "x")
	w.delivery(id, 4)
	nap := w.stepHeaders(id, "m/ok")
	nap["upstash-delay"] = "1h"
	w.batch(200, w.url("m/ok"), nap, `{"stepId":3,"stepName":"nap","stepType":"SleepFor","sleepFor":3600,"concurrent":1}`)

	l, page := w.log(id), w.steps(id, "")
	w.is("groups", page.at("groups"), "4")
	w.is("first", page.at("first"), "0")
	for i := range 4 {
		step, got := l.at("steps", i, "steps", 0), page.at("steps", i, "steps", 0)
		for _, name := range []string{"stepName", "stepType", "state", "createdAt", "messageId"} {
			w.is(fmt.Sprint("step ", i, " ", name), got.at(name), step.at(name).String())
		}
		w.is("stepId", got.at("stepId"), fmt.Sprint(i))
		w.true(got.at("out").v == nil && got.at("headers").v == nil && got.at("call", "body").v == nil, "%v", got)
		if i > 0 {
			before := page.at("steps", i-1, "steps", 0, "createdAt").int()
			w.true(got.at("dueAt").int() == before && before <= got.at("createdAt").int(), "step %d after %d: %v", i, before, got)
		}
	}
	call, wait, sleep := page.at("steps", 1, "steps", 0), page.at("steps", 2, "steps", 0), page.at("steps", 3, "steps", 0)
	w.is("url", call.at("call", "url"), w.url("out/again/"+id))
	w.is("status", call.at("call", "status"), "200")
	failed := call.at("call", "failures", 0, "time").int()
	w.true(call.at("dueAt").int() <= call.at("sentAt").int() && call.at("sentAt").int() <= call.at("call", "calledAt").int() && call.at("call", "calledAt").int() <= failed &&
		failed+20 <= call.at("call", "answeredAt").int() && call.at("call", "answeredAt").int() <= call.at("createdAt").int(), "%v", call)
	w.true(wait.at("dueAt").int() <= wait.at("wait", "since").int() && wait.at("wait", "since").int()+120_000 == wait.at("wait", "deadline").int() &&
		wait.at("wait", "since").int() <= wait.at("createdAt").int() && wait.at("wait", "timedOut").String() == "false", "%v", wait)
	sent, again := call.at("call", "failures", 0, "sentAt").int(), call.at("call", "sentAt").int()
	w.true(call.at("call", "calledAt").int() <= sent && sent <= failed && failed+20 <= again && again <= call.at("call", "answeredAt").int(), "%v", call)
	w.true(sleep.at("wakesAt").int() == sleep.at("createdAt").int()+3_600_000, "%v", sleep)
	w.true(sleep.at("beganAt").int() == sleep.at("dueAt").int() && sleep.at("endedAt").String() == "", "%v", sleep)
	w.true(call.at("beganAt").int() == call.at("dueAt").int() && call.at("endedAt").int() == call.at("createdAt").int(), "%v", call)

	w.pagesOfSteps(id, page)
	one := w.ask(200, "GET", "/v2/workflows/runs/"+id+"/steps/1", nil, "")
	for name, want := range map[string]string{"stepName": "c", "callBody": "a body", "callResponseBody": "third party", "callUrl": w.url("out/again/" + id), "out": l.at("steps", 1, "steps", 0, "out").String()} {
		w.is(name, one.at(name), want)
	}
	w.true(strings.Contains(one.at("callAttempts", 0, "body").String(), "later") && one.at("callAttempts", 0, "status").String() == "503", "%v", one)
	w.is("payload", w.ask(200, "GET", "/v2/workflows/runs/"+id+"/steps/0", nil, "").at("out"), "the payload")
	w.ask(404, "GET", "/v2/workflows/runs/"+id+"/steps/9", nil, "")
	w.ask(400, "GET", "/v2/workflows/runs/"+id+"/steps/x", nil, "")
}

// pagesOfSteps: pages have all groups, each once.
func (w *world) pagesOfSteps(id string, all value) {
	w.Helper()
	var got []string
	for cursor := "0"; cursor != ""; {
		page := w.steps(id, "?count=3&cursor="+cursor)
		w.is("first", page.at("first"), cursor)
		for i := range page.at("steps").len() {
			got = append(got, page.at("steps", i).String())
		}
		cursor = page.at("cursor").String()
	}
	w.is("pages", value{"[" + strings.Join(got, ",") + "]"}, all.at("steps").String())
	w.is("behind the end", w.steps(id, "?cursor=99").at("steps"), "[]")
	for _, query := range []string{"?cursor=x", "?cursor=-1", "?count=0", "?count=x", "?workflowCreatedAt=x"} {
		w.ask(400, "GET", "/v2/workflows/runs/"+id+"/steps"+query, nil, "")
	}
	w.ask(404, "GET", "/v2/workflows/runs/"+id+"/steps?workflowCreatedAt=1", nil, "")
}

// timedBlock: branches have numbers before they are done, and begin with their plans. An invoked run is named.
func (w *world) timedBlock() {
	w.Helper()
	id := w.start("m/ok", "", nil)
	w.delivery(id, 1)
	for n := 1; n <= 2; n++ {
		w.submit(id, "m/ok", fmt.Sprintf(`{"stepId":0,"stepName":"p%d","stepType":"Run","concurrent":2,"targetStep":%d}`, n, n))
	}
	w.submit(id, "m/ok", `{"stepId":2,"stepName":"p2","stepType":"Run","out":"2","concurrent":2}`)
	block := w.steps(id, "").at("steps", 1)
	w.is("type", block.at("type"), "parallel")
	w.is("numbers", value{block.at("steps", 0, "stepId").String() + " " + block.at("steps", 1, "stepId").String()}, "1 2")
	w.is("states", value{block.at("steps", 0, "state").String() + " " + block.at("steps", 1, "state").String()}, "STEP_PROGRESS STEP_SUCCESS")
	w.true(block.at("steps", 1, "dueAt").int() <= block.at("steps", 1, "createdAt").int() && block.at("steps", 1, "dueAt").int() > 1e12, "%v", block)

	sleeper := w.start("m/ok", "", nil) // a branch sleeps before its delivery
	w.delivery(sleeper, 1)
	nap := w.stepHeaders(sleeper, "m/ok")
	nap["upstash-delay"] = "1h"
	w.batch(200, w.url("m/ok"), nap, `{"stepId":0,"stepName":"nap","stepType":"SleepFor","sleepFor":3600,"concurrent":2,"targetStep":1}`)
	branch := w.steps(sleeper, "").at("steps", 1, "steps", 0)
	w.true(branch.at("plannedAt").int() == branch.at("createdAt").int() && branch.at("wakesAt").int() == branch.at("plannedAt").int()+3_600_000 &&
		branch.at("dueAt").int() == branch.at("wakesAt").int() && branch.at("sentAt").v == nil, "%v", branch)

	parent := w.start("flows/parent", "{}", nil)
	l := w.state(parent, "RUN_SUCCESS")
	invoked := w.steps(parent, "").at("steps", 1, "steps", 0, "invoked")
	child := w.log(l.at("steps", 1, "steps", 0, "invokedWorkflowRunId").String())
	for name, of := range map[string]string{"workflowRunId": "workflowRunId", "workflowUrl": "workflowUrl", "workflowState": "workflowState", "createdAt": "workflowRunCreatedAt", "completedAt": "workflowRunCompletedAt"} {
		w.is(name, invoked.at(name), child.at(of).String())
	}
	w.is("its payload", w.ask(200, "GET", "/v2/workflows/runs/"+parent+"/steps/1", nil, "").at("invokedWorkflowRunBody"), `{"n":1}`)
}

// timedFailure: failed calls of the endpoint are those of the step that they were to run, also when it is done.
func (w *world) timedFailure() {
	w.Helper()
	id, l := w.fail("bad", "", map[string]string{"upstash-retries": "2"})
	last := w.steps(id, "").at("steps", -1, "steps", 0)
	w.is("state", last.at("state"), "STEP_FAILED")
	w.is("stepId", last.at("stepId"), "1")
	w.is("failures", last.at("failures").count(), l.at("steps", -1, "steps", 0, "errors").count().String())
	for i := range last.at("failures").len() {
		w.true(last.at("failures", i, "sentAt").int() <= last.at("failures", i, "time").int() && last.at("failures", i, "sentAt").int() > 1e12, "%v", last)
	}
	w.is("time", last.at("failures", -1, "time"), l.at("steps", -1, "steps", 0, "errors", -1, "time").String())
	w.true(strings.Contains(w.ask(200, "GET", "/v2/workflows/runs/"+id+"/steps/1", nil, "").at("errors", -1, "body").String(), "it is bad"), "errors")

	held := w.start("m/lost", "", map[string]string{"upstash-retries": "3"}) // the step is submitted, then its delivery fails
	w.delivery(held, 1)
	close(w.gate(held))
	w.until("a failed attempt", func() bool { return w.steps(held, "").at("steps", -1, "steps", 0, "failures").len() > 0 })
	w.submit(held, "m/lost", `{"stepId":1,"stepName":"s1","stepType":"Run","out":"1","concurrent":1}`)
	done := w.steps(held, "").at("steps", 1, "steps", 0)
	w.true(done.at("state").String() == "STEP_SUCCESS" && done.at("failures", 0, "status").String() == "500", "%v", done)
	w.true(w.log(held).at("steps", 1, "steps", 0, "errors").v == nil, "the log")
	w.true(strings.Contains(w.ask(200, "GET", "/v2/workflows/runs/"+held+"/steps/1", nil, "").at("attempts", 0, "body").String(), "is lost"), "attempts")
}
