package queue

import (
	"github.com/trireme-dev/trireme/fsm/env"
)

// selectDead returns the dead letters of a selection, oldest first, and whether there may be more that match after the
// cursor.
func (s *Store) selectDead(n *DeadSelection) (list []Stamp, cursor Stamp, more bool, err error) {
	if len(n.IDs) > 0 {
		seen := map[Stamp]bool{}
		for _, t := range n.IDs {
			if _, ok := s.dead.Get(t); ok && !seen[t] {
				list = append(list, t)
				seen[t] = true
			} else if n.Strict && !ok {
				return nil, cursor, false, notFound("dlq message %s not found", t)
			}
		}
		return list, cursor, false, nil
	}
	limit := n.Limit
	if limit <= 0 || limit > MaxDeadPage {
		limit = MaxDeadPage
	}
	looked, filter := 0, n.Filter.chooser()
	from := n.After
	from.Seq++
	s.dead.Ascend(from, func(t Stamp, d *Dead) bool {
		if looked++; looked > MaxScan {
			more = true
			return false
		}
		if s.matchDead(filter, d) {
			if len(list) == limit {
				more = true
				return false
			}
			list = append(list, t)
		}
		cursor = t
		return true
	})
	return list, cursor, more, nil
}

// matchDead reports whether a filter chooses a dead letter.
func (s *Store) matchDead(f *chooser, d *Dead) bool {
	if !f.within(d.At) || !admits(f.statuses, d.Response.Status) {
		return false
	}
	if len(f.IDs) == 0 && !f.content() {
		return true
	}
	m, _ := s.messages.Get(d.Seq)
	return f.match(m.ID, m.envelope())
}

// DeleteDead deletes dead letters.
func (s *Store) DeleteDead(_ *env.Env, n DeadSelection) (DeadDeleted, error) {
	list, cursor, more, err := s.selectDead(&n)
	if err != nil {
		return DeadDeleted{}, err
	}
	for _, t := range list {
		d, _ := s.dead.Get(t)
		s.removeDead(t, d)
	}
	out := DeadDeleted{Count: len(list), More: more}
	if more {
		out.Cursor = cursor
	}
	return out, nil
}

// RetryDead publishes dead letters anew and removes them, in one piece: each becomes at most one new message.
func (s *Store) RetryDead(e *env.Env, n DeadRetry) (DeadRetried, error) {
	if err := s.check(&Publication{URL: "-"}, &n.Options, e.Now); err != nil {
		return DeadRetried{}, err
	}
	if n.Options.Gather != nil {
		return DeadRetried{}, invalid("a dead letter is retried on its own, or as its singleton was: name no debounce, batch or singleton")
	}
	list, cursor, more, err := s.selectDead(&n.DeadSelection)
	if err != nil {
		return DeadRetried{}, err
	}
	out := DeadRetried{More: more}
	for _, t := range list {
		d, _ := s.dead.Get(t)
		old, _ := s.messages.Get(t.Seq)
		c := old.envelope()
		if n.Options.Given&(GivenDelay|GivenNotBefore) == 0 { // those of the original have passed
			c.Options.Given &^= GivenDelay | GivenNotBefore
			c.Options.Delay, c.Options.NotBefore = 0, 0
		}
		c.Options = n.Options.Over(c.Options)
		if c.Gather.waits() || c.Gather.isSingleton() && c.Queue != "" { // it has gathered; a queue has an order of its own
			c.Gather, c.Given = nil, c.Given&^GivenGather
		}
		c.Source = Source{}
		m := s.create(e, c, old.body)
		out.Messages = append(out.Messages, Published{ID: m.ID, URL: string([]byte(c.URL))})
		s.removeDead(t, d)
	}
	if more {
		out.Cursor = cursor
	}
	s.trim(e)
	return out, nil
}
