package command

import (
	"slices"

	"github.com/trireme-dev/trireme/fsm/acl"
)

// generic is the Generic family: what works on keys of any type. The handlers
// stand in the files generic_*.go.
func generic() []Command {
	return slices.Concat(keyRows(), keyInspections(), deadlineChanges(), deadlineReads(), waitRows())
}

// keyRows are the rows that make, name and remove keys.
func keyRows() []Command {
	const write = Write | Fast
	return []Command{
		{Name: "copy", Arity: -3, Flags: Write | DenyOOM | ReportsMiss, Keys: twoKeys.uses(one(roAccess, 1), one(owUpdate, 2)), Cost: costValues, Doc: Doc{Version: "6.2.0", Complexity: "O(1) for strings and large values, O(n) for values of up to 64 elements",
			Syntax: "COPY source destination [DB destination-db] [REPLACE]", Summary: "Copies the value and the deadline of a key to another key."}, Run: copyKey},
		{Name: "del", Arity: -2, Flags: Write, Keys: allKeys.with(rmDelete), Cost: costConstant, Counts: answered, Doc: Doc{Version: "1.0.0", Complexity: "O(n), where n is the number of keys",
			Syntax: "DEL key [key ...]", Summary: "Deletes keys and returns how many there were.",
			Tips: "request_policy:multi_shard response_policy:agg_sum"}, Run: del},
		{Name: "move", Arity: 3, Flags: write, Keys: firstKey.with(rwAccessUpdate), Cost: costConstant, Doc: Doc{Version: "1.0.0", Complexity: "O(1)",
			Syntax: "MOVE key db", Summary: "Refuses: there is one database."}, Run: move},
		{Name: "rename", Arity: 3, Flags: Write | MakesKeys | MayGrow, Keys: twoKeys.uses(one(rwAccessDelete, 1), one(owUpdate, 2)), Cost: costConstant, Doc: Doc{Version: "1.0.0", Complexity: "O(1)",
			Syntax: "RENAME key newkey", Summary: "Renames a key and overwrites what the new name held."}, Run: rename},
		{Name: "renamenx", Arity: 3, Flags: write | MakesKeys | MayGrow, Keys: twoKeys.uses(one(rwAccessDelete, 1), one(owInsert, 2)), Cost: costConstant, Doc: Doc{Version: "1.0.0", Complexity: "O(1)",
			Syntax: "RENAMENX key newkey", Summary: "Renames a key if the new name is free.",
			Changes: []Change{{"3.2.0", "Both names may be the same."}}}, Run: renameNX},
		{Name: "unlink", Arity: -2, Flags: write, Keys: allKeys.with(rmDelete), Cost: costConstant, Counts: answered, Doc: Doc{Version: "4.0.0", Complexity: "O(n), where n is the number of keys",
			Syntax: "UNLINK key [key ...]", Summary: "Deletes keys and returns how many there were, like DEL.",
			Tips: "request_policy:multi_shard response_policy:agg_sum"}, Run: unlink},
	}
}

// keyInspections are the rows that tell of keys.
func keyInspections() []Command {
	const read = ReadOnly | Fast | ReadOnlyUser
	return []Command{
		{Name: "exists", Arity: -2, Flags: read | NoTouch, Keys: allKeys.with(ro), Cost: costConstant, Doc: Doc{Version: "1.0.0", Complexity: "O(n), where n is the number of keys",
			Syntax: "EXISTS key [key ...]", Summary: "Returns how many of the keys exist; a key named twice counts twice.",
			Tips: "request_policy:multi_shard response_policy:agg_sum", Changes: []Change{{"3.0.3", "Takes several keys."}}}, Run: exists},
		{Name: "keys", Arity: 2, Flags: ReadOnly | NoTouch, Cost: costKeyspace, Doc: Doc{Version: "1.0.0", Complexity: "O(n), where n is the number of keys in the database",
			Syntax: "KEYS pattern", Summary: "Returns all keys that match a pattern.",
			Tips: "request_policy:all_shards nondeterministic_output_order"}, Access: Access{Categories: acl.Dangerous}, Run: keys},
		{Name: "randomkey", Arity: 1, Flags: ReadOnly, Cost: costConstant, Doc: Doc{Version: "1.0.0", Complexity: "O(1)",
			Syntax: "RANDOMKEY", Summary: "Returns a key drawn at random.",
			Tips: "request_policy:all_shards nondeterministic_output"}, Run: randomKey},
		{Name: "scan", Arity: -2, Flags: ReadOnly | NoTouch, Cost: costConstant, Doc: Doc{Version: "2.8.0", Complexity: "O(count) for a call, O(n) for all keys",
			Syntax: "SCAN cursor [MATCH pattern] [COUNT count] [TYPE type] [WITHTYPE]", Summary: "Returns some of the keys and the cursor to go on with, 0 at the end.",
			Tips: "nondeterministic_output request_policy:special", Changes: []Change{{"6.0.0", "Takes TYPE."}}}, Run: scan},
		{Name: "touch", Arity: -2, Flags: read, Keys: allKeys.with(ro), Cost: costConstant, Doc: Doc{Version: "3.2.1", Complexity: "O(n), where n is the number of keys",
			Syntax: "TOUCH key [key ...]", Summary: "Counts as a use of the keys, and returns how many of them exist.",
			Tips: "request_policy:multi_shard response_policy:agg_sum"}, Run: exists},
		{Name: "type", Arity: 2, Flags: read | NoTouch, Keys: firstKey.with(ro), Cost: costConstant, Doc: Doc{Version: "1.0.0", Complexity: "O(1)",
			Syntax: "TYPE key", Summary: "Returns the type of a key's value, or none."}, Run: typeOf},
	}
}

// deadlineChanges are the rows that set and remove deadlines.
func deadlineChanges() []Command {
	const (
		write = Write | Fast
		flags = "[NX | XX | GT | LT]"
	)
	return []Command{
		{Name: "expire", Arity: -3, Flags: write, Keys: firstKey.with(rwUpdate), Cost: costConstant, Doc: Doc{Version: "1.0.0", Complexity: "O(1)",
			Syntax: "EXPIRE key seconds " + flags, Summary: "Sets the time to live of a key in seconds.",
			Changes: []Change{takesConditions}}, Run: expire},
		{Name: "expireat", Arity: -3, Flags: write, Keys: firstKey.with(rwUpdate), Cost: costConstant, Doc: Doc{Version: "1.2.0", Complexity: "O(1)",
			Syntax: "EXPIREAT key unix-time-seconds " + flags, Summary: "Sets the deadline of a key as a Unix time in seconds.",
			Changes: []Change{takesConditions}}, Run: expireAt},
		{Name: "persist", Arity: 2, Flags: write, Keys: firstKey.with(rwUpdate), Cost: costConstant, Doc: Doc{Version: "2.2.0", Complexity: "O(1)",
			Syntax: "PERSIST key", Summary: "Removes the deadline of a key."}, Run: persist},
		{Name: "pexpire", Arity: -3, Flags: write, Keys: firstKey.with(rwUpdate), Cost: costConstant, Doc: Doc{Version: "2.6.0", Complexity: "O(1)",
			Syntax: "PEXPIRE key milliseconds " + flags, Summary: "Sets the time to live of a key in milliseconds.",
			Changes: []Change{takesConditions}}, Run: pexpire},
		{Name: "pexpireat", Arity: -3, Flags: write, Keys: firstKey.with(rwUpdate), Cost: costConstant, Doc: Doc{Version: "2.6.0", Complexity: "O(1)",
			Syntax: "PEXPIREAT key unix-time-milliseconds " + flags, Summary: "Sets the deadline of a key as a Unix time in milliseconds.",
			Changes: []Change{takesConditions}}, Run: pexpireAt},
	}
}

// deadlineReads are the rows that return deadlines.
func deadlineReads() []Command {
	const read = ReadOnly | Fast | ReadOnlyUser
	return []Command{
		{Name: "expiretime", Arity: 2, Flags: read | NoTouch, Keys: firstKey.with(roAccess), Cost: costConstant, Doc: Doc{Version: "7.0.0", Complexity: "O(1)",
			Syntax: "EXPIRETIME key", Summary: "Returns the deadline of a key as a Unix time in seconds, -1 without one, -2 without the key."}, Run: expireTime},
		{Name: "pexpiretime", Arity: 2, Flags: read | NoTouch, Keys: firstKey.with(roAccess), Cost: costConstant, Doc: Doc{Version: "7.0.0", Complexity: "O(1)",
			Syntax: "PEXPIRETIME key", Summary: "Returns the deadline of a key as a Unix time in milliseconds, -1 without one, -2 without the key."}, Run: pexpireTime},
		{Name: "pttl", Arity: 2, Flags: read | NoTouch, Keys: firstKey.with(roAccess), Cost: costConstant, Doc: Doc{Version: "2.6.0", Complexity: "O(1)",
			Syntax: "PTTL key", Summary: "Returns the time to live of a key in milliseconds, -1 without one, -2 without the key.",
			Tips: vagueOutput, Changes: []Change{tellsMissing}}, Run: pttl},
		{Name: "ttl", Arity: 2, Flags: read | NoTouch, Keys: firstKey.with(roAccess), Cost: costConstant, Doc: Doc{Version: "1.0.0", Complexity: "O(1)",
			Syntax: "TTL key", Summary: "Returns the time to live of a key in seconds, -1 without one, -2 without the key.",
			Tips: vagueOutput, Changes: []Change{tellsMissing}}, Run: ttl},
	}
}

// waitRows are the rows that ask how safe acknowledged writes are.
func waitRows() []Command {
	return []Command{
		{Name: "wait", Arity: 3, Flags: NoScript, Cost: costConstant, Doc: Doc{Version: "3.0.0", Complexity: "O(1)",
			Syntax: "WAIT numreplicas timeout", Summary: "Returns at once how many other nodes have every acknowledged write at least.",
			Tips: "request_policy:all_shards response_policy:agg_min"}, Access: Access{Categories: acl.Blocking | acl.Connection, NotCategories: acl.Keyspace}, Run: wait},
		{Name: "waitaof", Arity: 4, Flags: NoScript, Cost: costConstant, Doc: Doc{Version: "7.2.0", Complexity: "O(1)",
			Syntax: "WAITAOF numlocal numreplicas timeout", Summary: "Returns at once on how many disks every acknowledged write is at least: here, and on other nodes."},
			Access: Access{Categories: acl.Blocking | acl.Connection, NotCategories: acl.Keyspace}, Run: waitAOF},
	}
}
