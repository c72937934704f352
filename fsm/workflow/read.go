package workflow

import (
	"math"
	"slices"
	"strconv"

	"github.com/trireme-dev/trireme/fsm/cow"
	"github.com/trireme-dev/trireme/fsm/queue"
)

// MaxScan is the most runs that one entry, or one page of an answer, looks at for a filter.
const MaxScan = 10_000

// What reads give must not be changed, and is valid as long as the view.

// Run is a run by its number.
func (s *Store) Run(no uint64) (*Run, bool) {
	if r, ok := s.runs.Get(no); ok {
		return r, true
	}
	s.thawHaving(setRuns, no)
	return s.runs.Get(no)
}

// Find is the newest run of an id, or, if created is not 0, of those that were created then; nil if there is none. An id may be
// that of many runs that are over.
func (s *Store) Find(id string, created int64) *Run {
	s.thawHaving(setNames, nameOf(id))
	for r := s.namedBelow(id, math.MaxUint64); r != nil; r = s.namedBelow(id, r.No) {
		if created == 0 || r.Created == created {
			return r
		}
	}
	return nil
}

// namedBelow is the newest run of an id of those below a number, nil if there is none.
func (s *Store) namedBelow(id string, no uint64) *Run {
	i, _ := s.names.Rank(name{id, no})
	if i == 0 {
		return nil
	}
	n, _ := s.names.At(i - 1)
	if n.text != id {
		return nil
	}
	r, _ := s.runs.Get(n.no)
	return r
}

// Named are the runs of an id, oldest first.
func (s *Store) Named(id string) []*Run {
	s.thawHaving(setNames, nameOf(id))
	return elementsFrom(s.names, name{text: id}, func(n name) bool { return n.text == id }, func(n name, _ struct{}) *Run {
		r, _ := s.runs.Get(n.no)
		return r
	})
}

// Page says which part of a list to give. Lists of runs give the newest first.
type Page struct {
	// After is the cursor of the page before; zero to begin.
	After uint64
	// Limit is the most elements, at least 1.
	Limit int
}

// Runs lists the runs that a filter chooses, the newest first. More says that there are others behind the cursor, or that
// there may be: one answer looks at MaxScan runs at most, so that a page may be short, and the reader has to go on.
func (s *Store) Runs(f *Filter, p Page) (list []*Run, cursor uint64, more bool) {
	looked, filter := 0, s.chooser(f)
	s.inOrder(f, filter, p.After, func(r *Run) bool {
		if looked++; looked > MaxScan {
			more = true
			return false
		}
		if filter.match(r, r.Created) {
			if len(list) == p.Limit {
				more = true
				return false
			}
			list = append(list, r)
		}
		cursor = r.No
		return true
	})
	return list, cursor, more
}

// candidates returns the runs that a filter may choose, the newest first, beginning below a number that is not 0. Those that
// the filter names are found by their names.
func (s *Store) candidates(f *Filter, below uint64, visit func(*Run) bool) {
	if named, ok := s.named(f); ok {
		for i := len(named) - 1; i >= 0; i-- {
			r := named[i]
			if (below == 0 || r.No < below) && !visit(r) {
				return
			}
		}
		return
	}
	i := s.runs.Len()
	if below != 0 {
		i, _ = s.runs.Rank(below)
	}
	for i--; i >= 0; i-- {
		if _, r := s.runs.At(i); !visit(r) {
			return
		}
	}
}

// named are the runs that a filter names, in the order of their numbers and each once; false if it names none.
func (s *Store) named(f *Filter) (list []*Run, ok bool) {
	switch {
	case len(f.Exact) > 0:
		for _, n := range f.Exact {
			if r := s.Find(n.ID, n.Created); r != nil {
				list = append(list, r)
			}
		}
	case len(f.RunIDs) > 0 && !f.IDPrefix:
		for _, id := range f.RunIDs {
			list = append(list, s.Named(id)...)
		}
	case len(f.Messages) > 0:
		for _, id := range f.Messages {
			s.thawHaving(setMessages, id.Seq)
			if p, found := s.ids.Get(id.Seq); found {
				if r, exists := s.runs.Get(p.run); exists {
					list = append(list, r)
				}
			}
		}
	default:
		return nil, false
	}
	slices.SortFunc(list, func(a, b *Run) int { return int(int64(a.No) - int64(b.No)) })
	return slices.Compact(list), true
}

// Log calls visit with the entries of a run in their order, until visit says false.
func (s *Store) Log(run uint64, visit func(pos uint32, e *Entry) bool) {
	s.entries.Ascend(place{run: run}, func(p place, e *Entry) bool { return p.run == run && visit(p.pos, e) })
}

// EndedSince visits the runs that have ended at a time, in unix milliseconds, or later, in the order of their ends: first
// those without a dead letter, then the others.
func (s *Store) EndedSince(at int64, visit func(*Run) bool) {
	for _, ends := range []*cow.BTree[queue.Stamp, uint64]{s.ended, s.dead} {
		ends.Ascend(queue.Stamp{At: at}, func(_ queue.Stamp, no uint64) bool {
			r, ok := s.runs.Get(no)
			return !ok || visit(r)
		})
	}
}

// LatestUntil returns the time of the last change in the run's log that is not later than until, 0 if there is none. It may
// return a somewhat later time, but none later than until.
func (s *Store) LatestUntil(r *Run, until int64) (at int64) {
	take := func(times ...int64) {
		for _, t := range times {
			if t <= until {
				at = max(at, t)
			}
		}
	}
	take(r.Created, r.Completed)
	last := uint32(0)
	s.Log(r.No, func(_ uint32, e *Entry) bool {
		take(e.Created)
		for i := range e.Errors {
			take(e.Errors[i].At)
		}
		last = max(last, e.Number())
		return true
	})
	if child := s.Child(r.No, last+1); child != nil {
		take(child.Created)
	}
	for _, w := range s.WaitersOf(r.No) {
		take(w.Created)
	}
	return at
}

// Entry is an entry of a run's log.
func (s *Store) Entry(run uint64, pos uint32) (*Entry, bool) { return s.entries.Get(place{run, pos}) }

// EntryOf is the entry that a message is, and its run; false if there is none.
func (s *Store) EntryOf(id queue.ID) (r *Run, pos uint32, ok bool) {
	s.thawHaving(setMessages, id.Seq)
	p, ok := s.ids.Get(id.Seq)
	if !ok {
		return nil, 0, false
	}
	e, _ := s.entries.Get(p)
	r, found := s.runs.Get(p.run) // one that is forgotten leaves its log for a while
	return r, p.pos, found && e.ID == id
}

// Child is the run that a step has invoked, nil if it has invoked none, or that is forgotten.
func (s *Store) Child(run uint64, step uint32) *Run {
	no, ok := s.marks.Get(mark{run, markInvoke, step})
	if !ok {
		return nil
	}
	r, _ := s.Run(no)
	return r
}

// AnswerTo is the entry with the answer to the call of a step; false if it has none yet.
func (s *Store) AnswerTo(run uint64, step uint32) (*Entry, bool) {
	return s.marked(run, markAnswer, step)
}

// ResultOf is the entry with the result of a step; false if it has none yet.
func (s *Store) ResultOf(run uint64, step uint32) (*Entry, bool) {
	return s.marked(run, markResult, step)
}

func (s *Store) marked(run uint64, c class, step uint32) (*Entry, bool) {
	pos, ok := s.marks.Get(mark{run, c, step})
	if !ok {
		return nil, false
	}
	return s.Entry(run, uint32(pos))
}

// Waiters returns a page of the waiters of an event, in the order in which they began to wait. In the place of names it has their
// numbers, in decimal.
func (s *Store) Waiters(event string, p queue.NamePage) (list queue.NameList[*Waiter]) {
	from := name{text: event}
	if after, ok := WaiterNumber(p.After); ok {
		from.no = after + 1
	}
	s.events.waiters.Ascend(from, func(n name, _ struct{}) bool {
		if n.text != event {
			return false
		}
		if list.More = len(list.Elements) == p.Limit; list.More {
			return false
		}
		list.Elements, list.Last = append(list.Elements, s.waiter(n.no)), strconv.FormatUint(n.no, 10)
		return true
	})
	return list
}

// WaiterNumber reads the number up to which a page of waiters goes, and reports whether it is one.
func WaiterNumber(text string) (no uint64, ok bool) {
	no, err := strconv.ParseUint(text, 10, 63)
	return no, err == nil
}

// WaitersOf returns the waiters of a run, in the order in which they began to wait.
func (s *Store) WaitersOf(run uint64) []*Waiter {
	return elementsFrom(s.waiting, runKey{run: run}, ofRun(run), func(p runKey, _ struct{}) *Waiter { return s.waiter(p.no) })
}

// SavedFor are the notifications that are kept for a run, in the order in which they came.
func (s *Store) SavedFor(run uint64) []*Saved {
	return elementsFrom(s.saved, runKey{run: run}, ofRun(run), func(_ runKey, n *Saved) *Saved { return n })
}

func ofRun(run uint64) func(runKey) bool { return func(p runKey) bool { return p.run == run } }

func (s *Store) waiter(no uint64) *Waiter {
	w, _ := s.waiters.Get(no)
	return w
}

// elementsFrom returns the elements of a tree from a key on, as far as their keys belong together.
func elementsFrom[K, V, E any](tree *cow.BTree[K, V], from K, belongs func(K) bool, element func(K, V) E) (list []E) {
	tree.Ascend(from, func(k K, v V) bool {
		if !belongs(k) {
			return false
		}
		list = append(list, element(k, v))
		return true
	})
	return list
}

// DeadRun is the run of a dead letter; false if there is no such dead letter, or not any more.
func (s *Store) DeadRun(t queue.Stamp) (*Run, bool) {
	no, ok := s.dead.Get(t)
	if !ok {
		return nil, false
	}
	return s.runs.Get(no)
}

// DeadRuns lists the runs of dead letters by the time of their failure: those of ids, or those that a filter chooses. Pages are
// as those of Runs, but that the cursor is a dead letter.
func (s *Store) DeadRuns(ids []queue.Stamp, f *DeadFilter, p queue.Page) (list []*Run, cursor queue.Stamp, more bool) {
	if len(ids) > 0 {
		seen := make(map[*Run]bool, len(ids))
		for _, t := range ids {
			if r, ok := s.DeadRun(t); ok && !seen[r] {
				list, seen[r] = append(list, r), true
			}
		}
		return list, cursor, false
	}
	looked, filter := 0, s.deadChooser(f)
	visit := func(t queue.Stamp, no uint64) bool {
		if looked++; looked > MaxScan {
			more = true
			return false
		}
		if r, _ := s.runs.Get(no); filter.match(r) {
			if len(list) == p.Limit {
				more = true
				return false
			}
			list = append(list, r)
		}
		cursor = t
		return true
	}
	if !p.Newest {
		from := p.After
		from.Seq++
		s.dead.Ascend(from, visit)
		return list, cursor, more
	}
	i := s.dead.Len()
	if p.After != (queue.Stamp{}) {
		i, _ = s.dead.Rank(p.After)
	}
	for i--; i >= 0; i-- {
		if t, no := s.dead.At(i); !visit(t, no) {
			break
		}
	}
	return list, cursor, more
}

// deadChooser is a DeadFilter that is ready to be held against many dead letters.
type deadChooser struct {
	*chooser
	statuses  map[int]struct{}
	callbacks map[CallbackState]struct{}
}

func (s *Store) deadChooser(f *DeadFilter) *deadChooser {
	return &deadChooser{s.chooser(&f.Filter), queue.Set(f.Statuses), queue.Set(f.Callbacks)}
}

// match reports whether the filter chooses the dead letter of r. From and To are about when it failed.
func (dc *deadChooser) match(r *Run) bool {
	if dc.statuses != nil {
		if _, is := dc.statuses[status(r)]; r.Fault == nil || !is {
			return false
		}
	}
	if dc.callbacks != nil {
		if r.Callback == nil {
			return false
		}
		if _, is := dc.callbacks[r.Callback.State]; !is {
			return false
		}
	}
	return dc.chooser.match(r, r.Completed)
}

// status is that of the answer that made a run fail.
func status(r *Run) int {
	if r.Fault == nil {
		return 0
	}
	return r.Fault.Response.Status
}

// Settings are the limits in force.
func (s *Store) Settings() Settings { return s.settings }

// Used is the logical memory of everything about workflows, in bytes.
func (s *Store) Used() int64 {
	return s.liveBytes + s.doneBytes + s.past.Size() + s.bulk.Used() + s.deployments.bytes
}

// Uncounted returns the bytes of Used that are payloads on the nodes' disks. They do not count.
func (s *Store) Uncounted() int64 { return s.uncounted }
