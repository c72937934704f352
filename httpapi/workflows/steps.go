package workflows

import (
	"cmp"
	"strconv"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/workflow"
	"github.com/trireme-dev/trireme/httpapi/messages"
	"github.com/trireme-dev/trireme/httpapi/view"
)

// maxGroups is the most groups of steps on a page, and their number if the request gives no count. maxTimedBody is the length in bytes
// up to which the body of a sleep or a wait is read for a list of steps.
const (
	maxGroups    = 10_000
	maxTimedBody = 16 << 10
)

// stepPage is a run with a page of its steps, which have times but neither bodies nor headers.
type stepPage struct {
	runLog
	Steps []*timedGroup `json:"steps"`
	// Now is the cluster's time, Groups the number of groups on all pages. First is the place of the page's first group.
	Now    int64  `json:"now"`
	Groups int    `json:"groups"`
	First  int    `json:"first"`
	Cursor string `json:"cursor,omitempty"`
}

type timedGroup struct {
	Type  string       `json:"type"`
	Steps []*timedStep `json:"steps"`
}

// timedStep says when a step did what. Times are in unix milliseconds.
type timedStep struct {
	// StepID is also that of a step whose result is not there yet.
	StepID    uint32 `json:"stepId"`
	StepName  string `json:"stepName,omitempty"`
	StepType  string `json:"stepType,omitempty"`
	State     string `json:"state"`
	MessageID string `json:"messageId,omitempty"`
	CreatedAt int64  `json:"createdAt,omitempty"`
	// PlannedAt is the time at which the branch of a block was recorded that the step is.
	PlannedAt int64 `json:"plannedAt,omitempty"`
	// DueAt is the time from which the endpoint could be called for the step, SentAt that of the call that did it or is under way.
	// Failures are the calls that failed.
	DueAt    int64       `json:"dueAt,omitempty"`
	SentAt   int64       `json:"sentAt,omitempty"`
	Failures []timedFail `json:"failures,omitempty"`
	NextAt   int64       `json:"nextAt,omitempty"`
	WakesAt  int64       `json:"wakesAt,omitempty"`
	// BeganAt and EndedAt are what the step has taken, waits and delays included. What goes on has no end.
	BeganAt int64         `json:"beganAt,omitempty"`
	EndedAt int64         `json:"endedAt,omitempty"`
	Wait    *timedWait    `json:"wait,omitempty"`
	Call    *timedCall    `json:"call,omitempty"`
	Invoked *timedInvoked `json:"invoked,omitempty"`
}

// timedFail is an attempt that failed.
type timedFail struct {
	SentAt int64 `json:"sentAt,omitempty"`
	Time   int64 `json:"time"`
	Status int   `json:"status"`
}

// timedWait is a wait for an event.
type timedWait struct {
	EventID  string `json:"eventId"`
	Since    int64  `json:"since"`
	Deadline int64  `json:"deadline,omitempty"`
	TimedOut bool   `json:"timedOut"`
}

// timedCall is the call of a third party.
type timedCall struct {
	URL        string      `json:"url"`
	Method     string      `json:"method"`
	CalledAt   int64       `json:"calledAt"`
	SentAt     int64       `json:"sentAt,omitempty"`
	Status     int         `json:"status,omitempty"`
	AnsweredAt int64       `json:"answeredAt,omitempty"`
	Failures   []timedFail `json:"failures,omitempty"`
}

// timedInvoked is the run that a step has invoked.
type timedInvoked struct {
	WorkflowRunID string `json:"workflowRunId"`
	WorkflowURL   string `json:"workflowUrl"`
	WorkflowState string `json:"workflowState"`
	CreatedAt     int64  `json:"createdAt"`
	CompletedAt   int64  `json:"completedAt,omitempty"`
}

// listSteps answers a page of the steps of a run, in their order.
func (re *request) listSteps() (page *stepPage, err error) {
	first, limit, err := re.readGroups()
	if err != nil {
		return nil, err
	}
	err = re.viewRun(func(v *fsm.View, run *workflow.Run) {
		b := newTimedBuilder(v, run)
		b.build()
		page = b.page(first, limit)
	})
	return page, err
}

// readGroups reads the cursor, which is the place of a group, and the count.
func (re *request) readGroups() (first, limit int, err error) {
	given := re.parameters()
	limit = maxGroups
	if text := given.Get("cursor"); text != "" {
		if first, err = strconv.Atoi(text); err != nil || first < 0 {
			return 0, 0, messages.Invalid("invalid cursor %q", text)
		}
	}
	if text := given.Get("count"); text != "" {
		if limit, err = strconv.Atoi(text); err != nil || limit < 1 {
			return 0, 0, messages.Invalid("invalid count %q: expected a number from 1 to %d", text, maxGroups)
		}
	}
	return first, min(limit, maxGroups), nil
}

// viewRun reads the run that the path names; workflowCreatedAt distinguishes runs of one id, and is the newest without.
func (re *request) viewRun(fn func(*fsm.View, *workflow.Run)) error {
	created, err := re.readCreated()
	if err != nil {
		return err
	}
	id, found := re.Plain(2), false
	err = re.view(func(v *fsm.View) {
		if r := v.Workflows().Find(id, created); r != nil {
			found = true
			fn(v, r)
		}
	})
	if err == nil && !found {
		err = noRun(id)
	}
	return err
}

// newTimedBuilder makes a builder that reads neither headers nor the bodies of steps, but for what sleeps and waits say in them.
func newTimedBuilder(v *fsm.View, run *workflow.Run) *runBuilder {
	b := newBuilder(v.Workflows(), run, v.Now(), view.Redactor{Hide: run.Redact})
	b.messages = v.Messages()
	b.led = map[*stepLog]*workflow.Entry{}
	b.whole = func(uint32) bool { return false }
	return b
}

// page returns the groups from a place on, up to a limit and to the size of a page.
func (b *runBuilder) page(first, limit int) *stepPage {
	page := &stepPage{
		runLog: *renderHead(b.store, b.run, view.Redactor{Hide: b.run.Redact, Trim: view.All}), Now: b.now, Steps: []*timedGroup{},
		Groups: len(b.groups), First: min(first, len(b.groups)),
	}
	size, waiting := 0, b.waiters()
	for i, g := range b.groups[page.First:] {
		if i == limit || size >= messages.MaxPageBytes {
			page.Cursor = strconv.Itoa(page.First + i)
			break
		}
		timed := &timedGroup{g.Type, make([]*timedStep, 0, len(g.Steps))}
		for _, n := range g.Steps {
			t := b.timed(n, waiting)
			size += t.size()
			timed.Steps = append(timed.Steps, t)
		}
		page.Steps = append(page.Steps, timed)
	}
	return page
}

// number returns the number of a step, also of one that has no result.
func (b *runBuilder) number(n *stepLog) uint32 {
	switch {
	case n.TargetStep > 0:
		return n.TargetStep
	case n.StepID == 0 && n.StepType == "": // what the run does next
		return b.highest + 1
	}
	return n.StepID
}

// timed returns the times of a step.
func (b *runBuilder) timed(n *stepLog, waiting map[uint32]*workflow.Waiter) *timedStep {
	step := b.number(n)
	t := &timedStep{
		StepID: step, StepName: n.StepName, StepType: n.StepType, State: n.State, MessageID: n.MessageID, CreatedAt: n.CreatedAt,
		NextAt: n.NextDeliveryTime,
	}
	if led := b.led[n]; led != nil {
		t.DueAt, t.SentAt, t.Failures = led.FirstAt, b.sentAt(led), failures(led.Errors)
		t.plan(led)
	}
	if result, ok := b.store.ResultOf(b.run.No, step); ok && step > 0 {
		b.timedResult(t, n, result)
	}
	if w := waiting[step]; w != nil && step > 0 {
		t.Wait = &timedWait{w.EventID, w.Created, w.Deadline, false}
	}
	if call := b.calls[step]; call != nil && step > 0 {
		t.Call = &timedCall{URL: n.CallURL, Method: n.CallMethod, CalledAt: call.Created, SentAt: b.sentAt(call), Status: n.CallResponseStatus, Failures: failures(call.Errors)}
		if answer, ok := b.store.AnswerTo(b.run.No, step); ok {
			t.Call.AnsweredAt = answer.Created
		}
	}
	if child := b.store.Child(b.run.No, step); child != nil && step > 0 {
		t.Invoked = &timedInvoked{child.ID, child.URL, child.State.String(), child.Created, child.Completed}
	}
	t.BeganAt, t.EndedAt = t.span(b.run.Completed, b.now)
	return t
}

// span returns when the step began and ended; an end of 0 is still to come. What is not done when its run is over ends with it,
// and what is due later has not begun.
func (ts *timedStep) span(over, now int64) (from, to int64) {
	from = cmp.Or(ts.DueAt, ts.CreatedAt)
	branch := ts.PlannedAt > 0
	if !branch && from > now {
		return 0, 0
	}
	switch {
	case ts.WakesAt > 0 && branch:
		from = ts.PlannedAt
		if ts.State == stepSuccess {
			to = ts.CreatedAt
		}
	case ts.WakesAt > 0:
		if ts.WakesAt <= now {
			to = ts.WakesAt
		}
	case ts.State == stepSuccess, ts.Wait != nil && ts.Wait.TimedOut:
		to = ts.CreatedAt
	case ts.State == stepFailed && len(ts.Failures) > 0:
		to = ts.Failures[len(ts.Failures)-1].Time
	}
	if over > 0 && (to == 0 || to > over) {
		to = over
	}
	if from > 0 && to > 0 {
		to = max(from, to)
	}
	return from, to
}

// sentAt returns the time of the attempt that delivered an entry, or is under way; 0 if there is none, or its time is not kept.
func (b *runBuilder) sentAt(e *workflow.Entry) int64 {
	switch {
	case e.State == workflow.Delivered:
		return e.Claimed
	case e.State.Open():
		return b.messages.ClaimedAt(e.ID)
	}
	return 0
}

// plan adds what the plan of a branch says. A branch that sleeps does so before the endpoint is called for it.
func (ts *timedStep) plan(led *workflow.Entry) {
	if led.Target == 0 {
		return
	}
	ts.PlannedAt = led.Created
	if led.Type == workflow.SleepFor || led.Type == workflow.SleepUntil {
		ts.WakesAt = led.FirstAt
	}
}

// timedResult adds what the result of a sleep or a wait says.
func (b *runBuilder) timedResult(t *timedStep, n *stepLog, result *workflow.Entry) {
	switch result.Type {
	case workflow.SleepFor, workflow.SleepUntil:
		if t.PlannedAt == 0 {
			t.WakesAt = result.FirstAt
		}
	case workflow.Wait, workflow.WaitForWebhook:
		t.Wait = &timedWait{n.WaitEventID, result.Since, result.Deadline, n.WaitTimeout != nil && *n.WaitTimeout}
	}
}

// stepDetail is one step, with the calls of the endpoint and of the third party that failed before it was done.
type stepDetail struct {
	*stepLog
	Attempts     []stepError `json:"attempts,omitempty"`
	CallAttempts []stepError `json:"callAttempts,omitempty"`
}

// getStep answers one step with its bodies and headers.
func (re *request) getStep() (out *stepDetail, err error) {
	text := re.Plain(4)
	number, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		return nil, messages.Invalid("invalid step %q: expected its number", text)
	}
	step := uint32(number)
	err = re.viewRun(func(v *fsm.View, run *workflow.Run) {
		b := newTimedBuilder(v, run)
		b.Trim = view.All
		b.whole = func(n uint32) bool { return n == step }
		b.build()
		out = b.detail(step)
	})
	if err == nil && out == nil {
		err = messages.NotFound("step", text)
	}
	return out, err
}

// detail returns the step of a number, nil if the run has none.
func (b *runBuilder) detail(step uint32) *stepDetail {
	for _, g := range b.groups {
		for _, n := range g.Steps {
			if b.number(n) != step {
				continue
			}
			out := &stepDetail{stepLog: n}
			if len(n.Errors) > 0 { // it is not done: they are of what it does now
				return out
			}
			if led := b.led[n]; led != nil {
				out.Attempts = attemptErrors(b.Redactor, led.Errors)
			}
			if call := b.calls[step]; call != nil && step > 0 {
				out.CallAttempts = attemptErrors(b.Redactor, call.Errors)
			}
			return out
		}
	}
	return nil
}

func failures(list []workflow.Attempt) []timedFail {
	out := make([]timedFail, 0, len(list))
	for i := range list {
		out = append(out, timedFail{list[i].Claimed, list[i].At, list[i].Status})
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// size estimates how much a step adds to a page, in bytes.
func (ts *timedStep) size() int {
	n := 256 + len(ts.StepName) + len(ts.StepType) + 48*len(ts.Failures)
	if ts.Call != nil {
		n += 128 + len(ts.Call.URL) + 48*len(ts.Call.Failures)
	}
	if ts.Wait != nil {
		n += 96 + len(ts.Wait.EventID)
	}
	if ts.Invoked != nil {
		n += 160 + len(ts.Invoked.WorkflowURL) + len(ts.Invoked.WorkflowRunID)
	}
	return n
}
