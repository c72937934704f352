package commandtest

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// documents are templates of commands on JSON documents: K is a key of one, j a JSON value,
// J a path in one.
var documents = []string{
	"JSON.SET K $ j", "JSON.SET K $ j", "JSON.SET K J j", "JSON.SET K J j NX", "JSON.SET K J j XX", "JSON.MSET K $ j K J j", "JSON.MERGE K J j",
	"JSON.GET K", "JSON.GET K J", "JSON.GET K J J", "JSON.GET K INDENT v J", "JSON.MGET K K J", "JSON.TYPE K J", "JSON.RESP K J", "JSON.DEBUG MEMORY K J",
	"JSON.DEL K J", "JSON.FORGET K J", "JSON.CLEAR K J", "JSON.NUMINCRBY K J j", "JSON.NUMMULTBY K J f", "JSON.NUMPOWBY K J f", "JSON.TOGGLE K J",
	"JSON.STRAPPEND K J j", "JSON.STRLEN K J", "JSON.OBJKEYS K J", "JSON.OBJLEN K J", "JSON.ARRLEN K J", "JSON.ARRAPPEND K J j j", "JSON.ARRINDEX K J j n n",
	"JSON.ARRINSERT K J n j j", "JSON.ARRPOP K J", "JSON.ARRPOP K J n", "JSON.ARRTRIM K J n n",
	"COPY K K REPLACE", "RENAME K K", "EXPIRE K s",
}

// drawJSON draws a key of a document for K, a JSON value for j and a path for J.
func drawJSON(r *rand.Rand, word string) string {
	switch word {
	case "K":
		return fmt.Sprint("json:", r.IntN(20))
	case "j":
		return jsonValue(r, 4)
	case "J":
		return jsonPath(r)
	}
	return word
}

// jsonValue draws a value of at most that depth; now and then a container that is large
// enough to stand in a tree.
func jsonValue(r *rand.Rand, depth int) string {
	n := r.IntN(5)
	if r.IntN(40) == 0 {
		n, depth = 60+r.IntN(80), min(depth, 1)
	}
	switch kind := r.IntN(10); {
	case depth > 0 && kind < 3:
		parts := make([]string, n)
		for i := range parts {
			parts[i] = jsonValue(r, depth-1)
		}
		return "[" + strings.Join(parts, ",") + "]"
	case depth > 0 && kind < 7:
		parts := make([]string, n)
		for i := range parts {
			parts[i] = fmt.Sprintf("%q:%s", jsonKey(r, n), jsonValue(r, depth-1))
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	return [...]string{"null", "true", "false", "0", "-7", "3", "1.5", "1e300", "9223372036854775807", `"a"`, `"h\u00e9llo"`, `""`, "[", "tru"}[r.IntN(14)]
}

// jsonKey draws a key: one of a few, or, where many are needed, of more.
func jsonKey(r *rand.Rand, n int) string {
	if n > 10 {
		return fmt.Sprint("k", r.IntN(200))
	}
	return string("abc"[r.IntN(3)])
}

// jsonPath draws a path of a few steps, of either form.
func jsonPath(r *rand.Rand) string {
	steps := [...]string{".a", ".b", ".c", ".a", "..a", "..b", ".*", "..*", "[0]", "[-1]", "[1:]", "[::-2]", "[*]", "['a','b']", "[0,-1]", ".k7",
		"[?(@.a)]", "[?(@.a==$.b)]", "[?(@>1||@.b=~'a')]", "[", "..[0]"}
	path := "$"
	if r.IntN(4) == 0 {
		path = ""
	}
	for range r.IntN(4) {
		path += steps[r.IntN(len(steps))]
	}
	if path == "" {
		return "."
	}
	return path
}
