package workflow

import (
	"encoding/base64"
	"slices"
	"strconv"
	"strings"

	"github.com/trireme-dev/trireme/fsm/queue"
)

// Delivery is what one attempt sends of a run. It is made of the log as it stands; entries that come later never change
// that of an earlier one.
type Delivery struct {
	URL, Method string
	// Header is the destination's, Service the names and values of the service's own headers, without prefix.
	Header, Service []queue.Field
	Body            []byte
	CallerIP        string
	// ToEndpoint: of a good answer only the service's headers matter, and if First, all that shows whether it is one of a
	// workflow.
	ToEndpoint, First bool
}

// SDKVersionHeader is how an endpoint knows a delivery of a run.
const SDKVersionHeader = "Upstash-Workflow-Sdk-Version"

// Delivery is what an attempt of a message of a run sends; false if the run has no use for it any more.
func (s *Store) Delivery(id queue.ID, run []byte) (*Delivery, bool) {
	ref, ok := ParseRef(run)
	r, there := s.runs.Get(ref.Run)
	if !ok || !there {
		return nil, false
	}
	if ref.Kind == DeliverFailure {
		return s.failureDelivery(r, id)
	}
	n, there := s.entries.Get(place{ref.Run, ref.Pos})
	if !there || n.ID != id || !n.State.Open() {
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
	d := &Delivery{URL: n.URL, Method: n.Own.Method, Header: n.Own.Header, Body: n.Body}
	if d.Method == "" {
		d.Method = "POST"
	}
	return d
}

// entryDelivery is the call of the endpoint for an entry.
func (s *Store) entryDelivery(r *Run, pos uint32, n *Entry) *Delivery {
	d := &Delivery{URL: r.URL, Method: "POST", CallerIP: r.CallerIP, ToEndpoint: true, First: pos == 0, Service: r.service(n.Kind.String())}
	if n.URL != "" {
		d.URL = n.URL
	}
	header := slices.Clone(r.Header)
	if n.Own != nil {
		header = join(header, n.Own.Header)
	}
	d.Header = endpointHeader(header, n.Kind == AnswerEntry)
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

// join gives the fields of base and own; those of own replace others of their name.
func join(base, own []queue.Field) []queue.Field {
	out := slices.DeleteFunc(base, func(b queue.Field) bool {
		return slices.ContainsFunc(own, func(f queue.Field) bool { return strings.EqualFold(f.Name, b.Name) })
	})
	return append(out, own...)
}

// endpointHeader is what an endpoint gets of forwarded headers: its content is always JSON. One that is told of a call
// must not see the version of the protocol, or it would take the body for a log.
func endpointHeader(header []queue.Field, answer bool) []queue.Field {
	header = slices.DeleteFunc(header, func(f queue.Field) bool {
		return strings.EqualFold(f.Name, "Content-Type") || answer && strings.EqualFold(f.Name, SDKVersionHeader)
	})
	return append(header, queue.Field{Name: "Content-Type", Value: "application/json"})
}

// service are the service's headers of a delivery to the endpoint.
func (r *Run) service(callType string) []queue.Field {
	return []queue.Field{
		{Name: "Workflow-RunId", Value: r.ID}, {Name: "Workflow-CreatedAt", Value: strconv.FormatInt(r.Created, 10)},
		{Name: "Workflow-Url", Value: r.URL}, {Name: "Workflow-Init", Value: "false"}, {Name: "Workflow-CallType", Value: callType},
	}
}

// elementSize is about what an element of a list takes beside its body.
const elementSize = 80

// prefixSize is about how long the body for an entry is, or something above limit.
func (s *Store) prefixSize(run uint64, pos uint32, limit int64) (n int64) {
	s.Log(run, func(p uint32, e *Entry) bool {
		if p > pos || n > limit {
			return false
		}
		n += elementSize + int64(base64.StdEncoding.EncodedLen(len(e.Body)))
		return true
	})
	return n
}

// prefix is the log up to an entry, without what is kept of calls: an SDK has no use for that.
func (s *Store) prefix(run uint64, pos uint32) []byte {
	b := append(make([]byte, 0, 1024), '[')
	s.Log(run, func(p uint32, e *Entry) bool {
		if p <= pos && e.Kind == StepEntry {
			b = s.appendElement(b, run, e)
		}
		return p < pos
	})
	return append(b, ']')
}

// Elements is the whole log in the form in which it is delivered: what an endpoint fetches. Of a call whose result is
// there only the places are left, since nobody reads their bodies.
func (s *Store) Elements(run uint64) []byte {
	b := append(make([]byte, 0, 4096), '[')
	s.Log(run, func(_ uint32, e *Entry) bool {
		b = s.appendElement(b, run, e)
		return true
	})
	return append(b, ']')
}

func (s *Store) appendElement(b []byte, run uint64, e *Entry) []byte {
	if b[len(b)-1] != '[' {
		b = append(b, ',')
	}
	j := object{b: b}
	j.open()
	j.text("messageId", e.ID.String())
	j.base64("body", s.elementBody(run, e))
	j.text("callType", e.Kind.String())
	j.close()
	return j.b
}

func (s *Store) elementBody(run uint64, e *Entry) []byte {
	if e.Kind == StepEntry {
		return e.Body
	}
	_, done := s.marks.Get(mark{run, markResult, e.Number()})
	switch {
	case done:
		return nil
	case e.Kind == AnswerEntry:
		return s.AnswerBody(run, e)
	}
	return e.Body
}

// AnswerBody is the body by which the endpoint is told what a third party has answered.
func (s *Store) AnswerBody(run uint64, n *Entry) []byte {
	a := n.Answer
	call, ok := s.entries.Get(place{run, a.Call})
	if !ok {
		call = &Entry{Own: &queue.Options{}}
	}
	j := object{b: make([]byte, 0, 512+4*(len(a.Body)+len(call.Body))/3)}
	j.open()
	j.number("status", int64(a.Status))
	j.header("header", a.Header)
	j.base64("body", a.Body)
	if a.Retried > 0 {
		j.number("retried", int64(a.Retried))
	}
	j.number("maxRetries", int64(a.Retries))
	j.text("sourceMessageId", call.ID.String())
	j.text("url", call.URL)
	j.text("method", callDelivery(call).Method)
	j.header("sourceHeader", call.Own.Header)
	j.base64("sourceBody", call.Body)
	j.number("notBefore", call.FirstAt)
	j.number("createdAt", call.Created)
	j.close()
	return j.b
}

// failureDelivery is the call of the failure callback.
func (s *Store) failureDelivery(r *Run, id queue.ID) (*Delivery, bool) {
	to := s.FailureCallback(r)
	if to == nil || r.Callback == nil || r.Callback.Message != id || r.Callback.State != CallbackInProgress {
		return nil, false
	}
	d := &Delivery{URL: to.URL, Method: "POST", CallerIP: r.CallerIP, Service: r.service("failureCall"), Body: s.failureBody(r)}
	if to.Options.Method != "" {
		d.Method = to.Options.Method
	}
	d.Header = endpointHeader(slices.Clone(to.Options.Header), false)
	return d, true
}

// failureBody is the body of the failure callback.
func (s *Store) failureBody(r *Run) []byte {
	f := r.Fault
	first, _ := s.entries.Get(place{r.No, 0})
	j := object{b: make([]byte, 0, 1024+4*(len(f.Response.Body)+len(first.Body))/3)}
	j.open()
	j.number("status", int64(f.Response.Status))
	j.header("header", f.Response.Header)
	j.base64("body", f.failureText())
	if f.Retried > 0 {
		j.number("retried", int64(f.Retried))
	}
	j.number("maxRetries", int64(f.Retries))
	if r.Dead != (queue.Stamp{}) {
		j.text("dlqId", r.Dead.String())
	}
	j.text("sourceMessageId", f.Message.String())
	j.text("url", r.URL)
	j.text("method", "POST")
	j.header("sourceHeader", r.Header)
	j.base64("sourceBody", first.Body)
	j.text("workflowRunId", r.ID)
	j.number("workflowCreatedAt", r.Created)
	j.text("workflowUrl", r.URL)
	j.number("notBefore", first.FirstAt)
	j.number("createdAt", first.Created)
	if r.CallerIP != "" {
		j.text("callerIP", r.CallerIP)
	}
	j.close()
	return j.b
}

// failureText is the answer that made the run fail, or, where there was none or where it was a good one, an error in the
// form in which an SDK answers.
func (f *Fault) failureText() []byte {
	if f.Error == "" {
		return f.Response.Body
	}
	var j object
	j.open()
	j.text("error", "Error")
	j.text("message", f.Error)
	j.close()
	return j.b
}
