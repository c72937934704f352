package queue

import (
	"cmp"

	"github.com/trireme-dev/trireme/fsm/cow"
)

// placeIndex finds messages by their place. A message that is not done is in the index of its place and in no other; one of a
// queue holds a slot besides, unless it is in the backlog. The first number of a member is that of a queue, flow key or host.
type placeIndex struct {
	backlog *cow.BTree[member, struct{}] // by queue: those without a slot
	slots   *cow.BTree[member, struct{}] // by queue: those that hold a slot
	holding *cow.BTree[member, struct{}] // by queue: done, but for their callbacks they hold their slot
	due     *cow.BTree[Stamp, struct{}]
	waiting *cow.BTree[member, struct{}] // by flow key
	running *cow.BTree[member, struct{}] // by flow key: attempts under way
	parked  *cow.BTree[member, struct{}] // by host
	leases  *cow.BTree[Stamp, struct{}]  // by the time at which the claim expires
}

// member is a message (or its place) under a queue, a flow key or a host.
type member struct{ of, seq uint64 }

func newPlaceIndex() placeIndex {
	return placeIndex{
		backlog: byMember(), slots: byMember(), holding: byMember(), due: byStamp[struct{}](),
		waiting: byMember(), running: byMember(), parked: byMember(), leases: byStamp[struct{}](),
	}
}

func (pi *placeIndex) fork() placeIndex {
	return placeIndex{
		backlog: pi.backlog.Snapshot(), slots: pi.slots.Snapshot(), holding: pi.holding.Snapshot(), due: pi.due.Snapshot(),
		waiting: pi.waiting.Snapshot(), running: pi.running.Snapshot(), parked: pi.parked.Snapshot(), leases: pi.leases.Snapshot(),
	}
}

// add puts m into the index of its place.
func (pi *placeIndex) add(m *Message) {
	switch m.place {
	case placeBacklog:
		pi.backlog.Set(member{m.queue, m.Seq}, struct{}{})
	case placeDue:
		pi.due.Set(Stamp{m.at, m.Seq}, struct{}{})
	case placeWaiting:
		pi.waiting.Set(member{m.flow, m.Seq}, struct{}{})
	case placeParked:
		pi.parked.Set(member{uint64(m.at), m.Seq}, struct{}{})
	case placeActive:
		pi.leases.Set(Stamp{m.claim.expiresAt(), m.Seq}, struct{}{})
		if m.flow != 0 {
			pi.running.Set(member{m.flow, m.Seq}, struct{}{})
		}
	}
}

// remove takes m out of the index of its place. The caller puts it into another one.
func (pi *placeIndex) remove(m *Message) {
	switch m.place {
	case placeBacklog:
		pi.backlog.Delete(member{m.queue, m.Seq})
	case placeDue:
		pi.due.Delete(Stamp{m.at, m.Seq})
	case placeWaiting:
		pi.waiting.Delete(member{m.flow, m.Seq})
	case placeParked:
		pi.parked.Delete(member{uint64(m.at), m.Seq})
	case placeActive:
		pi.leases.Delete(Stamp{m.claim.expiresAt(), m.Seq})
		if m.flow != 0 {
			pi.running.Delete(member{m.flow, m.Seq})
		}
	}
}

// len returns the number of messages that are not done.
func (pi *placeIndex) len() int {
	return pi.backlog.Len() + pi.due.Len() + pi.waiting.Len() + pi.parked.Len() + pi.leases.Len()
}

// taken returns how many slots of a queue are not free.
func (pi *placeIndex) taken(queue uint64) int {
	return count(pi.slots, queue) + count(pi.holding, queue)
}

func byMember() *cow.BTree[member, struct{}] {
	return cow.NewBTree[member, struct{}](func(m member) uint64 { return m.of }, func(a, b member) int { return cmp.Compare(a.seq, b.seq) })
}

// count returns the number of members of a queue, flow key or host.
func count(t *cow.BTree[member, struct{}], of uint64) int { return t.RankHead(of+1) - t.RankHead(of) }

// first is the oldest member of a queue, flow key or host.
func first(t *cow.BTree[member, struct{}], of uint64) (seq uint64, ok bool) {
	t.AscendHead(of, func(m member, _ struct{}) bool {
		seq, ok = m.seq, m.of == of
		return false
	})
	return seq, ok
}
