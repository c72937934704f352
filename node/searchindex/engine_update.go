package searchindex

import (
	"slices"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/search"
)

// bringUp does a step for a database that the caller alone works on: it takes in its definitions if they have changed, then some
// keys that have changed, and if there are none left some keys of a scan.
func (e *Engine) bringUp(d *database) {
	e.mu.Lock()
	renew := d.renew
	e.mu.Unlock()
	if renew {
		e.define(d)
	}
	tasks, names := e.takeKeys(d)
	looked := e.look(tasks, names)
	if !e.lookedAt(d, looked) {
		return
	}
	if t := e.unscanned(d); t != nil {
		e.scan(t)
	}
}

// takeKeys returns the indexes of a database and keys that it has to look at for them.
func (e *Engine) takeKeys(d *database) ([]*task, []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if d.flushed {
		d.flushed = false
		e.count(d, -d.nameBytes)
		d.names, d.nameBytes = nil, 0
		for i, t := range d.tasks {
			e.release(t)
			d.tasks[i] = e.newTask(d, t.def)
			d.tasks[i].scanned = true // there are no keys
		}
	}
	if len(d.names) == 0 {
		d.target = e.noted
		d.names, d.nameBytes, d.keyBytes = make([]string, 0, len(d.keys)), d.keyBytes, 0
		for name := range d.keys { // unordered: keys share nothing
			d.names = append(d.names, name)
		}
		d.keys = map[string]struct{}{}
	}
	return slices.Clone(d.tasks), d.names
}

// lookedAt notes that the first n of the keys of a database were looked at, and reports whether there are no more of them.
func (e *Engine) lookedAt(d *database, n int) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if d.dead {
		return false
	}
	if d.names = d.names[n:]; len(d.names) > 0 {
		return false
	}
	e.count(d, -d.nameBytes)
	d.names, d.nameBytes = nil, 0
	if !d.renew {
		d.done = max(d.done, d.target)
	}
	e.progress()
	return true
}

// unscanned is an index of a database that has keys to look at, nil if there is none.
func (e *Engine) unscanned(d *database) *task {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, t := range d.tasks {
		if !t.scanned {
			return t
		}
	}
	return nil
}

// newTask is an index of a database to be built; e.mu is held.
func (e *Engine) newTask(d *database, def *search.Definition) *task {
	t := &task{of: d}
	t.index = newIndex(def, func(n int64) bool { return e.take(t, n) })
	t.counted, t.due = t.due, 0
	e.count(d, t.counted)
	return t
}

// define takes in the definitions of a database as they are now.
func (e *Engine) define(d *database) {
	e.mu.Lock()
	if d.renew = false; !d.dead && !d.tracked {
		d.tracked = true
		e.m.Track(true)
	}
	e.mu.Unlock()
	var defs fsm.Searched
	limit, keys := int64(0), int64(0)
	e.m.View(0, [16]byte{}, func(v *fsm.View) {
		defs = v.SearchedIn(d.name)
		s, _ := v.DatabaseSettings(d.name)
		limit = s.Limit
		v.Keys(d.name, defs.Number, func(db *keyspace.DB, _ *env.Env) { keys = int64(db.Len()) })
	})
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case d.dead:
		return
	case len(defs.Indexes) == 0 && !d.renew:
		e.forget(d)
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
			t = e.newTask(d, def)
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
			e.release(t)
		}
	}
	d.tasks = slices.Clone(tasks)
	for _, t := range tasks {
		e.keepWithin(t)
	}
}
