package fsm

import (
	"math"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/workflow"
)

// never is the time of what is not due.
const never = math.MaxInt64

// summary is what State.databases knows of a database, and of many together, without a look at it: when something in it is due
// next, in unix milliseconds, and what it has. A database in quarantine has nothing that is due. See docs/design/databases.md.
type summary struct {
	keys, messages, runs int64 // to be swept
	wallKeys, wallTicks  int64 // keys to be swept, and the first tick of a schedule, by wall time
	deliveries, waits    int64 // messages and waits of runs for which there is an Advance to do
	overdue, ticks       int64 // the first message that waits, and the first tick of a schedule
	evictable            int64 // bytes of keys, if keys may be evicted: the most of one database
	traits               traits
}

// traits are properties of a database, one bit each. Many databases have those of each of them.
type traits uint16

const (
	isQuarantined traits = 1 << iota
	hasIndexes           // for search
	hasRuns              // of workflows
	hasClaims            // attempts under way
	isUntrimmed          // see workflow.Store.Trims
	evictsOwn            // keys may be evicted for its own memory limit
	nearOwn              // and it is near that limit
	hasUsers             // beside the built-in ones
	hasLarge             // strings that may go to the disk, or are there
	isCrowded            // events or ended runs take the bytes that they may
)

func nothingDue() summary {
	return summary{keys: never, wallKeys: never, wallTicks: never, messages: never, runs: never, deliveries: never, waits: never, overdue: never, ticks: never}
}

// join adds what another summary says.
func (s *summary) join(o *summary) {
	s.keys, s.messages, s.runs = min(s.keys, o.keys), min(s.messages, o.messages), min(s.runs, o.runs)
	s.wallKeys, s.wallTicks = min(s.wallKeys, o.wallKeys), min(s.wallTicks, o.wallTicks)
	s.deliveries, s.waits = min(s.deliveries, o.deliveries), min(s.waits, o.waits)
	s.overdue, s.ticks = min(s.overdue, o.overdue), min(s.ticks, o.ticks)
	s.evictable = max(s.evictable, o.evictable)
	s.traits |= o.traits
}

// nextSweep returns the cluster time at which the next record of any kind is to be swept.
func (s *summary) nextSweep(now env.Time) int64 {
	return min(s.keys, now.Reaches(s.wallKeys), s.messages, s.runs)
}

// nextAdvance returns the cluster time at which there is an Advance to do.
func (s *summary) nextAdvance(now env.Time) int64 {
	return min(s.deliveries, now.Reaches(s.wallTicks), s.waits)
}

// expires reports whether there are keys to be swept.
func (s *summary) expires(now env.Time) bool { return s.keys <= now.Now || s.wallKeys <= now.Wall }

// ticking reports whether the time of a schedule has come.
func (s *summary) ticking(now env.Time) bool { return s.ticks <= now.Now || s.wallTicks <= now.Wall }

// advances reports whether there is an Advance to do.
func (s *summary) advances(now env.Time) bool {
	return s.deliveries <= now.Now || s.waits <= now.Now || s.wallTicks <= now.Wall
}

// has returns the condition that a database has one of those traits.
func has(t traits) func(*summary) bool { return func(s *summary) bool { return s.traits&t != 0 } }

// at is a time that may be none.
func at(unixms int64, ok bool) int64 {
	if !ok {
		return never
	}
	return unixms
}

// summarize is the summary of a database as it is now.
func (s *State) summarize(d *database) summary {
	n := nothingDue()
	if d.search.Len() > 0 {
		n.traits |= hasIndexes
	}
	if d.users.Len() > builtinUsers {
		n.traits |= hasUsers
	}
	if d.keys.MayShift() {
		n.traits |= hasLarge
	}
	if d.quarantined != 0 {
		n.traits |= isQuarantined
		return n
	}
	n.keys, n.wallKeys = at(d.keys.NextByTime()), at(d.keys.NextByWall())
	if held := d.config.ExpiryHeld(); held != 0 { // the hold ends then, whether keys wait for it or not
		n.keys, n.wallKeys = held, never
	}
	if s.mayEvict(d) {
		n.evictable = d.keys.Used()
		if limit := s.memoryLimit(d); limit > 0 {
			n.traits |= evictsOwn
			if s.usedBy(d) > limit-limit/8 {
				n.traits |= nearOwn
			}
		}
	}
	if m := d.messages; m != nil {
		n.messages, n.deliveries = at(m.SweepAt()), at(m.NextByTime())
		n.overdue, n.ticks = at(m.Overdue()), at(m.FirstTick())
		n.wallTicks = at(m.NextByWall())
		if _, active := m.Parallel(); active > 0 {
			n.traits |= hasClaims
		}
		if m.Crowded() {
			n.traits |= isCrowded
		}
	}
	if w := d.workflows; w != nil {
		n.runs, n.waits = at(w.SweepAt(d.messages)), at(w.NextDue())
		if w.Counts().Runs > 0 {
			n.traits |= hasRuns
		}
		if w.Trims() {
			n.traits |= isUntrimmed
		}
		if w.Crowded() {
			n.traits |= isCrowded
		}
	}
	return n
}

// sums are what a database counts for in Totals, and what all databases come to.
type sums struct {
	used     int64 // logical memory, see State.usedBy
	keyBytes int64 // of that, keys that are not in quarantine
	evicted  uint64
	// cold counts strings on the disk of this node, coldBytes their bytes.
	cold, coldBytes int64
	claimed         int // deliveries under way that are not in quarantine
	keys            int
	users           int
	libraries       int
	messages        queue.Counts
	workflows       workflow.Counts
}

// count returns what a database counts for as it is now.
func (s *State) count(d *database) sums {
	n := sums{used: s.usedBy(d), evicted: d.keys.Evicted(), keys: d.keys.Len(), users: d.users.Len()}
	n.libraries, _ = d.scripts.Counts()
	n.cold, n.coldBytes = d.keys.ColdValues()
	if d.messages != nil {
		n.messages, n.workflows = d.messages.Counts(), d.workflows.Counts()
	}
	if d.quarantined == 0 {
		n.keyBytes, n.claimed = d.keys.Used(), n.messages.Active
	}
	return n
}

// add adds what a database counts for now, in place of what it counted for before.
func (s *sums) add(now, before *sums) {
	s.used += now.used - before.used
	s.keyBytes += now.keyBytes - before.keyBytes
	s.evicted += now.evicted - before.evicted
	s.claimed += now.claimed - before.claimed
	s.keys += now.keys - before.keys
	s.cold += now.cold - before.cold
	s.coldBytes += now.coldBytes - before.coldBytes
	s.users += now.users - before.users
	s.libraries += now.libraries - before.libraries
	s.messages.Add(now.messages)
	s.messages.Sub(before.messages)
	s.workflows.Add(now.workflows)
	s.workflows.Sub(before.workflows)
}
