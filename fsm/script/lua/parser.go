package lua

import "strconv"

// Limits of one program, Lua 5.1's own.
const (
	maxLevels   = 200 // of syntax
	maxLocals   = 200
	maxUpvalues = 60
	// maxChain bounds what Lua 5.1 doesn't: operators and suffixes of one rank in a row,
	// which make the tree deep without nesting in the text.
	maxChain = 4000
)

// parser reads a program by recursive descent.
type parser struct {
	lexer
	fn     *function
	levels int
	loops  int // open in the current function
	// scope counts the variables of each name that are in scope in any of the functions that are open. What isn't
	// there is global: nested functions need not be asked one by one.
	scope map[string]int
}

// parse reads a program. It panics with a *SyntaxError.
func parse(chunk, src string, w *work) *function {
	p := &parser{lexer: lexer{src: src, chunk: chunk, line: 1, lastLine: 1, work: w}, scope: map[string]int{}}
	p.fn = &function{vararg: true}
	p.next()
	p.fn.body = p.block()
	p.check(tokEOF)
	return p.fn
}

func (p *parser) enter() {
	if p.levels++; p.levels > maxLevels {
		p.fail("chunk has too many syntax levels", "")
	}
}

func (p *parser) leave() { p.levels-- }

func (p *parser) limit(fn *function, n, limit int, what string) {
	if n <= limit {
		return
	}
	where := "main function"
	if fn.line != 0 {
		where = "function at line " + strconv.Itoa(fn.line)
	}
	p.fail(where+" has more than "+strconv.Itoa(limit)+" "+what, "")
}

func (p *parser) accept(t token) bool {
	if p.tok == t {
		p.next()
		return true
	}
	return false
}

func (p *parser) check(t token) {
	if p.tok != t {
		p.failHere("'" + t.String() + "' expected")
	}
}

func (p *parser) expect(t token) {
	p.check(t)
	p.next()
}

// match expects the token that closes what was opened at a line.
func (p *parser) match(what, opener token, line int) {
	if p.tok == what {
		p.next()
		return
	}
	if line == p.line {
		p.failHere("'" + what.String() + "' expected")
	}
	p.failHere("'" + what.String() + "' expected (to close '" + opener.String() + "' at line " + strconv.Itoa(line) + ")")
}

func (p *parser) nameText() string {
	p.check(tokName)
	s := p.text
	p.next()
	return s
}

// declare makes a variable that is not in scope yet.
func (p *parser) declare(name string, pending int) *variable {
	p.limit(p.fn, len(p.fn.active)+pending+1, maxLocals, "local variables")
	return &variable{name: name, owner: p.fn}
}

// open puts variables in scope.
func (p *parser) open(vars ...*variable) {
	for _, v := range vars {
		v.slot = len(p.fn.active)
		p.fn.active = append(p.fn.active, v)
		p.scope[v.name]++
	}
	p.fn.slots = max(p.fn.slots, len(p.fn.active))
}

func (p *parser) close(n int) {
	for _, v := range p.fn.active[n:] {
		p.scope[v.name]--
	}
	p.fn.active = p.fn.active[:n]
}

// block reads statements up to a word that ends them, in a scope of their own.
func (p *parser) block() *block {
	scope := len(p.fn.active)
	b := p.statements()
	p.close(scope)
	return b
}

func (p *parser) statements() *block {
	b := &block{}
	p.enter()
	for last := false; !last && !p.blockEnds(); {
		var s statement
		s, last = p.statement()
		b.stats = append(b.stats, s)
		p.accept(';')
	}
	p.leave()
	return b
}

func (p *parser) blockEnds() bool {
	switch p.tok {
	case tokElse, tokElseif, tokEnd, tokEOF, tokUntil:
		return true
	}
	return false
}

// statement reads one statement and reports whether it must be the last of its block.
func (p *parser) statement() (s statement, last bool) {
	line := p.line
	switch p.tok {
	case tokIf:
		return p.ifStatement(line), false
	case tokWhile:
		return p.whileStatement(line), false
	case tokDo:
		p.next()
		b := p.block()
		p.match(tokEnd, tokDo, line)
		return &doStat{b}, false
	case tokFor:
		return p.forStatement(line), false
	case tokRepeat:
		return p.repeatStatement(line), false
	case tokFunction:
		return p.functionStatement(line), false
	case tokLocal:
		p.next()
		if p.accept(tokFunction) {
			return p.localFunction(), false
		}
		return p.localStatement(line), false
	case tokReturn:
		return p.returnStatement(line), true
	case tokBreak:
		p.next()
		if p.loops == 0 {
			p.failHere("no loop to break")
		}
		return &breakStat{}, true
	}
	return p.expressionStatement(line), false
}

func (p *parser) ifStatement(line int) statement {
	s := &ifStat{}
	for {
		p.next() // if or elseif
		s.lines = append(s.lines, p.line)
		s.conds = append(s.conds, p.expression())
		p.expect(tokThen)
		s.bodies = append(s.bodies, p.block())
		if p.tok != tokElseif {
			break
		}
	}
	if p.accept(tokElse) {
		s.bodies = append(s.bodies, p.block())
	}
	p.match(tokEnd, tokIf, line)
	return s
}

func (p *parser) loopBody() *block {
	p.loops++
	b := p.block()
	p.loops--
	return b
}

func (p *parser) whileStatement(line int) statement {
	p.next()
	cond := p.expression()
	p.expect(tokDo)
	b := p.loopBody()
	p.match(tokEnd, tokWhile, line)
	return &whileStat{cond, b, line}
}

// repeatStatement reads a loop whose condition sees the variables of its body.
func (p *parser) repeatStatement(line int) statement {
	p.next()
	scope := len(p.fn.active)
	p.loops++
	b := p.statements()
	p.loops--
	p.match(tokUntil, tokRepeat, line)
	cond := p.expression()
	p.close(scope)
	return &repeatStat{b, cond, line}
}

func (p *parser) forStatement(line int) statement {
	p.next()
	name := p.nameText()
	switch p.tok {
	case '=':
		return p.numericFor(name, line)
	case ',', tokIn:
		return p.genericFor(name, line)
	}
	p.failHere("'=' or 'in' expected")
	return nil
}

func (p *parser) numericFor(name string, line int) statement {
	s := &numericForStat{line: line}
	p.next()
	s.start = p.expression()
	p.expect(',')
	s.stop = p.expression()
	s.step = &constant{Number(1)}
	if p.accept(',') {
		s.step = p.expression()
	}
	scope := len(p.fn.active)
	p.open(hidden(p.fn, 3)...)
	s.v = p.declare(name, 0)
	p.open(s.v)
	s.body = p.forBody(line)
	p.close(scope)
	return s
}

func (p *parser) genericFor(name string, line int) statement {
	s := &genericForStat{}
	names := []string{name}
	for p.accept(',') {
		names = append(names, p.nameText())
	}
	p.expect(tokIn)
	s.line = p.line
	s.exps = p.expressions()
	scope := len(p.fn.active)
	p.open(hidden(p.fn, 3)...)
	for i, n := range names {
		s.vars = append(s.vars, p.declare(n, i))
	}
	p.open(s.vars...)
	s.body = p.forBody(line)
	p.close(scope)
	return s
}

// hidden are the variables that a for loop keeps for itself: they count as locals.
func hidden(fn *function, n int) []*variable {
	vars := make([]*variable, n)
	for i := range vars {
		vars[i] = &variable{name: "(for state)", owner: fn}
	}
	return vars
}

func (p *parser) forBody(line int) *block {
	p.expect(tokDo)
	b := p.loopBody()
	p.match(tokEnd, tokFor, line)
	return b
}

func (p *parser) localFunction() statement {
	v := p.declare(p.nameText(), 0)
	p.open(v)
	return &localFunctionStat{v, p.functionBody(false, p.line)}
}

func (p *parser) localStatement(line int) statement {
	s := &localStat{line: line}
	for {
		s.vars = append(s.vars, p.declare(p.nameText(), len(s.vars)))
		if !p.accept(',') {
			break
		}
	}
	if p.accept('=') {
		s.exps = p.expressions()
	}
	p.open(s.vars...)
	return s
}

func (p *parser) functionStatement(line int) statement {
	p.next()
	target := p.variable(p.nameText())
	method := false
	for p.tok == '.' {
		target = p.member(target)
	}
	if p.tok == ':' {
		target, method = p.member(target), true
	}
	return &assignStat{[]expression{target}, []expression{p.functionBody(method, line)}, line}
}

// member reads a dot or colon and a name behind an object.
func (p *parser) member(object expression) expression {
	p.next()
	line := p.line
	return &indexExpr{object, &constant{String(p.nameText())}, line}
}

func (p *parser) returnStatement(line int) statement {
	p.next()
	s := &returnStat{line: line}
	if !p.blockEnds() && p.tok != ';' {
		s.exps = p.expressions()
	}
	return s
}

// expressionStatement reads a call or an assignment.
func (p *parser) expressionStatement(line int) statement {
	e := p.suffixed()
	if c, ok := e.(*callExpr); ok {
		return &callStat{c}
	}
	s := &assignStat{targets: []expression{e}, line: line}
	for {
		switch e.(type) {
		case *localExpr, *upvalExpr, *globalExpr, *indexExpr:
		default:
			p.failHere("syntax error")
		}
		if !p.accept(',') {
			break
		}
		e = p.suffixed()
		s.targets = append(s.targets, e)
		if len(s.targets) > maxLevels-p.levels {
			p.fail("chunk has too many syntax levels", "")
		}
	}
	p.expect('=')
	s.exps = p.expressions()
	return s
}
