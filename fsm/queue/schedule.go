package queue

import "github.com/trireme-dev/trireme/fsm/wire"

// Misfire says what happens to ticks that are found later than MisfireWindow.
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

// MisfireWindow is the delay within which a tick still fires as usual, in milliseconds.
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
	// Publish is the publication of each tick.
	Publish Publication
	// Next is the nominal time of the next tick; 0 if the leader has yet to compute it. Last is the newest nominal
	// time that was fired or skipped; Fired when a tick last made messages, by its nominal time. In unix milliseconds.
	Next, Last, Fired int64
	// Messages lists the messages of the last tick with their states.
	Messages []Produced
	// Error says why the last tick made no message; empty if it did.
	Error string
	// DB names the database where schedules of several are listed; a stored one does without.
	DB string
}

// Produced is a message that a schedule has made.
type Produced struct {
	ID    ID
	State State
}

// Fields codes the value in its wire format.
func (p *Produced) Fields(c *wire.Codec) {
	p.ID.Fields(c)
	p.State.field(c)
}

// Fields codes the value in its wire format. Decoded texts and bytes alias the input.
func (s *Schedule) Fields(c *wire.Codec) {
	c.Text(&s.ID)
	c.Uvarint(&s.Version)
	c.Text(&s.Cron)
	c.Varint(&s.Every)
	wire.Enum(c, &s.Misfire, misfires)
	c.Bool(&s.Paused)
	c.Varint(&s.Created)
	c.Varint(&s.Updated)
	c.Record(s.Publish.Fields)
	c.Varint(&s.Next)
	c.Varint(&s.Last)
	c.Varint(&s.Fired)
	wire.List(c, &s.Messages, 3)
	c.Text(&s.Error)
	if c.More(s.DB != "") {
		c.Text(&s.DB)
	}
}

// scheduleCost is the logical overhead of a schedule, in bytes.
const scheduleCost = 600

// size is the logical memory of the schedule in bytes.
func (s *Schedule) size() int64 {
	return scheduleCost + int64(len(s.Publish.Body)+len(s.Publish.URL)+len(s.Cron)+len(s.ID)) + headerSize(s.Publish.Header)
}

// Tick tells Advance the times of a schedule, which only a leader can compute.
type Tick struct {
	Schedule string
	// Version is the version of the schedule that the times were computed for.
	Version uint64
	// Nominals are nominal times from the schedule's Next on that have come, in order, at most MaxTicks; of those
	// that the misfire policy drops anyway the leader may leave out any.
	Nominals []int64
	// Next is the nominal time after the last of them.
	Next int64
	// DB names the database of the schedule, empty for default.
	DB string
}

// Fields codes the value in its wire format. Decoded texts and bytes alias the input.
func (t *Tick) Fields(c *wire.Codec) {
	c.Text(&t.Schedule)
	c.Uvarint(&t.Version)
	wire.Each(c, &t.Nominals, (*wire.Codec).Varint)
	c.Varint(&t.Next)
	if c.More(t.DB != "") {
		c.Text(&t.DB)
	}
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

// Fields codes the value in its wire format. Decoded texts and bytes alias the input.
func (p *SchedulePut) Fields(c *wire.Codec) {
	c.Text(&p.ID)
	c.Text(&p.Cron)
	c.Varint(&p.Every)
	wire.Enum(c, &p.Misfire, misfires)
	c.Record(p.Publish.Fields)
	c.Varint(&p.Next)
}

// Act is a change of a schedule, a queue, a group or a flow-control key.
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

func (a *Act) field(c *wire.Codec) { wire.Enum(c, a, acts) }

// ScheduleChange pauses, resumes or deletes a schedule: ActPause, ActResume, ActDelete.
type ScheduleChange struct {
	ID  string
	Act Act
}

// Fields codes the value in its wire format. Decoded texts and bytes alias the input.
func (sc *ScheduleChange) Fields(c *wire.Codec) {
	c.Text(&sc.ID)
	sc.Act.field(c)
}

// ScheduleRef is the result of operations on schedules.
type ScheduleRef struct{ ID string }

// Fields codes the value in its wire format.
func (sr *ScheduleRef) Fields(c *wire.Codec) { c.String(&sr.ID) }
