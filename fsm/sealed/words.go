package sealed

import (
	"slices"

	"github.com/zeebo/xxh3"
)

// Words is a Bloom filter of words: it has every word that was put in, and one of two thousand others: a reader for whom a history
// of a hundred thousand volumes has nothing opens some tens of them.
type Words string

// Word is a word of a field, as a filter knows it.
type Word uint64

// The size of a filter for each word, in bits, and the number of bits that a word sets.
const (
	bitsPerWord = 16
	bitsSet     = 11
)

// WordOf returns the word of a field.
func WordOf(field byte, text string) Word { return Word(xxh3.HashStringSeed(text, uint64(field))) }

// bits calls f for the bits of a word in a filter of that many: the distance from one to the next grows, so that two words with one bit
// and one distance in common have no more of them.
func (w Word) bits(size uint64, f func(bit uint64) bool) bool {
	at, step := uint64(w), uint64(w)>>32|1
	for i := range uint64(bitsSet) {
		if !f(at % size) {
			return false
		}
		at, step = at+step, step+i
	}
	return true
}

// WordsOf makes the filter of a list, which it sorts.
func WordsOf(list []Word) Words {
	slices.Sort(list)
	list = slices.Compact(list)
	if len(list) == 0 {
		return ""
	}
	b := make([]byte, (len(list)*bitsPerWord+63)/64*8)
	for _, w := range list {
		w.bits(uint64(len(b))*8, func(bit uint64) bool {
			b[bit/8] |= 1 << (bit % 8)
			return true
		})
	}
	return Words(b)
}

// MayHave reports whether the word may have been put in.
func (wo Words) MayHave(w Word) bool {
	return wo != "" && w.bits(uint64(len(wo))*8, func(bit uint64) bool { return wo[bit/8]>>(bit%8)&1 != 0 })
}

// MayHaveOne reports whether one of some words may have been put in.
func (wo Words) MayHaveOne(list []Word) bool { return slices.ContainsFunc(list, wo.MayHave) }
