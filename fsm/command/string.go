package command

import (
	"slices"
)

// stringRows is the String family. The handlers stand in the files string_*.go.
func stringRows() []Command {
	return slices.Concat(stringReads(), stringParts(), stringWrites(), stringExchanges(), stringNumbers())
}

// stringReads are the rows that read values.
func stringReads() []Command {
	const read = ReadOnly | Fast | ReadOnlyUser
	return []Command{
		{Name: "digest", Arity: 2, Flags: read, Keys: firstKey.with(roAccess), Cost: costValues, Doc: Doc{Version: "8.4.0", Complexity: "O(n), where n is the length of the value",
			Syntax: "DIGEST key", Summary: "Returns the XXH3-64 digest of a string value as 16 hexadecimal digits."}, Run: digest},
		{Name: "get", Arity: 2, Flags: read, Keys: firstKey.with(roAccess), Cost: costConstant, Doc: Doc{Version: "1.0.0", Complexity: "O(1)",
			Syntax: "GET key", Summary: "Returns the string value of a key."}, Run: get},
		{Name: "lcs", Arity: -3, Flags: ReadOnly | ReadOnlyUser, Keys: twoKeys.with(roAccess), Cost: costValues, Work: lcsWork, Doc: Doc{Version: "7.0.0", Complexity: "O(n*m), where n and m are the lengths of the strings; their product is at most 16,777,216",
			Syntax: "LCS key1 key2 [LEN] [IDX] [MINMATCHLEN min-match-len] [WITHMATCHLEN]", Summary: "Returns the longest common subsequence of two strings, its length, or where it stands in them."}, Run: lcs},
		{Name: "mget", Arity: -2, Flags: read, Keys: allKeys.with(roAccess), Cost: costConstant, Work: shownWork, Doc: Doc{Version: "1.0.0", Complexity: "O(n), where n is the number of keys",
			Syntax: "MGET key [key ...]", Summary: "Returns the string values of several keys, null for each that is missing or holds another type.",
			Tips: "request_policy:multi_shard"}, Run: mget},
		{Name: "strlen", Arity: 2, Flags: read, Keys: firstKey.with(ro), Cost: costConstant, Doc: Doc{Version: "2.2.0", Complexity: "O(1)",
			Syntax: "STRLEN key", Summary: "Returns the length of a string value, 0 for a missing key."}, Run: strLen},
	}
}

// stringParts are the rows of parts of a value.
func stringParts() []Command {
	const grow = Write | DenyOOM
	return []Command{
		{Name: "append", Arity: 3, Flags: grow | Fast, Keys: firstKey.with(rwInsert), Cost: costValues, Work: noMoreWork, Doc: Doc{Version: "2.0.0", Complexity: "O(1), spread over many appends",
			Syntax: "APPEND key value", Summary: "Appends a value to a string and returns the new length; a missing key counts as empty."}, Run: appendText},
		{Name: "getrange", Arity: 4, Flags: ReadOnly | ReadOnlyUser, Keys: firstKey.with(roAccess), Cost: costConstant, Doc: Doc{Version: "2.4.0", Complexity: "O(n), where n is the length of the result",
			Syntax: "GETRANGE key start end", Summary: "Returns the bytes of a string between two positions, both included; negative ones count from the end."}, Run: getRange},
		{Name: "setrange", Arity: 4, Flags: grow | Overwrites, Keys: firstKey.with(rwUpdate), Cost: costValues, Doc: Doc{Version: "2.2.0", Complexity: "O(n), where n is the length of the new value",
			Syntax: "SETRANGE key offset value", Summary: "Overwrites part of a string from an offset on and returns the new length; gaps are zero bytes."}, Reach: setRangeReach, Run: setRange},
		{Name: "substr", Arity: 4, Flags: ReadOnly | ReadOnlyUser, Keys: firstKey.with(roAccess), Cost: costConstant, Doc: Doc{Version: "1.0.0", Complexity: "O(n), where n is the length of the result",
			Syntax: "SUBSTR key start end", Summary: "The old name of GETRANGE."}, Run: getRange},
	}
}

// stringWrites are the rows that set values.
func stringWrites() []Command {
	const grow = Write | DenyOOM
	return []Command{
		{Name: "mset", Arity: -3, Flags: grow | Overwrites, Keys: keyPairs.with(owUpdate), Cost: costConstant, Counts: wordsFrom(1, 2), Doc: Doc{Version: "1.0.1", Complexity: "O(n), where n is the number of keys",
			Syntax: "MSET key value [key value ...]", Summary: "Sets the string values of several keys.",
			Tips: "request_policy:multi_shard response_policy:all_succeeded"}, Run: mset},
		{Name: "msetex", Arity: -4, Flags: grow, Keys: countedKeys(1, 2).with(owUpdate), Cost: costConstant, Counts: answered, Doc: Doc{Version: "8.4.0", Complexity: "O(n), where n is the number of keys",
			Syntax: "MSETEX numkeys key value [key value ...] [NX | XX] [EX seconds | PX milliseconds | EXAT unix-time-seconds | PXAT unix-time-milliseconds | KEEPTTL]", Summary: "Sets the string values of several keys with one deadline, if all or none of them exist."}, Run: msetEx},
		{Name: "msetnx", Arity: -3, Flags: grow | Overwrites, Keys: keyPairs.with(owInsert), Cost: costConstant, Counts: wordsFrom(1, 2), Doc: Doc{Version: "1.0.1", Complexity: "O(n), where n is the number of keys",
			Syntax: "MSETNX key value [key value ...]", Summary: "Sets the string values of several keys if none of them exists.",
			Tips: "request_policy:multi_shard response_policy:agg_min"}, Run: msetNX},
		{Name: "psetex", Arity: 4, Flags: grow | Overwrites, Keys: firstKey.with(owUpdate), Cost: costConstant, Doc: Doc{Version: "2.6.0", Complexity: "O(1)",
			Syntax: "PSETEX key milliseconds value", Summary: "Sets the string value of a key with a time to live in milliseconds."}, Run: psetEx},
		{Name: "set", Arity: -3, Flags: grow | Overwrites, Keys: firstKey.with(rwAccessUpdate), Cost: costConstant, Work: comparedWork, Doc: Doc{Version: "1.0.0", Complexity: "O(1)",
			Syntax:  "SET key value [NX | XX | IFEQ value | IFNE value | IFDEQ digest | IFDNE digest] [GET] [EX seconds | PX milliseconds | EXAT unix-time-seconds | PXAT unix-time-milliseconds | KEEPTTL]",
			Summary: "Sets the string value of a key whatever it held, if the condition is met, with a deadline if one is given.",
			Changes: []Change{{"2.6.12", "Takes EX, PX, NX and XX."}, {"6.0.0", "Takes KEEPTTL."}, {"6.2.0", "Takes GET, EXAT and PXAT."}, {"7.0.0", "Takes NX and GET together."}, {"8.4.0", "Takes IFEQ, IFNE, IFDEQ and IFDNE."}}}, Varies: setDoes, Run: set},
		{Name: "setex", Arity: 4, Flags: grow | Overwrites, Keys: firstKey.with(owUpdate), Cost: costConstant, Doc: Doc{Version: "2.0.0", Complexity: "O(1)",
			Syntax: "SETEX key seconds value", Summary: "Sets the string value of a key with a time to live in seconds."}, Run: setEx},
		{Name: "setnx", Arity: 3, Flags: grow | Fast | Overwrites, Keys: firstKey.with(owInsert), Cost: costConstant, Doc: Doc{Version: "1.0.0", Complexity: "O(1)",
			Syntax: "SETNX key value", Summary: "Sets the string value of a key if the key does not exist."}, Run: setNX},
	}
}

// stringExchanges are the rows that read a value and change or delete its key.
func stringExchanges() []Command {
	const (
		write = Write | Fast
		grow  = Write | DenyOOM
	)
	return []Command{
		{Name: "delex", Arity: -2, Flags: write, Keys: firstKey.with(rmDelete).but(keyRW), Cost: costConstant, Work: comparedWork, Doc: Doc{Version: "8.4.0", Complexity: "O(1); O(n) for digests, where n is the length of the value",
			Syntax: "DELEX key [IFEQ value | IFNE value | IFDEQ digest | IFDNE digest]", Summary: "Deletes a key if its string value or the digest of it meets the condition."}, Run: delEx},
		{Name: "getdel", Arity: 2, Flags: write | ReportsMiss, Keys: firstKey.with(rwAccessDelete), Cost: costValues, Work: shownWork, Doc: Doc{Version: "6.2.0", Complexity: "O(1)",
			Syntax: "GETDEL key", Summary: "Returns the string value of a key and deletes the key."}, Run: getDel},
		{Name: "getex", Arity: -2, Flags: write | MayRead | ReportsMiss, Keys: firstKey.with(rwAccessUpdate), Cost: costConstant, Work: shownWork, Doc: Doc{Version: "6.2.0", Complexity: "O(1)",
			Syntax: "GETEX key [EX seconds | PX milliseconds | EXAT unix-time-seconds | PXAT unix-time-milliseconds | PERSIST]", Summary: "Returns the string value of a key and sets or removes its deadline."},
			Reads: func(argv [][]byte) bool { return len(argv) == 2 }, Run: getEx},
		{Name: "getset", Arity: 3, Flags: grow | Fast | Overwrites | ReportsMiss, Keys: firstKey.with(rwAccessUpdate), Cost: costValues, Work: shownWork, Doc: Doc{Version: "1.0.0", Complexity: "O(1)",
			Syntax: "GETSET key value", Summary: "Sets the string value of a key and returns the old one."}, Run: getSet},
	}
}

// stringNumbers are the rows of values that are numbers.
func stringNumbers() []Command {
	const grow = Write | DenyOOM
	return []Command{
		{Name: "decr", Arity: 2, Flags: grow | Fast, Keys: firstKey.with(rwAccessUpdate), Cost: costConstant, Doc: Doc{Version: "1.0.0", Complexity: "O(1)",
			Syntax: "DECR key", Summary: "Decrements the integer value of a key by one; a missing key counts as 0."}, Run: decr},
		{Name: "decrby", Arity: 3, Flags: grow | Fast, Keys: firstKey.with(rwAccessUpdate), Cost: costConstant, Doc: Doc{Version: "1.0.0", Complexity: "O(1)",
			Syntax: "DECRBY key decrement", Summary: "Decrements the integer value of a key by a number; a missing key counts as 0."}, Run: decrBy},
		{Name: "incr", Arity: 2, Flags: grow | Fast, Keys: firstKey.with(rwAccessUpdate), Cost: costConstant, Doc: Doc{Version: "1.0.0", Complexity: "O(1)",
			Syntax: "INCR key", Summary: "Increments the integer value of a key by one; a missing key counts as 0."}, Run: incr},
		{Name: "incrby", Arity: 3, Flags: grow | Fast, Keys: firstKey.with(rwAccessUpdate), Cost: costConstant, Doc: Doc{Version: "1.0.0", Complexity: "O(1)",
			Syntax: "INCRBY key increment", Summary: "Increments the integer value of a key by a number; a missing key counts as 0."}, Run: incrBy},
		{Name: "incrbyfloat", Arity: 3, Flags: grow | Fast, Keys: firstKey.with(rwAccessUpdate), Cost: costConstant, Doc: Doc{Version: "2.6.0", Complexity: "O(1)",
			Syntax: "INCRBYFLOAT key increment", Summary: "Increments the floating-point value of a key by a number; a missing key counts as 0."}, Run: incrByFloat},
		{Name: "increx", Arity: -2, Flags: grow | Fast, Keys: firstKey.with(rwAccessUpdate), Cost: costConstant, Doc: Doc{Version: "8.8.0", Complexity: "O(1)",
			Syntax:  "INCREX key [BYINT increment | BYFLOAT increment] [LBOUND min] [UBOUND max] [SATURATE] [EX seconds | PX milliseconds | EXAT unix-time-seconds | PXAT unix-time-milliseconds | PERSIST] [ENX]",
			Summary: "Increments the number under a key within bounds and returns the value and the increment applied: 0 if the sum would be out of bounds, the rest up to the bound with SATURATE. ENX sets a deadline only if there is none."}, Run: incrEx},
	}
}
