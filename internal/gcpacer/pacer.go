package gcpacer

import (
	"context"
	"math"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"
)

const (
	// every is the interval between two reads of the metrics.
	every = time.Second
	// maxPercent is the most room that is given: four times the live heap.
	maxPercent = 400
	// minPercent is the least, for a process that allocates nothing: what was garbage is given back to the machine.
	minPercent = 25
	// minRoom is the least room in bytes of a process that allocates, so that a small one does not collect all the time: that much,
	// or idleRoom and the allocations of restInterval seconds if they are less.
	minRoom      = 32 << 20
	idleRoom     = 8 << 20
	restInterval = 4
	// roomFactor is the constant of the rule, in the square root of bytes: the greater, the
	// more memory and the fewer collections. docs/design/memory.md has what was measured.
	roomFactor = 18_000
	// minInterval is the least room for allocations between collections, in seconds of allocations:
	// where data are few, rarer collections cost little memory.
	minInterval = 0.25
	// busyRoom is the most that is given so that collections are busyInterval seconds apart: under load a node with few data, up to
	// fewData, has it. It becomes less as data grow, for the room by the rule grows with them.
	busyRoom     = 128 << 20
	busyInterval = 1
	fewData      = 64 << 20
	// firstSpeed is the assumed speed of a collection, in bytes of live heap for a second of processor time, until it was measured.
	firstSpeed = 1 << 30
	// learn is the weight of the newest measurement of that speed.
	learn = 0.3
	// hold is the time in seconds for which a rate counts although less is allocated; fall is the part of it that remains with
	// each second after that.
	hold = 3
	fall = 0.5
	// idleAfter is the time in seconds without load after which a process gives back what it does not need, if that is minPercent of
	// its live heap and minRoom more, and a collection takes no more than idleCost seconds of processor time. A collection is needed for it,
	// and without load none would come: Go returns what was free at the end of the one before.
	idleAfter = 5
	idleCost  = 1
	// step is the least relative change of the percent that is applied: each stops the process for some microseconds.
	step = 0.1
	// largeRoom is the most room in addition for largeTime after something large was announced, if a quarter of the
	// memory that the limit leaves is as much.
	largeRoom = 512 << 20
	largeTime = 2 * time.Second
)

// The metrics of the runtime that are read, in the order of Pacer.samples.
const (
	liveHeap = iota
	allocated
	cycles
	dedicated
	assist
	mapped
	released
)

// Pacer holds what the last reading found.
type Pacer struct {
	mu      sync.Mutex
	samples []metrics.Sample
	begun   bool
	last    reading
	rate    float64   // of allocation, in bytes a second
	below   float64   // for how long less has been allocated, in seconds
	freed   uint64    // what had been allocated when memory was given back last
	speed   float64   // of collections, in bytes of live heap a second of processor time
	percent int       // in force
	large   time.Time // until when there is room in addition
}

// reading holds one read of the runtime's metrics.
type reading struct {
	live, allocated, cycles uint64  // the live heap after the last collection; since the process began: bytes and collections
	spent                   float64 // on collections since the process began, in seconds of processor time
	used                    uint64  // of the machine's memory, in bytes
}

// New returns a Pacer that has read nothing yet.
func New() *Pacer {
	p := &Pacer{percent: maxPercent, speed: firstSpeed}
	for _, name := range [...]string{liveHeap: "/gc/heap/live:bytes", allocated: "/gc/heap/allocs:bytes", cycles: "/gc/cycles/total:gc-cycles",
		dedicated: "/cpu/classes/gc/mark/dedicated:cpu-seconds", assist: "/cpu/classes/gc/mark/assist:cpu-seconds",
		mapped: "/memory/classes/total:bytes", released: "/memory/classes/heap/released:bytes"} {
		p.samples = append(p.samples, metrics.Sample{Name: name})
	}
	return p
}

// read reads the metrics.
func (p *Pacer) read() reading {
	metrics.Read(p.samples)
	at := func(i int) metrics.Value { return p.samples[i].Value }
	return reading{at(liveHeap).Uint64(), at(allocated).Uint64(), at(cycles).Uint64(), at(dedicated).Float64() + at(assist).Float64(), at(mapped).Uint64() - at(released).Uint64()}
}

// Run sets the percent until ctx ends, and leaves the last one in force.
func (p *Pacer) Run(ctx context.Context) {
	p.mu.Lock()
	debug.SetGCPercent(p.percent)
	p.mu.Unlock()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for last := time.Now(); ; {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			p.mu.Lock()
			if p.observe(p.read(), now.Sub(last), p.extra(now)) {
				debug.SetGCPercent(p.percent)
			}
			wasteful := p.wasteful()
			p.mu.Unlock()
			if last = now; wasteful {
				debug.FreeOSMemory()
			}
		}
	}
}

// Large announces that megabytes are about to be allocated at once. Go paces a collection by the allocations before it:
// with a large one the heap passes its goal, and from then on whoever allocates a few bytes has to mark megabytes
// for them, also a goroutine that holds what all others wait for. So there is more room for a while.
func (p *Pacer) Large() {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	had := now.Before(p.large)
	if p.large = now.Add(largeTime); had || !p.begun {
		return
	}
	if next := p.next(p.extra(now)); next > p.percent {
		p.percent = next
		debug.SetGCPercent(p.percent)
	}
}

// extra is the room in addition at a time, in bytes.
func (p *Pacer) extra(now time.Time) float64 {
	if !now.Before(p.large) {
		return 0
	}
	free := float64(debug.SetMemoryLimit(-1)) - float64(p.last.used)
	return min(max(free/4, 0), largeRoom)
}

// next is the percent by the last reading.
func (p *Pacer) next(extra float64) int { return percent(p.last.live, p.rate, p.speed, extra) }

// observe takes in a reading, and reports whether the percent has changed.
func (p *Pacer) observe(now reading, since time.Duration, extra float64) bool {
	before := p.last
	p.last = now
	if !p.begun || since <= 0 || now.allocated < before.allocated {
		p.begun = true
		return false
	}
	p.follow(float64(now.allocated-before.allocated)/since.Seconds(), since.Seconds())
	if n, spent := now.cycles-before.cycles, now.spent-before.spent; n > 0 && n < 1<<32 && spent > 0 && now.live > 0 {
		p.speed += learn * (float64(n)*float64(now.live)/spent - p.speed)
	}
	next := p.next(extra)
	if math.Abs(float64(next-p.percent)) < step*float64(p.percent) {
		return false
	}
	p.percent = next
	return true
}

// follow takes in a rate that was seen for so many seconds.
func (p *Pacer) follow(rate, seconds float64) {
	p.below += seconds
	if fallen := p.rate * math.Pow(fall, min(max(p.below-hold, 0), seconds)); rate < fallen {
		p.rate = fallen
		return
	}
	p.rate, p.below = rate, 0
}

// wasteful reports whether the process is idle and keeps much that it does not need, and as much was allocated since that was so. What a
// collection does not free, because something lives in each page, is left alone.
func (p *Pacer) wasteful() bool {
	live := float64(p.last.live)
	spare := live*minPercent/100 + minRoom
	if p.below < idleAfter || float64(p.last.used) < live+spare || float64(p.last.allocated-p.freed) < spare || live/p.speed > idleCost {
		return false
	}
	p.freed = p.last.allocated
	return true
}

// percent is the room above a live heap at a rate of allocation and a speed of collections, and some bytes in addition, in
// hundredths of that heap.
func percent(live uint64, rate, speed, extra float64) int {
	if live == 0 {
		return maxPercent // nothing was collected yet
	}
	busy := min(busyInterval*rate, busyRoom*min(1, fewData/float64(live)))
	least := min(idleRoom+restInterval*rate, minRoom)
	room := max(roomFactor*math.Sqrt(float64(live)*rate/speed), minInterval*rate, busy, least) + extra
	return int(min(max(100*room/float64(live), minPercent), maxPercent))
}
