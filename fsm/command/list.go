package command

import (
	"slices"

	"github.com/trireme-dev/trireme/fsm/acl"
)

// listRows is the List family. The handlers stand in the files list_*.go.
func listRows() []Command {
	return slices.Concat(listPushes(), listPops(), listMoves(), listWaits(), listReads(), listEdits())
}

// Words that rows of several themes share.
const (
	listEnds  = "O(log n), where n is the length of the list; O(1) at the ends"
	listMoved = "<LEFT | RIGHT> <LEFT | RIGHT>"
)

// listPushes are the rows that add elements at an end.
func listPushes() []Command {
	const grow = Write | DenyOOM
	return []Command{
		{Name: "lpush", Arity: -3, Flags: grow | Fast, Keys: firstKey.with(rwInsert), Cost: costConstant, Counts: wordsFrom(2, 1), Doc: Doc{Version: "1.0.0", Complexity: "O(n), where n is the number of elements given",
			Syntax: "LPUSH key element [element ...]", Summary: "Puts elements before the first of a list, one after the other, and returns the new length.",
			Changes: []Change{takesElements}}, Run: lPush},
		{Name: "lpushx", Arity: -3, Flags: grow | Fast, Keys: firstKey.with(rwInsert), Cost: costConstant, Counts: wordsFrom(2, 1), Doc: Doc{Version: "2.2.0", Complexity: "O(n), where n is the number of elements given",
			Syntax: "LPUSHX key element [element ...]", Summary: "LPUSH if the list exists.",
			Changes: []Change{{"4.0.0", "Takes several elements."}}}, Run: lPushX},
		{Name: "rpush", Arity: -3, Flags: grow | Fast, Keys: firstKey.with(rwInsert), Cost: costConstant, Counts: wordsFrom(2, 1), Doc: Doc{Version: "1.0.0", Complexity: "O(n), where n is the number of elements given",
			Syntax: "RPUSH key element [element ...]", Summary: "Puts elements behind the last of a list and returns the new length.",
			Changes: []Change{takesElements}}, Run: rPush},
		{Name: "rpushx", Arity: -3, Flags: grow | Fast, Keys: firstKey.with(rwInsert), Cost: costConstant, Counts: wordsFrom(2, 1), Doc: Doc{Version: "2.2.0", Complexity: "O(n), where n is the number of elements given",
			Syntax: "RPUSHX key element [element ...]", Summary: "RPUSH if the list exists.",
			Changes: []Change{{"4.0.0", "Takes several elements."}}}, Run: rPushX},
	}
}

// listPops are the rows that take elements from an end.
func listPops() []Command {
	const write = Write | Fast
	return []Command{
		{Name: "lmpop", Arity: -4, Flags: Write, Keys: countedKeys(1, 1).with(rwAccessDelete), Cost: costConstant, Work: popWork, Counts: taken, Doc: Doc{Version: "7.0.0", Complexity: "O(n), where n is the number of keys and of elements popped",
			Syntax: "LMPOP numkeys key [key ...] <LEFT | RIGHT> [COUNT count]", Summary: "Removes elements from an end of the first list that has any and returns the key and the elements."}, Run: lMPop},
		{Name: "lpop", Arity: -2, Flags: write, Keys: firstKey.with(rwAccessDelete), Cost: costConstant, Work: popWork, Counts: elements, Doc: Doc{Version: "1.0.0", Complexity: "O(n), where n is the count",
			Syntax: "LPOP key [count]", Summary: "Removes the first elements of a list and returns them.",
			Changes: []Change{takesCount}}, Run: lPop},
		{Name: "rpop", Arity: -2, Flags: write, Keys: firstKey.with(rwAccessDelete), Cost: costConstant, Work: popWork, Counts: elements, Doc: Doc{Version: "1.0.0", Complexity: "O(n), where n is the count",
			Syntax: "RPOP key [count]", Summary: "Removes the last elements of a list and returns them, the last first.",
			Changes: []Change{takesCount}}, Run: rPop},
	}
}

// listMoves are the rows that move an element from one list to another.
func listMoves() []Command {
	const grow = Write | DenyOOM
	return []Command{
		{Name: "lmove", Arity: 5, Flags: grow, Keys: twoKeys.uses(one(rwAccessDelete, 1), one(rwInsert, 2)), Cost: costConstant, Doc: Doc{Version: "6.2.0", Complexity: "O(1)",
			Syntax: "LMOVE source destination " + listMoved, Summary: "Moves an element from an end of one list to an end of another and returns it."}, Run: lMove},
		{Name: "rpoplpush", Arity: 3, Flags: grow, Keys: twoKeys.uses(one(rwAccessDelete, 1), one(rwInsert, 2)), Cost: costConstant, Doc: Doc{Version: "1.2.0", Complexity: "O(1)",
			Syntax: "RPOPLPUSH source destination", Summary: "Moves the last element of one list before the first of another and returns it."}, Run: rPopLPush},
	}
}

// listWaits are the rows that wait for an element.
func listWaits() []Command {
	const block = Write | Blocking | NoHTTP
	return []Command{
		{Name: "blmove", Arity: 6, Flags: block | NoScriptWait | DenyOOM, Waiting: Waiting{TimeoutAt: 5, Wait: waitForSource}, Keys: twoKeys.uses(one(rwAccessDelete, 1), one(rwInsert, 2)), Cost: costConstant, Doc: Doc{Version: "6.2.0", Complexity: "O(1)",
			Syntax: "BLMOVE source destination " + listMoved + " timeout", Summary: "LMOVE that waits for an element to move."},
			Access: Access{Categories: acl.Blocking}, Run: bLMove},
		{Name: "blmpop", Arity: -5, Flags: block, Waiting: Waiting{TimeoutAt: 1, Wait: waitForLists}, Keys: countedKeys(2, 1).with(rwAccessDelete), Cost: costConstant, Work: popWork, Counts: taken, Doc: Doc{Version: "7.0.0", Complexity: "O(n), where n is the number of keys and of elements popped",
			Syntax: "BLMPOP timeout numkeys key [key ...] <LEFT | RIGHT> [COUNT count]", Summary: "LMPOP that waits for an element to pop."},
			Access: Access{Categories: acl.Blocking}, Run: bLMPop},
		{Name: "blpop", Arity: -3, Flags: block | NoScriptWait, Waiting: Waiting{TimeoutAt: -1, Wait: waitForList}, Keys: keyPlaces{First: 1, Last: -2, Step: 1}.with(rwAccessDelete), Cost: costConstant, Access: Access{Categories: acl.Blocking}, Doc: Doc{Version: "2.0.0", Complexity: "O(n), where n is the number of keys",
			Syntax: "BLPOP key [key ...] timeout", Summary: "Removes the first element of the first list that has one, waiting for one, and returns the key and the element.", Changes: []Change{takesFraction}}, Run: bLPop},
		{Name: "brpop", Arity: -3, Flags: block | NoScriptWait, Waiting: Waiting{TimeoutAt: -1, Wait: waitForList}, Keys: keyPlaces{First: 1, Last: -2, Step: 1}.with(rwAccessDelete), Cost: costConstant, Access: Access{Categories: acl.Blocking}, Doc: Doc{Version: "2.0.0", Complexity: "O(n), where n is the number of keys",
			Syntax: "BRPOP key [key ...] timeout", Summary: "Removes the last element of the first list that has one, waiting for one, and returns the key and the element.", Changes: []Change{takesFraction}}, Run: bRPop},
		{Name: "brpoplpush", Arity: 4, Flags: block | NoScriptWait | DenyOOM, Waiting: Waiting{TimeoutAt: 3, Wait: waitForSource}, Keys: twoKeys.uses(one(rwAccessDelete, 1), one(rwInsert, 2)), Cost: costConstant, Access: Access{Categories: acl.Blocking}, Doc: Doc{Version: "2.2.0", Complexity: "O(1)",
			Syntax: "BRPOPLPUSH source destination timeout", Summary: "RPOPLPUSH that waits for an element to move.", Changes: []Change{takesFraction}}, Run: bRPopLPush},
	}
}

// listReads are the rows that read elements.
func listReads() []Command {
	const read = ReadOnly | ReadOnlyUser
	return []Command{
		{Name: "lindex", Arity: 3, Flags: read, Keys: firstKey.with(roAccess), Cost: costConstant, Doc: Doc{Version: "1.0.0", Complexity: listEnds,
			Syntax: "LINDEX key index", Summary: "Returns the element of a list at an index; a negative one counts from the end."}, Run: lIndex},
		{Name: "llen", Arity: 2, Flags: read | Fast, Keys: firstKey.with(ro), Cost: costConstant, Doc: Doc{Version: "1.0.0", Complexity: "O(1)",
			Syntax: "LLEN key", Summary: "Returns the length of a list."}, Run: lLen},
		{Name: "lpos", Arity: -3, Flags: read, Keys: firstKey.with(roAccess), Cost: costCounted, Doc: Doc{Version: "6.0.6", Complexity: "O(n), where n is the length of the list",
			Syntax: "LPOS key element [RANK rank] [COUNT num-matches] [MAXLEN len]", Summary: "Returns the index of an element in a list, or of several that are equal."}, Run: lPos},
		{Name: "lrange", Arity: 4, Flags: read, Keys: firstKey.with(roAccess), Cost: costConstant, Doc: Doc{Version: "1.0.0", Complexity: "O(log n + m), where n is the length of the list and m of the result",
			Syntax: "LRANGE key start stop", Summary: "Returns the elements between two indexes, both included; negative ones count from the end."}, Run: lRange},
	}
}

// listEdits are the rows that change elements in their place.
func listEdits() []Command {
	const grow = Write | DenyOOM
	return []Command{
		{Name: "linsert", Arity: 5, Flags: grow, Keys: firstKey.with(rwInsert), Cost: costValues, Doc: Doc{Version: "2.2.0", Complexity: "O(n), where n is the number of elements before the pivot",
			Syntax: "LINSERT key <BEFORE | AFTER> pivot element", Summary: "Inserts an element before or after the first that equals the pivot and returns the new length, -1 without a pivot."}, Run: lInsert},
		{Name: "lrem", Arity: 4, Flags: Write, Keys: firstKey.with(rwDelete), Cost: costValues, Counts: answered, Doc: Doc{Version: "1.0.0", Complexity: "O(n), where n is the length of the list",
			Syntax: "LREM key count element", Summary: "Removes the first count elements that equal one, the last for a negative count, all for 0, and returns how many."}, Run: lRem},
		{Name: "lset", Arity: 4, Flags: grow, Keys: firstKey.with(rwUpdate), Cost: costConstant, Doc: Doc{Version: "1.0.0", Complexity: listEnds,
			Syntax: "LSET key index element", Summary: "Replaces the element of a list at an index; a negative one counts from the end."}, Run: lSet},
		{Name: "ltrim", Arity: 4, Flags: Write, Keys: firstKey.with(rwDelete), Cost: costValues, Work: trimWork, Doc: Doc{Version: "1.0.0", Complexity: "O(n), where n is the number of elements kept or removed, whichever is less",
			Syntax: "LTRIM key start stop", Summary: "Removes all elements but those between two indexes, both included; negative ones count from the end."}, Run: lTrim},
	}
}
