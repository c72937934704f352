package cluster

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/trireme-dev/trireme/cluster/consensus"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/internal/failpoint"
)

// tickInterval is the pace of the leader's timers: at most ten entries a second when nothing but time moves.
const tickInterval = 100 * time.Millisecond

// followLeadership opens and closes terms as raft's state changes. It goes by the state, not by the sequence of
// notifications: a leadership lost and regained in between has another term.
func (n *Node) followLeadership(ctx context.Context, notify <-chan bool) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	var leading uint64
	end := func() {}
	for {
		n.abandonFormerLeader()
		term, leads := n.consensus.Term(), n.consensus.Role() == consensus.Leader
		if leading != 0 && (!leads || term != leading) {
			end()
			n.openTerm.Store(0)
			n.committer.endTerm()
			leading, end = 0, func() {}
			n.proposer.nudge()
		}
		if leads && leading == 0 && n.consensus.Term() == term {
			leading = term
			lead, cancel := context.WithCancel(ctx)
			var wg sync.WaitGroup
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

// abandonFormerLeader ends the calls to a node that does not lead any more, as far as raft knows here. A leader that is
// stopped, not dead, would keep its connections, and its callers would wait until it continues; they call its successor
// instead.
func (n *Node) abandonFormerLeader() {
	leader, _ := n.leader()
	n.peers.AbandonExcept(leader.Addr, errLeaderChanged, leaderOnly)
}

// lead opens a term and does the leader's work until ctx ends.
func (n *Node) lead(ctx context.Context, term uint64) {
	n.committer.startTerm(term)
	clocks := newVoterClocks(n)
	clocks.ask(ctx)
	for {
		if err := n.beginTerm(term); err == nil {
			break
		} else if ctx.Err() != nil || n.consensus.Role() != consensus.Leader {
			return
		}
		if !pause(ctx, retryPause) || !n.leadPastPoison(ctx) {
			return
		}
	}
	now := n.opts.Now()
	median, known := clocks.median(now)
	n.clock.Split(n.level() >= env.Files)
	n.clock.Open(n.ceiling.Floor(), median, now, known)
	n.openTerm.Store(term)
	n.committer.openTerm(term)
	n.proposer.nudge()
	n.log.Info("leading", "term", term)
	if err := n.bootstrapState(ctx, term); err != nil {
		n.log.Warn("the cluster's first settings were not written", "error", err)
	}
	n.recordFounders(term)
	var wg sync.WaitGroup
	wg.Go(func() { n.keepMembers(ctx, term) })
	wg.Go(func() { n.keepTime(ctx, term) })
	wg.Go(func() { n.keepClock(ctx, term, clocks) })
	wg.Go(func() { n.raiseLevel(ctx, term) })
	wg.Go(func() { n.keepConnections(ctx) })
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

// WhileLeading runs fn on the leader, from the moment its term is open until ctx ends with the leadership. Call it
// before Open returns control to others: terms that are open already are not reported.
func (n *Node) WhileLeading(fn func(ctx context.Context)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.leaderWork = append(n.leaderWork, fn)
}

// beginTerm puts the first entry of a term into the log. It has no stamp: the time that the log has reached is known
// only when everything before the entry is applied here, which is when its outcome comes. A clock that was opened
// earlier, from a state machine that lags, could be behind the times that the former leader has given to reads.
func (n *Node) beginTerm(term uint64) error {
	e := &fsm.Entry{Term: term}
	rand.Read(e.Seed[:])
	_, err := n.proposeAlone(e, fsm.NewTerm.Code, fsm.NewTerm.Body(fsm.Term{Number: term, Leader: n.identity.NodeID}))
	return err
}

// command proposes one request of the leader itself, stamped now.
func (n *Node) command(term uint64, code uint16, body []byte) (any, error) {
	e := n.entry(term)
	defer n.clock.Done(e.Stamp)
	return n.proposeAlone(e, code, body)
}

// proposeAlone puts one request into an entry of its own and waits for its outcome, which is unknown if raft ends first: raft
// silently drops the entries that it had queued for itself or for the state machine.
func (n *Node) proposeAlone(e *fsm.Entry, code uint16, body []byte) (any, error) {
	e.Requests = []fsm.Request{{Code: code, Body: body}}
	var outcomes []fsm.Outcome
	var err error
	answered := make(chan struct{})
	p := n.consensus.Propose(e.Encode())
	go func() { // it never ends if raft has dropped the entry
		outcomes, err = wait(p)
		close(answered)
	}()
	select {
	case <-answered:
	case <-n.committer.gone:
		return nil, consensus.ErrShutdown
	}
	if err != nil {
		return nil, err
	}
	if outcomes[0].Status != fsm.Applied {
		return nil, errNotLeading
	}
	return outcomes[0].Value, outcomes[0].Err
}

// wallTime returns the wall clock's time at t, in unix milliseconds; a failpoint may shift it.
func wallTime(t time.Time) int64 { return t.Add(failpoint.WallOffset()).UnixMilli() }

// bootstrapState writes the first settings of a cluster that has none.
func (n *Node) bootstrapState(ctx context.Context, term uint64) error {
	var has bool
	n.machine.View(0, [16]byte{}, func(v *fsm.View) { has = v.ClusterID() != "" })
	if n.opts.Bootstrap == nil {
		return nil
	}
	f, again := n.opts.Bootstrap(!has)
	if has && !again {
		return nil
	}
	f.ClusterID, f.Again = n.clusterID(), again
	if !has {
		f.Level = max(n.commonLevel(ctx), env.Base)
	}
	n.machine.View(0, [16]byte{}, func(v *fsm.View) { v.SaltTokens(&f) })
	_, err := n.command(term, fsm.BootstrapState.Code, fsm.BootstrapState.Body(f))
	return err
}

// keepTime applies what is due, and has digests taken.
func (n *Node) keepTime(ctx context.Context, term uint64) {
	digested, at := n.consensus.LastIndex(), time.Time{}
	for pause(ctx, tickInterval) {
		n.evictExcess(ctx, term)
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
		if last := n.consensus.LastIndex(); last >= digested+n.opts.DigestEvery && time.Since(at) >= n.digests.pace() {
			if _, err := n.command(term, fsm.TakeDigest.Code, fsm.TakeDigest.Body(fsm.Empty{})); err == nil {
				digested, at = last, time.Now()
			}
		}
	}
}

// keepConnections keeps a connection to every other voter open, for commit indexes, which are never worth a dial.
func (n *Node) keepConnections(ctx context.Context) {
	for pause(ctx, time.Second) {
		others, _ := n.consensus.Voters()
		for _, o := range others {
			if n.peers.Open(o.Addr) == nil {
				n.peers.Get(o.Addr, 0) // the next try is a second away
			}
		}
	}
}

const (
	// spaceInterval is the interval at which a leader checks whether its disk has room.
	spaceInterval = 250 * time.Millisecond
	// yieldInterval is the least time between two handovers for want of disk space: where
	// every disk is full, leadership must not wander.
	yieldInterval = 30 * time.Second
)

// yieldWhenFull transfers leadership when this node's disk is below the free-space floor: it could lead, but accept no
// writes. raft has no way to keep a node from campaigning, so one that is elected nevertheless hands over again.
func (n *Node) yieldWhenFull(ctx context.Context) {
	for pause(ctx, spaceInterval) {
		err := n.store.Accepting()
		if err == nil || time.Since(time.Unix(0, n.yielded.Load())) < yieldInterval {
			continue
		}
		n.yielded.Store(time.Now().UnixNano())
		n.log.Warn("handing leadership over: the disk is nearly full", "error", err)
		if err := n.TransferLeadership(""); err != nil {
			n.log.Warn("leadership was not transferred", "error", err)
		}
	}
}

// raiseLevel raises the feature level when every server has answered a higher one,
// by direct calls, for Options.LevelAfter.
func (n *Node) raiseLevel(ctx context.Context, term uint64) {
	since := time.Now()
	for pause(ctx, n.opts.LevelAfter/20) {
		common := n.commonLevel(ctx)
		if common <= n.level() {
			since = time.Now()
			continue
		}
		if time.Since(since) >= n.opts.LevelAfter {
			if _, err := n.command(term, fsm.SetLevel.Code, fsm.SetLevel.Body(fsm.LevelChange{Level: common})); err == nil {
				n.log.Info("the feature level was raised: older versions can't join any more", "feature_level", common)
			}
			since = time.Now()
		}
	}
}

// commonLevel returns the highest level that every server of the configuration knows; 0 if
// one doesn't answer.
func (n *Node) commonLevel(ctx context.Context) env.Level {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	level := fsm.MaxLevel
	for _, s := range n.others() {
		h, err := n.peers.status(ctx, s.Addr)
		if err != nil {
			return 0
		}
		level = min(level, env.Level(h.Level))
	}
	return level
}

const (
	// unreachableAfter is the time without an answer after which the subscribers of a node no longer count.
	unreachableAfter = 5 * time.Second
	// reachInterval is the interval at which the leader asks nodes that have subscribers, and the timeout of each question.
	reachInterval = 500 * time.Millisecond
)

// watchSubscribers drops, while this node leads, the subscriber counts of nodes that
// can't be reached: their subscribers receive nothing.
func (n *Node) watchSubscribers(ctx context.Context, term uint64) {
	answered := map[string]time.Time{}
	began := time.Now()
	for pause(ctx, reachInterval) {
		var nodes []fsm.SubscribedNode
		n.machine.View(0, [16]byte{}, func(v *fsm.View) { nodes = v.SubscribedNodes() })
		for _, id := range n.reachable(ctx, nodes) {
			answered[id] = time.Now()
		}
		for _, s := range nodes {
			last, is := answered[s.Node]
			if !is {
				last = began
			}
			if time.Since(last) < unreachableAfter {
				continue
			}
			n.log.Info("a node that can't be reached has no subscribers any more", "subscriber_node", s.Node)
			if _, err := n.command(term, fsm.ForgetSubscribers.Code, fsm.ForgetSubscribers.Body(fsm.SessionRef{Session: s.Session})); err != nil {
				n.log.Debug("subscribers were not forgotten", "error", err)
			}
		}
	}
}

// reachable returns the ids of the nodes that answer within reachInterval.
func (n *Node) reachable(ctx context.Context, nodes []fsm.SubscribedNode) (ids []string) {
	ctx, cancel := context.WithTimeout(ctx, reachInterval)
	defer cancel()
	var mu sync.Mutex
	each(nodes, func(_ int, s fsm.SubscribedNode) {
		if s.Node != n.opts.NodeID {
			to, is := n.server(s.Node)
			if !is {
				return
			}
			if h, err := n.peers.status(ctx, to.Addr); err != nil || h.Node != s.Node {
				return
			}
		}
		mu.Lock()
		ids = append(ids, s.Node)
		mu.Unlock()
	})
	return ids
}

// dropFormerSubscribers drops the subscribers of this node's former process. Its registration does that too, but comes
// with the first request.
func (n *Node) dropFormerSubscribers(ctx context.Context) {
	for pause(ctx, reachInterval) {
		if n.proposer.Session() != 0 {
			return
		}
		var nodes []fsm.SubscribedNode
		n.machine.View(0, [16]byte{}, func(v *fsm.View) { nodes = v.SubscribedNodes() })
		for _, s := range nodes {
			if s.Node == n.opts.NodeID {
				// What it asks for is done by the registration already.
				_, _ = n.Propose(ctx, fsm.ForgetSubscribers.Code, fsm.ForgetSubscribers.Body(fsm.SessionRef{Session: s.Session}))
			}
		}
	}
}
