package command

import "trireme/fsm/env"

// setRows is the Set family. The handlers stand in the files set_*.go.
func setRows() []Command {
	const (
		read  = ReadOnly | ReadOnlyUser
		write = Write | Fast
		grow  = Write | DenyOOM
	)
	return []Command{
		{Name: "sadd", Arity: -3, Flags: grow | Fast, Keys: firstKey, Since: env.Base, Version: "1.0.0", Complexity: "O(n), where n is the number of members given",
			Syntax: "SADD key member [member ...]", Summary: "Adds members to a set and returns how many are new; a missing key counts as empty.", Run: sAdd},
		{Name: "scard", Arity: 2, Flags: read | Fast, Keys: firstKey, Since: env.Base, Version: "1.0.0", Complexity: "O(1)",
			Syntax: "SCARD key", Summary: "Returns the number of members of a set.", Run: sCard},
		{Name: "sdiff", Arity: -2, Flags: read, Keys: allKeys, Since: env.Base, Version: "1.0.0", Complexity: "O(n), where n is the size of the first set times the number of keys",
			Syntax: "SDIFF key [key ...]", Summary: "Returns the members of the first set that are in none of the others.", Run: sDiff},
		{Name: "sdiffstore", Arity: -3, Flags: grow, Keys: allKeys, Since: env.Base, Version: "1.0.0", Complexity: "O(n), where n is the size of the first set times the number of keys",
			Syntax: "SDIFFSTORE destination key [key ...]", Summary: "Stores what SDIFF returns and returns its size; nothing left deletes the destination.", Run: sDiffStore},
		{Name: "sinter", Arity: -2, Flags: read, Keys: allKeys, Since: env.Base, Version: "1.0.0", Complexity: "O(n), where n is the size of the smallest set times the number of keys",
			Syntax: "SINTER key [key ...]", Summary: "Returns the members that are in all of the sets.", Run: sInter},
		{Name: "sintercard", Arity: -3, Flags: read, Keys: countedKeys(1, 1), Since: env.Base, Version: "7.0.0", Complexity: "O(n), where n is the size of the smallest set times the number of keys",
			Syntax: "SINTERCARD numkeys key [key ...] [LIMIT limit]", Summary: "Returns how many members are in all of the sets, counting up to the limit; 0 is no limit.", Run: sInterCard},
		{Name: "sinterstore", Arity: -3, Flags: grow, Keys: allKeys, Since: env.Base, Version: "1.0.0", Complexity: "O(n), where n is the size of the smallest set times the number of keys",
			Syntax: "SINTERSTORE destination key [key ...]", Summary: "Stores what SINTER returns and returns its size; nothing left deletes the destination.", Run: sInterStore},
		{Name: "sismember", Arity: 3, Flags: read | Fast, Keys: firstKey, Since: env.Base, Version: "1.0.0", Complexity: "O(1)",
			Syntax: "SISMEMBER key member", Summary: "Returns 1 if a member is in a set, 0 otherwise.", Run: sIsMember},
		{Name: "smembers", Arity: 2, Flags: read, Keys: firstKey, Since: env.Base, Version: "1.0.0", Complexity: "O(n), where n is the size of the set",
			Syntax: "SMEMBERS key", Summary: "Returns all members of a set.", Run: sMembers},
		{Name: "smismember", Arity: -3, Flags: read | Fast, Keys: firstKey, Since: env.Base, Version: "6.2.0", Complexity: "O(n), where n is the number of members given",
			Syntax: "SMISMEMBER key member [member ...]", Summary: "Returns for each member given 1 if it is in a set, 0 otherwise.", Run: sMIsMember},
		{Name: "smove", Arity: 4, Flags: write, Keys: twoKeys, Since: env.Base, Version: "1.0.0", Complexity: "O(1)",
			Syntax: "SMOVE source destination member", Summary: "Moves a member from one set to another and returns 1, or 0 if it was not there.", Run: sMove},
		{Name: "spop", Arity: -2, Flags: write, Keys: firstKey, Since: env.Base, Version: "1.0.0", Complexity: "O(n), where n is the count",
			Syntax: "SPOP key [count]", Summary: "Removes members drawn at random from a set and returns them.", Run: sPop},
		{Name: "srandmember", Arity: -2, Flags: read, Keys: firstKey, Since: env.Base, Version: "1.0.0", Complexity: "O(n), where n is the absolute value of the count",
			Syntax: "SRANDMEMBER key [count]", Summary: "Returns members drawn at random from a set: different ones, or for a negative count any, at most 1048576.", Run: sRandMember},
		{Name: "srem", Arity: -3, Flags: write, Keys: firstKey, Since: env.Base, Version: "1.0.0", Complexity: "O(n), where n is the number of members given",
			Syntax: "SREM key member [member ...]", Summary: "Removes members from a set and returns how many there were.", Run: sRem},
		{Name: "sscan", Arity: -3, Flags: read, Keys: firstKey, Since: env.Base, Version: "2.8.0", Complexity: "O(count) for a call, O(n) for all members",
			Syntax: "SSCAN key cursor [MATCH pattern] [COUNT count]", Summary: "Returns some of the members of a set and the cursor to go on with, 0 at the end.", Run: sScan},
		{Name: "sunion", Arity: -2, Flags: read, Keys: allKeys, Since: env.Base, Version: "1.0.0", Complexity: "O(n), where n is the number of members of all sets",
			Syntax: "SUNION key [key ...]", Summary: "Returns the members that are in any of the sets.", Run: sUnion},
		{Name: "sunionstore", Arity: -3, Flags: grow, Keys: allKeys, Since: env.Base, Version: "1.0.0", Complexity: "O(n), where n is the number of members of all sets",
			Syntax: "SUNIONSTORE destination key [key ...]", Summary: "Stores what SUNION returns and returns its size; nothing left deletes the destination.", Run: sUnionStore},
	}
}
