package consensus

import (
	"sync"
	"time"
)

// Raft looks for a silent leader at random: its timer runs one to two timeouts whatever the leader says meanwhile, so a
// leader that stops is found after one to three of them; and a voter whose own timer has not ended refuses the pre-vote
// of the one whose timer has, which then waits for another timeout. So each follower looks itself, package failover asks
// the others, and raft's timer is held off meanwhile.

// lateTick is the longest time between two ticks; after a longer one this process is taken to have stood still.
const lateTick = 3 * delayInterval

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
