package keyspace

import (
	"strings"

	"github.com/trireme-dev/trireme/fsm/vector"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// vectorCost is the logical overhead of a vector in bytes, its id and elements apart.
const vectorCost = 80

// Vectors is the container of a vector index: vectors of one dimension under ids, and the
// metric that compares them. Unlike other containers it stays when it becomes empty.
//
// The vectors stand side by side, without gaps, in no order that is part of the state: searches and encodings don't
// depend on it.
type Vectors struct {
	Owned
	dim    int
	metric vector.Metric
	places table[placed] // by id
	all    vectorList
	size   int64
}

// placed is the id of a vector, and its place among all.
type placed struct {
	id string
	at int
}

func (p placed) name() string { return p.id }

// NewVectors is an empty index of vectors with dim elements.
func NewVectors(dim int, m vector.Metric) *Vectors {
	return &Vectors{dim: dim, metric: m, all: newVectorList(dim)}
}

// Type is VectorIndex.
func (*Vectors) Type() Type { return VectorIndex }

// Size is the logical size in bytes.
func (ve *Vectors) Size() int64 { return ve.size }

// Clone copies the index in constant time, or up to 64 vectors one by one. Vectors are
// immutable and shared.
func (ve *Vectors) Clone() Container {
	return &Vectors{dim: ve.dim, metric: ve.metric, places: ve.places.clone(), all: ve.all.clone(), size: ve.size}
}

// Dim is the number of elements of each vector.
func (ve *Vectors) Dim() int { return ve.dim }

// Metric returns the measure of distance by which vectors are compared.
func (ve *Vectors) Metric() vector.Metric { return ve.metric }

// Len is the number of vectors.
func (ve *Vectors) Len() int { return ve.all.n }

// Get is the vector under id.
func (ve *Vectors) Get(id string) (v vector.Vector, ok bool) {
	one, ok := ve.places.get(id)
	if !ok {
		return v, false
	}
	_, v = ve.all.at(one.at)
	return v, true
}

// Put stores v, which has Dim elements, under id, and reports whether the id is new.
func (ve *Vectors) Put(id string, v vector.Vector) bool {
	place, had := ve.places.place(id)
	if had {
		ve.all.set(place.at, place.id, v)
		return false
	}
	id = strings.Clone(id)
	*place = placed{id, ve.all.push(id, v)}
	ve.size += vectorCost + int64(len(id)) + 4*int64(ve.dim)
	return true
}

// Delete removes the vector under id and reports whether there was one.
func (ve *Vectors) Delete(id string) bool {
	one, had := ve.places.remove(id)
	if !had {
		return false
	}
	if moved, moves := ve.all.remove(one.at); moves {
		place, _ := ve.places.place(moved)
		place.at = one.at
	}
	ve.size -= vectorCost + int64(len(id)) + 4*int64(ve.dim)
	return true
}

// Nearest are the most vectors nearest to q, which has Dim elements; see vector.Search.
func (ve *Vectors) Nearest(q vector.Vector, most int) []vector.Hit {
	s := vector.NewSearch(ve.metric, q, min(most, ve.Len()))
	ve.all.each(s.See)
	return s.Hits()
}

// Encode writes the dimension, the metric, and the vectors if there are any.
func (ve *Vectors) Encode(w *wire.Writer) {
	w.Uvarint(uint64(ve.dim))
	w.Uvarint(uint64(ve.metric))
	w.Bool(ve.Len() > 0)
	if ve.Len() > 0 {
		ve.places.encode(w, func(one placed) {
			w.String(one.id)
			_, v := ve.all.at(one.at)
			w.B = v.Append(w.B)
		})
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
	x.places, ok = decodeTable(r, func() placed {
		id := r.String()
		whole := r.Len() >= 4*x.dim
		v, err := vector.Decode(r.Fixed(4 * x.dim))
		if sound = sound && whole && err == nil; !sound {
			return placed{}
		}
		return placed{id, x.all.push("", v)}
	})
	if !ok || !sound {
		return nil, false
	}
	x.places.all(func(one placed) bool {
		x.all.name(one.at, one.id)
		x.size += vectorCost + int64(len(one.id)) + 4*int64(x.dim)
		return true
	})
	return x, true
}
