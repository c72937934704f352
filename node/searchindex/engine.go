package searchindex

import (
	"slices"
	"sync"
	"time"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/env"
)

const (
	// maxWait bounds a query's wait for the index: as long as other requests wait for a leader.
	maxWait = 5 * time.Second
	// keysPerView bounds the keys that are read under one hold of the machine's lock, viewBytes their logical bytes. Larger
	// values are read from a fork.
	keysPerView = 32
	viewBytes   = 256 << 10
	// keysPerStep bounds the keys of a step, stepBytes their logical bytes. After a step another database has its turn.
	keysPerStep = 512
	stepBytes   = 512 << 10
	// DefaultMaxDocuments bounds the documents that a node indexes of one definition.
	DefaultMaxDocuments = 20_000_000
)

// Engine keeps the indexes of a machine. Attach makes one.
type Engine struct {
	m            *fsm.Machine
	maxDocuments int
	most         int // workers at once; none in tests that take each step

	mu        sync.Mutex
	moved     chan struct{}        // closes when something has been done
	noted     uint64               // the last entry that was told
	databases map[string]*database // that have indexes, or may have
	replaced  int                  // how often the state was replaced
	listed    int                  // the value of replaced for which databases has all of them
	listing   bool                 // a worker is about to
	queue     []*database          // that have something to do and no worker, in the order in which they came
	working   int                  // workers that have a turn
	waiting   []chan struct{}      // workers that want theirs back
	limit     int64                // of used; 0 = none
	used      int64                // bytes that the indexes of all databases take
	closed    chan struct{}        // closes when the engine ends
	once      sync.Once
	workers   sync.WaitGroup
}

// database holds the indexes of one database. Engine.mu guards it.
type database struct {
	name    string
	number  uint64
	tasks   []*task             // in the order of their definitions
	renew   bool                // definitions may have changed
	flushed bool                // all keys were removed before keys changed
	keys    map[string]struct{} // that have changed
	names   []string            // of those that the worker has taken, what is to be looked at
	target  uint64              // the entry that is reached after them
	done    uint64              // the entry that was reached
	queued  bool                // it is in the queue
	busy    bool                // it has a worker
	dead    bool                // the database is gone, or another one has its name
	tracked bool                // changes of keys are asked for
	used    int64               // bytes that its indexes and the names of changed keys take
	limit   int64               // of used, 0 = none
	// Bytes of keys, and of those that the worker has taken.
	keyBytes, nameBytes int64
}

// task is an index and what is still to be done for it.
type task struct {
	*index
	of        *database
	stream    streamState
	leftOut   int64
	cursor    uint64 // of the scan, and the keys that it has met last; of the worker
	scan      []string
	left      int64 // keys of the scan that were not looked at yet, about
	scanned   bool  // nothing of the scan is left
	counted   int64 // bytes that count for the database and the node
	gone      bool  // it has no place any more: dropped, or suspended; guarded by Engine.mu
	suspended error // why it has no contents; nil: it has
	needed    int64 // bytes that it had then
}

// Attach gives a machine search indexes, of limit bytes together; 0 is no limit. The caller closes the engine when it is done
// with the machine. Its goroutines start when there is something to index.
func Attach(m *fsm.Machine, limit int64) *Engine { return attach(m, limit, workers()) }

func attach(m *fsm.Machine, limit int64, most int) *Engine {
	e := &Engine{m: m, maxDocuments: DefaultMaxDocuments, most: most, limit: limit, moved: make(chan struct{}), databases: map[string]*database{}, closed: make(chan struct{})}
	m.SetSearch(e)
	e.mu.Lock()
	e.replaced++
	replaced := e.replaced
	e.mu.Unlock()
	e.list(replaced)
	return e
}

// Close ends the engine; reads that wait for it fail.
func (e *Engine) Close() {
	e.once.Do(func() {
		e.mu.Lock()
		close(e.closed)
		e.mu.Unlock()
	})
	e.workers.Wait()
}

// Used returns about how many bytes the indexes of this node take.
func (e *Engine) Used() int64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.used
}

// Applied takes in what an entry has done.
func (e *Engine) Applied(index uint64, notes []env.Notification) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.noted = index
	if len(e.databases) == 0 && len(notes) == 0 {
		return
	}
	for i := range notes {
		n := &notes[i]
		switch n.Kind {
		case env.SearchChanged:
			e.changed(n.DB)
		case env.Deleted:
			if d := e.databases[n.DB]; d != nil {
				e.forget(d)
				e.progress()
			}
		case env.KeyTouched:
			if d := e.databases[n.DB]; d != nil && d.watches(n.Channel) {
				e.touch(d, n.Channel)
			}
		case env.Flushed:
			if d := e.databases[n.DB]; d != nil && len(d.tasks) > 0 {
				e.forgetKeys(d)
				d.flushed = true
				e.schedule(d)
			}
		}
	}
}

// changed notes that the definitions of a database may have changed; e.mu is held.
func (e *Engine) changed(name string) {
	d := e.databases[name]
	if d == nil {
		d = &database{name: name, keys: map[string]struct{}{}}
		e.databases[name] = d
	}
	d.renew = true
	e.schedule(d)
}

// watches reports whether some index wants to know of a key. Those that are suspended do after a flush, which ends that.
func (d *database) watches(key string) bool {
	return slices.ContainsFunc(d.tasks, func(t *task) bool { return (d.flushed || t.suspended == nil) && t.def.Watches(key) })
}

// keyCost is the memory of a key that has changed and was not looked at yet, beside its name, in bytes.
const keyCost = 64

// touch notes a key that has changed; e.mu is held.
func (e *Engine) touch(d *database, key string) {
	if _, had := d.keys[key]; !had {
		n := keyCost + int64(len(key))
		d.keys[key] = struct{}{}
		d.keyBytes += n
		e.count(d, n)
	}
	e.schedule(d)
}

// forgetKeys drops the keys that are to be looked at; e.mu is held.
func (e *Engine) forgetKeys(d *database) {
	e.count(d, -d.keyBytes)
	d.keyBytes = 0
	clear(d.keys)
}

// Restored forgets everything: the state is another one.
func (e *Engine) Restored(index uint64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, d := range e.databases { // unordered: each by itself
		e.forget(d)
	}
	e.noted = index
	e.replaced++
	e.work()
	e.progress()
}

// forget drops what is known of a database; e.mu is held.
func (e *Engine) forget(d *database) {
	for _, t := range d.tasks {
		e.release(t)
	}
	e.forgetKeys(d)
	e.count(d, -d.nameBytes)
	if d.tracked {
		d.tracked = false
		e.m.Track(false)
	}
	d.dead, d.tasks, d.names = true, nil, nil
	delete(e.databases, d.name)
}

// progress wakes those who wait; the lock is held.
func (e *Engine) progress() {
	close(e.moved)
	e.moved = make(chan struct{})
}
