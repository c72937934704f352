package search

import (
	"sync"
	"time"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/env"
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
