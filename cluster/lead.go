package cluster

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/raft"

	"trireme/cluster/clock"
	"trireme/failpoint"
	"trireme/fsm"
	"trireme/fsm/env"
)

const (
	// digestEvery is how many entries lie between two digests (decisions 8).
	digestEvery = 100_000
	// tickEvery is the pace of the leader's timers, at most ten entries a second when
	// nothing but time moves.
	tickEvery = 100 * time.Millisecond
)

// followLeadership opens and closes terms as raft's state changes. It looks at the
// state, not at the sequence of notices: a leadership lost and regained between two
// looks has another term.
func (n *Node) followLeadership(ctx context.Context, notify <-chan bool) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	var leading uint64
	end := func() {}
	for {
		n.leaveFormerLeader()
		term, leads := n.raft.CurrentTerm(), n.raft.State() == raft.Leader
		if leading != 0 && (!leads || term != leading) {
			end()
			n.openTerm.Store(0)
			n.committer.follow()
			leading, end = 0, func() {}
			n.proposer.nudge()
		}
		if leads && leading == 0 && n.raft.CurrentTerm() == term {
			var lead context.Context
			var wg sync.WaitGroup
			leadCtx, cancel := context.WithCancel(ctx)
			lead, leading = leadCtx, term
			wg.Go(func() { n.lead(lead, term) })
			end = func() { cancel(); wg.Wait() }
		}
		select {
		case <-notify:
		case <-tick.C:
		case <-ctx.Done():
			end()
			return
		}
	}
}

var errLeaderChanged = errors.New("cluster: the leader changed")

// leaveFormerLeader gives up the questions to a node that does not lead any more, as
// far as raft knows here. A leader that is frozen, not dead, would keep its connections
// and let those who asked it wait until it goes on; they ask its successor instead.
func (n *Node) leaveFormerLeader() {
	leader, _ := n.leader()
	n.peers.links.abandonBut(leader.addr, errLeaderChanged)
}

// lead opens a term and does the leader's work until ctx ends.
func (n *Node) lead(ctx context.Context, term uint64) {
	n.committer.lead(term)
	trusted := n.clocksAgree(ctx)
	for {
		if err := n.declare(term); err == nil {
			break
		} else if ctx.Err() != nil || n.raft.State() != raft.Leader {
			return
		}
		if !pause(ctx, retryPause) {
			return
		}
	}
	n.clock.Open(n.machine.Clock(), wallTime(time.Now()), trusted)
	n.openTerm.Store(term)
	n.committer.serve(term)
	n.proposer.nudge()
	n.log.Info("leading", "term", term)
	if err := n.foundState(term); err != nil {
		n.log.Warn("the cluster's first settings were not written", "error", err)
	}
	n.recordFounders(term)
	var wg sync.WaitGroup
	wg.Go(func() { n.keepMembers(ctx, term) })
	wg.Go(func() { n.keepTime(ctx, term) })
	wg.Go(func() { n.raiseLevel(ctx, term) })
	wg.Go(func() { n.keepLinks(ctx) })
	wg.Go(func() { n.yieldWhenFull(ctx) })
	wg.Go(func() { n.watchSubscribers(ctx, term) })
	n.mu.Lock()
	work := slices.Clone(n.leaderWork)
	n.mu.Unlock()
	for _, f := range work {
		wg.Go(func() { f(ctx) })
	}
	wg.Wait()
}

func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// WhileLeading has fn run on the leader, from the moment its term is open until ctx
// ends with the leadership. Call it before Open returns control to others: terms that
// are open already are not told.
func (n *Node) WhileLeading(fn func(ctx context.Context)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.leaderWork = append(n.leaderWork, fn)
}

// declare puts the first entry of a term into the log. It has no stamp: what time the log has come to is known when
// everything before it is applied here, which is when its outcome comes. A clock that was opened earlier, by a machine
// that lags, could go below what the leader before has handed out to reads.
func (n *Node) declare(term uint64) error {
	e := &fsm.Entry{Term: term}
	rand.Read(e.Seed[:])
	_, err := n.alone(e, fsm.NewTerm.Code, fsm.NewTerm.Body(fsm.Term{Number: term, Leader: n.identity.NodeID}))
	return err
}

// command puts one request of the leader itself into an entry of its own.
func (n *Node) command(term uint64, code uint16, body []byte) (any, error) {
	e := n.entry(term)
	defer n.clock.Done(e.Stamp)
	return n.alone(e, code, body)
}

// alone puts one request into an entry and waits for its outcome.
func (n *Node) alone(e *fsm.Entry, code uint16, body []byte) (any, error) {
	e.Requests = []fsm.Request{{Code: code, Body: body}}
	outcomes, err := wait(n.raft.Apply(e.Encode(), 0))
	if err != nil {
		return nil, err
	}
	if outcomes[0].Status != fsm.Applied {
		return nil, errNotLeading
	}
	return outcomes[0].Value, outcomes[0].Err
}

// clocksTime bounds how long a new leader listens for the clocks of the others.
const clocksTime = 300 * time.Millisecond

// clocksAgree tells whether a majority of the cluster's wall clocks, this node's included, agrees with this node's. Of two clocks that differ nobody can tell which is
// right: then neither is used, and cluster time goes on from where the log has it.
func (n *Node) clocksAgree(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, clocksTime)
	defer cancel()
	voters, _ := n.otherVoters()
	agreed := make(chan bool, len(voters))
	for _, v := range voters {
		go func() { // ends with ctx
			begin := time.Now()
			h, err := n.peers.hello(ctx, v.addr)
			offset := h.Wall - wallTime(begin.Add(time.Since(begin)/2))
			agreed <- err == nil && offset > -clock.SaneOffset && offset < clock.SaneOffset
		}()
	}
	near, quorum := 1, (len(voters)+1)/2+1
	for range voters {
		if near >= quorum {
			break
		}
		if <-agreed {
			near++
		}
	}
	return near >= quorum
}

// wallTime is what this node believes the wall clock to show at t, in unix milliseconds.
func wallTime(t time.Time) int64 { return t.Add(failpoint.WallOffset()).UnixMilli() }

// foundState writes the first settings of a cluster that has none.
func (n *Node) foundState(term uint64) error {
	var founded bool
	n.machine.View(0, [16]byte{}, func(v *fsm.View) { founded = v.ClusterID() != "" })
	if n.opts.Founding == nil {
		return nil
	}
	f, again := n.opts.Founding(!founded)
	if founded && !again {
		return nil
	}
	f.ClusterID, f.Again = n.clusterID(), again
	_, err := n.command(term, fsm.Found.Code, fsm.Found.Body(f))
	return err
}

// keepTime moves what is due, and has digests taken.
func (n *Node) keepTime(ctx context.Context, term uint64) {
	digested := n.raft.LastIndex()
	for pause(ctx, tickEvery) {
		for {
			due, ok := n.machine.NextDue()
			if !ok || due > n.clock.Peek() || ctx.Err() != nil {
				break
			}
			v, err := n.command(term, fsm.Advance.Code, fsm.Advance.Body(fsm.AdvanceLimit{Sweep: 200}))
			if a, _ := v.(fsm.Advanced); err != nil || a.Swept < 200 {
				break
			}
		}
		if last := n.raft.LastIndex(); last >= digested+n.opts.DigestEvery {
			if _, err := n.command(term, fsm.TakeDigest.Code, fsm.TakeDigest.Body(fsm.Opening{})); err == nil {
				digested = last
			}
		}
	}
}

// keepLinks keeps a link to every other voter open, for what is told and not asked.
func (n *Node) keepLinks(ctx context.Context) {
	for pause(ctx, time.Second) {
		others, _ := n.otherVoters()
		for _, o := range others {
			if l := n.peers.links.peek(o.addr); l == nil || l.ended() {
				n.peers.links.to(o.addr) // the next try is a second away
			}
		}
	}
}

const (
	// fullEvery is how often a leader looks whether its disk has room.
	fullEvery = 250 * time.Millisecond
	// fullAgain is the least time between two handovers for want of room: where every
	// disk is full, leadership must not wander.
	fullAgain = 30 * time.Second
)

// yieldWhenFull hands leadership over when this node's disk is below the free-space
// floor (reliability P4). raft has no way to keep a node from campaigning, so one that
// is elected nevertheless hands over again.
func (n *Node) yieldWhenFull(ctx context.Context) {
	for pause(ctx, fullEvery) {
		err := n.store.Accepting()
		if err == nil || time.Since(time.Unix(0, n.yielded.Load())) < fullAgain {
			continue
		}
		n.yielded.Store(time.Now().UnixNano())
		n.log.Warn("handing leadership over: the disk is nearly full", "error", err)
		if err := n.raft.LeadershipTransfer().Error(); err != nil {
			n.log.Warn("leadership was not handed over", "error", err)
		}
	}
}

// raiseLevel raises the feature level when every server has answered a higher one,
// by direct calls, for levelAfter.
func (n *Node) raiseLevel(ctx context.Context, term uint64) {
	since := time.Now()
	for pause(ctx, n.opts.LevelAfter/20) {
		var current env.Level
		n.machine.View(0, [16]byte{}, func(v *fsm.View) { current = v.Level() })
		common := n.commonLevel(ctx)
		if common <= current {
			since = time.Now()
			continue
		}
		if time.Since(since) >= n.opts.LevelAfter {
			if _, err := n.command(term, fsm.SetLevel.Code, fsm.SetLevel.Body(fsm.LevelChange{Level: common})); err == nil {
				n.log.Info("the feature level was raised: older versions can't follow any more", "level", common)
			}
			since = time.Now()
		}
	}
}

// commonLevel is the highest level that every server of the configuration knows; 0 if
// one doesn't answer.
func (n *Node) commonLevel(ctx context.Context) env.Level {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	level := fsm.MaxLevel
	for _, s := range n.servers() {
		if string(s.ID) == n.identity.NodeID {
			continue
		}
		h, err := n.peers.hello(ctx, string(s.Address))
		if err != nil {
			return 0
		}
		level = min(level, env.Level(h.Level))
	}
	return level
}
