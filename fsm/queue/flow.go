package queue

import (
	"strings"

	"github.com/trireme-dev/trireme/fsm/cow"
)

const (
	// DefaultPeriod is the period of a rate that names none, in milliseconds.
	DefaultPeriod = 1000
	// MaxPeriod is the longest period of a rate, in milliseconds.
	MaxPeriod = 7 * day
	// flowKept is the time that an unused flow-control key is remembered, in milliseconds.
	flowKept = 10 * minute
	// rounding makes records fall due together, so that an idle cluster needs few entries to forget them.
	rounding = 10_000
)

func roundUp(at int64) int64 { return (at + rounding - 1) / rounding * rounding }

// flowTable holds the flow-control keys, with their order of turns and the order in which they are forgotten. Each key is in these
// orders where its fields opening and idle say.
type flowTable struct {
	byNo     *cow.BTree[uint64, *FlowKey]
	byName   *cow.BTree[string, uint64]
	openings *cow.BTree[Stamp, uint64] // of keys that can be claimed from, or will at a time
	idle     *cow.BTree[Stamp, struct{}]
}

func newFlowTable() flowTable {
	return flowTable{byNo: byNumber[*FlowKey](), byName: byName[uint64](), openings: byStamp[uint64](), idle: byStamp[struct{}]()}
}

func (ft *flowTable) fork() flowTable {
	return flowTable{byNo: ft.byNo.Snapshot(), byName: ft.byName.Snapshot(), openings: ft.openings.Snapshot(), idle: ft.idle.Snapshot()}
}

// get returns the key of a number as a copy that may be changed and must be stored by storeFlowKey, nil if there is none.
func (ft *flowTable) get(no uint64) *FlowKey {
	f, ok := ft.byNo.Get(no)
	if !ok {
		return nil
	}
	c := *f
	return &c
}

// load takes in a key that was saved.
func (ft *flowTable) load(f *FlowKey) {
	ft.byNo.Set(f.no, f)
	ft.byName.Set(f.Key, f.no)
	if f.opening.Seq != 0 {
		ft.openings.Set(f.opening, f.no)
	}
	if f.idle != 0 {
		ft.idle.Set(Stamp{f.idle, f.no}, struct{}{})
	}
}

// close takes a key out of the order of turns.
func (ft *flowTable) close(f *FlowKey) {
	if f.opening.Seq != 0 {
		ft.openings.Delete(f.opening)
		f.opening = Stamp{}
	}
}

// open gives a key its turn: behind those that open at the same time and got a lower number.
func (ft *flowTable) open(f *FlowKey, turn Stamp) {
	f.opening = turn
	ft.openings.Set(turn, f.no)
}

// put stores a key that was changed, and moves it in the order of those to forget.
func (ft *flowTable) put(f *FlowKey) {
	if at := f.forgetAt(); at != f.idle {
		ft.idle.Delete(Stamp{f.idle, f.no})
		if f.idle = at; at != 0 {
			ft.idle.Set(Stamp{at, f.no}, struct{}{})
		}
	}
	ft.byNo.Set(f.no, f)
}

// removeIdle removes the key that is to be forgotten next, nil if no time to forget one has come.
func (ft *flowTable) removeIdle(now int64) *FlowKey {
	at, _, ok := ft.idle.Min()
	if !ok || at.At > now {
		return nil
	}
	ft.idle.Delete(at)
	f, _ := ft.byNo.Get(at.Seq)
	ft.byNo.Delete(f.no)
	ft.byName.Delete(f.Key)
	return f
}

// flowKeyNamed is the flow-control key of a name as a copy that must be stored by storeFlowKey; with make, a new one if there is
// none.
func (s *Store) flowKeyNamed(key string, make bool, now int64) *FlowKey {
	if no, ok := s.flows.byName.Get(key); ok {
		return s.flows.get(no)
	}
	if !make {
		return nil
	}
	f := &FlowKey{Key: strings.Clone(key), no: s.next(), Period: DefaultPeriod, WindowStart: now, used: now}
	s.flows.byName.Set(f.Key, f.no)
	s.memory.fixed += flowCost(f)
	return f
}

func flowCost(f *FlowKey) int64 { return 320 + 2*int64(len(f.Key)) }

// storeFlowKey stores a key, and its places in the orders of openings and of those to forget.
func (s *Store) storeFlowKey(f *FlowKey, now int64) {
	at, open := s.opensAt(f, now)
	if !open || f.opening.At != at {
		s.flows.close(f)
	}
	if open && f.opening.Seq == 0 {
		s.flows.open(f, Stamp{at, s.next()})
	}
	s.flows.put(f)
}

// opensAt returns the time from which the limits of a key admit its next attempt; false if an end of an attempt,
// a new message or a resume has to come first. A time that has come does not change any more.
func (s *Store) opensAt(f *FlowKey, now int64) (at int64, open bool) {
	if f.Paused || f.Parallelism > 0 && s.full(f) || !waits(s.places.waiting, f.no) {
		return 0, false
	}
	if at := f.rateAdmits(s.nextCost(f), now); at > now {
		return at, true
	}
	if f.opening.Seq != 0 && f.opening.At <= now {
		return f.opening.At, true
	}
	return now, true
}

// full reports whether the parallelism of a key does not admit its next message. One that costs more than that is admitted alone.
func (s *Store) full(f *FlowKey) bool {
	used := count(s.places.running, f.no) + f.extra
	return used >= f.Parallelism || used > 0 && used+s.nextCost(f) > f.Parallelism
}

// nextCost is the cost of the message of a key whose turn it is; 1 if none waits.
func (s *Store) nextCost(f *FlowKey) int {
	if f.dear == 0 {
		return 1
	}
	m, ok := s.nextIn(s.places.waiting, f.no)
	if !ok {
		return 1
	}
	old, _ := s.messages.Get(m.seq)
	return old.cost()
}

// updateOpening computes anew when a key can be claimed from, and reports whether it can be now.
func (s *Store) updateOpening(no uint64, now int64) bool {
	f := s.flows.get(no)
	if f == nil {
		return false
	}
	s.storeFlowKey(f, now)
	return f.opening.Seq != 0 && f.opening.At <= now
}

// countClaim counts one claim of a key, of a message with that content, and moves the key behind all others that are open: keys take
// turns.
func (s *Store) countClaim(no uint64, c *Content, now int64) {
	f := s.flows.get(no)
	if f == nil {
		return
	}
	cost := c.CostOf()
	s.places.shares.charge(no, s.places.shares.of(no, c.TenantOf()), cost)
	s.flows.close(f)
	f.take(cost, now)
	f.extra += cost - 1
	f.used = now
	s.storeFlowKey(f, now)
}

// countEnd counts the end of an attempt of m, whose claim is released.
func (s *Store) countEnd(m *Message, now int64) {
	f := s.flows.get(m.flow)
	if f == nil {
		return
	}
	f.extra -= m.cost() - 1
	s.storeFlowKey(f, now)
}

// joinFlowKey counts m among the messages of its key, whose settings become those of m unless they are pinned.
func (s *Store) joinFlowKey(m *Message, c *FlowControl, now int64) {
	f := s.flowKeyNamed(c.Key, true, now)
	if !f.PinnedParallelism {
		f.Parallelism = c.Parallelism
	}
	if !f.PinnedRate {
		f.setRate(c.Rate, c.Period, c.Burst, now)
	}
	f.live++
	if m.marks&marksCost != 0 {
		f.dear++
	}
	f.used = now
	m.flow = f.no
	s.storeFlowKey(f, now)
}

// leaveFlowKey removes m, which is done, from the messages of its key.
func (s *Store) leaveFlowKey(m *Message, now int64) {
	f := s.flows.get(m.flow)
	if f == nil {
		return
	}
	f.live--
	if m.marks&marksCost != 0 {
		f.dear--
	}
	f.used = now
	s.storeFlowKey(f, now)
}

// forgetAt returns the time at which an unused key is forgotten, 0 for one in use.
func (fk *FlowKey) forgetAt() int64 {
	if fk.live > 0 || fk.Paused || fk.PinnedParallelism || fk.PinnedRate {
		return 0
	}
	return roundUp(max(fk.used+flowKept, fk.WindowStart+fk.Period, fk.fullAt()))
}

// forgetFlowControl forgets keys that have not been used for long.
func (s *Store) forgetFlowControl(now int64, limit int) (done int) {
	for ; done < limit; done++ {
		f := s.flows.removeIdle(now)
		if f == nil {
			break
		}
		s.memory.fixed -= flowCost(f)
	}
	return done
}
