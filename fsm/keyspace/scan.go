package keyspace

import "github.com/trireme-dev/trireme/fsm/env"

// Scan calls f for live keys from cursor on until it has passed count keys, and
// gives the cursor to go on at, 0 at the end. Keys that stay are met at least once
// by a series of scans, whatever is written meanwhile and whichever node answers.
func (db *DB) Scan(e *env.Env, cursor uint64, count int, f func(key string, o *Object)) (next uint64) {
	seen, last := 0, uint64(0)
	db.keys.AscendHead(cursor, func(o *Object, _ struct{}) bool {
		key := o.key()
		hash := hashOf(key)
		if seen >= count && hash != last {
			next = hash
			return false
		}
		seen, last = seen+1, hash
		if !o.expired(e.Time) {
			f(key, o)
		}
		return true
	})
	return next
}

// All calls f for every live key until it returns false.
func (db *DB) All(e *env.Env, f func(key string, o *Object) bool) {
	db.keys.All(func(o *Object, _ struct{}) bool { return o.expired(e.Time) || f(o.key(), o) })
}

// RandomKey is a live key drawn by e's generator: one at a random place, or the
// next live one behind it.
func (db *DB) RandomKey(e *env.Env) (key string, ok bool) {
	n := db.keys.Len()
	if n == 0 || db.Live(e) == 0 {
		return "", false
	}
	live := func(o *Object, _ struct{}) bool {
		if o.expired(e.Time) {
			return true
		}
		key, ok = o.key(), true
		return false
	}
	from, _ := db.keys.At(e.IntN(n))
	db.keys.Ascend(from, live)
	if !ok {
		db.keys.All(live)
	}
	return key, ok
}

// Live is the number of keys that are not gone. A hash that has deadlines of both kinds may count until it is swept.
func (db *DB) Live(e *env.Env) int {
	return db.keys.Len() - passed(db.dues, e.Time)
}

// Deadlines is the number of keys that have one.
func (db *DB) Deadlines() int { return db.dues.Len() }

// NextByTime is the earliest deadline of any key or field by cluster time, in unix milliseconds.
func (db *DB) NextByTime() (unixms int64, ok bool) {
	key, _ := firsts(db.dues)
	field, _ := firsts(db.fields)
	at := sooner(key.at, field.at)
	return at.Millis(), at != 0
}

// NextByWall is the earliest deadline of any key or field by wall time, in unix milliseconds.
func (db *DB) NextByWall() (unixms int64, ok bool) {
	_, key := firsts(db.dues)
	_, field := firsts(db.fields)
	at := sooner(key.at, field.at)
	return at.Millis(), at != 0
}

// Sweep removes at most limit keys and fields whose deadline has passed, keys first, and
// says how many.
func (db *DB) Sweep(e *env.Env, limit int) (removed int) {
	mustWrite(e)
	for removed < limit {
		d, ok := overdue(db.dues, e.Time)
		if !ok {
			break
		}
		db.expire(e, d.key)
		removed++
	}
	return removed + db.sweepFields(e, limit-removed)
}

// expire removes a key of an index whose deadline has passed.
func (db *DB) expire(e *env.Env, key string) {
	o := db.drop(key)
	if o == nil {
		panic("keyspace: expiry index names a missing key")
	}
	db.expired++
	watchRemoved(e, key, o)
	e.Touch(key)
}
