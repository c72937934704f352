package command

import (
	"math/big"
	"strconv"

	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

var (
	errHashInteger = reply.Error("ERR hash value is not an integer")
	errHashFloat   = reply.Error("ERR hash value is not a float")
	errNotFinite   = reply.Error("ERR value is NaN or Infinity")
)

// hIncrBy keeps the field's deadline.
func hIncrBy(tx *Tx, a *Args) reply.Value {
	key, field, n := a.Bytes(), keyspace.Alias(a.Bytes()), a.Int()
	if err, ok := a.Done(); !ok {
		return err
	}
	e, ok := lookHash(tx, key)
	if !ok {
		return ErrWrongType
	}
	value, at, had := e.data.Get(tx.Time, field)
	old := int64(0)
	if had {
		if old, ok = parseIntString(value); !ok {
			return errHashInteger
		}
	}
	sum := old + n
	if (sum > old) != (n > 0) && n != 0 {
		return errOverflow
	}
	e.write().Set(tx.Time, field, strconv.FormatInt(sum, 10), at)
	e.end(e.data.Len(tx.Time), HashEvent, "hincrby")
	return reply.Int(sum)
}

// hIncrByFloat keeps the field's deadline, and computes as INCRBYFLOAT does.
func hIncrByFloat(tx *Tx, a *Args) reply.Value {
	key, field := a.Bytes(), keyspace.Alias(a.Bytes())
	n, ok := parseLongDouble(a.String())
	switch {
	case !ok:
		a.Fail(ErrNotFloat)
	case n.IsInf():
		a.Fail(errNotFinite)
	}
	if err, ok := a.Done(); !ok {
		return err
	}
	e, ok := lookHash(tx, key)
	if !ok {
		return ErrWrongType
	}
	sum := new(big.Float).SetPrec(longDoubleBits)
	value, at, had := e.data.Get(tx.Time, field)
	if had {
		if sum, ok = parseLongDouble(value); !ok {
			return errHashFloat
		}
	}
	if sum, ok = addLongDouble(sum, n); !ok {
		return errNaNInfinity
	}
	text := formatLongDouble(sum)
	e.write().Set(tx.Time, field, text, at)
	e.end(e.data.Len(tx.Time), HashEvent, "hincrbyfloat")
	return reply.Bulk(text)
}
