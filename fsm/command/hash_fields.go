package command

import (
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// findHash is the hash under key, nil if the key is missing.
func findHash(tx *Tx, key []byte) (*keyspace.Object, *keyspace.Fields, bool) {
	return find[*keyspace.Fields](tx, key)
}

func lookHash(tx *Tx, key []byte) (edit[*keyspace.Fields], bool) {
	return look(tx, key, keyspace.NewFields)
}

// setFields sets fields to the values behind them and says how many are new.
func setFields(tx *Tx, a *Args, name string) (created int64, refusal *reply.Value) {
	key, pairs := a.Bytes(), a.Rest()
	if len(pairs)%2 != 0 {
		return 0, ptr(ErrArity(name))
	}
	e, ok := lookHash(tx, key)
	if !ok {
		return 0, &ErrWrongType
	}
	for i := 0; i < len(pairs); i += 2 {
		if e.write().Set(tx.Time, keyspace.Alias(pairs[i]), keyspace.Alias(pairs[i+1]), 0) {
			created++
		}
	}
	e.end(e.data.Len(tx.Time), HashEvent, "hset")
	return created, nil
}

func hSet(tx *Tx, a *Args) reply.Value {
	n, refusal := setFields(tx, a, "hset")
	if refusal != nil {
		return *refusal
	}
	return reply.Int(n)
}

func hMSet(tx *Tx, a *Args) reply.Value {
	if _, refusal := setFields(tx, a, "hmset"); refusal != nil {
		return *refusal
	}
	return reply.OK()
}

func hSetNX(tx *Tx, a *Args) reply.Value {
	key, field, value := a.Bytes(), keyspace.Alias(a.Bytes()), a.Bytes()
	if err, ok := a.Done(); !ok {
		return err
	}
	e, ok := lookHash(tx, key)
	if !ok {
		return ErrWrongType
	}
	if _, _, had := e.data.Get(tx.Time, field); had {
		return reply.Int(0)
	}
	e.write().Set(tx.Time, field, keyspace.Alias(value), 0)
	e.end(e.data.Len(tx.Time), HashEvent, "hset")
	return reply.Int(1)
}

func hDel(tx *Tx, a *Args) reply.Value {
	key, fields := a.Bytes(), a.Rest()
	e, ok := lookHash(tx, key)
	if !ok {
		return ErrWrongType
	}
	n := int64(0)
	for _, word := range fields {
		field := keyspace.Alias(word)
		if _, _, had := e.data.Get(tx.Time, field); had {
			e.write().Delete(tx.Time, field)
			n++
		}
	}
	e.end(e.data.Len(tx.Time), HashEvent, "hdel")
	return reply.Int(n)
}

// valueOrNil is the value of a field as a reply, nil for a missing one.
func valueOrNil(value string, ok bool) reply.Value {
	if !ok {
		return reply.Nil()
	}
	return reply.Bulk(value)
}

// field reads a key and a field and returns the field's value.
func (tx *Tx) field(a *Args) (value string, ok bool, refusal *reply.Value) {
	key, field := a.Bytes(), keyspace.Alias(a.Bytes())
	if err, ok := a.Done(); !ok {
		return "", false, &err
	}
	_, h, ok := findHash(tx, key)
	if !ok {
		return "", false, &ErrWrongType
	}
	value, _, ok = h.Get(tx.Time, field)
	return value, ok, nil
}

func hGet(tx *Tx, a *Args) reply.Value {
	value, ok, refusal := tx.field(a)
	if refusal != nil {
		return *refusal
	}
	return valueOrNil(value, ok)
}

func hExists(tx *Tx, a *Args) reply.Value {
	_, ok, refusal := tx.field(a)
	if refusal != nil {
		return *refusal
	}
	return truth(ok)
}

func hStrLen(tx *Tx, a *Args) reply.Value {
	value, _, refusal := tx.field(a)
	if refusal != nil {
		return *refusal
	}
	return reply.Int(int64(len(value)))
}

func hMGet(tx *Tx, a *Args) reply.Value {
	key, fields := a.Bytes(), a.Rest()
	_, h, ok := findHash(tx, key)
	if !ok {
		return ErrWrongType
	}
	values := make([]reply.Value, len(fields))
	for i, field := range fields {
		value, _, ok := h.Get(tx.Time, keyspace.Alias(field))
		values[i] = valueOrNil(value, ok)
	}
	return reply.Array(values...)
}

func hLen(tx *Tx, a *Args) reply.Value {
	key := a.Bytes()
	if err, ok := a.Done(); !ok {
		return err
	}
	_, h, ok := findHash(tx, key)
	if !ok {
		return ErrWrongType
	}
	return reply.Int(int64(h.Len(tx.Time)))
}
