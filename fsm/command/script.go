package command

import (
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/fsm/script"
	"github.com/trireme-dev/trireme/fsm/script/lua"
)

// scripting is the Scripting family: scripts, and functions in libraries. The log
// carries the script, which every node runs; see docs/scripting.md.
func scripting() []Command {
	run, look := Write|NoScript, ReadOnly|NoScript // nothing of scripts is for the Read Only token
	keys := countedKeys(2, 1)
	return append([]Command{
		{Name: "eval", Arity: -3, Flags: run | KeysOptional, Keys: keys.uses(counted(rwAccessUpdate, 2)), Cost: costConstant, Doc: Doc{Version: "2.6.0", Complexity: "that of the script",
			Syntax: "EVAL script numkeys [key ...] [arg ...]", Summary: "Runs a Lua script, and keeps it for EVALSHA.",
			Info: "stale skip_monitor no_mandatory_keys"}, Run: eval},
		{Name: "eval_ro", Arity: -3, Flags: look | KeysOptional, Keys: keys.uses(counted(roAccess, 2)), Cost: costScript, Doc: Doc{Version: "7.0.0", Complexity: "that of the script",
			Syntax: "EVAL_RO script numkeys [key ...] [arg ...]", Summary: "Runs a Lua script that only reads. It doesn't go through the log and isn't kept.",
			Info: "stale skip_monitor no_mandatory_keys"}, Run: evalReadOnly},
		{Name: "evalsha", Arity: -3, Flags: run | KeysOptional, Keys: keys.uses(counted(rwAccessUpdate, 2)), Cost: costConstant, Doc: Doc{Version: "2.6.0", Complexity: "that of the script",
			Syntax: "EVALSHA sha1 numkeys [key ...] [arg ...]", Summary: "Runs a script by its digest, on any node.",
			Info: "stale skip_monitor no_mandatory_keys"}, Run: evalSHA},
		{Name: "evalsha_ro", Arity: -3, Flags: look | KeysOptional, Keys: keys.uses(counted(roAccess, 2)), Cost: costScript, Doc: Doc{Version: "7.0.0", Complexity: "that of the script",
			Syntax: "EVALSHA_RO sha1 numkeys [key ...] [arg ...]", Summary: "Runs a script that only reads by its digest, on any node.",
			Info: "stale skip_monitor no_mandatory_keys"}, Run: evalSHAReadOnly},
		{Name: "script debug", Arity: 3, Flags: NoScript | NoHTTP, Cost: costConstant, Doc: Doc{Version: "3.2.0", Complexity: "O(1)",
			Syntax: "SCRIPT DEBUG YES|SYNC|NO", Summary: "Takes NO; there is no debugger."}, Run: scriptDebug},
		{Name: "script exists", Arity: -3, Flags: ReadOnly | NoScript, Cost: costConstant, Doc: Doc{Version: "2.6.0", Complexity: "O(N) in digests",
			Syntax: "SCRIPT EXISTS sha1 [sha1 ...]", Summary: "Tells of each digest whether there is a script of it.",
			Tips: "request_policy:all_shards response_policy:agg_logical_and"}, Run: scriptExists},
		{Name: "script flush", Arity: -2, Flags: Write | NoScript, Cost: costConstant, Doc: Doc{Version: "2.6.0", Complexity: "O(N) in scripts",
			Syntax: "SCRIPT FLUSH [ASYNC|SYNC]", Summary: "Forgets all scripts of the database, on all nodes.",
			Tips: "request_policy:all_nodes response_policy:all_succeeded", Changes: []Change{{"6.2.0", "Takes ASYNC and SYNC."}}}, Run: scriptFlush},
		{Name: "script help", Arity: 2, Flags: ReadOnlyUser | NoScript, Cost: costConstant, Doc: Doc{Version: "5.0.0", Complexity: "O(1)",
			Syntax: "SCRIPT HELP", Summary: "Lists the subcommands.",
			Info: whileLoading}, Run: scriptHelp},
		{Name: "script kill", Arity: 2, Flags: NoScript, Cost: costConstant, Doc: Doc{Version: "2.6.0", Complexity: "O(1)",
			Syntax: "SCRIPT KILL", Summary: "Ends the scripts that read on the node that answers. Others end by themselves when their budget is spent.",
			Info: "allow_busy", Tips: "request_policy:all_shards response_policy:one_succeeded"}, Run: notBusy},
		{Name: "script load", Arity: 3, Flags: Write | NoScript, Cost: costConstant, Doc: Doc{Version: "2.6.0", Complexity: "O(N) in the script's length",
			Syntax: "SCRIPT LOAD script", Summary: "Keeps a script for EVALSHA on all nodes until a flush. Returns its digest.",
			Info: "stale", Tips: "request_policy:all_nodes response_policy:all_succeeded"}, Run: scriptLoad},
		{Name: "script show", Arity: 3, Flags: ReadOnly | NoScript, Cost: costConstant, Doc: Doc{Version: "8.0.0", Complexity: "O(1)",
			Syntax: "SCRIPT SHOW sha1", Summary: "Returns the text of a script."}, Run: scriptShow},
	}, functions()...)
}

// Scripts reports whether a command runs a script or a function.
func (t *Table) Scripts(argv [][]byte) bool {
	c := t.Find(argv)
	return c != nil && c.Group() == "scripting" && c.words == 1
}

var (
	errNoScript     = reply.Error("NOSCRIPT No matching script. Please use EVAL.")
	errManyKeys     = reply.Error("ERR Number of keys can't be greater than number of args")
	errNegativeKeys = reply.Error("ERR Number of keys can't be negative")
	errWriteFlag    = reply.Error("ERR Can not execute a script with write flag using *_ro command.")
	errNotBusy      = reply.Error("NOTBUSY No scripts in execution right now.")
	errReadOnlyRun  = reply.Error("ERR Write commands are not allowed from read-only scripts.")
)

// Scripting holds the scripts that a Tx may run, and their limits.
type Scripting struct {
	// Scripts are the scripts and libraries of the database.
	Scripts *script.Store
	// Engine runs them; nil in a read, which borrows one.
	Engine *script.Engine
	// Borrow gives a read an engine, and what takes it back.
	Borrow func() (*script.Engine, func())
	// Undo prepares to take back what is written from now on; nil where nothing can be.
	Undo Undoer
	// Interrupted, if set, reports whether the scripts of a read were killed.
	Interrupted func() bool

	budget lua.Budget // left for this transaction or row
	spent  bool       // it has been drawn
	drawn  int64      // its steps when it was drawn
	before int64      // steps that earlier rows of the request have used
	run    *running
}

// Undoer keeps the keys, or the messages, as they are, and returns what puts them back into
// the state and tx.
type Undoer interface {
	Mark(tx *Tx, messages bool) (undo func())
}

// running is a script under way: the world that it sees.
type running struct {
	tx       *Tx
	origin   Origin // through which the script was called
	readOnly bool
	full     bool      // memory was over its limit when it began
	declared keySet    // the keys that it may use; nil for any
	undo     [2]func() // of keys and messages, once they have been marked
	notes    int
	live     *lua.Budget // of the script, while it calls a command
}

// NewBudget gives the scripts to come a budget of their own, of what the request has
// left.
func (tx *Tx) NewBudget() {
	tx.before += tx.Spent()
	tx.spent = false
}

// scriptBudget gives the scripts of this transaction their budget.
func (tx *Tx) scriptBudget() *lua.Budget {
	if !tx.spent {
		steps := tx.Limits.Script()
		most := max(steps, steps*pipelineAllowance) // which overflows for no limit
		tx.budget, tx.spent = script.BudgetOf(steps), true
		tx.budget.Setting = "max-script-steps"
		tx.drawn = min(tx.budget.Steps, max(0, most-tx.before))
		tx.budget.Steps = tx.drawn
		if tx.Interrupted != nil || tx.Paced() {
			tx.budget.Interruptible(tx.interrupted)
		}
	}
	return &tx.budget
}

// Spent returns the steps of the budget that scripts have used.
func (tx *Tx) Spent() int64 {
	if !tx.spent {
		return 0
	}
	return tx.drawn - max(0, tx.budget.Left())
}

// engine returns an engine to run a script on, and the function that releases it.
func (tx *Tx) engine() (e *script.Engine, release func()) {
	e, release = tx.Engine, func() {}
	switch {
	case e != nil:
	case tx.Borrow != nil:
		e, release = tx.Borrow()
	default:
		e = script.NewEngine()
	}
	return e, release
}

// scriptRules are those for the texts of scripts and libraries. The scripts of clients over
// HTTP carry flags that only their service knows.
func (tx *Tx) scriptRules() script.Rules {
	if tx.dialect().unknownFlags {
		return script.Tolerant
	}
	return script.Exact
}

// program runs what start runs as a script: with the budget, and undone if that is
// spent. A declared set bounds the keys that it may use.
func (tx *Tx) program(readOnly bool, declared keySet, start func(*script.Engine, script.Host, *lua.Budget) (reply.Value, error)) reply.Value {
	tx.scriptBudget()
	full := tx.full() && !tx.makeRoom()
	tx.fire() // what was evicted stays so
	notes := len(tx.Notifications)
	r := &running{tx: tx, origin: tx.Origin, readOnly: readOnly || tx.ReadOnly, full: full, declared: declared, notes: notes}
	origin := tx.Origin
	tx.run = r
	engine, release := tx.engine()
	v, stop := start(engine, r, &tx.budget)
	tx.run, tx.Origin = nil, origin
	if stop == nil {
		release()
		return v
	}
	for _, undo := range r.undo {
		if undo != nil {
			undo()
		}
	}
	tx.retract(r.notes)
	if tx.Messages != nil {
		tx.Triggers = tx.Messages.Triggers()
	}
	return v
}

// Call runs a command for the script.
func (r *running) Call(argv [][]byte, b *lua.Budget) reply.Value {
	tx := r.tx
	r.live = b
	origin := tx.Origin
	tx.Origin = Script
	v := tx.Exec(argv)
	tx.Origin = origin
	return v
}

// admit lets a command of the script run, or says why it may not. Before the first that
// writes the database is marked, so that the script can be undone.
func (r *running) admit(c *Command, argv [][]byte) *reply.Value {
	r.charge(r.live, c, argv)
	if c.Flags&Write != 0 && r.readOnly { // whatever the arguments
		return &errReadOnlyRun
	}
	if refusal := r.declared.refuse(c, argv); refusal != nil {
		return refusal
	}
	if c.OnlyReads(argv) {
		return nil
	}
	if r.tx.needsRoom(c, argv) && r.outOfMemory() {
		return ptr(r.tx.overMemory())
	}
	if c.Group() == "messages" {
		r.mark(messagesPart)
	} else {
		r.mark(keysPart)
	}
	return nil
}

// Permitted reports whether the user may run a command.
func (r *running) Permitted(argv [][]byte) (ok, known bool) {
	c := r.tx.Table.Find(argv)
	switch {
	case c == nil:
		return false, false
	case c.Takes(len(argv)):
		return r.tx.permit(c, argv) == nil, true
	}
	denied, _ := r.tx.User.Permit(&acl.Call{Command: c.number})
	return denied == acl.Permitted, true
}

// Uint64 draws a number from the apply's generator.
func (r *running) Uint64() uint64 { return r.tx.Uint64() }

// Double returns a number in the form of scores.
func (r *running) Double(f float64) reply.Value { return r.tx.score(f) }

// keysAndArgs reads what a script is given: a number of keys, keys, other words.
func (a *Args) keysAndArgs(bad reply.Value) (keys, args [][]byte) {
	n := a.IntOr(bad)
	rest := a.Rest()
	switch {
	case n > int64(len(rest)):
		a.Fail(errManyKeys)
	case n < 0:
		a.Fail(errNegativeKeys)
	}
	if a.bad {
		return nil, nil
	}
	return rest[:n], rest[n:]
}

func eval(tx *Tx, a *Args) reply.Value { return evalBody(tx, a, false) }

func evalReadOnly(tx *Tx, a *Args) reply.Value { return evalBody(tx, a, true) }

func evalBody(tx *Tx, a *Args, readOnly bool) reply.Value {
	body := a.String()
	return tx.evaluate(a, script.Digest(body), body, tx.scriptRules(), readOnly)
}

func evalSHA(tx *Tx, a *Args) reply.Value { return evalKnown(tx, a, false) }

func evalSHAReadOnly(tx *Tx, a *Args) reply.Value { return evalKnown(tx, a, true) }

// nameSize is the length of a script's name in bytes.
const nameSize = 40

func evalKnown(tx *Tx, a *Args, readOnly bool) reply.Value {
	digest := string(lower(nil, a.Bytes()))
	body, ok := tx.Scripts.Script(digest)
	if !ok {
		if len(digest) == nameSize { // one of another length is judged before the rest
			a.keysAndArgs(ErrNotInteger)
			if err, ok := a.Done(); !ok {
				return err
			}
		}
		return errNoScript
	}
	return tx.evaluate(a, digest, body, min(tx.scriptRules(), script.Tolerant), readOnly) // its flags were judged when it came
}

// evaluate runs a script with the keys and arguments that a has left, and keeps it where
// that is a write.
func (tx *Tx) evaluate(a *Args, digest, body string, rules script.Rules, readOnly bool) reply.Value {
	keys, args := a.keysAndArgs(ErrNotInteger)
	if err, ok := a.Done(); !ok {
		return err
	}
	head, err := script.ParseShebang(body, rules)
	if err != nil {
		return reply.Error("ERR " + clean(err.Error()))
	}
	if readOnly && head.Given && !head.ReadOnly() {
		return errWriteFlag
	}
	p := &script.Program{Name: digest, Body: body, Keys: keys, Args: args}
	return tx.program(readOnly || head.ReadOnly(), tx.lockedTo(head.LocksKeys(), keys), func(e *script.Engine, h script.Host, b *lua.Budget) (reply.Value, error) {
		_, kept := tx.Scripts.Script(digest)
		if err := e.Compile(body, kept && tx.Scripts.Known(), b); err != nil {
			return errCompile(err), nil
		}
		if tx.keeps(digest, body) {
			tx.Scripts.Use(digest, body)
		}
		return e.Eval(p, h, b)
	})
}

func errCompile(err error) reply.Value {
	return reply.Error("ERR Error compiling script (new function): " + clean(err.Error()))
}

func notBusy(_ *Tx, a *Args) reply.Value {
	if err, ok := a.Done(); !ok {
		return err
	}
	return errNotBusy
}

func scriptDebug(_ *Tx, a *Args) reply.Value {
	switch {
	case a.Word("NO"):
		return reply.OK()
	case a.Word("YES"), a.Word("SYNC"):
		return reply.Error("ERR there is no debugger: scripts run on every node")
	}
	return reply.Error("ERR Use SCRIPT DEBUG YES/SYNC/NO")
}

func scriptHelp(*Tx, *Args) reply.Value {
	return helpLines(
		"SCRIPT subcommands. Scripts belong to the database, on all nodes:",
		"DEBUG NO", "    Takes NO only: there is no debugger.",
		"EXISTS sha1 [sha1 ...]", "    Tells of each digest whether there is a script of it.",
		"FLUSH [ASYNC|SYNC]", "    Forgets all scripts.",
		"KILL", "    Ends the scripts that read on this node.",
		"LOAD script", "    Keeps a script until a flush and returns its digest.",
		"SHOW sha1", "    The text of a script.",
		"HELP", "    These lines.",
	)
}
