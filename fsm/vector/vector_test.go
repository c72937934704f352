package vector

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func random(r *rand.Rand, dim int) Vector {
	elems := make([]float32, dim)
	for i := range elems {
		elems[i] = float32(r.NormFloat64())
	}
	v, err := New(elems)
	if err != nil {
		panic(err)
	}
	return v
}

// exact is a score by the formulas of the documentation, in 64 bits.
func exact(m Metric, a, b Vector) float64 {
	var sum, aa, bb, dd float64
	for i := range a.Elems {
		x, y := float64(a.Elems[i]), float64(b.Elems[i])
		sum, aa, bb, dd = sum+x*y, aa+x*x, bb+y*y, dd+(x-y)*(x-y)
	}
	switch m {
	case Cosine:
		if aa == 0 || bb == 0 {
			return 0.5
		}
		return (1 + sum/math.Sqrt(aa*bb)) / 2
	case Euclidean:
		return 1 / (1 + dd)
	}
	return min(max((1+sum)/2, 0), 1)
}

// TestNearest compares searches with a sort of all vectors by scores of 64 bits.
func TestNearest(t *testing.T) {
	for _, m := range []Metric{Cosine, Euclidean, Dot} {
		for _, dim := range []int{1, 3, 8, 31, 384} {
			r := rand.New(rand.NewPCG(uint64(dim), uint64(m)))
			all, q := map[string]Vector{}, random(r, dim)
			var want []Hit
			for i := range 300 {
				id := fmt.Sprint("v", i)
				all[id] = random(r, dim)
				want = append(want, Hit{ID: id, Score: exact(m, q, all[id])})
			}
			slices.SortFunc(want, func(a, b Hit) int { return cmp.Compare(b.Score, a.Score) })
			s := NewSearch(m, q, 10)
			for id, v := range all {
				s.See(id, v)
			}
			hits := s.Hits()
			if len(hits) != 10 {
				t.Fatalf("%v %d: %d hits", m, dim, len(hits))
			}
			for i, h := range hits {
				if math.Abs(h.Score-want[i].Score) > 1e-5 || math.Abs(exact(m, q, all[h.ID])-h.Score) > 1e-5 {
					t.Errorf("%v %d: hit %d is %v, want %v", m, dim, i, h, want[i])
				}
			}
		}
	}
}

// TestItself: a vector asked for itself is the best under every metric that ranks it so, and
// equally near ones come in the order of their ids, whatever order they were seen in.
func TestItself(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	q := random(r, 128)
	for _, m := range []Metric{Cosine, Euclidean} {
		s := NewSearch(m, q, 3)
		for _, id := range []string{"d", "a", "c", "b"} {
			s.See(id, q)
		}
		hits := s.Hits()
		if got := hits[0].ID + hits[1].ID + hits[2].ID; got != "abc" || hits[0].Score != 1 {
			t.Errorf("%v: %v", m, hits)
		}
	}
}

func TestZeroVectorHasNoDirection(t *testing.T) {
	zero, err := New(make([]float32, 4))
	if err != nil {
		t.Fatal(err)
	}
	s := NewSearch(Cosine, zero, 2)
	s.See("a", random(rand.New(rand.NewPCG(1, 1)), 4))
	s.See("z", zero)
	for _, h := range s.Hits() {
		if h.Score != 0.5 {
			t.Errorf("%v", h)
		}
	}
}

func TestInvalid(t *testing.T) {
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if _, err := New([]float32{1, float32(x)}); err != ErrInvalid {
			t.Errorf("%v: %v", x, err)
		}
	}
	for _, blob := range []string{"", "abc", "abcde"} {
		if _, err := Decode([]byte(blob)); err != ErrInvalid {
			t.Errorf("%q: %v", blob, err)
		}
	}
	if _, err := DecodeText([]byte("?")); err != ErrInvalid {
		t.Error(err)
	}
	v, err := DecodeText([]byte("AACAPwAAAEA="))
	if err != nil || len(v.Elems) != 2 || v.Elems[0] != 1 || v.Elems[1] != 2 || string(v.Append(nil)) != "\x00\x00\x80?\x00\x00\x00@" {
		t.Errorf("%v, %v", v, err)
	}
}

// TestSumsAreOfOneOrder has figures of this arithmetic: another order of additions, or fused
// ones, would make them differ in the last digits.
func TestSumsAreOfOneOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	a, b := random(r, 1001), random(r, 1001)
	if d, e := math.Float32bits(dot(a.Elems, b.Elems)), math.Float32bits(distance(a.Elems, b.Elems)); d != 0xc0908808 || e != 0x4501244e {
		t.Errorf("dot %#x, distance %#x", d, e)
	}
}

func BenchmarkNearest(b *testing.B) {
	for _, dim := range []int{384, 1536} {
		b.Run(fmt.Sprint(dim), func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 1))
			all := make([]Vector, 50_000)
			for i := range all {
				all[i] = random(r, dim)
			}
			q := random(r, dim)
			for b.Loop() {
				s := NewSearch(Cosine, q, 10)
				for i := range all {
					s.See("id", all[i])
				}
				s.Hits()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(all)), "ns/vector")
		})
	}
}
