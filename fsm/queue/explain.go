package queue

import "github.com/trireme-dev/trireme/fsm/cow"

// Reason says what a message, a queue or a flow-control key waits for.
type Reason uint8

// The reasons.
const (
	// Done: nothing will happen any more.
	Done Reason = iota
	// Delay: the time of the first attempt has not come.
	Delay
	// Backoff: an attempt has failed, and the time of the next one has not come.
	Backoff
	// InFlight: an attempt is under way.
	InFlight
	// Orphaned: the attempt under way belongs to a sender that is gone; the claim is kept until its lease ends, because
	// what it belongs to is delivered one at a time.
	Orphaned
	// BehindOthers: older messages of the queue have all its slots.
	BehindOthers
	// AwaitsCallbacks: a message of the queue that is done holds its slot until its callbacks are done.
	AwaitsCallbacks
	// QueuePaused: the queue has been paused.
	QueuePaused
	// FlowPaused: the flow-control key has been paused.
	FlowPaused
	// FlowParallelism: as many attempts of the key are under way as may be.
	FlowParallelism
	// FlowRate: the key has used up the rate of its window.
	FlowRate
	// FlowTurn: other messages of the key come first.
	FlowTurn
	// HostShare: one host may have only a part of all attempts under way.
	HostShare
	// GlobalLimit: as many attempts are under way as may be at all.
	GlobalLimit
	// SenderBusy: it is due, and waits for a free sender.
	SenderBusy
	// Debounced: it waits for the last publication of its key.
	Debounced
	// Gathering: it is a batch that takes in publications.
	Gathering
	// BehindSingleton: others of its singleton's key come first.
	BehindSingleton
	// Stopped: its attempts are used up, and it has paused its queue or its flow-control key.
	Stopped
	reasons
)

var reasonWords = [reasons][2]string{
	{"done", "nothing more will happen"},
	{"delay", "the time of the first attempt has not come"},
	{"backoff", "the last attempt failed and the time of the next one has not come"},
	{"in-flight", "an attempt is under way"},
	{"orphaned", "the attempt under way belongs to a sender that is gone; what is delivered one at a time waits for its lease to end"},
	{"behind-others", "older messages of the queue have all its slots"},
	{"awaits-callbacks", "a message before it in the queue is done, but its callbacks are not"},
	{"queue-paused", "the queue is paused"},
	{"flow-paused", "the flow-control key is paused"},
	{"flow-parallelism", "as many attempts of the flow-control key are under way as it allows"},
	{"flow-rate", "the flow-control key has used up its rate in this window"},
	{"flow-turn", "other messages of the flow-control key come first"},
	{"host-share", "the destination's host has as many attempts under way as one host may have"},
	{"global-parallelism", "as many attempts are under way as the global parallelism allows"},
	{"sender", "it is due, and waits for a free sender"},
	{"debounced", "it waits for other publications of its key, of which the last counts"},
	{"gathering", "it is a batch, and takes in publications of its key"},
	{"behind-singleton", "another message of its singleton's key comes first"},
	{"paused-at-end", "its attempts are used up, and what it belongs to is paused"},
}

// String is the reason as a word.
func (r Reason) String() string { return reasonWords[min(r, reasons-1)][0] }

// Text is the reason as a sentence.
func (r Reason) Text() string { return reasonWords[min(r, reasons-1)][1] }

// Explanation says why a message or a schedule waits, since when and until when.
type Explanation struct {
	Reason Reason
	// Since is the time at which the wait began, in unix milliseconds; 0 if that is not kept.
	Since int64
	// Next is the time at which the wait ends at the latest, or may end, in unix milliseconds; 0 if only an event ends it.
	Next int64
	// Behind is the message that has to come first, if there is one.
	Behind ID
	// Ahead counts the messages that come first: where tenants share the line about as many, if nothing else comes.
	Ahead int
	// Last is the event of the last attempt that has ended, nil if there is none, or it is not kept any more.
	Last *EventInfo
	// State is the state of the message. Attempts counts its attempts so far, Allowed is the largest number of them.
	State             State
	Attempts, Allowed int
	// Dead is the dead letter of a message that has failed, nil if there is none.
	Dead *Dead
	// Queue is the queue of the message, empty if it has none.
	Queue string
	// Flow is the flow-control key that it waits for, with its limits as they are now, nil if it waits for none.
	Flow *FlowControl
	// Tokens are those in the bucket of the key now.
	Tokens int
	// Standing is how the message stands in its line, nil for what has no precedence in a line that nobody shares.
	Standing *Standing
	// StoppedBy is the message that has paused the queue or the key at the end of its retries.
	StoppedBy ID
	// Gather says with what the message is gathered, nil if it is not; Gathered counts the publications that it has taken in so far, 0
	// once its first attempt has begun.
	Gather   *Gather
	Gathered int
	// Holders are messages that hold what it waits for, slots of its queue or of its key: the oldest maxHolders.
	Holders []ID
}

// maxHolders is the most messages that an explanation names.
const maxHolders = 10

// Explain says what a message waits for; false if there is no such message.
func (s *Store) Explain(id ID, now int64) (Explanation, bool) {
	m := s.whole(id)
	if m == nil {
		return Explanation{}, false
	}
	return s.explain(m, now), true
}

// ClaimedAt returns the time at which the attempt of a message that is under way was claimed, in unix milliseconds; 0 if none is.
func (s *Store) ClaimedAt(id ID) int64 {
	if m := s.find(id); m != nil && m.place == placeActive {
		return m.claim.started
	}
	return 0
}

// explain returns the explanation of a message, with its last attempt.
func (s *Store) explain(m *Message, now int64) Explanation {
	x := s.explainPlace(m, now)
	x.Last, x.State, x.Attempts, x.Allowed = s.lastAttempt(m), m.state, int(m.attempts), int(m.retries)+1
	if q, ok := s.queues.byNo.Get(m.queue); ok {
		x.Queue = q.Name
	}
	s.explainGathering(m, &x)
	if m.state == Failed {
		if d, ok := s.dead.Get(Stamp{m.at, m.Seq}); ok {
			x.Dead = d.whole()
		}
	}
	return x
}

// explainGathering says what a message is to others of its key.
func (s *Store) explainGathering(m *Message, x *Explanation) {
	if m.calls&(gathers|isSingleton) == 0 {
		return
	}
	x.Gather = m.envelope().Gather
	n, gathers := s.gathered.open.Get(m.Seq)
	if !gathers {
		return
	}
	x.Gathered = n.count
	switch {
	case x.Reason != Delay:
	case x.Gather.batches():
		x.Reason = Gathering
	default:
		x.Reason = Debounced
	}
}

// holders are the oldest members of a queue's slots, or of a key's attempts under way.
func (s *Store) holders(t *cow.BTree[member, struct{}], of uint64) (list []ID) {
	t.AscendHead(of, func(m member, _ struct{}) bool {
		if m.of != of || len(list) == maxHolders {
			return false
		}
		list = append(list, s.idOf(m.seq))
		return true
	})
	return list
}

func (s *Store) explainPlace(m *Message, now int64) Explanation {
	x := Explanation{Since: m.since}
	switch m.place {
	case placeBacklog:
		s.explainQueued(m, &x)
	case placeDue:
		switch x.Next = m.at; {
		case m.at > now && m.state == Retry:
			x.Reason = Backoff
		case m.at > now:
			x.Reason = Delay
		default:
			x.Reason, x.Next = s.dueReason(), 0
		}
		if m.marks.priority() > 0 {
			x.Standing = standingOf(m)
		}
	case placeWaiting:
		s.explainFlow(m, now, &x)
	case placeParked:
		x.Reason = HostShare
		if m.marks.priority() > 0 {
			s.explainLine(s.places.parked, m, uint64(m.at), &x)
		}
	case placeActive:
		x.Reason, x.Next = InFlight, m.claim.expiresAt()
		if m.claim.Epoch != s.sender.Epoch || m.claim.Term != s.sender.Term {
			x.Reason = Orphaned
		}
	}
	return x
}

// dueReason returns what keeps messages that are due.
func (s *Store) dueReason() Reason {
	if n := s.settings.GlobalParallelism; n > 0 && s.places.leases.Len() >= n {
		return GlobalLimit
	}
	return SenderBusy
}

func (s *Store) explainQueued(m *Message, x *Explanation) {
	s.explainLine(s.places.backlog, m, m.queue, x)
	x.Ahead += count(s.places.slots, m.queue)
	x.Reason = BehindOthers
	if m.calls&isSingleton != 0 {
		x.Reason = BehindSingleton
	}
	if q, ok := s.queues.byNo.Get(m.queue); ok && q.Paused {
		x.Reason = QueuePaused
		s.explainStop(q.no, m, x)
		return
	}
	x.Holders = s.holders(s.places.slots, m.queue)
	if seq, ok := first(s.places.slots, m.queue); ok {
		x.Behind = s.idOf(seq)
	} else if seq, ok := first(s.places.holding, m.queue); ok {
		x.Reason, x.Behind = AwaitsCallbacks, s.idOf(seq)
	}
}

func (s *Store) explainFlow(m *Message, now int64, x *Explanation) {
	s.explainLine(s.places.waiting, m, m.flow, x)
	f, _ := s.flows.byNo.Get(m.flow)
	x.Reason, x.Next = s.flowReason(f, now)
	s.nameFlowKey(f, now, x)
	if x.Reason == FlowPaused && s.explainStop(f.no, m, x) {
		return
	}
	if x.Reason == SenderBusy && x.Ahead > 0 {
		x.Reason = FlowTurn
	}
	if x.Ahead > 0 {
		if turn, ok := s.nextIn(s.places.waiting, m.flow); ok && turn.seq != m.Seq {
			x.Behind = s.idOf(turn.seq)
		}
	}
}

// explainStop names the message that has paused what m belongs to, and reports whether one has.
func (s *Store) explainStop(no uint64, m *Message, x *Explanation) bool {
	by, stopped := s.stopped.Get(no)
	switch {
	case !stopped:
	case by == m.ID:
		x.Reason = Stopped
	default:
		x.Behind, x.StoppedBy = by, by
	}
	return stopped
}

// nameFlowKey names a key and its limits, and the holders of its slots if x waits for a slot.
func (s *Store) nameFlowKey(f *FlowKey, now int64, x *Explanation) {
	x.Flow = &FlowControl{Key: f.Key, Parallelism: f.Parallelism, Rate: f.Rate, Period: f.Period, Burst: f.Burst}
	x.Tokens = f.Tokens(now)
	if x.Reason == FlowParallelism {
		x.Holders = s.holders(s.places.running, f.no)
	}
}

// flowReason returns what keeps a key's wait list, and until when.
func (s *Store) flowReason(f *FlowKey, now int64) (Reason, int64) {
	switch {
	case f.Paused:
		return FlowPaused, 0
	case f.Parallelism > 0 && s.full(f):
		return FlowParallelism, 0
	}
	if at := f.rateAdmits(s.nextCost(f), now); at > now {
		return FlowRate, at
	}
	return s.dueReason(), 0
}

func (s *Store) idOf(seq uint64) ID {
	m, _ := s.messages.Get(seq)
	return m.ID
}

// lastAttempt is the newest event that tells the end of an attempt.
func (s *Store) lastAttempt(m *Message) *EventInfo {
	r := s.reader()
	for v := r.event(m.last); v != nil; v = r.event(v.before) {
		if v.State == Failing || v.State == Delivered {
			n := m.tell(r, v).load(Page{})
			return &n
		}
	}
	return nil
}

// ExplainQueue says what a queue's oldest message waits for: Done if it has none. False if there is no such queue.
func (s *Store) ExplainQueue(name string, now int64) (Explanation, bool) {
	q := s.queues.named(name)
	if q == nil {
		return Explanation{}, false
	}
	seq, ok := first(s.places.slots, q.no)
	if !ok {
		var turn inLine
		turn, ok = s.nextIn(s.places.backlog, q.no)
		seq = turn.seq
	}
	if !ok {
		return Explanation{Reason: Done}, true
	}
	m, _ := s.messages.Get(seq)
	x := s.explain(m, now)
	x.Behind = m.ID
	return x, true
}

// ExplainFlow says what the wait list of a flow-control key waits for: Done if it is empty. False if there is no such
// key.
func (s *Store) ExplainFlow(key string, now int64) (Explanation, bool) {
	f := s.flowKeyNamed(key, false, now)
	if f == nil {
		return Explanation{}, false
	}
	turn, ok := s.nextIn(s.places.waiting, f.no)
	if !ok {
		return Explanation{Reason: Done}, true
	}
	m, _ := s.messages.Get(turn.seq)
	x := Explanation{Since: m.since, Behind: m.ID}
	x.Reason, x.Next = s.flowReason(f, now)
	s.explainLine(s.places.waiting, m, f.no, &x)
	s.nameFlowKey(f, now, &x)
	x.Ahead = 0
	return x, true
}
