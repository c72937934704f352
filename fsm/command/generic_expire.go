package command

import (
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// expireFlags say when EXPIRE and its kin act.
type expireFlags struct{ nx, xx, gt, lt bool }

var (
	errExpireNX   = reply.Error("ERR NX and XX, GT or LT options at the same time are not compatible")
	errExpireGTLT = reply.Error("ERR GT and LT options at the same time are not compatible")
)

func readExpireFlags(a *Args) (f expireFlags) {
	for a.Left() > 0 {
		switch {
		case a.Word("NX"):
			f.nx = true
		case a.Word("XX"):
			f.xx = true
		case a.Word("GT"):
			f.gt = true
		case a.Word("LT"):
			f.lt = true
		default:
			a.Fail(reply.Error("ERR Unsupported option " + shownLast(a.String())))
		}
	}
	if f.nx && (f.xx || f.gt || f.lt) {
		a.Fail(errExpireNX)
	}
	if f.gt && f.lt {
		a.Fail(errExpireGTLT)
	}
	return f
}

// allow reports whether the deadline old, 0 for none, which counts as infinite, may
// be replaced by at.
func (f expireFlags) allow(old, at keyspace.Deadline) bool {
	switch {
	case f.nx && old != 0, f.xx && old == 0:
		return false
	case f.gt && (old == 0 || at.Millis() <= old.Millis()):
		return false
	case f.lt && old != 0 && at.Millis() >= old.Millis():
		return false
	}
	return true
}

func expire(tx *Tx, a *Args) reply.Value { return setDeadline(tx, a, seconds, "expire") }

func pexpire(tx *Tx, a *Args) reply.Value { return setDeadline(tx, a, milliseconds, "pexpire") }

func expireAt(tx *Tx, a *Args) reply.Value { return setDeadline(tx, a, unixSeconds, "expireat") }

func pexpireAt(tx *Tx, a *Args) reply.Value {
	return setDeadline(tx, a, unixMilliseconds, "pexpireat")
}

// setDeadline judges the flags before the time, as Redis does.
func setDeadline(tx *Tx, a *Args, unit timeUnit, name string) reply.Value {
	key, when := a.Bytes(), a.Bytes()
	flags := readExpireFlags(a)
	n, ok := ParseInt(when)
	if !ok {
		a.Fail(ErrNotInteger)
	}
	at, bad := absolute(n, unit, tx.Env, name)
	if bad != nil {
		a.Fail(*bad)
	}
	if err, ok := a.Done(); !ok {
		return err
	}
	o := tx.DB.Find(tx.Env, key)
	if o == nil || !flags.allow(o.Expire, at) {
		return reply.Int(0)
	}
	tx.expireAt(key, o, at)
	return reply.Int(1)
}

func persist(tx *Tx, a *Args) reply.Value {
	key := a.Bytes()
	if err, ok := a.Done(); !ok {
		return err
	}
	o := tx.DB.Find(tx.Env, key)
	if o == nil || o.Expire == 0 {
		return reply.Int(0)
	}
	tx.stay(key, o)
	return reply.Int(1)
}

// The answers of TTL and its kin for keys without a deadline.
const (
	noKey      = -2
	noDeadline = -1
)

// ask answers for the key's deadline, which of turns into a number.
func ask(tx *Tx, a *Args, of func(at keyspace.Deadline) int64) reply.Value {
	key := a.Bytes()
	if err, ok := a.Done(); !ok {
		return err
	}
	o := tx.DB.Find(tx.Env, key)
	switch {
	case o == nil:
		return reply.Int(noKey)
	case o.Expire == 0:
		return reply.Int(noDeadline)
	}
	return reply.Int(of(o.Expire))
}

// round turns milliseconds into the nearest second.
func round(ms int64) int64 {
	s := ms / 1000
	if ms%1000 >= 500 {
		s++
	}
	return s
}

func ttl(tx *Tx, a *Args) reply.Value {
	return ask(tx, a, func(at keyspace.Deadline) int64 { return round(at.Left(tx.Time)) })
}

func pttl(tx *Tx, a *Args) reply.Value {
	return ask(tx, a, func(at keyspace.Deadline) int64 { return at.Left(tx.Time) })
}

func expireTime(tx *Tx, a *Args) reply.Value {
	return ask(tx, a, func(at keyspace.Deadline) int64 { return round(at.Millis()) })
}

func pexpireTime(tx *Tx, a *Args) reply.Value {
	return ask(tx, a, keyspace.Deadline.Millis)
}
