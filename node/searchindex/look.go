package searchindex

import (
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/search"
)

// scan reads the next keys of an index's scan.
func (in *Indexes) scan(t *task) {
	if len(t.scan) == 0 && t.def.Source == search.Stream {
		t.scan = t.def.Prefixes
	} else if len(t.scan) == 0 {
		in.m.View(0, [16]byte{}, func(v *fsm.View) {
			v.Keys(t.of.name, t.of.number, func(db *keyspace.DB, env *env.Env) {
				t.cursor = db.Scan(env, t.cursor, keysPerStep, func(key string, o *keyspace.Object) {
					if t.def.Watches(key) && (!t.def.SkipScan || o.Version > t.def.Since) {
						t.scan = append(t.scan, key)
					}
				})
			})
		})
	}
	n := in.readKeys([]*task{t}, t.scan)
	t.scan = t.scan[n:]
	in.mu.Lock()
	t.left = max(0, t.left-int64(max(n, keysPerStep)))
	t.scanned = t.cursor == 0 && len(t.scan) == 0
	in.mu.Unlock()
}

// change describes what has become of a document.
type change struct {
	name string
	doc  *document // nil if it has gone
}

// readKeys reads the present values of keys and updates the indexes that watch them. It returns after a step, with the number of
// keys that it has read.
func (in *Indexes) readKeys(tasks []*task, names []string) (looked int) {
	for left := int64(stepBytes); looked < min(len(names), keysPerStep) && left > 0; {
		tasks = in.activeTasks(tasks)
		n, bytes := in.readTogether(tasks, names[looked:min(len(names), looked+keysPerView)])
		looked += n
		left -= bytes
		for _, t := range tasks {
			if t.def.Source != search.Stream {
				continue
			}
			for i, name := range names[looked-n : looked] {
				if !t.def.Watches(name) {
					continue
				}
				entries, all := in.readStream(t)
				if left -= entries; !all {
					return looked - n + i // the next call continues there
				}
			}
		}
	}
	return looked
}

// activeTasks returns the indexes that still have to be filled.
func (in *Indexes) activeTasks(tasks []*task) (list []*task) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, t := range tasks {
		if !t.gone && t.suspended == nil {
			list = append(list, t)
		}
	}
	return list
}

// weight is about how many bytes it takes to read a key for an index.
func (t *task) weight(o *keyspace.Object) int64 {
	n := o.Size() * t.overlap
	if t.def.Source == search.String {
		n += parsedCost * o.Size()
	}
	return n + int64(len(t.contents))*fieldWeight
}

const (
	parsedCost  = 8  // of a byte of JSON text while it is read
	fieldWeight = 32 // of a look for a field
)

// reading is a look at some keys for some indexes of one database.
type reading struct {
	tasks   []*task
	changes [][]change // of each
	read    int        // keys
	bytes   int64
	large   bool // the next key is so large that it is to be read alone
}

// readTogether reads the first of names under one hold of the machine's lock. It returns the number of keys read and their weight in bytes.
func (in *Indexes) readTogether(tasks []*task, names []string) (n int, bytes int64) {
	if len(tasks) == 0 {
		return len(names), 0
	}
	r := &reading{tasks: tasks, changes: make([][]change, len(tasks))}
	d := tasks[0].of
	limit := int64(0)
	in.m.View(0, [16]byte{}, func(v *fsm.View) {
		s, _ := v.DatabaseSettings(d.name)
		limit = s.Limit
		exists := false
		v.Keys(d.name, d.number, func(db *keyspace.DB, env *env.Env) {
			exists = true
			for r.read < len(names) && r.add(names[r.read], db.Peek(env, []byte(names[r.read])), env.Time) {
			}
		})
		if !exists {
			r.read = len(names) // of a database that is gone
		}
	})
	in.mu.Lock()
	d.limit = limit
	in.mu.Unlock()
	for i, t := range tasks {
		in.put(t, r.changes[i])
	}
	if r.large {
		r.bytes += in.readLarge(tasks, names[r.read])
		r.read++
	}
	return r.read, r.bytes
}

// add reads a key, and reports whether there is room for more.
func (r *reading) add(name string, o *keyspace.Object, now env.Time) bool {
	weight := int64(0)
	for _, t := range r.tasks {
		if o != nil && t.reads(name) {
			weight += t.weight(o)
		}
	}
	if r.large = weight > viewBytes; r.large || r.bytes+weight > viewBytes && r.read > 0 {
		return false
	}
	for i, t := range r.tasks {
		if !t.reads(name) {
			continue
		}
		c := change{name: name}
		if o != nil {
			c.doc = t.fromObject(name, o, now)
		}
		r.changes[i] = append(r.changes[i], c)
	}
	r.read++
	r.bytes += weight
	return true
}

// reads reports whether a key may be a document of the index.
func (in *index) reads(key string) bool { return in.def.Source != search.Stream && in.def.Watches(key) }

// readLarge reads a large key for one index after the other, from a fork so that no write waits, and returns its weight in
// bytes. The document's memory is charged until the index has taken it.
func (in *Indexes) readLarge(tasks []*task, name string) (bytes int64) {
	for _, t := range tasks {
		if !t.reads(name) {
			continue
		}
		list, weight := []change{{name: name}}, int64(0)
		in.m.ViewFork(env.Time{}, [16]byte{}, func(v *fsm.View) {
			v.Keys(t.of.name, t.of.number, func(db *keyspace.DB, env *env.Env) {
				o := db.Peek(env, []byte(name))
				if o == nil {
					return
				}
				if weight = t.weight(o); in.charge(t, weight) {
					list[0].doc = t.fromObject(name, o, env.Time)
				}
			})
		})
		in.put(t, list)
		in.charge(t, -weight)
		bytes += weight
	}
	return bytes
}

// put applies changed documents to an index.
func (in *Indexes) put(t *task, list []change) {
	if len(list) == 0 {
		return
	}
	in.lock(t)
	defer t.mu.Unlock()
	for _, c := range list {
		if t.full {
			return
		}
		switch _, had := t.byName[c.name]; {
		case c.doc == nil:
			t.remove(c.name)
		case !had && t.live() >= in.maxDocuments:
			t.leftOut++
		default:
			t.index.put(c.doc)
		}
	}
	t.settle()
}
