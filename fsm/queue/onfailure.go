package queue

import (
	"fmt"
	"strings"

	"github.com/trireme-dev/trireme/fsm/env"
)

// OnFailure says what happens when the attempts of a message are used up.
type OnFailure uint8

// What may happen.
const (
	// DeadLetter: the message has failed, and becomes a dead letter.
	DeadLetter OnFailure = iota
	// Pause: the queue of the message is paused, or its flow-control key if it has no queue. The message stays the first in it, with all
	// its retries. A workflow run pauses itself.
	Pause
	onFailures
)

var onFailureNames = [onFailures]string{"dead-letter", "pause"}

// String is the name, as the directive gives it.
func (of OnFailure) String() string { return onFailureNames[min(of, Pause)] }

func (c *Config) onFailure(v string) string {
	for i, name := range onFailureNames {
		if name == strings.ToLower(v) {
			c.p.OnFailure, c.p.Given = OnFailure(i), c.p.Given|GivenOnFailure
			return ""
		}
	}
	return "use dead-letter or pause"
}

// checkPause refuses options of a message that ask for a pause of nothing.
func (o *Options) checkPause() *Error {
	if o.OnFailure == Pause && o.Queue == "" && o.Flow == nil {
		return invalid("on-failure=pause needs a queue or a flow-control key: that is what is paused")
	}
	return nil
}

// pausable returns the queue or the flow-control key that m pauses when its attempts are used up; neither if it becomes a dead letter.
func (s *Store) pausable(m *Message) (*Queue, *FlowKey) {
	if m.run || m.stopping || m.calls&pausesAtEnd == 0 {
		return nil, nil
	}
	if q, ok := s.queues.byNo.Get(m.queue); ok && !q.isSingletons() {
		if q.deleted {
			return nil, nil
		}
		return q, nil
	}
	return nil, s.flows.get(m.flow)
}

// pause pauses the queue or the flow-control key of m, which is in no index and whose attempts are used up. m goes on with all its retries
// when that is resumed. Its failure callback is told.
func (s *Store) pause(e *env.Env, m *Message, n *Result, q *Queue, f *FlowKey, lacks string) {
	what := ""
	if q != nil {
		what = "the queue " + q.Name
	} else {
		what = "the flow-control key " + f.Key
	}
	text := fmt.Sprintf("%d attempts have failed: %s is paused", m.retried+1, what)
	if m.calls&callsFailure != 0 {
		_, without := s.publishCallback(e, m, n, &Dead{Error: text}, false)
		lacks = withLacks(lacks, without)
	}
	m.retried = 0
	s.record(m, e.Now, Event{State: Retry, detail: &eventDetail{failure: withLacks(text, lacks)}})
	if q != nil {
		s.places.slots.Delete(member{m.queue, m.Seq})
		s.enter(m, placeBacklog, e.Now, e.Now)
		s.store(m)
		s.setQueue(e, q, q.Parallelism, true)
		s.stop(q.no, m.ID)
		return
	}
	s.enter(m, placeWaiting, e.Now, e.Now)
	s.store(m)
	f = s.flows.get(m.flow)
	f.Paused = true
	s.storeFlowKey(f, e.Now)
	s.stop(f.no, m.ID)
}

// stoppedCost is the logical memory of the name of a message that has paused something, in bytes.
const stoppedCost = 80

// stop notes which message has paused a queue or a flow-control key.
func (s *Store) stop(no uint64, by ID) {
	if had := s.stopped.Set(no, by); !had {
		s.memory.fixed += stoppedCost
	}
}

// goOn forgets who has paused a queue or a flow-control key, which is resumed or deleted.
func (s *Store) goOn(no uint64) {
	if s.stopped.Delete(no) {
		s.memory.fixed -= stoppedCost
	}
}

// QueueStoppedBy returns the message that has paused a queue at the end of its retries; zero if none has.
func (s *Store) QueueStoppedBy(name string) (by ID) {
	if q := s.queues.named(name); q != nil {
		by, _ = s.stopped.Get(q.no)
	}
	return by
}

// FlowStoppedBy returns the message that has paused a flow-control key at the end of its retries; zero if none has.
func (s *Store) FlowStoppedBy(key string) (by ID) {
	if no, ok := s.flows.byName.Get(key); ok {
		by, _ = s.stopped.Get(no)
	}
	return by
}

// Stopped counts the queues and flow-control keys that are paused because a message of them has used up its retries.
func (s *Store) Stopped() int { return s.stopped.Len() }
