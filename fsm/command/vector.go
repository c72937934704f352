package command

import (
	"slices"
)

// vectorRows is the VECTOR family of the reference service: indexes of vectors at ordinary
// keys. The handlers stand in vector_index.go.
func vectorRows() []Command {
	return slices.Concat(vectorIndexes(), vectorElements())
}

// Words that several rows share.
const (
	vectorVersion = "extension"
)

// vectorIndexes are the rows of indexes.
func vectorIndexes() []Command {
	const (
		read = ReadOnly | ReadOnlyUser
	)
	return []Command{
		{Name: "vector.create", Arity: -6, Flags: Write | DenyOOM, Keys: firstKey.with(owUpdate), Cost: costConstant, Doc: Doc{Version: vectorVersion, Complexity: "O(1)",
			Syntax: "VECTOR.CREATE index DIM dimension METRIC COSINE | EUCLIDEAN | DOT [EXISTSOK]", Summary: "Makes an index of vectors; with EXISTSOK one that exists with the same settings is left as it is and 0 is returned."}, Run: vectorCreate},
		{Name: "vector.drop", Arity: 2, Flags: Write, Keys: firstKey.with(rmDelete), Cost: costConstant, Doc: Doc{Version: vectorVersion, Complexity: "O(1)",
			Syntax: "VECTOR.DROP index", Summary: "Removes an index and returns 1, or 0 if the key holds nothing."}, Run: vectorDrop},
		{Name: "vector.info", Arity: 2, Flags: read | Fast, Keys: firstKey.with(ro), Cost: costConstant, Doc: Doc{Version: vectorVersion, Complexity: "O(1)",
			Syntax: "VECTOR.INFO index", Summary: "Returns the dimension and the metric of an index, null if there is none."}, Run: vectorInfo},
	}
}

// vectorElements are the rows of the vectors in an index.
func vectorElements() []Command {
	const (
		read = ReadOnly | ReadOnlyUser
		vec  = "VALUES count element [element ...] | FP32 blob | BASE64-FP32 text"
	)
	return []Command{
		{Name: "vector.add", Arity: -5, Flags: Write | DenyOOM | AddsRecord, Keys: firstKey.with(rwUpdate), Cost: costConstant, Doc: Doc{Version: vectorVersion, Complexity: "O(d), where d is the dimension",
			Syntax: "VECTOR.ADD index id " + vec, Summary: "Stores a vector under an id and returns 1 if the id is new, 0 if its vector was replaced."}, Run: vectorAdd},
		{Name: "vector.count", Arity: 2, Flags: read | Fast, Keys: firstKey.with(ro), Cost: costConstant, Doc: Doc{Version: vectorVersion, Complexity: "O(1)",
			Syntax: "VECTOR.COUNT index", Summary: "Returns the number of vectors in an index, 0 if there is no index."}, Run: vectorCount},
		{Name: "vector.del", Arity: 3, Flags: Write | Fast, Keys: firstKey.with(rwDelete), Cost: costConstant, Doc: Doc{Version: vectorVersion, Complexity: "O(log n), where n is the number of vectors",
			Syntax: "VECTOR.DEL index id", Summary: "Removes the vector under an id and returns how many there were. The index stays when it becomes empty."}, Run: vectorDel},
		{Name: "vector.get", Arity: 3, Flags: read | Fast, Keys: firstKey.with(roAccess), Cost: costConstant, Doc: Doc{Version: vectorVersion, Complexity: "O(d), where d is the dimension",
			Syntax: "VECTOR.GET index id", Summary: "Returns the elements of the vector under an id as 32-bit floats, null if there is none."}, Run: vectorGet},
		{Name: "vector.query", Arity: -6, Flags: read, Keys: firstKey.with(roAccess), Cost: costCounted, Work: vectorWork, Doc: Doc{Version: vectorVersion, Complexity: "O(n * d), where n is the number of vectors and d the dimension",
			Syntax: "VECTOR.QUERY index TOPK count [PROFILE FAST | BALANCED | PRECISE] " + vec, Summary: "Returns the ids of the vectors nearest to a vector, with scores from 0 to 1, the best first. The search is exact under every profile."}, Run: vectorQuery},
	}
}
