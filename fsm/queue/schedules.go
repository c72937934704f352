package queue

import (
	"strings"

	"github.com/trireme-dev/trireme/fsm/cow"
)

// scheduleTable holds the schedules in the order of their ids and of their ticks.
type scheduleTable struct {
	byID      *cow.BTree[string, *Schedule]
	ticks     *cow.BTree[tick, struct{}]
	ticksFrom int64 // when ticks may be fired again, see pace.go
}

// tick is a schedule's place in the order of next times.
type tick struct {
	at int64
	id string
}

func compareTicks(a, b tick) int { return strings.Compare(a.id, b.id) }

func newScheduleTable() scheduleTable {
	return scheduleTable{
		byID:  byName[*Schedule](),
		ticks: cow.NewBTree[tick, struct{}](func(t tick) uint64 { return uint64(t.at) }, compareTicks),
	}
}

func (st *scheduleTable) fork() scheduleTable {
	return scheduleTable{byID: st.byID.Snapshot(), ticks: st.ticks.Snapshot(), ticksFrom: st.ticksFrom}
}

// put stores a schedule that is not there. One whose next time is not known is due at once, for the leader to compute it.
func (st *scheduleTable) put(c *Schedule) {
	st.byID.Set(c.ID, c)
	st.ticks.Set(tick{c.Next, c.ID}, struct{}{})
}

func (st *scheduleTable) remove(c *Schedule) {
	st.byID.Delete(c.ID)
	st.ticks.Delete(tick{c.Next, c.ID})
}

// nextDue returns the time at which the next ticks may be fired, in unix milliseconds.
func (st *scheduleTable) nextDue() (unixms int64, ok bool) {
	c, _, ok := st.ticks.Min()
	return max(c.at, st.ticksFrom), ok
}
