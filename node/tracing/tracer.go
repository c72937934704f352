package tracing

import (
	"sync"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/internal/otlp"
)

// A Node gives a Tracer access to its node's state.
type Node interface {
	Machine() *fsm.Machine
	// LeadingTerm is the term that the node leads, 0 if it doesn't.
	LeadingTerm() uint64
}

// The bounds of what a node keeps.
const (
	// horizon is the time for which spans are kept that another node should have exported, in milliseconds.
	horizon = 10_000
	// maxKept is the most of them, maxOpen the most attempts under way of which spans are to be made.
	maxKept = 16384
	maxOpen = 16384
)

// Tracer makes the spans of a node. Its methods are safe for use by many goroutines.
type Tracer struct {
	// Node returns the node, nil as long as there is none.
	Node func() Node
	// Export takes finished spans and never waits.
	Export  func(otlp.Span)
	Sampler otlp.Sampler

	mu   sync.Mutex
	open map[attemptKey]*openAttempt
	kept []kept
	ends map[string]*runEnds // by database
}

// kept is a span that was not exported yet, or that the leader should have exported.
type kept struct {
	at int64
	otlp.Span
}

// Applied makes the spans of an entry that was applied. It is called in the order of the log.
func (t *Tracer) Applied(n *fsm.Entry, outcomes []fsm.Outcome) {
	node := t.Node()
	if node == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	touched := map[string]bool{}
	for i := range outcomes {
		if o := &outcomes[i]; o.Status == fsm.Applied && o.Err == nil {
			t.outcome(node, n, i, o, touched)
		}
	}
	for db := range touched {
		t.runsEnded(node, db, n.Stamp)
	}
	t.handOver(node, n.Stamp)
}

// outcome takes the outcome of a request, and notes the databases in which runs may have ended.
func (t *Tracer) outcome(node Node, n *fsm.Entry, i int, o *fsm.Outcome, touched map[string]bool) {
	switch o.Code {
	case fsm.Advance.Code:
		if out, ok := o.Value.(fsm.Advanced); ok {
			for i := range out.Attempts {
				t.claimed(node, &out.Attempts[i])
			}
		}
	case fsm.Finish.Code:
		results, err := fsm.Finish.Argument(n.Requests[i].Body)
		if err != nil {
			return
		}
		for i := range results.Items {
			t.finished(&results.Items[i], n.Stamp)
			touched[results.Items[i].DB] = true
		}
	case fsm.FinishCommit.Code:
		t.committed(n.Requests[i].Body, o.Value, n.Stamp)
	case fsm.EndRun.Code, fsm.CancelRuns.Code, fsm.BulkCancelRuns.Code:
		touched[""] = true
	case fsm.InDatabase.Code:
		if in, err := fsm.InDatabase.Argument(n.Requests[i].Body); err == nil {
			touched[in.Database] = true
			if own, ok := o.Value.(fsm.OwnedResult); ok && in.Code == fsm.FinishCommit.Code {
				t.committed(in.Body, own.Value, n.Stamp)
			}
		}
	}
}

// committed takes the result of an attempt whose answer brought commands.
func (t *Tracer) committed(body []byte, outcome any, now int64) {
	a, err := fsm.FinishCommit.Argument(body)
	out, ok := outcome.(queue.Dispositions)
	if err != nil || !ok || len(out.Items) != 1 {
		return
	}
	if out.Items[0].State != queue.Delivered && !out.Items[0].Stale {
		a.Error = "the commands of the answer were refused"
	}
	t.finished(&a.Result, now)
}

// emit keeps a span until handOver.
func (t *Tracer) emit(at int64, s otlp.Span) { t.kept = append(t.kept, kept{at, s}) }

// handOver exports what is kept if this node leads, and otherwise forgets what is old.
func (t *Tracer) handOver(node Node, now int64) {
	if node.LeadingTerm() != 0 {
		for i := range t.kept {
			if t.kept[i].at > now-horizon {
				t.Export(t.kept[i].Span)
			}
		}
		t.kept = t.kept[:0]
		return
	}
	drop := max(len(t.kept)-maxKept, 0)
	for drop < len(t.kept) && t.kept[drop].at <= now-horizon {
		drop++
	}
	if drop > len(t.kept)/2 { // so that a span is moved rarely
		t.kept = append(t.kept[:0], t.kept[drop:]...)
	}
}

// Header returns the trace context that an attempt carries: that of its own span.
func (t *Tracer) Header(a *queue.Attempt) queue.TraceContext {
	node := t.Node()
	if node == nil {
		return a.Content.Trace
	}
	return t.placeOf(node, a).header(attemptSpan(a.DB, a.ID, a.Number))
}
