package resp_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/internal/otlp"
	"github.com/trireme-dev/trireme/node/tracing"
	"github.com/trireme-dev/trireme/resp"
	"github.com/trireme-dev/trireme/resp/resptest"
)

// TestSpansOfCommands: commands of a connection have spans with their names and errors, each a trace of its own.
func TestSpansOfCommands(t *testing.T) {
	spans := make(chan otlp.Span, 1000)
	nodes := resptest.Serve(t, 1, func(o *resp.Options) {
		o.Traces = &tracing.Commands{Export: func(s otlp.Span) { spans <- s }, Ratio: 1, Table: command.NewTable()}
	})
	c := resptest.Login(t, nodes.Addrs[0])
	c.Want("OK", "SET", "secret", "v")
	c.Want(`"v"`, "GET", "secret")
	c.Do("LPUSH", "secret", "v")
	c.Do("MULTI")
	c.Do("GET", "secret")
	c.Do("GET", "b")
	c.Do("EXEC")
	seen := map[otlp.TraceID]bool{}
	names := map[string]otlp.Span{}
	for deadline := time.After(time.Minute); names["BATCH GET"].Name == ""; {
		select {
		case s := <-spans:
			if seen[s.Trace] || s.Kind != otlp.Serving || s.Parent != (otlp.SpanID{}) || s.End.Before(s.Start) {
				t.Errorf("%+v", s)
			}
			if text := fmt.Sprintf("%+v", s); strings.Contains(text, "secret") {
				t.Errorf("an argument is in %s", text)
			}
			seen[s.Trace], names[s.Name] = true, s
		case <-deadline:
			t.Fatalf("spans %v", names)
		}
	}
	if names["SET"].Failed || names["GET"].Failed || !names["LPUSH"].Failed {
		t.Errorf("spans %v", names)
	}
}
