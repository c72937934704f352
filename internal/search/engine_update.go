package search

import (
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/search"
)

func (e *Engine) run() {
	defer close(e.ended)
	for {
		busy := e.step()
		select {
		case <-e.closed:
			return
		default:
		}
		if busy {
			continue
		}
		select {
		case <-e.wake:
		case <-e.closed:
			return
		}
	}
}

// step brings the indexes up to what was told so far, and looks at a part of the keys of a scan. It reports whether there is
// more to do.
func (e *Engine) step() (busy bool) {
	e.mu.Lock()
	renew := e.renew
	e.mu.Unlock()
	if renew {
		e.define()
	}
	e.mu.Lock()
	position, dirty := e.noted, e.dirty
	e.dirty = map[string]*changes{}
	again := e.renew
	e.mu.Unlock()
	for db, c := range dirty { // unordered: databases share nothing
		e.update(db, c)
	}
	e.mu.Lock()
	if again = again || e.forget; !again {
		e.done = max(e.done, position)
	}
	scan := e.unscanned()
	e.progress()
	busy = again || scan != nil || len(e.dirty) > 0 || e.renew
	e.mu.Unlock()
	if scan != nil {
		e.scanStep(scan)
	}
	return busy
}

// unscanned is an index that has keys to look at, nil if there is none. The caller holds e.mu.
func (e *Engine) unscanned() *task {
	for _, t := range e.all { // unordered: whichever comes first
		if !t.scanned {
			return t
		}
	}
	return nil
}

// define takes in the definitions as they are now.
func (e *Engine) define() {
	e.mu.Lock()
	e.renew = false
	e.forget = false
	e.mu.Unlock()

	var list []fsm.Searched
	e.m.View(0, [16]byte{}, func(v *fsm.View) {
		list = v.Searched()
		e.mu.Lock()
		e.noted = max(e.noted, v.Index()) // what was applied before the engine was attached
		e.mu.Unlock()
	})
	if wanted := len(list) > 0; wanted != e.tracking {
		e.tracking = wanted
		e.m.Track(wanted)
	}
	scans := e.watch(list)
	// From here on changes are received; earlier ones are in the fork.
	for _, t := range scans {
		names := e.list(t)
		e.mu.Lock()
		t.scan, t.scanned = names, len(names) == 0
		e.mu.Unlock()
	}
}

// watch has the indexes of these definitions told of changes, and returns those that are new.
func (e *Engine) watch(list []fsm.Searched) (scans []*task) {
	fresh := map[key]*task{}
	watched := map[string][]*task{}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, d := range list {
		for _, def := range d.Indexes {
			k := key{d.Number, def.Serial}
			t := e.all[k]
			if t == nil {
				t = &task{index: newIndex(def), key: k, name: d.Name, streams: map[string]*streamState{}}
				scans = append(scans, t)
			}
			fresh[k] = t
			watched[d.Name] = append(watched[d.Name], t)
		}
	}
	if !e.forget {
		e.all, e.watched = fresh, watched
	}
	return scans
}

// list are the keys that a new index has to look at.
func (e *Engine) list(t *task) (names []string) {
	e.m.ViewFork(0, [16]byte{}, func(v *fsm.View) {
		v.Keys(t.name, t.database, func(db *keyspace.DB, env *env.Env) {
			if t.def.Source == search.Stream {
				names = []string{t.def.Prefixes[0]}
				return
			}
			db.All(env, func(key string, o *keyspace.Object) bool {
				if t.def.Watches(key) && (!t.def.SkipScan || o.Version > t.def.Since) {
					names = append(names, key)
				}
				return true
			})
		})
	})
	return names
}

// scanStep looks at the next keys of a scan.
func (e *Engine) scanStep(t *task) {
	e.mu.Lock()
	n := min(len(t.scan), keysPerScan)
	part := t.scan[:n]
	e.mu.Unlock()
	e.look([]*task{t}, part)
	e.mu.Lock()
	if t.scan = t.scan[n:]; len(t.scan) == 0 {
		t.scan, t.scanned = nil, true
	}
	e.progress()
	e.mu.Unlock()
}

// update looks at keys that have changed.
func (e *Engine) update(db string, c *changes) {
	e.mu.Lock()
	tasks := append([]*task(nil), e.watched[db]...)
	e.mu.Unlock()
	if c.flushed {
		for _, t := range tasks {
			t.empty()
		}
	}
	names := make([]string, 0, len(c.keys))
	for name := range c.keys { // unordered: keys share nothing
		names = append(names, name)
	}
	e.look(tasks, names)
}

// empty takes all documents out.
func (t *task) empty() {
	t.mu.Lock()
	t.index.reset()
	clear(t.streams)
	t.leftOut = 0
	t.mu.Unlock()
}

// look reads keys as they are now and brings the indexes that watch them up to that.
func (e *Engine) look(tasks []*task, names []string) {
	for len(names) > 0 && len(tasks) > 0 {
		part := names[:min(len(names), keysPerView)]
		names = names[len(part):]
		for _, t := range tasks {
			e.lookFor(t, part)
		}
	}
}

// change is what has become of a document: nil is none.
type change struct {
	name string
	doc  *document
}

func (e *Engine) lookFor(t *task, names []string) {
	var list []change
	for _, name := range names {
		if !t.def.Watches(name) {
			continue
		}
		if t.def.Source == search.Stream {
			e.lookAtStream(t, name)
			continue
		}
		list = append(list, change{name: name})
	}
	if len(list) == 0 {
		return
	}
	e.m.View(0, [16]byte{}, func(v *fsm.View) {
		v.Keys(t.name, t.database, func(db *keyspace.DB, env *env.Env) {
			for i := range list {
				if o := db.Peek(env, []byte(list[i].name)); o != nil {
					list[i].doc = fromObject(t.def, list[i].name, o, env.Now)
				}
			}
		})
	})
	t.take(list, e.maxDocuments)
}

// take brings documents into an index.
func (t *task) take(list []change, most int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range list {
		switch _, had := t.byName[c.name]; {
		case c.doc == nil:
			t.index.remove(c.name)
		case !had && t.live() >= most:
			t.leftOut++
		default:
			t.index.put(c.doc)
		}
	}
}
