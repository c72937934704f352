package scheduler

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/workflow"
)

const (
	ofPublisher = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-"
	ofAttempt   = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-"
)

// lines is a log in JSON.
type lines struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.Write(b)
}

// of returns the lines with a message.
func (l *lines) of(t *testing.T, msg string) (list []map[string]any) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for text := range strings.Lines(l.all.String()) {
		var line map[string]any
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatal(err)
		}
		if line["msg"] == msg {
			list = append(list, line)
		}
	}
	return list
}

func logTo(l *lines, level slog.Level) *slog.Logger {
	return slog.New(slog.NewJSONHandler(l, &slog.HandlerOptions{Level: level}))
}

// TestAttemptsAreLogged at debug level with the trace that they belong to: the attempt's own span if it is recorded, otherwise
// the publisher's trace, and nothing where there is none.
func TestAttemptsAreLogged(t *testing.T) {
	of := func(parent string) queue.Options { return queue.Options{}.InTrace(queue.TraceContext{Parent: parent}) }
	span := func(flags string) func(*queue.Attempt) queue.TraceContext {
		return func(*queue.Attempt) queue.TraceContext { return queue.TraceContext{Parent: ofAttempt + flags} }
	}
	for name, c := range map[string]struct {
		publisher   queue.Options
		spans       func(*queue.Attempt) queue.TraceContext
		trace, span any
	}{
		"no trace":                {queue.Options{}, nil, nil, nil},
		"no collector":            {of(ofPublisher + "01"), nil, "0af7651916cd43dd8448eb211c80319c", nil},
		"a span":                  {of(ofPublisher + "01"), span("01"), "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"},
		"a span of its own trace": {queue.Options{}, span("01"), "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"},
		"not recorded":            {of(ofPublisher + "00"), span("00"), "0af7651916cd43dd8448eb211c80319c", nil},
		"not recorded, no trace":  {queue.Options{}, span("00"), nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			url, _ := sinkOf(t, nil)
			l, e := &lines{}, newEngine()
			lead(t, scheduler(t, e, func(o *Options) { o.Log, o.Trace = logTo(l, slog.LevelDebug), c.spans }))
			id := e.publish(t, queue.Publication{URL: url + "/path?token=secret", Options: c.publisher})
			until(t, "delivered", func() bool { return slices.Contains(e.states(id), "DELIVERED") })
			list := l.of(t, "delivery attempt")
			if len(list) != 1 {
				t.Fatalf("%d lines: %v", len(list), list)
			}
			for key, want := range map[string]any{
				"trace_id": c.trace, "span_id": c.span, "message": id.String(), "attempt": 1.0, "status": 200.0, "level": "DEBUG",
				"host": strings.TrimPrefix(url, "http://"),
			} {
				if got := list[0][key]; got != want {
					t.Errorf("%s is %v, want %v", key, got, want)
				}
			}
			if text := l.all.String(); strings.Contains(text, "secret") {
				t.Errorf("the query of the URL is in %s", text)
			}
		})
	}
}

// TestHowAttemptsAreLogged: an attempt without an answer has its error, one without an outcome says so, a panic of ours is an
// error with the trace, and above debug level there is nothing else.
func TestHowAttemptsAreLogged(t *testing.T) {
	trace := queue.TraceContext{Parent: ofAttempt + "01"}
	a := &queue.Attempt{ID: queue.ID{Seq: 1}, Number: 2, Content: &queue.Content{URL: "http://a.example/"}}
	for name, c := range map[string]struct {
		result queue.Result
		key    string
		want   any
	}{
		"no answer":  {queue.Result{Error: "connection refused"}, "error", "connection refused"},
		"run over":   {queue.Result{Error: workflow.RunOver}, "error", workflow.RunOver},
		"no outcome": {queue.Result{Lost: true}, "outcome", "unknown"},
	} {
		l := &lines{}
		s := &Scheduler{Options: Options{Log: logTo(l, slog.LevelDebug), Trace: func(*queue.Attempt) queue.TraceContext { return trace }}}
		s.logAttempt(a, &c.result)
		if list := l.of(t, "delivery attempt"); len(list) != 1 || list[0][c.key] != c.want || list[0]["trace_id"] != trace.TraceID() || list[0]["span_id"] != trace.SpanID() {
			t.Errorf("%s: %v", name, list)
		}
	}
	l, e := &lines{}, newEngine()
	lead(t, scheduler(t, e, func(o *Options) {
		o.Log, o.Trace = logTo(l, slog.LevelInfo), func(*queue.Attempt) queue.TraceContext { return trace }
		o.Deliverer = delivererFunc(func(context.Context, *queue.Attempt) (queue.Result, bool) { panic("oh") })
	}))
	id := e.publish(t, queue.Publication{URL: "http://127.0.0.1/"})
	until(t, "failed", func() bool { return slices.Contains(e.states(id), "ERROR") })
	list := l.of(t, "sending a message panicked")
	if len(list) != 1 || list[0]["trace_id"] != trace.TraceID() || list[0]["span_id"] != trace.SpanID() || list[0]["message"] != id.String() {
		t.Errorf("panic: %v", list)
	}
	if quiet := l.of(t, "delivery attempt"); len(quiet) != 0 {
		t.Errorf("at info: %v", quiet)
	}
}

// TestAttemptOfARunThatIsOver sends nothing, and says why it ended in the words by which its span is told from others.
func TestAttemptOfARunThatIsOver(t *testing.T) {
	url, requests := sinkOf(t, nil)
	s := testSender(t, func(o *SenderOptions) {
		o.Deliveries = func(*queue.Attempt) (*workflow.Delivery, bool) { return nil, false }
	})
	if n := send(t, s, attempt(queue.Content{URL: url, Run: []byte("run")})); n.Error != workflow.RunOver || n.Response.Status != 0 {
		t.Errorf("%+v", n)
	}
	select {
	case r := <-requests:
		t.Errorf("sent %+v", r)
	default:
	}
}
