package search

import (
	"cmp"
	"encoding/binary"
	"strings"
	"sync"

	"github.com/trireme-dev/trireme/fsm/cow"
	"github.com/trireme-dev/trireme/fsm/search"
)

// gap stands between the tokens of two values of a field, so that no phrase reaches from one into the other.
const gap = ^uint32(0)

// term is a token, or a value, of a field, with the documents that have it.
type term struct {
	text string
	id   uint32
	postings
}

// column has the numbers of a field by document: most documents have one or none.
type column struct {
	first []uint64
	has   set
	more  map[uint32][]uint64 // all values of documents that have several
}

// field is what an index knows of one field of its documents.
type field struct {
	*search.Field
	analyzer analyzer

	// Of fields with texts: the terms in order and by number, and for each document its terms in their order. The
	// latter are positions for phrases, values for sorting, and what is to be taken out when the document goes.
	terms   *cow.BTree[string, *term]
	byID    []*term
	free    []uint32
	streams [][]uint32
	lengths []uint32 // tokens of a document without gaps
	total   int64    // of all documents

	// Of fields with numbers: documents by value, and values by document.
	numbers *cow.BTree[uint64, *postings]
	column  column
}

// index is what this node has found in the documents of a definition.
type index struct {
	def *search.Definition

	mu     sync.RWMutex
	byName map[string]uint32
	names  []string // by number; empty: the number is free
	free   []uint32
	gone   map[uint32]int64 // deadlines of documents that have one
	dues   *cow.BTree[due, struct{}]
	fields []*field
	byPath map[string]*field // by name
	bytes  int64
}

// due is the deadline of a document.
type due struct {
	at  int64
	doc uint32
}

func compareDue(a, b due) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.doc, b.doc)) }

func headOf(s string) uint64 {
	var b [8]byte
	copy(b[:], s)
	return binary.BigEndian.Uint64(b[:])
}

func newIndex(d *search.Definition) *index {
	x := &index{def: d, byName: map[string]uint32{}, gone: map[uint32]int64{}, dues: cow.NewBTree[due, struct{}](func(d due) uint64 { return uint64(d.at) }, compareDue), byPath: map[string]*field{}}
	for i := range d.Schema {
		f := &field{Field: &d.Schema[i]}
		f.analyzer = analyzer{whole: f.NoTokenize}
		if !f.NoStem {
			f.analyzer.stem = stemmers[d.Language]
		}
		if f.Type.Numeric() {
			f.numbers = cow.NewBTree[uint64, *postings](func(n uint64) uint64 { return n }, cmp.Compare[uint64])
			f.column.more = map[uint32][]uint64{}
		} else {
			f.terms = cow.NewBTree[string, *term](headOf, strings.Compare)
		}
		x.fields = append(x.fields, f)
		x.byPath[f.Name] = f
	}
	return x
}

// The memory of parts of an index in bytes, about.
const (
	documentCost = 96
	termCost     = 160
	postingCost  = 8
	tokenCost    = 4
	numberCost   = 24
)

// put takes a document in, in place of one of the same name.
func (x *index) put(doc *document) {
	n, had := x.byName[doc.name]
	if had {
		x.clear(n)
	} else {
		if last := len(x.free) - 1; last >= 0 {
			n, x.free = x.free[last], x.free[:last]
			x.names[n] = doc.name
		} else {
			n = uint32(len(x.names))
			x.names = append(x.names, doc.name)
		}
		x.byName[doc.name] = n
		x.bytes += documentCost + int64(len(doc.name))
	}
	if doc.gone != 0 {
		x.gone[n] = doc.gone
		x.dues.Set(due{doc.gone, n}, struct{}{})
	}
	for i, f := range x.fields {
		x.bytes += f.put(n, &doc.fields[i])
	}
}

// remove takes a document out and reports whether it was there.
func (x *index) remove(name string) bool {
	n, had := x.byName[name]
	if !had {
		return false
	}
	x.clear(n)
	delete(x.byName, name)
	x.bytes -= documentCost + int64(len(name))
	x.names[n] = ""
	x.free = append(x.free, n)
	return true
}

// clear takes out what a document has.
func (x *index) clear(n uint32) {
	if at, has := x.gone[n]; has {
		x.dues.Delete(due{at, n})
		delete(x.gone, n)
	}
	for _, f := range x.fields {
		x.bytes -= f.clear(n)
	}
}

// live returns the number of documents.
func (x *index) live() int { return len(x.byName) }

// put takes in the values of document n and returns what they cost.
func (f *field) put(n uint32, v *values) (bytes int64) {
	if f.numbers != nil {
		return f.putNumbers(n, v.numbers)
	}
	if len(v.texts) == 0 {
		return 0
	}
	for len(f.streams) <= int(n) {
		f.streams, f.lengths = append(f.streams, nil), append(f.lengths, 0)
	}
	stream, length := f.stream(v.texts)
	if length == 0 {
		return 0
	}
	f.streams[n], f.lengths[n] = append([]uint32(nil), stream...), length
	f.total += int64(length)
	f.count(stream, func(t *term, freq int) {
		t.add(n, freq)
		bytes += postingCost
	})
	return bytes + tokenCost*int64(len(stream)) + numberCost
}

// stream are the terms of values, with gaps between these; length is how many there are without gaps.
func (f *field) stream(texts []string) (stream []uint32, length uint32) {
	for i, text := range texts {
		if i > 0 {
			stream = append(stream, gap)
		}
		if f.Type != search.Text {
			stream = append(stream, f.intern(text).id)
			length++
			continue
		}
		for _, t := range f.analyzer.tokens(text) {
			stream = append(stream, f.intern(t.term).id)
			length++
		}
	}
	return stream, length
}

// count calls fn for each term of a stream with how often it is there, and of a facet also for what it is below of.
func (f *field) count(stream []uint32, fn func(t *term, freq int)) {
	if len(stream) == 1 && f.Type != search.Facet {
		fn(f.byID[stream[0]], 1)
		return
	}
	freqs := make(map[uint32]int, len(stream))
	order := make([]uint32, 0, len(stream))
	note := func(id uint32) {
		if freqs[id]++; freqs[id] == 1 {
			order = append(order, id)
		}
	}
	for _, id := range stream {
		if id == gap {
			continue
		}
		note(id)
		if f.Type == search.Facet {
			f.parents(id, note)
		}
	}
	for _, id := range order {
		fn(f.byID[id], freqs[id])
	}
}

// parents calls fn for the paths that a path of a facet is below of.
func (f *field) parents(id uint32, fn func(id uint32)) {
	path := f.byID[id].text
	for cut := strings.LastIndexByte(path, '/'); cut > 0; cut = strings.LastIndexByte(path, '/') {
		path = path[:cut]
		fn(f.intern(path).id)
	}
}

// intern is the term of a text.
func (f *field) intern(text string) *term {
	if t, ok := f.terms.Get(text); ok {
		return t
	}
	t := &term{text: strings.Clone(text)}
	if last := len(f.free) - 1; last >= 0 {
		t.id, f.free = f.free[last], f.free[:last]
		f.byID[t.id] = t
	} else {
		t.id = uint32(len(f.byID))
		f.byID = append(f.byID, t)
	}
	f.terms.Set(t.text, t)
	return t
}

// clear takes out the values of document n and returns what they cost.
func (f *field) clear(n uint32) (bytes int64) {
	if f.numbers != nil {
		return f.clearNumbers(n)
	}
	if int(n) >= len(f.streams) || f.streams[n] == nil {
		return 0
	}
	stream := f.streams[n]
	f.total -= int64(f.lengths[n])
	f.streams[n], f.lengths[n] = nil, 0
	var empty []*term
	f.count(stream, func(t *term, _ int) {
		t.remove(n)
		bytes += postingCost
		if t.n == 0 {
			empty = append(empty, t)
		}
	})
	f.drop(empty)
	return bytes + tokenCost*int64(len(stream)) + numberCost
}

// drop takes out terms that no document has any more.
func (f *field) drop(list []*term) {
	for _, t := range list {
		f.terms.Delete(t.text)
		f.byID[t.id] = nil
		f.free = append(f.free, t.id)
	}
}

// distinct calls fn for each number once, and is the count of them.
func distinct(numbers []uint64, fn func(n uint64)) {
	for i, n := range numbers {
		again := false
		for _, o := range numbers[:i] {
			again = again || o == n
		}
		if !again {
			fn(n)
		}
	}
}

func (f *field) putNumbers(n uint32, numbers []uint64) (bytes int64) {
	if len(numbers) == 0 {
		return 0
	}
	c := &f.column
	for len(c.first) <= int(n) {
		c.first = append(c.first, 0)
	}
	c.has.grow(len(c.first))
	c.first[n] = numbers[0]
	c.has.put(n)
	if len(numbers) > 1 {
		c.more[n] = append([]uint64(nil), numbers...)
	}
	distinct(numbers, func(v uint64) {
		p, ok := f.numbers.Get(v)
		if !ok {
			p = &postings{}
			f.numbers.Set(v, p)
		}
		p.add(n, 1)
	})
	return numberCost * int64(len(numbers))
}

// values are the numbers of document n.
func (c *column) values(n uint32, one *[1]uint64) []uint64 {
	if int(n) >= len(c.first) || !c.has.holds(n) {
		return nil
	}
	if len(c.more) > 0 {
		if all, ok := c.more[n]; ok {
			return all
		}
	}
	one[0] = c.first[n]
	return one[:]
}

func (f *field) clearNumbers(n uint32) (bytes int64) {
	var one [1]uint64
	numbers := f.column.values(n, &one)
	distinct(numbers, func(v uint64) {
		if p, ok := f.numbers.Get(v); ok {
			if p.remove(n); p.n == 0 {
				f.numbers.Delete(v)
			}
		}
	})
	if len(numbers) > 0 {
		f.column.has.drop(n)
		delete(f.column.more, n)
	}
	return numberCost * int64(len(numbers))
}

// set is a set of numbers of documents.
type set []uint64

func newSet(n int) set { return make(set, (n+63)/64) }

func (s *set) grow(n int) {
	for len(*s)*64 < n {
		*s = append(*s, 0)
	}
}

func (s set) put(n uint32)        { s[n/64] |= 1 << (n % 64) }
func (s set) drop(n uint32)       { s[n/64] &^= 1 << (n % 64) }
func (s set) holds(n uint32) bool { return int(n/64) < len(s) && s[n/64]&(1<<(n%64)) != 0 }

// reset takes all documents out.
func (x *index) reset() {
	fresh := newIndex(x.def)
	x.byName, x.names, x.free, x.gone, x.fields, x.byPath, x.dues, x.bytes = fresh.byName, nil, nil, fresh.gone, fresh.fields, fresh.byPath, fresh.dues, 0
}
