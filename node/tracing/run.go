package tracing

import (
	"strings"
	"time"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/workflow"
	"github.com/trireme-dev/trireme/internal/otlp"
)

func runSpan(db string, r *workflow.Run) otlp.SpanID {
	return spanID("run", db, r.ID, uint64(r.Created))
}

func runTrace(db string, r *workflow.Run) otlp.TraceID {
	if t, _ := remote(r.Trace); !r.Trace.IsZero() {
		return t
	}
	return traceID("run", db, r.ID, uint64(r.Created))
}

// runEnds is the progress through the ends of a database's runs: all until at, in unix milliseconds, and some runs of that
// millisecond.
type runEnds struct {
	at   int64
	seen map[uint64]bool
}

// runsEnded makes the spans of the runs that have ended since it was called last.
func (t *Tracer) runsEnded(node Node, db string, now int64) {
	to := t.ends[db]
	if to == nil {
		to = &runEnds{at: now - horizon, seen: map[uint64]bool{}}
		if t.ends == nil {
			t.ends = map[string]*runEnds{}
		}
		t.ends[db] = to
	}
	var fresh []*workflow.Run
	node.Machine().View(0, [16]byte{}, func(v *fsm.View) {
		store := v.WorkflowsOf(db)
		store.EndedSince(to.at, func(r *workflow.Run) bool {
			if r.Completed > to.at || !to.seen[r.No] {
				fresh = append(fresh, r)
				t.runEnded(store, db, r)
			}
			return true
		})
	})
	for _, r := range fresh {
		if r.Completed > to.at {
			to.at, to.seen = r.Completed, map[uint64]bool{}
		}
	}
	for _, r := range fresh {
		if r.Completed == to.at {
			to.seen[r.No] = true
		}
	}
}

// runEnded makes the spans of a run and its steps, of its log.
func (t *Tracer) runEnded(store *workflow.Store, db string, r *workflow.Run) {
	id := runTrace(db, r)
	if !t.Sampler.Sample(id, !r.Trace.IsZero(), r.Trace.Sampled()) {
		return
	}
	_, parent := remote(r.Trace)
	root := otlp.Span{
		Trace: id, ID: runSpan(db, r), Parent: parent, State: r.Trace.State, Kind: otlp.Producer, Name: "workflow run",
		Start: time.UnixMilli(r.Created), End: time.UnixMilli(r.Completed), Failed: r.State == workflow.Failed,
		Attributes: []otlp.Attribute{
			otlp.Text("messaging.system", "trireme"), otlp.Text("trireme.workflow.run.id", strings.Clone(r.ID)), otlp.Text("trireme.workflow.state", r.State.String()),
		},
	}
	if f := r.Fault; f != nil {
		root.Error = strings.Clone(f.Error)
	}
	t.emit(r.Completed, root)
	s := steps{begun: map[uint32]int64{}, done: map[uint32]bool{}, last: r.Created}
	store.Log(r.No, func(_ uint32, e *workflow.Entry) bool {
		if span, ok := s.next(e, r.Completed); ok {
			span.Trace, span.Parent, span.State, span.Kind = id, root.ID, root.State, otlp.Internal
			span.ID = spanID("step", db, root.Attributes[1].Text+"@"+root.Start.UTC().Format(time.RFC3339Nano), uint64(e.Number()))
			t.emit(r.Completed, span)
		}
		return true
	})
}

// steps reads a run's log in order.
type steps struct {
	// begun maps steps to the times of their announcement, done holds the steps with a span, and last is the time of the
	// previous entry.
	begun map[uint32]int64
	done  map[uint32]bool
	last  int64
}

// next returns the span of the step that an entry ends. It is not ok if the entry ends none. over is the time of the run's end.
func (s *steps) next(e *workflow.Entry, over int64) (span otlp.Span, ok bool) {
	number := e.Number()
	start, end := s.last, e.Created
	s.last = max(s.last, e.Created, e.FirstAt)
	if at, announced := s.begun[number]; announced {
		start = at
	}
	sleep := e.Type == workflow.SleepFor || e.Type == workflow.SleepUntil
	switch {
	case e.Type == workflow.Initial || e.Kind == workflow.AnswerEntry || s.done[number]:
		return span, false
	case sleep:
		start, end = e.Created, min(e.FirstAt, max(over, e.Created))
	case e.Kind == workflow.CallEntry || e.Target > 0:
		s.begun[number] = e.Created
		return span, false
	case e.Since > 0:
		start = e.Since
	}
	s.done[number] = true
	return otlp.Span{
		Name: "step " + e.Type.String(), Start: time.UnixMilli(min(start, end)), End: time.UnixMilli(end),
		Attributes: []otlp.Attribute{
			otlp.Text("trireme.workflow.step.type", e.Type.String()), otlp.Text("trireme.workflow.step.name", strings.Clone(e.Name)),
			otlp.Number("trireme.workflow.step.number", int64(number)),
		},
	}, true
}
