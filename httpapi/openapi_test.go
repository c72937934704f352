package httpapi_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/httpapi"
	"github.com/trireme-dev/trireme/httpapi/httpapitest"
)

var described = descriptionIn("openapi.json")

// descriptionIn returns what reads a description, once.
func descriptionIn(file string) func() (*httpapitest.Description, error) {
	return sync.OnceValues(func() (*httpapitest.Description, error) {
		return httpapitest.ReadDescription(file)
	})
}

// conforms checks a reply of the gateway against the description, which holds for every database.
func conforms(t testing.TB, method, target string, a answer) {
	t.Helper()
	if rest, in := strings.CutPrefix(target, "/db/"); in {
		if name, rest, _ := strings.Cut(rest, "/"); fsm.ValidDatabaseName(name) {
			target = "/" + rest
		}
	}
	if strings.HasPrefix(target, "/v2/") || strings.HasPrefix(target, "/llm/") {
		asDescribed(t, method, target, a.reply())
		return
	}
	d, err := described()
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Check(method, target, a.reply()); err != nil {
		t.Error(err)
	}
}

func (a answer) reply() httpapitest.Reply {
	return httpapitest.Reply{Status: a.status, Header: a.header, Body: a.body}
}

// TestDescriptionIsServed reads the description as an operator does, and checks that
// replies which are not as described are found.
func TestDescriptionIsServed(t *testing.T) {
	g := newGateway(t)
	a := g.ask(t, "GET", "/admin/openapi.json", "", asAdmin)
	want, err := os.ReadFile("openapi.json")
	if err != nil || a.status != 200 || a.body != string(want) {
		t.Fatalf("%d %.100s, %v", a.status, a.body, err)
	}
	if a := g.ask(t, "GET", "/admin/openapi.json", ""); a.status != 403 {
		t.Errorf("with the Standard token: %d", a.status)
	}
	d, err := described()
	if err != nil {
		t.Fatal(err)
	}
	good := g.ask(t, "POST", "/pipeline", `[["PING"]]`)
	for _, bad := range []answer{
		{200, good.header, `[{"result":1.5}]`},
		{200, good.header, `[{"result":1,"error":"ERR"}]`},
		{200, good.header, `{"result":1}`},
		{201, good.header, good.body},
		{200, nil, good.body},
		{400, good.header, `{"error":"something"}`},
	} {
		if d.Check("POST", "/pipeline", bad.reply()) == nil {
			t.Errorf("%d %s passes", bad.status, bad.body)
		}
	}
}

var messagesDescribed = descriptionIn("messages/openapi.yaml")

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
GET /v2/history
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
POST /v2/workflows/runs/{workflowRunId}/fork
GET /v2/workflows/runs/{workflowRunId}/values
POST /v2/workflows/runs/{workflowRunId}/resume
GET /v2/workflows/runs/{workflowRunId}/state
POST /v2/workflows/runs/{workflowRunId}/updates/{name}
GET /v2/workflows/runs/{workflowRunId}/steps
GET /v2/workflows/runs/{workflowRunId}/steps/{stepId}
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

// adminOperations returns the operations under /admin in the description: method and path, with "x" for the parameters of a path.
func adminOperations(t *testing.T) (list [][2]string) {
	t.Helper()
	text, err := os.ReadFile("openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var d struct{ Paths map[string]map[string]any }
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	for path, item := range d.Paths {
		for method := range item {
			if strings.HasPrefix(path, "/admin/") && method != "parameters" {
				list = append(list, [2]string{strings.ToUpper(method), strings.NewReplacer("{id}", "x", "{name}", "x").Replace(path)})
			}
		}
	}
	return list
}

// TestMisspelledParametersAreRefused: under /admin a parameter that a path does not have is named, and nothing is done.
func TestMisspelledParametersAreRefused(t *testing.T) {
	a := &admin{}
	g := newGateway(t, func(o *httpapi.Options) { o.Admin = a })
	list := adminOperations(t)
	if len(list) < 30 {
		t.Fatalf("only %d operations are described", len(list))
	}
	for _, one := range list {
		got := g.ask(t, one[0], one[1]+"?froce=true", "", asAdmin)
		if got.status != 400 || !strings.Contains(got.body, `unknown parameter \"froce\": this path takes `) || got.header.Get("Svc-Outcome") != "not-applied" {
			t.Errorf("%s %s: %d %s", one[0], one[1], got.status, got.body)
		}
	}
	if a.removed != "" {
		t.Errorf("node %s was removed", a.removed)
	}
	for target, says := range map[string]string{
		"/admin/cluster/nodes/n2?Force=true":      "this path takes force",
		"/admin/databases/shop?force=true":        "this path takes none",
		"/admin/cluster/nodes/n2?force=true&f=1":  `unknown parameter \"f\"`,
		"/admin/cluster/nodes/n2?force=true&a=%z": "the query can't be read",
	} {
		if got := g.ask(t, "DELETE", target, "", asAdmin); got.status != 400 || !strings.Contains(got.body, says) {
			t.Errorf("%s: %d %s", target, got.status, got.body)
		}
	}
	if got := g.ask(t, "GET", "/admin/settings/messages?database=default", "", asAdmin); got.status != 200 {
		t.Errorf("a parameter of two operations: %d %s", got.status, got.body)
	}
	if got := g.ask(t, "GET", "/admin/cluster?nonsense=1", ""); got.status != 403 {
		t.Errorf("with another token: %d", got.status) // who may not ask learns nothing of the path
	}
}

// TestRefusedBodiesOfAdministration: a body that is too large is 413 with the limit, and other mistakes are in JSON's words.
func TestRefusedBodiesOfAdministration(t *testing.T) {
	a := &admin{}
	g := newGateway(t, func(o *httpapi.Options) { o.Admin = a })
	for _, c := range []struct {
		target, body string
		status       int
		says         string
	}{
		{"/admin/cluster/transfer-leader", `{"to":7}`, 400, "ERR expected a JSON object: to: expected a string, got number at byte 7"},
		{"/admin/cluster/transfer-leader", `["n2"]`, 400, "ERR expected a JSON object: expected an object, got array at byte 1"},
		{"/admin/cluster/transfer-leader", `{"ot":"n2"}`, 400, `ERR expected a JSON object: unknown field \"ot\"`},
		{"/admin/cluster/transfer-leader", `{"to":"n2"}{}`, 400, "ERR expected a JSON object: expected its end at byte 12"},
		{"/admin/cluster/transfer-leader", `{"to":"` + strings.Repeat("n", 64<<10) + `"}`, 413, "ERR the body is larger than 65536 bytes"},
		{"/admin/settings", `{"maxMemory":"1GB"}`, 400, "ERR expected a JSON object: maxMemory: expected an integer, got string at byte 18"},
		{"/admin/settings", `{"maxMemory":1,"maxPending":-3}`, 400, "ERR maxPending must be 0 or greater (0 = unlimited), got -3"},
		{"/admin/settings/messages", `{"dlqBytes":-1}`, 400, "ERR dlqBytes must be 0 or greater (0 = unlimited), got -1"},
		{"/admin/settings/workflows", `{"maxInvokeDepth":1.5}`, 400, "ERR expected a JSON object: maxInvokeDepth: expected an integer, got number 1.5 at byte 21"},
		{"/admin/databases", `{"name":null,"nmae":"shop"}`, 400, `ERR expected a JSON object: unknown field \"nmae\"`},
	} {
		got := g.ask(t, "POST", c.target, c.body, asAdmin)
		if got.status != c.status || got.body != `{"error":"`+c.says+`"}` || got.header.Get("Svc-Outcome") != "not-applied" {
			t.Errorf("%s %.40s: %d %s", c.target, c.body, got.status, got.body)
		}
	}
	if a.to != "" {
		t.Errorf("leadership moved to %q", a.to)
	}
}
