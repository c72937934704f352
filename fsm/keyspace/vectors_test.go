package keyspace

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/trireme-dev/trireme/fsm/vector"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// TestVectorsAreSaved writes indexes of several sizes and reads them again: the same bytes,
// the same logical size; and what is damaged is refused.
func TestVectorsAreSaved(t *testing.T) {
	for _, n := range []int{0, 1, smallMax, smallMax + 1, 500} {
		x := NewVectors(3, vector.Euclidean)
		for i := range n {
			v, err := vector.New([]float32{float32(i), 1, -2})
			if err != nil || !x.Put(fmt.Sprint("id", i), v) {
				t.Fatal(err)
			}
		}
		w := &wire.Writer{}
		x.Encode(w)
		c, ok := decodeContainer(uint64(VectorIndex), wire.NewReader(w.B))
		if !ok {
			t.Fatalf("%d vectors can't be read again", n)
		}
		again := &wire.Writer{}
		c.Encode(again)
		if string(again.B) != string(w.B) || c.Size() != x.Size() || c.(*Vectors).Len() != n {
			t.Errorf("%d vectors come back otherwise", n)
		}
		for cut := 1; cut < len(w.B) && n > 0 && n < 3; cut++ {
			r := wire.NewReader(w.B[:cut])
			if _, ok := decodeContainer(uint64(VectorIndex), r); ok && r.Done() == nil && cut > 3 {
				t.Errorf("%d of %d bytes are read as an index", cut, len(w.B))
			}
		}
	}
}

// TestCloneOfVectors changes a copy and looks at the original.
func TestCloneOfVectors(t *testing.T) {
	for _, n := range []int{3, 200} {
		x := NewVectors(1, vector.Dot)
		put := func(to *Vectors, i int, f float32) {
			v, _ := vector.New([]float32{f})
			to.Put(fmt.Sprint(i), v)
		}
		for i := range n {
			put(x, i, 1)
		}
		c := x.Clone().(*Vectors)
		put(c, 0, 9)
		c.Delete("1")
		put(c, n, 5)
		if v, _ := x.Get("0"); v.Elems[0] != 1 || x.Len() != n {
			t.Errorf("a change of a copy of %d vectors is seen in the original", n)
		}
		if _, had := x.Get("1"); !had || c.Len() != n || c.Size() != x.Size()+int64(len(fmt.Sprint(n))-1) {
			t.Errorf("%d and %d vectors, %d and %d bytes", x.Len(), c.Len(), x.Size(), c.Size())
		}
	}
}

// TestVectorsAgainstMaps changes an index and its forks at random, and compares all of them with maps: what one side does
// to a block, the others don't see.
func TestVectorsAgainstMaps(t *testing.T) {
	const dim = 4000 // blocks of four
	type pair struct {
		x    *Vectors
		want map[string]float32
	}
	random := rand.New(rand.NewPCG(1, 2))
	all := []pair{{NewVectors(dim, vector.Cosine), map[string]float32{}}}
	for range 3000 {
		p := all[random.IntN(len(all))]
		id, f := fmt.Sprint(random.IntN(100)), float32(1+random.IntN(1000))
		_, had := p.want[id]
		switch random.IntN(20) {
		case 0:
			if len(all) < 6 {
				all = append(all, pair{p.x.Clone().(*Vectors), maps.Clone(p.want)})
			}
		case 1, 2, 3, 4, 5, 6, 7, 8:
			if p.x.Delete(id) != had {
				t.Fatalf("deleted %s, which is there: %v", id, had)
			}
			delete(p.want, id)
		default:
			v, err := vector.New(append(make([]float32, dim-1), f))
			if err != nil || p.x.Put(id, v) == had {
				t.Fatalf("put %s, which is there: %v; %v", id, had, err)
			}
			p.want[id] = f
		}
	}
	q, _ := vector.New(append(make([]float32, dim-1), 1))
	for i, p := range all {
		hits := p.x.Nearest(q, 1000)
		if p.x.Len() != len(p.want) || len(hits) != len(p.want) {
			t.Fatalf("fork %d has %d vectors and finds %d, want %d", i, p.x.Len(), len(hits), len(p.want))
		}
		for _, h := range hits {
			if v, ok := p.x.Get(h.ID); !ok || v.Elems[dim-1] != p.want[h.ID] {
				t.Fatalf("fork %d: %s is %v, want %v", i, h.ID, v.Elems[dim-1], p.want[h.ID])
			}
			if h.Score < 0.999999 { // all point in one direction, whatever was in their places before
				t.Fatalf("fork %d: %s has score %v, want 1", i, h.ID, h.Score)
			}
		}
	}
}

// TestVectorsTakeWhatTheyCount: an index whose vectors were deleted gives their memory back: it takes what is left of them and an empty
// table.
func TestVectorsTakeWhatTheyCount(t *testing.T) {
	const indexes, vectors, dim, empty = 200, 256, 64, 3 << 10
	heap := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before, counted := heap(), int64(indexes*empty)
	all := make([]*Vectors, indexes)
	for i := range all {
		x := NewVectors(dim, vector.Dot)
		for id := range vectors {
			v, _ := vector.New(make([]float32, dim))
			x.Put(fmt.Sprint(id), v)
		}
		for id := 1; id < vectors; id++ {
			x.Delete(fmt.Sprint(id))
		}
		if _, ok := x.Get("0"); !ok || x.Len() != 1 {
			t.Fatalf("%d vectors are left, want one", x.Len())
		}
		all[i] = x
		counted += x.Size()
	}
	if taken := heap() - before; taken > 2*counted {
		t.Errorf("%d bytes of the heap for %d that count", taken, counted)
	}
	runtime.KeepAlive(all)
}
