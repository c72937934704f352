package cluster

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/trireme-dev/trireme/cluster/consensus"
	"github.com/trireme-dev/trireme/cluster/membership"
	"github.com/trireme-dev/trireme/cluster/transport"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/wire"
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
func (ri *readIndex) join(answer func(readPoint, error)) {
	ri.mu.Lock()
	ri.waiting = append(ri.waiting, answer)
	ri.start()
	ri.mu.Unlock()
}

// start begins a round for all who wait if there is room; the lock is held, but let go
// meanwhile. As in reader.start, one loop follows up rounds that end at once.
func (ri *readIndex) start() {
	if ri.starting {
		return
	}
	ri.starting = true
	for len(ri.waiting) > 0 && ri.inFlight < maxRounds {
		answers := ri.waiting
		ri.waiting = nil
		ri.inFlight++
		ri.mu.Unlock()
		ri.quorumCheck(func(p readPoint, err error) {
			for _, answer := range answers {
				answer(p, err)
			}
			ri.mu.Lock()
			ri.inFlight--
			ri.start()
			ri.mu.Unlock()
		})
		ri.mu.Lock()
	}
	ri.starting = false
}

// quorumCheck takes a read point and has it confirmed.
func (ri *readIndex) quorumCheck(end func(readPoint, error)) {
	term := ri.n.consensus.Term()
	p, late, err := ri.stampRead(term, false)
	switch {
	case err != nil:
		end(readPoint{}, err)
	case late: // time must move in the log first, which takes a while
		go func() {
			if err := ri.tick(term); err != nil {
				end(readPoint{}, err)
				return
			}
			p, _, err := ri.stampRead(term, true)
			if err != nil {
				end(readPoint{}, err)
				return
			}
			ri.n.consensus.Confirm(term, func(err error) { end(p, err) })
		}()
	default:
		ri.n.consensus.Confirm(term, func(err error) { end(p, err) })
	}
}

// stampRead takes the read time and then the index: an entry that is applied with an earlier stamp is then always within
// the index. late says that the time is beyond the ceiling that the log allows. Once time has moved in the log since the
// read arrived, which ticked says, the ceiling itself is late enough.
func (ri *readIndex) stampRead(term uint64, ticked bool) (p readPoint, late bool, err error) {
	n := ri.n
	if n.openTerm.Load() != term || n.consensus.Role() != consensus.Leader {
		return p, false, errNotLeading
	}
	at, now := n.clock.ReadTime()
	applied, limit := n.machine.Clock(), n.ceiling.Limit()
	if at.Now > limit.Now && !ticked {
		return p, true, nil
	}
	at.Now = min(at.Now, limit.Now)
	at.Wall = min(at.Wall, limit.Wall, at.Now)
	if now > applied+(limit.Now-applied)/2 {
		ri.tickSoon(term)
	}
	p.Point = n.consensus.CommitPoint(term)
	p.Now, p.Wall = at.Now, at.Wall
	return p, false, nil
}

// tick appends an entry that moves cluster time.
func (ri *readIndex) tick(term uint64) error {
	_, err := ri.n.command(term, fsm.Advance.Code, fsm.Advance.Body(fsm.AdvanceLimit{}))
	return err
}

// tickSoon has time moved before reads need it, by one entry at a time.
func (ri *readIndex) tickSoon(term uint64) {
	if !ri.ticking.CompareAndSwap(false, true) {
		return
	}
	go func() {
		defer ri.ticking.Store(false)
		ri.tick(term)
	}()
}

// answerReadIndex answers another node's question for a read point. A voter that asks says in which term it is, after its
// reads have arrived. Where that voter and this leader are a majority, its question is the quorum check: nobody else is
// asked.
func (n *Node) answerReadIndex(from transport.Hello, payload []byte, answer func([]byte, error)) {
	term := n.consensus.Term()
	r := wire.NewReader(payload)
	said := r.Uvarint() // 0 from older versions
	if r.Done() == nil && said == term && n.decides(from) {
		if p, late, err := n.quorum.stampRead(term, false); err == nil && !late {
			answer(p.Encode(), nil)
			return
		}
	}
	n.quorum.join(func(p readPoint, err error) { answer(p.Encode(), err) })
}

// decides reports whether the caller is a voter that makes a majority with this node, and is the process that this node
// has dialed: a process on a copy of that voter's disk knows nothing of its votes.
func (n *Node) decides(from transport.Hello) bool {
	others, needed := n.consensus.Voters()
	return needed <= 1 && slices.ContainsFunc(others, func(p consensus.Server) bool { return p.ID == from.Node }) && n.incarnations != nil &&
		n.incarnations.Current(from.Node, membership.Incarnation{Disk: from.Disk, Processes: from.Processes})
}
