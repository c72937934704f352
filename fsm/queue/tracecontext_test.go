package queue

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const (
	traceOne = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	idOne    = "4bf92f3577b34da6a3ce929d0e0e4736"
)

// TestTraceParents: what the recommendation of the W3C takes and refuses.
func TestTraceParents(t *testing.T) {
	for in, want := range map[string]string{
		traceOne:            traceOne,
		" " + traceOne:      traceOne,
		traceOne + "-x":     "", // version 00 has four fields
		traceOne + "0":      "",
		traceOne[:54]:       "",
		"":                  "",
		"01" + traceOne[2:]: traceOne,
		"cc" + traceOne[2:] + "-what-the-future-brings":                           traceOne,
		"cc" + traceOne[2:] + ".what":                                             "",
		"ff" + traceOne[2:]:                                                       "",
		"0x" + traceOne[2:]:                                                       "",
		strings.ToUpper(traceOne):                                                 "",
		strings.Replace(traceOne, idOne, strings.Repeat("0", 32), 1):              "",
		strings.Replace(traceOne, "00f067aa0ba902b7", strings.Repeat("0", 16), 1): "",
		strings.ReplaceAll(traceOne, "-", "_"):                                    "",
		"00-" + idOne + "-00f067aa0ba902b7-zz":                                    "",
		"00-" + idOne + "-00f067aa0ba902b7-00":                                    "00-" + idOne + "-00f067aa0ba902b7-00",
	} {
		if got := ParseTraceContext([]string{in}, nil); got.Parent != want {
			t.Errorf("%q: %q, want %q", in, got.Parent, want)
		}
	}
	if got := ParseTraceContext([]string{traceOne, traceOne}, nil); !got.IsZero() {
		t.Errorf("two headers: %v", got)
	}
	c := ParseTraceContext([]string{traceOne}, nil)
	if c.TraceID() != idOne || c.SpanID() != "00f067aa0ba902b7" || !c.Sampled() {
		t.Error(c.TraceID(), c.SpanID(), c.Sampled())
	}
	if c = ParseTraceContext([]string{traceOne[:54] + "2"}, nil); c.Sampled() {
		t.Error("flags 02 are not sampled")
	}
	if c = (TraceContext{}); c.TraceID() != "" || c.SpanID() != "" || c.Sampled() {
		t.Error("no trace has ids")
	}
}

func TestTraceStates(t *testing.T) {
	long := func(key string, n int) string { return key + "=" + strings.Repeat("v", n-len(key)-1) }
	many := strings.TrimSuffix(strings.Repeat("k=v,", 33), ",")
	for in, want := range map[string]string{
		"rojo=00f067aa0ba902b7,congo=t61rcWkgMzE": "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE",
		" a=1 ,\tb@c=2,, ":                        "a=1,b@c=2",
		"a=1,a=2":                                 "",
		"a":                                       "",
		"A=1":                                     "",
		"a=":                                      "",
		"a=b=c":                                   "",
		"a@1b=x":                                  "",
		"1a@b=x":                                  "1a@b=x",
		"a=\x01":                                  "",
		many:                                      "",
		long("a", 200) + "," + long("b", 100) + "," + long("c", 250) + "," + long("d", 150):                        long("b", 100) + "," + long("c", 250) + "," + long("d", 150), // long ones go first
		long("a", 120) + "," + long("b", 120) + "," + long("c", 120) + "," + long("d", 120) + "," + long("e", 120): long("a", 120) + "," + long("b", 120) + "," + long("c", 120) + "," + long("d", 120),
	} {
		if got := traceState(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// TestTraceContextsAreBounded: whatever comes, the kept context is short, and stays the same when it comes again.
func TestTraceContextsAreBounded(t *testing.T) {
	member := rapid.Custom(func(t *rapid.T) string {
		return rapid.StringMatching(`[a-z][a-z0-9_]{0,5}`).Draw(t, "key") + "=" + rapid.StringMatching(`[!-+\-.-<>-~]{1,256}`).Draw(t, "value")
	})
	rapid.Check(t, func(t *rapid.T) {
		in := []string{rapid.StringMatching(`[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(-.{0,9})?`).Draw(t, "parent")}
		c := ParseTraceContext(in, rapid.SliceOfN(member, 0, 8).Draw(t, "state"))
		if len(c.State) > maxTraceState || c.IsZero() && c.State != "" {
			t.Fatalf("%d bytes: %+v", len(c.State), c)
		}
		if again := ParseTraceContext([]string{c.Parent}, []string{c.State}); again != c {
			t.Fatalf("%+v is %+v the second time", c, again)
		}
	})
}

// TestTraceIsNoContent: messages that differ in their trace alone are duplicates of one another.
func TestTraceIsNoContent(t *testing.T) {
	p := Publication{ContentDedup: true, Body: []byte("b")}
	plain, _ := dedupOf(&p, &p.Options, target{url: "https://a"}, nil)
	in := p.InTrace(TraceContext{Parent: traceOne})
	if traced, _ := dedupOf(&p, &in, target{url: "https://a"}, nil); traced != plain {
		t.Error("the trace counts as content")
	}
}

// TestTraceOptions: commands say by options what requests say by headers.
func TestTraceOptions(t *testing.T) {
	c := Config{Strict: true}
	if err := c.Set("TRACEPARENT", traceOne); err != nil {
		t.Fatal(err)
	}
	if err := c.Set("TRACESTATE", "a=1"); err != nil {
		t.Fatal(err)
	}
	p, err := c.Done()
	if want := (TraceContext{traceOne, "a=1"}); err != nil || p.Trace != want || p.Given&GivenTrace == 0 {
		t.Errorf("%+v, %v", p.Trace, err)
	}
	if err := c.Set("TRACEPARENT", "00-1"); err == nil {
		t.Error("a bad traceparent is taken")
	}
	if err := c.Set("TRACESTATE", "=1"); err == nil {
		t.Error("a bad tracestate is taken")
	}
}
