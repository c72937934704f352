// Package keyspace is one database: keys to values, with deadlines, in trees that
// fork in constant time. Keys are ordered by a hash, so that a SCAN cursor is a
// place in that order and needs no memory on any node.
package keyspace

import (
	"cmp"
	"strings"
	"unsafe"

	"github.com/cespare/xxhash/v2"

	"trireme/fsm/cow"
	"trireme/fsm/env"
)

// place is where a key stands: its hash, then its bytes.
type place struct {
	hash uint64
	key  string
}

func comparePlaces(a, b place) int {
	if a.hash != b.hash {
		return cmp.Compare(a.hash, b.hash)
	}
	return strings.Compare(a.key, b.key)
}

// due is an entry of the expiry index.
type due struct {
	at  int64
	key string
}

func compareDue(a, b due) int {
	if a.at != b.at {
		return cmp.Compare(a.at, b.at)
	}
	return strings.Compare(a.key, b.key)
}

// DB is one keyspace. Reads may run side by side; a writer must be alone.
type DB struct {
	keys  *cow.BTree[place, *Object]
	dues  *cow.BTree[due, struct{}]
	used  int64
	epoch uint64 // changes with every fork; this node's own affair
}

// New is an empty keyspace.
func New() *DB {
	return &DB{keys: cow.NewBTree[place, *Object](comparePlaces), dues: cow.NewBTree[due, struct{}](compareDue), epoch: 1}
}

// Fork is the keyspace as it is now, in constant time. Both sides may go on.
func (db *DB) Fork() *DB {
	f := &DB{keys: db.keys.Snapshot(), dues: db.dues.Snapshot(), used: db.used, epoch: db.epoch + 1}
	db.epoch += 2
	return f
}

// hashOf orders keys: 52 bits, so that a cursor survives clients that keep it in
// a double. Keys of one hash stand in byte order, so chosen collisions cost no more
// than comparing them.
func hashOf(key []byte) uint64 { return xxhash.Sum64(key) >> 12 }

// probe is the place of key for a look-up: it aliases key and must not be stored.
func probe(key []byte) place {
	return place{hashOf(key), unsafe.String(unsafe.SliceData(key), len(key))}
}

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

func cost(key string, o *Object) int64 {
	c := keyCost + int64(len(key)) + o.size()
	if o.Expire != 0 {
		c += expireCost
	}
	return c
}

// expired tells whether o is past its deadline at now.
func (o *Object) expired(now int64) bool { return o.Expire != 0 && o.Expire <= now }

// Find is the object under key, nil if there is none or its deadline has passed.
func (db *DB) Find(e *env.Env, key []byte) *Object {
	o, ok := db.keys.Get(probe(key))
	if !ok || o.expired(e.Now) {
		return nil
	}
	return o
}

// put stores o under key and keeps the index and the account.
func (db *DB) put(e *env.Env, key []byte, o *Object) {
	mustWrite(e)
	o.Version = e.Index
	at := probe(key)
	old, had := db.keys.Get(at)
	at.key = string(key)
	if had {
		db.used -= cost(at.key, old)
		if old.Expire != 0 && old.Expire != o.Expire {
			db.dues.Delete(due{old.Expire, at.key})
		}
	}
	db.keys.Set(at, o)
	db.used += cost(at.key, o)
	if o.Expire != 0 && (!had || old.Expire != o.Expire) {
		db.dues.Set(due{o.Expire, at.key}, struct{}{})
	}
}

// SetText stores a string, with a deadline in unix milliseconds or 0, in place of
// whatever key held.
func (db *DB) SetText(e *env.Env, key []byte, text string, expire int64) {
	db.put(e, key, &Object{Expire: expire, text: text})
}

// AppendText stores the text of o, which may be nil, with suffix behind it, and
// keeps its deadline. It gives the new length.
func (db *DB) AppendText(e *env.Env, key []byte, o *Object, suffix []byte) int {
	if o == nil {
		db.SetText(e, key, string(suffix), 0)
		return len(suffix)
	}
	var bytes []byte
	if a, ok := o.data.(*appended); ok {
		bytes = append(a.bytes, suffix...)
	} else {
		bytes = append(append(make([]byte, 0, len(o.text)+len(suffix)), o.text...), suffix...)
	}
	db.put(e, key, &Object{Expire: o.Expire, data: &appended{bytes: bytes}})
	return len(bytes)
}

// SetExpire gives o, which is under key, another deadline; 0 removes it.
func (db *DB) SetExpire(e *env.Env, key []byte, o *Object, at int64) {
	c := *o
	c.Expire = at
	db.put(e, key, &c)
}

// PutContainer stores a container with a deadline or 0.
func (db *DB) PutContainer(e *env.Env, key []byte, c Container, expire int64) {
	c.owned().epoch = db.epoch
	db.put(e, key, &Object{Expire: expire, data: c})
}

// Mutable gives the container of o, which is under key, for changing in place; the
// caller calls Changed when it is done.
func (db *DB) Mutable(e *env.Env, key []byte, o *Object) Container {
	mustWrite(e)
	if o.data.owned().epoch == db.epoch {
		return o.data
	}
	c := o.data.Clone()
	c.owned().epoch = db.epoch
	n := &Object{Expire: o.Expire, Version: e.Index, data: c}
	at := probe(key)
	at.key = string(key)
	db.keys.Set(at, n)
	return c
}

// Changed accounts for a container under key that was changed in place and had
// size before; an empty one is the caller's to remove.
func (db *DB) Changed(e *env.Env, key []byte, before int64) {
	at := probe(key)
	o, ok := db.keys.Get(at)
	if !ok {
		return
	}
	n := *o
	n.Version = e.Index
	at.key = string(key)
	db.keys.Set(at, &n)
	db.used += n.size() - before
}

// Remove deletes key. It tells whether the key was there and had not expired.
func (db *DB) Remove(e *env.Env, key []byte) bool {
	mustWrite(e)
	at := probe(key)
	o, ok := db.keys.Get(at)
	if !ok {
		return false
	}
	db.drop(at, o)
	return !o.expired(e.Now)
}

func (db *DB) drop(at place, o *Object) {
	db.used -= cost(at.key, o)
	if o.Expire != 0 {
		db.dues.Delete(due{o.Expire, at.key})
	}
	db.keys.Delete(at)
}

// Copy stores what o holds under key too, deadline included.
func (db *DB) Copy(e *env.Env, o *Object, key []byte) {
	c := &Object{Expire: o.Expire}
	if o.Type() == String {
		c.text = o.Text()
	} else {
		c.data = o.data.Clone()
		c.data.owned().epoch = db.epoch
		o.data.owned().epoch = 0 // shared parts: the original clones before its next change too
	}
	db.put(e, key, c)
}

// Move stores what o holds under key and removes it from where it was.
func (db *DB) Move(e *env.Env, from []byte, o *Object, key []byte) {
	db.Remove(e, from)
	c := *o
	db.put(e, key, &c)
}

// Flush removes every key.
func (db *DB) Flush(e *env.Env) {
	mustWrite(e)
	fresh := New()
	fresh.epoch = db.epoch
	*db = *fresh
}

func mustWrite(e *env.Env) {
	if e.ReadOnly {
		panic("keyspace: a read tries to write")
	}
}
