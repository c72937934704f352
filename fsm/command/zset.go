package command

import "github.com/trireme-dev/trireme/fsm/acl"

// sortedSetRows is the SortedSet family. The handlers stand in the files zset_*.go.
func sortedSetRows() []Command {
	const (
		read    = ReadOnly | ReadOnlyUser
		fast    = ReadOnly | Fast | ReadOnlyUser
		write   = Write | Fast
		grow    = Write | DenyOOM
		logN    = "O(log n)"
		logNM   = "O(log n + m), where m is the number of members returned"
		removed = "O(m log n), where m is the number of members removed"
		limit   = "[LIMIT offset count]"
		inputs  = "numkeys key [key ...]"
		weighed = inputs + " [WEIGHTS weight [weight ...]] [AGGREGATE SUM | MIN | MAX]"
	)
	return []Command{
		{Name: "bzmpop", Arity: -5, Flags: Write | Blocking | NoHTTP, TimeoutAt: 1, Wait: waitForSorts, Keys: countedKeys(2, 1).with(rwAccessDelete), Cost: costConstant, Version: "7.0.0", Complexity: removed,
			Syntax: "BZMPOP timeout " + inputs + " MIN | MAX [COUNT count]", Summary: "Pops members like ZMPOP and waits for one if there is none; in a transaction or script it does not wait.",
			Categories: acl.Blocking, Run: bzmpop},
		{Name: "bzpopmax", Arity: -3, Flags: write | Blocking | NoHTTP, TimeoutAt: -1, Wait: waitForSorted, Keys: blockingKeys.with(rwAccessDelete), Cost: costConstant, Version: "5.0.0", Complexity: logN,
			Syntax: "BZPOPMAX key [key ...] timeout", Summary: "Pops the member with the highest score of the first set that has one and waits if none has; in a transaction or script it does not wait.",
			Categories: acl.Blocking, Changes: []Change{takesFraction}, Run: bzpopMax},
		{Name: "bzpopmin", Arity: -3, Flags: write | Blocking | NoHTTP, TimeoutAt: -1, Wait: waitForSorted, Keys: blockingKeys.with(rwAccessDelete), Cost: costConstant, Version: "5.0.0", Complexity: logN,
			Syntax: "BZPOPMIN key [key ...] timeout", Summary: "Pops the member with the lowest score of the first set that has one and waits if none has; in a transaction or script it does not wait.",
			Categories: acl.Blocking, Changes: []Change{takesFraction}, Run: bzpopMin},
		{Name: "zadd", Arity: -4, Flags: grow | Fast, Keys: firstKey.with(rwUpdate), Cost: costConstant, Version: "1.2.0", Complexity: logN + " for each member",
			Syntax: "ZADD key [NX | XX] [GT | LT] [CH] [INCR] score member [score member ...]", Summary: "Adds members to a sorted set or changes their scores, and returns how many are new.",
			Changes: []Change{takesElements, {"3.0.2", "Takes XX, NX, CH and INCR."}, {"6.2.0", "Takes GT and LT."}}, Run: zadd},
		{Name: "zcard", Arity: 2, Flags: fast, Keys: firstKey.with(ro), Cost: costConstant, Version: "1.2.0", Complexity: "O(1)",
			Syntax: "ZCARD key", Summary: "Returns the number of members of a sorted set.", Run: zcard},
		{Name: "zcount", Arity: 4, Flags: fast, Keys: firstKey.with(roAccess), Cost: costConstant, Version: "2.0.0", Complexity: logN,
			Syntax: "ZCOUNT key min max", Summary: "Returns the number of members with scores in a range.", Run: zcount},
		{Name: "zdiff", Arity: -3, Flags: read, Keys: countedKeys(1, 1).with(roAccess), Cost: costValues, Work: differenceWork, Version: "6.2.0", Complexity: "O(n k + m log m), where n is the size of the first set, k the number of sets and m that of the result",
			Syntax: "ZDIFF " + inputs + " [WITHSCORES]", Summary: "Returns the members of the first set that are in no other.", Run: zdiff},
		{Name: "zdiffstore", Arity: -4, Flags: grow | ReportsMiss, Keys: storedKeys.uses(one(owUpdate, 1), counted(roAccess, 2)), Cost: costValues, Work: differenceWork, Version: "6.2.0", Complexity: "O(n k + m log m), where n is the size of the first set, k the number of sets and m that of the result",
			Syntax: "ZDIFFSTORE destination " + inputs, Summary: "Stores the members of the first set that are in no other, and returns how many there are.", Run: zdiffStore},
		{Name: "zincrby", Arity: 4, Flags: grow | Fast, Keys: firstKey.with(rwAccessUpdate), Cost: costConstant, Version: "1.2.0", Complexity: logN,
			Syntax: "ZINCRBY key increment member", Summary: "Adds to the score of a member, which is 0 for a new one, and returns the sum.", Run: zincrBy},
		{Name: "zinter", Arity: -3, Flags: read, Keys: countedKeys(1, 1).with(roAccess), Cost: costValues, Work: intersectionWork, Version: "6.2.0", Complexity: "O(n k + m log m), where n is the size of the smallest set, k the number of sets and m that of the result",
			Syntax: "ZINTER " + weighed + " [WITHSCORES]", Summary: "Returns the members that are in all sets, with combined scores.", Run: zinter},
		{Name: "zintercard", Arity: -3, Flags: read, Keys: countedKeys(1, 1).with(roAccess), Cost: costValues, Work: intersectionWork, Version: "7.0.0", Complexity: "O(n k), where n is the size of the smallest set and k the number of sets",
			Syntax: "ZINTERCARD " + inputs + " [LIMIT limit]", Summary: "Returns how many members are in all sets, counting up to a limit.", Run: zinterCard},
		{Name: "zinterstore", Arity: -4, Flags: grow | ReportsMiss, Keys: storedKeys.uses(one(owUpdate, 1), counted(roAccess, 2)), Cost: costValues, Work: intersectionWork, Version: "2.0.0", Complexity: "O(n k + m log m), where n is the size of the smallest set, k the number of sets and m that of the result",
			Syntax: "ZINTERSTORE destination " + weighed, Summary: "Stores the members that are in all sets, with combined scores, and returns how many there are.", Run: zinterStore},
		{Name: "zlexcount", Arity: 4, Flags: fast, Keys: firstKey.with(roAccess), Cost: costConstant, Version: "2.8.9", Complexity: "O((log n)²)",
			Syntax: "ZLEXCOUNT key min max", Summary: "Returns the number of members in a lexical range of a set whose scores are all equal.", Run: zlexCount},
		{Name: "zmpop", Arity: -4, Flags: Write, Keys: countedKeys(1, 1).with(rwAccessDelete), Cost: costConstant, Version: "7.0.0", Complexity: removed,
			Syntax: "ZMPOP " + inputs + " MIN | MAX [COUNT count]", Summary: "Pops members with the lowest or highest scores of the first set that has any.", Run: zmpop},
		{Name: "zmscore", Arity: -3, Flags: fast, Keys: firstKey.with(roAccess), Cost: costConstant, Version: "6.2.0", Complexity: logN + " for each member",
			Syntax: "ZMSCORE key member [member ...]", Summary: "Returns the scores of members, null for each that is missing.", Run: zmscore},
		{Name: "zpopmax", Arity: -2, Flags: write, Keys: firstKey.with(rwAccessDelete), Cost: costConstant, Version: "5.0.0", Complexity: removed,
			Syntax: "ZPOPMAX key [count]", Summary: "Pops members with the highest scores.", Run: zpopMax},
		{Name: "zpopmin", Arity: -2, Flags: write, Keys: firstKey.with(rwAccessDelete), Cost: costConstant, Version: "5.0.0", Complexity: removed,
			Syntax: "ZPOPMIN key [count]", Summary: "Pops members with the lowest scores.", Run: zpopMin},
		{Name: "zrandmember", Arity: -2, Flags: read, Keys: firstKey.with(roAccess), Cost: costConstant, Work: drawWork, Version: "6.2.0", Complexity: "O(m log n), where m is the number of members returned",
			Syntax: "ZRANDMEMBER key [count [WITHSCORES]]", Summary: "Returns members drawn at random: different ones, or with a negative count any, up to 1,048,576 of them.",
			Tips: vagueOutput, Run: zrandMember},
		{Name: "zrange", Arity: -4, Flags: read, Keys: firstKey.with(roAccess), Cost: costConstant, Version: "1.2.0", Complexity: logNM,
			Syntax: "ZRANGE key start stop [BYSCORE | BYLEX] [REV] " + limit + " [WITHSCORES]", Summary: "Returns the members in a range of ranks, scores or names.",
			Changes: []Change{{"6.2.0", "Takes REV, BYSCORE, BYLEX and LIMIT."}}, Run: zrange},
		{Name: "zrangebylex", Arity: -4, Flags: read, Keys: firstKey.with(roAccess), Cost: costConstant, Version: "2.8.9", Complexity: "O((log n)² + m), where m is the number of members returned",
			Syntax: "ZRANGEBYLEX key min max " + limit, Summary: "Returns the members in a lexical range of a set whose scores are all equal.", Run: zrangeByLex},
		{Name: "zrangebyscore", Arity: -4, Flags: read, Keys: firstKey.with(roAccess), Cost: costConstant, Version: "1.0.5", Complexity: logNM,
			Syntax: "ZRANGEBYSCORE key min max [WITHSCORES] " + limit, Summary: "Returns the members with scores in a range.",
			Changes: []Change{{"2.0.0", "Takes WITHSCORES."}}, Run: zrangeByScore},
		{Name: "zrangestore", Arity: -5, Flags: grow | ReportsMiss, Keys: twoKeys.uses(one(owUpdate, 1), one(roAccess, 2)), Cost: costValues, Work: unionWork, Version: "6.2.0", Complexity: "O(log n + m log m), where m is the number of members stored",
			Syntax: "ZRANGESTORE dst src min max [BYSCORE | BYLEX] [REV] " + limit, Summary: "Stores the members in a range of another sorted set and returns how many there are.", Run: zrangeStore},
		{Name: "zrank", Arity: -3, Flags: fast, Keys: firstKey.with(roAccess), Cost: costConstant, Version: "2.0.0", Complexity: logN,
			Syntax: "ZRANK key member [WITHSCORE]", Summary: "Returns the number of members before a member, from the lowest score on.",
			Changes: []Change{{"7.2.0", "Takes WITHSCORE."}}, Run: zrank},
		{Name: "zrem", Arity: -3, Flags: write, Keys: firstKey.with(rwDelete), Cost: costConstant, Version: "1.2.0", Complexity: removed,
			Syntax: "ZREM key member [member ...]", Summary: "Removes members and returns how many there were.",
			Changes: []Change{takesElements}, Run: zrem},
		{Name: "zremrangebylex", Arity: 4, Flags: Write, Keys: firstKey.with(rwDelete), Cost: costValues, Version: "2.8.9", Complexity: removed,
			Syntax: "ZREMRANGEBYLEX key min max", Summary: "Removes the members in a lexical range of a set whose scores are all equal, and returns how many there were.", Run: zremRangeByLex},
		{Name: "zremrangebyrank", Arity: 4, Flags: Write, Keys: firstKey.with(rwDelete), Cost: costValues, Version: "2.0.0", Complexity: removed,
			Syntax: "ZREMRANGEBYRANK key start stop", Summary: "Removes the members in a range of ranks and returns how many there were.", Run: zremRangeByRank},
		{Name: "zremrangebyscore", Arity: 4, Flags: Write, Keys: firstKey.with(rwDelete), Cost: costValues, Version: "1.2.0", Complexity: removed,
			Syntax: "ZREMRANGEBYSCORE key min max", Summary: "Removes the members with scores in a range and returns how many there were.", Run: zremRangeByScore},
		{Name: "zrevrange", Arity: -4, Flags: read, Keys: firstKey.with(roAccess), Cost: costConstant, Version: "1.2.0", Complexity: logNM,
			Syntax: "ZREVRANGE key start stop [WITHSCORES]", Summary: "Returns the members in a range of ranks counted from the highest score on.", Run: zrevRange},
		{Name: "zrevrangebylex", Arity: -4, Flags: read, Keys: firstKey.with(roAccess), Cost: costConstant, Version: "2.8.9", Complexity: "O((log n)² + m), where m is the number of members returned",
			Syntax: "ZREVRANGEBYLEX key max min " + limit, Summary: "Returns the members in a lexical range of a set whose scores are all equal, from the last on.", Run: zrevRangeByLex},
		{Name: "zrevrangebyscore", Arity: -4, Flags: read, Keys: firstKey.with(roAccess), Cost: costConstant, Version: "2.2.0", Complexity: logNM,
			Syntax: "ZREVRANGEBYSCORE key max min [WITHSCORES] " + limit, Summary: "Returns the members with scores in a range, from the highest on.",
			Changes: []Change{{"2.1.6", "The bounds may be excluded."}}, Run: zrevRangeByScore},
		{Name: "zrevrank", Arity: -3, Flags: fast, Keys: firstKey.with(roAccess), Cost: costConstant, Version: "2.0.0", Complexity: logN,
			Syntax: "ZREVRANK key member [WITHSCORE]", Summary: "Returns the number of members before a member, from the highest score on.",
			Changes: []Change{{"7.2.0", "Takes WITHSCORE."}}, Run: zrevRank},
		{Name: "zscan", Arity: -3, Flags: read, Keys: firstKey.with(roAccess), Cost: costConstant, Version: "2.8.0", Complexity: "O(count) for a call, O(n) for all members",
			Syntax: "ZSCAN key cursor [MATCH pattern] [COUNT count]", Summary: "Returns some of the members with their scores and the cursor to go on with, 0 at the end.",
			Tips: vagueOutput, Run: zscan},
		{Name: "zscore", Arity: 3, Flags: fast, Keys: firstKey.with(roAccess), Cost: costConstant, Version: "1.2.0", Complexity: "O(log n)",
			Syntax: "ZSCORE key member", Summary: "Returns the score of a member.", Run: zscore},
		{Name: "zunion", Arity: -3, Flags: read, Keys: countedKeys(1, 1).with(roAccess), Cost: costValues, Work: unionWork, Version: "6.2.0", Complexity: "O(n + m log m), where n is the size of all sets together and m that of the result",
			Syntax: "ZUNION " + weighed + " [WITHSCORES]", Summary: "Returns the members that are in any of the sets, with combined scores.", Run: zunion},
		{Name: "zunionstore", Arity: -4, Flags: grow | ReportsMiss, Keys: storedKeys.uses(one(owUpdate, 1), counted(roAccess, 2)), Cost: costValues, Work: unionWork, Version: "2.0.0", Complexity: "O(n + m log m), where n is the size of all sets together and m that of the result",
			Syntax: "ZUNIONSTORE destination " + weighed, Summary: "Stores the members that are in any of the sets, with combined scores, and returns how many there are.", Run: zunionStore},
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
