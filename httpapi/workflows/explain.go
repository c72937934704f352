package workflows

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/workflow"
	"github.com/trireme-dev/trireme/httpapi/messages"
	"github.com/trireme-dev/trireme/httpapi/view"
)

// explanation says where a run stands and what it waits for.
type explanation struct {
	WorkflowRunID     string `json:"workflowRunId"`
	WorkflowCreatedAt int64  `json:"workflowCreatedAt"`
	WorkflowURL       string `json:"workflowUrl"`
	WorkflowState     string `json:"workflowState"`
	// Deployment is the one that the run is on.
	Deployment string `json:"deployment,omitempty"`
	// Reason is a word for programs, Text a sentence for people.
	Reason string `json:"reason"`
	Text   string `json:"text"`
	// Step is the step that the run stands at, and the entry that leads to it.
	Step *stepLog `json:"step,omitempty"`
	// Since is the time at which the waiting began, Next the latest time at which something happens; both in unix
	// milliseconds. Without Next only an event ends the waiting.
	Since int64 `json:"since,omitempty"`
	Next  int64 `json:"next,omitempty"`
	// LastAttempt is the last call that failed, and ErrorStepName the step that threw, if the SDK has named it.
	// Attempts counts the calls of the entry that is being delivered, including one under way, and Allowed is their
	// limit.
	LastAttempt   *stepError `json:"lastAttempt,omitempty"`
	ErrorStepName string     `json:"errorStepName,omitempty"`
	Attempts      int        `json:"attempts,omitempty"`
	Allowed       int        `json:"allowed,omitempty"`
	// Delivery says what holds up the message that is due, if there is one.
	Delivery *delivery `json:"delivery,omitempty"`
	Awaits   []await   `json:"awaits,omitempty"`
	// ForkedFrom is the run that it is a fork of.
	ForkedFrom *forkSource `json:"forkedFrom,omitempty"`
	// Mismatches name what the endpoint and this server don't agree on.
	Mismatches []mismatch `json:"mismatches,omitempty"`
	// Curl repeats by hand the call of the endpoint, or of the third party, that is explained; Resume makes a failed
	// run go on.
	Curl   string `json:"curl,omitempty"`
	Resume string `json:"resume,omitempty"`
}

// delivery says where a message is.
type delivery struct {
	MessageID string `json:"messageId"`
	Reason    string `json:"reason"`
	Text      string `json:"text"`
	Since     int64  `json:"since,omitempty"`
	Next      int64  `json:"next,omitempty"`
	Ahead     int    `json:"ahead,omitempty"`
	// FlowControlKey is the key that the message waits for, if it does.
	FlowControlKey string `json:"flowControlKey,omitempty"`
	running        bool
}

// explain answers why a run is in its state. created distinguishes runs of one id; 0 means the newest.
func (re *request) explain(id string, created int64) (n *explanation, err error) {
	err = re.view(func(v *fsm.View) {
		if r := v.Workflows().Find(id, created); r != nil {
			e := explainer{v.Workflows(), v.Messages(), r, v.Now(), re.origin(), nil}
			n = e.explain()
		}
	})
	if err == nil && n == nil {
		err = noRun(id)
	}
	return n, err
}

// explainer explains one run. origin is the address by which this server was asked, for curl lines.
type explainer struct {
	store    *workflow.Store
	messages *queue.Store
	run      *workflow.Run
	now      int64
	origin   string
	out      *explanation
}

func (e *explainer) explain() *explanation {
	e.out = &explanation{
		WorkflowRunID: e.run.ID, WorkflowCreatedAt: e.run.Created, WorkflowURL: e.run.URL, WorkflowState: e.run.State.String(), Deployment: e.run.Deployment,
		ForkedFrom: sourceOf(e.run.ForkOf),
	}
	at, pos := e.currentEntry()
	if at != nil {
		e.describe(at, pos)
	}
	if e.run.Active() {
		e.awaits()
	}
	e.reason(at)
	e.out.Mismatches = e.mismatches(at)
	return e.out
}

// currentEntry returns the entry whose delivery explains most: the one that failed, else the newest that is still to be
// delivered (preferably one that is being retried), else the last one.
func (e *explainer) currentEntry() (at *workflow.Entry, pos uint32) {
	rank := func(n *workflow.Entry) int {
		switch n.State {
		case workflow.Undeliverable:
			return 4
		case workflow.Held:
			if len(n.Errors) > 0 { // why the run is paused
				return 3
			}
			return 1
		case workflow.Retrying:
			return 2
		case workflow.Pending:
			return 1
		}
		return 0
	}
	best := -1
	e.store.Log(e.run.No, func(p uint32, n *workflow.Entry) bool {
		if r := rank(n); r >= best {
			at, pos, best = n, p, r
		}
		return true
	})
	return at, pos
}

// describe adds the facts of an entry and its delivery.
func (e *explainer) describe(at *workflow.Entry, pos uint32) {
	b := newBuilder(e.store, e.run, e.now, view.Redactor{Hide: e.run.Redact, Trim: maxExplained})
	step := b.entryStep(at)
	step.State, step.Errors = b.stateOf(at), nil
	if at.State == workflow.Delivered {
		step.State = stepSuccess
	}
	if pos == 0 {
		step.StepName, step.StepType = "init", workflow.Initial.String()
	}
	e.out.Step, e.out.Since = step, at.Created
	if k := len(at.Errors); k > 0 {
		last := attemptError(b.Redactor, &at.Errors[k-1])
		e.out.LastAttempt, e.out.Since, e.out.ErrorStepName = &last, last.Time, errorStep(&at.Errors[k-1])
	}
	if at.State.Open() && e.run.Active() {
		e.out.Delivery = e.deliveryOf(at)
	}
	e.attempts(at)
	if at.State != workflow.Delivered || e.run.Active() {
		e.out.Curl = e.curl(at)
	}
}

// attempts counts the attempts of an entry, and says when the next one comes.
func (e *explainer) attempts(at *workflow.Entry) {
	n := e.out
	if !at.State.Open() && at.State != workflow.Undeliverable {
		return
	}
	n.Attempts, n.Allowed = int(at.Retried), int(at.Retries)+1
	d := n.Delivery
	if at.State == workflow.Undeliverable || d != nil && d.running {
		n.Attempts++
	}
	switch {
	case !e.run.Active() || !at.State.Open():
	case at.Next > e.now || d == nil:
		n.Next = max(at.Next, 0)
	default:
		n.Next = d.Next
	}
}

// maxExplained is the most bytes of a text that an explanation shows.
const maxExplained = 4 << 10

// deliveryOf describes the message that delivers an entry, nil if there is none.
func (e *explainer) deliveryOf(at *workflow.Entry) *delivery {
	x, ok := e.messages.Explain(at.ID, e.now)
	if !ok {
		return nil
	}
	d := &delivery{
		MessageID: at.ID.String(), Reason: x.Reason.String(), Text: x.Reason.Text(), Since: x.Since, Next: x.Next, Ahead: x.Ahead,
		running: x.Reason == queue.InFlight,
	}
	if m, ok := e.messages.Message(at.ID, e.now); ok && m.Content.Flow != nil && strings.HasPrefix(d.Reason, "flow-") {
		d.FlowControlKey = m.Content.Flow.Key
		d.Text += fmt.Sprintf(" (%s)", d.FlowControlKey)
	}
	return d
}

// explainRun answers /v2/workflows/runs/{id}/explain; workflowCreatedAt tells apart runs of
// one id.
func (re *request) explainRun() (*explanation, error) {
	created, err := re.readCreated()
	if err != nil {
		return nil, err
	}
	return re.explain(re.Plain(2), created)
}

// readCreated reads workflowCreatedAt; 0 if it is not given.
func (re *request) readCreated() (int64, error) {
	text := re.parameters().Get("workflowCreatedAt")
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, messages.Invalid("invalid workflowCreatedAt %q: unix milliseconds are wanted", text)
	}
	return n, nil
}
