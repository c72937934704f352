package scheduler

import (
	"context"
	"log/slog"
	"time"

	"github.com/trireme-dev/trireme/fsm/queue"
)

// logAttempt writes a line about an attempt that has ended. It is one of the debug level: how a destination answers is in
// the events, for those whom it concerns. Of the URL it has the host, because there may be secrets in the rest.
func (s *Scheduler) logAttempt(a *queue.Attempt, n *queue.Result) {
	ctx := context.Background()
	if !s.Log.Enabled(ctx, slog.LevelDebug) {
		return
	}
	line := append(s.traceIDs(a), "message", a.ID.String(), "attempt", a.Number, "host", a.Content.Host())
	switch {
	case n.Lost:
		line = append(line, "outcome", "unknown")
	case n.Response.Status == 0:
		line = append(line, "error", n.Error)
	default:
		line = append(line, "status", n.Response.Status)
	}
	s.Log.DebugContext(ctx, "delivery attempt", append(line, "took", time.Duration(n.Took)*time.Millisecond)...)
}

// traceIDs returns the attributes of a log line that name an attempt's trace: its own span if that is recorded, or
// else the trace that the publisher named.
func (s *Scheduler) traceIDs(a *queue.Attempt) []any {
	if s.Trace != nil {
		if own := s.Trace(a); own.Sampled() {
			return []any{"trace_id", own.TraceID(), "span_id", own.SpanID()}
		}
	}
	if of := a.Content.Trace; !of.IsZero() {
		return []any{"trace_id", of.TraceID()}
	}
	return nil
}
