package commandtest

import (
	"fmt"
	"math/rand/v2"
)

// indexes are the templates of vector indexes and of definitions of search indexes: vk is a key of one, vi the id of a
// vector, vm a metric, ve an element, sx the name of a search index or of an alias. What asks a search index is not among
// them: machines alone have none.
var indexes = []string{
	"VECTOR.CREATE vk DIM 3 METRIC vm", "VECTOR.CREATE vk DIM 3 METRIC vm EXISTSOK", "VECTOR.ADD vk vi VALUES 3 ve ve ve", "VECTOR.ADD vk vi VALUES 3 ve ve ve", "VECTOR.ADD vk vi VALUES 2 ve ve",
	"VECTOR.ADD vk vi BASE64-FP32 AACAPwAAAEAAAEBA", "VECTOR.QUERY vk TOPK ct VALUES 3 ve ve ve", "VECTOR.QUERY vk PROFILE FAST TOPK 3 VALUES 3 ve ve ve", "VECTOR.GET vk vi", "VECTOR.DEL vk vi",
	"VECTOR.COUNT vk", "VECTOR.INFO vk", "VECTOR.DROP vk", "COPY vk vk REPLACE", "RENAME vk vk", "DUMP vk", "EXPIRE vk s", "TYPE vk", "MEMORY USAGE vk", "SCAN 0 TYPE vectorindex",
	"SEARCH.CREATE sx ON HASH PREFIX 1 key:3 SCHEMA title TEXT", "SEARCH.CREATE sx EXISTSOK ON JSON PREFIX 2 key:4 key:5 SCHEMA a F64 FAST b KEYWORD", "SEARCH.CREATE sx SKIPINITIALSCAN ON STREAM xs SCHEMA f TEXT NOSTEM n U64",
	"SEARCH.DROP sx", "SEARCH.REINDEX sx", "SEARCH.ALIASADD sx sx", "SEARCH.ALIASDEL sx", "SEARCH.LISTINDEXES", "SEARCH.LISTINDEXES MATCH p LIMIT s", "SEARCH.LISTALIASES", "RENAME xs xs", "COPY xs xs",
}

// drawIndex draws what the words of indexes stand for.
func drawIndex(r *rand.Rand, word string) string {
	switch word {
	case "vk":
		if r.IntN(40) == 0 {
			return draw(r, "k")
		}
		return fmt.Sprint("key:", 470+r.IntN(3))
	case "vi":
		return fmt.Sprint("v", r.IntN(8))
	case "vm":
		return [...]string{"COSINE", "EUCLIDEAN", "DOT"}[r.IntN(3)]
	case "ve":
		if r.IntN(30) == 0 {
			return [...]string{"3e38", "inf", "nan", "x"}[r.IntN(4)]
		}
		return [...]string{"0", "1", "-1", "0.5", "1e-20", "7.25"}[r.IntN(6)]
	case "sx":
		return fmt.Sprint("s", r.IntN(4))
	}
	return word
}
