package sim

import (
	"slices"
	"strconv"
	"time"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/queue"
)

// messageModel tracks the messages of a history: their outcomes by the log, and the deliveries that destinations saw.
type messageModel struct {
	truth    uint64 // entries that were taken in
	messages map[queue.ID]*message
	order    []queue.ID
	sent     []*attempt
	running  []*attempt
	once     map[string][]made // messages of a deduplication id
	cancels  map[queue.ID]bool // of which a cancellation was asked
	plans    map[string]*plan
	changes  map[answerKey]string
}

// answerKey names the outcome of a request in the log.
type answerKey struct {
	index uint64
	place int
}

// made is a message, and when the log made it.
type made struct {
	id queue.ID
	at int64
}

// message is the state of one message by the log.
type message struct {
	claims, answers int
	open            *attempt
	final           queue.State
	ended           bool
}

// plan is a schedule.
type plan struct {
	op      *operation
	every   int64
	misfire queue.Misfire
	// last is the newest time that fired, created when its times began.
	last, created int64
	made          int64 // messages of it
	// paused: it makes no messages any more; absent: it is gone, or never was.
	paused, absent bool
}

// attempt is one delivery under way at a destination, or that was.
type attempt struct {
	queue.Attempt
	deliverer *deliverer
	begun     time.Duration // when the Advance was asked for that has claimed it: its lease is counted from there
	ended     time.Duration
	over      bool
	reported  bool // its result is in the log
	asks      bool // it waits for a request of the endpoint
	result    queue.Result
	finished  time.Time
}

func (m *messageModel) init() {
	m.messages, m.once, m.cancels = map[queue.ID]*message{}, map[string][]made{}, map[queue.ID]bool{}
	m.plans, m.changes = map[string]*plan{}, map[answerKey]string{}
}

const host = "http://shop:1/"

// askMessages has a client ask for something about messages.
func (w *world) askMessages(n *node, kind Kind, id string, b, c int) {
	p := queue.Publication{URL: host, Body: []byte(id)}
	p.Given, p.Retries, p.RetryDelay = queue.GivenRetries, b%3, "1000"
	switch kind {
	case Publish:
		if c%4 == 0 {
			p.Given, p.Delay = p.Given|queue.GivenDelay, int64(c%9000)
		}
	case PublishOnce:
		p.DedupID = "once" + strconv.Itoa(b%3)
	case Enqueue:
		p.Given, p.Queue = p.Given|queue.GivenQueue, "q"+strconv.Itoa(c%2)
	case CancelMessage:
		w.cancelMessage(n, b)
		return
	case Schedule:
		w.plan(n, p, id, b, c)
		return
	}
	w.submit(n, &operation{kind: kind, key: p.DedupID, code: fsm.Publish.Code, body: fsm.Publish.Body(queue.Publications{Items: []queue.Publication{p}})})
}

func (w *world) cancelMessage(n *node, which int) {
	if len(w.order) == 0 {
		return
	}
	id := w.order[which%len(w.order)]
	w.cancels[id] = true
	w.submit(n, &operation{kind: CancelMessage, code: fsm.CancelMessages.Code, body: fsm.CancelMessages.Body(queue.Cancellation{IDs: []queue.ID{id}})})
}

// plan makes a schedule.
func (w *world) plan(n *node, p queue.Publication, id string, b, c int) {
	every := int64(1+c%5) * 1000
	s := queue.SchedulePut{ID: "plan" + id, Cron: "@every " + strconv.FormatInt(every/1000, 10) + "s", Every: every, Misfire: queue.Misfire(b % 3), Publish: p}
	o := w.submit(n, &operation{kind: Schedule, key: s.ID, code: fsm.PutSchedule.Code, body: fsm.PutSchedule.Body(s)})
	w.plans[s.ID] = &plan{op: o, every: every, misfire: s.Misfire}
}

// learned takes in the outcomes of an entry: the first node to apply it says what is true, the others have to agree.
func (w *world) learned(n *node, outcomes []fsm.Outcome) {
	first := n.applied > w.truth
	if first {
		w.truth = n.applied
	}
	for i := range outcomes {
		o := &outcomes[i]
		key := answerKey{n.applied, i}
		text := shown(o)
		if !first {
			if was := w.changes[key]; was != text {
				w.fail("replicas", "entry %d gave %s and %s", n.applied, was, text)
			}
			continue
		}
		w.changes[key] = text
		if o.Status == fsm.Applied && o.Err == nil {
			w.learnMessages(n, o)
			w.learnRuns(n, o)
		}
	}
}

// learnMessages takes in what an entry says of messages.
func (w *world) learnMessages(n *node, o *fsm.Outcome) {
	switch v := o.Value.(type) {
	case queue.Receipts:
		for _, r := range v.Items {
			for _, m := range r.Messages {
				if !m.Deduplicated {
					w.messages[m.ID] = &message{}
					w.order = append(w.order, m.ID)
				}
			}
		}
	case fsm.Advanced:
		for i := range v.Attempts {
			w.claimed(&v.Attempts[i])
		}
		for id := range w.plans { // unordered: each is looked at alone
			w.inspect(n, id)
		}
	case queue.Dispositions:
		w.dispositions(n, o, v)
	case queue.ScheduleRef:
		w.inspect(n, v.ID)
	}
}

// inspect takes in how far a schedule is. Paused, it passes over its times; until then each that has come has fired,
// unless its policy fires none of the late ones.
func (w *world) inspect(n *node, id string) {
	p := w.plans[id]
	if p == nil {
		return
	}
	n.machine.View(0, [16]byte{}, func(v *fsm.View) {
		c, ok := v.Messages().Schedule(id)
		if !ok {
			return
		}
		if c.Fired < p.last {
			w.fail("schedules", "the last time of %s that fired went back by %d ms", id, p.last-c.Fired)
		}
		p.created, p.last, p.paused = c.Created, c.Fired, p.paused || c.Paused
		if !c.Paused && c.Misfire != queue.FireNone && c.Last > c.Created && c.Last != c.Fired {
			w.fail("schedules", "%s has passed over its time %d ms after its creation", id, c.Last-c.Created)
		}
	})
}

// claimed takes in that the log has claimed an attempt.
func (w *world) claimed(a *queue.Attempt) {
	m := w.messages[a.ID]
	if m == nil { // a message of a schedule, of a run, or of a failure
		m = &message{}
		w.messages[a.ID] = m
	}
	m.claims++
	if m.ended {
		w.fail("delivery", "%v was claimed again after it was %v", a.ID, m.final)
	}
	if int(a.Number) != m.claims {
		w.fail("delivery", "attempt %d of %v has the number %d", m.claims, a.ID, a.Number)
	}
	if p := w.plans[a.Content.Schedule]; p != nil && m.claims == 1 {
		p.made++
	}
	if key := string(a.Content.Body); m.claims == 1 && a.Content.Schedule == "" && len(a.Content.Run) == 0 {
		w.once[key] = append(w.once[key], made{a.ID, a.Content.Created})
	}
}

// dispositions takes in what results have made of their messages.
func (w *world) dispositions(n *node, o *fsm.Outcome, v queue.Dispositions) {
	var refs []queue.Result
	if n, ok := argument(w, n.applied, o, fsm.Finish); ok {
		refs = n.Items
	}
	for i, f := range v.Items {
		if i >= len(refs) {
			break
		}
		if f.Stale {
			w.stale(refs[i].AttemptRef)
			continue
		}
		m := w.messages[refs[i].ID]
		if m == nil || m.ended {
			w.fail("delivery", "a result was taken of %v, which is over", refs[i].ID)
			continue
		}
		if !refs[i].Lost {
			m.answers++
		}
		w.settled(refs[i].AttemptRef)
		m.ended, m.final = f.State.Final(), f.State
	}
}

// leaseTime bounds an attempt without a renewal.
const leaseTime = (queue.Lease - queue.LeaseMargin) * time.Millisecond

// stale judges that a result has come too late: not as long as its sender leads, and within its lease.
func (w *world) stale(ref queue.AttemptRef) {
	for _, a := range w.sent {
		k := a.deliverer
		if a.Ref() == ref && !k.over && k.l.leads == w.term && w.elapsed-a.begun < leaseTime && !w.reportedTwice(a) {
			w.fail("claims", "%v was given up while its sender led and its lease ran", a.ID)
		}
	}
}

// settled notes that a result was taken.
func (w *world) settled(ref queue.AttemptRef) {
	for _, a := range w.sent {
		if a.Ref() == ref {
			a.reported = true
		}
	}
}

// reportedTwice reports whether a result has been in the log before: a try of which the outcome was unknown.
func (w *world) reportedTwice(a *attempt) bool {
	before := a.reported
	a.reported = true
	return before
}

// argument returns the argument of the request that an outcome answers, from the log entry at index.
func argument[A, R any](w *world, index uint64, o *fsm.Outcome, op *fsm.Operation[A, R]) (arg A, ok bool) {
	e, err := fsm.DecodeEntry(w.log[index-1].data)
	if err != nil {
		return arg, false
	}
	for _, q := range e.Requests {
		if q.Session == o.Session && q.Seq == o.Seq && q.Code == op.Code {
			arg, err = op.Argument(q.Body)
			return arg, err == nil
		}
	}
	return arg, false
}

// deliverer is the scheduler of one leadership.
type deliverer struct {
	l      *life
	policy *scheduled
	asking *asking
	opened bool
	over   bool
	renews *renewal
}

// exclusive reports whether a message is delivered one at a time.
func exclusive(a *queue.Attempt) bool { return a.Content.Queue != "" }

// arrive has the destination see an attempt.
func (w *world) arrive(a *attempt) {
	w.sent = append(w.sent, a)
	w.running = append(w.running, a)
	if !exclusive(&a.Attempt) {
		return
	}
	for _, o := range w.sent {
		if o == a || o.Content.Queue != a.Content.Queue {
			continue
		}
		if !o.over {
			w.fail("order", "%v was sent while %v of the same queue was", a.ID, o.ID)
		}
		if o.ID.Seq > a.ID.Seq {
			w.fail("order", "%v was sent after %v of the same queue", a.ID, o.ID)
		}
	}
}

// stop ends an attempt at its destination.
func (w *world) stop(a *attempt) {
	a.over, a.ended = true, w.elapsed
	w.running = slices.DeleteFunc(w.running, func(o *attempt) bool { return o == a })
}

// answer has a destination answer.
func (w *world) answer(which, how int) {
	if len(w.running) == 0 {
		return
	}
	a := w.running[which%len(w.running)]
	if a.asks {
		return
	}
	r := queue.Result{AttemptRef: a.Ref(), RetryDelay: 1000}
	switch how % 8 {
	case 7:
		r.Error = "no answer"
	case 5, 6:
		r.Response.Status = 500
	default:
		if w.endpoint(a) {
			return
		}
		r.Response = fine
	}
	w.finish(a, r)
}

// finish gives an attempt's result to its scheduler.
func (w *world) finish(a *attempt, r queue.Result) {
	w.stop(a)
	a.result, a.finished = r, w.now()
	a.deliverer.policy.Outcome("shop:1", r.Response.Status != 0, w.now())
	a.deliverer.l.results = append(a.deliverer.l.results, a)
}

// breakOff ends the attempts of a process that has ended.
func (w *world) breakOff(l *life) {
	for _, a := range slices.Clone(w.running) {
		if a.deliverer.l == l {
			w.stop(a)
		}
	}
}
