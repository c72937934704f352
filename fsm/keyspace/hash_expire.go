package keyspace

import (
	"strings"

	"github.com/trireme-dev/trireme/fsm/cow"
	"github.com/trireme-dev/trireme/fsm/env"
)

// schedule holds the times at which a key expires and at which its hash loses the first
// field, in unix milliseconds; 0 for never.
type schedule struct{ gone, field int64 }

// schedule returns the times that the indexes must hold for o. A key expires at its own
// deadline, or with the last field of its hash.
func (o *Object) schedule() schedule {
	s := schedule{gone: o.Expire}
	if o.form != holding {
		return s
	}
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
	if o.form != holding {
		return
	}
	if h, ok := o.Data().(*Fields); ok {
		if s := h.schedule(); s != h.known {
			h.known = s
		}
	}
}

// schedule returns the times at which the hash loses its first field and, if every field has
// a deadline, its last one.
func (fi *Fields) schedule() (s schedule) {
	first, last := fi.deadlines()
	s.field = first
	if fi.timed == fi.cells.len() {
		s.gone = last
	}
	return s
}

// deadlines are the first and the last of all fields, 0 if there are none.
func (fi *Fields) deadlines() (first, last int64) {
	switch {
	case fi.timed == 0:
		return 0, 0
	case fi.dues != nil:
		low, _, _ := fi.dues.Min()
		high, _, _ := fi.dues.Max()
		return low.at, high.at
	}
	fi.cells.all(func(field string, c cell) bool {
		at := c.at()
		if at != 0 && (first == 0 || at < first) {
			first = at
		}
		last = max(last, at)
		return true
	})
	return first, last
}

// expired counts the fields past their deadline at now that are not swept yet.
func (fi *Fields) expired(now int64) (n int) {
	switch {
	case fi == nil || fi.timed == 0:
		return 0
	case fi.dues != nil:
		n, _ = fi.dues.Rank(due{at: now + 1})
		return n
	}
	fi.cells.all(func(field string, c cell) bool {
		if c.expired(now) {
			n++
		}
		return true
	})
	return n
}

// reschedule notes that field has another deadline, where 0 means no deadline.
func (fi *Fields) reschedule(field string, from, to int64) {
	if from == to {
		return
	}
	if from != 0 {
		fi.timed--
	}
	if to != 0 {
		fi.timed++
	}
	if fi.cells.large == nil {
		return
	}
	if to != 0 { // an alias would keep other bytes in memory
		field = strings.Clone(field)
	}
	switch {
	case fi.dues != nil:
		move(fi.dues, field, from, to)
	case fi.timed == 1 && from == 0: // the first of all
		fi.dues = cow.NewBTree[due, struct{}](headOfDue, compareDue)
		move(fi.dues, field, from, to)
	case fi.timed > 0:
		fi.index() // the field's own deadline is in place already
	}
}

// index makes the index of a large hash's deadlines.
func (fi *Fields) index() {
	fi.dues = cow.NewBTree[due, struct{}](headOfDue, compareDue)
	fi.cells.all(func(field string, c cell) bool {
		if at := c.at(); at != 0 {
			fi.dues.Set(due{at, strings.Clone(field)}, struct{}{}) // not an alias of the cell, which would stay in memory
		}
		return true
	})
}

// sweep removes at most limit fields past their deadline and says how many.
func (fi *Fields) sweep(now int64, limit int) (removed int) {
	for removed < limit {
		field, ok := fi.overdue(now)
		if !ok {
			break
		}
		fi.Delete(now, field)
		removed++
	}
	return removed
}

// overdue is a field past its deadline, the first one of all or of a small hash's order.
func (fi *Fields) overdue(now int64) (field string, ok bool) {
	if fi.dues != nil {
		d, _, found := fi.dues.Min()
		return d.key, found && d.at <= now
	}
	fi.cells.all(func(name string, c cell) bool {
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
