package gcpacer

import (
	"context"
	"math"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// every is how often the metrics are read.
	every = time.Second
	// maxPercent is the most room that is given: four times the live heap.
	maxPercent = 400
	// minPercent is the least, for a process that allocates nothing: what was garbage is given
	// back to the machine.
	minPercent = 25
	// minRoom is the least room in bytes, so that a small process does not collect all the time.
	minRoom = 32 << 20
	// roomFactor is the constant of the rule, in seconds to the power of one half: the greater, the
	// more memory and the fewer collections. docs/design/memory.md has what was measured.
	roomFactor = 2
	// fall is the part of the last rate that remains after a second without any allocation.
	fall = 0.9
	// step is the least relative change of the percent that is applied: each stops the process
	// for some microseconds.
	step = 0.1
)

// Pacer holds what the last reading found.
type Pacer struct {
	samples []metrics.Sample
	begun   bool
	total   uint64  // bytes allocated since the process began
	rate    float64 // bytes a second
	percent int     // in force
}

// New returns a Pacer that has read nothing yet.
func New() *Pacer {
	return &Pacer{
		samples: []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/heap/allocs:bytes"}},
		percent: maxPercent,
	}
}

// Run sets the percent until ctx ends, and leaves the last one in force.
func (p *Pacer) Run(ctx context.Context) {
	debug.SetGCPercent(p.percent)
	tick := time.NewTicker(every)
	defer tick.Stop()
	for last := time.Now(); ; {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			metrics.Read(p.samples)
			if p.observe(p.samples[0].Value.Uint64(), p.samples[1].Value.Uint64(), now.Sub(last)) {
				debug.SetGCPercent(p.percent)
			}
			last = now
		}
	}
}

// observe takes in the live heap after the last collection and the bytes allocated since the
// process began, and reports whether the percent has changed.
func (p *Pacer) observe(live, total uint64, since time.Duration) bool {
	before := p.total
	p.total = total
	if !p.begun || since <= 0 || total < before {
		p.begun = true
		return false
	}
	p.rate = max(float64(total-before)/since.Seconds(), p.rate*math.Pow(fall, since.Seconds()))
	next := percent(live, p.rate)
	if math.Abs(float64(next-p.percent)) < step*float64(p.percent) {
		return false
	}
	p.percent = next
	return true
}

// percent is the room above a live heap at a rate of allocation, in hundredths of that heap.
func percent(live uint64, rate float64) int {
	if live == 0 {
		return maxPercent // nothing was collected yet
	}
	room := max(roomFactor*math.Sqrt(float64(live)*rate), minRoom)
	return int(min(max(100*room/float64(live), minPercent), maxPercent))
}
