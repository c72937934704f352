package scheduler

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/trireme-dev/trireme/fsm/queue"
)

const (
	// shareFloor is the fraction of a host's share that it keeps while it doesn't answer (a
	// quarter), and minLimit the number of attempts that it keeps at least.
	shareFloor, minLimit = 4, 4
	// maxLimitedHosts bounds the hosts that are limited at a time: each Advance names them.
	maxLimitedHosts = 64
	// limitLifetime is the time after which a limit without an outcome is dropped.
	limitLifetime = 10 * time.Minute
)

// hostLimiters limit the concurrent attempts to hosts that don't answer, by additive increase and
// multiplicative decrease (AIMD): an attempt without an answer halves the limit, each answer,
// whatever its status, raises it by one. So a host that comes back receives its backlog at a rate
// that doubles with each round trip, not all at once. Refusals with a status are answers: when to
// retry those is decided by the message's backoff and by the answer itself.
type hostLimiters struct {
	share int // the limit of a host that answers

	mu  sync.Mutex
	all map[string]*hostLimiter
}

// hostLimiter is the limit of one host.
type hostLimiter struct {
	limit int
	at    time.Time // of the last outcome
}

func newHostLimiters(share int) *hostLimiters {
	return &hostLimiters{share: share, all: map[string]*hostLimiter{}}
}

// outcome notes whether an attempt to a host was answered.
func (hl *hostLimiters) outcome(host string, answered bool, now time.Time) {
	hl.mu.Lock()
	defer hl.mu.Unlock()
	one := hl.all[host]
	switch {
	case one == nil && answered:
		return
	case one == nil:
		hl.evictOldest()
		one = &hostLimiter{limit: hl.share}
		hl.all[host] = one
	}
	one.at = now
	if answered {
		one.limit = min(one.limit+1, hl.share)
		return
	}
	one.limit = max(one.limit/2, hl.share/shareFloor, min(minLimit, hl.share))
}

// evictOldest forgets the host with the oldest outcome if maxLimitedHosts is reached.
func (hl *hostLimiters) evictOldest() {
	if len(hl.all) < maxLimitedHosts {
		return
	}
	oldest := ""
	for host, one := range hl.all {
		if oldest == "" || one.at.Before(hl.all[oldest].at) {
			oldest = host
		}
	}
	delete(hl.all, oldest)
}

// limits returns the limits for the next Advance, sorted by host.
func (hl *hostLimiters) limits(now time.Time) (list []queue.HostLimit) {
	hl.mu.Lock()
	defer hl.mu.Unlock()
	for host, one := range hl.all {
		if now.Sub(one.at) > limitLifetime {
			one.limit = hl.share
		}
		list = append(list, queue.HostLimit{Host: host, Most: one.limit})
	}
	slices.SortFunc(list, func(a, b queue.HostLimit) int { return strings.Compare(a.Host, b.Host) })
	return list
}

// forget removes hosts that have their whole share again, once an Advance with that share is in
// the log.
func (hl *hostLimiters) forget(list []queue.HostLimit) {
	hl.mu.Lock()
	defer hl.mu.Unlock()
	for _, l := range list {
		if one := hl.all[l.Host]; one != nil && l.Most >= hl.share && one.limit >= hl.share {
			delete(hl.all, l.Host)
		}
	}
}
