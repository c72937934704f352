package keyspace

import (
	"trireme/fsm/cow"
	"trireme/fsm/env"
)

// schedule is when a key goes, and when its hash loses the first field, in unix
// milliseconds; 0 for never.
type schedule struct{ gone, field int64 }

// schedule is what the indexes must hold for o. A key goes at its own deadline, or when
// the last field of its hash goes.
func (o *Object) schedule() schedule {
	s := schedule{gone: o.Expire}
	if h, ok := o.data.(*Fields); ok {
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
	if h, ok := o.data.(*Fields); ok {
		if s := h.schedule(); s != h.known {
			h.known = s
		}
	}
}

// schedule is when the hash loses its first and, if every field has a deadline, its last
// field.
func (h *Fields) schedule() (s schedule) {
	if h.dues == nil || h.dues.Len() == 0 {
		return s
	}
	first, _, _ := h.dues.Min()
	s.field = first.at
	if h.dues.Len() == h.cells.len() {
		last, _, _ := h.dues.Max()
		s.gone = last.at
	}
	return s
}

func (c cell) expired(now int64) bool { return c.at != 0 && c.at <= now }

// expired is how many fields are past their deadline at now but not swept yet.
func (h *Fields) expired(now int64) int {
	if h == nil || h.dues == nil {
		return 0
	}
	n, _ := h.dues.Rank(due{at: now + 1})
	return n
}

// reschedule moves field in the index of deadlines, where 0 is none.
func (h *Fields) reschedule(field string, from, to int64) {
	if from == to {
		return
	}
	if h.dues == nil {
		h.dues = cow.NewBTree[due, struct{}](headOfDue, compareDue)
	}
	if from != 0 {
		h.dues.Delete(due{from, field})
	}
	if to != 0 {
		h.dues.Set(due{to, field}, struct{}{})
	}
}

// sweep removes at most limit fields past their deadline and says how many.
func (h *Fields) sweep(now int64, limit int) (removed int) {
	for removed < limit {
		d, _, ok := h.dues.Min()
		if !ok || d.at > now {
			break
		}
		h.Delete(now, d.key)
		removed++
	}
	return removed
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
		o, _ := db.keys.Get(probe(key))
		h := db.Mutable(e, key, o).(*Fields)
		before := h.Size()
		removed += h.sweep(e.Now, limit-removed)
		db.Changed(e, key, before)
	}
	return removed
}
