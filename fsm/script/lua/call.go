package lua

// signal says in which way a statement ended.
type signal uint8

const (
	goOn signal = iota
	broke
	returned
	tailCalled
)

// Call calls a value with arguments from a function of ours; Results has what it
// returned. Errors are panics.
func (st *State) Call(fn Value, args ...Value) {
	if st.nested++; st.nested >= maxNested {
		st.fail("C stack overflow")
	}
	co, top := st.co, st.co.top
	co.push(st)
	st.call(fn, args)
	co.top = top
	st.nested--
}

// call calls a value. The arguments may lie on the stack.
func (st *State) call(fn Value, args []Value) {
	switch f := fn.ref.(type) {
	case *Closure:
		st.run(f, args)
	case *Function:
		st.Step(callCost)
		f.price.charge(&st.Budget, args)
		st.res = st.res[:0]
		f.run(st, args)
	default:
		handler := st.metamethod(fn, metaCall)
		if !handler.IsFunction() {
			st.top().typeError(fn, st.top().site, "call")
		}
		st.call(handler, append([]Value{fn}, args...))
	}
}

// callCost is the cost of a call in addition to that of its body.
const callCost = 4

// run runs a Lua function and those that its tail calls put in its place.
func (st *State) run(cl *Closure, args []Value) {
	co, depth := st.co, st.depth
	f, top, at := co.push(st), co.top-1, co.stack.level()
	for {
		p := cl.proto
		st.Step(p.cost)
		if st.depth = depth + p.weight; st.depth > maxCalls {
			co.top = top
			st.depth = depth
			st.top().fail("stack overflow")
		}
		if st.depth > co.deepest {
			st.deepen(co)
		}
		st.bind(f, cl, args)
		if sig := f.block(p.body); sig != tailCalled {
			if sig == goOn {
				st.res = st.res[:0]
			}
			break
		}
		if next, ok := st.tail.fn.ref.(*Closure); ok {
			cl, args = next, append([]Value(nil), st.tail.args...)
			co.stack.release(at)
			continue
		}
		st.call(st.tail.fn, append([]Value(nil), st.tail.args...))
		break
	}
	co.stack.release(at)
	co.top = top
	st.depth = depth
}

// deepen pays for the stack below the interpreter that calls need which lie deeper than any before.
func (st *State) deepen(co *Coroutine) {
	n := st.depth - co.deepest
	co.deepest = st.depth
	st.Hold(stackPerCall * n)
	st.Step(stackCost * n)
}

// bind gives a frame the variables of a call.
func (st *State) bind(f *frame, cl *Closure, args []Value) {
	p := cl.proto
	regs := st.co.stack.take(&st.Budget, p.slots)
	n := copy(regs[:p.params], args)
	clear(regs[n:])
	f.cl, f.regs, f.varargs, f.site = cl, regs, nil, nil
	if p.vararg && len(args) > p.params {
		f.varargs = args[p.params:]
	}
	if p.argSlot >= 0 {
		regs[p.argSlot] = st.argTable(f.varargs)
	}
	for _, slot := range p.cells {
		regs[slot] = st.newCell(regs[slot])
	}
}

// argTable returns the table that old programs call arg.
func (st *State) argTable(varargs []Value) Value {
	t := st.List(varargs...)
	t.SetField("n", Int(len(varargs)))
	return TableValue(t)
}

func (st *State) newCell(v Value) Value {
	st.Alloc(sizeCell)
	return Value{ref: &cell{v}}
}

// block runs statements.
func (f *frame) block(stats []step) signal {
	vm := f.vm
	for i := range stats {
		s := &stats[i]
		if vm.Steps -= s.cost; vm.Steps < 0 {
			vm.Budget.stop()
		}
		if sig := s.run(f); sig != goOn {
			return sig
		}
	}
	return goOn
}

// PCall calls a value and catches its error. After an error Results has nothing.
func (st *State) PCall(fn Value, args ...Value) *Error { return st.protected(fn, args, Nil) }

// protected is PCall with a handler that is given the error while the place where it
// happened is still known.
func (st *State) protected(fn Value, args []Value, handler Value) (caught *Error) {
	co, top, at, depth, nested := st.co, st.co.top, st.co.stack.level(), st.depth, st.nested
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		e, ok := r.(*Error)
		if !ok {
			panic(r)
		}
		left := co.top - top
		st.co, co.top, st.depth, st.nested = co, top, depth, nested
		co.stack.release(at)
		st.Step(left * frameCost)
		st.res = st.res[:0]
		caught = e
	}()
	if !handler.IsNil() {
		co.handlers = append(co.handlers, handler)
		defer func() { co.handlers = co.handlers[:len(co.handlers)-1] }()
	} else if len(co.handlers) > 0 {
		co.handlers = append(co.handlers, Nil)
		defer func() { co.handlers = co.handlers[:len(co.handlers)-1] }()
	}
	st.Call(fn, args...)
	return nil
}
