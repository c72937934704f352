package script

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/fsm/script/lua"
)

// Host executes the calls of a script that leave the interpreter.
type Host interface {
	// Call runs a command with the rights of the user and the refusals of scripts. What
	// it costs beside its words and reply is spent of b.
	Call(argv [][]byte, b *lua.Budget) reply.Value
	// Permitted reports whether the user may run a command; known is false if there is
	// none of that name and number of words.
	Permitted(argv [][]byte) (ok, known bool)
	// Uint64 draws a number.
	Uint64() uint64
	// Double is a number that a script returns as one, in the digits that its caller expects.
	Double(f float64) reply.Value
}

// MaxBody is the longest script or library in bytes: compiling takes time too.
const MaxBody = 512 << 10

// What a script may allocate: so many bytes for each step, in use or not, but no more than
// maxBytes, which a node has to have free.
const (
	allocatedPerStep = 16
	leastBytes       = 32 << 20
	maxBytes         = 256 << 20
)

// BudgetOf is the budget of so many steps.
func BudgetOf(steps int64) lua.Budget {
	return lua.Budget{Steps: steps, Bytes: max(leastBytes, min(steps, maxBytes/allocatedPerStep)*allocatedPerStep), Limit: steps}
}

// knownPerStep is the number of bytes of an already compiled script that cost one step.
const knownPerStep = 8

// Engine runs scripts one after the other. It keeps compiled scripts and an interpreter
// that is proven to be as new after each: nothing that outlives a script can be changed
// by it. It belongs to one goroutine at a time.
type Engine struct {
	eval, library *interpreter
	loader        *interpreter // for the text of a library that is new
	programs      programs
}

// interpreter is a sealed state of one kind and what its libraries belong to.
type interpreter struct {
	vm      *lua.State
	mark    lua.Mark
	json    jsonConfig
	host    Host
	resp3   bool
	loading *loading // a library is being loaded
}

// NewEngine is an engine that has run nothing.
func NewEngine() *Engine { return &Engine{} }

// Program is a script to run.
type Program struct {
	// Name is its name in errors: a digest or a function's name.
	Name string
	// Body is the text, its first line included if that is a shebang.
	Body string
	// Keys and Args are its arguments.
	Keys, Args [][]byte
}

// Eval runs a script. stop is set if it ended because its budget was spent: whatever it
// did must be undone. The reply says so then. The budget keeps what is left.
func (e *Engine) Eval(p *Program, h Host, b *lua.Budget) (v reply.Value, stop error) {
	if e.eval == nil {
		e.eval = newInterpreter(false)
	}
	in := e.eval
	payKnown(p.Body, b)
	proto, failed := e.compile(scriptSource, p.Body)
	if failed != nil {
		return reply.Error("ERR Error compiling script (new function): " + clean(failed.Error())), nil
	}
	return in.run(p, h, b, func() {
		g := in.vm.Globals
		g.SetField("KEYS", in.list(p.Keys))
		g.SetField("ARGV", in.list(p.Args))
		in.vm.Call(in.vm.Closure(proto))
	}, e.drop)
}

// The sources of programs, as errors show them without the sign.
const (
	scriptSource  = "@user_script"
	librarySource = "@user_function"
)

// payKnown spends what a text costs that is compiled already.
func payKnown(body string, b *lua.Budget) {
	if len(body) <= MaxBody {
		b.Steps -= int64(len(body) / knownPerStep)
	}
}

// Compile returns why a script can't be compiled, nil if it can. One that is not known pays for that with its budget,
// which ends its run when it is spent. Whether it is known follows from the state, not from what this engine has run.
func (e *Engine) Compile(body string, known bool, b *lua.Budget) error {
	return e.compileNew(scriptSource, body, known, b)
}

func (e *Engine) compileNew(source, body string, known bool, b *lua.Budget) error {
	p, err := e.compile(source, body)
	if known {
		return err
	}
	var syntax *lua.SyntaxError
	switch {
	case errors.As(err, &syntax):
		b.Steps -= int64(syntax.Steps)
	case err == nil:
		b.Steps -= int64(p.Steps())
	}
	return err
}

// compile returns a compiled text, from those kept if it is there.
func (e *Engine) compile(source, body string) (*lua.Proto, error) {
	if len(body) > MaxBody {
		return nil, fmt.Errorf("a script can have %d bytes, this one has %d", MaxBody, len(body))
	}
	key := programKey{source, body}
	if p := e.programs.get(key); p != nil {
		return p, nil
	}
	p, err := lua.Compile(source, code(body))
	if err == nil {
		e.programs.put(key, p)
	}
	return p, err
}

// code is a script without its shebang, the line kept so that errors count right.
func code(body string) string {
	if !strings.HasPrefix(body, "#!") {
		return body
	}
	if i := strings.IndexByte(body, '\n'); i >= 0 {
		return body[i:]
	}
	return ""
}

// drop forgets the interpreters: one of them failed in a way that it shouldn't.
func (e *Engine) drop() { e.eval, e.library, e.loader = nil, nil, nil }

// run calls start, which runs the program, and returns what it returned.
func (in *interpreter) run(p *Program, h Host, b *lua.Budget, start func(), broken func()) (v reply.Value, stop error) {
	in.begin(h, *b)
	defer func() {
		*b = in.vm.Budget
		in.host = nil
		if r := recover(); r != nil {
			v, stop = in.ended(p, r, broken)
		}
		in.end()
	}()
	in.vm.SetRoot()
	start()
	return in.toReply(in.result(), 0), nil
}

// begin makes the interpreter as new.
func (in *interpreter) begin(h Host, b lua.Budget) {
	in.host, in.resp3, in.json = h, false, newJSONConfig()
	in.vm.Reset(in.mark, b)
}

// end drops what the program left behind.
func (in *interpreter) end() {
	defer func() { _ = recover() }() // of coroutines that are unwound: their errors have no receiver
	in.vm.Reset(in.mark, lua.Budget{})
}

func (in *interpreter) result() lua.Value {
	if r := in.vm.Results(); len(r) > 0 {
		return r[0]
	}
	return lua.Nil
}

// ended is the reply to a program that ended by a panic. What showing its error costs is not the program's: a budget that is
// spent just now must not end the reply.
func (in *interpreter) ended(p *Program, r any, broken func()) (v reply.Value, stop error) {
	in.vm.Steps, in.vm.Bytes = math.MaxInt32, math.MaxInt32
	switch e := r.(type) {
	case *lua.Error:
		return in.errorReply(p, e), nil
	case *lua.Stopped:
		if e == lua.Killed {
			return reply.Error("ERR Script killed by user with SCRIPT KILL... script: " + p.Name), e // a function too, as by Redis
		}
		return reply.Error("ERR " + in.vm.Budget.Explain(e) + "; nothing that it did was kept"), e
	}
	broken()
	err := fmt.Errorf("script engine: %v", r)
	return reply.Error("ERR " + clean(err.Error()) + "; nothing that the script did was kept"), err
}

// DynamicKey begins the refusal of a key that a script with the flag allow-key-locking has not declared. The key stands last:
// as in the reference service, nothing says where in the script that was.
const DynamicKey = "ERR Dynamic keys are not allowed in Lua scripts when 'allow-key-locking' flag is set. Key was: "

// errorReply is an error of the program: what it raised, and where.
func (in *interpreter) errorReply(p *Program, e *lua.Error) reply.Value {
	text := ""
	if t := e.Value.Table(); t != nil {
		var ok bool
		if text, ok = in.vm.Text(t.Field("err")); !ok {
			text = "ERR unknown error"
		}
	} else {
		shown, _ := in.vm.ToString(e.Value).Text()
		text = "ERR " + shown
	}
	if e.Source != "" && !strings.HasPrefix(text, DynamicKey) {
		source := strings.TrimPrefix(e.Source, "=")
		text += " script: " + p.Name + ", on " + source + ":" + strconv.Itoa(e.Line) + "."
	}
	return reply.Error(clean(text))
}

var oneLine = strings.NewReplacer("\r", " ", "\n", " ")

// clean keeps an error on one line.
func clean(s string) string { return oneLine.Replace(strings.TrimRight(s, "\r\n")) }

// list is arguments as a table.
func (in *interpreter) list(words [][]byte) lua.Value {
	values := make([]lua.Value, len(words))
	for i, w := range words {
		values[i] = in.vm.String(string(w))
	}
	return lua.TableValue(in.vm.List(values...))
}

// newInterpreter is a sealed state with all libraries, for scripts or for functions.
func newInterpreter(functions bool) *interpreter {
	in := &interpreter{vm: lua.NewState(), json: newJSONConfig()}
	vm := in.vm
	g := vm.Globals
	g.SetField("cjson", lua.TableValue(jsonLibrary(vm, &in.json)))
	g.SetField("cmsgpack", lua.TableValue(messagePackLibrary(vm)))
	g.SetField("struct", lua.TableValue(structLibrary(vm)))
	g.SetField("bit", lua.TableValue(bitLibrary(vm)))
	g.SetField("os", lua.TableValue(osLibrary(vm)))
	redis := lua.TableValue(in.redisLibrary(functions))
	g.SetField("redis", redis)
	g.SetField("server", redis)
	if !functions {
		g.SetField("KEYS", lua.TableValue(vm.List()))
		g.SetField("ARGV", lua.TableValue(vm.List()))
	}
	vm.Random = func() uint64 { return in.host.Uint64() }
	vm.GuardGlobals(missingGlobal)
	in.mark = vm.Seal()
	return in
}

func missingGlobal(vm *lua.State, args []lua.Value) {
	name, _ := vm.Text(args[1])
	vm.Errorf("Script attempted to access nonexistent global variable '" + name + "'")
}

// osLibrary has a clock that counts what the script has used, not time.
func osLibrary(vm *lua.State) *lua.Table {
	const stepsPerSecond = 50_000_000
	t := vm.NewTable(0, 0)
	vm.Register(t, []lua.Named{lua.Define("clock", lua.Constant, func(vm *lua.State, _ []lua.Value) {
		vm.Return(lua.Number(float64(vm.Used()) / stepsPerSecond))
	})})
	return t
}
