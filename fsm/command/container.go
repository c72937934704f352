package command

import (
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
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

// edit is a look at the container under a key that may turn into a change of it.
type edit[C keyspace.Container] struct {
	tx     *Tx
	key    []byte
	object *keyspace.Object // nil if the key is missing
	fresh  func() C
	// data is the container for reading, nil if the key is missing; once write was called,
	// for writing.
	data   C
	before int64
	open   bool
}

// look finds the container under key; ok is false if it holds another type. What fresh
// makes is stored if something is written and there was no key.
func look[C keyspace.Container](tx *Tx, key []byte, fresh func() C) (e edit[C], ok bool) {
	e = edit[C]{tx: tx, key: key, fresh: fresh}
	e.object, e.data, ok = find[C](tx, key)
	return e, ok
}

// write returns the container for changing it; its caller also calls end.
func (e *edit[C]) write() C {
	switch {
	case e.open:
		return e.data
	case e.object == nil:
		e.data = e.fresh()
	default:
		e.data = e.tx.DB.Mutable(e.tx.Env, e.key, e.object).(C)
		e.before = e.data.Size()
	}
	e.open = true
	return e.data
}

// end puts a change in place and notifies of its events. left is the number of elements after
// it: a container without elements is removed with its key. Without a change end does nothing.
func (e *edit[C]) end(left int, class Events, events ...string) {
	switch {
	case !e.open:
	case e.object == nil:
		if left > 0 {
			e.tx.DB.PutContainer(e.tx.Env, e.key, e.data, 0)
			e.tell(class, events)
		}
	default:
		e.tx.DB.Changed(e.tx.Env, e.key, e.before)
		e.tell(class, events)
		if left == 0 {
			e.tx.DB.Remove(e.tx.Env, e.key)
			e.tx.removed(e.key)
		}
	}
}

func (e *edit[C]) tell(class Events, events []string) {
	for _, event := range events {
		e.tx.Event(class, event, e.key)
	}
}

// replaceWith stores c, which has so many elements, in place of whatever key held, and
// tells the event, or removes the key if there is none; it returns that number as the reply.
func (tx *Tx) replaceWith(key []byte, c keyspace.Container, elements int, class Events, event string) reply.Value {
	if elements == 0 {
		tx.remove(key)
	} else {
		tx.DB.PutContainer(tx.Env, key, c, 0)
		tx.Event(class, event, key)
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
