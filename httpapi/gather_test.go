package httpapi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
)

// TestDebounceOverHTTP: the answers name one message, and its endpoint gets the last body alone.
func TestDebounceOverHTTP(t *testing.T) {
	o := startOffice(t)
	rule := []string{"Svc-Debounce", "key=k, delay=1s, max-wait=1m"}
	first := o.object(o.want(200, "", "POST", "/v2/publish/"+o.url+"/ok", "1", rule...))
	if first["debounced"] != nil {
		t.Errorf("the first is %v", first)
	}
	id := first["messageId"].(string)
	second := o.object(o.want(200, "", "POST", "/v2/publish/"+o.url+"/ok", "2", rule...))
	if second["messageId"] != id || second["debounced"] != true {
		t.Errorf("%v after %v", second, first)
	}
	list := o.want(200, "", "POST", "/v2/batch", fmt.Sprintf(`[{"destination":%q,"headers":{"Upstash-Debounce":"key=k, delay=1s"},"body":"3"}]`, o.url+"/ok"))
	if !strings.Contains(list, id) || !strings.Contains(list, `"debounced":true`) {
		t.Errorf("batch: %s", list)
	}
	m := o.object(o.want(200, "", "GET", "/v2/messages/"+id+"?explain=true", ""))
	x, _ := m["explain"].(map[string]any)
	if m["debounce"] != "key=k, delay=1s" || x["reason"] != "debounced" || m["body"] != "3" {
		t.Errorf("it is shown as %v", m)
	}
	o.until("/v2/events?messageId="+id, func(a map[string]any) bool {
		list := listOf(a, "events")
		return len(list) > 0 && list[0]["state"] == "DELIVERED"
	})
	if got := o.requests(); len(got) != 1 || !strings.HasSuffix(got[0], " 3") {
		t.Errorf("delivered %q", got)
	}
	o.want(400, "", "POST", "/v2/publish/"+o.url+"/ok", "", "Svc-Debounce", "key=k")
	o.want(400, "", "POST", "/v2/publish/"+o.url+"/ok", "", "Svc-Debounce", "key=k,delay=1s", "Svc-Delay", "1m")
}

// TestBatchOverHTTP: each publication has an id, the endpoint gets a line for each in one signed request, and all ways show the batch.
func TestBatchOverHTTP(t *testing.T) {
	o := startOffice(t)
	rule := []string{"Svc-Batch", "key=k, size=4, wait=1h", "Content-Type", "text/plain"}
	var ids []string
	batch := ""
	for _, body := range []string{"one", "two", "three", "four"} {
		n := o.object(o.want(200, "", "POST", "/v2/enqueue/q/"+o.url+"/ok", body, rule...))
		ids, batch = append(ids, n["messageId"].(string)), n["batchId"].(string)
		if body != "two" {
			continue
		}
		x := o.object(o.want(200, "", "GET", "/v2/messages/"+ids[1]+"?explain=true", ""))
		g, _ := x["explain"].(map[string]any)["gather"].(map[string]any)
		if x["messageId"] != ids[1] || x["batchId"] != batch || g["publications"] != 2.0 || g["size"] != 4.0 {
			t.Errorf("a publication is shown as %v", x)
		}
		o.want(202, "", "DELETE", "/v2/messages/"+ids[0], "")
	}
	n := o.object(o.want(200, "", "POST", "/v2/enqueue/q/"+o.url+"/ok", "five", rule...)) // in the place of the one that was cancelled
	if n["batchId"] != batch {
		t.Errorf("%v, want the batch %s", n, batch)
	}
	ids = append(ids[1:], n["messageId"].(string))
	o.until("/v2/events?messageId="+ids[0], func(a map[string]any) bool {
		list := listOf(a, "events")
		return len(list) == 4 && list[0]["state"] == "DELIVERED" && list[0]["messageId"] == batch && list[2]["batchId"] == batch
	})
	got := o.requests()
	if len(got) != 1 {
		t.Fatalf("delivered %q", got)
	}
	_, lines, _ := strings.Cut(got[0], "/ok  ")
	i := 0
	for line := range bytes.Lines([]byte(lines)) {
		var one struct{ MessageID, Body string }
		if err := json.Unmarshal(line, &one); err != nil || i >= len(ids) || one.MessageID != ids[i] || one.Body != []string{"two", "three", "four", "five"}[i] {
			t.Errorf("line %d is %s (%v)", i, line, err)
		}
		i++
	}
	if i != 4 {
		t.Errorf("%d lines: %q", i, got[0])
	}
	o.want(404, "", "DELETE", "/v2/messages/"+ids[0], "")
	whole := o.object(o.want(200, "", "GET", "/v2/messages/"+batch, ""))
	if h, _ := json.Marshal(whole["header"]); string(h) != `{"Content-Type":["application/x-ndjson"]}` {
		t.Errorf("the batch is %v", whole)
	}
}

// TestSingletonOverHTTP: the answers of the modes, over HTTP and as commands.
func TestSingletonOverHTTP(t *testing.T) {
	o := startOffice(t)
	to := o.url + "/ok"
	first := o.publish("/ok", "1", "Svc-Singleton", "key=k, mode=skip", "Svc-Delay", "1h")
	if n := o.object(o.want(202, "", "POST", "/v2/publish/"+to, "2", "Svc-Singleton", "key=k, mode=skip")); n["messageId"] != first || n["deduplicated"] != true {
		t.Errorf("skip: %v", n)
	}
	if n := o.object(o.want(200, "", "POST", "/v2/publish/"+to, "2", "Svc-Singleton", "key=k, mode=attach")); n["messageId"] != first || n["attached"] != true {
		t.Errorf("attach: %v", n)
	}
	second := o.publish("/ok", "2", "Svc-Singleton", "key=k, mode=queue")
	x, _ := o.object(o.want(200, "", "GET", "/v2/messages/"+second+"?explain=true", ""))["explain"].(map[string]any)
	if x["reason"] != "behind-singleton" || x["behind"] != first {
		t.Errorf("explained as %v", x)
	}
	o.want(400, "", "POST", "/v2/enqueue/q/"+to, "2", "Svc-Singleton", "key=k, mode=queue")
	third := o.publish("/ok", "3", "Svc-Singleton", "key=k, mode=cancel")
	o.until("/v2/events?messageId="+third, func(a map[string]any) bool {
		list := listOf(a, "events")
		return len(list) > 0 && list[0]["state"] == "DELIVERED"
	})
	if got := o.requests(); len(got) != 1 || !strings.HasSuffix(got[0], " 3") {
		t.Errorf("delivered %q", got)
	}
}

// TestPauseOverHTTP: a queue stops with the message that has used up its retries, says so, and goes on with it.
func TestPauseOverHTTP(t *testing.T) {
	o := startOffice(t)
	id := o.object(o.want(200, "", "POST", "/v2/enqueue/q/"+o.url+"/never", "1", "Svc-On-Failure", "pause", "Svc-Retries", "0"))["messageId"]
	next := o.object(o.want(200, "", "POST", "/v2/enqueue/q/"+o.url+"/ok", "2"))["messageId"].(string)
	o.until("/v2/queues/q", func(a map[string]any) bool { return a["paused"] == true && a["pausedBy"] == id })
	for _, c := range [][2]string{{id.(string), "paused-at-end"}, {next, "queue-paused"}} {
		x, _ := o.object(o.want(200, "", "GET", "/v2/messages/"+c[0]+"?explain=true", ""))["explain"].(map[string]any)
		if x["reason"] != c[1] || x["command"] != "trireme queues resume q" {
			t.Errorf("%s is explained as %v", c[0], x)
		}
	}
	if list := listOf(o.object(o.want(200, "", "GET", "/v2/dlq", "")), "messages"); len(list) != 0 {
		t.Errorf("dead letters: %v", list)
	}
	o.want(200, "", "POST", "/v2/queues/q/resume", "")
	o.until("/v2/queues/q", func(a map[string]any) bool { return a["paused"] == true && a["pausedBy"] == id })
	if got := o.requests(); len(got) != 2 || !strings.HasPrefix(got[1], "POST /never") {
		t.Errorf("delivered %q", got)
	}
	o.want(202, "", "DELETE", "/v2/messages/"+id.(string), "")
	o.want(200, "", "POST", "/v2/queues/q/resume", "")
	o.until("/v2/queues/q", func(a map[string]any) bool { return a["lag"] == 0.0 && a["pausedBy"] == nil })
	o.want(400, "", "POST", "/v2/publish/"+o.url+"/ok", "", "Svc-On-Failure", "pause")
}

// TestKeyedRunsOverHTTP: triggers by a key, and a run that pauses and is resumed.
func TestKeyedRunsOverHTTP(t *testing.T) {
	o := startOffice(t)
	trigger := func(path, body string, header ...string) map[string]any {
		return o.object(o.want(200, "", "POST", "/v2/trigger/"+o.url+path, body, header...))
	}
	first := trigger("/ok", "1", "Svc-Debounce", "key=k, delay=1h")
	second := trigger("/ok", "2", "Svc-Debounce", "key=k, delay=1h")
	run := first["workflowRunId"].(string)
	if second["workflowRunId"] != run || second["debounced"] != true || first["debounced"] != nil {
		t.Errorf("%v after %v", second, first)
	}
	if x := o.object(o.want(200, "", "GET", "/v2/workflows/runs/"+run+"/explain", "")); x["reason"] != "debounced" {
		t.Errorf("explained as %v", x)
	}
	one := trigger("/ok", "1", "Svc-Singleton", "key=s, mode=skip", "Svc-Delay", "1h")["workflowRunId"]
	if n := trigger("/ok", "2", "Svc-Singleton", "key=s, mode=attach"); n["workflowRunId"] != one || n["attached"] != true {
		t.Errorf("attach: %v", n)
	}
	behind := trigger("/ok", "3", "Svc-Singleton", "key=s, mode=queue")["workflowRunId"].(string)
	if x := o.object(o.want(200, "", "GET", "/v2/workflows/runs/"+behind+"/explain", "")); x["reason"] != "behind-singleton" {
		t.Errorf("explained as %v", x)
	}
	paused := trigger("/never", "1", "Svc-On-Failure", "pause", "Svc-Retries", "0")["workflowRunId"].(string)
	path := "/v2/workflows/runs/" + url.PathEscape(paused)
	o.until(path+"/explain", func(a map[string]any) bool { return a["reason"] == "paused" })
	x := o.object(o.want(200, "", "GET", path+"/explain", ""))
	if text, _ := x["resume"].(string); !strings.Contains(text, path+"/resume") {
		t.Errorf("explained as %v", x)
	}
	before := len(o.requests())
	if n := o.object(o.want(200, "", "POST", path+"/resume", "")); n["workflowRunId"] != paused {
		t.Errorf("resumed: %v", n)
	}
	o.until(path+"/explain", func(a map[string]any) bool { return a["reason"] == "paused" && len(o.requests()) > before })
	o.want(400, "", "POST", "/v2/workflows/runs/"+url.PathEscape(run)+"/resume", "")
	o.want(404, "", "POST", "/v2/workflows/runs/nobody/resume", "")
}
