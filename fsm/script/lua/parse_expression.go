package lua

// priorities of binary operators, to their left and to their right: a right one that is
// lower makes the operator bind to the right. They are 0 for other tokens.
var priorities = [tokEOF + 1][2]int{
	'+': {6, 6}, '-': {6, 6}, '*': {7, 7}, '/': {7, 7}, '%': {7, 7},
	'^': {10, 9}, tokConcat: {5, 4},
	tokNotEqual: {3, 3}, tokEqual: {3, 3}, '<': {3, 3}, tokLessEqual: {3, 3}, '>': {3, 3}, tokGreaterEqual: {3, 3},
	tokAnd: {2, 2}, tokOr: {1, 1},
}

const unaryPriority = 8

func (p *parser) expressions() []expression {
	list := []expression{p.expression()}
	for p.accept(',') {
		list = append(list, p.expression())
	}
	return list
}

func (p *parser) expression() expression { return p.operators(0) }

// operators reads an expression whose binary operators bind more than limit.
func (p *parser) operators(limit int) expression {
	p.enter()
	var e expression
	if line := p.line; p.tok == tokNot || p.tok == '-' || p.tok == '#' {
		op := p.tok
		p.next()
		e = unary(op, p.operators(unaryPriority), line)
	} else {
		e = p.simple()
	}
	for n := 0; ; n++ {
		binds := priorities[p.tok]
		if binds[0] <= limit {
			break
		}
		if n > maxChain {
			p.fail("chunk has too many syntax levels", "")
		}
		op, line := p.tok, p.line
		p.next()
		e = &binaryExpr{op, e, p.operators(binds[1]), line}
	}
	p.leave()
	return e
}

// unary folds the sign of a number, as the original compiler does.
func unary(op token, x expression, line int) expression {
	if c, ok := x.(*constant); ok && op == '-' && c.v.isNumber() {
		return &constant{Number(-c.v.n)}
	}
	return &unaryExpr{op, x, line}
}

func (p *parser) simple() expression {
	var e expression
	switch p.tok {
	case tokNumber:
		e = &constant{Number(p.number)}
	case tokString:
		e = constantString(p.text)
	case tokNil:
		e = &constant{}
	case tokTrue:
		e = &constant{Bool(true)}
	case tokFalse:
		e = &constant{Bool(false)}
	case tokDots:
		if !p.fn.vararg {
			p.failHere("cannot use '...' outside a vararg function")
		}
		p.fn.hasArg = false
		e = &varargExpr{}
	case '{':
		return p.constructor()
	case tokFunction:
		line := p.line
		p.next()
		return p.functionBody(false, line)
	default:
		return p.suffixed()
	}
	p.next()
	return e
}

func constantString(s string) *constant {
	c := &constant{String(s)}
	c.v.ref.(*Str).hash()
	return c
}

// primary reads what suffixes can follow.
func (p *parser) primary() expression {
	switch p.tok {
	case '(':
		line := p.line
		p.next()
		e := p.expression()
		p.match(')', '(', line)
		return &parenExpr{e}
	case tokName:
		return p.variable(p.nameText())
	}
	p.failHere("unexpected symbol")
	return nil
}

// variable returns the expression that a name stands for in the current scope.
func (p *parser) variable(name string) expression {
	if p.scope[name] > 0 {
		if v := p.fn.find(name); v != nil {
			return &localExpr{v}
		}
		if i := p.capturing(p.fn, name); i >= 0 {
			return &upvalExpr{i, name}
		}
	}
	s := &Str{s: name}
	s.hash()
	return &globalExpr{s, p.lastLine}
}

// suffixed reads an object with its fields, methods and calls.
func (p *parser) suffixed() expression {
	e := p.primary()
	for n := 0; ; n++ {
		if n > maxChain {
			p.fail("chunk has too many syntax levels", "")
		}
		switch p.tok {
		case '.':
			e = p.fieldOf(e)
		case '[':
			p.next()
			key := p.expression()
			line := p.line
			p.expect(']')
			e = &indexExpr{e, key, line}
		case ':':
			p.next()
			name := &Str{s: p.nameText()}
			name.hash()
			e = p.arguments(e, name)
		case '(', tokString, '{':
			e = p.arguments(e, nil)
		default:
			return e
		}
	}
}

func (p *parser) fieldOf(e expression) expression {
	p.next()
	line := p.line
	return &indexExpr{e, constantString(p.nameText()), line}
}

// arguments reads those of a call.
func (p *parser) arguments(fn expression, method *Str) expression {
	line := p.line
	c := &callExpr{fn: fn, method: method, line: line}
	switch p.tok {
	case '(':
		if line != p.lastLine {
			p.failHere("ambiguous syntax (function call x new statement)")
		}
		p.next()
		if p.tok != ')' {
			c.args = p.expressions()
		}
		p.match(')', '(', line)
	case '{':
		c.args = []expression{p.constructor()}
	case tokString:
		c.args = []expression{constantString(p.text)}
		p.next()
	default:
		p.failHere("function arguments expected")
	}
	return c
}

func (p *parser) constructor() expression {
	line := p.line
	t := &tableExpr{line: line}
	p.expect('{')
	for p.tok != '}' {
		t.fields = append(t.fields, p.field())
		if !p.accept(',') && !p.accept(';') {
			break
		}
	}
	p.match('}', '{', line)
	return t
}

func (p *parser) field() field {
	switch {
	case p.tok == tokName && p.peek() == '=':
		key := constantString(p.nameText())
		p.next()
		return field{key, p.expression()}
	case p.tok == '[':
		p.next()
		key := p.expression()
		p.expect(']')
		p.expect('=')
		return field{key, p.expression()}
	}
	return field{nil, p.expression()}
}

// functionBody reads parameters and body of a function that begins at a line.
func (p *parser) functionBody(method bool, line int) *functionExpr {
	fn := &function{parent: p.fn, line: line}
	loops := p.loops
	p.fn, p.loops = fn, 0
	p.expect('(')
	if method {
		fn.params = append(fn.params, p.declare("self", 0))
	}
	for p.tok != ')' {
		if p.accept(tokDots) {
			fn.vararg, fn.hasArg = true, true
			break
		}
		if p.tok != tokName {
			p.failHere("<name> or '...' expected")
		}
		fn.params = append(fn.params, p.declare(p.nameText(), len(fn.params)))
		if !p.accept(',') {
			break
		}
		if p.tok == ')' {
			p.failHere("<name> or '...' expected")
		}
	}
	p.open(fn.params...)
	if fn.vararg {
		fn.arg = p.declare("arg", 0)
		p.open(fn.arg)
	}
	p.expect(')')
	fn.body = p.block()
	p.match(tokEnd, tokFunction, line)
	p.close(0)
	p.fn, p.loops = fn.parent, loops
	return &functionExpr{fn}
}
