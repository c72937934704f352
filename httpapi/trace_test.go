package httpapi_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/httpapi"
	"github.com/trireme-dev/trireme/httpapi/httpapitest"
	"github.com/trireme-dev/trireme/httpapi/messages"
	"github.com/trireme-dev/trireme/internal/otlp"
	"github.com/trireme-dev/trireme/node/tracing"
	"github.com/trireme-dev/trireme/workflow"
)

const (
	traceA = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	traceB = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"
)

// traced is a destination that keeps the trace context of the requests it gets, by their path.
type traced struct {
	*mail
	url string
	got chan [3]string // path, traceparent, tracestate
}

func startTraced(t *testing.T, keep bool) *traced {
	t.Helper()
	w := &traced{got: make(chan [3]string, 1000)}
	destination := httptest.NewServer(http.HandlerFunc(func(a http.ResponseWriter, r *http.Request) {
		w.got <- [3]string{r.URL.Path, r.Header.Get("traceparent"), r.Header.Get("tracestate")}
		if strings.HasPrefix(r.URL.Path, "/fails") {
			a.WriteHeader(500)
		}
	}))
	t.Cleanup(destination.Close)
	nodes := httpapitest.ServeDelivering(t, 3, "", func(o *httpapi.Options) {
		o.Messages = &messages.Parser{Prefixes: httpapitest.Prefixes(), Traces: func() bool { return keep }}
	})
	w.mail, w.url = &mail{T: t, nodes: nodes, token: httpapitest.MessagesToken}, destination.URL
	return w
}

// next returns the next n requests to the destination; all have to have this trace context.
func (t *traced) next(n int, parent, state string) (paths map[string]int) {
	t.Helper()
	paths = map[string]int{}
	for range n {
		select {
		case got := <-t.got:
			paths[got[0]]++
			if got[1] != parent || got[2] != state {
				t.Errorf("%s: traceparent %q, tracestate %q; want %q, %q", got[0], got[1], got[2], parent, state)
			}
		case <-time.After(time.Minute):
			t.Fatalf("no delivery; until now %v", paths)
		}
	}
	return paths
}

// TestTraceContextTravels: each attempt and each callback carries the trace of the publication, whatever its entry
// point.
func TestTraceContextTravels(t *testing.T) {
	w := startTraced(t, true)
	in := []string{"traceparent", traceA, "tracestate", "a=1", "tracestate", "b=2"}
	send := func(status int, path, body string, header ...string) {
		w.Helper()
		w.want(status, "", "POST", path, body, append(header, in...)...)
	}
	send(200, "/v2/publish/"+w.url+"/fails", "", "Upstash-Retries", "1", "Upstash-Retry-Delay", "1", "Upstash-Callback", w.url+"/callback", "Upstash-Failure-Callback", w.url+"/failed")
	if got := w.next(5, traceA, "a=1,b=2"); got["/fails"] != 2 || got["/callback"] != 2 || got["/failed"] != 1 {
		t.Error(got)
	}
	send(200, "/v2/enqueue/q/"+w.url+"/queued", "")
	w.next(1, traceA, "a=1,b=2")
	w.want(200, "", "POST", "/v2/topics/news/endpoints", `{"endpoints":[{"url":"`+w.url+`/one"},{"url":"`+w.url+`/two"}]}`)
	send(200, "/v2/publish/news", "")
	w.next(2, traceA, "a=1,b=2")
	send(200, "/v2/publish/"+w.url+"/all", "", "Upstash-Header-Forward", "true", "X-Mine", "1")
	w.next(1, traceA, "a=1,b=2")

	// An item of a batch has a trace of its own, or that of its request.
	send(200, "/v2/batch", `[{"destination":"`+w.url+`/own","headers":{"traceparent":"`+traceB+`"}}]`)
	w.next(1, traceB, "")
	send(200, "/v2/batch", `[{"destination":"`+w.url+`/item"}]`)
	w.next(1, traceA, "a=1,b=2")

	// A forwarded header wins, and one that breaks the rules counts as none.
	send(200, "/v2/publish/"+w.url+"/forwarded", "", "Upstash-Forward-Traceparent", "mine")
	w.next(1, "mine", "")
	w.want(200, "", "POST", "/v2/publish/"+w.url+"/bad", "", "traceparent", strings.ToUpper(traceA), "tracestate", "a=1")
	w.next(1, "", "")

	send(200, "/v2/schedules/"+w.url+"/scheduled", "", "Upstash-Cron", "@every 1s", "Upstash-Schedule-Id", "s")
	w.next(2, traceA, "a=1,b=2")
	w.want(200, "", "DELETE", "/v2/schedules/s", "")
}

// TestTraceContextIsDropped: with --trace-propagation off.
func TestTraceContextIsDropped(t *testing.T) {
	w := startTraced(t, false)
	w.want(200, "", "POST", "/v2/publish/"+w.url+"/x", "", "traceparent", traceA, "tracestate", "a=1")
	w.next(1, "", "")
	w.want(200, "", "POST", "/v2/publish/"+w.url+"/x", "", "traceparent", traceA, "Upstash-Header-Forward", "true")
	w.next(1, traceA, "") // what was asked for
}

// TestTraceContextOfRuns: each call of the endpoint, of a third party and of the failure function belongs to the trace
// of the trigger, although SDKs send back what they were sent.
func TestTraceContextOfRuns(t *testing.T) {
	w := startTraced(t, true)
	o := workflow.Options{URL: "http://" + w.nodes.Addrs[0], Token: w.token, Unsigned: true}
	e := workflow.Handler(o, workflow.New("flow", func(c *workflow.Context, _ []byte) (int, error) {
		out := workflow.Run(c, "one", func(context.Context) (int, error) { return 1, nil })
		workflow.Sleep(c, "nap", time.Second)
		_, err := workflow.Call(c, "ask", workflow.Request{URL: w.url + "/third", Method: "POST"})
		return out, err
	}))
	app := httptest.NewServer(http.HandlerFunc(func(a http.ResponseWriter, r *http.Request) {
		w.got <- [3]string{r.URL.Path, r.Header.Get("traceparent"), r.Header.Get("tracestate")}
		e.ServeHTTP(a, r)
	}))
	defer app.Close()
	w.want(200, "", "POST", "/v2/trigger/"+app.URL+"/flow", `{}`, "traceparent", traceA, "tracestate", "a=1")
	if got := w.next(6, traceA, "a=1"); got["/third"] != 1 {
		t.Error(got)
	}
	w.want(201, "", "POST", "/v2/batch/trigger", `[{"destination":"`+app.URL+`/flow","body":"{}","headers":{}}]`, "traceparent", traceB)
	if got := w.next(6, traceB, ""); got["/third"] != 1 {
		t.Error(got)
	}
	w.want(200, "", "POST", "/v2/trigger/"+app.URL+"/flow", `{}`, "traceparent", traceA, "Upstash-Forward-Traceparent", traceB)
	for range 6 {
		if got := <-w.got; got[0] != "/third" && got[1] != traceB || got[0] == "/third" && got[1] != traceA {
			t.Error(got)
		}
	}
}

// tracedGateway records the spans of all requests.
func tracedGateway(t *testing.T) (g *gateway, next func() otlp.Span, log *lines) {
	spans := make(chan otlp.Span, 100)
	log = &lines{}
	g = newGateway(t, func(o *httpapi.Options) {
		o.Traces = &tracing.Commands{Export: func(s otlp.Span) { spans <- s }, Ratio: 1, Table: command.NewTable()}
		o.Log = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	return g, func() otlp.Span {
		t.Helper()
		select {
		case s := <-spans:
			return s
		case <-time.After(time.Minute):
			t.Fatal("no span")
			return otlp.Span{}
		}
	}, log
}

func attributesOf(s otlp.Span) map[string]string {
	all := map[string]string{}
	for _, a := range s.Attributes {
		all[a.Key] = a.Text
		if a.Text == "" {
			all[a.Key] = fmt.Sprint(a.Number)
		}
	}
	return all
}

// TestSpansOfCommands: a request to the keyspace has a span and its commands have one below it, in the trace that the caller names,
// without any argument; the log names the same trace.
func TestSpansOfCommands(t *testing.T) {
	g, next, log := tracedGateway(t)
	const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	for _, c := range []struct {
		method, path, body, route, name string
		want                            map[string]string
	}{
		{"POST", "/", `["SET","secret","v"]`, "/", "SET", map[string]string{}},
		{"GET", "/get/secret", "", "/{command}", "GET", map[string]string{}},
		{"POST", "/pipeline", `[["GET","secret"],["LPUSH","secret","v"]]`, "/pipeline", "BATCH", map[string]string{"db.operation.batch.size": "2", "error.type": "WRONGTYPE"}},
		{"POST", "/multi-exec", `[["GET","secret"],["GET","b"]]`, "/multi-exec", "BATCH GET", map[string]string{"db.operation.batch.size": "2"}},
	} {
		g.ask(t, c.method, c.path, c.body, "Traceparent: "+parent)
		run, served := next(), next()
		if run.Name != c.name || served.Name != c.method+" "+c.route || run.Kind != otlp.Internal || served.Kind != otlp.Serving {
			t.Errorf("%s: %s, %s", c.path, run.Name, served.Name)
		}
		if run.Parent != served.ID || run.Trace != served.Trace || fmt.Sprintf("%x", served.Trace) != parent[3:35] || fmt.Sprintf("%x", served.Parent) != parent[36:52] {
			t.Errorf("%s: run %+v, served %+v", c.path, run, served)
		}
		if a := attributesOf(served); a["http.response.status_code"] != "200" || a["http.request.method"] != c.method || a["http.route"] != c.route || a["client.address"] != "127.0.0.1" || a["url.scheme"] != "http" {
			t.Errorf("%s: %v", c.path, a)
		}
		for key, want := range c.want {
			if got := attributesOf(run)[key]; got != want {
				t.Errorf("%s: %s is %q, want %q", c.path, key, got, want)
			}
		}
		if text := fmt.Sprintf("%+v %+v", run, served); strings.Contains(text, "secret") {
			t.Errorf("an argument is in %s", text)
		}
		if line := "trace_id=" + parent[3:35] + fmt.Sprintf(" span_id=%x", served.ID); !strings.Contains(awaitLog(t, log, line), line) {
			t.Errorf("no %s in the log", line)
		}
	}
	// A request that is refused has no commands, and one of a trace that is not recorded no span.
	g.ask(t, "GET", "/get/k", "", "Traceparent: "+parent[:53]+"00")
	g.ask(t, "GET", "/get/k", "", "Authorization: Bearer wrong")
	if s := next(); s.Name != "GET" || attributesOf(s)["http.response.status_code"] != "401" || s.Failed {
		t.Errorf("%+v", s)
	}
}

// awaitLog returns the log once it has a text; the line of a request is written after its reply.
func awaitLog(t *testing.T, log *lines, text string) string {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if all := log.String(); strings.Contains(all, text) || time.Now().After(deadline) {
			return all
		}
	}
}
