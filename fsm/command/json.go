package command

import "trireme/fsm/env"

// jsonRows is the JSON family, after RedisJSON 2. The handlers stand in the files
// json_*.go.
func jsonRows() []Command {
	const (
		read = ReadOnly | ReadOnlyUser
		grow = Write | DenyOOM
		n    = "O(n), where n is the size of what the path looks at"
	)
	return []Command{
		{Name: "json.del", Arity: -2, Flags: Write, Keys: firstKey, Since: env.Base, Version: "JSON 1.0.0", Complexity: n,
			Syntax: "JSON.DEL key [path]", Summary: "Deletes the values at a path and returns how many there were; what stands in another deleted value is not counted. Without a path, or with the root, the key is deleted.", Run: jsonDel},
		{Name: "json.forget", Arity: -2, Flags: Write, Keys: firstKey, Since: env.Base, Version: "JSON 1.0.0", Complexity: n,
			Syntax: "JSON.FORGET key [path]", Summary: "Deletes the values at a path, like JSON.DEL.", Run: jsonDel},
		{Name: "json.get", Arity: -2, Flags: read, Keys: firstKey, Since: env.Base, Version: "JSON 1.0.0", Complexity: n,
			Syntax: "JSON.GET key [INDENT indent] [NEWLINE newline] [SPACE space] [path [path ...]]", Summary: "Returns the values at a path as JSON text: an array of all matches of a JSONPath, the first match of a legacy path, and for several paths an object of these by path.", Run: jsonGet},
		{Name: "json.set", Arity: -4, Flags: grow, Keys: firstKey, Since: env.Base, Version: "JSON 1.0.0", Complexity: n,
			Syntax: "JSON.SET key path value [NX | XX]", Summary: "Sets the values at a path, or adds a member to an object; a new key is set at the root.", Run: jsonSet},
		{Name: "json.type", Arity: -2, Flags: read, Keys: firstKey, Since: env.Base, Version: "JSON 1.0.0", Complexity: n,
			Syntax: "JSON.TYPE key [path]", Summary: "Returns the types of the values at a path.", Run: jsonType},
	}
}
