package lua

// Next is the entry behind key, the first for nil; a nil key at the end. ok is false if
// the key is not in the table.
func (t *Table) Next(key Value) (k, v Value, ok bool) {
	at, ok := t.place(key)
	if !ok {
		return Nil, Nil, false
	}
	k, v, _ = t.After(at)
	return k, v, true
}

// After is the first entry from a slot on, 0 being the first one, and the slot behind it; a nil key at the end. What walks
// a whole table without calling the program needs no search for each key.
func (t *Table) After(slot int) (k, v Value, next int) {
	i := slot
	for ; i < len(t.array); i++ {
		if !t.array[i].IsNil() {
			t.budget.Step((i - slot) / slotsSkipped)
			return Int(i + 1), t.array[i], i + 1
		}
	}
	for i -= len(t.array); i < len(t.nodes); i++ {
		if n := &t.nodes[i]; !n.value.IsNil() {
			i += len(t.array)
			t.budget.Step((i - slot) / slotsSkipped)
			return n.key, n.value, i + 1
		}
	}
	i += len(t.array)
	t.budget.Step((i - slot) / slotsSkipped)
	return Nil, Nil, i
}

// place is the number of the slot behind key's.
func (t *Table) place(key Value) (int, bool) {
	if key.IsNil() {
		return 0, true
	}
	if key.isNumber() {
		if i := int(key.n); uint(i-1) < uint(len(t.array)) && float64(i) == key.n {
			return i, true
		}
	}
	i := t.search(key, freeHops)
	return len(t.array) + i + 1, i >= 0
}
