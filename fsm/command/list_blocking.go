package command

import (
	"math"
	"math/big"

	"github.com/trireme-dev/trireme/fsm/reply"
)

var (
	errTimeout         = reply.Error("ERR timeout is not a float or out of range")
	errTimeoutRange    = reply.Error("ERR timeout is out of range")
	errTimeoutNegative = reply.Error("ERR timeout is negative")
)

// Timeout returns the milliseconds that the client of a Blocking command is willing to wait,
// 0 for ever; now is the time in unix milliseconds. ok is false if the command does not
// ask to wait, or if the word is no timeout: the handler then answers the error.
func (c *Command) Timeout(argv [][]byte, now int64) (ms int64, ok bool) {
	if c.Waits != nil {
		return c.Waits(argv, now)
	}
	at := c.TimeoutAt
	if at < 0 {
		at += len(argv)
	}
	if c.Flags&Blocking == 0 || at <= 0 || at >= len(argv) {
		return 0, false
	}
	ms, bad := parseTimeout(argv[at], now)
	return ms, bad == nil
}

// parseTimeout reads seconds with a fraction, rounded up to milliseconds.
func parseTimeout(word []byte, now int64) (ms int64, bad *reply.Value) {
	f, ok := parseLongDouble(string(word))
	if !ok {
		return 0, &errTimeout
	}
	f.Mul(f, big.NewFloat(1000))
	n, accuracy := f.Int64() // towards zero
	if accuracy == big.Below && f.Sign() > 0 && n < math.MaxInt64 {
		n++
	}
	switch {
	case f.Sign() > 0 && (f.IsInf() || n > math.MaxInt64-now):
		return 0, &errTimeoutRange
	case n < 0:
		return 0, &errTimeoutNegative
	}
	return n, nil
}

// judgeTimeout records what is wrong with a timeout. That is all a handler does with it:
// who waits does so at the edge.
func (a *Args) judgeTimeout(word []byte, now int64) {
	if _, bad := parseTimeout(word, now); bad != nil {
		a.Fail(*bad)
	}
}

// popEither is BLPOP or BRPOP without the wait.
func popEither(tx *Tx, a *Args, s side) reply.Value {
	keys := a.Take(a.Left() - 1)
	a.judgeTimeout(a.Bytes(), tx.Now)
	if err, ok := a.Done(); !ok {
		return err
	}
	v := takeFirst(tx, popArgs{keys: keys, side: s, count: 1})
	if v.Kind() != reply.KindArray {
		return v
	}
	return reply.Array(v.Elems()[0], v.Elems()[1].Elems()[0])
}

func bLPop(tx *Tx, a *Args) reply.Value { return popEither(tx, a, left) }

func bRPop(tx *Tx, a *Args) reply.Value { return popEither(tx, a, right) }

// bLMPop judges the timeout last, as Redis does.
func bLMPop(tx *Tx, a *Args) reply.Value {
	word := a.Bytes()
	p := readPopArgs(a)
	a.judgeTimeout(word, tx.Now)
	if err, ok := a.Done(); !ok {
		return err
	}
	return takeFirst(tx, p)
}

// bLMove judges the ends before the timeout, as Redis does.
func bLMove(tx *Tx, a *Args) reply.Value {
	from, to := a.Bytes(), a.Bytes()
	out, in := a.side(), a.side()
	a.judgeTimeout(a.Bytes(), tx.Now)
	if err, ok := a.Done(); !ok {
		return err
	}
	return shift(tx, from, to, out, in)
}

func bRPopLPush(tx *Tx, a *Args) reply.Value {
	from, to := a.Bytes(), a.Bytes()
	a.judgeTimeout(a.Bytes(), tx.Now)
	if err, ok := a.Done(); !ok {
		return err
	}
	return shift(tx, from, to, right, left)
}
