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
