package command

import (
	"slices"

	"github.com/trireme-dev/trireme/fsm/acl"
)

// sortedSetRows is the SortedSet family. The handlers stand in the files zset_*.go.
func sortedSetRows() []Command {
	return slices.Concat(sortedSetChanges(), sortedSetMembers(), sortedSetRanks(), sortedSetRemovals(), sortedSetWaits(), sortedSetRanges(), sortedSetReversed(), sortedSetAlgebra())
}

// Words that rows of several themes share.
const (
	zsetLogN    = "O(log n)"
	zsetLogNM   = "O(log n + m), where m is the number of members returned"
	zsetRemoved = "O(m log n), where m is the number of members removed"
	zsetLimit   = "[LIMIT offset count]"
	zsetInputs  = "numkeys key [key ...]"
)

// sortedSetChanges are the rows that add members or change scores.
func sortedSetChanges() []Command {
	const grow = Write | DenyOOM
	return []Command{
		{Name: "zadd", Arity: -4, Flags: grow | Fast, Keys: firstKey.with(rwUpdate), Cost: costConstant, Doc: Doc{Version: "1.2.0", Complexity: zsetLogN + " for each member",
			Syntax: "ZADD key [NX | XX] [GT | LT] [CH] [INCR] score member [score member ...]", Summary: "Adds members to a sorted set or changes their scores, and returns how many are new.",
			Changes: []Change{takesElements, {"3.0.2", "Takes XX, NX, CH and INCR."}, {"6.2.0", "Takes GT and LT."}}}, Run: zadd},
		{Name: "zincrby", Arity: 4, Flags: grow | Fast, Keys: firstKey.with(rwAccessUpdate), Cost: costConstant, Doc: Doc{Version: "1.2.0", Complexity: zsetLogN,
			Syntax: "ZINCRBY key increment member", Summary: "Adds to the score of a member, which is 0 for a new one, and returns the sum."}, Run: zincrBy},
	}
}

// sortedSetMembers are the rows that read members.
func sortedSetMembers() []Command {
	const (
		read = ReadOnly | ReadOnlyUser
		fast = ReadOnly | Fast | ReadOnlyUser
	)
	return []Command{
		{Name: "zcard", Arity: 2, Flags: fast, Keys: firstKey.with(ro), Cost: costConstant, Doc: Doc{Version: "1.2.0", Complexity: "O(1)",
			Syntax: "ZCARD key", Summary: "Returns the number of members of a sorted set."}, Run: zcard},
		{Name: "zmscore", Arity: -3, Flags: fast, Keys: firstKey.with(roAccess), Cost: costConstant, Doc: Doc{Version: "6.2.0", Complexity: zsetLogN + " for each member",
			Syntax: "ZMSCORE key member [member ...]", Summary: "Returns the scores of members, null for each that is missing."}, Run: zmscore},
		{Name: "zrandmember", Arity: -2, Flags: read, Keys: firstKey.with(roAccess), Cost: costConstant, Work: drawWork, Doc: Doc{Version: "6.2.0", Complexity: "O(m log n), where m is the number of members returned",
			Syntax: "ZRANDMEMBER key [count [WITHSCORES]]", Summary: "Returns members drawn at random: different ones, or with a negative count any, up to 1,048,576 of them.",
			Tips: vagueOutput}, Run: zrandMember},
		{Name: "zscan", Arity: -3, Flags: read, Keys: firstKey.with(roAccess), Cost: costConstant, Doc: Doc{Version: "2.8.0", Complexity: "O(count) for a call, O(n) for all members",
			Syntax: "ZSCAN key cursor [MATCH pattern] [COUNT count]", Summary: "Returns some of the members with their scores and the cursor to go on with, 0 at the end.",
			Tips: vagueOutput}, Run: zscan},
		{Name: "zscore", Arity: 3, Flags: fast, Keys: firstKey.with(roAccess), Cost: costConstant, Doc: Doc{Version: "1.2.0", Complexity: "O(log n)",
			Syntax: "ZSCORE key member", Summary: "Returns the score of a member."}, Run: zscore},
	}
}

// sortedSetRanks are the rows of places in the order of scores.
func sortedSetRanks() []Command {
	const fast = ReadOnly | Fast | ReadOnlyUser
	return []Command{
		{Name: "zcount", Arity: 4, Flags: fast, Keys: firstKey.with(roAccess), Cost: costConstant, Doc: Doc{Version: "2.0.0", Complexity: zsetLogN,
			Syntax: "ZCOUNT key min max", Summary: "Returns the number of members with scores in a range."}, Run: zcount},
		{Name: "zlexcount", Arity: 4, Flags: fast, Keys: firstKey.with(roAccess), Cost: costConstant, Doc: Doc{Version: "2.8.9", Complexity: "O((log n)²)",
			Syntax: "ZLEXCOUNT key min max", Summary: "Returns the number of members in a lexical range of a set whose scores are all equal."}, Run: zlexCount},
		{Name: "zrank", Arity: -3, Flags: fast, Keys: firstKey.with(roAccess), Cost: costConstant, Doc: Doc{Version: "2.0.0", Complexity: zsetLogN,
			Syntax: "ZRANK key member [WITHSCORE]", Summary: "Returns the number of members before a member, from the lowest score on.",
			Changes: []Change{{"7.2.0", "Takes WITHSCORE."}}}, Run: zrank},
		{Name: "zrevrank", Arity: -3, Flags: fast, Keys: firstKey.with(roAccess), Cost: costConstant, Doc: Doc{Version: "2.0.0", Complexity: zsetLogN,
			Syntax: "ZREVRANK key member [WITHSCORE]", Summary: "Returns the number of members before a member, from the highest score on.",
			Changes: []Change{{"7.2.0", "Takes WITHSCORE."}}}, Run: zrevRank},
	}
}

// sortedSetRemovals are the rows that take members out.
func sortedSetRemovals() []Command {
	const write = Write | Fast
	return []Command{
		{Name: "zmpop", Arity: -4, Flags: Write, Keys: countedKeys(1, 1).with(rwAccessDelete), Cost: costConstant, Work: popWork, Counts: taken, Doc: Doc{Version: "7.0.0", Complexity: zsetRemoved,
			Syntax: "ZMPOP " + zsetInputs + " MIN | MAX [COUNT count]", Summary: "Pops members with the lowest or highest scores of the first set that has any."}, Run: zmpop},
		{Name: "zpopmax", Arity: -2, Flags: write, Keys: firstKey.with(rwAccessDelete), Cost: costConstant, Work: popWork, Counts: scored, Doc: Doc{Version: "5.0.0", Complexity: zsetRemoved,
			Syntax: "ZPOPMAX key [count]", Summary: "Pops members with the highest scores."}, Run: zpopMax},
		{Name: "zpopmin", Arity: -2, Flags: write, Keys: firstKey.with(rwAccessDelete), Cost: costConstant, Work: popWork, Counts: scored, Doc: Doc{Version: "5.0.0", Complexity: zsetRemoved,
			Syntax: "ZPOPMIN key [count]", Summary: "Pops members with the lowest scores."}, Run: zpopMin},
		{Name: "zrem", Arity: -3, Flags: write, Keys: firstKey.with(rwDelete), Cost: costConstant, Counts: answered, Doc: Doc{Version: "1.2.0", Complexity: zsetRemoved,
			Syntax: "ZREM key member [member ...]", Summary: "Removes members and returns how many there were.",
			Changes: []Change{takesElements}}, Run: zrem},
		{Name: "zremrangebylex", Arity: 4, Flags: Write, Keys: firstKey.with(rwDelete), Cost: costValues, Work: removedWork, Counts: answered, Doc: Doc{Version: "2.8.9", Complexity: zsetRemoved,
			Syntax: "ZREMRANGEBYLEX key min max", Summary: "Removes the members in a lexical range of a set whose scores are all equal, and returns how many there were."}, Run: zremRangeByLex},
		{Name: "zremrangebyrank", Arity: 4, Flags: Write, Keys: firstKey.with(rwDelete), Cost: costValues, Work: removedWork, Counts: answered, Doc: Doc{Version: "2.0.0", Complexity: zsetRemoved,
			Syntax: "ZREMRANGEBYRANK key start stop", Summary: "Removes the members in a range of ranks and returns how many there were."}, Run: zremRangeByRank},
		{Name: "zremrangebyscore", Arity: 4, Flags: Write, Keys: firstKey.with(rwDelete), Cost: costValues, Work: removedWork, Counts: answered, Doc: Doc{Version: "1.2.0", Complexity: zsetRemoved,
			Syntax: "ZREMRANGEBYSCORE key min max", Summary: "Removes the members with scores in a range and returns how many there were."}, Run: zremRangeByScore},
	}
}

// sortedSetWaits are the rows that wait for members.
func sortedSetWaits() []Command {
	const write = Write | Fast
	return []Command{
		{Name: "bzmpop", Arity: -5, Flags: Write | Blocking | NoHTTP, Waiting: Waiting{TimeoutAt: 1, Wait: waitForSorts}, Keys: countedKeys(2, 1).with(rwAccessDelete), Cost: costConstant, Work: popWork, Counts: taken, Doc: Doc{Version: "7.0.0", Complexity: zsetRemoved,
			Syntax: "BZMPOP timeout " + zsetInputs + " MIN | MAX [COUNT count]", Summary: "Pops members like ZMPOP and waits for one if there is none; in a transaction or script it does not wait."},
			Access: Access{Categories: acl.Blocking}, Run: bzmpop},
		{Name: "bzpopmax", Arity: -3, Flags: write | Blocking | NoScriptWait | NoHTTP, Waiting: Waiting{TimeoutAt: -1, Wait: waitForSorted}, Keys: blockingKeys.with(rwAccessDelete), Cost: costConstant, Access: Access{Categories: acl.Blocking}, Doc: Doc{Version: "5.0.0", Complexity: zsetLogN,
			Syntax: "BZPOPMAX key [key ...] timeout", Summary: "Pops the member with the highest score of the first set that has one and waits if none has; in a transaction it does not wait.", Changes: []Change{takesFraction}}, Run: bzpopMax},
		{Name: "bzpopmin", Arity: -3, Flags: write | Blocking | NoScriptWait | NoHTTP, Waiting: Waiting{TimeoutAt: -1, Wait: waitForSorted}, Keys: blockingKeys.with(rwAccessDelete), Cost: costConstant, Access: Access{Categories: acl.Blocking}, Doc: Doc{Version: "5.0.0", Complexity: zsetLogN,
			Syntax: "BZPOPMIN key [key ...] timeout", Summary: "Pops the member with the lowest score of the first set that has one and waits if none has; in a transaction it does not wait.", Changes: []Change{takesFraction}}, Run: bzpopMin},
	}
}

// sortedSetRanges are the rows that return ranges from the lowest score on, or store them.
func sortedSetRanges() []Command {
	const (
		read = ReadOnly | ReadOnlyUser
		grow = Write | DenyOOM
	)
	return []Command{
		{Name: "zrange", Arity: -4, Flags: read, Keys: firstKey.with(roAccess), Cost: costConstant, Doc: Doc{Version: "1.2.0", Complexity: zsetLogNM,
			Syntax: "ZRANGE key start stop [BYSCORE | BYLEX] [REV] " + zsetLimit + " [WITHSCORES]", Summary: "Returns the members in a range of ranks, scores or names.",
			Changes: []Change{{"6.2.0", "Takes REV, BYSCORE, BYLEX and LIMIT."}}}, Run: zrange},
		{Name: "zrangebylex", Arity: -4, Flags: read, Keys: firstKey.with(roAccess), Cost: costConstant, Doc: Doc{Version: "2.8.9", Complexity: "O((log n)² + m), where m is the number of members returned",
			Syntax: "ZRANGEBYLEX key min max " + zsetLimit, Summary: "Returns the members in a lexical range of a set whose scores are all equal."}, Run: zrangeByLex},
		{Name: "zrangebyscore", Arity: -4, Flags: read, Keys: firstKey.with(roAccess), Cost: costConstant, Doc: Doc{Version: "1.0.5", Complexity: zsetLogNM,
			Syntax: "ZRANGEBYSCORE key min max [WITHSCORES] " + zsetLimit, Summary: "Returns the members with scores in a range.",
			Changes: []Change{{"2.0.0", "Takes WITHSCORES."}}}, Run: zrangeByScore},
		{Name: "zrangestore", Arity: -5, Flags: grow | ReportsMiss, Keys: twoKeys.uses(one(owUpdate, 1), one(roAccess, 2)), Cost: costValues, Work: unionWork, Doc: Doc{Version: "6.2.0", Complexity: "O(log n + m log m), where m is the number of members stored",
			Syntax: "ZRANGESTORE dst src min max [BYSCORE | BYLEX] [REV] " + zsetLimit, Summary: "Stores the members in a range of another sorted set and returns how many there are."}, Run: zrangeStore},
	}
}

// sortedSetReversed are the rows that return ranges from the highest score on.
func sortedSetReversed() []Command {
	const read = ReadOnly | ReadOnlyUser
	return []Command{
		{Name: "zrevrange", Arity: -4, Flags: read, Keys: firstKey.with(roAccess), Cost: costConstant, Doc: Doc{Version: "1.2.0", Complexity: zsetLogNM,
			Syntax: "ZREVRANGE key start stop [WITHSCORES]", Summary: "Returns the members in a range of ranks counted from the highest score on."}, Run: zrevRange},
		{Name: "zrevrangebylex", Arity: -4, Flags: read, Keys: firstKey.with(roAccess), Cost: costConstant, Doc: Doc{Version: "2.8.9", Complexity: "O((log n)² + m), where m is the number of members returned",
			Syntax: "ZREVRANGEBYLEX key max min " + zsetLimit, Summary: "Returns the members in a lexical range of a set whose scores are all equal, from the last on."}, Run: zrevRangeByLex},
		{Name: "zrevrangebyscore", Arity: -4, Flags: read, Keys: firstKey.with(roAccess), Cost: costConstant, Doc: Doc{Version: "2.2.0", Complexity: zsetLogNM,
			Syntax: "ZREVRANGEBYSCORE key max min [WITHSCORES] " + zsetLimit, Summary: "Returns the members with scores in a range, from the highest on.",
			Changes: []Change{{"2.1.6", "The bounds may be excluded."}}}, Run: zrevRangeByScore},
	}
}

// sortedSetAlgebra are the rows that combine sets.
func sortedSetAlgebra() []Command {
	const (
		read    = ReadOnly | ReadOnlyUser
		grow    = Write | DenyOOM
		weighed = zsetInputs + " [WEIGHTS weight [weight ...]] [AGGREGATE SUM | MIN | MAX]"
	)
	return []Command{
		{Name: "zdiff", Arity: -3, Flags: read, Keys: countedKeys(1, 1).with(roAccess), Cost: costValues, Work: differenceWork, Doc: Doc{Version: "6.2.0", Complexity: "O(n k + m log m), where n is the size of the first set, k the number of sets and m that of the result",
			Syntax: "ZDIFF " + zsetInputs + " [WITHSCORES]", Summary: "Returns the members of the first set that are in no other."}, Run: zdiff},
		{Name: "zdiffstore", Arity: -4, Flags: grow | ReportsMiss, Keys: storedKeys.uses(one(owUpdate, 1), counted(roAccess, 2)), Cost: costValues, Work: differenceWork, Doc: Doc{Version: "6.2.0", Complexity: "O(n k + m log m), where n is the size of the first set, k the number of sets and m that of the result",
			Syntax: "ZDIFFSTORE destination " + zsetInputs, Summary: "Stores the members of the first set that are in no other, and returns how many there are."}, Run: zdiffStore},
		{Name: "zinter", Arity: -3, Flags: read, Keys: countedKeys(1, 1).with(roAccess), Cost: costValues, Work: intersectionWork, Doc: Doc{Version: "6.2.0", Complexity: "O(n k + m log m), where n is the size of the smallest set, k the number of sets and m that of the result",
			Syntax: "ZINTER " + weighed + " [WITHSCORES]", Summary: "Returns the members that are in all sets, with combined scores."}, Run: zinter},
		{Name: "zintercard", Arity: -3, Flags: read, Keys: countedKeys(1, 1).with(roAccess), Cost: costValues, Work: intersectionWork, Doc: Doc{Version: "7.0.0", Complexity: "O(n k), where n is the size of the smallest set and k the number of sets",
			Syntax: "ZINTERCARD " + zsetInputs + " [LIMIT limit]", Summary: "Returns how many members are in all sets, counting up to a limit."}, Run: zinterCard},
		{Name: "zinterstore", Arity: -4, Flags: grow | ReportsMiss, Keys: storedKeys.uses(one(owUpdate, 1), counted(roAccess, 2)), Cost: costValues, Work: intersectionWork, Doc: Doc{Version: "2.0.0", Complexity: "O(n k + m log m), where n is the size of the smallest set, k the number of sets and m that of the result",
			Syntax: "ZINTERSTORE destination " + weighed, Summary: "Stores the members that are in all sets, with combined scores, and returns how many there are."}, Run: zinterStore},
		{Name: "zunion", Arity: -3, Flags: read, Keys: countedKeys(1, 1).with(roAccess), Cost: costValues, Work: unionWork, Doc: Doc{Version: "6.2.0", Complexity: "O(n + m log m), where n is the size of all sets together and m that of the result",
			Syntax: "ZUNION " + weighed + " [WITHSCORES]", Summary: "Returns the members that are in any of the sets, with combined scores."}, Run: zunion},
		{Name: "zunionstore", Arity: -4, Flags: grow | ReportsMiss, Keys: storedKeys.uses(one(owUpdate, 1), counted(roAccess, 2)), Cost: costValues, Work: unionWork, Doc: Doc{Version: "2.0.0", Complexity: "O(n + m log m), where n is the size of all sets together and m that of the result",
			Syntax: "ZUNIONSTORE destination " + weighed, Summary: "Stores the members that are in any of the sets, with combined scores, and returns how many there are."}, Run: zunionStore},
	}
}

var (
	// blockingKeys are those of commands that end in a timeout.
	blockingKeys = keyPlaces{First: 1, Last: -2, Step: 1}
	// storedKeys are a destination, and behind it a number of keys and the keys.
	storedKeys = keyPlaces{First: 1, Last: 1, Step: 1, Find: func(argv [][]byte) []int {
		return append([]int{1}, countedKeys(2, 1).Find(argv)...)
	}}
)
