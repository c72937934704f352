package spectest

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
)

// deadLetters are the claims about failed runs: the specification's sections 3 and 4, and
// the fields of a dead letter.
var deadLetters = []claim{
	{"WS-3.1", func(t *testing.T, w *world) { // one dead letter with its fields
		id, l := w.fail("bad", "the payload", map[string]string{
			"upstash-label": "first,second", "upstash-flow-control-key": "dead", "upstash-flow-control-value": "parallelism=2, rate=50, period=1m",
			"upstash-forward-x-mine": "yes", "upstash-retries": "1",
		})
		d := w.letter(id)
		for name, want := range map[string]string{
			"dlqId": l.at("dlqId").String(), "url": w.url("m/bad"), "workflowUrl": w.url("m/bad"), "method": "POST", "body": "the payload", "maxRetries": "1",
			"workflowRunId": id, "workflowCreatedAt": l.at("workflowRunCreatedAt").String(), "flowControlKey": "dead", "rate": "50", "parallelism": "2", "period": "60",
			"responseStatus": "500", "failureCallback": w.url("m/bad"), "callerIP": "127.0.0.1", "label": "first", "labels": `["first","second"]`,
		} {
			w.is(name, d.at(name), want)
		}
		w.is("header", d.at("header", "X-Mine", 0), "yes")
		for name, want := range map[string]string{ // those that configure the run are shown too
			"Retries": "1", "Label": "first,second", "Flow-Control-Key": "dead", "Flow-Control-Value": "parallelism=2, rate=50, period=60s",
			"Failure-Callback": w.url("m/bad"), "Failure-Callback-Forward-Upstash-Workflow-Is-Failure": "true",
			"Workflow-Runid": id, "Workflow-Url": w.url("m/bad"), "Workflow-Init": "true",
		} {
			w.is("header "+name, d.at("header", "Upstash-"+name, 0), want)
		}
		w.is("failureCallbackHeader", d.at("failureCallbackHeader", "Upstash-Workflow-Is-Failure", 0), "true")
		w.is("responseHeader", d.at("responseHeader", "Upstash-Error-Step-Name", 0), "the bad step")
		w.true(strings.Contains(d.at("responseBody").String(), "it is bad"), "responseBody: %v", d.at("responseBody"))
		w.true(strings.HasPrefix(d.at("messageId").String(), "msg_"), "messageId: %v", d.at("messageId"))
		w.true(d.at("createdAt").int() > 1e12 && d.at("notBefore").int() >= d.at("createdAt").int(), "times: %v", d)
	}},
	{"WS-3.2", func(t *testing.T, w *world) { // what is no UTF-8 is in base64
		made := w.ask(200, "POST", "/v2/trigger/"+w.url("m/bad"), map[string]string{"Upstash-Retries": "0"}, "\xff\xfe")
		id := made.at("workflowRunId").String()
		w.state(id, "RUN_FAILED")
		d := w.letter(id)
		w.is("bodyBase64", d.at("bodyBase64"), "//4=")
		w.is("body", d.at("body"), "")
	}},
	{"WS-3.3", func(t *testing.T, w *world) {
		w.ask(404, "GET", "/v2/workflows/dlq/1-1", nil, "")
		w.ask(404, "GET", "/v2/workflows/dlq/nonsense", nil, "")
	}},
	{"WS-3.4", func(t *testing.T, w *world) { // how the failure callback went
		id, _ := w.fail("bad", "", nil)
		w.until("the failure callback", func() bool { return w.letter(id).at("failureCallbackInfo", "state").String() == "CALLBACK_SUCCESS" })
		info := w.letter(id).at("failureCallbackInfo")
		w.is("responseStatus", info.at("responseStatus"), "200")
		w.is("responseBody", info.at("responseBody"), `{"result":"told"}`)
		w.is("responseHeaders", info.at("responseHeaders", "X-Told", 0), "yes")
	}},
	{"WS-4.1", func(t *testing.T, w *world) {
		id, l := w.fail("bad", "", nil)
		status, text := w.try("DELETE", "/v2/workflows/dlq/"+l.at("dlqId").String(), nil, "")
		w.true(status == 200 && text == "", "%d %q", status, text)
		w.ask(404, "DELETE", "/v2/workflows/dlq/"+l.at("dlqId").String(), nil, "")
		w.ask(404, "GET", "/v2/workflows/dlq/"+l.at("dlqId").String(), nil, "")
		w.is("the run stays", w.log(id).at("workflowState"), "RUN_FAILED")
	}},
	{"WP-11.5", func(t *testing.T, w *world) { // the list, its filters and pages
		label := "list-" + w.id()
		var ids []string
		for n := range 5 {
			id, _ := w.fail("bad", fmt.Sprint(n), map[string]string{"upstash-label": label})
			ids = append(ids, id)
		}
		list := func(query string) value { return w.ask(200, "GET", "/v2/workflows/dlq?"+query, nil, "") }
		page := list("count=3&label=" + label)
		w.is("the oldest first", page.at("messages", 0, "workflowRunId"), ids[0])
		rest := list("count=3&label=" + label + "&cursor=" + page.at("cursor").String())
		w.true(page.at("messages").len() == 3 && rest.at("messages").len() == 2 && rest.at("cursor").v == nil, "pages: %v %v", page, rest)
		one := list("label="+label).at("messages", 2)
		for _, query := range []string{
			"workflowRunId=" + ids[2], "dlqIds=" + one.at("dlqId").String(), "label=" + label + "&workflowCreatedAt=" + one.at("workflowCreatedAt").String() + "&workflowRunId=" + ids[2][:20],
			"workflowUrl=" + url.QueryEscape(w.url("m/bad")) + "&workflowRunId=" + ids[2], "responseStatus=500&workflowRunId=" + ids[2],
		} {
			w.true(list(query).at("messages").len() == 1, "%s: %v", query, list(query).at("messages").len())
		}
		for _, query := range []string{"workflowRunId=none", "dlqIds=", "dlqIds=none", "label=" + label + "&fromDate=9000000000000", "label=" + label + "&toDate=1", "label=" + label + "&responseStatus=404", "label=" + label + "&callerIp=1.2.3.4"} {
			w.is(query, list(query).at("messages"), "[]")
		}
		w.is("the newest first", list("order=latestFirst&label="+label).at("messages", 0, "workflowRunId"), ids[4])
		first := list("order=latestFirst&count=3&label=" + label)
		w.is("and then older ones", list("order=latestFirst&count=3&label="+label+"&cursor="+first.at("cursor").String()).at("messages", 1, "workflowRunId"), ids[0])
		causes := list("groupBy=cause&label=" + label).at("groups")
		w.true(causes.len() == 1, "causes: %v", causes)
		w.is("alike", value{causes.at(0, "count").String() + " " + causes.at(0, "responseStatus").String() + " " + causes.at(0, "text").String()}, "5 500 it is bad")
		w.is("of the newest", causes.at(0, "dlqId"), list("order=latestFirst&label="+label).at("messages", 0, "dlqId").String())
		w.is("none", list("groupBy=cause&dlqIds=none").at("groups"), "[]")
		w.is("by the client's path", w.ask(200, "GET", "/v2/dlq?source=workflow&label="+label, nil, "").at("messages", 4, "workflowRunId"), ids[4])
		for _, query := range []string{"lable=" + label, "host=x", "count=x", "cursor=x", "fromDate=x", "failureFunctionState=x", "failureCallbackState=x", "trimBody=x", "trimBody=-2", "order=x", "groupBy=x"} {
			w.ask(400, "GET", "/v2/workflows/dlq?"+query, nil, "")
		}
		w.is("deleted", w.ask(200, "DELETE", "/v2/workflows/dlq?label="+label, nil, "").at("deleted"), "5")
	}},
	{"WP-11.6", func(t *testing.T, w *world) { // a failure callback once more, and never
		id, l := w.fail("badfail", "", map[string]string{"upstash-failure-callback-retries": "1", "upstash-failure-callback-retry-delay": "10"})
		dlq := l.at("dlqId").String()
		state := func() string { return w.letter(id).at("failureCallbackInfo", "state").String() }
		w.until("it fails", func() bool { return state() == "CALLBACK_FAIL" })
		w.true(len(w.deliveries(id)) == 3, "%d calls", len(w.deliveries(id)))
		for _, name := range []string{"failureFunctionState", "failureCallbackState"} {
			by := func(state string) value {
				return w.ask(200, "GET", "/v2/workflows/dlq?trimBody=0&"+name+"="+state+"&workflowRunId="+id, nil, "").at("messages")
			}
			w.is(name, by("CALLBACK_FAIL").at(0, "failureFunctionState"), "CALLBACK_FAIL")
			w.is(name+" of another", by("CALLBACK_SUCCESS"), "[]")
		}
		w.is("the run", w.ask(200, "POST", "/v2/workflows/dlq/callback/"+dlq, nil, "").at("workflowRunId"), id)
		w.until("it fails again", func() bool { return len(w.deliveries(id)) == 5 && state() == "CALLBACK_FAIL" })
		w.ask(404, "POST", "/v2/workflows/dlq/callback/1-1", nil, "")
		w.ask(400, "DELETE", "/v2/workflows/dlq/callback/"+dlq, nil, "")
		f := w.log(id).at("failureFunction")
		w.is("failStatus", f.at("failStatus"), "500")
		w.true(f.at("errors").len() > 0 && f.at("errors", 0, "status").int() == 500, "errors: %v", f)
	}},
	{"WP-11.7", func(t *testing.T, w *world) { // a failure callback that is still tried can be called off
		id, l := w.fail("badfail", "", map[string]string{"upstash-failure-callback-retries": "3", "upstash-failure-callback-retry-delay": "3600000"})
		dlq := l.at("dlqId").String()
		w.delivery(id, 2)
		w.until("it waits", func() bool { return w.log(id).at("failureFunction", "errors").len() == 1 })
		w.ask(400, "POST", "/v2/workflows/dlq/callback/"+dlq, nil, "")
		status, _ := w.try("DELETE", "/v2/workflows/dlq/callback/"+dlq, nil, "")
		w.true(status == 302, "status %d", status)
		w.is("state", w.letter(id).at("failureCallbackInfo", "state"), "CALLBACK_CANCELED")
	}},
	{"WS-ER.3", func(t *testing.T, w *world) { // what a failure URL answers is in the log, refusals too
		id, _ := w.fail("badfail", "", map[string]string{"upstash-failure-callback-retries": "0"})
		var f value
		w.until("its answer", func() bool { f = w.log(id).at("failureFunction"); return f.at("state").String() == "CALLBACK_FAIL" })
		w.is("responseStatus", f.at("responseStatus"), "500")
		w.true(f.at("responseHeaders").v != nil && strings.Contains(f.at("responseBody").String(), "no"), "%v", f)
	}},
}

// revivals are the claims about resume and restart: the specification's sections 5 and 6.
var revivals = []claim{
	{"WS-5.1", func(t *testing.T, w *world) { // from the point of failure, as a new run
		id, dlq := w.breakRun(t)
		w.breaks(id, false)
		made := w.ask(200, "POST", "/v2/workflows/dlq/resume?dlqIds="+dlq, nil, "").at("workflowRuns", 0)
		again := made.at("workflowRunId").String()
		w.true(again != id, "the same run %s", again)
		l := w.state(again, "RUN_SUCCESS")
		w.is("workflowCreatedAt", made.at("workflowCreatedAt"), l.at("workflowRunCreatedAt").String())
		for name, want := range map[string]int{"one": 0, "two": 0, "three": 1} {
			w.true(w.times(again+"/"+name) == want, "%s ran %d times", name, w.times(again+"/"+name))
		}
		w.ask(404, "GET", "/v2/workflows/dlq/"+dlq, nil, "")
	}},
	{"WS-5.2", func(t *testing.T, w *world) { // at most 50 a request, and a cursor
		label := "bulk-" + w.id()
		ids := map[string]bool{}
		for range 53 {
			id := w.start("m/bad", "", map[string]string{"upstash-retries": "0", "upstash-label": label, "upstash-failure-callback": ""})
			ids[id] = true
		}
		for id := range ids {
			w.state(id, "RUN_FAILED")
		}
		// All resumed runs except one wait: otherwise they would fail again, and the second resume would find them.
		held := map[string]string{"upstash-flow-control-key": label, "upstash-flow-control-value": "rate=1, period=1d", "Content-Type": "application/json"}
		first := w.ask(200, "POST", "/v2/workflows/dlq/resume?count=100&label="+label, held, "")
		second := w.ask(200, "POST", "/v2/workflows/dlq/resume", held, fmt.Sprintf(`{"label":%q,"cursor":%q}`, label, first.at("cursor")))
		w.true(first.at("workflowRuns").len() == 50 && first.at("cursor").v != nil, "first: %d, %v", first.at("workflowRuns").len(), first.at("cursor"))
		w.true(second.at("workflowRuns").len() >= 3 && second.at("cursor").v == nil, "second: %d, %v", second.at("workflowRuns").len(), second.at("cursor"))
	}},
	{"WS-5.3", func(t *testing.T, w *world) { // every selection parameter
		for _, choose := range []func(value) string{
			func(d value) string { return "dlqIds=" + d.at("dlqId").String() },
			func(d value) string { return "workflowRunId=" + d.at("workflowRunId").String() },
			func(d value) string {
				return "workflowRunId=" + d.at("workflowRunId").String()[:len(d.at("workflowRunId").String())-1]
			},
			func(d value) string {
				return "workflowUrl=" + url.QueryEscape(d.at("workflowUrl").String()) + "&label=" + d.at("label").String()
			},
			func(d value) string {
				return "workflowCreatedAt=" + d.at("workflowCreatedAt").String() + "&label=" + d.at("label").String()
			},
			func(d value) string {
				return "fromDate=" + d.at("createdAt").String() + "&toDate=9000000000000&label=" + d.at("label").String()
			},
		} {
			id, _ := w.fail("bad", "", map[string]string{"upstash-label": "choose-" + w.id(), "upstash-failure-callback": ""})
			query := choose(w.letter(id))
			w.true(w.ask(200, "POST", "/v2/workflows/dlq/resume?"+query, nil, "").at("workflowRuns").len() == 1, "%s", query)
		}
		for _, query := range []string{"toDate=1", "fromDate=9000000000000", "dlqIds=1-1,2-2", "workflowRunId=none"} {
			w.is(query, w.ask(200, "POST", "/v2/workflows/dlq/resume?"+query, nil, "").at("workflowRuns"), "[]")
		}
		w.ask(400, "POST", "/v2/workflows/dlq/resume?labels_=x", nil, "")
		w.ask(404, "POST", "/v2/workflows/dlq/resume?dlqIds=1-1", nil, "")
	}},
	{"WS-5.4", func(t *testing.T, w *world) { // headers override flow control and retries, or the original's are used
		for _, act := range []string{"resume", "restart"} {
			id, l := w.fail("bad", "", map[string]string{"upstash-flow-control-key": "own", "upstash-flow-control-value": "parallelism=5"})
			same := w.ask(200, "POST", "/v2/workflows/dlq/"+act+"/"+l.at("dlqId").String(), nil, "").at("workflowRunId").String()
			l = w.state(same, "RUN_FAILED")
			w.is("the original key", l.at("flowControlKey"), "own")
			w.true(len(w.deliveries(same)) <= 2, "the original retries: %d calls", len(w.deliveries(same)))
			other := w.ask(200, "POST", "/v2/workflows/dlq/"+act+"/"+l.at("dlqId").String(), map[string]string{
				"Upstash-Flow-Control-Key": "other", "Upstash-Flow-Control-Value": "parallelism=1", "Upstash-Retries": "2", "Upstash-Retry-Delay": "10"}, "").at("workflowRunId").String()
			l = w.state(other, "RUN_FAILED")
			w.is("another key", l.at("flowControlKey"), "other")
			w.is("attempts", value{l.at("steps", -1, "steps", 0, "errors").v}.count(), "3")
			_ = id
		}
	}},
	{"WS-6.1", func(t *testing.T, w *world) { // from scratch
		id, dlq := w.breakRun(t)
		w.breaks(id, false)
		made := w.ask(200, "POST", "/v2/workflows/dlq/restart/"+dlq, nil, "")
		again := made.at("workflowRunId").String()
		w.state(again, "RUN_SUCCESS")
		for _, name := range []string{"one", "two", "three"} {
			w.true(w.times(again+"/"+name) == 1, "%s ran %d times", name, w.times(again+"/"+name))
		}
		w.ask(404, "POST", "/v2/workflows/dlq/restart/"+dlq, nil, "")
	}},
	{"WS-6.2", func(t *testing.T, w *world) { // a restart may name its run
		_, l := w.fail("bad", "", nil)
		id := w.id()
		made := w.ask(200, "POST", "/v2/workflows/dlq/restart/"+l.at("dlqId").String(), map[string]string{"Upstash-Workflow-RunId": id}, "")
		w.is("workflowRunId", made.at("workflowRunId"), id)
		w.true(made.at("workflowCreatedAt").int() > 1e12, "%v", made)
	}},
	{"WP-16.16", func(t *testing.T, w *world) { // resume pressed twice
		id, dlq := w.breakRun(t)
		w.breaks(id, false)
		answers := make(chan int, 4)
		for range cap(answers) {
			go func() {
				status, _ := w.try("POST", "/v2/workflows/dlq/resume/"+dlq, nil, "")
				answers <- status
			}()
		}
		made := 0
		for range cap(answers) {
			switch status := <-answers; status {
			case 200:
				made++
			case 404:
			default:
				t.Errorf("status %d", status)
			}
		}
		w.true(made == 1, "%d runs were made", made)
	}},
}

// count returns the length of a list, as a value.
func (v value) count() value { return value{fmt.Sprint(v.len())} }

// breakRun starts a run whose third step fails for good as long as it is broken, by its
// payload, and returns its dead letter.
func (w *world) breakRun(t *testing.T) (id, dlq string) {
	t.Helper()
	id = w.id()
	w.breaks(id, true)
	w.startAs(id, "flows/three", id, map[string]string{"upstash-retries": "2"})
	return id, w.state(id, "RUN_FAILED").at("dlqId").String()
}
