package keyspace

import (
	"github.com/trireme-dev/trireme/fsm/vector"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// vectorCost is the logical overhead of a vector in bytes, its id and elements apart.
const vectorCost = 80

// Vectors is the container of a vector index: vectors of one dimension under ids, and the
// metric that compares them. Unlike other containers it stays when it becomes empty.
type Vectors struct {
	Owned
	dim    int
	metric vector.Metric
	byID   table[vector.Vector]
	size   int64
}

// NewVectors is an empty index of vectors with dim elements.
func NewVectors(dim int, m vector.Metric) *Vectors { return &Vectors{dim: dim, metric: m} }

// Type is VectorIndex.
func (*Vectors) Type() Type { return VectorIndex }

// Size is the logical size in bytes.
func (x *Vectors) Size() int64 { return x.size }

// Clone copies the index in constant time, or up to 64 vectors one by one. Vectors are
// immutable and shared.
func (x *Vectors) Clone() Container {
	return &Vectors{dim: x.dim, metric: x.metric, byID: x.byID.clone(), size: x.size}
}

// Dim is the number of elements of each vector.
func (x *Vectors) Dim() int { return x.dim }

// Metric is how vectors are compared.
func (x *Vectors) Metric() vector.Metric { return x.metric }

// Len is the number of vectors.
func (x *Vectors) Len() int { return x.byID.len() }

// Get is the vector under id.
func (x *Vectors) Get(id string) (vector.Vector, bool) { return x.byID.get(id) }

// Put stores v, which has Dim elements, under id, and reports whether the id is new.
func (x *Vectors) Put(id string, v vector.Vector) bool {
	slot, _, had := x.byID.slot(id)
	*slot = v
	if !had {
		x.size += vectorCost + int64(len(id)) + 4*int64(x.dim)
	}
	return !had
}

// Delete removes the vector under id and reports whether there was one.
func (x *Vectors) Delete(id string) bool {
	if _, had := x.byID.remove(id); !had {
		return false
	}
	x.size -= vectorCost + int64(len(id)) + 4*int64(x.dim)
	return true
}

// Nearest are the most vectors nearest to q, which has Dim elements; see vector.Search.
func (x *Vectors) Nearest(q vector.Vector, most int) []vector.Hit {
	s := vector.NewSearch(x.metric, q, min(most, x.Len()))
	x.byID.all(func(id string, v vector.Vector) bool {
		s.See(id, v)
		return true
	})
	return s.Hits()
}

// Encode writes the dimension, the metric, and the vectors if there are any.
func (x *Vectors) Encode(w *wire.Writer) {
	w.Uvarint(uint64(x.dim))
	w.Uvarint(uint64(x.metric))
	w.Bool(x.Len() > 0)
	if x.Len() > 0 {
		x.byID.encode(w, func(v vector.Vector) { w.B = v.Append(w.B) })
	}
}

// DecodeVectors reads what Encode has written, all of it; ok is false if it is no index.
func DecodeVectors(record []byte) (c *Vectors, ok bool) {
	r := wire.NewReader(record)
	v, ok := decodeVectors(r)
	if !ok || r.Done() != nil {
		return nil, false
	}
	return v.(*Vectors), true
}

// maxDim bounds what a snapshot may say of a dimension; see VECTOR.CREATE.
const maxDim = 1 << 15

func decodeVectors(r *wire.Reader) (Container, bool) {
	dim, m := r.Uvarint(), vector.Metric(min(r.Uvarint(), 255))
	x := NewVectors(int(min(dim, maxDim)), m)
	if r.Err() != nil || dim == 0 || dim > maxDim || !m.Valid() {
		return nil, false
	}
	if !r.Bool() {
		return x, r.Err() == nil
	}
	sound, ok := true, false
	x.byID, ok = decodeTable(r, func() vector.Vector {
		whole := r.Len() >= 4*x.dim
		v, err := vector.Decode(r.Fixed(4 * x.dim))
		sound = sound && whole && err == nil
		return v
	})
	x.byID.all(func(id string, _ vector.Vector) bool {
		x.size += vectorCost + int64(len(id)) + 4*int64(x.dim)
		return true
	})
	return x, ok && sound
}
