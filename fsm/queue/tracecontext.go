package queue

import "strings"

// TraceContext is the position of a message in a distributed trace: the headers traceparent and tracestate of the W3C
// recommendation Trace Context. Its zero value is none.
type TraceContext struct {
	// Parent is a traceparent of version 00.
	Parent string
	// State is a tracestate of at most maxTraceState bytes, empty if there is none.
	State string
}

// The names of the headers, in canonical form.
const (
	TraceParentHeader = "Traceparent"
	TraceStateHeader  = "Tracestate"
)

// The parts of a traceparent: version-traceid-parentid-flags, all in lower-case hexadecimal digits.
const (
	traceParentSize = 55
	traceIDAt       = 3
	spanIDAt        = 36
	flagsAt         = 53
)

// The bounds of a tracestate: members, bytes, and the bytes of a member that goes first when there are too many.
const (
	maxTraceMembers = 32
	maxTraceState   = 512
	longTraceMember = 128
)

// ParseTraceContext reads the values of the two headers. A traceparent that breaks the rules, or that stands there more
// than once, is none at all; a tracestate that does is dropped alone.
func ParseTraceContext(parents, states []string) TraceContext {
	if len(parents) != 1 {
		return TraceContext{}
	}
	parent, ok := traceParent(strings.Trim(parents[0], " \t"))
	if !ok {
		return TraceContext{}
	}
	return TraceContext{Parent: parent, State: traceState(strings.Join(states, ","))}
}

// InTrace returns options for a message in a trace.
func (o Options) InTrace(t TraceContext) Options {
	if o.Trace = t; t.IsZero() {
		o.Given &^= GivenTrace
	} else {
		o.Given |= GivenTrace
	}
	return o
}

// IsZero reports whether there is no trace context.
func (tc TraceContext) IsZero() bool { return tc.Parent == "" }

// TraceID is the id of the trace, 32 hexadecimal digits; empty if there is none.
func (tc TraceContext) TraceID() string {
	if tc.IsZero() {
		return ""
	}
	return tc.Parent[traceIDAt : spanIDAt-1]
}

// SpanID is the id of the span that the message was published in, 16 hexadecimal digits; empty if there is none.
func (tc TraceContext) SpanID() string {
	if tc.IsZero() {
		return ""
	}
	return tc.Parent[spanIDAt : flagsAt-1]
}

// Sampled reports whether the publisher of the message records the trace.
func (tc TraceContext) Sampled() bool {
	return !tc.IsZero() && strings.IndexByte("13579bdf", tc.Parent[traceParentSize-1]) >= 0
}

// traceParent validates a traceparent and returns it as one of version 00: the first four fields of every later version
// have the same meaning.
func traceParent(v string) (string, bool) {
	if len(v) < traceParentSize || len(v) > traceParentSize && (v[:2] == "00" || v[traceParentSize] != '-') {
		return "", false
	}
	for i := range traceParentSize {
		if dash := i == 2 || i == spanIDAt-1 || i == flagsAt-1; dash && v[i] != '-' || !dash && !isLowerHex(v[i]) {
			return "", false
		}
	}
	zero := func(s string) bool { return strings.Trim(s, "0") == "" }
	if v[:2] == "ff" || zero(v[traceIDAt:spanIDAt-1]) || zero(v[spanIDAt:flagsAt-1]) {
		return "", false
	}
	return "00" + v[2:traceParentSize], true
}

func isLowerHex(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' }

// traceState judges a tracestate; empty if it breaks the rules. Of one that is too long the long members go first, then
// the last ones.
func traceState(v string) string {
	var members []string
	size := 0
	seen := map[string]bool{}
	for m := range strings.SplitSeq(v, ",") {
		m = strings.Trim(m, " \t")
		if m == "" {
			continue
		}
		key, value, found := strings.Cut(m, "=")
		if !found || !isTraceKey(key) || !isTraceValue(value) || seen[key] || len(members) == maxTraceMembers {
			return ""
		}
		seen[key] = true
		members = append(members, m)
		size += len(m) + 1
	}
	kept := members[:0]
	for _, m := range members {
		if size-1 > maxTraceState && len(m) > longTraceMember {
			size -= len(m) + 1
			continue
		}
		kept = append(kept, m)
	}
	for size-1 > maxTraceState {
		size -= len(kept[len(kept)-1]) + 1
		kept = kept[:len(kept)-1]
	}
	return strings.Join(kept, ",")
}

// isTraceKey reports whether a member may have this key: lower-case letters, digits and some signs, with at most one @
// between a tenant of up to 241 and a system of up to 14.
func isTraceKey(key string) bool {
	tenant, system, multi := strings.Cut(key, "@")
	if !multi {
		return traceWord(key, 256) && isLower(key[0])
	}
	return traceWord(tenant, 241) && traceWord(system, 14) && isLower(system[0])
}

func isLower(c byte) bool { return 'a' <= c && c <= 'z' }

func traceWord(s string, most int) bool {
	for i := range len(s) {
		c := s[i]
		if !isLower(c) && !('0' <= c && c <= '9') && strings.IndexByte("_-*/", c) < 0 || i == 0 && strings.IndexByte("_-*/", c) >= 0 {
			return false
		}
	}
	return s != "" && len(s) <= most
}

// isTraceValue reports whether a member may have this value: printable ASCII without comma and equals sign, which does
// not end with a blank.
func isTraceValue(v string) bool {
	for i := range len(v) {
		if v[i] < ' ' || v[i] > '~' || v[i] == ',' || v[i] == '=' {
			return false
		}
	}
	return v != "" && len(v) <= 256 && v[len(v)-1] != ' '
}
