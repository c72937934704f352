package hist

import (
	"math/bits"
	"time"
)

// perOctave is the number of buckets in each power of two.
const perOctave = 64

// H counts durations. The zero value is ready. It is not safe for concurrent
// use: give each goroutine its own and Merge them at the end.
type H struct {
	counts [64 * perOctave]uint64
	n      uint64
	max    time.Duration
}

// bucket maps d to its bucket. Values below perOctave nanoseconds are exact;
// above, the six bits after the leading one choose the bucket.
func bucket(d time.Duration) int {
	v := uint64(max(d, 0))
	if v < perOctave {
		return int(v)
	}
	shift := bits.Len64(v) - 7
	return (shift+1)*perOctave + int(v>>uint(shift)) - perOctave
}

// upper is the exclusive upper edge of bucket b, the inverse of bucket.
func upper(b int) time.Duration {
	if b < perOctave {
		return time.Duration(b)
	}
	shift := b/perOctave - 1
	return time.Duration(uint64(b%perOctave+perOctave+1) << uint(shift))
}

// Add counts one duration; a negative one counts as zero.
func (h *H) Add(d time.Duration) {
	h.counts[bucket(d)]++
	h.n++
	h.max = max(h.max, d)
}

// Merge adds the counts of o.
func (h *H) Merge(o *H) {
	for i, c := range o.counts {
		h.counts[i] += c
	}
	h.n += o.n
	h.max = max(h.max, o.max)
}

// N is the number of durations counted.
func (h *H) N() uint64 { return h.n }

// Max is the largest duration counted, exactly.
func (h *H) Max() time.Duration { return h.max }

// Quantile returns an upper bound of the q-quantile, q in [0,1]; zero when
// nothing was counted.
func (h *H) Quantile(q float64) time.Duration {
	want := uint64(q * float64(h.n))
	var seen uint64
	for i, c := range h.counts {
		if seen += c; seen > want {
			return min(upper(i), h.max)
		}
	}
	return h.max
}
