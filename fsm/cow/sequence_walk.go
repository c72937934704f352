package cow

// Ascend calls f for the items from that at position i on, each with the position of its first element, until it returns false.
func (se *Sequence[T]) Ascend(i int, f func(i int, v T) bool) {
	if i < se.size {
		se.ascend(se.root, 0, max(i, 0), f)
	}
}

// ascend visits the items of c, the first of which is at position start.
func (se *Sequence[T]) ascend(c *chunk[T], start, from int, f func(int, T) bool) bool {
	if len(c.items) > 0 {
		at, first := se.place(c, max(from-start, 0))
		for start += first; at < len(c.items); at++ {
			if !f(start, c.items[at]) {
				return false
			}
			start += se.weight(c.items[at])
		}
	}
	for _, k := range c.kids {
		if start+k.size > from && !se.ascend(k.node, start, from, f) {
			return false
		}
		start += k.size
	}
	return true
}

// Descend calls f for the items from that at position i down to the first, each with the position of its first element, until it
// returns false.
func (se *Sequence[T]) Descend(i int, f func(i int, v T) bool) {
	if i >= 0 {
		se.descend(se.root, se.size, min(i, se.size-1), f)
	}
}

// descend visits the items of c, the last of which is before position end.
func (se *Sequence[T]) descend(c *chunk[T], end, from int, f func(int, T) bool) bool {
	for i := len(c.items) - 1; i >= 0; i-- {
		if end -= se.weight(c.items[i]); end <= from && !f(end, c.items[i]) {
			return false
		}
	}
	for j := len(c.kids) - 1; j >= 0; j-- {
		k := c.kids[j]
		if end-k.size <= from && !se.descend(k.node, end, from, f) {
			return false
		}
		end -= k.size
	}
	return true
}
