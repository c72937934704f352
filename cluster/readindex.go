package cluster

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"

	"github.com/trireme-dev/trireme/fsm"
)

// readIndex confirms, for all reads that wait, that this node led after they arrived: a majority of voters, asked after
// that, answer that their term is still this leader's. A voter raises its term before it grants a vote, so none of that
// majority had voted for a later leader, and no later leader can have committed anything. docs/design/reads.md compares
// this with raft's VerifyLeader, which also counts answers to older questions.
type readIndex struct {
	n *Node

	mu       sync.Mutex
	waiting  []func(readPoint, error)
	inFlight int
	starting bool // a loop of start runs
	ticking  atomic.Bool
}

// join adds a read to the next round.
func (f *readIndex) join(answer func(readPoint, error)) {
	f.mu.Lock()
	f.waiting = append(f.waiting, answer)
	f.start()
	f.mu.Unlock()
}

// start begins a round for all who wait if there is room; the lock is held, but let go
// meanwhile. As in reader.start, one loop follows up rounds that end at once.
func (f *readIndex) start() {
	if f.starting {
		return
	}
	f.starting = true
	for len(f.waiting) > 0 && f.inFlight < maxRounds {
		who := f.waiting
		f.waiting = nil
		f.inFlight++
		f.mu.Unlock()
		f.quorumCheck(func(p readPoint, err error) {
			for _, answer := range who {
				answer(p, err)
			}
			f.mu.Lock()
			f.inFlight--
			f.start()
			f.mu.Unlock()
		})
		f.mu.Lock()
	}
	f.starting = false
}

// quorumCheck takes a read point and has it confirmed.
func (f *readIndex) quorumCheck(end func(readPoint, error)) {
	term := f.n.raft.CurrentTerm()
	p, late, err := f.stampRead(term, false)
	switch {
	case err != nil:
		end(readPoint{}, err)
	case late: // time must move in the log first, which takes a while
		go func() {
			if err := f.tick(term); err != nil {
				end(readPoint{}, err)
				return
			}
			p, _, err := f.stampRead(term, true)
			if err != nil {
				end(readPoint{}, err)
				return
			}
			f.confirm(term, p, end)
		}()
	default:
		f.confirm(term, p, end)
	}
}

// stampRead takes the read time and then the index: an entry that is applied with an earlier stamp is then always within
// the index. late says that the time is beyond the ceiling that the log allows. Once time has moved in the log since the
// read arrived, which ticked says, the ceiling itself is late enough.
func (f *readIndex) stampRead(term uint64, ticked bool) (p readPoint, late bool, err error) {
	n := f.n
	if n.openTerm.Load() != term || n.raft.State() != raft.Leader {
		return p, false, errNotLeading
	}
	at, now := n.clock.ReadTime()
	applied, limit := n.machine.Clock(), n.ceiling.Limit()
	if at > limit && !ticked {
		return p, true, nil
	}
	at = min(at, limit)
	if now > applied+(limit-applied)/2 {
		f.tickSoon(term)
	}
	p = n.commitPoint(term)
	p.now = at
	return p, false, nil
}

// tick appends an entry that moves cluster time.
func (f *readIndex) tick(term uint64) error {
	_, err := f.n.command(term, fsm.Advance.Code, fsm.Advance.Body(fsm.AdvanceLimit{}))
	return err
}

// tickSoon has time moved before reads need it, by one entry at a time.
func (f *readIndex) tickSoon(term uint64) {
	if !f.ticking.CompareAndSwap(false, true) {
		return
	}
	go func() {
		defer f.ticking.Store(false)
		f.tick(term)
	}()
}

var errUnconfirmed = errors.New("cluster: no majority confirmed the leader")

// quorumConfirmation is a round whose voters have been asked.
type quorumConfirmation struct {
	n       *Node
	term    uint64
	point   readPoint
	voters  []peerAddr
	needed  int
	end     func(readPoint, error)
	mu      sync.Mutex
	asked   int
	yes, no int
	over    bool
	hedged  bool // hedgeDelay is over
	timer   *time.Timer
}

// confirm calls end with p once a majority of voters, asked from now on, has said that
// it is in this term.
func (f *readIndex) confirm(term uint64, p readPoint, end func(readPoint, error)) {
	voters, needed := f.n.otherVoters()
	if needed == 0 {
		end(p, nil)
		return
	}
	c := &quorumConfirmation{n: f.n, term: term, point: p, voters: voters, needed: needed, end: end}
	c.mu.Lock() // late waits for it: a processor that is busy may get here after hedgeDelay
	c.timer = time.AfterFunc(hedgeDelay, c.late)
	c.mu.Unlock()
	c.ask(needed)
}

// ask has count voters asked in all.
func (c *quorumConfirmation) ask(count int) {
	c.mu.Lock()
	from := c.asked
	c.asked = min(max(count, c.asked), len(c.voters))
	to := c.asked
	c.mu.Unlock()
	for _, v := range c.voters[from:to] {
		c.n.peers.confirm(v, c.term, c.answer)
	}
}

// late asks the rest of the voters after hedgeDelay, and gives up roundTimeout later. Refusals may have had all of them asked before:
// the last of these have as long as the others.
func (c *quorumConfirmation) late() {
	c.mu.Lock()
	over, again := c.over, c.hedged
	c.hedged = true
	slow := c.voters[:c.asked]
	c.mu.Unlock()
	switch {
	case over:
	case again:
		c.finish(errUnconfirmed)
	default:
		c.timer.Reset(roundTimeout)
		if len(slow) < len(c.voters) {
			c.n.peers.markSlow(slow)
			c.ask(len(c.voters))
		}
	}
}

// answer counts what a voter said.
func (c *quorumConfirmation) answer(ok bool) {
	c.mu.Lock()
	if ok {
		c.yes++
	} else {
		c.no++
	}
	yes, no := c.yes, c.no
	c.mu.Unlock()
	switch {
	case ok && yes == c.needed:
		if c.n.raft.CurrentTerm() != c.term || c.n.raft.State() != raft.Leader {
			c.finish(errNotLeading)
			return
		}
		c.finish(nil)
	case !ok && no > len(c.voters)-c.needed:
		c.finish(errUnconfirmed)
	case !ok:
		c.ask(c.needed + no)
	}
}

func (c *quorumConfirmation) finish(err error) {
	c.mu.Lock()
	over := c.over
	c.over = true
	c.mu.Unlock()
	if !over {
		c.timer.Stop()
		c.end(c.point, err)
	}
}
