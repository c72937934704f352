package logstore

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// ErrStalled is the reason given to Options.Fatal when a call on the disk does
// not come back. A leader in that state goes on sending heartbeats for ever, so
// only the end of its process lets the others elect.
var ErrStalled = errors.New("disk stalled")

const (
	watchEvery = 100 * time.Millisecond
	// watchGap is the longest time between two ticks that still counts. A
	// longer one means that this process itself stood still.
	watchGap = 500 * time.Millisecond
	minStall = 2 * time.Second
)

// gauge counts the calls of one kind that are under way and those that have returned.
type gauge struct {
	pending atomic.Int64
	done    atomic.Uint64
}

func (g *gauge) enter() { g.pending.Add(1) }

func (g *gauge) leave() {
	g.done.Add(1)
	g.pending.Add(-1)
}

// watchdog counts, tick by tick, for how long each kind of call has been
// pending without one coming back. Kinds are counted apart: reads that are
// served from memory must not hide a write that is stuck.
type watchdog struct {
	limit time.Duration
	kinds []*watched
	last  time.Time
}

type watched struct {
	name  string
	calls *gauge
	done  uint64
	stuck time.Duration
}

// stallLimit returns the default of Options.Stall.
func stallLimit(heartbeat time.Duration) time.Duration { return max(minStall, 4*heartbeat) }

func (w *watchdog) add(name string, g *gauge) {
	w.kinds = append(w.kinds, &watched{name: name, calls: g})
}

// tick checks the calls once. Only ticks that were seen count, each for the nominal time between two.
func (w *watchdog) tick(now time.Time) error {
	gap := now.Sub(w.last)
	w.last = now
	for _, k := range w.kinds {
		done := k.calls.done.Load()
		if gap > watchGap || done != k.done || k.calls.pending.Load() == 0 {
			k.done, k.stuck = done, 0
			continue
		}
		if k.stuck += watchEvery; k.stuck >= w.limit {
			return fmt.Errorf("%w: no %s came back for %v; check the disk", ErrStalled, k.name, k.stuck)
		}
	}
	return nil
}
