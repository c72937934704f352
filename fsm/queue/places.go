package queue

import (
	"cmp"

	"github.com/trireme-dev/trireme/fsm/cow"
)

// placeIndex finds messages by their place. A message that is not done is in the index of its place and in no other; one of a
// queue holds a slot besides, unless it is in the backlog. The first number of a member is that of a queue, flow key or host.
type placeIndex struct {
	backlog *lineTree                    // by queue: those without a slot
	slots   *cow.BTree[member, struct{}] // by queue: those that hold a slot
	holding *cow.BTree[member, struct{}] // by queue: done, but for their callbacks they hold their slot
	due     *cow.BTree[Stamp, struct{}]  // those without a priority
	hurried hurry                        // those with a priority
	waiting *lineTree                    // by flow key
	running *cow.BTree[member, struct{}] // by flow key: attempts under way
	parked  *lineTree                    // by host
	leases  *cow.BTree[Stamp, struct{}]  // by the time at which the claim expires
	shares  shareTable
	urgent  int // how many messages with a priority are in lines
}

// member is a message under a queue or a flow key.
type member struct{ of, seq uint64 }

func newPlaceIndex() placeIndex {
	return placeIndex{
		backlog: byLine(), slots: byMember(), holding: byMember(), due: byStamp[struct{}](), hurried: hurry{all: byLine()},
		waiting: byLine(), running: byMember(), parked: byLine(), leases: byStamp[struct{}](), shares: newShareTable(),
	}
}

func (pi *placeIndex) fork() placeIndex {
	return placeIndex{
		backlog: pi.backlog.Snapshot(), slots: pi.slots.Snapshot(), holding: pi.holding.Snapshot(), due: pi.due.Snapshot(), hurried: pi.hurried.fork(),
		waiting: pi.waiting.Snapshot(), running: pi.running.Snapshot(), parked: pi.parked.Snapshot(), leases: pi.leases.Snapshot(),
		shares: pi.shares.fork(), urgent: pi.urgent,
	}
}

// add puts m into the index of its place.
func (pi *placeIndex) add(m *Message) {
	switch m.place {
	case placeBacklog:
		pi.join(pi.backlog, m, m.queue)
	case placeDue:
		if p := m.marks.priority(); p > 0 {
			pi.hurried.add(p, Stamp{m.at, m.Seq})
			break
		}
		pi.due.Set(Stamp{m.at, m.Seq}, struct{}{})
	case placeWaiting:
		pi.join(pi.waiting, m, m.flow)
	case placeParked:
		pi.join(pi.parked, m, uint64(m.at))
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
		pi.part(pi.backlog, m, m.queue)
	case placeDue:
		if p := m.marks.priority(); p > 0 {
			pi.hurried.remove(p, Stamp{m.at, m.Seq})
			break
		}
		pi.due.Delete(Stamp{m.at, m.Seq})
	case placeWaiting:
		pi.part(pi.waiting, m, m.flow)
	case placeParked:
		pi.part(pi.parked, m, uint64(m.at))
	case placeActive:
		pi.leases.Delete(Stamp{m.claim.expiresAt(), m.Seq})
		if m.flow != 0 {
			pi.running.Delete(member{m.flow, m.Seq})
		}
	}
}

// join puts m into a line.
func (pi *placeIndex) join(t *lineTree, m *Message, of uint64) {
	at := pi.lineOf(m, of)
	if share := at.list >> priorityBits; share != 0 {
		pi.shares.enter(share)
	}
	if m.marks.priority() > 0 {
		pi.urgent++
	}
	t.Set(at, struct{}{})
}

// part takes m out of a line.
func (pi *placeIndex) part(t *lineTree, m *Message, of uint64) {
	at := pi.lineOf(m, of)
	t.Delete(at)
	if share := at.list >> priorityBits; share != 0 {
		pi.shares.exit(share)
	}
	if pi.shares.lines.Len() > 0 && t != pi.parked && !waits(t, of) {
		pi.shares.even(of)
	}
	if m.marks.priority() > 0 {
		pi.urgent--
	}
}

// lineOf is where m stands in a line. Hosts have no shares.
func (pi *placeIndex) lineOf(m *Message, of uint64) inLine {
	at := inLine{of: of, seq: m.Seq}
	if m.marks == 0 {
		return at
	}
	at.list = uint64(m.marks.priority())
	if m.marks&marksTenant != 0 && m.place != placeParked {
		at.list = listOf(pi.shares.of(of, m.envelope().TenantOf()), m.marks.priority())
	}
	return at
}

// len returns the number of messages that are not done.
func (pi *placeIndex) len() int {
	return pi.backlog.Len() + pi.due.Len() + pi.hurried.all.Len() + pi.waiting.Len() + pi.parked.Len() + pi.leases.Len()
}

// taken returns how many slots of a queue are not free.
func (pi *placeIndex) taken(queue uint64) int {
	return count(pi.slots, queue) + count(pi.holding, queue)
}

func byMember() *cow.BTree[member, struct{}] {
	return cow.NewBTree[member, struct{}](func(m member) uint64 { return m.of }, func(a, b member) int { return cmp.Compare(a.seq, b.seq) })
}

// count returns the number of members of a queue, flow key or host.
func count[K any](t *cow.BTree[K, struct{}], of uint64) int { return t.RankHead(of+1) - t.RankHead(of) }

// first is the oldest member of a queue or flow key.
func first(t *cow.BTree[member, struct{}], of uint64) (seq uint64, ok bool) {
	t.AscendHead(of, func(m member, _ struct{}) bool {
		seq, ok = m.seq, m.of == of
		return false
	})
	return seq, ok
}
