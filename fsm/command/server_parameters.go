package command

import (
	"strconv"
	"strings"

	"github.com/trireme-dev/trireme/fsm/glob"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// parameter is a parameter of Redis that tools read and that is not set here: its value says
// what holds in this system, and why says why it can't be another.
type parameter struct {
	name, why string
	value     func(tx *Tx) string
}

// What SLOWLOG and LATENCY keep.
const (
	// SlowlogMicros is how long a call takes that SLOWLOG keeps, SlowlogLen how many it keeps.
	SlowlogMicros, SlowlogLen = 10_000, 128
	// LatencyMillis is how long a call takes that is an event of LATENCY.
	LatencyMillis = 100
)

func holds(text string) func(*Tx) string { return func(*Tx) string { return text } }

// Reasons of several parameters.
const (
	whyEncoding = "values are told apart by the thresholds of Redis, which are the same on every node"
	whyDurable  = "every write is on the disks of a majority before it is answered"
	whyScripts  = "a script ends by the steps that it takes: set max-script-steps"
	whyFixed    = "it is the same on every node"
)

// parameters in the order of their names.
var parameters = []parameter{
	{"appendfsync", whyDurable, holds("always")},
	{"appendonly", whyDurable, holds("yes")},
	{"busy-reply-threshold", whyScripts, holds("0")},
	{"cluster-enabled", "any node answers for all keys", holds("yes")},
	{"databases", "databases are made by /admin/databases", holds("1")},
	{"hash-max-listpack-entries", whyEncoding, holds("512")},
	{"hash-max-listpack-value", whyEncoding, holds("64")},
	{"hash-max-ziplist-entries", whyEncoding, holds("512")},
	{"hash-max-ziplist-value", whyEncoding, holds("64")},
	{"latency-monitor-threshold", whyFixed, holds(strconv.Itoa(LatencyMillis))},
	{"list-max-listpack-size", whyEncoding, holds("-2")},
	{"list-max-ziplist-size", whyEncoding, holds("-2")},
	{"lua-time-limit", whyScripts, holds("0")},
	{"maxmemory", "it is a setting of the cluster: --max-memory", func(tx *Tx) string { return strconv.FormatInt(tx.MaxMemory, 10) }},
	{"maxmemory-policy", "nothing is ever evicted", holds("noeviction")},
	{"save", whyDurable, holds("")},
	{"set-max-intset-entries", whyEncoding, holds("512")},
	{"set-max-listpack-entries", whyEncoding, holds("128")},
	{"set-max-listpack-value", whyEncoding, holds("64")},
	{"slowlog-log-slower-than", whyFixed, holds(strconv.Itoa(SlowlogMicros))},
	{"slowlog-max-len", whyFixed, holds(strconv.Itoa(SlowlogLen))},
	{"zset-max-listpack-entries", whyEncoding, holds("128")},
	{"zset-max-listpack-value", whyEncoding, holds("64")},
	{"zset-max-ziplist-entries", whyEncoding, holds("128")},
	{"zset-max-ziplist-value", whyEncoding, holds("64")},
}

// parameter finds a parameter that is not set here.
func (tx *Tx) parameter(name string) *parameter {
	if !tx.tellsParameters() {
		return nil
	}
	for i := range parameters {
		if parameters[i].name == name {
			return &parameters[i]
		}
	}
	return nil
}

// appendParameters adds those that match a pattern.
func (tx *Tx) appendParameters(to []reply.Value, patterns [][]byte) []reply.Value {
	if !tx.tellsParameters() {
		return to
	}
	for _, p := range parameters {
		for _, pattern := range patterns {
			if glob.Match(strings.ToLower(string(pattern)), p.name) {
				to = append(to, reply.Bulk(p.name), reply.Bulk(p.value(tx)))
				break
			}
		}
	}
	return to
}
