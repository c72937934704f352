package keyspace

import (
	"strings"

	"github.com/trireme-dev/trireme/fsm/env"
)

// schedule holds the deadlines by which a key is in the indexes, 0 for never: when it expires, and when its hash must be looked
// at, by cluster time and by wall time. Once gone has passed the key is gone. A hash that has deadlines of both kinds may be gone before;
// then one of look has passed.
type schedule struct {
	gone Deadline
	look looks
}

// looks are when a hash loses the first field with a deadline by cluster time, and by wall time.
type looks struct{ byTime, byWall Deadline }

// schedule returns the times that the indexes must hold for o. A key expires at its own
// deadline, or with the last field of its hash.
func (o *Object) schedule() schedule {
	s := schedule{gone: o.Expire}
	if o.form != holding {
		return s
	}
	if h, ok := o.Data().(*Fields); ok {
		s.look = h.known.look
		s.gone = sooner(s.gone, h.known.gone)
		if s.gone != o.Expire && o.Expire&ofWall == 0 { // its own may pass first, while wall time is held
			s.look.byTime = sooner(s.look.byTime, o.Expire)
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
	s.look = first
	if fi.timed == fi.fields.len() {
		s.gone = last
	}
	return s
}

// mixed reports whether there are deadlines by cluster time and by wall time.
func (fi *Fields) mixed() bool { return fi.walls > 0 && fi.walls < fi.timed }

// deadlines are the first ones and the last of all fields, 0 if there are none. The last one is by wall time if any is, which
// is never before cluster time.
func (fi *Fields) deadlines() (first looks, last Deadline) {
	switch {
	case fi.timed == 0:
		return looks{}, 0
	case fi.dues != nil:
		byTime, byWall := firsts(fi.dues)
		return looks{byTime.at, byWall.at}, lastOf(fi.dues)
	}
	fi.fields.all(func(f field) bool {
		at := f.at()
		if last = max(last, at&^ofWall); at&ofWall != 0 {
			first.byWall = sooner(first.byWall, at)
		} else {
			first.byTime = sooner(first.byTime, at)
		}
		return true
	})
	if fi.walls > 0 {
		last |= ofWall
	}
	return first, last
}

// expired counts the fields past their deadline at now that are not swept yet.
func (fi *Fields) expired(now env.Time) (n int) {
	switch {
	case fi == nil || fi.timed == 0:
		return 0
	case fi.dues != nil:
		return passed(fi.dues, now)
	}
	fi.fields.all(func(f field) bool {
		if f.expired(now) {
			n++
		}
		return true
	})
	return n
}

// reschedule notes that the field of that name has another deadline, where 0 means no deadline.
func (fi *Fields) reschedule(name string, from, to Deadline) {
	if from == to {
		return
	}
	count := func(d Deadline, n int) {
		if d != 0 {
			fi.timed += n
		}
		if d&ofWall != 0 {
			fi.walls += n
		}
	}
	count(from, -1)
	count(to, 1)
	if fi.fields.large == nil {
		return
	}
	if to != 0 { // an alias would keep other bytes in memory
		name = strings.Clone(name)
	}
	switch {
	case fi.dues != nil:
		move(fi.dues, name, from, to)
	case fi.timed == 1 && from == 0: // the first of all
		fi.dues = newDueIndex()
		move(fi.dues, name, from, to)
	case fi.timed > 0:
		fi.index() // the field's own deadline is in place already
	}
}

// index makes the index of a large hash's deadlines.
func (fi *Fields) index() {
	fi.dues = newDueIndex()
	fi.fields.all(func(f field) bool {
		if name, _, at := f.parts(); at != 0 {
			fi.dues.Set(due{at, strings.Clone(name)}, struct{}{}) // an alias would keep the field in memory
		}
		return true
	})
}

// sweep removes at most limit fields past their deadline and says how many.
func (fi *Fields) sweep(now env.Time, limit int) (removed int) {
	for removed < limit {
		name, ok := fi.overdue(now)
		if !ok {
			break
		}
		fi.Delete(now, name)
		removed++
	}
	return removed
}

// overdue is a field past its deadline, the first one of all or of a small hash's order.
func (fi *Fields) overdue(now env.Time) (name string, ok bool) {
	if fi.dues != nil {
		d, found := overdue(fi.dues, now)
		return d.key, found
	}
	fi.fields.all(func(f field) bool {
		name, ok = f.name(), f.expired(now)
		return !ok
	})
	return name, ok
}

// sweepFields removes at most limit fields past their deadline from hashes that keep
// others, and hashes of which nothing is left, and says how many. A watcher of the key sees it change.
func (db *DB) sweepFields(e *env.Env, limit int) (removed int) {
	for removed < limit {
		d, ok := overdue(db.fields, e.Time)
		if !ok {
			break
		}
		key := []byte(d.key)
		o := db.get(d.key)
		if o.expired(e.Time) { // it has deadlines of both kinds
			db.expire(e, d.key)
			removed++
			continue
		}
		h := db.Mutable(e, key, o).(*Fields)
		before := h.Size()
		removed += h.sweep(e.Time, limit-removed)
		db.Changed(e, key, before)
		if e.Watch != nil {
			e.Watch(env.FieldsExpired, d.key)
		}
	}
	return removed
}
