package command

import (
	"slices"

	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// operation calls f for the members of a combination of sets, of which nil ones are
// empty, until it returns false. A member may come twice.
type operation func(sets []*keyspace.Members, f func(member string) bool)

func union(sets []*keyspace.Members, f func(string) bool) {
	going := true
	for _, s := range sets {
		s.All(func(m string) bool {
			going = f(m)
			return going
		})
		if !going {
			return
		}
	}
}

func difference(sets []*keyspace.Members, f func(string) bool) {
	sets[0].All(func(m string) bool {
		for _, s := range sets[1:] {
			if s.Has(m) {
				return true
			}
		}
		return f(m)
	})
}

// intersection goes through the smallest set.
func intersection(sets []*keyspace.Members, f func(string) bool) {
	sets = slices.Clone(sets)
	slices.SortStableFunc(sets, func(a, b *keyspace.Members) int { return a.Len() - b.Len() })
	sets[0].All(func(m string) bool {
		for _, s := range sets[1:] {
			if !s.Has(m) {
				return true
			}
		}
		return f(m)
	})
}

// findSets are the sets under keys; ok is false if one of them holds another type.
func findSets(tx *Tx, keys [][]byte) (sets []*keyspace.Members, ok bool) {
	sets = make([]*keyspace.Members, len(keys))
	for i, key := range keys {
		if _, sets[i], ok = findSet(tx, key); !ok {
			return nil, false
		}
	}
	return sets, true
}

// combined is a new set of an operation's members.
func combined(sets []*keyspace.Members, op operation) *keyspace.Members {
	result := keyspace.NewMembers()
	op(sets, func(m string) bool {
		result.Add(m)
		return true
	})
	return result
}

func combine(tx *Tx, a *Args, op operation) reply.Value {
	sets, ok := findSets(tx, a.Rest())
	if !ok {
		return ErrWrongType
	}
	return allMembers(combined(sets, op))
}

func combineAndStore(tx *Tx, a *Args, op operation, event string) reply.Value {
	key := a.Bytes()
	sets, ok := findSets(tx, a.Rest())
	if !ok {
		return ErrWrongType
	}
	result := combined(sets, op)
	return tx.replaceWith(key, result, result.Len(), SetEvent, event)
}

func sUnion(tx *Tx, a *Args) reply.Value { return combine(tx, a, union) }

func sDiff(tx *Tx, a *Args) reply.Value { return combine(tx, a, difference) }

func sInter(tx *Tx, a *Args) reply.Value { return combine(tx, a, intersection) }

func sUnionStore(tx *Tx, a *Args) reply.Value { return combineAndStore(tx, a, union, "sunionstore") }

func sDiffStore(tx *Tx, a *Args) reply.Value { return combineAndStore(tx, a, difference, "sdiffstore") }

func sInterStore(tx *Tx, a *Args) reply.Value {
	return combineAndStore(tx, a, intersection, "sinterstore")
}

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

func sInterCard(tx *Tx, a *Args) reply.Value {
	keys, limit := a.countedWords(errTooManyKeys), int64(0)
	for a.Left() > 0 && !a.bad {
		if !a.Word("LIMIT") || a.Left() == 0 {
			a.Fail(ErrSyntax)
		} else {
			limit = a.notNegative(errLimit)
		}
	}
	if err, ok := a.Done(); !ok {
		return err
	}
	sets, ok := findSets(tx, keys)
	if !ok {
		return ErrWrongType
	}
	n := int64(0)
	intersection(sets, func(string) bool {
		n++
		return n != limit
	})
	return reply.Int(n)
}
