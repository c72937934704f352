package vector

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"math"
)

// Metric says how near two vectors are.
type Metric uint8

// The metrics. Their codes stand in snapshots and never change.
const (
	Cosine Metric = iota
	Euclidean
	Dot
)

// metricNames are the names in VECTOR.CREATE and VECTOR.INFO.
var metricNames = [...]string{"COSINE", "EUCLIDEAN", "DOT"}

// String is the name that clients write.
func (m Metric) String() string { return metricNames[m] }

// Valid reports whether there is such a metric.
func (m Metric) Valid() bool { return int(m) < len(metricNames) }

// ParseMetric reads an upper-case name.
func ParseMetric(name string) (Metric, bool) {
	for m, n := range metricNames {
		if n == name {
			return Metric(m), true
		}
	}
	return 0, false
}

// Vector is a point and what is computed of it once. It is immutable.
type Vector struct {
	Elems []float32
	// scale is 1 divided by the length, 0 of the zero vector.
	scale float32
}

// ErrInvalid says that an element is no finite 32-bit number, or that a text is no vector.
var ErrInvalid = errors.New("invalid vector")

// New is the vector of elems, which it keeps. An element that is not finite is ErrInvalid.
func New(elems []float32) (Vector, error) {
	for _, x := range elems {
		if x-x != 0 { // not a number, or infinite
			return Vector{}, ErrInvalid
		}
	}
	v := Vector{Elems: elems}
	if norm := math.Sqrt(float64(dot(elems, elems))); norm > 0 {
		v.scale = float32(1 / norm)
	}
	return v, nil
}

// In is v with its elements copied to elems, which has as many and belongs to it from then on.
func (v Vector) In(elems []float32) Vector {
	copy(elems, v.Elems)
	v.Elems = elems
	return v
}

// Decode reads little-endian 32-bit floats.
func Decode(blob []byte) (Vector, error) {
	if len(blob) == 0 || len(blob)%4 != 0 {
		return Vector{}, ErrInvalid
	}
	elems := make([]float32, len(blob)/4)
	for i := range elems {
		elems[i] = math.Float32frombits(binary.LittleEndian.Uint32(blob[4*i:]))
	}
	return New(elems)
}

// DecodeText reads the standard base64 of what Decode reads.
func DecodeText(text []byte) (Vector, error) {
	blob, err := base64.StdEncoding.AppendDecode(nil, text)
	if err != nil {
		return Vector{}, ErrInvalid
	}
	return Decode(blob)
}

// Append writes the elements as little-endian 32-bit floats.
func (v Vector) Append(b []byte) []byte {
	for _, x := range v.Elems {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

// nearness orders vectors by how near they are to q, the nearest first by the largest value.
func (m Metric) nearness(q, v Vector) float32 {
	switch m {
	case Cosine:
		return float32(dot(q.Elems, v.Elems) * v.scale)
	case Euclidean:
		return -distance(q.Elems, v.Elems)
	default:
		return dot(q.Elems, v.Elems)
	}
}

// score turns a nearness to q into a score from 0 to 1, where 1 is nearest: (1+cos)/2,
// 1/(1+d²) and (1+dot)/2, cut to that range.
func (m Metric) score(q Vector, near float32) float64 {
	var s float64
	switch m {
	case Cosine:
		s = (1 + float64(float64(near)*float64(q.scale))) / 2 // rounded before it is added, see doc.go
	case Euclidean:
		s = 1 / (1 - float64(near))
	default:
		s = (1 + float64(near)) / 2
	}
	// The arithmetic of 32 bits leaves a vector's score to itself some 1e-7 beside 1.
	s = float64(float32(s))
	return min(max(s, 0), 1)
}

// dot is the scalar product in eight partial sums. It is inlined nowhere and compiled once, so
// that the sum is formed in one order only.
//
//go:noinline
func dot(a, b []float32) float32 {
	var s0, s1, s2, s3, s4, s5, s6, s7 float32
	b = b[:len(a)]
	for len(a) >= 8 && len(b) >= 8 {
		x, y := (*[8]float32)(a), (*[8]float32)(b)
		s0 += float32(x[0] * y[0])
		s1 += float32(x[1] * y[1])
		s2 += float32(x[2] * y[2])
		s3 += float32(x[3] * y[3])
		s4 += float32(x[4] * y[4])
		s5 += float32(x[5] * y[5])
		s6 += float32(x[6] * y[6])
		s7 += float32(x[7] * y[7])
		a, b = a[8:], b[8:]
	}
	for i := range a {
		s0 += float32(a[i] * b[i])
	}
	return ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))
}

// distance is the square of the Euclidean distance, in four partial sums.
//
//go:noinline
func distance(a, b []float32) float32 {
	var s0, s1, s2, s3 float32
	b = b[:len(a)]
	for len(a) >= 4 && len(b) >= 4 {
		x, y := (*[4]float32)(a), (*[4]float32)(b)
		d0, d1, d2, d3 := x[0]-y[0], x[1]-y[1], x[2]-y[2], x[3]-y[3]
		s0 += float32(d0 * d0)
		s1 += float32(d1 * d1)
		s2 += float32(d2 * d2)
		s3 += float32(d3 * d3)
		a, b = a[4:], b[4:]
	}
	for i := range a {
		d := a[i] - b[i]
		s0 += float32(d * d)
	}
	return (s0 + s1) + (s2 + s3)
}
