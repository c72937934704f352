package workflows

import (
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/workflow"
	"github.com/trireme-dev/trireme/httpapi/view"
)

// The types of groups.
const (
	sequentialGroup = "sequential"
	parallelGroup   = "parallel"
	nextGroup       = "next"
)

// stepGroup is a part of a run's log: one finished step, the branches of a parallel
// block, or what the run is doing now.
type stepGroup struct {
	Type  string     `json:"type"`
	Steps []*stepLog `json:"steps"`
}

// runBuilder builds the groups of one run.
type runBuilder struct {
	view.Redactor
	store *workflow.Store
	run   *workflow.Run
	now   int64

	groups []*stepGroup
	slots  map[uint32]slot // of the branches of blocks, by their step
	calls  map[uint32]*workflow.Entry
	// last is the entry whose delivery continues the run, and highest the greatest number of a finished step.
	last    *workflow.Entry
	highest uint32
	// block is the parallel group that is being planned; lastPlan its newest plan.
	block    *stepGroup
	lastPlan uint32
	// whole reports whether a step is shown with its bodies and headers; nil shows all of them so. led has the entry whose delivery led
	// to each step, if it is not nil.
	whole func(step uint32) bool
	led   map[*stepLog]*workflow.Entry
	// messages has the attempts that are under way; nil unless times are shown.
	messages *queue.Store
}

// slot is a branch of a parallel group.
type slot struct {
	group *stepGroup
	at    int
	// plan is the entry that announced it.
	plan *workflow.Entry
	done bool
}

func newBuilder(store *workflow.Store, run *workflow.Run, now int64, show view.Redactor) *runBuilder {
	return &runBuilder{Redactor: show, store: store, run: run, now: now, slots: map[uint32]slot{}, calls: map[uint32]*workflow.Entry{}}
}

func buildGroups(store *workflow.Store, run *workflow.Run, now int64, show view.Redactor) []*stepGroup {
	b := newBuilder(store, run, now, show)
	b.build()
	return b.groups
}

func (b *runBuilder) build() {
	b.store.Log(b.run.No, func(pos uint32, e *workflow.Entry) bool {
		b.add(pos, e)
		return true
	})
	b.branches()
	b.ending()
}

// shows reports whether a step is shown with its bodies and headers.
func (b *runBuilder) shows(step uint32) bool { return b.whole == nil || b.whole(step) }

// leads keeps the entry whose delivery led to a step.
func (b *runBuilder) leads(n *stepLog, e *workflow.Entry) {
	if b.led != nil && e != nil {
		b.led[n] = e
	}
}

func (b *runBuilder) add(pos uint32, e *workflow.Entry) {
	switch {
	case e.Kind == workflow.CallEntry:
		b.calls[e.Step.Number()] = e
	case e.Kind == workflow.AnswerEntry: // shown with its call
	case e.Target > 0:
		b.plan(e)
	default:
		b.result(pos, e)
	}
}

// plan adds a branch. The plans of a block are entries in a row, with steps in a row.
func (b *runBuilder) plan(e *workflow.Entry) {
	if b.block == nil || e.Target != b.lastPlan+1 || len(b.block.Steps) >= int(e.Concurrent) {
		b.block = &stepGroup{Type: parallelGroup}
		b.groups = append(b.groups, b.block)
	}
	b.lastPlan = e.Target
	b.slots[e.Target] = slot{group: b.block, at: len(b.block.Steps), plan: e}
	n := b.entryStep(e)
	b.leads(n, e)
	b.block.Steps = append(b.block.Steps, n)
}

func (b *runBuilder) result(pos uint32, e *workflow.Entry) {
	b.block = nil
	n := b.entryStep(e)
	if pos == 0 {
		n.StepName, n.StepType = "init", workflow.Initial.String()
		if n.Out == nil && b.shows(0) {
			out := b.Text(e.Body.Bytes())
			n.Out = &out
		}
	}
	b.details(n, e.Step.ID)
	b.highest = max(b.highest, e.Step.ID)
	b.leads(n, b.last)
	if e.State == workflow.Unfinished {
		n.State = stepCanceled
	} else {
		b.last = e
	}
	if at, planned := b.slots[e.Step.ID]; planned && pos > 0 {
		at.group.Steps[at.at], at.done = n, true
		b.leads(n, at.plan)
		b.slots[e.Step.ID] = at
		return
	}
	if asleep(e, b.now) && b.run.Active() {
		n.State = stepProgress
	}
	b.groups = append(b.groups, &stepGroup{sequentialGroup, []*stepLog{n}})
}

// asleep reports whether an entry is a sleep that is not over.
func asleep(e *workflow.Entry, now int64) bool {
	return (e.Type == workflow.SleepFor || e.Type == workflow.SleepUntil) && e.State == workflow.Pending && e.FirstAt > now
}

// details adds what the store knows of a step in addition to its entry.
func (b *runBuilder) details(n *stepLog, step uint32) {
	if call := b.calls[step]; call != nil && step > 0 {
		answer, _ := b.store.AnswerTo(b.run.No, step)
		b.call(n, call, answer)
	}
	if child := b.store.Child(b.run.No, step); child != nil && step > 0 {
		b.invoked(n, child)
	}
}

// branches sets the state of the branches that have no result.
func (b *runBuilder) branches() {
	waiting := b.waiters()
	for step, at := range b.slots { // unordered: each fills a slot of its own
		if at.done {
			continue
		}
		n := at.group.Steps[at.at]
		b.details(n, step)
		b.status(n, at.plan)
		if w := waiting[step]; w != nil {
			n.wait(w)
		}
		if call := b.calls[step]; call != nil {
			b.callStatus(n, call)
		}
	}
}

func (b *runBuilder) waiters() map[uint32]*workflow.Waiter {
	m := map[uint32]*workflow.Waiter{}
	for _, w := range b.store.WaitersOf(b.run.No) {
		m[w.Step.Number()] = w
	}
	return m
}

// status sets the state of a step from the delivery of its entry.
func (b *runBuilder) status(n *stepLog, e *workflow.Entry) {
	n.State, n.Errors = b.stateOf(e), attemptErrors(b.Redactor, e.Errors)
	if n.State == stepRetry {
		n.NextDeliveryTime = e.Next
	}
}

func (b *runBuilder) stateOf(e *workflow.Entry) string {
	switch {
	case e.State == workflow.Undeliverable:
		return stepFailed
	case e.State == workflow.Dropped:
		return stepCanceled
	case e.State == workflow.Retrying:
		return stepRetry
	case !b.run.Active() && e.State != workflow.Pending && b.run.State != workflow.Failed:
		return stepCanceled
	}
	return stepProgress
}

// callStatus says how far a call is: on the way to the third party, or back.
func (b *runBuilder) callStatus(n *stepLog, call *workflow.Entry) {
	at := call
	if answer, ok := b.store.AnswerTo(b.run.No, call.Step.Number()); ok {
		at = answer
	}
	n.CallType, n.MessageID, n.Retries = at.Kind.String(), at.ID.String(), int(at.Retries)
	b.status(n, at)
}

// ending adds what the run is doing now, unless a parallel block shows it.
func (b *runBuilder) ending() {
	step := b.highest + 1
	_, planned := b.slots[step]
	switch {
	case b.run.State == workflow.Succeeded, planned, b.last == nil:
		return
	case b.pending(step):
		return
	case b.unfinished(), asleep(b.last, b.now) && b.run.Active():
		return
	}
	b.next(b.last)
}

// pending adds a sequential step that an event has to finish.
func (b *runBuilder) pending(step uint32) bool {
	n := &stepLog{StepID: step, Concurrent: 1, State: stepProgress, CallType: workflow.StepEntry.String(), Retries: b.run.Retries, RetryDelay: b.run.RetryDelay, Headers: b.headersOf(step, nil)}
	b.leads(n, b.last)
	if b.run.State == workflow.Canceled {
		n.State = stepCanceled
	}
	w, call, child := b.waiters()[step], b.calls[step], b.store.Child(b.run.No, step)
	switch {
	case w != nil:
		n.StepName, n.StepType, n.CreatedAt = w.Step.Name, w.Step.Type.String(), w.Created
		n.wait(w)
	case call != nil:
		n = b.entryStep(call)
		n.StepID, n.StepType, n.Headers = step, workflow.CallStep.String(), b.headersOf(step, nil)
		b.leads(n, b.last)
		b.details(n, step)
		b.callStatus(n, call)
	case child != nil && child.Invoker != nil:
		n.StepName, n.StepType, n.CreatedAt = child.Invoker.Step.Name, workflow.Invoke.String(), child.Created
		b.details(n, step)
	default:
		return false
	}
	b.groups = append(b.groups, &stepGroup{sequentialGroup, []*stepLog{n}})
	return true
}

// unfinished reports whether a branch of a block has no result.
func (b *runBuilder) unfinished() bool {
	for _, at := range b.slots { // unordered: any will do
		if !at.done {
			return true
		}
	}
	return false
}

// next adds what the delivery of an entry is doing.
func (b *runBuilder) next(e *workflow.Entry) {
	if e.State == workflow.Delivered && !b.run.Active() {
		return
	}
	n := &stepLog{MessageID: e.ID.String(), Retries: int(e.Retries), RetryDelay: b.run.RetryDelay}
	if e.Own != nil && e.Own.RetryDelay != "" {
		n.RetryDelay = e.Own.RetryDelay
	}
	b.status(n, e)
	b.leads(n, e)
	if len(e.Errors) > 0 {
		n.StepName = errorStep(&e.Errors[len(e.Errors)-1])
	}
	b.groups = append(b.groups, &stepGroup{nextGroup, []*stepLog{n}})
}
