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

// hasWork reports whether there is something to do for a database; e.mu is held.
func (d *database) hasWork() bool {
	return d.renew || d.flushed || len(d.keys)+len(d.names) > 0 || slices.ContainsFunc(d.tasks, func(t *task) bool { return !t.scanned })
}

// schedule has a worker look at a database; e.mu is held.
func (e *Engine) schedule(d *database) {
	if d.busy || d.queued || d.dead {
		return
	}
	d.queued = true
	e.queue = append(e.queue, d)
	e.work()
}

// work starts a worker if there may be one more; e.mu is held.
func (e *Engine) work() {
	if e.most == 0 || e.working >= e.most || e.isClosed() {
		return
	}
	e.working++
	e.workers.Go(func() {
		for e.step() && e.keepTurn() {
		}
	})
}

func (e *Engine) isClosed() bool {
	select {
	case <-e.closed:
		return true
	default:
		return false
	}
}

// keepTurn gives the turn of a worker to one that waits for its own, and reports whether there was none.
func (e *Engine) keepTurn() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return !e.handOver()
}

// handOver gives a turn to the first worker that waits for it, and reports whether there was one; e.mu is held.
func (e *Engine) handOver() bool {
	if len(e.waiting) == 0 {
		return false
	}
	close(e.waiting[0])
	e.waiting = slices.Delete(e.waiting, 0, 1)
	return true
}

// lock locks an index for its worker. While a search holds it, another worker has the turn.
func (e *Engine) lock(t *task) {
	if t.mu.TryLock() {
		return
	}
	e.mu.Lock()
	e.leave()
	e.mu.Unlock()
	t.mu.Lock()
	e.mu.Lock()
	e.comeBack()
}

// rest lets another database have its turn, if one waits, in the middle of a step that takes long.
func (e *Engine) rest() {
	e.mu.Lock()
	if e.most == 0 || len(e.queue)+len(e.waiting) == 0 {
		e.mu.Unlock()
		return
	}
	e.leave()
	e.comeBack()
}

// leave gives a turn to whoever is next; e.mu is held.
func (e *Engine) leave() {
	if e.handOver() {
		return
	}
	e.working--
	if len(e.queue) > 0 {
		e.work()
	}
}

// comeBack waits for a turn; e.mu is held, and is not afterwards.
func (e *Engine) comeBack() {
	if e.working < e.most || e.most == 0 {
		e.working++
		e.mu.Unlock()
		return
	}
	turn := make(chan struct{})
	e.waiting = append(e.waiting, turn)
	e.mu.Unlock()
	<-turn
}

// step does a step for the next database, and reports whether there may be more to do. If not, the worker has no turn any more.
func (e *Engine) step() bool {
	e.mu.Lock()
	switch {
	case e.isClosed():
	case e.replaced != e.listed && !e.listing:
		e.listing = true
		replaced := e.replaced
		e.mu.Unlock()
		e.list(replaced)
		return true
	case len(e.queue) > 0:
		d := e.queue[0]
		e.queue[0] = nil
		e.queue = e.queue[1:]
		d.queued, d.busy = false, true
		e.mu.Unlock()
		e.bringUp(d)
		e.mu.Lock()
		d.busy = false
		if d.hasWork() {
			e.schedule(d)
		}
		e.progress()
		e.mu.Unlock()
		return true
	}
	e.leave()
	e.mu.Unlock()
	return false
}

// list takes in which databases have indexes, after the state was replaced so many times.
func (e *Engine) list(replaced int) {
	var names []string
	index := uint64(0)
	e.m.View(0, [16]byte{}, func(v *fsm.View) { names, index = v.Searched(), v.Index() })
	e.mu.Lock()
	defer e.mu.Unlock()
	e.noted = max(e.noted, index) // what was applied before the engine was attached
	e.listed, e.listing = max(e.listed, replaced), false
	if replaced == e.replaced {
		for _, name := range names {
			e.changed(name)
		}
	}
	e.progress()
}
