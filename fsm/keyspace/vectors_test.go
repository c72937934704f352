package keyspace

import (
	"fmt"
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
