package command

import (
	"math"
	"strconv"

	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// Bounds of a reply that repeats elements as often as it was told: how many, and how
// many bytes.
const (
	maxRepeats     = 1 << 20
	maxRepeatBytes = maxString
)

var (
	errRepeats    = reply.Error("ERR value is out of range")
	errCountRange = reply.Error("ERR value is out of range, value must between -" + strconv.Itoa(math.MaxInt64) + " and " + strconv.Itoa(math.MaxInt64))
)

// drawCount reads how many elements to draw: a negative count allows repetitions.
func (a *Args) drawCount() int64 {
	n := a.Int()
	if n == math.MinInt64 {
		a.Fail(errCountRange)
	}
	if n < -maxRepeats {
		a.Fail(errRepeats)
	}
	return n
}

// drawSize returns the number of elements that a draw of count from n returns.
func drawSize(n int, count int64) int64 {
	if count < 0 {
		return -count // not below -maxRepeats
	}
	return min(count, int64(n))
}

// draw calls f with the places of count of n elements: different ones, or for a negative
// count any, until f returns false.
func (tx *Tx) draw(n int, count int64, f func(i int) bool) {
	switch {
	case n == 0 || tx.Charge(stepsPerElement*drawSize(n, count)):
	case count < 0:
		for ; count < 0 && f(tx.IntN(n)); count++ {
		}
	case count >= int64(n):
		for i := 0; i < n && f(i); i++ {
		}
	default:
		for _, i := range keyspace.Draw(tx.Env, n, int(count)) {
			if !f(i) {
				return
			}
		}
	}
}

// drawn gathers elements until they are too many bytes to repeat.
type drawn struct {
	values []reply.Value
	bytes  int
}

// add takes in texts and reports whether there is room for more.
func (d *drawn) add(texts ...string) bool {
	for _, s := range texts {
		d.values = append(d.values, reply.Bulk(s))
		d.bytes += len(s)
	}
	return d.bytes <= maxRepeatBytes
}

// reply returns the drawn elements in the form of shape; only repetitions can be too many.
func (d *drawn) reply(count int64, shape func(...reply.Value) reply.Value) reply.Value {
	if count < 0 && d.bytes > maxRepeatBytes {
		return errRepeats
	}
	return shape(d.values...)
}
