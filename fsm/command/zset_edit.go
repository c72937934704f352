package command

import (
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// findZSet is the sorted set under key, nil if the key is missing; ok is false if it
// holds another type.
func (tx *Tx) findZSet(key []byte) (z *keyspace.ZSet, ok bool) {
	o := tx.DB.Find(tx.Env, key)
	if o == nil {
		return nil, true
	}
	z, ok = o.Data().(*keyspace.ZSet)
	return z, ok
}

// zsetEdit changes the sorted set under a key, and leaves the key as it was if there
// is nothing to change.
type zsetEdit struct {
	tx     *Tx
	key    []byte
	o      *keyspace.Object // nil for a key that is missing
	z      *keyspace.ZSet   // nil as long as the key is missing
	before int64
	mine   bool // z may be changed
}

// editZSet begins to change what key holds; ok is false if that is another type. The
// caller ends with done.
func (tx *Tx) editZSet(key []byte) (e *zsetEdit, ok bool) {
	e = &zsetEdit{tx: tx, key: key, o: tx.DB.Find(tx.Env, key)}
	if e.o != nil {
		e.z, ok = e.o.Data().(*keyspace.ZSet)
		return e, ok
	}
	return e, true
}

// create gives a missing key a set for that many members, of which the longest has
// longest bytes.
func (e *zsetEdit) create(members, longest int) {
	if e.z == nil {
		e.z, e.mine = keyspace.NewZSet(members, longest), true
	}
}

// change returns the set for changing it.
func (e *zsetEdit) change() *keyspace.ZSet {
	if !e.mine {
		e.mine, e.before = true, e.z.Size()
		e.z = e.tx.DB.Mutable(e.tx.Env, e.key, e.o).(*keyspace.ZSet)
	}
	return e.z
}

// done stores what was changed and tells the event; a set without members is no more.
func (e *zsetEdit) done(event string) {
	switch {
	case !e.mine:
	case e.o == nil && e.z.Len() > 0:
		e.tx.DB.PutContainer(e.tx.Env, e.key, e.z, 0)
		e.tx.Event(SortedEvent, event, e.key)
	case e.o != nil:
		e.tx.DB.Changed(e.tx.Env, e.key, e.before)
		e.tx.Event(SortedEvent, event, e.key)
		if e.z.Len() == 0 {
			e.tx.DB.Remove(e.tx.Env, e.key)
			e.tx.removed(e.key)
		}
	}
}

// storeZSet puts members, each named once, in place of what key holds, tells the event,
// and answers how many there are; none leave no key.
func (tx *Tx) storeZSet(key []byte, members []keyspace.Scored, event string) reply.Value {
	if len(members) == 0 {
		tx.remove(key)
		return reply.Int(0)
	}
	z := keyspace.ZSetOf(members)
	tx.DB.PutContainer(tx.Env, key, z, 0)
	tx.Event(SortedEvent, event, key)
	return reply.Int(int64(z.Len()))
}

// membersReply lists members, with their scores if asked.
func (tx *Tx) membersReply(members []keyspace.Scored, withScores bool) reply.Value {
	if !withScores {
		out := make([]reply.Value, len(members))
		for i, s := range members {
			tx.CountSteps(stepsPerElement)
			out[i] = reply.Bulk(s.Member)
		}
		return reply.Array(out...)
	}
	out := make([]reply.Value, 0, 2*len(members))
	for _, s := range members {
		tx.CountSteps(2 * stepsPerElement)
		out = append(out, reply.Bulk(s.Member), tx.score(s.Score))
	}
	return reply.Pairs(out...)
}
