package scheduler

import (
	"net/http"
	"slices"
	"strings"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/workflow"
)

// Deliveries returns a function for SenderOptions.Deliveries: what an attempt of a workflow's message sends, from the node's
// state now, because the log of a run is not copied into its messages. It is false if the run needs the attempt no more.
func Deliveries(n Node) func(*queue.Attempt) (*workflow.Delivery, bool) {
	return func(a *queue.Attempt) (d *workflow.Delivery, ok bool) {
		n.Machine().View(0, [16]byte{}, func(v *fsm.View) { d, ok = v.WorkflowsOf(a.DB).Delivery(a.ID, a.Content.Run) })
		return d, ok
	}
}

// withRun returns the attempt with what it delivers; d is nil for messages outside workflows. ok is false if there is
// nothing left to deliver.
func (s *Sender) withRun(a *queue.Attempt) (full *queue.Attempt, d *workflow.Delivery, ok bool) {
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
	if d.Inline {
		d.Service = append(d.Service, queue.Field{Name: "Workflow-Attempt", Value: a.Ref().String()})
	}
	n.Content = &c
	return &n, d, true
}

// workflowHeader is in the names of the headers by which an endpoint shows what it is.
const workflowHeader = "-Workflow-"

// firstBody is the number of bytes kept of the first answer's body if it does not look like that of a workflow.
const firstBody = 16 << 10

// recordEndpoint returns the part of a workflow endpoint's successful answer that goes into the log: the endpoint reports
// its steps by requests of its own.
func recordEndpoint(p reply, d *workflow.Delivery) queue.Response {
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
