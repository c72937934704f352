package queue

import "github.com/trireme-dev/trireme/fsm/sealed"

// TallyKey is a span of time and a state. From is the beginning of the span, in unix milliseconds.
type TallyKey struct {
	From  int64
	State State
}

// Tally adds the events that a filter chooses to counts, by the spans of that many milliseconds that they are in and by their states.
// Of a volume that lies in one span it reads the numbers alone, if the filter asks for times and states only. Cursor and more are
// those of Events; the limit of the page does not count.
func (s *Store) Tally(f *Filter, p Page, span int64, counts map[TallyKey]int) (cursor Stamp, more bool) {
	c, r := f.chooser(), s.reader()
	c.span = span
	add := func(v *Event) { counts[TallyKey{spanOf(v.At, span), v.State}]++ }
	if len(f.IDs) > 0 {
		for _, id := range f.IDs {
			events, who := r.of(id)
			for _, v := range events {
				if c.matchEvent(v) && c.matchSubject(r, v, who) {
					add(v)
				}
			}
		}
		return cursor, false
	}
	looked := 0
	look := func() bool {
		looked++
		more = looked > MaxScan
		return !more
	}
	r.walk(p, c, func(v *sealed.Volume, last Stamp) bool {
		if !look() {
			return false
		}
		if c.mayBeIn(v) { // it is counted as a whole
			for kind, n := range v.Kinds {
				if n > 0 && admits(c.states, State(kind)) {
					counts[TallyKey{spanOf(v.From, span), State(kind)}] += int(n)
				}
			}
		}
		cursor = last
		return true
	}, func(v *Event, of subject) bool {
		if !look() {
			return false
		}
		if c.matchEvent(v) && c.matchSubject(r, v, of) {
			add(v)
		}
		cursor = v.Stamp
		return true
	})
	return cursor, more
}

// spanOf returns the beginning of the span that a time is in; spans begin at multiples of their length.
func spanOf(at, span int64) int64 { return at - at%span }

// matchSubject judges the message of an event. It decodes nothing that the filter does not ask for.
func (ch *chooser) matchSubject(r *reader, v *Event, of subject) bool {
	if !ch.content() {
		return true
	}
	n := of.tell(r, v)
	return ch.match(n.ID, n.Content)
}

// whole reports whether the numbers of a volume say how many of its events are chosen, all in one span.
func (ch *chooser) whole(v *sealed.Volume) bool {
	return ch.span > 0 && !ch.content() && ch.within(v.From) && ch.within(v.To) && spanOf(v.From, ch.span) == spanOf(v.To, ch.span)
}
