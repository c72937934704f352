package command

import (
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

func zcard(tx *Tx, a *Args) reply.Value {
	return tx.countZSet(a, func(z *keyspace.ZSet) int { return z.Len() })
}

func zcount(tx *Tx, a *Args) reply.Value {
	key := a.Bytes()
	r := readScoreRange(a, false)
	return tx.countIn(key, a, r)
}

func zlexCount(tx *Tx, a *Args) reply.Value {
	key := a.Bytes()
	r := readLexRange(a, false)
	return tx.countIn(key, a, r)
}

func (tx *Tx) countIn(key []byte, a *Args, r zrangeOf) reply.Value {
	if err, ok := a.Done(); !ok {
		return err
	}
	z, ok := tx.findZSet(key)
	switch {
	case !ok:
		return ErrWrongType
	case z == nil:
		return reply.Int(0)
	}
	from, to := r.ranks(z)
	return reply.Int(int64(to - from))
}

// countZSet answers a number about the set under the one key.
func (tx *Tx) countZSet(a *Args, count func(z *keyspace.ZSet) int) reply.Value {
	key := a.Bytes()
	if err, ok := a.Done(); !ok {
		return err
	}
	z, ok := tx.findZSet(key)
	switch {
	case !ok:
		return ErrWrongType
	case z == nil:
		return reply.Int(0)
	}
	return reply.Int(int64(count(z)))
}

// scoreOf is the score of a member as a reply, nil if it or the set is missing.
func (tx *Tx) scoreOf(z *keyspace.ZSet, member []byte) reply.Value {
	if z == nil {
		return reply.Nil()
	}
	score, ok := z.Score(member)
	if !ok {
		return reply.Nil()
	}
	return tx.score(score)
}

func zscore(tx *Tx, a *Args) reply.Value {
	key, member := a.Bytes(), a.Bytes()
	if err, ok := a.Done(); !ok {
		return err
	}
	z, ok := tx.findZSet(key)
	if !ok {
		return ErrWrongType
	}
	return tx.scoreOf(z, member)
}

func zmscore(tx *Tx, a *Args) reply.Value {
	key, members := a.Bytes(), a.Rest()
	z, ok := tx.findZSet(key)
	if !ok {
		return ErrWrongType
	}
	scores := make([]reply.Value, len(members))
	for i, m := range members {
		scores[i] = tx.scoreOf(z, m)
	}
	return reply.Array(scores...)
}

func zrank(tx *Tx, a *Args) reply.Value { return tx.rank(a, "zrank", false) }

func zrevRank(tx *Tx, a *Args) reply.Value { return tx.rank(a, "zrevrank", true) }

func (tx *Tx) rank(a *Args, name string, reverse bool) reply.Value {
	key, member := a.Bytes(), a.Bytes()
	if a.Left() > 1 {
		return ErrArity(name)
	}
	withScore, missing := a.Word("WITHSCORE"), reply.Nil()
	if withScore {
		missing = reply.NilArray()
	}
	if err, ok := a.Done(); !ok {
		return err
	}
	z, ok := tx.findZSet(key)
	switch {
	case !ok:
		return ErrWrongType
	case z == nil:
		return missing
	}
	rank, ok := z.Rank(member)
	if !ok {
		return missing
	}
	if reverse {
		rank = z.Len() - 1 - rank
	}
	if withScore {
		return reply.Array(reply.Int(int64(rank)), tx.scoreOf(z, member))
	}
	return reply.Int(int64(rank))
}
