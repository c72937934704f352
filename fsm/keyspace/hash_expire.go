package keyspace

import (
	"github.com/trireme-dev/trireme/fsm/cow"
	"github.com/trireme-dev/trireme/fsm/env"
)

// schedule is when a key goes, and when its hash loses the first field, in unix
// milliseconds; 0 for never.
type schedule struct{ gone, field int64 }

// schedule is what the indexes must hold for o. A key goes at its own deadline, or when
// the last field of its hash goes.
func (o *Object) schedule() schedule {
	s := schedule{gone: o.Expire}
	if h, ok := o.Data().(*Fields); ok {
		s.field = h.known.field
		if g := h.known.gone; g != 0 && (s.gone == 0 || g < s.gone) {
			s.gone = g
		}
	}
	return s
}

// settle brings what is known of o's hash up to date. At rest it always is, so a hash
// that forks share is not written to.
func (o *Object) settle() {
	if h, ok := o.Data().(*Fields); ok {
		if s := h.schedule(); s != h.known {
			h.known = s
		}
	}
}

// schedule is when the hash loses its first and, if every field has a deadline, its last
// field.
func (h *Fields) schedule() (s schedule) {
	first, last := h.deadlines()
	s.field = first
	if h.timed == h.cells.len() {
		s.gone = last
	}
	return s
}

// deadlines are the first and the last of all fields, 0 if there are none.
func (h *Fields) deadlines() (first, last int64) {
	switch {
	case h.timed == 0:
		return 0, 0
	case h.dues != nil:
		low, _, _ := h.dues.Min()
		high, _, _ := h.dues.Max()
		return low.at, high.at
	}
	h.cells.all(func(_ string, c cell) bool {
		if c.at != 0 && (first == 0 || c.at < first) {
			first = c.at
		}
		last = max(last, c.at)
		return true
	})
	return first, last
}

func (c cell) expired(now int64) bool { return c.at != 0 && c.at <= now }

// expired is how many fields are past their deadline at now but not swept yet.
func (h *Fields) expired(now int64) (n int) {
	switch {
	case h == nil || h.timed == 0:
		return 0
	case h.dues != nil:
		n, _ = h.dues.Rank(due{at: now + 1})
		return n
	}
	h.cells.all(func(_ string, c cell) bool {
		if c.expired(now) {
			n++
		}
		return true
	})
	return n
}

// reschedule notes that field has another deadline, where 0 means no deadline.
func (h *Fields) reschedule(field string, from, to int64) {
	if from == to {
		return
	}
	if from != 0 {
		h.timed--
	}
	if to != 0 {
		h.timed++
	}
	if h.cells.large == nil {
		return
	}
	switch {
	case h.dues != nil:
		move(h.dues, field, from, to)
	case h.timed == 1 && from == 0: // the first of all
		h.dues = cow.NewBTree[due, struct{}](headOfDue, compareDue)
		move(h.dues, field, from, to)
	case h.timed > 0:
		h.index() // the field's own deadline is in place already
	}
}

// index makes the index of a large hash's deadlines.
func (h *Fields) index() {
	h.dues = cow.NewBTree[due, struct{}](headOfDue, compareDue)
	h.cells.all(func(field string, c cell) bool {
		if c.at != 0 {
			h.dues.Set(due{c.at, field}, struct{}{})
		}
		return true
	})
}

// sweep removes at most limit fields past their deadline and says how many.
func (h *Fields) sweep(now int64, limit int) (removed int) {
	for removed < limit {
		field, ok := h.overdue(now)
		if !ok {
			break
		}
		h.Delete(now, field)
		removed++
	}
	return removed
}

// overdue is a field past its deadline, the first one of all or of a small hash's order.
func (h *Fields) overdue(now int64) (field string, ok bool) {
	if h.dues != nil {
		d, _, some := h.dues.Min()
		return d.key, some && d.at <= now
	}
	h.cells.all(func(name string, c cell) bool {
		field, ok = name, c.expired(now)
		return !ok
	})
	return field, ok
}

// sweepFields removes at most limit fields past their deadline from hashes that keep
// others, and says how many. A watcher of the key sees it change.
func (db *DB) sweepFields(e *env.Env, limit int) (removed int) {
	for removed < limit {
		d, _, ok := db.fields.Min()
		if !ok || d.at > e.Now {
			break
		}
		key := []byte(d.key)
		h := db.Mutable(e, key, db.get(d.key)).(*Fields)
		before := h.Size()
		removed += h.sweep(e.Now, limit-removed)
		db.Changed(e, key, before)
		if e.Watch != nil {
			e.Watch(env.FieldsExpired, d.key)
		}
	}
	return removed
}
