package command

import (
	"slices"
)

// setRows is the Set family. The handlers stand in the files set_*.go.
func setRows() []Command {
	return slices.Concat(setMembers(), setReads(), setAlgebra(), setAlgebraStores())
}

// setMembers are the rows that add, move and remove members.
func setMembers() []Command {
	const (
		write = Write | Fast
		grow  = Write | DenyOOM
	)
	return []Command{
		{Name: "sadd", Arity: -3, Flags: grow | Fast, Keys: firstKey.with(rwInsert), Cost: costConstant, Counts: answered, Doc: Doc{Version: "1.0.0", Complexity: "O(n), where n is the number of members given",
			Syntax: "SADD key member [member ...]", Summary: "Adds members to a set and returns how many are new; a missing key counts as empty.",
			Changes: []Change{takesElements}}, Run: sAdd},
		{Name: "smove", Arity: 4, Flags: write | MayGrow, Keys: twoKeys.uses(one(rwAccessDelete, 1), one(rwInsert, 2)), Cost: costConstant, Doc: Doc{Version: "1.0.0", Complexity: "O(1)",
			Syntax: "SMOVE source destination member", Summary: "Moves a member from one set to another and returns 1, or 0 if it was not there."}, Run: sMove},
		{Name: "spop", Arity: -2, Flags: write, Keys: firstKey.with(rwAccessDelete), Cost: costValues, Work: drawWork, Counts: elements, Doc: Doc{Version: "1.0.0", Complexity: "O(n), where n is the count",
			Syntax: "SPOP key [count]", Summary: "Removes members drawn at random from a set and returns them.",
			Tips: vagueOutput, Changes: []Change{{"3.2.0", "Takes a count."}}}, Run: sPop},
		{Name: "srem", Arity: -3, Flags: write, Keys: firstKey.with(rwDelete), Cost: costConstant, Counts: answered, Doc: Doc{Version: "1.0.0", Complexity: "O(n), where n is the number of members given",
			Syntax: "SREM key member [member ...]", Summary: "Removes members from a set and returns how many there were.",
			Changes: []Change{takesElements}}, Run: sRem},
	}
}

// setReads are the rows that read members.
func setReads() []Command {
	const read = ReadOnly | ReadOnlyUser
	return []Command{
		{Name: "scard", Arity: 2, Flags: read | Fast, Keys: firstKey.with(ro), Cost: costConstant, Doc: Doc{Version: "1.0.0", Complexity: "O(1)",
			Syntax: "SCARD key", Summary: "Returns the number of members of a set."}, Run: sCard},
		{Name: "sismember", Arity: 3, Flags: read | Fast, Keys: firstKey.with(ro), Cost: costConstant, Doc: Doc{Version: "1.0.0", Complexity: "O(1)",
			Syntax: "SISMEMBER key member", Summary: "Returns 1 if a member is in a set, 0 otherwise."}, Run: sIsMember},
		{Name: "smembers", Arity: 2, Flags: read, Keys: firstKey.with(roAccess), Cost: costShown, Doc: Doc{Version: "1.0.0", Complexity: "O(n), where n is the size of the set",
			Syntax: "SMEMBERS key", Summary: "Returns all members of a set.",
			Tips: unorderedOutput}, Run: sMembers},
		{Name: "smismember", Arity: -3, Flags: read | Fast, Keys: firstKey.with(roAccess), Cost: costConstant, Doc: Doc{Version: "6.2.0", Complexity: "O(n), where n is the number of members given",
			Syntax: "SMISMEMBER key member [member ...]", Summary: "Returns for each member given 1 if it is in a set, 0 otherwise."}, Run: sMIsMember},
		{Name: "srandmember", Arity: -2, Flags: read, Keys: firstKey.with(roAccess), Cost: costConstant, Work: drawWork, Doc: Doc{Version: "1.0.0", Complexity: "O(n), where n is the absolute value of the count",
			Syntax: "SRANDMEMBER key [count]", Summary: "Returns members drawn at random from a set: different ones, or for a negative count any, at most 1048576.",
			Tips: vagueOutput, Changes: []Change{{"2.6.0", "Takes a count."}}}, Run: sRandMember},
		{Name: "sscan", Arity: -3, Flags: read, Keys: firstKey.with(roAccess), Cost: costConstant, Doc: Doc{Version: "2.8.0", Complexity: "O(count) for a call, O(n) for all members",
			Syntax: "SSCAN key cursor [MATCH pattern] [COUNT count]", Summary: "Returns some of the members of a set and the cursor to go on with, 0 at the end.",
			Tips: vagueOutput}, Run: sScan},
	}
}

// setAlgebra are the rows that combine sets.
func setAlgebra() []Command {
	const read = ReadOnly | ReadOnlyUser
	return []Command{
		{Name: "sdiff", Arity: -2, Flags: read, Keys: allKeys.with(roAccess), Cost: costValues, Work: differenceWork, Doc: Doc{Version: "1.0.0", Complexity: "O(n), where n is the size of the first set times the number of keys",
			Syntax: "SDIFF key [key ...]", Summary: "Returns the members of the first set that are in none of the others.",
			Tips: unorderedOutput}, Run: sDiff},
		{Name: "sdiffcard", Arity: -3, Flags: read, Keys: countedKeys(1, 1).with(roAccess), Cost: costValues, Work: differenceCountWork, Doc: Doc{Version: "8.8.0", Complexity: "O(n), where n is the size of the first set times the number of keys",
			Syntax: "SDIFFCARD numkeys key [key ...] [LIMIT limit]", Summary: "Returns how many members of the first set are in none of the others, counting up to the limit (0 = unlimited)."}, Run: sDiffCard},
		{Name: "sinter", Arity: -2, Flags: read, Keys: allKeys.with(roAccess), Cost: costValues, Work: intersectionWork, Doc: Doc{Version: "1.0.0", Complexity: "O(n), where n is the size of the smallest set times the number of keys",
			Syntax: "SINTER key [key ...]", Summary: "Returns the members that are in all of the sets.",
			Tips: unorderedOutput}, Run: sInter},
		{Name: "sintercard", Arity: -3, Flags: read, Keys: countedKeys(1, 1).with(roAccess), Cost: costValues, Work: intersectionWork, Doc: Doc{Version: "7.0.0", Complexity: "O(n), where n is the size of the smallest set times the number of keys",
			Syntax: "SINTERCARD numkeys key [key ...] [LIMIT limit]", Summary: "Returns how many members are in all of the sets, counting up to the limit (0 = unlimited)."}, Run: sInterCard},
		{Name: "sunion", Arity: -2, Flags: read, Keys: allKeys.with(roAccess), Cost: costValues, Work: unionWork, Doc: Doc{Version: "1.0.0", Complexity: "O(n), where n is the number of members of all sets",
			Syntax: "SUNION key [key ...]", Summary: "Returns the members that are in any of the sets.",
			Tips: unorderedOutput}, Run: sUnion},
		{Name: "sunioncard", Arity: -3, Flags: read, Keys: countedKeys(1, 1).with(roAccess), Cost: costValues, Work: unionWork, Doc: Doc{Version: "8.8.0", Complexity: "O(n), where n is the number of members of all sets",
			Syntax: "SUNIONCARD numkeys key [key ...] [APPROX] [LIMIT limit]", Summary: "Returns how many members are in any of the sets, counting up to the limit (0 = unlimited); with APPROX an estimate with a standard error of 0.81 %."}, Run: sUnionCard},
	}
}

// setAlgebraStores are the rows that store what combined sets come to.
func setAlgebraStores() []Command {
	const grow = Write | DenyOOM
	return []Command{
		{Name: "sdiffstore", Arity: -3, Flags: grow | ReportsMiss, Keys: allKeys.uses(one(owUpdate, 1), rest(roAccess, 2, -1, 1)), Cost: costValues, Work: differenceWork, Doc: Doc{Version: "1.0.0", Complexity: "O(n), where n is the size of the first set times the number of keys",
			Syntax: "SDIFFSTORE destination key [key ...]", Summary: "Stores what SDIFF returns and returns its size; nothing left deletes the destination."}, Run: sDiffStore},
		{Name: "sinterstore", Arity: -3, Flags: grow | ReportsMiss, Keys: allKeys.uses(one(rwUpdate, 1), rest(roAccess, 2, -1, 1)), Cost: costValues, Work: intersectionWork, Doc: Doc{Version: "1.0.0", Complexity: "O(n), where n is the size of the smallest set times the number of keys",
			Syntax: "SINTERSTORE destination key [key ...]", Summary: "Stores what SINTER returns and returns its size; nothing left deletes the destination."}, Run: sInterStore},
		{Name: "sunionstore", Arity: -3, Flags: grow | ReportsMiss, Keys: allKeys.uses(one(owUpdate, 1), rest(roAccess, 2, -1, 1)), Cost: costValues, Work: unionWork, Doc: Doc{Version: "1.0.0", Complexity: "O(n), where n is the number of members of all sets",
			Syntax: "SUNIONSTORE destination key [key ...]", Summary: "Stores what SUNION returns and returns its size; nothing left deletes the destination."}, Run: sUnionStore},
	}
}
