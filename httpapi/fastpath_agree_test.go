package httpapi_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"pgregory.net/rapid"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/httpapi"
	"github.com/trireme-dev/trireme/httpapi/httpapitest"
	"github.com/trireme-dev/trireme/httpapi/messages"
)

// way is a server with a state of its own, and a connection to it whose requests are answered on the fast path, or by
// net/http.
type way struct {
	t       testing.TB
	name    string
	addr    string
	engine  *httpapitest.Engine
	metrics *prometheus.Registry
	c       net.Conn
	in      *bufio.Reader
}

// leave is a request that is not plain: the connection on which it comes is net/http's
// from then on.
const leave = "OPTIONS /livez HTTP/1.1\r\nHost: h\r\n\r\n"

// twoWays returns two servers whose clocks and chances are the same.
func twoWays(t testing.TB, adjust func(*httpapi.Options)) (fast, slow *way) {
	t.Helper()
	now := time.Now().UnixMilli()
	open := func(name string) *way {
		w := &way{t: t, name: name, engine: httpapitest.NewStill(func() int64 { return now }), metrics: prometheus.NewRegistry()}
		o := httpapi.Options{Engine: w.engine, Metrics: w.metrics, Messages: &messages.Parser{Prefixes: []string{"Svc", "Upstash"}, APIs: map[string]string{"llm": "https://llm.example/v1"}}}
		if adjust != nil {
			adjust(&o)
		}
		w.addr = httpapitest.Serve(t, o)
		return w
	}
	return open("fast"), open("net/http")
}

// connect opens a new connection.
func (w *way) connect() {
	w.t.Helper()
	w.close()
	c, err := net.Dial("tcp", w.addr)
	if err != nil {
		w.t.Fatal(err)
	}
	w.c, w.in = c, bufio.NewReader(c)
	if w.name != "fast" {
		w.send(leave)
	}
}

func (w *way) close() {
	if w.c != nil {
		w.c.Close()
		w.c = nil
	}
}

// send sends a request as it is and returns its reply without the parts that depend on the moment and on the
// connection.
func (w *way) send(request string) string {
	w.t.Helper()
	if err := w.c.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		w.t.Fatal(err)
	}
	if _, err := io.WriteString(w.c, request); err != nil {
		w.t.Fatalf("%s: %v", w.name, err)
	}
	method, _, _ := strings.Cut(request, " ")
	r, err := http.ReadResponse(w.in, &http.Request{Method: method})
	if err != nil {
		w.t.Fatalf("%s: %.200q: %v", w.name, request, err)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		w.t.Fatalf("%s: %v", w.name, err)
	}
	if whole, why, found := strings.Cut(string(body), "ERR malformed request"); found && why != "" {
		body = []byte(whole + "ERR malformed request") // why is told only of what a connection leaves the fast path with
	}
	for _, name := range []string{"Date", "Content-Length"} { // a length may be told by chunks
		r.Header.Del(name)
	}
	header := r.Header
	if id := header.Get("X-Request-Id"); id != "" && !strings.Contains(request, id) {
		header.Set("X-Request-Id", "drawn")
	}
	text := fmt.Sprintf("%d\n", r.StatusCode)
	for _, name := range slices.Sorted(maps.Keys(header)) {
		text += fmt.Sprintf("%s: %q\n", name, header[name])
	}
	return text + string(body)
}

// state returns the whole state of the server.
func (w *way) state() string {
	var b bytes.Buffer
	if err := w.engine.Machine.Fork().Write(&b); err != nil {
		w.t.Fatal(err)
	}
	return b.String()
}

// holds waits until so many connections are on the fast path. One that leaves is answered
// before it is counted as gone.
func (w *way) holds(connections float64) {
	w.t.Helper()
	for deadline := time.Now().Add(time.Minute); w.onFastPath() != connections; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			w.t.Fatalf("%v connections are on the fast path of %s, want %v", w.onFastPath(), w.name, connections)
		}
	}
}

func (w *way) onFastPath() float64 {
	w.t.Helper()
	all, err := w.metrics.Gather()
	if err != nil {
		w.t.Fatal(err)
	}
	for _, f := range all {
		if f.GetName() == "trireme_http_fast_path_connections" {
			return f.Metric[0].GetGauge().GetValue()
		}
	}
	return -1
}

// counted returns the metrics of requests that do not tell the time.
func (w *way) counted() string {
	all, err := w.metrics.Gather()
	if err != nil {
		w.t.Fatal(err)
	}
	text := ""
	for _, f := range all {
		if name := f.GetName(); strings.HasPrefix(name, "trireme_http_") && !strings.Contains(name, "seconds") && !strings.HasSuffix(name, "_connections") {
			for _, m := range f.Metric {
				if v := m.GetCounter().GetValue() + m.GetGauge().GetValue(); v != 0 {
					text += fmt.Sprintln(name, m.Label, v)
				}
			}
		}
	}
	return text
}

// mailHead begins the headers of a request with the messages token.
const mailHead = "Host: 127.0.0.1:8080\r\nAuthorization: Bearer " + httpapitest.MessagesToken + "\r\n"

// mailRequest returns a request to the API of messages. lines are the lines of its header.
func mailRequest(method, target, body string, lines ...string) string {
	head := method + " " + target + " HTTP/1.1\r\n" + mailHead
	for _, line := range lines {
		head += line + "\r\n"
	}
	if body != "" || method == "POST" {
		head += fmt.Sprintf("Content-Length: %d\r\n", len(body))
	}
	return head + "\r\n" + body
}

// rawMail returns a request without the usual token.
func rawMail(method, target, lines string) string {
	return method + " " + target + " HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n" + lines + "\r\n"
}

const to = "/v2/publish/https://example.com/hook"

// mailRequests are requests of every kind to the API of messages, in an order in which
// each finds what it needs.
var mailRequests = []string{
	// Publishing.
	mailRequest("POST", to, "hello", "Content-Type: text/plain"),
	mailRequest("POST", "/v2/publish/https://example.com/a//b?x=%20&y=a+b&upstash-retries=2&Upstash-Delay=1h", "", "upstash-label: one,two", "Svc-Label: three"),
	mailRequest("POST", "/v2/Publish/https:/example.com/merged", "x"),
	mailRequest("POST", "/v2/publish/https%3A%2F%2Fexample.com%2Fescaped?a=b", "x"),
	mailRequest("POST", "//v2/publish/https://example.com", "x"),
	mailRequest("POST", "/v2//publish/https://example.com", "x"),
	mailRequest("POST", "/v2/%70ublish/https://example.com", "x"),
	mailRequest("POST", to+"#fragment", "x"),
	mailRequest("POST", to+"/caf\xc3\xa9", "x"),
	mailRequest("POST", to, "\x00\xff binary", "Content-Type: application/octet-stream"),
	mailRequest("POST", to, strings.Repeat("large", 150_000)),
	mailRequest("POST", to, strings.Repeat("larger", 200_000)),
	mailRequest("POST", to, "x", "Upstash-Retries: 0", "Upstash-Retry-Delay: 1000 * (1 + retried)", "Upstash-Timeout: 30", "Upstash-Not-Before: 1900000000"),
	mailRequest("POST", to, "x", "Upstash-Method: get", "Upstash-Forward-X-One: 1", "upstash-forward-x-one: 2", "Upstash-Forward-Content-Type: a/b", "Content-Type: c/d"),
	mailRequest("POST", to, "x", "Upstash-Callback: https://cb.example/x", "Upstash-Callback-Forward-A: b", "Upstash-Callback-Retries: 1", "Upstash-Failure-Callback: https://cb.example/f"),
	mailRequest("POST", to, "x", "Upstash-Flow-Control-Key: k", "Upstash-Flow-Control-Value: parallelism=3, rate=10,period=1m"),
	mailRequest("POST", to, "x", "Upstash-Redact-Fields: body, header[X-Key]", "Upstash-Forward-X-Key: secret"),
	mailRequest("POST", to, "x", "Upstash-Commit-As: default", "Svc-Commit-Token: "+httpapitest.Token),
	mailRequest("POST", to, "x", "Upstash-Commit-As: default"),
	mailRequest("POST", to+"?svc-commit-as=nobody&svc-commit-token="+httpapitest.Token, "x"),
	mailRequest("POST", to, "x", "Upstash-Forward-Upstash-Commit-Token: "+httpapitest.Token),
	mailRequest("POST", to, "x", "Upstash-Deduplication-Id: d", "Upstash-Delay: 1h"),
	mailRequest("POST", to, "y", "Upstash-Deduplication-Id: d"),
	mailRequest("POST", to, "z", "Upstash-Content-Based-Deduplication: true"),
	mailRequest("POST", to, "z", "Upstash-Content-Based-Deduplication: TRUE"),
	mailRequest("POST", to, "x", "Svc-Delay: 1m", "Upstash-Delay: 2m"),
	mailRequest("POST", "/v2/publish/api/llm", "{}", "Upstash-Callback: https://cb.example"),
	mailRequest("POST", "/v2/publish/api/llm", "{}"),
	mailRequest("POST", "/v2/publish/api/other", "{}"),
	// The parts of the request's own header that are forwarded.
	mailRequest("POST", to, "x", "Upstash-Header-Forward: true", "X-A: 1", "x-a: 2", "Accept: */*", "User-Agent: u", "Accept-Encoding: gzip", "Cookie: c=d", "Keep-Alive: timeout=5",
		"Connection: keep-alive", "Upgrade-Insecure-Requests: 1", "Cache-Control: max-age=0"),
	mailRequest("POST", to, "x", "Upstash-Header-Forward: true", "Pragma: no-cache"),
	mailRequest("POST", to, "x", "Upstash-Header-Forward: true", "TE: trailers"),
	mailRequest("POST", to, "x", "Upstash-Header-Forward: true", "X-Empty:", "X-Blank: \t ", "X-Inner: a \t b ", "X-High: caf\xc3\xa9", "X-Latin: \xe9"),
	mailRequest("POST", to, "x", "Upstash-Header-Forward: true", "x!odd'name: v", "X_Under.score~: v"),
	// Refusals.
	mailRequest("POST", "/v2/publish", ""), mailRequest("POST", "/v2/publish/", ""), mailRequest("POST", "/v2/publish/example.com", ""),
	mailRequest("POST", "/v2/publish/https://", ""), mailRequest("POST", "/v2/publish/nobody", ""), mailRequest("POST", "/v2/publish/https://exa%zzmple.com", ""),
	mailRequest("POST", to, "", "Upstash-Retries: many"), mailRequest("POST", to, "", "Upstash-Delay: soon"), mailRequest("POST", to, "", "Upstash-Method: TRACE"),
	mailRequest("POST", to, "", "Upstash-Deduplication-Id: a:b"), mailRequest("POST", to, "", "Upstash-Callback: nowhere"), mailRequest("POST", to, "", "Upstash-Flow-Control-Key: k"),
	mailRequest("GET", to, ""), mailRequest("HEAD", to, ""), mailRequest("PUT", to, "x"), mailRequest("PATCH", to, "x"), mailRequest("DELETE", to, ""), mailRequest("OPTIONS", to, ""),
	mailRequest("POST", "/v2", ""), mailRequest("POST", "/v2/", ""), mailRequest("POST", "/v2/nothing", ""), mailRequest("POST", "/v2?publish", ""), mailRequest("POST", "/v20/publish", "[]"),
	"POST " + to + " HTTP/1.1\r\n" + mailHead + "Expect: 100-continue\r\nContent-Length: 0\r\n\r\n",
	"POST " + to + " HTTP/1.1\r\n" + mailHead + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
	"POST " + to + " HTTP/1.1\r\n" + mailHead + "\r\n",
	"POST http://elsewhere.example" + to + " HTTP/1.1\r\n" + mailHead + "Content-Length: 0\r\n\r\n",
	// Tokens and names of requests.
	rawMail("POST", to, ""), rawMail("POST", to, "Authorization: Bearer wrong\r\n"), rawMail("POST", to, "Authorization: bEARER "+httpapitest.MessagesToken+"\r\n"),
	rawMail("POST", to, "Authorization: "+httpapitest.MessagesToken+"\r\n"), rawMail("POST", to, "Authorization: Bearer "+httpapitest.MessagesReadOnlyToken+"\r\n"),
	rawMail("GET", "/v2/keys", "Authorization: Bearer "+httpapitest.MessagesReadOnlyToken+"\r\n"), rawMail("POST", to, "Authorization: Bearer "+httpapitest.Token+"\r\n"),
	rawMail("POST", to, "Authorization: Bearer "+httpapitest.AdminToken+"\r\n"),
	rawMail("POST", to+"?a=b&qstash_token="+httpapitest.MessagesToken, "Authorization: Basic of-the-destination\r\nUpstash-Header-Forward: true\r\n"),
	rawMail("POST", to, "Authorization: Bearer "+httpapitest.MessagesToken+"\r\nAuthorization: Bearer wrong\r\n"),
	mailRequest("POST", to, "x", "X-Request-Id: mine"), mailRequest("POST", "/v2/publish/", "x", "X-Request-Id: mine"), mailRequest("POST", to, "x", "Origin: https://page.example"),
	// Queues, groups, batches.
	mailRequest("POST", "/v2/enqueue/q/https://example.com/x", "one"), mailRequest("POST", "/v2/enqueue/q%2E1/https://example.com/x?y=z", "two"),
	mailRequest("POST", "/v2/enqueue/a%20b/https://example.com", "x"), mailRequest("POST", "/v2/enqueue/q", "x"), mailRequest("POST", "/v2/ENQUEUE/q/https://example.com", "x"),
	mailRequest("POST", "/v2/topics/g/endpoints", `{"endpoints":[{"url":"https://one.example"},{"url":"https://two.example","name":"two"}]}`, "Content-Type: application/json"),
	mailRequest("POST", "/v2/publish/g", "to all", "Upstash-Deduplication-Id: g"), mailRequest("POST", "/v2/publish/g", "to all", "Upstash-Deduplication-Id: g"),
	mailRequest("POST", "/v2/batch", `[{"destination":"https://example.com/1","headers":{"Upstash-Delay":"1h","x":["a","b"]},"body":"one"},{"destination":"nobody"},{"destination":"https://example.com/3","queue":"q"}]`),
	mailRequest("POST", "/v2/batch", `[]`), mailRequest("POST", "/v2/batch", `{`), mailRequest("POST", "/v2/batch", `[{"destination":"a b"}]`), mailRequest("GET", "/v2/batch", ""),
	mailRequest("POST", "/v2/batch/", `[]`), mailRequest("POST", "/v2/batch/more", `[]`),
	// Schedules.
	mailRequest("POST", "/v2/schedules/https://example.com/a?x=1", "tick", "Upstash-Cron: 0 5 * * *", "Upstash-Schedule-Id: s"),
	mailRequest("POST", to, "tick", "Upstash-Cron: @every 1h", "Upstash-Schedule-Id: t"), mailRequest("POST", to, "tick", "Upstash-Cron: never"),
	mailRequest("PATCH", "/v2/schedules/s/pause", ""), mailRequest("GET", "/v2/Schedules/s", ""), mailRequest("GET", "/v2/schedules", ""), mailRequest("DELETE", "/v2/schedules/t", ""),
	// Workflows.
	mailRequest("POST", "/v2/trigger/https://example.com/flow", "{}", "Upstash-Workflow-Runid: r1"), mailRequest("GET", "/v2/workflows/logs", ""),
	mailRequest("POST", to, "{}", "Upstash-Workflow-Init: true", "Upstash-Workflow-Runid: wfr_1", "Upstash-Workflow-Url: https://example.com/flow", "Upstash-Feature-Set: InitialBody"),
	mailRequest("POST", "/v2/notify/event", "{}"), mailRequest("GET", "/v2/waiters/event", ""), mailRequest("DELETE", "/v2/workflows/runs/r1", ""),
	rawMail("POST", "/v2/workflows/hooks/u/r/evt_0123456789abcde", ""),
	mailRequest("POST", "/v2/batch", `[{"destination":"https://example.com/flow","headers":{"upstash-workflow-init":"true","upstash-workflow-runid":"wfr_2","upstash-workflow-url":"https://example.com/flow"},"body":"{}"}]`),
	mailRequest("POST", "/v2/batch", `[{"destination":"https://example.com/flow","headers":{"upstash-workflow-init":"false","upstash-workflow-runid":"wfr_2","upstash-workflow-url":"https://example.com/flow"},"body":"{\"stepId\":1,\"stepName\":\"s\",\"stepType\":\"Run\",\"out\":\"1\",\"concurrent\":1}"}]`),
	mailRequest("GET", "/v2/workflows/runs/wfr_2", ""), mailRequest("GET", "/v2/workflows/runs/wfr_nothing", ""), mailRequest("GET", "/v2/workflows/runs/wfr_2/explain", ""),
	mailRequest("GET", "/v2/workflows/runs/wfr_2/state", ""), mailRequest("POST", "/v2/workflows/runs/wfr_2/updates/add", "1", "Svc-Update-Id: u"),
	mailRequest("POST", "/v2/trigger/https://example.com/flow", "{}", "Upstash-Workflow-Runid: r2", "Svc-Keep-Events: a*", `Svc-Updates: {"add":""}`),
	mailRequest("POST", "/v2/workflows/runs/r2/updates/add", "1", "Svc-Update-Id: u"), mailRequest("POST", "/v2/notify/abc", "1"),
	mailRequest("GET", "/v2/workflows/runs/wfr_2/steps", ""), mailRequest("GET", "/v2/workflows/runs/wfr_2/steps/1", ""), mailRequest("GET", "/v2/workflows/runs/wfr_2/steps/x", ""),
	mailRequest("DELETE", "/v2/workflows/runs/wfr_2?cancel=false", `"result"`, "Content-Type: text/plain"), mailRequest("DELETE", "/v2/workflows/runs/wfr_2?cancel=false", ""),
	mailRequest("DELETE", "/v2/workflows/runs/wfr_1?cancel=true", ""), mailRequest("DELETE", "/v2/workflows/runs/wfr_1/", ""), mailRequest("DELETE", "/v2/workflows/runs/wfr%5F1", ""),
	mailRequest("DELETE", "/v2/workflows/runs", `{"workflowRunIds":["wfr_none"]}`), mailRequest("POST", "/v2/workflows/runs/wfr_1", ""), mailRequest("DELETE", "/v2/Workflows/runs/x", ""),
	// Reading and changing the rest.
	mailRequest("GET", "/v2/messages/msg_nothing", ""), mailRequest("GET", "/v2/events", ""), mailRequest("GET", "/v2/events?count=3", ""), mailRequest("GET", "/v2/logs?label=one", ""),
	mailRequest("GET", "/v2/queues/", ""), mailRequest("GET", "/v2/queues/q", ""), mailRequest("POST", "/v2/queues", `{"queueName":"q","parallelism":2}`), mailRequest("POST", "/v2/queues/q/pause", ""),
	mailRequest("GET", "/v2/topics", ""), mailRequest("GET", "/v2/dlq", ""), mailRequest("GET", "/v2/flowControl", ""), mailRequest("GET", "/v2/flowControl/k", ""),
	mailRequest("POST", "/v2/flowControl/k/pause", ""), mailRequest("GET", "/v2/globalParallelism", ""), mailRequest("POST", "/v2/keys/rotate", ""), mailRequest("GET", "/v2/keys", ""),
	mailRequest("DELETE", "/v2/messages", `{"label":"one"}`), mailRequest("DELETE", "/v2/messages?queueName=q", ""), mailRequest("DELETE", "/v2/messages/", ""),
	mailRequest("GET", "/v2/openapi.yaml", ""), mailRequest("HEAD", "/v2/keys", ""), mailRequest("POST", "/llm/v1/chat/completions", "{}"),
}

// odd reports whether a request is one that the fast path leaves to net/http.
var odd = regexp.MustCompile("^OPTIONS|^\\S+ (http:|/llm|/v2/workflows/(logs|hooks|runs/\\S*[%/])|/v2/publish/\\S*%zz|\\S*(#|caf))|Transfer-Encoding|Expect|\r\nPragma|\r\nTE:|odd'name")

// TestFastPathAgreesWithNetHTTP: every request gets the same answer on the fast path as from net/http, and leaves the
// same state and the same metrics.
func TestFastPathAgreesWithNetHTTP(t *testing.T) {
	fast, slow := twoWays(t, nil)
	var ids []string
	asked := 0
	alike := func(request string) {
		t.Helper()
		asked++
		fast.connect()
		slow.connect()
		quick, usual := fast.send(request), slow.send(request)
		if quick != usual {
			t.Fatalf("%.300q\nlane:     %.2000s\nnet/http: %.2000s", request, quick, usual)
		}
		within := 1.0
		if odd.MatchString(request) || len(request) > 64<<10 { // of connections that have not logged in
			within = 0
		}
		fast.holds(within)
		slow.holds(0)
		ids = append(ids, regexp.MustCompile("msg_[0-9A-Za-z]+").FindAllString(quick, -1)...)
	}
	for _, request := range mailRequests {
		alike(request)
		if a, b := fast.state(), slow.state(); a != b {
			t.Fatalf("%.300q: states of %d and %d bytes differ", request, len(a), len(b))
		}
	}
	if len(ids) < 40 {
		t.Fatalf("only %d messages were made", len(ids))
	}
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		alike(mailRequest("GET", "/v2/messages/"+id+"?explain=true", ""))
		alike(mailRequest("DELETE", "/v2/messages/"+id, ""))
	}
	for range asked { // as many as made the other's connections leave
		fast.connect()
		fast.send(leave)
	}
	fast.close()
	slow.close()
	if a, b := fast.counted(), slow.counted(); a != b {
		t.Errorf("fast:\n%s\nnet/http:\n%s", a, b)
	}
}

// TestBothWaysFailAlike: errors of the engine get the same replies.
func TestBothWaysFailAlike(t *testing.T) {
	fast, slow := twoWays(t, func(o *httpapi.Options) { o.LoopbackOnly = true })
	check := func(what, request string) {
		t.Helper()
		fast.connect()
		slow.connect()
		if a, b := fast.send(request), slow.send(request); a != b {
			t.Errorf("%s:\nlane: %s\nnet/http: %s", what, a, b)
		}
	}
	publish, read := mailRequest("POST", to, "x"), mailRequest("GET", "/v2/events", "")
	for _, err := range []error{fsm.ErrNoLeader, fsm.ErrTooLarge, fsm.ErrLowSpace, fsm.ErrStopping, fsm.ErrUnknown, errors.New("disk on fire")} {
		for _, w := range []*way{fast, slow} {
			w.engine.FailWrites(err, false)
			w.engine.FailReads(err)
		}
		check(err.Error(), publish)
		check(err.Error(), read)
		check(err.Error(), rawMail("POST", to, "Authorization: Bearer unheard-of\r\n"))
	}
	for _, w := range []*way{fast, slow} {
		w.engine.FailWrites(nil, false)
		w.engine.FailReads(nil)
	}
	check("page of another site", mailRequest("POST", to, "x", "Origin: https://evil.example"))
	check("host of elsewhere", rawMail("POST", to, ""))
}

// TestRequestsThatFollowOneAnother: a request on a kept connection has no effect on the next one.
func TestRequestsThatFollowOneAnother(t *testing.T) {
	lines := map[string][]string{
		"Content-Type": {"text/plain", "application/json"}, "Upstash-Delay": {"1h", "2h", "x"}, "Upstash-Retries": {"1", "2"}, "Upstash-Label": {"a", "b,c"},
		"Upstash-Header-Forward": {"true", "false"}, "X-Any": {"1", "22"}, "Svc-Delay": {"3h"}, "Upstash-Queue-Name": {"q", "q2"}, "Upstash-Deduplication-Id": {"i", "j"},
		"Upstash-Forward-A": {"1", ""}, "Upstash-Callback": {"https://cb.example", "bad"}, "X-Request-Id": {"one", "two"}, "Pragma": {"no-cache"},
	}
	names := slices.Sorted(maps.Keys(lines))
	targets := []string{to, to + "?a=b&upstash-delay=5m", "/v2/enqueue/q/https://example.com", "/v2/publish/", "/v2/events?count=2", "/get/k"}
	rapid.Check(t, func(r *rapid.T) {
		fast, slow := twoWays(t, nil)
		defer fast.close()
		defer slow.close()
		fast.connect()
		slow.connect()
		for range rapid.IntRange(2, 12).Draw(r, "requests") {
			var header []string
			for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, 4, rapid.ID).Draw(r, "names") {
				header = append(header, name+": "+rapid.SampledFrom(lines[name]).Draw(r, name))
			}
			method := rapid.SampledFrom([]string{"POST", "POST", "POST", "GET", "DELETE"}).Draw(r, "method")
			body := rapid.SampledFrom([]string{"", "x", strings.Repeat("y", 5000)}).Draw(r, "body")
			request := mailRequest(method, rapid.SampledFrom(targets).Draw(r, "target"), body, header...)
			if a, b := fast.send(request), slow.send(request); a != b {
				r.Fatalf("%q\nlane: %s\nnet/http: %s", request, a, b)
			}
		}
		if fast.state() != slow.state() {
			r.Fatal("the states differ")
		}
	})
}
