package consensus

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// A follower that hears nothing from the leader for the heartbeat timeout starts an election. On a busy machine the only
// reason may be that its own process, or the leader's, did not run. So the timeout follows the delays that this node
// observes: how late its timers are, and how long it was without contact although the same leader goes on. Package
// failover finds the death of the leader's process, whatever the timeout is.
//
// The leader's lease is as long as the shortest heartbeat timeout, which raft demands. It protects nothing: reads are confirmed
// by a majority, and a leader without one commits nothing. It only ends the leadership of a node that is cut off.

const (
	// delayInterval is the interval at which delays are observed.
	delayInterval = 20 * time.Millisecond
	// delayFactor is the ratio of the timeout to the longest observed delay.
	delayFactor = 3
	// maxStretchHalves bounds the timeout, in halves of the configured one. A leader whose process is stopped is replaced after
	// one timeout if a majority agrees. Heartbeats are sent every tenth to fifth of the timeout, which a new leader may have for
	// a moment: five times that has to fit into its lease.
	maxStretchHalves = 5
	// delayHalfLife is the time after which an observed delay counts half.
	delayHalfLife = 10 * time.Second
	// lateTick is the longest time between two ticks; after a longer one this process is taken to have stood still.
	lateTick = 3 * delayInterval
)

// delays keeps the longest delay that was observed; it counts less the older it is.
type delays struct {
	longest time.Duration
	at      time.Time
}

// observe notes a delay. A delay longer than most counts as most: a process that stood still for a minute is no busier than one
// that stood still for half a second, and must not have long timeouts for longer.
func (d *delays) observe(delay, most time.Duration, now time.Time) {
	delay = min(delay, most)
	for ; !d.at.IsZero() && now.Sub(d.at) >= delayHalfLife; d.at = d.at.Add(delayHalfLife) {
		if d.longest /= 2; d.longest == 0 {
			d.at = now
			break
		}
	}
	if delay >= d.longest {
		d.longest, d.at = delay, now
	}
}

// timeout returns the heartbeat timeout for the observed delays, least if none is known.
func (d *delays) timeout(least time.Duration) time.Duration {
	return min(max(delayFactor*d.longest, least), stretched(least))
}

// stretched returns the longest timeout for a configured one.
func stretched(least time.Duration) time.Duration { return maxStretchHalves * least / 2 }

// adaptTimeouts keeps the heartbeat and election timeouts above the delays of this machine and its network, until ctx ends.
func (r *Replica) adaptTimeouts(ctx context.Context) {
	var d delays
	least := r.c.Heartbeat
	timeout, set := least, least // what fits, and what raft has
	patience := time.Duration(0)
	most := stretched(least) / delayFactor // what stretches the timeout to its bound
	var contact time.Time                  // the last one that was seen
	var leader string
	tick := time.NewTimer(delayInterval)
	defer tick.Stop()
	for last := time.Now(); ; tick.Reset(delayInterval) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		now := time.Now()
		d.observe(now.Sub(last)-delayInterval, most, now)
		last = now
		followed, _ := r.Leader()
		r.silence.tick(now, followed.ID, r.Term(), timeout)
		heard := r.LastContact()
		if followed.ID != "" && followed.ID == leader && heard.After(contact) && !contact.IsZero() {
			// Heartbeats come every tenth to fifth of the timeout: only what is beyond that is a delay.
			d.observe(heard.Sub(contact)-timeout/5, most, now)
		}
		contact, leader = heard, followed.ID
		leads := r.Role() == Leader
		want := d.timeout(least)
		if leads {
			want = least // it sends heartbeats at this pace
		}
		if want > timeout+timeout/10 || want < timeout-timeout/10 || want == least {
			timeout = want
		}
		next := timeout
		if !leads {
			next += lateTick // so that this loop is before raft's timer
		}
		if r.leaderSilent() {
			next = holdOff(time.Since(r.LastContact()), next, patience)
		} else {
			patience = stretched(least) + least/2 + rand.N(least)
		}
		if next == set {
			continue
		}
		if err := r.change(func(c *raft.ReloadableConfig) { c.HeartbeatTimeout, c.ElectionTimeout = next, next }); err != nil {
			r.c.Log.Warn("the election timeout was not changed", "error", err)
			continue
		}
		set = next
	}
}

// Raft looks for a silent leader at random: its timer runs one to two timeouts whatever the leader says meanwhile, so a
// leader that stops is found after one to three of them; and a voter whose own timer has not ended refuses the pre-vote
// of the one whose timer has, which then waits for another timeout. So each follower looks itself, package failover asks
// the others, and raft's timer is held off meanwhile.

// silence records since when a follower could have heard its leader.
type silence struct {
	mu     sync.Mutex
	last   time.Time // the last tick
	from   time.Time // before it, silence says nothing
	leader string
	term   uint64
	// timeout is the time without contact after which the leader counts as silent.
	timeout time.Duration
}

// tick notes, every delayInterval, that this process runs, and which leader it follows. It allows a new leader a whole
// timeout, and after this process stood still the longest time between two heartbeats: what the leader sent meanwhile is
// still on its way.
func (s *silence) tick(now time.Time, leader string, term uint64, timeout time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if late := now.Add(timeout / 5); now.Sub(s.last) > lateTick && late.After(s.from) {
		s.from = late
	}
	if leader != s.leader || term != s.term {
		s.leader, s.term, s.from = leader, term, now.Add(timeout)
	}
	s.last, s.timeout = now, timeout
}

// of reports whether the leader is silent: not heard since contact, for a timeout or longer, by a process that ran.
func (s *silence) of(leader string, term uint64, contact, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return leader != "" && leader == s.leader && term == s.term && now.Sub(s.last) <= lateTick && !now.Before(s.from) && now.Sub(contact) >= s.timeout
}

// leaderSilent reports whether this node hears nothing from the leader that it follows.
func (r *Replica) leaderSilent() bool {
	leader, _ := r.Leader()
	return r.Role() == Follower && r.silence.of(leader.ID, r.Term(), r.LastContact(), time.Now())
}

// holdOff returns the heartbeat timeout that raft gets while the leader is silent. When raft's timer ends, raft accepts
// a leader that was heard within the timeout, so with a timeout a little longer than the silence it starts no election.
// Other nodes may have a longer timeout: patience is the longest of them plus some time to ask them. After that raft
// gets its usual timeout, and starts an election at once.
func holdOff(unheard, timeout, patience time.Duration) time.Duration {
	if unheard < patience {
		return max(timeout, unheard+lateTick)
	}
	return timeout
}
