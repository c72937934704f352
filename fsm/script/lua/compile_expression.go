package lua

// expression compiles what has one value.
func (c *compiler) expression(e expression) value {
	c.cost++
	c.enter()
	defer c.leave()
	switch e := e.(type) {
	case *constant:
		v := c.constant(e.v)
		return func(*frame) Value { return v }
	case *localExpr:
		return local(e.v)
	case *upvalExpr:
		i := e.index
		return func(f *frame) Value { return f.cl.up[i].v }
	case *globalExpr:
		return global(e)
	case *parenExpr:
		return c.expression(e.x)
	case *indexExpr:
		return c.index(e)
	case *callExpr:
		call := c.call(e)
		return func(f *frame) Value {
			call(f)
			return f.vm.result()
		}
	case *varargExpr:
		return func(f *frame) Value {
			if len(f.varargs) == 0 {
				return Nil
			}
			return f.varargs[0]
		}
	case *functionExpr:
		return c.closure(e.proto)
	case *tableExpr:
		return c.table(e)
	case *unaryExpr:
		return c.unary(e)
	}
	return c.binary(e.(*binaryExpr))
}

// constant is a constant as the function's table of constants has it: 0 and -0 are equal,
// so the first of them stands for both, as in the original compiler.
func (c *compiler) constant(v Value) Value {
	if !v.isNumber() || v.n != 0 {
		return v
	}
	if c.zero == nil {
		c.zero = &v
	}
	return *c.zero
}

func local(v *variable) value {
	slot := v.slot
	if v.captured {
		return func(f *frame) Value { return f.regs[slot].ref.(*cell).v }
	}
	return func(f *frame) Value { return f.regs[slot] }
}

func global(e *globalExpr) value {
	name, s := e.name, &site{line: e.line}
	key := Value{ref: name}
	return func(f *frame) Value {
		g := f.vm.Globals
		if v := g.getStr(name); !v.IsNil() || g.meta == nil {
			return v
		}
		f.site = s
		return f.index(TableValue(g), key, s)
	}
}

func (c *compiler) index(e *indexExpr) value {
	object, s := c.expression(e.object), siteOf(e.object, e.line)
	if k, ok := e.key.(*constant); ok {
		if str, ok := k.v.ref.(*Str); ok {
			c.cost++
			return func(f *frame) Value {
				o := object(f)
				if t, ok := o.ref.(*Table); ok {
					if v := t.getStr(str); !v.IsNil() || t.meta == nil {
						return v
					}
				}
				f.site = s
				return f.index(o, k.v, s)
			}
		}
	}
	key := c.expression(e.key)
	return func(f *frame) Value {
		o := object(f)
		k := key(f)
		if t, ok := o.ref.(*Table); ok {
			if v := t.Get(k); !v.IsNil() || t.meta == nil {
				return v
			}
		}
		f.site = s
		return f.index(o, k, s)
	}
}

// closure compiles the making of a function, which captures variables.
func (c *compiler) closure(fn *function) value {
	p := c.function(fn)
	return func(f *frame) Value {
		vm := f.vm
		vm.Alloc(sizeClosure + 8*len(p.captures))
		vm.serial++
		cl := &Closure{proto: p, serial: vm.serial}
		if len(p.captures) > 0 {
			cl.up = make([]*cell, len(p.captures))
			for i := range p.captures {
				if v := p.captures[i].local; v != nil {
					cl.up[i] = f.regs[v.slot].ref.(*cell)
				} else {
					cl.up[i] = f.cl.up[p.captures[i].index]
				}
			}
		}
		return Value{ref: cl}
	}
}

// flushEvery is the number of list elements that a constructor collects before it stores them.
const flushEvery = 50

// table compiles a constructor.
func (c *compiler) table(e *tableExpr) value {
	list, hash := 0, 0
	var rest func(f *frame)
	fields, last := e.fields, expression(nil)
	if n := len(fields); n > 0 && fields[n-1].key == nil && multi(fields[n-1].value) {
		last = fields[n-1].value
		fields = fields[:n-1]
	}
	type entry struct{ key, value value }
	entries := make([]entry, len(fields))
	for i, fd := range fields {
		if fd.key == nil {
			entries[i] = entry{nil, c.expression(fd.value)}
			list++
		} else {
			entries[i] = entry{c.expression(fd.key), c.expression(fd.value)}
			hash++
		}
	}
	if last != nil { // its constants come last
		_, rest = c.list([]expression{last})
	}
	c.cost += int64(len(entries))
	listRoom, hashRoom, s := roundSize(list), roundSize(hash), &site{line: e.line}
	return func(f *frame) Value {
		vm := f.vm
		t := vm.NewTable(listRoom, hashRoom)
		if len(entries) == 0 && rest == nil {
			return TableValue(t)
		}
		at := vm.co.stack.level()
		pending := vm.co.stack.take(&vm.Budget, min(list, flushEvery))
		stored, held := 0, 0
		for i := range entries {
			if held == flushEvery {
				t.append(stored, pending[:held])
				stored, held = stored+held, 0
			}
			n := &entries[i]
			if n.key == nil {
				pending[held] = n.value(f)
				held++
				continue
			}
			k := n.key(f)
			v := n.value(f)
			f.site = s
			f.rawSet(t, k, v)
		}
		t.append(stored, pending[:held])
		if rest != nil {
			rest(f)
			t.append(stored+held, vm.res)
		}
		vm.co.stack.release(at)
		return TableValue(t)
	}
}

// append stores list elements behind the first n.
func (t *Table) append(n int, values []Value) {
	if len(values) == 0 {
		return
	}
	if n+len(values) > len(t.array) {
		t.resize(n+len(values), len(t.nodes))
	}
	for i, v := range values {
		t.SetIndex(n+i+1, v)
	}
}

func (c *compiler) unary(e *unaryExpr) value {
	x, s := c.expression(e.x), siteOf(e.x, e.line)
	switch e.op {
	case tokNot:
		return func(f *frame) Value { return Bool(!x(f).Truth()) }
	case '#':
		return func(f *frame) Value { return f.length(x(f), s) }
	}
	return func(f *frame) Value {
		v := x(f)
		if v.isNumber() {
			return Number(-v.n)
		}
		return f.negate(v, s)
	}
}

func (c *compiler) binary(e *binaryExpr) value {
	switch e.op {
	case tokAnd:
		l, r := c.expression(e.l), c.expression(e.r)
		return func(f *frame) Value {
			if v := l(f); !v.Truth() {
				return v
			}
			return r(f)
		}
	case tokOr:
		l, r := c.expression(e.l), c.expression(e.r)
		return func(f *frame) Value {
			if v := l(f); v.Truth() {
				return v
			}
			return r(f)
		}
	case tokConcat:
		return c.concat(e)
	case tokEqual, tokNotEqual, '<', '>', tokLessEqual, tokGreaterEqual:
		test := c.condition(e)
		return func(f *frame) Value { return Bool(test(f)) }
	}
	return c.arithmetic(e)
}

// concat compiles a chain of concatenations, which is one operation.
func (c *compiler) concat(e *binaryExpr) value {
	var parts []expression
	var at expression = e
	for {
		b, ok := at.(*binaryExpr)
		if !ok || b.op != tokConcat {
			break
		}
		parts, at = append(parts, b.l), b.r
	}
	parts = append(parts, at)
	operands, sites := c.values(parts), make([]*site, len(parts))
	for i, p := range parts {
		sites[i] = siteOf(p, e.line)
		if _, isConst := p.(*constant); isConst {
			sites[i].kind = ""
		}
	}
	return func(f *frame) Value {
		stack := &f.vm.co.stack
		at := stack.level()
		values := stack.take(&f.vm.Budget, len(operands))
		for i, x := range operands {
			values[i] = x(f)
		}
		v := f.concat(values, sites)
		stack.release(at)
		return v
	}
}

// arithmetic compiles an operator with a fast path for numbers. Products are converted,
// so that no processor fuses them with a sum.
func (c *compiler) arithmetic(e *binaryExpr) value {
	l, r := c.expression(e.l), c.expression(e.r)
	op, s := e.op, &sides{siteOf(e.l, e.line), siteOf(e.r, e.line)}
	switch op {
	case '+':
		return func(f *frame) Value {
			a, b := l(f), r(f)
			if a.isNumber() && b.isNumber() {
				return Number(a.n + b.n)
			}
			return f.arithmetic('+', a, b, s)
		}
	case '-':
		return func(f *frame) Value {
			a, b := l(f), r(f)
			if a.isNumber() && b.isNumber() {
				return Number(a.n - b.n)
			}
			return f.arithmetic('-', a, b, s)
		}
	case '*':
		return func(f *frame) Value {
			a, b := l(f), r(f)
			if a.isNumber() && b.isNumber() {
				return Number(float64(a.n * b.n))
			}
			return f.arithmetic('*', a, b, s)
		}
	}
	more := 0
	if op == '^' {
		c.cost += powerCost
		more = powerMore
	}
	return func(f *frame) Value {
		a, b := l(f), r(f)
		f.vm.Step(more)
		if a.isNumber() && b.isNumber() {
			return Number(calculate(op, a.n, b.n))
		}
		return f.arithmetic(op, a, b, s)
	}
}
