package searchindex

import (
	"cmp"
	"slices"
	"strings"

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

// content indexes the values of one path under one analysis. Fields with the same path and analysis share it.
type content struct {
	of       *search.Field // the first of them
	analyzer analyzer
	meter    *meter

	// Of texts: the terms in order and by number, and for each document its terms in their order. The
	// latter are positions for phrases, values for sorting, and what is to be taken out when the document goes.
	terms   *cow.BTree[string, *term]
	byID    []*term
	free    []uint32
	streams [][]uint32
	lengths []uint32 // tokens of a document without gaps
	total   int64    // of all documents

	// Of numbers: documents by value, and values by document.
	numbers *cow.BTree[uint64, *postings]
	column  column
}

// What no value has been put in shares an empty tree: a tree of its own takes 2 KiB.
var (
	noTerms   = newTerms()
	noNumbers = newNumbers()
)

func newTerms() *cow.BTree[string, *term] {
	return cow.NewBTree[string, *term](headOf, strings.Compare)
}

func newNumbers() *cow.BTree[uint64, *postings] {
	return cow.NewBTree[uint64, *postings](func(n uint64) uint64 { return n }, cmp.Compare[uint64])
}

func newContent(of *search.Field, language string, m *meter) *content {
	c := &content{of: of, meter: m, analyzer: analyzer{whole: of.NoTokenize}}
	if !of.NoStem {
		c.analyzer.stem = stemmers[language]
	}
	if of.Type.Numeric() {
		c.numbers = noNumbers
	} else {
		c.terms = noTerms
	}
	return c
}

// put takes in the values of document n. It stops where there is no memory for more.
func (c *content) put(n uint32, v *values) {
	if c.numbers != nil {
		c.putNumbers(n, v.numbers)
		return
	}
	if len(v.texts) == 0 {
		return
	}
	if more := int(n) + 1 - len(c.streams); more > 0 {
		before := cap(c.streams)
		c.streams, c.lengths = append(c.streams, make([][]uint32, more)...), append(c.lengths, make([]uint32, more)...)
		if !c.meter.grow(placeCost * int64(cap(c.streams)-before)) {
			return
		}
	}
	stream, length := c.stream(v.texts)
	if length == 0 || c.meter.full {
		return
	}
	c.streams[n], c.lengths[n] = slices.Clone(stream), length
	c.total += int64(length)
	c.meter.grow(streamCost)
	c.count(stream, func(t *term, freq int) bool {
		t.add(n, freq)
		return c.meter.grow(postingCost)
	})
}

// stream returns the terms of texts, with gaps between the texts; length is the number of terms without gaps.
func (c *content) stream(texts []string) (stream []uint32, length uint32) {
	take := func(text string, _, _ int) bool {
		stream = append(stream, c.intern(text).id)
		length++
		return c.meter.grow(tokenCost)
	}
	for i, text := range texts {
		if i > 0 {
			stream = append(stream, gap)
			c.meter.grow(tokenCost)
		}
		if c.of.Type != search.Text {
			take(text, 0, 0)
		} else {
			c.analyzer.each(text, take)
		}
		if c.meter.full {
			break
		}
	}
	return stream, length
}

// count calls fn for each term of a stream with how often it is there, and of a facet also for what it is below of, until fn
// returns false.
func (c *content) count(stream []uint32, fn func(t *term, freq int) bool) {
	if len(stream) == 1 && c.of.Type != search.Facet {
		fn(c.byID[stream[0]], 1)
		return
	}
	freqs := make(map[uint32]int, min(len(stream), 1024))
	order := make([]uint32, 0, min(len(stream), 1024))
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
		if c.of.Type == search.Facet {
			c.parents(id, note)
		}
	}
	for _, id := range order {
		if !fn(c.byID[id], freqs[id]) {
			return
		}
	}
}

// parents calls fn for the paths that a path of a facet is below of.
func (c *content) parents(id uint32, fn func(id uint32)) {
	path := c.byID[id].text
	for cut := strings.LastIndexByte(path, '/'); cut > 0 && !c.meter.full; cut = strings.LastIndexByte(path, '/') {
		path = path[:cut]
		fn(c.intern(path).id)
	}
}

// intern is the term of a text.
func (c *content) intern(text string) *term {
	if t, ok := c.terms.Get(text); ok {
		return t
	}
	if c.terms == noTerms {
		c.terms = newTerms()
		c.meter.grow(treeCost)
	}
	t := &term{text: strings.Clone(text)}
	c.meter.grow(termCost + int64(len(text)))
	if last := len(c.free) - 1; last >= 0 {
		t.id, c.free = c.free[last], c.free[:last]
		c.byID[t.id] = t
	} else {
		t.id = uint32(len(c.byID))
		c.byID = append(c.byID, t)
	}
	c.terms.Set(t.text, t)
	return t
}

// clear takes out the values of document n.
func (c *content) clear(n uint32) {
	if c.numbers != nil {
		c.clearNumbers(n)
		return
	}
	if int(n) >= len(c.streams) || c.streams[n] == nil {
		return
	}
	stream := c.streams[n]
	c.total -= int64(c.lengths[n])
	c.streams[n], c.lengths[n] = nil, 0
	var empty []*term
	c.count(stream, func(t *term, _ int) bool {
		t.remove(n)
		c.meter.grow(-postingCost)
		if t.n == 0 {
			empty = append(empty, t)
		}
		return true
	})
	c.drop(empty)
	c.meter.grow(-tokenCost*int64(len(stream)) - streamCost)
}

// drop takes out terms that no document has any more.
func (c *content) drop(list []*term) {
	for _, t := range list {
		c.terms.Delete(t.text)
		c.byID[t.id] = nil
		c.free = append(c.free, t.id)
		c.meter.grow(-termCost - int64(len(t.text)))
	}
}

// distinct calls fn for each number once.
func distinct(numbers []uint64, fn func(n uint64)) {
	if len(numbers) > 1 {
		numbers = slices.Clone(numbers)
		slices.Sort(numbers)
		numbers = slices.Compact(numbers)
	}
	for _, n := range numbers {
		fn(n)
	}
}

func (c *content) putNumbers(n uint32, numbers []uint64) {
	if len(numbers) == 0 {
		return
	}
	if c.numbers == noNumbers {
		c.numbers = newNumbers()
		c.meter.grow(treeCost)
	}
	col := &c.column
	if more := int(n) + 1 - len(col.first); more > 0 {
		before := cap(col.first)
		col.first = append(col.first, make([]uint64, more)...)
		c.meter.grow(columnCost * int64(cap(col.first)-before))
	}
	col.has.grow(len(col.first))
	col.first[n] = numbers[0]
	col.has.put(n)
	if len(numbers) > 1 {
		if col.more == nil {
			col.more = map[uint32][]uint64{}
		}
		col.more[n] = slices.Clone(numbers)
		c.meter.grow(severalCost + 8*int64(len(numbers)))
	}
	distinct(numbers, func(v uint64) {
		if c.meter.full {
			return
		}
		p, ok := c.numbers.Get(v)
		if !ok {
			p = &postings{}
			c.numbers.Set(v, p)
			c.meter.grow(numberCost)
		}
		p.add(n, 1)
		c.meter.grow(postingCost)
	})
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

func (c *content) clearNumbers(n uint32) {
	var one [1]uint64
	numbers := c.column.values(n, &one)
	if len(numbers) == 0 {
		return
	}
	distinct(numbers, func(v uint64) {
		p, ok := c.numbers.Get(v)
		if !ok {
			return
		}
		p.remove(n)
		c.meter.grow(-postingCost)
		if p.n == 0 {
			c.numbers.Delete(v)
			c.meter.grow(-numberCost)
		}
	})
	c.column.has.drop(n)
	if len(numbers) > 1 {
		delete(c.column.more, n)
		c.meter.grow(-severalCost - 8*int64(len(numbers)))
	}
}
