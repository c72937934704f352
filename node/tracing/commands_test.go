package tracing

import (
	"encoding/hex"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/internal/otlp"
)

func commandsAt(ratio float64) (*Commands, *[]otlp.Span) {
	var got []otlp.Span
	return &Commands{Export: func(s otlp.Span) { got = append(got, s) }, Ratio: ratio, Table: command.NewTable()}, &got
}

func row(words ...string) (argv [][]byte) {
	for _, w := range words {
		argv = append(argv, []byte(w))
	}
	return argv
}

// TestCommandSampling: none at a ratio of 0, all at 1, about the part between, and of a trace that its caller records by its id.
func TestCommandSampling(t *testing.T) {
	var none *Commands
	if p := none.Sample(nil, nil); p.Recorded() {
		t.Error("no Commands have recorded a request")
	}
	parent := func(id int, flags string) []string {
		return []string{fmt.Sprintf("00-%032x-%s-%s", id, remoteSpan, flags)}
	}
	for _, ratio := range []float64{0, 0.25, 1} {
		c, _ := commandsAt(ratio)
		const all = 20_000
		n := 0
		for range all {
			if p := c.Sample(nil, nil); p.Recorded() {
				n++
			}
		}
		if math.Abs(float64(n)/all-ratio) > 0.05 {
			t.Errorf("%d of %d at %v", n, all, ratio)
		}
		if p := c.Sample(parent(1, "00"), nil); p.Recorded() {
			t.Errorf("at %v a request of a trace that is not recorded has a span", ratio)
		}
		low, high := c.Sample(parent(1, "01"), []string{"a=1"}), c.Sample([]string{"00-0000000000000001ffffffffffffffff-" + remoteSpan + "-01"}, nil)
		if low.Recorded() != (ratio > 0) || high.Recorded() != (ratio == 1) {
			t.Errorf("at %v traces are recorded: %v, %v", ratio, low.Recorded(), high.Recorded())
		}
		if ratio > 0 && (low.state != "a=1" || hex.EncodeToString(low.parent[:]) != remoteSpan || !strings.HasSuffix(low.TraceID(), "1") || len(low.SpanID()) != 16) {
			t.Errorf("%+v", low)
		}
	}
}

// TestCommandsOffCostNothing: a request that is not recorded allocates nothing.
func TestCommandsOffCostNothing(t *testing.T) {
	var none *Commands
	off, _ := commandsAt(0)
	rare, _ := commandsAt(math.SmallestNonzeroFloat64)
	for name, c := range map[string]*Commands{"none": none, "off": off, "rare": rare} {
		if n := testing.AllocsPerRun(1000, func() {
			if p := c.Sample(nil, nil); p.Recorded() {
				t.Error("recorded")
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func BenchmarkCommandsNotSampled(b *testing.B) {
	for name, ratio := range map[string]float64{"off": 0, "rare": 1e-9} {
		c, _ := commandsAt(ratio)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.Sample(nil, nil)
			}
		})
	}
}

// TestCommandSpans: names and attributes of the semantic conventions, and never a word of the client's.
func TestCommandSpans(t *testing.T) {
	c, got := commandsAt(1)
	began := time.UnixMilli(1000)
	for _, one := range []struct {
		rows   [][][]byte
		values []reply.Value
		name   string
		want   map[string]string
	}{
		{[][][]byte{row("get", "secret")}, []reply.Value{reply.Bulk("secret")}, "GET", map[string]string{"db.operation.name": "GET", "db.namespace": "default", "db.system.name": "trireme", "error.type": "", "db.operation.batch.size": ""}},
		{[][][]byte{row("SET", "secret", "1"), row("set", "b", "2")}, []reply.Value{reply.OK(), reply.OK()}, "BATCH SET", map[string]string{"db.operation.batch.size": "2"}},
		{[][][]byte{row("SET", "a", "1"), row("lpush", "a", "2")}, []reply.Value{reply.OK(), reply.Error("WRONGTYPE Operation against a key")}, "BATCH", map[string]string{"error.type": "WRONGTYPE", "db.response.status_code": "WRONGTYPE"}},
		{[][][]byte{row("secret", "a")}, []reply.Value{reply.Error("ERR unknown command")}, "UNKNOWN", map[string]string{"error.type": "ERR"}},
	} {
		p := c.Sample(nil, nil)
		c.Run(&p, Calls{Rows: one.rows, Values: one.values, Began: began, Took: time.Millisecond, Client: "10.0.0.1:5000"})
		s := (*got)[len(*got)-1]
		if s.Name != one.name || s.Kind != otlp.Serving || s.Start != began || s.End.Sub(s.Start) != time.Millisecond || s.Failed != (one.want["error.type"] != "") {
			t.Errorf("%s: %+v", one.name, s)
		}
		one.want["client.address"], one.want["client.port"] = "10.0.0.1", "5000"
		for key, want := range one.want {
			if got := attribute(s, key); got != want {
				t.Errorf("%s: %s is %q, want %q", one.name, key, got, want)
			}
		}
		if text := fmt.Sprintf("%+v", s); strings.Contains(text, "secret") {
			t.Errorf("an argument is in %s", text)
		}
	}
	if n := len(*got); n != 4 {
		t.Errorf("%d spans", n)
	}
}

// TestRequestSpans: the commands of an HTTP request are below its span, which fails for what the server did wrong only.
func TestRequestSpans(t *testing.T) {
	for status, failed := range map[int]bool{200: false, 400: false, 503: true} {
		c, got := commandsAt(1)
		p := c.Sample(nil, nil)
		below := p.Below()
		c.Run(&below, Calls{DB: "shop", Rows: [][][]byte{row("PING")}, Values: []reply.Value{reply.OK()}})
		c.HTTP(&p, Request{Method: "POST", Route: "/pipeline", Scheme: "http", Client: "10.0.0.1:5000", Agent: "curl", Status: status, Began: time.UnixMilli(5), Took: time.Second})
		calls, request := (*got)[0], (*got)[1]
		if calls.Trace != request.Trace || calls.Parent != request.ID || calls.ID == request.ID || calls.Kind != otlp.Internal || request.Kind != otlp.Serving || request.Parent != (otlp.SpanID{}) {
			t.Errorf("request %+v, commands %+v", request, calls)
		}
		if request.Failed != failed || attribute(request, "http.response.status_code") != fmt.Sprint(status) || attribute(request, "user_agent.original") != "curl" || attribute(calls, "db.namespace") != "shop" {
			t.Errorf("request %+v, commands %+v", request, calls)
		}
	}
}
