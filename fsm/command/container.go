package command

import (
	"trireme/fsm/keyspace"
	"trireme/fsm/reply"
)

// find is the container of a type under key, nil if the key is missing; ok is false if
// it holds another type.
func find[C keyspace.Container](tx *Tx, key []byte) (o *keyspace.Object, c C, ok bool) {
	if o = tx.DB.Find(tx.Env, key); o == nil {
		return nil, c, true
	}
	c, ok = o.Data().(C)
	return o, c, ok
}

// edit is a change of the container under a key, from begin to end.
type edit[C keyspace.Container] struct {
	tx     *Tx
	key    []byte
	had    bool
	before int64
	data   C
}

// begin makes the container of o, which is under key, ready to change; without o it
// makes a fresh one.
func begin[C keyspace.Container](tx *Tx, key []byte, o *keyspace.Object, fresh func() C) edit[C] {
	if o == nil {
		return edit[C]{tx: tx, key: key, data: fresh()}
	}
	c := tx.DB.Mutable(tx.Env, key, o).(C)
	return edit[C]{tx: tx, key: key, had: true, before: c.Size(), data: c}
}

// end puts the change in place, where left is how many elements there are now: a
// container without any disappears, and its key.
func (e edit[C]) end(left int) {
	switch {
	case e.had:
		e.tx.DB.Changed(e.tx.Env, e.key, e.before)
		if left == 0 {
			e.tx.DB.Remove(e.tx.Env, e.key)
		}
	case left > 0:
		e.tx.DB.PutContainer(e.tx.Env, e.key, e.data, 0)
	}
}

// replaceWith stores c, which has so many elements, in place of whatever key held, or
// removes the key if there is none; it gives that number as the reply.
func (tx *Tx) replaceWith(key []byte, c keyspace.Container, elements int) reply.Value {
	if elements == 0 {
		tx.DB.Remove(tx.Env, key)
	} else {
		tx.DB.PutContainer(tx.Env, key, c, 0)
	}
	return reply.Int(int64(elements))
}

var errPositive = reply.Error("ERR value is out of range, must be positive")

// maybe reads the count that some commands take as their last word, 1 without one; more
// words are a syntax error before the count is judged.
func (a *Args) maybe(count func(*Args) int64) (n int64, given bool) {
	switch a.Left() {
	case 0:
		return 1, false
	case 1:
		return count(a), true
	}
	a.Fail(ErrSyntax)
	return 0, true
}

// notNegative reads an integer of 0 or more; anything else is the error e.
func (a *Args) notNegative(e reply.Value) int64 {
	n := a.IntOr(e)
	if n < 0 {
		a.Fail(e)
	}
	return n
}

// positive is notNegative with the error of most counts.
func (a *Args) positive() int64 { return a.notNegative(errPositive) }
