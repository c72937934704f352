package command

import (
	"slices"

	"github.com/trireme-dev/trireme/fsm/ascii"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/keyspace"
)

// Evictor makes room for a command by evicting keys.
type Evictor interface {
	// MakeRoom evicts keys until memory is within its limit, and reports whether it is. It accounts for them in tx.
	MakeRoom(tx *Tx) bool
}

// makeRoom has keys evicted, if the policy allows that, and reports whether memory is within its limit.
func (tx *Tx) makeRoom() bool {
	return tx.Room != nil && !tx.ReadOnly && tx.Room.MakeRoom(tx)
}

// Evicted is the event of a key that had to make room.
func (tx *Tx) Evicted(key string) { tx.Event(EvictedEvent, "evicted", []byte(key)) }

// retract takes back the notifications since there were n, because what they tell of is undone. Keys that were evicted
// from other databases meanwhile do not come back, so what is told of those stays.
func (tx *Tx) retract(n int) {
	own := tx.Channels.DB()
	kept := slices.DeleteFunc(tx.Notifications[n:], func(x env.Notification) bool { return x.DB == own })
	tx.Notifications = tx.Notifications[:n+len(kept)]
	tx.pending = tx.pending[:0]
}

// policy returns the eviction policy in force in the database of tx.
func (tx *Tx) policy() keyspace.Policy {
	if tx.Config == nil {
		return tx.ClusterPolicy
	}
	return tx.Config.EvictionPolicy(tx.ClusterPolicy)
}

// SampleSize returns the number of keys that are compared for each that is evicted.
func (c *Config) SampleSize() int { return int(c.value(evictionSamples)) }

// EvictionPolicy is the policy of the database, where cluster is that of those without one.
func (c *Config) EvictionPolicy(cluster keyspace.Policy) keyspace.Policy {
	if own := c.value(evictionPolicy); own > 0 {
		return keyspace.Policy(own - 1)
	}
	return cluster
}

// parsePolicy reads a policy as the setting evictionPolicy has it, or says what is wrong with it.
func parsePolicy(text string) (value int64, wrong string) {
	p, ok := keyspace.ParsePolicy(ascii.Lower(text))
	if !ok {
		return 0, "argument(s) must be one of the following: volatile-lru, volatile-lfu, volatile-random, volatile-ttl, allkeys-lru, allkeys-lfu, allkeys-random, noeviction"
	}
	return int64(p) + 1, ""
}
