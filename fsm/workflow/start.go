package workflow

import (
	"slices"
	"strings"

	"github.com/trireme-dev/trireme/fsm/queue"
)

// servicePrefix begins the service headers that endpoints read.
const servicePrefix = "Upstash-"

// CompleteStart adds to the start of a run what an SDK would have sent: all features, the version that endpoints know a
// delivery by, and, where no failure callback is named, the endpoint's own failure function.
func CompleteStart(n *Submission) {
	n.Features |= LazyFetch | InitialBody | DetectTrigger | TriggerOnConfig
	if !has(n.Options.Header, SDKVersionHeader) {
		n.Options.Header = append(slices.Clone(n.Options.Header), queue.Field{Name: SDKVersionHeader, Value: "1"})
	}
	n.Options.Given |= queue.GivenHeader
	if n.Options.Failure != nil {
		return
	}
	f := &queue.Callback{URL: n.URL}
	for _, h := range n.Options.Header {
		if !strings.EqualFold(h.Name, SDKVersionHeader) && !strings.EqualFold(h.Name, "Content-Type") {
			f.Options.Header = append(f.Options.Header, h)
		}
	}
	f.Options.Header = append(f.Options.Header,
		queue.Field{Name: servicePrefix + "Workflow-Is-Failure", Value: "true"}, queue.Field{Name: servicePrefix + "Workflow-Failure-Callback", Value: "true"})
	f.Options.Given |= queue.GivenHeader
	n.Options.Failure, n.Options.Given = f, n.Options.Given|queue.GivenFailure
}

// Ask has the start of a run ask for what its options say.
func (s *Submission) Ask(o queue.RunOptions) {
	s.Keep, s.Updates, s.Deployment, s.KeepValues = o.Keep, []byte(o.Updates), o.Deployment, o.KeepValues
	if o.Inline {
		s.Features |= Inline
	}
}

func has(header []queue.Field, name string) bool {
	return slices.ContainsFunc(header, func(f queue.Field) bool { return strings.EqualFold(f.Name, name) })
}
