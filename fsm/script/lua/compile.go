package lua

// Proto is a compiled function. It is never changed, so any number of states may share
// it.
type Proto struct {
	chunk    string // as errors show it
	source   string // as it was given
	line     int
	params   int
	slots    int
	vararg   bool
	argSlot  int   // of the old-style table arg, -1 for none
	cells    []int // slots of parameters that are captured
	body     []step
	captures []capture
	weight   int // of one call on the Go stack, in calls of a small function
	cost     int // of one call beside what it runs
	steps    int // of compiling it; 0 for functions inside the program
	size     int
}

// step is a statement with what it costs.
type step struct {
	cost int64
	run  func(f *frame) signal
}

// value computes an expression.
type value func(f *frame) Value

// Compile compiles a program. source says where it comes from: "@name" and "=name" are
// shown as the name, anything else as a text. The error is a *SyntaxError.
func Compile(source, src string) (p *Proto, err error) {
	return compile(source, src, &work{})
}

func compile(source, src string, w *work) (p *Proto, err error) {
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*SyntaxError)
			if !ok {
				panic(r)
			}
			e.Steps = w.steps(src)
			err = e
		}
	}()
	c := &compiler{chunk: chunkName(source), source: source}
	p = c.function(parse(c.chunk, src, w))
	p.steps, p.size = w.steps(src), len(src)+sizeToken*w.tokens
	return p, nil
}

// Steps is the price of compiling the program.
func (p *Proto) Steps() int { return p.steps }

// Size is about how many bytes a whole program takes that is compiled.
func (p *Proto) Size() int { return p.size }

// depthPerCall is the number of nested nodes that weigh as much as a call.
const depthPerCall = 32

// compiler compiles one function.
type compiler struct {
	fn            *function
	chunk, source string
	cost          int64 // nodes of the statement that is being compiled

	zero           *Value // the first constant that is 0 or -0
	level, deepest int    // of nested nodes: they take Go stack when they run
}

// maxDepth bounds nested nodes, which chains of operators make without nesting in the
// text.
const maxDepth = 20_000

func (c *compiler) enter() {
	c.level++
	c.deepest = max(c.deepest, c.level)
	if c.level > maxDepth {
		panic(&SyntaxError{Text: c.chunk + ": chunk has too many syntax levels"})
	}
}

func (c *compiler) leave() { c.level-- }

// function compiles a function inside the one that c compiles, or the whole program.
func (c *compiler) function(fn *function) *Proto {
	c = &compiler{fn: fn, chunk: c.chunk, source: c.source, level: c.level}
	p := &Proto{chunk: c.chunk, source: c.source, line: fn.line, params: len(fn.params), vararg: fn.vararg, argSlot: -1, captures: fn.upvalues}
	for _, v := range fn.params {
		if v.captured {
			p.cells = append(p.cells, v.slot)
		}
	}
	if fn.arg != nil {
		if fn.hasArg {
			p.argSlot = fn.arg.slot
		}
		if fn.arg.captured {
			p.cells = append(p.cells, fn.arg.slot)
		}
	}
	p.body = c.block(fn.body)
	p.slots = fn.slots
	p.weight = 1 + c.deepest/depthPerCall
	p.cost = callCost + p.slots/slotsPerStep
	return p
}

// block compiles statements one by one.
func (c *compiler) block(b *block) []step {
	steps := make([]step, 0, len(b.stats))
	outer := c.cost
	c.enter()
	defer c.leave()
	for _, s := range b.stats {
		c.cost = 1
		run := c.statement(s)
		steps = append(steps, step{c.cost, run})
	}
	c.cost = outer
	return steps
}

// name returns the name of an expression in errors.
func name(e expression) (kind, text string) {
	switch e := e.(type) {
	case *localExpr:
		return "local", e.v.name
	case *upvalExpr:
		return "upvalue", e.name
	case *globalExpr:
		return "global", e.name.s
	case *parenExpr:
		return name(e.x)
	case *indexExpr:
		if k, ok := e.key.(*constant); ok {
			if s, ok := k.v.Text(); ok {
				return "field", s
			}
		}
		return "field", "?"
	}
	return "", ""
}

func siteOf(e expression, line int) *site {
	s := &site{line: line}
	s.kind, s.name = name(e)
	return s
}

func (c *compiler) values(list []expression) []value {
	out := make([]value, len(list))
	for i, e := range list {
		out[i] = c.expression(e)
	}
	return out
}

// multi reports whether an expression has any number of values.
func multi(e expression) bool {
	switch e.(type) {
	case *callExpr, *varargExpr:
		return true
	}
	return false
}

// list compiles expressions of which the last may have many values: singles, and the
// last one's run, which leaves its values in the results, or nil.
func (c *compiler) list(exps []expression) (singles []value, rest func(f *frame)) {
	n := len(exps)
	if n == 0 || !multi(exps[n-1]) {
		return c.values(exps), nil
	}
	singles = c.values(exps[:n-1])
	c.cost++
	if e, ok := exps[n-1].(*callExpr); ok {
		return singles, c.call(e)
	}
	return singles, func(f *frame) {
		f.vm.Step(len(f.varargs) / 8)
		f.vm.Return(f.varargs...)
	}
}
