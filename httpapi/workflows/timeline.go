package workflows

import (
	"cmp"
	"container/heap"
	"math"
	"strconv"
	"strings"

	"github.com/trireme-dev/trireme/fsm/workflow"
	"github.com/trireme-dev/trireme/httpapi/messages"
)

// moment is a place in the order of events, the newest first. Events of one time are ordered by run, the newer first,
// and events of one run as in its log. left is the number of events of that time and run that remain, so that new events
// before it do not move it.
type moment struct {
	time int64
	run  uint64
	left int
}

// compareMoments returns a negative number if a is newer than b, judged by time and run.
func compareMoments(a, b moment) int {
	return cmp.Or(cmp.Compare(b.time, a.time), cmp.Compare(b.run, a.run))
}

// String returns the moment as a cursor.
func (m moment) String() string {
	return strconv.FormatInt(m.time, 36) + "." + strconv.FormatUint(m.run, 36) + "." + strconv.Itoa(m.left)
}

// parseMoment reads what String wrote; empty is the zero moment.
func parseMoment(text string) (m moment, err error) {
	if text == "" {
		return m, nil
	}
	parts := strings.Split(text, ".")
	if len(parts) != 3 {
		return m, messages.Invalid("invalid cursor %q", text)
	}
	var errs [3]error
	m.time, errs[0] = strconv.ParseInt(parts[0], 36, 64)
	m.run, errs[1] = strconv.ParseUint(parts[1], 36, 64)
	m.left, errs[2] = strconv.Atoi(parts[2])
	if err := cmp.Or(errs[0], errs[1], errs[2]); err != nil || m.time <= 0 || m.run == 0 || m.left < 1 {
		return m, messages.Invalid("invalid cursor %q", text)
	}
	return m, nil
}

// source holds the events of one run. They are made from its log when their turn may have come, and made again if they
// were dropped to make room.
type source struct {
	run *workflow.Run
	// runs are those of a volume, in the place of run, if it is not nil; at is the end of the last of them.
	runs func() []*workflow.Run
	// at is the time of its next event; until counted is set, it is an upper bound.
	at      int64
	counted bool
	// left is the number of events that remain, list those of them that are made.
	left int
	list []*runEvent
}

// timeline merges the events of runs into one list, the newest first. It is a heap of the runs that have more.
type timeline struct {
	store *workflow.Store
	now   int64
	trim  int
	// from and to bound the time of events (0 = unbounded); begin is the place at which the page before this one has ended.
	from, to int64
	begin    moment
	sources  []*source
	// room bounds the size of the events that sources have made, made is their size; both in bytes.
	room, made int
}

// Len, with Less, Swap, Push and Pop, makes a heap of the sources, the one with the newest event first.
func (t *timeline) Len() int { return len(t.sources) }

// Less is for the heap.
func (t *timeline) Less(i, j int) bool {
	a, b := t.sources[i], t.sources[j]
	return compareMoments(moment{time: a.at, run: a.no()}, moment{time: b.at, run: b.no()}) < 0
}

// no is the number of the run. A volume comes before all runs of its time.
func (s *source) no() uint64 {
	if s.runs != nil {
		return math.MaxUint64
	}
	return s.run.No
}

// Swap is for the heap.
func (t *timeline) Swap(i, j int) { t.sources[i], t.sources[j] = t.sources[j], t.sources[i] }

// Push is for the heap.
func (t *timeline) Push(v any) { t.sources = append(t.sources, v.(*source)) }

// Pop is for the heap.
func (t *timeline) Pop() any {
	last := len(t.sources) - 1
	s := t.sources[last]
	t.sources = t.sources[:last]
	return s
}

// add adds the events of a run. heap.Init must be called after the last run.
func (t *timeline) add(r *workflow.Run) {
	at := r.Latest()
	for _, bound := range []int64{t.to, t.begin.time} {
		if bound > 0 && at > bound {
			at = t.store.LatestUntil(r, bound)
		}
	}
	if at > 0 && at >= t.from {
		t.sources = append(t.sources, &source{run: r, at: at})
	}
}

// addVolume adds the runs of a volume, of which the last ended at until. They are read when their turn may have come.
func (t *timeline) addVolume(until int64, runs func() []*workflow.Run) {
	for _, bound := range []int64{t.to, t.begin.time} {
		if bound > 0 {
			until = min(until, bound)
		}
	}
	if until >= t.from {
		t.sources = append(t.sources, &source{runs: runs, at: until})
	}
}

// next returns the next event and its place; false if there is none.
func (t *timeline) next() (*runEvent, moment, bool) {
	for len(t.sources) > 0 {
		s := t.sources[0]
		if s.runs != nil {
			heap.Pop(t)
			for _, r := range s.runs() {
				before := len(t.sources)
				if t.add(r); len(t.sources) > before {
					heap.Fix(t, before)
				}
			}
			continue
		}
		if !s.counted {
			t.count(s)
			continue
		}
		if s.list == nil {
			list := t.events(s.run)
			t.hold(s, list[len(list)-s.left:])
		}
		e := s.list[0]
		at := moment{e.Time, s.run.No, 1}
		for at.left < len(s.list) && s.list[at.left].Time == e.Time {
			at.left++
		}
		t.take(s)
		return e, at, true
	}
	return nil, moment{}, false
}

// count finds out which events of the first source are to be shown, and the time of the first of them.
func (t *timeline) count(s *source) {
	list := t.events(s.run)
	list = list[t.passed(s.run.No, list):]
	s.counted, s.left = true, len(list)
	t.hold(s, list)
	t.settle(s)
}

// events returns the events of a run that are not too old.
func (t *timeline) events(r *workflow.Run) []*runEvent {
	list := runEvents(t.store, r, t.now, t.trim)
	for t.from > 0 && len(list) > 0 && list[len(list)-1].Time < t.from {
		list = list[:len(list)-1]
	}
	return list
}

// passed returns the number of events of a run, from the newest on, that are too new or were on an earlier page.
func (t *timeline) passed(run uint64, list []*runEvent) (n int) {
	for n < len(list) && (t.to > 0 && list[n].Time > t.to || t.begin.time > 0 && compareMoments(moment{time: list[n].Time, run: run}, t.begin) < 0) {
		n++
	}
	ties := 0
	for run == t.begin.run && n+ties < len(list) && list[n+ties].Time == t.begin.time {
		ties++
	}
	return n + max(ties-t.begin.left, 0)
}

// hold keeps events of a source. If all sources together hold too much, the others drop theirs and make them again later.
func (t *timeline) hold(s *source, list []*runEvent) {
	size := 0
	for _, e := range list {
		size += e.size()
	}
	if t.made+size > t.room {
		for _, other := range t.sources {
			other.list = nil
		}
		t.made = 0
	}
	s.list, t.made = list, t.made+size
}

// take moves the first source on to its next event.
func (t *timeline) take(s *source) {
	t.made -= s.list[0].size()
	s.list, s.left = s.list[1:], s.left-1
	t.settle(s)
}

// settle brings the first source to its place among the others.
func (t *timeline) settle(s *source) {
	if s.left == 0 {
		heap.Pop(t)
		return
	}
	s.at = s.list[0].Time
	heap.Fix(t, 0)
}
