package testapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/httpapi/testapi"
	"github.com/trireme-dev/trireme/internal/testclock"
)

// bench is an API over a node with alarms.
type bench struct {
	t     *testing.T
	node  *alarms
	api   *testapi.API
	begin int64
}

func newBench(t *testing.T, next http.RoundTripper, due ...int64) *bench {
	clock := testclock.New(testclock.Frozen)
	node := newAlarms(clock, due...)
	permitted := func(r *http.Request) bool { return r.Header.Get("Authorization") == "Bearer admin" }
	api := testapi.New(testapi.NewStepper(clock, node), testapi.NewRecorder(next, node.Now), testapi.NewSinks(node.Now), permitted)
	return &bench{t, node, api, node.Now()}
}

// ask sends a request with the admin token and reads the JSON of the answer into out.
func (b *bench) ask(method, path, body string, status int, out any) {
	b.t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer admin")
	w := httptest.NewRecorder()
	b.api.ServeHTTP(w, r)
	if w.Code != status {
		b.t.Errorf("%s %s %s: status %d, want %d: %s", method, path, body, w.Code, status, w.Body)
	}
	if out == nil {
		return
	}
	if err := json.Unmarshal(w.Body.Bytes(), out); err != nil {
		b.t.Errorf("%s %s: %v in %q", method, path, err, w.Body)
	}
}

type clockAnswer struct {
	Now     int64
	Mode    string
	NextDue *int64
	Error   string
	Busy    *testapi.Busy
}

// TestClockIsMovedByRequests: by a duration, to a time in either form, and with a mode.
func TestClockIsMovedByRequests(t *testing.T) {
	b := newBench(t, nil, 1000)
	var got clockAnswer
	if b.ask("GET", "/test/clock", "", 200, &got); got.Now != b.begin || got.Mode != "frozen" || got.NextDue == nil || *got.NextDue != b.begin+1000 {
		t.Errorf("at the begin: %+v", got)
	}
	got = clockAnswer{}
	if b.ask("POST", "/test/clock", `{"advance":"90m"}`, 200, &got); got.Now != b.begin+90*60_000 || got.NextDue != nil || len(b.node.history()) != 1 {
		t.Errorf("90 minutes later: %+v", got)
	}
	if b.ask("POST", "/test/clock", `{"advance":"2d"}`, 200, &got); got.Now != b.begin+90*60_000+2*86_400_000 {
		t.Errorf("2 days later: %+v", got)
	}
	to := got.Now + 5
	if b.ask("POST", "/test/clock", fmt.Sprintf(`{"to":%d}`, to), 200, &got); got.Now != to {
		t.Errorf("at %d: %+v", to, got)
	}
	if b.ask("POST", "/test/clock", `{"to":"2100-01-02T03:04:05Z","mode":"auto"}`, 200, &got); got.Now != 4102542245000 || got.Mode != "auto" {
		t.Errorf("in 2100: %+v", got)
	}
	if b.ask("POST", "/test/clock", `{"mode":"frozen"}`, 200, &got); got.Mode != "frozen" || got.Now != 4102542245000 {
		t.Errorf("frozen again: %+v", got)
	}
	if b.ask("POST", "/test/clock", "", 200, &got); got.Now != 4102542245000 {
		t.Errorf("a move to nowhere: %+v", got)
	}
}

// TestClockRefusesWhatItCanNotDo: each wrong body is refused with its reason, and time stays.
func TestClockRefusesWhatItCanNotDo(t *testing.T) {
	b := newBench(t, nil)
	for _, c := range []struct{ query, body, says string }{
		{"", `{"advance":"1h","to":1}`, "got both"},
		{"", `{"advance":"soon"}`, `got "soon"`},
		{"", `{"advance":"-1h"}`, `got "-1h"`},
		{"", `{"advance":"1.5d"}`, `got "1.5d"`},
		{"", `{"to":"tomorrow"}`, `got "tomorrow"`},
		{"", `{"to":{}}`, "got {}"},
		{"", `{"to":1}`, "set back"},
		{"", `{"mode":"fast"}`, `got "fast"`},
		{"", `{"advanced":"1h"}`, "unknown field"},
		{"", `[]`, "expected a JSON object"},
		{"", `{"advance":`, "expected a JSON object: it ends too early"},
		{"", `{"advance":90}`, "advance: expected a string, got number at byte 13"},
		{"", `{"advance":"1h"}{}`, "expected its end at byte"},
		{"", `{"to":253402300800000}`, "expected unix milliseconds up to the year 9999, got 253402300800000"},
		{"?wait=5s", `{"advance":"1h"}`, `unknown parameter "wait": this path takes timeout`},
		{"?timeout=0s", `{"advance":"1h"}`, `got "0s"`},
		{"?timeout=x", `{"advance":"1h"}`, `got "x"`},
	} {
		var got clockAnswer
		if b.ask("POST", "/test/clock"+c.query, c.body, 400, &got); !strings.Contains(got.Error, c.says) {
			t.Errorf("%s: error %q, want %q in it", c.body, got.Error, c.says)
		}
	}
	if b.node.Now() != b.begin {
		t.Error("a refused request moved time")
	}
}

// TestBusyServerIsAConflict: the answer says what is under way.
func TestBusyServerIsAConflict(t *testing.T) {
	b := newBench(t, nil, 1000)
	b.node.hold = true
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		b.node.waitForDelivery()
		cancel()
	}()
	for _, path := range []string{"/test/clock", "/test/idle"} { // the second one's client has gone already
		r := httptest.NewRequest("POST", path, strings.NewReader(`{"advance":"5s"}`)).WithContext(ctx)
		r.Header.Set("Authorization", "Bearer admin")
		w := httptest.NewRecorder()
		b.api.ServeHTTP(w, r)
		var got clockAnswer
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != 409 || got.Busy == nil || got.Busy.UnderWay != 1 || !strings.Contains(got.Error, "not idle") {
			t.Errorf("%s: %d %s, %v", path, w.Code, w.Body, err)
		}
	}
	b.node.finish()
	var got clockAnswer
	if b.ask("POST", "/test/idle", "", 200, &got); got.Now != b.begin+1000 {
		t.Errorf("idle: %+v", got)
	}
	b.node.tickErr = errors.New("no leader")
	b.ask("POST", "/test/clock", `{"advance":"5s"}`, 503, &got)
}

// TestTokenIsNeeded for everything but deliveries to sinks.
func TestTokenIsNeeded(t *testing.T) {
	b := newBench(t, nil)
	for path, want := range map[string]int{
		"GET /test/clock": 401, "POST /test/clock": 401, "POST /test/idle": 401, "GET /test/deliveries": 401, "POST /test/reset": 401,
		"GET /test/sink/a": 200, "PUT /test/sink/a": 200, "DELETE /test/sink/a": 200, "GET /test/sink/": 401, "GET /test/other": 401,
	} {
		method, path, _ := strings.Cut(path, " ")
		w := httptest.NewRecorder()
		b.api.ServeHTTP(w, httptest.NewRequest(method, path, nil))
		if w.Code != want {
			t.Errorf("%s %s: status %d, want %d", method, path, w.Code, want)
		}
	}
	if got := len(b.api.Received("a")); got != 3 {
		t.Errorf("requests without a token are deliveries, yet the sink has %d of 3", got)
	}
	var got clockAnswer
	if b.ask("GET", "/test/other", "", 404, &got); !strings.Contains(got.Error, "nothing at /test/other: there are /test/clock, ") {
		t.Errorf("an unknown path: %q", got.Error)
	}
	if b.ask("PATCH", "/test/clock", "", 405, &got); got.Error != "/test/clock takes GET, POST, got PATCH" {
		t.Errorf("an unknown method: %q", got.Error)
	}
	for _, line := range []string{"GET /test/clock", "POST /test/reset"} {
		method, path, _ := strings.Cut(line, " ")
		if b.ask(method, path+"?all=true", "", 400, &got); got.Error != `unknown parameter "all": this path takes none` {
			t.Errorf("%s with a parameter: %q", line, got.Error)
		}
	}
}

// deliver sends a request without a token.
func (b *bench) deliver(method, path, body string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	b.api.ServeHTTP(w, httptest.NewRequest(method, path, strings.NewReader(body)))
	return w
}

// TestSinkAnswersByItsScript: it gives one reply after the other, and then the last one again and again.
func TestSinkAnswersByItsScript(t *testing.T) {
	b := newBench(t, nil)
	if w := b.deliver("POST", "/test/sink/a", "x"); w.Code != 200 || w.Body.Len() != 0 {
		t.Errorf("without a script: %d %q", w.Code, w.Body)
	}
	b.ask("PUT", "/test/sink/a", `{"replies":[{"status":500,"body":"no"},{"header":{"X-A":"1"},"body":"ok"}]}`, 200, nil)
	for i, want := range []int{500, 200, 200} {
		w := b.deliver("POST", fmt.Sprintf("/test/sink/a?n=%d", i), "body")
		if w.Code != want || want == 200 && (w.Header().Get("X-A") != "1" || w.Body.String() != "ok") {
			t.Errorf("delivery %d: %d %q %v", i, w.Code, w.Body, w.Header())
		}
	}
	var got struct{ Requests []testapi.Received }
	b.ask("GET", "/test/sink/a", "", 200, &got)
	if len(got.Requests) != 4 || got.Requests[3].Path != "/test/sink/a?n=2" || got.Requests[3].Body != "body" || got.Requests[3].At != b.begin || got.Requests[3].Method != "POST" {
		t.Errorf("the sink has received %+v", got.Requests)
	}
	b.ask("GET", "/test/sink/unknown", "", 200, &got)
	if len(got.Requests) != 0 {
		t.Errorf("a sink that nobody called has received %+v", got.Requests)
	}
}

// TestSinkRefusesScripts: a script that can't be played is refused completely.
func TestSinkRefusesScripts(t *testing.T) {
	b := newBench(t, nil)
	for body, says := range map[string]string{
		`{"replies":[{},{"status":99}]}`:                        "reply 1: expected a status from 200 to 599, got 99",
		`{"replies":[{"status":600}]}`:                          "got 600",
		`{"replies":[{"delayMs":-1}]}`:                          "got -1",
		`{"replies":[{"delayMs":600001}]}`:                      "got 600001",
		`{"replies":[{"code":500}]}`:                            "reply 0: unknown field",
		`{"replies":[{},{"status":"500"}]}`:                     "reply 1: status: expected an integer, got string at byte 15",
		`{"replies":[{},{},[]]}`:                                "reply 2: expected an object, got array",
		`{"replies":{}}`:                                        "replies: expected an array, got object",
		`{"replies":[]} {}`:                                     "expected its end at byte",
		`{"replies":[` + strings.Repeat(`{},`, 10_000) + `{}]}`: "at most 10000 replies",
	} {
		var got clockAnswer
		if b.ask("PUT", "/test/sink/a", body, 400, &got); !strings.Contains(got.Error, says) {
			t.Errorf("%.40s: %q, want %q in it", body, got.Error, says)
		}
	}
	var got clockAnswer
	long := strings.Repeat("n", 129)
	if b.ask("PUT", "/test/sink/"+long, `{}`, 400, &got); !strings.Contains(got.Error, "too many sinks") {
		t.Errorf("a long name: %q", got.Error)
	}
	if w := b.deliver("POST", "/test/sink/"+long, ""); w.Code != 507 {
		t.Errorf("a delivery to a sink that can't be: %d", w.Code)
	}
}

// TestSinkHangsUp closes the connection without an answer.
func TestSinkHangsUp(t *testing.T) {
	b := newBench(t, nil)
	b.ask("PUT", "/test/sink/a", `{"replies":[{"hangUp":true},{"status":204,"delayMs":1}]}`, 200, nil)
	s := httptest.NewServer(b.api)
	defer s.Close()
	if res, err := http.Post(s.URL+"/test/sink/a", "", nil); err == nil {
		res.Body.Close()
		t.Errorf("answered %d", res.StatusCode)
	}
	res, err := http.Post(s.URL+"/test/sink/a", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != 204 {
		t.Errorf("after the hang-up: %d", res.StatusCode)
	}
}

// answers is a transport that answers by the path: a number is a status, anything else an error.
type answers struct{}

func (answers) RoundTrip(r *http.Request) (*http.Response, error) {
	status := 0
	if _, err := fmt.Sscanf(r.URL.Path, "/%d", &status); err != nil {
		return nil, errors.New("unreachable")
	}
	return &http.Response{StatusCode: status, Header: http.Header{"X-Reply": {"1"}}, Body: io.NopCloser(strings.NewReader("reply of " + r.URL.Path))}, nil
}

// send passes a request through the recorder, and reads and closes its answer as the scheduler does.
func (b *bench) send(method, url, body string, header ...string) {
	b.t.Helper()
	r, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	p, err := b.api.RoundTrip(r)
	if err != nil {
		return
	}
	if _, err := io.Copy(io.Discard, p.Body); err != nil {
		b.t.Error(err)
	}
	p.Body.Close()
	p.Body.Close() // once more must not record it again
}

type deliveriesAnswer struct{ Deliveries []testapi.Delivery }

// TestDeliveriesAreRecorded: with the request, the answer, and the reason if there was none.
func TestDeliveriesAreRecorded(t *testing.T) {
	b := newBench(t, answers{})
	b.send("POST", "http://a.example/200", "one", "Svc-Message-Id", "msg_1", "Svc-Retried", "0", "Svc-Schedule-Id", "s")
	b.send("PUT", "http://a.example/503", "two", "Upstash-Message-Id", "msg_2", "Upstash-Retried", "3", "Upstash-Workflow-RunId", "wfr_1")
	b.send("POST", "http://b.example/lost", "three")
	var got deliveriesAnswer
	b.ask("GET", "/test/deliveries", "", 200, &got)
	if len(got.Deliveries) != 3 {
		t.Fatalf("recorded %+v", got.Deliveries)
	}
	one, two, three := got.Deliveries[0], got.Deliveries[1], got.Deliveries[2]
	if one.Number != 1 || one.MessageID != "msg_1" || one.Retried != "0" || one.ScheduleID != "s" || one.Body != "one" || one.Status != 200 ||
		one.ResponseBody != "reply of /200" || one.ResponseHeader.Get("X-Reply") != "1" || one.At != b.begin || one.URL != "http://a.example/200" {
		t.Errorf("the first is %+v", one)
	}
	if two.Number != 2 || two.MessageID != "msg_2" || two.Retried != "3" || two.WorkflowRunID != "wfr_1" || two.Status != 503 || two.Method != "PUT" {
		t.Errorf("the second is %+v", two)
	}
	if three.Status != 0 || three.Error != "unreachable" || three.Body != "three" {
		t.Errorf("the third is %+v", three)
	}
}

// TestDeliveriesAreFiltered: filters must all match.
func TestDeliveriesAreFiltered(t *testing.T) {
	b := newBench(t, answers{})
	b.send("POST", "http://a.example/200", "", "Svc-Message-Id", "msg_1")
	b.send("POST", "http://a.example/503", "", "Svc-Message-Id", "msg_1")
	b.send("PUT", "http://b.example/200", "", "Svc-Message-Id", "msg_2", "Svc-Schedule-Id", "s", "Svc-Workflow-RunId", "wfr_1")
	for query, want := range map[string]string{
		"": "1 2 3", "messageId=msg_1": "1 2", "status=200": "1 3", "messageId=msg_1&status=200": "1", "url=http://a.": "1 2", "method=put": "3",
		"scheduleId=s": "3", "workflowRunId=wfr_1": "3", "since=1": "2 3", "since=3": "", "messageId=other": "",
	} {
		var got deliveriesAnswer
		b.ask("GET", "/test/deliveries?"+query, "", 200, &got)
		var numbers []string
		for _, d := range got.Deliveries {
			numbers = append(numbers, fmt.Sprint(d.Number))
		}
		if list := strings.Join(numbers, " "); list != want {
			t.Errorf("%q chooses %q, want %q", query, list, want)
		}
	}
	var refused clockAnswer
	if b.ask("GET", "/test/deliveries?message=msg_1", "", 400, &refused); !strings.Contains(refused.Error, `unknown parameter "message": this path takes messageId, method, scheduleId, since, status, url, workflowRunId`) {
		t.Errorf("an unknown filter: %q", refused.Error)
	}
	for query, says := range map[string]string{"since=x": `since: expected a number, got "x"`, "status=ok": `status: expected a number, got "ok"`} {
		if b.ask("GET", "/test/deliveries?"+query, "", 400, &refused); refused.Error != says {
			t.Errorf("%s: %q", query, refused.Error)
		}
	}
}

// TestLargeBodiesAreCut: 64 KiB of each body are kept.
func TestLargeBodiesAreCut(t *testing.T) {
	b := newBench(t, answers{})
	b.send("POST", "http://a.example/200", strings.Repeat("x", 64<<10+1))
	if d := b.api.Deliveries(func(*testapi.Delivery) bool { return true })[0]; len(d.Body) != 64<<10 {
		t.Errorf("%d bytes of the body are kept", len(d.Body))
	}
}

// TestReset empties the server, its deliveries and its sinks.
func TestReset(t *testing.T) {
	b := newBench(t, answers{}, 5000)
	b.send("POST", "http://a.example/200", "")
	b.ask("PUT", "/test/sink/a", `{"replies":[{"status":500}]}`, 200, nil)
	b.deliver("POST", "/test/sink/a", "")
	var got clockAnswer
	if b.ask("POST", "/test/reset", "", 200, &got); got.NextDue != nil || got.Now != b.begin || b.node.resets != 1 {
		t.Errorf("after the reset: %+v", got)
	}
	if w := b.deliver("POST", "/test/sink/a", ""); w.Code != 200 || len(b.api.Received("a")) != 1 {
		t.Errorf("the sink still answers %d and has %d requests", w.Code, len(b.api.Received("a")))
	}
	b.send("POST", "http://a.example/200", "")
	if all := b.api.Deliveries(func(*testapi.Delivery) bool { return true }); len(all) != 1 || all[0].Number != 1 {
		t.Errorf("deliveries after the reset: %+v", all)
	}
	b.node.resetErr = errors.New("no leader")
	if b.ask("POST", "/test/reset", "", 503, &got); len(b.api.Received("a")) != 1 {
		t.Error("a reset that failed has emptied the sinks")
	}
}
