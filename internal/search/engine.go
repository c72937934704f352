package search

import (
	"sync"
	"time"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/fsm/search"
)

const (
	// maxWait is how long a query waits for the index: as long as other requests wait for a leader.
	maxWait = 5 * time.Second
	// keysPerView is how many keys are read under one hold of the machine's lock.
	keysPerView = 32
	// keysPerScan is how many keys of a scan are indexed before changed keys are looked for again.
	keysPerScan = 512
	// DefaultMaxDocuments is how many documents a node indexes of one definition at most.
	DefaultMaxDocuments = 20_000_000
)

// Engine keeps the indexes of a machine. Attach makes one.
type Engine struct {
	m            *fsm.Machine
	maxDocuments int

	mu      sync.Mutex
	wake    chan struct{}       // has a value when there may be something to do
	moved   chan struct{}       // closes when something has been done
	noted   uint64              // the last entry that was told
	done    uint64              // everything up to it is in the indexes
	dirty   map[string]*changes // of databases by name
	renew   bool                // definitions may have changed
	forget  bool                // the state was replaced
	all     map[key]*task       // by definition
	watched map[string][]*task  // by name of the database
	closed  chan struct{}       // closes when the engine ends
	ended   chan struct{}       // closes when it has ended
	once    sync.Once
	start   sync.Once

	tracking bool // of the goroutine that works: it has asked for changes of keys
}

// key names a definition.
type key struct{ database, serial uint64 }

// task is an index and what is still to be done for it.
type task struct {
	*index
	key
	name    string   // of the database
	scan    []string // keys that are to be looked at once
	scanned bool     // there is nothing of the first scan left
	leftOut int64
	streams map[string]*streamState
}

// changes are what has happened to keys of a database.
type changes struct {
	keys    map[string]struct{}
	flushed bool
}

// Attach gives a machine search indexes. The caller closes the engine when it is done with the machine. Its goroutine
// starts when there is something to index.
func Attach(m *fsm.Machine) *Engine {
	e := &Engine{m: m, maxDocuments: DefaultMaxDocuments, wake: make(chan struct{}, 1), moved: make(chan struct{}), dirty: map[string]*changes{},
		all: map[key]*task{}, watched: map[string][]*task{}, closed: make(chan struct{}), ended: make(chan struct{})}
	m.SetSearch(e)
	defined := false
	m.View(0, [16]byte{}, func(v *fsm.View) { defined = len(v.Searched()) > 0 })
	if defined {
		e.mu.Lock()
		e.renew = true
		e.signal()
		e.mu.Unlock()
	}
	return e
}

// Close ends the engine; reads that wait for it fail.
func (e *Engine) Close() {
	e.start.Do(func() { close(e.ended) })
	e.once.Do(func() { close(e.closed) })
	<-e.ended
}

// Applied takes in what an entry has done.
func (e *Engine) Applied(index uint64, notes []env.Notification) {
	e.mu.Lock()
	e.noted = index
	work := e.renew
	for i := range notes {
		n := &notes[i]
		switch n.Kind {
		case env.SearchChanged, env.Deleted:
			e.renew, work = true, true
		case env.KeyTouched:
			work = e.touch(n.DB, n.Channel) || work
		case env.Flushed:
			if len(e.watched[n.DB]) > 0 {
				c := e.changes(n.DB)
				c.flushed, work = true, true
				clear(c.keys)
			}
		}
	}
	if !work && len(e.dirty) == 0 && e.done+1 >= index {
		e.done = index // as most entries, where nothing is indexed
	}
	if work || len(e.all) > 0 {
		e.signal()
	}
	e.mu.Unlock()
}

func (e *Engine) changes(db string) *changes {
	c := e.dirty[db]
	if c == nil {
		c = &changes{keys: map[string]struct{}{}}
		e.dirty[db] = c
	}
	return c
}

// touch notes a key that has changed and reports whether some index wants to know.
func (e *Engine) touch(db, key string) bool {
	for _, t := range e.watched[db] {
		if t.def.Watches(key) {
			e.changes(db).keys[key] = struct{}{}
			return true
		}
	}
	return false
}

// Restored forgets everything: the state is another one.
func (e *Engine) Restored(index uint64) {
	e.mu.Lock()
	e.noted, e.done, e.renew, e.forget = index, 0, true, true
	e.all, e.watched, e.dirty = map[key]*task{}, map[string][]*task{}, map[string]*changes{}
	e.signal()
	e.mu.Unlock()
}

// signal wakes the goroutine that works.
func (e *Engine) signal() {
	e.start.Do(func() { go e.run() })
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// progress wakes those who wait; the lock is held.
func (e *Engine) progress() {
	close(e.moved)
	e.moved = make(chan struct{})
}

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
	if !again && !e.forget {
		e.done = max(e.done, position)
	}
	if e.forget {
		again = true
	}
	var scan *task
	for _, t := range e.all { // unordered: whichever comes first
		if !t.scanned {
			scan = t
			break
		}
	}
	e.progress()
	busy = again || scan != nil || len(e.dirty) > 0 || e.renew
	e.mu.Unlock()
	if scan != nil {
		e.scanStep(scan)
	}
	return busy
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
	fresh := map[key]*task{}
	watched := map[string][]*task{}
	var scans []*task
	e.mu.Lock()
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
	e.mu.Unlock()
	// From here on changes are told, and what was before is in the fork.
	for _, t := range scans {
		names := e.list(t)
		e.mu.Lock()
		t.scan, t.scanned = names, len(names) == 0
		e.mu.Unlock()
	}
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

// at waits until the index of a definition has reached a point.
func (e *Engine) at(p search.Point, d *search.Definition, limit time.Duration) (*task, error) {
	var expired <-chan time.Time
	for {
		e.mu.Lock()
		t := e.all[key{p.Database, d.Serial}]
		ready := t != nil && t.scanned && e.done >= p.Index
		if e.done > p.Index && t == nil && !e.renew {
			e.mu.Unlock()
			return nil, search.Errorf("Index %s was dropped while the request was under way", d.Name)
		}
		pending, moved := e.pending(t), e.moved
		e.mu.Unlock()
		if ready {
			return t, nil
		}
		e.signal()
		if expired == nil && limit > 0 {
			timer := time.NewTimer(limit)
			defer timer.Stop()
			expired = timer.C
		}
		select {
		case <-moved:
		case <-p.Done:
			return nil, search.Error("the request ended before the index was ready")
		case <-e.closed:
			return nil, search.Error("the node is stopping")
		case <-expired:
			return nil, search.Errorf("Index %s is being built on this node, %d keys are left; SEARCH.WAITINDEXING waits for it", d.Name, pending)
		}
	}
}

// pending is how many keys are to be looked at for an index; the lock is held.
func (e *Engine) pending(t *task) int64 {
	if t == nil {
		return 0
	}
	n := int64(len(t.scan))
	if c := e.dirty[t.name]; c != nil {
		n += int64(len(c.keys))
	}
	return n
}

// Query finds documents.
func (e *Engine) Query(p search.Point, d *search.Definition, q *search.Query) (*search.Hits, error) {
	t, err := e.at(p, d, maxWait)
	if err != nil {
		return nil, err
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.query(q, p.Now)
}

// Count counts documents.
func (e *Engine) Count(p search.Point, d *search.Definition, filter []byte) (int64, error) {
	t, err := e.at(p, d, maxWait)
	if err != nil {
		return 0, err
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.count(filter, p.Now)
}

// Aggregate computes aggregations.
func (e *Engine) Aggregate(p search.Point, d *search.Definition, filter, aggregations []byte) (reply.Value, error) {
	t, err := e.at(p, d, maxWait)
	if err != nil {
		return reply.Value{}, err
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.aggregate(filter, aggregations, p.Now)
}

// Wait waits for an index as long as somebody waits for the answer.
func (e *Engine) Wait(p search.Point, d *search.Definition) error {
	_, err := e.at(p, d, 0)
	return err
}

// Status says how far an index is.
func (e *Engine) Status(p search.Point, d *search.Definition) search.Status {
	s := search.Status{}
	_, stemmed := stemmers[d.Language]
	s.Unstemmed = !stemmed
	e.mu.Lock()
	t := e.all[key{p.Database, d.Serial}]
	s.Pending = e.pending(t)
	e.mu.Unlock()
	if t != nil {
		t.mu.RLock()
		s.Documents, s.Bytes, s.LeftOut = int64(t.live()), t.bytes, t.leftOut
		t.mu.RUnlock()
	}
	return s
}
