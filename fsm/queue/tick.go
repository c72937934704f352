package queue

import (
	"slices"
	"strings"

	"github.com/trireme-dev/trireme/fsm/env"
)

const schedulePrefix = "scd"

// maxProduced is the largest number of messages of its last tick that a schedule remembers.
const maxProduced = 100

// PutSchedule makes a schedule, or overwrites one whole: what the new form does not say is gone. The same form once more
// changes nothing, for a client sends it again when it has not learned the outcome. Another form with the same times keeps
// them, whether the schedule is paused, and what the last tick made; one with other times begins them anew.
func (s *Store) PutSchedule(e *env.Env, p SchedulePut) (ScheduleRef, error) {
	if p.ID != "" && !ValidName(p.ID) {
		return ScheduleRef{}, invalid("invalid schedule id %q: %s", p.ID, nameRule)
	}
	if p.Misfire >= misfires || p.Every < 0 {
		return ScheduleRef{}, invalid("invalid schedule")
	}
	options := p.Publish.Options
	err := s.check(&p.Publish, &options, e.Now)
	if err == nil && p.Publish.Group == "" { // a group has options of its own
		err = s.CheckShare(&options)
	}
	if err != nil {
		return ScheduleRef{}, err
	}
	if err := options.checkPause(); err != nil && p.Publish.Group == "" {
		return ScheduleRef{}, err
	}
	if p.Publish.Group != "" && s.groups.find(p.Publish.Group) == nil {
		return ScheduleRef{}, notFound("topic %s not found", p.Publish.Group)
	}
	old, had := s.schedules.byID.Get(p.ID)
	if n := s.settings.MaxSchedules; !had && n > 0 && s.schedules.byID.Len() >= n {
		return ScheduleRef{}, quota("maxSchedules")
	}
	key, once := dedupOf(&p.Publish, &options, target{url: p.Publish.URL, group: "schedule of " + p.Publish.Group}, nil)
	d, known := s.dedups.published(key, e.Now)
	if once && known && !had {
		return ScheduleRef{d.schedule}, nil
	}
	sameTimes := had && old.Cron == p.Cron && old.Every == p.Every
	if sameTimes && old.Misfire == p.Misfire && old.Publish.sameContent(&p.Publish) {
		if once && !known {
			s.remember(key, dedup{schedule: old.ID}, e.Now)
		}
		return ScheduleRef{strings.Clone(old.ID)}, nil
	}
	c := &Schedule{
		ID: strings.Clone(p.ID), Version: s.next(), Cron: strings.Clone(p.Cron), Every: p.Every, Misfire: p.Misfire,
		Created: e.Now, Updated: e.Now, Publish: p.Publish.detached(), Last: e.Now,
	}
	c.Publish.SaltRedaction(e)
	switch {
	case p.Every > 0:
		c.Next = addTime(e.Now, p.Every)
	case p.Next > e.Now:
		c.Next = p.Next
	}
	if had {
		c.Created, c.Paused = old.Created, old.Paused
		s.unscheduleTick(old)
	} else if c.ID == "" {
		c.ID = e.NewID(schedulePrefix)
	}
	switch {
	case sameTimes:
		c.Next, c.Last, c.Fired, c.Messages = old.Next, old.Last, old.Fired, old.Messages
	case c.Every > 0:
		c.Created = e.Now // its times count from here
	}
	s.scheduleTick(c)
	if once {
		s.remember(key, dedup{schedule: c.ID}, e.Now)
	}
	return ScheduleRef{c.ID}, nil
}

// scheduleTick stores a schedule and its place in the order of ticks.
func (s *Store) scheduleTick(c *Schedule) {
	s.schedules.put(c)
	s.memory.fixed += c.size()
}

func (s *Store) unscheduleTick(c *Schedule) {
	s.schedules.remove(c)
	s.memory.fixed -= c.size()
}

// ChangeSchedule pauses, resumes or deletes a schedule.
func (s *Store) ChangeSchedule(e *env.Env, n ScheduleChange) (ScheduleRef, error) {
	old, ok := s.schedules.byID.Get(n.ID)
	if !ok {
		return ScheduleRef{}, notFound("schedule %s not found", n.ID)
	}
	switch n.Act {
	case ActDelete:
		s.unscheduleTick(old)
	case ActPause, ActResume:
		if old.Paused == (n.Act == ActPause) {
			break
		}
		c := *old
		c.Paused, c.Updated = n.Act == ActPause, e.Now
		s.unscheduleTick(old)
		s.scheduleTick(&c)
	default:
		return ScheduleRef{}, invalid("a schedule can't be changed in this way")
	}
	return ScheduleRef{old.ID}, nil
}

// RunSchedule publishes what a schedule publishes, now and whether or not it is paused. The times of its ticks stay as they are.
// What it makes counts as the last tick's, with the time of now.
//
// The errors are ErrNotFound for an unknown schedule, and why the publication is refused.
func (s *Store) RunSchedule(e *env.Env, n ScheduleRef) (Receipt, error) {
	old, ok := s.schedules.byID.Get(n.ID)
	if !ok {
		return Receipt{}, notFound("schedule %s not found", n.ID)
	}
	c := *old
	out := s.fire(e, &c, e.Now)
	if out.Refused != nil {
		return Receipt{}, out.Refused
	}
	s.schedules.byID.Set(c.ID, &c)
	s.trim(e)
	return out, nil
}

// tick fires a schedule at those of the times that its misfire policy chooses, and keeps its next time. It changes
// nothing if the times were computed for another form of the schedule, or have been dealt with already: so a tick is
// never doubled, whoever proposes it.
func (s *Store) tick(e *env.Env, t *Tick, p *pace) {
	old, ok := s.schedules.byID.Get(t.Schedule)
	if !ok {
		return
	}
	now := old.Clock(e.Time)
	if old.Version != t.Version || old.Next > now || t.Next <= old.Next {
		return
	}
	times := t.Nominals
	for i, at := range times {
		if i >= MaxTicks || at > now || at <= old.Last || at < old.Next || at >= t.Next || i > 0 && at <= times[i-1] {
			return
		}
	}
	c, next := *old, t.Next
	if !c.Paused {
		for _, at := range c.Misfire.choose(times, now) {
			if p.over() { // the rest has its turn in the next Advance
				i, _ := slices.BinarySearch(times, at)
				times, next = times[:i], at
				break
			}
			p.fire(s, e, &c, at)
		}
	}
	if n := len(times); n > 0 {
		c.Last = times[n-1]
	}
	c.Next = next
	s.unscheduleTick(old)
	s.scheduleTick(&c)
}

// choose returns the times that fire: those within the misfire window, and of the older ones what the policy says.
func (m Misfire) choose(times []int64, now int64) []int64 {
	late := 0
	for late < len(times) && now-times[late] >= MisfireWindow {
		late++
	}
	switch m {
	case FireAll:
		return times
	case FireNone:
		return times[late:]
	}
	return times[max(late-1, 0):]
}

// fire publishes what a schedule publishes, and returns what has become of it.
func (s *Store) fire(e *env.Env, c *Schedule, nominal int64) Receipt {
	p := c.Publish
	out := s.publish(e, &p, c.ID, 0)
	if out.Refused != nil {
		c.Error = out.Refused.Text
		return out
	}
	c.Error, c.Fired = "", nominal
	c.Messages = make([]Produced, 0, len(out.Messages))
	for _, m := range out.Messages[:min(len(out.Messages), maxProduced)] {
		switch {
		case m.Deduplicated, m.Attached: // another one's
		case !m.Batch.IsZero():
			c.Messages = append(c.Messages, Produced{ID: m.Batch})
		default:
			c.Messages = append(c.Messages, Produced{ID: m.ID})
		}
	}
	return out
}

// produced keeps the end of a message with the schedule that made it.
func (s *Store) produced(id string, m *Message) {
	old, ok := s.schedules.byID.Get(id)
	if !ok {
		return
	}
	i := slices.IndexFunc(old.Messages, func(p Produced) bool { return p.ID == m.ID })
	if i < 0 {
		return
	}
	c := *old
	c.Messages = slices.Clone(old.Messages)
	c.Messages[i].State = m.state
	s.schedules.byID.Set(id, &c)
}
