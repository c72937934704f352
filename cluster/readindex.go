package cluster

import (
	"sync"
	"sync/atomic"

	"github.com/trireme-dev/trireme/cluster/consensus"
	"github.com/trireme-dev/trireme/fsm"
)

// readIndex gives read points out on the leader. Reads that wait share a round: it takes a time and the commit index, and a
// majority of the voters, asked after that, confirms that this node still leads (consensus.Consensus.Confirm).
type readIndex struct {
	n *Node

	mu       sync.Mutex
	waiting  []func(readPoint, error)
	inFlight int
	starting bool // a loop of start runs
	ticking  atomic.Bool
}

// join adds a read to the next round.
func (r *readIndex) join(answer func(readPoint, error)) {
	r.mu.Lock()
	r.waiting = append(r.waiting, answer)
	r.start()
	r.mu.Unlock()
}

// start begins a round for all who wait if there is room; the lock is held, but let go
// meanwhile. As in reader.start, one loop follows up rounds that end at once.
func (r *readIndex) start() {
	if r.starting {
		return
	}
	r.starting = true
	for len(r.waiting) > 0 && r.inFlight < maxRounds {
		answers := r.waiting
		r.waiting = nil
		r.inFlight++
		r.mu.Unlock()
		r.quorumCheck(func(p readPoint, err error) {
			for _, answer := range answers {
				answer(p, err)
			}
			r.mu.Lock()
			r.inFlight--
			r.start()
			r.mu.Unlock()
		})
		r.mu.Lock()
	}
	r.starting = false
}

// quorumCheck takes a read point and has it confirmed.
func (r *readIndex) quorumCheck(end func(readPoint, error)) {
	term := r.n.consensus.Term()
	p, late, err := r.stampRead(term, false)
	switch {
	case err != nil:
		end(readPoint{}, err)
	case late: // time must move in the log first, which takes a while
		go func() {
			if err := r.tick(term); err != nil {
				end(readPoint{}, err)
				return
			}
			p, _, err := r.stampRead(term, true)
			if err != nil {
				end(readPoint{}, err)
				return
			}
			r.n.consensus.Confirm(term, func(err error) { end(p, err) })
		}()
	default:
		r.n.consensus.Confirm(term, func(err error) { end(p, err) })
	}
}

// stampRead takes the read time and then the index: an entry that is applied with an earlier stamp is then always within
// the index. late says that the time is beyond the ceiling that the log allows. Once time has moved in the log since the
// read arrived, which ticked says, the ceiling itself is late enough.
func (r *readIndex) stampRead(term uint64, ticked bool) (p readPoint, late bool, err error) {
	n := r.n
	if n.openTerm.Load() != term || n.consensus.Role() != consensus.Leader {
		return p, false, errNotLeading
	}
	at, now := n.clock.ReadTime()
	applied, limit := n.machine.Clock(), n.ceiling.Limit()
	if at > limit && !ticked {
		return p, true, nil
	}
	at = min(at, limit)
	if now > applied+(limit-applied)/2 {
		r.tickSoon(term)
	}
	p.Point = n.consensus.CommitPoint(term)
	p.Now = at
	return p, false, nil
}

// tick appends an entry that moves cluster time.
func (r *readIndex) tick(term uint64) error {
	_, err := r.n.command(term, fsm.Advance.Code, fsm.Advance.Body(fsm.AdvanceLimit{}))
	return err
}

// tickSoon has time moved before reads need it, by one entry at a time.
func (r *readIndex) tickSoon(term uint64) {
	if !r.ticking.CompareAndSwap(false, true) {
		return
	}
	go func() {
		defer r.ticking.Store(false)
		r.tick(term)
	}()
}
