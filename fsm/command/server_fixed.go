package command

import (
	"github.com/trireme-dev/trireme/fsm/ascii"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// fixedRows are commands of the Server family with an answer that never changes here,
// because what they are about does not exist.
func fixedRows() []Command {
	row := func(name string, arity int, version, syntax, summary string, answer reply.Value) Command {
		return Command{Name: name, Arity: arity, Flags: Admin | NoScript, Cost: costConstant, Doc: Doc{Version: version, Complexity: "O(1)",
			Syntax: syntax, Summary: summary}, Run: func(*Tx, *Args) reply.Value { return answer }}
	}
	asked := func(name string, version, syntax string) Command {
		c := row(name, 2, version, syntax, "Lists the subcommands.", reply.Nil())
		c.Flags, c.Run = ReadOnlyUser, helpOf(ascii.Upper(container(name)))
		return c
	}
	refused := func(name string, arity int, version, syntax, summary, answer string) Command {
		c := row(name, arity, version, syntax, summary, reply.Error(answer))
		c.Flags |= NoHTTP | NoMulti
		return c
	}
	anywhere := func(c Command, flags Flags) Command {
		c.Flags = flags
		return c
	}
	return []Command{
		asked("latency help", "2.8.13", "LATENCY HELP").described(whileLoading, ""),
		asked("slowlog help", "6.2.0", "SLOWLOG HELP").described(whileLoading, ""),
		refused("debug", -2, "1.0.0", "DEBUG subcommand [arg ...]", "Is refused: it exists for tests of a server that is not this one.", "ERR DEBUG command not allowed.").described(whileLoading, ""),
		refused("shutdown", -1, "1.0.0", "SHUTDOWN [NOSAVE | SAVE] [NOW] [FORCE] [ABORT]", "Is refused: a node is stopped by a signal to its process.", "ERR a node is stopped by a signal to its process, not by a command").described("allow_busy loading no_multi stale", "", Change{"7.0.0", "Takes NOW, FORCE and ABORT."}),
		row("bgrewriteaof", 1, "1.0.0", "BGREWRITEAOF", "Says that it has begun: the log is compacted by itself.", reply.Status("Background append only file rewriting started")).described("no_async_loading", ""),
		{Name: "bgsave", Arity: -1, Flags: Admin | NoScript, Cost: costConstant, Doc: Doc{Version: "1.0.0", Complexity: "O(1)",
			Syntax: "BGSAVE [SCHEDULE]", Summary: "Says that it has begun: snapshots are written by themselves.",
			Info: "no_async_loading", Changes: []Change{{"3.2.2", "Takes SCHEDULE."}}}, Run: bgSave},
		row("config rewrite", 2, "2.8.0", "CONFIG REWRITE", "Answers OK: parameters are replicated, there is no file.", reply.OK()).described(whileLoading, ""),
		anywhere(row("memory purge", 2, "4.0.0", "MEMORY PURGE", "Answers OK: memory is given back by itself.", reply.OK()), 0).described("", "request_policy:all_shards response_policy:all_succeeded"),
		row("module list", 2, "4.0.0", "MODULE LIST", "Answers nothing: there are no modules.", reply.Array()).described("", unorderedOutput),
		row("save", 1, "1.0.0", "SAVE", "Answers OK: every acknowledged write is on disk.", reply.OK()).described("no_async_loading no_multi", ""),
	}
}

// lolwut is the reply of the command of that name.
const lolwut = "      |    |    |\n     )_)  )_)  )_)\n    )___))___))___)\n___|____|____|____|___\n\\  / / / / / / / / / /\n~~~~~~~~~~~~~~~~~~~~~~\nTrireme, three nodes and one log. Redis ver. " + RedisVersion + "\n"

// showLolwut draws the same ship in every version.
func showLolwut(_ *Tx, a *Args) reply.Value {
	if a.Left() > 1 && a.Word("VERSION") {
		if a.Int(); a.bad {
			return a.err
		}
	}
	return reply.Verbatim(lolwut)
}

// bgSave has nothing to begin: snapshots are written by themselves.
func bgSave(_ *Tx, a *Args) reply.Value {
	if a.Left() > 0 && !a.Word("SCHEDULE") {
		return ErrSyntax
	}
	if err, ok := a.Done(); !ok {
		return err
	}
	return reply.Status("Background saving started")
}

// index returns the next word as the number of a database, which has 32 bits.
func (a *Args) index(e reply.Value) int64 {
	n := a.IntOr(e)
	if n != int64(int32(n)) {
		a.Fail(e)
	}
	return n
}

func swapDB(_ *Tx, a *Args) reply.Value {
	first := a.index(reply.Error("ERR invalid first DB index"))
	second := a.index(reply.Error("ERR invalid second DB index"))
	if err, ok := a.Done(); !ok {
		return err
	}
	if first != 0 || second != 0 {
		return ErrDBIndex
	}
	return reply.OK()
}

// copies returns the least number of other nodes that have stored every write acknowledged
// before now: a write needs a majority, and this node is one of it.
func (tx *Tx) copies() int64 { return int64(tx.Nodes / 2) }

// wait answers at once, also with fewer nodes than asked for: more may have the writes,
// but nothing waits for them.
func wait(tx *Tx, a *Args) reply.Value {
	a.Int()
	if a.IntOr(reply.Error("ERR timeout is not an integer or out of range")) < 0 {
		a.Fail(errTimeoutNegative)
	}
	if err, ok := a.Done(); !ok {
		return err
	}
	return reply.Int(tx.copies())
}

// waitAOF is wait for disks: a write is acknowledged when it is on those of a majority.
func waitAOF(tx *Tx, a *Args) reply.Value {
	if local := a.Int(); local < 0 || local > 1 {
		a.Fail(reply.Error("ERR value is out of range, must be between 0 and 1"))
	}
	if a.Int() < 0 {
		a.Fail(reply.Error("ERR value is out of range, must be positive"))
	}
	if a.IntOr(reply.Error("ERR timeout is not an integer or out of range")) < 0 {
		a.Fail(errTimeoutNegative)
	}
	if err, ok := a.Done(); !ok {
		return err
	}
	return reply.Array(reply.Int(1), reply.Int(tx.copies()))
}
