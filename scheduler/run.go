package scheduler

import (
	"net/http"
	"slices"
	"strings"

	"trireme/fsm"
	"trireme/fsm/flow"
	"trireme/fsm/queue"
)

// Deliveries gives what an attempt of a workflow's message sends, as the node's state has it now: the log of a run is not
// copied into its messages. It is false if the run has no use for the attempt any more.
func Deliveries(n Node) func(*queue.Attempt) (*flow.Delivery, bool) {
	return func(a *queue.Attempt) (d *flow.Delivery, ok bool) {
		n.Machine().View(0, [16]byte{}, func(v *fsm.View) { d, ok = v.Flows().Delivery(a.ID, a.Content.Run) })
		return d, ok
	}
}

// overText is the error of an attempt that nobody needs any more; nobody reads it either.
const overText = "the workflow run is over"

// filled is the attempt with what it delivers; d is nil for messages that are no run's. ok is false if there is nothing
// to deliver any more.
func (s *Sender) filled(a *queue.Attempt) (full *queue.Attempt, d *flow.Delivery, ok bool) {
	if len(a.Content.Run) == 0 {
		return a, nil, true
	}
	if s.options.Deliveries != nil {
		d, ok = s.options.Deliveries(a)
	}
	if !ok {
		return nil, nil, false
	}
	c, n := *a.Content, *a
	c.URL, c.Method, c.Header, c.Body, c.CallerIP = d.URL, d.Method, d.Header, d.Body, d.CallerIP
	n.Content = &c
	return &n, d, true
}

// workflowHeader is in the names of the headers by which an endpoint shows what it is.
const workflowHeader = "-Workflow-"

// firstBody is how much of the first answer's body is kept where it does not look like that of a workflow.
const firstBody = 16 << 10

// recordEndpoint is what of a good answer of a workflow's endpoint goes into the log: its steps come another way.
func recordEndpoint(p reply, d *flow.Delivery) queue.Response {
	n := queue.Response{Status: p.status}
	workflow := false
	for name, values := range p.header {
		if strings.Contains(http.CanonicalHeaderKey(name), workflowHeader) {
			workflow = true
			for _, v := range values {
				n.Header = append(n.Header, queue.Field{Name: name, Value: v})
			}
		}
	}
	slices.SortStableFunc(n.Header, func(a, b queue.Field) int { return strings.Compare(a.Name, b.Name) })
	if d.First && !workflow {
		n.Body = p.body[:min(len(p.body), firstBody)]
	}
	return n
}
