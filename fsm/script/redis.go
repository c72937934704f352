package script

import (
	"crypto/sha1"
	"encoding/hex"
	"math"
	"strconv"
	"strings"

	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/fsm/script/lua"
)

// Version is the version of Redis that scripts see.
const Version = "8.2.0"

// redisLibrary makes the table redis.
func (in *interpreter) redisLibrary(functions bool) *lua.Table {
	vm := in.vm
	t := vm.NewTable(0, 0)
	vm.Register(t, []lua.Named{
		lua.Define("call", lua.Metered, func(vm *lua.State, args []lua.Value) { in.call(vm, args, true) }),
		lua.Define("pcall", lua.Metered, func(vm *lua.State, args []lua.Value) { in.call(vm, args, false) }),
		lua.Define("log", lua.Constant, logLine), lua.Define("setresp", lua.Constant, in.setResp),
		lua.Define("error_reply", lua.Scans(1), errorReply), lua.Define("status_reply", lua.Metered, statusReply),
		lua.Define("sha1hex", lua.Metered, in.sha1Hex), lua.Define("set_repl", lua.Constant, in.setRepl),
		lua.Define("acl_check_cmd", lua.Metered, in.aclCheck),
	})
	if functions {
		vm.Register(t, []lua.Named{lua.Define("register_function", lua.Metered, in.registerFunction)})
	} else {
		vm.Register(t, []lua.Named{ // which functions never had
			lua.Define("replicate_commands", lua.Constant, func(vm *lua.State, _ []lua.Value) { vm.Return(lua.Bool(true)) }),
			lua.Define("breakpoint", lua.Constant, func(vm *lua.State, _ []lua.Value) { vm.Return(lua.Bool(false)) }),
			lua.Define("debug", lua.Constant, func(vm *lua.State, _ []lua.Value) { vm.Return() }),
		})
	}
	for i, name := range []string{"LOG_DEBUG", "LOG_VERBOSE", "LOG_NOTICE", "LOG_WARNING"} {
		t.SetField(name, lua.Int(i))
	}
	for i, name := range []string{"REPL_NONE", "REPL_AOF", "REPL_SLAVE", "REPL_ALL"} {
		t.SetField(name, lua.Int(i))
	}
	t.SetField("REPL_REPLICA", lua.Int(2))
	t.SetField("REDIS_VERSION", lua.String(Version))
	t.SetField("REDIS_VERSION_NUM", lua.Int(versionNumber()))
	t.SetField("SERVER_NAME", lua.String("redis"))
	t.SetField("SERVER_VERSION", lua.String(Version))
	t.SetField("SERVER_VERSION_NUM", lua.Int(versionNumber()))
	return t
}

func versionNumber() (n int) {
	for _, part := range strings.Split(Version, ".") {
		v, _ := strconv.Atoi(part) // the constant has only numbers
		n = n<<8 | v
	}
	return n
}

// The steps of a command in a script in addition to its reply: of the call, and of each word. A call takes as long
// as callSteps of a loop or more, the check of a user's rights as long as checkSteps.
const (
	callSteps  = 500
	checkSteps = 100
	wordSteps  = 10
)

// raise raises an error as redis.call does: a table with its text.
func (in *interpreter) raise(text string) { in.vm.Throw(in.errorTable(text, true)) }

func (in *interpreter) errorTable(text string, counted bool) lua.Value {
	t := in.vm.NewTable(0, 0)
	t.SetField("err", in.vm.String(text))
	if counted {
		t.SetField("ignore_error_stats_update", lua.Bool(true))
	}
	return lua.TableValue(t)
}

// call runs a command. Errors are raised, or given as a table.
func (in *interpreter) call(vm *lua.State, args []lua.Value, raise bool) {
	argv, problem := in.words(args)
	if problem == "" && in.loading != nil {
		name := map[bool]string{true: "call", false: "pcall"}[raise]
		vm.Errorf("Script attempted to access nonexistent global variable '" + name + "'")
	}
	v := reply.Error(problem)
	if problem == "" {
		vm.Step(callSteps + wordSteps*len(argv))
		v = in.host.Call(argv, &vm.Budget)
	}
	if v.IsError() && raise {
		in.raise(v.Text())
	}
	if v.IsError() {
		vm.Return(in.errorTable(v.Text(), true))
		return
	}
	vm.Return(in.toLua(v))
}

// words are a command's name and arguments, or what is wrong with them.
func (in *interpreter) words(args []lua.Value) (argv [][]byte, problem string) {
	if len(args) == 0 {
		return nil, "ERR Please specify at least one argument for this redis lib call"
	}
	argv = make([][]byte, len(args))
	size := 0
	for i, v := range args {
		if n, ok := v.Number(); ok {
			argv[i] = appendArgument(make([]byte, 0, 24), n)
			in.vm.Formatting(n, 17)
			size += len(argv[i])
		} else if s, ok := v.Text(); ok {
			size += len(s)
		} else {
			return nil, "ERR Lua redis lib command arguments must be strings or integers"
		}
	}
	in.vm.Alloc(size + 24*len(args)) // before any is copied: they may all be one long text
	for i, v := range args {
		if s, ok := v.Text(); ok {
			argv[i] = []byte(s)
		}
	}
	return argv, ""
}

// appendArgument prints a number as a command's argument: an integer as one, anything
// else with 17 digits.
func appendArgument(b []byte, n float64) []byte {
	if i := lua.ToInt64(n); float64(i) == n && n < 0x1p63 && (i != 0 || !math.Signbit(n)) {
		return strconv.AppendInt(b, i, 10)
	}
	return lua.AppendNumber(b, n, 17)
}

// single makes a table of one field out of the only argument, which must be a string.
func single(vm *lua.State, args []lua.Value, field string, edit func(string) string) {
	t := vm.NewTable(0, 0)
	text, ok := "", len(args) == 1
	if ok {
		text, ok = args[0].Text()
	}
	if !ok {
		t.SetField("err", vm.String("ERR wrong number or type of arguments"))
	} else {
		t.SetField(field, vm.String(edit(text)))
	}
	vm.Return(lua.TableValue(t))
}

func errorReply(vm *lua.State, args []lua.Value) {
	single(vm, args, "err", func(s string) string {
		s = strings.TrimPrefix(upToZero(s), "-")
		if strings.Contains(s, " ") {
			return s
		}
		return "ERR " + s
	})
}

// upToZero returns a text up to its first zero byte, as Redis reads one of C.
func upToZero(s string) string {
	s, _, _ = strings.Cut(s, "\x00")
	return s
}

func statusReply(vm *lua.State, args []lua.Value) {
	single(vm, args, "ok", func(s string) string { return s })
}

func (in *interpreter) sha1Hex(vm *lua.State, args []lua.Value) {
	if len(args) != 1 {
		in.raise("ERR wrong number of arguments")
	}
	s, _ := vm.Text(args[0])
	vm.Step(len(s) / 8)
	vm.Fits(len(s)) // it is copied
	vm.Return(vm.String(Digest(s)))
}

// Digest is the name of a script: the SHA-1 of its text in lower-case hexadecimal.
func Digest(body string) string {
	sum := sha1.Sum([]byte(body))
	return hex.EncodeToString(sum[:])
}

// logLine checks its arguments and drops the text: a line in every node's log for each
// time a script is applied would help no user.
func logLine(vm *lua.State, args []lua.Value) {
	fail := func(text string) {
		t := vm.NewTable(0, 0)
		t.SetField("err", vm.String(text))
		vm.Throw(lua.TableValue(t))
	}
	if len(args) < 2 {
		fail("ERR redis.log() requires two arguments or more.")
	}
	level, ok := args[0].Number()
	if !ok {
		fail("ERR First argument must be a number (log level).")
	}
	if level < 0 || level > 3 {
		fail("ERR Invalid debug level.")
	}
	vm.Return()
}

func (in *interpreter) setResp(vm *lua.State, args []lua.Value) {
	if len(args) != 1 {
		in.raise("ERR redis.setresp() requires one argument.")
	}
	n, _ := vm.ToNumber(args[0])
	if n != 2 && n != 3 {
		in.raise("ERR RESP version must be 2 or 3.")
	}
	in.resp3 = n == 3
	vm.Return()
}

// setRepl takes what Redis takes: here the log carries the script itself.
func (in *interpreter) setRepl(vm *lua.State, args []lua.Value) {
	if len(args) != 1 {
		in.raise("ERR redis.set_repl() requires two arguments.")
	}
	n, _ := args[0].Number()
	if flags := int(n); flags&^3 != 0 || n < 0 {
		in.raise("ERR Invalid replication flags. Use REPL_AOF, REPL_REPLICA, REPL_ALL or REPL_NONE.")
	}
	vm.Return()
}

func (in *interpreter) aclCheck(vm *lua.State, args []lua.Value) {
	argv, problem := in.words(args)
	if problem != "" {
		in.raise(problem)
	}
	vm.Step(checkSteps + wordSteps*len(argv))
	ok, known := in.host.Permitted(argv)
	if !known {
		in.raise("ERR Invalid command passed to redis.acl_check_cmd()")
	}
	vm.Return(lua.Bool(ok))
}
