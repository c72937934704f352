package queue

import (
	"cmp"
	"slices"
	"strings"

	"github.com/trireme-dev/trireme/fsm/cow"
	"github.com/trireme-dev/trireme/fsm/env"
)

// scheduleTable holds the schedules in the order of their ids and of their ticks.
type scheduleTable struct {
	byID      *cow.BTree[string, *Schedule]
	ticks     *cow.BTree[tick, struct{}] // of those that repeat after a duration, by cluster time
	times     *cow.BTree[tick, struct{}] // of those that fire at times of day, by wall time
	ticksFrom int64                      // when ticks may be fired again, see pace.go
}

// tick is a schedule's place in the order of next times.
type tick struct {
	at int64
	id string
}

func compareTicks(a, b tick) int { return strings.Compare(a.id, b.id) }

func newScheduleTable() scheduleTable {
	return scheduleTable{byID: byName[*Schedule](), ticks: byTick(), times: byTick()}
}

func byTick() *cow.BTree[tick, struct{}] {
	return cow.NewBTree[tick, struct{}](func(t tick) uint64 { return uint64(t.at) }, compareTicks)
}

// Clock returns the time by which a schedule fires, in unix milliseconds: cluster time if it repeats after a duration, wall time
// if it fires at times of day.
func (s *Schedule) Clock(now env.Time) int64 {
	if s.Every > 0 {
		return now.Now
	}
	return now.Wall
}

// order returns the order of next times in which a schedule has its place.
func (st *scheduleTable) order(c *Schedule) *cow.BTree[tick, struct{}] {
	if c.Every > 0 {
		return st.ticks
	}
	return st.times
}

func (st *scheduleTable) fork() scheduleTable {
	return scheduleTable{byID: st.byID.Snapshot(), ticks: st.ticks.Snapshot(), times: st.times.Snapshot(), ticksFrom: st.ticksFrom}
}

// put stores a schedule that is not there. One whose next time is not known is due at once, for the leader to compute it.
func (st *scheduleTable) put(c *Schedule) {
	st.byID.Set(c.ID, c)
	st.order(c).Set(tick{c.Next, c.ID}, struct{}{})
}

func (st *scheduleTable) remove(c *Schedule) {
	st.byID.Delete(c.ID)
	st.order(c).Delete(tick{c.Next, c.ID})
}

// nextByTime returns the cluster time at which the next ticks may be fired, in unix milliseconds. While ticks are paused, those of
// times of day that have passed are due at the end of the pause.
func (st *scheduleTable) nextByTime() (unixms int64, ok bool) {
	c, _, ok := st.ticks.Min()
	unixms = max(c.at, st.ticksFrom)
	if t, _, timed := st.times.Min(); timed && t.at < st.ticksFrom && (!ok || st.ticksFrom < unixms) {
		return st.ticksFrom, true
	}
	return unixms, ok
}

// nextByWall returns the wall time at which the next ticks may be fired, in unix milliseconds.
func (st *scheduleTable) nextByWall() (unixms int64, ok bool) {
	c, _, ok := st.times.Min()
	return c.at, ok && c.at >= st.ticksFrom
}

// due returns the schedules whose next time has come or is not known yet, at most limit, the earliest first.
func (st *scheduleTable) due(now env.Time, limit int) (list []Schedule) {
	if st.ticksFrom > now.Now {
		return nil
	}
	for _, order := range [...]*cow.BTree[tick, struct{}]{st.ticks, st.times} {
		left := limit
		order.All(func(t tick, _ struct{}) bool {
			c, _ := st.byID.Get(t.id)
			if t.at > c.Clock(now) || left == 0 {
				return false
			}
			list, left = append(list, *c), left-1
			return true
		})
	}
	slices.SortStableFunc(list, func(a, b Schedule) int { return cmp.Compare(a.Next, b.Next) })
	return list[:min(len(list), limit)]
}
