package searchindex

import (
	"cmp"
	"encoding/binary"
	"sync"

	"github.com/trireme-dev/trireme/fsm/cow"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/search"
)

// field is a field of an index, and what the index knows of its values.
type field struct {
	*search.Field
	*content
}

// An index is this node's inverted index of the documents of one definition.
type index struct {
	def *search.Definition

	mu       sync.RWMutex
	byName   map[string]uint32
	names    []string // by number; empty: the number is free
	free     []uint32
	gone     map[uint32]keyspace.Deadline // deadlines of documents that have one
	dues     *cow.BTree[due, struct{}]
	fields   []*field
	contents []*content
	byPath   map[string]*field // by name
	overlap  int64             // how many of contents look at one path at most
	meter
}

// due is the deadline of a document.
type due struct {
	at  keyspace.Deadline
	doc uint32
}

func compareDue(a, b due) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.doc, b.doc)) }

func headOf(s string) uint64 {
	var b [8]byte
	copy(b[:], s)
	return binary.BigEndian.Uint64(b[:])
}

// way decides which values a field takes, and as what.
type way struct {
	path           string
	kind           search.FieldType
	whole, stemmed bool
}

// newIndex is an empty index. take is its meter's.
func newIndex(d *search.Definition, take func(n int64) bool) *index {
	x := &index{def: d, byName: map[string]uint32{}, gone: map[uint32]keyspace.Deadline{}, dues: cow.NewBTree[due, struct{}](func(d due) uint64 { return uint64(d.at) }, compareDue), byPath: map[string]*field{}}
	x.take = take
	known, paths := map[way]*content{}, map[string]int64{}
	for i := range d.Schema {
		f := &d.Schema[i]
		w := way{f.Path(), f.Type, f.NoTokenize, !f.NoStem}
		c := known[w]
		if c == nil {
			c = newContent(f, d.Language, &x.meter)
			known[w] = c
			x.contents = append(x.contents, c)
			paths[w.path]++
			x.overlap = max(x.overlap, paths[w.path])
		}
		x.fields = append(x.fields, &field{f, c})
		x.byPath[f.Name] = x.fields[i]
	}
	x.bytes = indexCost + int64(len(x.fields))*fieldCost
	x.due = x.bytes
	return x
}

// put takes a document in, in place of one of the same name. It stops where there is no memory for more.
func (in *index) put(doc *document) {
	n, had := in.byName[doc.name]
	if had {
		in.clear(n)
	} else {
		if last := len(in.free) - 1; last >= 0 {
			n, in.free = in.free[last], in.free[:last]
			in.names[n] = doc.name
		} else {
			n = uint32(len(in.names))
			in.names = append(in.names, doc.name)
		}
		in.byName[doc.name] = n
		in.grow(documentCost + int64(len(doc.name)))
	}
	if doc.gone != 0 {
		in.gone[n] = doc.gone
		in.dues.Set(due{doc.gone, n}, struct{}{})
		in.grow(dueCost)
	}
	for i, c := range in.contents {
		if in.full {
			return
		}
		c.put(n, &doc.fields[i])
	}
}

// remove takes a document out and reports whether it was there.
func (in *index) remove(name string) bool {
	n, had := in.byName[name]
	if !had {
		return false
	}
	in.clear(n)
	delete(in.byName, name)
	in.grow(-documentCost - int64(len(name)))
	in.names[n] = ""
	in.free = append(in.free, n)
	return true
}

// clear takes out what a document has.
func (in *index) clear(n uint32) {
	if at, has := in.gone[n]; has {
		in.dues.Delete(due{at, n})
		delete(in.gone, n)
		in.grow(-dueCost)
	}
	for _, c := range in.contents {
		c.clear(n)
	}
}

// live returns the number of documents.
func (in *index) live() int { return len(in.byName) }
