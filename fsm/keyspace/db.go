package keyspace

import (
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/trireme-dev/trireme/fsm/cow"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// DB is one keyspace. Reads may run side by side; a writer must be alone.
type DB struct {
	keys    *cow.BTree[*Object, struct{}] // by key, in the order of hashOf, then of bytes
	dues    *dueIndex                     // keys by the moment they go
	fields  *dueIndex                     // keys by the moments at which their hash must be looked at, see schedule
	used    int64
	epoch   uint64 // changes with every fork; this node's own affair
	freed   int64  // objects that Redis would have freed in the background; the same
	expired int64  // keys that were removed because their time had come; the same
	// These are this node's own affair too: when the keys came here in a snapshot, changes, and those of them that are in
	// a snapshot; see access.go.
	since, dirty, saved int64
	touches             uint64
	hot                 []string // keys of containers that are not packed, the one that was noted first at the beginning; see packed.go
	room                wire.Writer
	cold                coldCount
	history
}

// New is an empty keyspace.
func New() *DB {
	return &DB{
		keys:   cow.NewBTree[*Object, struct{}](headOfObject, compareObjects),
		dues:   newDueIndex(),
		fields: newDueIndex(),
		epoch:  1,
	}
}

// Fork is the keyspace as it is now, in constant time. Both sides may go on.
func (db *DB) Fork() *DB {
	f := &DB{keys: db.keys.Snapshot(), dues: db.dues.Snapshot(), fields: db.fields.Snapshot(), used: db.used, epoch: db.epoch + 1, freed: db.freed, expired: db.expired, history: db.history,
		since: db.since, dirty: db.dirty, saved: db.saved, touches: db.touches, cold: db.cold}
	db.epoch += 2
	return f
}

// hashOf orders keys: 52 bits, so that a cursor survives clients that keep it in
// a double. Keys of one hash stand in byte order, so chosen collisions cost no more
// than comparing them.
func hashOf(key string) uint64 { return xxhash.Sum64String(key) >> 12 }

func headOfObject(o *Object) uint64 { return hashOf(o.key()) }

func compareObjects(a, b *Object) int { return strings.Compare(a.key(), b.key()) }

func compareKey(o *Object, key string) int { return strings.Compare(o.key(), key) }

// get returns the object stored under key, expired or not, nil if there is none.
func (db *DB) get(key string) *Object {
	o, _, _ := cow.GetBy(db.keys, hashOf(key), key, compareKey)
	return o
}

// slot is the place of what is stored under key until the next change, which is nil, and must be
// filled, if there is nothing yet.
func (db *DB) slot(key string) **Object {
	slot, _, _ := cow.UpsertBy(db.keys, hashOf(key), key, compareKey)
	return slot
}

// probe is key for a look-up: it aliases the bytes and must not be stored.
func probe(key []byte) string { return Alias(key) }

// Len is the number of keys, expired ones that are not swept yet included.
func (db *DB) Len() int { return db.keys.Len() }

// Used is the logical memory in bytes: what the keys and values need on any node by
// one arithmetic, not what this process happens to use.
func (db *DB) Used() int64 { return db.used }

// The logical overheads of a key, and of a deadline, in bytes.
const (
	keyCost    = 112
	expireCost = 48
)

// Cost is the logical size in bytes of key with o under it.
func (o *Object) Cost(key []byte) int64 { return cost(Alias(key), o) }

// Overhead returns the bytes of the logical memory that keys take by themselves, and those
// of their deadlines.
func (db *DB) Overhead() (keys, deadlines int64) {
	return keyCost * int64(db.Len()), expireCost * int64(db.Deadlines())
}

func cost(key string, o *Object) int64 {
	c := keyCost + int64(len(key)) + o.size()
	if o.Expire != 0 {
		c += expireCost
	}
	return c
}

// expired reports whether o is gone at now: past its deadline, or a hash whose fields all
// are.
func (o *Object) expired(now env.Time) bool {
	if o.Expire.Passed(now) || o.form != holding {
		return o.Expire.Passed(now)
	}
	h, is := o.Data().(*Fields)
	return is && (h.known.gone.Passed(now) || h.mixed() && h.fields.len() > 0 && h.expired(now) == h.fields.len())
}

// Find is the object under key, nil if there is none or its deadline has passed. It counts as a use of the key, unless
// the command is one that only asks about it.
func (db *DB) Find(e *env.Env, key []byte) *Object {
	o := db.live(e, key)
	switch {
	case o != nil && !e.NoTouch:
		if o.touch(e) {
			e.TellUse(key)
		}
	case o == nil && e.Watch != nil:
		e.Watch(env.Missed, string(key))
	}
	return o.lend(e)
}

// Peek is Find without a notification of a miss, and does not count as a use of the key.
func (db *DB) Peek(e *env.Env, key []byte) *Object { return db.live(e, key).lend(e) }

// live is the object under key as the tree has it, nil if there is none or it is gone.
func (db *DB) live(e *env.Env, key []byte) *Object {
	o := db.get(probe(key))
	if o == nil || o.expired(e.Time) {
		return nil
	}
	return o
}

// put stores o under its key and keeps the index and the account.
func (db *DB) put(e *env.Env, o *Object) {
	mustWrite(e)
	o.Version = db.next()
	name := o.key()
	slot := db.slot(name)
	old := *slot
	var before schedule
	if old != nil {
		before = old.schedule()
		db.used -= cost(name, old)
		db.cold.account(old, -1)
		if old.expired(e.Time) {
			db.expired++
		}
	}
	o.arrive(e, old)
	db.touches++
	if e.Watch != nil {
		watchPut(e, name, old)
	}
	o.settle()
	*slot = o
	db.used += cost(name, o)
	db.cold.account(o, 1)
	db.reschedule(name, before, o.schedule())
	if o.form == holding {
		db.warm(name, o.Data())
	}
	touched(e, name)
}

// touched notes a change of a key of an object, which must not be kept in memory by a note of its key.
func touched(e *env.Env, name string) {
	if e.Tracks() {
		e.Touch(strings.Clone(name))
	}
}

// reschedule moves key in the indexes of deadlines.
func (db *DB) reschedule(key string, from, to schedule) {
	if from == to {
		return
	}
	if to != (schedule{}) {
		key = strings.Clone(key) // the index must not keep an object that is replaced
	}
	move(db.dues, key, from.gone, to.gone)
	move(db.fields, key, from.look.byTime, to.look.byTime)
	move(db.fields, key, from.look.byWall, to.look.byWall)
}

// move takes key from one deadline of an index to another, where 0 means no deadline.
func move(index *dueIndex, key string, from, to Deadline) {
	if from == to {
		return
	}
	if from != 0 {
		index.Delete(due{from, key})
	}
	if to != 0 {
		index.Set(due{to, key}, struct{}{})
	}
}

// SetExpire gives o, which is stored, another deadline; 0 removes it.
func (db *DB) SetExpire(e *env.Env, o *Object, at Deadline) {
	c := o.copy()
	c.Expire = at
	db.put(e, c)
}

// PutContainer stores a container with a deadline or 0.
func (db *DB) PutContainer(e *env.Env, key []byte, c Container, expire Deadline) {
	c.owned().epoch = db.epoch
	o := newHolder(string(key), c)
	o.Expire = expire
	db.put(e, o)
}

// Mutable returns the container of o, which is under key, for changing in place; the
// caller calls Changed when it is done. By itself it changes no state: whether it
// must clone depends on this node's forks.
func (db *DB) Mutable(e *env.Env, key []byte, o *Object) Container {
	mustWrite(e)
	if o.isPacked() { // unless it was changed since it was looked up
		o = db.get(probe(key))
	}
	data := o.Data()
	if data.owned().epoch == db.epoch {
		return data
	}
	c := data.Clone()
	c.owned().epoch = db.epoch
	slot := db.slot(probe(key))
	if *slot == nil {
		panic("keyspace: the object to change is not under its key")
	}
	*slot = o.with(c)
	return c
}

// Changed accounts for a container under key that was changed in place and had
// size before; an empty one is the caller's to remove.
func (db *DB) Changed(e *env.Env, key []byte, before int64) {
	mustWrite(e)
	slot := db.slot(probe(key))
	if *slot == nil {
		panic("keyspace: the changed object is not under its key")
	}
	n := (*slot).copy()
	n.Version = db.next()
	was := n.schedule()
	n.settle()
	*slot = n
	db.touches++
	db.used += n.size() - before
	db.reschedule(n.key(), was, n.schedule())
	db.warm(n.key(), n.Data())
	touched(e, n.key())
}

// Remove deletes key. It reports whether the key was there and had not expired.
func (db *DB) Remove(e *env.Env, key []byte) bool {
	mustWrite(e)
	o := db.drop(probe(key))
	if o != nil && e.Tracks() {
		e.Touch(string(key))
	}
	if o == nil || !o.expired(e.Time) {
		return o != nil
	}
	db.expired++
	watchRemoved(e, string(key), o)
	return false
}

// drop takes a key out of the tree, the index and the account, and returns what it
// held, nil if there was none.
func (db *DB) drop(key string) *Object {
	o, _, had := cow.RemoveBy(db.keys, hashOf(key), key, compareKey)
	if !had {
		return nil
	}
	db.used -= cost(key, o)
	db.cold.account(o, -1)
	db.touches++
	db.reschedule(key, o.schedule(), schedule{})
	db.bury(key, o)
	return o
}

// Copy stores what o holds under key too, deadline included.
func (db *DB) Copy(e *env.Env, o *Object, key []byte) {
	var c *Object
	if o.Cold() {
		c = newCold(Alias(key), o.cold())
	} else if _, long := o.Data().(*paged); o.Type() == String && !long {
		c = keepText(Alias(key), o.Text())
	} else if o.isPacked() {
		c = newHolder(string(key), o.whole())
		c.Data().owned().epoch = db.epoch
	} else {
		data := o.Data().Clone()
		data.owned().epoch = db.epoch
		o.Data().owned().epoch = 0 // shared parts: the original clones before its next change too
		c = newHolder(string(key), data)
	}
	c.Expire = o.Expire
	db.removeIfWatched(e, key)
	db.put(e, c)
}

// Move stores what o holds under key and removes it from where it was.
func (db *DB) Move(e *env.Env, from []byte, o *Object, key []byte) {
	db.Remove(e, from)
	db.removeIfWatched(e, key)
	n := o.under(Alias(key))
	if n.form == holding {
		n.Data().owned().hot = false // it waited to be packed under the other key
	}
	db.put(e, n)
}

// Flush removes every key.
func (db *DB) Flush(e *env.Env) {
	mustWrite(e)
	fresh := New()
	fresh.epoch, fresh.history, fresh.freed, fresh.expired = db.epoch, db.history, db.freed, db.expired
	fresh.flushed = db.changes
	fresh.since, fresh.dirty, fresh.saved, fresh.touches = db.since, db.dirty, db.saved, db.touches+uint64(db.keys.Len())
	*db = *fresh
	e.TouchAll()
}

// CountFreed counts objects that a command frees in the background. Here that is the garbage
// collector's work, whichever command it was.
func (db *DB) CountFreed(n int64) { db.freed += n }

// Freed returns the sum of CountFreed on this node since it started or read a snapshot.
func (db *DB) Freed() int64 { return db.freed }

// Expired counts the keys that this node has removed at or after their deadline since it started or
// read a snapshot.
func (db *DB) Expired() int64 { return db.expired }

func mustWrite(e *env.Env) {
	if e.ReadOnly {
		panic("keyspace: a read tries to write")
	}
}

// Last returns the object under key, though its time may be over, nil if there is none.
func (db *DB) Last(e *env.Env, key []byte) *Object { return db.get(probe(key)).lend(e) }
