package lua

func (c *compiler) statement(s statement) func(f *frame) signal {
	switch s := s.(type) {
	case *localStat:
		return c.local(s)
	case *localFunctionStat:
		return c.localFunction(s)
	case *assignStat:
		return c.assign(s)
	case *callStat:
		call := c.call(s.call)
		return func(f *frame) signal {
			call(f)
			return goOn
		}
	case *doStat:
		body := c.block(s.body)
		return func(f *frame) signal { return f.block(body) }
	case *whileStat:
		return c.while(s)
	case *repeatStat:
		return c.repeat(s)
	case *ifStat:
		return c.branch(s)
	case *numericForStat:
		return c.numericFor(s)
	case *genericForStat:
		return c.genericFor(s)
	case *returnStat:
		return c.returns(s)
	}
	return func(*frame) signal { return broke }
}

// store compiles the first assignment of a variable, which gets a cell of its own each
// time if it is captured.
func store(v *variable) func(f *frame, x Value) {
	slot := v.slot
	if v.captured {
		return func(f *frame, x Value) { f.regs[slot] = f.vm.newCell(x) }
	}
	return func(f *frame, x Value) { f.regs[slot] = x }
}

func (c *compiler) local(s *localStat) func(f *frame) signal {
	singles, rest := c.list(s.exps)
	if len(s.vars) == 1 && len(s.exps) == 1 {
		x, put := c.one(s.exps[0], singles, rest), store(s.vars[0])
		return func(f *frame) signal {
			put(f, x(f))
			return goOn
		}
	}
	gather := gather(singles, rest, len(s.vars))
	puts := make([]func(*frame, Value), len(s.vars))
	for i, v := range s.vars {
		puts[i] = store(v)
	}
	return func(f *frame) signal {
		at := f.vm.co.stack.level()
		for i, x := range gather(f) {
			puts[i](f, x)
		}
		f.vm.co.stack.release(at)
		return goOn
	}
}

// one is the first value of a compiled list of one expression.
func (c *compiler) one(_ expression, singles []value, rest func(f *frame)) value {
	if rest == nil {
		return singles[0]
	}
	return func(f *frame) Value {
		rest(f)
		return f.vm.result()
	}
}

// gather compiles a list cut or filled up to n values, which it leaves on the stack.
func gather(singles []value, rest func(f *frame), n int) func(f *frame) []Value {
	room := max(n, len(singles))
	return func(f *frame) []Value {
		values := f.vm.co.stack.take(&f.vm.Budget, room)
		f.fill(values, singles)
		have := len(singles)
		if rest != nil {
			rest(f)
			have += copy(values[have:], f.vm.res)
		}
		clear(values[have:])
		return values[:n]
	}
}

func (c *compiler) localFunction(s *localFunctionStat) func(f *frame) signal {
	closure, slot := c.closure(s.fn.proto), s.v.slot
	if !s.v.captured {
		return func(f *frame) signal {
			f.regs[slot] = closure(f)
			return goOn
		}
	}
	return func(f *frame) signal {
		own := f.vm.newCell(Nil)
		f.regs[slot] = own
		own.ref.(*cell).v = closure(f)
		return goOn
	}
}

func (c *compiler) assign(s *assignStat) func(f *frame) signal {
	singles, rest := c.list(s.exps)
	if len(s.targets) == 1 && len(s.exps) == 1 {
		return c.assignOne(s.targets[0], c.one(s.exps[0], singles, rest))
	}
	gather := gather(singles, rest, len(s.targets))
	type target struct {
		object, key value
		put         func(f *frame, o, k, v Value)
	}
	targets := make([]target, len(s.targets))
	for i, e := range s.targets {
		t := &targets[i]
		if x, ok := e.(*indexExpr); ok {
			t.object, t.key = c.expression(x.object), c.expression(x.key)
		}
		t.put = c.put(e)
	}
	return func(f *frame) signal {
		stack := &f.vm.co.stack
		at := stack.level()
		places := stack.take(&f.vm.Budget, 2*len(targets))
		clear(places)
		for i := range targets {
			if t := &targets[i]; t.object != nil {
				places[2*i] = t.object(f)
				places[2*i+1] = t.key(f)
			}
		}
		values := gather(f)
		for i := len(targets) - 1; i >= 0; i-- {
			targets[i].put(f, places[2*i], places[2*i+1], values[i])
		}
		stack.release(at)
		return goOn
	}
}

// put compiles the store into a target whose object and key are known.
func (c *compiler) put(e expression) func(f *frame, o, k, v Value) {
	c.cost++
	switch e := e.(type) {
	case *localExpr:
		slot := e.v.slot
		if e.v.captured {
			return func(f *frame, _, _, v Value) { f.regs[slot].ref.(*cell).v = v }
		}
		return func(f *frame, _, _, v Value) { f.regs[slot] = v }
	case *upvalExpr:
		i := e.index
		return func(f *frame, _, _, v Value) { f.cl.up[i].v = v }
	case *globalExpr:
		key, s := Value{ref: e.name}, &site{line: e.line}
		return func(f *frame, _, _, v Value) {
			f.site = s
			f.setIndex(TableValue(f.vm.Globals), key, v, s)
		}
	}
	x := e.(*indexExpr)
	s := siteOf(x.object, x.line)
	return func(f *frame, o, k, v Value) {
		if t, ok := o.ref.(*Table); ok && t.meta == nil && !t.locked && k.ref != nil && k.n == k.n {
			t.Set(k, v)
			return
		}
		f.site = s
		f.setIndex(o, k, v, s)
	}
}

func (c *compiler) assignOne(e expression, x value) func(f *frame) signal {
	put := c.put(e)
	switch e := e.(type) {
	case *localExpr:
		if slot := e.v.slot; !e.v.captured {
			return func(f *frame) signal {
				f.regs[slot] = x(f)
				return goOn
			}
		}
	case *indexExpr:
		object, key := c.expression(e.object), c.expression(e.key)
		return func(f *frame) signal {
			o := object(f)
			k := key(f)
			put(f, o, k, x(f))
			return goOn
		}
	}
	return func(f *frame) signal {
		put(f, Nil, Nil, x(f))
		return goOn
	}
}

func (c *compiler) branch(s *ifStat) func(f *frame) signal {
	conds, bodies := make([]test, len(s.conds)), make([][]step, len(s.bodies))
	for i, e := range s.conds {
		conds[i] = c.condition(e)
	}
	for i, b := range s.bodies {
		bodies[i] = c.block(b)
	}
	if len(conds) == 1 {
		cond, then := conds[0], bodies[0]
		var otherwise []step
		if len(bodies) > 1 {
			otherwise = bodies[1]
		}
		return func(f *frame) signal {
			if cond(f) {
				return f.block(then)
			}
			return f.block(otherwise)
		}
	}
	return func(f *frame) signal {
		for i, cond := range conds {
			if cond(f) {
				return f.block(bodies[i])
			}
		}
		if len(bodies) > len(conds) {
			return f.block(bodies[len(conds)])
		}
		return goOn
	}
}

func (c *compiler) while(s *whileStat) func(f *frame) signal {
	cost := c.cost
	c.cost = 2
	cond := c.condition(s.cond)
	each := int(c.cost)
	c.cost = cost
	body := c.block(s.body)
	return func(f *frame) signal {
		for {
			f.vm.Step(each)
			if !cond(f) {
				return goOn
			}
			if sig := f.block(body); sig != goOn {
				return loopEnd(sig)
			}
		}
	}
}

// loopEnd returns the signal of a loop whose body ended with sig.
func loopEnd(sig signal) signal {
	if sig == broke {
		return goOn
	}
	return sig
}

func (c *compiler) repeat(s *repeatStat) func(f *frame) signal {
	body := c.block(s.body)
	cost := c.cost
	c.cost = 2
	cond := c.condition(s.cond)
	each := int(c.cost)
	c.cost = cost
	return func(f *frame) signal {
		for {
			f.vm.Step(each)
			if sig := f.block(body); sig != goOn {
				return loopEnd(sig)
			}
			if cond(f) {
				return goOn
			}
		}
	}
}

func (c *compiler) numericFor(s *numericForStat) func(f *frame) signal {
	start, stop, step := c.expression(s.start), c.expression(s.stop), c.expression(s.step)
	put, body, at := store(s.v), c.block(s.body), &site{line: s.line}
	return func(f *frame) signal {
		from, to, by := start(f), stop(f), step(f)
		i := f.forNumber(from, "'for' initial value must be a number", at)
		limit := f.forNumber(to, "'for' limit must be a number", at)
		inc := f.forNumber(by, "'for' step must be a number", at)
		vm := f.vm
		for i -= inc; ; {
			i += inc
			if inc > 0 && !(i <= limit) || inc <= 0 && !(limit <= i) || inc != inc {
				return goOn
			}
			vm.Step(2)
			put(f, Number(i))
			if sig := f.block(body); sig != goOn {
				return loopEnd(sig)
			}
		}
	}
}

func (f *frame) forNumber(v Value, text string, at *site) float64 {
	n, ok := f.vm.ToNumber(v)
	if !ok {
		f.failAt(at, text)
	}
	return n
}

func (c *compiler) genericFor(s *genericForStat) func(f *frame) signal {
	singles, rest := c.list(s.exps)
	start := gather(singles, rest, 3)
	puts := make([]func(*frame, Value), len(s.vars))
	for i, v := range s.vars {
		puts[i] = store(v)
	}
	body, at := c.block(s.body), &site{line: s.line}
	return func(f *frame) signal {
		vm := f.vm
		mark := vm.co.stack.level()
		state := start(f)
		next, args := state[0], vm.co.stack.take(&vm.Budget, 2)
		object, control := state[1], state[2]
		for {
			vm.Step(2)
			args[0], args[1], f.site = object, control, at
			vm.call(next, args)
			for i, put := range puts {
				x := Nil
				if i < len(vm.res) {
					x = vm.res[i]
				}
				if i == 0 {
					control = x
				}
				put(f, x)
			}
			if control.IsNil() {
				break
			}
			if sig := f.block(body); sig != goOn {
				vm.co.stack.release(mark)
				return loopEnd(sig)
			}
		}
		vm.co.stack.release(mark)
		return goOn
	}
}

func (c *compiler) returns(s *returnStat) func(f *frame) signal {
	if len(s.exps) == 1 {
		if call, ok := s.exps[0].(*callExpr); ok {
			return c.tailCall(call)
		}
	}
	singles, rest := c.list(s.exps)
	if len(singles) == 1 && rest == nil {
		x := singles[0]
		return func(f *frame) signal {
			v := x(f)
			f.vm.res = append(f.vm.res[:0], v)
			return returned
		}
	}
	return func(f *frame) signal {
		stack := &f.vm.co.stack
		at := stack.level()
		values := stack.take(&f.vm.Budget, len(singles))
		f.fill(values, singles)
		f.vm.Return(f.extend(values, rest)...)
		stack.release(at)
		return returned
	}
}

// tailCall compiles a call in return, which takes the place of its caller. A function of
// ours is called at once.
func (c *compiler) tailCall(e *callExpr) func(f *frame) signal {
	prepare := c.prepare(e)
	return func(f *frame) signal {
		vm := f.vm
		at := vm.co.stack.level()
		fn, args, s := prepare(f)
		f.site = s
		if _, ok := fn.ref.(*Closure); !ok {
			vm.call(fn, args)
			vm.co.stack.release(at)
			return returned
		}
		vm.tail.fn, vm.tail.args = fn, append(vm.tail.args[:0], args...)
		vm.co.stack.release(at)
		return tailCalled
	}
}
