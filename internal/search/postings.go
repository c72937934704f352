package search

import "sort"

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
	return sort.Search(len(p.blocks), func(i int) bool { b := p.blocks[i]; return b.docs[len(b.docs)-1] >= doc })
}

// add puts a document in that is not there.
func (p *postings) add(doc uint32, freq int) {
	f := uint16(min(freq, 1<<16-1))
	p.n++
	i := p.at(doc)
	if i == len(p.blocks) {
		if i == 0 || len(p.blocks[i-1].docs) >= blockSize {
			p.blocks = append(p.blocks, &block{})
		} else {
			i--
		}
		i = len(p.blocks) - 1
		b := p.blocks[i]
		b.docs, b.freqs = append(b.docs, doc), append(b.freqs, f)
		return
	}
	b := p.blocks[i]
	j := sort.Search(len(b.docs), func(j int) bool { return b.docs[j] >= doc })
	b.docs, b.freqs = append(b.docs, 0), append(b.freqs, 0)
	copy(b.docs[j+1:], b.docs[j:])
	copy(b.freqs[j+1:], b.freqs[j:])
	b.docs[j], b.freqs[j] = doc, f
	if len(b.docs) <= blockSize {
		return
	}
	half := len(b.docs) / 2
	right := &block{docs: append([]uint32(nil), b.docs[half:]...), freqs: append([]uint16(nil), b.freqs[half:]...)}
	b.docs, b.freqs = b.docs[:half:half], b.freqs[:half:half]
	p.blocks = append(p.blocks, nil)
	copy(p.blocks[i+2:], p.blocks[i+1:])
	p.blocks[i+1] = right
}

// remove takes out a document that is there.
func (p *postings) remove(doc uint32) {
	i := p.at(doc)
	if i == len(p.blocks) {
		return
	}
	b := p.blocks[i]
	j := sort.Search(len(b.docs), func(j int) bool { return b.docs[j] >= doc })
	if j == len(b.docs) || b.docs[j] != doc {
		return
	}
	p.n--
	b.docs, b.freqs = append(b.docs[:j], b.docs[j+1:]...), append(b.freqs[:j], b.freqs[j+1:]...)
	if len(b.docs) == 0 {
		p.blocks = append(p.blocks[:i], p.blocks[i+1:]...)
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
