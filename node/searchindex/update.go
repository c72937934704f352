package searchindex

import (
	"slices"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/search"
)

// updateStep does a step for a database, on which only the caller works: it reloads changed definitions, then reads some changed
// keys, and if none are left some keys of a scan.
func (in *Indexes) updateStep(d *database) {
	in.mu.Lock()
	renew := d.renew
	in.mu.Unlock()
	if renew {
		in.reloadDefinitions(d)
	}
	tasks, names := in.takeKeys(d)
	looked := in.readKeys(tasks, names)
	if !in.markRead(d, looked) {
		return
	}
	if t := in.unscanned(d); t != nil {
		in.scan(t)
	}
}

// takeKeys returns the indexes of a database and the queued keys to read for them.
func (in *Indexes) takeKeys(d *database) ([]*task, []string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if d.flushed {
		d.flushed = false
		in.addUsed(d, -d.nameBytes)
		d.names, d.nameBytes = nil, 0
		for i, t := range d.tasks {
			in.releaseTask(t)
			d.tasks[i] = in.newTask(d, t.def)
			d.tasks[i].scanned = true // there are no keys
		}
	}
	if len(d.names) == 0 {
		d.target = in.lastApplied
		d.names, d.nameBytes, d.keyBytes = make([]string, 0, len(d.keys)), d.keyBytes, 0
		for name := range d.keys { // unordered: keys share nothing
			d.names = append(d.names, name)
		}
		d.keys = map[string]struct{}{}
	}
	return slices.Clone(d.tasks), d.names
}

// markRead removes the first n keys that takeKeys has returned, and reports whether none are left.
func (in *Indexes) markRead(d *database, n int) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if d.dead {
		return false
	}
	if d.names = d.names[n:]; len(d.names) > 0 {
		return false
	}
	in.addUsed(d, -d.nameBytes)
	d.names, d.nameBytes = nil, 0
	if !d.renew {
		d.done = max(d.done, d.target)
	}
	in.progress()
	return true
}

// unscanned returns an index of a database whose scan has not ended, or nil.
func (in *Indexes) unscanned(d *database) *task {
	in.mu.Lock()
	defer in.mu.Unlock()
	if i := slices.IndexFunc(d.tasks, func(t *task) bool { return !t.scanned }); i >= 0 {
		return d.tasks[i]
	}
	return nil
}

// newTask returns a new index of a database, which a scan fills; in.mu is held.
func (in *Indexes) newTask(d *database, def *search.Definition) *task {
	t := &task{of: d}
	t.index = newIndex(def, func(n int64) bool { return in.charge(t, n) })
	t.counted, t.due = t.due, 0
	in.addUsed(d, t.counted)
	return t
}

// reloadDefinitions replaces the indexes of a database by those of its present definitions.
func (in *Indexes) reloadDefinitions(d *database) {
	in.mu.Lock()
	if d.renew = false; !d.dead && !d.tracked {
		d.tracked = true
		in.m.Track(true)
	}
	in.mu.Unlock()
	var defs fsm.Searched
	limit, keys := int64(0), int64(0)
	in.m.View(0, [16]byte{}, func(v *fsm.View) {
		defs = v.SearchedIn(d.name)
		s, _ := v.DatabaseSettings(d.name)
		limit = s.Limit
		v.Keys(d.name, defs.Number, func(db *keyspace.DB, _ *env.Env) { keys = int64(db.Len()) })
	})
	in.mu.Lock()
	defer in.mu.Unlock()
	switch {
	case d.dead:
		return
	case len(defs.Indexes) == 0 && !d.renew:
		in.forget(d)
		return
	}
	kept := map[uint64]*task{}
	for _, t := range d.tasks {
		if defs.Number == d.number {
			kept[t.def.Serial] = t
		}
	}
	d.number, d.limit = defs.Number, limit
	var tasks []*task
	for _, def := range defs.Indexes {
		t := kept[def.Serial]
		if t == nil {
			t = in.newTask(d, def)
			t.left = keys
			if def.Source == search.Stream {
				t.left = 1
			}
		}
		delete(kept, def.Serial)
		tasks = append(tasks, t)
	}
	for _, t := range d.tasks {
		if !slices.Contains(tasks, t) {
			in.releaseTask(t)
		}
	}
	d.tasks = slices.Clone(tasks)
	for _, t := range tasks {
		in.enforceLimits(t)
	}
}
