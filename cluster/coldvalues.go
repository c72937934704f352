package cluster

import (
	"context"
	"math"
	"runtime/debug"
	runtimemetrics "runtime/metrics"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trireme-dev/trireme/cluster/consensus"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/payload"
)

const (
	// shiftInterval is the interval at which the node looks for strings that are not used.
	shiftInterval = time.Second
	// shiftKeys is the number of keys that it looks at each time, shortKeys when memory is short.
	shiftKeys, shortKeys = 20_000, 200_000
	// shortShare is the part of the memory limit, in percent, above which live memory is short.
	shortShare = 60
	// shorter divides the time without a use after which strings go, for each round over all keys in which memory was short.
	shorter = 8
	// neverCold is the time without a use after which strings go if none is to go.
	neverCold = 100 * 365 * 24 * time.Hour
	// prefetchers is the number of payloads that are read at the same time for entries that are about to be applied.
	prefetchers = 8
	// prefetchBytes bounds what is read for entries that are applied together: an entry may name more than it is admitted to read.
	prefetchBytes = 16 << 20
)

// shiftValues moves large strings that are not used to the disk, and those that are used again back, until ctx ends.
func (n *Node) shiftValues(ctx context.Context) {
	var (
		walk  fsm.ColdWalk
		heap  = newLiveHeap()
		never = n.opts.ColdAfter <= 0 // nothing goes, but segments that are mostly dead are still emptied
		idle  = n.opts.ColdAfter
	)
	if never {
		idle = neverCold
	}
	for pause(ctx, shiftInterval) {
		if never && !n.hasColdValues() {
			continue
		}
		short := !never && heap.short()
		if !short && !never {
			idle = min(n.opts.ColdAfter, 2*idle+time.Second)
		}
		keys := shiftKeys
		if short {
			keys = shortKeys
		}
		for {
			done, err := n.machine.ShiftValues(&walk, fsm.Shifting{Length: max(n.opts.InlineBytes, payload.Apart), Idle: idle.Milliseconds(), Back: !short && !never, Keys: keys})
			if err != nil {
				break // the store has said so: the values stay in memory
			}
			heap.gone += done.GoneBytes - done.BackBytes
			if !short || ctx.Err() != nil || !heap.short() {
				break
			}
			if done.Round {
				if idle == 0 {
					break // everything is on the disk
				}
				if idle /= shorter; idle < time.Millisecond {
					idle = 0
				}
			}
		}
	}
}

// hasColdValues reports whether strings are on the disk: a snapshot of a process with another setting may have named them.
func (n *Node) hasColdValues() (has bool) {
	n.machine.View(0, [16]byte{}, func(v *fsm.View) {
		number, _ := v.ColdValues()
		has = number > 0
	})
	return has
}

// liveHeap measures the live memory of the process.
type liveHeap struct {
	samples []runtimemetrics.Sample
	cycle   uint64
	// gone are the bytes that have gone to the disk since the last collection.
	gone int64
}

func newLiveHeap() *liveHeap {
	return &liveHeap{samples: []runtimemetrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/cycles/total:gc-cycles"}}}
}

// short reports whether live memory is more than the limit allows.
func (lh *liveHeap) short() bool {
	limit := debug.SetMemoryLimit(-1)
	if limit == math.MaxInt64 {
		return false
	}
	runtimemetrics.Read(lh.samples)
	if c := lh.samples[1].Value.Uint64(); c != lh.cycle {
		lh.cycle, lh.gone = c, 0
	}
	return int64(lh.samples[0].Value.Uint64())-lh.gone > limit/100*shortShare
}

// prefetch reads from the disk, all at the same time, what entries that are about to be applied will read.
func (a *adapter) prefetch(entries []consensus.Entry) {
	var list []env.Lack
	room := prefetchBytes
	for i := 0; i < len(entries) && room > 0; i++ {
		if entries[i].Command {
			more, bytes := a.m.Lacking(entries[i].Data, room)
			list, room = append(list, more...), room-bytes
		}
	}
	if len(list) == 0 {
		return
	}
	var (
		next atomic.Int64
		all  sync.WaitGroup
	)
	for range min(prefetchers, len(list)) {
		all.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(list)); i = next.Add(1) - 1 {
				list[i].Hold()
			}
		})
	}
	all.Wait()
}
