package command

import "slices"

// bitmapRows is the Bitmap family: strings seen as bits, of which number 0 is the
// highest of the first byte. The handlers stand in the files bitmap_*.go.
func bitmapRows() []Command {
	return slices.Concat(bitRows(), bitRanges())
}

// bitRows are the rows of single bits and fields of bits.
func bitRows() []Command {
	const (
		fields = "[GET encoding offset | [OVERFLOW WRAP | SAT | FAIL] SET encoding offset value | INCRBY encoding offset increment ...]"
		read   = ReadOnly | ReadOnlyUser
		grow   = Write | DenyOOM
	)
	return []Command{
		{Name: "bitfield", Arity: -2, Flags: grow | MayRead, Keys: firstKey.with(rwAccessUpdate).but(keyRW), Cost: costConstant, Counts: ownCount, Doc: Doc{Version: "3.2.0", Complexity: "O(1) for each operation",
			Syntax: "BITFIELD key " + fields, Summary: "Reads, sets and increments integers of any width within a string."}, Reads: onlyGets, Varies: bitfieldDoes, Run: bitField},
		{Name: "bitfield_ro", Arity: -2, Flags: read | Fast, Keys: firstKey.with(roAccess), Cost: costConstant, Doc: Doc{Version: "6.0.0", Complexity: "O(1) for each operation",
			Syntax: "BITFIELD_RO key [GET encoding offset [GET encoding offset ...]]", Summary: "Reads integers of any width within a string."}, Run: bitFieldRO},
		{Name: "getbit", Arity: 3, Flags: read | Fast, Keys: firstKey.with(roAccess), Cost: costConstant, Doc: Doc{Version: "2.2.0", Complexity: "O(1)",
			Syntax: "GETBIT key offset", Summary: "Returns a bit of a string, 0 behind its end."}, Run: getBit},
		{Name: "setbit", Arity: 4, Flags: grow | Overwrites, Keys: firstKey.with(rwAccessUpdate).but(keyW), Cost: costValues, Doc: Doc{Version: "2.2.0", Complexity: "O(1), plus the copy of a page of the string after a fork",
			Syntax: "SETBIT key offset value", Summary: "Sets or clears a bit of a string, which grows if it must, and returns the old one."}, Reach: setBitReach, Run: setBit},
	}
}

// bitRanges are the rows of many bits.
func bitRanges() []Command {
	const (
		read = ReadOnly | ReadOnlyUser
		grow = Write | DenyOOM
	)
	return []Command{
		{Name: "bitcount", Arity: -2, Flags: read, Keys: firstKey.with(roAccess), Cost: costValues, Doc: Doc{Version: "2.6.0", Complexity: "O(n), where n is the length of the range",
			Syntax: "BITCOUNT key [start end [BYTE | BIT]]", Summary: "Returns the number of bits that are set in a string or a range of it.",
			Changes: []Change{{"7.0.0", "Takes BYTE and BIT."}}}, Run: bitCount},
		{Name: "bitop", Arity: -4, Flags: grow | ReportsMiss, Keys: keyPlaces{First: 2, Last: -1, Step: 1}.uses(one(owUpdate, 2), rest(roAccess, 3, -1, 1)), Cost: costValues, Work: bitOpWork, Doc: Doc{Version: "2.6.0", Complexity: "O(n), where n is the length of all strings together",
			Syntax: "BITOP AND | OR | XOR | NOT | DIFF | DIFF1 | ANDOR | ONE destkey key [key ...]", Summary: "Combines strings bit by bit and stores the result, whose length it returns.",
			Changes: []Change{{"8.2.0", "Takes DIFF, DIFF1, ANDOR and ONE."}}}, Run: bitOp},
		{Name: "bitpos", Arity: -3, Flags: read, Keys: firstKey.with(roAccess), Cost: costValues, Doc: Doc{Version: "2.8.7", Complexity: "O(n), where n is the length of the range",
			Syntax: "BITPOS key bit [start [end [BYTE | BIT]]]", Summary: "Returns the place of the first bit that is set or clear, in a string or a range of it.",
			Changes: []Change{{"7.0.0", "Takes BYTE and BIT."}}}, Run: bitPos},
	}
}
