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
func (vm *State) NewTable(list, others int) *Table {
	vm.Alloc(sizeTable)
	vm.serial++
	t := &Table{budget: &vm.Budget, serial: vm.serial}
	if list > 0 {
		vm.Alloc(list * sizeValue)
		t.array = make([]Value, list)
	}
	t.setNodes(others)
	return t
}

// List makes a table of values at 1 and on.
func (vm *State) List(values ...Value) *Table {
	t := vm.NewTable(len(values), 0)
	copy(t.array, values)
	return t
}

// String makes a string and charges for it.
func (vm *State) String(s string) Value {
	vm.Alloc(sizeString + len(s))
	return Value{ref: &Str{s: s}}
}

// Copy is String of a part of another text, which it doesn't keep alive.
func (vm *State) Copy(s string) Value {
	vm.Alloc(sizeString + len(s))
	return Value{ref: &Str{s: strings.Clone(s)}}
}

// Func makes a function of ours into a value.
func (vm *State) Func(name string, price Price, run GoFunc) Value {
	if !price.given {
		panic("lua: function " + name + " has no price")
	}
	vm.Step(functionCost)
	vm.Alloc(sizeClosure)
	vm.serial++
	return Value{ref: &Function{run: run, name: name, price: price, serial: vm.serial}}
}

// Register puts functions into a table.
func (vm *State) Register(t *Table, functions []Named) {
	for _, f := range functions {
		t.SetField(f.name, vm.Func(f.name, f.price, f.run))
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

// Return is how a function of ours returns its results.
func (vm *State) Return(values ...Value) { vm.res = append(vm.res[:0], values...) }

// Results are what the last call returned. They are valid until the next one.
func (vm *State) Results() []Value { return vm.res }

// result is the first result of the last call.
func (vm *State) result() Value {
	if len(vm.res) == 0 {
		return Nil
	}
	return vm.res[0]
}

// Seal makes the tables that are reachable from the globals read-only, metatables
// included: what one script does can't be seen by the next. It returns the mark that
// Reset goes back to.
func (vm *State) Seal() Mark {
	vm.seal(vm.Globals)
	vm.seal(vm.strings)
	return Mark{vm.serial}
}

// Mark is a state as it was when it was sealed.
type Mark struct{ serial uint32 }

func (vm *State) seal(t *Table) {
	if t == nil || t.locked {
		return
	}
	t.locked = true
	vm.seal(t.meta)
	for k, v, at := t.After(0); !k.IsNil(); k, v, at = t.After(at) {
		vm.seal(v.Table())
	}
}

// Reset prepares a sealed state for the next script, which gets a budget of its own and
// sees nothing of the one before.
func (vm *State) Reset(m Mark, b Budget) {
	vm.endCoroutines()
	vm.Budget, vm.serial = b, m.serial
	vm.depth, vm.nested, vm.res = 0, 0, vm.res[:0]
	vm.co = &vm.main
	vm.main.stack.clear()
	vm.main.top, vm.main.deepest = 0, 0
	vm.random = randomSource{}
	vm.tail = tailCall{args: vm.tail.args[:0]}
	clear(vm.tail.args[:cap(vm.tail.args)])
	clear(vm.res[:cap(vm.res)])
}

// loadCost is what compiling a program costs a script in steps, besides its text.
const loadCost = 200

// Load compiles a program into a function.
func (vm *State) Load(source, src string) (fn Value, err error) {
	vm.Step(loadCost + len(src)/sourcePerStep)
	p, err := compile(source, src, &work{budget: &vm.Budget})
	if err != nil {
		return Nil, err
	}
	return vm.Closure(p), nil
}

// Closure is a compiled program as a function.
func (vm *State) Closure(p *Proto) Value {
	vm.serial++
	vm.Alloc(sizeClosure)
	return Value{ref: &Closure{proto: p, serial: vm.serial}}
}

// SetRoot makes the current budget the one that Used counts from.
func (vm *State) SetRoot() { vm.began = vm.Left() }

// Used is how many steps the program has spent.
func (vm *State) Used() int64 { return vm.began - vm.Left() }

// GuardGlobals calls a function with the table and the name when a program reads a
// global variable that there isn't.
func (vm *State) GuardGlobals(missing GoFunc) {
	vm.Guard(vm.Globals, missing)
}

// Guard is GuardGlobals for the fields of another table.
func (vm *State) Guard(t *Table, missing GoFunc) {
	m := vm.NewTable(0, 1)
	m.SetField("__index", vm.Func("missing global", Constant, missing))
	t.meta = m
}
