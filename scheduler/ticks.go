package scheduler

import (
	"time"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/scheduler/cron"
)

const (
	// recheckAfter is the pause before a schedule is looked at again that has no next time, or whose
	// expression this binary can't read, in milliseconds.
	recheckAfter = 3_600_000
	// maxParsed bounds the expressions that are remembered.
	maxParsed = 10_000
)

// ticker computes the times of schedules, which the log must carry because time zones
// differ between machines.
type ticker struct{ parsed map[string]*cron.Schedule }

// ticks are the times of schedules that are due at now, in unix milliseconds.
func (ti *ticker) ticks(due []queue.Schedule, now env.Time) []queue.Tick {
	if len(due) == 0 {
		return nil
	}
	all := make([]queue.Tick, len(due))
	for i := range due {
		c := &due[i]
		all[i] = queue.Tick{Schedule: c.ID, Version: c.Version, DB: c.DB}
		all[i].Nominals, all[i].Next = ti.nominalTimes(c, c.Clock(now))
	}
	return all
}

func (ti *ticker) parse(text string) (*cron.Schedule, error) {
	if x := ti.parsed[text]; x != nil {
		return x, nil
	}
	x, err := cron.Parse(text)
	if err != nil {
		return nil, err
	}
	if ti.parsed == nil || len(ti.parsed) >= maxParsed {
		ti.parsed = map[string]*cron.Schedule{}
	}
	ti.parsed[text] = x
	return x, nil
}

// nominalTimes returns the nominal times of a schedule that have come, and the one after them. Of
// late ones only those are listed that the misfire policy may want: all with FireAll,
// the newest otherwise.
func (ti *ticker) nominalTimes(c *queue.Schedule, now int64) (nominals []int64, next int64) {
	x, err := ti.parse(c.Cron)
	if err != nil {
		return nil, now + recheckAfter
	}
	after := func(at int64) int64 {
		t := x.Next(time.UnixMilli(at), time.UnixMilli(c.Created))
		if t.IsZero() {
			return max(now, at) + recheckAfter
		}
		return t.UnixMilli()
	}
	next = c.Next
	if next == 0 {
		next = after(c.Last)
	}
	next = skipLate(c, next, now)
	for ; next <= now && len(nominals) < queue.MaxTicks; next = after(next) {
		if n := len(nominals); c.Misfire != queue.FireAll && n > 0 && next <= now-queue.MisfireWindow {
			nominals[n-1] = next // the one before is late and not the newest
			continue
		}
		nominals = append(nominals, next)
	}
	return nominals, next
}

// skipLate passes over the late times of an @every that the misfire policy drops; after a
// long outage there may be very many.
func skipLate(c *queue.Schedule, next, now int64) int64 {
	late := now - queue.MisfireWindow - next
	if c.Every <= 0 || late <= 0 || c.Misfire == queue.FireAll {
		return next
	}
	return next + late/c.Every*c.Every
}
