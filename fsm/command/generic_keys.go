package command

import (
	"bytes"
	"math"
	"strconv"

	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

func del(tx *Tx, a *Args) reply.Value {
	n := int64(0)
	for _, key := range a.Rest() {
		if tx.remove(key) {
			n++
		}
	}
	return reply.Int(n)
}

// lazyParts is the largest number of allocations of a value that Redis frees at once; a larger
// value it frees in the background.
const lazyParts = 64

// great reports whether Redis would free the value in the background: packed ones never.
func (tx *Tx) great(o *keyspace.Object) bool {
	if o == nil {
		return false
	}
	parts := 0
	switch c := o.Data().(type) {
	case *keyspace.Elements:
		parts = int(c.Size() / 8192) // a node of a list
	case *keyspace.Fields:
		parts = c.Len(tx.Time)
	case *keyspace.Members:
		parts = c.Len()
	case *keyspace.ZSet:
		parts = c.Len()
	case *keyspace.StreamLog:
		parts = c.Len() / 100 // a node of a stream
	}
	if parts <= lazyParts {
		return false
	}
	form := o.EncodingBy(tx.thresholds())
	return form != "listpack" && form != "listpackex" && form != "intset"
}

// unlink is DEL that says of great values that they are freed in the background.
func unlink(tx *Tx, a *Args) reply.Value {
	n := int64(0)
	for _, key := range a.Rest() {
		great := tx.great(tx.DB.Peek(tx.Env, key))
		if !tx.remove(key) {
			continue
		}
		if n++; great {
			tx.DB.CountFreed(1)
		}
	}
	return reply.Int(n)
}

// exists is TOUCH too: access times belong to a node, not to the state.
func exists(tx *Tx, a *Args) reply.Value {
	n := int64(0)
	for _, key := range a.Rest() {
		if tx.DB.Find(tx.Env, key) != nil {
			n++
		}
	}
	return reply.Int(n)
}

func typeOf(tx *Tx, a *Args) reply.Value {
	key := a.Bytes()
	if err, ok := a.Done(); !ok {
		return err
	}
	return reply.Status(tx.DB.Find(tx.Env, key).Type().String())
}

func randomKey(tx *Tx, a *Args) reply.Value {
	if err, ok := a.Done(); !ok {
		return err
	}
	key, ok := tx.DB.RandomKey(tx.Env)
	if !ok {
		return reply.Nil()
	}
	return reply.Bulk(key)
}

func rename(tx *Tx, a *Args) reply.Value {
	from, to := a.Bytes(), a.Bytes()
	if err, ok := a.Done(); !ok {
		return err
	}
	if refusal := tx.searchedStream(from, to); refusal != nil {
		return *refusal
	}
	o := tx.DB.Find(tx.Env, from)
	if o == nil {
		return ErrNoKey
	}
	if !bytes.Equal(from, to) {
		tx.moveKey(from, o, to)
	}
	return reply.OK()
}

// moveKey gives o, which is under from, the name to.
func (tx *Tx) moveKey(from []byte, o *keyspace.Object, to []byte) {
	tx.DB.Move(tx.Env, from, o, to)
	tx.Event(GenericEvent, "rename_from", from)
	tx.Event(GenericEvent, "rename_to", to)
}

func renameNX(tx *Tx, a *Args) reply.Value {
	from, to := a.Bytes(), a.Bytes()
	if err, ok := a.Done(); !ok {
		return err
	}
	if refusal := tx.searchedStream(from, to); refusal != nil {
		return *refusal
	}
	o := tx.DB.Find(tx.Env, from)
	if o == nil {
		return ErrNoKey
	}
	if tx.DB.Find(tx.Env, to) != nil {
		return reply.Int(0)
	}
	tx.moveKey(from, o, to)
	return reply.Int(1)
}

var errSameObject = reply.Error("ERR source and destination objects are the same")

// database reads the index of a database; there is only number 0.
func (a *Args) database() {
	switch n := a.Int(); {
	case n < math.MinInt32 || n > math.MaxInt32:
		a.Fail(reply.Error("ERR value is out of range, value must between " +
			strconv.Itoa(math.MinInt32) + " and " + strconv.Itoa(math.MaxInt32)))
	case n != 0:
		a.Fail(ErrDBIndex)
	}
}

// copyKey answers 0 for a copy onto itself over HTTP, where the reference service
// does, and Redis's error elsewhere.
func copyKey(tx *Tx, a *Args) reply.Value {
	from, to, replace := a.Bytes(), a.Bytes(), false
	for a.Left() > 0 && !a.bad {
		switch {
		case a.Word("REPLACE"):
			replace = true
		case a.Word("DB") && a.Left() > 0:
			a.database()
		default:
			a.Fail(ErrSyntax)
		}
	}
	if a.bad {
		return a.err
	}
	if bytes.Equal(from, to) {
		if tx.dialect().copiesToItself {
			return reply.Int(0)
		}
		return errSameObject
	}
	if refusal := tx.searchedStream(from, to); refusal != nil {
		return *refusal
	}
	o := tx.DB.Find(tx.Env, from)
	if o == nil || (!replace && tx.DB.Peek(tx.Env, to) != nil) {
		return reply.Int(0)
	}
	tx.DB.Copy(tx.Env, o, to)
	tx.Event(GenericEvent, "copy_to", to)
	return reply.Int(1)
}

// move finds no other database to move to.
func move(tx *Tx, a *Args) reply.Value {
	a.Bytes()
	a.database()
	if err, ok := a.Done(); !ok {
		return err
	}
	return errSameObject
}
