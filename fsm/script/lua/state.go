package lua

import "strings"

// Limits of nesting, Lua 5.1's own.
const (
	maxCalls  = 16384 // of functions written in Lua
	maxNested = 200   // of ours that call back
)

// State runs programs. It belongs to one goroutine at a time.
type State struct {
	Budget
	// Globals is the table of global variables.
	Globals *Table
	// strings are the methods of strings: the metatable of every one of them.
	strings *Table
	// Random draws a number for math.random; nil always returns 0.
	Random func() uint64

	res    []Value // what the last call returned
	main   Coroutine
	co     *Coroutine // that runs
	live   []*Coroutine
	serial uint32
	depth  int // of calls of Lua functions, weighed
	nested int // of calls from functions of ours
	random randomSource
	began  int64 // steps when the program began
	tail   tailCall
}

// tailCall is a call that takes the place of its caller.
type tailCall struct {
	fn   Value
	args []Value
}

// frame is one call of a Lua function, or a mark of a function of ours that calls back.
type frame struct {
	vm      *State
	cl      *Closure // nil for a mark
	regs    []Value
	varargs []Value
	site    *site // of the call under way, for errors
}

// site is a place in the program that calls something, with the name that errors give
// to it.
type site struct {
	line       int
	kind, name string
}

// NewState is a state with the standard library. The caller opens its own libraries,
// then calls Seal.
func NewState() *State {
	vm := &State{Budget: Budget{Steps: 1 << 40, Bytes: 1 << 40}}
	vm.co = &vm.main
	vm.Globals = vm.NewTable(0, 64)
	vm.openBase()
	vm.openString()
	vm.openTable()
	vm.openMath()
	vm.openCoroutine()
	return vm
}

// NewTable makes a table with room for that many list elements and other keys.
func (st *State) NewTable(list, others int) *Table {
	st.Alloc(sizeTable)
	st.serial++
	t := &Table{budget: &st.Budget, serial: st.serial}
	if list > 0 {
		st.Alloc(list * sizeValue)
		t.array = make([]Value, list)
	}
	t.setNodes(others)
	return t
}

// List makes a table of values at 1 and on.
func (st *State) List(values ...Value) *Table {
	t := st.NewTable(len(values), 0)
	copy(t.array, values)
	return t
}

// String makes a string and charges for it.
func (st *State) String(s string) Value {
	st.Alloc(sizeString + len(s))
	return Value{ref: &Str{s: s}}
}

// Copy is String of a part of another text, which it doesn't keep alive.
func (st *State) Copy(s string) Value {
	st.Alloc(sizeString + len(s))
	return Value{ref: &Str{s: strings.Clone(s)}}
}

// Func makes a function of ours into a value.
func (st *State) Func(name string, price Price, run GoFunc) Value {
	if !price.given {
		panic("lua: function " + name + " has no price")
	}
	st.Step(functionCost)
	st.Alloc(sizeClosure)
	st.serial++
	return Value{ref: &Function{run: run, name: name, price: price, serial: st.serial}}
}

// Register puts functions into a table.
func (st *State) Register(t *Table, functions []Named) {
	for _, f := range functions {
		t.SetField(f.name, st.Func(f.name, f.price, f.run))
	}
}

// Named is a function with its name and its price.
type Named struct {
	name  string
	price Price
	run   GoFunc
}

// Define is a function for Register.
func Define(name string, price Price, run GoFunc) Named { return Named{name, price, run} }

// Return sets the results of a function written in Go.
func (st *State) Return(values ...Value) { st.res = append(st.res[:0], values...) }

// Results returns the results of the last call. They are valid until the next one.
func (st *State) Results() []Value { return st.res }

// result is the first result of the last call.
func (st *State) result() Value {
	if len(st.res) == 0 {
		return Nil
	}
	return st.res[0]
}

// Seal makes the tables that are reachable from the globals read-only, metatables
// included: what one script does can't be seen by the next. It returns the mark that
// Reset goes back to.
func (st *State) Seal() Mark {
	st.seal(st.Globals)
	st.seal(st.strings)
	return Mark{st.serial}
}

// Mark is a state as it was when it was sealed.
type Mark struct{ serial uint32 }

func (st *State) seal(t *Table) {
	if t == nil || t.locked {
		return
	}
	t.locked = true
	st.seal(t.meta)
	for k, v, at := t.After(0); !k.IsNil(); k, v, at = t.After(at) {
		st.seal(v.Table())
	}
}

// Reset prepares a sealed state for the next script, which gets a budget of its own and
// sees nothing of the one before.
func (st *State) Reset(m Mark, b Budget) {
	st.endCoroutines()
	st.Budget, st.serial = b, m.serial
	st.depth, st.nested, st.res = 0, 0, st.res[:0]
	st.co = &st.main
	st.main.stack.clear()
	st.main.top, st.main.deepest = 0, 0
	st.random = randomSource{}
	st.tail = tailCall{args: st.tail.args[:0]}
	clear(st.tail.args[:cap(st.tail.args)])
	clear(st.res[:cap(st.res)])
}

// loadCost is the price of compiling a program in steps, in addition to that of its text.
const loadCost = 200

// Load compiles a program into a function.
func (st *State) Load(source, src string) (fn Value, err error) {
	st.Step(loadCost + len(src)/sourcePerStep)
	p, err := compile(source, src, &work{budget: &st.Budget})
	if err != nil {
		return Nil, err
	}
	return st.Closure(p), nil
}

// Closure is a compiled program as a function.
func (st *State) Closure(p *Proto) Value {
	st.serial++
	st.Alloc(sizeClosure)
	return Value{ref: &Closure{proto: p, serial: st.serial}}
}

// SetRoot makes the current budget the one that Used counts from.
func (st *State) SetRoot() { st.began = st.Left() }

// Used returns the steps that the program has spent.
func (st *State) Used() int64 { return st.began - st.Left() }

// GuardGlobals calls a function with the table and the name when a program reads a
// global variable that there isn't.
func (st *State) GuardGlobals(missing GoFunc) {
	st.Guard(st.Globals, missing)
}

// Guard is GuardGlobals for the fields of another table.
func (st *State) Guard(t *Table, missing GoFunc) {
	m := st.NewTable(0, 1)
	m.SetField("__index", st.Func("missing global", Constant, missing))
	t.meta = m
}
