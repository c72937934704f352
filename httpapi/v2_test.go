package httpapi_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/httpapi"
	"github.com/trireme-dev/trireme/httpapi/httpapitest"
	"github.com/trireme-dev/trireme/httpapi/messages"
)

// mail is a client of /v2 that goes from node to node, for one goroutine at a time.
type mail struct {
	*testing.T
	nodes *httpapitest.Nodes
	token string
	next  int
	// header is the header of the last answer.
	header http.Header
}

func startMail(t *testing.T, adjust ...func(*httpapi.Options)) *mail {
	t.Helper()
	nodes := httpapitest.ServeNodes(t, 3, func(o *httpapi.Options) {
		o.Messages = &messages.Parser{Prefixes: []string{"Svc", "Upstash"}}
		for _, f := range adjust {
			f(o)
		}
	})
	if _, err := fsm.Do(t.Context(), nodes.Nodes[0], fsm.RotateKeys, queue.Rotation{}); err != nil {
		t.Fatal(err)
	}
	return &mail{T: t, nodes: nodes, token: httpapitest.MessagesToken}
}

// do sends a request to the next node. Its path is put on the wire as it is.
func (m *mail) do(method, path, body string, header ...string) (int, string) {
	m.Helper()
	m.next++
	r, err := http.NewRequestWithContext(m.Context(), method, "http://"+m.nodes.Addrs[m.next%len(m.nodes.Addrs)], strings.NewReader(body))
	if err != nil {
		m.Fatal(err)
	}
	r.URL.Opaque = "//" + r.URL.Host + path
	r.Header.Set("Authorization", "Bearer "+m.token)
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		m.Fatal(err)
	}
	defer resp.Body.Close()
	m.header = resp.Header
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		m.Fatal(err)
	}
	asDescribed(m, method, path, httpapitest.Reply{Status: resp.StatusCode, Header: resp.Header, Body: string(text)})
	return resp.StatusCode, string(text)
}

// want sends a request and compares its status, and its text unless that is empty.
func (m *mail) want(status int, text, method, path, body string, header ...string) string {
	m.Helper()
	code, got := m.do(method, path, body, header...)
	if code != status || text != "" && got != text {
		m.Errorf("%s %s: %d %s; want %d %s", method, path, code, got, status, text)
	}
	return got
}

func (m *mail) object(text string) (v map[string]any) {
	m.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		m.Fatalf("%s: %v", text, err)
	}
	return v
}

// TestPublishAndRead: any node reads back a published message at once.
func TestPublishAndRead(t *testing.T) {
	m := startMail(t)
	text := m.want(200, "", "POST", "/v2/publish/https://example.com/a//b?x=%20&upstash-retries=2&qstash_token="+m.token, "hello",
		"Content-Type", "text/plain", "Upstash-Forward-Bypass-Tunnel-Reminder", "t", "Upstash-Delay", "1h", "Upstash-Label", "one,two",
		"Upstash-Flow-Control-Key", "k", "Upstash-Flow-Control-Value", "parallelism=3", "Upstash-Retry-Delay", "1000 * (1 + retried)",
		"Upstash-Callback", "https://cb.example/x", "Upstash-Callback-Forward-A", "b", "User-Agent", "test", "Authorization", "Bearer other")
	id, _ := m.object(text)["messageId"].(string)
	if !strings.HasPrefix(id, "msg_") {
		t.Fatal(text)
	}
	got := m.object(m.want(200, "", "GET", "/v2/messages/"+id, ""))
	if got["notBefore"].(float64)-got["createdAt"].(float64) != 3_600_000 {
		t.Errorf("%v", got)
	}
	delete(got, "notBefore")
	delete(got, "createdAt")
	want := map[string]any{
		"messageId": id, "url": "https://example.com/a//b?x=%20", "method": "POST", "maxRetries": 2.0, "body": "hello", "callerIP": "127.0.0.1",
		"header": map[string]any{"Content-Type": []any{"text/plain"}, "Bypass-Tunnel-Reminder": []any{"t"}},
		"label":  "one", "labels": []any{"one", "two"}, "flowControlKey": "k", "parallelism": 3.0, "period": 1.0, "retryDelayExpression": "1000 * (1 + retried)",
		"callback": "https://cb.example/x", "callbackHeader": map[string]any{"A": []any{"b"}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf(" got %v\nwant %v", got, want)
	}
	m.want(202, `{"cancelled":1}`, "DELETE", "/v2/messages/"+id, "")
	m.want(404, `{"error":"message `+id+` not found"}`, "DELETE", "/v2/messages/"+id, "")
}

func TestPublishRefuses(t *testing.T) {
	m := startMail(t)
	for _, c := range []struct {
		status int
		text   string
		path   string
		header []string
	}{
		{400, "a non-empty destination must be provided", "/v2/publish/", nil},
		{400, "a non-empty destination must be provided", "/v2/publish", nil},
		{400, "invalid destination url: endpoint has invalid scheme, add http:// or https://", "/v2/publish/example.com/x", nil},
		{404, "topic nobody not found", "/v2/publish/nobody", nil},
		{400, "DeduplicationId cannot contain ':'", "/v2/publish/https://example.com", []string{"Svc-Deduplication-Id", "a:b"}},
		{404, "this version has nothing at this path", "/v2/nothing", nil},
	} {
		text, _ := json.Marshal(map[string]string{"error": c.text})
		m.want(c.status, string(text), "POST", c.path, "", c.header...)
	}
	m.want(405, `{"error":"method not allowed"}`, "GET", "/v2/publish/https://example.com", "")
	m.want(404, `{"error":"message msg_x not found"}`, "GET", "/v2/messages/msg_x", "")
}

func TestMessagesNeedTheirToken(t *testing.T) {
	m := startMail(t)
	const refused = `{"error":"unable to authenticate: invalid token"}`
	for _, token := range []string{"", "wrong", httpapitest.Token} {
		m.token = token
		m.want(401, refused, "POST", "/v2/publish/https://example.com", "")
		m.want(401, refused, "GET", "/v2/keys", "")
	}
	m.token = httpapitest.MessagesReadOnlyToken
	m.want(200, "", "GET", "/v2/queues", "")
	for _, target := range []string{"/v2/keys", "/v2/Keys", "/v2/%6beys", "/v2/keys/", "/v2/keys?x=y"} { // with the keys anybody can pass for this server
		m.want(403, `{"error":"this token is read-only"}`, "GET", target, "")
	}
	m.want(403, `{"error":"this token is read-only"}`, "POST", "/v2/publish/https://example.com", "")
	m.want(403, "", "POST", "/v2/keys/rotate", "")
}

// TestDeduplicatedPublish: the second publication with an id names the message of the first.
func TestDeduplicatedPublish(t *testing.T) {
	m := startMail(t)
	first := m.object(m.want(200, "", "POST", "/v2/publish/https://example.com", "", "Svc-Deduplication-Id", "d", "Svc-Delay", "1h"))
	again := m.object(m.want(202, "", "POST", "/v2/publish/https://example.com", "", "Svc-Deduplication-Id", "d"))
	if again["messageId"] != first["messageId"] || again["deduplicated"] != true || first["deduplicated"] != nil {
		t.Errorf("%v, %v", first, again)
	}
}

func TestBatch(t *testing.T) {
	m := startMail(t)
	text := m.want(200, "", "POST", "/v2/batch", `[
		{"destination":"https://example.com/1","headers":{"Upstash-Delay":"1h","content-type":["a/b"]},"body":"one"},
		{"destination":"nobody","body":null,"queue":null},
		{"destination":"https://example.com/3","queue":"q","headers":{"Upstash-Delay":"1h"}}]`)
	var list []map[string]any
	if err := json.Unmarshal([]byte(text), &list); err != nil || len(list) != 3 {
		t.Fatal(text, err)
	}
	if list[1]["error"] != "topic nobody not found" {
		t.Error(text)
	}
	one := m.object(m.want(200, "", "GET", "/v2/messages/"+list[0]["messageId"].(string), ""))
	three := m.object(m.want(200, "", "GET", "/v2/messages/"+list[2]["messageId"].(string), ""))
	if one["body"] != "one" || three["queueName"] != "q" || one["header"] == nil || three["maxRetries"] != 3.0 {
		t.Error(one, three)
	}
	m.want(400, "", "POST", "/v2/batch", `[{"destination":"https://example.com"},{"destination":"a b"}]`)
	m.want(400, "", "POST", "/v2/batch", `{"destination":"https://example.com"}`)
	m.want(200, "[]", "POST", "/v2/batch", `[]`)
	m.want(202, `{"cancelled":2}`, "DELETE", "/v2/messages/", "")
}

func TestCancelMany(t *testing.T) {
	m := startMail(t)
	var ids []string
	for _, header := range [][]string{{"Svc-Label", "a"}, {"Svc-Label", "a,b"}, {"Svc-Label", "b"}, {"Svc-Label", "c"}} {
		text := m.want(200, "", "POST", "/v2/publish/https://example.com/x", "", append(header, "Svc-Delay", "1h")...)
		ids = append(ids, m.object(text)["messageId"].(string))
	}
	m.want(400, `{"error":"unknown filter \"lable\""}`, "DELETE", "/v2/messages?lable=a", "")
	m.want(202, `{"cancelled":0}`, "DELETE", "/v2/messages?messageIds=msg_x", "")
	m.want(202, `{"cancelled":0}`, "DELETE", "/v2/messages?label=a&host=other.example", "")
	m.want(202, `{"cancelled":3}`, "DELETE", "/v2/messages?count=1", `{"label":["a","b"]}`)
	m.want(202, `{"cancelled":1}`, "DELETE", "/v2/messages", `{"messageIds":["`+strings.Join(ids, `","`)+`"]}`)
}

func TestSigningKeys(t *testing.T) {
	m := startMail(t)
	first := m.object(m.want(200, "", "GET", "/v2/keys", ""))
	second := m.object(m.want(200, "", "POST", "/v2/keys/rotate", ""))
	if second["current"] != first["next"] || second["next"] == first["next"] || !strings.HasPrefix(second["next"].(string), "sig_") {
		t.Error(first, second)
	}
	if now := m.object(m.want(200, "", "GET", "/v2/keys", "")); !reflect.DeepEqual(now, second) {
		t.Error(now)
	}
	for _, path := range []string{"/v2/keys/rotate", "/v2/Keys/Rotate/"} { // the reference's documents show a GET too
		if third := m.object(m.want(200, "", "GET", path, "")); third["current"] != second["next"] || third["next"] == second["next"] {
			t.Error(second, third)
		} else {
			second = third
		}
	}
	// Browsers and proxies open addresses again, so an address can't be enough; neither can a read-only token.
	const inAddress = `{"error":"a GET that changes something needs the token in the Authorization header: send it there, or use POST"}`
	token := m.token
	m.token = ""
	m.want(403, inAddress, "GET", "/v2/keys/rotate?qstash_token="+url.QueryEscape(token), "")
	m.want(401, "", "GET", "/v2/keys/rotate", "", "Cookie", "trireme_session=x")
	m.token = httpapitest.MessagesReadOnlyToken
	m.want(403, `{"error":"this token is read-only"}`, "GET", "/v2/keys/rotate", "")
	m.token = token
	m.want(405, "", "DELETE", "/v2/keys/rotate", "")
	if now := m.object(m.want(200, "", "GET", "/v2/keys", "")); !reflect.DeepEqual(now, second) {
		t.Error("the keys were rotated", now)
	}
}

// TestPagesOfOtherSitesCannotPublish: in development a page of another site is refused.
func TestPagesOfOtherSitesCannotPublish(t *testing.T) {
	nodes := httpapitest.ServeNodes(t, 1, func(o *httpapi.Options) {
		o.Messages, o.LoopbackOnly = &messages.Parser{Prefixes: []string{"Svc"}}, true
	})
	m := &mail{T: t, nodes: nodes, token: httpapitest.MessagesToken}
	m.want(403, "", "POST", "/v2/publish/https://example.com", "", "Origin", "https://evil.example")
	m.want(200, "", "POST", "/v2/publish/https://example.com", "", "Origin", "http://localhost:3000", "Svc-Delay", "1h")
}

// TestSchedules: a schedule is read back with its next times, paused, overwritten whole,
// and deleted.
func TestSchedules(t *testing.T) {
	m := startMail(t)
	m.want(200, `[]`, "GET", "/v2/schedules", "")
	m.want(200, `{"scheduleId":"s.1"}`, "POST", "/v2/schedules/https://example.com/a?x=1", "tick", "Upstash-Cron", "CRON_TZ=Europe/Berlin 30 2 * * * ",
		"Upstash-Schedule-Id", "s.1", "Content-Type", "text/plain", "Upstash-Delay", "30s", "Upstash-Misfire", "all", "Upstash-Retries", "1")
	got := m.object(m.want(200, "", "GET", "/v2/Schedules/s.1", ""))
	next, _ := got["nextScheduleTimes"].([]any)
	if len(next) != 5 || next[0] != got["nextScheduleTime"] || next[4].(float64) <= next[3].(float64) {
		t.Errorf("%v", got)
	}
	for _, name := range []string{"nextScheduleTimes", "nextScheduleTime", "createdAt"} {
		delete(got, name)
	}
	want := map[string]any{
		"scheduleId": "s.1", "cron": "CRON_TZ=Europe/Berlin 30 2 * * *", "destination": "https://example.com/a?x=1", "method": "POST", "retries": 1.0, "isPaused": false,
		"body": "tick", "header": map[string]any{"Content-Type": []any{"text/plain"}}, "delay": 30.0, "callerIP": "127.0.0.1", "misfire": "all", "timeZone": "Europe/Berlin",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf(" got %v\nwant %v", got, want)
	}
	m.want(200, "", "PATCH", "/v2/schedules/s.1/pause", "")
	if got := m.object(m.want(200, "", "GET", "/v2/schedules/s.1", "")); got["isPaused"] != true {
		t.Error(got)
	}
	m.want(200, "", "POST", "/v2/schedules/s.1/resume", "")
	m.want(200, `{"scheduleId":"s.1"}`, "POST", "/v2/publish/https://example.com/b", "", "Upstash-Cron", "@every 1h", "Upstash-Schedule-Id", "s.1")
	if got := m.object(m.want(200, "", "GET", "/v2/schedules/s.1", "")); got["body"] != nil || got["isPaused"] != false || got["retries"] != 3.0 || got["destination"] != "https://example.com/b" {
		t.Error(got)
	}
	m.want(200, "", "DELETE", "/v2/schedules/s.1", "")
	const gone = `{"error":"schedule s.1 not found"}`
	m.want(404, gone, "GET", "/v2/schedules/s.1", "")
	m.want(404, gone, "DELETE", "/v2/schedules/s.1", "")
	m.want(404, gone, "PATCH", "/v2/schedules/s.1/pause", "")
	for _, header := range [][]string{{}, {"Svc-Cron", "* * * *"}, {"Svc-Cron", "0 0 31 2 *"}, {"Svc-Cron", "TZ=0"}, {"Svc-Cron", "* * * * *", "Svc-Misfire", "some"}, {"Svc-Cron", "* * * * *", "Svc-Schedule-Id", "a b"}} {
		m.want(400, "", "POST", "/v2/schedules/https://example.com", "", header...)
	}
	m.want(404, `{"error":"topic nobody not found"}`, "POST", "/v2/schedules/nobody", "", "Svc-Cron", "* * * * *")
}

func TestQueues(t *testing.T) {
	m := startMail(t)
	m.want(200, `[]`, "GET", "/v2/queues/", "")
	m.want(200, "", "POST", "/v2/queues", `{"queueName":"q","parallelism":2,"paused":true}`)
	m.want(200, "", "POST", "/v2/enqueue/q/https://example.com", "x")
	got := m.object(m.want(200, "", "GET", "/v2/queues/q", ""))
	if got["name"] != "q" || got["parallelism"] != 2.0 || got["paused"] != true || got["lag"] != 1.0 || len(got) != 6 {
		t.Error(got)
	}
	m.want(202, `{"cancelled":1}`, "DELETE", "/v2/messages?queueName=q", "")
	m.want(200, "", "POST", "/v2/queues/q/resume", "")
	if got := m.object(m.want(200, "", "GET", "/v2/queues/q", "")); got["paused"] != false || got["lag"] != 0.0 {
		t.Error(got)
	}
	m.want(200, "", "POST", "/v2/queues/q/pause", "")
	m.want(400, "", "POST", "/v2/queues", `{"queueName":"q","parallelism":0}`)
	m.want(400, "", "POST", "/v2/queues", `{"queueName":"q q"}`)
	m.want(200, "", "DELETE", "/v2/queues/q", "")
	m.want(200, "", "DELETE", "/v2/queues/q", "")
	m.want(404, `{"error":"queue q not found"}`, "GET", "/v2/queues/q", "")
	m.want(404, `{"error":"queue q not found"}`, "POST", "/v2/queues/q/pause", "")
}
