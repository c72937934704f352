package keyspace

import (
	"encoding/binary"
	"strings"
)

// A textBlock is a run of texts in one string, each behind its length, or one long text as it is.
type textBlock struct {
	text  string
	count int // of texts, 0 for a long one
}

// The bounds of a block: a change copies one. Texts of at least longText bytes stand alone, so that they are never copied.
const (
	textBlockBytes = 512
	textBlockCount = 64
	longText       = textBlockBytes / 2
)

// weight is the number of texts.
func (tb textBlock) weight() int { return max(1, tb.count) }

// blockOf is a block of one text.
func blockOf(v string) textBlock {
	if len(v) >= longText {
		return textBlock{v, 0}
	}
	return textBlock{string(appendText(make([]byte, 0, len(v)+2), v)), 1}
}

func appendText(b []byte, v string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(v))), v...)
}

// each calls f for the texts until it returns false.
func (tb textBlock) each(f func(v string) bool) bool {
	if tb.count == 0 {
		return f(tb.text)
	}
	for rest := tb.text; rest != ""; {
		var v string
		if v, rest, _ = cutWord(rest); !f(v) {
			return false
		}
	}
	return true
}

// at is the text with i others before it, and the bytes before and behind it.
func (tb textBlock) at(i int) (v, before, behind string) {
	if tb.count == 0 {
		return tb.text, "", ""
	}
	v, behind, _ = cutWord(tb.text)
	at := 0
	for range i {
		at = len(tb.text) - len(behind)
		v, behind, _ = cutWord(behind)
	}
	return v, tb.text[:at], behind
}

// head and tail are the first n texts, and all but these.
func (tb textBlock) head(n int) textBlock {
	if n == tb.weight() {
		return tb
	}
	_, before, _ := tb.at(n)
	return textBlock{strings.Clone(before), n}
}

func (tb textBlock) tail(n int) textBlock {
	if n == 0 {
		return tb
	}
	_, before, _ := tb.at(n)
	return textBlock{strings.Clone(tb.text[len(before):]), tb.count - n}
}

// with is the block with a text put in before the one at i. It is not ok if the block has no room for it.
func (tb textBlock) with(i int, v string) (grown textBlock, ok bool) {
	if tb.count == 0 || tb.count >= textBlockCount || len(v) >= longText || len(tb.text)+len(v)+1 > textBlockBytes {
		return tb, false
	}
	at := tb.offset(i)
	b := append(make([]byte, 0, len(tb.text)+len(v)+binary.MaxVarintLen16), tb.text[:at]...)
	b = append(appendText(b, v), tb.text[at:]...)
	return textBlock{Adopt(b), tb.count + 1}, true
}

// replaced is the block with v in place of the text at i. It is not ok if the block has no room for it.
func (tb textBlock) replaced(i int, v string) (changed textBlock, ok bool) {
	if tb.weight() == 1 {
		return blockOf(v), true
	}
	old, before, behind := tb.at(i)
	if len(v) >= longText || len(v) > len(old) && len(tb.text)-len(old)+len(v)+1 > textBlockBytes {
		return tb, false
	}
	b := append(make([]byte, 0, len(tb.text)-len(old)+len(v)+1), before...)
	return textBlock{Adopt(append(appendText(b, v), behind...)), tb.count}, true
}

// offset is where the text with i others before it begins.
func (tb textBlock) offset(i int) int {
	if i >= tb.count {
		return len(tb.text)
	}
	_, before, _ := tb.at(i)
	return len(before)
}

// without is the block without the text at i; it has others.
func (tb textBlock) without(i int) textBlock {
	_, before, behind := tb.at(i)
	return textBlock{before + behind, tb.count - 1}
}

// withoutEach is the block, which begins at start, without the texts at positions, which stand in descending order, and the bytes
// of these. It means nothing if none is left.
func (tb textBlock) withoutEach(start int, positions []int) (without textBlock, removed int64) {
	left, at, count := make([]byte, 0, len(tb.text)), start, tb.count-len(positions)
	tb.each(func(v string) bool {
		if n := len(positions); n > 0 && positions[n-1] == at {
			positions, removed = positions[:n-1], removed+int64(len(v))
		} else {
			left = appendText(left, v)
		}
		at++
		return true
	})
	return textBlock{string(left), count}, removed
}

// join is both blocks in one, if together they are small.
func (tb textBlock) join(next textBlock) (textBlock, bool) {
	if tb.count == 0 || next.count == 0 || tb.count+next.count > textBlockCount/2 || len(tb.text)+len(next.text) > textBlockBytes/2 {
		return tb, false
	}
	return textBlock{tb.text + next.text, tb.count + next.count}, true
}
