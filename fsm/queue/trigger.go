package queue

import (
	"slices"
	"strconv"
	"strings"

	"github.com/trireme-dev/trireme/fsm/cow"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// TriggerTarget says what a trigger makes of a change.
type TriggerTarget uint8

// The targets.
const (
	// ToMessage publishes a message, ToRun starts a workflow run, ToStream adds an entry to a stream.
	ToMessage TriggerTarget = iota
	ToRun
	ToStream
	triggerTargets
)

// String is the option by which the target is asked for.
func (t TriggerTarget) String() string {
	return [...]string{"message", "run", "stream", ""}[min(t, triggerTargets)]
}

// The limits of triggers.
const (
	// MaxTriggers is the most triggers of a database: every write is held against them.
	MaxTriggers = 100
	// MaxLanes is the most queues of a trigger.
	MaxLanes = 64
	// MaxHops is the longest chain of triggers, of which each was set off by commands that committed with what the one before it made.
	MaxHops = 16
	// maxTriggerName is the longest name of a trigger in bytes: its queues are named by it.
	maxTriggerName = 128
	// maxTriggerWords bounds the prefix, events, types and stream of a trigger in bytes.
	maxTriggerWords = 4096
	// triggerPrefix begins the names of the queues and flow-control keys of triggers.
	triggerPrefix = "trigger."
)

// Trigger is a rule by which changes of keys make messages, runs or entries of a stream, in the entry of the log that makes the change.
type Trigger struct {
	Name string
	// Created and Updated are in unix milliseconds.
	Created, Updated int64
	// Prefix begins the names of the keys.
	Prefix string
	// Events are names of keyspace events, Types those that TYPE answers; none are all.
	Events, Types []string
	// Old and New ask for the value before and after the change.
	Old, New bool
	// Lanes is the number of queues among which messages are divided by their keys: those of one key stay in order.
	Lanes int
	// User is who set the trigger: with whose rights it reads keys.
	User   string
	Target TriggerTarget
	// Publish is what messages and runs have in common.
	Publish Publication
	// Stream is the key of the stream. It keeps MaxLen entries at most, and each for Keep milliseconds (0 = for ever).
	Stream       string
	MaxLen, Keep int64
	Paused       bool

	// Fired is the number of changes that it was set off by, At the time of the last. Missed counts those of which nothing could be
	// made, and Error says why it was so the last time.
	Fired, Missed uint64
	At            int64
	Error         string
}

// Fields codes the value in its wire format. Decoded texts and bytes alias the input.
func (t *Trigger) Fields(c *wire.Codec) {
	c.Text(&t.Name)
	c.Varint(&t.Created)
	c.Varint(&t.Updated)
	c.Text(&t.Prefix)
	c.Texts(&t.Events)
	c.Texts(&t.Types)
	c.Bool(&t.Old)
	c.Bool(&t.New)
	c.Int(&t.Lanes)
	c.Text(&t.User)
	wire.Enum(c, &t.Target, triggerTargets)
	c.Record(t.Publish.Fields)
	c.Text(&t.Stream)
	c.Varint(&t.MaxLen)
	c.Varint(&t.Keep)
	c.Bool(&t.Paused)
	c.Uvarint(&t.Fired)
	c.Uvarint(&t.Missed)
	c.Varint(&t.At)
	c.Text(&t.Error)
}

// triggerCost is the logical overhead of a trigger in bytes.
const triggerCost = 900

// Size is the logical memory of the trigger in bytes, but for its last error.
func (t *Trigger) Size() int64 {
	return triggerCost + 2*t.Publish.Options.size() + textsSize(t.Name, t.Prefix, t.User, t.Stream, t.Publish.URL, t.Publish.Group, t.Publish.API) +
		textsSize(t.Events...) + textsSize(t.Types...)
}

// Matches reports whether an event of a key sets the trigger off. kind is the type of the key's value, before or after the change.
func (t *Trigger) Matches(event, key, kind string) bool {
	return strings.HasPrefix(key, t.Prefix) && (len(t.Events) == 0 || slices.Contains(t.Events, event)) &&
		(len(t.Types) == 0 || slices.Contains(t.Types, kind))
}

// LooksBack reports whether the trigger needs to know what was before a change.
func (t *Trigger) LooksBack() bool { return t.Old || len(t.Types) > 0 }

// queueOf is the queue in which messages of a key are delivered.
func (t *Trigger) queueOf(lane int) string {
	if t.Lanes == 1 {
		return triggerPrefix + t.Name
	}
	return triggerPrefix + t.Name + "." + strconv.Itoa(lane)
}

// ownQueues reports whether the messages of the trigger are in queues of its own.
func (t *Trigger) ownQueues() bool { return t.Target == ToMessage && t.Publish.Queue == "" }

// triggerTable holds the triggers. Rules is a list that is replaced, never changed; what counts stands apart.
type triggerTable struct {
	byName *cow.BTree[string, *Trigger]
	rules  []*Trigger
}

func newTriggerTable() triggerTable { return triggerTable{byName: byName[*Trigger]()} }

func (tt *triggerTable) fork() triggerTable {
	return triggerTable{byName: tt.byName.Snapshot(), rules: tt.rules}
}

// put stores a trigger whose rule is new or another one.
func (tt *triggerTable) put(t *Trigger) {
	tt.byName.Set(t.Name, t)
	tt.list()
}

// list makes the list of rules anew.
func (tt *triggerTable) list() {
	tt.rules = nil
	tt.byName.All(func(_ string, t *Trigger) bool {
		tt.rules = append(tt.rules, t)
		return true
	})
}

// Triggers are the triggers in the order of their names, as rules: what they count may be out of date. The list is not changed.
func (s *Store) Triggers() []*Trigger { return s.triggers.rules }

// Trigger is the trigger of a name; false if there is none.
func (s *Store) Trigger(name string) (Trigger, bool) {
	t, ok := s.triggers.byName.Get(name)
	if !ok {
		return Trigger{}, false
	}
	return *t, true
}

// Backlog is the number of messages of a trigger that are not done.
func (s *Store) Backlog(t *Trigger) (n int) {
	switch {
	case t.Target == ToRun:
		if f := s.flowKeyNamed(t.Publish.Flow.Key, false, 0); f != nil {
			n = f.live
		}
	case t.Target == ToMessage:
		for _, name := range s.queuesOf(t) {
			if q := s.queues.named(name); q != nil {
				n += count(s.places.backlog, q.no) + count(s.places.slots, q.no)
			}
		}
	}
	return n
}

// queuesOf are the names of the queues of a trigger's messages.
func (s *Store) queuesOf(t *Trigger) []string {
	if !t.ownQueues() {
		return []string{t.Publish.Queue}
	}
	names := make([]string, t.Lanes)
	for lane := range names {
		names[lane] = t.queueOf(lane)
	}
	return names
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
		if err := s.check(&t.Publish, &options, e.Now); err != nil {
			return err
		}
		if t.Publish.Group != "" && s.groups.find(t.Publish.Group) == nil {
			return notFound("topic %s not found", t.Publish.Group)
		}
	}
	if err := s.roomForLanes(&t); err != nil {
		return err
	}
	t = t.detached()
	t.Created, t.Updated, t.Paused = e.Now, e.Now, false
	if had {
		t.Created, t.Paused, t.Fired, t.Missed, t.At = old.Created, old.Paused && old.Target == t.Target, old.Fired, old.Missed, old.At
		s.memory.fixed -= old.Size()
	}
	t.Publish.SaltRedaction(e)
	s.memory.fixed += t.Size()
	s.triggers.put(&t)
	s.makeLanes(e, &t)
	return nil
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
