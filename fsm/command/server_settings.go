package command

import (
	"math"
	"strconv"

	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// A setting is a number that CONFIG SET changes, of one database on all nodes.
type setting struct {
	name, alias string
	initial     int64
	min, max    int64
}

// The places of the settings, which are their names in snapshots: never used again for another.
const (
	hashEntries = iota
	hashValue
	setInts
	zsetEntries
	zsetValue
	nodeSize
	slowlogMicros
	slowlogEntries
	latencyMillis
	listSize
	listDepth
	streamBytes
	sketchBytes
	setEntries
	setValue
	evictionPolicy
	evictionSamples
	memoryLimit
	expiryHeld
	requestRate
	requestBurst
	settingsCount
)

// settings by their places.
var settings = [settingsCount]setting{
	hashEntries:    {"hash-max-listpack-entries", "hash-max-ziplist-entries", 512, 0, math.MaxInt64},
	hashValue:      {"hash-max-listpack-value", "hash-max-ziplist-value", 64, 0, math.MaxInt64},
	setInts:        {"set-max-intset-entries", "", 512, 0, math.MaxInt64},
	zsetEntries:    {"zset-max-listpack-entries", "zset-max-ziplist-entries", 128, 0, math.MaxInt64},
	zsetValue:      {"zset-max-listpack-value", "zset-max-ziplist-value", 64, 0, math.MaxInt64},
	nodeSize:       {"stream-node-max-entries", "", 100, 0, math.MaxInt64},
	slowlogMicros:  {"slowlog-log-slower-than", "", SlowlogMicros, -1, math.MaxInt64},
	slowlogEntries: {"slowlog-max-len", "", SlowlogLen, 0, maxSlowlog},
	latencyMillis:  {"latency-monitor-threshold", "", LatencyMillis, 0, math.MaxInt64},
	// These are kept and shown, and change nothing: the form of values in memory is our own.
	listSize:    {"list-max-listpack-size", "list-max-ziplist-size", -2, math.MinInt32, math.MaxInt32},
	listDepth:   {"list-compress-depth", "", 0, 0, math.MaxInt32},
	streamBytes: {"stream-node-max-bytes", "", 4096, 0, math.MaxInt64},
	sketchBytes: {"hll-sparse-max-bytes", "", 3000, 0, math.MaxInt64},
	setEntries:  {"set-max-listpack-entries", "", 128, 0, math.MaxInt64},
	setValue:    {"set-max-listpack-value", "", 64, 0, math.MaxInt64},
	// 0 is the policy of the cluster, another number one more than that of a policy.
	evictionPolicy:  {"maxmemory-policy", "", 0, 0, int64(keyspace.VolatileTTL) + 1},
	evictionSamples: {"maxmemory-samples", "", keyspace.DefaultSamples, 1, 64},
	// Only the operator sets it, so CONFIG has no name for it. 0 is the part of the cluster's limit, another number one
	// more than a limit in bytes.
	memoryLimit: {"", "", 0, 0, math.MaxInt64},
	// CLIENT PAUSE sets it: a time in unix milliseconds.
	expiryHeld: {"", "", 0, 0, math.MaxInt64},
	// Only the operator sets these too: requests a second on each node, and at once; 0 = unlimited.
	requestRate:  {"", "", 0, 0, math.MaxInt64},
	requestBurst: {"", "", 0, 0, math.MaxInt64},
}

// What SLOWLOG and LATENCY keep at first.
const (
	// SlowlogMicros is the least duration of a call that SLOWLOG keeps, in microseconds; SlowlogLen the number of calls it keeps.
	SlowlogMicros, SlowlogLen = 10_000, 128
	// LatencyMillis is the least duration of a call that is an event of LATENCY, in milliseconds.
	LatencyMillis = 100
)

// maxSlowlog bounds the slow log, each entry of which may take some kilobytes on each node.
const maxSlowlog = 16_384

// settingAt is the place of a parameter by its name in lower case, -1 if it is none.
func settingAt(name string) int {
	for i := range settings {
		if s := &settings[i]; name != "" && (name == s.name || name == s.alias) {
			return i
		}
	}
	return -1
}

// parse reads a value, or says what is wrong with it.
func (s *setting) parse(text string) (value int64, wrong string) {
	n, ok := ParseInt([]byte(text))
	switch {
	case !ok:
		return 0, "argument couldn't be parsed into an integer"
	case n < s.min || n > s.max:
		return 0, "argument must be between " + strconv.FormatInt(s.min, 10) + " and " + strconv.FormatInt(s.max, 10) + " inclusive"
	}
	return n, ""
}

// value returns the value in force of the setting at that position.
func (c *Config) value(at int) int64 { return settings[at].initial + c.differs[at] }

func (c *Config) set(at int, value int64) { c.differs[at] = value - settings[at].initial }

// EncodeSettings writes the settings that were changed, nothing if none was: so the record is
// as it was before there were any.
func (c *Config) EncodeSettings(w *wire.Writer) {
	for at, d := range c.differs {
		if d != 0 {
			w.Uvarint(uint64(at))
			w.Varint(d)
		}
	}
}

// DecodeSettings reads what is left of a record; settings that this version does not know are
// passed over.
func (c *Config) DecodeSettings(r *wire.Reader) {
	for r.Len() > 0 && r.Err() == nil {
		at, d := r.Uvarint(), r.Varint()
		if at >= settingsCount || r.Err() != nil {
			continue
		}
		if s := &settings[at]; d >= s.min-s.initial && d <= s.max-max(s.initial, 0) {
			c.differs[at] = d
		}
	}
}

// Thresholds are the limits above which a node records a call of a database as slow.
type Thresholds struct {
	// SlowMicros is the least duration of a call that SLOWLOG keeps (-1 = none), SlowLen the
	// number of calls it keeps. LatencyMillis is that of an event of LATENCY (0 = none).
	SlowMicros, SlowLen, LatencyMillis int64
}

// MemoryLimit is the most memory of the database in bytes, 0 for none but the cluster's, and whether one was set for it.
func (c *Config) MemoryLimit() (bytes int64, set bool) {
	own := c.value(memoryLimit)
	return own - 1, own > 0
}

// SetMemoryLimit sets that limit; a negative one takes it away.
func (c *Config) SetMemoryLimit(bytes int64) {
	c.set(memoryLimit, min(max(bytes, -1), math.MaxInt64-1)+1)
}

// RequestRate returns the limits of the requests that each node answers the database in a second, and at once (0 = unlimited).
func (c *Config) RequestRate() (rate, burst int64) {
	return c.value(requestRate), c.value(requestBurst)
}

// SetRequestRate sets that rate. Without a burst it is as many as in a second.
func (c *Config) SetRequestRate(rate, burst int64) {
	if rate = max(rate, 0); rate == 0 || burst <= 0 {
		burst = rate
	}
	c.set(requestRate, rate)
	c.set(requestBurst, burst)
}

// ExpiryHeld is the time, in unix milliseconds, before which no key of the database is removed because its deadline has
// passed.
func (c *Config) ExpiryHeld() (unixms int64) { return c.value(expiryHeld) }

// HoldExpiry sets that time.
func (c *Config) HoldExpiry(unixms int64) { c.set(expiryHeld, max(unixms, 0)) }

// Thresholds returns the thresholds that the settings set.
func (c *Config) Thresholds() Thresholds {
	return Thresholds{c.value(slowlogMicros), c.value(slowlogEntries), c.value(latencyMillis)}
}

// thresholds are those of OBJECT ENCODING: what Redis 7.0 does is for clients of RESP, where
// parameters can be set.
func (tx *Tx) thresholds() keyspace.Thresholds {
	if !tx.dialect().configuredEncodings || tx.Config == nil {
		return keyspace.DefaultThresholds()
	}
	c := tx.Config
	return keyspace.Thresholds{HashEntries: c.value(hashEntries), HashValue: c.value(hashValue), SetInts: c.value(setInts),
		ZSetEntries: c.value(zsetEntries), ZSetValue: c.value(zsetValue), Redis7: true}
}

// nodeEntries are the entries of a stream that Redis keeps in one node of its tree, 0 for any
// number.
func (tx *Tx) nodeEntries() int64 {
	if tx.Config == nil {
		return settings[nodeSize].initial
	}
	return tx.Config.value(nodeSize)
}
