package command

import "slices"

// jsonRows is the JSON family, after RedisJSON 2. The handlers stand in the files
// json_*.go.
func jsonRows() []Command {
	return slices.Concat(jsonDocuments(), jsonSeveral(), jsonArrays(), jsonScalars(), jsonShapes())
}

// Words that rows of several themes share.
const (
	jsonN  = "O(n), where n is the number of values that the path looks at"
	jsonV1 = "JSON 1.0.0"
)

// jsonDocuments are the rows of a document and the values in it.
func jsonDocuments() []Command {
	const (
		read = ReadOnly | ReadOnlyUser
		grow = Write | DenyOOM
	)
	return []Command{
		{Name: "json.clear", Arity: -2, Flags: Write, Keys: firstKey.with(rwUpdate), Cost: costValues, Doc: Doc{Version: "JSON 2.0.0", Complexity: jsonN,
			Syntax: "JSON.CLEAR key [path]", Summary: "Empties the arrays and objects at a path, sets its numbers to 0, and returns how many values that changed."}, Run: jsonClear},
		{Name: "json.del", Arity: -2, Flags: Write, Keys: firstKey.with(rwDelete), Cost: costValues, Doc: Doc{Version: jsonV1, Complexity: jsonN,
			Syntax: "JSON.DEL key [path]", Summary: "Deletes the values at a path and returns how many there were; what stands in another deleted value is not counted. Without a path, or with the root, the key is deleted."}, Run: jsonDel},
		{Name: "json.forget", Arity: -2, Flags: Write, Keys: firstKey.with(rwDelete), Cost: costValues, Doc: Doc{Version: jsonV1, Complexity: jsonN,
			Syntax: "JSON.FORGET key [path]", Summary: "Deletes the values at a path, like JSON.DEL."}, Run: jsonDel},
		{Name: "json.get", Arity: -2, Flags: read, Keys: firstKey.with(roAccess), Cost: costValues, Doc: Doc{Version: jsonV1, Complexity: jsonN + ", and the size of the reply",
			Syntax: "JSON.GET key [INDENT indent] [NEWLINE newline] [SPACE space] [path [path ...]]", Summary: "Returns the values at a path as JSON text: an array of all matches of a JSONPath, the first match of a legacy path, and for several paths an object of these by path."}, Run: jsonGet},
		{Name: "json.merge", Arity: -4, Flags: grow, Keys: firstKey.with(rwUpdate), Cost: costValues, Doc: Doc{Version: "JSON 2.6.0", Complexity: jsonN + ", and the size of the patch for each match",
			Syntax: "JSON.MERGE key path value", Summary: "Applies a merge patch (RFC 7396) to the values at a path; null removes."}, Run: jsonMerge},
		{Name: "json.set", Arity: -4, Flags: grow, Keys: firstKey.with(rwUpdate), Cost: costValues, Doc: Doc{Version: jsonV1, Complexity: jsonN,
			Syntax: "JSON.SET key path value [NX | XX]", Summary: "Sets the values at a path, or adds a member to an object; a new key is set at the root."}, Run: jsonSet},
	}
}

// jsonSeveral are the rows of several documents at once.
func jsonSeveral() []Command {
	const (
		read = ReadOnly | ReadOnlyUser
		grow = Write | DenyOOM
	)
	manyKeys := keyPlaces{First: 1, Last: -2, Step: 1}
	triples := keyPlaces{First: 1, Last: -1, Step: 3}
	return []Command{
		{Name: "json.mget", Arity: -3, Flags: read, Keys: manyKeys.with(roAccess), Cost: costValues, Doc: Doc{Version: jsonV1, Complexity: jsonN + " in all keys, and the size of the reply",
			Syntax: "JSON.MGET key [key ...] path", Summary: "Returns the values at a path in several keys as JSON text, null for a key that holds no document."}, Run: jsonMGet},
		{Name: "json.mset", Arity: -4, Flags: grow, Keys: triples.with(rwUpdate), Cost: costValues, Doc: Doc{Version: "JSON 2.6.0", Complexity: jsonN + " in all keys",
			Syntax: "JSON.MSET key path value [key path value ...]", Summary: "Sets values in several keys, all or none."}, Run: jsonMSet},
	}
}

// jsonArrays are the rows of arrays.
func jsonArrays() []Command {
	const (
		read = ReadOnly | ReadOnlyUser
		grow = Write | DenyOOM
	)
	return []Command{
		{Name: "json.arrappend", Arity: -3, Flags: grow, Keys: firstKey.with(rwUpdate), Cost: costValues, Doc: Doc{Version: jsonV1, Complexity: jsonN,
			Syntax: "JSON.ARRAPPEND key [path] value [value ...]", Summary: "Appends values to the arrays at a path and returns their new lengths."}, Run: jsonArrAppend},
		{Name: "json.arrindex", Arity: -4, Flags: read, Keys: firstKey.with(roAccess), Cost: costValues, Doc: Doc{Version: jsonV1, Complexity: jsonN + ", and the elements of the arrays",
			Syntax: "JSON.ARRINDEX key path value [start [stop]]", Summary: "Returns the position of the first element equal to a value, from start on and before stop, where 0 is the end; -1 if there is none."}, Run: jsonArrIndex},
		{Name: "json.arrinsert", Arity: -5, Flags: grow, Keys: firstKey.with(rwUpdate), Cost: costValues, Doc: Doc{Version: jsonV1, Complexity: jsonN,
			Syntax: "JSON.ARRINSERT key path index value [value ...]", Summary: "Inserts values into the arrays at a path, before the element at an index, and returns their new lengths."}, Run: jsonArrInsert},
		{Name: "json.arrlen", Arity: -2, Flags: read, Keys: firstKey.with(roAccess), Cost: costValues, Doc: Doc{Version: jsonV1, Complexity: jsonN,
			Syntax: "JSON.ARRLEN key [path]", Summary: "Returns the lengths of the arrays at a path."}, Run: jsonArrLen},
		{Name: "json.arrpop", Arity: -2, Flags: Write, Keys: firstKey.with(rwAccessDelete), Cost: costValues, Doc: Doc{Version: jsonV1, Complexity: jsonN,
			Syntax: "JSON.ARRPOP key [path [index]]", Summary: "Removes the element at an index, the last one by default, from the arrays at a path, and returns it as JSON text."}, Run: jsonArrPop},
		{Name: "json.arrtrim", Arity: 5, Flags: Write, Keys: firstKey.with(rwDelete), Cost: costValues, Doc: Doc{Version: jsonV1, Complexity: jsonN + ", and the elements that are removed",
			Syntax: "JSON.ARRTRIM key path start stop", Summary: "Removes all elements of the arrays at a path but those from start to stop, both included, and returns the new lengths."}, Run: jsonArrTrim},
	}
}

// jsonScalars are the rows of numbers, strings and booleans.
func jsonScalars() []Command {
	const (
		read = ReadOnly | ReadOnlyUser
		grow = Write | DenyOOM
	)
	return []Command{
		{Name: "json.numincrby", Arity: 4, Flags: grow, Keys: firstKey.with(rwAccessUpdate), Cost: costValues, Doc: Doc{Version: jsonV1, Complexity: jsonN,
			Syntax: "JSON.NUMINCRBY key path value", Summary: "Adds to the numbers at a path and returns the sums: as JSON text, in RESP3 as an array of numbers."}, Run: jsonNumIncrBy},
		{Name: "json.nummultby", Arity: 4, Flags: grow, Keys: firstKey.with(rwAccessUpdate), Cost: costValues, Doc: Doc{Version: jsonV1, Complexity: jsonN,
			Syntax: "JSON.NUMMULTBY key path value", Summary: "Multiplies the numbers at a path and returns the products: as JSON text, in RESP3 as an array of numbers."}, Run: jsonNumMultBy},
		{Name: "json.numpowby", Arity: 4, Flags: grow, Keys: firstKey.with(rwAccessUpdate), Cost: costValues, Doc: Doc{Version: jsonV1, Complexity: jsonN,
			Syntax: "JSON.NUMPOWBY key path value", Summary: "Raises the numbers at a path to a power and returns the results: as JSON text, in RESP3 as an array of numbers."}, Run: jsonNumPowBy},
		{Name: "json.strappend", Arity: -3, Flags: grow, Keys: firstKey.with(rwAccessUpdate), Cost: costValues, Doc: Doc{Version: jsonV1, Complexity: jsonN,
			Syntax: "JSON.STRAPPEND key [path] value", Summary: "Appends to the strings at a path and returns their new lengths in bytes."}, Run: jsonStrAppend},
		{Name: "json.strlen", Arity: -2, Flags: read, Keys: firstKey.with(roAccess), Cost: costValues, Doc: Doc{Version: jsonV1, Complexity: jsonN,
			Syntax: "JSON.STRLEN key [path]", Summary: "Returns the lengths in bytes of the strings at a path."}, Run: jsonStrLen},
		{Name: "json.toggle", Arity: 3, Flags: Write, Keys: firstKey.with(rwAccessUpdate), Cost: costValues, Doc: Doc{Version: "JSON 2.0.0", Complexity: jsonN,
			Syntax: "JSON.TOGGLE key path", Summary: "Negates the booleans at a path and returns their new values as 1 and 0."}, Run: jsonToggle},
	}
}

// jsonShapes are the rows of the commands that describe a document's structure.
func jsonShapes() []Command {
	const read = ReadOnly | ReadOnlyUser
	return []Command{
		{Name: "json.debug", Arity: -2, Flags: read, Keys: keyPlaces{Find: debugKey}.with(roAccess), Cost: costValues, Doc: Doc{Version: jsonV1, Complexity: jsonN,
			Syntax: "JSON.DEBUG MEMORY key [path] | HELP", Summary: "Returns the logical size in bytes of the values at a path, or lists the subcommands."}, Run: jsonDebug},
		{Name: "json.objkeys", Arity: -2, Flags: read, Keys: firstKey.with(roAccess), Cost: costValues, Doc: Doc{Version: jsonV1, Complexity: jsonN + ", and the number of keys",
			Syntax: "JSON.OBJKEYS key [path]", Summary: "Returns the keys of the objects at a path."}, Run: jsonObjKeys},
		{Name: "json.objlen", Arity: -2, Flags: read, Keys: firstKey.with(roAccess), Cost: costValues, Doc: Doc{Version: jsonV1, Complexity: jsonN,
			Syntax: "JSON.OBJLEN key [path]", Summary: "Returns the number of keys of the objects at a path."}, Run: jsonObjLen},
		{Name: "json.resp", Arity: -2, Flags: read, Keys: firstKey.with(roAccess), Cost: costValues, Doc: Doc{Version: jsonV1, Complexity: jsonN + ", and the size of the reply",
			Syntax: "JSON.RESP key [path]", Summary: "Returns the values at a path in the types of the Redis protocol."}, Run: jsonResp},
		{Name: "json.type", Arity: -2, Flags: read, Keys: firstKey.with(roAccess), Cost: costValues, Doc: Doc{Version: jsonV1, Complexity: jsonN,
			Syntax: "JSON.TYPE key [path]", Summary: "Returns the types of the values at a path, in RESP3 in an array of one."}, Run: jsonType},
	}
}
