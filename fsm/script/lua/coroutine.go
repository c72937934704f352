package lua

import "iter"

// Coroutine is a thread of a script: a stack, and frames on it.
type Coroutine struct {
	stack    stack
	frames   []*frame
	top      int
	handlers []Value // of xpcall, Nil where an inner pcall covers them
	serial   uint32

	fn      Value
	status  string // suspended, running, normal, dead
	resumer *Coroutine
	values  []Value // on the way in or out
	failed  *Error
	next    func() (struct{}, bool)
	stop    func()
	yield   func(struct{}) bool
	base    int // nested calls when it was resumed: it can't yield out of more
	deepest int // State.depth that its stack has had room for
}

// push opens a frame.
func (co *Coroutine) push(vm *State) *frame {
	if co.top == len(co.frames) {
		co.frames = append(co.frames, &frame{vm: vm})
	}
	f := co.frames[co.top]
	co.top++
	f.vm, f.cl, f.regs, f.varargs, f.site = vm, nil, nil, nil, nil
	return f
}

// ended unwinds a coroutine that will not be resumed.
type ended struct{}

// maxCoroutines bounds how many may be under way: each has a stack of its own.
const maxCoroutines = 1000

// sizeCoroutine is its logical size in bytes.
const sizeCoroutine = 8 << 10

func (st *State) newCoroutine(fn Value) *Coroutine {
	st.Alloc(sizeCoroutine)
	st.serial++
	return &Coroutine{serial: st.serial, fn: fn, status: "suspended"}
}

// start makes the coroutine ready to run its function.
func (st *State) start(co *Coroutine) {
	if len(st.live) >= maxCoroutines {
		st.fail("too many coroutines")
	}
	st.live = append(st.live, co)
	co.deepest = st.depth
	co.next, co.stop = iter.Pull(func(yield func(struct{}) bool) {
		defer func() {
			switch r := recover().(type) {
			case nil, ended:
			case *Error:
				co.failed = r
			default:
				panic(r)
			}
		}()
		co.yield = yield
		st.call(co.fn, co.values)
		co.values = append([]Value(nil), st.res...)
	})
}

// resume runs a coroutine until it yields or ends. Its values are the results.
func (st *State) resume(co *Coroutine, args []Value) (err *Error) {
	if co.status != "suspended" {
		return &Error{Value: st.String("cannot resume " + co.status + " coroutine")}
	}
	co.values = append([]Value(nil), args...)
	if co.next == nil {
		st.start(co)
	}
	if st.nested++; st.nested >= maxNested {
		st.fail("C stack overflow")
	}
	caller, depth, nested := st.co, st.depth, st.nested
	caller.status, co.status, co.resumer, co.base = "normal", "running", caller, nested
	st.co = co
	_, yielded := co.next()
	st.co, st.depth, st.nested = caller, depth, nested-1
	caller.status, co.resumer = "running", nil
	if yielded {
		co.status = "suspended"
	} else {
		co.status = "dead"
		st.forget(co)
		st.Step(co.top * frameCost) // which an error has left
	}
	st.Return(co.values...)
	co.values = nil
	return co.failed
}

func (st *State) forget(co *Coroutine) {
	for i, c := range st.live {
		if c == co {
			last := len(st.live) - 1
			st.live[i] = st.live[last]
			st.live = st.live[:last]
			return
		}
	}
}

// suspend yields values from the running coroutine; its results are the arguments of
// the resume.
func (st *State) suspend(args []Value) {
	co := st.co
	if co == &st.main || st.nested > co.base {
		st.fail("attempt to yield across metamethod/C-call boundary")
	}
	co.values = append([]Value(nil), args...)
	depth := st.depth
	if !co.yield(struct{}{}) {
		panic(ended{})
	}
	st.depth, st.nested = depth, co.base
	st.Return(co.values...)
}

// endCoroutines unwinds those that are still under way.
func (st *State) endCoroutines() {
	for _, co := range st.live {
		co.stop()
	}
	clear(st.live)
	st.live = st.live[:0]
}

func (st *State) openCoroutine() {
	t := st.NewTable(0, 6)
	st.Register(t, []Named{
		{"create", Metered, coCreate}, {"resume", EachArgument, coResume}, {"running", Constant, coRunning}, {"status", Constant, coStatus},
		{"wrap", Metered, coWrap}, {"yield", EachArgument, coYield},
	})
	st.main.status = "running"
	st.Globals.SetField("coroutine", TableValue(t))
}

func coCreate(vm *State, args []Value) {
	vm.Return(Value{ref: vm.newCoroutine(vm.luaFunction(args))})
}

func (st *State) luaFunction(args []Value) Value {
	v := arg(args, 1)
	if _, ok := v.ref.(*Closure); !ok {
		st.ArgError(1, "Lua function expected")
	}
	return v
}

func (st *State) coroutine(args []Value) *Coroutine {
	if len(args) > 0 {
		if co, ok := args[0].ref.(*Coroutine); ok {
			return co
		}
	}
	st.ArgError(1, "coroutine expected")
	return nil
}

func coResume(vm *State, args []Value) {
	co := vm.coroutine(args)
	if err := vm.resume(co, args[1:]); err != nil {
		vm.Return(Bool(false), err.Value)
		return
	}
	vm.res = append(vm.res, Nil)
	copy(vm.res[1:], vm.res)
	vm.res[0] = Bool(true)
}

func coRunning(vm *State, _ []Value) {
	if vm.co == &vm.main {
		vm.Return(Nil)
		return
	}
	vm.Return(Value{ref: vm.co})
}

func coStatus(vm *State, args []Value) { vm.Return(vm.String(vm.coroutine(args).status)) }

func coWrap(vm *State, args []Value) {
	co := vm.newCoroutine(vm.luaFunction(args))
	vm.Return(vm.Func("wrap", EachArgument, func(vm *State, args []Value) {
		err := vm.resume(co, args)
		if err == nil {
			return
		}
		v := err.Value
		if s, ok := vm.Text(v); ok {
			v = vm.String(vm.where(1) + s)
		}
		vm.Throw(v)
	}))
}

func coYield(vm *State, args []Value) { vm.suspend(args) }
