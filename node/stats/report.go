package stats

import (
	"maps"
	"slices"
	"strings"

	"github.com/trireme-dev/trireme/fsm/command"
)

// Totals are the sums over all rows and the statistics of connections.
func (d *Database) Totals() command.Totals {
	t := command.Totals{FreedBefore: d.freed.Load(), ExpiredBefore: d.expired.Load(), EvictedBefore: d.evicted.Load(), Hits: d.hits.Load(), Misses: d.misses.Load()}
	for _, r := range d.called() {
		t.Processed += r.calls.Load()
	}
	d.tick(0)
	t.PerSecond = d.before.Load()
	d.node.mu.Lock()
	ask := d.node.clients
	d.node.mu.Unlock()
	if ask == nil {
		return t
	}
	c := ask(d.name)
	t.Received, t.Rejected, t.In, t.Out = c.Received, c.Rejected, c.In, c.Out
	t.MostConnections, t.MostTracked = c.MostConnections, c.MostTracked
	t.Connected, t.Blocked, t.Tracking, t.Subscribed, t.Watching = c.Connected, c.Blocked, c.Tracking, c.Subscribed, c.Watching
	t.WatchedKeys, t.TrackedKeys, t.TrackedPrefixes = c.WatchedKeys, c.TrackedKeys, c.TrackedPrefixes
	return t
}

// Calls are the statistics of every row that was called.
func (d *Database) Calls() (calls []command.CallFigures) {
	for _, r := range d.called() {
		f := command.CallFigures{Name: strings.ReplaceAll(d.node.rows[r.number].Name, " ", "|"), Calls: r.calls.Load(), Failed: r.failed.Load(), Rejected: r.rejected.Load(), Nanos: r.nanos.Load()}
		if f.Calls == 0 && f.Rejected == 0 {
			continue
		}
		for j := range r.histogram {
			f.Histogram[j] = r.histogram[j].Load()
		}
		calls = append(calls, f)
	}
	return calls
}

// Errors are the classes of errors by name.
func (d *Database) Errors() (list []command.ErrorCount) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, class := range slices.Sorted(maps.Keys(d.errors)) {
		list = append(list, command.ErrorCount{Class: class, Count: d.errors[class]})
	}
	return list
}

// Spikes are the events by name.
func (d *Database) Spikes() (list []command.Spike) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(d.spikes)) {
		s := *d.spikes[name]
		s.Samples = slices.Clone(s.Samples)
		list = append(list, s)
	}
	return list
}

// Reset clears the sums, the statistics of rows and the errors.
func (d *Database) Reset(freed, evicted int64) {
	d.freed.Store(freed)
	d.evicted.Store(evicted)
	for _, r := range d.called() {
		r.calls.Store(0)
		r.failed.Store(0)
		r.rejected.Store(0)
		r.nanos.Store(0)
		for j := range r.histogram {
			r.histogram[j].Store(0)
		}
	}
	d.hits.Store(0)
	d.misses.Store(0)
	d.mu.Lock()
	defer d.mu.Unlock()
	clear(d.errors)
}

// ResetExpired begins to count expired keys anew.
func (d *Database) ResetExpired(expired int64) { d.expired.Store(expired) }

// ResetSpikes clears events and returns how many there were.
func (d *Database) ResetSpikes(names []string) (n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(names) == 0 {
		n = len(d.spikes)
		clear(d.spikes)
		return n
	}
	for _, name := range names {
		if d.spikes[name] != nil {
			delete(d.spikes, name)
			n++
		}
	}
	return n
}

// Sum adds up the calls of all databases, and how many took up to 2^i nanoseconds. It calls each for every database.
func (n *Node) Sum(each func(database string, calls int64)) (calls int64, histogram [command.Buckets]int64) {
	n.dbs.Range(func(_, v any) bool {
		d := v.(*Database)
		before := calls
		for _, r := range d.called() {
			ran := r.calls.Load()
			if calls += ran; ran == 0 {
				continue
			}
			for b := range r.histogram {
				histogram[b] += r.histogram[b].Load()
			}
		}
		each(d.name, calls-before)
		return true
	})
	return calls, histogram
}
