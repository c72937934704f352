package httpapi_test

import (
	"testing"
)

// TestRunNowOverHTTP: the status depends on what the message waits for.
func TestRunNowOverHTTP(t *testing.T) {
	m := startMail(t)
	publish := func(path string, header ...string) string {
		t.Helper()
		id, _ := m.object(m.want(200, "", "POST", path+"http://example.com/", "x", header...))["messageId"].(string)
		return "/v2/messages/" + id
	}
	id := publish("/v2/publish/", "Upstash-Delay", "1h")
	m.want(200, "", "POST", id+"/retry", "")
	m.want(200, "", "POST", id+"/RETRY/", "")
	x, _ := m.object(m.want(200, "", "GET", id+"?explain=true", ""))["explain"].(map[string]any)
	if x["reason"] != "sender" {
		t.Errorf("it waits for %v", x)
	}
	m.want(202, "", "DELETE", id, "")
	m.want(404, "", "POST", id+"/retry", "")
	m.want(400, "", "POST", publish("/v2/enqueue/q/", "Upstash-Delay", "1h")+"/retry", "")
	m.want(404, `{"error":"message msg_none not found or not waiting"}`, "POST", "/v2/messages/msg_none/retry", "")
	m.want(405, "", "GET", id+"/retry", "")
	if m.token = "wrong"; true {
		m.want(401, "", "POST", id+"/retry", "")
	}
}

// TestUnknownPathsAreNotFound: a path that is served by no method is not found, whatever the method.
func TestUnknownPathsAreNotFound(t *testing.T) {
	m := startMail(t)
	for _, path := range []string{
		"/v2/queues/q/explode", "/v2/queues/q/pause/x", "/v2/queues/q/x/y", "/v2/messages/a/b", "/v2/messages/a/b/c", "/v2/messages/a/retry/c",
		"/v2/topics/t/x", "/v2/topics/t/endpoints/x", "/v2/dlq/a/b", "/v2/dlq/retry/a/b", "/v2/keys/x", "/v2/keys/rotate/x", "/v2/events/x", "/v2/logs/x",
		"/v2/globalParallelism/x", "/v2/nothing", "/v2/nothing/x", "/v2/waiters/e/x", "/v2/wait/e/x", "/v2/batch/x", "/v2/batch/trigger/x", "/v2/workflows",
		"/v2/workflows/x", "/v2/workflows/runs/r/x", "/v2/workflows/runs/r/explain/x", "/v2/workflows/logs/x", "/v2/workflows/events/x",
		"/v2/workflows/dlq/a/b", "/v2/workflows/dlq/a/b/c", "/v2/workflows/dlq/resume/a/b", "/v2/workflows/dlq/callback/a/b",
	} {
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
			m.want(404, "", method, path, "")
		}
	}
}
