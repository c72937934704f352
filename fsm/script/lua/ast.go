package lua

// Nodes of the tree that a program is parsed into. Every expression knows the line that
// errors of it name.
type (
	expression any
	statement  any

	constant   struct{ v Value }
	varargExpr struct{}
	localExpr  struct{ v *variable }
	upvalExpr  struct {
		index int
		name  string
	}
	globalExpr struct {
		name *Str
		line int
	}
	indexExpr struct {
		object, key expression
		line        int
	}
	callExpr struct {
		fn     expression
		method *Str // of object:method(), else nil
		args   []expression
		line   int
	}
	functionExpr struct{ proto *function }
	unaryExpr    struct {
		op   token
		x    expression
		line int
	}
	binaryExpr struct {
		op   token
		l, r expression
		line int
	}
	parenExpr struct{ x expression } // cuts many values to one
	tableExpr struct {
		fields []field
		line   int
	}

	localStat struct {
		vars []*variable
		exps []expression
		line int
	}
	localFunctionStat struct {
		v  *variable
		fn *functionExpr
	}
	assignStat struct {
		targets []expression
		exps    []expression
		line    int
	}
	callStat  struct{ call *callExpr }
	doStat    struct{ body *block }
	whileStat struct {
		cond expression
		body *block
		line int
	}
	repeatStat struct {
		body *block
		cond expression
		line int
	}
	ifStat struct {
		conds  []expression
		bodies []*block // one more than conds if there is an else
		lines  []int
	}
	numericForStat struct {
		v                 *variable
		start, stop, step expression
		body              *block
		line              int
	}
	genericForStat struct {
		vars []*variable
		exps []expression
		body *block
		line int
	}
	returnStat struct {
		exps []expression
		line int
	}
	breakStat struct{}
)

// field is an entry of a table constructor; key is nil for one of the list.
type field struct{ key, value expression }

// block is a list of statements with variables of its own.
type block struct{ stats []statement }

// variable is a local variable.
type variable struct {
	name     string
	slot     int
	captured bool // by a function inside its scope: it lives in a cell
	owner    *function
}

// function is one function of the program.
type function struct {
	parent   *function
	params   []*variable
	vararg   bool
	hasArg   bool // the old-style table arg
	arg      *variable
	body     *block
	upvalues []capture
	line     int // where it begins; 0 for the whole program

	active []*variable // those in scope
	slots  int         // most in scope at once
}

// capture binds a variable from outside to a function when it is made.
type capture struct {
	name  string
	local *variable // of the enclosing function, or
	index int       // the enclosing function's own capture
}

// find returns the innermost variable of a name in scope.
func (f *function) find(name string) *variable {
	for i := len(f.active) - 1; i >= 0; i-- {
		if f.active[i].name == name {
			return f.active[i]
		}
	}
	return nil
}

// capturing is the number of the upvalue of a name, -1 if no enclosing function has a
// variable of that name.
func (p *parser) capturing(fn *function, name string) int {
	for i := range fn.upvalues {
		if fn.upvalues[i].name == name {
			return i
		}
	}
	if fn.parent == nil {
		return -1
	}
	c := capture{name: name, index: -1}
	if v := fn.parent.find(name); v != nil {
		v.captured, c.local = true, v
	} else if c.index = p.capturing(fn.parent, name); c.index < 0 {
		return -1
	}
	p.limit(fn, len(fn.upvalues)+1, maxUpvalues, "upvalues")
	fn.upvalues = append(fn.upvalues, c)
	return len(fn.upvalues) - 1
}
