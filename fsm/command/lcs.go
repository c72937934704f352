package command

import (
	"slices"

	"github.com/trireme-dev/trireme/fsm/reply"
)

// maxLCSCells bounds the product of two lengths: what a command may take of a node's
// time is about a tenth of a second.
const maxLCSCells = 1 << 24

var (
	errLCSType = reply.Error("ERR The specified keys must contain string values")
	errLCSBoth = reply.Error("ERR If you want both the length and indexes, please just use IDX.")
	errLCSSize = reply.Error("ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len")
)

// lcsOptions are the words behind the keys.
type lcsOptions struct {
	length, index, withLength bool
	least                     int64 // shortest match to list
}

func (a *Args) lcsOptions() (o lcsOptions) {
	for a.Left() > 0 && !a.bad {
		switch {
		case a.Word("IDX"):
			o.index = true
		case a.Word("LEN"):
			o.length = true
		case a.Word("WITHMATCHLEN"):
			o.withLength = true
		case a.Left() > 1 && a.Word("MINMATCHLEN"):
			o.least = a.Int()
		default:
			a.Fail(ErrSyntax)
		}
	}
	if o.index && o.length {
		a.Fail(errLCSBoth)
	}
	return o
}

// cellsPerStep is the number of pairs of bytes that are compared for one step of cost.
const cellsPerStep = 8

// lcs finds the longest common subsequence of two strings.
func lcs(tx *Tx, a *Args) reply.Value {
	first, ok := tx.findText(a.Bytes())
	second, okSecond := tx.findText(a.Bytes())
	if !ok || !okSecond {
		return errLCSType
	}
	o := a.lcsOptions()
	if err, ok := a.Done(); !ok {
		return err
	}
	x, y := "", ""
	if first != nil {
		x = first.Text()
	}
	if second != nil {
		y = second.Text()
	}
	if len(x) > 0 && len(y) > maxLCSCells/len(x) {
		return errLCSSize
	}
	if tx.Charge(int64(len(x)) * int64(len(y)) / cellsPerStep) {
		return reply.Nil()
	}
	t := newLCSTable(x, y, !o.length)
	switch {
	case o.index:
		return reply.Map(reply.Bulk("matches"), t.matches(&o), reply.Bulk("len"), reply.Int(int64(t.length)))
	case o.length:
		return reply.Int(int64(t.length))
	}
	return reply.Bulk(t.text())
}

// lcsTable knows the way back through the table of the lengths of the longest common
// subsequences of all pairs of prefixes. Of the lengths it keeps the last alone: where
// two bytes differ, one bit says in which string the way goes on.
type lcsTable struct {
	x, y   string
	length int
	up     []uint64 // one bit a cell, rows of x
	stride int      // words of a row
}

// newLCSTable fills the table; the path is kept only with keepPath.
func newLCSTable(x, y string, keepPath bool) *lcsTable {
	t := &lcsTable{x: x, y: y, stride: (len(y) + 63) / 64}
	if keepPath {
		t.up = make([]uint64, t.stride*len(x))
	}
	row := make([]uint32, len(y)+1)
	for i := range len(x) {
		t.fill(i, row)
	}
	t.length = int(row[len(y)])
	return t
}

// fill turns the row of the lengths before byte i of x into the row behind it.
func (t *lcsTable) fill(i int, row []uint32) {
	corner, c := uint32(0), t.x[i]
	for j := range len(t.y) {
		above, beside := row[j+1], row[j]
		switch {
		case c == t.y[j]:
			row[j+1] = corner + 1
		case above > beside:
			if t.up != nil {
				t.up[i*t.stride+j/64] |= 1 << (j % 64)
			}
		default:
			row[j+1] = beside
		}
		corner = above
	}
}

// back walks from the ends of both strings and calls f with the places of each pair of
// bytes that match, and with false for each step past others.
func (t *lcsTable) back(f func(i, j int, match bool)) {
	for i, j := len(t.x)-1, len(t.y)-1; i >= 0 && j >= 0; {
		match := t.x[i] == t.y[j]
		f(i, j, match)
		switch {
		case match:
			i, j = i-1, j-1
		case t.up[i*t.stride+j/64]&(1<<(j%64)) != 0:
			i--
		default:
			j--
		}
	}
}

func (t *lcsTable) text() string {
	out := make([]byte, 0, t.length)
	t.back(func(i, _ int, match bool) {
		if match {
			out = append(out, t.x[i])
		}
	})
	slices.Reverse(out)
	return string(out)
}

// matches lists the ranges that match, from the last to the first.
func (t *lcsTable) matches(o *lcsOptions) reply.Value {
	var list []reply.Value
	x, y, size := 0, 0, 0 // where the open range begins, and its length
	end := func() {
		if size > 0 && int64(size) >= o.least {
			list = append(list, lcsMatch(x, y, size, o.withLength))
		}
		size = 0
	}
	t.back(func(i, j int, match bool) {
		if !match {
			end()
			return
		}
		x, y, size = i, j, size+1
	})
	end()
	return reply.Array(list...)
}

func lcsMatch(x, y, size int, withLength bool) reply.Value {
	span := func(from int) reply.Value {
		return reply.Array(reply.Int(int64(from)), reply.Int(int64(from+size-1)))
	}
	out := []reply.Value{span(x), span(y)}
	if withLength {
		out = append(out, reply.Int(int64(size)))
	}
	return reply.Array(out...)
}
