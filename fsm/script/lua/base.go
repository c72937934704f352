package lua

import (
	"strconv"
	"strings"
)

func (st *State) openBase() {
	g := st.Globals
	st.Register(g, []Named{
		{"assert", EachArgument, baseAssert}, {"collectgarbage", Constant, baseCollect}, {"error", Metered, baseError},
		{"gcinfo", Constant, baseGCInfo}, {"getmetatable", Constant, baseGetMeta}, {"ipairs", Constant, st.ipairs()},
		{"load", Metered, baseLoad}, {"loadstring", Metered, baseLoadString}, {"next", Metered, baseNext}, {"pairs", Constant, st.pairs()},
		{"pcall", EachArgument, basePCall}, {"rawequal", Metered, baseRawEqual}, {"rawget", Metered, baseRawGet},
		{"rawset", Metered, baseRawSet}, {"select", EachArgument, baseSelect}, {"setmetatable", Constant, baseSetMeta},
		{"tonumber", Metered, baseToNumber}, {"tostring", Metered, baseToString}, {"type", Constant, baseType},
		{"unpack", Metered, baseUnpack}, {"xpcall", Metered, baseXPCall},
	})
	g.SetField("_VERSION", String("Lua 5.1"))
	g.SetField("_G", TableValue(g))
}

func baseAssert(vm *State, args []Value) {
	if !vm.CheckAny(args, 1).Truth() {
		vm.Errorf(vm.OptText(args, 2, "assertion failed!"))
	}
	vm.Return(args...)
}

// baseCollect does nothing: memory is counted, and what is in use is the node's affair.
func baseCollect(vm *State, args []Value) {
	switch option := vm.OptText(args, 1, "collect"); option {
	case "count", "step", "stop", "restart", "collect", "setpause", "setstepmul":
		vm.Return(Number(0))
	default:
		vm.ArgError(1, "invalid option '"+option+"'")
	}
}

func baseGCInfo(vm *State, _ []Value) { vm.Return(Number(0)) }

func baseError(vm *State, args []Value) {
	level, v := vm.OptInt(args, 2, 1), arg(args, 1)
	if text, ok := vm.Text(v); ok && level > 0 {
		v = vm.String(vm.where(level) + text)
	}
	vm.Throw(v)
}

func baseGetMeta(vm *State, args []Value) {
	m := vm.metatable(vm.CheckAny(args, 1))
	if m == nil {
		vm.Return(Nil)
		return
	}
	if hidden := m.getStr(metaHidden); !hidden.IsNil() {
		vm.Return(hidden)
		return
	}
	vm.Return(TableValue(m))
}

func baseSetMeta(vm *State, args []Value) {
	t, m := vm.CheckTable(args, 1), arg(args, 2)
	if len(args) < 2 || !m.IsNil() && m.Table() == nil {
		vm.ArgError(2, "nil or table expected")
	}
	if t.meta != nil && !t.meta.getStr(metaHidden).IsNil() {
		vm.Errorf("cannot change a protected metatable")
	}
	vm.mayChange(t)
	t.meta = m.Table()
	vm.Return(args[0])
}

// mayChange refuses to change a read-only table.
func (st *State) mayChange(t *Table) {
	if t.locked {
		st.fail("Attempt to modify a readonly table")
	}
}

// ipairs returns the function; what it iterates by is one value, as in Lua.
func (st *State) ipairs() GoFunc {
	step := st.Func("ipairs step", Metered, func(vm *State, args []Value) {
		i := vm.CheckInt(args, 2) + 1
		if v := vm.CheckTable(args, 1).Index(i); !v.IsNil() {
			vm.Return(Int(i), v)
			return
		}
		vm.Return()
	})
	return func(vm *State, args []Value) {
		vm.CheckTable(args, 1)
		vm.Return(step, args[0], Number(0))
	}
}

func (st *State) pairs() GoFunc {
	next := st.Func("next", Metered, baseNext)
	return func(vm *State, args []Value) {
		vm.CheckTable(args, 1)
		vm.Return(next, args[0], Nil)
	}
}

func baseNext(vm *State, args []Value) {
	k, v, ok := vm.CheckTable(args, 1).Next(arg(args, 2))
	switch {
	case !ok:
		vm.fail("invalid key to 'next'")
	case k.IsNil():
		vm.Return(Nil)
	default:
		vm.Return(k, v)
	}
}

// basePCall is Redis's: of an error that is a table it gives the text under err.
func basePCall(vm *State, args []Value) {
	fn := arg(args, 1)
	if len(args) == 0 {
		fn = Bool(true) // Redis's pcall calls what it has put on the stack for its own result
	}
	if e := vm.PCall(fn, args[min(1, len(args)):]...); e != nil {
		v := e.Value
		if t := v.Table(); t != nil {
			if text := t.Field("err"); !text.IsNil() {
				if isText(text) {
					v = text
				}
			}
		}
		vm.Return(Bool(false), v)
		return
	}
	vm.prepend(Bool(true))
}

// prepend puts a value before the results.
func (st *State) prepend(v Value) {
	st.res = append(st.res, Nil)
	copy(st.res[1:], st.res)
	st.res[0] = v
}

func baseXPCall(vm *State, args []Value) {
	handler := vm.CheckAny(args, 2)
	if e := vm.protected(args[0], nil, handler); e != nil {
		vm.Return(Bool(false), e.Value)
		return
	}
	vm.prepend(Bool(true))
}

func baseRawEqual(vm *State, args []Value) {
	vm.Return(Bool(vm.rawEqual(vm.CheckAny(args, 1), vm.CheckAny(args, 2))))
}

func baseRawGet(vm *State, args []Value) {
	vm.Return(vm.CheckTable(args, 1).Get(vm.CheckAny(args, 2)))
}

func baseRawSet(vm *State, args []Value) {
	t, k, v := vm.CheckTable(args, 1), vm.CheckAny(args, 2), vm.CheckAny(args, 3)
	vm.mayChange(t)
	(&frame{vm: vm}).rawSet(t, k, v)
	vm.Return(args[0])
}

func baseSelect(vm *State, args []Value) {
	if s, ok := arg(args, 1).Text(); ok && strings.HasPrefix(s, "#") {
		vm.Return(Int(len(args) - 1))
		return
	}
	i := vm.CheckInt(args, 1)
	if i < 0 {
		i += len(args)
	} else {
		i = min(i, len(args))
	}
	if i < 1 {
		vm.ArgError(1, "index out of range")
	}
	vm.Return(args[i:]...)
}

func baseToNumber(vm *State, args []Value) {
	base := vm.OptInt(args, 2, 10)
	if base == 10 {
		if n, ok := vm.ToNumber(vm.CheckAny(args, 1)); ok {
			vm.Return(Number(n))
			return
		}
		vm.Return(Nil)
		return
	}
	text := vm.CheckText(args, 1)
	if base < 2 || base > 36 {
		vm.ArgError(2, "base out of range")
	}
	vm.Step(len(text) / digitsPerStep)
	if n, ok := parseBase(text, base); ok {
		vm.Return(Number(n))
		return
	}
	vm.Return(Nil)
}

// parseBase reads an unsigned integer as C's strtoul does: it wraps a negative one, and
// stops at the largest.
func parseBase(text string, base int) (float64, bool) {
	text = strings.Trim(text, " \t\n\v\f\r")
	negative := strings.HasPrefix(text, "-")
	text = strings.TrimPrefix(text, "-")
	if !negative {
		text = strings.TrimPrefix(text, "+")
	}
	if base == 16 && len(text) > 2 && text[0] == '0' && text[1]|0x20 == 'x' {
		text = text[2:]
	}
	if text == "" || strings.ContainsAny(text, "_+-") {
		return 0, false
	}
	n, err := strconv.ParseUint(text, base, 64)
	if err != nil && n == 0 {
		return 0, false
	}
	if err != nil {
		return float64(^uint64(0)), true
	}
	if negative {
		n = -n
	}
	return float64(n), true
}

func baseToString(vm *State, args []Value) {
	v := vm.CheckAny(args, 1)
	if handler := vm.metamethod(v, metaToString); !handler.IsNil() {
		vm.Call(handler, v)
		vm.res = append(vm.res[:0], vm.result())
		return
	}
	vm.Return(vm.ToString(v))
}

// ToString is a value as tostring prints it, without metamethods.
func (st *State) ToString(v Value) Value {
	switch o := v.ref.(type) {
	case nil:
		return st.String("nil")
	case *Str:
		return v
	case *numberTag:
		return st.String(st.format(v.n))
	case *boolTag:
		return st.String(map[bool]string{true: "true", false: "false"}[v.n != 0])
	case *Function:
		return st.String(address("function: builtin", o.serial))
	case *Pointer:
		return st.String("userdata: (nil)")
	}
	return st.String(address(v.Type(), v.serial()))
}

func baseType(vm *State, args []Value) { vm.Return(vm.typeNames(vm.CheckAny(args, 1))) }

// typeNames returns the name of a type as a value that is made once.
func (st *State) typeNames(v Value) Value {
	switch v.ref.(type) {
	case nil:
		return nameNil
	case *numberTag:
		return nameNumber
	case *Str:
		return nameString
	case *Table:
		return nameTable
	}
	return st.String(v.Type())
}

var nameNil, nameNumber, nameString, nameTable = shared("nil"), shared("number"), shared("string"), shared("table")

func shared(s string) Value { return Value{ref: hashed(s)} }

// maxUnpack is the most values that string.byte returns: the stack of Lua 5.1 has cStack values, the arguments of unpack
// included.
const (
	maxUnpack = 7997
	cStack    = 8000
)

func baseUnpack(vm *State, args []Value) {
	t := vm.CheckTable(args, 1)
	i := clampInt(vm.OptInt(args, 2, 1))
	end := 0
	if arg(args, 3).IsNil() {
		end = t.Len()
	} else {
		end = clampInt(vm.CheckInt(args, 3))
	}
	if i > end {
		vm.Return()
		return
	}
	n := end - i + 1
	if n > cStack-len(args) {
		vm.Errorf("too many results to unpack")
	}
	vm.Step(n / 4)
	if i+n > len(t.array) {
		vm.Step(nodeSteps * n)
	}
	vm.res = vm.res[:0]
	for ; i <= end; i++ {
		vm.res = append(vm.res, t.Index(i))
	}
}

func baseLoadString(vm *State, args []Value) {
	text := vm.CheckText(args, 1)
	vm.load(text, vm.OptText(args, 2, text))
}

// baseLoad gathers the program from a function.
func baseLoad(vm *State, args []Value) {
	if !arg(args, 1).IsFunction() {
		vm.argType(args, 1, "function")
	}
	name := vm.OptText(args, 2, "=(load)")
	var text []byte
	for {
		vm.Call(args[0])
		piece := vm.result()
		if piece.IsNil() {
			break
		}
		s, ok := vm.Text(piece)
		if !ok {
			vm.fail("reader function must return a string")
		}
		if s == "" {
			break
		}
		vm.Alloc(len(s))
		text = append(text, s...)
	}
	vm.load(string(text), name)
}

// load returns a compiled program, or nil and the reason.
func (st *State) load(text, name string) {
	if strings.HasPrefix(text, "\x1b") {
		st.Return(Nil, st.String(chunkName(name)+": unexpected symbol near 'char(27)'"))
		return
	}
	st.Alloc(8 * len(text))
	fn, err := st.Load(name, text)
	if err != nil {
		st.Return(Nil, st.String(err.Error()))
		return
	}
	st.Return(fn)
}

// maxChunkName is the longest name of a program in errors, in bytes.
const maxChunkName = 60

// chunkName is a name as errors show it: "=name" as it is, "@file" too, a text in
// brackets and cut at its first line.
func chunkName(name string) string {
	if name != "" && name[0] == '=' {
		return name[1:min(len(name), maxChunkName)]
	}
	if name != "" && name[0] == '@' {
		if name = name[1:]; len(name) > maxChunkName-8 {
			name = "..." + name[len(name)-(maxChunkName-8)+1:]
		}
		return name
	}
	line, _, more := strings.Cut(name, "\n")
	if i := strings.IndexByte(line, '\r'); i >= 0 {
		line, more = line[:i], true
	}
	if room := maxChunkName - len("[string \"...\"]") - 1; more || len(line) > room {
		line = line[:min(len(line), room)] + "..."
	}
	return "[string \"" + line + "\"]"
}
