package command

import (
	"slices"
)

// arrayRows is the Array family: sparse arrays of values under unsigned indexes. The handlers
// stand in the files array_*.go.
func arrayRows() []Command {
	return slices.Concat(arrayElements(), arrayRemovals(), arrayRanges(), arrayShapes(), arraySums())
}

// Words that several rows share.
const (
	arrayVersion = "8.8.0"
	arrayEach    = "O(log n) for each index, where n is the number of values"
	arrayRanged  = "O(log n + m), where n is the number of values and m of those in the range"
)

// arrayElements are the rows of single elements.
func arrayElements() []Command {
	const (
		read = ReadOnly | ReadOnlyUser
		grow = Write | DenyOOM
	)
	return []Command{
		{Name: "arget", Arity: 3, Flags: read | Fast, Keys: firstKey.with(roAccess), Cost: costConstant, Doc: Doc{Version: arrayVersion, Complexity: "O(log n), where n is the number of values",
			Syntax: "ARGET key index", Summary: "Returns the value at an index, null if there is none."}, Run: arGet},
		{Name: "armget", Arity: -3, Flags: read | Fast, Keys: firstKey.with(roAccess), Cost: costConstant, Work: arrayGetWork, Doc: Doc{Version: arrayVersion, Complexity: arrayEach,
			Syntax: "ARMGET key index [index ...]", Summary: "Returns the values at indexes, null where there is none."}, Run: arMGet},
		{Name: "armset", Arity: -4, Flags: grow | Fast, Keys: firstKey.with(rwInsert), Cost: costConstant, Doc: Doc{Version: arrayVersion, Complexity: arrayEach,
			Syntax: "ARMSET key index value [index value ...]", Summary: "Stores values at indexes and returns how many of the slots were unused."}, Run: arMSet},
		{Name: "arset", Arity: -4, Flags: grow | Fast, Keys: firstKey.with(rwInsert), Cost: costConstant, Doc: Doc{Version: arrayVersion, Complexity: arrayEach,
			Syntax: "ARSET key index value [value ...]", Summary: "Stores values at an index and those after it and returns how many of the slots were unused."}, Run: arSet},
		{Name: "arinsert", Arity: -3, Flags: grow | Fast, Keys: firstKey.with(rwInsert), Cost: costConstant, Doc: Doc{Version: arrayVersion, Complexity: arrayEach,
			Syntax: "ARINSERT key value [value ...]", Summary: "Appends values after the last one appended and returns the index of the last."}, Run: arInsert},
	}
}

// arrayRemovals are the rows that take elements out.
func arrayRemovals() []Command {
	const (
		write = Write | Fast
	)
	return []Command{
		{Name: "ardel", Arity: -3, Flags: write, Keys: firstKey.with(rwDelete), Cost: costConstant, Doc: Doc{Version: arrayVersion, Complexity: arrayEach,
			Syntax: "ARDEL key index [index ...]", Summary: "Removes the values at indexes and returns how many there were."}, Run: arDel},
		{Name: "ardelrange", Arity: -4, Flags: Write, Keys: firstKey.with(rwDelete), Cost: costValues, Doc: Doc{Version: arrayVersion, Complexity: arrayRanged,
			Syntax: "ARDELRANGE key start end [start end ...]", Summary: "Removes the values between indexes, given in either order, and returns how many there were."}, Run: arDelRange},
	}
}

// arrayRanges are the rows that read and search ranges.
func arrayRanges() []Command {
	const (
		read = ReadOnly | ReadOnlyUser
	)
	return []Command{
		{Name: "argetrange", Arity: 4, Flags: read, Keys: firstKey.with(roAccess), Cost: costCounted, Work: arrayRangeWork, Doc: Doc{Version: arrayVersion, Complexity: "O(log n + m), where n is the number of values and m the length of the range",
			Syntax: "ARGETRANGE key start end", Summary: "Returns what is at each index of a range, at most 1,000,000, null where there is no value; backwards if the start is greater."}, Run: arGetRange},
		{Name: "argrep", Arity: -6, Flags: read, Keys: firstKey.with(roAccess), Cost: costCounted, Work: arrayGrepWork, Doc: Doc{Version: arrayVersion, Complexity: "O(n * p), where n is the size of the values in the range and p the number of predicates",
			Syntax: "ARGREP key <start | - | +> <end | - | +> <EXACT value | MATCH text | GLOB pattern | RE expression> [...] [AND | OR] [NOCASE] [WITHVALUES] [LIMIT count]", Summary: "Returns the indexes of the values that meet one of the predicates, or all with AND."}, Run: arGrep},
		{Name: "arlastitems", Arity: -3, Flags: read, Keys: firstKey.with(roAccess), Cost: costCounted, Work: arrayLastWork, Doc: Doc{Version: arrayVersion, Complexity: "O(m log n), where n is the number of values and m the count",
			Syntax: "ARLASTITEMS key count [REV]", Summary: "Returns the values appended last, the oldest first; the newest first with REV."}, Run: arLastItems},
		{Name: "arscan", Arity: -4, Flags: read, Keys: firstKey.with(roAccess), Cost: costCounted, Doc: Doc{Version: arrayVersion, Complexity: arrayRanged,
			Syntax: "ARSCAN key start end [LIMIT count]", Summary: "Returns the indexes and values of the used slots in a range, backwards if the start is greater."}, Run: arScan},
	}
}

// arrayShapes are the rows of an array's length and settings.
func arrayShapes() []Command {
	const (
		read  = ReadOnly | ReadOnlyUser
		write = Write | Fast
		grow  = Write | DenyOOM
	)
	return []Command{
		{Name: "arcount", Arity: 2, Flags: read | Fast, Keys: firstKey.with(ro), Cost: costConstant, Doc: Doc{Version: arrayVersion, Complexity: "O(1)",
			Syntax: "ARCOUNT key", Summary: "Returns the number of values in an array."}, Run: arCount},
		{Name: "arinfo", Arity: -2, Flags: read, Keys: firstKey.with(ro), Cost: costValues, Doc: Doc{Version: arrayVersion, Complexity: "O(n), where n is the number of values",
			Syntax: "ARINFO key [FULL]", Summary: "Returns the number of values of an array, its length, the index of the next append, and how it would be cut into slices."}, Run: arInfo},
		{Name: "arlen", Arity: 2, Flags: read | Fast, Keys: firstKey.with(ro), Cost: costConstant, Doc: Doc{Version: arrayVersion, Complexity: "O(log n), where n is the number of values",
			Syntax: "ARLEN key", Summary: "Returns the greatest used index and one."}, Run: arLen},
		{Name: "arnext", Arity: 2, Flags: read | Fast, Keys: firstKey.with(ro), Cost: costConstant, Doc: Doc{Version: arrayVersion, Complexity: "O(1)",
			Syntax: "ARNEXT key", Summary: "Returns the index where the next append goes, null if there is no room."}, Run: arNext},
		{Name: "arring", Arity: -4, Flags: grow, Keys: firstKey.with(rwInsert), Cost: costCounted, Work: arrayRingWork, Doc: Doc{Version: arrayVersion, Complexity: "O(log n) for each value; O(n) when the size changes, where n is the number of values",
			Syntax: "ARRING key size value [value ...]", Summary: "Appends values to an array that holds the last ones only, up to a size, and returns the index of the last."}, Run: arRing},
		{Name: "arseek", Arity: 3, Flags: write, Keys: firstKey.with(rwUpdate), Cost: costConstant, Doc: Doc{Version: arrayVersion, Complexity: "O(1)",
			Syntax: "ARSEEK key index", Summary: "Sets the index where the next append goes and returns 1, or 0 if there is no array."}, Run: arSeek},
	}
}

// arraySums are the rows that compute.
func arraySums() []Command {
	const (
		read = ReadOnly | ReadOnlyUser
	)
	return []Command{
		{Name: "arop", Arity: -5, Flags: read, Keys: firstKey.with(roAccess), Cost: costCounted, Work: numbersWork, Doc: Doc{Version: arrayVersion, Complexity: arrayRanged,
			Syntax: "AROP key start end <SUM | MIN | MAX | AND | OR | XOR | USED | MATCH value>", Summary: "Returns the sum, an extreme or a bitwise combination of the numbers in a range, or how many slots are used or hold a value."}, Run: arOp},
	}
}
