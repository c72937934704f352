package keyspace

import "github.com/trireme-dev/trireme/fsm/cow"

// texts is a list of texts in blocks, which forks in constant time. Make one with newTexts; a view reads one block in place.
type texts struct {
	blocks *cow.Sequence[textBlock] // nil of a view
	view   textBlock
}

func newTexts() texts { return texts{blocks: cow.NewWeighted(textBlock.weight)} }

// clone returns a copy that can be changed.
func (t *texts) clone() texts {
	if t.blocks != nil {
		return texts{blocks: t.blocks.Snapshot()}
	}
	c := newTexts()
	c.blocks.Insert(0, t.view) // a block of up to MaxPackedBytes, which the next change parts
	return c
}

func (t *texts) len() int {
	if t.blocks == nil {
		return t.view.weight()
	}
	return t.blocks.Len()
}

// find is the block that has position i, and the position of its first text.
func (t *texts) find(i int) (b textBlock, start int) {
	if t.blocks == nil {
		return t.view, 0
	}
	return t.blocks.Find(i)
}

// ascendBlocks calls f for the blocks from that of position i on until it returns false.
func (t *texts) ascendBlocks(i int, f func(start int, b textBlock) bool) {
	switch {
	case i >= t.len():
	case t.blocks == nil:
		f(0, t.view)
	default:
		t.blocks.Ascend(i, f)
	}
}

// at is the text at position i; 0 <= i < len.
func (t *texts) at(i int) string {
	b, start := t.find(i)
	v, _, _ := b.at(i - start)
	return v
}

// insert puts v at position i, before what stood there; 0 <= i <= len.
func (t *texts) insert(i int, v string) {
	n := t.blocks.Len()
	if n == 0 {
		t.blocks.Insert(0, blockOf(v))
		return
	}
	b, start := t.blocks.Find(max(0, i-1)) // what ends at i, or has i in it
	if grown, ok := b.with(i-start, v); ok {
		t.blocks.Set(start, grown)
		return
	}
	switch cut := i - start; {
	case cut == b.weight() && i < n: // between two
		next, _ := t.blocks.Find(i)
		if grown, ok := next.with(0, v); ok {
			t.blocks.Set(i, grown)
			return
		}
	case cut > 0 && cut < b.weight():
		t.blocks.Set(start, b.head(cut))
		t.blocks.Insert(i, b.tail(cut))
	}
	t.blocks.Insert(i, blockOf(v))
}

// set replaces the text at position i; 0 <= i < len.
func (t *texts) set(i int, v string) {
	b, start := t.blocks.Find(i)
	if changed, ok := b.replaced(i-start, v); ok {
		t.blocks.Set(start, changed)
		return
	}
	t.remove(i)
	t.insert(i, v)
}

// remove takes the text at position i out; 0 <= i < len.
func (t *texts) remove(i int) string {
	b, start := t.blocks.Find(i)
	v, _, _ := b.at(i - start)
	if b.weight() == 1 {
		t.blocks.Delete(start)
		return v
	}
	b = b.without(i - start)
	if end := start + b.count + 1; len(b.text) < textBlockBytes/4 && end < t.blocks.Len() {
		next, _ := t.blocks.Find(end)
		if both, ok := b.join(next); ok {
			t.blocks.Delete(end)
			b = both
		}
	}
	t.blocks.Set(start, b)
	return v
}

// removeEach takes the texts at positions out, which stand in descending order, a block at a time. It returns the sum of their bytes.
func (t *texts) removeEach(positions []int) (bytes int64) {
	for len(positions) > 0 {
		b, start := t.blocks.Find(positions[0])
		n := 1
		for n < len(positions) && positions[n] >= start {
			n++
		}
		left, removed := b.withoutEach(start, positions[:n])
		if n == b.weight() {
			t.blocks.Delete(start)
		} else {
			t.blocks.Set(start, left)
		}
		bytes, positions = bytes+removed, positions[n:]
	}
	return bytes
}

// keep removes all texts but those at positions from up to, not including, to; 0 <= from <= to <= len.
func (t *texts) keep(from, to int) {
	if from < to {
		if b, start := t.blocks.Find(to - 1); start+b.weight() > to {
			t.blocks.Set(start, b.head(to-start))
		}
		if b, start := t.blocks.Find(from); start < from {
			t.blocks.Set(start, b.tail(from-start))
			from, to = start, to-(from-start)
		}
	}
	t.blocks.Keep(from, to)
}

// ascend calls f for the texts from position i on until it returns false.
func (t *texts) ascend(i int, f func(i int, v string) bool) {
	t.ascendBlocks(i, func(at int, b textBlock) bool {
		return b.each(func(v string) bool {
			at++
			return at <= i || f(at-1, v)
		})
	})
}

// descend calls f for the texts from position i down to 0 until it returns false.
func (t *texts) descend(i int, f func(i int, v string) bool) {
	down := func(start int, b textBlock) bool {
		var room [textBlockCount]string
		all := room[:0]
		b.each(func(v string) bool {
			all = append(all, v)
			return start+len(all) <= i
		})
		for j := len(all) - 1; j >= 0; j-- {
			if !f(start+j, all[j]) {
				return false
			}
		}
		return true
	}
	switch {
	case i < 0:
	case t.blocks == nil:
		down(0, t.view)
	default:
		t.blocks.Descend(i, down)
	}
}
