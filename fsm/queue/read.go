package queue

import (
	"github.com/trireme-dev/trireme/fsm/cow"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/sealed"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// MessageInfo is a message as a read finds it.
type MessageInfo struct {
	ID      ID
	Content *Content
	State   State
	// Retried counts the retries so far, Attempts the attempts.
	Retried  int
	Attempts uint64
	// Next is the time at which the next attempt is due, in unix milliseconds; 0 if it is not known or there is none.
	Next int64
}

// Message is a message that waits, runs, or was done a short time ago (Settings.Grace); false if there is none.
func (s *Store) Message(id ID, now int64) (MessageInfo, bool) {
	m := s.whole(id)
	if m == nil || m.place == placeDone && m.at+s.settings.Grace <= now {
		return MessageInfo{}, false
	}
	return m.info(), true
}

// Live reports whether the message of an id is in the trees: nothing of it has to be looked for in volumes then, but its events.
func (s *Store) Live(id ID) bool { return s.whole(id) != nil }

func (m *Message) info() MessageInfo {
	n := MessageInfo{ID: m.ID, Content: m.Content(), State: m.state, Retried: int(m.retried), Attempts: uint64(m.attempts)}
	if m.place == placeDue || m.place == placeBacklog {
		n.Next = m.at
	}
	return n
}

// Page says which part of a list to give.
type Page struct {
	// After is the cursor of the page before; zero to begin.
	After Stamp
	// Limit is the most elements, at least 1.
	Limit int
	// Newest asks for the newest first.
	Newest bool
	// Last asks for the last event of each message alone, without the message's body if that is apart. It counts for events only.
	Last bool
}

// Events lists events that a filter chooses. More says that there are others behind the cursor, or that there may be: one
// answer looks at MaxScan events at most, so that a page may be short, and the reader has to go on. It reads volumes, so it is for
// forks.
func (s *Store) Events(f *Filter, p Page) (list []EventInfo, cursor Stamp, more bool) {
	if len(f.IDs) > 0 {
		return s.eventsOf(f, p)
	}
	looked, c, r := 0, f.chooser(), s.reader()
	look := func() bool {
		looked++
		more = looked > MaxScan
		return !more
	}
	r.walk(p, c, func(_ *sealed.Volume, last Stamp) bool {
		if !look() {
			return false
		}
		cursor = last
		return true
	}, func(v *Event, of subject) bool {
		if !look() {
			return false
		}
		if c.matchEvent(v) && (!p.Last || of.ends(r, v)) {
			if n := of.tell(r, v); c.match(n.ID, n.Content) {
				if len(list) == p.Limit {
					more = true
					return false
				}
				if p.Last {
					n.Course = r.course(v, of.tries())
					n.standsForAll()
				}
				list = append(list, n.load(p))
			}
		}
		cursor = v.Stamp
		return true
	})
	return list, cursor, more
}

// eventsOf lists the events of some messages.
func (s *Store) eventsOf(f *Filter, p Page) (list []EventInfo, cursor Stamp, more bool) {
	found, c, r := byNumber[EventInfo](), f.chooser(), s.reader()
	for _, id := range f.IDs {
		events, who := r.of(id)
		for i, v := range events {
			if c.matchEvent(v) && (!p.Last || i == len(events)-1) {
				if n := who.tell(r, v); n.concerns(id) && c.match(id, n.Content) {
					if p.Last {
						n.Course = r.course(v, who.tries())
						n.standsForAll()
					}
					found.Set(v.Seq, n)
				}
			}
		}
	}
	return pageOf(found, p)
}

// pageOf returns a page of a sorted list.
func pageOf(found *cow.BTree[uint64, EventInfo], p Page) (list []EventInfo, cursor Stamp, more bool) {
	step, i := 1, 0
	if p.After != (Stamp{}) {
		at, exists := found.Rank(p.After.Seq)
		if i = at; exists {
			i++
		}
	}
	if p.Newest {
		step, i = -1, found.Len()-1
		if p.After != (Stamp{}) {
			at, _ := found.Rank(p.After.Seq)
			i = at - 1
		}
	}
	for ; i >= 0 && i < found.Len(); i += step {
		if len(list) == p.Limit {
			return list, cursor, true
		}
		_, v := found.At(i)
		list, cursor = append(list, v.load(p)), v.Stamp
	}
	return list, cursor, false
}

// DeadInfo is a dead letter with its message.
type DeadInfo struct {
	*Dead
	Message MessageInfo
}

// DeadLetter is one dead letter; false if there is none of that id.
func (s *Store) DeadLetter(t Stamp) (DeadInfo, bool) {
	d, ok := s.dead.Get(t)
	if !ok {
		return DeadInfo{}, false
	}
	return s.deadInfo(d), true
}

func (s *Store) deadInfo(d *Dead) DeadInfo {
	m, _ := s.messages.Get(d.Seq)
	return DeadInfo{Dead: d.whole(), Message: m.info()}
}

// DeadLetters lists dead letters: those of ids, or those that a filter chooses. Pages are as those of Events.
func (s *Store) DeadLetters(ids []Stamp, f *Filter, p Page) (list []DeadInfo, cursor Stamp, more bool) {
	if len(ids) > 0 {
		for _, t := range ids {
			if n, ok := s.DeadLetter(t); ok {
				list = append(list, n)
			}
		}
		return list, cursor, false
	}
	looked, chosen := 0, f.chooser()
	visit := func(t Stamp, d *Dead) bool {
		if looked++; looked > MaxScan {
			more = true
			return false
		}
		if s.matchDead(chosen, d) {
			if len(list) == p.Limit {
				more = true
				return false
			}
			list = append(list, s.deadInfo(d))
		}
		cursor = t
		return true
	}
	if !p.Newest {
		from := p.After
		from.Seq++
		s.dead.Ascend(from, visit)
		return list, cursor, more
	}
	i := s.dead.Len()
	if p.After != (Stamp{}) {
		i, _ = s.dead.Rank(p.After)
	}
	for i--; i >= 0; i-- {
		if t, d := s.dead.At(i); !visit(t, d) {
			break
		}
	}
	return list, cursor, more
}

// QueueInfo is a queue with what is counted from its messages.
type QueueInfo struct {
	Queue
	// Lag is the number of messages that are not done, Active the number of attempts under way.
	Lag, Active int
	// Tenants is as that of FlowControlInfo.
	Tenants int
}

// Queue is a queue by its name; false if there is none.
func (s *Store) Queue(name string) (QueueInfo, bool) {
	q := s.queues.named(name)
	if q == nil {
		return QueueInfo{}, false
	}
	return s.queueInfo(q), true
}

func (s *Store) queueInfo(q *Queue) QueueInfo {
	n := QueueInfo{Queue: *q, Lag: count(s.places.backlog, q.no) + count(s.places.slots, q.no), Tenants: s.places.shares.size(q.no)}
	for _, seq := range s.members(s.places.slots, q.no) {
		if m, _ := s.messages.Get(seq); m.place == placeActive {
			n.Active++
		}
	}
	return n
}

// FlowControlInfo is a flow-control key with what is counted from its messages.
type FlowControlInfo struct {
	FlowKey
	// Waiting is the length of the wait list, Active the number of attempts under way.
	Waiting, Active int
	// Tenants is the number of tenants that share it, those whose messages are done but that have had more than others too.
	Tenants int
	// Left are the tokens in the bucket of the key, 0 for a key without one.
	Left int
}

// Fields codes the value in its wire format.
func (ci *FlowControlInfo) Fields(c *wire.Codec) {
	ci.FlowKey.fields(c)
	c.Int(&ci.Waiting)
	c.Int(&ci.Active)
	if c.More(ci.FlowKey.hasMore() || ci.Tenants != 0) { // from the level env.Files on
		ci.FlowKey.moreFields(c)
		c.Int(&ci.Tenants)
		c.Int(&ci.Left)
	}
}

func (s *Store) flowControlInfo(f *FlowKey, now int64) FlowControlInfo {
	n := FlowControlInfo{FlowKey: *f, Waiting: count(s.places.waiting, f.no), Active: count(s.places.running, f.no)}
	n.Tenants, n.Left = s.places.shares.size(f.no), f.Tokens(now)
	n.rollWindow(now)
	return n
}

// FlowControlKey returns a flow-control key at a time; false if there is none.
func (s *Store) FlowControlKey(key string, now int64) (FlowControlInfo, bool) {
	f := s.flowKeyNamed(key, false, now)
	if f == nil {
		return FlowControlInfo{}, false
	}
	return s.flowControlInfo(f, now), true
}

// Group is a URL group by name or id; false if there is none.
func (s *Store) Group(name string) (Group, bool) {
	g := s.groups.find(name)
	if g == nil {
		return Group{}, false
	}
	return *g, true
}

// Schedule is a schedule by its id; false if there is none.
func (s *Store) Schedule(id string) (Schedule, bool) {
	c, ok := s.schedules.byID.Get(id)
	if !ok {
		return Schedule{}, false
	}
	return *c, true
}

// DueSchedules are the schedules whose next time has come or is not known yet, at most limit: for each of them the
// leader computes a Tick.
func (s *Store) DueSchedules(now env.Time, limit int) (list []Schedule) {
	return s.schedules.due(now, limit)
}

// Parallel is the global parallelism: its limit, 0 for none, and the attempts under way.
func (s *Store) Parallel() (limit, active int) {
	return s.settings.GlobalParallelism, s.places.leases.Len()
}

// Keys are the signing keys.
func (s *Store) Keys() Keys { return s.keys }

// Settings are the limits in force.
func (s *Store) Settings() Settings { return s.settings }

// Counts are the sizes of the store.
type Counts struct {
	Messages, Active, Dead, Events, Queues, Schedules, Groups, FlowKeys int
	// Stopped are queues and flow-control keys that a message has paused at the end of its retries.
	Stopped int
}

// Fields codes the value in its wire format.
func (co *Counts) Fields(c *wire.Codec) {
	for _, v := range [...]*int{&co.Messages, &co.Active, &co.Dead, &co.Events, &co.Queues, &co.Schedules, &co.Groups, &co.FlowKeys} {
		wire.Uint(c, v)
	}
	if c.More(co.Stopped > 0) { // from the level env.Files on
		wire.Uint(c, &co.Stopped)
	}
}

// Add adds the counts of another store.
func (co *Counts) Add(m Counts) {
	co.Messages, co.Active, co.Dead, co.Events = co.Messages+m.Messages, co.Active+m.Active, co.Dead+m.Dead, co.Events+m.Events
	co.Stopped += m.Stopped
	co.Queues, co.Schedules, co.Groups, co.FlowKeys = co.Queues+m.Queues, co.Schedules+m.Schedules, co.Groups+m.Groups, co.FlowKeys+m.FlowKeys
}

// Counts returns the sizes of the store; Messages are those that are kept, done or not.
func (s *Store) Counts() Counts {
	return Counts{
		Messages: s.messages.Len(), Active: s.places.leases.Len(), Dead: s.dead.Len(), Events: s.events.byNo.Len() + s.events.past.Records(), Queues: s.queues.byName.Len(),
		Schedules: s.schedules.byID.Len(), Groups: s.groups.byName.Len(), FlowKeys: s.flows.byNo.Len(), Stopped: s.stopped.Len(),
	}
}
