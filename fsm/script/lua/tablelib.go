package lua

func (st *State) openTable() {
	t := st.NewTable(0, 9)
	st.Register(t, []Named{
		{"concat", Metered, tableConcat}, {"foreach", Metered, tableForeach}, {"foreachi", Metered, tableForeachI},
		{"getn", Metered, tableGetN}, {"maxn", Metered, tableMaxN}, {"insert", Metered, tableInsert}, {"remove", Metered, tableRemove},
		{"setn", Constant, tableSetN}, {"sort", Metered, tableSort},
	})
	st.Globals.SetField("table", TableValue(t))
}

func tableConcat(vm *State, args []Value) {
	t, sep := vm.CheckTable(args, 1), vm.OptText(args, 2, "")
	from := clampInt(vm.OptInt(args, 3, 1))
	to := 0
	if arg(args, 4).IsNil() {
		to = t.Len()
	} else {
		to = clampInt(vm.CheckInt(args, 4))
	}
	b := vm.NewBuffer()
	for i := from; i <= to; i++ {
		v := t.Index(i)
		s, ok := vm.Text(v)
		if !ok {
			vm.Errorf("invalid value (" + v.Type() + ") at index " + FormatNumber(float64(i)) + " in table for 'concat'")
		}
		vm.Step(1)
		b.Write(s)
		if i < to {
			b.Write(sep)
		}
	}
	vm.Return(b.String())
}

func tableForeach(vm *State, args []Value) {
	t, fn := vm.CheckTable(args, 1), vm.checkFunction(args, 2)
	for k := Nil; ; {
		next, v, ok := t.Next(k)
		if !ok {
			vm.fail("invalid key to 'next'")
		}
		if next.IsNil() {
			break
		}
		vm.Call(fn, next, v)
		if r := vm.result(); !r.IsNil() {
			vm.Return(r)
			return
		}
		k = next
	}
	vm.Return()
}

func (st *State) checkFunction(args []Value, n int) Value {
	if v := arg(args, n); v.IsFunction() {
		return v
	}
	st.argType(args, n, "function")
	return Nil
}

func tableForeachI(vm *State, args []Value) {
	t, fn := vm.CheckTable(args, 1), vm.checkFunction(args, 2)
	for i, n := 1, t.Len(); i <= n; i++ {
		vm.Call(fn, Int(i), t.Index(i))
		if r := vm.result(); !r.IsNil() {
			vm.Return(r)
			return
		}
	}
	vm.Return()
}

func tableGetN(vm *State, args []Value) { vm.Return(Int(vm.CheckTable(args, 1).Len())) }

func tableSetN(vm *State, args []Value) {
	vm.CheckTable(args, 1)
	vm.Errorf("'setn' is obsolete")
}

func tableMaxN(vm *State, args []Value) {
	t, largest := vm.CheckTable(args, 1), 0.0
	vm.Step((len(t.array) + len(t.nodes)) / 4)
	for k, _, at := t.After(0); !k.IsNil(); k, _, at = t.After(at) {
		if n, ok := k.Number(); ok && n > largest {
			largest = n
		}
	}
	vm.Return(Number(largest))
}

func tableInsert(vm *State, args []Value) {
	t := vm.CheckTable(args, 1)
	at := t.Len() + 1
	switch len(args) {
	case 2:
		vm.mayChange(t)
		t.SetIndex(at, args[1])
	case 3:
		pos := clampInt(vm.CheckInt(args, 2))
		vm.mayChange(t)
		vm.Step(max(0, at-pos) / 2)
		if at > len(t.array) {
			vm.Step(2 * nodeSteps * max(0, at-pos))
		}
		for i := max(at, pos); i > pos; i-- {
			t.SetIndex(i, t.Index(i-1))
		}
		t.SetIndex(pos, args[2])
	default:
		vm.Errorf("wrong number of arguments to 'insert'")
	}
	vm.Return()
}

func tableRemove(vm *State, args []Value) {
	t := vm.CheckTable(args, 1)
	n := t.Len()
	pos := clampInt(vm.OptInt(args, 2, n))
	if pos < 1 || pos > n {
		vm.Return()
		return
	}
	vm.mayChange(t)
	removed := t.Index(pos)
	vm.Step((n - pos) / 2)
	if n > len(t.array) {
		vm.Step(2 * nodeSteps * (n - pos))
	}
	for ; pos < n; pos++ {
		t.SetIndex(pos, t.Index(pos+1))
	}
	t.SetIndex(n, Nil)
	vm.Return(removed)
}

// tableSort sorts in place. The comparisons, and their order, are those of Lua 5.1, so
// that functions which are no order fail alike.
func tableSort(vm *State, args []Value) {
	t := vm.CheckTable(args, 1)
	s := sorter{vm: vm, t: t, frame: frame{vm: vm}}
	n := clampInt(t.Len())
	if !arg(args, 2).IsNil() {
		s.fn = vm.checkFunction(args, 2)
	}
	vm.mayChange(t)
	if n > len(t.array) {
		s.far = nodeSteps
	}
	s.sort(1, n)
	vm.Return()
}

type sorter struct {
	vm    *State
	t     *Table
	fn    Value
	frame frame // for comparisons without fn
	far   int   // what it costs beside to reach one of them
}

func (s *sorter) less(a, b Value) bool {
	s.vm.Step(2)
	if s.far > 0 {
		s.vm.Step(s.far)
	}
	if s.fn.IsNil() {
		if a.isNumber() && b.isNumber() {
			return a.n < b.n
		}
		return s.frame.less(a, b)
	}
	s.vm.Call(s.fn, a, b)
	return s.vm.result().Truth()
}

// order puts the values at two places in order if they aren't.
func (s *sorter) order(lo, hi int) {
	if a, b := s.t.Index(lo), s.t.Index(hi); s.less(b, a) {
		s.swap(lo, hi)
	}
}

func (s *sorter) swap(i, j int) {
	a, b := s.t.Index(i), s.t.Index(j)
	s.t.SetIndex(i, b)
	s.t.SetIndex(j, a)
}

// sort is a quicksort by the median of three that recurses into the smaller part.
func (s *sorter) sort(lo, hi int) {
	for lo < hi {
		s.order(lo, hi)
		if hi-lo == 1 {
			return
		}
		mid := (lo + hi) / 2
		if a, b := s.t.Index(mid), s.t.Index(lo); s.less(a, b) {
			s.swap(mid, lo)
		} else if b := s.t.Index(hi); s.less(b, a) {
			s.swap(mid, hi)
		}
		if hi-lo == 2 {
			return
		}
		i := s.partition(lo, hi, mid)
		if i-lo < hi-i {
			s.sort(lo, i-1)
			lo = i + 1
		} else {
			s.sort(i+1, hi)
			hi = i - 1
		}
	}
}

// partition moves what is less than the value at mid before it, and returns its place.
func (s *sorter) partition(lo, hi, mid int) int {
	pivot := s.t.Index(mid)
	s.swap(mid, hi-1)
	i, j := lo, hi-1
	for {
		for i++; s.less(s.t.Index(i), pivot); i++ {
			if i > hi {
				s.vm.Errorf("invalid order function for sorting")
			}
		}
		for j--; s.less(pivot, s.t.Index(j)); j-- {
			if j < lo {
				s.vm.Errorf("invalid order function for sorting")
			}
		}
		if j < i {
			break
		}
		s.swap(i, j)
	}
	s.swap(hi-1, i)
	return i
}
