package sim

import (
	"bytes"
	"fmt"
	"time"

	"github.com/trireme-dev/trireme/cluster/clock"
	"github.com/trireme-dev/trireme/cluster/session"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/command"
)

// node is one node: what is on its disk, and its process if that runs.
type node struct {
	w    *world
	id   int
	boot uint64
	life *life
	// saved is its newest snapshot, of the state at index.
	saved []byte
	index uint64

	machine *fsm.Machine
	applied uint64
	ceiling *clock.Ceiling
	cut     bool  // nothing reaches it
	set     int64 // offset by which its wall clock was set, in milliseconds
}

// life is one process of a node.
type life struct {
	n           *node
	ledger      *session.Tracker
	clock       *clock.Clock
	registering bool
	leading
	deliverer        *deliverer // of the newest leadership
	results          []*attempt
	reporting        *reporting
	reads            []*reading
	frozen           *fsm.Frozen // a snapshot that is not written yet
	pendingPiggyback *piggyback
}

// leading is the state of a process that leads, or believes that it does.
type leading struct {
	leads   uint64 // its term, 0 if it does not lead
	opened  bool
	asked   bool // the other voters tell their clocks before the term opens
	batches []*packet
	formed  *flight
	flights []*flight
}

func (n *node) name() string { return fmt.Sprintf("n%d", n.id+1) }

// commands is the table of commands, which all machines share.
var commands = command.NewTable()

// start begins a process from what is on the disk.
func (n *node) start() {
	if n.life != nil {
		return
	}
	n.boot++
	n.machine, n.applied, n.ceiling = fsm.NewMachineWith(commands), 0, &clock.Ceiling{}
	if n.saved != nil {
		if err := n.machine.Restore(bytes.NewReader(n.saved)); err != nil {
			n.w.fail("snapshot", "%s can't read its snapshot: %v", n.name(), err)
		}
		n.applied = n.index
		n.ceiling.Restored(n.machine.Time())
	}
	n.life = &life{n: n, ledger: session.New(n.w.now, func() {}), clock: clock.New(n.w.now, n.wall)}
}

// wall returns the reading of the node's wall clock at t, in unix milliseconds. Unless a step sets a clock, the clocks differ
// by less than a leader tolerates.
func (n *node) wall(t time.Time) int64 { return t.UnixMilli() + int64(n.id-1)*200 + n.set }

// crash ends the process. Requests that wait for it get no answer.
func (n *node) crash() {
	if n.life == nil {
		return
	}
	l := n.life
	n.life = nil
	n.w.breakOff(l)
	n.w.lost(l)
	for _, f := range append(l.flights, l.formed) {
		if f != nil {
			l.batches = append(l.batches, f.batches...)
		}
	}
	for _, k := range l.batches {
		k.finish(nil, errBroken, false)
	}
	if n.w.leader == n.id {
		n.w.leader = -1
	}
}

// snapshot forks the state, or saves the fork that was made before: entries are applied in between.
func (n *node) snapshot() {
	l := n.life
	if l == nil {
		return
	}
	if l.frozen == nil {
		l.frozen = n.machine.Fork()
		return
	}
	var b bytes.Buffer
	if err := l.frozen.Write(&b); err != nil {
		n.w.fail("snapshot", "%s can't write a snapshot: %v", n.name(), err)
	}
	n.saved, n.index = b.Bytes(), l.frozen.Index()
	l.frozen = nil
	n.w.compare()
}

// install has a node that lags take over another's snapshot.
func (n *node) install(from *node) {
	if n.life == nil || n.cut || from.cut || from.saved == nil || from.index <= n.applied || n.life.leads != 0 {
		return
	}
	if err := n.machine.Restore(bytes.NewReader(from.saved)); err != nil {
		n.w.fail("snapshot", "%s can't install a snapshot: %v", n.name(), err)
	}
	n.saved, n.index, n.applied = from.saved, from.index, from.index
	n.ceiling.Restored(n.machine.Time())
	n.life.frozen = nil
	n.life.ledger.Restored(n.machine.Awaits)
}

// apply applies committed entries.
func (n *node) apply(count int) {
	for ; n.life != nil && !n.cut && count > 0 && n.applied < n.w.committed; count-- {
		e := &n.w.log[n.applied]
		if e.term > n.life.leads {
			n.learn() // a node with entries of a later term knows that term
		}
		outcomes, err := n.machine.Apply(n.applied+1, e.term, e.data)
		if err != nil {
			n.w.fail("apply", "%s can't apply entry %d: %v", n.name(), n.applied+1, err)
			return
		}
		n.applied++
		n.ceiling.Applied(e.term, n.machine.Time())
		n.w.learned(n, outcomes)
		n.life.ledger.Resolve(outcomes)
		if f := e.of; f != nil && f.life == n.life {
			n.life.done(f, outcomes)
		}
	}
	n.served()
}

// tick runs the timers of a process.
func (n *node) tick() {
	if n.life == nil {
		return
	}
	n.life.ledger.Lead(n.w.known() != nil && (!n.cut || n.life.leads != 0))
	n.life.ledger.Expire()
	n.life.ledger.Overdue(n.w.now())
	n.life.watch()
}

// compare compares the states of the nodes that have applied the same entries.
func (w *world) compare() {
	digests := map[uint64]string{}
	for _, n := range w.nodes {
		if n.life == nil {
			continue
		}
		d := n.machine.Fork().Digest()
		if other, some := digests[n.applied]; some && other != d {
			w.fail("replicas", "the nodes differ at index %d", n.applied)
		}
		digests[n.applied] = d
	}
}
