package searchindex

import (
	"runtime"
	"slices"

	"github.com/trireme-dev/trireme/fsm"
)

// Databases with something to do wait in a queue. At most so many workers take one after the other from it, do a step, and put
// it back at the end if there is more: so none waits for more than a step of each of the others. A worker that waits for a
// search to end has no turn meanwhile. Workers end when the queue is empty.

// workers returns the number of databases that a node indexes at once: some processors stay free for everything else.
func workers() int { return max(1, runtime.GOMAXPROCS(0)/2) }

// hasWork reports whether a database needs a worker; Indexes.mu is held.
func (d *database) hasWork() bool {
	return d.renew || d.flushed || len(d.keys)+len(d.names) > 0 || slices.ContainsFunc(d.tasks, func(t *task) bool { return !t.scanned })
}

// schedule queues a database for a worker; in.mu is held.
func (in *Indexes) schedule(d *database) {
	if d.busy || d.queued || d.dead {
		return
	}
	d.queued = true
	in.queue = append(in.queue, d)
	in.work()
}

// work starts a worker unless the maximum run; in.mu is held.
func (in *Indexes) work() {
	if in.maxWorkers == 0 || in.working >= in.maxWorkers || in.isClosed() {
		return
	}
	in.working++
	in.workers.Go(func() {
		for in.step() && in.keepTurn() {
		}
	})
}

func (in *Indexes) isClosed() bool { return in.stopped.Err() != nil }

// keepTurn passes a worker's turn to a worker that waits for one, and reports whether none waited.
func (in *Indexes) keepTurn() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return !in.passTurn()
}

// passTurn passes a turn to the first worker that waits for one, and reports whether any waited; in.mu is held.
func (in *Indexes) passTurn() bool {
	if len(in.waiting) == 0 {
		return false
	}
	close(in.waiting[0])
	in.waiting = slices.Delete(in.waiting, 0, 1)
	return true
}

// lock locks an index for its worker. While a search holds the lock, another worker gets the turn.
func (in *Indexes) lock(t *task) {
	if t.mu.TryLock() {
		return
	}
	in.mu.Lock()
	in.releaseTurn()
	in.mu.Unlock()
	t.mu.Lock()
	in.mu.Lock()
	in.acquireTurn()
}

// yieldTurn passes the turn to another database that waits, in the middle of a long step, and takes it back afterwards.
func (in *Indexes) yieldTurn() {
	in.mu.Lock()
	if in.maxWorkers == 0 || len(in.queue)+len(in.waiting) == 0 {
		in.mu.Unlock()
		return
	}
	in.releaseTurn()
	in.acquireTurn()
}

// releaseTurn passes the turn to the next worker or database; in.mu is held.
func (in *Indexes) releaseTurn() {
	if in.passTurn() {
		return
	}
	in.working--
	if len(in.queue) > 0 {
		in.work()
	}
}

// acquireTurn waits for a turn. in.mu is held when it is called, and not when it returns.
func (in *Indexes) acquireTurn() {
	if in.working < in.maxWorkers || in.maxWorkers == 0 {
		in.working++
		in.mu.Unlock()
		return
	}
	turn := make(chan struct{})
	in.waiting = append(in.waiting, turn)
	in.mu.Unlock()
	<-turn
}

// step does a step for the next database, and reports whether more work may follow. If not, the worker has given up its turn.
func (in *Indexes) step() bool {
	in.mu.Lock()
	switch {
	case in.isClosed():
	case in.replaced != in.listed && !in.listing:
		in.listing = true
		replaced := in.replaced
		in.mu.Unlock()
		in.reloadDatabases(replaced)
		return true
	case len(in.queue) > 0:
		d := in.queue[0]
		in.queue[0] = nil
		in.queue = in.queue[1:]
		d.queued, d.busy = false, true
		in.mu.Unlock()
		in.updateStep(d)
		in.mu.Lock()
		d.busy = false
		if d.hasWork() {
			in.schedule(d)
		}
		in.progress()
		in.mu.Unlock()
		return true
	}
	in.releaseTurn()
	in.mu.Unlock()
	return false
}

// reloadDatabases finds the databases with indexes after the state was replaced for the replaced-th time.
func (in *Indexes) reloadDatabases(replaced int) {
	var names []string
	index := uint64(0)
	in.m.View(0, [16]byte{}, func(v *fsm.View) { names, index = v.Searched(), v.Index() })
	in.mu.Lock()
	defer in.mu.Unlock()
	in.lastApplied = max(in.lastApplied, index) // what was applied before the indexes were attached
	in.listed, in.listing = max(in.listed, replaced), false
	if replaced == in.replaced {
		for _, name := range names {
			in.markDefinitionsChanged(name)
		}
	}
	in.progress()
}
