package command

import (
	"math"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// optionSet says which options a command takes.
type optionSet uint8

const (
	mayExist   optionSet = 1 << iota // NX, XX
	mayCompare                       // IFEQ, IFNE, IFDEQ, IFDNE
	mayGet                           // GET
	mayExpire                        // EX, PX, EXAT, PXAT
	mayKeep                          // KEEPTTL
	mayPersist                       // PERSIST
)

// timeUnit is the unit of a duration or of a point in time.
type timeUnit uint8

const (
	noTime timeUnit = iota
	seconds
	milliseconds
	unixSeconds
	unixMilliseconds
)

// options are those of SET and its kin, in any order.
type options struct {
	cond    condition
	match   []byte // what cond compares with
	get     bool
	keep    bool
	persist bool
	unit    timeUnit
	when    []byte // nil without a time
}

// readOptions reads the words left as options of the set. The same option may
// stand twice, as in Redis, and the last one counts.
func readOptions(a *Args, may optionSet) (o options) {
	for a.Left() > 0 {
		switch {
		case may&mayExist != 0 && a.Word("NX"):
			o.condition(a, ifMissing)
		case may&mayExist != 0 && a.Word("XX"):
			o.condition(a, ifExists)
		case may&mayGet != 0 && a.Word("GET"):
			o.get = true
		case may&mayKeep != 0 && a.Word("KEEPTTL"):
			o.keep = true
		case may&mayPersist != 0 && a.Word("PERSIST"):
			o.persist = true
		case may&mayExpire != 0 && o.time(a):
		case may&mayCompare != 0 && o.comparison(a):
		default:
			a.Fail(ErrSyntax)
			return o
		}
	}
	if (o.keep || o.persist) && o.when != nil {
		a.Fail(ErrSyntax)
	}
	return o
}

func (o *options) condition(a *Args, c condition) {
	if o.cond != always && o.cond != c {
		a.Fail(ErrSyntax)
	}
	o.cond = c
}

// comparison reads a condition on the value if one is next.
func (o *options) comparison(a *Args) bool {
	c := readComparison(a)
	if c == always {
		return false
	}
	o.condition(a, c)
	o.match = a.Bytes()
	checkDigest(a, c, o.match)
	return true
}

// time reads a time if one is next.
func (o *options) time(a *Args) bool {
	unit := noTime
	switch {
	case a.Word("EX"):
		unit = seconds
	case a.Word("PX"):
		unit = milliseconds
	case a.Word("EXAT"):
		unit = unixSeconds
	case a.Word("PXAT"):
		unit = unixMilliseconds
	default:
		return false
	}
	if o.unit != noTime && o.unit != unit {
		a.Fail(ErrSyntax)
	}
	o.unit, o.when = unit, a.Bytes()
	return true
}

// deadline is the time given, 0 if there is none; name is the command's, for the error.
func (o *options) deadline(e *env.Env, name string) (at keyspace.Deadline, bad *reply.Value) {
	if o.when == nil {
		return 0, nil
	}
	return deadline(o.when, o.unit, e, name)
}

// deadline reads a time of the unit as a deadline. Only times above zero are taken.
func deadline(word []byte, unit timeUnit, e *env.Env, name string) (at keyspace.Deadline, bad *reply.Value) {
	n, ok := ParseInt(word)
	if !ok {
		return 0, ptr(ErrNotInteger)
	}
	if n <= 0 {
		return 0, ptr(errExpireTime(name))
	}
	return absolute(n, unit, e, name)
}

// absolute turns a number of the unit, of either sign, into a deadline: a time of day is one by wall time, the others count from
// the time of the request.
func absolute(n int64, unit timeUnit, e *env.Env, name string) (at keyspace.Deadline, bad *reply.Value) {
	if unit == seconds || unit == unixSeconds {
		if n > math.MaxInt64/1000 || n < math.MinInt64/1000 {
			return 0, ptr(errExpireTime(name))
		}
		n *= 1000
	}
	if unit == unixSeconds || unit == unixMilliseconds {
		return keyspace.ByWall(e, n), nil
	}
	if n > math.MaxInt64-e.Now {
		return 0, ptr(errExpireTime(name))
	}
	return keyspace.ByTime(n + e.Now), nil
}

func errExpireTime(name string) reply.Value {
	return reply.Error("ERR invalid expire time in '" + name + "' command")
}

// setText stores a copy of text with a deadline, or 0 for none, and tells the event; one that
// has passed leaves no key.
func (tx *Tx) setText(key, text []byte, at keyspace.Deadline, event string) {
	if at.Passed(tx.Time) {
		tx.DB.SetBytes(tx.Env, key, text, 0)
		tx.Event(StringEvent, event, key)
		tx.Event(GenericEvent, "expire", key)
		tx.DB.Remove(tx.Env, key)
		tx.Event(ExpiredEvent, "expired", key)
		return
	}
	tx.DB.SetBytes(tx.Env, key, text, at)
	tx.Event(StringEvent, event, key)
}

// comes reports whether there is a deadline that has not passed.
func (tx *Tx) comes(at keyspace.Deadline) bool { return at != 0 && !at.Passed(tx.Time) }

// setUntil is setText of a command that was given the deadline.
func (tx *Tx) setUntil(key, text []byte, at keyspace.Deadline) {
	tx.setText(key, text, at, "set")
	if tx.comes(at) {
		tx.Event(GenericEvent, "expire", key)
	}
}

// expireAt gives the object under key a deadline; one that has passed removes the
// key.
func (tx *Tx) expireAt(key []byte, o *keyspace.Object, at keyspace.Deadline) {
	if at.Passed(tx.Time) {
		tx.remove(key)
		return
	}
	tx.DB.SetExpire(tx.Env, o, at)
	tx.Event(GenericEvent, "expire", key)
}

// stay takes the deadline from o, which is under key.
func (tx *Tx) stay(key []byte, o *keyspace.Object) {
	tx.DB.SetExpire(tx.Env, o, 0)
	tx.Event(GenericEvent, "persist", key)
}
