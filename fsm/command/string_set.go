package command

import (
	"math"

	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

func set(tx *Tx, a *Args) reply.Value {
	key, value := a.Bytes(), a.Bytes()
	opts := readOptions(a, mayExist|mayCompare|mayGet|mayExpire|mayKeep)
	if err, ok := a.Done(); !ok {
		return err
	}
	at, bad := opts.deadline(tx.Env, "set")
	if bad != nil {
		return *bad
	}
	if opts.cond == always && !opts.get && !opts.keep {
		tx.setUntil(key, value, at)
		return reply.OK()
	}
	return tx.setIf(key, value, &opts, at)
}

// setIf is SET with options that look at what the key holds.
func (tx *Tx) setIf(key, value []byte, opts *options, at keyspace.Deadline) reply.Value {
	o, ok := tx.findText(key)
	if !ok && (opts.get || opts.cond.compares()) {
		return ErrWrongType
	}
	old := reply.Nil()
	if opts.get {
		old = textOrNil(o)
	}
	if opts.get && o == nil {
		tx.missed(key)
	}
	if !opts.cond.holds(o, opts.match) {
		return old
	}
	if opts.keep {
		tx.setText(key, value, deadlineOf(o), "set")
	} else {
		tx.setUntil(key, value, at)
	}
	if opts.get {
		return old
	}
	return reply.OK()
}

func setEx(tx *Tx, a *Args) reply.Value { return setFor(tx, a, seconds, "setex") }

func psetEx(tx *Tx, a *Args) reply.Value { return setFor(tx, a, milliseconds, "psetex") }

func setFor(tx *Tx, a *Args, unit timeUnit, name string) reply.Value {
	key, when, value := a.Bytes(), a.Bytes(), a.Bytes()
	if err, ok := a.Done(); !ok {
		return err
	}
	at, bad := deadline(when, unit, tx.Env, name)
	if bad != nil {
		return *bad
	}
	tx.setUntil(key, value, at)
	return reply.OK()
}

func setNX(tx *Tx, a *Args) reply.Value {
	key, value := a.Bytes(), a.Bytes()
	if err, ok := a.Done(); !ok {
		return err
	}
	if tx.DB.Find(tx.Env, key) != nil {
		return reply.Int(0)
	}
	tx.setText(key, value, 0, "set")
	return reply.Int(1)
}

func getSet(tx *Tx, a *Args) reply.Value {
	key, value := a.Bytes(), a.Bytes()
	if err, ok := a.Done(); !ok {
		return err
	}
	o, ok := tx.findText(key)
	if !ok {
		return ErrWrongType
	}
	old := textOrNil(o)
	tx.setText(key, value, 0, "set")
	return old
}

func mset(tx *Tx, a *Args) reply.Value {
	pairs := a.Rest()
	if len(pairs)%2 != 0 {
		return ErrArity("mset")
	}
	tx.setPairs(pairs, &options{}, 0)
	return reply.OK()
}

func msetNX(tx *Tx, a *Args) reply.Value {
	pairs := a.Rest()
	if len(pairs)%2 != 0 {
		return ErrArity("msetnx")
	}
	if !tx.allHold(pairs, ifMissing) {
		return reply.Int(0)
	}
	tx.setPairs(pairs, &options{}, 0)
	return reply.Int(1)
}

var (
	errNumKeys = reply.Error("ERR invalid numkeys value")
	errPairs   = reply.Error("ERR wrong number of key-value pairs")
)

func msetEx(tx *Tx, a *Args) reply.Value {
	n := a.IntOr(errNumKeys)
	if n < 1 || n > math.MaxInt32 {
		a.Fail(errNumKeys)
	} else if n*2 > int64(a.Left()) {
		a.Fail(errPairs)
	}
	if a.bad {
		return a.err
	}
	pairs := a.Take(int(2 * n))
	opts := readOptions(a, mayExist|mayExpire|mayKeep)
	if err, ok := a.Done(); !ok {
		return err
	}
	at, bad := opts.deadline(tx.Env, "msetex")
	if bad != nil {
		return *bad
	}
	if !tx.allHold(pairs, opts.cond) {
		return reply.Int(0)
	}
	tx.setPairs(pairs, &opts, at)
	return reply.Int(1)
}

// allHold reports whether the condition, which looks at no value, holds for the keys
// of all pairs.
func (tx *Tx) allHold(pairs [][]byte, c condition) bool {
	if c == always {
		return true
	}
	for i := 0; i < len(pairs); i += 2 {
		if !c.holds(tx.DB.Find(tx.Env, pairs[i]), nil) {
			return false
		}
	}
	return true
}

func (tx *Tx) setPairs(pairs [][]byte, opts *options, at keyspace.Deadline) {
	for i := 0; i < len(pairs); i += 2 {
		key, value := pairs[i], pairs[i+1]
		if opts.keep {
			tx.setText(key, value, deadlineOf(tx.DB.Find(tx.Env, key)), "set")
		} else {
			tx.setUntil(key, value, at)
		}
	}
}

// deadlineOf is the deadline of o, which may be nil, or 0 for none.
func deadlineOf(o *keyspace.Object) keyspace.Deadline {
	if o == nil {
		return 0
	}
	return o.Expire
}
