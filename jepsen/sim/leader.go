package sim

import (
	"errors"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/env"
)

// flight is an entry on its way through raft.
type flight struct {
	life    *life
	entry   *fsm.Entry
	batches []*packet
	opens   bool // the first of a term
}

var errLost = errors.New("leadership lost")

// lead begins a term. asked says that the other voters tell their clocks before it opens. The first entry has no stamp:
// what time the log has come to is known when it is applied.
func (l *life) lead(term uint64, asked bool) {
	l.leads, l.opened, l.asked = term, false, asked
	body := fsm.NewTerm.Body(fsm.Term{Number: term, Leader: l.n.name()})
	e := &fsm.Entry{Term: term, Seed: l.n.w.seed(), Requests: []fsm.Request{{Code: fsm.NewTerm.Code, Body: body},
		{Code: fsm.SetLevel.Code, Body: fsm.SetLevel.Body(fsm.LevelChange{Level: fsm.MaxLevel})}}}
	l.put(&flight{life: l, entry: e, opens: true})
}

// entry is an entry of this leader, stamped now.
func (l *life) entry(q ...fsm.Request) *fsm.Entry {
	at := l.clock.Stamp()
	if back := l.clock.SetBack(); back > 0 {
		l.n.w.setBack = max(l.n.w.setBack, back+at.Now-at.Wall)
	}
	return &fsm.Entry{Term: l.leads, Stamp: at.Now, Held: at.Now - at.Wall, SetBack: l.clock.SetBack(), Leapt: l.clock.Leapt(), Seed: l.n.w.seed(), Requests: q}
}

// form makes an entry of the batches that wait.
func (n *node) form() {
	l := n.life
	if l == nil || !l.opened || l.formed != nil || len(l.batches) == 0 {
		return
	}
	f := &flight{life: l, entry: l.entry(), batches: l.batches}
	l.batches = nil
	if k := l.attach(f.batches); k != nil {
		f.batches = append(f.batches, k)
	}
	for _, k := range f.batches {
		if k.mark.Session != 0 {
			f.entry.LowWaters = append(f.entry.LowWaters, k.mark)
		}
		f.entry.Requests = append(f.entry.Requests, k.requests...)
	}
	l.formed = f
}

// propose gives the formed entry to raft.
func (n *node) propose() {
	if n.life == nil || n.life.formed == nil {
		return
	}
	f := n.life.formed
	n.life.formed = nil
	if n.life.leads == 0 { // raft.ErrNotLeader: it is in no log
		n.life.refuse(f, true)
		return
	}
	n.life.put(f)
}

// put appends an entry to the log, which takes the term that raft has by then. A leader
// that has been deposed appends to a log that no other node has.
func (l *life) put(f *flight) {
	w := l.n.w
	l.flights = append(l.flights, f)
	if w.leader == l.n.id {
		w.log = append(w.log, entry{w.term, f.entry.Encode(), f})
	}
}

// done answers the batches of an entry that this leader has applied.
func (l *life) done(f *flight, outcomes []fsm.Outcome) {
	if !l.forget(f) {
		return
	}
	l.clock.Done(f.entry.Stamp)
	if f.opens && outcomes[0].Status == fsm.Applied {
		l.open()
	}
	for _, k := range f.batches {
		mine := outcomes[:len(k.requests)]
		outcomes = outcomes[len(k.requests):]
		k.reply(mine, nil, false)
	}
}

// open lets batches into the log, and the scheduler begin. The median of the clocks that agree is this node's own, which
// is up to 650 ms off: a leader misjudges the others' clocks by what their answers take.
func (l *life) open() {
	l.clock.Split(l.n.machine.Level() >= env.Files)
	heard := l.asked && l.n.w.clocksAgree(l.n)
	l.n.w.follow(l.n, heard)
	l.clock.Open(l.n.ceiling.Floor(), l.n.wall(l.n.w.now()), l.n.w.now(), heard)
	l.opened = true
	l.deliverer = newDeliverer(l)
}

// forget takes a flight out; false if it was given up before.
func (l *life) forget(f *flight) bool {
	for i, o := range l.flights {
		if o == f {
			l.flights = append(l.flights[:i:i], l.flights[i+1:]...)
			return true
		}
	}
	return false
}

// refuse answers the batches of an entry without outcomes.
func (l *life) refuse(f *flight, sure bool) {
	l.clock.Done(f.entry.Stamp)
	for _, k := range f.batches {
		k.reply(nil, errLost, sure)
	}
}

// learn tells a process that it doesn't lead any more.
func (n *node) learn() {
	if n.life == nil || n.cut || n.life.leads == 0 || (n.w.leader == n.id && n.life.leads == n.w.term) {
		return
	}
	n.life.follow()
}

// follow ends a leadership: what waits was never in a log, what is under way may be.
func (l *life) follow() {
	l.leads, l.opened, l.pendingPiggyback = 0, false, nil
	flights, batches := l.flights, l.batches
	l.flights, l.batches = nil, nil
	for _, f := range flights {
		l.refuse(f, false)
	}
	for _, k := range batches {
		k.reply(nil, errLost, true)
	}
	if l.deliverer != nil {
		l.deliverer.end()
	}
}

// sweep has the leader forget what is over.
func (n *node) sweep() {
	if n.life == nil || !n.life.opened {
		return
	}
	l := n.life
	l.put(&flight{life: l, entry: l.entry(fsm.Request{Code: fsm.Advance.Code, Body: fsm.Advance.Body(fsm.AdvanceLimit{Sweep: 200})})})
}
