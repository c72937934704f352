package command

import (
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// findText is the object under key if it holds a string, nil if the key is
// missing; ok is false if it holds another type.
func (tx *Tx) findText(key []byte) (o *keyspace.Object, ok bool) {
	o = tx.DB.Find(tx.Env, key)
	return o, o == nil || o.Type() == keyspace.String
}

// textOrNil is the value of a string as a reply, nil for a missing key.
func textOrNil(o *keyspace.Object) reply.Value {
	if o == nil {
		return reply.Nil()
	}
	return reply.Bulk(o.Text())
}

// readText is textOrNil for a read. What it has to copy counts: of a string in pages, all of it.
func (tx *Tx) readText(o *keyspace.Object) reply.Value {
	if tx.Bounded && o != nil && o.InPages() && tx.Charge(int64(o.Len())/textPerStep) {
		return reply.Nil()
	}
	return textOrNil(o)
}

func get(tx *Tx, a *Args) reply.Value {
	key := a.Bytes()
	if err, ok := a.Done(); !ok {
		return err
	}
	o, ok := tx.findText(key)
	if !ok {
		return ErrWrongType
	}
	return tx.readText(o)
}

func mget(tx *Tx, a *Args) reply.Value {
	keys := a.Rest()
	values := make([]reply.Value, len(keys))
	for i, key := range keys {
		if o, ok := tx.findText(key); ok {
			values[i] = tx.readText(o)
		}
	}
	return reply.Array(values...)
}

func getDel(tx *Tx, a *Args) reply.Value {
	key := a.Bytes()
	if err, ok := a.Done(); !ok {
		return err
	}
	o, ok := tx.findText(key)
	if !ok {
		return ErrWrongType
	}
	if o != nil {
		tx.remove(key)
	}
	return textOrNil(o)
}

// getEx judges the time only when there is a value to give it to, as Redis does.
func getEx(tx *Tx, a *Args) reply.Value {
	key := a.Bytes()
	opts := readOptions(a, mayExpire|mayPersist)
	if err, ok := a.Done(); !ok {
		return err
	}
	o, ok := tx.findText(key)
	switch {
	case !ok:
		return ErrWrongType
	case o == nil:
		return reply.Nil()
	}
	at, bad := opts.deadline(tx.Env, "getex")
	if bad != nil {
		return *bad
	}
	switch {
	case opts.persist && o.Expire != 0:
		tx.stay(key, o)
	case opts.when != nil:
		tx.expireAt(key, o, at)
	}
	return textOrNil(o)
}

func strLen(tx *Tx, a *Args) reply.Value {
	key := a.Bytes()
	if err, ok := a.Done(); !ok {
		return err
	}
	o, ok := tx.findText(key)
	switch {
	case !ok:
		return ErrWrongType
	case o == nil:
		return reply.Int(0)
	}
	return reply.Int(int64(o.Len()))
}

func getRange(tx *Tx, a *Args) reply.Value {
	key := a.Bytes()
	start, end := a.Int(), a.Int()
	if err, ok := a.Done(); !ok {
		return err
	}
	o, ok := tx.findText(key)
	switch {
	case !ok:
		return ErrWrongType
	case o == nil:
		return reply.Bulk("")
	}
	from, to := span(start, end, o.Len())
	if tx.Bounded && o.InPages() && tx.Charge(int64(to-from)/textPerStep) {
		return reply.Nil()
	}
	return reply.Bulk(o.Part(from, to))
}

// span turns two inclusive positions, of which negative ones count from the end,
// into a slice of n elements. An end before the first element is before everything.
func span(start, end int64, n int) (from, to int) {
	size := int64(n)
	if start < 0 {
		start += size
	}
	if end < 0 {
		end += size
	}
	start, end = max(start, 0), min(end, size-1)
	if start > end {
		return 0, 0
	}
	return int(start), int(end) + 1
}
