package cluster

import (
	"context"
	"sync"
	"time"

	"github.com/trireme-dev/trireme/cluster/clock"
	"github.com/trireme-dev/trireme/cluster/consensus"
)

const (
	// clocksTimeout bounds how long a leader waits for the clocks of the others.
	clocksTimeout = 300 * time.Millisecond
	// clockInterval is the interval at which it asks; clockRetry replaces it while no majority of the clocks is known to agree.
	clockInterval = time.Second
	clockRetry    = 200 * time.Millisecond
	// clockKept is the age up to which a slower answer does not replace a quicker one. An answer is used for twice as long.
	clockKept = 5 * time.Second
)

// voterClocks are the wall clocks of the voters, as offsets from this node's.
type voterClocks struct {
	n *Node

	mu      sync.Mutex
	samples map[string]clockSample
}

// clockSample is one answer.
type clockSample struct {
	offset int64 // milliseconds that the other clock is ahead
	took   time.Duration
	at     time.Time
}

func newVoterClocks(n *Node) *voterClocks {
	return &voterClocks{n: n, samples: map[string]clockSample{}}
}

// ask asks all voters, and returns once a majority of the clocks agrees, all have answered, or clocksTimeout is over.
func (vc *voterClocks) ask(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, clocksTimeout)
	defer cancel()
	others, _ := vc.n.consensus.Voters()
	answered := make(chan struct{}, len(others))
	for _, o := range others {
		go func() { // ends with ctx
			vc.askOne(ctx, o)
			answered <- struct{}{}
		}()
	}
	for range others {
		if _, known := vc.median(vc.n.opts.Now()); known {
			return
		}
		<-answered
	}
}

func (vc *voterClocks) askOne(ctx context.Context, o consensus.Server) {
	begin := vc.n.opts.Now()
	h, err := vc.n.peers.status(ctx, o.Addr)
	now := vc.n.opts.Now()
	if err != nil {
		return
	}
	s := clockSample{took: now.Sub(begin), at: now}
	s.offset = h.Wall - wallTime(begin.Add(s.took/2))
	vc.mu.Lock()
	defer vc.mu.Unlock()
	if old, found := vc.samples[o.ID]; !found || s.took <= old.took || now.Sub(old.at) >= clockKept {
		vc.samples[o.ID] = s
	}
}

// median returns the median of the voters' clocks at now, in unix milliseconds. It is known if a majority of them agrees.
func (vc *voterClocks) median(now time.Time) (unixms int64, known bool) {
	others, _ := vc.n.consensus.Voters()
	vc.mu.Lock()
	defer vc.mu.Unlock()
	offsets := []int64{0} // this node's own
	for _, o := range others {
		if s, found := vc.samples[o.ID]; found && now.Sub(s.at) < 2*clockKept {
			offsets = append(offsets, s.offset)
		}
	}
	offset, known := clock.Median(offsets, len(others)+1)
	return wallTime(now) + offset, known
}

// keepClock makes cluster time follow the voters' clocks while this node leads.
func (n *Node) keepClock(ctx context.Context, v *voterClocks) {
	for {
		now := n.opts.Now()
		median, known := v.median(now)
		n.clock.SetMedian(median, now, known)
		again := clockInterval
		if !known {
			again = clockRetry
		}
		if !pause(ctx, again) {
			return
		}
		v.askAll(ctx)
	}
}

// askAll asks all voters and waits for all that answer in time.
func (vc *voterClocks) askAll(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, clocksTimeout)
	defer cancel()
	others, _ := vc.n.consensus.Voters()
	each(others, func(_ int, o consensus.Server) { vc.askOne(ctx, o) })
}
