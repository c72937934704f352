package command

import (
	"bytes"

	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// findSet is the set under key, nil if the key is missing.
func findSet(tx *Tx, key []byte) (*keyspace.Object, *keyspace.Members, bool) {
	return find[*keyspace.Members](tx, key)
}

func lookSet(tx *Tx, key []byte) (edit[*keyspace.Members], bool) {
	return look(tx, key, keyspace.NewMembers)
}

func sAdd(tx *Tx, a *Args) reply.Value {
	key, members := a.Bytes(), a.Rest()
	e, ok := lookSet(tx, key)
	if !ok {
		return ErrWrongType
	}
	n := int64(0)
	for _, word := range members {
		if m := keyspace.Alias(word); !e.data.Has(m) {
			e.write().Add(m)
			n++
		}
	}
	e.end(e.data.Len(), SetEvent, "sadd")
	return reply.Int(n)
}

func sRem(tx *Tx, a *Args) reply.Value {
	key, members := a.Bytes(), a.Rest()
	e, ok := lookSet(tx, key)
	if !ok {
		return ErrWrongType
	}
	n := int64(0)
	for _, word := range members {
		if m := keyspace.Alias(word); e.data.Has(m) {
			e.write().Delete(m)
			n++
		}
	}
	e.end(e.data.Len(), SetEvent, "srem")
	return reply.Int(n)
}

func sMove(tx *Tx, a *Args) reply.Value {
	from, to, member := a.Bytes(), a.Bytes(), keyspace.Alias(a.Bytes())
	if err, ok := a.Done(); !ok {
		return err
	}
	source, ok := lookSet(tx, from)
	switch {
	case !ok:
		return ErrWrongType
	case source.object == nil:
		return reply.Int(0)
	}
	target, ok := lookSet(tx, to)
	switch {
	case !ok:
		return ErrWrongType
	case !source.data.Has(member):
		return reply.Int(0)
	case bytes.Equal(from, to):
		return reply.Int(1)
	}
	source.write().Delete(member)
	source.end(source.data.Len(), SetEvent, "srem")
	if !target.data.Has(member) {
		target.write().Add(member)
		target.end(target.data.Len(), SetEvent, "sadd")
		tx.changes = 2
	}
	return reply.Int(1)
}

func sCard(tx *Tx, a *Args) reply.Value {
	key := a.Bytes()
	if err, ok := a.Done(); !ok {
		return err
	}
	_, set, ok := findSet(tx, key)
	if !ok {
		return ErrWrongType
	}
	return reply.Int(int64(set.Len()))
}

// truth is 1 or 0.
func truth(b bool) reply.Value {
	if b {
		return reply.Int(1)
	}
	return reply.Int(0)
}

func sIsMember(tx *Tx, a *Args) reply.Value {
	key, member := a.Bytes(), keyspace.Alias(a.Bytes())
	if err, ok := a.Done(); !ok {
		return err
	}
	_, set, ok := findSet(tx, key)
	if !ok {
		return ErrWrongType
	}
	return truth(set.Has(member))
}

func sMIsMember(tx *Tx, a *Args) reply.Value {
	key, members := a.Bytes(), a.Rest()
	_, set, ok := findSet(tx, key)
	if !ok {
		return ErrWrongType
	}
	values := make([]reply.Value, len(members))
	for i, m := range members {
		values[i] = truth(set.Has(keyspace.Alias(m)))
	}
	return reply.Array(values...)
}

// allMembers are the members of a set as a reply.
func (tx *Tx) allMembers(set *keyspace.Members) reply.Value {
	values := make([]reply.Value, 0, set.Len())
	set.All(func(m string) bool {
		tx.CountSteps(stepsPerElement)
		values = append(values, reply.Bulk(m))
		return true
	})
	return reply.Set(values...)
}

func sMembers(tx *Tx, a *Args) reply.Value {
	key := a.Bytes()
	if err, ok := a.Done(); !ok {
		return err
	}
	_, set, ok := findSet(tx, key)
	if !ok {
		return ErrWrongType
	}
	return tx.allMembers(set)
}

func sScan(tx *Tx, a *Args) reply.Value {
	key := a.Bytes()
	cursor, ok := tx.cursor(a.Bytes())
	if !ok {
		return ErrCursor
	}
	o, set, ok := findSet(tx, key)
	switch {
	case !ok:
		return ErrWrongType
	case o == nil:
		return emptyPage()
	}
	opts := readPageOptions(tx, a, false)
	if err, ok := a.Done(); !ok {
		return err
	}
	if tx.lookAt(int64(min(opts.count, set.Len()))) {
		return reply.Nil()
	}
	var found []reply.Value
	next := set.Scan(cursor, opts.count, func(member string) {
		if opts.shows(tx, member) {
			found = append(found, reply.Bulk(member))
		}
	})
	return page(next, found)
}
