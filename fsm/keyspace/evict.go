package keyspace

import "github.com/trireme-dev/trireme/fsm/env"

// Policy says which keys may be evicted, and in which order, when memory is full.
type Policy uint8

// The policies, by the numbers that the log and snapshots have.
const (
	NoEviction Policy = iota
	AllKeysLRU
	AllKeysLFU
	AllKeysRandom
	VolatileLRU
	VolatileLFU
	VolatileRandom
	VolatileTTL
)

var policyNames = [...]string{"noeviction", "allkeys-lru", "allkeys-lfu", "allkeys-random", "volatile-lru", "volatile-lfu", "volatile-random", "volatile-ttl"}

// PolicyNames are the names of all policies, for people.
const PolicyNames = "noeviction, allkeys-lru, allkeys-lfu, allkeys-random, volatile-lru, volatile-lfu, volatile-random, volatile-ttl"

// String is the policy by Redis's name.
func (p Policy) String() string {
	if int(p) < len(policyNames) {
		return policyNames[p]
	}
	return policyNames[NoEviction]
}

// ParsePolicy finds a policy by its name in lower case.
func ParsePolicy(name string) (Policy, bool) {
	for i, n := range policyNames {
		if n == name {
			return Policy(i), true
		}
	}
	return NoEviction, false
}

// Volatile reports whether only keys with a deadline are evicted.
func (p Policy) Volatile() bool { return p >= VolatileLRU }

// Counts reports whether the policy goes by how often keys are used.
func (p Policy) Counts() bool { return p == AllKeysLFU || p == VolatileLFU }

// DefaultSamples is the number of keys that are compared for each that is evicted.
const DefaultSamples = 5

// maxWalk is the largest number of keys that are visited to find one that may be evicted.
const maxWalk = 1000

// Evicted counts the keys that were evicted since the database was made. It is part of the state.
func (db *DB) Evicted() uint64 { return db.evicted }

// Evict removes what is under key to make room, and returns how much that is.
func (db *DB) Evict(e *env.Env, key string) (freed int64) {
	mustWrite(e)
	o := db.drop(key)
	if o == nil {
		return 0
	}
	db.evicted++
	e.Touch(key)
	return cost(key, o)
}

// Evictable reports whether the policy allows to evict o.
func (o *Object) Evictable(p Policy) bool { return p != NoEviction && (!p.Volatile() || o.Expire != 0) }

// Oldest is a key to evict by what the state knows alone, so that it is the same on every node: of a sample, the one that
// was written first; by VolatileTTL the one whose deadline is nearest. Keys that changed after version before are spared.
func (db *DB) Oldest(e *env.Env, p Policy, samples int, before uint64) (key string, ok bool) {
	var oldest uint64
	seen := 0
	db.walk(e, p, func(name string, o *Object) bool {
		if !o.Evictable(p) || o.Version > before {
			return true
		}
		if seen++; !ok || o.Version < oldest {
			key, oldest, ok = name, o.Version, true
		}
		return seen < samples && p != VolatileTTL && p != AllKeysRandom && p != VolatileRandom
	})
	return key, ok
}

// walk calls f for keys that a policy may be about, from a random place on and around, until it returns false; those of
// VolatileTTL from the nearest deadline on.
func (db *DB) walk(e *env.Env, p Policy, f func(string, *Object) bool) {
	left, more := maxWalk, true
	step := func(o *Object, _ struct{}) bool {
		left--
		more = left > 0 && f(o.key(), o)
		return more
	}
	if !p.Volatile() {
		if n := db.keys.Len(); n > 0 {
			from, _ := db.keys.At(e.IntN(n))
			if db.keys.Ascend(from, step); more {
				db.keys.All(step)
			}
		}
		return
	}
	timed := func(d due, _ struct{}) bool { return step(db.get(d.key), struct{}{}) }
	if n := db.dues.Len(); n > 0 {
		if p == VolatileTTL {
			byTime, byWall := firsts(db.dues)
			if byWall.at != 0 && sooner(byTime.at, byWall.at) == byWall.at { // those by wall time first
				db.dues.Ascend(byWall, timed)
			}
			if more {
				db.dues.All(timed)
			}
			return
		}
		from, _ := db.dues.At(e.IntN(n))
		if db.dues.Ascend(from, timed); more {
			db.dues.All(timed)
		}
	}
}

// Candidate is a key that may be evicted, and how good a choice it is as far as this node knows: the higher, the better.
type Candidate struct {
	Key     string
	Version uint64
	Cost    int64
	Score   int64
}

// Sample calls f for keys, drawn by e's generator, that a policy allows to evict, until it has returned true for as many
// as samples, or none is left within reach.
func (db *DB) Sample(e *env.Env, p Policy, samples int, f func(Candidate) bool) {
	seen := 0
	take := func(key string, o *Object) bool {
		if o.Evictable(p) && f(db.candidate(e, p, key, o)) {
			seen++
		}
		return seen < samples
	}
	if p.Volatile() && p != VolatileTTL { // neighbours have like deadlines: draw each
		for range samples {
			if n := db.dues.Len(); n > 0 {
				d, _ := db.dues.At(e.IntN(n))
				take(d.key, db.get(d.key))
			}
		}
		if seen > 0 {
			return
		}
	}
	db.walk(e, p, take)
}

// Candidate is the key as it is now; false if it is gone or may not be evicted.
func (db *DB) Candidate(e *env.Env, p Policy, key string) (Candidate, bool) {
	o := db.get(key)
	if o == nil || !o.Evictable(p) {
		return Candidate{}, false
	}
	return db.candidate(e, p, key, o), true
}

func (db *DB) candidate(e *env.Env, p Policy, key string, o *Object) Candidate {
	c := Candidate{Key: key, Version: o.Version, Cost: cost(key, o)}
	switch {
	case p.Counts():
		c.Score = int64(255-o.Frequency(e.Now))<<32 | min(db.Idle(e, o)/1000, 1<<32-1)
	case p == AllKeysLRU || p == VolatileLRU:
		c.Score = db.Idle(e, o)
	case p == VolatileTTL:
		c.Score = -o.Expire.Millis()
	}
	return c
}
