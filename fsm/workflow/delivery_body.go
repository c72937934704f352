package workflow

import (
	"encoding/base64"

	"github.com/trireme-dev/trireme/fsm/queue"
)

// prefixSize is about how long the body for an entry is, or something above limit.
func (s *Store) prefixSize(run uint64, pos uint32, limit int64) (n int64) {
	s.Log(run, func(p uint32, e *Entry) bool {
		if p > pos || n > limit {
			return false
		}
		n += elementSize + int64(base64.StdEncoding.EncodedLen(e.Body.Len()))
		return true
	})
	return n
}

// prefix is the log up to an entry, without what is kept of calls: an SDK has no use for that.
func (s *Store) prefix(run uint64, pos uint32) []byte {
	key := bodyKey{s.no, run}
	b := encoded.take(key, pos+1)
	if b.list == nil {
		b.list = append(make([]byte, 0, 1024), '[')
	}
	s.entries.Ascend(place{run, b.next}, func(p place, e *Entry) bool {
		if p.run != run || p.pos > pos {
			return false
		}
		if e.Kind == StepEntry {
			b.list = s.appendElement(b.list, run, e)
		}
		return true
	})
	whole := append(append(make([]byte, 0, len(b.list)+1), b.list...), ']')
	encoded.put(key, body{b.list, pos + 1})
	return whole
}

// Elements is the whole log in the form in which it is delivered: what an endpoint fetches. Of a call whose result is
// there only the places are left, since their bodies are not read.
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
		return e.Body.Bytes()
	}
	_, done := s.marks.Get(mark{run, markResult, e.Number()})
	switch {
	case done:
		return nil
	case e.Kind == AnswerEntry:
		return s.AnswerBody(run, e)
	}
	return e.Body.Bytes()
}

// AnswerBody is the body that gives the endpoint a third party's answer.
func (s *Store) AnswerBody(run uint64, n *Entry) []byte {
	a := n.Answer
	call, ok := s.entries.Get(place{run, a.Call})
	if !ok {
		call = &Entry{Own: &queue.Options{}}
	}
	j := object{b: make([]byte, 0, 512+4*(len(a.Body)+call.Body.Len())/3)}
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
	j.base64("sourceBody", call.Body.Bytes())
	j.number("notBefore", call.FirstAt)
	j.number("createdAt", call.Created)
	j.close()
	return j.b
}

// failureBody is the body of the failure callback.
func (s *Store) failureBody(r *Run) []byte {
	f := r.Fault
	first, _ := s.entries.Get(place{r.No, 0})
	j := object{b: make([]byte, 0, 1024+4*(len(f.Response.Body)+first.Body.Len())/3)}
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
	j.base64("sourceBody", first.Body.Bytes())
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
