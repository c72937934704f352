package searchindex

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

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

// Indexes keeps the indexes of a machine. Attach makes one.
type Indexes struct {
	m            *fsm.Machine
	maxDocuments int
	maxWorkers   int // workers at once; none in tests that take each step

	mu          sync.Mutex
	progressed  chan struct{}        // closed at the next progress
	lastApplied uint64               // the log index of the last call of Applied
	databases   map[string]*database // that have indexes, or may have
	replaced    int                  // how often the state was replaced
	listed      int                  // the value of replaced for which databases has all of them
	listing     bool                 // a worker is about to
	queue       []*database          // with work and without a worker, oldest first
	working     int                  // workers that have a turn
	waiting     []chan struct{}      // workers that wait for their turn
	limit       int64                // of used; 0 = none
	used        int64                // memory of all indexes in bytes
	stopped     context.Context      // ended by Close
	stop        context.CancelFunc
	workers     sync.WaitGroup
}

// database holds the indexes of one database. Indexes.mu guards it.
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
	gone      bool  // it has no place any more: dropped, or suspended; guarded by Indexes.mu
	suspended error // why it has no contents; nil: it has
	needed    int64 // bytes that it had then
}

// Attach gives a machine search indexes, of limit bytes together; 0 = unlimited. The caller closes them when it is done
// with the machine. Its goroutines start when there is something to index.
func Attach(m *fsm.Machine, limit int64) *Indexes { return attach(m, limit, workers()) }

func attach(m *fsm.Machine, limit int64, maxWorkers int) *Indexes {
	in := &Indexes{m: m, maxDocuments: DefaultMaxDocuments, maxWorkers: maxWorkers, limit: limit, progressed: make(chan struct{}), databases: map[string]*database{}}
	in.stopped, in.stop = context.WithCancel(context.Background())
	m.SetSearch(in)
	in.mu.Lock()
	in.replaced++
	replaced := in.replaced
	in.mu.Unlock()
	in.reloadDatabases(replaced)
	return in
}

// Close stops the indexing. Searches that wait for an index fail.
func (in *Indexes) Close() {
	in.mu.Lock()
	in.stop() // under the lock: no worker starts from here on
	in.mu.Unlock()
	in.workers.Wait()
}

// Used returns the approximate memory of this node's indexes in bytes.
func (in *Indexes) Used() int64 {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.used
}

// Collectors returns the metrics of the indexes.
func (in *Indexes) Collectors() []prometheus.Collector {
	return []prometheus.Collector{prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "trireme_search_index_bytes", Help: "Memory that the search indexes of all databases take on this node, about.",
	}, func() float64 { return float64(in.Used()) })}
}

// Applied queues the keys and definitions that a log entry has changed.
func (in *Indexes) Applied(index uint64, notes []env.Notification) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.lastApplied = index
	if len(in.databases) == 0 && len(notes) == 0 {
		return
	}
	for i := range notes {
		n := &notes[i]
		switch n.Kind {
		case env.SearchChanged:
			in.markDefinitionsChanged(n.DB)
		case env.Deleted:
			if d := in.databases[n.DB]; d != nil {
				in.forget(d)
				in.progress()
			}
		case env.KeyTouched:
			if d := in.databases[n.DB]; d != nil && d.watches(n.Channel) {
				in.markKeyChanged(d, n.Channel)
			}
		case env.Flushed:
			if d := in.databases[n.DB]; d != nil && len(d.tasks) > 0 {
				in.forgetKeys(d)
				d.flushed = true
				in.schedule(d)
			}
		}
	}
}

// markDefinitionsChanged records that the definitions of a database may have changed; in.mu is held.
func (in *Indexes) markDefinitionsChanged(name string) {
	d := in.databases[name]
	if d == nil {
		d = &database{name: name, keys: map[string]struct{}{}}
		in.databases[name] = d
	}
	d.renew = true
	in.schedule(d)
}

// watches reports whether some index wants to know of a key. Those that are suspended do after a flush, which ends that.
func (d *database) watches(key string) bool {
	return slices.ContainsFunc(d.tasks, func(t *task) bool { return (d.flushed || t.suspended == nil) && t.def.Watches(key) })
}

// keyCost is the memory of a changed key that was not read yet, without its name, in bytes.
const keyCost = 64

// markKeyChanged queues a key that has changed; in.mu is held.
func (in *Indexes) markKeyChanged(d *database, key string) {
	if _, had := d.keys[key]; !had {
		n := keyCost + int64(len(key))
		d.keys[key] = struct{}{}
		d.keyBytes += n
		in.addUsed(d, n)
	}
	in.schedule(d)
}

// forgetKeys drops the queued keys; in.mu is held.
func (in *Indexes) forgetKeys(d *database) {
	in.addUsed(d, -d.keyBytes)
	d.keyBytes = 0
	clear(d.keys)
}

// Restored drops all indexes, because a snapshot has replaced the state, and builds them again.
func (in *Indexes) Restored(index uint64) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, d := range in.databases { // unordered: each by itself
		in.forget(d)
	}
	in.lastApplied = index
	in.replaced++
	in.work()
	in.progress()
}

// forget drops the indexes of a database; in.mu is held.
func (in *Indexes) forget(d *database) {
	for _, t := range d.tasks {
		in.releaseTask(t)
	}
	in.forgetKeys(d)
	in.addUsed(d, -d.nameBytes)
	if d.tracked {
		d.tracked = false
		in.m.Track(false)
	}
	d.dead, d.tasks, d.names = true, nil, nil
	delete(in.databases, d.name)
}

// progress wakes the searches that wait for an index; the lock is held.
func (in *Indexes) progress() {
	close(in.progressed)
	in.progressed = make(chan struct{})
}
