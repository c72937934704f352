package queue

import (
	"slices"
	"strconv"
	"strings"

	"github.com/trireme-dev/trireme/fsm/cow"
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
	// Publish has the destination and options of its messages, or of its runs.
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

// MatchesFlush reports whether a flush, called by an event, sets the trigger off: it concerns keys of every prefix and type.
func (t *Trigger) MatchesFlush(event string) bool {
	return len(t.Events) == 0 || slices.Contains(t.Events, event)
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
