package command

import (
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// maxFieldDeadline is the latest deadline of a field in unix milliseconds, as in Redis:
// 46 bits, in the year 4199.
const maxFieldDeadline = 1<<46 - 1

var (
	errFieldsWord  = reply.Error("ERR Mandatory argument FIELDS is missing or not at the right position")
	errFieldCount  = reply.Error("ERR Number of fields must be a positive integer")
	errFieldCount0 = reply.Error("ERR Parameter `numFields` should be greater than 0")
	errFieldMatch  = reply.Error("ERR The `numfields` parameter must match the number of arguments")
	errFieldTime   = reply.Error("ERR invalid expire time, must be >= 0")
)

// The replies of HEXPIRE and its kin for a field, in addition to noKey and noDeadline.
const (
	notMet       = 0
	deadlineSet  = 1
	fieldDeleted = 2
)

// fields reads FIELDS, how many there are, which fails as bad, and all words left.
func (a *Args) fields(bad reply.Value) [][]byte {
	if !a.Word("FIELDS") {
		a.Fail(errFieldsWord)
		return nil
	}
	n := a.IntOr(bad)
	switch {
	case n <= 0:
		a.Fail(bad)
	case n != int64(a.Left()):
		a.Fail(errFieldMatch)
	}
	return a.Rest()
}

// fieldDeadline reads a time of the unit as a deadline. Unlike a key's it may be 0 or past, which deletes the field.
func fieldDeadline(word []byte, unit timeUnit, e *env.Env, name string) (at keyspace.Deadline, bad *reply.Value) {
	n, ok := ParseInt(word)
	switch {
	case !ok:
		return 0, &ErrNotInteger
	case n < 0:
		return 0, &errFieldTime
	}
	if at, bad = absolute(n, unit, e, name); bad == nil && at.Millis() > maxFieldDeadline {
		bad = ptr(errExpireTime(name))
	}
	return at, bad
}

// readFieldFlags reads at most one of the flags.
func readFieldFlags(a *Args) (f expireFlags) {
	switch {
	case a.Word("NX"):
		f.nx = true
	case a.Word("XX"):
		f.xx = true
	case a.Word("GT"):
		f.gt = true
	case a.Word("LT"):
		f.lt = true
	}
	return f
}

func hExpire(tx *Tx, a *Args) reply.Value { return setFieldDeadlines(tx, a, seconds, "hexpire") }

func hPExpire(tx *Tx, a *Args) reply.Value {
	return setFieldDeadlines(tx, a, milliseconds, "hpexpire")
}

func hExpireAt(tx *Tx, a *Args) reply.Value {
	return setFieldDeadlines(tx, a, unixSeconds, "hexpireat")
}

func hPExpireAt(tx *Tx, a *Args) reply.Value {
	return setFieldDeadlines(tx, a, unixMilliseconds, "hpexpireat")
}

func setFieldDeadlines(tx *Tx, a *Args, unit timeUnit, name string) reply.Value {
	e, ok := lookHash(tx, a.Bytes())
	if !ok {
		return ErrWrongType
	}
	at, bad := fieldDeadline(a.Bytes(), unit, tx.Env, name)
	// Without a key there is nothing to give a time to, so one that is too late is no error.
	if missing := e.data.Len(tx.Time) == 0; bad != nil && !(missing && bad.Equal(errExpireTime(name))) {
		a.Fail(*bad)
	}
	flags := readFieldFlags(a)
	fields := a.fields(errFieldCount0)
	if err, ok := a.Done(); !ok {
		return err
	}
	codes := make([]reply.Value, len(fields))
	for i, word := range fields {
		field := keyspace.Alias(word)
		value, old, had := e.data.Get(tx.Time, field)
		switch {
		case !had:
			codes[i] = reply.Int(noKey)
		case !flags.allow(old, at):
			codes[i] = reply.Int(notMet)
		case setFieldDeadline(tx, &e, field, value, at):
			codes[i] = reply.Int(deadlineSet)
		default:
			codes[i] = reply.Int(fieldDeleted)
		}
	}
	e.end(e.data.Len(tx.Time), HashEvent, tx.fieldEvent(at))
	return reply.Array(codes...)
}

// setFieldDeadline gives a field with its value a deadline, or 0 for none; one that has passed
// deletes the field, and the answer is false.
func setFieldDeadline(tx *Tx, e *edit[*keyspace.Fields], field, value string, at keyspace.Deadline) bool {
	if tx.comes(at) {
		e.write().Set(tx.Time, field, value, at)
		return true
	}
	e.write().Delete(tx.Time, field)
	return false
}

// fieldEvent is the event of fields that were given the deadline at.
func (tx *Tx) fieldEvent(at keyspace.Deadline) string {
	if tx.comes(at) {
		return "hexpire"
	}
	return "hdel"
}

func hPersist(tx *Tx, a *Args) reply.Value {
	e, ok := lookHash(tx, a.Bytes())
	if !ok {
		return ErrWrongType
	}
	fields := a.fields(errFieldCount)
	if err, ok := a.Done(); !ok {
		return err
	}
	codes := make([]reply.Value, len(fields))
	for i, word := range fields {
		field := keyspace.Alias(word)
		value, at, had := e.data.Get(tx.Time, field)
		switch {
		case !had:
			codes[i] = reply.Int(noKey)
		case at == 0:
			codes[i] = reply.Int(noDeadline)
		default:
			e.write().Set(tx.Time, field, value, 0)
			codes[i] = reply.Int(deadlineSet)
		}
	}
	e.end(e.data.Len(tx.Time), HashEvent, "hpersist")
	return reply.Array(codes...)
}

// askFields answers for the deadlines of fields, which of turns into numbers.
func askFields(tx *Tx, a *Args, of func(at keyspace.Deadline) int64) reply.Value {
	_, h, ok := findHash(tx, a.Bytes())
	if !ok {
		return ErrWrongType
	}
	fields := a.fields(errFieldCount)
	if err, ok := a.Done(); !ok {
		return err
	}
	values := make([]reply.Value, len(fields))
	for i, field := range fields {
		_, at, had := h.Get(tx.Time, keyspace.Alias(field))
		switch {
		case !had:
			values[i] = reply.Int(noKey)
		case at == 0:
			values[i] = reply.Int(noDeadline)
		default:
			values[i] = reply.Int(of(at))
		}
	}
	return reply.Array(values...)
}

// ceil turns milliseconds into seconds, rounded up, where a key's are rounded to the
// nearest: Redis differs so.
func ceil(ms int64) int64 { return (ms + 999) / 1000 }

func hTTL(tx *Tx, a *Args) reply.Value {
	return askFields(tx, a, func(at keyspace.Deadline) int64 { return ceil(at.Left(tx.Time)) })
}

func hPTTL(tx *Tx, a *Args) reply.Value {
	return askFields(tx, a, func(at keyspace.Deadline) int64 { return at.Left(tx.Time) })
}

func hExpireTime(tx *Tx, a *Args) reply.Value {
	return askFields(tx, a, func(at keyspace.Deadline) int64 { return tx.dialect().fieldSeconds(at.Millis()) })
}

func hPExpireTime(tx *Tx, a *Args) reply.Value {
	return askFields(tx, a, keyspace.Deadline.Millis)
}
