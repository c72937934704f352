package searchindex

import (
	"cmp"
	"slices"
)

// postings are the documents that have a term, in the order of their numbers, with how often each has it. They are kept
// in blocks, so that a document can be put in or taken out at any place in constant time.
type postings struct {
	blocks []*block
	n      int
}

type block struct {
	docs  []uint32
	freqs []uint16
}

const blockSize = 256

// at is the block that has, or would have, a document.
func (p *postings) at(doc uint32) int {
	i, _ := slices.BinarySearchFunc(p.blocks, doc, func(b *block, doc uint32) int { return cmp.Compare(b.docs[len(b.docs)-1], doc) })
	return i
}

// add puts a document in that is not there.
func (p *postings) add(doc uint32, freq int) {
	f := uint16(min(freq, 1<<16-1))
	p.n++
	i := p.at(doc)
	if i == len(p.blocks) {
		p.extend(doc, f)
		return
	}
	b := p.blocks[i]
	b.insert(doc, f)
	if len(b.docs) > blockSize {
		p.blocks = slices.Insert(p.blocks, i+1, b.split())
	}
}

// extend puts a document in behind all others.
func (p *postings) extend(doc uint32, freq uint16) {
	last := len(p.blocks) - 1
	if last < 0 || len(p.blocks[last].docs) >= blockSize {
		p.blocks = append(p.blocks, &block{})
		last++
	}
	b := p.blocks[last]
	b.docs, b.freqs = append(b.docs, doc), append(b.freqs, freq)
}

func (b *block) insert(doc uint32, freq uint16) {
	i, _ := slices.BinarySearch(b.docs, doc)
	b.docs, b.freqs = slices.Insert(b.docs, i, doc), slices.Insert(b.freqs, i, freq)
}

// split takes the second half out of a block.
func (b *block) split() *block {
	half := len(b.docs) / 2
	right := &block{docs: slices.Clone(b.docs[half:]), freqs: slices.Clone(b.freqs[half:])}
	b.docs, b.freqs = b.docs[:half:half], b.freqs[:half:half]
	return right
}

// remove takes out a document that is there.
func (p *postings) remove(doc uint32) {
	i := p.at(doc)
	if i == len(p.blocks) {
		return
	}
	b := p.blocks[i]
	j, there := slices.BinarySearch(b.docs, doc)
	if !there {
		return
	}
	p.n--
	b.docs, b.freqs = slices.Delete(b.docs, j, j+1), slices.Delete(b.freqs, j, j+1)
	if len(b.docs) == 0 {
		p.blocks = slices.Delete(p.blocks, i, i+1)
	}
}

// each calls f for every document in order.
func (p *postings) each(f func(doc uint32, freq uint16)) {
	for _, b := range p.blocks {
		for i, d := range b.docs {
			f(d, b.freqs[i])
		}
	}
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
func (s set) putAll(p *postings)  { p.each(func(doc uint32, _ uint16) { s.put(doc) }) }
func (s set) drop(n uint32)       { s[n/64] &^= 1 << (n % 64) }
func (s set) holds(n uint32) bool { return int(n/64) < len(s) && s[n/64]&(1<<(n%64)) != 0 }
