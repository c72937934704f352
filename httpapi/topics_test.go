package httpapi_test

import (
	"encoding/json"
	"reflect"
	"testing"
)

// TestTopics: section 12, endpoints are upserted in order and go with the last one.
func TestTopics(t *testing.T) {
	m := startMail(t)
	endpoints := func() any { return m.object(m.want(200, "", "GET", "/v2/topics/t", ""))["endpoints"] }
	pair := func(name, url string) map[string]any {
		if name == "" {
			return map[string]any{"url": url}
		}
		return map[string]any{"name": name, "url": url}
	}
	m.want(200, `[]`, "GET", "/v2/topics/", "")
	m.want(404, `{"error":"topic t not found"}`, "GET", "/v2/topics/t", "")
	m.want(404, `{"error":"topic t not found"}`, "DELETE", "/v2/topics/t/endpoints", `{"endpoints":[{"name":"a"}]}`)
	m.want(200, "", "POST", "/v2/topics/t/endpoints", `{"endpoints":[{"url":"https://a.example","name":"the first"},{"url":"https://b.example"}]}`)
	m.want(200, "", "POST", "/v2/topics/t/endpoints", `{"endpoints":[{"url":"https://c.example","name":"the first"},{"url":"https://b.example","name":"b"},{"url":"https://d.example"}]}`)
	if got, want := endpoints(), []any{pair("the first", "https://c.example"), pair("b", "https://b.example"), pair("", "https://d.example")}; !reflect.DeepEqual(got, want) {
		t.Errorf("%v", got)
	}
	var list []map[string]any
	if err := json.Unmarshal([]byte(m.want(200, "", "GET", "/v2/topics", "")), &list); err != nil || len(list) != 1 || list[0]["name"] != "t" || list[0]["createdAt"] == nil || list[0]["updatedAt"] == nil {
		t.Error(list, err)
	}
	m.want(200, "", "DELETE", "/v2/topics/t/endpoints", `{"endpoints":[{"name":"b"},{"url":"https://d.example"}]}`)
	if got, want := endpoints(), []any{pair("the first", "https://c.example")}; !reflect.DeepEqual(got, want) {
		t.Errorf("%v", got)
	}
	m.want(200, "", "DELETE", "/v2/topics/t/endpoints", `{"endpoints":[{"name":"the first"}]}`)
	m.want(404, "", "GET", "/v2/topics/t", "")
	m.want(200, "", "DELETE", "/v2/topics/t", "")
	for _, body := range []string{``, `{}`, `{"endpoints":[{"name":"x"}]}`, `{"endpoints":[{"url":"a.example"}]}`, `{"endpoints":[{"url":"https://"}]}`} {
		m.want(400, "", "POST", "/v2/topics/t/endpoints", body)
	}
	m.want(400, "", "POST", "/v2/topics/a%20b/endpoints", `{"endpoints":[{"url":"https://a.example"}]}`)
	m.want(404, "", "POST", "/v2/topics/t/other", "")
	m.want(405, "", "PUT", "/v2/topics/t", "")
	m.want(405, "", "POST", "/v2/topics/t", "")
}

// TestTopicDefaults: section 12, the headers of a group hold for what is published to it
// unless the call names them.
func TestTopicDefaults(t *testing.T) {
	m := startMail(t)
	m.want(200, "", "PATCH", "/v2/topics/t", `{"headers":{"Upstash-Retries":"7","Upstash-Delay":["1h"],"Svc-Forward-X-Group":"g","Upstash-Header-Forward":["true"],"Svc-Content-Based-Deduplication":"true"}}`)
	m.want(200, `[]`, "POST", "/v2/publish/t", "")
	m.want(200, "", "POST", "/v2/topics/t/endpoints", `{"endpoints":[{"url":"https://a.example","name":"a"},{"url":"https://b.example"}]}`)
	topic := m.object(m.want(200, "", "GET", "/v2/topics/t", ""))
	headers, _ := topic["headers"].(map[string]any)
	if len(headers) != 5 || !reflect.DeepEqual(headers["Upstash-Retries"], []any{"7"}) {
		t.Error(topic)
	}
	publish := func(status int, to string, header ...string) []map[string]any {
		var list []map[string]any
		if err := json.Unmarshal([]byte(m.want(status, "", "POST", "/v2/publish/"+to, "x", header...)), &list); err != nil || len(list) != 2 {
			t.Fatal(list, err)
		}
		return list
	}
	first := publish(200, "t", "X-Own", "o", "Content-Type", "text/plain")
	got := m.object(m.want(200, "", "GET", "/v2/messages/"+first[0]["messageId"].(string), ""))
	header, _ := got["header"].(map[string]any)
	if got["maxRetries"] != 7.0 || got["topicName"] != "t" || got["endpointName"] != "a" || got["url"] != "https://a.example" || first[0]["url"] != "https://a.example" ||
		header["X-Group"] == nil || header["X-Own"] == nil || header["Content-Type"] == nil || header["Authorization"] != nil {
		t.Error(first, got)
	}
	again := publish(200, "t", "X-Own", "o", "Content-Type", "text/plain")
	if again[0]["messageId"] != first[0]["messageId"] || again[1]["deduplicated"] != true {
		t.Error(first, again)
	}
	own := publish(200, topic["id"].(string), "Svc-Retries", "1", "Svc-Header-Forward", "false", "X-Own", "o")
	got = m.object(m.want(200, "", "GET", "/v2/messages/"+own[1]["messageId"].(string), ""))
	if got["maxRetries"] != 1.0 || !reflect.DeepEqual(got["header"], map[string]any{"X-Group": []any{"g"}}) {
		t.Error(got)
	}
	for _, body := range []string{``, `{}`, `{"headers":{"Svc-Retries":"many"}}`, `{"headers":{"Svc-Callback":"nowhere"}}`, `{"headers":{"Svc-Retries":1}}`} {
		m.want(400, "", "PATCH", "/v2/topics/t", body)
	}
	m.want(202, `{"cancelled":4}`, "DELETE", "/v2/messages?topicName=t", "")
}

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
		"/v2/workflows/x", "/v2/workflows/runs/r/x", "/v2/workflows/runs/r/explain/x", "/v2/workflows/runs/r/steps/1/x", "/v2/workflows/logs/x", "/v2/workflows/events/x",
		"/v2/workflows/dlq/a/b", "/v2/workflows/dlq/a/b/c", "/v2/workflows/dlq/resume/a/b", "/v2/workflows/dlq/callback/a/b",
	} {
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
			m.want(404, "", method, path, "")
		}
	}
}

// TestRunScheduleOverHTTP: a schedule publishes once more and says which message; only POST does that, and only of one that is there.
func TestRunScheduleOverHTTP(t *testing.T) {
	m := startMail(t)
	m.want(200, "", "POST", "/v2/schedules/http://example.com/", "x", "Upstash-Cron", "0 3 1 1 *", "Upstash-Schedule-Id", "yearly")
	m.want(200, "", "POST", "/v2/schedules/yearly/pause", "")
	id, _ := m.object(m.want(200, "", "POST", "/v2/schedules/yearly/run", ""))["messageId"].(string)
	if got := m.object(m.want(200, "", "GET", "/v2/messages/"+id, "")); got["scheduleId"] != "yearly" || got["body"] != "x" {
		t.Errorf("the message: %v", got)
	}
	if s := m.object(m.want(200, "", "GET", "/v2/schedules/yearly", "")); s["isPaused"] != true || s["lastScheduleTime"] == nil {
		t.Errorf("the schedule: %v", s)
	}
	m.want(404, `{"error":"schedule none not found"}`, "POST", "/v2/schedules/none/run", "")
	m.want(405, "", "PATCH", "/v2/schedules/yearly/run", "")
	m.want(404, "", "GET", "/v2/schedules/yearly/run", "")
	if m.token = "wrong"; true {
		m.want(401, "", "POST", "/v2/schedules/yearly/run", "")
	}
}
