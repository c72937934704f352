package keyspace

import (
	"sync/atomic"

	"github.com/trireme-dev/trireme/fsm/env"
)

// When a key was last used is known to each node by itself: reads are not in the log. It is no part of the replicated
// state, of its digest or of snapshots, and nothing that an apply computes depends on it. docs/design/eviction.md has
// the reasons.
//
// An object's access word has the time of the last use in milliseconds above a counter of eight bits, which grows
// with the logarithm of the number of uses (counted while a policy asks for it). It is stored by readers beside each
// other, so of two at once one may be lost. 0 means that the object comes from a snapshot and was not used since.

const (
	// accessBits is the width of the counter in bits.
	accessBits = 8
	// accessStep is the largest delay of the time of the last use, in milliseconds: a key that is read all the time is
	// written to only once in that time, so that its cache line can be shared.
	accessStep = 64
	// newCounter is the counter of a new key, so that it isn't the first to go before it was used at all.
	newCounter = 5
)

// accessAt returns the access word of a use at a time.
func accessAt(now int64, counter uint8) uint64 {
	return uint64(max(now, 0))<<accessBits | uint64(counter)
}

// accessTime is the time of the last use in a word, in unix milliseconds.
func accessTime(word uint64) int64 { return int64(word >> accessBits) }

// touch notes that o, which was looked up, is used now, and reports whether that was not noted within accessStep.
func (o *Object) touch(e *env.Env) (noted bool) {
	e.Looked = true
	if e.Counting {
		return o.count(e)
	}
	was := atomic.LoadUint64(&o.access)
	if noted = e.Now-accessTime(was) >= accessStep; noted {
		atomic.StoreUint64(&o.access, accessAt(e.Now, uint8(was)))
	}
	return noted
}

// passOn gives a copy of o its deadline, its version and what is known of its use.
func (o *Object) passOn(c *Object) *Object {
	c.Expire, c.Version, c.access = o.Expire, o.Version, atomic.LoadUint64(&o.access)
	return c
}

// arrive gives o, which is about to be stored, its access word: that of what was under the key before, used now, or a
// new one.
func (o *Object) arrive(e *env.Env, before *Object) {
	switch {
	case o.access != 0: // it was under another key, or is a changed copy
	case before == nil || before.expired(e.Time):
		o.access = accessAt(e.Now, newCounter)
	default:
		o.access = atomic.LoadUint64(&before.access)
		if !e.Looked {
			o.touch(e)
		}
	}
}

// Idle is for how many milliseconds o was not used, as far as this node knows.
func (db *DB) Idle(e *env.Env, o *Object) int64 {
	return max(0, e.Now-max(db.since, accessTime(atomic.LoadUint64(&o.access))))
}

// lastUse is the time of the last use of o in unix milliseconds, 0 if it is not known.
func (o *Object) lastUse() int64 { return accessTime(atomic.LoadUint64(&o.access)) }

// Arrived tells when the keys of a snapshot came to be here: that of their last use is not known.
func (db *DB) Arrived(now int64) { db.since = now }

// Touches is a count that rises with every key that is stored, changed or removed on this node.
func (db *DB) Touches() uint64 { return db.touches }

// CountChanges adds the changes of a command to those since MarkSaved.
func (db *DB) CountChanges(n int64) { db.dirty += n }

// Unsaved is the number of changes since MarkSaved on this node.
func (db *DB) Unsaved() int64 { return db.dirty - db.saved }

// MarkSaved says that everything so far is in a snapshot.
func (db *DB) MarkSaved() { db.saved = db.dirty }

// The counter of uses, as Redis's default settings have it.
const (
	// counterFactor slows the counter down: at n above newCounter one use in n times so many raises it.
	counterFactor = 10
	// counterDecay is the time without a use that lowers it by one, in milliseconds.
	counterDecay = 60_000
)

// Frequency is the counter of uses at a time: 0 to 255, the logarithm of how often the object was used lately.
func (o *Object) Frequency(now int64) uint8 { return decayed(atomic.LoadUint64(&o.access), now) }

func decayed(word uint64, now int64) uint8 {
	counter := int64(uint8(word))
	return uint8(max(0, counter-max(0, now/counterDecay-accessTime(word)/counterDecay)))
}

// count notes a use of o by a policy that counts them, as touch does.
func (o *Object) count(e *env.Env) (noted bool) {
	was := atomic.LoadUint64(&o.access)
	counter := decayed(was, e.Now)
	above := uint64(max(0, int(counter)-newCounter))
	if counter < 255 && e.Chance(was)%(above*counterFactor+1) == 0 {
		counter++
	}
	noted = counter != uint8(was) || e.Now-accessTime(was) >= accessStep
	if noted {
		atomic.StoreUint64(&o.access, accessAt(max(e.Now, accessTime(was)), counter))
	}
	return noted
}
