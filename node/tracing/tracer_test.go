package tracing

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/workflow"
	"github.com/trireme-dev/trireme/internal/otlp"
)

// traces is a tracer with the log of one node.
type traces struct {
	*Tracer
	t        *testing.T
	machine  *fsm.Machine
	leading  bool
	exported []otlp.Span
}

func newTraces(t *testing.T, leading bool) *traces {
	l := &traces{t: t, machine: fsm.NewMachine(), leading: leading}
	l.Tracer = &Tracer{
		Node: func() Node { return l }, Export: func(s otlp.Span) { l.exported = append(l.exported, s) },
		Sampler: otlp.Sampler{Parent: true, Ratio: 1},
	}
	return l
}

func (t *traces) Machine() *fsm.Machine { return t.machine }

func (t *traces) LeadingTerm() uint64 {
	if t.leading {
		return 1
	}
	return 0
}

// claim applies an entry that has claimed attempts.
func (t *traces) claim(now int64, attempts ...queue.Attempt) {
	for i := range attempts {
		attempts[i].Claimed = now
	}
	t.Applied(&fsm.Entry{Stamp: now, Requests: []fsm.Request{{Code: fsm.Advance.Code}}},
		[]fsm.Outcome{{Status: fsm.Applied, Code: fsm.Advance.Code, Value: fsm.Advanced{Attempts: attempts}}})
}

// finish applies an entry that ends attempts.
func (t *traces) finish(now int64, results ...queue.Result) {
	t.Applied(&fsm.Entry{Stamp: now, Requests: []fsm.Request{{Code: fsm.Finish.Code, Body: fsm.Finish.Body(queue.Results{Items: results})}}},
		[]fsm.Outcome{{Status: fsm.Applied, Code: fsm.Finish.Code}})
}

// spans are the exported ones, a line each.
func (t *traces) spans() (list []string) {
	for _, s := range t.exported {
		line := fmt.Sprintf("%s %d-%d", s.Name, s.Start.UnixMilli(), s.End.UnixMilli())
		if s.Failed {
			line += " failed " + attribute(s, "error.type") + " " + s.Error
		}
		list = append(list, strings.TrimSpace(line))
	}
	return list
}

func attribute(s otlp.Span, key string) string {
	for _, a := range s.Attributes {
		if a.Key == key && a.Text == "" {
			return fmt.Sprint(a.Number)
		} else if a.Key == key {
			return a.Text
		}
	}
	return ""
}

const (
	remoteTrace = "0af7651916cd43dd8448eb211c80319c"
	remoteSpan  = "b7ad6b7169203331"
)

func traced(flags string) queue.TraceContext {
	return queue.TraceContext{Parent: "00-" + remoteTrace + "-" + remoteSpan + "-" + flags, State: "a=1"}
}

func message(seq uint64) queue.Attempt {
	return queue.Attempt{ID: queue.ID{Seq: seq, Salt: 7}, Number: 1, Content: &queue.Content{URL: "https://user:secret@a.example/path?token=secret#part", Body: []byte("body"), Created: 900}}
}

// TestAttemptsBecomeSpans: the first attempt has the span of the publication before it, and each attempt one of its own.
func TestAttemptsBecomeSpans(t *testing.T) {
	l := newTraces(t, true)
	m := message(1)
	l.claim(1000, m)
	if got, want := l.spans(), []string{"send a.example 900-900"}; !slices.Equal(got, want) {
		t.Errorf("after the claim %q, want %q", got, want)
	}
	l.finish(1300, queue.Result{AttemptRef: m.Ref(), Response: queue.Response{Status: 503}, Took: 250})
	m.Number, m.Retried = 2, 1
	l.claim(5000, m)
	l.finish(5100, queue.Result{AttemptRef: m.Ref(), Response: queue.Response{Status: 200}, Took: 90})
	if got, want := l.spans()[1:], []string{"POST 1000-1250 failed 503", "POST 5000-5090"}; !slices.Equal(got, want) {
		t.Errorf("attempts %q, want %q", got, want)
	}
	send, first, second := l.exported[0], l.exported[1], l.exported[2]
	if send.Kind != otlp.Producer || first.Kind != otlp.Client || first.Parent != send.ID || second.Parent != send.ID || first.ID == second.ID {
		t.Error("the attempts are not children of the publication")
	}
	if send.Trace != first.Trace || first.Trace != second.Trace || send.Trace == (otlp.TraceID{}) || send.Parent != (otlp.SpanID{}) {
		t.Error("the spans are not one trace")
	}
	for key, want := range map[string]string{
		"url.full": "https://a.example", "server.address": "a.example", "server.port": "443", "http.request.method": "POST",
		"http.response.status_code": "200", "http.request.resend_count": "1", "messaging.message.id": m.ID.String(), "messaging.system": "trireme",
	} {
		if got := attribute(second, key); got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
	if got := attribute(first, "http.request.resend_count"); got != "" {
		t.Errorf("the first attempt was sent %s times before", got)
	}
	if got := attribute(send, "messaging.message.body.size"); got != "4" {
		t.Errorf("the size of the body is %q", got)
	}
	for _, s := range l.exported {
		if text := fmt.Sprintf("%+v", s); strings.Contains(text, "secret") {
			t.Errorf("a secret of the URL is in %s", text)
		}
	}
}

// TestHowAttemptsEnd: each way has its own error, and an outcome of another attempt is not taken for it.
func TestHowAttemptsEnd(t *testing.T) {
	for name, c := range map[string]struct {
		result queue.Result
		want   string
	}{
		"delivered":   {queue.Result{Response: queue.Response{Status: 204}, Took: 10}, "POST 1000-1010"},
		"redirect":    {queue.Result{Response: queue.Response{Status: 301}, Took: 10}, "POST 1000-1010 failed 301"},
		"refused":     {queue.Result{Response: queue.Response{Status: 500}, Took: 10}, "POST 1000-1010 failed 500"},
		"unreachable": {queue.Result{Error: "connection refused", Took: 10}, "POST 1000-1010 failed unreachable connection refused"},
		"cancelled":   {queue.Result{Error: workflow.RunOver}, "POST 1000-1000 failed cancelled the workflow run is over"},
		"lost":        {queue.Result{Lost: true}, "POST 1000-1300 failed lost the attempt was ended before its outcome was known"},
		"no time":     {queue.Result{Response: queue.Response{Status: 200}, Took: -5}, "POST 1000-1000"},
	} {
		l, m := newTraces(t, true), message(1)
		l.claim(1000, m)
		c.result.AttemptRef = m.Ref()
		other := c.result
		other.Number = 9
		l.finish(1200, other)
		if len(l.exported) != 1 {
			t.Errorf("%s: the result of another attempt ended this one", name)
		}
		l.finish(1300, c.result)
		l.finish(1400, c.result) // once more
		if got := l.spans()[1:]; !slices.Equal(got, []string{c.want}) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestAttemptWithoutAResult ends as lost when the next one of its message is claimed.
func TestAttemptWithoutAResult(t *testing.T) {
	l, m := newTraces(t, true), message(1)
	l.claim(1000, m)
	m.Number = 2
	l.claim(12_000, m)
	if got := l.spans()[1:]; len(got) != 1 || !strings.HasPrefix(got[0], "POST 1000-12000 failed lost ") {
		t.Errorf("spans %q", got)
	}
}

// TestRemoteContext: spans are in the publisher's trace, below its span, and keep its state.
func TestRemoteContext(t *testing.T) {
	l, m := newTraces(t, true), message(1)
	m.Content.Trace = traced("01")
	l.claim(1000, m)
	l.finish(1100, queue.Result{AttemptRef: m.Ref(), Response: queue.Response{Status: 200}})
	send, attempt := l.exported[0], l.exported[1]
	if hex.EncodeToString(send.Trace[:]) != remoteTrace || hex.EncodeToString(send.Parent[:]) != remoteSpan || send.State != "a=1" || attempt.Trace != send.Trace || attempt.State != "a=1" {
		t.Errorf("publication %+v, attempt %+v", send, attempt)
	}
	if got, want := l.Header(&m), (queue.TraceContext{Parent: "00-" + remoteTrace + "-" + hex.EncodeToString(attempt.ID[:]) + "-01", State: "a=1"}); got != want {
		t.Errorf("the attempt carries %+v, want %+v", got, want)
	}
}

// TestSampling: a publisher that does not record its trace gets no spans, and its destinations are told so.
func TestSampling(t *testing.T) {
	l, m := newTraces(t, true), message(1)
	m.Content.Trace = traced("00")
	l.claim(1000, m)
	l.finish(1100, queue.Result{AttemptRef: m.Ref(), Response: queue.Response{Status: 200}})
	if len(l.exported) != 0 {
		t.Errorf("spans %q of a trace that is not recorded", l.spans())
	}
	if got := l.Header(&m).Parent; !strings.HasPrefix(got, "00-"+remoteTrace+"-") || !strings.HasSuffix(got, "-00") {
		t.Errorf("the attempt carries %q", got)
	}
	l.Sampler = otlp.Sampler{Parent: true} // nothing of one's own
	own := message(2)
	l.claim(1000, own)
	if len(l.exported) != 0 || !strings.HasSuffix(l.Header(&own).Parent, "-00") {
		t.Errorf("spans %q at a ratio of 0", l.spans())
	}
}

// TestCallbackIsBelowItsMessage: a callback's publication is a child of the publication that it is about, in one trace.
func TestCallbackIsBelowItsMessage(t *testing.T) {
	l, m, back := newTraces(t, true), message(1), message(2)
	back.Content.Source.ID = m.ID
	l.claim(1000, m)
	l.claim(2000, back)
	of, callback := l.exported[0], l.exported[1]
	if callback.Parent != of.ID || callback.Trace != of.Trace || callback.ID == of.ID {
		t.Errorf("message %+v, callback %+v", of, callback)
	}
}

// TestIdsAreTheSameOnAllNodes, whichever of them exports a span, and differ between what they are about.
func TestIdsAreTheSameOnAllNodes(t *testing.T) {
	one, other := newTraces(t, true), newTraces(t, true)
	seen := map[otlp.SpanID]string{}
	for i, m := range []queue.Attempt{message(1), message(2), {ID: queue.ID{Seq: 1, Salt: 7}, Number: 1, DB: "shop", Content: message(1).Content}} {
		one.claim(1000, m)
		other.claim(1000, m)
		one.finish(1100, queue.Result{AttemptRef: m.Ref(), DB: m.DB, Response: queue.Response{Status: 200}})
		other.finish(1100, queue.Result{AttemptRef: m.Ref(), DB: m.DB, Response: queue.Response{Status: 200}})
		for _, s := range one.exported[2*i:] {
			if was, there := seen[s.ID]; there {
				t.Errorf("message %d: span %s has the id of %s", i, s.Name, was)
			}
			seen[s.ID] = s.Name
		}
	}
	if !slices.EqualFunc(one.exported, other.exported, func(a, b otlp.Span) bool { return a.ID == b.ID && a.Trace == b.Trace && a.Parent == b.Parent }) {
		t.Error("two nodes make different ids")
	}
}

// TestFollowerTakesOver: spans of the last ten seconds, which the leader that was killed may not have exported, are exported by
// the next one; older ones, and those of entries before, are not.
func TestFollowerTakesOver(t *testing.T) {
	l := newTraces(t, false)
	for i := range uint64(3) {
		l.claim(int64(1000+8000*i), message(i)) // at 1, 9 and 17 s
	}
	if len(l.exported) != 0 {
		t.Fatalf("a follower has exported %q", l.spans())
	}
	l.leading = true
	l.Applied(&fsm.Entry{Stamp: 17_500}, nil)
	if len(l.exported) != 2 {
		t.Errorf("the new leader has exported %d spans of the last ten seconds, want 2", len(l.exported))
	}
	l.Applied(&fsm.Entry{Stamp: 17_600}, nil)
	if len(l.exported) != 2 {
		t.Error("spans were exported twice")
	}
}

// TestFollowerForgets: a follower keeps at most maxKept spans, the newest.
func TestFollowerForgets(t *testing.T) {
	l := newTraces(t, false)
	for i := range uint64(2*maxKept + 10) {
		l.emit(1000, otlp.Span{Start: time.UnixMilli(int64(i))})
	}
	l.Applied(&fsm.Entry{Stamp: 1000}, nil)
	if len(l.kept) != maxKept || l.kept[0].Start.UnixMilli() != maxKept+10 {
		t.Errorf("%d spans are kept, from %d on", len(l.kept), l.kept[0].Start.UnixMilli())
	}
	l.Applied(&fsm.Entry{Stamp: 1000 + horizon}, nil)
	if len(l.kept) != 0 {
		t.Errorf("%d spans are kept after ten seconds", len(l.kept))
	}
}

// TestOpenAttemptsAreBounded: attempts that never end take no memory without a limit.
func TestOpenAttemptsAreBounded(t *testing.T) {
	l := newTraces(t, true)
	l.claim(1000, message(0))
	for i := range uint64(maxOpen) {
		l.open[attemptKey{"", queue.ID{Seq: i}}] = &openAttempt{}
	}
	l.claim(2000, message(maxOpen))
	if len(l.open) > maxOpen {
		t.Errorf("%d attempts are open", len(l.open))
	}
}

// TestNoNode: before the node is there nothing is traced, and attempts carry what their message carries.
func TestNoNode(t *testing.T) {
	l, m := newTraces(t, true), message(1)
	m.Content.Trace = traced("01")
	l.Node = func() Node { return nil }
	l.claim(1000, m)
	if len(l.exported) != 0 || l.Header(&m) != m.Content.Trace {
		t.Errorf("spans %q, context %+v", l.spans(), l.Header(&m))
	}
}

// TestOutcomesThatSayNothing: requests that were refused, and results that can't be read, make no spans.
func TestOutcomesThatSayNothing(t *testing.T) {
	l, m := newTraces(t, true), message(1)
	attempts := fsm.Advanced{Attempts: []queue.Attempt{m}}
	l.Applied(&fsm.Entry{Stamp: 1000, Requests: make([]fsm.Request, 3)}, []fsm.Outcome{
		{Status: fsm.Applied, Code: fsm.Advance.Code, Value: attempts, Err: fsm.ErrMalformed},
		{Status: fsm.SessionExpired, Code: fsm.Advance.Code, Value: attempts},
		{Status: fsm.Applied, Code: fsm.Advance.Code},
	})
	l.Applied(&fsm.Entry{Stamp: 1000, Requests: []fsm.Request{{Code: fsm.Finish.Code, Body: []byte{0xff}}}}, []fsm.Outcome{{Status: fsm.Applied, Code: fsm.Finish.Code}})
	if len(l.exported) != 0 || len(l.open) != 0 {
		t.Errorf("spans %q, %d open attempts", l.spans(), len(l.open))
	}
}

// TestAnswersWithCommands end their attempts, in default and in another database, and are failures if the commands were refused.
func TestAnswersWithCommands(t *testing.T) {
	for state, want := range map[queue.State]string{queue.Delivered: "", queue.Retry: " failed refused the commands of the answer were refused"} {
		for _, db := range []string{"", "shop"} {
			l, m := newTraces(t, true), message(1)
			m.DB = db
			l.claim(1000, m)
			a := queue.Answer{Result: queue.Result{AttemptRef: m.Ref(), DB: db, Took: 5, Response: queue.Response{Status: 200}}, Commit: []byte(`[["PING"]]`)}
			done := queue.Dispositions{Items: []queue.Disposition{{State: state}}}
			request, outcome := fsm.Request{Code: fsm.FinishCommit.Code, Body: fsm.FinishCommit.Body(a)}, fsm.Outcome{Status: fsm.Applied, Code: fsm.FinishCommit.Code, Value: done}
			if db != "" {
				request.Body = fsm.InDatabase.Body(fsm.Owned{Database: db, Code: request.Code, Body: request.Body})
				request.Code, outcome.Code = fsm.InDatabase.Code, fsm.InDatabase.Code
				outcome.Value = fsm.OwnedResult{Code: fsm.FinishCommit.Code, Value: done}
			}
			l.Applied(&fsm.Entry{Stamp: 1010, Requests: []fsm.Request{request}}, []fsm.Outcome{outcome})
			if list := l.spans(); len(list) != 2 || list[1] != "POST 1000-1005"+want {
				t.Errorf("in %q, %s: spans %q", db, state, list)
			}
		}
	}
}

// TestDestination has few different names: a queue, a URL group, or a host.
func TestDestination(t *testing.T) {
	for want, c := range map[string]queue.Content{
		"orders":         {URL: "https://a.example/1", Options: queue.Options{Queue: "orders"}, Group: "news"},
		"news":           {URL: "https://a.example/1", Group: "news"},
		"a.example:8080": {URL: "http://A.example:8080/x"},
	} {
		if got := destination(&queue.Attempt{Content: &c}); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
