package command

import (
	"math"
	"strconv"

	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// maxItems is the most slots, used or not, that one reply shows.
const maxItems = 1_000_000

var (
	errArrayIndex    = reply.Error("ERR invalid array index")
	errSlotRange     = reply.Error("ERR range exceeds maximum of 1000000 items")
	errArrayOverflow = reply.Error("ERR insert index overflow")
	errPositiveLimit = reply.Error("ERR LIMIT must be positive")
)

// slotIndexUpTo reads an index: decimal digits, at most most.
func (a *Args) slotIndexUpTo(most uint64) uint64 {
	word := keyspace.Alias(a.Bytes())
	n, err := strconv.ParseUint(word, 10, 64)
	if err != nil || !allDigits(word) || n > most {
		a.Fail(errArrayIndex)
	}
	return n
}

func (a *Args) slotIndex() uint64 { return a.slotIndexUpTo(keyspace.MaxIndex) }

// shownIndex is an index or a length as an integer, a big number above what an integer holds.
func shownIndex(i uint64) reply.Value {
	if i > math.MaxInt64 {
		return reply.BigNumber(strconv.FormatUint(i, 10))
	}
	return reply.Int(int64(i))
}

func findArray(tx *Tx, key []byte) (s *keyspace.SparseArray, ok bool) {
	_, s, ok = find[*keyspace.SparseArray](tx, key)
	return s, ok
}

// ofArray answers about the array under the one key that is left, which may be missing.
func ofArray(tx *Tx, a *Args, answer func(s *keyspace.SparseArray) reply.Value) reply.Value {
	key := a.Bytes()
	if err, ok := a.Done(); !ok {
		return err
	}
	s, ok := findArray(tx, key)
	if !ok {
		return ErrWrongType
	}
	return answer(s)
}

func arCount(tx *Tx, a *Args) reply.Value {
	return ofArray(tx, a, func(s *keyspace.SparseArray) reply.Value { return reply.Int(int64(s.Len())) })
}

func arLen(tx *Tx, a *Args) reply.Value {
	return ofArray(tx, a, func(s *keyspace.SparseArray) reply.Value { return shownIndex(s.Span()) })
}

func arNext(tx *Tx, a *Args) reply.Value {
	return ofArray(tx, a, func(s *keyspace.SparseArray) reply.Value {
		if s.Next() > keyspace.MaxIndex {
			return reply.Nil()
		}
		return shownIndex(s.Next())
	})
}

// slot is an index and what is to be stored there.
type slot struct {
	index uint64
	value []byte
}

// setSlots stores values and returns how many slots were unused.
func setSlots(tx *Tx, key []byte, slots []slot, event string) reply.Value {
	e, ok := look(tx, key, keyspace.NewSparseArray)
	if !ok {
		return ErrWrongType
	}
	s, unused := e.write(), int64(0)
	for _, v := range slots {
		if s.Set(v.index, string(v.value)) {
			unused++
		}
	}
	e.end(s.Len(), ModuleEvent, event)
	return reply.Int(unused)
}

func arSet(tx *Tx, a *Args) reply.Value {
	key, first := a.Bytes(), a.slotIndex()
	values := a.Rest()
	if !a.bad && uint64(len(values)-1) > keyspace.MaxIndex-first {
		a.Fail(errArrayIndex)
	}
	if err, ok := a.Done(); !ok {
		return err
	}
	slots := make([]slot, len(values))
	for i, v := range values {
		slots[i] = slot{first + uint64(i), v}
	}
	return setSlots(tx, key, slots, "arset")
}

func arMSet(tx *Tx, a *Args) reply.Value {
	key := a.Bytes()
	if a.Left()%2 == 1 {
		return ErrArity("armset")
	}
	slots := make([]slot, 0, a.Left()/2)
	for a.Left() > 0 && !a.bad {
		slots = append(slots, slot{a.slotIndex(), a.Bytes()})
	}
	if err, ok := a.Done(); !ok {
		return err
	}
	return setSlots(tx, key, slots, "armset")
}

// shownSlot is the value at an index, null if there is none.
func shownSlot(s *keyspace.SparseArray, i uint64) reply.Value {
	value, used := s.Get(i)
	if !used {
		return reply.Nil()
	}
	return reply.Bulk(value)
}

func arGet(tx *Tx, a *Args) reply.Value {
	key, i := a.Bytes(), a.slotIndex()
	if err, ok := a.Done(); !ok {
		return err
	}
	s, ok := findArray(tx, key)
	if !ok {
		return ErrWrongType
	}
	return shownSlot(s, i)
}

// slotIndexes reads all words left as indexes.
func (a *Args) slotIndexes() []uint64 {
	all := make([]uint64, 0, a.Left())
	for a.Left() > 0 && !a.bad {
		all = append(all, a.slotIndex())
	}
	return all
}

func arMGet(tx *Tx, a *Args) reply.Value {
	key, indexes := a.Bytes(), a.slotIndexes()
	if err, ok := a.Done(); !ok {
		return err
	}
	s, ok := findArray(tx, key)
	if !ok {
		return ErrWrongType
	}
	shown := make([]reply.Value, len(indexes))
	for n, i := range indexes {
		shown[n] = shownSlot(s, i)
	}
	return reply.Array(shown...)
}

// arrayGetWork shows the values at the indexes that are named, as often as they are.
func arrayGetWork(tx *Tx, argv [][]byte) (steps int64) {
	s, _ := tx.DB.Peek(tx.Env, argv[1]).Container().(*keyspace.SparseArray)
	for _, word := range argv[2:] {
		if i, err := strconv.ParseUint(keyspace.Alias(word), 10, 64); err == nil {
			value, _ := s.Get(i)
			steps += int64(len(value) / bytesPerWork)
		}
	}
	return steps
}

func arDel(tx *Tx, a *Args) reply.Value {
	key, indexes := a.Bytes(), a.slotIndexes()
	if err, ok := a.Done(); !ok {
		return err
	}
	e, ok := look(tx, key, keyspace.NewSparseArray)
	if !ok {
		return ErrWrongType
	}
	n := int64(0)
	for _, i := range indexes {
		if _, used := e.data.Get(i); used {
			e.write().Delete(i)
			n++
		}
	}
	e.end(e.data.Len(), ModuleEvent, "ardel")
	return reply.Int(n)
}

func arDelRange(tx *Tx, a *Args) reply.Value {
	key := a.Bytes()
	if a.Left()%2 == 1 {
		return ErrArity("ardelrange")
	}
	bounds := a.slotIndexes()
	if err, ok := a.Done(); !ok {
		return err
	}
	e, ok := look(tx, key, keyspace.NewSparseArray)
	if !ok {
		return ErrWrongType
	}
	n := 0
	for i := 0; i < len(bounds); i += 2 {
		low, high := min(bounds[i], bounds[i+1]), max(bounds[i], bounds[i+1])
		doomed := make([]uint64, 0, e.data.Between(low, high))
		e.data.Ascend(low, func(at uint64, _ string) bool {
			if at <= high {
				doomed = append(doomed, at)
			}
			return at < high
		})
		for _, at := range doomed {
			e.write().Delete(at)
		}
		n += len(doomed)
	}
	e.end(e.data.Len(), ModuleEvent, "ardelrange")
	return reply.Int(int64(n))
}

// indexRange is a range of indexes in the order in which it is shown.
type indexRange struct{ from, to uint64 }

func (r indexRange) low() uint64  { return min(r.from, r.to) }
func (r indexRange) high() uint64 { return max(r.from, r.to) }

// each calls f for the used slots of a range in its order until it returns false.
func (r indexRange) each(s *keyspace.SparseArray, f func(i uint64, value string) bool) {
	if r.from <= r.to {
		s.Ascend(r.from, func(i uint64, value string) bool { return i <= r.to && f(i, value) })
	} else {
		s.Descend(r.from, func(i uint64, value string) bool { return i >= r.to && f(i, value) })
	}
}

func arGetRange(tx *Tx, a *Args) reply.Value {
	key := a.Bytes()
	r := indexRange{a.slotIndex(), a.slotIndex()}
	if !a.bad && r.high()-r.low() >= maxItems {
		a.Fail(errSlotRange)
	}
	if err, ok := a.Done(); !ok {
		return err
	}
	s, ok := findArray(tx, key)
	if !ok {
		return ErrWrongType
	}
	shown := make([]reply.Value, r.high()-r.low()+1)
	tx.Charge(int64(len(shown)))
	r.each(s, func(i uint64, value string) bool {
		shown[max(i, r.from)-min(i, r.from)] = reply.Bulk(value)
		return !tx.Charge(stepsPerElement)
	})
	return reply.Array(shown...)
}

// arrayRangeWork shows every index of the range, and the values there.
func arrayRangeWork(tx *Tx, argv [][]byte) int64 {
	from, err1 := strconv.ParseUint(keyspace.Alias(argv[2]), 10, 64)
	to, err2 := strconv.ParseUint(keyspace.Alias(argv[3]), 10, 64)
	r := indexRange{from, to}
	if err1 != nil || err2 != nil || r.high()-r.low() >= maxItems {
		return 0 // the command refuses it
	}
	return int64(r.high()-r.low()) + tx.volume(argv[1])
}

// positiveLimit reads the number behind LIMIT.
func (a *Args) positiveLimit() int64 {
	n := a.IntOr(errPositiveLimit)
	if n <= 0 {
		a.Fail(errPositiveLimit)
	}
	return n
}

func arScan(tx *Tx, a *Args) reply.Value {
	key := a.Bytes()
	r := indexRange{a.slotIndex(), a.slotIndex()}
	limit := int64(math.MaxInt64)
	for a.Left() > 0 && !a.bad {
		if a.Left() < 2 || !a.Word("LIMIT") {
			a.Fail(ErrSyntax)
		} else {
			limit = a.positiveLimit()
		}
	}
	if err, ok := a.Done(); !ok {
		return err
	}
	s, ok := findArray(tx, key)
	if !ok {
		return ErrWrongType
	}
	found := []reply.Value{}
	r.each(s, func(i uint64, value string) bool {
		found = append(found, reply.Array(shownIndex(i), reply.Bulk(value)))
		return int64(len(found)) < limit && !tx.Charge(stepsPerElement)
	})
	return reply.Array(found...)
}
