package cluster

import (
	"context"
	"sync"
	"time"

	"github.com/trireme-dev/trireme/cluster/clock"
	"github.com/trireme-dev/trireme/cluster/consensus"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/env"
)

const (
	// clocksTimeout bounds how long a leader waits for the clocks of the others.
	clocksTimeout = 300 * time.Millisecond
	// clockInterval is the interval at which it asks; clockRetry replaces it while no majority of the clocks is known to agree.
	clockInterval = time.Second
	clockRetry    = 200 * time.Millisecond
	// clockKept is the age up to which a slower answer does not replace a quicker one. An answer is used for twice as long.
	clockKept = 5 * time.Second
	// clockStep is the difference between two answers of one clock that is no more than drift.
	clockStep = 10 * time.Millisecond
	// clockLeap is how far cluster time goes at once for the log to be told.
	clockLeap = 5 * time.Second
	// clockReminder is the interval at which the log is told of a difference that lasts.
	clockReminder = 10 * time.Minute
)

// voterClocks are the wall clocks of the voters, as offsets from this node's monotonic time: setting this node's wall clock
// changes what is known of none but that.
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

// contradicts reports whether two answers can't be those of one clock that nobody has set in between.
func (cs *clockSample) contradicts(other *clockSample) bool {
	off := time.Duration(cs.offset-other.offset) * time.Millisecond
	return off.Abs() > cs.took+other.took+clockStep
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
	s.offset = h.Wall - begin.Add(s.took/2).UnixMilli()
	vc.mu.Lock()
	defer vc.mu.Unlock()
	if old, found := vc.samples[o.ID]; !found || s.took <= old.took || now.Sub(old.at) >= clockKept || s.contradicts(&old) {
		vc.samples[o.ID] = s
	}
}

// median returns the median of the voters' clocks at now, in unix milliseconds. It is known if a majority of them agrees.
func (vc *voterClocks) median(now time.Time) (unixms int64, known bool) {
	others, _ := vc.n.consensus.Voters()
	vc.mu.Lock()
	defer vc.mu.Unlock()
	mine := now.UnixMilli() // monotonic time, in the form of the offsets
	offsets := []int64{vc.n.opts.wall(now) - mine}
	for _, o := range others {
		if s, found := vc.samples[o.ID]; found && now.Sub(s.at) < 2*clockKept {
			offsets = append(offsets, s.offset)
		}
	}
	offset, known := clock.Median(offsets, len(others)+1)
	return mine + offset, known
}

// keepClock makes cluster time follow the voters' clocks while this node leads. Where it went forward at once it has the log
// learn of it, so that all wake up who wait for a time.
func (n *Node) keepClock(ctx context.Context, term uint64, v *voterClocks) {
	var said clockReport
	for last := n.opts.Now(); ; {
		now := n.opts.Now()
		median, known := v.median(now)
		n.clock.Split(n.level() >= env.Files)
		set := n.clock.SetMedian(median, now, known)
		if set >= clockLeap {
			n.log.Warn("cluster time was set forward: the wall clocks of a majority are ahead of it", "by", set.Round(time.Millisecond))
		}
		if set >= clockLeap || now.Sub(last) >= clockLeap { // the machine was suspended
			if _, err := n.command(term, fsm.Advance.Code, fsm.Advance.Body(fsm.AdvanceLimit{})); err != nil {
				n.log.Debug("time was not moved", "error", err)
			}
		}
		said.report(n, now)
		last = now
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

// clockReport remembers the last line in the log about the difference between cluster time and the median.
type clockReport struct {
	differs bool
	at      time.Time
}

// report tells the log when the times begin to differ, now and then while they do, and when they are one again.
func (cr *clockReport) report(n *Node, now time.Time) {
	ahead, lasts := n.clock.Difference()
	switch {
	case ahead != 0 && (!cr.differs || now.Sub(cr.at) >= clockReminder):
		n.log.Warn("cluster time and the wall clocks of the voters differ", "ahead", time.Duration(ahead)*time.Millisecond, "since", time.Now().Add(-lasts).UTC().Truncate(time.Second))
		cr.differs, cr.at = true, now
	case ahead == 0 && cr.differs:
		n.log.Info("cluster time is that of the voters' wall clocks again")
		cr.differs = false
	}
}

// askAll asks all voters and waits for all that answer in time.
func (vc *voterClocks) askAll(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, clocksTimeout)
	defer cancel()
	others, _ := vc.n.consensus.Voters()
	each(others, func(_ int, o consensus.Server) { vc.askOne(ctx, o) })
}
