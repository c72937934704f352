package lua

// call compiles a call, which leaves its results in the state.
func (c *compiler) call(e *callExpr) func(f *frame) {
	prepare := c.prepare(e)
	return func(f *frame) {
		vm := f.vm
		at := vm.co.stack.level()
		fn, args, s := prepare(f)
		f.site = s
		vm.call(fn, args)
		vm.co.stack.release(at)
	}
}

// prepare compiles the function and the arguments of a call. The arguments lie on the
// stack.
func (c *compiler) prepare(e *callExpr) func(f *frame) (Value, []Value, *site) {
	c.cost += 2
	s := siteOf(e.fn, e.line)
	args, rest := c.list(e.args)
	n := len(args)
	if e.method != nil {
		object, key := c.expression(e.fn), Value{ref: e.method}
		of, s := s, &site{e.line, "method", e.method.s}
		return func(f *frame) (Value, []Value, *site) {
			self := object(f)
			f.site = of
			fn := f.index(self, key, of)
			values := f.vm.co.stack.take(&f.vm.Budget, n+1)
			values[0] = self
			f.fill(values[1:], args)
			return fn, f.extend(values, rest), s
		}
	}
	callee := c.expression(e.fn)
	if rest == nil && n == 1 {
		arg := args[0]
		return func(f *frame) (Value, []Value, *site) {
			fn := callee(f)
			values := f.vm.co.stack.take(&f.vm.Budget, 1)
			values[0] = arg(f)
			return fn, values, s
		}
	}
	return func(f *frame) (Value, []Value, *site) {
		fn := callee(f)
		values := f.vm.co.stack.take(&f.vm.Budget, n)
		f.fill(values, args)
		return fn, f.extend(values, rest), s
	}
}

func (f *frame) fill(values []Value, args []value) {
	for i, arg := range args {
		values[i] = arg(f)
	}
}

// extend puts the many values of a last argument behind the others.
func (f *frame) extend(values []Value, rest func(f *frame)) []Value {
	if rest == nil {
		return values
	}
	rest(f)
	all := f.vm.co.stack.take(&f.vm.Budget, len(values)+len(f.vm.res))
	f.vm.Step(len(all) / 8)
	copy(all[copy(all, values):], f.vm.res)
	return all
}
