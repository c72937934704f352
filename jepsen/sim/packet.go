package sim

import (
	"errors"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// packet is a batch on its way to a leader, or the answer on its way back.
type packet struct {
	from     *life
	to       *node
	mark     fsm.LowWater
	requests []fsm.Request
	// end takes in the answer, once.
	end func(outcomes []fsm.Outcome, err error, sure bool)

	// of is the packet that this one answers, nil if it is a batch.
	of       *packet
	outcomes []fsm.Outcome
	err      error
	sure     bool
	over     bool
}

var errBroken = errors.New("the connection broke")

// send puts what waits on its way to the leader.
func (n *node) send() {
	to := n.w.known()
	if n.life == nil || to == nil {
		return
	}
	l := n.life
	if l.ledger.Session() == 0 {
		l.register(to)
		return
	}
	for l.ledger.Paused(); !l.ledger.Idle(); {
		k := l.ledger.Take()
		if k == nil {
			return
		}
		n.w.transmit(&packet{from: l, to: to, mark: k.LowWater, requests: k.Requests, end: func(o []fsm.Outcome, err error, sure bool) {
			l.ledger.Finish(k, o, err, sure)
		}})
	}
}

// register asks for a session.
func (l *life) register(to *node) {
	if l.registering {
		return
	}
	l.registering = true
	g := fsm.Registration{Node: l.n.name(), Disk: "disk of " + l.n.name(), Boot: l.n.boot}
	l.n.w.transmit(&packet{from: l, to: to, requests: []fsm.Request{{Code: fsm.Register.Code, Body: fsm.Register.Body(g)}},
		end: func(o []fsm.Outcome, err error, _ bool) {
			l.registering = false
			if err != nil || o[0].Status != fsm.Applied {
				return
			}
			id := o[0].Value.(fsm.Session).ID
			if id == 0 {
				l.n.w.fail("sessions", "the newest process of %s was told that it is an old one", l.n.name())
			}
			l.ledger.Register(id)
		}})
}

// registerLate has a registration of this process arrive once more: a try that it had given up.
func (n *node) registerLate() {
	if to := n.w.known(); n.life != nil && to != nil && !n.life.registering {
		n.life.register(to)
		last := n.w.packets[len(n.w.packets)-1]
		l := n.life
		last.end = func([]fsm.Outcome, error, bool) { l.registering = false }
	}
}

func (w *world) transmit(k *packet) { w.packets = append(w.packets, k) }

// receive has a packet arrive, or get lost.
func (w *world) receive(which, how int) {
	if len(w.packets) == 0 {
		return
	}
	i := which % len(w.packets)
	k := w.packets[i]
	if how%8 == 7 && !k.over && k.of == nil && !k.cut() {
		k.finish(nil, errBroken, false) // given up, and it arrives nevertheless
		return
	}
	w.packets = append(w.packets[:i:i], w.packets[i+1:]...)
	switch {
	case k.cut() && k.of != nil, how%8 == 6 && k.of != nil:
		k.of.finish(nil, errBroken, false)
	case k.cut(), how%8 == 6:
		k.finish(nil, errBroken, false)
	case k.of != nil:
		k.of.finish(k.outcomes, k.err, k.sure)
	case k.to.life == nil:
		k.finish(nil, errBroken, how%2 == 0)
	case k.to.life.leads == 0:
		k.finish(nil, errLost, true)
	default:
		k.to.life.batches = append(k.to.life.batches, k)
	}
}

// cut reports whether a packet can't arrive.
func (p *packet) cut() bool {
	if p.of != nil {
		return p.of.cut()
	}
	return p.from.n != p.to && (p.from.n.cut || p.to.cut)
}

// reply sends the answer of a batch on its way back.
func (p *packet) reply(outcomes []fsm.Outcome, err error, sure bool) {
	if p.to.life == p.from {
		p.finish(outcomes, err, sure)
		return
	}
	if p.over {
		return
	}
	back := &packet{of: p, err: err, sure: sure}
	if err == nil {
		var b wire.Writer
		fsm.EncodeOutcomes(&b, outcomes)
		back.outcomes, back.err = fsm.DecodeOutcomes(wire.NewReader(b.B), p.mark.Session)
	}
	p.from.n.w.transmit(back)
}

// finish gives the answer to the process that waits for it, if it still does.
func (p *packet) finish(outcomes []fsm.Outcome, err error, sure bool) {
	if p.over || p.from.n.life != p.from {
		return
	}
	p.over = true
	p.end(outcomes, err, sure)
}
