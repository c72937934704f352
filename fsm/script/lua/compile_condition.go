package lua

// test is a condition: an expression of which only the truth matters.
type test func(f *frame) bool

// condition compiles a condition without making its truth a value.
func (c *compiler) condition(e expression) test {
	c.enter()
	defer c.leave()
	switch e := e.(type) {
	case *unaryExpr:
		if e.op == tokNot {
			c.cost++
			x := c.condition(e.x)
			return func(f *frame) bool { return !x(f) }
		}
	case *binaryExpr:
		if t := c.comparison(e); t != nil {
			return t
		}
	case *parenExpr:
		return c.condition(e.x)
	}
	x := c.expression(e)
	return func(f *frame) bool { return x(f).Truth() }
}

// comparison compiles operators that give a boolean; nil for others.
func (c *compiler) comparison(e *binaryExpr) test {
	switch e.op {
	case tokAnd:
		l, r := c.condition(e.l), c.condition(e.r)
		c.cost++
		return func(f *frame) bool { return l(f) && r(f) }
	case tokOr:
		l, r := c.condition(e.l), c.condition(e.r)
		c.cost++
		return func(f *frame) bool { return l(f) || r(f) }
	case tokEqual:
		return c.equality(e)
	case tokNotEqual:
		same := c.equality(e)
		return func(f *frame) bool { return !same(f) }
	case '<':
		return c.less(e, e.l, e.r, false)
	case '>':
		return c.less(e, e.l, e.r, true)
	case tokLessEqual:
		return c.lessEqual(e, false)
	case tokGreaterEqual:
		return c.lessEqual(e, true)
	}
	return nil
}

func (c *compiler) equality(e *binaryExpr) test {
	l, r, s := c.expression(e.l), c.expression(e.r), &site{line: e.line}
	return func(f *frame) bool {
		a, b := l(f), r(f)
		if a.isNumber() && b.isNumber() {
			return a.n == b.n
		}
		if _, ok := a.ref.(*Table); ok {
			f.site = s
			return f.equal(a, b)
		}
		return f.vm.rawEqual(a, b)
	}
}

// less compiles l < r, or r < l if they are swapped. Operands are computed from the left
// in any case.
func (c *compiler) less(e *binaryExpr, left, right expression, swapped bool) test {
	l, r, s := c.expression(left), c.expression(right), &site{line: e.line}
	if swapped {
		return func(f *frame) bool {
			b, a := l(f), r(f)
			if a.isNumber() && b.isNumber() {
				return a.n < b.n
			}
			f.site = s
			return f.less(a, b)
		}
	}
	return func(f *frame) bool {
		a, b := l(f), r(f)
		if a.isNumber() && b.isNumber() {
			return a.n < b.n
		}
		f.site = s
		return f.less(a, b)
	}
}

// lessEqual compiles l <= r, or r <= l if they are swapped.
func (c *compiler) lessEqual(e *binaryExpr, swapped bool) test {
	l, r, s := c.expression(e.l), c.expression(e.r), &site{line: e.line}
	return func(f *frame) bool {
		a, b := l(f), r(f)
		if swapped {
			a, b = b, a
		}
		if a.isNumber() && b.isNumber() {
			return a.n <= b.n
		}
		f.site = s
		return f.lessEqual(a, b)
	}
}
