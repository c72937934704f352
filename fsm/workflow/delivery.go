package workflow

import (
	"slices"
	"strconv"
	"strings"

	"github.com/trireme-dev/trireme/fsm/queue"
)

// Delivery is the request that one attempt sends for a run. It is made from the run's log; later entries never change the
// delivery of an earlier one.
type Delivery struct {
	URL, Method string
	// Header is the destination's, Service the names and values of the service's own headers, without prefix.
	Header, Service []queue.Field
	Body            []byte
	CallerIP        string
	// ToEndpoint: of a good answer only the service's headers matter, and if First, all that shows whether it is one of a
	// workflow.
	ToEndpoint, First bool
	// Inline: the endpoint may record several steps by it, and is told which attempt it is.
	Inline bool
}

// SDKVersionHeader is the header by which an endpoint recognizes a delivery of a run.
const SDKVersionHeader = "Upstash-Workflow-Sdk-Version"

// RunOver is the error of an attempt that was not sent because its run needs it no more: the run has ended, or what the
// attempt is for is done. It is in no event.
const RunOver = "the workflow run is over"

// Delivery returns the request of an attempt of a message of a run; false if the run no longer needs it.
func (s *Store) Delivery(id queue.ID, run []byte) (*Delivery, bool) {
	ref, ok := ParseRef(run)
	r, found := s.runs.Get(ref.Run)
	if !ok || !found {
		return nil, false
	}
	if ref.Kind == DeliverFailure {
		return s.failureDelivery(r, id)
	}
	n, found := s.entries.Get(place{ref.Run, ref.Pos})
	if !found || n.ID != id || !n.State.Open() {
		return nil, false
	}
	switch {
	case n.Kind == CallEntry:
		return callDelivery(n), true
	case n.Kind == AnswerEntry && n.Answer.Superseded:
		return nil, false
	}
	return s.entryDelivery(r, ref.Pos, n), true
}

// callDelivery is the request to a third party: nothing of the run is shown to it.
func callDelivery(n *Entry) *Delivery {
	d := &Delivery{URL: n.URL, Method: n.Own.Method, Header: n.Own.Header, Body: n.Body.Bytes()}
	if d.Method == "" {
		d.Method = "POST"
	}
	return d
}

// entryDelivery is the call of the endpoint for an entry.
func (s *Store) entryDelivery(r *Run, pos uint32, n *Entry) *Delivery {
	d := &Delivery{URL: s.urlOf(r, n), Method: "POST", CallerIP: r.CallerIP, ToEndpoint: true, First: pos == 0, Service: r.service(n.Kind.String())}
	d.Inline = r.Features&Inline != 0 && n.Kind == StepEntry && r.Origin != FromUnknown
	header := slices.Clone(r.Header)
	if n.Own != nil {
		header = mergeFields(header, n.Own.Header)
	}
	d.Header = endpointHeader(header, n.Kind == AnswerEntry, pos == 0)
	if pos == 0 && r.Origin == FromUnknown {
		d.Service = append(d.Service, queue.Field{Name: "Workflow-Unknown-Sdk", Value: "true"})
	}
	lazy, limit := r.Features&LazyFetch != 0, s.settings.Inline
	switch {
	case n.Kind == AnswerEntry: // an SDK parses its body before it would fetch it, however long that is
		d.Body = s.AnswerBody(r.No, n)
	case !lazy || limit <= 0 || s.prefixSize(r.No, pos, limit) <= limit:
		d.Body = s.prefix(r.No, pos)
	}
	return d
}

// mergeFields returns the fields of base and own; those of own replace others of their name.
func mergeFields(base, own []queue.Field) []queue.Field {
	named := make(map[string]bool, len(own))
	for _, f := range own {
		named[queue.Fold(f.Name)] = true
	}
	out := slices.DeleteFunc(base, func(b queue.Field) bool { return named[queue.Fold(b.Name)] })
	return append(out, own...)
}

// IsHandshake reports whether a header asks the SDK of the endpoint to start the run once more. Only the first delivery of
// a run may: an SDK takes any delivery with it for the first.
func IsHandshake(name string) bool {
	return strings.EqualFold(name, servicePrefix+"Workflow-Unknown-Sdk") || strings.EqualFold(name, "Svc-Workflow-Unknown-Sdk")
}

// endpointHeader returns what an endpoint gets of forwarded headers: its content is always JSON. A delivery that tells of
// a call has no version of the protocol, or the SDK would take its body for a log.
func endpointHeader(header []queue.Field, answer, first bool) []queue.Field {
	header = slices.DeleteFunc(header, func(f queue.Field) bool {
		return strings.EqualFold(f.Name, "Content-Type") || answer && strings.EqualFold(f.Name, SDKVersionHeader) || !first && IsHandshake(f.Name)
	})
	return append(header, queue.Field{Name: "Content-Type", Value: "application/json"})
}

// service are the service's headers of a delivery to the endpoint.
func (r *Run) service(callType string) []queue.Field {
	list := []queue.Field{
		{Name: "Workflow-RunId", Value: r.ID}, {Name: "Workflow-CreatedAt", Value: strconv.FormatInt(r.Created, 10)},
		{Name: "Workflow-Url", Value: r.URL}, {Name: "Workflow-Init", Value: "false"}, {Name: "Workflow-CallType", Value: callType},
	}
	if r.Deployment != "" {
		list = append(list, queue.Field{Name: "Workflow-Deployment", Value: r.Deployment})
	}
	return list
}

// elementSize is about the bytes of an element of a list without its body.
const elementSize = 80

// failureDelivery is the call of the failure callback.
func (s *Store) failureDelivery(r *Run, id queue.ID) (*Delivery, bool) {
	to := s.FailureCallback(r)
	if to == nil || r.Callback == nil || r.Callback.Message != id || r.Callback.State != CallbackInProgress {
		return nil, false
	}
	d := &Delivery{URL: s.failureURL(r, to), Method: "POST", CallerIP: r.CallerIP, Service: r.service("failureCall"), Body: s.failureBody(r)}
	if to.Options.Method != "" {
		d.Method = to.Options.Method
	}
	d.Header = endpointHeader(slices.Clone(to.Options.Header), false, false)
	return d, true
}
