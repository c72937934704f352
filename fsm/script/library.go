package script

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/trireme-dev/trireme/fsm/ascii"
	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/fsm/script/lua"
)

// Library is a set of functions and the text that makes them.
type Library struct {
	Name string
	// Code is the whole text, its first line included.
	Code      string
	Functions []Function // in the order of their names
}

// Function is one function of a library, as its registration describes it.
type Function struct {
	Name, Description string
	Described         bool
	// Flags are no-writes and others that existing libraries give.
	Flags []string
}

// ReadOnly reports whether the function says of itself that it doesn't write.
func (f *Function) ReadOnly() bool { return slices.Contains(f.Flags, noWrites) }

// LocksKeys reports whether the function says of itself that it uses declared keys alone.
func (f *Function) LocksKeys() bool { return slices.Contains(f.Flags, keyLocking) }

// The flags that mean something here.
const (
	noWrites   = "no-writes"
	keyLocking = "allow-key-locking" // of the reference service
)

// functionFlags are those that a function may have.
var functionFlags = []string{noWrites, "allow-oom", "allow-stale", "no-cluster", "allow-cross-slot-keys", keyLocking}

// loading is a library whose text is being run.
type loading struct {
	functions []Function
	callbacks map[string]lua.Value
}

// noHost is the world of a library that is being loaded: there is nothing to call.
type noHost struct{}

func (noHost) Call([][]byte, *lua.Budget) reply.Value {
	return reply.Error("ERR not while a library is loaded")
}

func (noHost) Permitted([][]byte) (ok, known bool) { return false, false }
func (noHost) Uint64() uint64                      { return 0 }

// Double is never called: nothing is returned while a library is loaded.
func (noHost) Double(f float64) reply.Value { return reply.Number(f) }

// Rules say which texts are taken.
type Rules uint8

const (
	// Tolerant are Exact but for flags: unknown flags are accepted.
	Tolerant Rules = iota
	// Exact are Redis's: a library that is being loaded has no globals but some of redis, and
	// the words of first lines may be quoted.
	Exact
)

// Load runs the text of a library and returns which functions it registers. The error is
// in Redis's words without its class, or says that the budget b was spent.
func (e *Engine) Load(source string, rules Rules, b *lua.Budget) (*Library, error) {
	name, err := libraryName(source)
	if err != nil {
		return nil, err
	}
	_, proto, err := e.prepareLibrary(source, false, b)
	if err != nil {
		return nil, err
	}
	if e.loader == nil {
		e.loader = newLoader()
	}
	in := e.loader
	l := &loading{callbacks: map[string]lua.Value{}}
	v, stop := in.run(&Program{Name: name}, noHost{}, b, func() { in.register(l, proto) }, e.drop)
	in.loading = nil
	switch {
	case stop != nil:
		return nil, stop
	case v.IsError():
		text := v.Text()
		if at := strings.LastIndex(text, " script: "+name+", on "); at >= 0 {
			text = text[:at]
		}
		return nil, errors.New("Error registering functions: " + text)
	case len(l.functions) == 0:
		return nil, errors.New("No functions registered")
	}
	slices.SortFunc(l.functions, func(a, b Function) int { return strings.Compare(a.Name, b.Name) })
	return &Library{Name: name, Code: source, Functions: l.functions}, nil
}

func (e *Engine) prepareLibrary(source string, known bool, b *lua.Budget) (*interpreter, *lua.Proto, error) {
	if e.library == nil {
		e.library = newInterpreter(true)
	}
	err := e.compileNew(librarySource, source, known, b)
	payKnown(source, b)
	if err != nil {
		return nil, nil, errors.New("Error compiling function: " + clean(err.Error()))
	}
	proto, err := e.compile(librarySource, source)
	return e.library, proto, err
}

// newLoader is a sealed state in which new libraries register their functions.
func newLoader() *interpreter {
	in := newInterpreter(true)
	in.vm = lua.NewState()
	vm := in.vm
	all, subset := in.redisLibrary(true), vm.NewTable(0, 0)
	for _, name := range []string{"register_function", "log", "LOG_DEBUG", "LOG_VERBOSE", "LOG_NOTICE", "LOG_WARNING",
		"REDIS_VERSION", "REDIS_VERSION_NUM", "SERVER_NAME", "SERVER_VERSION", "SERVER_VERSION_NUM"} {
		subset.SetField(name, all.Field(name))
	}
	vm.Guard(subset, missingGlobal)
	vm.Globals = vm.NewTable(0, 2)
	vm.Globals.SetField("redis", lua.TableValue(subset))
	vm.Globals.SetField("server", lua.TableValue(subset))
	vm.GuardGlobals(missingGlobal)
	in.mark = vm.Seal()
	return in
}

// register runs a library's text, which registers its functions. It returns nothing.
func (in *interpreter) register(l *loading, proto *lua.Proto) {
	in.loading = l
	defer func() { in.loading = nil }()
	in.vm.Call(in.vm.Closure(proto))
	in.vm.Return()
}

// Invoke runs a function of a library that is known, or whose compiling is paid for once more. The library is loaded anew for every call: what one call
// leaves in its variables can't be seen by the next, on this node or another.
func (e *Engine) Invoke(l *Library, known bool, p *Program, h Host, b *lua.Budget) (v reply.Value, stop error) {
	in, proto, err := e.prepareLibrary(l.Code, known, b)
	if err != nil {
		return reply.Error("ERR " + err.Error()), nil
	}
	return in.run(p, h, b, func() {
		loaded := &loading{callbacks: map[string]lua.Value{}}
		in.register(loaded, proto)
		in.vm.Call(loaded.callbacks[p.Name], in.list(p.Keys), in.list(p.Args))
	}, e.drop)
}

// registerFunction takes a name and a function, or a table that describes one.
func (in *interpreter) registerFunction(vm *lua.State, args []lua.Value) {
	if in.loading == nil {
		vm.Errorf("attempt to call field 'register_function' (a nil value)")
	}
	f, callback := Function{}, lua.Nil
	switch len(args) {
	case 1:
		t := args[0].Table()
		if t == nil {
			in.raise("ERR calling redis.register_function with a single argument is only applicable to Lua table (representing named arguments).")
		}
		f, callback = in.described(t)
	case 2:
		name, ok := vm.Text(args[0])
		if !ok {
			in.raise("ERR first argument to redis.register_function must be a string")
		}
		if !args[1].IsFunction() {
			in.raise("ERR second argument to redis.register_function must be a function")
		}
		f.Name, callback = name, args[1]
	default:
		in.raise("ERR wrong number of arguments to redis.register_function")
	}
	vm.Step(len(f.Name) / namePerStep)
	if !validName(f.Name) {
		in.raise("ERR " + errName.Error())
	}
	if _, twice := in.loading.callbacks[f.Name]; twice {
		in.raise("ERR Function already exists in the library")
	}
	in.loading.callbacks[f.Name] = callback
	in.loading.functions = append(in.loading.functions, f)
	vm.Return()
}

// namePerStep is the number of bytes of a function's name that are validated for one step; longestArgument is greater than
// the length of any named argument.
const (
	namePerStep     = 8
	longestArgument = 16
)

// described is a function given by named arguments.
func (in *interpreter) described(t *lua.Table) (f Function, callback lua.Value) {
	named := false
	for k, v, at := t.After(0); !k.IsNil(); k, v, at = t.After(at) {
		in.vm.Step(wordSteps)
		key, ok := in.vm.Text(k)
		if !ok {
			in.raise("ERR named argument key given to redis.register_function is not a string")
		}
		switch ascii.Lower(key[:min(len(key), longestArgument)]) {
		case "function_name":
			if f.Name, named = in.vm.Text(v); !named {
				in.raise("ERR function_name argument given to redis.register_function must be a string")
			}
		case "description":
			if f.Description, f.Described = in.vm.Text(v); !f.Described {
				in.raise("ERR description argument given to redis.register_function must be a string")
			}
		case "callback":
			if callback = v; !v.IsFunction() {
				in.raise("ERR callback argument given to redis.register_function must be a function")
			}
		case "flags":
			f.Flags = in.flags(v)
		default:
			in.raise("ERR unknown argument given to redis.register_function")
		}
	}
	if !named {
		in.raise("ERR redis.register_function must get a function name argument")
	}
	if callback.IsNil() {
		in.raise("ERR redis.register_function must get a callback argument")
	}
	return f, callback
}

func (in *interpreter) flags(v lua.Value) (flags []string) {
	t := v.Table()
	if t == nil {
		in.raise("ERR flags argument to redis.register_function must be a table representing function flags")
	}
	for i := 1; !t.Index(i).IsNil(); i++ {
		in.vm.Step(wordSteps)
		flag, _ := t.Index(i).Text()
		if !slices.Contains(functionFlags, flag) {
			in.raise("ERR unknown flag given")
		}
		if !slices.Contains(flags, flag) {
			flags = append(flags, flag)
		}
	}
	slices.SortFunc(flags, func(a, b string) int { return slices.Index(functionFlags, a) - slices.Index(functionFlags, b) })
	return flags
}

var errName = errors.New("Library names can only contain letters, numbers, or underscores(_) and must be at least one character long")

func validName(name string) bool {
	for i := range len(name) {
		c := name[i]
		if !('a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '_') {
			return false
		}
	}
	return name != ""
}

// libraryName reads the first line of a library.
func libraryName(source string) (string, error) {
	line, _, more := strings.Cut(source, "\n")
	if !strings.HasPrefix(line, "#!") {
		return "", errors.New("Missing library metadata")
	}
	if !more {
		return "", errors.New("Invalid library metadata")
	}
	words, err := splitWords(line)
	if err != nil || len(words) == 0 {
		return "", errors.New("Invalid library metadata")
	}
	name, named := "", false
	for _, w := range words[1:] {
		v, ok := strings.CutPrefix(ascii.Lower(w[:min(len(w), 5)])+w[min(len(w), 5):], "name=")
		if !ok {
			return "", fmt.Errorf("Invalid metadata value given: %s", w)
		}
		if named {
			return "", errors.New("Invalid metadata value, name argument was given multiple times")
		}
		name, named = v, true
	}
	switch {
	case !named:
		return "", errors.New("Library name was not given")
	case !validName(name):
		return "", errName
	case !ascii.EqualFold(strings.TrimPrefix(words[0], "#!"), "lua"):
		return "", fmt.Errorf("Engine '%s' not found", strings.TrimPrefix(words[0], "#!"))
	}
	return name, nil
}
