package searchindex

import (
	"slices"

	"github.com/trireme-dev/trireme/fsm/search"
)

// What indexes take counts for their database, whose memory limit bounds all its indexes together, and for the node. An index
// that would pass a limit is suspended: what it has is dropped, and searches of it say why.

// count has n bytes more count for a database; e.mu is held.
func (e *Engine) count(d *database, n int64) {
	if !d.dead {
		d.used += n
		e.used += n
	}
}

// release takes an index off its place: nothing of it counts any more, and whoever fills it stops; e.mu is held.
func (e *Engine) release(t *task) {
	if !t.gone {
		t.gone = true
		e.count(t.of, -t.counted)
		t.counted = 0
	}
}

// take has n bytes more count for an index, or fewer, and reports whether it may have them. Other databases may have had their
// turn when it returns.
func (e *Engine) take(t *task, n int64) bool {
	if n >= meterStep {
		e.rest()
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if t.gone || e.isClosed() {
		return false
	}
	t.counted += n
	e.count(t.of, n)
	if n > 0 {
		e.keepWithin(t)
	}
	return !t.gone
}

// keepWithin suspends an index that has grown if its database is above its limit. If the node is above its own, the
// database that takes most loses its largest index, or the one that has grown; e.mu is held.
func (e *Engine) keepWithin(t *task) {
	if t.gone || t.suspended != nil {
		return
	}
	if d := t.of; d.limit > 0 && d.used > d.limit {
		e.suspend(t, search.Errorf("Index %s is suspended on this node: with it, the search indexes of database %s would take more memory than the database may have. "+
			"Limit: %d bytes, Actual: %d bytes. Setting: maxMemory of database %s. Drop indexes, fields or data, or have the limit raised; then SEARCH.REINDEX builds it anew",
			t.def.Name, d.name, d.limit, d.used, d.name))
	}
	for e.limit > 0 && e.used > e.limit {
		v := e.largest(t)
		e.suspend(v, search.Errorf("Index %s is suspended on this node: the search indexes of all databases would take more memory than the node may use for them. "+
			"Limit: %d bytes, Actual: %d bytes. Setting: max-index-memory. Drop indexes, fields or data, or have the limit raised; then SEARCH.REINDEX builds it anew",
			v.def.Name, e.limit, e.used))
		if v == t {
			return
		}
	}
}

// largest is the index to suspend when the node has no room for one that has grown: that one if its database takes most,
// otherwise the largest of the database that does.
func (e *Engine) largest(t *task) *task {
	most := t.of
	for _, d := range e.databases { // unordered: a maximum
		if d.used > most.used && slices.ContainsFunc(d.tasks, func(t *task) bool { return t.counted > 0 }) {
			most = d
		}
	}
	if most == t.of {
		return t
	}
	return slices.MaxFunc(most.tasks, func(a, b *task) int { return int(a.counted - b.counted) })
}

// suspend puts an index without contents in the place of one; e.mu is held.
func (e *Engine) suspend(t *task, why error) {
	if i := slices.Index(t.of.tasks, t); i >= 0 {
		t.of.tasks[i] = &task{index: newIndex(t.def, nil), of: t.of, scanned: true, suspended: why, needed: t.counted}
	}
	e.release(t)
	e.progress()
}

// again has a suspended index built again if there is room for as much as it had, and reports whether it does; e.mu is held.
func (e *Engine) again(t *task) bool {
	d := t.of
	if d.limit > 0 && d.used+t.needed > d.limit || e.limit > 0 && e.used+t.needed > e.limit {
		return false
	}
	e.resume(t)
	return true
}

// resume has a suspended index built again; e.mu is held.
func (e *Engine) resume(t *task) {
	d := t.of
	d.tasks = slices.DeleteFunc(slices.Clone(d.tasks), func(o *task) bool { return o == t })
	e.release(t)
	d.renew = true
	e.schedule(d)
}
