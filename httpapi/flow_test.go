package httpapi_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// TestFlowControl: section 15, a key is there with its first message, and is paused,
// pinned and reset.
func TestFlowControl(t *testing.T) {
	m := startMail(t)
	get := func(key string) map[string]any { return m.object(m.want(200, "", "GET", "/v2/flowControl/"+key, "")) }
	m.want(200, `[]`, "GET", "/v2/flowControl/", "")
	m.want(404, `{"error":"flowControl k.1 not found"}`, "GET", "/v2/flowControl/k.1", "")
	flow := []string{"Svc-Flow-Control-Key", "k.1", "Svc-Flow-Control-Value", "parallelism=2,rate=10,period=1m"}
	m.want(200, "", "POST", "/v2/publish/https://example.com", "", flow...)
	got := get("k.1")
	if start, _ := got["ratePeriodStart"].(float64); start < 1_000_000_000 || start > 100_000_000_000 {
		t.Error(got)
	}
	delete(got, "ratePeriodStart")
	delete(got, "waitListSize") // that of a key in use: see TestExplain
	want := map[string]any{
		"flowControlKey": "k.1", "parallelismMax": 2.0, "parallelismCount": 0.0, "rateMax": 10.0, "rateCount": 0.0, "ratePeriod": 60.0,
		"isPaused": false, "isPinnedParallelism": false, "isPinnedRate": false,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf(" got %v\nwant %v", got, want)
	}
	m.want(200, "", "POST", "/v2/flowControl/k.1/pause", "")
	if got := get("k.1"); got["isPaused"] != true {
		t.Error(got)
	}
	m.want(200, "", "POST", "/v2/flowControl/k.1/resume", "")
	m.want(200, "", "POST", "/v2/flowControl/k.1/pin?parallelism=7&rate=5&period=30", "")
	m.want(200, "", "POST", "/v2/publish/https://example.com", "", flow...)
	if got := get("k.1"); got["isPaused"] != false || got["parallelismMax"] != 7.0 || got["rateMax"] != 5.0 || got["ratePeriod"] != 30.0 || got["isPinnedParallelism"] != true || got["isPinnedRate"] != true {
		t.Error(got)
	}
	m.want(200, "", "POST", "/v2/flowControl/k.1/unpin?rate=true&parallelism=false", "")
	m.want(200, "", "POST", "/v2/publish/https://example.com", "", flow...)
	if got := get("k.1"); got["parallelismMax"] != 7.0 || got["rateMax"] != 10.0 || got["ratePeriod"] != 60.0 || got["isPinnedParallelism"] != true || got["isPinnedRate"] != false {
		t.Error(got)
	}
	for _, act := range []string{"resetRate", "reset"} {
		m.want(200, "", "POST", "/v2/flowControl/k.1/"+act, "")
		if got := get("k.1"); got["rateCount"] != 0.0 {
			t.Error(got)
		}
	}
	m.want(200, "", "POST", "/v2/flowControl/a%2Fb/pin?parallelism=1", "")
	m.want(200, "", "POST", "/v2/flowControl/a/b/pause", "")
	if got := get("a/b"); got["flowControlKey"] != "a/b" || got["isPaused"] != true || got["parallelismMax"] != 1.0 {
		t.Error(got)
	}
	var list []map[string]any
	if err := json.Unmarshal([]byte(m.want(200, "", "GET", "/v2/flowControl?search=.1", "")), &list); err != nil || len(list) != 1 || list[0]["flowControlKey"] != "k.1" {
		t.Error(list, err)
	}
	for _, path := range []string{"//pause", "/pause", "/k/pin", "/k/pin?parallelism=0", "/k/pin?rate=x", "/k/pin?period=5", "/k/pin?rate=1&period=8d", "/k/pin?rates=1", "/k.1/unpin", "/k.1/unpin?rate=x", "/k.1/pause?x=1"} {
		m.want(400, "", "POST", "/v2/flowControl"+path, "")
	}
	m.want(400, "", "GET", "/v2/flowControl?serach=k", "")
	m.want(404, `{"error":"flowControl z not found"}`, "POST", "/v2/flowControl/z/resume", "")
	m.want(404, "", "POST", "/v2/flowControl/k.1/other", "")
	m.want(405, "", "DELETE", "/v2/flowControl/k.1", "")
}

func TestGlobalParallelism(t *testing.T) {
	m := startMail(t)
	m.want(200, `{"parallelismCount":0,"parallelismMax":0}`, "GET", "/v2/globalParallelism", "")
	m.want(200, `{"parallelismCount":0,"parallelismMax":5}`, "POST", "/v2/globalParallelism", `{"parallelismMax":5}`)
	m.want(200, `{"parallelismCount":0,"parallelismMax":5}`, "GET", "/v2/globalParallelism/", "")
	for _, body := range []string{``, `{}`, `{"parallelismMax":-1}`, `{"parallelismMax":"5"}`} {
		m.want(400, "", "POST", "/v2/globalParallelism", body)
	}
	m.want(405, "", "DELETE", "/v2/globalParallelism", "")
	m.want(404, "", "GET", "/v2/globalParallelism/x", "")
}

// TestExplain: the explanation of a waiting message says why, since when, and what happens next.
func TestExplain(t *testing.T) {
	p := startOffice(t)
	explain := func(path string) map[string]any {
		got, _ := p.object(p.want(200, "", "GET", path+"?explain=true", ""))["explain"].(map[string]any)
		return got
	}
	later := p.publish("/later", "", "Svc-Delay", "1h")
	x := explain("/v2/messages/" + later)
	if since, next := x["since"].(float64), x["next"].(float64); x["reason"] != "delay" || x["text"] == "" || next-since != 3_600_000 {
		t.Error(x)
	}
	if got := p.object(p.want(200, "", "GET", "/v2/messages/"+later, "")); got["explain"] != nil {
		t.Error(got)
	}
	p.want(400, "", "GET", "/v2/messages/"+later+"?explain=why", "")

	again := p.publish("/bad", "", "Svc-Retry-Delay", "3600000")
	p.until("/v2/events?messageId="+again, long("events", 4))
	x = explain("/v2/messages/" + again)
	last, _ := x["lastAttempt"].(map[string]any)
	if x["reason"] != "backoff" || last["state"] != "ERROR" || last["responseStatus"] != 500.0 {
		t.Error(x)
	}

	if x["attempts"] == nil || x["allowed"] != 4.0 || x["answer"] != "answer" || x["command"] != "trireme messages run "+again || x["hint"] != nil {
		t.Error(x)
	}

	p.want(200, "", "POST", "/v2/queues", `{"queueName":"q","parallelism":1,"paused":true}`)
	first := p.publish("/ok", "", "Svc-Queue-Name", "q")
	second := p.publish("/ok", "", "Svc-Queue-Name", "q")
	if x := explain("/v2/messages/" + second); x["reason"] != "queue-paused" || x["ahead"] != 1.0 {
		t.Error(x)
	}
	if x := explain("/v2/queues/q"); x["reason"] != "queue-paused" || x["behind"] != first || x["command"] != "trireme queues resume q" {
		t.Error(x)
	}

	p.want(200, "", "POST", "/v2/flowControl/k/pause", "")
	held := p.publish("/ok", "", "Svc-Flow-Control-Key", "k", "Svc-Flow-Control-Value", "parallelism=1")
	p.until("/v2/flowControl/k", func(a map[string]any) bool { return a["waitListSize"] == 1.0 })
	for _, path := range []string{"/v2/messages/" + held, "/v2/flowControl/k"} {
		x := explain(path)
		if f, _ := x["flowControl"].(map[string]any); x["reason"] != "flow-paused" || x["command"] != "trireme flow resume k" || f["key"] != "k" || f["parallelism"] != 1.0 {
			t.Error(path, x)
		}
	}
	p.want(200, "", "POST", "/v2/flowControl/k/resume", "")
	p.until("/v2/events?messageId="+held, long("events", 3))
	if x := explain("/v2/flowControl/k"); x["reason"] != "done" {
		t.Error(x)
	}
}

// TestExplainDead: the explanation of a failed message says how often it was tried, what was answered, and how it is retried.
func TestExplainDead(t *testing.T) {
	p := startOffice(t)
	for _, c := range []struct{ url, retries, text string }{
		{p.url + "/bad", "0", "its only attempt failed, with status 500"},
		{p.url + "/never", "3", "attempt 1 of 4 failed with status 489, which asked for no retry"},
	} {
		id, _ := p.object(p.want(200, "", "POST", "/v2/publish/"+c.url, "", "Svc-Retries", c.retries, "Svc-Retry-Delay", "1"))["messageId"].(string)
		p.until("/v2/dlq?messageId="+id, long("messages", 1))
		x, _ := p.object(p.want(200, "", "GET", "/v2/messages/"+id+"?explain=true", ""))["explain"].(map[string]any)
		if x["attempts"] == 1.0 && x["text"] != c.text || x["dlqId"] == nil { // more were lost with their leader
			t.Error(c.url, x)
		}
	}
	for _, c := range []struct{ url, end, answer, hint string }{
		{p.url + "/bad", "the last one with status 500", "answer", ""},
		{p.url + "/forbidden", "the last one with status 403", "answer", "signing keys"},
		{"http://127.0.0.2:9/", "the last one without an answer", "", "--egress-allow"},
	} {
		id, _ := p.object(p.want(200, "", "POST", "/v2/publish/"+c.url, "", "Svc-Retries", "1", "Svc-Retry-Delay", "1"))["messageId"].(string)
		dead := p.until("/v2/dlq?messageId="+id, long("messages", 1))["messages"].([]any)[0].(map[string]any)
		x, _ := p.object(p.want(200, "", "GET", "/v2/messages/"+id+"?explain=true", ""))["explain"].(map[string]any)
		// An attempt that was lost with its leader counts too.
		attempts, _ := x["attempts"].(float64)
		if x["reason"] != "failed" || attempts < 2 || x["text"] != fmt.Sprintf("all %v attempts failed, %s", attempts, c.end) || x["dlqId"] != dead["dlqId"] {
			t.Error(c.url, x)
		}
		answer, _ := x["answer"].(string)
		hint, _ := x["hint"].(string)
		if answer != c.answer || !strings.Contains(hint, c.hint) || (hint == "") != (c.hint == "") || x["command"] != fmt.Sprint("trireme dlq retry ", dead["dlqId"]) {
			t.Error(c.url, x)
		}
	}
}
