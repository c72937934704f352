package keyspace

import "trireme/fsm/env"

// Scan calls f for live keys from cursor on until it has passed count keys, and
// gives the cursor to go on at, 0 at the end. Keys that stay are met at least once
// by a series of scans, whatever is written meanwhile and whichever node answers.
func (db *DB) Scan(e *env.Env, cursor uint64, count int, f func(key string, o *Object)) (next uint64) {
	seen, last := 0, uint64(0)
	db.keys.Ascend(place{hash: cursor}, func(p place, o *Object) bool {
		if seen >= count && p.hash != last {
			next = p.hash
			return false
		}
		seen, last = seen+1, p.hash
		if !o.expired(e.Now) {
			f(p.key, o)
		}
		return true
	})
	return next
}

// All calls f for every live key until it returns false.
func (db *DB) All(e *env.Env, f func(key string, o *Object) bool) {
	db.keys.All(func(p place, o *Object) bool { return o.expired(e.Now) || f(p.key, o) })
}

// randomTries is how many expired keys RandomKey steps over by chance before it
// looks at all keys in order.
const randomTries = 100

// RandomKey is a live key drawn by e's generator.
func (db *DB) RandomKey(e *env.Env) (key string, ok bool) {
	n := db.keys.Len()
	if n == 0 {
		return "", false
	}
	for range randomTries {
		if p, o := db.keys.At(e.IntN(n)); !o.expired(e.Now) {
			return p.key, true
		}
	}
	db.All(e, func(k string, _ *Object) bool { key, ok = k, true; return false })
	return key, ok
}

// NextDue is the earliest deadline of any key.
func (db *DB) NextDue() (unixms int64, ok bool) {
	d, _, ok := db.dues.Min()
	return d.at, ok
}

// Sweep removes at most limit keys whose deadline has passed and says how many.
func (db *DB) Sweep(e *env.Env, limit int) (removed int) {
	mustWrite(e)
	for removed < limit {
		d, _, ok := db.dues.Min()
		if !ok || d.at > e.Now {
			break
		}
		if db.drop(placeOf(d.key)) == nil {
			panic("keyspace: expiry index names a missing key")
		}
		removed++
	}
	return removed
}
