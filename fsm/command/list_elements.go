package command

import (
	"math"
	"slices"

	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

var (
	errIndex  = reply.Error("ERR index out of range")
	errRank   = reply.Error("ERR RANK can't be zero: use 1 to start from the first match, 2 from the second ... or use negative to start from the end of the list")
	errMatch  = reply.Error("ERR COUNT can't be negative")
	errMaxLen = reply.Error("ERR MAXLEN can't be negative")
)

func lLen(tx *Tx, a *Args) reply.Value {
	key := a.Bytes()
	if err, ok := a.Done(); !ok {
		return err
	}
	_, list, ok := findList(tx, key)
	if !ok {
		return ErrWrongType
	}
	return reply.Int(int64(list.Len()))
}

// place turns an index, of which negative ones count from the end, into a position; it is
// not ok outside the list.
func place(index int64, n int) (at int, ok bool) {
	if index < 0 {
		index += int64(n)
	}
	return int(index), 0 <= index && index < int64(n)
}

// lIndex judges the index only when there is a list, as Redis does.
func lIndex(tx *Tx, a *Args) reply.Value {
	key, word := a.Bytes(), a.Bytes()
	if err, ok := a.Done(); !ok {
		return err
	}
	o, list, ok := findList(tx, key)
	switch {
	case !ok:
		return ErrWrongType
	case o == nil:
		return reply.Nil()
	}
	index, ok := ParseInt(word)
	if !ok {
		return ErrNotInteger
	}
	at, ok := place(index, list.Len())
	if !ok {
		return reply.Nil()
	}
	return reply.Bulk(list.At(at))
}

// lSet judges the index only when there is a list, as Redis does.
func lSet(tx *Tx, a *Args) reply.Value {
	key, word, element := a.Bytes(), a.Bytes(), a.Bytes()
	if err, ok := a.Done(); !ok {
		return err
	}
	e, ok := lookList(tx, key)
	switch {
	case !ok:
		return ErrWrongType
	case e.object == nil:
		return ErrNoKey
	}
	index, ok := ParseInt(word)
	if !ok {
		return ErrNotInteger
	}
	at, ok := place(index, e.data.Len())
	if !ok {
		return errIndex
	}
	e.write().Set(at, string(element))
	e.end(e.data.Len(), ListEvent, "lset")
	return reply.OK()
}

func lRange(tx *Tx, a *Args) reply.Value {
	key := a.Bytes()
	start, stop := a.Int(), a.Int()
	if err, ok := a.Done(); !ok {
		return err
	}
	_, list, ok := findList(tx, key)
	if !ok {
		return ErrWrongType
	}
	from, to := span(start, stop, list.Len())
	if tx.lookAt(int64(to - from)) {
		return reply.Nil()
	}
	values := make([]reply.Value, 0, to-from)
	if from < to {
		list.Ascend(from, func(_ int, v string) bool {
			values = append(values, reply.Bulk(v))
			tx.CountSteps(stepsPerElement)
			return len(values) < to-from
		})
	}
	return reply.Array(values...)
}

func lTrim(tx *Tx, a *Args) reply.Value {
	key := a.Bytes()
	start, stop := a.Int(), a.Int()
	if err, ok := a.Done(); !ok {
		return err
	}
	e, ok := lookList(tx, key)
	switch {
	case !ok:
		return ErrWrongType
	case e.object == nil:
		return reply.OK()
	}
	from, to := span(start, stop, e.data.Len())
	tx.Event(ListEvent, "ltrim", key) // also if nothing goes, as in Redis
	tx.changes = int64(e.data.Len() - (to - from))
	switch {
	case from == to:
		tx.remove(key)
	case to-from < e.data.Len():
		e.write().Keep(from, to)
		e.end(e.data.Len(), 0)
	}
	return reply.OK()
}

// positions are those of at most limit elements equal to v, from the head or the tail on.
func positions(list *keyspace.Elements, v string, limit int64, from side) (found []int) {
	look := func(i int, element string) bool {
		if element == v {
			found = append(found, i)
		}
		return int64(len(found)) < limit
	}
	if from == left {
		list.Ascend(0, look)
	} else {
		list.Descend(list.Len()-1, look)
	}
	return found
}

func lRem(tx *Tx, a *Args) reply.Value {
	key, count, element := a.Bytes(), a.Int(), keyspace.Alias(a.Bytes())
	if err, ok := a.Done(); !ok {
		return err
	}
	e, ok := lookList(tx, key)
	if !ok {
		return ErrWrongType
	}
	from, limit := left, count
	switch {
	case count == 0 || count == math.MinInt64:
		limit = math.MaxInt64
	case count < 0:
		limit = -count
	}
	if count < 0 {
		from = right
	}
	found := positions(e.data, element, limit, from)
	if len(found) == 0 {
		return reply.Int(0)
	}
	if from == left {
		slices.Reverse(found) // the last goes first, so that the others stay where they are
	}
	e.write().DeleteEach(found)
	e.end(e.data.Len(), ListEvent, "lrem")
	return reply.Int(int64(len(found)))
}

func lInsert(tx *Tx, a *Args) reply.Value {
	key, behind := a.Bytes(), a.Word("AFTER")
	if !behind && !a.Word("BEFORE") {
		return ErrSyntax
	}
	pivot, element := keyspace.Alias(a.Bytes()), a.Bytes()
	if err, ok := a.Done(); !ok {
		return err
	}
	e, ok := lookList(tx, key)
	switch {
	case !ok:
		return ErrWrongType
	case e.object == nil:
		return reply.Int(0)
	}
	found := positions(e.data, pivot, 1, left)
	if len(found) == 0 {
		return reply.Int(-1)
	}
	at := found[0]
	if behind {
		at++
	}
	e.write().Insert(at, string(element))
	e.end(e.data.Len(), ListEvent, "linsert")
	return reply.Int(int64(e.data.Len()))
}
