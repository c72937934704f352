package sim

import (
	"maps"
	"slices"
	"time"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/queue"
)

// settleRounds bounds the rounds in which a healthy cluster finishes the remaining work.
const settleRounds = 600

// settle heals everything, stops the schedules, and lets the cluster do what is left. A cluster that never comes to
// rest has lost something.
func (w *world) settle() {
	w.mend()
	for _, n := range w.nodes {
		n.start()
	}
	if w.leader < 0 {
		w.elect(0, 0, true)
	}
	for _, n := range w.nodes {
		n.learn()
	}
	w.flow()
	stopped := w.stopPlans()
	for range settleRounds {
		w.moment++
		w.flow()
		if w.broken != nil {
			return
		}
		if !stopped {
			stopped = w.stopPlans()
		}
		w.attempt()
		if w.rests() {
			if stopped {
				return
			}
			stopped = w.stopPlans()
			continue
		}
		w.pass(w.idle())
	}
	w.fail("progress", "%s", w.left())
}

// stopPlans asks to pause the schedules, and then to delete them; false while there are any.
func (w *world) stopPlans() bool {
	all := true
	for _, id := range slices.Sorted(maps.Keys(w.plans)) {
		p := w.plans[id]
		if p.absent {
			continue
		}
		all = false
		change := queue.ScheduleChange{ID: id, Act: queue.ActPause}
		if p.paused {
			change.Act = queue.ActDelete
		}
		o := &operation{kind: Schedule, key: id, code: fsm.ChangeSchedule.Code, body: fsm.ChangeSchedule.Body(change)}
		o.after = func(o *operation) {
			p.absent = p.absent || o.state == done && (o.err != nil || change.Act == queue.ActDelete)
		}
		w.submit(w.nodes[w.leader], o)
	}
	return all
}

// rests reports whether there is nothing left to do.
func (w *world) rests() bool {
	if len(w.packets) > 0 || len(w.open) > 0 || len(w.running) > 0 || w.committed < uint64(len(w.log)) {
		return false
	}
	for _, n := range w.nodes {
		l := n.life
		if n.applied < w.committed || l.ledger.Pending() > 0 || len(l.results) > 0 || l.reporting != nil {
			return false
		}
	}
	n := w.nodes[w.leader]
	_, due := n.machine.NextMessage()
	return !due && n.life.deliverer != nil && n.life.deliverer.opened && n.life.deliverer.asking == nil
}

// idle returns the time until the next event.
func (w *world) idle() time.Duration {
	n := w.nodes[w.leader]
	at, some := n.machine.NextMessage()
	wait := time.Duration(at-n.life.clock.Peek()) * time.Millisecond
	if !some || wait < 20*time.Millisecond {
		return 20 * time.Millisecond
	}
	return min(wait, 2*time.Second)
}
