package searchindex

import (
	"slices"

	"github.com/trireme-dev/trireme/fsm/search"
)

// The memory of indexes is charged to their database, whose memory limit bounds all its indexes together, and to the node. An
// index that would exceed a limit is suspended: its contents are dropped, and searches of it fail with the reason.

// addUsed charges a database for n more bytes; in.mu is held.
func (in *Indexes) addUsed(d *database, n int64) {
	if !d.dead {
		d.used += n
		in.used += n
	}
}

// releaseTask removes an index: its memory is no longer charged, and the worker that fills it stops; in.mu is held.
func (in *Indexes) releaseTask(t *task) {
	if !t.gone {
		t.gone = true
		in.addUsed(t.of, -t.counted)
		t.counted = 0
	}
}

// charge charges an index for n more bytes, which may be negative, and reports whether the limits allow them. It may yield the
// turn to other databases.
func (in *Indexes) charge(t *task, n int64) bool {
	if n >= meterStep {
		in.yieldTurn()
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if t.gone || in.isClosed() {
		return false
	}
	t.counted += n
	in.addUsed(t.of, n)
	if n > 0 {
		in.enforceLimits(t)
	}
	return !t.gone
}

// enforceLimits suspends an index that has grown if its database exceeds its limit. If the node exceeds its own, it suspends
// the index that largest selects; in.mu is held.
func (in *Indexes) enforceLimits(t *task) {
	if t.gone || t.suspended != nil {
		return
	}
	if d := t.of; d.limit > 0 && d.used > d.limit {
		in.suspend(t, search.Errorf("Index %s is suspended on this node: with it, the search indexes of database %s would take more memory than the database may have. "+
			"Limit: %d bytes, Actual: %d bytes. Setting: maxMemory of database %s. Drop indexes, fields or data, or have the limit raised; then SEARCH.REINDEX builds it anew",
			t.def.Name, d.name, d.limit, d.used, d.name))
	}
	for in.limit > 0 && in.used > in.limit {
		v := in.largest(t)
		in.suspend(v, search.Errorf("Index %s is suspended on this node: the search indexes of all databases would take more memory than the node may use for them. "+
			"Limit: %d bytes, Actual: %d bytes. Setting: max-index-memory. Drop indexes, fields or data, or have the limit raised; then SEARCH.REINDEX builds it anew",
			v.def.Name, in.limit, in.used))
		if v == t {
			return
		}
	}
}

// largest returns the index to suspend when the node has no room for an index that has grown: that index if its database uses
// the most memory, otherwise the largest index of the database that does.
func (in *Indexes) largest(t *task) *task {
	most := t.of
	for _, d := range in.databases { // unordered: a maximum
		if d.used > most.used && slices.ContainsFunc(d.tasks, func(t *task) bool { return t.counted > 0 }) {
			most = d
		}
	}
	if most == t.of {
		return t
	}
	return slices.MaxFunc(most.tasks, func(a, b *task) int { return int(a.counted - b.counted) })
}

// suspend replaces an index by one without contents, whose searches fail with why; in.mu is held.
func (in *Indexes) suspend(t *task, why error) {
	if i := slices.Index(t.of.tasks, t); i >= 0 {
		t.of.tasks[i] = &task{index: newIndex(t.def, nil), of: t.of, scanned: true, suspended: why, needed: t.counted}
	}
	in.releaseTask(t)
	in.progress()
}

// rebuildIfFits rebuilds a suspended index if its former size fits the limits, and reports whether it does; in.mu is held.
func (in *Indexes) rebuildIfFits(t *task) bool {
	d := t.of
	if d.limit > 0 && d.used+t.needed > d.limit || in.limit > 0 && in.used+t.needed > in.limit {
		return false
	}
	d.tasks = slices.DeleteFunc(slices.Clone(d.tasks), func(o *task) bool { return o == t })
	in.releaseTask(t)
	d.renew = true
	in.schedule(d)
	return true
}
