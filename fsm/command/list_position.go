package command

import (
	"math"

	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// positionSearch is the element that LPOS looks for, with its options.
type positionSearch struct {
	element string
	rank    int64 // of the first match that counts, negative from the tail; not 0
	count   int64 // matches wanted, 0 for all
	many    bool  // a count was given, so the reply is an array
	maxLen  int64 // elements looked at, 0 for all
}

func readSearch(a *Args) positionSearch {
	s := positionSearch{element: keyspace.Alias(a.Bytes()), rank: 1, count: 1}
	for a.Left() > 0 && !a.bad {
		switch {
		case a.Left() < 2:
			a.Fail(ErrSyntax)
		case a.Word("RANK"):
			switch s.rank = a.Int(); s.rank {
			case 0:
				a.Fail(errRank)
			case math.MinInt64:
				a.Fail(errCountRange)
			}
		case a.Word("COUNT"):
			s.count, s.many = a.notNegative(errMatch), true
		case a.Word("MAXLEN"):
			s.maxLen = a.notNegative(errMaxLen)
		default:
			a.Fail(ErrSyntax)
		}
	}
	return s
}

// run returns the positions found, counted from the head.
func (s *positionSearch) run(tx *Tx, list *keyspace.Elements) (found []reply.Value) {
	skip, looked := max(s.rank, -s.rank)-1, int64(0)
	look := func(i int, v string) bool {
		if looked++; tx.Charge(stepsPerMatch) {
			return false
		}
		if v == s.element {
			if skip--; skip < 0 {
				found = append(found, reply.Int(int64(i)))
			}
		}
		return looked != s.maxLen && (s.count == 0 || int64(len(found)) < s.count)
	}
	if s.rank > 0 {
		list.Ascend(0, look)
	} else {
		list.Descend(list.Len()-1, look)
	}
	return found
}

func lPos(tx *Tx, a *Args) reply.Value {
	key := a.Bytes()
	s := readSearch(a)
	if err, ok := a.Done(); !ok {
		return err
	}
	_, list, ok := findList(tx, key)
	if !ok {
		return ErrWrongType
	}
	found := s.run(tx, list)
	switch {
	case s.many:
		return reply.Array(found...)
	case len(found) == 0:
		return reply.Nil()
	}
	return found[0]
}
