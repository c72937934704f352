package scheduler

import (
	"slices"
	"strings"
	"sync"
	"time"

	"trireme/fsm/queue"
)

const (
	// paceFloor is the part of a host's share that it keeps while it doesn't answer, and
	// paceLeast how many attempts it keeps at least.
	paceFloor, paceLeast = 4, 4
	// maxPaces bounds the hosts that are held back at a time: each Advance names them.
	maxPaces = 64
	// paceTime is how long a host is held back of which nothing is heard.
	paceTime = 10 * time.Minute
)

// paces hold attempts to hosts back that don't answer, and let them come back step by
// step: an attempt without an answer halves how many may run at a time, each answer,
// whatever it says, allows one more. So a host that comes back meets what has piled up
// at a rate that doubles with each round, not all at once. Refusals with a status are
// answers: when to try those again is told by the message and by the answer itself.
type paces struct {
	share int

	mu  sync.Mutex
	all map[string]*pace
}

// pace is a host that is held back.
type pace struct {
	most int
	at   time.Time // of the last outcome
}

func newPaces(share int) *paces { return &paces{share: share, all: map[string]*pace{}} }

// outcome notes how an attempt to a host went.
func (p *paces) outcome(host string, answered bool, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	one := p.all[host]
	switch {
	case one == nil && answered:
		return
	case one == nil:
		p.makeRoom()
		one = &pace{most: p.share}
		p.all[host] = one
	}
	one.at = now
	if answered {
		one.most = min(one.most+1, p.share)
		return
	}
	one.most = max(one.most/2, p.share/paceFloor, min(paceLeast, p.share))
}

// makeRoom forgets the host of which nothing has been heard for longest, if there are as
// many as there may be.
func (p *paces) makeRoom() {
	if len(p.all) < maxPaces {
		return
	}
	oldest := ""
	for host, one := range p.all {
		if oldest == "" || one.at.Before(p.all[oldest].at) {
			oldest = host
		}
	}
	delete(p.all, oldest)
}

// limits are those for the next Advance.
func (p *paces) limits(now time.Time) (list []queue.HostLimit) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for host, one := range p.all {
		if now.Sub(one.at) > paceTime {
			one.most = p.share
		}
		list = append(list, queue.HostLimit{Host: host, Most: one.most})
	}
	slices.SortFunc(list, func(a, b queue.HostLimit) int { return strings.Compare(a.Host, b.Host) })
	return list
}

// told forgets hosts that have their whole share again, once an Advance has said so.
func (p *paces) told(list []queue.HostLimit) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range list {
		if one := p.all[l.Host]; one != nil && l.Most >= p.share && one.most >= p.share {
			delete(p.all, l.Host)
		}
	}
}
