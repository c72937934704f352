package command

import "slices"

// hashRows is the Hash family. The handlers stand in the files hash_*.go.
func hashRows() []Command {
	return slices.Concat(hashReads(), hashWhole(), hashSamples(), hashWrites(), hashTimedValues(), hashDeadlineChanges(), hashDeadlineReads())
}

// Words that rows of several themes share.
const (
	hashFields = "FIELDS numfields field [field ...]"
	hashEach   = "O(n), where n is the number of fields given"
)

// hashReads are the rows that read fields.
func hashReads() []Command {
	const read = ReadOnly | ReadOnlyUser
	return []Command{
		{Name: "hexists", Arity: 3, Flags: read | Fast, Keys: firstKey.with(ro), Cost: costConstant, Doc: Doc{Version: "2.0.0", Complexity: "O(1)",
			Syntax: "HEXISTS key field", Summary: "Returns 1 if a hash has a field, 0 otherwise."}, Run: hExists},
		{Name: "hget", Arity: 3, Flags: read | Fast, Keys: firstKey.with(roAccess), Cost: costConstant, Doc: Doc{Version: "2.0.0", Complexity: "O(1)",
			Syntax: "HGET key field", Summary: "Returns the value of a field."}, Run: hGet},
		{Name: "hmget", Arity: -3, Flags: read | Fast, Keys: firstKey.with(roAccess), Cost: costConstant, Work: fieldsWork, Doc: Doc{Version: "2.0.0", Complexity: hashEach,
			Syntax: "HMGET key field [field ...]", Summary: "Returns the values of fields, null for each that is missing."}, Run: hMGet},
		{Name: "hstrlen", Arity: 3, Flags: read | Fast, Keys: firstKey.with(ro), Cost: costConstant, Doc: Doc{Version: "3.2.0", Complexity: "O(1)",
			Syntax: "HSTRLEN key field", Summary: "Returns the length of the value of a field, 0 for a missing one."}, Run: hStrLen},
	}
}

// hashWhole are the rows that read a hash as a whole.
func hashWhole() []Command {
	const (
		read  = ReadOnly | ReadOnlyUser
		whole = "O(n), where n is the size of the hash"
	)
	return []Command{
		{Name: "hgetall", Arity: 2, Flags: read, Keys: firstKey.with(roAccess), Cost: costShown, Doc: Doc{Version: "2.0.0", Complexity: whole,
			Syntax: "HGETALL key", Summary: "Returns all fields and values of a hash.",
			Tips: unorderedOutput}, Run: hGetAll},
		{Name: "hkeys", Arity: 2, Flags: read, Keys: firstKey.with(roAccess), Cost: costShown, Doc: Doc{Version: "2.0.0", Complexity: whole,
			Syntax: "HKEYS key", Summary: "Returns all fields of a hash.",
			Tips: unorderedOutput}, Run: hKeys},
		{Name: "hlen", Arity: 2, Flags: read | Fast, Keys: firstKey.with(ro), Cost: costConstant, Doc: Doc{Version: "2.0.0", Complexity: "O(1); O(log n) with field deadlines, where n is their number",
			Syntax: "HLEN key", Summary: "Returns the number of fields of a hash."}, Run: hLen},
		{Name: "hvals", Arity: 2, Flags: read, Keys: firstKey.with(roAccess), Cost: costShown, Doc: Doc{Version: "2.0.0", Complexity: whole,
			Syntax: "HVALS key", Summary: "Returns all values of a hash.",
			Tips: unorderedOutput}, Run: hVals},
	}
}

// hashSamples are the rows that read some of the fields.
func hashSamples() []Command {
	const read = ReadOnly | ReadOnlyUser
	return []Command{
		{Name: "hrandfield", Arity: -2, Flags: read, Keys: firstKey.with(roAccess), Cost: costConstant, Work: drawWork, Doc: Doc{Version: "6.2.0", Complexity: "O(n), where n is the absolute value of the count",
			Syntax: "HRANDFIELD key [count [WITHVALUES]]", Summary: "Returns fields drawn at random from a hash: different ones, or for a negative count any, at most 1048576.",
			Tips: vagueOutput}, Run: hRandField},
		{Name: "hscan", Arity: -3, Flags: read, Keys: firstKey.with(roAccess), Cost: costConstant, Doc: Doc{Version: "2.8.0", Complexity: "O(count) for a call, O(n) for all fields",
			Syntax: "HSCAN key cursor [MATCH pattern] [COUNT count] [NOVALUES]", Summary: "Returns some of the fields and values of a hash and the cursor to go on with, 0 at the end.",
			Tips: vagueOutput}, Run: hScan},
	}
}

// hashWrites are the rows that set and delete fields.
func hashWrites() []Command {
	const (
		write = Write | Fast
		grow  = Write | DenyOOM | Fast
	)
	return []Command{
		{Name: "hdel", Arity: -3, Flags: write, Keys: firstKey.with(rwDelete), Cost: costConstant, Counts: answered, Doc: Doc{Version: "2.0.0", Complexity: hashEach,
			Syntax: "HDEL key field [field ...]", Summary: "Deletes fields of a hash and returns how many there were.",
			Changes: []Change{{"2.4.0", "Takes several fields."}}}, Run: hDel},
		{Name: "hincrby", Arity: 4, Flags: grow, Keys: firstKey.with(rwAccessUpdate), Cost: costConstant, Doc: Doc{Version: "2.0.0", Complexity: "O(1)",
			Syntax: "HINCRBY key field increment", Summary: "Increments the integer value of a field by a number; a missing field counts as 0."}, Run: hIncrBy},
		{Name: "hincrbyfloat", Arity: 4, Flags: grow, Keys: firstKey.with(rwAccessUpdate), Cost: costConstant, Doc: Doc{Version: "2.6.0", Complexity: "O(1)",
			Syntax: "HINCRBYFLOAT key field increment", Summary: "Increments the floating-point value of a field by a number; a missing field counts as 0."}, Run: hIncrByFloat},
		{Name: "hmset", Arity: -4, Flags: grow, Keys: firstKey.with(rwUpdate), Cost: costConstant, Counts: wordsFrom(2, 2), Doc: Doc{Version: "2.0.0", Complexity: hashEach,
			Syntax: "HMSET key field value [field value ...]", Summary: "HSET with another reply."}, Run: hMSet},
		{Name: "hset", Arity: -4, Flags: grow, Keys: firstKey.with(rwUpdate), Cost: costConstant, Counts: wordsFrom(2, 2), Doc: Doc{Version: "2.0.0", Complexity: hashEach,
			Syntax: "HSET key field value [field value ...]", Summary: "Sets the values of fields, which lose their deadlines, and returns how many are new.",
			Changes: []Change{{"4.0.0", "Takes several fields."}}}, Run: hSet},
		{Name: "hsetnx", Arity: 4, Flags: grow, Keys: firstKey.with(rwInsert), Cost: costConstant, Doc: Doc{Version: "2.0.0", Complexity: "O(1)",
			Syntax: "HSETNX key field value", Summary: "Sets the value of a field if the hash doesn't have it."}, Run: hSetNX},
	}
}

// hashTimedValues are the rows of values and deadlines at once.
func hashTimedValues() []Command {
	const (
		write = Write | Fast
		grow  = Write | DenyOOM | Fast
		times = "EX seconds | PX milliseconds | EXAT unix-time-seconds | PXAT unix-time-milliseconds"
	)
	return []Command{
		{Name: "hgetdel", Arity: -5, Flags: write, Keys: firstKey.with(rwAccessDelete), Cost: costConstant, Work: fieldsWork, Doc: Doc{Version: "8.0.0", Complexity: hashEach,
			Syntax: "HGETDEL key " + hashFields, Summary: "Returns the values of fields and deletes the fields."}, Run: hGetDel},
		{Name: "hgetex", Arity: -5, Flags: write | MayRead, Keys: firstKey.with(rwAccessUpdate), Cost: costConstant, Work: fieldsWork, Doc: Doc{Version: "8.0.0", Complexity: hashEach,
			Syntax: "HGETEX key [" + times + " | PERSIST] " + hashFields, Summary: "Returns the values of fields and sets or removes their deadline."},
			Reads: func(argv [][]byte) bool { return EqualFold(argv[2], "FIELDS") }, Run: hGetEx},
		{Name: "hsetex", Arity: -6, Flags: grow, Keys: firstKey.with(rwUpdate), Cost: costConstant, Doc: Doc{Version: "8.0.0", Complexity: hashEach,
			Syntax: "HSETEX key [FNX | FXX] [" + times + " | KEEPTTL] FIELDS numfields field value [field value ...]", Summary: "Sets the values of fields with one deadline, if all or none of them exist."}, Run: hSetEx},
	}
}

// hashDeadlineChanges are the rows that set and remove deadlines of fields.
func hashDeadlineChanges() []Command {
	const (
		write = Write | Fast
		grow  = Write | DenyOOM | Fast
		flags = "[NX | XX | GT | LT] "
	)
	return []Command{
		{Name: "hexpire", Arity: -6, Flags: grow, Keys: firstKey.with(rwUpdate), Cost: costConstant, Doc: Doc{Version: "7.4.0", Complexity: hashEach,
			Syntax: "HEXPIRE key seconds " + flags + hashFields, Summary: "Sets the time to live of fields in seconds."}, Run: hExpire},
		{Name: "hexpireat", Arity: -6, Flags: grow, Keys: firstKey.with(rwUpdate), Cost: costConstant, Doc: Doc{Version: "7.4.0", Complexity: hashEach,
			Syntax: "HEXPIREAT key unix-time-seconds " + flags + hashFields, Summary: "Sets the deadline of fields as a Unix time in seconds."}, Run: hExpireAt},
		{Name: "hpersist", Arity: -5, Flags: write, Keys: firstKey.with(rwUpdate), Cost: costConstant, Doc: Doc{Version: "7.4.0", Complexity: hashEach,
			Syntax: "HPERSIST key " + hashFields, Summary: "Removes the deadline of fields."}, Run: hPersist},
		{Name: "hpexpire", Arity: -6, Flags: grow, Keys: firstKey.with(rwUpdate), Cost: costConstant, Doc: Doc{Version: "7.4.0", Complexity: hashEach,
			Syntax: "HPEXPIRE key milliseconds " + flags + hashFields, Summary: "Sets the time to live of fields in milliseconds."}, Run: hPExpire},
		{Name: "hpexpireat", Arity: -6, Flags: grow, Keys: firstKey.with(rwUpdate), Cost: costConstant, Doc: Doc{Version: "7.4.0", Complexity: hashEach,
			Syntax: "HPEXPIREAT key unix-time-milliseconds " + flags + hashFields, Summary: "Sets the deadline of fields as a Unix time in milliseconds."}, Run: hPExpireAt},
	}
}

// hashDeadlineReads are the rows that return deadlines of fields.
func hashDeadlineReads() []Command {
	const read = ReadOnly | ReadOnlyUser
	return []Command{
		{Name: "hexpiretime", Arity: -5, Flags: read | Fast, Keys: firstKey.with(roAccess), Cost: costConstant, Doc: Doc{Version: "7.4.0", Complexity: hashEach,
			Syntax: "HEXPIRETIME key " + hashFields, Summary: "Returns the deadline of fields as a Unix time in seconds, -1 without one, -2 without the field."}, Run: hExpireTime},
		{Name: "hpexpiretime", Arity: -5, Flags: read | Fast, Keys: firstKey.with(roAccess), Cost: costConstant, Doc: Doc{Version: "7.4.0", Complexity: hashEach,
			Syntax: "HPEXPIRETIME key " + hashFields, Summary: "Returns the deadline of fields as a Unix time in milliseconds, -1 without one, -2 without the field."}, Run: hPExpireTime},
		{Name: "hpttl", Arity: -5, Flags: read | Fast, Keys: firstKey.with(roAccess), Cost: costConstant, Doc: Doc{Version: "7.4.0", Complexity: hashEach,
			Syntax: "HPTTL key " + hashFields, Summary: "Returns the time to live of fields in milliseconds, -1 without one, -2 without the field."}, Run: hPTTL},
		{Name: "httl", Arity: -5, Flags: read | Fast, Keys: firstKey.with(roAccess), Cost: costConstant, Doc: Doc{Version: "7.4.0", Complexity: hashEach,
			Syntax: "HTTL key " + hashFields, Summary: "Returns the time to live of fields in seconds, rounded up, -1 without one, -2 without the field."}, Run: hTTL},
	}
}
