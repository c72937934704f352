package keyspace

import (
	"strings"

	"github.com/trireme-dev/trireme/fsm/env"
)

// watchRemoved notifies the watcher that o, which was under key, has expired.
func watchRemoved(e *env.Env, key string, o *Object) {
	switch {
	case e.Watch == nil:
	case o.Expire.Passed(e.Time):
		e.Watch(env.Expired, key)
	default:
		e.Watch(env.FieldsGone, key)
	}
}

// watchPut notifies the watcher of a value stored under key in place of old, which is nil if
// there was none, and may be expired.
func watchPut(e *env.Env, key string, old *Object) {
	if old != nil && !old.expired(e.Time) {
		return
	}
	if old != nil {
		watchRemoved(e, key, old)
	}
	e.Watch(env.Created, strings.Clone(key))
}

// removeIfWatched removes the value under key before another key's value moves there, so that a
// watcher sees the key created, as in Redis. Without a watcher it does nothing.
func (db *DB) removeIfWatched(e *env.Env, key []byte) {
	if e.Watch != nil {
		db.Remove(e, key)
	}
}
