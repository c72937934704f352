package command

import (
	"math"
	"math/big"
	"strconv"

	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

var (
	errOverflow    = reply.Error("ERR increment or decrement would overflow")
	errDecrement   = reply.Error("ERR decrement would overflow")
	errNaNInfinity = reply.Error("ERR increment would produce NaN or Infinity")
)

func incr(tx *Tx, a *Args) reply.Value { return tx.add(a, a.Bytes(), 1) }

func decr(tx *Tx, a *Args) reply.Value { return tx.add(a, a.Bytes(), -1) }

func incrBy(tx *Tx, a *Args) reply.Value {
	key, n := a.Bytes(), a.Int()
	return tx.add(a, key, n)
}

func decrBy(tx *Tx, a *Args) reply.Value {
	key, n := a.Bytes(), a.Int()
	if n == math.MinInt64 {
		a.Fail(errDecrement)
	}
	return tx.add(a, key, -n)
}

// add adds n to the integer under key and keeps its deadline.
func (tx *Tx) add(a *Args, key []byte, n int64) reply.Value {
	if err, ok := a.Done(); !ok {
		return err
	}
	o, ok := tx.findText(key)
	if !ok {
		return ErrWrongType
	}
	old, expire := int64(0), keyspace.Deadline(0)
	if o != nil {
		if old, ok = parseIntString(o.Text()); !ok {
			return ErrNotInteger
		}
		expire = o.Expire
	}
	sum := old + n
	if (sum > old) != (n > 0) && n != 0 {
		return errOverflow
	}
	tx.setText(key, strconv.AppendInt(make([]byte, 0, 20), sum, 10), expire, "incrby")
	return reply.Int(sum)
}

// incrByFloat computes as the x87 long double of Redis does: with 64 bits of
// mantissa, on every node alike.
func incrByFloat(tx *Tx, a *Args) reply.Value {
	key, word := a.Bytes(), a.Bytes()
	if err, ok := a.Done(); !ok {
		return err
	}
	o, ok := tx.findText(key)
	if !ok {
		return ErrWrongType
	}
	sum, expire := new(big.Float).SetPrec(longDoubleBits), keyspace.Deadline(0)
	if o != nil {
		if sum, ok = parseLongDouble(o.Text()); !ok {
			return ErrNotFloat
		}
		expire = o.Expire
	}
	n, ok := parseLongDouble(string(word))
	if !ok {
		return ErrNotFloat
	}
	if sum, ok = addLongDouble(sum, n); !ok {
		return errNaNInfinity
	}
	text := formatLongDouble(sum)
	tx.setText(key, []byte(text), expire, "incrbyfloat")
	return reply.Bulk(text)
}
