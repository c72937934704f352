package command

import (
	"github.com/trireme-dev/trireme/fsm/hll"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

var (
	errKeyCount    = reply.Error("ERR numkeys should be greater than 0")
	errTooManyKeys = reply.Error("ERR Number of keys can't be greater than number of args")
	errLimit       = reply.Error("ERR LIMIT can't be negative")
)

// countedWords reads a number of keys above zero and the keys; more than there are words
// is the error tooMany.
func (a *Args) countedWords(tooMany reply.Value) [][]byte {
	n := a.IntOr(errKeyCount)
	switch {
	case n <= 0:
		a.Fail(errKeyCount)
	case n > int64(a.Left()):
		a.Fail(tooMany)
	}
	if a.bad {
		return nil
	}
	return a.Take(int(n))
}

// countOptions are the words of SINTERCARD and its kin after the keys.
type countOptions struct {
	limit  int64 // 0 = unlimited
	approx bool
}

func (a *Args) countOptions(mayApprox bool) (o countOptions) {
	for a.Left() > 0 && !a.bad {
		switch {
		case mayApprox && a.Word("APPROX"):
			o.approx = true
		case a.Left() > 1 && a.Word("LIMIT"):
			o.limit = a.notNegative(errLimit)
		default:
			a.Fail(ErrSyntax)
		}
	}
	return o
}

// countable reads the sets and options of SINTERCARD and its kin.
func countable(tx *Tx, a *Args, mayApprox bool) (sets []*keyspace.Members, o countOptions, bad *reply.Value) {
	keys := a.countedWords(errTooManyKeys)
	o = a.countOptions(mayApprox)
	if err, ok := a.Done(); !ok {
		return nil, o, &err
	}
	sets, ok := findSets(tx, keys)
	if !ok {
		return nil, o, &ErrWrongType
	}
	return sets, o, nil
}

// countOnce counts the members of an operation that calls for each of them once, up to a
// limit.
func countOnce(tx *Tx, a *Args, op operation) reply.Value {
	sets, o, bad := countable(tx, a, false)
	if bad != nil {
		return *bad
	}
	n := int64(0)
	op(tx, sets, func(string) bool {
		n++
		return n != o.limit
	})
	return reply.Int(n)
}

func sInterCard(tx *Tx, a *Args) reply.Value { return countOnce(tx, a, intersection) }

func sDiffCard(tx *Tx, a *Args) reply.Value { return countOnce(tx, a, difference) }

func sUnionCard(tx *Tx, a *Args) reply.Value {
	sets, o, bad := countable(tx, a, true)
	switch {
	case bad != nil:
		return *bad
	case o.approx:
		var sketch hll.Registers
		union(tx, sets, func(m string) bool {
			sketch.Add([]byte(m))
			return true
		})
		n := int64(sketch.Count())
		if o.limit > 0 {
			n = min(n, o.limit)
		}
		return reply.Int(n)
	}
	seen := keyspace.NewMembers()
	union(tx, sets, func(m string) bool {
		seen.Add(m)
		return int64(seen.Len()) != o.limit
	})
	return reply.Int(int64(seen.Len()))
}
