package workflow

import (
	"math"
	"slices"
	"strings"

	"github.com/trireme-dev/trireme/fsm/cow"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/queue"
)

// A run keeps the events that its start names. One that is notified without a run's id, and for which the run does not wait yet, is stored
// for it as its look-back form is.

// eventIndex finds by an event who waits for it or keeps it.
type eventIndex struct {
	waiters *cow.BTree[name, struct{}]
	// keepers are active runs by the events that they keep, prefixes by beginnings of such events.
	keepers, prefixes *cow.BTree[name, struct{}]
}

func (ei *eventIndex) fork() eventIndex {
	return eventIndex{ei.waiters.Snapshot(), ei.keepers.Snapshot(), ei.prefixes.Snapshot()}
}

// keeps is the number of events and beginnings that active runs keep.
func (ei *eventIndex) keeps() int { return ei.keepers.Len() + ei.prefixes.Len() }

// eachKept visits the places of a run in the indices of kept events.
func (s *Store) eachKept(r *Run, visit func(*cow.BTree[name, struct{}], name)) {
	for _, text := range r.Keep {
		if prefix, is := strings.CutSuffix(text, "*"); is {
			visit(s.events.prefixes, name{prefix, r.No})
		} else {
			visit(s.events.keepers, name{text, r.No})
		}
	}
}

// findByEvents has an active run found by the events that it keeps.
func (s *Store) findByEvents(r *Run) {
	s.eachKept(r, func(index *cow.BTree[name, struct{}], n name) { index.Set(n, struct{}{}) })
}

// forgetEvents ends that.
func (s *Store) forgetEvents(r *Run) {
	s.eachKept(r, func(index *cow.BTree[name, struct{}], n name) { index.Delete(n) })
}

// keepersOf returns the active runs that keep an event, in the order in which they were started: those whose numbers are greater than after
// and less than until, at most so many (0 = all). looked counts what it has looked at.
func (s *Store) keepersOf(event string, after, until uint64, most int) (list []*Run, looked int) {
	if s.events.keeps() == 0 || after == math.MaxUint64 {
		return nil, 0
	}
	var found []uint64
	take := func(index *cow.BTree[name, struct{}], text string) {
		n := 0
		index.Ascend(name{text, after + 1}, func(k name, _ struct{}) bool {
			if k.text != text || k.no >= until || most > 0 && n == most {
				return false
			}
			found, n = append(found, k.no), n+1
			return true
		})
		looked += 1 + n
	}
	take(s.events.keepers, event)
	for i := 0; i <= min(len(event), queue.MaxKeptName) && s.events.prefixes.Len() > 0; i++ {
		take(s.events.prefixes, event[:i])
	}
	slices.Sort(found)
	found = slices.Compact(found)
	if most > 0 {
		found = found[:min(most, len(found))]
	}
	for _, no := range found {
		r, _ := s.runs.Get(no)
		list = append(list, r)
	}
	return list, looked
}

// recipients are whom one entry brings an event to.
type recipients struct {
	// keepers are the runs that keep the event, waiters those of other runs that wait for it.
	keepers []*Run
	waiters []*Waiter
	// more says that there are others: waiters, and runs with a number greater than after.
	more   bool
	after  uint64
	looked int
}

// recipientsOf returns whom a notification without a run's id reaches, at most so many (0 = all): the runs that keep the event first, so
// that none of them is woken and keeps it too.
func (s *Store) recipientsOf(n *Notification, most int) (out recipients) {
	until, limit := s.untilOf(n), 0
	if most > 0 {
		limit = most + 1
	}
	out.after = n.After
	out.keepers, out.looked = s.keepersOf(n.EventID, n.After, until, limit)
	if most > 0 && len(out.keepers) > most {
		out.keepers = out.keepers[:most]
		out.more, out.after = true, out.keepers[most-1].No
		return out
	}
	keeps := map[uint64]bool{}
	for _, r := range out.keepers {
		keeps[r.No], out.after = true, math.MaxUint64
	}
	s.eachWaiter(n.EventID, func(w *Waiter) bool {
		switch {
		case w.No >= until:
			return false
		case keeps[w.Run]:
			return true
		case most > 0 && len(out.keepers)+len(out.waiters) == most:
			out.more = true
			return false
		}
		out.waiters = append(out.waiters, w)
		return true
	})
	return out
}

// untilOf is the number below which runs and waiters were there when an event was notified.
func (s *Store) untilOf(n *Notification) uint64 {
	if n.Until == 0 {
		return s.serial + 1
	}
	return n.Until
}

// bring brings an event to a run that keeps it: to its waits, or it is stored until it waits.
func (s *Store) bring(e *env.Env, q *queue.Store, no uint64, n *Notification, out *Notified) {
	r, _ := s.runs.Get(no)
	if list := s.waitersFor(r, n); len(list) > 0 {
		out.Woken = append(out.Woken, s.wakeAll(e, q, list, n.Body)...)
		return
	}
	full := s.save(e, q, r, n) != nil
	out.Kept = append(out.Kept, Keeper{RunID: r.ID, Created: r.Created, URL: r.URL, Full: full})
}

// bringPrice is the price of bring.
func (s *Store) bringPrice(r *Run, n *Notification) (cost env.Price) {
	list := s.waitersFor(r, n)
	for _, w := range list {
		cost.Add(s.wakePrice(w, n.Body))
	}
	if len(list) == 0 {
		v := Saved{EventID: n.EventID, Body: n.Body}
		cost = env.Price{Work: entryWork + bytesWork(v.size()), Growth: v.size()}
	}
	cost.Work += int64(s.waiting.RankHead(r.No+1) - s.waiting.RankHead(r.No))
	return cost
}

// keptSize is the logical memory of a list of events to keep, with their places in an index.
func keptSize(list []string) (n int64) {
	for _, text := range list {
		n += 160 + int64(len(text))
	}
	return n
}
