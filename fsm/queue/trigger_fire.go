package queue

import "github.com/trireme-dev/trireme/fsm/env"

// CountFired counts a change for a trigger, of which nothing could be made if why is not nil.
func (s *Store) CountFired(e *env.Env, name string, why *Error) {
	old, ok := s.triggers.byName.Get(name)
	if !ok {
		return
	}
	t := *old
	t.Fired, t.At = t.Fired+1, e.Now
	if why != nil {
		t.Missed, t.Error = t.Missed+1, why.Text[:min(len(why.Text), maxTriggerError)]
	}
	s.triggers.byName.Set(name, &t)
}

// maxTriggerError is the most bytes that are kept of an error: triggerCost has room for them.
const maxTriggerError = 256

// NextFired returns the number that the next change has for a trigger, from 1 on.
func (s *Store) NextFired(name string) uint64 {
	t, ok := s.triggers.byName.Get(name)
	if !ok {
		return 0
	}
	return t.Fired + 1
}

// FireMessage publishes the message of a change of a key, and counts the change.
func (s *Store) FireMessage(e *env.Env, t *Trigger, key, body []byte, hops uint8) {
	p := t.Publish
	p.Body, p.Hops = body, hops
	if t.ownQueues() {
		p.Queue, p.Given = t.queueOf(t.lane(key)), p.Given|GivenQueue
	}
	s.CountFired(e, t.Name, s.publish(e, &p, "", 0).Refused)
	s.trim(e)
}

// lane returns the number of the queue of a key's messages.
func (t *Trigger) lane(key []byte) int { return int(fnv(key) % uint64(t.Lanes)) }

// fnv is FNV-1a.
func fnv(b []byte) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range b {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h
}

// TriggerPrice returns the price of PutTrigger.
func (s *Store) TriggerPrice(t *Trigger) env.Price {
	size := t.Size()
	return env.Price{Work: messageWork + 2*bytesWork(size) + operation*int64(MaxTriggers+t.Lanes), Growth: size + int64(t.Lanes)*queueCost(&Queue{Name: t.queueOf(MaxLanes)})}
}

// ChangeTriggerPrice returns the price of ChangeTrigger.
func (s *Store) ChangeTriggerPrice(name string) (p env.Price) {
	t, ok := s.triggers.byName.Get(name)
	if !ok || t.Target == ToStream {
		return env.Price{Work: operation}
	}
	if t.Target == ToRun {
		return env.Price{Work: messageWork}
	}
	p.Work = operation * MaxTriggers
	for _, queue := range s.queuesOf(t) {
		p.Add(s.ChangeQueuePrice(nil, &QueueChange{Name: queue, Act: ActPause}))
	}
	return p
}

// FirePrice is the price of what a change makes of a trigger, with values of so many bytes.
func (s *Store) FirePrice(t *Trigger, values int64) env.Price {
	if t.Target == ToStream {
		return env.Price{Work: operation + 2*bytesWork(values), Growth: values + 128}
	}
	p := t.Publish
	p.Body = nil
	price := s.publication(&p)
	price.Add(env.Price{Work: 4 * bytesWork(values+firedBody), Growth: countedOf(int(values + firedBody))})
	return price
}

// firedBody is about what a message says of a change beside the values, in bytes.
const firedBody = 256
