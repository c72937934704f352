package command

import (
	"errors"

	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/ascii"
	"github.com/trireme-dev/trireme/fsm/rdb"
	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/fsm/script"
	"github.com/trireme-dev/trireme/fsm/script/lua"
)

// functions are the rows of functions, which libraries hold.
func functions() []Command {
	keys := countedKeys(2, 1)
	write, look := Write|NoScript, ReadOnly|NoScript // nothing of functions is for the Read Only token
	return []Command{
		{Name: "fcall", Arity: -3, Flags: write | KeysOptional, Keys: keys.uses(counted(rwAccessUpdate, 2)), Cost: costConstant, Doc: Doc{Version: "7.0.0", Complexity: "that of the function",
			Syntax: "FCALL function numkeys [key ...] [arg ...]", Summary: "Calls a function of a library.",
			Info: "stale skip_monitor no_mandatory_keys"}, Run: functionCall},
		{Name: "fcall_ro", Arity: -3, Flags: look | KeysOptional, Keys: keys.uses(counted(roAccess, 2)), Cost: costScript, Doc: Doc{Version: "7.0.0", Complexity: "that of the function",
			Syntax: "FCALL_RO function numkeys [key ...] [arg ...]", Summary: "Calls a function that only reads, without the log.",
			Info: "stale skip_monitor no_mandatory_keys"}, Run: functionCallReadOnly},
		{Name: "function delete", Arity: 3, Flags: write, Access: Access{Regrouped: acl.Write}, Cost: costConstant, Work: deletedLibraryWork, Doc: Doc{Version: "7.0.0", Complexity: "O(N) in the library's functions",
			Syntax: "FUNCTION DELETE library-name", Summary: "Deletes a library and its functions.",
			Tips: "request_policy:all_shards response_policy:all_succeeded"}, Run: functionDelete},
		{Name: "function dump", Arity: 2, Flags: look, Cost: costConstant, Work: dumpedLibrariesWork, Doc: Doc{Version: "7.0.0", Complexity: "O(N) in the libraries' length",
			Syntax: "FUNCTION DUMP", Summary: "Returns all libraries in Redis's format."}, Run: functionDump},
		{Name: "function flush", Arity: -2, Flags: write, Access: Access{Regrouped: acl.Write}, Cost: costConstant, Doc: Doc{Version: "7.0.0", Complexity: "O(N) in libraries",
			Syntax: "FUNCTION FLUSH [ASYNC|SYNC]", Summary: "Deletes all libraries.",
			Tips: "request_policy:all_shards response_policy:all_succeeded"}, Run: functionFlush},
		{Name: "function help", Arity: 2, Flags: ReadOnlyUser | NoScript, Cost: costConstant, Doc: Doc{Version: "7.0.0", Complexity: "O(1)",
			Syntax: "FUNCTION HELP", Summary: "Lists the subcommands.",
			Info: whileLoading}, Run: functionHelp},
		{Name: "function kill", Arity: 2, Flags: NoScript, Cost: costConstant, Doc: Doc{Version: "7.0.0", Complexity: "O(1)",
			Syntax: "FUNCTION KILL", Summary: "Ends the functions that read on the node that answers. Others end by themselves when their budget is spent.",
			Info: "allow_busy", Tips: "request_policy:all_shards response_policy:one_succeeded"}, Run: notBusy},
		{Name: "function list", Arity: -2, Flags: look, Cost: costConstant, Doc: Doc{Version: "7.0.0", Complexity: "O(N) in functions",
			Syntax: "FUNCTION LIST [LIBRARYNAME pattern] [WITHCODE]", Summary: "Describes the libraries in the order of their names.",
			Tips: unorderedOutput}, Run: functionList},
		{Name: "function load", Arity: -3, Flags: write | DenyOOM, Access: Access{Regrouped: acl.Write}, Cost: costConstant, Doc: Doc{Version: "7.0.0", Complexity: "O(N) in the library's length",
			Syntax: "FUNCTION LOAD [REPLACE] function-code", Summary: "Creates a library on all nodes. Returns its name.",
			Tips: "request_policy:all_shards response_policy:all_succeeded"}, Run: functionLoad},
		{Name: "function restore", Arity: -3, Flags: write | DenyOOM, Access: Access{Regrouped: acl.Write}, Cost: costConstant, Doc: Doc{Version: "7.0.0", Complexity: "O(N) in the libraries' length",
			Syntax: "FUNCTION RESTORE serialized-value [FLUSH|APPEND|REPLACE]", Summary: "Creates the libraries of a payload of FUNCTION DUMP, all or none.",
			Tips: "request_policy:all_shards response_policy:all_succeeded"}, Precheck: precheckFunctionRestore, Run: functionRestore},
		{Name: "function stats", Arity: 2, Flags: look, Cost: costConstant, Doc: Doc{Version: "7.0.0", Complexity: "O(1)",
			Syntax: "FUNCTION STATS", Summary: "Counts libraries and functions. No function is ever seen running.",
			Info: "allow_busy", Tips: "nondeterministic_output request_policy:all_shards response_policy:special"}, Run: functionStats},
	}
}

var (
	errBadKeys    = reply.Error("ERR Bad number of keys provided")
	errNoFunction = reply.Error("ERR Function not found")
)

func functionCall(tx *Tx, a *Args) reply.Value { return callFunction(tx, a, false) }

func functionCallReadOnly(tx *Tx, a *Args) reply.Value { return callFunction(tx, a, true) }

// callFunction runs a function of a library. Over HTTP one that doesn't say
// that it only reads may be called as one that does, and fails when it writes.
func callFunction(tx *Tx, a *Args, readOnly bool) reply.Value {
	library, f := tx.Scripts.Function(a.String())
	if f == nil {
		return errNoFunction
	}
	keys, args := a.keysAndArgs(errBadKeys)
	if err, ok := a.Done(); !ok {
		return err
	}
	if readOnly && !f.ReadOnly() && tx.scriptRules() == script.Exact {
		return errWriteFlag
	}
	p := &script.Program{Name: f.Name, Keys: keys, Args: args}
	return tx.program(readOnly || f.ReadOnly(), tx.lockedTo(f.LocksKeys(), keys), func(e *script.Engine, h script.Host, b *lua.Budget) (reply.Value, error) {
		return e.Invoke(library, tx.Scripts.Known(), p, h, b)
	})
}

// loadLibrary runs the text of a library to learn its functions.
func (tx *Tx) loadLibrary(source string) (*script.Library, error) {
	engine, release := tx.engine()
	l, err := engine.Load(source, tx.scriptRules(), tx.scriptBudget())
	var stopped *lua.Stopped
	if !errors.As(err, &stopped) {
		release()
	}
	return l, err
}

func libraryError(err error) reply.Value { return reply.Error("ERR " + clean(err.Error())) }

func functionLoad(tx *Tx, a *Args) reply.Value {
	replace := false
	for a.Left() > 1 {
		if !a.Word("REPLACE") {
			return reply.Error("ERR Unknown option given: " + shownLast(a.String()))
		}
		replace = true
	}
	source := a.String()
	if err, ok := a.Done(); !ok {
		return err
	}
	if err := tx.Scripts.Vacant(source, replace); err != nil {
		return libraryError(err)
	}
	if refusal := tx.roomFor(len(source)); refusal != nil {
		return *refusal
	}
	l, err := tx.loadLibrary(source)
	if err == nil {
		err = tx.Scripts.Add(l, replace)
	}
	if err != nil {
		return libraryError(err)
	}
	tx.DB.CountChanges(1)
	return reply.Bulk(l.Name)
}

func functionDelete(tx *Tx, a *Args) reply.Value {
	name := a.String()
	if err, ok := a.Done(); !ok {
		return err
	}
	if err := tx.Scripts.Delete(name); err != nil {
		return libraryError(err)
	}
	tx.DB.CountChanges(1)
	return reply.OK()
}

func functionFlush(tx *Tx, a *Args) reply.Value {
	if a.Left() > 1 {
		return a.badSubcommand()
	}
	if a.Left() == 1 && !a.Word("ASYNC") && !a.Word("SYNC") {
		return reply.Error("ERR FUNCTION FLUSH only supports SYNC|ASYNC option")
	}
	tx.Scripts.FlushLibraries()
	tx.DB.CountChanges(1)
	return reply.OK()
}

func functionDump(tx *Tx, a *Args) reply.Value {
	if err, ok := a.Done(); !ok {
		return err
	}
	var texts []string
	tx.Scripts.Libraries(func(l *script.Library) { texts = append(texts, l.Code) })
	return reply.Bulk(string(rdb.DumpFunctions(texts)))
}

// functionRestore adds the libraries of a payload to a copy of the store, and takes that
// if all of them can be added.
func functionRestore(tx *Tx, a *Args) reply.Value {
	if a.Left() > 2 {
		return a.badSubcommand()
	}
	payload, replace, flush := a.Bytes(), false, false
	switch {
	case a.Left() == 0, a.Word("APPEND"):
	case a.Word("REPLACE"):
		replace = true
	case a.Word("FLUSH"):
		flush = true
	default:
		return reply.Error("ERR Wrong restore policy given, value should be either FLUSH, APPEND or REPLACE.")
	}
	texts, err := rdb.Functions(payload)
	if errors.Is(err, rdb.ErrPayload) {
		return reply.Error("ERR DUMP payload version or checksum are wrong")
	}
	if err != nil {
		return reply.Error("ERR failed loading functions from payload")
	}
	if refusal := tx.roomFor(totalLength(texts)); refusal != nil {
		return *refusal
	}
	store := tx.Scripts.Fork()
	if flush {
		store.FlushLibraries()
	}
	for _, t := range texts {
		l, err := tx.loadLibrary(t)
		if err == nil && !replace && store.Library(l.Name) != nil {
			return reply.Error("ERR Library " + l.Name + " already exists") // without quotes, as by Redis
		}
		if err == nil {
			err = store.Add(l, replace)
		}
		if err != nil {
			return libraryError(err)
		}
	}
	*tx.Scripts = *store
	tx.DB.CountChanges(1)
	return reply.OK()
}

// precheckFunctionRestore checks a payload without the state; see Command.Precheck.
func precheckFunctionRestore(_ *Limits, argv [][]byte) (at int, word []byte) {
	const payload = 2
	if _, err := rdb.Functions(argv[payload]); err != nil {
		return payload, rdb.RefusedPayload(err)
	}
	return 0, nil
}

func totalLength(texts []string) (n int) {
	for _, t := range texts {
		n += len(t)
	}
	return n
}

func functionList(tx *Tx, a *Args) reply.Value {
	pattern, named, code := "*", false, false
	for a.Left() > 0 {
		switch {
		case !code && a.Word("WITHCODE"):
			code = true
		case !named && a.Word("LIBRARYNAME"):
			if a.Left() == 0 {
				return reply.Error("ERR library name argument was not given")
			}
			pattern, named = a.String(), true
		default:
			return reply.Error("ERR Unknown argument " + shownLast(a.String()))
		}
	}
	list := []reply.Value{}
	pattern = ascii.Lower(pattern)
	tx.Scripts.Libraries(func(l *script.Library) {
		if tx.matches(pattern, ascii.Lower(l.Name)) {
			list = append(list, describeLibrary(l, code))
		}
	})
	return reply.Array(list...)
}

func describeLibrary(l *script.Library, code bool) reply.Value {
	list := make([]reply.Value, len(l.Functions))
	for i := range l.Functions {
		f := &l.Functions[i]
		description, flags := reply.Nil(), []reply.Value{}
		if f.Described {
			description = reply.Bulk(f.Description)
		}
		for _, flag := range f.Flags {
			flags = append(flags, reply.Status(flag))
		}
		list[i] = reply.Map(reply.Bulk("name"), reply.Bulk(f.Name), reply.Bulk("description"), description, reply.Bulk("flags"), reply.Set(flags...))
	}
	fields := []reply.Value{reply.Bulk("library_name"), reply.Bulk(l.Name), reply.Bulk("engine"), reply.Bulk("LUA"), reply.Bulk("functions"), reply.Array(list...)}
	if code {
		fields = append(fields, reply.Bulk("library_code"), reply.Bulk(l.Code))
	}
	return reply.Map(fields...)
}

func functionStats(tx *Tx, a *Args) reply.Value {
	if err, ok := a.Done(); !ok {
		return err
	}
	libraries, functions := tx.Scripts.Counts()
	engine := reply.Map(reply.Bulk("libraries_count"), reply.Int(int64(libraries)), reply.Bulk("functions_count"), reply.Int(int64(functions)))
	return reply.Map(reply.Bulk("running_script"), reply.Nil(), reply.Bulk("engines"), reply.Map(reply.Bulk("LUA"), engine))
}

func functionHelp(*Tx, *Args) reply.Value {
	return helpLines(
		"FUNCTION subcommands. Libraries belong to the database, on all nodes:",
		"DELETE library-name", "    Deletes a library.",
		"DUMP", "    All libraries as a payload for RESTORE.",
		"FLUSH [ASYNC|SYNC]", "    Deletes all libraries.",
		"KILL", "    Ends the functions that read on this node.",
		"LIST [LIBRARYNAME pattern] [WITHCODE]", "    Describes the libraries.",
		"LOAD [REPLACE] function-code", "    Creates a library.",
		"RESTORE payload [FLUSH|APPEND|REPLACE]", "    Creates the libraries of a payload.",
		"STATS", "    Counts libraries and functions.",
		"HELP", "    These lines.",
	)
}
