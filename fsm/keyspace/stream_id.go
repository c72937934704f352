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
func (a StreamID) Compare(b StreamID) int {
	if a.Ms != b.Ms {
		return cmp.Compare(a.Ms, b.Ms)
	}
	return cmp.Compare(a.Seq, b.Seq)
}

// Zero reports whether a is 0-0, which no entry has.
func (a StreamID) Zero() bool { return a == StreamID{} }

// Next is the ID behind a; it is not ok, and 0-0, behind the greatest.
func (a StreamID) Next() (id StreamID, ok bool) {
	if a.Seq++; a.Seq == 0 {
		a.Ms++
	}
	return a, !a.Zero()
}

// Prev is the ID before a; it is not ok, and the greatest, before 0-0.
func (a StreamID) Prev() (id StreamID, ok bool) {
	ok = !a.Zero()
	if a.Seq == 0 {
		a.Ms--
	}
	a.Seq--
	return a, ok
}

// String is the form that clients see, such as 1700000000000-0.
func (a StreamID) String() string {
	var buf [2*20 + 1]byte
	b := append(strconv.AppendUint(buf[:0], a.Ms, 10), '-')
	return string(strconv.AppendUint(b, a.Seq, 10))
}
