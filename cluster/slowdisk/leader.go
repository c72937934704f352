package slowdisk

import (
	"sync"
	"time"
)

const (
	// factor is how many times slower a leader's disk must be than the answers of its followers.
	factor = 5
	// settle is the time in a new term before which its leader does not give way, so that leadership never wanders quickly.
	settle = 5 * time.Second
	// retryAfter is the pause after a transfer that failed.
	retryAfter = 5 * time.Second
	// firstPause and longestPause bound the time for which a node that has given way does not do so again. The pause doubles
	// each time, and is the first one again if the node has not given way for forgiveAfter.
	firstPause   = 30 * time.Second
	longestPause = 8 * time.Minute
	forgiveAfter = time.Hour
)

// Leader judges whether a node, while it leads, should give way because of its disk.
type Leader struct {
	mu      sync.Mutex
	answers map[string]*answers

	// Used by Judge, GaveWay and Failed alone, which one goroutine calls.
	term   uint64
	streak streak
	next   time.Time // not before
	gave   time.Time // when this node gave way last
	pause  time.Duration
}

// answers are the times that one follower takes to answer appends with entries, from the moment at which they are sent.
type answers struct {
	times Times
	mean  Mean // the last that is known
	at    time.Time
}

// Answered notes that a follower has answered an append with entries. Any goroutine may call it.
func (l *Leader) Answered(id string, took time.Duration) {
	l.mu.Lock()
	a := l.answers[id]
	if a == nil {
		if l.answers == nil {
			l.answers = map[string]*answers{}
		}
		a = &answers{}
		l.answers[id] = a
	}
	l.mu.Unlock()
	a.times.Note(took)
}

// recent returns the mean answer times of the followers that have answered what this node appended last, which took own. The answers
// come while it is appended.
func (l *Leader) recent(now time.Time, own Mean) map[string]time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := map[string]time.Duration{}
	for id, a := range l.answers { // unordered: each is judged for itself
		if m := a.times.take(); m.Count > 0 {
			a.mean, a.at = m, now
		}
		switch age := now.Sub(a.at); {
		case age <= Interval+own.Time:
			all[id] = a.mean.Time
		case age > forgetAfter:
			delete(l.answers, id) // it may be a server no more
		}
	}
	return all
}

// Judge is told at each tick which term this node leads, 0 if it does not lead, what its own disk took, and who the other voters
// are. It returns the voters to which leadership may go now; none if it stays.
//
// Without this leader an entry needs the disks of a majority, so a majority must be fast: with a leader on one healthy disk among
// slow ones, writes would wait as long as before.
func (l *Leader) Judge(now time.Time, term uint64, own Mean, others []string) (fast []string) {
	answers := l.recent(now, own)
	if term != l.term {
		l.term, l.streak = term, streak{}
		if at := now.Add(settle); at.After(l.next) {
			l.next = at
		}
	}
	if term == 0 || own.Count == 0 {
		return nil
	}
	for _, id := range others {
		if took, known := answers[id]; known && took <= own.Time/factor {
			fast = append(fast, id)
		}
	}
	voters := len(others) + 1
	l.streak.note(now, own, own.Time >= slowSync && len(fast) > voters/2)
	if !l.streak.lasts(now) || now.Before(l.next) {
		return nil
	}
	return fast
}

// GaveWay notes that leadership was transferred. The node does not give way again for a while, longer each time.
func (l *Leader) GaveWay(now time.Time) {
	if l.pause = min(2*l.pause, longestPause); l.pause == 0 || now.Sub(l.gave) > forgiveAfter {
		l.pause = firstPause
	}
	l.gave, l.next, l.streak = now, now.Add(l.pause), streak{}
}

// Failed notes that leadership could not be transferred.
func (l *Leader) Failed(now time.Time) { l.next, l.streak = now.Add(retryAfter), streak{} }
