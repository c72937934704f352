package command

// Figures are a node's counts of the commands that came in through its origins for one
// database, since it started or the counts were reset. They are the node's own: no
// apply sees them. Implementations are safe for concurrent use.
type Figures interface {
	// Totals are the sums and what the node knows of connections.
	Totals() Totals
	// Calls are the figures of every row that was called, in the order of the table.
	Calls() []CallFigures
	// Errors counts the errors that were answered, by their first word, in its order.
	Errors() []ErrorCount
	// Slow are the newest n calls that took long, newest first; all of them for n < 0.
	Slow(n int) []SlowCall
	// Spikes are the events of LATENCY, by name.
	Spikes() []Spike
	// Reset forgets the sums, the figures of rows and the errors; freed are the objects that were
	// freed until now, evicted the keys that were evicted.
	Reset(freed, evicted int64)
	// ResetExpired begins to count expired keys anew; expired are those until now.
	ResetExpired(expired int64)
	// ResetSlow forgets the slow calls.
	ResetSlow()
	// ResetSpikes forgets events, all of them without a name, and counts those that were
	// there.
	ResetSpikes(names []string) int
}

// Totals are sums over all origins, of connections those of the RESP port.
type Totals struct {
	// Processed counts commands, Hits and Misses reads of one key that found it or not.
	Processed, Hits, Misses int64
	// FreedBefore are the objects that were freed before the last Reset, EvictedBefore the keys that were evicted.
	FreedBefore, EvictedBefore int64
	// ExpiredBefore are the keys that had expired before the last Reset.
	ExpiredBefore int64
	// PerSecond is the number of commands that came in the last whole second.
	PerSecond int64
	// Received counts connections that were opened, Rejected those that were refused.
	Received, Rejected int64
	// In and Out are the bytes that came and went.
	In, Out int64
	// Connected are the connections that there are, of them Blocked wait in a command,
	// Tracking have their reads tracked, Subscribed are subscribed to channels, Watching
	// watch keys; WatchedKeys and TrackedKeys count keys.
	Connected, Blocked, Tracking, Subscribed, Watching int64
	WatchedKeys, TrackedKeys, TrackedPrefixes          int64
	// MostConnections is the limit of connections, 0 for none, MostTracked that of keys that are
	// tracked.
	MostConnections, MostTracked int64
}

// Buckets is the number of buckets of a histogram.
const Buckets = 40

// CallFigures are those of one row. Times are those that the node took to answer, the
// share of a call in a batch included.
type CallFigures struct {
	// Name is the row's as clients see it, such as "config|get".
	Name string
	// Calls ran, Failed of them answered an error, Rejected did not run.
	Calls, Failed, Rejected int64
	// Nanos is the time of all calls together, in nanoseconds.
	Nanos int64
	// Histogram counts calls of up to 2^i nanoseconds in place i.
	Histogram [Buckets]int64
}

// Percentile bounds the nanoseconds that so many of a hundred calls took.
func (f *CallFigures) Percentile(p float64) int64 {
	want, seen := int64(float64(f.Calls)*p/100), int64(0)
	for i, n := range f.Histogram {
		if seen += n; n > 0 && seen >= want {
			return 1 << i
		}
	}
	return 0
}

// ErrorCount counts the replies with errors of one class.
type ErrorCount struct {
	Class string
	Count int64
}

// SlowCall is a call that took long.
type SlowCall struct {
	ID int64
	// At is the time of the reply in unix seconds, Micros the duration in microseconds.
	At, Micros int64
	// Argv is shortened, without secrets.
	Argv []string
	// Addr and Name are those of the client's connection; empty over HTTP.
	Addr, Name string
}

// Spike is an event of LATENCY: calls of a kind that took very long.
type Spike struct {
	Event string
	// Most is the longest there ever was, in milliseconds.
	Most int64
	// Samples are in the order of time, one a second at most.
	Samples []SpikeSample
}

// SpikeSample is the longest call of a second.
type SpikeSample struct {
	// At is in unix seconds.
	At, Millis int64
}

// figures returns the node's figures of the database, nil in an apply.
func (tx *Tx) figures() Figures {
	if tx.Host == nil || tx.Host.Figures == nil {
		return nil
	}
	return tx.Host.Figures(tx.Channels.DB())
}
