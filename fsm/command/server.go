package command

import (
	"github.com/trireme-dev/trireme/fsm/acl"
	"slices"
	"strconv"

	"github.com/trireme-dev/trireme/fsm/reply"
)

// server is the Server family.
func server() []Command {
	const about = ReadOnlyUser
	return append([]Command{
		{Name: "command", Arity: -1, Flags: about, Cost: costConstant, Doc: Doc{Version: "2.8.13", Complexity: "O(n), where n is the number of commands",
			Syntax: "COMMAND", Summary: "Returns the entries of all commands.",
			Info: whileLoading, Tips: unorderedOutput}, Access: Access{Categories: acl.Connection}, Run: commandTable},
		{Name: "command count", Arity: 2, Flags: about, Cost: costConstant, Doc: Doc{Version: "2.8.13", Complexity: "O(n), where n is the number of commands",
			Syntax: "COMMAND COUNT", Summary: "Returns the number of commands.",
			Info: whileLoading}, Access: Access{Categories: acl.Connection}, Run: commandCount},
		{Name: "command docs", Arity: -2, Flags: about, Cost: costConstant, Work: describeWork, Doc: Doc{Version: "7.0.0", Complexity: "O(n), where n is the number of commands",
			Syntax: "COMMAND DOCS [command-name ...]", Summary: "Returns what there is to read about commands.",
			Info: whileLoading, Tips: unorderedOutput}, Access: Access{Categories: acl.Connection}, Run: commandDocs},
		{Name: "command getkeys", Arity: -3, Flags: about, Cost: costConstant, Doc: Doc{Version: "2.8.13", Complexity: "O(n), where n is the number of arguments",
			Syntax: "COMMAND GETKEYS command [arg ...]", Summary: "Returns the keys that a command names.",
			Info: whileLoading}, Access: Access{Categories: acl.Connection}, Run: commandGetKeys},
		{Name: "command getkeysandflags", Arity: -3, Flags: about, Cost: costConstant, Doc: Doc{Version: "7.0.0", Complexity: "O(n), where n is the number of arguments",
			Syntax: "COMMAND GETKEYSANDFLAGS command [arg ...]", Summary: "Returns the keys that a command names, and what it does with each.",
			Info: whileLoading}, Access: Access{Categories: acl.Connection}, Run: commandGetKeysAndFlags},
		{Name: "command help", Arity: 2, Flags: about, Cost: costConstant, Doc: Doc{Version: "5.0.0", Complexity: "O(1)",
			Syntax: "COMMAND HELP", Summary: "Lists the subcommands.",
			Info: whileLoading}, Access: Access{Categories: acl.Connection}, Run: helpOf("COMMAND")},
		{Name: "command info", Arity: -2, Flags: about, Cost: costConstant, Work: describeWork, Access: Access{Categories: acl.Connection}, Doc: Doc{Version: "2.8.13", Complexity: "O(n), where n is the number of commands",
			Syntax: "COMMAND INFO [command-name ...]", Summary: "Returns the entries of commands.",
			Info: whileLoading, Tips: unorderedOutput, Changes: []Change{{"7.0.0", "Without names it tells of all commands."}}}, Run: commandInfo},
		{Name: "command list", Arity: -2, Flags: about, Cost: costConstant, Work: describeWork, Doc: Doc{Version: "7.0.0", Complexity: "O(n), where n is the number of commands",
			Syntax: "COMMAND LIST [FILTERBY MODULE name | ACLCAT category | PATTERN pattern]", Summary: "Returns the names of commands.",
			Info: whileLoading, Tips: unorderedOutput}, Access: Access{Categories: acl.Connection}, Run: commandList},
		{Name: "config get", Arity: -3, Flags: Admin | NoScript, Cost: costConstant, Doc: Doc{Version: "2.0.0", Complexity: "O(n), where n is the number of patterns",
			Syntax: "CONFIG GET parameter [parameter ...]", Summary: "Returns the parameters that match: notify-keyspace-events, and over RESP what tools read.",
			Info: whileLoading, Changes: []Change{{"7.0.0", "Takes several patterns."}}}, Run: configGet},
		{Name: "config help", Arity: 2, Flags: about, Cost: costConstant, Doc: Doc{Version: "5.0.0", Complexity: "O(1)",
			Syntax: "CONFIG HELP", Summary: "Lists the subcommands.",
			Info: whileLoading}, Run: helpOf("CONFIG")},
		{Name: "config set", Arity: -4, Flags: Write | Admin | NoScript, Cost: costConstant, Doc: Doc{Version: "2.0.0", Complexity: "O(n), where n is the number of parameters",
			Syntax: "CONFIG SET parameter value [parameter value ...]", Summary: "Sets a parameter on all nodes; notify-keyspace-events is the only one that changes.",
			Info: whileLoading, Tips: "request_policy:all_nodes response_policy:all_succeeded", Changes: []Change{{"7.0.0", "Takes several parameters."}}}, Run: configSet},
		{Name: "info", Arity: -1, Flags: NoScript, Cost: costConstant, Access: Access{Categories: acl.Dangerous}, Doc: Doc{Version: "1.0.0", Complexity: "O(n), where n is the number of keys past their deadline",
			Syntax: "INFO [section ...]", Summary: "Returns what the node that answers says of itself.",
			Info: whileLoading, Tips: "nondeterministic_output request_policy:all_shards response_policy:special", Changes: []Change{{"7.0.0", "Takes several sections."}}}, Run: info},
		{Name: "lastsave", Arity: 1, Flags: NoScript | Fast, Cost: costConstant, Doc: Doc{Version: "1.0.0", Complexity: "O(1)",
			Syntax: "LASTSAVE", Summary: "Returns when the node that answers wrote its last snapshot, as Unix seconds.",
			Info: whileLoading, Tips: vagueOutput}, Access: Access{Categories: acl.AdminCategory | acl.Dangerous}, Run: lastSave},
		{Name: "lolwut", Arity: -1, Flags: ReadOnly | Fast, Cost: costConstant, Doc: Doc{Version: "5.0.0", Complexity: "O(1)",
			Syntax: "LOLWUT [VERSION version]", Summary: "Draws a ship."}, Run: showLolwut},
		{Name: "role", Arity: 1, Flags: NoScript | Fast, Cost: costConstant, Doc: Doc{Version: "2.8.12", Complexity: "O(n), where n is the number of nodes",
			Syntax: "ROLE", Summary: "Returns whether the node that answers leads, and who else there is.",
			Info: whileLoading}, Access: Access{Categories: acl.AdminCategory | acl.Dangerous}, Run: role},
		{Name: "swapdb", Arity: 3, Flags: Write | Fast, Cost: costConstant, Doc: Doc{Version: "4.0.0", Complexity: "O(1)",
			Syntax: "SWAPDB index1 index2", Summary: "Takes the one database there is, 0."},
			Access: Access{Categories: acl.Keyspace | acl.Dangerous}, Run: swapDB},
		{Name: "dbsize", Arity: 1, Flags: ReadOnly | Fast | ReadOnlyUser, Cost: costConstant, Doc: Doc{Version: "1.0.0", Complexity: "O(1)",
			Syntax: "DBSIZE", Summary: "Returns the number of keys.",
			Tips: "request_policy:all_shards response_policy:agg_sum"}, Access: Access{Categories: acl.Keyspace}, Run: dbSize},
		{Name: "flushall", Arity: -1, Flags: Write, Cost: costKeyspace, Work: noMoreWork, Access: Access{Categories: acl.Keyspace | acl.Dangerous}, Doc: Doc{Version: "1.0.0", Complexity: "O(1)",
			Syntax: "FLUSHALL [ASYNC | SYNC]", Summary: "Deletes all keys.",
			Tips: "request_policy:all_shards response_policy:all_succeeded", Changes: []Change{takesAsync, takesSync}}, Run: flush},
		{Name: "flushdb", Arity: -1, Flags: Write, Cost: costKeyspace, Work: noMoreWork, Access: Access{Categories: acl.Keyspace | acl.Dangerous}, Doc: Doc{Version: "1.0.0", Complexity: "O(1)",
			Syntax: "FLUSHDB [ASYNC | SYNC]", Summary: "Deletes all keys, like FLUSHALL.",
			Tips: "request_policy:all_shards response_policy:all_succeeded", Changes: []Change{takesAsync, takesSync}}, Run: flush},
		{Name: "monitor", Arity: 1, Flags: Admin | NoHTTP | NoScript | NoMulti, Cost: costConstant, Doc: Doc{Version: "1.0.0", Complexity: "O(1)",
			Syntax: "MONITOR", Summary: "Shows the connection what all nodes execute in its database.",
			Info: whileLoading}, Run: ofConnection},
		{Name: "time", Arity: 1, Flags: Fast | ReadOnlyUser, Cost: costConstant, Doc: Doc{Version: "2.6.0", Complexity: "O(1)",
			Syntax: "TIME", Summary: "Returns cluster time as Unix seconds and the microseconds within the second.",
			Info: whileLoading, Tips: vagueOutput}, Run: timeNow},
	}, slices.Concat(fixedRows(), figureRows())...)
}

// dbSize counts keys past their deadline as gone, swept or not.
func dbSize(tx *Tx, a *Args) reply.Value {
	if err, ok := a.Done(); !ok {
		return err
	}
	return reply.Int(int64(tx.DB.Live(tx.Env)))
}

func flush(tx *Tx, a *Args) reply.Value {
	async := a.Left() > 0 && a.Word("ASYNC")
	if a.Left() > 0 && !async && !a.Word("SYNC") {
		a.Fail(ErrSyntax)
	}
	if err, ok := a.Done(); !ok {
		return err
	}
	if async {
		tx.DB.CountFreed(int64(tx.DB.Len()))
	}
	tx.changes = int64(tx.DB.Len())
	tx.DB.Flush(tx.Env)
	if len(tx.Triggers) > 0 {
		tx.changed(flushEvent, nil)
	}
	return reply.OK()
}

// timeNow answers in cluster time, which has milliseconds.
func timeNow(tx *Tx, a *Args) reply.Value {
	if err, ok := a.Done(); !ok {
		return err
	}
	sec, ms := tx.Now/1000, tx.Now%1000
	return reply.Array(reply.Bulk(strconv.FormatInt(sec, 10)), reply.Bulk(strconv.FormatInt(ms*1000, 10)))
}
