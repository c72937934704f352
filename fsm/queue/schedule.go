package queue

import "trireme/fsm/wire"

// Misfire says what happens to ticks that are found later than MisfireWindow (decisions 21).
type Misfire uint8

// The misfire policies.
const (
	// FireOnce fires the newest of the late ticks.
	FireOnce Misfire = iota
	// FireAll fires every one, in order.
	FireAll
	// FireNone fires none.
	FireNone
	misfires
)

// MisfireWindow is how late a tick may be found and still fire as usual, in milliseconds.
const MisfireWindow = 10_000

// MaxTicks is the most nominal times of one schedule that one Advance takes.
const MaxTicks = 256

var misfireNames = [misfires]string{"once", "all", "none"}

// String is the policy's name, as Svc-Misfire gives it.
func (m Misfire) String() string { return misfireNames[min(m, FireNone)] }

// ParseMisfire reads a policy's name; false for unknown ones.
func ParseMisfire(s string) (Misfire, bool) {
	for i, name := range misfireNames {
		if name == s {
			return Misfire(i), true
		}
	}
	return 0, false
}

// Schedule publishes a message again and again.
type Schedule struct {
	ID string
	// Version changes with every overwrite, so that a tick computed for an older form changes nothing.
	Version uint64
	// Cron is the expression as given; Every is its interval in milliseconds if it is an @every.
	Cron    string
	Every   int64
	Misfire Misfire
	Paused  bool
	// Created and Updated are in unix milliseconds.
	Created, Updated int64
	// Publish is what each tick publishes.
	Publish Publication
	// Next is the nominal time of the next tick; 0 if the leader has yet to compute it. Last is the newest nominal
	// time that was fired or skipped; Fired when a tick last made messages, by its nominal time. In unix milliseconds.
	Next, Last, Fired int64
	// Messages are those of the last tick and how they fare.
	Messages []Produced
	// Error says why the last tick made no message; empty if it did.
	Error string
}

// Produced is a message that a schedule has made.
type Produced struct {
	ID    ID
	State State
}

// Encode writes the fields.
func (c *Schedule) Encode(w *wire.Writer) {
	w.String(c.ID)
	w.Uvarint(c.Version)
	w.String(c.Cron)
	w.Varint(c.Every)
	w.Uvarint(uint64(c.Misfire))
	w.Bool(c.Paused)
	w.Varint(c.Created)
	w.Varint(c.Updated)
	w.Record(c.Publish.Encode)
	w.Varint(c.Next)
	w.Varint(c.Last)
	w.Varint(c.Fired)
	w.Uvarint(uint64(len(c.Messages)))
	for _, p := range c.Messages {
		p.ID.encode(w)
		w.Uvarint(uint64(p.State))
	}
	w.String(c.Error)
}

// Decode reads the fields; texts and bytes alias the input.
func (c *Schedule) Decode(r *wire.Reader) {
	c.ID, c.Version, c.Cron, c.Every = r.Alias(), r.Uvarint(), r.Alias(), r.Varint()
	c.Misfire, c.Paused = Misfire(min(r.Uvarint(), uint64(misfires))), r.Bool()
	c.Created, c.Updated = r.Varint(), r.Varint()
	c.Publish.Decode(r.Record())
	c.Next, c.Last, c.Fired = r.Varint(), r.Varint(), r.Varint()
	if n := r.Count(3); n > 0 {
		c.Messages = make([]Produced, n)
		for i := range c.Messages {
			c.Messages[i] = Produced{decodeID(r), decodeState(r)}
		}
	}
	c.Error = r.Alias()
}

// size is the logical memory of the schedule in bytes.
func (c *Schedule) size() int64 {
	return 600 + int64(len(c.Publish.Body)+len(c.Publish.URL)+len(c.Cron)+len(c.ID)) + headerSize(c.Publish.Header)
}

// Tick tells Advance the times of a schedule, which only a leader can compute (decisions 9).
type Tick struct {
	Schedule string
	// Version is that of the schedule the times were computed for.
	Version uint64
	// Nominals are nominal times from the schedule's Next on that have come, in order, at most MaxTicks; of those
	// that the misfire policy drops anyway the leader may leave out any.
	Nominals []int64
	// Next is the nominal time after the last of them.
	Next int64
}

// Encode writes the fields.
func (t *Tick) Encode(w *wire.Writer) {
	w.String(t.Schedule)
	w.Uvarint(t.Version)
	w.Uvarint(uint64(len(t.Nominals)))
	for _, at := range t.Nominals {
		w.Varint(at)
	}
	w.Varint(t.Next)
}

// Decode reads the fields; texts alias the input.
func (t *Tick) Decode(r *wire.Reader) {
	t.Schedule, t.Version = r.Alias(), r.Uvarint()
	if n := r.Count(1); n > 0 {
		t.Nominals = make([]int64, n)
		for i := range t.Nominals {
			t.Nominals[i] = r.Varint()
		}
	}
	t.Next = r.Varint()
}

// SchedulePut makes a schedule or overwrites one whole.
type SchedulePut struct {
	// ID may be empty: then one is drawn.
	ID string
	// Cron is the expression as given, of which the proposer has checked the syntax; Every is its interval in
	// milliseconds if it is an @every, 0 otherwise.
	Cron    string
	Every   int64
	Misfire Misfire
	Publish Publication
	// Next is the first nominal time as far as the proposer knows; one that has passed when it is applied, or 0, is
	// computed by the leader. It has no meaning for an @every, whose times count from the creation.
	Next int64
}

// Encode writes the fields.
func (p *SchedulePut) Encode(w *wire.Writer) {
	w.String(p.ID)
	w.String(p.Cron)
	w.Varint(p.Every)
	w.Uvarint(uint64(p.Misfire))
	w.Record(p.Publish.Encode)
	w.Varint(p.Next)
}

// Decode reads the fields; texts and bytes alias the input.
func (p *SchedulePut) Decode(r *wire.Reader) {
	p.ID, p.Cron, p.Every = r.Alias(), r.Alias(), r.Varint()
	p.Misfire = Misfire(min(r.Uvarint(), uint64(misfires)))
	p.Publish.Decode(r.Record())
	p.Next = r.Varint()
}

// Act is what is done to a schedule, a queue, a group or a flow-control key.
type Act uint8

// The acts. Each operation names those it knows.
const (
	ActPut Act = iota
	ActPause
	ActResume
	ActDelete
	ActAddEndpoints
	ActRemoveEndpoints
	ActSetHeaders
	ActPin
	ActUnpin
	ActResetRate
	ActReset
	acts
)

func decodeAct(r *wire.Reader) Act { return Act(min(r.Uvarint(), uint64(acts))) }

// ScheduleChange pauses, resumes or deletes a schedule: ActPause, ActResume, ActDelete.
type ScheduleChange struct {
	ID  string
	Act Act
}

// Encode writes the fields.
func (n *ScheduleChange) Encode(w *wire.Writer) { w.String(n.ID); w.Uvarint(uint64(n.Act)) }

// Decode reads the fields; texts alias the input.
func (n *ScheduleChange) Decode(r *wire.Reader) { n.ID, n.Act = r.Alias(), decodeAct(r) }

// ScheduleRef is the result of operations on schedules.
type ScheduleRef struct{ ID string }

// Encode writes the fields.
func (n *ScheduleRef) Encode(w *wire.Writer) { w.String(n.ID) }

// Decode reads the fields.
func (n *ScheduleRef) Decode(r *wire.Reader) { n.ID = r.String() }
