package keyspace

import (
	"cmp"
	"math"
	"strconv"
)

// StreamID names an entry of a stream: a time in unix milliseconds and a sequence number
// within it.
type StreamID struct{ Ms, Seq uint64 }

// MaxStreamID is the greatest ID there can be.
var MaxStreamID = StreamID{math.MaxUint64, math.MaxUint64}

// Compare is negative if a comes before b, 0 if they are equal, positive otherwise.
func (si StreamID) Compare(b StreamID) int {
	if si.Ms != b.Ms {
		return cmp.Compare(si.Ms, b.Ms)
	}
	return cmp.Compare(si.Seq, b.Seq)
}

// Zero reports whether si is 0-0, which no entry has.
func (si StreamID) Zero() bool { return si == StreamID{} }

// Next is the ID behind si; it is not ok, and 0-0, behind the greatest.
func (si StreamID) Next() (id StreamID, ok bool) {
	if si.Seq++; si.Seq == 0 {
		si.Ms++
	}
	return si, !si.Zero()
}

// Prev is the ID before a; it is not ok, and the greatest, before 0-0.
func (si StreamID) Prev() (id StreamID, ok bool) {
	ok = !si.Zero()
	if si.Seq == 0 {
		si.Ms--
	}
	si.Seq--
	return si, ok
}

// String is the form that clients see, such as 1700000000000-0.
func (si StreamID) String() string {
	var buf [2*20 + 1]byte
	b := append(strconv.AppendUint(buf[:0], si.Ms, 10), '-')
	return string(strconv.AppendUint(b, si.Seq, 10))
}
