package queue

import (
	"slices"
	"strings"

	"github.com/trireme-dev/trireme/fsm/env"
)

// PutTrigger makes a trigger, or overwrites the rule of one; what it has counted goes on.
func (s *Store) PutTrigger(e *env.Env, t Trigger) error {
	if !ValidName(t.Name) || len(t.Name) > maxTriggerName {
		return invalid("invalid name of a trigger: %s; at most %d bytes", nameRule, maxTriggerName)
	}
	words := textsSize(t.Prefix, t.Stream) + textsSize(t.Events...) + textsSize(t.Types...)
	switch {
	case t.Target >= triggerTargets:
		return invalid("invalid target of a trigger")
	case t.Lanes < 1 || t.Lanes > MaxLanes:
		return invalid("invalid lanes: use 1 to %d", MaxLanes)
	case t.Lanes > 1 && !t.ownQueues():
		return invalid("lanes are for messages without a queue-name")
	case words > maxTriggerWords:
		return invalid("prefix, events, types and stream of a trigger have at most %d bytes", maxTriggerWords)
	case t.MaxLen < 0 || t.Keep < 0:
		return invalid("maxlen and keep must not be negative")
	case (t.Target == ToStream) != (t.Stream != ""):
		return invalid("a trigger to a stream needs its key")
	}
	old, had := s.triggers.byName.Get(t.Name)
	if !had && s.triggers.byName.Len() >= MaxTriggers {
		return quota("triggers")
	}
	if t.Target == ToRun && t.Publish.Flow == nil {
		t.Publish.Flow = &FlowControl{Key: triggerPrefix + t.Name}
		t.Publish.Given |= GivenFlow
	}
	if t.Target != ToStream {
		options := t.Publish.Options
		if t.ownQueues() {
			options.Queue, options.Given = t.queueOf(0), options.Given|GivenQueue
		}
		if err := s.check(&t.Publish, &options, e.Now); err != nil {
			return err
		}
		if t.Publish.Group != "" && s.groups.find(t.Publish.Group) == nil {
			return notFound("topic %s not found", t.Publish.Group)
		}
	}
	goesOn := had && s.sameWay(old, &t)
	if had && !goesOn && old.ownQueues() {
		if n := s.Backlog(old); n > 0 {
			return invalid("messages of the trigger that are not done: %d; its target, lanes and queue can't change until then", n)
		}
	}
	if err := s.roomForLanes(&t); err != nil {
		return err
	}
	t = t.detached()
	t.Created, t.Updated, t.Paused = e.Now, e.Now, false
	if had {
		t.Created, t.Paused, t.Fired, t.Missed, t.At = old.Created, old.Paused && goesOn, old.Fired, old.Missed, old.At
		s.memory.fixed -= old.Size()
		if !goesOn {
			s.dropLanes(e, old)
		}
	}
	t.Publish.SaltRedaction(e)
	s.memory.fixed += t.Size()
	s.triggers.put(&t)
	s.makeLanes(e, &t)
	return nil
}

// sameWay reports whether what two rules make waits for its turn in the same places, so that the order of each key holds from one to the
// other.
func (s *Store) sameWay(a, b *Trigger) bool {
	switch {
	case a.Target != b.Target:
		return false
	case a.Target == ToMessage:
		return slices.Equal(s.queuesOf(a), s.queuesOf(b))
	case a.Target == ToRun:
		return a.Publish.Flow.Key == b.Publish.Flow.Key
	}
	return true
}

// roomForLanes refuses a trigger whose queues would be too many.
func (s *Store) roomForLanes(t *Trigger) *Error {
	if t.Target != ToMessage {
		return nil
	}
	fresh := 0
	for _, name := range s.queuesOf(t) {
		if s.queues.named(name) == nil {
			fresh++
		}
	}
	if n := s.settings.MaxQueues; n > 0 && fresh > 0 && s.queues.byName.Len()+fresh > n {
		return quota("maxQueues")
	}
	return nil
}

// makeLanes makes the queues of a trigger, paused if it is.
func (s *Store) makeLanes(e *env.Env, t *Trigger) {
	if !t.ownQueues() {
		return
	}
	for _, name := range s.queuesOf(t) {
		if s.queues.named(name) != nil {
			continue
		}
		if q := s.newQueue(name, e.Now); t.Paused {
			s.setQueue(e, q, q.Parallelism, true)
		}
	}
}

// dropLanes removes the queues of a trigger that are empty.
func (s *Store) dropLanes(e *env.Env, t *Trigger) {
	if !t.ownQueues() {
		return
	}
	for _, name := range s.queuesOf(t) {
		if q := s.queues.named(name); q != nil && count(s.places.backlog, q.no)+s.places.taken(q.no) == 0 {
			s.deleteQueue(e, q)
		}
	}
}

// detached is a trigger that shares no memory with what it was decoded from.
func (t Trigger) detached() Trigger {
	c := t
	c.Name, c.Prefix, c.User, c.Stream = strings.Clone(t.Name), strings.Clone(t.Prefix), strings.Clone(t.User), strings.Clone(t.Stream)
	c.Events, c.Types = cloned(t.Events), cloned(t.Types)
	c.Publish = t.Publish.detached()
	return c
}

func cloned(list []string) (out []string) {
	for _, s := range list {
		out = append(out, strings.Clone(s))
	}
	return out
}

// ChangeTrigger pauses, resumes or deletes a trigger: ActPause, ActResume, ActDelete. A paused one still makes messages and runs: they
// wait. Those that a deleted one has made are delivered.
func (s *Store) ChangeTrigger(e *env.Env, name string, act Act) error {
	old, ok := s.triggers.byName.Get(name)
	if !ok {
		return notFound("trigger %s not found", name)
	}
	t := *old
	switch act {
	case ActDelete:
		s.memory.fixed -= old.Size()
		s.triggers.byName.Delete(name)
		s.triggers.list()
		s.dropLanes(e, &t)
		return nil
	case ActPause, ActResume:
		if t.Target == ToStream {
			return invalid("a trigger to a stream can't be paused: its readers have a place in the stream each")
		}
		t.Paused, t.Updated = act == ActPause, e.Now
	default:
		return invalid("a trigger can't be changed in this way")
	}
	s.triggers.put(&t)
	if t.Target == ToRun {
		_, err := s.ChangeFlowControl(e, FlowControlChange{Key: t.Publish.Flow.Key, Act: act})
		if act == ActResume && err != nil { // the key is forgotten, and so is its pause
			err = nil
		}
		return err
	}
	for _, queue := range s.queuesOf(&t) {
		if q := s.queues.named(queue); q != nil {
			s.setQueue(e, q, q.Parallelism, t.Paused)
		}
	}
	s.trim(e)
	return nil
}
