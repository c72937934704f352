package command

import (
	"math"
	"math/big"

	"github.com/trireme-dev/trireme/fsm/ascii"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

var (
	errArrayOperation = reply.Error("ERR unknown operation")
	errArrayMatch     = reply.Error("ERR MATCH requires a value argument")
)

func arOp(tx *Tx, a *Args) reply.Value {
	key := a.Bytes()
	r := indexRange{a.slotIndex(), a.slotIndex()}
	op := ascii.Upper(a.String())
	var match []byte
	switch op {
	case "SUM", "MIN", "MAX", "AND", "OR", "XOR", "USED":
	case "MATCH":
		if a.Left() == 0 {
			a.Fail(errArrayMatch)
		}
		match = a.Bytes()
	default:
		a.Fail(errArrayOperation)
	}
	if a.Left() > 0 {
		a.Fail(ErrArity("arop"))
	}
	if err, ok := a.Done(); !ok {
		return err
	}
	s, ok := findArray(tx, key)
	if !ok {
		return ErrWrongType
	}
	r = indexRange{r.low(), r.high()} // sums are formed in the order of indexes
	switch op {
	case "USED":
		return reply.Int(int64(s.Between(r.from, r.to)))
	case "MATCH":
		n := int64(0)
		r.each(s, func(_ uint64, value string) bool {
			if value == keyspace.Alias(match) {
				n++
			}
			return !tx.Charge(stepsPerMatch)
		})
		return reply.Int(n)
	case "SUM", "MIN", "MAX":
		return combineNumbers(tx, s, r, op)
	}
	return combineBits(tx, s, r, op)
}

// combineNumbers is the sum or an extreme of the numbers in a range, in long doubles.
func combineNumbers(tx *Tx, s *keyspace.SparseArray, r indexRange, op string) reply.Value {
	var result *big.Float
	r.each(s, func(_ uint64, value string) bool {
		f, ok := parseFinite(value)
		switch {
		case !ok:
		case result == nil:
			result = f
		case op == "SUM":
			result.Add(result, f)
		case op == "MIN" && f.Cmp(result) < 0, op == "MAX" && f.Cmp(result) > 0:
			result = f
		}
		return !tx.Charge(stepsPerElement)
	})
	if result == nil {
		return reply.Nil()
	}
	return reply.Bulk(shownNumber(result))
}

// shownNumber prints a long double with at most 17 digits, with an exponent if it is very large
// or very small.
func shownNumber(f *big.Float) string {
	text := f.Text('g', longDoubleDigits)
	if text == "-0" {
		return "0"
	}
	return text
}

// combineBits combines the numbers in a range as integers, without their fractions. Those that
// are no 64-bit integers then are passed over.
func combineBits(tx *Tx, s *keyspace.SparseArray, r indexRange, op string) reply.Value {
	result, any := int64(0), false
	r.each(s, func(_ uint64, value string) bool {
		if n, ok := truncated(value); ok {
			switch {
			case !any:
				result = n
			case op == "AND":
				result &= n
			case op == "OR":
				result |= n
			default:
				result ^= n
			}
			any = true
		}
		return !tx.Charge(stepsPerElement)
	})
	if !any {
		return reply.Nil()
	}
	return reply.Int(result)
}

// truncated is a number cut toward zero to a 64-bit integer.
func truncated(text string) (int64, bool) {
	if n, ok := parseIntString(text); ok {
		return n, true
	}
	f, ok := parseFinite(text)
	if !ok {
		return 0, false
	}
	n, _ := f.Int(nil)
	return n.Int64(), n.IsInt64()
}

// sliceSlots is the number of slots in a slice of Redis. Our arrays are trees; ARINFO answers as
// if they were cut into such slices.
const sliceSlots = 4096

// denseSlots is from how many used slots on a slice counts as dense.
const denseSlots = sliceSlots / 8

func arInfo(tx *Tx, a *Args) reply.Value {
	key := a.Bytes()
	full := a.Word("FULL")
	if err, ok := a.Done(); !ok {
		return err
	}
	o, s, ok := find[*keyspace.SparseArray](tx, key)
	switch {
	case !ok:
		return ErrWrongType
	case o == nil:
		return ErrNoKey
	}
	next := s.Next()
	if next > keyspace.MaxIndex {
		next = 0
	}
	var slices, dense, inDense int64
	for at, more := firstUsed(s, 0); more; {
		last := at | (sliceSlots - 1)
		used := int64(s.Between(at, last))
		if slices++; used >= denseSlots {
			dense++
			inDense += used
		}
		if last >= keyspace.MaxIndex {
			break
		}
		at, more = firstUsed(s, last+1)
	}
	info := []reply.Value{
		reply.Bulk("count"), reply.Int(int64(s.Len())),
		reply.Bulk("len"), shownIndex(s.Span()),
		reply.Bulk("next-insert-index"), shownIndex(next),
		reply.Bulk("slices"), reply.Int(slices),
		reply.Bulk("directory-size"), reply.Int(slices),
		reply.Bulk("super-dir-entries"), reply.Int(0),
		reply.Bulk("slice-size"), reply.Int(sliceSlots),
	}
	if full {
		average := func(sum, n int64) float64 { return float64(sum) / math.Max(1, float64(n)) }
		info = append(info,
			reply.Bulk("dense-slices"), reply.Int(dense),
			reply.Bulk("sparse-slices"), reply.Int(slices-dense),
			reply.Bulk("avg-dense-size"), reply.Number(average(dense*sliceSlots, dense)),
			reply.Bulk("avg-dense-fill"), reply.Number(average(inDense, dense*sliceSlots)),
			reply.Bulk("avg-sparse-size"), reply.Number(average(int64(s.Len())-inDense, slices-dense)))
	}
	return reply.Map(info...)
}

// firstUsed is the first used slot from index i on.
func firstUsed(s *keyspace.SparseArray, i uint64) (at uint64, found bool) {
	s.Ascend(i, func(i uint64, _ string) bool {
		at, found = i, true
		return false
	})
	return at, found
}
