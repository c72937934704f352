package httpapi_test

import (
	"errors"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/trireme-dev/trireme/httpapi"
	"github.com/trireme-dev/trireme/httpapi/httpapitest"
)

var messagesDescribed = sync.OnceValues(func() (*httpapitest.Description, error) {
	text, err := os.ReadFile("messages/openapi.yaml")
	if err != nil {
		return nil, err
	}
	return httpapitest.ParseDescription(text)
})

// asDescribed checks a reply of /v2 against its description.
func asDescribed(t testing.TB, method, target string, r httpapitest.Reply) {
	t.Helper()
	d, err := messagesDescribed()
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Check(method, target, r); err != nil {
		t.Error(err)
	}
}

// TestMessagesDescriptionIsServed: every client can read the description, and replies that differ from it are found.
func TestMessagesDescriptionIsServed(t *testing.T) {
	m := startMail(t)
	want, err := os.ReadFile("messages/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	m.token = "none"
	m.want(200, string(want), "GET", "/v2/openapi.yaml", "")
	m.want(401, "", "POST", "/v2/openapi.yaml", "")
	d, err := messagesDescribed()
	if err != nil {
		t.Fatal(err)
	}
	json := http.Header{"Content-Type": {"application/json"}}
	const path = "/v2/publish/https://example.com/a//b?x=1"
	if err := d.Check("POST", path, httpapitest.Reply{Status: 200, Header: json, Body: `{"messageId":"msg_2"}`}); err != nil {
		t.Error(err)
	}
	for _, bad := range []httpapitest.Reply{
		{Status: 200, Header: json, Body: `{"messageId":"msg_2","other":1}`},
		{Status: 200, Header: json, Body: `{"messageId":2}`},
		{Status: 200, Header: json, Body: `{}`},
		{Status: 200, Header: json, Body: `[{"messageId":"msg_2"}]`},
		{Status: 200, Header: http.Header{"Content-Type": {"text/plain"}}, Body: `{"messageId":"msg_2"}`},
		{Status: 200, Header: json},
		{Status: 201, Header: json, Body: `{"messageId":"msg_2"}`},
		{Status: 400, Header: json, Body: `{"error":""}`},
		{Status: 418, Header: json, Body: `{"error":"quota exceeded"}`},
	} {
		if d.Check("POST", path, bad) == nil {
			t.Errorf("%d %s passes", bad.Status, bad.Body)
		}
	}
	if d.Check("GET", "/v2/other", httpapitest.Reply{Status: 200, Header: json, Body: "{}"}) == nil {
		t.Error("a path that is not described passes")
	}
}

// endpoints lists the endpoints of section 2 of the protocol of messages and of the protocol of workflows, and those that
// documents and tools of the reference call in addition.
const endpoints = `
POST /v2/publish/{destination}
POST /v2/enqueue/{queue}/{destination}
POST /v2/batch
GET /v2/messages/{messageId}
DELETE /v2/messages/{messageId}
POST /v2/messages/{messageId}/retry
DELETE /v2/messages
GET /v2/bulkActions
GET /v2/bulkActions/preview
GET /v2/bulkActions/{actionId}
DELETE /v2/bulkActions/{actionId}
GET /v2/workflows/bulkActions
GET /v2/workflows/bulkActions/preview
GET /v2/workflows/bulkActions/{actionId}
DELETE /v2/workflows/bulkActions/{actionId}
GET /v2/events
GET /v2/logs
GET /v2/dlq
DELETE /v2/dlq
GET /v2/dlq/{dlqId}
DELETE /v2/dlq/{dlqId}
POST /v2/dlq/retry/{dlqId}
POST /v2/dlq/retry
GET /v2/queues
POST /v2/queues
GET /v2/queues/{queue}
DELETE /v2/queues/{queue}
POST /v2/queues/{queue}/pause
POST /v2/queues/{queue}/resume
GET /v2/topics
GET /v2/topics/{topic}
PATCH /v2/topics/{topic}
DELETE /v2/topics/{topic}
POST /v2/topics/{topic}/endpoints
DELETE /v2/topics/{topic}/endpoints
POST /v2/schedules/{destination}
GET /v2/schedules
GET /v2/schedules/{scheduleId}
DELETE /v2/schedules/{scheduleId}
PATCH /v2/schedules/{scheduleId}/pause
POST /v2/schedules/{scheduleId}/pause
PATCH /v2/schedules/{scheduleId}/resume
POST /v2/schedules/{scheduleId}/resume
GET /v2/keys
POST /v2/keys/rotate
GET /v2/keys/rotate
GET /v2/flowControl
GET /v2/flowControl/{key}
POST /v2/flowControl/{key}/pause
POST /v2/flowControl/{key}/resume
POST /v2/flowControl/{key}/pin
POST /v2/flowControl/{key}/unpin
POST /v2/flowControl/{key}/resetRate
POST /v2/flowControl/{key}/reset
GET /v2/globalParallelism
POST /v2/trigger/{destination}
POST /v2/batch/trigger
POST /v2/wait/{eventId}
POST /v2/notify/{eventId}
POST /v2/notify/{workflowRunId}/{eventId}
GET /v2/waiters/{eventId}
POST /v2/workflows/hooks/{userId}/{workflowRunId}/{eventId}
DELETE /v2/workflows/runs
GET /v2/workflows/runs/{workflowRunId}
DELETE /v2/workflows/runs/{workflowRunId}
GET /v2/workflows/runs/{workflowRunId}/explain
GET /v2/workflows/logs
GET /v2/workflows/events
GET /v2/workflows/dlq
DELETE /v2/workflows/dlq
GET /v2/workflows/dlq/{dlqId}
DELETE /v2/workflows/dlq/{dlqId}
DELETE /v2/workflows/dlq/delete/{dlqId}
POST /v2/workflows/dlq/resume
POST /v2/workflows/dlq/restart
POST /v2/workflows/dlq/resume/{dlqId}
POST /v2/workflows/dlq/restart/{dlqId}
POST /v2/workflows/dlq/callback/{dlqId}
DELETE /v2/workflows/dlq/callback/{dlqId}
POST /llm/v1/chat/completions`

// TestDescriptionAndRouterAgree: every endpoint of the protocol is described, every described one is served, and every
// method by which a path is served is described.
func TestDescriptionAndRouterAgree(t *testing.T) {
	d, err := messagesDescribed()
	if err != nil {
		t.Fatal(err)
	}
	described := map[httpapitest.Operation]bool{}
	paths := map[string]bool{}
	for _, op := range d.Operations() {
		described[op], paths[op.Path] = true, true
	}
	for line := range strings.SplitSeq(strings.TrimSpace(endpoints), "\n") {
		method, path, _ := strings.Cut(line, " ")
		if !described[httpapitest.Operation{Method: method, Path: path}] {
			t.Errorf("%s is not described", line)
		}
	}
	m := startMail(t, func(o *httpapi.Options) {
		o.Messages.APIs = map[string]string{"llm": "http://127.0.0.1:1"}
		o.Providers = func(string, *http.Request) (*http.Response, error) {
			return nil, errors.New("no provider in this test")
		}
	})
	fill := strings.NewReplacer("{destination}", "nowhere:x", "{messageId}", "msg_x", "{dlqId}", "1-1", "{queue}", "q", "{topic}", "t", "{scheduleId}", "s", "{key}", "k", "{workflowRunId}", "wfr_x", "{eventId}", "e", "{userId}", "u", "{actionId}", "bulk_x")
	for path := range paths { // unordered: each is asked alone
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
			if exempt(method, path) {
				continue
			}
			status, text := m.do(method, fill.Replace(path), "")
			served := status != 405 && !strings.Contains(text, "has nothing at this path")
			if op := (httpapitest.Operation{Method: method, Path: path}); served != described[op] {
				t.Errorf("%s %s: %d %s, described: %v", method, path, status, text, described[op])
			}
		}
	}
}

// exempt reports whether a request means something else than its path seems to say: the path of a schedule is also the
// path of a destination, and a flow-control key may end in a word.
func exempt(method, path string) bool {
	switch path {
	case "/v2/schedules/{destination}":
		return method != "POST"
	case "/v2/bulkActions/preview", "/v2/workflows/bulkActions/preview": // for deletion it is the id of no bulk action
		return method == "DELETE"
	case "/v2/schedules", "/v2/schedules/{scheduleId}":
		return method == "POST"
	}
	return strings.HasPrefix(path, "/v2/flowControl/{key}/") && method == "GET"
}
