package command

import (
	"slices"

	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

var errCountBelow = reply.Error("ERR count should be greater than 0")

func zpopMin(tx *Tx, a *Args) reply.Value { return tx.zpop(a, false) }

func zpopMax(tx *Tx, a *Args) reply.Value { return tx.zpop(a, true) }

// zpop lists what it pops flat; a count makes pairs of it in RESP3.
func (tx *Tx) zpop(a *Args, highest bool) reply.Value {
	key, shape := a.Bytes(), reply.Array
	count, given := a.maybe((*Args).positive)
	if given {
		shape = reply.Pairs
	}
	if err, ok := a.Done(); !ok {
		return err
	}
	popped, err := tx.popScores(key, count, highest)
	if err != nil {
		return *err
	}
	return shape(tx.flat(popped)...)
}

// flat lists members, each before its score.
func (tx *Tx) flat(members []keyspace.Scored) []reply.Value {
	return tx.membersReply(members, true).Elems()
}

// popScores takes up to count members with the lowest or highest scores out of the set
// under key.
func (tx *Tx) popScores(key []byte, count int64, highest bool) ([]keyspace.Scored, *reply.Value) {
	e, ok := tx.editZSet(key)
	switch {
	case !ok:
		return nil, ptr(ErrWrongType)
	case e.z == nil || count == 0:
		return nil, nil
	}
	n := e.z.Len()
	from, to := 0, int(min(count, int64(n)))
	if highest {
		from, to = n-to, n
	}
	popped := e.z.Range(from, to)
	e.change().RemoveRange(from, to)
	event := "zpopmin"
	if highest {
		slices.Reverse(popped)
		event = "zpopmax"
	}
	e.done(event)
	return popped, nil
}

// popFirst pops from the first of the keys that is there, and returns which one that is.
func (tx *Tx) popFirst(keys [][]byte, count int64, highest bool) (key []byte, popped []keyspace.Scored, err *reply.Value) {
	for _, key := range keys {
		if popped, err = tx.popScores(key, count, highest); err != nil || len(popped) > 0 {
			return key, popped, err
		}
	}
	return nil, nil, nil
}

// mpopOptions are the words of ZMPOP.
type mpopOptions struct {
	keys    [][]byte
	highest bool
	count   int64
}

func readMpop(a *Args) (o mpopOptions) {
	n := a.IntOr(errKeyCount)
	if n < 1 {
		a.Fail(errKeyCount)
	}
	if !a.bad && n >= int64(a.Left()) {
		a.Fail(ErrSyntax)
	}
	if a.bad {
		return o
	}
	o.keys, o.count = a.Take(int(n)), -1
	switch {
	case a.Word("MIN"):
	case a.Word("MAX"):
		o.highest = true
	default:
		a.Fail(ErrSyntax)
	}
	for a.Left() > 0 && !a.bad {
		if o.count != -1 || a.Left() < 2 || !a.Word("COUNT") {
			a.Fail(ErrSyntax)
			break
		}
		if o.count = a.IntOr(errCountBelow); o.count < 1 {
			a.Fail(errCountBelow)
		}
	}
	if o.count == -1 {
		o.count = 1
	}
	return o
}

func zmpop(tx *Tx, a *Args) reply.Value {
	o := readMpop(a)
	if err, ok := a.Done(); !ok {
		return err
	}
	return tx.mpop(o)
}

// bzmpop judges its timeout after everything else, as Redis does.
func bzmpop(tx *Tx, a *Args) reply.Value {
	seconds := a.Bytes()
	o := readMpop(a)
	a.judgeTimeout(seconds, tx.Now)
	if err, ok := a.Done(); !ok {
		return err
	}
	return tx.mpop(o)
}

func (tx *Tx) mpop(o mpopOptions) reply.Value {
	key, popped, err := tx.popFirst(o.keys, o.count, o.highest)
	switch {
	case err != nil:
		return *err
	case popped == nil:
		return reply.NilArray()
	}
	pairs := make([]reply.Value, len(popped))
	for i, s := range popped {
		pairs[i] = reply.Array(reply.Bulk(s.Member), tx.score(s.Score))
	}
	return reply.Array(reply.Bulk(string(key)), reply.Array(pairs...))
}

func bzpopMin(tx *Tx, a *Args) reply.Value { return tx.bzpop(a, false) }

func bzpopMax(tx *Tx, a *Args) reply.Value { return tx.bzpop(a, true) }

func (tx *Tx) bzpop(a *Args, highest bool) reply.Value {
	keys := a.Take(a.Left() - 1)
	a.judgeTimeout(a.Bytes(), tx.Now)
	if err, ok := a.Done(); !ok {
		return err
	}
	key, popped, err := tx.popFirst(keys, 1, highest)
	switch {
	case err != nil:
		return *err
	case popped == nil:
		return reply.NilArray()
	}
	return reply.Array(append([]reply.Value{reply.Bulk(string(key))}, tx.flat(popped)...)...)
}
