package keyspace

import "github.com/trireme-dev/trireme/fsm/env"

// SetBytes stores a copy of value, with a deadline or 0, in place
// of whatever key held.
func (db *DB) SetBytes(e *env.Env, key, value []byte, expire Deadline) {
	o := newText(Alias(key), value)
	o.Expire = expire
	db.put(e, o)
}

// SetText stores a string, with a deadline or 0, in place of
// whatever key held.
func (db *DB) SetText(e *env.Env, key []byte, text string, expire Deadline) {
	o := keepText(Alias(key), text)
	o.Expire = expire
	db.put(e, o)
}

// AppendText stores the text of o, which may be nil, with suffix behind it, and
// keeps its deadline. It returns the new length.
func (db *DB) AppendText(e *env.Env, key []byte, o *Object, suffix []byte) int {
	if o == nil {
		db.SetBytes(e, key, suffix, 0)
		return len(suffix)
	}
	if o.InPages() && len(suffix) > 0 { // it would be copied as a whole again and again, if places are written in between
		return db.WriteAt(e, key, o, o.Len(), suffix)
	}
	a := &appended{Owned: Owned{epoch: db.epoch}}
	if old, ok := o.Data().(*appended); ok && old.epoch == db.epoch {
		a.bytes = append(old.bytes, suffix...)
	} else {
		text := o.Text()
		a.bytes = append(append(make([]byte, 0, len(text)+len(suffix)), text...), suffix...)
	}
	n := newHolder(o.ownKey(), a)
	n.Expire = o.Expire
	db.put(e, n)
	return len(a.bytes)
}
