package consensus

import (
	"sync"
	"time"

	"github.com/trireme-dev/trireme/fsm/wire"
)

const (
	// hedgeDelay is the wait for the voters that were asked first before the leader asks the rest.
	hedgeDelay = 10 * time.Millisecond
	// confirmTimeout ends a confirmation that no majority answers.
	confirmTimeout = time.Second
)

// confirmation is the question to the voters whether this node still leads.
type confirmation struct {
	r       *Replica
	term    uint64
	voters  []Server
	needed  int
	end     func(error)
	mu      sync.Mutex
	asked   int
	yes, no int
	ended   bool
	hedged  bool // hedgeDelay is over
	timer   *time.Timer
}

// Confirm calls end without an error once a majority of the voters, asked from now on, has said that it is in this term. A
// voter raises its term before it grants a vote, so none of that majority had voted for a later leader, and no later leader
// can have committed anything. raft's VerifyLeader also counts answers to older questions: docs/design/reads.md.
func (r *Replica) Confirm(term uint64, end func(error)) {
	voters, needed := r.Voters()
	if needed == 0 {
		end(nil)
		return
	}
	c := &confirmation{r: r, term: term, voters: voters, needed: needed, end: end}
	c.mu.Lock() // late waits for it: a processor that is busy may get here after hedgeDelay
	c.timer = time.AfterFunc(hedgeDelay, c.late)
	c.mu.Unlock()
	c.ask(needed)
}

// ask asks further voters until count have been asked in all.
func (c *confirmation) ask(count int) {
	c.mu.Lock()
	from := c.asked
	c.asked = min(max(count, c.asked), len(c.voters))
	to := c.asked
	c.mu.Unlock()
	for _, v := range c.voters[from:to] {
		c.r.askTerm(v, c.term, c.answer)
	}
}

// late asks the rest of the voters after hedgeDelay, and gives up confirmTimeout later. Refusals may have caused all of
// them to be asked before: even then the last ones have confirmTimeout to answer.
func (c *confirmation) late() {
	c.mu.Lock()
	ended, hedged := c.ended, c.hedged
	c.hedged = true
	slow := c.voters[:c.asked]
	c.mu.Unlock()
	switch {
	case ended:
	case hedged:
		c.finish(ErrUnconfirmed)
	default:
		c.timer.Reset(confirmTimeout)
		if len(slow) < len(c.voters) {
			c.r.slow.add(slow)
			c.ask(len(c.voters))
		}
	}
}

// answer counts what a voter said.
func (c *confirmation) answer(same bool) {
	c.mu.Lock()
	if same {
		c.yes++
	} else {
		c.no++
	}
	yes, no := c.yes, c.no
	c.mu.Unlock()
	switch {
	case same && yes == c.needed:
		if c.r.Term() != c.term || c.r.Role() != Leader {
			c.finish(ErrNotLeader)
			return
		}
		c.finish(nil)
	case !same && no > len(c.voters)-c.needed:
		c.finish(ErrUnconfirmed)
	case !same:
		c.ask(c.needed + no)
	}
}

func (c *confirmation) finish(err error) {
	c.mu.Lock()
	ended := c.ended
	c.ended = true
	c.mu.Unlock()
	if !ended {
		c.timer.Stop()
		c.end(err)
	}
}

// askTerm asks a voter for its term, and tells answer whether it is term.
func (r *Replica) askTerm(voter Server, term uint64, answer func(bool)) {
	ask := func() {
		c, err := r.c.Pool.Get(voter.Addr, 0)
		if err != nil {
			answer(false)
			return
		}
		c.Call(r.c.Calls.Confirm, nil, func(b []byte, err error) {
			w := wire.NewReader(b)
			answer(err == nil && w.Uvarint() == term)
		})
	}
	if r.c.Pool.Open(voter.Addr) != nil {
		ask()
	} else {
		go ask() // a dial may take its time, and another voter may do
	}
}

// answerTerm answers a leader's question for this node's term.
func (r *Replica) answerTerm(answer func([]byte, error)) {
	var w wire.Writer
	w.Uvarint(r.Term())
	answer(w.B, nil)
}
