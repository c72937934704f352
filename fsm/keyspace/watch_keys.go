package keyspace

import (
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// history remembers the changes of a database, so that a transaction learns whether a key
// has changed. It is part of the replicated state.
type history struct {
	// changes counts what was stored or changed in place: an object's version is the
	// count of its last change.
	changes uint64
	// flushed is the count at the last flush.
	flushed uint64
	// gone has, by a few bits of the key's hash, the highest version of an object that was
	// removed. It is shared with forks until epoch differs.
	gone  *[goneSlots]uint64
	epoch uint64
	// evicted counts the keys that were evicted.
	evicted uint64
}

// goneSlots is the number of groups in which removed keys are remembered. A watched key that
// is missing counts as changed when a key of its group was made and removed meanwhile.
const goneSlots = 1024

func slotOf(key string) int { return int(hashOf(key) % goneSlots) }

// next is the version of an object that is being stored.
func (db *DB) next() uint64 {
	db.changes++
	return db.changes
}

// bury remembers that o, which was under key, is removed.
func (db *DB) bury(key string, o *Object) {
	slot := slotOf(key)
	switch {
	case db.gone == nil:
		db.gone = new([goneSlots]uint64)
	case db.gone[slot] >= o.Version:
		return
	case db.history.epoch != db.epoch:
		c := *db.gone
		db.gone = &c
	}
	db.history.epoch = db.epoch
	db.gone[slot] = max(db.gone[slot], o.Version)
}

// Mark is the version of a key that a watcher saw.
type Mark struct {
	// Version is the version of the object under the key, 0 if there was none.
	Version uint64
	// Seen is the database's count of changes at that moment, Now the time.
	Seen uint64
	Now  int64
}

// Mark is the key as it is now.
func (db *DB) Mark(e *env.Env, key []byte) Mark {
	m := Mark{Seen: db.changes, Now: e.Now}
	if o := db.Peek(e, key); o != nil {
		m.Version = o.Version
	}
	return m
}

// Same reports whether nothing has happened to the key since the mark was taken. Passing a
// deadline, of the key or of a field of its hash, is something. It never reports true
// of a key that has changed, and false of one that has not only where a missing
// key shares its group with another that came and went.
func (db *DB) Same(e *env.Env, key []byte, m Mark) bool {
	o := db.get(probe(key))
	found := o != nil
	if !found || o.expired(e.Time) {
		return m.Version == 0 && (!found || o.Version <= m.Seen) && db.neverThere(key, m.Seen)
	}
	look := o.schedule().look
	if look.byTime.Passed(e.Time) && look.byTime.Millis() > m.Now || look.byWall.Passed(e.Time) {
		return false // one by wall time may have been held back when the mark was taken
	}
	return o.Version == m.Version
}

// neverThere reports whether no object that came after a count of changes was removed from
// under key.
func (db *DB) neverThere(key []byte, seen uint64) bool {
	return db.flushed <= seen && (db.gone == nil || db.gone[slotOf(probe(key))] <= seen)
}

// Changes is the version of what was stored or changed last.
func (db *DB) Changes() uint64 { return db.changes }

// EncodeHistory writes what the database remembers of its changes.
func (db *DB) EncodeHistory(w *wire.Writer) {
	w.Uvarint(db.changes)
	w.Uvarint(db.flushed)
	if db.evicted > 0 { // in the place of a group that there is not
		w.Uvarint(goneSlots)
		w.Uvarint(db.evicted)
	}
	if db.gone == nil {
		return
	}
	for i, version := range db.gone {
		if version != 0 {
			w.Uvarint(uint64(i))
			w.Uvarint(version)
		}
	}
}

// DecodeHistory reads what EncodeHistory wrote into a database that is being restored.
func (db *DB) DecodeHistory(r *wire.Reader) {
	db.changes, db.flushed = r.Uvarint(), r.Uvarint()
	for r.Len() > 0 {
		i, n := r.Uvarint(), r.Uvarint()
		if i == goneSlots {
			db.evicted = n
			continue
		}
		if db.gone == nil {
			db.gone, db.history.epoch = new([goneSlots]uint64), db.epoch
		}
		db.gone[i%goneSlots] = n
	}
}

// Inherit takes over what another database remembers.
func (db *DB) Inherit(from *DB) {
	db.history = from.history
	db.history.epoch = 0
}
