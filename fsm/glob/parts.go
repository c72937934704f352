package glob

import (
	"math/bits"
	"strings"
)

// part is the text between two stars: elements that match one byte each.
type part struct {
	literal  bool   // all elements are one byte each
	text     string // those bytes, or else the part of the pattern
	elements int
}

// set is the bytes that an element stands for.
type set [4]uint64

// size returns the number of bytes in the set.
func (s *set) size() (n int) {
	for _, word := range s {
		n += bits.OnesCount64(word)
	}
	return n
}

func (s *set) has(c byte) bool { return s[c>>6]>>(c&63)&1 != 0 }

// MaxSearched is the largest number of elements between two stars, if one of them is a class
// or a question mark, of a pattern that is not Costly.
const MaxSearched = 1024

// Costly reports whether a match may take more than linear time: a long part between two
// stars that has classes or question marks is looked for in time that grows with the
// product of its length and that of the text. Commands refuse such patterns.
func Costly(pattern string) bool {
	if len(pattern) <= MaxSearched {
		return false
	}
	parts := split(pattern)
	for i := 1; i < len(parts)-1; i++ {
		if !parts[i].literal && parts[i].elements > MaxSearched {
			return true
		}
	}
	return false
}

// split cuts a pattern at its stars.
func split(pattern string) []part {
	var parts []part
	for {
		p, rest, more := firstPart(pattern)
		parts = append(parts, p)
		if !more {
			return parts
		}
		pattern = rest
	}
}

// firstPart splits a pattern at its first star.
func firstPart(pattern string) (p part, rest string, more bool) {
	end := 0
	p.literal = true
	for ; end < len(pattern) && pattern[end] != '*'; p.elements++ {
		p.literal = p.literal && pattern[end] != '?' && pattern[end] != '['
		end += elementSize(pattern[end:])
	}
	p.text = pattern[:end]
	if p.literal && p.elements < end {
		p.text = unescaped(p.text)
	}
	if end < len(pattern) {
		rest, more = pattern[end+1:], true
	}
	return p, rest, more
}

// elementSize is the length of the first element, which is no star.
func elementSize(pattern string) int {
	n, _ := one(pattern, 0)
	return n
}

// unescaped is a part that has neither classes nor question marks.
func unescaped(source string) string {
	var b strings.Builder
	for i := 0; i < len(source); i++ {
		if source[i] == '\\' && i+1 < len(source) {
			i++
		}
		b.WriteByte(source[i])
	}
	return b.String()
}

// sets returns the set of bytes that each element matches.
func (p *part) sets() []set {
	sets, source := make([]set, 0, p.elements), p.text
	for len(source) > 0 {
		n := elementSize(source)
		sets = append(sets, setOf(source[:n]))
		source = source[n:]
	}
	return sets
}

// setOf is the set of one element.
func setOf(element string) (s set) {
	switch {
	case element[0] == '?':
		return set{^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0)}
	case element[0] == '[':
		return classSet(element)
	}
	c := element[len(element)-1] // behind the backslash, if there is one
	s[c>>6] |= 1 << (c & 63)
	return s
}

// classSet is the set of a class, read as class reads it.
func classSet(element string) (s set) {
	i := 1
	not := i < len(element) && element[i] == '^'
	if not {
		i++
	}
	for i < len(element) && element[i] != ']' {
		var lo, hi byte
		lo, hi, i = member(element, i)
		for c := int(lo); c <= int(hi); c++ {
			s[c>>6] |= 1 << (c & 63)
		}
	}
	if not {
		for i := range s {
			s[i] = ^s[i]
		}
	}
	return s
}

// member is the range of bytes at i within a class, and where the next one stands.
func member(element string, i int) (lo, hi byte, next int) {
	switch {
	case element[i] == '\\' && i+1 < len(element):
		return element[i+1], element[i+1], i + 2
	case i+2 < len(element) && element[i+1] == '-':
		return min(element[i], element[i+2]), max(element[i], element[i+2]), i + 3
	}
	return element[i], element[i], i + 1
}

// matchParts is Match by parts: each is looked for where the one before ended. Every
// element stands for exactly one byte, so the leftmost place is as good as any.
func matchParts(pattern, text string) bool {
	first, pattern, more := firstPart(pattern)
	if len(text) < first.elements || !first.begins(text) || !more && len(text) != first.elements {
		return false
	}
	text = text[first.elements:]
	for more {
		var p part
		if p, pattern, more = firstPart(pattern); !more {
			return len(text) >= p.elements && p.begins(text[len(text)-p.elements:])
		}
		at := p.find(text)
		if at < 0 {
			return false
		}
		text = text[at+p.elements:]
	}
	return true
}

// begins reports whether the text, which is long enough, begins with the part.
func (p *part) begins(text string) bool {
	if p.literal {
		return text[:len(p.text)] == p.text
	}
	source := p.text
	for i := range p.elements {
		n, ok := one(source, text[i])
		if !ok {
			return false
		}
		source = source[n:]
	}
	return true
}

// tried is up to how many elements a part is tried at every place.
const tried = 4

// find returns the first position of the part in the text, negative if it has none.
func (p *part) find(text string) int {
	switch {
	case p.literal:
		return strings.Index(text, p.text)
	case p.elements > len(text):
		return -1
	case p.elements > tried:
		return shiftAnd(p.sets(), text)
	}
	return tryAll(p.sets(), text)
}

// tryAll finds a few sets by trying them at every place.
func tryAll(sets []set, text string) int {
next:
	for i := 0; i+len(sets) <= len(text); i++ {
		for j := range sets {
			if !sets[j].has(text[i+j]) {
				continue next
			}
		}
		return i
	}
	return -1
}

// masksOf returns of each byte which sets have it. Most bytes are in a large set, so those that lack it are taken out.
func masksOf(sets []set, words int) []uint64 {
	masks, large := make([]uint64, 256*words), make([]uint64, words)
	for i := range sets {
		if sets[i].size() > 128 {
			large[i/64] |= 1 << (i & 63)
		}
	}
	for c := range 256 {
		copy(masks[c*words:], large)
	}
	for i := range sets {
		in := large[i/64]>>(i&63)&1 != 0
		for w, flip := range sets[i] {
			if in {
				flip = ^flip
			}
			for ; flip != 0; flip &= flip - 1 {
				masks[(w<<6+bits.TrailingZeros64(flip))*words+i/64] ^= 1 << (i & 63)
			}
		}
	}
	return masks
}

// shiftAnd finds sets by keeping, in one bit for each of them, whether what was read ends
// with the sets up to there.
func shiftAnd(sets []set, text string) int {
	words := (len(sets) + 63) / 64
	masks := masksOf(sets, words)
	state, last := make([]uint64, words), len(sets)-1
	for i := range len(text) {
		carry, mask := uint64(1), masks[int(text[i])*words:][:words]
		for w := range state {
			next := state[w] >> 63
			state[w] = (state[w]<<1 | carry) & mask[w]
			carry = next
		}
		if state[last/64]>>(last&63)&1 != 0 {
			return i - last
		}
	}
	return -1
}
