package scripttest

import (
	"strconv"

	"github.com/trireme-dev/trireme/fsm/reply"
)

// ThroughLua is a reply after its conversion to Lua and back, in the older protocol.
func ThroughLua(v reply.Value) reply.Value {
	switch v.Kind() {
	case reply.KindNilArray:
		return reply.Nil()
	case reply.KindInt:
		n, _ := strconv.ParseFloat(strconv.FormatInt(v.Int(), 10), 64) // a 64-bit integer always parses
		if n >= 1<<63 {
			return reply.Int(-1 << 63)
		}
		return reply.Int(int64(n))
	case reply.KindBool:
		return reply.Int(v.Int())
	case reply.KindDouble, reply.KindVerbatim, reply.KindBigNumber:
		return reply.Bulk(v.Text())
	case reply.KindKeyed, reply.KindForms:
		return ThroughLua(v.RESP2())
	case reply.KindArray, reply.KindMap, reply.KindSet, reply.KindPush, reply.KindPairs:
		elems := make([]reply.Value, len(v.Elems()))
		for i, e := range v.Elems() {
			elems[i] = ThroughLua(e)
		}
		return reply.Array(elems...)
	}
	return v
}
