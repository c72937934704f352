package command

import (
	"slices"

	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

var (
	errLimitByRank   = reply.Error("ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX")
	errScoresWithLex = reply.Error("ERR syntax error, WITHSCORES not supported in combination with BYLEX")
)

// rangeBy says what the bounds of a range are.
type rangeBy uint8

const (
	byAny rangeBy = iota // as the words say; ranks without one
	byRank
	byScore
	byLex
)

// rangeOrder is the order of a range's result.
type rangeOrder uint8

const (
	anyDirection rangeOrder = iota // as the words say; forward without one
	forward
	backward
)

// rangeOptions are those of ZRANGE and its kin.
type rangeOptions struct {
	by            rangeBy
	order         rangeOrder
	scores        bool
	offset, count int64 // of LIMIT; a negative count is all
	limitsRanks   bool  // LIMIT is for ranks too
}

// read reads the words behind the bounds; a field that the command has fixed takes no
// word.
func (o *rangeOptions) read(a *Args, store bool) {
	o.count = -1
	for a.Left() > 0 && !a.bad {
		switch {
		case !store && a.Word("WITHSCORES"):
			o.scores = true
		case a.Left() > 2 && a.Word("LIMIT"):
			o.offset, o.count = a.Int(), a.Int()
		case o.order == anyDirection && a.Word("REV"):
			o.order = backward
		case o.by == byAny && a.Word("BYLEX"):
			o.by = byLex
		case o.by == byAny && a.Word("BYSCORE"):
			o.by = byScore
		default:
			a.Fail(ErrSyntax)
		}
	}
	if o.by == byAny {
		o.by = byRank
	}
	if o.count != -1 && o.by == byRank && !o.limitsRanks {
		a.Fail(errLimitByRank)
	}
	if o.scores && o.by == byLex {
		a.Fail(errScoresWithLex)
	}
}

// bounds reads the two bounds.
func (o *rangeOptions) bounds(a *Args) zrangeOf {
	reverse := o.order == backward
	switch o.by {
	case byScore:
		return readScoreRange(a, reverse)
	case byLex:
		return readLexRange(a, reverse)
	}
	return readRankRange(a, reverse)
}

// pick are the members of z in the range, in the order and number asked for.
func (o *rangeOptions) pick(tx *Tx, z *keyspace.ZSet, r zrangeOf) []keyspace.Scored {
	from, to := r.ranks(z)
	skip, count := o.limit(to - from)
	if o.order == backward {
		to -= skip
		from = to - count
	} else {
		from += skip
		to = from + count
	}
	var members []keyspace.Scored
	if from < to {
		members = make([]keyspace.Scored, 0, to-from)
		z.Each(from, func(s keyspace.Scored) bool {
			tx.CountSteps(stepsPerElement)
			members = append(members, s)
			return len(members) < to-from
		})
	}
	if o.order == backward {
		slices.Reverse(members)
	}
	return members
}

// size returns the number of members that pick returns.
func (o *rangeOptions) size(z *keyspace.ZSet, r zrangeOf) int {
	from, to := r.ranks(z)
	_, count := o.limit(to - from)
	return count
}

// limit returns the numbers of members to skip and to take of n. A LIMIT that is
// allowed with ranks, because it is for all members, has no effect.
func (o *rangeOptions) limit(n int) (skip, count int) {
	if o.by == byRank && !o.limitsRanks {
		return 0, n
	}
	if o.offset < 0 || o.offset >= int64(n) {
		return 0, 0
	}
	skip = int(o.offset)
	if o.count >= 0 {
		return skip, int(min(o.count, int64(n-skip)))
	}
	return skip, n - skip
}

// readRange reads the words of a range command behind the key: the bounds stand
// first, but what they are is known from the options behind them.
func readRange(a *Args, o *rangeOptions, store bool) zrangeOf {
	bounds := NewArgs(a.argv[:a.at+2])
	bounds.at = a.at
	a.at += 2
	if o.read(a, store); a.bad {
		return nil
	}
	r := o.bounds(bounds)
	if bounds.bad {
		a.Fail(bounds.err)
	}
	return r
}

func zrange(tx *Tx, a *Args) reply.Value { return tx.zrange(a, rangeOptions{}) }

func zrevRange(tx *Tx, a *Args) reply.Value {
	return tx.zrange(a, rangeOptions{by: byRank, order: backward})
}

func zrangeByScore(tx *Tx, a *Args) reply.Value {
	return tx.zrange(a, rangeOptions{by: byScore, order: forward})
}

func zrevRangeByScore(tx *Tx, a *Args) reply.Value {
	return tx.zrange(a, rangeOptions{by: byScore, order: backward})
}

func zrangeByLex(tx *Tx, a *Args) reply.Value {
	return tx.zrange(a, rangeOptions{by: byLex, order: forward})
}

func zrevRangeByLex(tx *Tx, a *Args) reply.Value {
	return tx.zrange(a, rangeOptions{by: byLex, order: backward})
}

func (tx *Tx) zrange(a *Args, o rangeOptions) reply.Value {
	key := a.Bytes()
	r := readRange(a, &o, false)
	if err, ok := a.Done(); !ok {
		return err
	}
	z, ok := tx.findZSet(key)
	switch {
	case !ok:
		return ErrWrongType
	case z == nil:
		return reply.Array()
	}
	if tx.lookAt(int64(o.size(z, r))) {
		return reply.Nil()
	}
	return tx.membersReply(o.pick(tx, z, r), o.scores)
}

func zrangeStore(tx *Tx, a *Args) reply.Value {
	to, from, o := a.Bytes(), a.Bytes(), rangeOptions{limitsRanks: tx.dialect().limitsRanks}
	r := readRange(a, &o, true)
	if err, ok := a.Done(); !ok {
		return err
	}
	z, ok := tx.findZSet(from)
	switch {
	case !ok:
		return ErrWrongType
	case z == nil:
		return tx.storeZSet(to, nil, "")
	}
	return tx.storeZSet(to, o.pick(tx, z, r), "zrangestore")
}

func zremRangeByRank(tx *Tx, a *Args) reply.Value {
	key := a.Bytes()
	return tx.removeRange(key, a, readRankRange(a, false), "zremrangebyrank")
}

func zremRangeByScore(tx *Tx, a *Args) reply.Value {
	key := a.Bytes()
	return tx.removeRange(key, a, readScoreRange(a, false), "zremrangebyscore")
}

func zremRangeByLex(tx *Tx, a *Args) reply.Value {
	key := a.Bytes()
	return tx.removeRange(key, a, readLexRange(a, false), "zremrangebylex")
}

func (tx *Tx) removeRange(key []byte, a *Args, r zrangeOf, event string) reply.Value {
	if err, ok := a.Done(); !ok {
		return err
	}
	e, ok := tx.editZSet(key)
	switch {
	case !ok:
		return ErrWrongType
	case e.z == nil:
		return reply.Int(0)
	}
	from, to := r.ranks(e.z)
	if from < to {
		e.change().RemoveRange(from, to)
		e.done(event)
	}
	return reply.Int(int64(to - from))
}
