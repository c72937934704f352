package lua

// signal is how a statement ended.
type signal uint8

const (
	goOn signal = iota
	broke
	returned
	tailCalled
)

// Call calls a value with arguments from a function of ours; Results has what it
// returned. Errors are panics.
func (vm *State) Call(fn Value, args ...Value) {
	if vm.nested++; vm.nested >= maxNested {
		vm.fail("C stack overflow")
	}
	co, top := vm.co, vm.co.top
	co.push(vm)
	vm.call(fn, args)
	co.top = top
	vm.nested--
}

// call calls a value. The arguments may lie on the stack.
func (vm *State) call(fn Value, args []Value) {
	switch f := fn.ref.(type) {
	case *Closure:
		vm.run(f, args)
	case *Function:
		vm.Step(callCost)
		f.price.charge(&vm.Budget, args)
		vm.res = vm.res[:0]
		f.run(vm, args)
	default:
		handler := vm.metamethod(fn, metaCall)
		if !handler.IsFunction() {
			vm.top().typeError(fn, vm.top().site, "call")
		}
		vm.call(handler, append([]Value{fn}, args...))
	}
}

// callCost is what a call costs beside what it runs.
const callCost = 4

// run runs a Lua function and those that its tail calls put in its place.
func (vm *State) run(cl *Closure, args []Value) {
	co, depth := vm.co, vm.depth
	f, top, at := co.push(vm), co.top-1, co.stack.level()
	for {
		p := cl.proto
		vm.Step(p.cost)
		if vm.depth = depth + p.weight; vm.depth > maxCalls {
			co.top = top
			vm.depth = depth
			vm.top().fail("stack overflow")
		}
		if vm.depth > co.deepest {
			vm.deepen(co)
		}
		vm.bind(f, cl, args)
		if sig := f.block(p.body); sig != tailCalled {
			if sig == goOn {
				vm.res = vm.res[:0]
			}
			break
		}
		if next, ok := vm.tail.fn.ref.(*Closure); ok {
			cl, args = next, append([]Value(nil), vm.tail.args...)
			co.stack.release(at)
			continue
		}
		vm.call(vm.tail.fn, append([]Value(nil), vm.tail.args...))
		break
	}
	co.stack.release(at)
	co.top = top
	vm.depth = depth
}

// deepen pays for the stack below the interpreter that calls need which lie deeper than any before.
func (vm *State) deepen(co *Coroutine) {
	n := vm.depth - co.deepest
	co.deepest = vm.depth
	vm.Hold(stackPerCall * n)
	vm.Step(stackCost * n)
}

// bind gives a frame the variables of a call.
func (vm *State) bind(f *frame, cl *Closure, args []Value) {
	p := cl.proto
	regs := vm.co.stack.take(&vm.Budget, p.slots)
	n := copy(regs[:p.params], args)
	clear(regs[n:])
	f.cl, f.regs, f.varargs, f.site = cl, regs, nil, nil
	if p.vararg && len(args) > p.params {
		f.varargs = args[p.params:]
	}
	if p.argSlot >= 0 {
		regs[p.argSlot] = vm.argTable(f.varargs)
	}
	for _, slot := range p.cells {
		regs[slot] = vm.newCell(regs[slot])
	}
}

// argTable is what old programs call arg.
func (vm *State) argTable(varargs []Value) Value {
	t := vm.List(varargs...)
	t.SetField("n", Int(len(varargs)))
	return TableValue(t)
}

func (vm *State) newCell(v Value) Value {
	vm.Alloc(sizeCell)
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
func (vm *State) PCall(fn Value, args ...Value) *Error { return vm.protected(fn, args, Nil) }

// protected is PCall with a handler that is given the error while the place where it
// happened is still known.
func (vm *State) protected(fn Value, args []Value, handler Value) (caught *Error) {
	co, top, at, depth, nested := vm.co, vm.co.top, vm.co.stack.level(), vm.depth, vm.nested
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
		vm.co, co.top, vm.depth, vm.nested = co, top, depth, nested
		co.stack.release(at)
		vm.Step(left * frameCost)
		vm.res = vm.res[:0]
		caught = e
	}()
	if !handler.IsNil() {
		co.handlers = append(co.handlers, handler)
		defer func() { co.handlers = co.handlers[:len(co.handlers)-1] }()
	} else if len(co.handlers) > 0 {
		co.handlers = append(co.handlers, Nil)
		defer func() { co.handlers = co.handlers[:len(co.handlers)-1] }()
	}
	vm.Call(fn, args...)
	return nil
}
