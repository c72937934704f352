package command

import (
	"slices"

	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// operation calls f for the members of a combination of sets, of which nil ones are
// empty, until it returns false. A member may come twice.
type operation func(tx *Tx, sets []*keyspace.Members, f func(member string) bool)

func union(tx *Tx, sets []*keyspace.Members, f func(string) bool) {
	going := true
	for _, s := range sets {
		s.All(func(m string) bool {
			tx.CountSteps(stepsPerElement)
			going = f(m)
			return going
		})
		if !going {
			return
		}
	}
}

func difference(tx *Tx, sets []*keyspace.Members, f func(string) bool) {
	sets[0].All(func(m string) bool {
		tx.CountSteps(stepsPerElement)
		for _, s := range sets[1:] {
			if s.Has(m) {
				return true
			}
		}
		return f(m)
	})
}

// intersection goes through the smallest set.
func intersection(tx *Tx, sets []*keyspace.Members, f func(string) bool) {
	sets = slices.Clone(sets)
	slices.SortStableFunc(sets, func(a, b *keyspace.Members) int { return a.Len() - b.Len() })
	sets[0].All(func(m string) bool {
		tx.CountSteps(stepsPerElement)
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

// combination is a new set of an operation's members.
type combination func(tx *Tx, sets []*keyspace.Members) *keyspace.Members

// partOfOne makes a combination of an operation that calls for members of one of the sets only, and so for each once.
func partOfOne(op operation) combination {
	return func(tx *Tx, sets []*keyspace.Members) *keyspace.Members {
		var found []string
		op(tx, sets, func(m string) bool {
			found = append(found, m)
			return true
		})
		return keyspace.MembersOf(found)
	}
}

// everyMember is the union. The largest set comes first if it is so large that the order in which members are put in makes no
// difference: it is put in all at once.
func everyMember(tx *Tx, sets []*keyspace.Members) *keyspace.Members {
	result, largest := keyspace.NewMembers(), 0
	for i, s := range sets {
		if s.Len() > sets[largest].Len() {
			largest = i
		}
	}
	if sets[largest].Len() > keyspace.SmallSet {
		sets = slices.Clone(sets)
		sets[0], sets[largest] = sets[largest], sets[0]
		result = partOfOne(union)(tx, sets[:1])
		sets = sets[1:]
	}
	union(tx, sets, func(m string) bool {
		result.Add(m)
		return true
	})
	return result
}

func combine(tx *Tx, a *Args, of combination) reply.Value {
	sets, ok := findSets(tx, a.Rest())
	if !ok {
		return ErrWrongType
	}
	return tx.allMembers(of(tx, sets))
}

func combineAndStore(tx *Tx, a *Args, of combination, event string) reply.Value {
	key := a.Bytes()
	sets, ok := findSets(tx, a.Rest())
	if !ok {
		return ErrWrongType
	}
	result := of(tx, sets)
	return tx.replaceWith(key, result, result.Len(), SetEvent, event)
}

func sUnion(tx *Tx, a *Args) reply.Value { return combine(tx, a, everyMember) }

func sDiff(tx *Tx, a *Args) reply.Value { return combine(tx, a, partOfOne(difference)) }

func sInter(tx *Tx, a *Args) reply.Value { return combine(tx, a, partOfOne(intersection)) }

func sUnionStore(tx *Tx, a *Args) reply.Value {
	return combineAndStore(tx, a, everyMember, "sunionstore")
}

func sDiffStore(tx *Tx, a *Args) reply.Value {
	return combineAndStore(tx, a, partOfOne(difference), "sdiffstore")
}

func sInterStore(tx *Tx, a *Args) reply.Value {
	return combineAndStore(tx, a, partOfOne(intersection), "sinterstore")
}
