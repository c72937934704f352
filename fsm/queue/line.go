package queue

import (
	"cmp"

	"github.com/trireme-dev/trireme/fsm/cow"
)

// A line is what waits for the same: the backlog of a queue, the wait list of a flow-control key, what is parked for a host, and what
// is due. It consists of lists. Each holds what has one share (see share.go) and one priority, in order of arrival. The first of a
// share is among the first ones of its lists, at most MaxPriority+1, so that no rank is kept anywhere.

// inLine is a message in a line.
type inLine struct {
	// of is the number of a queue, a flow-control key or a host.
	of uint64
	// list is the number of a share with the priority in the last bits, see listOf.
	list uint64
	seq  uint64
}

// lineTree holds lines of one kind.
type lineTree = cow.BTree[inLine, struct{}]

func byLine() *lineTree {
	return cow.NewBTree[inLine, struct{}](func(m inLine) uint64 { return m.of }, func(a, b inLine) int {
		if a.list != b.list {
			return cmp.Compare(a.list, b.list)
		}
		return cmp.Compare(a.seq, b.seq)
	})
}

// priorityBits are those of a priority in the number of a list.
const priorityBits = 4

// listOf is the list of a share's messages of a priority.
func listOf(share uint64, priority int) uint64 { return share<<priorityBits | uint64(priority) }

// priorityOf is the priority of a list.
func priorityOf(list uint64) int { return int(list & (1<<priorityBits - 1)) }

// from is the first member of a line at or after a place in it; false if there is none.
func from(t *lineTree, at inLine) (m inLine, ok bool) {
	t.Ascend(at, func(k inLine, _ struct{}) bool {
		m, ok = k, k.of == at.of
		return false
	})
	return m, ok
}

// waits reports whether a line has members.
func waits(t *lineTree, of uint64) bool {
	_, ok := from(t, inLine{of: of})
	return ok
}

// lineMembers are the members of a line, by lists.
func lineMembers(t *lineTree, of uint64) (list []uint64) {
	for m, ok := from(t, inLine{of: of}); ok; m, ok = from(t, inLine{of: of, list: m.list, seq: m.seq + 1}) {
		list = append(list, m.seq)
	}
	return list
}

// heads calls f for the oldest member of each priority of a share.
func heads(t *lineTree, of, share uint64, f func(inLine)) {
	at := inLine{of: of, list: listOf(share, 0)}
	for {
		m, ok := from(t, at)
		if !ok || m.list>>priorityBits != share {
			return
		}
		f(m)
		at.list = m.list + 1
	}
}

// rank orders messages of one share: a message that has waited for PriorityStep longer counts as one level more urgent.
func rank(created int64, priority int) int64 { return created - int64(priority)*PriorityStep }

// head is the member of a share that comes first; false if it has none in the line.
func (s *Store) head(t *lineTree, of, share uint64) (inLine, bool) {
	if s.places.urgent > 0 {
		return s.mostUrgent(t, of, share)
	}
	m, ok := from(t, inLine{of: of, list: listOf(share, 0)}) // there is one list
	return m, ok && m.list>>priorityBits == share
}

// mostUrgent is the member of a share, of all its lists, that ranks first.
func (s *Store) mostUrgent(t *lineTree, of, share uint64) (best inLine, ok bool) {
	var least int64
	heads(t, of, share, func(m inLine) {
		if r := s.rankOf(m); !ok || r < least || r == least && m.seq < best.seq {
			best, least, ok = m, r, true
		}
	})
	return best, ok
}

func (s *Store) rankOf(m inLine) int64 {
	return rank(s.created(m.seq), priorityOf(m.list))
}

// created is the time of a message's publication.
func (s *Store) created(seq uint64) int64 {
	m, _ := s.messages.Get(seq)
	return m.envelope().Created
}

// nextIn is the member of a line whose turn it is: the first of the share that has had least for its weight.
func (s *Store) nextIn(t *lineTree, of uint64) (inLine, bool) {
	st := &s.places.shares
	l, shared := st.lines.Get(of)
	if !shared {
		return s.head(t, of, 0)
	}
	pass, no, found := st.first(of)
	if l.Pass = max(l.Pass, l.now); !found || l.Pass <= max(pass, l.now) {
		if m, ok := s.head(t, of, 0); ok {
			return m, true
		}
	}
	if !found {
		return inLine{}, false
	}
	return s.head(t, of, no)
}
